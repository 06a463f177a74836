/*
 * tools_stream.c - tools that have something to say before they answer, or
 * beside it: progress, log, lists that change, a connection that is let go.
 */
#include "fixture.h"

enum { STEP_MS = 50, RETRY_MS = 500, AWAY_MS = 100 };

static bool log_step(fl_call *call, unsigned step)
{
    static const char *const words[] = {
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    };

    fl_call_logf(call, FL_LEVEL_INFO, NULL, "%s", words[step]);
    if (step < 2)
        return false;
    fl_call_replyf(call, "Tool with logging executed successfully");
    return true;
}

static void with_logging(fl_call *call, void *user)
{
    (void)user;
    pace(fl_call_defer(call), STEP_MS, log_step);
}

static bool progress_step(fl_call *call, unsigned step)
{
    fl_call_progress(call, step * 50, 100, NULL);
    if (step < 2)
        return false;
    fl_call_replyf(call, "Tool with progress executed successfully");
    return true;
}

static void with_progress(fl_call *call, void *user)
{
    (void)user;
    pace(fl_call_defer(call), STEP_MS, progress_step);
}

/* Lets the client go at first; what it comes back for is there by then, or
 * will be soon. */
static bool reconnection_step(fl_call *call, unsigned step)
{
    if (step == 0) {
        fl_call_hang_up(call, RETRY_MS);
        return false;
    }
    fl_call_replyf(call, "Reconnection test completed successfully");
    return true;
}

static void reconnection(fl_call *call, void *user)
{
    (void)user;
    pace(fl_call_defer(call), AWAY_MS, reconnection_step);
}

static void logging(fl_call *call, void *user)
{
    (void)user;
    fl_call_logf(call, FL_LEVEL_INFO, "test_logging_tool",
                 "Nobody hears this who has not asked for it");
    fl_call_replyf(call, "Logged");
}

static void change_tools(fl_call *call, void *user)
{
    fl_server_list_changed(user, FL_LIST_TOOLS);
    fl_call_replyf(call, "Told that the tools have changed");
}

static void change_prompts(fl_call *call, void *user)
{
    fl_server_list_changed(user, FL_LIST_PROMPTS);
    fl_call_replyf(call, "Told that the prompts have changed");
}

static void update_resource(fl_call *call, void *user)
{
    fl_server_resource_updated(user, "test://watched-resource");
    fl_call_replyf(call, "Told that the watched resource was updated");
}

static const fl_tool tools[] = {
    {
        .name = "test_tool_with_logging",
        .description = "Logs three times while it works",
        .call = with_logging,
    },
    {
        .name = "test_tool_with_progress",
        .description = "Tells three times how far it is",
        .call = with_progress,
    },
    {
        .name = "test_reconnection",
        .description = "Hangs up; the client comes back for the answer",
        .call = reconnection,
    },
    {
        .name = "test_logging_tool",
        .description = "Logs once, for who wants to hear it",
        .call = logging,
    },
    {
        .name = "test_trigger_tool_change",
        .description = "Says that the list of tools has changed",
        .call = change_tools,
    },
    {
        .name = "test_trigger_prompt_change",
        .description = "Says that the list of prompts has changed",
        .call = change_prompts,
    },
    {
        .name = "test_trigger_resource_update",
        .description = "Says that test://watched-resource was updated",
        .call = update_resource,
    },
};

fl_status add_stream_tools(fl_server *server)
{
    return ADD_TOOLS(server, tools);
}
