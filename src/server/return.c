/*
 * return.c - the one way answers leave: to the link, or into the batch their
 * request came in.
 *
 * A handler says the same in every era; what the modern one wants beside it,
 * a type and a name tag on each result and codes of its own, is added here.
 */
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/server.h"
#include "server/session.h"

#include "json/nav.h"
#include "json/write.h"
#include <stdio.h>

enum { DATA_MAX = 512 }; /* of what an error repeats to its sender */

/* An answer over the limit must not go, and the asker must not wait. */
static void refuse_size(const fl_return *to, fl_span id)
{
    fl_link_info info;
    char data[48];

    fl_link_get_info(to->session->link, &info);
    int n = snprintf(data, sizeof data, "{\"limit\":%zu}", info.max_message);
    fl_return_error(to, id, FL_RPC_INTERNAL_ERROR,
                    FL_SPAN("the answer is larger than a message may be"),
                    (fl_span){data, (size_t)n});
}

static void send_batch(const fl_return *to)
{
    fl_span array;
    fl_status rc = fl_batch_take(to->batch, &array);

    if (to->session->link != NULL && rc == FL_OK)
        rc = fl_reply_end(to->reply, &array, array.len > 0 ? 1 : 0);
    /* nobody there is no reason; an array that does not fit is */
    if (to->session->link != NULL && rc < 0 && rc != FL_E_STATE)
        fl_link_close(to->session->link);
    fl_batch_free(to->batch);
}

void fl_return_send(const fl_return *to, fl_span id, const fl_span *parts,
                    size_t count)
{
    if (to->batch != NULL) {
        if (fl_batch_add(to->batch, parts, count))
            send_batch(to);
    } else if (to->session->link != NULL &&
               fl_reply_end(to->reply, parts, count) == FL_E_TOO_BIG) {
        refuse_size(to, id);
    }
}

static bool is_modern(const fl_return *to)
{
    return to->revision != NULL && !to->revision->legacy;
}

/* A session whose link has gone has no server either, and sends nothing. */
fl_span fl_return_opening_text(const fl_return *to)
{
    return is_modern(to) && to->session->server != NULL
               ? fl_buf_view(&to->session->server->opening)
               : FL_SPAN(FL_RESULT FL_RESULT_TEXT);
}

fl_span fl_return_opening(const fl_return *to)
{
    fl_span longer = fl_return_opening_text(to);

    return (fl_span){longer.ptr, longer.len - (sizeof(FL_RESULT_TEXT) - 1)};
}

void fl_return_result(const fl_return *to, fl_span id, fl_span result)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        id,
        fl_return_opening(to),
        fl_span_from(result, 1),
        FL_SPAN("}"),
    };

    fl_return_send(to, id, parts, 5);
}

static bool is_empty(fl_span object)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, object);
    return !fl_json_walk_next(&walk, &member);
}

/* What a tool says of itself stands. */
void fl_return_foreign_result(const fl_return *to, fl_span id, fl_span result)
{
    bool typed = true, tagged = true;

    if (is_modern(to) && to->session->server != NULL) {
        typed = fl_json_get(result, FL_SPAN("resultType")).len > 0;
        tagged = fl_json_get(result, FL_SPAN("_meta")).len > 0;
    }
    /* each of ours ends with a comma; were nothing to follow, the type, which
     * then is missing too, comes last */
    bool alone = !typed && is_empty(result);
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        id,
        FL_SPAN(FL_RESULT),
        tagged ? FL_SPAN("") : FL_SPAN(FL_RESULT_SERVER),
        tagged ? FL_SPAN("") : fl_buf_view(&to->session->server->identity),
        tagged ? FL_SPAN("") : FL_SPAN("},"),
        typed   ? FL_SPAN("")
        : alone ? FL_SPAN("\"resultType\":\"complete\"")
                : FL_SPAN(FL_RESULT_TYPE),
        fl_span_from(result, 1),
        FL_SPAN("}"),
    };

    fl_return_send(to, id, parts, 9);
}

/*
 * The code the transport chooses its status by; 0 for none. Of what a method
 * finds wrong, HTTP has statuses for missing capabilities and for being busy;
 * a 400 or 500 for the rest would make a client believe that it speaks the
 * wrong protocol, or that nobody is at home.
 */
static int status_code(const fl_return *to, int code)
{
    if (to->early)
        return to->revision != NULL ? code : FL_RPC_INVALID_REQUEST;
    if (code == FL_RPC_INVALID_PARAMS || code == FL_RPC_INTERNAL_ERROR)
        return 0;
    return fl_rpc_error_find(code)->code == code ? code : 0;
}

/* An id nearly as long as a message may be cannot be repeated. */
static void refuse_without_id(const fl_return *to, int code)
{
    fl_buf *out = fl_loop_scratch(to->session->loop);
    int said = is_modern(to) ? fl_rpc_error_modern(code) : code;
    fl_status rc = fl_rpc_error_write(out, (fl_span){0}, said,
                                      FL_SPAN("the id is too long to be "
                                              "repeated in an answer"),
                                      (fl_span){0});
    fl_span whole = fl_buf_view(out);

    if (rc == FL_OK)
        rc = fl_reply_end_error(to->reply, status_code(to, code), &whole, 1);
    if (rc == FL_E_TOO_BIG || rc == FL_E_NOMEM)
        fl_link_close(to->session->link);
}

void fl_return_error(const fl_return *to, fl_span id, int code, fl_span message,
                     fl_span data)
{
    fl_buf *out = fl_loop_scratch(to->session->loop);
    fl_link *link = to->session->link;
    int said = is_modern(to) ? fl_rpc_error_modern(code) : code;
    fl_span whole = {0};

    if (fl_rpc_error_write(out, id, said, message, data) == FL_OK)
        whole = fl_buf_view(out);
    else if (link != NULL)
        fl_link_close(link); /* no memory even to say so */
    if (to->batch != NULL)
        fl_return_send(to, id, &whole, whole.len > 0 ? 1 : 0);
    else if (link != NULL && whole.len > 0 &&
             fl_reply_end_error(to->reply, status_code(to, code), &whole, 1) ==
                 FL_E_TOO_BIG)
        refuse_without_id(to, code);
}

void fl_return_refuse(const fl_return *to, fl_span id, int code,
                      const char *message, const char *key, fl_span value)
{
    fl_buf data;
    fl_json_writer writer;

    fl_buf_init(&data, DATA_MAX);
    fl_json_writer_init(&writer, &data);
    fl_json_object(&writer);
    fl_json_key(&writer, key);
    fl_json_raw(&writer, value);
    fl_json_object_end(&writer);
    /* a value too long to repeat is left out */
    bool fits = fl_json_writer_end(&writer) == FL_OK;
    fl_return_error(to, id, code, fl_span_of(message),
                    fits ? fl_buf_view(&data) : (fl_span){0});
    fl_buf_reset(&data);
}
