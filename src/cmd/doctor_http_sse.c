/*
 * doctor_http_sse.c - the transport of 2024-11-05: a stream, and a place to
 * post to that the stream's first event names.
 */
#include "cmd/doctor_http.h"

#include "base/span.h"
#include "wire/http.h"
#include "wire/sse.h"
#include "wire/url.h"

enum { EVENT_MAX = 64 * 1024 };

/* Whether what the event names is of the server's own origin. */
static bool is_near(const char *url, fl_span place)
{
    fl_url base, there;
    fl_buf whole;
    bool near = false;

    fl_buf_init(&whole, EVENT_MAX);
    if (fl_url_parse(fl_span_of(url), &base) == FL_OK &&
        fl_url_resolve(&base, place, &whole) == FL_OK &&
        fl_url_parse(fl_buf_view(&whole), &there) == FL_OK)
        near = fl_url_same_origin(&base, &there);
    fl_buf_reset(&whole);
    return near;
}

static bool look_at_event(fl_exam *exam, const char *url,
                          const fl_sse_event *event)
{
    char shown[FL_CHART_QUOTE];

    if (!fl_span_equal(event->type, FL_SPAN("endpoint"))) {
        fl_chart_find(exam->chart, FL_CHART_FAULT, "sse.endpoint",
                      "The first event is 'endpoint'; its data is where "
                      "clients post to.",
                      "its first event is '%s'",
                      fl_chart_quote(event->type, shown));
        return false;
    }
    if (!is_near(url, event->data)) {
        fl_chart_find(exam->chart, FL_CHART_FAULT, "sse.endpoint",
                      "Name a path, or a URL with scheme, host and port as "
                      "clients see them: behind a proxy these are the proxy's.",
                      "has clients post to another origin: %s",
                      fl_chart_quote(event->data, shown));
        return false;
    }
    fl_chart_ok(exam->chart, "sse.endpoint", "names where to post to");
    return true;
}

static bool look_at_stream(fl_exam *exam, const char *url,
                           const fl_probe *probe)
{
    fl_span body = fl_buf_view(&probe->body);
    fl_sse_event event;
    fl_sse sse;

    fl_sse_init(&sse, EVENT_MAX);
    bool came = fl_sse_next(&sse, &body, &event) == FL_OK;
    bool fit = came && look_at_event(exam, url, &event);
    if (!came)
        fl_chart_find(exam->chart, FL_CHART_FAULT, "sse.endpoint",
                      "Send the event 'endpoint' first, and at once. A proxy "
                      "may hold it back: 'proxy_buffering off' in nginx, "
                      "X-Accel-Buffering: no.",
                      "no event arrives on the stream within %g s",
                      (double)exam->step_ms / 1e3);
    fl_sse_deinit(&sse);
    return fit;
}

static void report_no_stream(fl_exam *exam, const char *url,
                             const fl_probe *probe)
{
    fl_probe hello;

    fl_exam_post_hello(&hello, exam, url);
    bool streamable = fl_exam_is_mcp(&hello);
    fl_probe_deinit(&hello);
    fl_chart_find(
        exam->chart, FL_CHART_FAULT, "sse.stream",
        streamable ? "It speaks Streamable HTTP there: leave 'sse+' "
                     "out of the address."
                   : "Its path is often /sse; newer servers have "
                     "Streamable HTTP at /mcp: leave 'sse+' out.",
        "a GET is not answered with an event stream: %u %s", probe->status,
        probe->status > 0 ? fl_http_reason(probe->status) : probe->why.text);
}

bool fl_exam_http_sse(fl_exam *exam, const char *url)
{
    bool fit = false;
    fl_probe probe;

    fl_probe_make(
        &probe, exam,
        &(fl_probe_request){
            .method = "GET",
            .url = fl_span_of(url),
            .fields = {FL_FIELD_SET(ACCEPT, FL_SPAN("text/event-stream"))},
            .stream = true});
    if (probe.status == 401 || probe.status == 403)
        fl_exam_http_auth(exam, url, &probe);
    else if (probe.status != 200 || !fl_probe_is(&probe, "text/event-stream"))
        report_no_stream(exam, url, &probe);
    else
        fit = look_at_stream(exam, url, &probe);
    fl_probe_deinit(&probe);
    if (fit)
        fl_chart_find(exam->chart, FL_CHART_NOTE, "sse.age",
                      "Newer clients drop it: 'fairlead serve' makes "
                      "Streamable HTTP of it.",
                      "this is the transport of 2024-11-05");
    return fit;
}
