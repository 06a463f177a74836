/*
 * test_config_errors.c - what is wrong with a file, said exactly and where.
 */
#include "config_desk.h"

#define AT "/etc/mcp/mcp.json:"

/* One server "a" with these members; its problems, a line each, without the
 * name of the file and the way to the server. The members begin in column 1 of
 * line 2. */
static void check(const char *members, fl_status status, const char *problem)
{
    char text[1024], expected[1024] = "";

    snprintf(text, sizeof text, "{\"mcpServers\":{\"a\":{\n%s}}}", members);
    if (*problem != '\0')
        snprintf(expected, sizeof expected, AT "%s\n", problem);
    desk_problems(text, status, expected);
}

static void check_error(const char *members, const char *problem)
{
    check(members, FL_E_INVALID, problem);
}

static void check_warning(const char *members, const char *problem)
{
    check(members, FL_OK, problem);
}

static void check_whole(const char *text, const char *problem)
{
    char expected[1024];

    snprintf(expected, sizeof expected, AT "%s\n", problem);
    desk_problems(text, FL_E_INVALID, expected);
}

static void test_config_tells_everything_at_once(void **state)
{
    (void)state;
    char *text = desk_load("tests/corpus/config/broken.jsonc");

    desk_problems(
        text, FL_E_INVALID,
        AT "3:38: error: mcpServers.both.url: there is a command as well; a "
           "server has one of the two\n" AT
           "4:5: error: mcpServers.neither: a server needs a \"command\" or "
           "a \"url\"\n" AT
           "5:50: error: mcpServers.unset.env.TOKEN: the variable "
           "NOBODY_SET_THIS is not set; set it, or give a default: "
           "${NOBODY_SET_THIS:-...}\n" AT
           "6:5: error: mcpServers.My Server: a name becomes part of a URL: "
           "it must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a "
           "dot\n" AT
           "7:22: error: mcpServers.odd.type: it must be one of stdio, "
           "local, remote, http, streaming, streamable-http, "
           "streamable_http, streamableHttp, stream, streamablehttp, sse, "
           "ws, websocket, tcp, unix\n" AT
           "8:44: error: mcpServers.own.fairlead.prefx: there is no such "
           "key; is \"prefix\" meant?\n" AT
           "8:69: error: mcpServers.own.fairlead.weight: it must be a whole "
           "number from 0 to 1000\n");
    free(text);
}

static void test_config_error_is_the_first_problem(void **state)
{
    (void)state;
    fl_config *config;
    fl_error error;

    assert_int_equal(
        fl_config_read(FL_SPAN("{\"servers\":{\"a\":{\"zorro\":1,\n"
                               "\"command\":\"${NONE}\",\"timeout\":0}}}"),
                       "mcp.json", &desk_source, &config, &error),
        FL_E_INVALID);
    assert_int_equal(error.status, FL_E_INVALID);
    assert_string_equal(error.text,
                        "mcp.json:2:11: servers.a.command: the variable NONE "
                        "is not set; set it, or give a default: ${NONE:-...}");
    fl_config_free(config);
    fl_config_free(NULL);
}

static void test_config_form_of_the_file(void **state)
{
    (void)state;
    check_whole("", "1:1: error: it ends too early");
    check_whole("{\n ", "2:2: error: it ends too early");
    check_whole("[]", "1:1: error: it must be an object");
    check_whole("{\"a\": nul}", "1:10: error: it is not JSON from here on");
    check_whole("{\"a\":\"\xff\"}", "1:7: error: it is not UTF-8 from here on");
    check_whole("{\n /* never", "2:2: error: this comment has no end");
    check_whole("{\r\n \"\xC3\xA9\": x}", "2:7: error: it is not JSON from "
                                          "here on");
    check_whole("{\r\"a\": x}", "2:6: error: it is not JSON from here on");
    check_whole("[,]", "1:2: error: it is not JSON from here on");
    check_whole("yes, please", "1:1: error: it is not JSON from here on");
}

static void test_config_where_the_servers_are(void **state)
{
    (void)state;
    check_whole("{\"a\":1}", "1:1: error: there are no servers: no "
                             "\"mcpServers\", no \"servers\" (VS Code), no "
                             "\"mcp\" (opencode)");
    check_whole("{\"mcpservers\":{}}",
                "1:2: error: mcpservers: is \"mcpServers\" meant?");
    check_whole("{\"mcpServers\":[]}",
                "1:15: error: mcpServers: it must be an object");
    check_whole("{\"mcpServers\":{\"a\":1}}",
                "1:20: error: mcpServers.a: it must be an object");
    check_whole("{\"servers\":{\"a\":{\"command\":\"b\"}},\n\"servers\":{}}",
                "2:1: error: servers: it is given twice");
    check_whole("{\"mcpServers\":{\"a\":{\"command\":\"b\"}},\n\"servers\":{}}",
                "2:11: error: servers: there is \"mcpServers\" as well; a "
                "file has one of the two");
    check_whole("{\"fairlead\":{},\"servers\":{\"a\":{\"command\":\"b\"}}}",
                "1:13: error: fairlead: it belongs into the entry of a "
                "server");
    desk_problems("{\"mcpServers\":{}}", FL_OK,
                  AT "1:15: warning: mcpServers: there is no server in "
                     "it\n");
}

static void test_config_names(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        ".",
        ".hidden",
        "a b",
        "a/b",
        "a%20b",
        "a\\n",
        "\xC3\xA9",
        "a:b",
        "12345678901234567890123456789012345678901234567890123456789012345",
    };
    char text[256];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 "{\"servers\":{\"%s\":{\"command\":\"b\"}}}", bad[i]);
        fl_config_free(desk_take(fl_span_of(text), FL_E_INVALID));
    }
    desk_servers(
        "{\"servers\":{\"1234567890123456789012345678901234567890123456789012"
        "345678901234\":{\"command\":\"b\"},\"A.b_c-\\u0064\":{\"command\":"
        "\"b\"}}}",
        "1234567890123456789012345678901234567890123456789012345678901234: a "
        "child\n  command b\nA.b_c-d: a child\n  command b\n");
    check_whole("{\"servers\":{\"a\":{\"command\":\"b\"},\n"
                "\"\\u0061\":{\"command\":\"c\"}}}",
                "2:1: error: servers.\\u0061: there is a server of this name "
                "already");
}

static void test_config_commands(void **state)
{
    (void)state;
    check_error("\"command\":\"\"",
                "2:11: error: mcpServers.a.command: it must not be empty");
    check_error("\"command\":[]",
                "2:11: error: mcpServers.a.command: it must not be empty");
    check_error("\"command\":{}",
                "2:11: error: mcpServers.a.command: it must be a string or an "
                "array of strings");
    check_error("\"command\":\"b\",\"args\":\"x\"",
                "2:22: error: mcpServers.a.args: it must be an array of "
                "strings");
    check_error("\"url\":\"http://b/\",\"args\":[\"x\"]",
                "2:26: error: mcpServers.a.args: there is no command for it");
    check_error("\"command\":\"b\",\"args\":[\"x\",[1]]",
                "2:27: error: mcpServers.a.args[1]: it must be a string");
    check_error("\"command\":\"b\\u0000c\"",
                "2:11: error: mcpServers.a.command: it has a NUL in it");
    check_error("\"command\":\"b\",\"command\":\"c\"",
                "2:15: error: mcpServers.a.command: it is given twice");
    check_warning("\"command\":\"npx -y x\"",
                  "2:11: warning: mcpServers.a.command: there is no shell to "
                  "take it apart: the arguments belong into \"args\"");
    check_warning("\"command\":\"/My Programs/x\",\"args\":[]", "");
}

static void test_config_variables(void **state)
{
    (void)state;
    check_error("\"command\":\"b\",\"env\":[]",
                "2:21: error: mcpServers.a.env: it must be an object");
    check_error("\"command\":\"b\",\"env\":{\"\":\"1\"}",
                "2:22: error: mcpServers.a.env.: it is no name of a variable");
    check_error("\"command\":\"b\",\"env\":{\"A=B\":\"1\"}",
                "2:22: error: mcpServers.a.env.A=B: it is no name of a "
                "variable");
    check_error("\"command\":\"b\",\"env\":{\"A\":[]}",
                "2:26: error: mcpServers.a.env.A: it must be a string");
    check_warning("\"command\":\"b\",\"env\":{\"A\":null}",
                  "2:22: warning: mcpServers.a.env.A: it is null and has no "
                  "effect");
    check_warning("\"url\":\"http://b/\",\"env\":{\"A\":\"b\"}",
                  "1:16: warning: mcpServers.a: its variables are for a "
                  "command; they have no effect");
    check_error("\"command\":\"b\",\"envFile\":\"none.env\"",
                "2:25: error: mcpServers.a.envFile: the file cannot be read: "
                "not found");
    check_error("\"command\":\"b\",\"envFile\":\"bad.env\"",
                "2:25: error: mcpServers.a.envFile: line 2 of that file is "
                "not NAME=VALUE");
}

static void test_config_urls(void **state)
{
    (void)state;
    static const char no_url[] =
        "2:7: error: mcpServers.a.url: it must be a URL that begins with "
        "http://, https://, ws://, wss://, tcp://, tls://, unix:, "
        "sse+http(s):// or sse+unix:";
    static const char disagree[] = "2:7: error: mcpServers.a.url: the URL's "
                                   "scheme is not of the type that is given";

    check_error("\"url\":\"ftp://b/\"", no_url);
    check_error("\"url\":\"http://\"", no_url);
    check_error("\"url\":\"\"", no_url);
    check_error("\"url\":\"pipe:///b\"",
                "2:7: error: mcpServers.a.url: named pipes are of Windows; "
                "here it is unix:///PATH");
    check_error("\"url\":\"http://b c/\"",
                "2:7: error: mcpServers.a.url: a URL has no white space in "
                "it");
    check_error("\"url\":\"http://b/\",\"type\":\"ws\"", disagree);
    check_error("\"url\":\"ws://b/\",\"type\":\"sse\"", disagree);
    check_error("\"url\":\"http://b/\",\"type\":\"unix\"", disagree);
    check_error("\"url\":\"sse+http://b/\",\"type\":\"http\"", disagree);
    check_error("\"url\":\"http://b/\",\"type\":\"http\",\"transport\":\"sse\"",
                "2:45: error: mcpServers.a.transport: it says another type "
                "than the key before it");
    check_error("\"url\":\"http://b/\",\"type\":\"stdio\"",
                "1:16: error: mcpServers.a: its type is that of a command, "
                "and it has a URL");
    check_error("\"command\":\"b\",\"type\":\"http\"",
                "1:16: error: mcpServers.a: its type is that of a URL, and it "
                "has a command");
    check_warning("\"url\":\"http://b/\",\"httpUrl\":\"http://c/\"",
                  "2:7: warning: mcpServers.a.url: it has no effect beside "
                  "the other URL");
}

static void test_config_headers(void **state)
{
    (void)state;
    check_error("\"url\":\"http://b/\",\"headers\":1",
                "2:29: error: mcpServers.a.headers: it must be an object, or "
                "an array of \"Name: value\"");
    check_error("\"url\":\"http://b/\",\"headers\":{\"A B\":\"c\"}",
                "2:30: error: mcpServers.a.headers.A B: it is no name of a "
                "header");
    check_error("\"url\":\"http://b/\",\"headers\":{\"A\":\"${LINES}\"}",
                "2:34: error: mcpServers.a.headers.A: a header has no line "
                "ends or other controls in it");
    check_error("\"url\":\"http://b/\",\"headers\":[\"nothing\"]",
                "2:30: error: mcpServers.a.headers[0]: a header is \"Name: "
                "value\"");
    check_warning("\"command\":\"b\",\"headers\":{\"A\":\"b\"}",
                  "2:25: warning: mcpServers.a.headers: a command is sent no "
                  "headers; it has no effect");
}

static void test_config_other_keys(void **state)
{
    (void)state;
    check_error("\"command\":\"b\",\"timeout\":0",
                "2:25: error: mcpServers.a.timeout: it must be a whole number "
                "from 1 to 86400000");
    check_error("\"command\":\"b\",\"timeout\":86400001",
                "2:25: error: mcpServers.a.timeout: it must be a whole number "
                "from 1 to 86400000");
    check_error("\"command\":\"b\",\"timeout\":\"30s\"",
                "2:25: error: mcpServers.a.timeout: it must be a whole number "
                "from 1 to 86400000");
    check_warning("\"command\":\"b\",\"timeout\":86400000", "");
    check_warning("\"command\":\"b\",\"timeout\":1000", "");
    check_warning("\"command\":\"b\",\"timeout\":999",
                  "2:25: warning: mcpServers.a.timeout: these are "
                  "milliseconds, so less than a second");
    check_error("\"command\":\"b\",\"protocolEra\":\"old\"",
                "2:29: error: mcpServers.a.protocolEra: it must be one of "
                "auto, legacy, modern");
    check_error("\"command\":\"b\",\"disabled\":\"no\"",
                "2:26: error: mcpServers.a.disabled: it must be true or "
                "false");
    check_warning("\"command\":\"b\",\"headrs\":{}",
                  "2:15: warning: mcpServers.a.headrs: it is not known here "
                  "and has no effect; is \"headers\" meant?");
    check_warning("\"command\":\"b\",\"zorro\":{}",
                  "2:15: warning: mcpServers.a.zorro: it is not known here "
                  "and has no effect");
    check_warning("\"command\":\"b\",\"trust\":null,\"description\":\"c\"", "");
    check_error("\"command\":\"b\",\"options\":[1]",
                "2:25: error: mcpServers.a.options: it must be an object");
    check_warning("\"command\":\"b\",\"options\":{\"authTokens\":[\"x\"]}",
                  "2:39: warning: mcpServers.a.options.authTokens: it has no "
                  "effect: who may use the gateway is said when it is "
                  "started");
    check_error("\"command\":\"b\",\"options\":{\"toolFilter\":{}}",
                "2:39: error: mcpServers.a.options.toolFilter: it needs a "
                "\"mode\"");
}

static void test_config_own_keys_are_strict(void **state)
{
    (void)state;
#define OWN "\"command\":\"b\",\"fairlead\":"
    check_error(OWN "1",
                "2:26: error: mcpServers.a.fairlead: it must be an object");
    check_error(OWN "{\"zorro\":1}",
                "2:27: error: mcpServers.a.fairlead.zorro: there is no such "
                "key; there are child, prefix, replicas, weight, allow, deny, "
                "connectAttempts, connectBackoff, connectBackoffMax, queueMax, "
                "queueBytes, queueTime, healthInterval, breakerFailures, "
                "breakerPause, http2, allowHttp");
    check_error(OWN "{\"deyn\":[]}",
                "2:27: error: mcpServers.a.fairlead.deyn: there is no such "
                "key; is \"deny\" meant?");
    check_error(OWN "{\"child\":\"each\"}",
                "2:35: error: mcpServers.a.fairlead.child: it must be one of "
                "auto, shared, session, request");
    check_error(OWN "{\"weight\":1001}",
                "2:36: error: mcpServers.a.fairlead.weight: it must be a "
                "whole number from 0 to 1000");
    check_error(OWN "{\"prefix\":\"a b\"}",
                "2:36: error: mcpServers.a.fairlead.prefix: it must be up to "
                "32 of A-Z a-z 0-9 _ - .");
    check_error(OWN "{\"prefix\":\"123456789012345678901234567890123\"}",
                "2:36: error: mcpServers.a.fairlead.prefix: it must be up to "
                "32 of A-Z a-z 0-9 _ - .");
    check_warning(OWN "{\"prefix\":\"12345678901234567890123456789012\","
                      "\"weight\":1000,\"child\":\"auto\"}",
                  "");
    check_error(OWN "{\"http2\":true}",
                "2:35: error: mcpServers.a.fairlead.http2: it is for a server "
                "at http:// or https://");
    check_error("\"url\":\"http://b/\",\"fairlead\":{\"http2\":2}",
                "2:39: error: mcpServers.a.fairlead.http2: it must be true or "
                "false");
    check_error("\"url\":\"ws://b/\",\"fairlead\":{\"http2\":true}",
                "2:37: error: mcpServers.a.fairlead.http2: it is for a server "
                "at http:// or https://");
    check_error(OWN "{\"replicas\":[\"http://c/\"]}",
                "2:38: error: mcpServers.a.fairlead.replicas: a URL alone is "
                "for a server with a URL; write an entry: {\"url\": ...}");
#undef OWN
#define OWN "\"url\":\"http://b/\",\"fairlead\":"
    check_error(OWN "{\"child\":\"shared\"}",
                "2:39: error: mcpServers.a.fairlead.child: it is for a server "
                "with a command");
    check_error(OWN "{\"replicas\":[\"https://c/\",\"ws://d/\"]}",
                "2:42: error: mcpServers.a.fairlead.replicas: replica 2 is no "
                "URL of the kind of the first");
    check_error(OWN "{\"allow\":1}",
                "2:39: error: mcpServers.a.fairlead.allow: it must be a "
                "string or an array of strings");
#undef OWN
}

static void test_config_replicas_are_places_and_nothing_else(void **state)
{
    (void)state;
#define OWN "\"url\":\"http://b/\",\"fairlead\":"
    check_warning(OWN "{\"replicas\":\"http://c/\"}", "");
    check_warning(OWN "{\"replicas\":[{\"url\":\"ws://c/\",\"weight\":0},"
                      "{\"command\":\"d\",\"weight\":1000}]}",
                  "");
    check_error(OWN "{\"replicas\":7}",
                "2:42: error: mcpServers.a.fairlead.replicas: it must be an "
                "array of URLs, or of entries of servers");
    check_error(OWN "{\"replicas\":[7]}",
                "2:43: error: mcpServers.a.fairlead.replicas[0]: it must be a "
                "URL, or an entry of a server");
    check_error(OWN "{\"replicas\":[{\"url\":\"http://c/\","
                    "\"weight\":1001}]}",
                "2:71: error: mcpServers.a.fairlead.replicas[0].weight: it "
                "must be a whole number from 0 to 1000");
    check_error(OWN "{\"replicas\":[{\"url\":\"http://c/\","
                    "\"timeout\":1000}]}",
                "2:72: error: mcpServers.a.fairlead.replicas[0].timeout: it "
                "holds for all replicas: say it in the entry of the server");
    check_error(OWN "{\"replicas\":[{}]}",
                "2:43: error: mcpServers.a.fairlead.replicas[0]: a server "
                "needs a \"command\" or a \"url\"");
    check_warning("\"command\":\"b\",\"weight\":3",
                  "2:24: warning: mcpServers.a.weight: it has no effect here; "
                  "it belongs into \"fairlead\"");
#undef OWN
}

static void test_config_outages_are_bounded(void **state)
{
    (void)state;
#define OWN "\"url\":\"http://b/\",\"fairlead\":"
    check_warning(OWN "{\"connectAttempts\":100,\"connectBackoff\":86400000,"
                      "\"connectBackoffMax\":86400000,\"queueMax\":10000,"
                      "\"queueBytes\":1073741824,\"queueTime\":86400000,"
                      "\"healthInterval\":0,\"breakerFailures\":1000000,"
                      "\"breakerPause\":86400000}",
                  "");
    check_error(OWN "{\"connectAttempts\":101}",
                "2:49: error: mcpServers.a.fairlead.connectAttempts: it must "
                "be a whole number from 1 to 100");
    check_error(OWN "{\"queueMax\":10001}",
                "2:42: error: mcpServers.a.fairlead.queueMax: it must be a "
                "whole number from 1 to 10000");
    check_error(OWN "{\"queueTime\":0}",
                "2:43: error: mcpServers.a.fairlead.queueTime: it must be a "
                "whole number from 1 to 86400000");
    check_error(OWN "{\"healthInterval\":86400001}",
                "2:48: error: mcpServers.a.fairlead.healthInterval: it must "
                "be a whole number from 0 to 86400000");
    check_error(OWN "{\"connectBackoff\":2,\"connectBackoffMax\":1}",
                "2:48: error: mcpServers.a.fairlead.connectBackoff: it is "
                "more than \"connectBackoffMax\"");
#undef OWN
}

static void test_config_disabled_server_may_lack_things(void **state)
{
    (void)state;
    check_warning("\"disabled\":true,\"url\":\"${NONE}\"",
                  "2:23: warning: mcpServers.a.url: the variable NONE is not "
                  "set; set it, or give a default: ${NONE:-...}");
    check_warning("\"disabled\":true,\"command\":\"${NONE}\"",
                  "2:27: warning: mcpServers.a.command: the variable NONE is "
                  "not set; set it, or give a default: ${NONE:-...}");
    check_warning("\"enabled\":false",
                  "1:16: warning: mcpServers.a: a server needs a \"command\" "
                  "or a \"url\"");
    check_error("\"disabled\":true,\"command\":\"b\",\"timeout\":0",
                "2:41: error: mcpServers.a.timeout: it must be a whole number "
                "from 1 to 86400000");
}

static void test_config_tells_twenty_errors_and_twenty_warnings(void **state)
{
    (void)state;
    char text[4096] = "{\"servers\":{";
    size_t count, len = strlen(text), errors = 0;

    for (int i = 0; i < 21; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "%s\"s%d\":{\"command\":\"b\",\"timeout\":0,"
                                "\"zorro\":1}",
                                i > 0 ? "," : "", i);
    snprintf(text + len, sizeof text - len, "}}");
    fl_config *config = desk_take(fl_span_of(text), FL_E_INVALID);
    const fl_config_problem *problems = fl_config_problems(config, &count);
    for (size_t i = 0; i < count; i++)
        errors += problems[i].is_error ? 1 : 0;
    assert_int_equal(count, 40);
    assert_int_equal(errors, 20);
    fl_config_free(config);
}

static void test_config_long_paths_are_cut(void **state)
{
    (void)state;
    char text[2048] = "{\"servers\":{\"";
    size_t count, len = strlen(text);

    memset(text + len, 'x', 1000);
    snprintf(text + len + 1000, sizeof text - len - 1000,
             "\":{\"command\":\"\\u001b[1m${\\u001b}\"}}}");
    fl_config *config = desk_take(fl_span_of(text), FL_E_INVALID);
    const fl_config_problem *problems = fl_config_problems(config, &count);
    assert_int_equal(count, 2);
    assert_int_equal(strlen(problems[1].path), 255);
    assert_string_equal(problems[1].text,
                        "${?} names no variable; to mean these characters, "
                        "write $${?}");
    fl_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_tells_everything_at_once),
        cmocka_unit_test(test_config_error_is_the_first_problem),
        cmocka_unit_test(test_config_form_of_the_file),
        cmocka_unit_test(test_config_where_the_servers_are),
        cmocka_unit_test(test_config_names),
        cmocka_unit_test(test_config_commands),
        cmocka_unit_test(test_config_variables),
        cmocka_unit_test(test_config_urls),
        cmocka_unit_test(test_config_headers),
        cmocka_unit_test(test_config_other_keys),
        cmocka_unit_test(test_config_own_keys_are_strict),
        cmocka_unit_test(test_config_replicas_are_places_and_nothing_else),
        cmocka_unit_test(test_config_outages_are_bounded),
        cmocka_unit_test(test_config_disabled_server_may_lack_things),
        cmocka_unit_test(test_config_tells_twenty_errors_and_twenty_warnings),
        cmocka_unit_test(test_config_long_paths_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
