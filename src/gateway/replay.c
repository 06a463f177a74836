/*
 * replay.c - calls that a server refuses until a page was seen (-32042).
 *
 * 2025-11-25 lets a server refuse a call with a list of pages; once they were
 * seen, the same call succeeds. A modern client is asked to show them and comes
 * back, and the call is sent again. Nothing is kept meanwhile: the token names
 * the pages, and what was lost is simply asked anew.
 *
 * A client says that a page is shown, not that its user is done with it. When
 * the same pages are wanted once more the call is held and tried again, every
 * few seconds and when the server says that a page is done; after two minutes
 * its client is asked to come back for it.
 */
#include "base/numbers.h"
#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/legacy.h"
#include "gateway/route.h"
#include "io/digest.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"

enum { AGAIN_MS = 5000, HOLD_MS = 120000, IDS_MAX = 1024 * 1024 };

static fl_span pages_of(const fl_msg *msg)
{
    return fl_json_get(fl_json_get(msg->error, FL_SPAN("data")),
                       FL_SPAN("elicitations"));
}

/* A name for the pages, by their ids or, without one, by all they say. */
static fl_status name_pages(fl_span pages, unsigned char name[FL_PARK_ID])
{
    unsigned char digest[FL_SHA256] = {0};
    fl_json_walk walk;
    fl_json_member page;
    fl_status rc = FL_OK;
    fl_buf ids;

    fl_buf_init(&ids, IDS_MAX);
    fl_json_walk_init(&walk, pages);
    while (rc == FL_OK && fl_json_walk_next(&walk, &page)) {
        fl_span id = fl_json_get(page.value, FL_SPAN("elicitationId"));
        rc = fl_buf_append(&ids, id.len > 0 ? id : page.value);
    }
    if (rc == FL_OK)
        rc = fl_sha256(fl_buf_view(&ids), digest);
    fl_buf_reset(&ids);
    memcpy(name, digest, FL_PARK_ID);
    return rc;
}

static fl_status add_pages(fl_park *park, fl_span pages)
{
    fl_json_walk walk;
    fl_json_member page;
    fl_status rc = FL_OK;

    fl_json_walk_init(&walk, pages);
    while (rc == FL_OK && fl_json_walk_next(&walk, &page))
        if (fl_json_type_of(page.value) == FL_JSON_OBJECT)
            rc = fl_questions_add_own(&park->questions,
                                      park->errand->asker.revision,
                                      FL_METHOD_ELICIT, page.value);
    return rc == FL_OK && park->questions.count == 0 ? FL_E_INVALID : rc;
}

static void try_again(fl_park *park)
{
    uint64_t now = fl_loop_now(park->timer.loop);

    if (now - park->held_ms < HOLD_MS) {
        fl_park_send(park);
        return;
    }
    park->bound.kind = FL_PARK_POLL;
    memcpy(park->bound.park, park->pages, FL_PARK_ID);
    fl_park_ask_client(park);
}

/* The server has answered; its number is void. */
static void hold(fl_park *park)
{
    fl_errand *errand = park->errand;

    fl_numbers_remove(&errand->back->numbers, errand->number);
    errand->number = 0;
    if (park->held_ms == 0)
        park->held_ms = fl_loop_now(park->timer.loop);
    fl_park_hold(park, AGAIN_MS, try_again);
}

static void fail(fl_errand *errand, const char *why)
{
    fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, fl_span_of(why),
                   (fl_span){0});
}

static void ask(fl_errand *errand, fl_span pages)
{
    unsigned char name[FL_PARK_ID];
    fl_park *park;

    if (name_pages(pages, name) != FL_OK ||
        fl_park_of(errand, &park) != FL_OK) {
        fail(errand, "no memory to ask for the pages that were wanted");
    } else if (park->promised && memcmp(name, park->pages, FL_PARK_ID) == 0) {
        hold(park);
    } else if (add_pages(park, pages) != FL_OK) {
        fail(errand, "the server wants pages to be seen and does not say "
                     "which");
    } else {
        memcpy(park->bound.park, name, FL_PARK_ID);
        park->bound.kind = FL_PARK_REPLAY;
        fl_park_ask_client(park);
    }
}

void fl_replay_hear(fl_errand *errand, const fl_msg *msg)
{
    fl_span said = errand->msg != NULL
                       ? errand->msg->inner.claim.client_capabilities
                       : (fl_span){0};

    if (fl_question_judge(said, FL_METHOD_ELICIT,
                          FL_SPAN("{\"mode\":\"url\"}")) == 0)
        ask(errand, pages_of(msg));
    else
        fl_errand_fail(errand, FL_RPC_MISSING_CAPABILITY,
                       FL_SPAN("the server wants a page to be seen"),
                       FL_SPAN("{\"requiredCapabilities\":{\"elicitation\":"
                               "{\"url\":{}}}}"));
}

typedef enum said { NOTHING, YES, NO } said;

static said read_answers(fl_span answers)
{
    fl_json_walk walk;
    fl_json_member answer;
    said what = NOTHING;

    fl_json_walk_init(&walk, answers);
    while (fl_json_walk_next(&walk, &answer)) {
        fl_span action = fl_json_get(answer.value, FL_SPAN("action"));
        if (!fl_json_string_is(action, FL_SPAN("accept")))
            return NO;
        what = YES;
    }
    return what;
}

static void decline(fl_errand *errand)
{
    if (errand->method == FL_METHOD_TOOLS_CALL)
        fl_errand_result(
            errand, FL_SPAN("{\"content\":[{\"type\":\"text\",\"text\":"
                            "\"The user did not open the page that the server "
                            "wants to be seen\"}],\"isError\":true,"
                            "\"resultType\":\"complete\"}"));
    else
        fail(errand, "the user did not open the page that the server wants to "
                     "be seen");
}

bool fl_replay_return(fl_errand *errand, const fl_msg *msg,
                      const fl_park_token *token)
{
    said what = token->kind == FL_PARK_POLL
                    ? YES
                    : read_answers(msg->inner.input_responses);
    fl_park *park;

    if (what == NO) {
        decline(errand);
        return true;
    }
    if (what == YES && fl_park_of(errand, &park) == FL_OK) {
        park->promised = true;
        memcpy(park->pages, token->park, FL_PARK_ID);
    }
    return false;
}

void fl_replay_elicited(fl_back *back)
{
    fl_list *node = back->sent.next;

    while (node != &back->sent) {
        fl_park *park = FL_LIST_ENTRY(node, fl_errand, by_back)->park;
        node = node->next;
        if (park != NULL && park->promised && park->stage == FL_PARK_HELD)
            fl_timer_start(&park->timer, 0);
    }
}
