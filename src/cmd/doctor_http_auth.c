/*
 * doctor_http_auth.c - the door is closed: can a client find the key?
 *
 * MCP, Authorization: a 401 names the metadata of the resource, those name its
 * authorization servers, and those their endpoints. Each step is taken as a
 * client takes it, up to the point where a user would be asked.
 */
#include "cmd/doctor_http.h"

#include "auth/challenge.h"
#include "auth/discover.h"
#include "base/span.h"
#include "transport/http_fetch.h"

#include <stdio.h>

enum { URL_MAX = 8 * 1024 };

/* One document of JSON, if there is one and it may be asked for. */
static bool fetch(fl_exam *exam, fl_span url, fl_probe *probe)
{
    fl_error error;

    *probe = (fl_probe){0};
    if (fl_fetch_check(url, FL_FETCH_LOOPBACK, &error) != FL_OK)
        return false;
    fl_probe_make(probe, exam,
                  &(fl_probe_request){.method = "GET",
                                      .url = url,
                                      .fields = {FL_FIELD_SET(
                                          ACCEPT, FL_SPAN("application/json"))},
                                      .bare = true});
    return probe->status == 200 &&
           fl_json_type_of(fl_buf_view(&probe->body)) == FL_JSON_OBJECT;
}

/* Looks at the places where an authorization server's metadata may be. */
static void look_at_issuer(fl_exam *exam, const char *issuer)
{
    char shown[FL_CHART_QUOTE];
    bool found = false;
    fl_buf url;

    fl_buf_init(&url, URL_MAX);
    for (unsigned step = 0; !found && fl_exam_goes_on(exam); step++) {
        fl_probe probe;
        fl_buf_clear(&url);
        if (fl_discover_as(fl_span_of(issuer), step, &url) != FL_OK)
            break;
        found = fetch(exam, fl_buf_view(&url), &probe);
        fl_probe_deinit(&probe);
    }
    fl_buf_reset(&url);
    if (found)
        fl_chart_ok(exam->chart, "auth.server",
                    "its authorization server is %s, and describes itself",
                    fl_chart_quote(fl_span_of(issuer), shown));
    else
        fl_chart_find(exam->chart, FL_CHART_FAULT, "auth.server",
                      "It has to serve /.well-known/oauth-authorization-server "
                      "(RFC 8414) or openid-configuration, over https.",
                      "its authorization server %s does not describe itself",
                      fl_chart_quote(fl_span_of(issuer), shown));
}

static void look_at_resource(fl_exam *exam, const char *url,
                             const fl_probe *probe)
{
    char shown[FL_CHART_QUOTE];
    fl_prm prm;

    if (fl_prm_read(fl_buf_view(&probe->body), &prm) != FL_OK)
        return;
    fl_span resource = fl_span_of(prm.resource);
    if (!fl_discover_resource_fits(resource, fl_span_of(url)))
        fl_chart_find(exam->chart, FL_CHART_FAULT, "auth.resource",
                      "'resource' has to be the server's own address, as "
                      "clients use it: the same origin, and its path.",
                      "its metadata are of another resource: %s",
                      fl_chart_quote(resource, shown));
    if (prm.count == 0)
        fl_chart_find(exam->chart, FL_CHART_FAULT, "auth.metadata",
                      "Name at least one in authorization_servers.",
                      "its metadata name no authorization server");
    else
        look_at_issuer(exam, prm.issuers[0]);
    fl_prm_deinit(&prm);
}

/* Where a client looks: the named place, or else the well-known ones. */
static bool find_metadata(fl_exam *exam, const char *url, const char *named,
                          fl_probe *probe)
{
    bool found = false;
    fl_buf place;

    *probe = (fl_probe){0};
    if (named != NULL)
        return fetch(exam, fl_span_of(named), probe);
    fl_buf_init(&place, URL_MAX);
    for (unsigned step = 0; !found && fl_exam_goes_on(exam); step++) {
        fl_probe_deinit(probe);
        fl_buf_clear(&place);
        if (fl_discover_prm(fl_span_of(url), step, &place) != FL_OK)
            break;
        found = fetch(exam, fl_buf_view(&place), probe);
    }
    fl_buf_reset(&place);
    return found;
}

static void look_at_metadata(fl_exam *exam, const char *url, const char *named)
{
    char shown[FL_CHART_QUOTE];
    fl_probe probe;

    if (find_metadata(exam, url, named, &probe)) {
        fl_chart_ok(exam->chart, "auth.metadata",
                    "describes itself as a protected resource (RFC 9728)");
        look_at_resource(exam, url, &probe);
    } else {
        fl_chart_find(
            exam->chart, FL_CHART_FAULT, "auth.metadata",
            "Serve them as JSON at /.well-known/oauth-protected-resource with "
            "the server's path after it, without authorization, and name that "
            "in WWW-Authenticate.",
            named != NULL ? "there are no metadata at the place it names: %s"
                          : "it has no metadata by which to find out how to "
                            "be let in%s",
            named != NULL ? fl_chart_quote(fl_span_of(named), shown) : "");
    }
    fl_probe_deinit(&probe);
}

static void report_closed(fl_exam *exam, const fl_probe *probe,
                          const fl_challenge *challenge)
{
    bool shown = exam->line->headers.list.count > 0;
    char why[FL_CHART_QUOTE];
    const char *said = challenge->description != NULL ? challenge->description
                                                      : challenge->error;

    fl_chart_find(
        exam->chart, FL_CHART_FAULT, "auth.closed",
        shown ? "What --header shows is not what it wants: a token that is "
                "for this server, has not expired, and has the scopes."
              : "Show who you are: --header-file FILE with 'Authorization: "
                "Bearer ...'; 'fairlead call --auth code' gets a token.",
        "is not open to all: %u%s%s", probe->status, said != NULL ? ", " : "",
        said != NULL ? fl_chart_quote(fl_span_of(said), why) : "");
}

void fl_exam_http_auth(fl_exam *exam, const char *url, const fl_probe *probe)
{
    fl_span field = fl_probe_field(probe, "www-authenticate");
    fl_challenge challenge;

    if (fl_challenge_read(field, &challenge) != FL_OK)
        return;
    report_closed(exam, probe, &challenge);
    if (probe->status == 401 && field.len == 0)
        fl_chart_find(exam->chart, FL_CHART_FAULT, "auth.challenge",
                      "Say it with 401: WWW-Authenticate: Bearer "
                      "resource_metadata=\"https://.../.well-known/"
                      "oauth-protected-resource/...\".",
                      "a 401 without WWW-Authenticate tells clients nothing");
    else if (probe->status == 401 && challenge.metadata == NULL)
        fl_chart_find(exam->chart, FL_CHART_WARNING, "auth.challenge",
                      "Add resource_metadata=\"URL\" to it: clients find the "
                      "metadata by that.",
                      "WWW-Authenticate does not name its metadata");
    else if (probe->status == 401)
        fl_chart_ok(exam->chart, "auth.challenge",
                    "WWW-Authenticate names its metadata");
    if (probe->status == 401 && fl_exam_goes_on(exam))
        look_at_metadata(exam, url, challenge.metadata);
    fl_challenge_deinit(&challenge);
}
