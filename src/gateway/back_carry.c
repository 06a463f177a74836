/*
 * back_carry.c - requests on their way to the server.
 *
 * Between two ends of one era a message stays as it is, but for two tokens:
 * its id and its progress token become our number. That is a splice, not a
 * re-serialisation. Between the eras its params are said anew (adapt/), and
 * some methods are ours to answer.
 */
#include "adapt/adapt.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/cells.h"
#include "gateway/gateway.h"
#include "gateway/rounds.h"
#include "gateway/route.h"
#include "gateway/solo.h"
#include "gateway/standing.h"
#include "gateway/tasks.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"

enum { PARAMS_MAX = 64 * 1024 * 1024 };

bool fl_back_wants_all(const fl_back *back, const fl_asker *asker,
                       const fl_msg *msg, fl_method method)
{
    if (!fl_back_is_ready(back) || fl_method_is(method, FL_METHOD_SAFE) ||
        msg->inner.claim.log_level.len > 0)
        return true;
    /* what is to be asked again with an answer, or refused and repeated */
    return fl_back_is_modern(back) == asker->revision->legacy ||
           fl_lane_has_streams(back->lane);
}

void fl_back_touch(fl_errand *errand)
{
    fl_back *back = errand->back;
    uint64_t now = fl_loop_now(back->route->gateway->loop);
    uint64_t most = back->route->upstream.max_total_ms;

    if (now - errand->started_ms >= most)
        return; /* progress or not */
    errand->seen_ms = now;
    fl_list_remove(&errand->by_back);
    fl_list_append(errand->state == FL_ERRAND_WAITING ? &back->waiting
                                                      : &back->sent,
                   &errand->by_back);
}

/* In the words of the other era. */
static fl_status send_adapted(fl_errand *errand, const fl_msg *msg,
                              fl_span number, fl_buf *out)
{
    fl_back *back = errand->back;
    fl_adapt adapt = {
        .from = errand->asker.revision,
        .to = back->revision,
        .method = errand->method,
        .object = errand->object,
    };
    fl_adapt_params params = {
        .params = msg->params,
        .token = number,
        .members = errand->as_task ? FL_SPAN("\"task\":{\"ttl\":3600000}")
                                   : (fl_span){0},
    };

    if (fl_back_is_modern(back)) {
        params.members = fl_rounds_members(errand);
        fl_span claim = fl_front_claim(errand->asker.front, adapt.to,
                                       fl_tasks_are_declared(errand));
        if (claim.len == 0)
            return FL_E_NOMEM;
        params.claim = (fl_span){claim.ptr + 1, claim.len - 2};
    }
    fl_status rc = fl_adapt_request(&adapt, &params, out);
    if (rc != FL_OK && rc != FL_END)
        return rc;
    fl_span said = rc == FL_OK ? fl_buf_view(out) : msg->params;
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        number,
        FL_SPAN(",\"method\":\""),
        msg->method,
        FL_SPAN("\""),
        said.len > 0 ? FL_SPAN(",\"params\":") : FL_SPAN(""),
        said,
        FL_SPAN("}"),
    };
    return fl_lane_send(back->lane, parts, 8);
}

static fl_status send_message(fl_errand *errand, const fl_msg *msg,
                              fl_span number)
{
    fl_buf out;

    if (!fl_errand_crosses(errand))
        return fl_lane_relay(errand->back->lane, msg, number);
    fl_buf_init(&out, PARAMS_MAX);
    fl_status rc = send_adapted(errand, msg, number, &out);
    fl_buf_reset(&out);
    return rc;
}

/* To the end of those that wait. */
static void wait(fl_errand *errand)
{
    errand->state = FL_ERRAND_WAITING;
    fl_list_remove(&errand->by_back);
    fl_list_append(&errand->back->waiting, &errand->by_back);
    fl_back_watch_time(errand->back);
}

void fl_back_requeue_later(fl_errand *errand)
{
    errand->seen_ms = fl_loop_now(errand->back->route->gateway->loop);
    fl_list_remove(&errand->by_back);
    fl_list_append(&errand->back->waiting, &errand->by_back);
    errand->state = FL_ERRAND_WAITING;
    fl_back_watch_time(errand->back);
}

void fl_back_requeue(fl_errand *errand)
{
    fl_back *back = errand->back;

    fl_back_requeue_later(errand);
    fl_back_carry_waiting(back);
}

static void fail(fl_errand *errand, fl_status rc)
{
    fl_error why;

    fl_error_set(&why, rc, "%s", fl_status_text(rc));
    fl_gateway_refuse(&errand->asker, errand->id, &why);
    fl_errand_drop(errand);
}

/* If there is no memory to know it by its number, its answer will not be
 * known. */
static fl_status note_sent(fl_errand *errand, uint64_t number)
{
    fl_back *back = errand->back;
    fl_status rc = fl_numbers_add(&back->numbers, number, errand);

    if (rc != FL_OK)
        return rc;
    errand->number = number;
    errand->state = FL_ERRAND_SENT;
    errand->seen_ms = fl_loop_now(back->route->gateway->loop);
    errand->standing =
        errand->method == FL_METHOD_LISTEN && errand->own == NULL;
    back->used = true;
    fl_health_tried(back->replica);
    fl_whose_sent(errand);
    fl_list_remove(&errand->by_back);
    fl_list_append(&back->sent, &errand->by_back);
    fl_back_watch_time(back);
    return FL_OK;
}

fl_status fl_back_send(fl_errand *errand, const fl_msg *msg)
{
    char text[FL_NUMBERS_TEXT];
    uint64_t number = fl_lane_number(errand->back->lane);
    fl_status rc = send_message(errand, msg, fl_numbers_write(number, text));

    return rc == FL_OK ? note_sent(errand, number) : rc;
}

/* FL_BUSY: it is to wait, and the errand is as it was. Otherwise it is sent, or
 * gone. */
static fl_status carry_out(fl_errand *errand, const fl_msg *msg)
{
    if (errand->method == FL_METHOD_INITIALIZE) {
        fl_front_welcome(errand);
        return FL_OK;
    }
    errand->in_turn = fl_solo_must_wait(errand, msg);
    if (errand->in_turn)
        return FL_BUSY;
    if (fl_errand_crosses(errand) &&
        (fl_back_is_modern(errand->back) ? fl_to_modern_takes(errand, msg)
                                         : fl_to_legacy_takes(errand, msg)))
        return FL_OK;
    if (!fl_errand_crosses(errand) && fl_standing_takes(errand, msg))
        return FL_OK;
    fl_status rc = fl_back_send(errand, msg);
    if (rc == FL_BUSY || rc == FL_E_STATE)
        return FL_BUSY;
    if (rc != FL_OK)
        fail(errand, rc);
    return FL_OK;
}

/* The first in line, but for those whose turn has not come: they hold up
 * nobody. */
static fl_errand *next_waiting(const fl_back *back)
{
    if (fl_list_empty(&back->waiting))
        return NULL;
    bool is_free = fl_solo_is_free(back);
    for (fl_list *node = back->waiting.next; node != &back->waiting;
         node = node->next) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        if (!errand->in_turn || is_free)
            return errand;
    }
    return NULL;
}

void fl_back_carry(fl_back *back, fl_errand *errand, const fl_msg *msg)
{
    errand->back = back;
    fl_back_lean(back);
    bool first = next_waiting(back) == NULL; /* nobody is overtaken */
    bool out = fl_back_is_out(back);
    if (first && !out && carry_out(errand, msg) == FL_OK)
        return;
    if (out && fl_front_recall(errand))
        return;
    fl_status rc = errand->msg == NULL ? fl_errand_keep(errand, msg) : FL_OK;
    if (rc != FL_OK)
        fail(errand, rc);
    else if ((!out && !errand->in_turn) || fl_back_queue_takes(errand))
        wait(errand);
}

void fl_back_carry_waiting(fl_back *back)
{
    fl_back_lean(back);
    fl_errand *errand;
    while (!fl_back_is_out(back) && (errand = next_waiting(back)) != NULL)
        if (carry_out(errand, errand->msg) != FL_OK && !errand->in_turn)
            break;
    fl_back_leave(back);
}

static fl_status send_own(fl_errand *errand, fl_span params)
{
    fl_back *back = errand->back;
    char text[FL_NUMBERS_TEXT];
    uint64_t number = fl_lane_number(back->lane);
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        fl_numbers_write(number, text),
        FL_SPAN(",\"method\":\""),
        fl_method_name(errand->method),
        FL_SPAN("\""),
        params.len > 0 ? FL_SPAN(",\"params\":") : FL_SPAN(""),
        params,
        FL_SPAN("}"),
    };

    fl_status rc = fl_lane_send(back->lane, parts, 8);
    return rc == FL_OK ? note_sent(errand, number) : rc;
}

fl_status fl_back_ask(fl_back *back, fl_method method, fl_span params,
                      fl_own_fn *own, void *user, fl_errand **errand)
{
    if (!fl_back_is_ready(back))
        return FL_E_STATE;
    fl_errand *asked = fl_errand_new_own(back, method, own, user);
    if (asked == NULL)
        return FL_E_NOMEM;
    fl_status rc = send_own(asked, params);
    if (rc != FL_OK)
        fl_errand_drop(asked);
    else if (errand != NULL)
        *errand = asked;
    return rc;
}

void fl_back_unask(fl_errand *errand)
{
    fl_back_call_off(errand, (fl_span){0});
    fl_errand_drop(errand);
}

static fl_status notify(fl_back *back, fl_span method, fl_span params)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\""),
        method,
        FL_SPAN("\""),
        params.len > 0 ? FL_SPAN(",\"params\":") : FL_SPAN(""),
        params,
        FL_SPAN("}"),
    };

    return fl_lane_send(back->lane, parts, 6);
}

static void note_lost(const fl_back *back, fl_status rc, fl_span method)
{
    if (rc != FL_OK)
        fl_log_say(fl_loop_log(back->route->gateway->loop), FL_LOG_WARN,
                   "a notification to the server is lost",
                   fl_log_text("server", fl_span_of(back->route->name)),
                   fl_log_text("method", method), fl_log_int("status", rc));
}

void fl_back_notify(fl_back *back, fl_method method, fl_span params)
{
    if (fl_back_is_ready(back))
        note_lost(back, notify(back, fl_method_name(method), params),
                  fl_method_name(method));
}

/* Among many clients a server cannot tell whose word it hears; what one of
 * them says of itself is for a server of its own. */
void fl_back_pass_on(fl_back *back, const fl_msg *msg, fl_method method)
{
    if (!fl_back_is_ready(back) || fl_back_is_modern(back))
        return;
    if (back->own || method == FL_METHOD_ROOTS_CHANGED)
        note_lost(back, notify(back, msg->method, msg->params), msg->method);
}

void fl_back_call_off(fl_errand *errand, fl_span reason)
{
    fl_back *back = errand->back;
    char text[FL_NUMBERS_TEXT];

    if (errand->number == 0 || back == NULL || !fl_back_is_ready(back))
        return;
    fl_whose_stray(errand);
    fl_span number = fl_numbers_write(errand->number, text);
    if (fl_back_is_modern(back) && fl_lane_has_streams(back->lane)) {
        fl_lane_cancel(back->lane, number);
        return;
    }
    bool worded = fl_json_type_of(reason) == FL_JSON_STRING;
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":"),
        number,
        worded ? FL_SPAN(",\"reason\":") : FL_SPAN(""),
        worded ? reason : FL_SPAN(""),
        FL_SPAN("}}"),
    };
    note_lost(back, fl_lane_send(back->lane, parts, 5),
              fl_method_name(FL_METHOD_CANCELLED));
}

fl_errand *fl_back_oldest(const fl_back *back, const fl_front *front,
                          bool can_ask)
{
    fl_errand *oldest = NULL;

    for (fl_list *node = back->sent.next; node != &back->sent;
         node = node->next) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        if (errand->state == FL_ERRAND_SENT && errand->own == NULL &&
            errand->number != 0 &&
            (front == NULL || errand->asker.front == front) &&
            (!can_ask || fl_method_is(errand->method, FL_METHOD_CAN_ASK)) &&
            (oldest == NULL || errand->number < oldest->number))
            oldest = errand;
    }
    return oldest;
}
