/*
 * rounds.c - questions of the server's, and the rounds it takes to answer
 * them.
 */
#include "talk.h"

/* Whatever the form has a default for is the answer. */
static void fill_in(fl_client *client, fl_ask *ask, void *user)
{
    (void)client;
    (void)user;
    if (fl_ask_accept_defaults(ask) != FL_OK)
        fl_ask_error(ask, -32603, "out of memory");
}

static void sample(fl_client *client, fl_ask *ask, void *user)
{
    (void)client;
    (void)user;
    if (fl_ask_reply(
            ask, TEXT(JSON({
            "role": "assistant",
            "content": {"type": "text", "text": "Paris"},
            "model": "none",
            "stopReason": "endTurn"
        }))) != FL_OK)
        fl_ask_error(ask, -32603, "out of memory");
}

const fl_client_handlers plain_handlers = {
    .sample = sample,
    .elicit = fill_in,
};

static void confirm(fl_client *client, const fl_answer *answer, void *user)
{
    fl_ask *ask = user;

    (void)client;
    (void)answer;
    if (fl_ask_accept(ask, TEXT(JSON({"confirmed":true}))) != FL_OK)
        fl_ask_error(ask, -32603, "out of memory");
}

/* Before it answers it calls another tool, with which this must not mix. */
static void confirm_later(fl_client *client, fl_ask *ask, void *user)
{
    (void)user;
    if (fl_client_call_tool(client, TEXT("test_mrtr_unrelated"), TEXT("{}"),
                            NULL, confirm, ask, NULL) != FL_OK)
        fl_ask_error(ask, -32603, "busy");
}

const fl_client_handlers round_handlers = {.elicit = confirm_later};

int run_rounds(struct talk *talk)
{
    talk_list(talk, FL_LIST_TOOLS);
    talk_call(talk, TEXT("test_mrtr_echo_state"), TEXT("{}"));
    talk_call(talk, TEXT("test_mrtr_no_state"), TEXT("{}"));
    talk_call(talk, TEXT("test_mrtr_no_result_type"), TEXT("{}"));
    return talk->status != FL_OK;
}
