/*
 * doctor.c - "fairlead doctor": what is wrong with a server, and what to do.
 *
 *   a command:  start it, have it leave          \
 *   an address: its form, a connection, TLS,      > then the protocol
 *               what HTTP or WebSocket say       /
 *
 * Each group is looked at only if the one before it leaves something to look
 * at. Nothing is called, written or subscribed to: a look must not change the
 * server.
 */
#include "cmd/doctor.h"

#include "base/log.h"
#include "base/span.h"
#include "cmd/complain.h"
#include "cmd/exam.h"
#include "cmd/exits.h"
#include "cmd/help.h"
#include "io/loop.h"
#include "io/signals.h"

#include <string.h>

enum { TARGET = 512, PROBES = 12 /* that may each take as long as they may */ };

static void on_signal(void *user)
{
    fl_exam *exam = user;

    exam->interrupted = true;
}

/* For the first line: the address, or the words of the command. */
static void name_target(const fl_doctor_line *line, char out[TARGET])
{
    char shown[FL_CHART_QUOTE];
    size_t len = 0;

    if (line->url != NULL) { /* a query may hold a token */
        fl_span url = {line->url, strcspn(line->url, "?")};
        snprintf(out, TARGET, "%s%s", fl_chart_quote(url, shown),
                 line->url[url.len] != '\0' ? "?..." : "");
        return;
    }
    for (size_t i = 0; line->options.child.argv[i] != NULL && len + 1 < TARGET;
         i++) {
        int n = snprintf(
            out + len, TARGET - len, "%s%s", i > 0 ? " " : "",
            fl_chart_quote(fl_span_of(line->options.child.argv[i]), shown));
        len += n > 0 ? (size_t)n : 0;
    }
}

static bool make_tls(fl_exam *exam)
{
    const fl_tls_settings *tls = &exam->line->options.tls;
    fl_error error;

    fl_status rc = fl_tls_new_client(
        &(fl_tls_options){.cert_file = tls->cert_file,
                          .key_file = tls->key_file,
                          .ca_file = tls->ca_file,
                          .insecure_skip_verify = tls->insecure_skip_verify},
        &exam->tls, &error);
    if (rc == FL_OK)
        return true;
    fl_chart_find(exam->chart, FL_CHART_FAULT, "tls.files",
                  "Check the file that is named, and that it is PEM.", "%s",
                  error.text);
    exam->chart->unreachable = true;
    return false;
}

static bool look_at_address(fl_exam *exam)
{
    if (!fl_exam_address(exam) || !make_tls(exam) ||
        !fl_exam_connection(exam) || !fl_exam_goes_on(exam))
        return false;
    if (fl_exam_is_http(exam))
        return fl_exam_http(exam);
    if (fl_address_is_websocket(&exam->address))
        return fl_exam_websocket(exam);
    return true;
}

static void look(fl_exam *exam)
{
    bool fit =
        exam->line->url != NULL ? look_at_address(exam) : fl_exam_command(exam);

    if (fit && fl_exam_goes_on(exam))
        fl_exam_protocol(exam);
    if (!exam->interrupted && !fl_exam_goes_on(exam)) {
        fl_chart_group(exam->chart, "time");
        fl_chart_find(exam->chart, FL_CHART_NOTE, "time.up",
                      "--timeout SECONDS gives each question more of it.",
                      "it took so long that not all was looked at");
    }
}

static int exit_of(const fl_exam *exam)
{
    if (exam->interrupted)
        return FL_EXIT_INTERRUPTED;
    if (exam->chart->unreachable)
        return FL_EXIT_CONNECTION;
    return exam->chart->counts[FL_CHART_FAULT] > 0 ? FL_EXIT_LOCAL : FL_EXIT_OK;
}

/* The log is for those who run servers; here every word of it is a finding. */
static int examine(const fl_doctor_line *line)
{
    char target[TARGET] = "";
    fl_chart chart;
    fl_exam exam = {.line = line,
                    .chart = &chart,
                    .step_ms = line->timeout_ms,
                    .until = fl_exam_clock() + PROBES * line->timeout_ms};
    int code = FL_EXIT_LOCAL;

    name_target(line, target);
    fl_chart_init(&chart, line->json, target);
    exam.loop = fl_loop_new();
    fl_signals *signals = exam.loop != NULL
                              ? fl_signals_watch(exam.loop, on_signal, &exam)
                              : NULL;
    if (signals != NULL) {
        look(&exam);
        code = exit_of(&exam);
        fl_signals_close(signals);
        fl_loop_run(exam.loop);
        if (!fl_chart_end(&chart))
            code = FL_EXIT_LOCAL;
    } else {
        fl_complain("doctor", "out of memory or descriptors");
    }
    fl_tls_unref(exam.tls);
    fl_loop_free(exam.loop);
    fl_chart_deinit(&chart);
    return code;
}

int fl_doctor_command(char **argv)
{
    fl_doctor_line line;
    fl_error error;
    int code = FL_EXIT_OK;

    if (fl_doctor_line_parse(argv, &line, &error) != FL_OK)
        code = fl_complain_usage("doctor", &error);
    else if (line.help)
        fl_help_doctor(stdout);
    else
        code = examine(&line);
    fl_doctor_line_deinit(&line);
    return code;
}
