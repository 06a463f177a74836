/*
 * doctor_address.c - does an address make sense, before anybody is asked?
 */
#include "cmd/exam.h"

#include "base/span.h"

#include <stdio.h>
#include <string.h>

enum { ADVICE = FL_EXAM_URL + 128 };

/* What people write when they mean one of ours. */
static const struct habit {
    const char *written;
    const char *meant;
} habits[] = {
    {"htp://", "http://"},     {"http:/", "http://"},
    {"https:/", "https://"},   {"websocket://", "ws://"},
    {"sse://", "sse+http://"}, {"file://", "unix:"},
    {"mcp://", "http://"},     {"streamable-http://", "http://"},
};

static void advise(const char *url, char out[ADVICE])
{
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        size_t len = strlen(habits[i].written);
        if (strncmp(url, habits[i].written, len) == 0 &&
            strncmp(url, habits[i].meant, strlen(habits[i].meant)) != 0) {
            snprintf(out, ADVICE, "Write it as '%s%s'.", habits[i].meant,
                     url + len + strspn(url + len, "/"));
            return;
        }
    }
    if (strstr(url, "://") == NULL && url[0] != '/' &&
        strncmp(url, "unix:", 5) != 0)
        snprintf(out, ADVICE,
                 "Give the whole address, as in 'http://%s'; a command comes "
                 "after --, as in 'fairlead doctor -- %s'.",
                 url, url);
    else
        snprintf(out, ADVICE, "'fairlead --help' lists the kinds of address.");
}

/* Secrets in the clear, on somebody else's network. */
static void look_at_secrecy(fl_exam *exam)
{
    bool local = fl_address_is_local(&exam->address);

    if (local || fl_address_is_tls(&exam->address))
        return;
    fl_chart_find(exam->chart, FL_CHART_WARNING, "address.plain",
                  "Use https:// (wss://, tls://), with a certificate; "
                  "'fairlead serve --tls-cert FILE --tls-key FILE' puts one "
                  "before any server.",
                  "what is said travels in the clear, tokens too");
}

bool fl_exam_address(fl_exam *exam)
{
    const char *url = exam->line->url;
    char shown[FL_CHART_QUOTE], advice[ADVICE];
    fl_error error;

    fl_chart_group(exam->chart, "address");
    if (strncmp(url, "stdio:", 6) == 0) {
        fl_chart_find(exam->chart, FL_CHART_FAULT, "address.form",
                      "A server on stdio is named by its command: 'fairlead "
                      "doctor -- COMMAND'.",
                      "stdio: is this program's own input and output");
        exam->chart->unreachable = true;
        return false;
    }
    if (fl_address_parse(url, &exam->address, &error) != FL_OK) {
        advise(url, advice);
        fl_chart_find(exam->chart, FL_CHART_FAULT, "address.form", advice, "%s",
                      fl_chart_quote(fl_span_of(error.text), shown));
        exam->chart->unreachable = true;
        return false;
    }
    fl_chart_ok(exam->chart, "address.form", "is well formed");
    if (exam->address.host[0] != '\0')
        look_at_secrecy(exam);
    return true;
}
