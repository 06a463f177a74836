/*
 * doctor_http.c - is there an MCP endpoint behind an HTTP address?
 *
 * Initialize is posted, as every client of the older revisions does, and what
 * comes back is sorted by its status: an endpoint, something else, nothing, or
 * a closed door. A server of 2026-07-28 alone refuses it, and shows that it is
 * one by the way it does.
 */
#include "cmd/doctor_http.h"

#include "base/span.h"
#include "wire/http.h"
#include "json/nav.h"

#include <stdio.h>
#include <string.h>

enum { STREAM_MS = 3000, ADVICE = FL_EXAM_URL + 160 };

void fl_exam_post(fl_probe *probe, fl_exam *exam, const fl_http_post *post)
{
    fl_probe_request request = {.method = "POST",
                                .url = fl_span_of(post->url),
                                .body = post->body,
                                .host = post->host,
                                .stream = post->stream,
                                .for_ms = post->for_ms};
    size_t count = 0;

    request.fields[count++] =
        FL_FIELD_SET(CONTENT_TYPE, FL_SPAN("application/json"));
    request.fields[count++] =
        FL_FIELD_SET(ACCEPT, FL_SPAN("application/json, text/event-stream"));
    if (post->session.len > 0)
        request.fields[count++] = FL_FIELD_SET(MCP_SESSION_ID, post->session);
    if (post->revision != NULL)
        request.fields[count++] =
            FL_FIELD_SET(MCP_PROTOCOL_VERSION, fl_span_of(post->revision));
    if (post->rpc_method != NULL)
        request.fields[count++] =
            FL_FIELD_SET(MCP_METHOD, fl_span_of(post->rpc_method));
    if (post->more.name.len > 0)
        request.fields[count++] = post->more;
    fl_probe_make(probe, exam, &request);
}

void fl_exam_post_hello(fl_probe *probe, fl_exam *exam, const char *url)
{
    fl_exam_post(
        probe, exam,
        &(fl_http_post){
            .url = url,
            .body = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                            "\"initialize\",\"params\":{\"protocolVersion\":"
                            "\"2025-11-25\"," FL_EXAM_CLIENT "}}")});
}

void fl_exam_post_ping(fl_probe *probe, fl_exam *exam, const char *url,
                       fl_span session)
{
    fl_exam_post(probe, exam,
                 &(fl_http_post){.url = url,
                                 .session = session,
                                 .revision = "2025-11-25",
                                 .body = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"
                                                 "2,\"method\":\"ping\"}")});
}

bool fl_exam_is_mcp(const fl_probe *probe)
{
    return probe->status / 100 == 2 &&
           (fl_probe_is(probe, "application/json") ||
            fl_probe_is(probe, "text/event-stream"));
}

static void ask_modern(fl_probe *probe, fl_exam *exam, const char *url)
{
    fl_exam_post(probe, exam,
                 &(fl_http_post){
                     .url = url,
                     .revision = "2026-07-28",
                     .rpc_method = "server/discover",
                     .body = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                                     "\"server/discover\","
                                     "\"params\":{" FL_EXAM_CLAIM "}}")});
}

/* A listen is acknowledged at once, so its stream shows whether what is said
 * gets through while it is said. */
static void look_at_listen(fl_exam *exam, const char *url)
{
    uint64_t ms = exam->step_ms < STREAM_MS ? exam->step_ms : STREAM_MS;
    fl_probe probe;

    fl_exam_post(&probe, exam,
                 &(fl_http_post){
                     .url = url,
                     .revision = "2026-07-28",
                     .rpc_method = "subscriptions/listen",
                     .stream = true,
                     .for_ms = ms,
                     .body = FL_SPAN(
                         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":"
                         "\"subscriptions/listen\",\"params\":{" FL_EXAM_CLAIM
                         ",\"notifications\":{\"toolsListChanged\":true}}}")});
    if (fl_buf_len(&probe.body) > 0 && fl_probe_is(&probe, "text/event-stream"))
        fl_chart_ok(exam->chart, "http.stream",
                    "streams arrive as they are written, after %u ms",
                    (unsigned)probe.body_ms);
    else if (probe.status == 0 || fl_probe_is(&probe, "text/event-stream"))
        fl_chart_find(exam->chart, FL_CHART_WARNING, "http.stream",
                      "Something before the server may hold streams back: "
                      "'proxy_buffering off' in nginx, X-Accel-Buffering: no, "
                      "Cache-Control: no-transform, and no compression.",
                      "nothing of a stream arrives within %g s",
                      (double)ms / 1e3);
    fl_probe_deinit(&probe);
}

static void report_status(fl_exam *exam, const fl_probe *probe,
                          const char *advice)
{
    char shown[FL_CHART_QUOTE];

    fl_chart_find(exam->chart, FL_CHART_FAULT, "http.status", advice,
                  "answers %u %s: %s", probe->status,
                  fl_http_reason(probe->status),
                  fl_chart_quote(fl_buf_view(&probe->body), shown));
}

static bool says(const fl_probe *probe, const char *word)
{
    fl_span body = fl_buf_view(&probe->body);

    return body.len > 0 &&
           memmem(body.ptr, body.len, word, strlen(word)) != NULL;
}

static void report_redirect(fl_exam *exam, const fl_probe *probe)
{
    fl_span to = fl_probe_field(probe, "location");
    char shown[FL_CHART_QUOTE], advice[ADVICE];

    snprintf(advice, sizeof advice,
             "Give clients that address: most do not follow a POST, and none "
             "should take its token there. A slash at the end is often all.");
    fl_chart_find(exam->chart, FL_CHART_FAULT, "http.redirect", advice,
                  "leads elsewhere, with %u: %s", probe->status,
                  fl_chart_quote(to, shown));
}

/* Neither endpoint nor path: what the status says. */
static void report_refusal(fl_exam *exam, const fl_probe *probe)
{
    char other[FL_EXAM_URL], advice[ADVICE];

    switch (probe->status) {
    case 426:
        if (fl_address_socket(&exam->address) != NULL) {
            report_status(exam, probe,
                          "It wants a WebSocket, which is not spoken through a "
                          "Unix socket here: let it listen on a port.");
            break;
        }
        fl_exam_url(exam, fl_address_is_tls(&exam->address) ? "wss" : "ws",
                    NULL, other);
        snprintf(advice, sizeof advice,
                 "It wants a WebSocket: try 'fairlead doctor %.*s'.",
                 (int)strcspn(other, "?"), other);
        report_status(exam, probe, advice);
        break;
    case 400:
        report_status(exam, probe,
                      says(probe, "HTTPS") || says(probe, "https")
                          ? "It speaks TLS there: use https://."
                          : "It does not take an initialize of 2025-11-25, "
                            "nor one of 2026-07-28: read what it says. A "
                            "server of older make may want an id of its own "
                            "in the address.");
        break;
    case 406:
    case 415:
        report_status(exam, probe,
                      "Clients post application/json, and accept that and "
                      "text/event-stream: take both.");
        break;
    case 404:
    case 405:
    case 501:
        fl_exam_http_lost(exam, probe);
        break;
    default:
        report_status(exam, probe,
                      probe->status >= 500
                          ? "Look into the server's log, and that of the "
                            "proxy before it."
                          : "Read what it says; is there a gate before the "
                            "server?");
        break;
    }
}

static void report_media(fl_exam *exam, const fl_probe *probe)
{
    fl_span type = fl_probe_field(probe, "content-type");
    char shown[FL_CHART_QUOTE];

    if (fl_probe_is(probe, "text/html")) {
        fl_exam_http_lost(exam, probe);
        return;
    }
    fl_chart_find(exam->chart, FL_CHART_FAULT, "http.media",
                  "Answer a request with Content-Type: application/json, or "
                  "text/event-stream.",
                  type.len > 0 ? "answers initialize with Content-Type %s"
                               : "answers initialize without a Content-Type%s",
                  fl_chart_quote(type, shown));
}

static void look_at_packing(fl_exam *exam, const fl_probe *probe)
{
    fl_span coding = fl_probe_field(probe, "content-encoding");
    char shown[FL_CHART_QUOTE];

    if (coding.len == 0 || fl_span_equal(coding, FL_SPAN("identity")))
        return;
    fl_chart_find(exam->chart, FL_CHART_FAULT, "http.encoding",
                  "Pack only what was asked for with Accept-Encoding, and no "
                  "event streams: packing holds them back.",
                  "the answer is packed (%s), which was not asked for",
                  fl_chart_quote(coding, shown));
}

static void report_silence(fl_exam *exam, const fl_probe *probe)
{
    fl_chart_find(exam->chart, FL_CHART_FAULT, "http.answer",
                  probe->why.status == FL_E_TIMEOUT
                      ? "The server takes requests but does not answer: look "
                        "into its log. --timeout SECONDS waits longer."
                      : "Does it speak HTTP there, and without TLS? Compare "
                        "http:// with https:// and tcp://.",
                  "no answer to initialize: %s", probe->why.text);
}

/* It does not know initialize. True: it is of the modern era. */
static bool look_at_modern(fl_exam *exam, const char *url)
{
    fl_probe probe;

    ask_modern(&probe, exam, url);
    bool is_modern = fl_exam_is_mcp(&probe) && says(&probe, "2026-07-28");
    fl_probe_deinit(&probe);
    return is_modern;
}

static void look_at_endpoint(fl_exam *exam, const char *url,
                             const fl_probe *hello)
{
    fl_chart_ok(
        exam->chart, "http.answer", "answers initialize with %s, after %u ms",
        fl_probe_is(hello, "application/json") ? "JSON" : "an event stream",
        (unsigned)hello->head_ms);
    look_at_packing(exam, hello);
    if (fl_exam_goes_on(exam))
        fl_exam_http_session(exam, url, hello);
    if (fl_exam_goes_on(exam) && look_at_modern(exam, url))
        look_at_listen(exam, url);
    if (fl_exam_goes_on(exam))
        fl_exam_http_origin(exam, url);
}

static bool look_at_modern_alone(fl_exam *exam, const char *url)
{
    if (!look_at_modern(exam, url))
        return false;
    fl_chart_ok(exam->chart, "http.answer",
                "answers server/discover of 2026-07-28");
    look_at_listen(exam, url);
    fl_exam_http_origin(exam, url);
    return true;
}

/* True: there is an endpoint to talk to. */
static bool sort(fl_exam *exam, const char *url, const fl_probe *hello)
{
    if (fl_exam_is_mcp(hello)) {
        look_at_endpoint(exam, url, hello);
        return true;
    }
    if (hello->status == 401 || hello->status == 403)
        fl_exam_http_auth(exam, url, hello);
    else if (hello->status == 0)
        report_silence(exam, hello);
    else if (hello->status / 100 == 3)
        report_redirect(exam, hello);
    else if (hello->status / 100 == 2)
        report_media(exam, hello);
    else if (look_at_modern_alone(exam, url))
        return true;
    else
        report_refusal(exam, hello);
    return false;
}

bool fl_exam_http(fl_exam *exam)
{
    const char *scheme = exam->address.scheme;
    bool sse = strncmp(scheme, "sse+", 4) == 0;
    char url[FL_EXAM_URL];
    fl_probe hello;

    fl_chart_group(exam->chart, "HTTP");
    fl_exam_url(exam, scheme + (sse ? 4 : 0), NULL, url);
    if (sse)
        return fl_exam_http_sse(exam, url);
    fl_exam_post_hello(&hello, exam, url);
    bool fit = sort(exam, url, &hello);
    fl_probe_deinit(&hello);
    return fit;
}
