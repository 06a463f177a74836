/*
 * test_content.c - an answer in parts: what they become in each kind of call
 * and in each revision, and what is told when one cannot be sent.
 */
#include "modern.h"
#include "server_host.h"
#include "support/ration.h"

static server_host host;

#define RESULT(id, result)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"

#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"

static const fl_resource linked = {
    .uri = "doc:1",
    .name = "one",
    .title = "The first",
    .mime_type = "text/plain",
    .size = 7,
    .icons = "[{\"src\":\"i.png\"}]",
};

static void tool_media(fl_call *call, void *user)
{
    (void)user;
    fl_call_add_text(call, FL_SPAN("a \"b\""));
    fl_call_add_image(call, (fl_span){"\0\xFF", 2}, "image/png");
    fl_call_add_audio(call, FL_SPAN("mmm"), "audio/wav");
    fl_call_add_document(call, "doc:2", "text/plain", FL_SPAN("two"));
    fl_call_add_blob(call, "doc:3", NULL, FL_SPAN("three!"));
    fl_call_add_link(call, &linked);
    fl_call_add_json(call, FL_SPAN(" {\"type\":\"text\",\"text\":\"raw\"} "));
    fl_call_addf(call, "%d", 8);
    fl_call_finish(call);
}

static void tool_structured(fl_call *call, void *user)
{
    fl_span json = fl_call_raw(call, "json");

    fl_call_set_structured(call, json);
    if (user != NULL)
        fl_call_add_text(call, FL_SPAN("said"));
    fl_call_set_meta(call, "org.example/a", FL_SPAN("1"));
    fl_call_set_meta(call, "org.example/b", FL_SPAN("[2]"));
    fl_call_finish(call);
}

static void tool_bad(fl_call *call, void *user)
{
    (void)user;
    fl_call_add_text(call, FL_SPAN("fine"));
    if (fl_call_has(call, "block"))
        fl_call_add_json(call, fl_call_text(call, "block"));
    if (fl_call_has(call, "structured"))
        fl_call_set_structured(call, fl_call_text(call, "structured"));
    if (fl_call_has(call, "meta"))
        fl_call_set_meta(call, "k", fl_call_text(call, "meta"));
    if (fl_call_has(call, "fail"))
        fl_call_fail(call, "it broke");
    else if (fl_call_has(call, "wrong"))
        (void)fl_call_number(call, "wrong"), fl_call_finish(call);
    else
        fl_call_finish(call);
}

static void begin(const char *revision)
{
    const fl_tool tools[] = {
        {.name = "media", .call = tool_media},
        {.name = "object",
         .call = tool_structured,
         .output_schema = "{\"type\":\"object\"}"},
        {.name = "said",
         .call = tool_structured,
         .output_schema = "{\"type\":\"object\"}",
         .user = &host},
        {.name = "array",
         .call = tool_structured,
         .output_schema = "{\"type\":\"array\"}"},
        {.name = "refers",
         .call = tool_structured,
         .output_schema = "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{}}}"},
        {.name = "bad", .call = tool_bad},
        {.name = "strict",
         .call = tool_structured,
         .input_schema = "{\"type\":\"object\",\"properties\":{\"json\":{},"
                         "\"n\":{\"type\":\"integer\",\"minimum\":5}},"
                         "\"required\":[\"json\"]}",
         .output_schema = "{\"type\":\"object\",\"required\":[\"x\"]}"},
    };

    host_begin_bare(&host);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        assert_int_equal(fl_server_add_tool(host.server, &tools[i]), FL_OK);
    host_listen(&host, NULL);
    if (revision != NULL)
        host_greet(&host.peer, revision);
}

#define BEFORE_AUDIO                                                           \
    TEXT("a \\\"b\\\"")                                                        \
    ",{\"type\":\"image\",\"data\":\"AP8=\",\"mimeType\":\"image/png\"},"

#define AFTER_AUDIO                                                            \
    ",{\"type\":\"resource\",\"resource\":{\"uri\":\"doc:2\",\"mimeType\":"    \
    "\"text/plain\",\"text\":\"two\"}},{\"type\":\"resource\",\"resource\":{"  \
    "\"uri\":\"doc:3\",\"blob\":\"dGhyZWUh\"}},"

#define AFTER_LINK "," TEXT("raw") "," TEXT("8")

#define AUDIO                                                                  \
    "{\"type\":\"audio\",\"data\":\"bW1t\",\"mimeType\":\"audio/wav\"}"

#define LINK(more)                                                             \
    "{\"type\":\"resource_link\",\"uri\":\"doc:1\",\"name\":\"one\","          \
    "\"title\":"                                                               \
    "\"The first\",\"mimeType\":\"text/plain\",\"size\":7" more "}"

static void test_content_is_what_each_revision_has_for_it(void **state)
{
    static const struct {
        const char *revision;
        const char *audio, *link;
    } cases[] = {
        {"2024-11-05",
         "{\"type\":\"resource\",\"resource\":{\"uri\":\"audio:\",\"mimeType\":"
         "\"audio/wav\",\"blob\":\"bW1t\"}}",
         TEXT("one: doc:1")},
        {"2025-03-26", AUDIO, TEXT("one: doc:1")},
        {"2025-06-18", AUDIO, LINK("")},
        {"2025-11-25", AUDIO, LINK(",\"icons\":[{\"src\":\"i.png\"}]")},
    };
    char want[1024];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].revision);
        snprintf(want, sizeof want,
                 RESULT("1", "{\"content\":[" BEFORE_AUDIO "%s" AFTER_AUDIO
                             "%s" AFTER_LINK "]}"),
                 cases[i].audio, cases[i].link);
        raw_asks(&host.peer, CALL("1", "media", "{}"), want);
        host_end(&host);
    }
}

#define OWN_META "\"_meta\":{\"org.example/a\":1,\"org.example/b\":[2]}"

static void test_content_structured_is_text_to_who_cannot_read_it(void **state)
{
    (void)state;
    begin("2025-03-26");
    raw_asks(
        &host.peer, CALL("1", "object", "{\"json\":{\"x\": 1}}"),
        RESULT("1", "{\"content\":[" TEXT("{\\\"x\\\": 1}") "]," OWN_META "}"));
    host_end(&host);
    begin("2025-06-18");
    raw_asks(
        &host.peer, CALL("1", "object", "{\"json\":{\"x\": 1}}"),
        RESULT(
            "1",
            "{\"content\":[" TEXT(
                "{\\\"x\\\": 1}") "],\"structuredContent\":{\"x\": 1}," OWN_META
                                  "}"));
    raw_asks(
        &host.peer, CALL("2", "said", "{\"json\":{}}"),
        RESULT("2", "{\"content\":[" TEXT(
                        "said") "],\"structuredContent\":{}," OWN_META "}"));
    host_end(&host);
}

static void test_content_structured_is_an_object_up_to_2025_11_25(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_asks(
        &host.peer, CALL("1", "array", "{\"json\":[1]}"),
        RESULT("1",
               "{\"content\":[" TEXT(
                   "[1]") "],\"structuredContent\":{\"result\":[1]}," OWN_META
                          "}"));
    raw_asks(&host.peer, CALL("2", "refers", "{\"json\":[1]}"),
             RESULT("2", "{\"content\":[" TEXT("[1]") "]," OWN_META "}"));
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}");
    raw_hears_part(&host.peer,
                   "\"name\":\"array\",\"inputSchema\":{\"type\":\"object\"},"
                   "\"outputSchema\":{\"type\":\"object\",\"properties\":{"
                   "\"result\":{\"type\":\"array\"}},\"required\":[\"result\"]}"
                   "},{\"name\":\"refers\",\"inputSchema\":{\"type\":"
                   "\"object\"}}");
    host_end(&host);
}

static void test_content_structured_may_be_anything_from_2026_on(void **state)
{
    (void)state;
    begin(NULL);
    raw_say(&host.peer, MODERN_CALL("1", "refers", "{\"json\":[1]}"));
    raw_hears_part(&host.peer,
                   "\"structuredContent\":[1],\"_meta\":{\"org.example/a\":1,"
                   "\"org.example/b\":[2],\"io.modelcontextprotocol/"
                   "serverInfo\":{\"name\":\"host\",\"version\":\"1.2\"}}}");
    raw_say(&host.peer, MODERN("2", "tools/list", ""));
    raw_hears_part(&host.peer, "\"outputSchema\":{\"$ref\":\"#/$defs/a\"");
    host_end(&host);
}

static void test_content_that_is_not_json_is_told_instead(void **state)
{
    static const char *const wrong[] = {
        "{\"block\":\"{\"}",
        "{\"block\":\"7\"}",
        "{\"structured\":\"nil\"}",
        "{\"meta\":\"}\"}",
    };
    char line[256];

    (void)state;
    begin("2025-11-25");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, CALL("1", "bad", "%s"), wrong[i]);
        raw_asks(&host.peer, line,
                 ERROR_ANSWER("1", "-32603",
                              "\"the handler added something that is not "
                              "JSON\""));
    }
    host_end(&host);
}

static void test_content_arguments_must_fit_their_schema(void **state)
{
    (void)state;
    begin("2025-06-18");
    raw_asks(&host.peer, CALL("1", "strict", "{\"json\":{\"x\":1},\"n\":5}"),
             RESULT("1", "{\"content\":[" TEXT(
                             "{\\\"x\\\":1}") "],\"structuredContent\":{"
                                              "\"x\":1}," OWN_META "}"));
    raw_asks(&host.peer, CALL("2", "strict", "{\"json\":1,\"n\":4}"),
             ERROR_ANSWER("2", "-32602",
                          "\"invalid arguments: /n: minimum: must be at least "
                          "5\""));
    raw_say(&host.peer, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
                        "call\",\"params\":{\"name\":\"strict\"}}");
    raw_hears_part(&host.peer, "required");
    host_end(&host);
    begin("2025-11-25");
    raw_asks(&host.peer, CALL("2", "strict", "{\"json\":1,\"n\":4}"),
             FAILED_ANSWER("2", "invalid arguments: /n: minimum: must be at "
                                "least 5"));
    host_end(&host);
}

static void test_content_structured_must_fit_its_schema(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_say(&host.peer, CALL("1", "strict", "{\"json\":{\"y\":1}}"));
    raw_hears_part(&host.peer, "-32603,\"message\":\"the tool's result is not "
                               "what its outputSchema says: ");
    host_end(&host);
}

static void test_content_added_before_a_failure_is_kept(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_asks(&host.peer, CALL("1", "bad", "{\"fail\":1}"),
             RESULT("1", "{\"content\":[" TEXT("fine") "," TEXT(
                             "it broke") "],\"isError\":true}"));
    raw_asks(&host.peer, CALL("2", "bad", "{\"wrong\":\"x\"}"),
             RESULT("2", "{\"content\":[" TEXT("fine") "," TEXT(
                             "argument \\\"wrong\\\" must be a "
                             "number") "],\"isError\":true}"));
    host_end(&host);
}

/* Whatever allocation fails, the call is answered or, when there is no room
 * for an answer, the connection ended; and nothing leaks. */
static void test_content_survives_a_lack_of_memory(void **state)
{
    bool refused = true;

    (void)state;
    for (size_t n = 1; refused; n++) {
        ptrdiff_t before = ration_live_blocks();
        begin("2025-11-25");
        raw_say(&host.peer, CALL("1", "media", "{}"));
        ration_reset();
        ration_fail_at(n);
        io_until(host.loop,
                 (raw_read(&host.peer),
                  raw_find_end(&host.peer) != NULL || host.peer.ended));
        refused = ration_refused();
        ration_reset();
        host_end(&host);
        assert_int_equal(ration_live_blocks(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_is_what_each_revision_has_for_it),
        cmocka_unit_test(test_content_structured_is_text_to_who_cannot_read_it),
        cmocka_unit_test(test_content_structured_is_an_object_up_to_2025_11_25),
        cmocka_unit_test(test_content_structured_may_be_anything_from_2026_on),
        cmocka_unit_test(test_content_that_is_not_json_is_told_instead),
        cmocka_unit_test(test_content_arguments_must_fit_their_schema),
        cmocka_unit_test(test_content_structured_must_fit_its_schema),
        cmocka_unit_test(test_content_added_before_a_failure_is_kept),
        cmocka_unit_test(test_content_survives_a_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
