/*
 * call.c - "fairlead call": one question to one server.
 *
 *   open -> ready -> ask -> answer (-> ask for the next page...) -> close
 *
 * However it goes, there is one way out: settle() says how the program exits
 * and closes the client, and when the client has gone the loop has nothing
 * left to do. What ended it first counts; an answer that comes after a
 * Ctrl-C is not shown.
 */
#include "cmd/call.h"

#include "base/log.h"
#include "base/span.h"
#include "cmd/advice.h"
#include "cmd/call_line.h"
#include "cmd/complain.h"
#include "cmd/exits.h"
#include "cmd/help.h"
#include "cmd/pages.h"
#include "cmd/progress.h"
#include "cmd/show.h"
#include "io/loop.h"
#include "io/signals.h"

#include <fairlead/version.h>

#include <time.h>

typedef struct conversation {
    const fl_call_line *line;
    fl_loop *loop;
    fl_client *client; /* NULL once it has gone */
    fl_signals *signals;
    fl_show show;
    fl_progress progress;
    fl_pages pages;
    struct timespec asked;
    uint64_t id; /* of the request in flight; 0: none */
    bool settled;
    fl_exit exit;
} conversation;

/* The first one counts. */
static void settle(conversation *talk, fl_exit how)
{
    if (talk->settled)
        return;
    talk->settled = true;
    talk->exit = how;
    if (talk->client != NULL)
        fl_client_close(talk->client);
}

static void fail(conversation *talk, fl_status status, fl_span text,
                 fl_span detail)
{
    const char *advice = fl_advice_for(status, talk->line->url == NULL);

    if (talk->settled)
        return;
    fl_show_failure(&talk->show, status, text, detail);
    if (advice != NULL && !talk->show.json)
        fl_term_say(&talk->show.err, FL_TERM_PLAIN, "%s\n", advice);
    settle(talk, fl_advice_exit(status));
}

static double elapsed_ms(const struct timespec *since)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - since->tv_sec) * 1e3 +
           (double)(now.tv_nsec - since->tv_nsec) / 1e6;
}

static void ask(conversation *talk);

static void take_page(conversation *talk, fl_span result)
{
    fl_status rc = fl_pages_add(&talk->pages, result);

    if (rc == FL_AGAIN) {
        ask(talk);
    } else if (rc == FL_OK) {
        fl_show_tools(&talk->show, fl_buf_view(&talk->pages.list));
        settle(talk, FL_EXIT_OK);
    } else {
        fail(talk, rc,
             rc == FL_E_BAD_MESSAGE
                 ? FL_SPAN("the server's list of tools is not a list")
                 : FL_SPAN("the server's list of tools does not end"),
             (fl_span){0});
    }
}

static void take_result(conversation *talk, fl_span result)
{
    switch (talk->line->action) {
    case FL_CALL_TOOLS:
        take_page(talk, result);
        break;
    case FL_CALL_TOOL:
        settle(talk, fl_show_result(&talk->show, result));
        break;
    case FL_CALL_PING:
        fl_show_pong(&talk->show, elapsed_ms(&talk->asked));
        settle(talk, FL_EXIT_OK);
        break;
    case FL_CALL_INFO:
        break; /* was not asked: it is known once we are ready */
    }
}

static void on_answer(fl_client *client, const fl_answer *answer, void *user)
{
    conversation *talk = user;

    (void)client;
    talk->id = 0;
    fl_progress_clear(&talk->progress);
    if (talk->settled || answer->status == FL_E_CLOSED)
        return; /* on_closed knows why */
    if (answer->status == FL_OK)
        take_result(talk, answer->result);
    else
        fail(talk, answer->status, answer->text, answer->error);
}

static void on_progress(fl_client *client, double progress, double total,
                        fl_span message, void *user)
{
    conversation *talk = user;

    (void)client;
    if (!talk->settled)
        fl_progress_show(&talk->progress, progress, total, message);
}

/* The modern era has no ping; this is what every server of it answers. */
static const char *ping_method(const fl_client *client)
{
    return fl_client_era(client) == FL_ERA_MODERN ? "server/discover" : "ping";
}

static fl_status request(conversation *talk)
{
    const fl_call_line *line = talk->line;
    fl_request_options options = {.on_progress = on_progress};

    switch (line->action) {
    case FL_CALL_TOOLS:
        return fl_client_request(talk->client, "tools/list",
                                 fl_buf_view(&talk->pages.params), NULL,
                                 on_answer, talk, &talk->id);
    case FL_CALL_TOOL:
        return fl_client_call_tool(talk->client, fl_span_of(line->tool),
                                   fl_buf_view(&line->arguments), &options,
                                   on_answer, talk, &talk->id);
    case FL_CALL_PING:
        return fl_client_request(talk->client, ping_method(talk->client),
                                 (fl_span){0}, NULL, on_answer, talk,
                                 &talk->id);
    case FL_CALL_INFO:
        break;
    }
    fl_show_info(&talk->show, talk->client);
    settle(talk, FL_EXIT_OK);
    return FL_OK;
}

static void ask(conversation *talk)
{
    clock_gettime(CLOCK_MONOTONIC, &talk->asked);
    fl_status rc = request(talk);
    if (rc == FL_E_UNSUPPORTED && talk->line->action == FL_CALL_TOOLS) {
        fl_show_tools(&talk->show, FL_SPAN("[]"));
        settle(talk, FL_EXIT_OK);
    } else if (rc == FL_E_UNSUPPORTED) {
        fail(talk, FL_E_REMOTE, FL_SPAN("the server has no tools"),
             (fl_span){0});
    } else if (rc != FL_OK) {
        fail(talk, rc, fl_span_of(fl_status_text(rc)), (fl_span){0});
    }
}

static void on_ready(fl_client *client, void *user)
{
    conversation *talk = user;

    (void)client;
    if (!talk->settled)
        ask(talk);
}

static void on_closed(fl_client *client, const fl_error *why, void *user)
{
    conversation *talk = user;

    (void)client;
    talk->client = NULL;
    fl_progress_clear(&talk->progress);
    fail(talk, why->status, fl_span_of(why->text), (fl_span){0});
    fl_signals_close(talk->signals);
}

static const fl_client_events events = {
    .on_ready = on_ready,
    .on_closed = on_closed,
};

/* The server is told not to bother before the connection goes. */
static void on_signal(void *user)
{
    conversation *talk = user;

    if (talk->settled)
        return;
    fl_progress_clear(&talk->progress);
    if (talk->id != 0)
        (void)fl_client_cancel(talk->client, talk->id, "interrupted");
    settle(talk, FL_EXIT_INTERRUPTED);
}

static void open_client(conversation *talk)
{
    fl_error error;
    fl_status rc =
        fl_client_open(talk->loop, talk->line->url, &talk->line->client,
                       &events, talk, &talk->client, &error);

    if (rc != FL_OK) {
        fail(talk, rc, fl_span_of(error.text), (fl_span){0});
        fl_signals_close(talk->signals);
    }
}

static int converse(const fl_call_line *line)
{
    conversation talk = {.line = line, .exit = FL_EXIT_LOCAL};
    fl_log *log = fl_log_new(&(fl_log_options){.level = line->log_level});

    talk.show = fl_show_new(line->json);
    talk.progress.term = talk.show.err;
    fl_pages_init(&talk.pages, "tools");
    talk.loop = fl_loop_new_with(&(fl_loop_options){.log = log});
    if (talk.loop != NULL)
        talk.signals = fl_signals_watch(talk.loop, on_signal, &talk);
    if (talk.signals != NULL) {
        open_client(&talk);
        fl_loop_run(talk.loop);
    } else {
        fail(&talk, FL_E_NOMEM, FL_SPAN("out of memory or descriptors"),
             (fl_span){0});
    }
    fl_loop_free(talk.loop);
    fl_log_free(log);
    fl_pages_deinit(&talk.pages);
    return fl_show_end(&talk.show) ? (int)talk.exit : FL_EXIT_LOCAL;
}

int fl_call_command(char **argv)
{
    fl_call_line line;
    fl_error error;
    int code = FL_EXIT_OK;

    if (fl_call_line_parse(argv, &line, &error) != FL_OK)
        code = fl_complain_usage("call", &error);
    else if (line.help)
        fl_help_call(stdout);
    else
        code = converse(&line);
    fl_call_line_deinit(&line);
    return code;
}
