/*
 * watch.c - a client that is told things: steps, and changes of a list and of
 * a resource.
 *
 *     watch URL [REVISION]
 *
 * One line is printed for each thing that happens, and run.py knows which
 * must: the revision agreed on, the tools, the progress of a call, a call that
 * is cancelled at its first step, the change that the tool "unlock" makes, and
 * the tools after it; then, if the server takes subscriptions, that the tool
 * "tick" has changed the resource demo://time. Each answer asks the next
 * question, so the functions stand in the order of their callers' callers: read
 * this file from its end.
 */
#include <fairlead/fairlead.h>

#include <stdio.h>
#include <string.h>

/* For word of the cancellation to get there; it overtakes nothing. */
enum { SETTLE_MS = 200, PATIENCE_MS = 15000 };

struct watch {
    fl_loop *loop;
    fl_client *client;
    uint64_t endless; /* the call to be cancelled; 0: it is */
    bool unlocked, changed;
    bool ticked, updated;
    int failed; /* what main returns */
};

static fl_span span(const char *text)
{
    return (fl_span){text, strlen(text)};
}

static void print(const char *what, fl_span text)
{
    printf("%s %.*s\n", what, (int)text.len, text.ptr);
}

static void fail(struct watch *watch, const char *what, fl_span why)
{
    print(what, why);
    watch->failed = 1;
    fl_client_close(watch->client);
}

static bool went_well(struct watch *watch, const char *what,
                      const fl_answer *answer)
{
    if (answer->status != FL_OK)
        fail(watch, "failed", answer->text);
    else
        print(what, answer->result);
    return answer->status == FL_OK;
}

static void call(struct watch *watch, const char *tool, const char *arguments,
                 const fl_request_options *options, fl_answer_fn *on_answer)
{
    fl_status rc =
        fl_client_call_tool(watch->client, span(tool), span(arguments), options,
                            on_answer, watch, &watch->endless);

    if (rc != FL_OK)
        fail(watch, "refused", span(fl_status_text(rc)));
}

static void list(struct watch *watch, fl_answer_fn *on_answer)
{
    fl_status rc = fl_client_request(watch->client, "tools/list", span(""),
                                     NULL, on_answer, watch, NULL);

    if (rc != FL_OK)
        fail(watch, "refused", span(fl_status_text(rc)));
}

/* As with the list, whichever comes first. */
static void end(struct watch *watch)
{
    if (watch->ticked && watch->updated)
        fl_client_close(watch->client);
}

static void on_resource_updated(fl_client *client, fl_span uri, void *user)
{
    struct watch *watch = user;

    (void)client;
    print("updated", uri);
    watch->updated = true;
    end(watch);
}

static void on_ticked(fl_client *client, const fl_answer *answer, void *user)
{
    struct watch *watch = user;

    (void)client;
    watch->ticked = went_well(watch, "result", answer);
    end(watch);
}

static void on_subscribed(fl_client *client, const fl_answer *answer,
                          void *user)
{
    if (answer->status == FL_E_UNSUPPORTED)
        fl_client_close(client);
    else if (went_well(user, "subscribed", answer))
        call(user, "tick", "{}", NULL, on_ticked);
}

static void on_last_tools(fl_client *client, const fl_answer *answer,
                          void *user)
{
    if (!went_well(user, "tools", answer))
        return;
    fl_status rc = fl_client_subscribe(client, span("demo://time"), NULL,
                                       on_subscribed, user, NULL);
    if (rc == FL_E_UNSUPPORTED)
        fl_client_close(client);
    else if (rc != FL_OK)
        fail(user, "refused", span(fl_status_text(rc)));
}

/* The change may be told before its cause is answered. */
static void look_again(struct watch *watch)
{
    if (watch->unlocked && watch->changed)
        list(watch, on_last_tools);
}

static void on_notification(fl_client *client, fl_span method, fl_span params,
                            void *user)
{
    struct watch *watch = user;
    fl_span wanted = span("notifications/tools/list_changed");

    (void)client, (void)params;
    print("notification", method);
    if (watch->changed || method.len != wanted.len ||
        memcmp(method.ptr, wanted.ptr, wanted.len) != 0)
        return;
    watch->changed = true;
    look_again(watch);
}

static void on_unlocked(fl_client *client, const fl_answer *answer, void *user)
{
    struct watch *watch = user;

    (void)client;
    watch->unlocked = went_well(watch, "result", answer);
    look_again(watch);
}

static void on_stopped(fl_client *client, const fl_answer *answer, void *user)
{
    (void)client;
    if (went_well(user, "result", answer))
        call(user, "unlock", "{}", NULL, on_unlocked);
}

static void ask_what_stopped(void *user)
{
    call(user, "stopped", "{}", NULL, on_stopped);
}

static void on_cancelled(fl_client *client, const fl_answer *answer, void *user)
{
    struct watch *watch = user;

    (void)client;
    print("ended", span(fl_status_name(answer->status)));
    if (fl_loop_after(watch->loop, SETTLE_MS, ask_what_stopped, watch) != FL_OK)
        fail(watch, "failed", span("no timer"));
}

static void on_first_step(fl_client *client, double progress, double total,
                          fl_span message, void *user)
{
    struct watch *watch = user;
    uint64_t id = watch->endless;

    (void)progress, (void)total, (void)message;
    watch->endless = 0;
    if (id != 0 && fl_client_cancel(client, id, "seen enough") != FL_OK)
        fail(watch, "failed", span("it cannot be cancelled"));
}

static void on_slow(fl_client *client, const fl_answer *answer, void *user)
{
    fl_request_options options = {.on_progress = on_first_step};

    (void)client;
    if (went_well(user, "result", answer))
        call(user, "slow", "{\"steps\":1000,\"delay_ms\":20}", &options,
             on_cancelled);
}

static void on_step(fl_client *client, double progress, double total,
                    fl_span message, void *user)
{
    (void)client, (void)message, (void)user;
    printf("progress %g of %g\n", progress, total);
}

static void on_tools(fl_client *client, const fl_answer *answer, void *user)
{
    fl_request_options options = {.on_progress = on_step};

    (void)client;
    if (went_well(user, "tools", answer))
        call(user, "slow", "{\"steps\":5,\"delay_ms\":20}", &options, on_slow);
}

static void on_ready(fl_client *client, void *user)
{
    print("revision", span(fl_client_revision(client)));
    list(user, on_tools);
}

static void on_closed(fl_client *client, const fl_error *why, void *user)
{
    struct watch *watch = user;

    (void)client;
    if (why->status != FL_OK) {
        print("closed", span(why->text));
        watch->failed = 1;
    }
    fl_loop_stop(watch->loop);
}

static void give_up(void *user)
{
    fail(user, "failed", span("nothing more happens"));
}

int main(int argc, char **argv)
{
    static const fl_client_events events = {
        .on_ready = on_ready,
        .on_notification = on_notification,
        .on_resource_updated = on_resource_updated,
        .on_closed = on_closed,
    };
    fl_client_options options = {
        .name = "watch",
        .revision = argc > 2 ? argv[2] : NULL,
        .connection.no_reconnect = true,
    };
    struct watch watch = {.loop = fl_loop_new()};
    fl_error error;

    if (argc < 2 || watch.loop == NULL)
        return 2;
    if (fl_client_open(watch.loop, argv[1], &options, &events, &watch,
                       &watch.client, &error) != FL_OK) {
        print("failed", span(error.text));
        watch.failed = 1;
    } else if (fl_loop_after(watch.loop, PATIENCE_MS, give_up, &watch) ==
               FL_OK) {
        fl_loop_run(watch.loop);
    }
    fl_loop_free(watch.loop);
    return watch.failed;
}
