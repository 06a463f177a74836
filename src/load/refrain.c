/*
 * refrain.c - what is asked again and again.
 *
 * The request is written once and read once; each time it is sent its id is
 * spliced. Answers are mostly the same, byte for byte: one that equals the
 * last right one need not be looked into.
 */
#include "load/refrain.h"

#include "base/span.h"
#include "json/nav.h"

enum { TEXT_MAX = 64 * 1024 * 1024, GOOD_MAX = 64 * 1024 };

static bool is_empty(fl_span object)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, object);
    return !fl_json_walk_next(&walk, &member);
}

/* A claim goes into a _meta of its own, in front of the rest. */
static fl_status write(fl_buf *to, const char *method, fl_span params,
                       fl_span claim)
{
    fl_span rest = params.len > 0 ? params : FL_SPAN("{}");
    fl_span plain[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\""),
        fl_span_of(method),
        params.len > 0 ? FL_SPAN("\",\"params\":") : FL_SPAN("\""),
        params,
        FL_SPAN("}"),
    };
    fl_span claiming[] = {
        plain[0],
        plain[1],
        FL_SPAN("\",\"params\":{\"_meta\":{"),
        claim,
        is_empty(rest) ? FL_SPAN("}") : FL_SPAN("},"),
        fl_span_from(rest, 1),
        FL_SPAN("}"),
    };

    return claim.len > 0 ? fl_buf_append_all(to, claiming, 7)
                         : fl_buf_append_all(to, plain, 5);
}

fl_status fl_refrain_init(fl_refrain *refrain, const char *method,
                          fl_span params, fl_span claim)
{
    fl_msg_fault fault;

    fl_buf_init(&refrain->text, TEXT_MAX);
    fl_buf_init(&refrain->good, GOOD_MAX);
    fl_status rc = write(&refrain->text, method, params, claim);
    if (rc != FL_OK)
        return rc;
    rc = fl_msg_read(fl_buf_view(&refrain->text), &refrain->msg, &fault);
    return rc == FL_OK ? rc : FL_E_INVALID;
}

void fl_refrain_deinit(fl_refrain *refrain)
{
    fl_buf_reset(&refrain->text);
    fl_buf_reset(&refrain->good);
}

static fl_load_fault look_into(fl_span result)
{
    if (fl_json_type_of(fl_json_get(result, FL_SPAN("isError"))) ==
        FL_JSON_TRUE)
        return FL_LOAD_TOOL;
    return fl_json_string_is(fl_json_get(result, FL_SPAN("resultType")),
                             FL_SPAN("input_required"))
               ? FL_LOAD_ASKED
               : FL_LOAD_NO_FAULT;
}

fl_load_fault fl_refrain_judge(fl_refrain *refrain, const fl_msg *answer)
{
    if (answer->kind != FL_MSG_RESULT)
        return FL_LOAD_ERROR;
    if (fl_span_equal(answer->result, fl_buf_view(&refrain->good)))
        return FL_LOAD_NO_FAULT;
    fl_load_fault fault = look_into(answer->result);
    if (fault == FL_LOAD_NO_FAULT) {
        fl_buf_clear(&refrain->good); /* if it has no room for it, none */
        if (fl_buf_append(&refrain->good, answer->result) != FL_OK)
            fl_buf_clear(&refrain->good);
    }
    return fault;
}

const char *fl_load_fault_name(fl_load_fault fault)
{
    static const char *const names[FL_LOAD_FAULTS] = {
        [FL_LOAD_NO_FAULT] = "answered", [FL_LOAD_ERROR] = "errors",
        [FL_LOAD_TOOL] = "tool errors",  [FL_LOAD_ASKED] = "questions back",
        [FL_LOAD_TIMEOUT] = "timeouts",  [FL_LOAD_LOST] = "lost",
    };

    return fault < FL_LOAD_FAULTS ? names[fault] : "";
}
