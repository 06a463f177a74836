/*
 * fuzz_msg.c - no text may upset the envelope reader, and what it accepts
 * must survive an exchange of ids.
 *
 * The input is a text; the reader's verdict is checked against its own
 * promises, then the accepted message is put together again with another id
 * and read a second time: same kind, new id, all other parts as they were.
 */
#include "rpc/msg.h"

#include "base/span.h"
#include "json/nav.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_inside(fl_span part, fl_span text)
{
    if (part.len > 0)
        require(part.ptr >= text.ptr &&
                part.ptr + part.len <= text.ptr + text.len);
}

static void check_refused(const fl_msg *msg, const fl_msg_fault *fault,
                          fl_span text)
{
    require(msg->kind == FL_MSG_INVALID && fault->what != NULL);
    require(fault->code == -32700 || fault->code == -32600);
    require(fault->at <= text.len);
    require(msg->id.len == 0 || fl_msg_id_equal(msg->id, msg->id));
}

static char *join(const fl_span parts[3], size_t *size)
{
    size_t len = parts[0].len + parts[1].len + parts[2].len;
    char *joined = malloc(len);
    size_t at = 0;

    require(joined != NULL);
    for (size_t i = 0; i < 3; i++) {
        memcpy(joined + at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    *size = len;
    return joined;
}

/* What was found in params is what looking for it finds. */
static void check_inner(const fl_msg *msg)
{
    const fl_params *in = &msg->inner;
    bool call = msg->kind == FL_MSG_REQUEST || msg->kind == FL_MSG_NOTIFICATION;
    fl_span params = call ? msg->params : (fl_span){0};
    fl_span meta = fl_json_get(params, FL_SPAN("_meta"));

    require(fl_span_equal(in->meta, meta));
    require(fl_span_equal(in->name, fl_json_get(params, FL_SPAN("name"))));
    require(fl_span_equal(in->uri, fl_json_get(params, FL_SPAN("uri"))));
    require(fl_span_equal(in->task_id, fl_json_get(params, FL_SPAN("taskId"))));
    require(fl_span_equal(in->arguments,
                          fl_json_get(params, FL_SPAN("arguments"))));
    require(fl_span_equal(in->progress_token,
                          fl_json_get(meta, FL_SPAN("progressToken"))));
    check_inside(in->claim.version, meta);
    check_inside(in->claim.client_info, meta);
    require(in->claim.present == (in->claim.version.len > 0));
}

static void check_splice(const fl_msg *msg, fl_span id)
{
    fl_span parts[3];
    fl_msg again;
    fl_msg_fault fault;

    fl_msg_splice_id(msg, id, parts);
    size_t size;
    char *joined = join(parts, &size);
    require(fl_msg_read((fl_span){joined, size}, &again, &fault) == FL_OK);
    require(again.kind == msg->kind);
    require(fl_span_equal(again.id, id));
    require(fl_span_equal(again.method, msg->method));
    require(fl_span_equal(again.params, msg->params));
    require(fl_span_equal(again.result, msg->result));
    require(fl_span_equal(again.error, msg->error));
    free(joined);
}

static void check_accepted(const fl_msg *msg)
{
    require(msg->kind != FL_MSG_INVALID);
    check_inside(msg->id, msg->text);
    check_inside(msg->method, msg->text);
    check_inside(msg->params, msg->text);
    check_inside(msg->result, msg->text);
    check_inside(msg->error, msg->text);
    check_inner(msg);
    (void)fl_msg_method_is(msg, FL_SPAN("tools/call"));
    if (msg->id.len > 0) {
        check_splice(msg, FL_SPAN("\"\\u0031\""));
        check_splice(msg, FL_SPAN("-12345678901234567890123"));
        (void)fl_msg_id_equal(msg->id, FL_SPAN("\"\\u0061\\ud83d\\ude00\""));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fl_span text = {(const char *)data, size};
    fl_msg msg;
    fl_msg_fault fault;

    if (fl_msg_read(text, &msg, &fault) == FL_OK)
        check_accepted(&msg);
    else
        check_refused(&msg, &fault, text);
    return 0;
}
