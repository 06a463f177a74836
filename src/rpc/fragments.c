/*
 * fragments.c - answers that come in fragments.
 *
 * Elements are joined as they came, bytes and all; only what stands around
 * them is written anew.
 */
#include "rpc/fragments.h"

#include "base/span.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/write.h"

void fl_fragments_init(fl_fragments *fragments, size_t max)
{
    fl_buf_init(&fragments->content, max);
}

void fl_fragments_deinit(fl_fragments *fragments)
{
    fl_buf_reset(&fragments->content);
}

static bool read_json(fl_span data, fl_span *value)
{
    fl_json_top top;

    if (fl_json_scan(data, 0, &top, NULL) != FL_OK)
        return false;
    *value = top.value;
    return true;
}

/* What lies between the brackets, without white space around it. */
static fl_span inside(fl_span array)
{
    fl_span in = {array.ptr + 1, array.len - 2};

    while (in.len > 0 && strchr(" \t\r\n", in.ptr[0]) != NULL)
        in = fl_span_from(in, 1);
    while (in.len > 0 && strchr(" \t\r\n", in.ptr[in.len - 1]) != NULL)
        in.len--;
    return in;
}

static fl_span elements_of(fl_span result)
{
    fl_span content = fl_json_get(result, FL_SPAN("content"));

    return fl_json_type_of(content) == FL_JSON_ARRAY ? inside(content)
                                                     : (fl_span){0};
}

static fl_status join(fl_buf *content, const fl_span *parts, size_t count)
{
    size_t before = fl_buf_len(content);
    fl_status rc = before > 0 ? fl_buf_append(content, FL_SPAN(",")) : FL_OK;

    if (rc == FL_OK)
        rc = fl_buf_append_all(content, parts, count);
    if (rc != FL_OK)
        fl_buf_truncate(content, before);
    return rc;
}

/* The result in a response, or what is one by itself. */
static fl_span result_of(fl_span value)
{
    fl_span result = fl_json_get(value, FL_SPAN("result"));

    return fl_json_type_of(result) == FL_JSON_OBJECT ? result : value;
}

fl_status fl_fragments_add(fl_fragments *fragments, fl_span data)
{
    fl_span value;

    if (!read_json(data, &value))
        return FL_E_INVALID;
    if (fl_json_type_of(value) == FL_JSON_STRING) {
        fl_span text[] = {FL_SPAN("{\"type\":\"text\",\"text\":"), value,
                          FL_SPAN("}")};
        return join(&fragments->content, text, 3);
    }
    value = result_of(value);
    if (fl_json_get(value, FL_SPAN("type")).len > 0)
        return join(&fragments->content, &value, 1);
    if (fl_json_get(value, FL_SPAN("content")).len == 0)
        return FL_E_INVALID;
    fl_span elements = elements_of(value);
    return elements.len > 0 ? join(&fragments->content, &elements, 1) : FL_OK;
}

static void write_joined(fl_json_writer *writer, fl_span result,
                         fl_span content)
{
    fl_json_walk walk;
    fl_json_member member;
    char key[64];

    fl_json_object(writer);
    fl_json_key(writer, "content");
    fl_json_array(writer);
    if (content.len > 0)
        fl_json_raw(writer, content);
    fl_json_array_end(writer);
    fl_json_walk_init(&walk, result);
    while (walk.in_object && fl_json_walk_next(&walk, &member)) {
        if (member.key.len >= sizeof key ||
            fl_span_equal(member.key, FL_SPAN("content")) ||
            fl_span_find(member.key, '\\') < member.key.len)
            continue; /* no name that a result has */
        memcpy(key, member.key.ptr, member.key.len);
        key[member.key.len] = '\0';
        fl_json_key(writer, key);
        fl_json_raw(writer, member.value);
    }
    fl_json_object_end(writer);
}

fl_status fl_fragments_complete(fl_fragments *fragments, fl_span data,
                                fl_span id, fl_buf *out)
{
    fl_span content = fl_buf_view(&fragments->content);
    fl_span value = {0};
    fl_json_writer writer;

    if (read_json(data, &value) && fl_json_get(value, FL_SPAN("error")).len > 0)
        return fl_fragments_error(data, id, out);
    fl_span result = result_of(value);
    bool whole =
        elements_of(result).len > 0 ||
        (content.len == 0 && fl_json_type_of(result) == FL_JSON_OBJECT);
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "jsonrpc");
    fl_json_string(&writer, "2.0");
    fl_json_key(&writer, "id");
    fl_json_raw(&writer, id);
    fl_json_key(&writer, "result");
    if (whole)
        fl_json_raw(&writer, result);
    else
        write_joined(&writer, result, content);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

fl_status fl_fragments_error(fl_span data, fl_span id, fl_buf *out)
{
    fl_span value = {0}, text = {0};
    int64_t code = 0;
    fl_buf message;

    (void)read_json(data, &value);
    fl_span error = fl_json_get(value, FL_SPAN("error"));
    if (fl_json_type_of(error) != FL_JSON_OBJECT)
        error = value;
    fl_span said = fl_json_get(error, FL_SPAN("message"));
    if (fl_json_int64(fl_json_get(error, FL_SPAN("code")), &code) != FL_OK ||
        code < INT32_MIN || code > INT32_MAX || code == 0)
        code = FL_RPC_INTERNAL_ERROR;

    fl_buf_init(&message, data.len + 64);
    fl_status rc = FL_OK;
    if (fl_json_type_of(said) == FL_JSON_STRING)
        rc = fl_json_string_copy(said, &message);
    else
        text = FL_SPAN("the server ended the stream with an error");
    if (fl_buf_len(&message) > 0)
        text = fl_buf_view(&message);
    if (rc == FL_OK)
        rc = fl_rpc_error_write(out, id, (int)code, text,
                                fl_json_get(error, FL_SPAN("data")));
    fl_buf_reset(&message);
    return rc;
}
