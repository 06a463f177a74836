/*
 * extract.c - the little that a transport wants to know of a message's inside.
 */
#include "rpc/extract.h"

#include "base/span.h"
#include "json/nav.h"
#include "json/unescape.h"

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

fl_status fl_extract_method(const fl_msg *msg, fl_buf *out)
{
    return fl_json_unescape(msg->method, out);
}

static fl_span unquote(fl_span token)
{
    return fl_json_type_of(token) == FL_JSON_STRING
               ? (fl_span){token.ptr + 1, token.len - 2}
               : (fl_span){0};
}

fl_status fl_extract_text(fl_span token, fl_buf *out)
{
    return fl_json_unescape(unquote(token), out);
}

const fl_revision *fl_extract_revision(const fl_msg *msg)
{
    fl_span version = fl_json_get(msg->result, FL_SPAN("protocolVersion"));

    return fl_revision_find(unquote(version));
}

int64_t fl_extract_error_code(const fl_msg *msg)
{
    int64_t code = 0;

    if (fl_json_int64(fl_json_get(msg->error, FL_SPAN("code")), &code) != FL_OK)
        return 0;
    return code;
}
