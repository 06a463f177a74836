/*
 * park.c - the life of a parked call: gathering questions, the round, the end.
 *
 * Questions that a server asks at once come as messages one after the other,
 * so the first of them waits a moment for its siblings. Whatever ends the
 * errand ends the park with it, and no question of the server's stays open.
 */
#include "gateway/park.h"

#include "base/mem.h"
#include "base/span.h"
#include "gateway/drive.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/write.h"

#include <stdio.h>

enum { PRINCIPAL_MAX = 4096 };

static void on_timer(fl_timer *timer);

fl_parks *fl_park_all(const fl_errand *errand)
{
    fl_gateway *gateway = errand->back->route->gateway;

    if (gateway->parks == NULL)
        gateway->parks = fl_parks_new();
    return gateway->parks;
}

fl_status fl_park_bind(const fl_parks *parks, const fl_errand *errand,
                       fl_park_token *token)
{
    const fl_route *route = errand->back->route;
    fl_buf principal;

    *token = (fl_park_token){0};
    fl_buf_init(&principal, PRINCIPAL_MAX);
    fl_status rc = fl_front_principal(errand->asker.front, &principal);
    if (rc == FL_OK)
        rc =
            fl_park_token_bind(&parks->key, errand->method, errand->msg->params,
                               fl_buf_view(&principal), token);
    fl_buf_reset(&principal);
    token->issued_ms = fl_loop_unix(route->gateway->loop);
    token->expires_ms = token->issued_ms + route->upstream.input_timeout_ms;
    return rc;
}

static fl_park *park_new(fl_errand *errand, fl_parks *parks)
{
    fl_park *park = fl_mem_zalloc(sizeof *park);

    if (park == NULL)
        return NULL;
    park->errand = errand;
    park->parks = parks;
    fl_questions_init(&park->questions, errand->back);
    fl_buf_init(&park->progress, FL_PARK_TEXT);
    fl_buf_init(&park->result, FL_PARK_TEXT);
    fl_timer_init(&park->timer, errand->back->route->gateway->loop, on_timer);
    return park;
}

fl_status fl_park_of(fl_errand *errand, fl_park **out)
{
    fl_parks *parks = fl_park_all(errand);

    *out = errand->park;
    if (*out != NULL)
        return FL_OK;
    if (parks == NULL || errand->msg == NULL)
        return FL_E_NOMEM;
    fl_park *park = park_new(errand, parks);
    if (park == NULL)
        return FL_E_NOMEM;
    fl_status rc = fl_park_bind(parks, errand, &park->bound);
    if (rc == FL_OK)
        rc = fl_parks_add(parks, park, park->bound.principal, park->id);
    if (rc != FL_OK) {
        fl_mem_free(park);
        return rc;
    }
    memcpy(park->bound.park, park->id, sizeof park->id);
    errand->park = *out = park;
    return FL_OK;
}

void fl_park_free(fl_park *park)
{
    fl_timer_stop(&park->timer);
    if (park->drive != NULL)
        fl_drive_free(park->drive);
    fl_questions_deinit(&park->questions);
    fl_parks_remove(park->parks, park->id, park->bound.principal,
                    !park->lost && park->rounds > 0);
    fl_buf_reset(&park->progress);
    fl_buf_reset(&park->result);
    fl_mem_free(park);
}

static fl_status write_round(fl_park *park, fl_span state, fl_buf *out)
{
    fl_json_writer writer;
    char text[FL_PARK_TOKEN_TEXT + 1];

    snprintf(text, sizeof text, "%.*s", (int)state.len, state.ptr);
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "resultType");
    fl_json_string(&writer, "input_required");
    if (park->questions.count > 0) {
        fl_json_key(&writer, "inputRequests");
        fl_questions_write(&park->questions, &writer);
    }
    fl_json_key(&writer, "requestState");
    fl_json_string(&writer, text);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* When a token is made its time begins. */
static fl_status write_state(fl_park *park, fl_buf *state)
{
    const fl_route *route = park->errand->back->route;
    fl_park_token *token = &park->bound;

    token->issued_ms = fl_loop_unix(route->gateway->loop);
    token->expires_ms = token->issued_ms + route->upstream.input_timeout_ms;
    token->generation = park->generation;
    if (token->kind == 0)
        token->kind = FL_PARK_CALL;
    return fl_park_token_write(&park->parks->key, token, state);
}

static void give_up(fl_park *park, const char *why)
{
    fl_errand *errand = park->errand;

    fl_back_call_off(errand, (fl_span){0});
    fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, fl_span_of(why),
                   (fl_span){0});
}

void fl_park_ask_client(fl_park *park)
{
    fl_errand *errand = park->errand;
    fl_buf state, out;

    if (park->rounds >= FL_PARK_ROUNDS) {
        give_up(park, "Input rounds exceeded");
        return;
    }
    fl_buf_init(&state, FL_PARK_TOKEN_TEXT);
    fl_buf_init(&out, FL_PARK_TEXT);
    fl_status rc = write_state(park, &state);
    if (rc == FL_OK)
        rc = write_round(park, fl_buf_view(&state), &out);
    if (rc == FL_OK && park->bound.kind != FL_PARK_CALL) {
        fl_errand_result(errand, fl_buf_view(&out)); /* nothing is kept */
    } else if (rc == FL_OK) {
        park->rounds++;
        park->stage = FL_PARK_ASKED;
        if ((errand->asker.front->traits & FL_LINK_CHANNEL) != 0)
            park->owner = errand->asker.front;
        fl_asker_result(&errand->asker, errand->id, fl_buf_view(&out));
        fl_errand_park(errand);
        fl_timer_start(&park->timer,
                       errand->back->route->upstream.input_timeout_ms);
    }
    fl_buf_reset(&state);
    fl_buf_reset(&out);
    if (rc != FL_OK)
        give_up(park, "out of memory");
}

void fl_park_hold(fl_park *park, uint64_t ms, fl_park_fn *due)
{
    fl_errand *errand = park->errand;

    errand->state = FL_ERRAND_SENT;
    errand->seen_ms = fl_loop_now(park->timer.loop);
    fl_list_remove(&errand->by_back);
    fl_list_append(&errand->back->sent, &errand->by_back);
    fl_back_watch_time(errand->back);
    park->stage = FL_PARK_HELD;
    park->due = due;
    fl_timer_start(&park->timer, ms);
}

void fl_park_send(fl_park *park)
{
    fl_timer_stop(&park->timer);
    park->stage = FL_PARK_RUNNING;
    fl_back_requeue(park->errand);
}

/* Nobody came back: the server learns that its work is not wanted, and then
 * that its questions will not be answered. */
static void expire(fl_park *park)
{
    fl_errand *errand = park->errand;

    park->lost = true;
    fl_back_call_off(errand, FL_SPAN("\"the client did not come back\""));
    fl_errand_drop(errand);
}

static void leave_back(fl_back *back, const fl_front *front)
{
    fl_list *node = back->parked.next;

    fl_back_lean(back);
    while (node != &back->parked) {
        fl_park *park = FL_LIST_ENTRY(node, fl_errand, by_back)->park;
        node = node->next;
        if (park->owner == front)
            expire(park);
    }
    fl_back_leave(back);
}

void fl_park_leave(const fl_front *front)
{
    fl_list *node = front->route->backs.next;

    while (node != &front->route->backs) {
        fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        node = node->next;
        if (!fl_list_empty(&back->parked))
            leave_back(back, front);
    }
}

/* It may have been sent meanwhile, to a server that was started again. */
static void let_go(fl_park *park)
{
    if (park->errand->number == 0)
        park->due(park);
    else
        park->stage = FL_PARK_RUNNING;
}

static void on_timer(fl_timer *timer)
{
    fl_park *park = FL_LIST_ENTRY(timer, fl_park, timer);
    fl_back *back = park->errand->back;

    fl_back_lean(back);
    if (park->stage == FL_PARK_GATHERING)
        fl_park_ask_client(park);
    else if (park->stage == FL_PARK_ASKED)
        expire(park);
    else if (park->stage == FL_PARK_HELD)
        let_go(park);
    fl_back_leave(back);
}
