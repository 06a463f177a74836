/*
 * doctor_protocol.c - which revisions does a server speak?
 *
 * Each one is offered in a conversation of its own, for a server may be opened
 * once: on stdio that is a new process. The first conversation that comes
 * about is the one in which everything else is asked.
 */
#include "cmd/doctor_protocol.h"

#include "base/span.h"
#include "cmd/probe.h"
#include "rpc/revision.h"
#include "json/nav.h"

#include <stdio.h>
#include <string.h>

enum {
    LIST = 128,
    PATIENCE_MS = 3000, /* with a question that many do not know */
    PARAMS = 512,
};

/* What came out of it. */
typedef struct standing {
    char spoken[LIST]; /* legacy revisions, newest first */
    const char *newest;
    bool legacy, modern;
} standing;

static void add_name(char *list, const char *name)
{
    size_t len = strlen(list);

    if (strstr(list, name) == NULL)
        snprintf(list + len, LIST - len, "%s%s", len > 0 ? ", " : "", name);
}

static fl_status initialize(fl_talk *talk, const char *revision)
{
    char params[PARAMS];

    snprintf(params, sizeof params,
             "{\"protocolVersion\":\"%s\"," FL_EXAM_CLIENT "}", revision);
    return fl_talk_ask(talk, "1", "initialize", params);
}

/* Of an InitializeResult; NULL: it names none that is known. */
static const fl_revision *agreed(const fl_talk *talk)
{
    fl_span said = fl_json_get(talk->msg.result, FL_SPAN("protocolVersion"));

    return said.len > 2 && said.ptr[0] == '"'
               ? fl_revision_find((fl_span){said.ptr + 1, said.len - 2})
               : NULL;
}

static void look_at_hello(fl_exam *exam, fl_span result)
{
    fl_span info = fl_json_get(result, FL_SPAN("serverInfo"));
    fl_span name = fl_json_get(info, FL_SPAN("name"));
    fl_span version = fl_json_get(info, FL_SPAN("version"));
    fl_span offers = fl_json_get(result, FL_SPAN("capabilities"));
    char shown[FL_CHART_QUOTE], other[FL_CHART_QUOTE];

    if (fl_json_type_of(name) == FL_JSON_STRING &&
        fl_json_type_of(version) == FL_JSON_STRING)
        fl_chart_ok(exam->chart, "protocol.name", "is %s, version %s",
                    fl_chart_quote(name, shown),
                    fl_chart_quote(version, other));
    else
        fl_chart_find(exam->chart, FL_CHART_FAULT, "protocol.name",
                      "Answer initialize with serverInfo: {\"name\": ..., "
                      "\"version\": ...}, both text.",
                      "does not say its name and version");
    if (fl_json_type_of(offers) != FL_JSON_OBJECT)
        fl_chart_find(exam->chart, FL_CHART_FAULT, "protocol.capabilities",
                      "Answer initialize with capabilities, if only {}.",
                      "does not say what it offers: capabilities is no object");
}

static void report_capabilities(fl_exam *exam, fl_span capabilities)
{
    char list[FL_CHART_QUOTE] = "", name[FL_CHART_QUOTE];
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, capabilities);
    while (fl_json_walk_next(&walk, &member)) {
        size_t len = strlen(list);
        snprintf(list + len, sizeof list - len, "%s%.*s", len > 0 ? ", " : "",
                 60, fl_chart_quote(member.key, name));
    }
    if (list[0] != '\0')
        fl_chart_ok(exam->chart, "protocol.capabilities", "offers %s", list);
    else
        fl_chart_find(exam->chart, FL_CHART_NOTE, "protocol.capabilities",
                      "Declare tools, resources or prompts in capabilities, "
                      "or no client will ask for them.",
                      "offers nothing");
}

/* Offers the newest. True: a conversation has begun. */
static bool open_legacy(fl_exam *exam, fl_talk *talk, standing *found)
{
    fl_status rc = fl_talk_open(talk, exam);

    if (rc == FL_OK)
        rc = initialize(talk, "2025-11-25");
    if (rc != FL_OK)
        return false;
    const fl_revision *revision = agreed(talk);
    look_at_hello(exam, talk->msg.result);
    if (revision == NULL || !revision->legacy) {
        fl_chart_find(exam->chart, FL_CHART_FAULT, "protocol.revision",
                      "Answer initialize with protocolVersion: the one asked "
                      "for, or one of 2024-11-05, 2025-03-26, 2025-06-18 and "
                      "2025-11-25.",
                      "agrees on a revision that there is not, or on none");
        return true;
    }
    found->legacy = true;
    found->newest = revision->name;
    add_name(found->spoken, revision->name);
    return true;
}

/* Offers another one, on a connection of its own. */
static void offer(fl_exam *exam, standing *found, const fl_revision *revision)
{
    fl_talk talk;

    if (fl_talk_open(&talk, exam) == FL_OK &&
        initialize(&talk, revision->name) == FL_OK && agreed(&talk) == revision)
        add_name(found->spoken, revision->name);
    fl_talk_close(&talk);
}

/* A client newer than the server is to be met half-way. */
static void offer_unknown(fl_exam *exam)
{
    fl_talk talk;
    fl_status rc = fl_talk_open(&talk, exam);

    if (rc == FL_OK)
        rc = initialize(&talk, "2025-12-31");
    const fl_revision *revision = rc == FL_OK ? agreed(&talk) : NULL;
    if (revision != NULL)
        fl_chart_ok(exam->chart, "protocol.unknown-revision",
                    "meets a client of an unknown revision with %s",
                    revision->name);
    else
        fl_chart_find(exam->chart, FL_CHART_WARNING,
                      "protocol.unknown-revision",
                      "Answer with the newest revision the server speaks, and "
                      "let the client decide: else every newer client is shut "
                      "out.",
                      "turns a client of an unknown revision away: %s",
                      rc == FL_OK ? "it agrees to a revision that there is not"
                                  : talk.why.text);
    fl_talk_close(&talk);
}

static void offer_others(fl_exam *exam, standing *found)
{
    const fl_revision *table = fl_revision_table();
    size_t count = 0;

    while (table[count].id != FL_REVISION_UNKNOWN)
        count++;
    while (count-- > 0 && fl_exam_goes_on(exam))
        if (table[count].legacy && strcmp(table[count].name, found->newest) < 0)
            offer(exam, found, &table[count]);
    fl_chart_ok(exam->chart, "protocol.legacy", "opened by initialize: %s",
                found->spoken);
    if (fl_exam_goes_on(exam))
        offer_unknown(exam);
}

static bool supports(fl_span versions)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, versions);
    while (fl_json_walk_next(&walk, &member))
        if (fl_json_string_is(member.value, FL_SPAN("2026-07-28")))
            return true;
    return false;
}

static void report_modern(fl_exam *exam, const fl_talk *talk)
{
    bool typed =
        fl_json_string_is(fl_json_get(talk->msg.result, FL_SPAN("resultType")),
                          FL_SPAN("complete"));

    fl_chart_ok(exam->chart, "protocol.modern",
                "stateless: 2026-07-28, by server/discover");
    if (!typed)
        fl_chart_find(exam->chart, FL_CHART_FAULT, "protocol.result-type",
                      "Every result of 2026-07-28 has a resultType: "
                      "\"complete\", if that is all.",
                      "a result of 2026-07-28 has no resultType");
}

/* That it is not of the new revision is no fault; how it says so may be. */
static void report_not_modern(fl_exam *exam, const fl_talk *talk, fl_status rc)
{
    if (rc == FL_OK || rc == FL_E_REMOTE)
        fl_chart_find(exam->chart, FL_CHART_NOTE, "protocol.modern",
                      "Clients of that revision alone need 'fairlead serve' or "
                      "'fairlead connect' before it.",
                      "does not speak 2026-07-28");
    else if (rc == FL_E_TIMEOUT)
        fl_chart_find(exam->chart, FL_CHART_WARNING, "protocol.modern",
                      "Answer unknown methods with error -32601 at once, "
                      "before initialize, too: clients that find out the "
                      "revision wait here.",
                      "does not answer server/discover: %s", talk->why.text);
    else
        fl_chart_find(exam->chart, FL_CHART_WARNING, "protocol.modern",
                      "Answer unknown methods with error -32601, before "
                      "initialize, too, and go on: clients that find out the "
                      "revision begin with this.",
                      "server/discover ends the conversation: %s",
                      talk->why.text);
}

/* True: the conversation goes on in the modern era. */
static bool open_modern(fl_exam *exam, fl_talk *talk, standing *found)
{
    fl_status rc = fl_talk_open(talk, exam);

    talk->patience_ms = PATIENCE_MS;
    if (rc == FL_OK)
        rc = fl_talk_ask(talk, "1", "server/discover", "{" FL_EXAM_CLAIM "}");
    talk->patience_ms = 0;
    found->modern =
        rc == FL_OK &&
        supports(fl_json_get(talk->msg.result, FL_SPAN("supportedVersions")));
    if (found->modern)
        report_modern(exam, talk);
    else if (found->legacy)
        report_not_modern(exam, talk, rc);
    return found->modern;
}

/* The list is the conversation's own, which goes on to other answers. */
static void look_closer(fl_exam *exam, fl_talk *talk, bool modern)
{
    fl_span said = fl_json_get(talk->msg.result, FL_SPAN("capabilities"));
    fl_buf kept;

    fl_buf_init(&kept, said.len + 1);
    if (fl_buf_append(&kept, said) != FL_OK)
        return;
    report_capabilities(exam, fl_buf_view(&kept));
    if (!modern)
        fl_talk_tell(talk, "notifications/initialized");
    fl_exam_manners(exam, talk, modern);
    fl_exam_lists(exam, talk, fl_buf_view(&kept), modern);
    fl_buf_reset(&kept);
}

/* HTTP where lines were expected is the usual mistake. */
static bool speaks_http(fl_exam *exam, char url[FL_EXAM_URL])
{
    bool tls = fl_address_is_tls(&exam->address);
    bool does = false;
    fl_probe probe;

    if (exam->line->url == NULL || fl_exam_is_http(exam) ||
        fl_address_is_websocket(&exam->address))
        return false;
    fl_exam_url(exam, tls ? "https" : "http", "/mcp", url);
    fl_probe_make(&probe, exam,
                  &(fl_probe_request){.method = "GET",
                                      .url = fl_span_of(url),
                                      .for_ms = PATIENCE_MS});
    does = probe.status > 0;
    fl_probe_deinit(&probe);
    return does;
}

static void report_mute(fl_exam *exam, const fl_talk *talk)
{
    char url[FL_EXAM_URL], room[FL_EXAM_URL], advice[FL_EXAM_URL + 64];

    snprintf(advice, sizeof advice,
             "Does it speak MCP there? 'fairlead demo' "
             "is a server that does, to compare with.");
    if (speaks_http(exam, url))
        snprintf(advice, sizeof advice,
                 "It speaks HTTP there: try 'fairlead doctor %s'.",
                 fl_exam_tell(exam, url, room));
    fl_chart_find(exam->chart, FL_CHART_FAULT, "protocol.open", advice,
                  "answers neither initialize nor server/discover: %s",
                  talk->why.text);
}

bool fl_exam_protocol(fl_exam *exam)
{
    standing found = {0};
    fl_talk legacy, modern;

    fl_chart_group(exam->chart, "protocol");
    bool begun = open_legacy(exam, &legacy, &found);
    if (found.legacy)
        offer_others(exam, &found);
    bool goes_on = fl_exam_goes_on(exam);
    bool is_modern = goes_on && open_modern(exam, &modern, &found);
    if (!begun && !is_modern)
        report_mute(exam, &legacy);
    if (begun && goes_on)
        look_closer(exam, &legacy, false);
    else if (is_modern)
        look_closer(exam, &modern, true);
    if (begun && is_modern && fl_exam_goes_on(exam)) {
        fl_chart_group(exam->chart, "protocol, 2026-07-28");
        fl_exam_manners(exam, &modern, true);
    }
    fl_talk_close(&legacy);
    if (goes_on)
        fl_talk_close(&modern);
    return begun || is_modern;
}
