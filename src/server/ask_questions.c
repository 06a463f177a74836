/*
 * ask_questions.c - requests of ours to the client, and their answers: how the
 * legacy eras are asked.
 *
 * The call waits, and each thing it wants to know is a request under a number
 * of the session's. They leave by the reply of the call, so that a client that
 * has several calls under way knows what they are about. When the last one is
 * answered, or time is up, the handler is run again.
 *
 * No question fails where it is sent: whoever sends may be a handler, or walk
 * the list of questions. The timer, which runs anyway, is set to now.
 */
#include "server/asking.h"

#include "base/mem.h"
#include "base/span.h"
#include "rpc/carry.h"
#include "rpc/error.h"
#include "server/server.h"
#include "json/nav.h"
#include "json/write.h"

#include <inttypes.h>
#include <stdio.h>

enum { ID_ROOM = 24, META_MAX = 1024 };

struct fl_questions {
    fl_list open;  /* not answered yet */
    uint64_t last; /* the number of the latest */
};

static fl_want *at(const fl_questions *questions, fl_list *node)
{
    return node != &questions->open ? FL_LIST_ENTRY(node, fl_want, listed)
                                    : NULL;
}

/* NULL when there is none. */
static fl_want *first_open(const fl_session *session)
{
    return session->questions != NULL
               ? at(session->questions, session->questions->open.next)
               : NULL;
}

static fl_want *next_open(const fl_session *session, const fl_want *want)
{
    return at(session->questions, want->listed.next);
}

/* The session's; NULL when there is no memory for its first. */
static fl_questions *questions_of(fl_session *session)
{
    if (session->questions == NULL) {
        session->questions = fl_mem_zalloc(sizeof *session->questions);
        if (session->questions != NULL)
            fl_list_init(&session->questions->open);
    }
    return session->questions;
}

static void say_internal(fl_call *call, const char *text)
{
    fl_call_end_error(call, FL_RPC_INTERNAL_ERROR, fl_span_of(text),
                      (fl_span){0});
}

/* What a question is about goes in front of its other params: the task it is
 * for, and for a gateway the key by which the handler knows it. Either may be
 * empty. */
static fl_status write_meta(fl_span task, fl_span key, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    if (task.len > 0) {
        fl_json_key(&writer, "io.modelcontextprotocol/related-task");
        fl_json_object(&writer);
        fl_json_key(&writer, "taskId");
        fl_json_text(&writer, task);
        fl_json_object_end(&writer);
    }
    if (key.len > 0) {
        fl_json_key(&writer, FL_CARRY_KEY);
        fl_json_text(&writer, key);
    }
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

static bool is_empty(fl_span object)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, object);
    return !fl_json_walk_next(&walk, &member);
}

static fl_status send(const fl_want *want, fl_span meta)
{
    char id[ID_ROOM];
    int n = snprintf(id, sizeof id, "%" PRIu64, want->id);
    bool more = meta.len > 0 && !is_empty(want->params);
    const fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        {id, (size_t)n},
        FL_SPAN(",\"method\":\""),
        fl_span_of(fl_want_method(want->kind)),
        FL_SPAN("\",\"params\":{"),
        meta.len > 0 ? FL_SPAN("\"_meta\":") : FL_SPAN(""),
        meta,
        more ? FL_SPAN(",") : FL_SPAN(""),
        fl_span_from(want->params, 1),
        FL_SPAN("}"),
    };

    return fl_reply_send(want->asking->reply, parts,
                         sizeof parts / sizeof *parts);
}

static fl_status put_question(fl_want *want)
{
    fl_asking *asking = want->asking;
    fl_buf meta;
    fl_status rc = FL_OK;

    fl_buf_init(&meta, META_MAX);
    fl_span key = fl_call_is_carried(asking->call) ? want->key : (fl_span){0};
    if (fl_buf_len(&asking->task) > 0 || key.len > 0)
        rc = write_meta(fl_buf_view(&asking->task), key, &meta);
    if (rc == FL_OK)
        rc = send(want, fl_buf_view(&meta));
    fl_buf_reset(&meta);
    return rc;
}

void fl_asking_resume(fl_session *session)
{
    for (fl_want *want = first_open(session); want != NULL;
         want = next_open(session, want)) {
        fl_asking *asking = want->asking;
        if (want->sent || asking->reply.link == NULL || asking->sending < 0)
            continue;
        fl_status rc = put_question(want);
        want->sent = rc == FL_OK;
        if (rc < 0) {
            asking->sending = rc;
            fl_timer_start(&asking->timer, 0);
        }
    }
}

void fl_asking_give_up(fl_session *session)
{
    session->ended = true;
    for (fl_want *want = first_open(session); want != NULL;
         want = next_open(session, want))
        fl_timer_start(&want->asking->timer, 0);
}

static size_t count_open(const fl_session *session)
{
    size_t count = 0;

    for (fl_want *want = first_open(session); want != NULL;
         want = next_open(session, want))
        count++;
    return count;
}

/* What was asked on another reply is asked anew: nobody hears it there. */
fl_status fl_asking_send(fl_call *call, fl_reply reply, fl_span task)
{
    fl_asking *asking = call->asking;
    fl_session *session = call->to.session;

    if (session->server == NULL || session->link == NULL)
        return FL_E_STATE;
    fl_questions *questions = questions_of(session);
    fl_buf_clear(&asking->task);
    if (questions == NULL || fl_buf_append(&asking->task, task) != FL_OK)
        return FL_E_NOMEM;
    if (count_open(session) + asking->count > FL_ASKING_OPEN)
        return FL_E_LIMIT;
    asking->call = call;
    asking->waiting = true;
    asking->sending = FL_OK;
    asking->reply = reply;
    for (fl_list *node = asking->wants.next; node != &asking->wants;
         node = node->next) {
        fl_want *want = FL_LIST_ENTRY(node, fl_want, node);
        fl_list_remove(&want->listed);
        if (want->answered)
            continue;
        want->id = ++questions->last;
        want->sent = false;
        fl_list_append(&questions->open, &want->listed);
    }
    fl_timer_start(&asking->timer,
                   session->ended ? 0 : session->server->input_timeout_ms);
    fl_asking_resume(session);
    return FL_OK;
}

void fl_asking_question(fl_call *used_up)
{
    fl_call *call = fl_call_defer(used_up);

    if (call == NULL)
        return;
    fl_status rc = fl_asking_send(call, call->to.reply, (fl_span){0});
    if (rc == FL_E_LIMIT)
        fl_call_end_error(call, FL_RPC_BUSY,
                          FL_SPAN("the client has too many questions to "
                                  "answer already"),
                          (fl_span){0});
    else if (rc != FL_OK)
        say_internal(call, "out of memory");
}

/* All is answered. The call may be gone on return. */
static void go_on(fl_call *call)
{
    call->asking->waiting = false;
    fl_asking_drop(call->asking);
    if (call->job != NULL)
        fl_job_goes_on(call);
    fl_call_rerun(call);
}

static bool is_answered(const fl_asking *asking)
{
    for (fl_list *node = asking->wants.next; node != &asking->wants;
         node = node->next)
        if (!FL_LIST_ENTRY(node, fl_want, node)->answered)
            return false;
    return true;
}

/* False: there was no memory, or no room, and the call has ended. */
static bool settle(fl_want *want, fl_input input, fl_span content)
{
    fl_call *call = want->asking->call;

    fl_list_remove(&want->listed);
    want->answered = true;
    fl_status rc = fl_asking_learn(want->asking, want->key, input, content);
    if (rc == FL_OK)
        return true;
    want->asking->waiting = false;
    if (rc == FL_E_LIMIT)
        fl_call_end_error(call, FL_RPC_BUSY,
                          FL_SPAN("the requests in flight and the client's "
                                  "answers are too large together"),
                          (fl_span){0});
    else
        say_internal(call, "out of memory");
    return false;
}

static bool is_elicitation(const fl_want *want)
{
    return want->kind == FL_WANT_FORM || want->kind == FL_WANT_URL;
}

static void hear(fl_want *want, const fl_msg *msg)
{
    fl_asking *asking = want->asking;
    fl_span content = {"", 0};
    fl_input input = FL_INPUT_CANCELLED;

    if (msg->kind == FL_MSG_RESULT) {
        input = fl_asking_judge(want, msg->result, &content);
    } else if (!is_elicitation(want)) {
        input = FL_INPUT_FAILED;
        content = msg->error;
    }
    if (input == FL_INPUT_NONE) {
        input = FL_INPUT_FAILED;
        content = FL_SPAN("{\"code\":-32602,\"message\":\"the client's answer "
                          "is not as it has to be\"}");
    }
    if (settle(want, input, content) && is_answered(asking))
        go_on(asking->call);
}

void fl_asking_hear(fl_session *session, const fl_msg *msg)
{
    int64_t id;

    if (fl_json_int64(msg->id, &id) != FL_OK)
        return;
    for (fl_want *want = first_open(session); want != NULL;
         want = next_open(session, want)) {
        if (want->sent && want->id == (uint64_t)id) {
            hear(want, msg);
            return;
        }
    }
}

/* A courtesy: a client that is busy is not told. Once its reply has ended, the
 * link is the only way. */
static void take_back(const fl_want *want, const char *reason)
{
    const fl_asking *asking = want->asking;
    const fl_call *call = asking->call;
    char text[160];
    int n = snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                     "cancelled\",\"params\":{\"requestId\":%" PRIu64
                     ",\"reason\":\"%s\"}}",
                     want->id, reason);
    fl_span whole = {text, (size_t)n};

    if (call->to.session->link == NULL || !want->sent || want->answered)
        return;
    if (call->job == NULL && !call->replied)
        (void)!fl_reply_send(call->to.reply, &whole, 1);
    else
        (void)!fl_link_send(call->to.session->link, &whole, 1);
}

void fl_asking_cancel(fl_call *call)
{
    fl_asking *asking = call->asking;

    asking->call = call;
    for (fl_list *node = asking->wants.next; node != &asking->wants;
         node = node->next)
        take_back(FL_LIST_ENTRY(node, fl_want, node),
                  "what it was asked for is cancelled");
    asking->waiting = false;
    fl_asking_drop(asking);
}

void fl_asking_expire(fl_asking *asking)
{
    fl_call *call = asking->call;

    if (asking->sending == FL_E_TOO_BIG || asking->sending == FL_E_NOMEM) {
        bool large = asking->sending == FL_E_TOO_BIG;
        fl_asking_cancel(call);
        say_internal(call, large ? "a question to the client is larger than "
                                   "a message may be"
                                 : "out of memory");
        return;
    }
    for (fl_list *node = asking->wants.next; node != &asking->wants;
         node = node->next) {
        fl_want *want = FL_LIST_ENTRY(node, fl_want, node);
        fl_span late = FL_SPAN("{\"code\":-32001,\"message\":\"the client did "
                               "not answer in time\"}");
        if (want->answered)
            continue;
        take_back(want, "it was not answered in time");
        if (!settle(want,
                    is_elicitation(want) ? FL_INPUT_CANCELLED : FL_INPUT_FAILED,
                    is_elicitation(want) ? (fl_span){"", 0} : late))
            return;
    }
    go_on(call);
}
