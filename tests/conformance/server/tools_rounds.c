/*
 * tools_rounds.c - tools that ask in rounds, several things, or with a state
 * of their own that the client carries from one round to the next.
 *
 * A handler is run from its beginning in every round, and reads like one that
 * simply waits: what is not known yet is asked for, and the run ends there.
 */
#include "fixture.h"

#include <string.h>

#define NAME_FORM                                                              \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"    \
    "\"required\":[\"name\"]}"
#define OK_FORM                                                                \
    "{\"type\":\"object\",\"properties\":{\"ok\":{\"type\":\"boolean\"}},"     \
    "\"required\":[\"ok\"]}"
#define COLOR_FORM                                                             \
    "{\"type\":\"object\",\"properties\":{\"color\":{\"type\":\"string\"}},"   \
    "\"required\":[\"color\"]}"

static const char capital_question[] = JSON({
    "messages": [{
        "role": "user",
        "content": {"type": "text", "text": "What is the capital of France?"}
    }],
    "maxTokens": 100
});

static const fl_span question = {capital_question, sizeof capital_question - 1};

/* Asks by a form, and says whether it was filled in. If not, the call has been
 * seen to. */
static bool ask_form(fl_call *call, const char *key, const char *message,
                     const char *schema, fl_span *form)
{
    switch (fl_call_input(call, key, form)) {
    case FL_INPUT_ACCEPTED:
        return true;
    case FL_INPUT_NONE:
        fl_call_want_form(call, key, message, schema);
        fl_call_ask(call);
        return false;
    case FL_INPUT_DECLINED:
    case FL_INPUT_CANCELLED:
    case FL_INPUT_FAILED:
        fl_call_replyf(call, "No answer: %s", key);
        return false;
    }
    return false;
}

static void by_elicitation(fl_call *call, void *user)
{
    fl_span form;

    (void)user;
    if (ask_form(call, "user_name", "What is your name?", NAME_FORM, &form))
        fl_call_replyf(call, "Hello, %s!", text_of(form, "name").text);
}

static void by_sampling(fl_call *call, void *user)
{
    fl_span sample;

    (void)user;
    if (fl_call_input(call, "capital_question", &sample) == FL_INPUT_NONE) {
        fl_call_want_sample(call, "capital_question", question);
        fl_call_ask(call);
        return;
    }
    fl_call_replyf(call, "Model response: %s",
                   text_of(fl_raw_get(sample, "content"), "text").text);
}

static void by_roots(fl_call *call, void *user)
{
    fl_span roots;

    (void)user;
    if (fl_call_input(call, "client_roots", &roots) == FL_INPUT_NONE) {
        fl_call_want_roots(call, "client_roots");
        fl_call_ask(call);
        return;
    }
    fl_call_replyf(call, "Client roots: %.*s",
                   SHOW(fl_raw_get(roots, "roots")));
}

/* What a handler leaves for its next run comes back as it was, or not at
 * all. */
static void with_state(fl_call *call, void *user)
{
    static const char left[] = "left for the second round";
    fl_span form, state = fl_call_state(call);

    (void)user;
    if (state.len == 0)
        fl_call_set_state(call, TEXT("left for the second round"));
    if (!ask_form(call, "confirm", "Please confirm", OK_FORM, &form))
        return;
    if (state.len == strlen(left) && memcmp(state.ptr, left, state.len) == 0)
        fl_call_replyf(call, "Confirmed: state-ok");
    else
        fl_call_fail(call, "The state is not what it was");
}

static void want_missing(fl_call *call, bool *missing)
{
    fl_span known;

    *missing = false;
    if (fl_call_input(call, "user_name", &known) == FL_INPUT_NONE) {
        fl_call_want_form(call, "user_name", "What is your name?", NAME_FORM);
        *missing = true;
    }
    if (fl_call_input(call, "greeting", &known) == FL_INPUT_NONE) {
        fl_call_want_sample(call, "greeting", question);
        *missing = true;
    }
    if (fl_call_input(call, "client_roots", &known) == FL_INPUT_NONE) {
        fl_call_want_roots(call, "client_roots");
        *missing = true;
    }
}

static void several(fl_call *call, void *user)
{
    fl_span form;
    bool missing;

    (void)user;
    want_missing(call, &missing);
    if (missing) {
        fl_call_set_state(call, TEXT("asked for three things"));
        fl_call_ask(call);
        return;
    }
    fl_call_input(call, "user_name", &form);
    fl_call_replyf(call, "All three are here, %s", text_of(form, "name").text);
}

static void in_rounds(fl_call *call, void *user)
{
    fl_span first, second;

    (void)user;
    fl_call_set_state(call, TEXT("round 1"));
    if (!ask_form(call, "step1", "Step 1: What is your name?", NAME_FORM,
                  &first))
        return;
    fl_call_set_state(call, TEXT("round 2"));
    if (ask_form(call, "step2", "Step 2: What is your favorite color?",
                 COLOR_FORM, &second))
        fl_call_replyf(call, "%s likes %s", text_of(first, "name").text,
                       text_of(second, "color").text);
}

/* A state that somebody has changed never gets here. */
static void tampered(fl_call *call, void *user)
{
    fl_span form;

    (void)user;
    fl_call_set_state(call, TEXT("not to be touched"));
    if (ask_form(call, "confirm", "Please confirm", OK_FORM, &form))
        fl_call_replyf(call, "Confirmed, and untouched");
}

/* Asks for what this client can do, and for nothing else. */
static void by_capability(fl_call *call, void *user)
{
    fl_span known;
    bool asked = false;

    (void)user;
    if (fl_call_client_can(call, FL_CAN_SAMPLE) &&
        fl_call_input(call, "capital_question", &known) == FL_INPUT_NONE) {
        fl_call_want_sample(call, "capital_question", question);
        asked = true;
    }
    if (fl_call_client_can(call, FL_CAN_ELICIT_FORM) &&
        fl_call_input(call, "user_name", &known) == FL_INPUT_NONE) {
        fl_call_want_form(call, "user_name", "What is your name?", NAME_FORM);
        asked = true;
    }
    if (asked)
        fl_call_ask(call);
    else
        fl_call_replyf(call, "Asked for all that the client can do");
}

static const fl_tool tools[] = {
    {
        .name = "test_input_required_result_elicitation",
        .description = "Asks for a name",
        .call = by_elicitation,
    },
    {
        .name = "test_input_required_result_sampling",
        .description = "Asks the client's model",
        .call = by_sampling,
    },
    {
        .name = "test_input_required_result_list_roots",
        .description = "Asks for the client's roots",
        .call = by_roots,
    },
    {
        .name = "test_input_required_result_request_state",
        .description = "Leaves a state with the client",
        .call = with_state,
    },
    {
        .name = "test_input_required_result_multiple_inputs",
        .description = "Asks for three things at once",
        .call = several,
    },
    {
        .name = "test_input_required_result_multi_round",
        .description = "Asks twice, one thing after the other",
        .call = in_rounds,
    },
    {
        .name = "test_input_required_result_tampered_state",
        .description = "Leaves a state that must not be changed",
        .call = tampered,
    },
    {
        .name = "test_input_required_result_capabilities",
        .description = "Asks for no more than the client can do",
        .call = by_capability,
    },
};

fl_status add_round_tools(fl_server *server)
{
    return ADD_TOOLS(server, tools);
}
