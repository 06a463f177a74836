/*
 * doctor_ws.c - is there a WebSocket at a ws:// address?
 *
 * If not, it is most often because the server speaks MCP over plain HTTP
 * there, or has its sockets at another path: both are tried.
 */
#include "cmd/doctor_http.h"

#include "base/span.h"

#include <stdio.h>
#include <string.h>

enum { ADVICE = FL_EXAM_URL + 128 };

static bool find_socket(fl_exam *exam, char url[FL_EXAM_URL])
{
    static const char *const places[] = {"/mcp", "/ws", "/", "/message"};
    bool found = false;

    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
        fl_talk talk;
        if (strcmp(places[i], exam->address.target) == 0 ||
            !fl_exam_goes_on(exam))
            continue;
        fl_exam_url(exam, exam->address.scheme, places[i], url);
        found = fl_talk_open_at(&talk, exam, url) == FL_OK;
        fl_talk_close(&talk);
    }
    return found;
}

static bool is_streamable(fl_exam *exam, char url[FL_EXAM_URL])
{
    bool tls = fl_address_is_tls(&exam->address);
    fl_probe probe;

    fl_exam_url(exam, tls ? "https" : "http", NULL, url);
    fl_exam_post_hello(&probe, exam, url);
    bool is = fl_exam_is_mcp(&probe) || probe.status == 401;
    fl_probe_deinit(&probe);
    return is;
}

static void report_refused(fl_exam *exam, const fl_error *why)
{
    char url[FL_EXAM_URL], advice[ADVICE];

    if (is_streamable(exam, url))
        snprintf(advice, sizeof advice,
                 "It speaks Streamable HTTP there: use %.*s.",
                 (int)strcspn(url, "?"), url); /* a token may follow */
    else if (find_socket(exam, url))
        snprintf(advice, sizeof advice, "It takes sockets elsewhere: use %s.",
                 url);
    else
        snprintf(advice, sizeof advice,
                 "Does the server take WebSockets, and at that path? A proxy "
                 "before it has to pass Upgrade and Connection on.");
    fl_chart_find(exam->chart, FL_CHART_FAULT, "websocket.open", advice,
                  "does not become a WebSocket: %s", why->text);
}

bool fl_exam_websocket(fl_exam *exam)
{
    fl_talk talk;

    fl_chart_group(exam->chart, "WebSocket");
    bool open = fl_talk_open(&talk, exam) == FL_OK;
    if (open)
        fl_chart_ok(exam->chart, "websocket.open", "becomes a WebSocket");
    else
        report_refused(exam, &talk.why);
    fl_talk_close(&talk);
    return open;
}
