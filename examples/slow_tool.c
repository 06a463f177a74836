/*
 * slow_tool.c - a tool that answers later, tells how far it is, and stops when
 * it is cancelled.
 *
 *     slow_tool [URL]...
 *
 *     fairlead call call count_down from=30 -- ./slow_tool
 *
 * fl_call_defer() gives a call that lives until it is answered; the handler
 * returns, and the loop serves others meanwhile. When the client cancels, or
 * goes away, on_cancel comes: the call must still be answered, but now. The
 * timer that is under way cannot be called back, so it finds out by itself
 * that there is no call any more, and frees what is left. worker.c does the
 * same with a thread in place of the timer.
 */
#include <fairlead/fairlead.h>

#include <stdio.h>
#include <stdlib.h>

enum { STEP_MS = 100, STEPS_MAX = 100 };

struct countdown {
    fl_call *call; /* NULL: cancelled */
    int64_t left;
    int64_t from;
};

static void tick(void *user)
{
    struct countdown *count = user;

    if (count->call != NULL && --count->left > 0) {
        char text[32];
        snprintf(text, sizeof text, "%lld to go", (long long)count->left);
        fl_call_progress(count->call, (double)(count->from - count->left),
                         (double)count->from, text);
        if (fl_loop_after(fl_call_loop(count->call), STEP_MS, tick, count) ==
            FL_OK)
            return;
        fl_call_fail(count->call, "out of memory");
    } else if (count->call != NULL) {
        fl_call_replyf(count->call, "lift-off");
    }
    free(count);
}

static void on_cancel(fl_call *call, void *user)
{
    struct countdown *count = user;

    count->call = NULL;
    fl_call_fail(call, "cancelled with %lld to go", (long long)count->left);
}

static void count_down(fl_call *call, void *user)
{
    int64_t from = fl_call_integer(call, "from");
    struct countdown *count = calloc(1, sizeof *count);

    (void)user;
    if (count == NULL || from < 1 || from > STEPS_MAX) {
        free(count);
        fl_call_fail(call, "from: want 1 to %d", STEPS_MAX);
        return;
    }
    fl_loop *loop = fl_call_loop(call);
    *count = (struct countdown){fl_call_defer(call), from, from};
    if (count->call != NULL)
        fl_call_on_cancel(count->call, on_cancel, count);
    /* without a call the timer only frees, as after a cancellation */
    if (fl_loop_after(loop, STEP_MS, tick, count) != FL_OK) {
        if (count->call != NULL)
            fl_call_fail(count->call, "out of memory");
        free(count);
    }
}

int main(int argc, char **argv)
{
    static const char *const only_stdio[] = {"stdio:", NULL};
    fl_server *server = fl_server_new("slow_tool", "1.0");
    fl_tool tool = {
        .name = "count_down",
        .description = "Counts down to lift-off",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"from\":{"
                        "\"type\":\"integer\",\"minimum\":1,\"maximum\":100}},"
                        "\"required\":[\"from\"]}",
        .call = count_down,
    };

    if (server == NULL || fl_server_add_tool(server, &tool) != FL_OK)
        return fl_server_fail(server);
    return fl_server_run(server, argc > 1 ? (const char *const *)(argv + 1)
                                          : only_stdio);
}
