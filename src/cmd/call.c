/*
 * call.c - "fairlead call": one question to one server.
 *
 *   open -> ready -> ask -> (answer what we are asked) -> answer -> close
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
#include "cmd/answer.h"
#include "cmd/call_line.h"
#include "cmd/complain.h"
#include "cmd/exits.h"
#include "cmd/guess.h"
#include "cmd/help.h"
#include "cmd/hint.h"
#include "cmd/progress.h"
#include "cmd/roots.h"
#include "cmd/show.h"
#include "io/loop.h"
#include "io/signals.h"
#include "rpc/error.h"
#include "json/nav.h"

#include <fairlead/version.h>

#include <time.h>
#include <unistd.h>

enum { GUESS_MAX = 8192 };

typedef struct conversation {
    const fl_call_line *line;
    fl_loop *loop;
    fl_client *client; /* NULL once it has gone */
    fl_auth *auth;     /* NULL: nobody is to be shown who we are */
    fl_signals *signals;
    fl_show show;
    fl_progress progress;
    fl_answerer answerer;
    struct timespec asked;
    uint64_t id;   /* of the request in flight; 0: none */
    bool guessing; /* it has failed, and that was shown: what was meant? */
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

static const char *advise(const conversation *talk, fl_status status,
                          fl_span detail)
{
    const char *revision =
        talk->client != NULL ? fl_client_revision(talk->client) : "";

    return status == FL_E_REMOTE
               ? fl_advice_for_error(detail, revision)
               : fl_advice_for(status, talk->line->url == NULL);
}

/* It may quote what was typed. */
static void say_line(const conversation *talk, const char *text)
{
    fl_term_put(&talk->show.err, fl_span_of(text));
    fputc('\n', talk->show.err.file);
}

static void fail(conversation *talk, fl_status status, fl_span text,
                 fl_span detail)
{
    const char *advice = advise(talk, status, detail);
    char hint[FL_HINT_SIZE];

    if (fl_hint_of_port(talk->line->url, text, hint))
        advice = hint;
    if (talk->settled)
        return;
    if (talk->guessing) { /* what came first counts */
        settle(talk, FL_EXIT_REMOTE);
        return;
    }
    fl_show_failure(&talk->show, status, text, detail);
    if (advice != NULL && !talk->show.json)
        say_line(talk, advice);
    settle(talk, fl_advice_exit(status));
}

/* For a tool that did not take its arguments. */
static void hint_at_string(const conversation *talk, fl_span said)
{
    char hint[FL_HINT_SIZE];

    if (talk->line->action == FL_CALL_TOOL && !talk->show.json &&
        fl_hint_of_string(fl_buf_view(&talk->line->arguments), said, hint))
        say_line(talk, hint);
}

static double elapsed_ms(const struct timespec *since)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - since->tv_sec) * 1e3 +
           (double)(now.tv_nsec - since->tv_nsec) / 1e6;
}

/* What a list action asks for, and how its answer is read. */
static const struct listing {
    fl_list_kind kind;
    const char *member;
    const char *key;
} listings[] = {
    [FL_CALL_TOOLS] = {FL_LIST_TOOLS, "tools", "name"},
    [FL_CALL_RESOURCES] = {FL_LIST_RESOURCES, "resources", "uri"},
    [FL_CALL_TEMPLATES] = {FL_LIST_TEMPLATES, "resourceTemplates",
                           "uriTemplate"},
    [FL_CALL_PROMPTS] = {FL_LIST_PROMPTS, "prompts", "name"},
};

static void show_listing(const conversation *talk, fl_span list)
{
    const struct listing *listing = &listings[talk->line->action];

    if (talk->line->action == FL_CALL_TOOLS)
        fl_show_tools(&talk->show, list);
    else
        fl_show_list(&talk->show, listing->member, list, listing->key);
}

static void take_result(conversation *talk, fl_span result)
{
    fl_exit how = FL_EXIT_OK;

    switch (talk->line->action) {
    case FL_CALL_TOOLS:
    case FL_CALL_RESOURCES:
    case FL_CALL_TEMPLATES:
    case FL_CALL_PROMPTS:
        show_listing(
            talk, fl_json_get(result,
                              fl_span_of(listings[talk->line->action].member)));
        break;
    case FL_CALL_TOOL:
        how = fl_show_result(&talk->show, result);
        if (how != FL_EXIT_OK)
            hint_at_string(talk, result);
        break;
    case FL_CALL_READ:
        how = fl_show_contents(&talk->show, result);
        break;
    case FL_CALL_PROMPT:
        fl_show_prompt(&talk->show, result);
        break;
    case FL_CALL_COMPLETE:
        fl_show_completion(&talk->show, result);
        break;
    case FL_CALL_PING:
        fl_show_pong(&talk->show, elapsed_ms(&talk->asked));
        break;
    case FL_CALL_INFO:
        break; /* was not asked: it is known once we are ready */
    }
    settle(talk, how);
}

static const char *what_is_called(const fl_call_line *line)
{
    if (line->action == FL_CALL_TOOL)
        return "tool";
    return line->action == FL_CALL_PROMPT ? "prompt" : NULL;
}

/* Whatever comes of guessing, the call has failed. */
static void on_names(fl_client *client, const fl_answer *answer, void *user)
{
    conversation *talk = user;
    const fl_call_line *line = talk->line;
    bool tools = line->action == FL_CALL_TOOL;
    fl_buf guess;

    (void)client;
    talk->id = 0;
    if (talk->settled || answer->status == FL_E_CLOSED)
        return;
    fl_buf_init(&guess, GUESS_MAX);
    fl_span list = fl_json_get(answer->result,
                               tools ? FL_SPAN("tools") : FL_SPAN("prompts"));
    if (answer->status == FL_OK &&
        fl_guess_name(list, what_is_called(line), line->object, &guess) ==
            FL_OK &&
        fl_buf_len(&guess) > 0) {
        fl_term_put(&talk->show.err, fl_buf_view(&guess));
        fputc('\n', talk->show.err.file);
    }
    fl_buf_reset(&guess);
    settle(talk, FL_EXIT_REMOTE);
}

/* Was it perhaps a name that the server does not know? That is seen in its
 * list. */
static bool guesses(conversation *talk, const fl_answer *answer)
{
    bool tools = talk->line->action == FL_CALL_TOOL;

    if (answer->status != FL_E_REMOTE ||
        answer->code != FL_RPC_INVALID_PARAMS || talk->show.json ||
        what_is_called(talk->line) == NULL ||
        fl_client_list(talk->client, tools ? FL_LIST_TOOLS : FL_LIST_PROMPTS,
                       NULL, on_names, talk, &talk->id) != FL_OK)
        return false;
    fl_show_failure(&talk->show, answer->status, answer->text, answer->error);
    hint_at_string(talk, answer->text);
    talk->guessing = true;
    return true;
}

static void on_answer(fl_client *client, const fl_answer *answer, void *user)
{
    conversation *talk = user;

    (void)client;
    talk->id = 0;
    fl_progress_clear(&talk->progress);
    if (talk->settled || answer->status == FL_E_CLOSED)
        return; /* on_closed knows why */
    if (answer->status == FL_OK) {
        take_result(talk, answer->result);
        return;
    }
    if (guesses(talk, answer))
        return;
    fail(talk, answer->status, answer->text, answer->error);
    if (answer->status == FL_E_UNSUPPORTED && !talk->show.json &&
        !fl_answerer_can(&talk->answerer))
        fl_term_say(&talk->show.err, FL_TERM_PLAIN,
                    "At a terminal you are asked; --answer FIELD=VALUE, "
                    "--accept-defaults or --decline answers for you.\n");
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

static fl_status request_completion(conversation *talk)
{
    const fl_call_line *line = talk->line;
    fl_span object = fl_span_of(line->object);
    const fl_completion of = {
        .prompt = !line->of_resource ? object : (fl_span){0},
        .resource = line->of_resource ? object : (fl_span){0},
        .argument = fl_buf_view(&line->argument),
        .value = fl_buf_view(&line->value),
        .context = fl_buf_view(&line->arguments),
    };

    return fl_client_complete(talk->client, &of, NULL, on_answer, talk,
                              &talk->id);
}

static fl_status request(conversation *talk)
{
    const fl_call_line *line = talk->line;
    fl_request_options options = {
        .on_progress = on_progress,
        .task = line->task,
    };
    fl_span object = fl_span_of(line->object);
    fl_span arguments = fl_buf_view(&line->arguments);

    switch (line->action) {
    case FL_CALL_TOOLS:
    case FL_CALL_RESOURCES:
    case FL_CALL_TEMPLATES:
    case FL_CALL_PROMPTS:
        return fl_client_list(talk->client, listings[line->action].kind, NULL,
                              on_answer, talk, &talk->id);
    case FL_CALL_TOOL:
        return fl_client_call_tool(talk->client, object, arguments, &options,
                                   on_answer, talk, &talk->id);
    case FL_CALL_READ:
        return fl_client_read(talk->client, object, &options, on_answer, talk,
                              &talk->id);
    case FL_CALL_PROMPT:
        return fl_client_get_prompt(talk->client, object, arguments, &options,
                                    on_answer, talk, &talk->id);
    case FL_CALL_COMPLETE:
        return request_completion(talk);
    case FL_CALL_PING:
        return fl_client_request(
            talk->client, ping_method(talk->client), (fl_span){0},
            &(fl_request_options){.fresh = true}, on_answer, talk, &talk->id);
    case FL_CALL_INFO:
        break;
    }
    fl_show_info(&talk->show, talk->client);
    settle(talk, FL_EXIT_OK);
    return FL_OK;
}

/* The server has not declared it: a list of it is empty. */
static void do_without(conversation *talk)
{
    static const char *const lacks[] = {
        [FL_CALL_TOOL] = "the server has no tools",
        [FL_CALL_READ] = "the server has no resources",
        [FL_CALL_PROMPT] = "the server has no prompts",
        [FL_CALL_COMPLETE] = "the server does not complete arguments",
        [FL_CALL_PING] = "the server cannot be pinged",
        [FL_CALL_INFO] = "",
    };

    if (talk->line->action <= FL_CALL_PROMPTS) {
        show_listing(talk, FL_SPAN("[]"));
        settle(talk, FL_EXIT_OK);
    } else {
        fail(talk, FL_E_REMOTE, fl_span_of(lacks[talk->line->action]),
             (fl_span){0});
    }
}

static void ask(conversation *talk)
{
    clock_gettime(CLOCK_MONOTONIC, &talk->asked);
    fl_status rc = request(talk);
    if (rc == FL_E_UNSUPPORTED)
        do_without(talk);
    else if (rc != FL_OK)
        fail(talk, rc, fl_span_of(fl_status_text(rc)), (fl_span){0});
}

/* A tool of 2025-11-25 says in the list whether it can be a task. Whatever
 * comes of that, the call is made. */
static void on_listed(fl_client *client, const fl_answer *answer, void *user)
{
    conversation *talk = user;

    (void)client;
    if (!talk->settled && answer->status != FL_E_CLOSED)
        ask(talk);
}

static bool lists_first(conversation *talk)
{
    return talk->line->task && talk->line->action == FL_CALL_TOOL &&
           fl_client_era(talk->client) == FL_ERA_LEGACY &&
           fl_client_list(talk->client, FL_LIST_TOOLS, NULL, on_listed, talk,
                          NULL) == FL_OK;
}

static void begin(conversation *talk)
{
    if (!lists_first(talk))
        ask(talk);
}

/* It is a wish, no more; but if the connection ends there is nothing to do. */
static void on_level(fl_client *client, const fl_answer *answer, void *user)
{
    conversation *talk = user;

    (void)client;
    if (!talk->settled && answer->status != FL_E_CLOSED)
        begin(talk);
}

/* Before all else, and not beside it: a server may answer two requests in the
 * order it likes. */
static bool asks_for_log(conversation *talk)
{
    unsigned level = talk->line->server_log;

    if (level == 0)
        return false;
    if (fl_client_set_log_level(talk->client, fl_call_levels[level - 1], NULL,
                                on_level, talk, NULL) == FL_OK)
        return true;
    fl_complain("call", "the server has no log to show (--server-log)");
    return false;
}

static void on_log(fl_client *client, fl_span level, fl_span logger,
                   fl_span data, void *user)
{
    conversation *talk = user;

    (void)client;
    fl_progress_clear(&talk->progress);
    if (talk->line->server_log > 0)
        fl_show_log(&talk->show, level, logger, data);
}

static void on_form(fl_client *client, fl_ask *about, void *user)
{
    conversation *talk = user;

    (void)client;
    fl_progress_clear(&talk->progress);
    fl_answer_form(&talk->answerer, about);
}

static void on_url(fl_client *client, fl_ask *about, void *user)
{
    conversation *talk = user;

    (void)client;
    fl_progress_clear(&talk->progress);
    fl_answer_url(&talk->answerer, about);
}

static void on_ready(fl_client *client, void *user)
{
    conversation *talk = user;

    (void)client;
    if (!talk->settled && !asks_for_log(talk))
        begin(talk);
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
    .on_log = on_log,
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
    static const fl_client_handlers handlers = {
        .elicit = on_form,
        .elicit_url = on_url,
    };
    fl_client_options options = talk->line->client;
    fl_error error;

    if (fl_answerer_can(&talk->answerer))
        options.handlers = &handlers;
    fl_status rc =
        fl_login_open(&talk->line->login, &talk->show.err, &talk->auth, &error);
    options.connection.http.auth = talk->auth;
    if (rc == FL_OK)
        rc = fl_client_open(talk->loop, talk->line->url, &options, &events,
                            talk, &talk->client, &error);
    if (rc != FL_OK) {
        fail(talk, rc, fl_span_of(error.text), (fl_span){0});
        fl_signals_close(talk->signals);
        return;
    }
    rc = fl_roots_tell(talk->client, &talk->line->roots, &error);
    if (rc != FL_OK)
        fail(talk, rc, fl_span_of(error.text), (fl_span){0});
}

static int converse(const fl_call_line *line)
{
    conversation talk = {.line = line, .exit = FL_EXIT_LOCAL};
    fl_log *log = fl_log_new(&(fl_log_options){.level = line->log_level});

    talk.show = fl_show_new(line->json);
    talk.progress.term = talk.show.err;
    talk.progress.lines = line->progress;
    talk.answerer = (fl_answerer){
        .term = talk.show.err,
        .in = STDIN_FILENO,
        .accept_defaults = line->accept_defaults,
        .decline = line->decline,
        .answers = line->answers.count > 0 ? line->answers.items : NULL,
    };
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
    fl_auth_free(talk.auth);
    fl_loop_free(talk.loop);
    fl_log_free(log);
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
