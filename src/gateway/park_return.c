/*
 * park_return.c - a client comes back to its parked call.
 *
 * Its request names the call by a token, which is judged first. Then the call
 * has a client again: it hears what it missed, the server gets its answers,
 * and what was not answered is asked once more. A call is never run a second
 * time because a token was bad: it may have had its effects.
 */
#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/legacy.h"
#include "gateway/park.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"

#include <stdio.h>

static void refuse(fl_errand *errand, fl_park_fault fault)
{
    char data[48];
    int n = snprintf(data, sizeof data, "{\"reason\":\"%s\"}",
                     fl_park_fault_name(fault));

    if (fault == FL_PARK_FAILED)
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"),
                       (fl_span){0});
    else
        fl_errand_fail(errand, FL_RPC_INVALID_PARAMS,
                       FL_SPAN("requestState invalid or expired; reissue the "
                               "request without it"),
                       (fl_span){data, (size_t)n});
}

static fl_park_fault read_token(const fl_errand *errand, const fl_parks *parks,
                                fl_span state, fl_park_token *token)
{
    fl_buf text;

    fl_buf_init(&text, FL_PARK_TOKEN_TEXT);
    fl_status rc = fl_json_string_copy(state, &text);
    fl_park_fault fault =
        rc == FL_E_NOMEM ? FL_PARK_FAILED
        : rc != FL_OK
            ? FL_PARK_TAMPERED
            : fl_park_token_read(
                  &parks->key, fl_buf_view(&text),
                  fl_loop_unix(errand->back->route->gateway->loop), token);
    fl_buf_reset(&text);
    return fault;
}

static fl_park_fault judge(fl_errand *errand, const fl_msg *msg,
                           fl_park_token *token, fl_park **park)
{
    fl_parks *parks = fl_park_all(errand);
    fl_park_token bound;

    *park = NULL;
    if (parks == NULL || errand->msg == NULL)
        return FL_PARK_FAILED;
    fl_park_fault fault =
        read_token(errand, parks, msg->inner.request_state, token);
    if (fault != FL_PARK_FINE)
        return fault;
    if (fl_park_bind(parks, errand, &bound) != FL_OK)
        return FL_PARK_FAILED;
    fault = fl_park_token_judge(token, &bound);
    if (fault != FL_PARK_FINE || token->kind != FL_PARK_CALL)
        return fault;
    *park = fl_parks_find(parks, token->park, &fault);
    if (*park != NULL && ((*park)->stage != FL_PARK_ASKED ||
                          (*park)->generation != token->generation))
        return FL_PARK_REPLAYED;
    if (*park != NULL && fl_buf_len(&(*park)->result) > 0 &&
        !fl_back_is_ready((*park)->errand->back))
        return FL_PARK_LOST; /* it cannot be told in its client's words */
    return fault;
}

/* What was kept is heard now. The errand may be gone. */
static void hear(fl_back *back, fl_buf *kept)
{
    fl_buf text = *kept;

    fl_buf_init(kept, FL_PARK_TEXT);
    fl_back_hear_again(back, fl_buf_view(&text));
    fl_buf_reset(&text);
}

static void go_on(fl_park *park)
{
    fl_errand *errand = park->errand;
    fl_back *back = errand->back;

    if (fl_buf_len(&park->progress) > 0)
        hear(back, &park->progress);
    if (fl_buf_len(&park->result) > 0) {
        hear(back, &park->result);
        return;
    }
    if (fl_questions_give(&park->questions, errand->asker.revision,
                          errand->msg->inner.input_responses) > 0) {
        fl_park_ask_client(park);
    } else if (park->questions.count > 0) {
        park->stage = FL_PARK_GATHERING;
        fl_timer_start(&park->timer, FL_PARK_GATHER_MS);
    } else if (errand->number == 0) { /* it has not been sent yet */
        fl_park_hold(park, FL_LEGACY_SETTLE_MS, fl_park_send);
    }
}

static void take_up(fl_park *park, fl_errand *newcomer, const fl_msg *msg)
{
    fl_errand *errand = park->errand;
    fl_back *back = errand->back;

    if (fl_errand_resume(errand, &newcomer->asker, msg) != FL_OK) {
        fl_errand_fail(newcomer, FL_RPC_INTERNAL_ERROR,
                       FL_SPAN("out of memory"), (fl_span){0});
        return;
    }
    park->generation++;
    park->stage = FL_PARK_RUNNING;
    fl_timer_stop(&park->timer);
    fl_back_lean(back);
    fl_errand_drop(newcomer);
    go_on(park);
    fl_back_watch_time(back);
    fl_back_leave(back);
}

bool fl_park_return(fl_errand *errand, const fl_msg *msg)
{
    fl_park_token token;
    fl_park *park;
    fl_park_fault fault = judge(errand, msg, &token, &park);

    if (fault != FL_PARK_FINE)
        refuse(errand, fault);
    else if (park == NULL)
        return fl_replay_return(errand, msg, &token);
    else
        take_up(park, errand, msg);
    return true;
}

static void keep(fl_buf *kept, fl_span text)
{
    fl_buf_clear(kept);
    if (fl_buf_append(kept, text) != FL_OK)
        fl_buf_reset(kept);
}

void fl_park_keep_progress(fl_errand *errand, const fl_msg *msg)
{
    if (errand->park != NULL)
        keep(&errand->park->progress, msg->text);
}

/* What the server wanted to know it does not need any more. */
void fl_park_keep_result(fl_errand *errand, const fl_msg *msg)
{
    fl_park *park = errand->park;

    keep(&park->result, msg->text);
    if (fl_buf_len(&park->result) == 0) {
        park->lost = true;
        fl_errand_drop(errand);
        return;
    }
    fl_questions_deinit(&park->questions);
}
