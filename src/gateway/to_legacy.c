/*
 * to_legacy.c - modern clients of legacy servers: who is asked what.
 *
 * The server has a session, its client does not know of one: what belongs to a
 * session is ours to do. What that is has its own files: questions become
 * rounds (park.h), and what is to be kept for a server is in legacy.h.
 */
#include "base/span.h"
#include "gateway/cells.h"
#include "gateway/drive.h"
#include "gateway/gateway.h"
#include "gateway/inquiry.h"
#include "gateway/legacy.h"
#include "gateway/listening.h"
#include "gateway/park.h"
#include "gateway/rounds.h"
#include "gateway/route.h"
#include "gateway/solo.h"
#include "gateway/standing.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "rpc/extract.h"
#include "json/nav.h"

static bool is_of_tasks(fl_method method)
{
    return method == FL_METHOD_TASKS_GET || method == FL_METHOD_TASKS_CANCEL ||
           method == FL_METHOD_TASKS_UPDATE;
}

/* One that has not been here before. */
static bool takes_first(fl_errand *errand, const fl_msg *msg)
{
    if (errand->method == FL_METHOD_DISCOVER) {
        fl_front_discover(errand);
        return true;
    }
    if (errand->method == FL_METHOD_LISTEN) {
        fl_listening_open(errand, msg);
        return true;
    }
    if (is_of_tasks(errand->method))
        return fl_wards_take(errand, msg);
    if (msg->inner.request_state.len > 0 &&
        fl_method_is(errand->method, FL_METHOD_CAN_ASK) &&
        fl_park_return(errand, msg))
        return true;
    return fl_legacy_asks_roots(errand);
}

bool fl_to_legacy_takes(fl_errand *errand, const fl_msg *msg)
{
    if (errand->park == NULL && takes_first(errand, msg))
        return true;
    if (fl_taskers_hold(errand))
        return true;
    fl_verbosity_want(errand);
    return false;
}

/* True: it goes on as a task. */
static bool hear_task(fl_errand *errand, fl_span task)
{
    if (fl_json_type_of(task) != FL_JSON_OBJECT)
        return false;
    if (fl_taskers_is_told(errand) ? fl_wards_add(errand, task)
                                   : fl_drive_begin(errand, task))
        return !fl_taskers_is_told(errand);
    fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR,
                   FL_SPAN("the server has made a task that cannot be "
                           "followed"),
                   (fl_span){0});
    return true;
}

/* Another answer to a call whose task is followed says nothing. */
static bool is_driven(const fl_errand *errand)
{
    return errand->park != NULL && errand->park->drive != NULL &&
           !fl_drive_is_over(errand->park->drive);
}

static bool hear_call(fl_errand *errand, const fl_msg *msg)
{
    if (is_driven(errand))
        return true;
    if (msg->kind == FL_MSG_ERROR &&
        fl_extract_error_code(msg) == FL_RPC_URL_ELICITATION_REQUIRED) {
        fl_replay_hear(errand, msg);
        return true;
    }
    return errand->as_task &&
           (errand->park == NULL || errand->park->drive == NULL) &&
           hear_task(errand, fl_json_get(msg->result, FL_SPAN("task")));
}

bool fl_to_legacy_answers(fl_errand *errand, const fl_msg *msg)
{
    if (errand->state == FL_ERRAND_PARKED) {
        if (!is_driven(errand))
            fl_park_keep_result(errand, msg);
        return true;
    }
    if (errand->method == FL_METHOD_TOOLS_LIST)
        fl_taskers_learn(errand, msg);
    if (is_of_tasks(errand->method))
        return fl_wards_answer(errand, msg);
    return fl_method_is(errand->method, FL_METHOD_CAN_ASK) &&
           hear_call(errand, msg);
}

/* The call that is longest away. */
static fl_errand *oldest_parked(const fl_back *back)
{
    fl_errand *oldest = NULL;

    for (fl_list *node = back->parked.next; node != &back->parked;
         node = node->next) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        if (errand->number != 0 &&
            (oldest == NULL || errand->number < oldest->number))
            oldest = errand;
    }
    return oldest;
}

/* The call whose task this is, if it is driven. */
static fl_errand *find_driven(const fl_back *back, fl_span task)
{
    const fl_list *lists[] = {&back->sent, &back->parked};

    for (size_t i = 0; i < 2; i++)
        for (fl_list *node = lists[i]->next; node != lists[i];
             node = node->next) {
            fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
            if (is_driven(errand) && fl_drive_is(errand->park->drive, task))
                return errand;
        }
    return NULL;
}

static fl_span task_of(const fl_msg *msg)
{
    fl_span related = fl_json_get(
        msg->inner.meta, FL_SPAN("io.modelcontextprotocol/related-task"));

    return fl_json_get(related, FL_SPAN("taskId"));
}

bool fl_to_legacy_asks(fl_back *back, fl_errand *errand, const fl_msg *msg,
                       fl_reply reply)
{
    fl_span task = task_of(msg);
    fl_errand *driven = task.len > 0 ? find_driven(back, task) : NULL;

    if (driven != NULL) {
        fl_park_hear(driven, msg, reply);
        return true;
    }
    if (task.len > 0 && back->legacy != NULL &&
        fl_wards_hear(&back->legacy->wards, task, msg, reply))
        return true;
    if (errand == NULL || !fl_method_is(errand->method, FL_METHOD_CAN_ASK))
        errand = oldest_parked(back);
    if (errand != NULL && fl_back_about(back) == NULL &&
        fl_solo_is_unclear(back))
        fl_inquiry_refuse(reply, msg->id, FL_RPC_INTERNAL_ERROR,
                          FL_SPAN("It cannot be told which of several calls "
                                  "this is about"));
    else if (errand != NULL)
        fl_park_hear(errand, msg, reply);
    else if (fl_method_of(msg) == FL_METHOD_ROOTS_LIST)
        fl_legacy_want_roots(back, msg, reply);
    else
        fl_inquiry_refuse(reply, msg->id, FL_RPC_INVALID_PARAMS,
                          FL_SPAN("No client request to carry this"));
    return true;
}

void fl_to_legacy_withdraws(fl_back *back, const fl_msg *msg)
{
    fl_span id = fl_json_get(msg->params, FL_SPAN("requestId"));

    if (!fl_park_withdraw(back, id) && back->legacy != NULL &&
        !fl_wards_withdraw(&back->legacy->wards, id))
        (void)fl_legacy_withdraw_roots(back, id);
}

void fl_to_legacy_progress(fl_errand *errand, const fl_msg *msg)
{
    fl_park_keep_progress(errand, msg);
}

void fl_to_legacy_elicited(fl_back *back, const fl_msg *msg)
{
    (void)msg;
    fl_replay_elicited(back);
}

void fl_cells_log(fl_errand *errand, const fl_msg *msg)
{
    fl_front *front = errand->asker.front;

    if (!errand->asker.revision->legacy)
        fl_verbosity_hear(errand, msg);
    else if (front->state == FL_FRONT_READY &&
             fl_standing_wants_log(front, msg))
        fl_front_missed(errand->back->route,
                        fl_errand_tell(errand, &msg->text, 1));
}

void fl_to_legacy_changed(fl_back *back, const fl_msg *msg)
{
    fl_method method = fl_method_of(msg);

    if (back->legacy == NULL)
        return;
    if (method == FL_METHOD_TOOLS_CHANGED)
        fl_taskers_forget(back);
    fl_listening_hear(back, msg, method);
}

void fl_to_legacy_ready(fl_back *back)
{
    fl_legacy *legacy = fl_legacy_of(back);

    if (legacy == NULL)
        return;
    legacy->ready_ms = fl_loop_now(back->route->gateway->loop);
    if (legacy->renewed)
        fl_listening_renew(back);
    legacy->renewed = true;
}

void fl_to_legacy_down(fl_back *back)
{
    if (back->legacy == NULL)
        return;
    fl_roots_lose(&back->legacy->roots);
    fl_wards_down(&back->legacy->wards);
}

void fl_to_legacy_end(fl_back *back)
{
    fl_to_legacy_down(back);
    if (back->legacy != NULL)
        fl_listening_end_all(back);
}

void fl_to_legacy_free(fl_back *back)
{
    fl_legacy_free(back);
}

/* What the server has answered, or was not sent yet, is not lost with it. */
void fl_to_legacy_lost(fl_errand *errand, const fl_error *why)
{
    fl_park *park = errand->park;

    (void)why;
    if (!errand->back->closing &&
        (errand->number == 0 || fl_buf_len(&park->result) > 0))
        return;
    park->lost = true;
    fl_errand_drop(errand);
}

void fl_to_legacy_left(const fl_front *front)
{
    fl_park_leave(front);
}

void fl_cells_drop(fl_errand *errand)
{
    fl_park *park = errand->park;
    fl_listening *listening = errand->listening;

    errand->park = NULL;
    errand->listening = NULL;
    if (park != NULL)
        fl_park_free(park);
    if (listening != NULL)
        fl_listening_free(listening);
    fl_rounds_free(errand);
}
