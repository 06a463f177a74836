/*
 * doctor_child.c - is a command a server on stdio, and does it behave?
 *
 *   start -> initialize -> first answer -> end of stdin -> it leaves
 *
 * Here its stdout is read as it is, line by line, before anything that would
 * skip what is no message; what it says in the protocol is looked at later,
 * over links, on other processes of it.
 */
#include "cmd/exam.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/child.h"
#include "rpc/msg.h"
#include "transport/environ.h"
#include "transport/last_words.h"
#include "wire/lines.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

enum {
    LINE_MAX_BYTES = 4 * 1024 * 1024,
    STOP_GRACE_MS = 3000,
    KILL_GRACE_MS = 1000,
    SLOW_MS = 5000, /* to the first answer */
    ADVICE = 512,
};

typedef struct visit {
    fl_exam *exam;
    fl_child *child;
    fl_stream *stream;
    fl_lines lines, errors;
    fl_last_words words; /* of its stderr */
    fl_child_exit how;
    char noise[FL_CHART_QUOTE]; /* the first line that is no message */
    unsigned noises;
    bool answered, exited, settled; /* the last: either of them */
    bool child_closed, stream_closed;
} visit;

static void take_line(visit *at, fl_span line)
{
    fl_msg_fault fault;
    fl_msg msg;

    if (fl_msg_read(line, &msg, &fault) == FL_OK) {
        if (msg.kind == FL_MSG_RESULT || msg.kind == FL_MSG_ERROR)
            at->answered = at->settled = true;
        return;
    }
    size_t blank = 0;
    while (blank < line.len && strchr(" \t\r", line.ptr[blank]) != NULL)
        blank++;
    if (blank < line.len && at->noises++ == 0)
        fl_chart_quote(line, at->noise);
}

static void on_data(void *user, fl_span bytes)
{
    visit *at = user;
    fl_status rc;
    fl_span line;

    while ((rc = fl_lines_next(&at->lines, &bytes, &line)) != FL_AGAIN)
        if (rc == FL_OK)
            take_line(at, line);
        else
            at->noises++;
}

static void on_end(void *user, const fl_error *error)
{
    visit *at = user;
    fl_span line;

    (void)error;
    if (fl_lines_finish(&at->lines, &line) == FL_OK)
        take_line(at, line);
}

static void on_stream_closed(void *user)
{
    visit *at = user;

    at->stream_closed = true;
}

static void on_stderr(void *user, fl_span bytes)
{
    visit *at = user;
    fl_status rc;
    fl_span line;

    while ((rc = fl_lines_next(&at->errors, &bytes, &line)) != FL_AGAIN)
        if (rc == FL_OK && line.len > 0)
            fl_last_words_add(&at->words, line);
}

static void on_exit(void *user, const fl_child_exit *how)
{
    visit *at = user;

    at->how = *how;
    at->exited = at->settled = true;
}

static void on_child_closed(void *user)
{
    visit *at = user;

    at->child_closed = true;
}

static const fl_stream_events stream_events = {
    .on_data = on_data, .on_end = on_end, .on_closed = on_stream_closed};

static const fl_child_events child_events = {
    .on_stderr = on_stderr, .on_exit = on_exit, .on_closed = on_child_closed};

/* What it was, for people: "exit code 3", "signal 9 (Killed)". */
static const char *name_end(const fl_child_exit *how, char out[64])
{
    if (how->signal != 0)
        snprintf(out, 64, "signal %d (%s)", how->signal,
                 strsignal(how->signal));
    else
        snprintf(out, 64, "exit code %d", how->code);
    return out;
}

static bool says(const visit *at, const char *word)
{
    fl_span text = fl_last_words_view(&at->words);

    return text.len > 0 &&
           memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

/* Names of variables that a host passes on and we do not, if there are any. */
static bool list_withheld(const fl_exam *exam, char *out, size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    if (exam->line->inherit.count > 0)
        return false;
    for (char **one = environ; *one != NULL && len + 1 < size; one++) {
        fl_span name = {*one, strcspn(*one, "=")};
        if (name.len > 40 || !fl_environ_is_secret(name))
            continue;
        int n = snprintf(out + len, size - len, "%s%.*s", len > 0 ? ", " : "",
                         (int)name.len, name.ptr);
        len += n > 0 ? (size_t)n : 0;
    }
    return len > 0;
}

static void put_last_words(const visit *at)
{
    fl_span text = fl_last_words_view(&at->words);
    char shown[FL_CHART_QUOTE];

    if (text.len == 0)
        return;
    while (text.len > 1 && text.ptr[text.len - 1] == '\n')
        text.len--;
    if (text.len > 150) /* the end of it is what matters */
        text = fl_span_from(text, text.len - 150);
    fl_chart_find(at->exam->chart, FL_CHART_NOTE, "command.stderr",
                  "Read what it says; it is the server's own account.",
                  "its last words on stderr: %s", fl_chart_quote(text, shown));
}

static void advise_unstarted(const fl_exam *exam, char advice[ADVICE])
{
    const char *program = exam->line->options.child.argv[0];

    if (strchr(program, ' ') != NULL)
        snprintf(advice, ADVICE,
                 "There is no shell: write the words of the command one by "
                 "one after --, without quotes around them all.");
    else
        snprintf(advice, ADVICE,
                 "Is it installed, may it be executed, and is its directory "
                 "in PATH? A host started from a desktop has a shorter PATH "
                 "than your shell; there the whole path is the safe way.");
}

static void report_unstarted(visit *at)
{
    char advice[ADVICE];

    advise_unstarted(at->exam, advice);
    fl_chart_find(at->exam->chart, FL_CHART_FAULT, "command.start", advice,
                  "%s", at->how.failure.text);
}

static void report_early_end(visit *at)
{
    char end[64], names[200], advice[ADVICE];

    if (at->how.code == 127)
        snprintf(advice, ADVICE,
                 "127 is what a wrapper says when a command is not found: "
                 "see that what it runs is installed.");
    else if (list_withheld(at->exam, names, sizeof names))
        snprintf(advice, ADVICE,
                 "Run it by itself to see why. These variables were kept "
                 "from it, for they look like secrets: %s. --inherit-env "
                 "NAME passes one on.",
                 names);
    else
        snprintf(advice, ADVICE,
                 "Run it by itself to see why. Does it want an argument to "
                 "speak on stdin and stdout, as --stdio, or a variable "
                 "(--env NAME=VALUE)?");
    fl_chart_find(at->exam->chart, FL_CHART_FAULT, "command.early", advice,
                  "it ended before it answered, with %s",
                  name_end(&at->how, end));
    put_last_words(at);
}

static void report_silence(visit *at)
{
    bool serves = says(at, "http://") || says(at, "istening");

    fl_chart_find(
        at->exam->chart, FL_CHART_FAULT, "command.answer",
        serves ? "It seems to serve on a port: look at that, as in 'fairlead "
                 "doctor http://127.0.0.1:8080/mcp', or tell it to use stdio."
               : "Does it speak MCP on stdin and stdout? It may want an "
                 "argument for that, as --stdio; or --timeout SECONDS, if it "
                 "is downloaded first.",
        "it runs, but did not answer initialize within %g s",
        (double)at->exam->step_ms / 1e3);
    put_last_words(at);
}

static void report_noise(visit *at)
{
    bool framed = strncmp(at->noise, "Content-Length:", 15) == 0;

    if (at->noises == 0)
        fl_chart_ok(at->exam->chart, "command.stdout",
                    "writes nothing but messages to stdout");
    else
        fl_chart_find(
            at->exam->chart, FL_CHART_FAULT, "command.stdout",
            framed ? "MCP has one message on each line, without headers: it "
                     "is not framed as LSP is."
                   : "Logs belong on stderr: no print, console.log or banner "
                     "on stdout. Clients other than this one may end the "
                     "connection there.",
            "writes to stdout what is no message (%u line%s): %s", at->noises,
            at->noises == 1 ? "" : "s", at->noise);
}

static bool report_start(visit *at, uint64_t took_ms)
{
    fl_chart *chart = at->exam->chart;

    if (at->how.failure.status != FL_OK) {
        report_unstarted(at);
        return false;
    }
    if (at->noises > 0 || at->answered)
        report_noise(at);
    if (!at->answered && at->exited)
        report_early_end(at);
    else if (!at->answered)
        report_silence(at);
    else if (took_ms >= SLOW_MS)
        fl_chart_find(chart, FL_CHART_WARNING, "command.answer",
                      "Hosts give up after 30 to 60 s, on a cold day. Install "
                      "it rather than have npx or uvx fetch it; 'fairlead "
                      "serve --warm 1' has one started ahead.",
                      "the first answer took %.1f s", (double)took_ms / 1e3);
    else
        fl_chart_ok(chart, "command.answer", "starts, and answers after %u ms",
                    (unsigned)took_ms);
    return at->answered;
}

static void report_leaving(visit *at, uint64_t took_ms)
{
    fl_chart *chart = at->exam->chart;
    char end[64];

    if (at->how.told)
        fl_chart_find(chart, FL_CHART_WARNING, "command.leaving",
                      "When stdin ends the client has gone: end the process "
                      "then, or it is left behind by hosts that die.",
                      "did not leave %g s after the end of stdin; it took %s",
                      STOP_GRACE_MS / 1e3,
                      at->how.signal == SIGKILL ? "SIGKILL" : "SIGTERM");
    else if (at->how.signal != 0 || at->how.code != 0)
        fl_chart_find(chart, FL_CHART_NOTE, "command.leaving",
                      "The end of stdin is no error: exit with 0, so that "
                      "those who watch it are not alarmed.",
                      "left at the end of stdin with %s",
                      name_end(&at->how, end));
    else
        fl_chart_ok(chart, "command.leaving",
                    "leaves %u ms after the end of stdin", (unsigned)took_ms);
    if (at->how.left > 0)
        fl_chart_find(chart, FL_CHART_WARNING, "command.descendants",
                      "End and wait for what the server starts before it "
                      "exits. 'fairlead serve' and 'fairlead connect' clean "
                      "up after it; other hosts do not.",
                      "left %u process%s of its own running", at->how.left,
                      at->how.left == 1 ? "" : "es");
    else if (!at->how.told)
        fl_chart_ok(chart, "command.descendants", "leaves no process behind");
}

static void take_leave(visit *at)
{
    uint64_t began = fl_exam_clock();

    fl_stream_finish(at->stream);
    fl_child_stop(at->child);
    fl_exam_wait_closed(at->exam, &at->exited);
    report_leaving(at, fl_exam_clock() - began);
}

static fl_status spawn(visit *at, fl_error *error)
{
    const fl_child_settings *child = &at->exam->line->options.child;
    const char **envp = fl_environ_make((const char *const *)environ,
                                        child->env_inherit, child->env);
    fl_status rc = FL_E_NOMEM;

    if (envp != NULL)
        rc = fl_child_spawn(at->exam->loop,
                            &(fl_child_options){
                                .argv = child->argv,
                                .envp = envp,
                                .cwd = child->cwd,
                                .stop_grace_ms = STOP_GRACE_MS,
                                .kill_grace_ms = KILL_GRACE_MS,
                                .limits.send_timeout_ms = UINT64_MAX,
                            },
                            &child_events, at, &at->child, &at->stream, error);
    fl_mem_free(envp);
    return rc;
}

static bool say_hello(visit *at)
{
    const fl_span hello = FL_SPAN(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
        "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
        "\"clientInfo\":{\"name\":\"fairlead-doctor\",\"version\":\"1\"}}}\n");

    if (fl_stream_start(at->stream, &stream_events, at) < 0)
        return false;
    return fl_stream_write(at->stream, &hello, 1) == FL_OK;
}

static bool look(visit *at)
{
    uint64_t began = fl_exam_clock();
    bool answered = false;

    if (say_hello(at)) {
        fl_exam_wait(at->exam, &at->settled, at->exam->step_ms);
        answered = report_start(at, fl_exam_clock() - began);
    }
    if (answered && !at->exited)
        take_leave(at);
    fl_stream_close(at->stream);
    fl_child_stop(at->child);
    fl_exam_wait_closed(at->exam, &at->stream_closed);
    fl_exam_wait_closed(at->exam, &at->child_closed);
    return answered;
}

bool fl_exam_command(fl_exam *exam)
{
    visit at = {.exam = exam};
    fl_error error;
    bool answered = false;

    fl_chart_group(exam->chart, "command");
    fl_lines_init(&at.lines, FL_LINES_LF, LINE_MAX_BYTES);
    fl_lines_init(&at.errors, FL_LINES_ANY, LINE_MAX_BYTES);
    fl_last_words_init(&at.words);
    if (spawn(&at, &error) == FL_OK)
        answered = look(&at);
    else
        fl_chart_find(exam->chart, FL_CHART_FAULT, "command.start",
                      "See to memory and descriptors here (ulimit).",
                      "cannot start it: %s", error.text);
    fl_lines_deinit(&at.lines);
    fl_lines_deinit(&at.errors);
    fl_last_words_deinit(&at.words);
    exam->chart->unreachable = !answered;
    return answered;
}
