/*
 * caller.c - one connection of a load.
 *
 * A lane (client/lane.h) finds out how to speak with the server and sees to
 * outages; requests are relayed under numbers of its own. What the server says
 * without being asked is left unheard, but for its requests: ping is answered,
 * and all else is refused.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "client/lane.h"
#include "io/loop.h"
#include "load/worker.h"
#include "rpc/error.h"

#include <fairlead/version.h>

#include <stdio.h>

static bool has_room(const fl_caller *caller)
{
    return caller->lane != NULL && !caller->full &&
           !fl_list_empty(&caller->free) && fl_lane_is_ready(caller->lane);
}

/* Into the line of those that can take a request, or out of it. */
static void line_up(fl_caller *caller)
{
    bool waits = !fl_list_empty(&caller->node);

    if (has_room(caller) == waits)
        return;
    if (waits)
        fl_list_remove(&caller->node);
    else
        fl_list_append(&caller->worker->idle, &caller->node);
}

static void on_ready(void *user)
{
    fl_caller *caller = user;

    caller->full = false;
    if (!caller->greeted) {
        caller->greeted = true;
        fl_worker_greeted(caller);
    }
    line_up(caller);
    fl_worker_pump(caller->worker);
}

static void refuse(fl_caller *caller, const fl_msg *msg, fl_reply reply)
{
    fl_span pong[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        msg->id,
        FL_SPAN(",\"result\":{}}"),
    };
    fl_buf *no = fl_loop_scratch(caller->worker->loop);

    if (fl_msg_method_is(msg, FL_SPAN("ping"))) {
        fl_reply_end(reply, pong, 3);
        return;
    }
    fl_status rc = fl_rpc_error_write(
        no, msg->id, FL_RPC_METHOD_NOT_FOUND,
        FL_SPAN("a load generator answers nothing"), (fl_span){0});
    fl_span said = fl_buf_view(no);
    fl_reply_end_error(reply, FL_RPC_METHOD_NOT_FOUND, &said,
                       rc == FL_OK ? 1 : 0);
}

static void take_answer(fl_caller *caller, const fl_msg *msg)
{
    fl_worker *worker = caller->worker;
    const fl_error *blame = fl_link_blame(fl_lane_link(caller->lane));
    fl_flight *flight =
        fl_numbers_get(&caller->numbers, fl_numbers_read(msg->id));

    if (flight == NULL) {
        worker->outcome->late++;
        return;
    }
    if (blame != NULL)
        fl_worker_answered(flight, FL_LOAD_LOST, fl_span_of(blame->text));
    else
        fl_worker_answered(flight, fl_refrain_judge(&worker->refrain, msg),
                           msg->kind == FL_MSG_RESULT ? msg->result
                                                      : msg->error);
}

static void on_message(void *user, const fl_msg *msg, fl_reply reply)
{
    fl_caller *caller = user;

    if (msg->kind == FL_MSG_RESULT || msg->kind == FL_MSG_ERROR)
        take_answer(caller, msg);
    else if (msg->kind == FL_MSG_REQUEST)
        refuse(caller, msg, reply);
}

static void on_writable(void *user)
{
    fl_caller *caller = user;

    caller->full = false;
    line_up(caller);
    fl_worker_pump(caller->worker);
}

/* Requests with a stream of their own may still be answered. */
static void on_down(void *user, const fl_error *why)
{
    fl_caller *caller = user;

    line_up(caller);
    if (!fl_lane_has_streams(caller->lane))
        fl_worker_lost(caller, why);
}

static void note_bytes(fl_caller *caller)
{
    const fl_link *link = fl_lane_link(caller->lane);

    if (link == NULL)
        return;
    caller->bytes_in = link->stats.bytes_in;
    caller->bytes_out = link->stats.bytes_out;
}

static void on_closed(void *user, const fl_error *why)
{
    fl_caller *caller = user;

    caller->lane = NULL;
    line_up(caller);
    fl_worker_lost(caller, why);
    fl_worker_closed(caller, why);
}

static const fl_lane_events events = {
    .on_ready = on_ready,
    .on_message = on_message,
    .on_writable = on_writable,
    .on_down = on_down,
    .on_closed = on_closed,
};

static fl_status make_flights(fl_caller *caller, unsigned depth)
{
    caller->flights = fl_mem_zalloc(depth * sizeof *caller->flights);
    if (caller->flights == NULL)
        return FL_E_NOMEM;
    for (unsigned i = 0; i < depth; i++) {
        caller->flights[i].caller = caller;
        fl_list_append(&caller->free, &caller->flights[i].node);
    }
    return FL_OK;
}

fl_status fl_caller_open(fl_caller *caller, fl_worker *worker, fl_error *error)
{
    const fl_load_plan *plan = worker->plan;
    char info[64];

    *caller = (fl_caller){.worker = worker};
    fl_list_init(&caller->node);
    fl_list_init(&caller->free);
    snprintf(info, sizeof info,
             "{\"name\":\"fairlead-bench\",\"version\":\"%s\"}", fl_version());
    fl_lane_hello hello = {
        .client_info = fl_span_of(info),
        .capabilities = FL_SPAN("{}"),
        .modern_capabilities = FL_SPAN("{}"),
    };

    if (make_flights(caller, plan->depth) != FL_OK)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    caller->lane = fl_lane_open(worker->loop, plan->url, &plan->client, &hello,
                                &events, caller, error);
    return caller->lane != NULL ? FL_OK : error->status;
}

void fl_caller_close(fl_caller *caller)
{
    if (caller->lane == NULL)
        return;
    note_bytes(caller);
    fl_client_close(caller->lane);
}

void fl_caller_deinit(fl_caller *caller)
{
    fl_numbers_deinit(&caller->numbers);
    fl_mem_free(caller->flights);
}

fl_status fl_caller_ask(fl_caller *caller, uint64_t due)
{
    fl_worker *worker = caller->worker;
    fl_flight *flight = FL_LIST_ENTRY(caller->free.next, fl_flight, node);
    char token[FL_NUMBERS_TEXT];

    fl_list_remove(&flight->node);
    flight->number = fl_lane_number(caller->lane);
    flight->due = due;
    flight->sent = fl_clock_ns();
    fl_status rc = fl_numbers_add(&caller->numbers, flight->number, flight);
    if (rc == FL_OK) {
        rc = fl_lane_relay(caller->lane, &worker->refrain.msg,
                           fl_numbers_write(flight->number, token));
        if (rc != FL_OK)
            fl_numbers_remove(&caller->numbers, flight->number);
    }
    if (rc == FL_OK)
        fl_list_append(&worker->under_way, &flight->node);
    else
        fl_list_append(&caller->free, &flight->node);
    caller->full = rc != FL_OK;
    line_up(caller);
    return rc;
}

void fl_caller_settle(fl_flight *flight)
{
    fl_caller *caller = flight->caller;

    fl_numbers_remove(&caller->numbers, flight->number);
    fl_list_remove(&flight->node);
    fl_list_append(&caller->free, &flight->node);
    line_up(caller);
}

void fl_caller_give_up(fl_flight *flight)
{
    fl_caller *caller = flight->caller;
    char token[FL_NUMBERS_TEXT];

    if (caller->lane != NULL)
        fl_lane_cancel(caller->lane, fl_numbers_write(flight->number, token));
    fl_caller_settle(flight);
}
