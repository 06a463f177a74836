/*
 * solo.c - calls of modern clients that are not told apart, one at a time.
 */
#include "gateway/solo.h"

#include "base/span.h"
#include "gateway/route.h"
#include "json/nav.h"

static bool may_ask(const fl_errand *errand)
{
    return errand->own == NULL &&
           fl_method_is(errand->method, FL_METHOD_CAN_ASK);
}

bool fl_solo_is_free(const fl_back *back)
{
    return fl_back_oldest(back, NULL, true) == NULL;
}

/* A client without these is never asked. */
static bool can_be_asked(fl_span capabilities)
{
    static const char *const names[] = {"elicitation", "sampling", "roots"};

    if (capabilities.len <= sizeof "{}" - 1)
        return false; /* most have none, and this is asked of every call */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fl_json_type_of(fl_json_get(capabilities, fl_span_of(names[i]))) ==
            FL_JSON_OBJECT)
            return true;
    return false;
}

/* A connection is one client's, a key is one user's; of all else that comes by
 * HTTP we know an address. */
static bool is_anybody(const fl_front *front)
{
    return (front->traits & FL_LINK_CHANNEL) == 0 && front->principal == 0;
}

static bool is_solo(const fl_errand *errand)
{
    return errand->back->route->upstream.one_at_a_time ||
           is_anybody(errand->asker.front);
}

bool fl_solo_is_unclear(const fl_back *back)
{
    size_t running = 0;

    for (fl_list *node = back->sent.next; node != &back->sent;
         node = node->next) {
        const fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        running += errand->state == FL_ERRAND_SENT && errand->number != 0 &&
                   may_ask(errand) && is_solo(errand);
    }
    return running > 1;
}

bool fl_solo_must_wait(const fl_errand *errand, const fl_msg *msg)
{
    const fl_back *back = errand->back;

    return may_ask(errand) && !fl_back_is_modern(back) &&
           fl_errand_crosses(errand) && !fl_lane_has_streams(back->lane) &&
           (msg->inner.request_state.len == 0 || errand->park != NULL) &&
           is_solo(errand) &&
           can_be_asked(msg->inner.claim.client_capabilities) &&
           !fl_solo_is_free(back);
}

void fl_solo_pass(fl_back *back)
{
    for (fl_list *node = back->waiting.next; node != &back->waiting;
         node = node->next)
        if (FL_LIST_ENTRY(node, fl_errand, by_back)->in_turn) {
            fl_timer_start(&back->turn, 0);
            return;
        }
}
