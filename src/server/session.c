/*
 * session.c - the server's end of one conversation: its link, its batches, its
 * calls, its end.
 */
#include "server/session.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/call.h"
#include "server/listen.h"
#include "server/methods.h"
#include "server/server.h"
#include "server/tasks.h"
#include "server/watch.h"
#include "json/nav.h"

enum { BATCH_ANSWER_MAX = 16 * 1024 * 1024 };

/* One element of a batch: as if it had come alone, but its answer goes into
 * the array. */
static void serve_element(const fl_return *to, fl_span text)
{
    fl_msg msg;
    fl_msg_fault fault;

    if (fl_msg_read(text, &msg, &fault) != FL_OK) {
        if (msg.result.len > 0 || msg.error.len > 0)
            return; /* a bad response is not answered */
        fl_batch_expect(to->batch);
        fl_return_error(to, msg.id, fault.code, fl_span_of(fault.what),
                        (fl_span){0});
    } else if (msg.kind == FL_MSG_BATCH) {
        fl_batch_expect(to->batch);
        fl_return_error(to, (fl_span){0}, FL_RPC_INVALID_REQUEST,
                        FL_SPAN("a batch in a batch"), (fl_span){0});
    } else if (msg.kind == FL_MSG_REQUEST) {
        fl_batch_expect(to->batch);
        fl_methods_request(to, &msg);
    } else if (msg.kind == FL_MSG_NOTIFICATION) {
        fl_methods_notify(to, &msg);
    } else {
        fl_asking_hear(to->session, &msg);
    }
}

static void serve_batch(fl_return *to, const fl_msg *msg)
{
    fl_json_walk walk;
    fl_json_member element;

    if (to->session->revision == NULL ||
        !fl_revision_has(to->session->revision, FL_HAS_BATCH)) {
        fl_return_error(to, (fl_span){0}, FL_RPC_INVALID_REQUEST,
                        FL_SPAN("batches exist in revision 2025-03-26 only"),
                        (fl_span){0});
        return;
    }
    to->batch = fl_batch_new(BATCH_ANSWER_MAX);
    if (to->batch == NULL) {
        fl_return_error(to, (fl_span){0}, FL_RPC_INTERNAL_ERROR,
                        FL_SPAN("out of memory"), (fl_span){0});
        return;
    }
    fl_batch_expect(to->batch); /* ourselves, so that it stays to the end */
    fl_json_walk_init(&walk, msg->text);
    while (fl_json_walk_next(&walk, &element))
        serve_element(to, element.value);
    fl_return_send(to, (fl_span){0}, NULL, 0);
}

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    fl_session *session = link->user;
    fl_return to = {
        .session = session,
        .reply = reply,
        .revision = session->revision,
    };

    if (msg->kind == FL_MSG_REQUEST)
        fl_methods_request(&to, msg);
    else if (msg->kind == FL_MSG_NOTIFICATION)
        fl_methods_notify(&to, msg);
    else if (msg->kind == FL_MSG_BATCH)
        serve_batch(&to, msg);
    else
        fl_asking_hear(session, msg);
}

/* True: it has been said, or cannot be. */
static bool tell_changed(fl_session *session, const fl_offer_list *list)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"),
        list->changed,
        FL_SPAN("\"}"),
    };

    return fl_link_send(session->link, parts, 3) != FL_BUSY;
}

static void tell_changes(fl_session *session)
{
    for (size_t i = 0; i < FL_OFFER_LISTS; i++)
        if ((session->changed & fl_offer_lists[i].offer) != 0 &&
            tell_changed(session, &fl_offer_lists[i]))
            session->changed &= (uint8_t)~fl_offer_lists[i].offer;
}

void fl_session_changed(fl_session *session, fl_offer offer)
{
    fl_listen_changed(session, offer);
    if (session->state != FL_SESSION_READY || (session->offers & offer) == 0)
        return;
    session->changed |= (uint8_t)offer;
    tell_changes(session);
}

static void on_writable(fl_link *link)
{
    fl_session *session = link->user;

    fl_listen_resume(session);
    tell_changes(session);
    fl_watch_resume(session);
    fl_asking_resume(session);
}

void fl_session_settle(fl_session *session)
{
    if (session->server == NULL && fl_list_empty(&session->calls)) {
        fl_introduction_release(session->client);
        fl_mem_free(session->questions); /* they went with the calls */
        fl_mem_free(session);
    } else if (session->server != NULL) {
        fl_server_answered(session->server);
    }
}

/* Each may end when it is told, and the list changes under us: so from the
 * first one not told yet, again and again. */
static fl_call *first_running(const fl_session *session)
{
    for (fl_list *node = session->calls.next; node != &session->calls;
         node = node->next) {
        fl_call *call = FL_LIST_ENTRY(node, fl_call, node);
        if (!call->cancelled)
            return call;
    }
    return NULL;
}

bool fl_session_is_busy(const fl_session *session)
{
    return first_running(session) != NULL;
}

void fl_session_shut(fl_session *session)
{
    fl_call *call;

    fl_listen_end(session);
    while ((call = first_running(session)) != NULL) {
        if (!call->replied)
            fl_return_error(&call->to, call->msg->id, FL_RPC_INTERNAL_ERROR,
                            FL_SPAN("the server is shutting down"),
                            (fl_span){0});
        call->replied = true;
        fl_call_cancel(call);
    }
}

static fl_call *first_on_stream(const fl_session *session, const void *stream)
{
    for (fl_list *node = session->calls.next; node != &session->calls;
         node = node->next) {
        fl_call *call = FL_LIST_ENTRY(node, fl_call, node);
        if (!call->cancelled && call->to.reply.stream == stream)
            return call;
    }
    return NULL;
}

static void on_abandoned(fl_link *link, fl_reply reply)
{
    fl_session *session = link->user;
    fl_call *call;

    if (fl_listen_abandon(session, reply.stream))
        return;
    /* a batch has several on one stream */
    while ((call = first_on_stream(session, reply.stream)) != NULL)
        fl_call_cancel(call);
}

/* Nobody listens any more, and an open subscription would hold the link. So
 * would a question: it will not be answered. */
static void on_ended(fl_link *link)
{
    fl_listen_end(link->user);
    fl_asking_give_up(link->user);
}

static void on_closed(fl_link *link, const fl_error *why)
{
    fl_session *session = link->user;
    fl_server *server = session->server;
    fl_call *call;

    fl_link_info info;

    fl_link_get_info(link, &info);
    fl_log_say(fl_loop_log(link->loop), FL_LOG_INFO, "link closed",
               fl_log_text("kind", fl_span_of(info.kind)),
               fl_log_text("reason", fl_span_of(why->text)),
               fl_log_int("messages", (int64_t)info.stats.messages_in));
    session->state = FL_SESSION_OVER;
    fl_list_remove(&session->node);
    fl_listen_forget(session);
    fl_watch_free(session);
    session->link = NULL; /* and every reply with it */
    fl_jobs_forget(session);
    while ((call = first_running(session)) != NULL)
        fl_call_cancel(call);
    session->server = NULL;
    fl_session_settle(session);
    fl_server_left(server);
}

static const fl_link_events session_events = {
    .on_message = on_message,
    .on_writable = on_writable,
    .on_abandoned = on_abandoned,
    .on_ended = on_ended,
    .on_closed = on_closed,
};

fl_session *fl_session_new(fl_server *server, fl_loop *loop)
{
    fl_session *session = fl_mem_zalloc(sizeof *session);

    if (session == NULL)
        return NULL;
    session->server = server;
    session->loop = loop;
    fl_list_init(&session->calls);
    session->log_level = FL_LEVEL_INFO;
    return session;
}

fl_status fl_session_open(fl_server *server, fl_link *link,
                          unsigned max_in_flight)
{
    fl_session *session = fl_session_new(server, link->loop);
    fl_link_info info;

    if (session == NULL)
        return FL_E_NOMEM;
    fl_link_get_info(link, &info);
    session->link = link;
    session->max_in_flight = max_in_flight;
    session->traits = (uint8_t)info.traits;
    if ((info.traits & FL_LINK_OPEN) != 0)
        session->revision = fl_revision_get(FL_REVISION_2025_03_26);
    fl_list_append(&server->sessions, &session->node);
    link->events = &session_events;
    link->user = session;
    return FL_OK;
}
