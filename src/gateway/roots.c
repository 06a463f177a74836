/*
 * roots.c - roots that a server wants to know when nobody can be asked.
 *
 * Many servers ask for roots as soon as they are initialized, when no call of
 * a client is under way that the question could be part of; and some of them
 * end when they are told that there are none. So the question is held: until a
 * client of the legacy era is ready to be asked, or for the next call of a
 * modern one, which is not sent before its client was asked for its roots; what
 * that one says is kept for a while.
 *
 * A server may be waiting for the answer before it does anything else. If a
 * request of another kind is stuck meanwhile, the question is refused, and the
 * server is told that roots have changed when they are known.
 */
#include "base/mem.h"
#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/inquiry.h"
#include "gateway/legacy.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"

enum {
    HELD_MAX = 16,
    PATIENCE_MS = 2000,
    KNOWN_MS = 300000,
    ROOTS_MAX = 1024 * 1024,
};

typedef struct held {
    fl_list node;
    fl_reply reply;
    fl_span id; /* behind the struct */
} held;

static uint64_t now_of(const fl_legacy *legacy)
{
    return fl_loop_now(legacy->back->route->gateway->loop);
}

static void forget(fl_roots *roots, held *one)
{
    fl_list_remove(&one->node);
    roots->count--;
    fl_link_unref(one->reply.link);
    fl_mem_free(one);
}

void fl_roots_lose(fl_roots *roots)
{
    while (!fl_list_empty(&roots->held))
        forget(roots, FL_LIST_ENTRY(roots->held.next, held, node));
    fl_timer_stop(&roots->patience);
    roots->owed = roots->asked = false;
    fl_buf_reset(&roots->known);
}

/* It is a call, and its client has said that it knows of roots. */
static bool can_say(const fl_errand *errand)
{
    if (!fl_method_is(errand->method, FL_METHOD_CAN_ASK) ||
        errand->asker.front == NULL)
        return false;
    if (errand->asker.revision->legacy)
        return fl_front_can(errand->asker.front, FL_METHOD_ROOTS_LIST,
                            (fl_span){0});
    return errand->msg == NULL ||
           fl_question_judge(errand->msg->inner.claim.client_capabilities,
                             FL_METHOD_ROOTS_LIST, (fl_span){0}) == 0;
}

/* Somebody waits who cannot be asked. */
static bool is_stuck(const fl_back *back)
{
    for (fl_list *node = back->sent.next; node != &back->sent;
         node = node->next) {
        const fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        if (errand->own == NULL && errand->number != 0 && !can_say(errand))
            return true;
    }
    return false;
}

static void on_patience(fl_timer *timer)
{
    fl_legacy *legacy = FL_LIST_ENTRY(timer, fl_legacy, roots.patience);
    fl_roots *roots = &legacy->roots;

    if (!is_stuck(legacy->back)) {
        if (roots->count > 0)
            fl_timer_start(timer, PATIENCE_MS);
        return;
    }
    while (!fl_list_empty(&roots->held)) {
        held *one = FL_LIST_ENTRY(roots->held.next, held, node);
        fl_inquiry_refuse(one->reply, one->id, FL_RPC_INTERNAL_ERROR,
                          FL_SPAN("roots are not known yet"));
        forget(roots, one);
    }
    roots->owed = true;
}

void fl_roots_init(fl_roots *roots, fl_legacy *legacy)
{
    fl_list_init(&roots->held);
    fl_buf_init(&roots->known, ROOTS_MAX);
    fl_timer_init(&roots->patience, legacy->back->route->gateway->loop,
                  on_patience);
}

void fl_roots_deinit(fl_roots *roots)
{
    fl_roots_lose(roots);
}

static fl_status hold(fl_roots *roots, const fl_msg *msg, fl_reply reply)
{
    if (roots->count >= HELD_MAX)
        return FL_E_LIMIT;
    held *one = fl_mem_zalloc(sizeof *one + msg->id.len);
    if (one == NULL)
        return FL_E_NOMEM;
    memcpy(one + 1, msg->id.ptr, msg->id.len);
    one->id = (fl_span){(char *)(one + 1), msg->id.len};
    one->reply = reply;
    fl_link_ref(reply.link);
    fl_list_append(&roots->held, &one->node);
    roots->count++;
    if (!fl_timer_running(&roots->patience))
        fl_timer_start(&roots->patience, PATIENCE_MS);
    return FL_OK;
}

static bool are_known(const fl_legacy *legacy)
{
    const fl_roots *roots = &legacy->roots;

    return fl_buf_len(&roots->known) > 0 &&
           now_of(legacy) - roots->known_ms < KNOWN_MS;
}

/* Of a back that is one client's, what that client declared; any other may
 * have one that has roots. */
static bool may_have(const fl_back *back)
{
    fl_span params = fl_buf_view(&back->params);

    return params.len == 0 ||
           fl_question_judge(fl_json_get(params, FL_SPAN("capabilities")),
                             FL_METHOD_ROOTS_LIST, (fl_span){0}) == 0;
}

void fl_legacy_want_roots(fl_back *back, const fl_msg *msg, fl_reply reply)
{
    fl_legacy *legacy = fl_legacy_of(back);

    if (!may_have(back)) {
        fl_inquiry_refuse(reply, msg->id, FL_RPC_METHOD_NOT_FOUND,
                          FL_SPAN("the client has not declared that"));
        return;
    }
    if (legacy != NULL)
        legacy->roots.asked = true;
    if (legacy != NULL && are_known(legacy))
        fl_inquiry_give(reply, msg->id, fl_buf_view(&legacy->roots.known));
    else if (legacy == NULL || hold(&legacy->roots, msg, reply) != FL_OK)
        fl_inquiry_refuse(reply, msg->id, FL_RPC_INTERNAL_ERROR,
                          FL_SPAN("too many questions wait for a client"));
}

void fl_legacy_hand_roots(fl_back *back, fl_front *front)
{
    fl_roots *roots = back->legacy != NULL ? &back->legacy->roots : NULL;

    if (roots == NULL ||
        !fl_front_can(front, FL_METHOD_ROOTS_LIST, (fl_span){0}))
        return;
    while (!fl_list_empty(&roots->held)) {
        held *one = FL_LIST_ENTRY(roots->held.next, held, node);
        fl_inquiry_hand(front, back, one->id, one->reply);
        forget(roots, one);
    }
}

void fl_legacy_know_roots(fl_back *back, fl_span result)
{
    fl_legacy *legacy = fl_legacy_of(back);

    if (legacy == NULL)
        return;
    fl_roots *roots = &legacy->roots;
    fl_timer_stop(&roots->patience);
    fl_buf_clear(&roots->known);
    if (fl_buf_append(&roots->known, result) == FL_OK)
        roots->known_ms = now_of(legacy);
    while (!fl_list_empty(&roots->held)) {
        held *one = FL_LIST_ENTRY(roots->held.next, held, node);
        fl_inquiry_give(one->reply, one->id, result);
        forget(roots, one);
    }
    if (roots->owed)
        fl_back_notify(back, FL_METHOD_ROOTS_CHANGED, (fl_span){0});
    roots->owed = false;
}

bool fl_legacy_withdraw_roots(fl_back *back, fl_span id)
{
    fl_roots *roots = back->legacy != NULL ? &back->legacy->roots : NULL;

    if (roots == NULL)
        return false;
    for (fl_list *node = roots->held.next; node != &roots->held;
         node = node->next) {
        held *one = FL_LIST_ENTRY(node, held, node);
        if (!fl_msg_id_equal(one->id, id))
            continue;
        forget(roots, one);
        roots->owed = true;
        return true;
    }
    return false;
}

static bool are_wanted(const fl_roots *roots)
{
    return roots->count > 0 || roots->owed;
}

/* Asks the client; the errand may be gone. */
static bool ask(fl_errand *errand)
{
    fl_park *park;

    if (fl_park_of(errand, &park) != FL_OK ||
        fl_questions_add_own(&park->questions, errand->asker.revision,
                             FL_METHOD_ROOTS_LIST, (fl_span){0}) != FL_OK)
        return false;
    fl_park_ask_client(park);
    return true;
}

static void on_grace(fl_park *park)
{
    if (!are_wanted(&park->errand->back->legacy->roots) || !ask(park->errand))
        fl_park_send(park);
}

/* A server that has just come may be about to ask. */
static bool give_grace(fl_legacy *legacy, fl_errand *errand)
{
    uint64_t age = now_of(legacy) - legacy->ready_ms;
    fl_park *park;

    if (age >= FL_LEGACY_GRACE_MS || legacy->roots.asked ||
        fl_park_of(errand, &park) != FL_OK)
        return false;
    fl_park_hold(park, FL_LEGACY_GRACE_MS - age, on_grace);
    return true;
}

bool fl_legacy_asks_roots(fl_errand *errand)
{
    fl_legacy *legacy = errand->back->legacy;

    if (legacy == NULL || errand->msg == NULL ||
        !fl_method_is(errand->method, FL_METHOD_CAN_ASK) ||
        fl_question_judge(errand->msg->inner.claim.client_capabilities,
                          FL_METHOD_ROOTS_LIST, (fl_span){0}) != 0)
        return false;
    return are_wanted(&legacy->roots) ? ask(errand)
                                      : give_grace(legacy, errand);
}
