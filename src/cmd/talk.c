/*
 * talk.c - a conversation with a server, word for word.
 *
 * What the server asks meanwhile is answered as a client would that has
 * declared nothing: pings are, the rest is not known here.
 */
#include "cmd/talk.h"

#include "base/span.h"
#include "base/status.h"
#include "json/nav.h"

#include <stdio.h>

enum { ANSWER_MAX = 32 * 1024 * 1024 };

static void on_open(fl_link *link)
{
    fl_talk *talk = link->user;

    talk->open = talk->ended = true;
}

static void refuse(const fl_msg *msg, fl_reply reply)
{
    bool ping = fl_msg_method_is(msg, FL_SPAN("ping"));
    const fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), msg->id,
        ping ? FL_SPAN(",\"result\":{}}")
             : FL_SPAN(",\"error\":{\"code\":-32601,\"message\":"
                       "\"Method not found\"}}")};

    (void)fl_reply_end(reply, parts, 3);
}

/* The answer to what was asked. Where the transport made it up, it is why
 * there is none. */
static void take_answer(fl_talk *talk, const fl_msg *msg)
{
    fl_msg_fault fault;

    if (talk->heard)
        return;
    talk->heard = talk->settled = true;
    talk->stray = !fl_msg_id_equal(msg->id, fl_span_of(talk->id));
    if (fl_link_blame(talk->link) != NULL)
        talk->why = *fl_link_blame(talk->link);
    fl_buf_clear(&talk->text);
    if (fl_buf_append(&talk->text, msg->text) != FL_OK ||
        fl_msg_read(fl_buf_view(&talk->text), &talk->msg, &fault) != FL_OK)
        fl_error_set(&talk->why, FL_E_LIMIT, "the answer is too long");
}

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    fl_talk *talk = link->user;

    switch (msg->kind) {
    case FL_MSG_REQUEST:
        refuse(msg, reply);
        break;
    case FL_MSG_RESULT:
    case FL_MSG_ERROR:
        take_answer(talk, msg);
        break;
    case FL_MSG_NOTIFICATION:
    case FL_MSG_BATCH:
    case FL_MSG_INVALID:
        break;
    }
}

static void on_closed(fl_link *link, const fl_error *why)
{
    fl_talk *talk = link->user;

    talk->link = NULL;
    talk->closed = talk->ended = talk->settled = true;
    talk->why = *why;
}

static const fl_link_events events = {
    .on_open = on_open,
    .on_message = on_message,
    .on_closed = on_closed,
};

fl_status fl_talk_open_at(fl_talk *talk, fl_exam *exam, const char *url)
{
    *talk = (fl_talk){.exam = exam};
    fl_buf_init(&talk->text, ANSWER_MAX);
    fl_status rc = fl_link_connect(exam->loop, url, &exam->line->options,
                                   &events, talk, &talk->link, &talk->why);
    if (rc != FL_OK) {
        talk->closed = true;
        return rc;
    }
    if (!fl_exam_wait(exam, &talk->ended, exam->step_ms + 1000))
        return fl_error_set(&talk->why, FL_E_TIMEOUT,
                            "cannot connect: no answer in time");
    return talk->open ? FL_OK : talk->why.status;
}

fl_status fl_talk_open(fl_talk *talk, fl_exam *exam)
{
    return fl_talk_open_at(talk, exam, exam->line->url);
}

void fl_talk_close(fl_talk *talk)
{
    if (talk->link != NULL)
        fl_link_close(talk->link);
    fl_exam_wait_closed(talk->exam, &talk->closed);
    fl_buf_reset(&talk->text);
}

static uint64_t patience(const fl_talk *talk)
{
    uint64_t step = talk->exam->step_ms;

    return talk->patience_ms > 0 && talk->patience_ms < step ? talk->patience_ms
                                                             : step;
}

static fl_status judge(fl_talk *talk)
{
    char shown[FL_CHART_QUOTE];

    if (!talk->heard && talk->closed)
        return talk->why.status < 0
                   ? talk->why.status
                   : fl_error_set(&talk->why, FL_E_CLOSED,
                                  "the server closed the connection");
    if (!talk->heard)
        return fl_error_set(&talk->why, FL_E_TIMEOUT, "no answer within %g s",
                            (double)patience(talk) / 1e3);
    if (talk->why.status != FL_OK)
        return talk->why.status;
    if (talk->stray)
        return fl_error_set(&talk->why, FL_E_BAD_MESSAGE,
                            "asked with id %s it answered to id %s", talk->id,
                            fl_chart_quote(talk->msg.id, shown));
    if (talk->msg.kind == FL_MSG_RESULT)
        return FL_OK;
    return fl_error_set(&talk->why, FL_E_REMOTE, "error %s",
                        fl_chart_quote(talk->msg.error, shown));
}

fl_status fl_talk_ask(fl_talk *talk, const char *id, const char *method,
                      const char *params)
{
    const fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
                             fl_span_of(id),
                             FL_SPAN(",\"method\":\""),
                             fl_span_of(method),
                             FL_SPAN("\",\"params\":"),
                             fl_span_of(params),
                             FL_SPAN("}")};
    const fl_span bare[] = {parts[0], parts[1], parts[2], parts[3],
                            FL_SPAN("\"}")};
    uint64_t began = fl_exam_clock();

    if (talk->link == NULL)
        return talk->why.status < 0 ? talk->why.status : FL_E_CLOSED;
    snprintf(talk->id, sizeof talk->id, "%s", id);
    talk->heard = talk->settled = talk->stray = false;
    talk->why = (fl_error){0};
    fl_status rc = fl_link_send(talk->link, params != NULL ? parts : bare,
                                params != NULL ? 7 : 5);
    if (rc != FL_OK)
        return fl_error_set(&talk->why, rc < 0 ? rc : FL_E_TIMEOUT,
                            "cannot send: %s", fl_status_text(rc));
    if (!fl_exam_wait(talk->exam, &talk->settled, patience(talk)) &&
        talk->link != NULL)
        fl_link_cancel(talk->link, fl_span_of(talk->id));
    talk->took_ms = fl_exam_clock() - began;
    return judge(talk);
}

void fl_talk_tell(fl_talk *talk, const char *method)
{
    const fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\""),
                             fl_span_of(method), FL_SPAN("\"}")};

    if (talk->link != NULL && fl_link_send(talk->link, parts, 3) != FL_OK)
        return; /* what is asked next will tell */
}

int64_t fl_talk_code(const fl_talk *talk)
{
    int64_t code = 0;

    if (!talk->heard ||
        fl_json_int64(fl_json_get(talk->msg.error, FL_SPAN("code")), &code) !=
            FL_OK)
        return 0;
    return code;
}
