/*
 * park_ask.c - a server asks a modern client, in the middle of its call.
 *
 * What the client has not declared is refused at once: nobody would come back
 * with it.
 */
#include "base/span.h"
#include "gateway/declare.h"
#include "gateway/inquiry.h"
#include "gateway/park.h"
#include "rpc/error.h"
#include "json/nav.h"

static void begin(fl_park *park)
{
    if (park->stage != FL_PARK_RUNNING)
        return;
    park->stage = FL_PARK_GATHERING;
    fl_timer_start(&park->timer, FL_PARK_GATHER_MS);
}

static fl_status take(fl_errand *errand, const fl_msg *msg, fl_reply reply)
{
    fl_park *park;
    fl_status rc = fl_park_of(errand, &park);

    if (rc == FL_OK && park->rounds >= FL_PARK_ROUNDS)
        rc = FL_E_LIMIT;
    if (rc == FL_OK)
        rc = fl_questions_add(&park->questions, errand->asker.revision,
                              fl_method_of(msg), msg, reply);
    if (rc == FL_OK)
        begin(park);
    return rc;
}

/* A client may come with answers before it was asked: it knows the tool, and
 * the server says which of them it wants. Each is tried as often as a client
 * would be asked, lest a server that likes none asks for ever. */
static bool has_answer(fl_errand *errand, const fl_msg *msg, fl_reply reply)
{
    const fl_params *params = &errand->msg->inner;
    fl_span key = fl_declared_key(msg->params);
    fl_span answer = key.len > 2 && params->request_state.len == 0
                         ? fl_json_get(params->input_responses,
                                       (fl_span){key.ptr + 1, key.len - 2})
                         : (fl_span){0};

    if (fl_json_type_of(answer) != FL_JSON_OBJECT ||
        errand->given >= FL_PARK_ROUNDS)
        return false;
    errand->given++;
    fl_inquiry_give(reply, msg->id, answer);
    return true;
}

void fl_park_hear(fl_errand *errand, const fl_msg *msg, fl_reply reply)
{
    int code = fl_question_judge(errand->msg->inner.claim.client_capabilities,
                                 fl_method_of(msg), msg->params);

    if (code != 0) {
        fl_inquiry_refuse(reply, msg->id, code,
                          FL_SPAN("the client has not declared that"));
        return;
    }
    if (has_answer(errand, msg, reply))
        return;
    fl_status rc = take(errand, msg, reply);
    if (rc != FL_OK)
        fl_inquiry_refuse(reply, msg->id, FL_RPC_INTERNAL_ERROR,
                          rc == FL_E_LIMIT
                              ? FL_SPAN("too many questions wait for a client")
                              : FL_SPAN("out of memory"));
}

static bool withdraw_from(const fl_list *errands, fl_span id)
{
    for (fl_list *node = errands->next; node != errands; node = node->next) {
        fl_park *park = FL_LIST_ENTRY(node, fl_errand, by_back)->park;
        if (park == NULL || !fl_questions_withdraw(&park->questions, id))
            continue;
        if (park->questions.count == 0 && park->stage == FL_PARK_GATHERING) {
            fl_timer_stop(&park->timer);
            park->stage = FL_PARK_RUNNING;
        }
        return true;
    }
    return false;
}

bool fl_park_withdraw(fl_back *back, fl_span id)
{
    return withdraw_from(&back->sent, id) || withdraw_from(&back->parked, id);
}
