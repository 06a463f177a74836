/*
 * doctor_http_origin.c - could a page of somebody else's use the server?
 *
 * A browser lets any page send requests to this machine, and by DNS rebinding
 * even read the answers, unless the server looks at Origin and Host (MCP,
 * Streamable HTTP, Security). So both are sent here as such a page would.
 */
#include "cmd/doctor_http.h"

#include "base/span.h"

/* What was begun by it is ended. */
static void forget(fl_exam *exam, const char *url, const fl_probe *hello)
{
    fl_span session = fl_probe_field(hello, "mcp-session-id");
    fl_probe probe;

    if (session.len == 0)
        return;
    fl_probe_make(
        &probe, exam,
        &(fl_probe_request){.method = "DELETE",
                            .url = fl_span_of(url),
                            .fields = {FL_FIELD_SET(MCP_SESSION_ID, session)}});
    fl_probe_deinit(&probe);
}

static bool lets_in(fl_exam *exam, const char *url, fl_field origin,
                    fl_span host)
{
    fl_probe probe;

    fl_exam_post(
        &probe, exam,
        &(fl_http_post){
            .url = url,
            .more = origin,
            .host = host,
            .body = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                            "\"initialize\",\"params\":{\"protocolVersion\":"
                            "\"2025-11-25\"," FL_EXAM_CLIENT "}}")});
    bool does = fl_exam_is_mcp(&probe);
    if (does)
        forget(exam, url, &probe);
    fl_probe_deinit(&probe);
    return does;
}

void fl_exam_http_origin(fl_exam *exam, const char *url)
{
    if (!fl_address_is_local(&exam->address))
        return; /* elsewhere a page may well be welcome */
    if (lets_in(exam, url,
                FL_FIELD_SET(ORIGIN, FL_SPAN("http://attacker.example")),
                (fl_span){0}))
        fl_chart_find(exam->chart, FL_CHART_WARNING, "http.origin",
                      "Answer with 403 where Origin is not one you know: any "
                      "page in a browser here can use the server. 'fairlead "
                      "serve' before it sees to that.",
                      "takes requests of any web page (Origin)");
    else
        fl_chart_ok(exam->chart, "http.origin",
                    "refuses requests of foreign pages (Origin)");
    if (lets_in(exam, url, (fl_field){0}, FL_SPAN("attacker.example")))
        fl_chart_find(exam->chart, FL_CHART_WARNING, "http.host",
                      "Refuse a Host that is not one of the server's names: "
                      "that is how DNS rebinding gets in.",
                      "takes requests for any name (Host)");
    else
        fl_chart_ok(exam->chart, "http.host",
                    "refuses requests for foreign names (Host)");
}
