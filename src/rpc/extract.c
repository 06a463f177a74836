/*
 * extract.c - the little that a transport wants to know of a message's inside.
 */
#include "rpc/extract.h"

#include "base/span.h"
#include "json/nav.h"
#include "json/unescape.h"
#include "json/write.h"

enum member { NAME, URI, TASK };

static const fl_span *member_of(const fl_params *params, enum member which)
{
    return which == NAME  ? &params->name
           : which == URI ? &params->uri
                          : &params->task_id;
}

const fl_span *fl_extract_named(const fl_msg *msg)
{
    static const struct {
        fl_span method;
        enum member member;
    } table[] = {
        {{"tools/call", 10}, NAME},    {{"prompts/get", 11}, NAME},
        {{"resources/read", 14}, URI}, {{"tasks/get", 9}, TASK},
        {{"tasks/update", 12}, TASK},  {{"tasks/cancel", 12}, TASK},
        {{"tasks/result", 12}, TASK},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (fl_msg_method_is(msg, table[i].method))
            return member_of(&msg->inner, table[i].member);
    return NULL;
}

fl_span fl_extract_object(const fl_msg *msg)
{
    const fl_span *found = fl_extract_named(msg);

    return found != NULL && fl_json_type_of(*found) == FL_JSON_STRING
               ? *found
               : (fl_span){0};
}

fl_status fl_extract_meaning(fl_span inside, fl_buf *out)
{
    return fl_json_unescape(inside, out);
}

fl_span fl_extract_inside(fl_span token)
{
    return fl_json_type_of(token) == FL_JSON_STRING
               ? (fl_span){token.ptr + 1, token.len - 2}
               : (fl_span){0};
}

fl_status fl_extract_text(fl_span token, fl_buf *out)
{
    return fl_json_unescape(fl_extract_inside(token), out);
}

const fl_revision *fl_extract_revision(const fl_msg *msg)
{
    fl_span version = fl_json_get(msg->result, FL_SPAN("protocolVersion"));

    return fl_revision_find(fl_extract_inside(version));
}

fl_span fl_extract_error_message(const fl_msg *msg)
{
    return fl_json_get(msg->error, FL_SPAN("message"));
}

int64_t fl_extract_error_code(const fl_msg *msg)
{
    int64_t code = 0;

    if (fl_json_int64(fl_json_get(msg->error, FL_SPAN("code")), &code) != FL_OK)
        return 0;
    return code;
}

static bool is_id(fl_span token)
{
    fl_json_type type = fl_json_type_of(token);

    return type == FL_JSON_STRING || type == FL_JSON_NUMBER;
}

fl_status fl_extract_tool_call(fl_span text, fl_buf *out)
{
    fl_span id = fl_json_get(text, FL_SPAN("id"));
    fl_span name = fl_json_get(text, FL_SPAN("name"));
    fl_span arguments = fl_json_get(text, FL_SPAN("arguments"));
    fl_json_writer writer;

    if (!is_id(id) || fl_json_type_of(name) != FL_JSON_STRING ||
        fl_json_get(text, FL_SPAN("jsonrpc")).len > 0 ||
        fl_json_get(text, FL_SPAN("method")).len > 0)
        return FL_E_BAD_MESSAGE;
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "jsonrpc");
    fl_json_string(&writer, "2.0");
    fl_json_key(&writer, "id");
    fl_json_raw(&writer, id);
    fl_json_key(&writer, "method");
    fl_json_string(&writer, "tools/call");
    fl_json_key(&writer, "params");
    fl_json_object(&writer);
    fl_json_key(&writer, "name");
    fl_json_raw(&writer, name);
    if (arguments.len > 0) {
        fl_json_key(&writer, "arguments");
        fl_json_raw(&writer, arguments);
    }
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}
