/*
 * doctor_child_report.c - what was seen of a command, in words.
 */
#include "cmd/doctor_child.h"

#include "base/span.h"
#include "transport/environ.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOW_MS = 5000, /* to the first answer */
    ADVICE = 512,
};

/* What it was, for people: "exit code 3", "signal 9 (Killed)". */
static const char *name_end(const fl_child_exit *how, char out[64])
{
    const char *words = sigdescr_np(how->signal);

    if (how->signal != 0 && words != NULL)
        snprintf(out, 64, "signal %d (%s)", how->signal, words);
    else if (how->signal != 0)
        snprintf(out, 64, "signal %d", how->signal);
    else
        snprintf(out, 64, "exit code %d", how->code);
    return out;
}

static bool says(const fl_visit *at, const char *word)
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

static void put_last_words(const fl_visit *at)
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

static void report_unstarted(fl_visit *at)
{
    char advice[ADVICE];

    advise_unstarted(at->exam, advice);
    fl_chart_find(at->exam->chart, FL_CHART_FAULT, "command.start", advice,
                  "%s", at->how.failure.text);
}

static void report_early_end(fl_visit *at)
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

static void report_silence(fl_visit *at)
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

static void report_noise(fl_visit *at)
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

bool fl_visit_report_start(fl_visit *at, uint64_t took_ms)
{
    fl_chart *chart = at->exam->chart;

    if (at->how.failure.status != FL_OK) {
        report_unstarted(at);
        return false;
    }
    if (at->exam->interrupted && !at->answered)
        return false; /* it may have been about to */
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

void fl_visit_report_leaving(fl_visit *at, uint64_t took_ms)
{
    fl_chart *chart = at->exam->chart;
    char end[64];

    if (at->how.told)
        fl_chart_find(chart, FL_CHART_WARNING, "command.leaving",
                      "When stdin ends the client has gone: end the process "
                      "then, or it is left behind by hosts that die.",
                      "did not leave %g s after the end of stdin; it took %s",
                      FL_VISIT_GRACE_MS / 1e3,
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
