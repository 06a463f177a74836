/*
 * stdio_client.c - a link to a server that is our child process.
 *
 * The link ends when either half does: the stream (the child closed its
 * stdout, or broke) or the process. Whichever comes first, the other is
 * brought down too, and on_closed waits for both, so that after it there is
 * neither process nor descriptor left. What the child says on stderr goes to
 * the log, line by line, and never near a message; the last line is added to
 * the reason when the child fails, for that is where the reason is, and the
 * last few are there for whoever asks: the operation "stderr".
 */
#include "transport/stdio.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/child.h"
#include "io/loop.h"
#include "transport/defaults.h"
#include "transport/environ.h"
#include "transport/last_words.h"
#include "transport/line_link.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    STDERR_LINE_MAX = 8 * 1024,
    FLUSH_MS = 500, /* for a child that is slow to read our last words */
    SHOWN = 120,    /* of the last stderr line, for the reason */
};

typedef struct child_link {
    fl_line_link line;
    fl_line_settings settings;
    fl_child *child;  /* NULL once it has gone */
    bool exited;      /* which is seen before that */
    fl_timer opening; /* on_open never comes from inside a connect */
    fl_lines stderr_lines;
    fl_last_words words;
    char command[64]; /* for people */
    char label[64];   /* what the log calls it, or empty */
} child_link;

static void on_active(fl_line_link *line)
{
    fl_stream_pause(line->stream, true); /* no message comes before on_open */
    fl_timer_start(&((child_link *)line)->opening, 0);
}

static void on_opening(fl_timer *timer)
{
    child_link *link = FL_LIST_ENTRY(timer, child_link, opening);
    fl_link *self = &link->line.link;

    if (self->state != FL_LINK_ACTIVE)
        return;
    fl_stream_pause(link->line.stream, false);
    if (self->events->on_open != NULL)
        self->events->on_open(self);
}

/* Ends the link when both halves have gone. */
static void settle(child_link *link)
{
    if (link->line.stream == NULL && link->child == NULL)
        fl_line_link_end(&link->line);
}

static void on_stream_gone(fl_line_link *line)
{
    child_link *link = (child_link *)line;
    fl_error why;

    fl_timer_stop(&link->opening);
    if (!link->exited && line->why != NULL && line->why->status == FL_END) {
        fl_error_set(&why, FL_END, "'%s' closed its stdout", link->command);
        fl_line_link_blame(line, &why);
    }
    if (link->child != NULL)
        fl_child_stop(link->child);
    else
        settle(link);
}

static void free_link(fl_line_link *line)
{
    child_link *link = (child_link *)line;

    fl_lines_deinit(&link->stderr_lines);
    fl_last_words_deinit(&link->words);
    fl_mem_free(link);
}

static const fl_line_hooks client_hooks = {
    .on_active = on_active,
    .on_stream_gone = on_stream_gone,
    .free = free_link,
};

static void log_stderr(child_link *link, fl_span text)
{
    if (text.len == 0)
        return;
    fl_last_words_add(&link->words, text);
    fl_log_say(fl_loop_log(link->line.link.loop), FL_LOG_INFO, "stderr",
               link->label[0] != '\0'
                   ? fl_log_text("server", fl_span_of(link->label))
                   : fl_log_text("command", fl_span_of(link->command)),
               fl_log_text("line", text));
}

static void on_stderr(void *user, fl_span bytes)
{
    child_link *link = user;
    fl_span text;
    fl_status rc;

    while ((rc = fl_lines_next(&link->stderr_lines, &bytes, &text)) != FL_AGAIN)
        if (rc == FL_OK)
            log_stderr(link, text);
        else
            log_stderr(link, FL_SPAN("(a line too long to log)"));
    fl_lines_rest(&link->stderr_lines);
}

static void describe(const child_link *link, const fl_child_exit *how,
                     fl_error *why)
{
    fl_span line = fl_last_words_latest(&link->words);
    const char *said = line.len > 0 ? FL_LINK_LAST_SAID : "";
    int shown = (int)(line.len < SHOWN ? line.len : SHOWN);
    const char *last = line.len > 0 ? line.ptr : "";

    if (how->failure.status != FL_OK)
        *why = how->failure;
    else if (how->signal != 0)
        fl_error_set(why, FL_E_CHILD, "'%s' was ended by signal %d%s%.*s",
                     link->command, how->signal, said, shown, last);
    else if (how->code != 0)
        fl_error_set(why, FL_E_CHILD, "'%s' exited with code %d%s%.*s",
                     link->command, how->code, said, shown, last);
    else
        fl_error_set(why, FL_END, "'%s' exited", link->command);
}

/* The end of its pipes is often seen before its exit, which says more; but
 * how it died after we told it to is no news. */
static bool says_more(const child_link *link, const fl_child_exit *how)
{
    const fl_error *known = link->line.why;

    if (link->line.link.state != FL_LINK_CLOSING)
        return true;
    if (known == NULL || known->status == FL_E_CHILD)
        return false;
    if (how->failure.status != FL_OK)
        return true;
    return !how->told &&
           (how->code != 0 || how->signal != 0 || known->status == FL_END ||
            known->status == FL_E_CLOSED);
}

/* What it wrote last may still be in the pipe, so the link goes on until the
 * stream's end; that comes, for nobody holds the other side any more. */
static void on_exit_seen(void *user, const fl_child_exit *how)
{
    child_link *link = user;
    fl_span rest;
    fl_error why;

    link->exited = true;
    if (fl_lines_finish(&link->stderr_lines, &rest) == FL_OK)
        log_stderr(link, rest);
    if (!says_more(link, how))
        return;
    describe(link, how, &why);
    fl_line_link_blame(&link->line, &why);
}

static void on_child_closed(void *user)
{
    child_link *link = user;

    link->child = NULL;
    if (link->line.link.state == FL_LINK_CLOSING) {
        settle(link);
        return;
    }
    link->line.ended = true;
    fl_timer_start(&link->line.timer, link->settings.drain_ms);
}

static const fl_child_events child_events = {
    .on_stderr = on_stderr,
    .on_exit = on_exit_seen,
    .on_closed = on_child_closed,
};

static fl_status check_allowed(const fl_child_settings *child, fl_error *error)
{
    if (child->allow == NULL)
        return FL_OK;
    /* a name means what our PATH makes of it, not what the caller's would */
    bool by_path = strchr(child->argv[0], '/') != NULL;
    for (const char *const *at = child->env; at != NULL && *at != NULL; at++)
        if (!by_path && strncmp(*at, "PATH=", 5) == 0)
            return fl_error_set(error, FL_E_DENIED,
                                "option child.env: PATH may not be set for a "
                                "command that is allowed by name");
    for (const char *const *entry = child->allow; *entry != NULL; entry++)
        if (strcmp(*entry, child->argv[0]) == 0)
            return FL_OK;
    return fl_error_set(error, FL_E_DENIED,
                        "command '%s' is not in the list of allowed commands "
                        "(option child.allow)",
                        child->argv[0]);
}

static fl_status spawn(child_link *link, const fl_options *options,
                       fl_stream **stream, fl_error *error)
{
    const fl_child_settings *child = &options->child;
    const char **env = fl_environ_make((const char *const *)environ,
                                       child->env_inherit, child->env);

    if (env == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    fl_status rc =
        fl_child_spawn(link->line.link.loop,
                       &(fl_child_options){
                           .argv = child->argv,
                           .envp = env,
                           .cwd = child->cwd,
                           .set_uid = child->set_uid,
                           .set_gid = child->set_gid,
                           .uid = child->uid,
                           .gid = child->gid,
                           .max_memory_bytes = child->max_memory_bytes,
                           .max_cpu_seconds = child->max_cpu_seconds,
                           .max_files = child->max_files,
                           .stop_grace_ms = child->stop_grace_ms,
                           .kill_grace_ms = child->kill_grace_ms,
                           .limits = fl_options_limits(options),
                       },
                       &child_events, link, &link->child, stream, error);
    fl_mem_free(env);
    return rc;
}

fl_status fl_stdio_connect(fl_loop *loop, const fl_address *address,
                           const fl_options *options,
                           const fl_link_events *events, void *user,
                           fl_link **out, fl_error *error)
{
    fl_status rc = check_allowed(&options->child, error);
    fl_stream *stream = NULL;

    (void)address;
    if (rc != FL_OK)
        return rc;
    child_link *link = fl_mem_zalloc(sizeof *link);
    if (link == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    link->settings = fl_line_settings_from(options);
    link->settings.flush_ms = FLUSH_MS;
    snprintf(link->command, sizeof link->command, "%s", options->child.argv[0]);
    snprintf(link->label, sizeof link->label, "%s",
             options->label != NULL ? options->label : "");
    fl_lines_init(&link->stderr_lines, FL_LINES_ANY, STDERR_LINE_MAX);
    fl_last_words_init(&link->words);
    fl_timer_init(&link->opening, loop, on_opening);
    fl_line_link_init(&link->line, &fl_transport_stdio, loop, false,
                      &client_hooks, &link->settings);
    link->line.link.events = events;
    link->line.link.user = user;

    rc = spawn(link, options, &stream, error);
    if (rc != FL_OK) {
        fl_link_unref(&link->line.link);
        return rc;
    }
    *out = &link->line.link;
    rc = fl_link_move(&link->line.link, FL_LINK_CONNECTING);
    fl_line_link_attach(&link->line, stream);
    return rc;
}

void fl_stdio_info(const fl_link *link, fl_link_info *info)
{
    const child_link *self = (const child_link *)link;

    fl_line_link_info(link, info);
    if (!link->server)
        snprintf(info->peer, sizeof info->peer, "%s",
                 self->label[0] != '\0' ? self->label : self->command);
}

fl_status fl_stdio_operate(fl_link *link, const char *operation, fl_buf *answer)
{
    const child_link *self = (const child_link *)link;

    if (!link->server && strcmp(operation, "stderr") == 0)
        return fl_buf_append(answer, fl_last_words_view(&self->words));
    if (link->server || strcmp(operation, "pid") != 0)
        return FL_E_UNSUPPORTED;
    return self->child != NULL
               ? fl_buf_printf(answer, "%d", (int)fl_child_pid(self->child))
               : FL_E_NOT_FOUND;
}
