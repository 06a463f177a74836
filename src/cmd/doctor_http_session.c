/*
 * doctor_http_session.c - sessions over HTTP: begun, used, ended.
 *
 * What hurts is what comes after a restart: a client that shows a session
 * which is not known any more begins anew if it is told so with 404, and with
 * nothing else.
 */
#include "cmd/doctor_http.h"

#include "base/span.h"
#include "wire/http.h"

enum { STREAM_MS = 3000, NAME_MIN = 16 };

static void look_at_name(fl_exam *exam, fl_span session)
{
    bool clean = true;

    for (size_t i = 0; i < session.len; i++)
        clean = clean && session.ptr[i] > 0x20 && session.ptr[i] < 0x7f;
    if (!clean)
        fl_chart_find(exam->chart, FL_CHART_FAULT, "http.session",
                      "Use visible ASCII (0x21 to 0x7e) only.",
                      "the session's id has letters in it that it may not");
    else if (session.len < NAME_MIN)
        fl_chart_find(exam->chart, FL_CHART_WARNING, "http.session",
                      "Use a random id of 128 bits or more, as a UUID: who "
                      "guesses it has the session.",
                      "the session's id is only %zu letters long", session.len);
    else
        fl_chart_ok(exam->chart, "http.session", "keeps a session");
}

static void tell_initialized(fl_exam *exam, const char *url, fl_span session)
{
    fl_probe probe;

    fl_exam_post(
        &probe, exam,
        &(fl_http_post){.url = url,
                        .session = session,
                        .revision = "2025-11-25",
                        .body = FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":"
                                        "\"notifications/initialized\"}")});
    if (probe.status == 202)
        fl_chart_ok(exam->chart, "http.notification",
                    "takes notifications with 202");
    else if (probe.status > 0)
        fl_chart_find(exam->chart,
                      probe.status / 100 == 2 ? FL_CHART_NOTE : FL_CHART_FAULT,
                      "http.notification",
                      "Take a notification with 202 and no body: it is not a "
                      "request, and has no answer.",
                      "answers a notification with %u, not 202", probe.status);
    else
        fl_chart_find(exam->chart, FL_CHART_FAULT, "http.notification",
                      "Answer each POST, a notification with 202.",
                      "does not answer a notification: %s", probe.why.text);
    fl_probe_deinit(&probe);
}

static void report_stream(fl_exam *exam, const fl_probe *probe, uint64_t ms)
{
    if (probe->status == 405)
        fl_chart_ok(exam->chart, "http.get",
                    "has no standing stream, and says so with 405");
    else if (probe->status == 200 && fl_probe_is(probe, "text/event-stream"))
        fl_chart_ok(exam->chart, "http.get",
                    "opens its standing stream, after %u ms",
                    (unsigned)probe->head_ms);
    else if (probe->status == 0 && probe->why.status == FL_E_TIMEOUT)
        fl_chart_find(exam->chart, FL_CHART_WARNING, "http.get",
                      "Send the head at once, before there is an event. A "
                      "proxy may hold it back: 'proxy_buffering off' in nginx, "
                      "X-Accel-Buffering: no.",
                      "nothing of the standing stream arrives within %g s",
                      (double)ms / 1e3);
    else
        fl_chart_find(exam->chart, FL_CHART_WARNING, "http.get",
                      "Answer a GET with an event stream, or with 405 if "
                      "there is none: all else makes clients try again.",
                      "a GET is answered with %u %s", probe->status,
                      probe->status > 0 ? fl_http_reason(probe->status)
                                        : probe->why.text);
}

static void look_at_stream(fl_exam *exam, const char *url, fl_span session)
{
    fl_probe_request request = {
        .method = "GET",
        .url = fl_span_of(url),
        .fields = {FL_FIELD_SET(ACCEPT, FL_SPAN("text/event-stream")),
                   FL_FIELD_SET(MCP_PROTOCOL_VERSION, FL_SPAN("2025-11-25"))},
        .stream = true,
        .for_ms = exam->step_ms < STREAM_MS ? exam->step_ms : STREAM_MS};
    fl_probe probe;

    if (session.len > 0)
        request.fields[2] = FL_FIELD_SET(MCP_SESSION_ID, session);
    fl_probe_make(&probe, exam, &request);
    report_stream(exam, &probe, request.for_ms);
    fl_probe_deinit(&probe);
}

/* A session that is not there: never was, or has ended. */
static void expect_not_found(fl_exam *exam, const char *url, fl_span session,
                             const char *which)
{
    fl_probe probe;

    fl_exam_post_ping(&probe, exam, url, session);
    if (probe.status == 404)
        fl_chart_ok(exam->chart, "http.lost-session",
                    "a session that %s is answered with 404", which);
    else
        fl_chart_find(exam->chart, FL_CHART_WARNING, "http.lost-session",
                      "Answer with 404: by that alone a client knows that it "
                      "has to begin anew, as after a restart of the server.",
                      "a session that %s is answered with %u, not 404", which,
                      probe.status);
    fl_probe_deinit(&probe);
}

static void end_session(fl_exam *exam, const char *url, fl_span session)
{
    fl_probe probe;

    fl_probe_make(
        &probe, exam,
        &(fl_probe_request){.method = "DELETE",
                            .url = fl_span_of(url),
                            .fields = {FL_FIELD_SET(MCP_SESSION_ID, session),
                                       FL_FIELD_SET(MCP_PROTOCOL_VERSION,
                                                    FL_SPAN("2025-11-25"))}});
    unsigned status = probe.status;
    fl_probe_deinit(&probe);
    if (status / 100 == 2) {
        fl_chart_ok(exam->chart, "http.delete", "ends a session at DELETE");
        expect_not_found(exam, url, session, "has been ended");
    } else if (status == 405) {
        fl_chart_find(exam->chart, FL_CHART_NOTE, "http.delete",
                      "See that sessions end by themselves when they are not "
                      "used, or they pile up.",
                      "clients may not end sessions (405)");
    } else {
        fl_chart_find(exam->chart, FL_CHART_WARNING, "http.delete",
                      "Answer DELETE with 200 or 204 and end the session, or "
                      "with 405.",
                      "a DELETE of the session is answered with %u", status);
    }
}

void fl_exam_http_session(fl_exam *exam, const char *url, const fl_probe *hello)
{
    fl_span session = fl_probe_field(hello, "mcp-session-id");

    if (session.len > 0)
        look_at_name(exam, session);
    else
        fl_chart_ok(exam->chart, "http.session", "keeps no session");
    tell_initialized(exam, url, session);
    if (fl_exam_goes_on(exam))
        look_at_stream(exam, url, session);
    if (session.len == 0 || !fl_exam_goes_on(exam))
        return;
    expect_not_found(exam, url, FL_SPAN("5f0c1c62-never-was-a-session"),
                     "never was");
    end_session(exam, url, session);
}
