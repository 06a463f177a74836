/*
 * tools_tasks.c - tools that may become tasks.
 *
 * fl_call_as_task() is all there is to it: a client that can hold a task gets
 * one, and any other waits for the answer. A task may fail as a tool does, or
 * as a request does, and may ask for input on its way.
 */
#include "fixture.h"

#include <stdio.h>

enum { SOON_MS = 100, SECONDS_MAX = 60 };

#define FORM(field, type)                                                      \
    "{\"type\":\"object\",\"properties\":{\"" field "\":{\"type\":\"" type     \
    "\"}},\"required\":[\"" field "\"]}"

static void greet(fl_call *call, void *user)
{
    (void)user;
    fl_call_replyf(call, "Hello, %.*s!", SHOW(fl_call_text(call, "name")));
}

static bool computing(fl_call *call, unsigned step)
{
    if (step == 0)
        return false;
    fl_call_replyf(call, "Computed: %.*s", SHOW(fl_call_text(call, "label")));
    return true;
}

static void slow_compute(fl_call *call, void *user)
{
    double seconds = fl_call_number(call, "seconds");

    (void)user;
    if (seconds < 0 || seconds > SECONDS_MAX)
        fl_call_fail(call, "seconds: want 0 to %d", SECONDS_MAX);
    else
        pace(fl_call_as_task(call, 0), (uint64_t)(seconds * 1000), computing);
}

static bool failing(fl_call *call, unsigned step)
{
    if (step == 0)
        return false;
    fl_call_fail(call, "The job failed, as it always does");
    return true;
}

static void failing_job(fl_call *call, void *user)
{
    (void)user;
    pace(fl_call_as_task(call, 0), SOON_MS, failing);
}

static bool breaking(fl_call *call, unsigned step)
{
    if (step == 0)
        return false;
    fl_call_error(call, -32603, "The job broke, as it always does");
    return true;
}

static void protocol_error_job(fl_call *call, void *user)
{
    (void)user;
    pace(fl_call_as_task(call, 0), SOON_MS, breaking);
}

static void confirm_delete(fl_call *call, void *user)
{
    fl_span form, file = fl_call_text(call, "filename");
    char question[512];

    (void)user;
    snprintf(question, sizeof question, "Delete %.*s?", SHOW(file));
    call = fl_call_as_task(call, 0);
    if (call == NULL)
        return;
    file = fl_call_text(call, "filename");
    switch (fl_call_input(call, "confirm", &form)) {
    case FL_INPUT_NONE:
        fl_call_want_form(call, "confirm", question,
                          FORM("confirm", "boolean"));
        fl_call_ask(call);
        return;
    case FL_INPUT_ACCEPTED:
        fl_call_replyf(call, "Deleted %.*s", SHOW(file));
        return;
    case FL_INPUT_DECLINED:
    case FL_INPUT_CANCELLED:
    case FL_INPUT_FAILED:
        fl_call_replyf(call, "Kept %.*s", SHOW(file));
        return;
    }
}

static void multi_input(fl_call *call, void *user)
{
    fl_span name, confirm;

    (void)user;
    call = fl_call_as_task(call, 0);
    if (call == NULL)
        return;
    if (fl_call_input(call, "name", &name) == FL_INPUT_NONE) {
        fl_call_want_form(call, "name", "What is your name?",
                          FORM("name", "string"));
        fl_call_want_form(call, "confirm", "Are you sure?",
                          FORM("confirm", "boolean"));
        fl_call_ask(call);
        return;
    }
    fl_call_input(call, "confirm", &confirm);
    fl_call_replyf(call, "%s, confirmed: %.*s", text_of(name, "name").text,
                   SHOW(fl_raw_get(confirm, "confirm")));
}

static bool greeting(fl_call *call, unsigned step)
{
    fl_span form;

    if (step == 0)
        return false;
    fl_call_input(call, "user_name", &form);
    fl_call_replyf(call, "Hello, %s!", text_of(form, "name").text);
    return true;
}

/* Asks while it is a call, and becomes a task when it knows enough. */
static void ask_first(fl_call *call, void *user)
{
    fl_span form;

    (void)user;
    if (fl_call_input(call, "user_name", &form) == FL_INPUT_NONE) {
        fl_call_want_form(call, "user_name", "What is your name?",
                          FORM("name", "string"));
        fl_call_ask(call);
        return;
    }
    pace(fl_call_as_task(call, 0), SOON_MS, greeting);
}

static const fl_tool tools[] = {
    {
        .name = "greet",
        .description = "Greets, at once",
        .input_schema = JSON({
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"]
        }),
              .call = greet,
            },
            {
                .name = "slow_compute",
                .description = "Takes as many seconds as it is told to",
                .input_schema = JSON({
            "type": "object",
            "properties": {
                "seconds": {"type": "number"},
                "label": {"type": "string"}
            },
            "required": ["seconds"]
        }),
                                      .task = FL_TASK_MAY, .call = slow_compute,
                    },
                      {
                          .name = "failing_job",
                          .description =
                              "A task that ends in a failure of the tool",
                          .task = FL_TASK_MUST,
                          .call = failing_job,
                      },
                      {
                          .name = "protocol_error_job",
                          .description = "A task that ends in an error",
                          .task = FL_TASK_MAY,
                          .call = protocol_error_job,
                      },
                      {
                          .name = "confirm_delete",
                          .description =
                              "A task that asks whether it really should",
                          .input_schema = JSON({
            "type": "object",
            "properties": {"filename": {"type": "string"}},
            "required": ["filename"]
        }),
                                .task = FL_TASK_MAY, .call = confirm_delete,
                              },
                              {
                                  .name = "multi_input",
                                  .description =
                                      "A task that asks for two things",
                                  .task = FL_TASK_MAY,
                                  .call = multi_input,
                              },
                              {
                                  .name = "test_tool_with_task",
                                  .description = "Asks for a name, and then "
                                                 "becomes a task",
                                  .task = FL_TASK_MUST,
                                  .call = ask_first,
                              },
};

fl_status add_task_tools(fl_server *server)
{
    return ADD_TOOLS(server, tools);
}
