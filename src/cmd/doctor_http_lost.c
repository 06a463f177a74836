/*
 * doctor_http_lost.c - the address is not that of an endpoint: which one is?
 *
 * The usual places are tried: /mcp and its like for Streamable HTTP, /sse for
 * the transport of 2024.
 */
#include "cmd/doctor_http.h"

#include "base/span.h"
#include "wire/http.h"

#include <stdio.h>
#include <string.h>

enum { ADVICE = 2 * FL_EXAM_URL + 256, SHORT_MS = 3000 };

static const char *web_scheme(const fl_exam *exam)
{
    return fl_address_is_tls(&exam->address) ? "https" : "http";
}

/* Whether an endpoint is at that path; `url` is where. A closed door will
 * do. */
static bool is_endpoint(fl_exam *exam, const char *path, char url[FL_EXAM_URL])
{
    fl_probe probe;

    fl_exam_url(exam, web_scheme(exam), path, url);
    fl_exam_post_hello(&probe, exam, url);
    bool is = fl_exam_is_mcp(&probe) || probe.status == 401;
    fl_probe_deinit(&probe);
    return is;
}

static bool find_endpoint(fl_exam *exam, char url[FL_EXAM_URL])
{
    static const char *const places[] = {"/mcp", "/mcp/", "/", "/api/mcp",
                                         "/message"};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i], exam->address.target) != 0 &&
            fl_exam_goes_on(exam) && is_endpoint(exam, places[i], url))
            return true;
    return false;
}

bool fl_exam_has_sse(fl_exam *exam, const char *url)
{
    fl_probe probe;

    fl_probe_make(
        &probe, exam,
        &(fl_probe_request){
            .method = "GET",
            .url = fl_span_of(url),
            .fields = {FL_FIELD_SET(ACCEPT, FL_SPAN("text/event-stream"))},
            .stream = true,
            .for_ms = exam->step_ms < SHORT_MS ? exam->step_ms : SHORT_MS});
    fl_span body = fl_buf_view(&probe.body);
    bool has = probe.status == 200 &&
               fl_probe_is(&probe, "text/event-stream") && body.len > 0 &&
               memmem(body.ptr, body.len, "endpoint", 8) != NULL;
    fl_probe_deinit(&probe);
    return has;
}

static bool find_sse(fl_exam *exam, char url[FL_EXAM_URL])
{
    static const char *const places[] = {NULL, "/sse", "/mcp/sse"};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (fl_exam_goes_on(exam) &&
            fl_exam_has_sse(
                exam, fl_exam_url(exam, web_scheme(exam), places[i], url)))
            return true;
    return false;
}

void fl_exam_http_lost(fl_exam *exam, const fl_probe *probe)
{
    const char *what = fl_probe_is(probe, "text/html") ? ", and a page for "
                                                         "people"
                                                       : "";
    char other[FL_EXAM_URL], room[FL_EXAM_URL], advice[ADVICE];

    if (find_endpoint(exam, other)) {
        snprintf(advice, sizeof advice, "The endpoint is elsewhere: use %s.",
                 fl_exam_tell(exam, other, room));
    } else if (find_sse(exam, other)) {
        other[strcspn(other, "?")] = '\0'; /* a token may follow */
        const char *told = fl_exam_tell(exam, other, room);
        snprintf(advice, sizeof advice,
                 "It speaks the HTTP+SSE of 2024-11-05: use sse+%s with "
                 "fairlead, and %s in clients that know it. 'fairlead serve' "
                 "makes a modern one of it.",
                 told, told);
    } else {
        snprintf(advice, sizeof advice,
                 "Which path has the server? Neither /mcp nor /sse nor / is "
                 "one; its documentation, or its log, names it.");
    }
    fl_chart_find(exam->chart, FL_CHART_FAULT, "http.path", advice,
                  "there is no MCP endpoint: a POST is answered with %u %s%s",
                  probe->status, fl_http_reason(probe->status), what);
}
