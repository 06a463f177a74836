/*
 * test_ladder.c - what a request of the modern era must get past, rung by
 * rung and in this order; and the arguments that header fields repeat.
 */
#include "fake_door.h"
#include "modern.h"

#include "server/ladder.h"
#include "server/mirror.h"
#include "support/ration.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static server_host host;
static fake_door door;

#define MISMATCH(id, what, data)                                               \
    ERROR_ANSWER(id, "-32020",                                                 \
                 "\"Header mismatch: " what "\",\"data\":{" data "}")

/* A request that gets to its method, unless a test spoils it. */
static void begin(void)
{
    fake_begin(&door, &host, FL_LINK_STATELESS, 4);
    fake_set(&door, "mcp-protocol-version", "2026-07-28");
    fake_set(&door, "mcp-method", "tools/call");
    fake_set(&door, "mcp-name", "echo");
}

static const char request[] = MODERN_CALL("7", "echo", "{\"text\":\"a\"}");

static void test_ladder_lets_a_good_request_pass(void **state)
{
    (void)state;
    begin();
    fake_asks(&door, request, 0, MODERN_TEXT("7", "a"));
    fake_end(&door, &host);
}

static void test_ladder_wants_its_fields(void **state)
{
    (void)state;
    begin();
    fake_set(&door, "mcp-protocol-version", NULL);
    fake_asks(&door, request, -32020,
              MISMATCH("7", "MCP-Protocol-Version is missing",
                       "\"header\":\"MCP-Protocol-Version\","
                       "\"expected\":\"2026-07-28\""));
    fake_set(&door, "mcp-protocol-version", "2026-07-28");
    fake_set(&door, "mcp-method", NULL);
    fake_asks(&door, request, -32020,
              MISMATCH("7", "Mcp-Method is missing",
                       "\"header\":\"Mcp-Method\","
                       "\"expected\":\"tools/call\""));
    fake_set(&door, "mcp-method", "tools/call");
    fake_set(&door, "mcp-name", NULL);
    fake_asks(&door, request, -32020,
              MISMATCH("7", "Mcp-Name is missing",
                       "\"header\":\"Mcp-Name\",\"expected\":\"echo\""));
    fake_end(&door, &host);
}

static void test_ladder_wants_fields_that_say_the_same(void **state)
{
    (void)state;
    begin();
    fake_set(&door, "mcp-protocol-version", "2025-11-25");
    fake_asks(
        &door, request, -32020,
        MISMATCH("7", "MCP-Protocol-Version is not what the message says",
                 "\"header\":\"MCP-Protocol-Version\",\"sent\":\"2025-11-25\","
                 "\"expected\":\"2026-07-28\""));
    fake_set(&door, "mcp-protocol-version", "2026-07-28");
    fake_set(&door, "mcp-method", "Tools/Call"); /* values have a case */
    fake_asks_part(&door, request, -32020, "\"sent\":\"Tools/Call\"");
    fake_set(&door, "mcp-method", "=?base64?dG9vbHMvY2FsbA==?=");
    fake_asks_part(&door, request, -32020, "Mcp-Method is not what");
    fake_set(&door, "mcp-method", "tools/call");
    fake_set(&door, "mcp-name", "Echo");
    fake_asks_part(&door, request, -32020,
                   "\"sent\":\"Echo\",\"expected\":\"echo\"");
    fake_set(&door, "mcp-name", "=?base64?ZWNobw==?=");
    fake_asks(&door, request, 0, MODERN_TEXT("7", "a"));
    fake_end(&door, &host);
}

static void test_ladder_does_not_repeat_what_is_too_long(void **state)
{
    static char name[2000];

    (void)state;
    memset(name, 'x', sizeof name - 1);
    begin();
    fake_set(&door, "mcp-name", name);
    fake_asks(&door, request, -32020,
              MISMATCH("7", "Mcp-Name is not what the message says",
                       "\"header\":\"Mcp-Name\""));
    fake_end(&door, &host);
}

/* Rungs that hold on every kind of link, the header rungs aside. */
static const struct {
    const char *meta;
    const char *error;
} rungs[] = {
    {VERSION_IS("\"2025-11-25\""),
     "\"code\":-32022,\"message\":\"Unsupported protocol version\",\"data\":{"
     "\"supported\":[\"2026-07-28\"],\"requested\":\"2025-11-25\"}"},
    {VERSION_IS("\"1900-01-01\"") "," CAPABILITIES_ARE("7"),
     "\"requested\":\"1900-01-01\""},
    {VERSION_IS("\"\""), "\"requested\":\"\""},
    {VERSION_IS("\"2026-07-28\""),
     "\"code\":-32602,\"message\":\"_meta io.modelcontextprotocol/"
     "clientCapabilities must be an object\""},
    {VERSION_IS("\"2026-07-28\"") "," CAPABILITIES_ARE("[]"),
     "clientCapabilities must be an object"},
    {VERSION_IS("\"2026-07-28\"") "," CAPABILITIES_ARE("null"),
     "clientCapabilities must be an object"},
    {CLAIM ",\"" IOMCP "logLevel\":\"loud\"",
     "\"code\":-32602,\"message\":\"_meta io.modelcontextprotocol/logLevel is "
     "not a log level\""},
    {CLAIM ",\"" IOMCP "logLevel\":7", "logLevel is not a log level"},
};

static void test_ladder_rungs_hold_on_a_channel(void **state)
{
    char line[1024];

    (void)state;
    host_begin_with(&host, NULL);
    for (size_t i = 0; i < COUNT(rungs); i++) {
        /* a method that is not known comes later on the ladder */
        snprintf(line, sizeof line, MODERN_META("7", "nope", "%s", ""),
                 rungs[i].meta);
        raw_say(&host.peer, line);
        raw_hears_part(&host.peer, rungs[i].error);
    }
    raw_say(&host.peer, MODERN_META("7", "nope", VERSION_IS("7"), ""));
    raw_hears_part(&host.peer, "protocolVersion must be a string");
    host_end(&host);
}

static void test_ladder_rungs_hold_where_there_are_fields(void **state)
{
    char line[1024], version[32];

    (void)state;
    begin();
    fake_set(&door, "mcp-method", "nope");
    for (size_t i = 0; i < COUNT(rungs); i++) {
        const char *from = strchr(rungs[i].meta, ':') + 2;
        snprintf(version, sizeof version, "%.*s",
                 (int)(strchr(from, '"') - from), from);
        fake_set(&door, "mcp-protocol-version", version);
        snprintf(line, sizeof line, MODERN_META("7", "nope", "%s", ""),
                 rungs[i].meta);
        fake_asks_part(&door, line,
                       strstr(rungs[i].error, "requested") != NULL ? -32022
                                                                   : -32602,
                       rungs[i].error);
    }
    fake_end(&door, &host);
}

static void test_ladder_header_rungs_come_first(void **state)
{
    (void)state;
    begin();
    fake_asks_part(&door,
                   MODERN_META("7", "tools/call", VERSION_IS("\"v999\""), ""),
                   -32020, "MCP-Protocol-Version is not what");
    fake_asks_part(&door, MODERN_META("7", "x", VERSION_IS("7"), ""), -32020,
                   "MCP-Protocol-Version is not what");
    /* but the name is looked at only when the method is known */
    fake_set(&door, "mcp-method", "x");
    fake_asks_part(&door, MODERN("7", "x", ""), -32601, "\"code\":-32601");
    fake_end(&door, &host);
}

static void test_ladder_accepts_every_log_level(void **state)
{
    static const char *const levels[] = {"debug",   "info",     "notice",
                                         "warning", "error",    "critical",
                                         "alert",   "emergency"};
    char line[1024];

    (void)state;
    host_begin_with(&host, NULL);
    for (size_t i = 0; i < COUNT(levels); i++) {
        snprintf(line, sizeof line,
                 MODERN_META("7", "server/discover",
                             CLAIM ",\"" IOMCP "logLevel\":\"%s\"", ""),
                 levels[i]);
        raw_say(&host.peer, line);
        raw_hears_part(&host.peer, "\"id\":7,\"result\"");
    }
    host_end(&host);
}

static void check_named(const char *method, const char *member, bool named)
{
    static fake_stream stream;
    fl_return to = {
        .session = door.link.user,
        .reply = {.link = &door.link, .stream = &stream},
        .revision = fl_revision_get(FL_REVISION_2026_07_28),
    };
    char text[512];
    fl_msg msg;
    fl_msg_fault fault;

    snprintf(text, sizeof text, MODERN("7", "%s", ",\"%s\":\"it\""), method,
             member);
    assert_int_equal(fl_msg_read(fl_span_of(text), &msg, &fault), FL_OK);
    fake_set(&door, "mcp-name", "it");
    stream = (fake_stream){0};
    assert_true(fl_ladder_name(&to, &msg));
    fake_set(&door, "mcp-name", "other");
    assert_int_equal(fl_ladder_name(&to, &msg), !named);
    assert_int_equal(stream.ended, named);
}

static void test_ladder_knows_what_each_method_calls_a_name(void **state)
{
    (void)state;
    begin();
    check_named("tools/call", "name", true);
    check_named("prompts/get", "name", true);
    check_named("resources/read", "uri", true);
    check_named("tasks/get", "taskId", true);
    check_named("tasks/update", "taskId", true);
    check_named("tasks/cancel", "taskId", true);
    check_named("tools/list", "name", false);
    check_named("server/discover", "name", false);
    fake_end(&door, &host);
}

#define PARAM(name, type)                                                      \
    "{\"type\":\"" type "\",\"x-mcp-header\":\"" name "\"}"
#define SCHEMA(properties)                                                     \
    "{\"type\":\"object\",\"properties\":{" properties "}}"

static const char mirrored[] = SCHEMA(
    "\"region\":" PARAM("Region", "string") ",\"n\":" PARAM("N", "integer") //
    ",\"dry\":" PARAM(
        "Dry-Run",
        "boolean") ",\"free\":{\"type\":\"string\"}," //
                   "\"in\":" SCHEMA("\"d\\u0065ep\":" PARAM("Deep", "string")));

static void tool_say_yes(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(call, FL_SPAN("yes"));
}

/* With the fields given, name and value in turn, ended by NULL. */
static void check_mirror(const char *arguments, const char *const *fields,
                         const char *error)
{
    char line[512];

    fake_begin(&door, &host, FL_LINK_STATELESS, 4);
    assert_int_equal(fl_server_add_tool(host.server,
                                        &(fl_tool){
                                            .name = "sql",
                                            .input_schema = mirrored,
                                            .call = tool_say_yes,
                                        }),
                     FL_OK);
    fake_set(&door, "mcp-protocol-version", "2026-07-28");
    fake_set(&door, "mcp-method", "tools/call");
    fake_set(&door, "mcp-name", "sql");
    for (; *fields != NULL; fields += 2)
        fake_set(&door, fields[0], fields[1]);
    snprintf(line, sizeof line, MODERN_CALL("7", "sql", "%s"), arguments);
    if (error == NULL)
        fake_asks(&door, line, 0, MODERN_TEXT("7", "yes"));
    else
        fake_asks_part(&door, line, -32020, error);
    fake_end(&door, &host);
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_FIELDS ((const char *const[]){NULL})

static void test_ladder_mirrored_arguments_may_agree(void **state)
{
    (void)state;
    check_mirror("{}", NO_FIELDS, NULL);
    check_mirror("{\"free\":\"x\"}", NO_FIELDS, NULL);
    check_mirror("{\"region\":\"us-west1\"}",
                 FIELDS("mcp-param-region", "us-west1"), NULL);
    check_mirror("{\"region\":\"us\\u002dwest1\"}",
                 FIELDS("mcp-param-region", "us-west1"), NULL);
    check_mirror("{\"region\":\"Hello, \xE4\xB8\x96\xE7\x95\x8C\"}",
                 FIELDS("mcp-param-region", "=?base64?SGVsbG8sIOS4lueVjA==?="),
                 NULL);
    check_mirror(
        "{\"region\":\"=?base64?literal?=\"}",
        FIELDS("mcp-param-region", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        NULL);
    check_mirror("{\"region\":\"\"}", FIELDS("mcp-param-region", ""), NULL);
    check_mirror("{\"n\":-7}", FIELDS("mcp-param-n", "-7"), NULL);
    check_mirror("{\"n\":42}", FIELDS("mcp-param-n", "42.0"), NULL);
    check_mirror("{\"n\":9007199254740991}",
                 FIELDS("mcp-param-n", "9007199254740991"), NULL);
    check_mirror("{\"n\":42}", FIELDS("mcp-param-n", "=?base64?NDI=?="), NULL);
    check_mirror("{\"dry\":true}", FIELDS("mcp-param-dry-run", "true"), NULL);
    check_mirror("{\"in\":{\"deep\":\"x\"}}", FIELDS("mcp-param-deep", "x"),
                 NULL);
    check_mirror("{}", FIELDS("mcp-param-other", "ignored"), NULL);
}

static void test_ladder_mirrored_arguments_must_agree(void **state)
{
    (void)state;
    check_mirror("{\"region\":\"us\"}", NO_FIELDS,
                 "\"Header mismatch: Mcp-Param-Region is missing\",\"data\":{"
                 "\"header\":\"Mcp-Param-Region\",\"expected\":\"us\"}");
    check_mirror("{\"region\":\"us\"}", FIELDS("mcp-param-region", "eu"),
                 "\"sent\":\"eu\",\"expected\":\"us\"");
    check_mirror("{\"region\":\"us\"}", FIELDS("mcp-param-region", "US"),
                 "is not what the message says");
    check_mirror("{}", FIELDS("mcp-param-region", "us"),
                 "is there, but not in the message");
    check_mirror("{\"region\":null}", FIELDS("mcp-param-region", "null"),
                 "is there, but not in the message");
    check_mirror("{\"region\":\"\xC3\xA9\"}",
                 FIELDS("mcp-param-region", "\xC3\xA9"),
                 "has characters that a field may not have");
    check_mirror("{\"region\":\"a\"}",
                 FIELDS("mcp-param-region", "=?base64?YQ?="),
                 "is not Base64 inside its envelope");
    check_mirror("{\"region\":\"a\"}",
                 FIELDS("mcp-param-region", "=?BASE64?YQ==?="),
                 "is not what the message says");
    check_mirror("{\"n\":42}", FIELDS("mcp-param-n", "43"), "\"expected\":42");
    check_mirror("{\"n\":42}", FIELDS("mcp-param-n", "forty-two"),
                 "is not what the message says");
    check_mirror("{\"n\":9007199254740992}",
                 FIELDS("mcp-param-n", "9007199254740992"),
                 "is an integer beyond 2^53");
    check_mirror("{\"dry\":true}", FIELDS("mcp-param-dry-run", "True"),
                 "Mcp-Param-Dry-Run is not what");
    check_mirror("{\"dry\":false}", FIELDS("mcp-param-dry-run", "true"),
                 "\"expected\":false");
    check_mirror("{\"in\":{\"deep\":\"x\"}}", NO_FIELDS,
                 "Mcp-Param-Deep is missing");
    check_mirror("{\"in\":{\"deep\":[]}}", FIELDS("mcp-param-deep", "[]"),
                 "is not what the message says");
}

static void test_ladder_mirrors_nothing_on_a_channel(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    assert_int_equal(fl_server_add_tool(host.server,
                                        &(fl_tool){
                                            .name = "sql",
                                            .input_schema = mirrored,
                                            .call = tool_say_yes,
                                        }),
                     FL_OK);
    raw_asks(&host.peer, MODERN_CALL("7", "sql", "{\"region\":\"us\"}"),
             MODERN_TEXT("7", "yes"));
    host_end(&host);
}

static fl_status scan(const char *schema, bool *any)
{
    return fl_annotations_scan(fl_span_of(schema), any);
}

static void test_ladder_schema_may_annotate_primitive_properties(void **state)
{
    static const struct {
        const char *schema;
        bool any;
    } right[] = {
        {NULL, false},
        {SCHEMA(""), false},
        {SCHEMA("\"a\":{\"type\":\"string\"}"), false},
        {mirrored, true},
        /* a property of that name, or data, is no annotation */
        {SCHEMA("\"x-mcp-header\":{\"type\":\"string\"}"), false},
        {SCHEMA("\"a\":{\"default\":{\"x-mcp-header\":7}}"), false},
        {SCHEMA("\"a\":{\"enum\":[{\"x-mcp-header\":7}]}"), false},
        {"{\"description\":\"x-mcp-header\"}", false},
        {SCHEMA("\"properties\":" PARAM("A", "string")), true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(right); i++) {
        bool any = !right[i].any;
        assert_int_equal(scan(right[i].schema, &any), FL_OK);
        assert_int_equal(any, right[i].any);
    }
}

static void test_ladder_schema_that_annotates_wrongly_is_refused(void **state)
{
    static const char *const wrong[] = {
        SCHEMA("\"a\":" PARAM("", "string")),
        SCHEMA("\"a\":" PARAM("a b", "string")),
        SCHEMA("\"a\":" PARAM("a:b", "string")),
        SCHEMA("\"a\":" PARAM("a\\r\\nb", "string")),
        SCHEMA("\"a\":" PARAM("\xC3\xA9", "string")),
        SCHEMA("\"a\":{\"type\":\"string\",\"x-mcp-header\":7}"),
        SCHEMA("\"a\":{\"type\":\"string\",\"x-mcp-header\":null}"),
        SCHEMA("\"a\":" PARAM("Same", "string") //
               ",\"b\":" PARAM("sAME", "string")),
        SCHEMA("\"a\":" PARAM("Same", "string") //
               ",\"b\":" SCHEMA("\"c\":" PARAM("Same", "integer"))),
        SCHEMA("\"a\":" PARAM("A", "number")),
        SCHEMA("\"a\":" PARAM("A", "object")),
        SCHEMA("\"a\":" PARAM("A", "array")),
        SCHEMA("\"a\":" PARAM("A", "null")),
        SCHEMA("\"a\":{\"x-mcp-header\":\"A\"}"),
        SCHEMA("\"a\":{\"type\":[\"string\"],\"x-mcp-header\":\"A\"}"),
        "{\"type\":\"string\",\"x-mcp-header\":\"A\"}",
        SCHEMA("\"a\":{\"items\":" PARAM("A", "string") "}"),
        SCHEMA("\"a\":{\"items\":" SCHEMA("\"b\":" PARAM("A", "string")) "}"),
        "{\"oneOf\":[" SCHEMA("\"a\":" PARAM("A", "string")) "]}",
        "{\"allOf\":[" PARAM("A", "string") "]}",
        "{\"if\":" SCHEMA("\"a\":" PARAM("A", "string")) "}",
        "{\"not\":" PARAM("A", "string") "}",
        "{\"$defs\":{\"a\":" PARAM("A", "string") "}}",
        "{\"patternProperties\":{\"a\":" PARAM("A", "string") "}}",
        "{\"additionalProperties\":" PARAM("A", "string") "}",
    };
    bool any;

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++)
        if (scan(wrong[i], &any) != FL_E_INVALID)
            fail_msg("accepted: %s", wrong[i]);
    host_begin_bare(&host);
    host.peer.fd = -1;
    assert_int_equal(
        fl_server_add_tool(host.server, &(fl_tool){.name = "a",
                                                   .input_schema = wrong[0],
                                                   .call = tool_echo}),
        FL_E_INVALID);
    host_end(&host);
}

static void check_name_of(size_t len, fl_status want)
{
    char schema[512], name[FL_MIRROR_NAME + 1] = "";
    bool any;

    memset(name, 'x', len);
    snprintf(schema, sizeof schema, SCHEMA("\"a\":" PARAM("%s", "string")),
             name);
    assert_int_equal(scan(schema, &any), want);
}

static void test_ladder_name_of_a_field_has_a_limit(void **state)
{
    size_t most = FL_MIRROR_NAME - 1 - strlen("Mcp-Param-");

    (void)state;
    check_name_of(most, FL_OK);
    check_name_of(most + 1, FL_E_INVALID);
}

static void scan_rationed(void *user)
{
    bool any;
    fl_status rc = scan(mirrored, &any);

    (void)user;
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
}

static void test_ladder_schema_survives_failed_allocations(void **state)
{
    (void)state;
    assert_true(ration_each(scan_rationed, NULL) > 1);
}

/* Every refusal, and each is one answer with or without its data. */
static void refuse_rationed(void *user)
{
    static const char *const texts[] = {
        MODERN_META("7", "tools/call", VERSION_IS("\"1900-01-01\""), ""),
        MODERN("7", "x", ""),
        CALL("7", "echo", "{}"),
        MODERN_CALL("7", "\\u0065cho", "{\"text\":\"a\"}"),
    };
    static const char *const versions[] = {"1900-01-01", "2026-07-28"};
    static fake_stream stream;

    (void)user;
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t j = 0; j < COUNT(versions); j++) {
            fake_set(&door, "mcp-protocol-version", versions[j]);
            fake_set(&door, "mcp-method", i == 1 ? "x" : "tools/call");
            fake_ask(&door, &stream, texts[i]);
            assert_int_equal(stream.ended, 1);
            assert_non_null(strstr(stream.text, "\"id\":7,"));
        }
}

static void test_ladder_refuses_without_memory_too(void **state)
{
    (void)state;
    begin();
    fake_set(&door, "mcp-name", "=?base64?ZWNobw==?=");
    refuse_rationed(NULL); /* so that the loop has its scratch */
    assert_true(ration_each(refuse_rationed, NULL) > 5);
    fake_end(&door, &host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ladder_lets_a_good_request_pass),
        cmocka_unit_test(test_ladder_wants_its_fields),
        cmocka_unit_test(test_ladder_wants_fields_that_say_the_same),
        cmocka_unit_test(test_ladder_does_not_repeat_what_is_too_long),
        cmocka_unit_test(test_ladder_rungs_hold_on_a_channel),
        cmocka_unit_test(test_ladder_rungs_hold_where_there_are_fields),
        cmocka_unit_test(test_ladder_header_rungs_come_first),
        cmocka_unit_test(test_ladder_accepts_every_log_level),
        cmocka_unit_test(test_ladder_knows_what_each_method_calls_a_name),
        cmocka_unit_test(test_ladder_mirrored_arguments_may_agree),
        cmocka_unit_test(test_ladder_mirrored_arguments_must_agree),
        cmocka_unit_test(test_ladder_mirrors_nothing_on_a_channel),
        cmocka_unit_test(test_ladder_schema_may_annotate_primitive_properties),
        cmocka_unit_test(test_ladder_schema_that_annotates_wrongly_is_refused),
        cmocka_unit_test(test_ladder_name_of_a_field_has_a_limit),
        cmocka_unit_test(test_ladder_schema_survives_failed_allocations),
        cmocka_unit_test(test_ladder_refuses_without_memory_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
