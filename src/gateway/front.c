/*
 * front.c - one client of the gateway: its messages, era by era; its end.
 *
 * The message decides. A request that makes a claim climbs the ladder and goes
 * to whatever back is for it; any other belongs to the conversation that
 * initialize opened. What the gateway knows better than the server it says
 * itself: ping, what is out of order, what comes twice. All else is carried,
 * methods nobody here has heard of too.
 */
#include "gateway/front.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/aggregate.h"
#include "gateway/back.h"
#include "gateway/cells.h"
#include "gateway/gateway.h"
#include "gateway/inquiry.h"
#include "gateway/legacy.h"
#include "gateway/listening.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/ladder.h"
#include "server/methods.h"
#include "json/nav.h"

#include <stdio.h>

enum {
    BATCH_ANSWER_MAX = 16 * 1024 * 1024,
    SUPPORTED_MAX = 512,
};

static bool has_fields(const fl_front *front)
{
    return (front->traits & (FL_LINK_CHANNEL | FL_LINK_JUDGED)) == 0;
}

static fl_errand *find_errand(const fl_front *front, fl_span id)
{
    for (fl_list *node = front->errands.next; node != &front->errands;
         node = node->next) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_front);
        if (fl_msg_id_equal(errand->id, id))
            return errand;
    }
    return NULL;
}

static void refuse(const fl_asker *asker, fl_span id, int code,
                   const char *text)
{
    fl_asker_refuse(asker, id, code, fl_span_of(text), (fl_span){0});
}

static bool is_hidden(const fl_asker *asker, const fl_msg *msg,
                      fl_method method)
{
    return method == FL_METHOD_TOOLS_CALL &&
           !fl_filter_allows(&asker->front->route->filter, msg->inner.name);
}

/* Ids are looked for only where they must differ, and few are in flight. */
static bool admit(const fl_asker *asker, const fl_msg *msg, fl_method method)
{
    const fl_front *front = asker->front;
    char data[48];

    if (is_hidden(asker, msg, method)) {
        refuse(asker, msg->id, FL_RPC_INVALID_PARAMS, "Unknown tool");
        return false;
    }
    if (front->in_flight == 0)
        return true;
    if ((front->traits & FL_LINK_CHANNEL) != 0 &&
        find_errand(front, msg->id) != NULL) {
        refuse(asker, msg->id, FL_RPC_INVALID_REQUEST,
               "a request with this id is in flight");
        return false;
    }
    if (front->in_flight < front->max_in_flight)
        return true;
    int n = snprintf(data, sizeof data, "{\"limit\":%u}", front->max_in_flight);
    fl_asker_refuse(asker, msg->id, FL_RPC_BUSY,
                    FL_SPAN("too many requests in flight"),
                    (fl_span){data, (size_t)n});
    return false;
}

static void send_on(const fl_asker *asker, const fl_msg *msg, fl_method method,
                    fl_back *back)
{
    bool whole = fl_back_wants_all(back, asker, msg, method);
    fl_errand *errand = fl_errand_new(asker, msg, method, whole);

    if (errand == NULL)
        refuse(asker, msg->id, FL_RPC_INTERNAL_ERROR, "out of memory");
    else
        fl_back_carry(back, errand, msg);
}

/* The rungs in their order (server/ladder.h). Schemas of tools are known as far
 * as somebody has listed them. */
static bool climb(fl_asker *asker, const fl_msg *msg, fl_method method,
                  fl_ladder_fault *fault)
{
    const fl_front *front = asker->front;
    bool fields_too = has_fields(front);

    if (!fl_ladder_judge(asker->reply, fields_too, msg, &asker->revision,
                         fault))
        return false;
    if (method != FL_METHOD_OTHER && !fl_method_is(method, FL_METHOD_MODERN)) {
        fault->code = FL_RPC_METHOD_NOT_FOUND;
        snprintf(fault->text, sizeof fault->text,
                 "this revision has no such method");
        return false;
    }
    if (!fl_ladder_judge_name(asker->reply, fields_too, msg, fault))
        return false;
    fl_span schema =
        fields_too && method == FL_METHOD_TOOLS_CALL
            ? fl_mirrors_schema(&front->route->mirrors, msg->inner.name)
            : (fl_span){0};
    return schema.len == 0 ||
           fl_ladder_judge_arguments(asker->reply, schema, msg->inner.arguments,
                                     fault);
}

/* Where each has a child of its own. */
static bool has_own(const fl_front *front)
{
    return front->route->upstream.child == FL_CHILD_REQUEST;
}

static void carry_modern(const fl_asker *asker, const fl_msg *msg,
                         fl_method method)
{
    fl_front *front = asker->front;
    fl_error why;

    if (!fl_health_admits(front->route, asker, msg->id))
        return;
    if (has_own(front)) {
        fl_spares_send(asker, msg, method);
        return;
    }
    fl_back *back = fl_route_for_request(front->route, front, msg, &why);
    if (back == NULL)
        fl_gateway_refuse(asker, msg->id, &why);
    else
        send_on(asker, msg, method, back);
}

static void carry_legacy(const fl_asker *asker, const fl_msg *msg,
                         fl_method method)
{
    fl_front *front = asker->front;
    fl_error why;

    if (!fl_health_admits(front->route, asker, msg->id))
        return;
    if (front->back != NULL && !front->back->closing)
        fl_back_attend(front->back);
    if (front->revision == NULL) { /* with its back its conversation has gone */
        fl_error_set(&why, FL_E_CLOSED, "the conversation has ended");
        fl_gateway_refuse(asker, msg->id, &why);
        return;
    }
    if (has_own(front))
        fl_spares_send(asker, msg, method);
    else if (fl_front_rejoin_back(front, &why) != FL_OK)
        fl_gateway_refuse(asker, msg->id, &why);
    else
        send_on(asker, msg, method, front->back);
}

static void serve_modern(fl_asker *asker, const fl_msg *msg)
{
    fl_method method = fl_method_of(msg);
    fl_ladder_fault fault;

    if (asker->batch != NULL) {
        refuse(asker, msg->id, FL_RPC_INVALID_REQUEST,
               "a request with a claim must not be in a batch");
        return;
    }
    asker->early = true;
    if (!climb(asker, msg, method, &fault)) {
        fl_asker_refuse(asker, msg->id, fault.code, fl_span_of(fault.text),
                        fl_buf_view(&fault.data));
        fl_buf_reset(&fault.data);
        return;
    }
    asker->early = false;
    if (admit(asker, msg, method))
        carry_modern(asker, msg, method);
}

/* Neither a claim nor a conversation: it is of no revision. */
static void refuse_unclaimed(fl_asker *asker, const fl_msg *msg)
{
    fl_buf data;

    asker->early = true;
    fl_buf_init(&data, SUPPORTED_MAX);
    fl_status rc = fl_methods_write_supported(&data, (fl_span){0});
    fl_asker_refuse(asker, msg->id, FL_RPC_INVALID_PARAMS,
                    FL_SPAN("Missing _meta io.modelcontextprotocol/"
                            "protocolVersion; or send initialize"),
                    rc == FL_OK ? fl_buf_view(&data) : (fl_span){0});
    fl_buf_reset(&data);
}

/* Where no initialize is asked for there is a conversation from the first
 * request on. */
static bool is_open(fl_asker *asker)
{
    fl_front *front = asker->front;
    fl_error why;

    if (front->revision == NULL && (front->traits & FL_LINK_OPEN) != 0 &&
        (has_own(front) || fl_front_join_back(front, &why) == FL_OK)) {
        front->revision = fl_revision_get(FL_REVISION_2025_03_26);
        front->state = FL_FRONT_READY;
        asker->revision = front->revision;
    }
    return front->revision != NULL;
}

static void serve_legacy(fl_asker *asker, const fl_msg *msg)
{
    fl_front *front = asker->front;
    fl_method method = fl_method_of(msg);

    if (method == FL_METHOD_PING) {
        front->link->stats.pings++;
        fl_asker_result(asker, msg->id, FL_SPAN("{}"));
    } else if (method == FL_METHOD_INITIALIZE) {
        fl_front_initialize(asker, msg);
    } else if (!is_open(asker)) {
        refuse_unclaimed(asker, msg);
    } else if (admit(asker, msg, method)) {
        carry_legacy(asker, msg, method);
    }
}

/* An initialize is one, whatever it claims, unless it claims to be of the era
 * that has none. */
static bool is_modern(const fl_msg *msg)
{
    const fl_claim *claim = &msg->inner.claim;
    fl_span version = claim->version;

    if (!claim->present || !fl_msg_method_is(msg, FL_SPAN("initialize")))
        return claim->present;
    return fl_json_type_of(version) == FL_JSON_STRING &&
           fl_revision_is_modern((fl_span){version.ptr + 1, version.len - 2});
}

/* What is in flight is answered yet; nothing is added to it. */
static bool is_shutting(const fl_asker *asker, const fl_msg *msg)
{
    const fl_gateway *gateway = asker->front->route->gateway;

    if (gateway->closing == FL_GATEWAY_OPEN ||
        fl_method_of(msg) == FL_METHOD_PING)
        return false;
    refuse(asker, msg->id, FL_RPC_BUSY, "the gateway is shutting down");
    return true;
}

static void serve_request(fl_asker *asker, const fl_msg *msg)
{
    if (is_shutting(asker, msg))
        return;
    if (is_modern(msg))
        serve_modern(asker, msg);
    else
        serve_legacy(asker, msg);
}

static void cancel(fl_front *front, const fl_msg *msg)
{
    fl_span id = fl_json_get(msg->params, FL_SPAN("requestId"));
    fl_span reason = fl_json_get(msg->params, FL_SPAN("reason"));
    fl_errand *errand = (front->traits & FL_LINK_STATELESS) == 0
                            ? find_errand(front, id)
                            : NULL;

    if (errand == NULL || errand->method == FL_METHOD_INITIALIZE)
        return;
    fl_back_call_off(errand, reason);
    fl_errand_abandon(errand);
}

static void heed(fl_front *front, const fl_msg *msg)
{
    fl_method method = fl_method_of(msg);

    if (method == FL_METHOD_CANCELLED) {
        cancel(front, msg);
    } else if (method == FL_METHOD_INITIALIZED) {
        if (front->state == FL_FRONT_OPENED) {
            front->state = FL_FRONT_READY;
            fl_to_modern_began(front);
            if (front->back != NULL)
                fl_legacy_hand_roots(front->back, front);
        }
    } else if (method == FL_METHOD_PROGRESS) {
        fl_inquiry_progress(front, msg);
    } else if (front->back != NULL && !msg->inner.claim.present) {
        fl_back_pass_on(front->back, msg, method);
    }
}

/* One element of a batch: as if it had come alone, but its answer goes into
 * the array. */
static void serve_element(fl_asker *asker, fl_span text)
{
    fl_msg msg;
    fl_msg_fault fault;

    if (fl_msg_read(text, &msg, &fault) != FL_OK) {
        if (msg.result.len > 0 || msg.error.len > 0)
            return; /* a bad response is not answered */
        fl_batch_expect(asker->batch);
        fl_asker_refuse(asker, msg.id, fault.code, fl_span_of(fault.what),
                        (fl_span){0});
    } else if (msg.kind == FL_MSG_BATCH) {
        fl_batch_expect(asker->batch);
        refuse(asker, (fl_span){0}, FL_RPC_INVALID_REQUEST,
               "a batch in a batch");
    } else if (msg.kind == FL_MSG_REQUEST) {
        fl_batch_expect(asker->batch);
        if (fl_msg_method_is(&msg, FL_SPAN("initialize")))
            refuse(asker, msg.id, FL_RPC_INVALID_REQUEST,
                   "initialize must not be in a batch");
        else
            serve_request(asker, &msg);
    } else if (msg.kind == FL_MSG_NOTIFICATION) {
        heed(asker->front, &msg);
    } else {
        fl_inquiry_answer(asker->front, &msg);
    }
}

static void serve_batch(fl_asker *asker, const fl_msg *msg)
{
    const fl_revision *revision = asker->front->revision;
    fl_json_walk walk;
    fl_json_member element;

    if (revision == NULL || !fl_revision_has(revision, FL_HAS_BATCH)) {
        refuse(asker, (fl_span){0}, FL_RPC_INVALID_REQUEST,
               "batches exist in revision 2025-03-26 only");
        return;
    }
    asker->batch = fl_batch_new(BATCH_ANSWER_MAX);
    if (asker->batch == NULL) {
        refuse(asker, (fl_span){0}, FL_RPC_INTERNAL_ERROR, "out of memory");
        return;
    }
    fl_batch_expect(asker->batch); /* ourselves, so that it stays to the end */
    fl_json_walk_init(&walk, msg->text);
    while (fl_json_walk_next(&walk, &element)) {
        fl_asker one = *asker; /* each may be of another era */
        serve_element(&one, element.value);
    }
    fl_asker_send(asker, (fl_span){0}, 0, NULL, 0);
}

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    fl_front *front = link->user;
    fl_asker asker = {
        .front = front,
        .reply = reply,
        .revision = front->revision,
    };

    if (msg->kind == FL_MSG_REQUEST)
        serve_request(&asker, msg);
    else if (msg->kind == FL_MSG_NOTIFICATION)
        heed(front, msg);
    else if (msg->kind == FL_MSG_BATCH)
        serve_batch(&asker, msg);
    else
        fl_inquiry_answer(front, msg);
}

/* A batch has several on one stream. */
static void on_abandoned(fl_link *link, fl_reply reply)
{
    fl_front *front = link->user;
    fl_list *node = front->errands.next;

    while (node != &front->errands) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_front);
        node = node->next;
        if (errand->asker.reply.stream == reply.stream) {
            fl_back_call_off(errand, (fl_span){0});
            fl_errand_abandon(errand);
        }
    }
}

static void call_off_all(fl_front *front)
{
    while (!fl_list_empty(&front->errands)) {
        fl_errand *errand =
            FL_LIST_ENTRY(front->errands.next, fl_errand, by_front);
        fl_back_call_off(errand, (fl_span){0});
        fl_errand_abandon(errand);
    }
}

static void on_writable(fl_link *link)
{
    fl_front_catch_up(link->user);
    fl_listening_catch_up(link->user);
}

/* What stays open only to tell of changes is not worth waiting for. */
static void on_ended(fl_link *link)
{
    fl_front *front = link->user;
    fl_list *node = front->errands.next;

    while (node != &front->errands) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_front);
        node = node->next;
        if (errand->method == FL_METHOD_LISTEN) {
            fl_back_call_off(errand, (fl_span){0});
            fl_errand_abandon(errand);
        }
    }
    front->ended = true;
    fl_inquiries_lose_front(front);
}

static void free_front(fl_front *front)
{
    fl_introduction_release(front->params);
    fl_front_forget_claim(front);
    fl_route_forget_recent(front);
    fl_front_forget_watched(front);
    fl_mem_free(front->more);
    fl_mem_free(front);
}

static void on_closed(fl_link *link, const fl_error *why)
{
    fl_front *front = link->user;
    fl_route *route = front->route;
    fl_link_info info;

    fl_link_get_info(link, &info);
    fl_log_say(fl_loop_log(link->loop),
               fl_aggregate_is_leg(link) ? FL_LOG_DEBUG : FL_LOG_INFO,
               "client left", fl_log_text("kind", fl_span_of(info.kind)),
               fl_log_text("reason", fl_span_of(why->text)),
               fl_log_int("messages", (int64_t)info.stats.messages_in));
    front->state = FL_FRONT_OVER;
    front->link = NULL;
    fl_inquiries_lose_front(front);
    call_off_all(front);
    fl_to_legacy_left(front);
    fl_to_modern_left(front);
    fl_front_leave_back(front);
    fl_route_front_left(front);
    fl_list_remove(&front->node);
    free_front(front);
    fl_gateway_left(route->gateway);
}

void fl_front_end_listens(fl_front *front)
{
    fl_list *node = front->errands.next;

    while (node != &front->errands) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_front);
        node = node->next;
        if (errand->method != FL_METHOD_LISTEN)
            continue;
        fl_back_call_off(errand, (fl_span){0});
        fl_listening_end(errand);
    }
}

void fl_front_shut(fl_front *front)
{
    fl_front_end_listens(front);
    while (!fl_list_empty(&front->errands)) {
        fl_errand *errand =
            FL_LIST_ENTRY(front->errands.next, fl_errand, by_front);
        fl_back_call_off(errand, (fl_span){0});
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR,
                       FL_SPAN("the gateway is shutting down"), (fl_span){0});
    }
    fl_link_close(front->link);
}

static const fl_link_events front_events = {
    .on_message = on_message,
    .on_writable = on_writable,
    .on_abandoned = on_abandoned,
    .on_ended = on_ended,
    .on_closed = on_closed,
};

fl_front_more *fl_front_get_more(fl_front *front)
{
    if (front->more == NULL) {
        front->more = fl_mem_zalloc(sizeof *front->more);
        if (front->more != NULL)
            fl_list_init(&front->more->questions);
    }
    return front->more;
}

fl_status fl_front_open(fl_route *route, fl_link *link, unsigned max_in_flight)
{
    fl_front *front = fl_mem_zalloc(sizeof *front);
    fl_link_info info;

    if (front == NULL)
        return FL_E_NOMEM;
    fl_link_get_info(link, &info);
    front->route = route;
    front->number = ++route->gateway->last_front;
    front->link = link;
    front->traits = (uint8_t)info.traits;
    front->principal = info.principal;
    front->max_in_flight = max_in_flight;
    fl_list_init(&front->errands);
    fl_list_init(&front->by_back);
    fl_list_append(&route->fronts, &front->node);
    link->events = &front_events;
    link->user = front;
    return FL_OK;
}
