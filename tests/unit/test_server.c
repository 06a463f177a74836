/*
 * test_server.c - a server's life with its clients: how a session is opened,
 * what is served when, what is listed, and how it all ends.
 *
 * The client is a raw socket. Calls are test_call.c's, arrays test_batch.c's.
 */
#include "server_host.h"

#include "support/process.h"
#include "support/ration.h"

#include <signal.h>
#include <sys/wait.h>

#define HELLO                                                                  \
    "\"capabilities\":{\"tools\":{\"listChanged\":true},\"logging\":{}},"      \
    "\"serverInfo\":{"                                                         \
    "\"name\":\"host\",\"version\":\"1.2\"}"

#define LIST(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/list\"}"

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"

#define EMPTY(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"

static server_host host;
static raw_peer other;
static char self[4096];

static void check_negotiation(const char *asked, const char *given)
{
    char line[512], want[512];

    host_begin_with(&host, NULL);
    snprintf(line, sizeof line, INITIALIZE("1", "%s"), asked);
    snprintf(want, sizeof want,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"
             "\"%s\"," HELLO "}}",
             given);
    raw_asks(&host.peer, line, want);
    host_end(&host);
}

static void test_server_speaks_the_revision_asked_for(void **state)
{
    (void)state;
    check_negotiation("2024-11-05", "2024-11-05");
    check_negotiation("2025-03-26", "2025-03-26");
    check_negotiation("2025-06-18", "2025-06-18");
    check_negotiation("2025-11-25", "2025-11-25");
}

static void test_server_offers_its_nearest_revision(void **state)
{
    (void)state;
    check_negotiation("2026-07-28", "2025-11-25");
    check_negotiation("2099-01-01", "2025-11-25");
    check_negotiation("2025-05-01", "2025-03-26");
    check_negotiation("2020-01-01", "2024-11-05");
    check_negotiation("latest", "2024-11-05");
    check_negotiation("", "2024-11-05");
}

static void test_server_shows_its_instructions(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    assert_int_equal(
        fl_server_set_instructions(host.server, "say \"please\"\n"), FL_OK);
    raw_asks(&host.peer, INITIALIZE("1", "2025-11-25"),
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"
             "\"2025-11-25\"," HELLO
             ",\"instructions\":\"say \\\"please\\\"\\n\"}}");
    host_end(&host);
}

static void test_server_without_tools_declares_none(void **state)
{
    (void)state;
    host_begin_bare(&host);
    host_listen(&host, NULL);
    raw_asks(&host.peer, INITIALIZE("1", "2025-11-25"),
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"
             "\"2025-11-25\",\"capabilities\":{\"logging\":{}},\"serverInfo\":{"
             "\"name\":"
             "\"host\",\"version\":\"1.2\"}}}");
    raw_asks(&host.peer, LIST("2"),
             ERROR_ANSWER("2", "-32601",
                          "\"method not found, or its capability was not "
                          "declared\",\"data\":{\"method\":\"tools/list\"}"));
    raw_asks(&host.peer, CALL("3", "echo", "{}"),
             ERROR_ANSWER("3", "-32601",
                          "\"method not found, or its capability was not "
                          "declared\",\"data\":{\"method\":\"tools/call\"}"));
    host_end(&host);
}

#define UNCLAIMED                                                              \
    ERROR_ANSWER("5", "-32602",                                                \
                 "\"Missing _meta io.modelcontextprotocol/protocolVersion; "   \
                 "or send initialize\",\"data\":{\"supported\":["              \
                 "\"2026-07-28\"]}")

static void test_server_serves_nothing_before_initialize(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, LIST("5"), UNCLAIMED);
    raw_asks(&host.peer, CALL("5", "echo", "{\"text\":\"x\"}"), UNCLAIMED);
    raw_asks(&host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"server/discover\"}",
             UNCLAIMED);
    raw_asks(&host.peer, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"x\"}",
             UNCLAIMED);
    raw_say(&host.peer, INITIALIZED); /* does not open anything */
    raw_asks(&host.peer, LIST("5"), UNCLAIMED);
    raw_say(&host.peer, INITIALIZE("6", "2025-11-25"));
    raw_hears_part(&host.peer, "\"id\":6,\"result\"");
    host_end(&host);
}

static void test_server_answers_a_ping_at_any_time(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, PING("1"), EMPTY("1"));
    host_greet(&host.peer, "2024-11-05");
    raw_asks(&host.peer, PING("\"p\""), EMPTY("\"p\""));
    raw_say(&host.peer, CALL("7", "wait", "{}"));
    raw_asks(&host.peer, PING("8"), EMPTY("8"));
    host_end(&host);
}

static void test_server_refuses_a_second_initialize(void **state)
{
    const char *refusal =
        ERROR_ANSWER("2", "-32600", "\"this connection is initialized\"");

    (void)state;
    host_begin_with(&host, NULL);
    raw_say(&host.peer, INITIALIZE("1", "2025-06-18"));
    raw_hears_part(&host.peer, "2025-06-18");
    raw_asks(&host.peer, INITIALIZE("2", "2025-06-18"), refusal);
    raw_say(&host.peer, INITIALIZED);
    raw_asks(&host.peer, INITIALIZE("2", "2024-11-05"), refusal);
    host_end(&host);
}

static void test_server_says_what_is_wrong_with_initialize(void **state)
{
    static const struct {
        const char *params;
        const char *what;
    } wrong[] = {
        {"", "protocolVersion must be a string"},
        {",\"params\":[]", "protocolVersion must be a string"},
        {",\"params\":{\"protocolVersion\":20251125}",
         "protocolVersion must be a string"},
        {",\"params\":{\"protocolVersion\":\"2025-11-25\"}",
         "capabilities must be an object"},
        {",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
         "[]}",
         "capabilities must be an object"},
        {",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
         "{}}",
         "clientInfo must be an object"},
        {",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
         "{},\"clientInfo\":\"me\"}",
         "clientInfo must be an object"},
    };
    char line[256], want[256];

    (void)state;
    host_begin_with(&host, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"initialize\"%s}",
                 wrong[i].params);
        snprintf(want, sizeof want, ERROR_ANSWER("9", "-32602", "\"%s\""),
                 wrong[i].what);
        raw_asks(&host.peer, line, want);
    }
    host_greet(&host.peer, "2025-11-25"); /* none of them counted */
    host_end(&host);
}

static void test_server_names_the_method_it_does_not_know(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(&host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}",
             ERROR_ANSWER("1", "-32601",
                          "\"method not found, or its capability was not "
                          "declared\",\"data\":{\"method\":\"resources/list\""
                          "}"));
    /* a notification's name makes no request */
    raw_say(&host.peer, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":"
                        "\"notifications/initialized\"}");
    raw_hears_part(&host.peer, "-32601");
    /* and a request's name no notification */
    raw_say(&host.peer, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}");
    raw_say(&host.peer, "{\"jsonrpc\":\"2.0\",\"method\":\"nonsense\"}");
    raw_say(&host.peer, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_server_leaves_out_a_name_too_long_to_repeat(void **state)
{
    static char line[4096], name[2048];

    (void)state;
    host_begin(&host, "2025-11-25");
    memset(name, 'm', sizeof name - 1);
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"}", name);
    raw_asks(&host.peer, line,
             ERROR_ANSWER("1", "-32601",
                          "\"method not found, or its capability was not "
                          "declared\""));
    host_end(&host);
}

static void test_server_echoes_ids_byte_for_byte(void **state)
{
    static const char *const ids[] = {
        "1",
        "-7",
        "1.50",
        "1e3",
        "123456789012345678901234567890",
        "\"\"",
        "\"1\"",
        "\"a\\u0041\\n\\\"\"",
        "\"\xC3\xA9\"",
    };
    char line[256], want[256];

    (void)state;
    host_begin(&host, "2025-11-25");
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        snprintf(line, sizeof line, PING("%s"), ids[i]);
        snprintf(want, sizeof want, EMPTY("%s"), ids[i]);
        raw_asks(&host.peer, line, want);
        snprintf(line, sizeof line, CALL("%s", "echo", "{\"text\":\"x\"}"),
                 ids[i]);
        snprintf(want, sizeof want, TEXT_ANSWER("%s", "x"), ids[i]);
        raw_asks(&host.peer, line, want);
    }
    host_end(&host);
}

static void check_first_tool(const char *revision, const char *members)
{
    char want[1024];

    host_begin(&host, revision);
    snprintf(want, sizeof want,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":"
             "\"echo\",%s},{\"name\":\"types\",\"inputSchema\":{\"type\":"
             "\"object\"}},",
             members);
    raw_say(&host.peer, LIST("1"));
    const char *heard = raw_hear(&host.peer);
    assert_memory_equal(heard, want, strlen(want));
    raw_say(&host.peer, LIST("1")); /* from what was kept */
    heard = raw_hear(&host.peer);
    assert_memory_equal(heard, want, strlen(want));
    host_end(&host);
}

#define DESCRIPTION "\"description\":\"Says it \\\"again\\\"\","
#define SCHEMA "\"inputSchema\":{\"type\":\"object\",\"required\":[\"text\"]}"

static void test_server_lists_what_each_revision_knows(void **state)
{
    (void)state;
    check_first_tool("2024-11-05", DESCRIPTION SCHEMA);
    check_first_tool("2025-03-26", DESCRIPTION SCHEMA
                     ",\"annotations\":{\"readOnlyHint\":true}");
    check_first_tool("2025-06-18", "\"title\":\"Echo\"," DESCRIPTION SCHEMA
                                   ",\"outputSchema\":{\"type\":\"object\"}"
                                   ",\"annotations\":{\"readOnlyHint\":true}");
    check_first_tool("2025-11-25", "\"title\":\"Echo\"," DESCRIPTION SCHEMA
                                   ",\"outputSchema\":{\"type\":\"object\"}"
                                   ",\"annotations\":{\"readOnlyHint\":true}");
}

static void test_server_knows_no_cursor(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(&host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
             "\"params\":{\"cursor\":\"x\"}}",
             ERROR_ANSWER("1", "-32602",
                          "\"unknown cursor: begin again without one\","
                          "\"data\":{\"cursor\":\"x\"}"));
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
            "\"params\":{}}");
    raw_hears_part(&host.peer, "\"result\":{\"tools\":[");
    host_end(&host);
}

static void test_server_tells_ready_clients_of_a_new_tool(void **state)
{
    const fl_tool late = {.name = "late", .call = tool_echo};

    (void)state;
    host_begin(&host, "2025-11-25");
    host_dial(&host, &other);
    raw_say(&other, INITIALIZE("1", "2025-11-25"));
    raw_hears_part(&other, "\"id\":1"); /* opened, not ready */
    raw_asks(&host.peer, PING("1"), EMPTY("1"));

    assert_int_equal(fl_server_add_tool(host.server, &late), FL_OK);
    raw_hears(&host.peer, "{\"jsonrpc\":\"2.0\",\"method\":"
                          "\"notifications/tools/list_changed\"}");
    raw_hears_nothing(&other);
    raw_say(&host.peer, LIST("2"));
    raw_hears_part(&host.peer, "\"late\"");
    assert_int_equal(fl_server_add_tool(host.server, &late), FL_E_IN_USE);
    raw_hears_nothing(&host.peer);
    raw_close(&other);
    host_end(&host);
}

static void test_server_tells_of_a_new_tool_when_there_is_room(void **state)
{
    const fl_tool late = {.name = "late", .call = tool_echo};
    enum { ASKED = 4000 }; /* far more than the system buffers */
    static char line[64 * 1024];

    (void)state;
    host_begin_with(&host, &(fl_options){.high_water = 1024});
    host_greet(&host.peer, "2025-11-25");
    int len = snprintf(line, sizeof line,
                       CALL("1", "echo", "{\"text\":\"%0*d\"}") "\n", 60000, 0);
    int asked = 0; /* until the answers have nowhere to go */
    while (asked < ASKED &&
           send(host.peer.fd, line, (size_t)len, MSG_NOSIGNAL) == len) {
        asked++;
        for (int i = 0; i < 5; i++)
            fl_loop_step(host.loop);
    }
    assert_true(asked < ASKED);
    assert_int_equal(fl_server_add_tool(host.server, &late), FL_OK);
    const char *heard;
    do /* past the answers that were on their way */
        heard = raw_hear(&host.peer);
    while (strstr(heard, "list_changed") == NULL);
    host_end(&host);
}

static void test_server_refuses_a_tool_that_is_none(void **state)
{
    static const fl_tool wrong[] = {
        {.call = tool_echo},
        {.name = "", .call = tool_echo},
        {.name = "x"},
        {.name = "x", .call = tool_echo, .input_schema = "[]"},
        {.name = "x", .call = tool_echo, .input_schema = "{"},
        {.name = "x", .call = tool_echo, .input_schema = ""},
        {.name = "x", .call = tool_echo, .output_schema = "true"},
        {.name = "x", .call = tool_echo, .annotations = "{} {}"},
    };
    fl_server *server = fl_server_new("host", "1");

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(fl_server_add_tool(server, &wrong[i]), FL_E_INVALID);
    fl_server_free(server);
    fl_server_free(NULL);
}

static void test_server_says_what_is_wrong_with_a_tool(void **state)
{
    static const struct {
        fl_tool tool;
        const char *says;
    } wrong[] = {
        {{.call = tool_echo}, "tool '': it has no name"},
        {{.name = "a"}, "tool 'a': it has no handler"},
        {{.name = "a", .call = tool_echo, .input_schema = "[]"},
         "tool 'a': input_schema is not a JSON object"},
        {{.name = "a", .call = tool_echo, .input_schema = "{}"},
         "tool 'a': input_schema: must have \"type\": \"object\" at its root"},
        {{.name = "a",
          .call = tool_echo,
          .input_schema = "{\"type\":[\"object\"]}"},
         "tool 'a': input_schema: must have \"type\": \"object\" at its root"},
        {{.name = "a", .call = tool_echo, .icons = "{}"},
         "tool 'a': icons is not a JSON array"},
        {{.name = "a", .call = tool_echo, .meta = "7"},
         "tool 'a': meta is not a JSON object"},
        {{.name = "echo", .call = tool_echo}, "tool 'echo': already in use"},
    };

    (void)state;
    host_begin(&host, "2025-11-25");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fl_status rc = fl_server_add_tool(host.server, &wrong[i].tool);
        assert_true(rc == FL_E_INVALID || rc == FL_E_IN_USE);
        assert_int_equal(fl_server_error(host.server)->status, rc);
        assert_string_equal(fl_server_error(host.server)->text, wrong[i].says);
    }
    fl_tool tool = {.name = "a",
                    .call = tool_echo,
                    .input_schema = "{\"properties\":{\"x\":{\"minimum\":\""
                                    "a\"}}}"};
    assert_int_equal(fl_server_add_tool(host.server, &tool), FL_E_INVALID);
    assert_non_null(
        strstr(fl_server_error(host.server)->text, "/properties/x"));
    host_end(&host);
}

static void says(fl_status rc, const char *text)
{
    assert_int_equal(rc, FL_E_INVALID);
    assert_string_equal(fl_server_error(host.server)->text, text);
}

static void test_server_says_what_is_wrong_with_all_else(void **state)
{
    const fl_resource bare = {.uri = "a:", .name = "a"};
    const fl_resource open = {.uri = "a:{", .name = "a", .read = tool_echo};
    const fl_prompt_argument twice[] = {{.name = "x"}, {.name = "x"}};
    const fl_prompt prompt = {
        .name = "p", .get = tool_echo, .arguments = twice, .argument_count = 2};

    (void)state;
    host_begin(&host, "2025-11-25");
    says(fl_server_add_resource(host.server, &bare),
         "resource 'a:': it has no handler");
    says(fl_server_add_template(host.server, &open),
         "template 'a:{': template, byte 3: not the name of a variable");
    says(fl_server_add_prompt(host.server, &prompt),
         "prompt 'p': an argument has no name of its own");
    host_end(&host);
}

static void test_server_says_more_of_itself(void **state)
{
    (void)state;
    host_begin_bare(&host);
    assert_int_equal(fl_server_set_identity(host.server, "[]"), FL_E_INVALID);
    assert_int_equal(
        fl_server_set_identity(host.server,
                               "{\"title\":\"The host\",\"name\":\"x\"}"),
        FL_OK);
    host_listen(&host, NULL);
    raw_say(&host.peer, INITIALIZE("1", "2025-11-25"));
    raw_hears_part(&host.peer, "\"serverInfo\":{\"name\":\"host\",\"version\":"
                               "\"1.2\",\"title\":\"The host\"}");
    host_end(&host);
}

#define LOGGED(level, rest)                                                    \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"   \
    "\"level\":\"" level "\"," rest "}}"

#define SET_LEVEL(id, level)                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"logging/setLevel\",\"params\":{\"level\":" level "}}"

static void test_server_logs_from_the_level_asked_for(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    fl_server_logf(host.server, FL_LEVEL_DEBUG, NULL, "unheard");
    fl_server_logf(host.server, FL_LEVEL_INFO, NULL, "say \"%d\"", 7);
    raw_hears(&host.peer, LOGGED("info", "\"data\":\"say \\\"7\\\"\""));
    raw_asks(&host.peer, SET_LEVEL("1", "\"critical\""),
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    fl_server_logf(host.server, FL_LEVEL_ERROR, "x", "unheard");
    fl_server_logf(host.server, FL_LEVEL_EMERGENCY, "x", "fire");
    raw_hears(&host.peer,
              LOGGED("emergency", "\"logger\":\"x\",\"data\":\"fire\""));
    raw_say(&host.peer, SET_LEVEL("2", "\"loud\""));
    raw_hears_part(&host.peer, "-32602");
    raw_say(&host.peer, SET_LEVEL("3", "7"));
    raw_hears_part(&host.peer, "-32602");
    host_end(&host);
}

static void test_server_listens_on_one_loop_only(void **state)
{
    fl_loop *second = io_loop();
    fl_error error;

    (void)state;
    host_begin_with(&host, NULL);
    assert_int_equal(fl_server_listen(host.server, second, "tcp://127.0.0.1:0",
                                      NULL, &error),
                     FL_E_INVALID);
    assert_string_equal(error.text, "a server listens on one loop");
    assert_int_equal(
        fl_server_listen(host.server, host.loop, "tcp://nope", NULL, &error),
        FL_E_INVALID);
    assert_non_null(strstr(error.text, "tcp://nope"));
    fl_loop_free(second);
    host_end(&host);
}

static void test_server_counts_its_links(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    host_dial(&host, &other);
    raw_asks(&other, PING("1"), EMPTY("1"));
    assert_int_equal(fl_server_links(host.server), 2);
    fl_server_on_idle(host.server, host_closed, &host);
    raw_close(&other);
    io_until(host.loop, fl_server_links(host.server) == 1);
    assert_int_equal(host.closed, 0);
    raw_close(&host.peer);
    io_until(host.loop, host.closed == 1);
    fl_server_on_idle(host.server, NULL, NULL);
    host.closed = 0;
    host_end(&host);
}

static void test_server_that_never_listened_closes_at_once(void **state)
{
    (void)state;
    host_begin_bare(&host);
    host.peer.fd = -1;
    fl_server_close(host.server, 1000, host_closed, &host);
    assert_int_equal(host.closed, 1);
    host_end(&host);
}

static void test_server_close_waits_for_answers(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    raw_say(&host.peer, CALL("2", "wait", "{}"));
    host_kept(&host, 2);
    fl_server_close(host.server, 1000, host_closed, &host);
    raw_hears_nothing(&host.peer);
    host_answer(&host, 1, "two");
    raw_hears(&host.peer, TEXT_ANSWER("2", "two"));
    assert_int_equal(host.closed, 0);
    host.now += 999;
    raw_hears_nothing(&host.peer);
    host_answer(&host, 0, "one");
    raw_hears(&host.peer, TEXT_ANSWER("1", "one"));
    raw_hears_end(&host.peer); /* without waiting for the rest of the grace */
    assert_int_equal(host.cancelled, 0);
    host_end(&host);
}

static void test_server_close_fails_what_is_not_answered_in_time(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    host.answer_cancelled = true;
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    raw_say(&host.peer, CALL("\"two\"", "wait", "{}"));
    host_kept(&host, 2);
    fl_server_close(host.server, 1000, host_closed, &host);
    fl_server_close(host.server, 0, host_closed, &host); /* harmless */
    host.now += 1000;
    raw_hears(&host.peer,
              ERROR_ANSWER("1", "-32603", "\"the server is shutting down\""));
    raw_hears(&host.peer, ERROR_ANSWER("\"two\"", "-32603",
                                       "\"the server is shutting down\""));
    raw_hears_end(&host.peer);
    assert_int_equal(host.cancelled, 2);
    host_end(&host);
}

static void test_server_close_does_not_need_the_handlers(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    host_kept(&host, 1);
    fl_server_close(host.server, 0, host_closed, &host);
    raw_hears_part(&host.peer, "shutting down");
    raw_hears_end(&host.peer);
    raw_close(&host.peer);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.cancelled, 1);
    fl_call_progress(host.kept[0], 1, 2, "nobody hears");
    host_end(&host); /* answers it now */
}

static void test_server_close_shuts_the_door_first(void **state)
{
    fl_error error;

    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    host_kept(&host, 1);
    fl_server_close(host.server, FL_NEVER / 2, host_closed, &host);
    assert_int_equal(fl_server_listen(host.server, host.loop,
                                      "tcp://127.0.0.1:0", NULL, &error),
                     FL_E_STATE);
    io_some_turns(host.loop);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {
        .sin_family = AF_INET,
        .sin_port = htons(fl_server_port(host.server)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(fd);
    host_answer(&host, 0, "done");
    raw_hears(&host.peer, TEXT_ANSWER("1", "done"));
    raw_hears_end(&host.peer);
    host_end(&host);
}

static void test_server_listens_again_after_a_close(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    fl_server_close(host.server, 0, host_closed, &host);
    raw_hears_end(&host.peer);
    raw_close(&host.peer);
    io_until(host.loop, host.closed == 1);
    host.closed = 0;
    host_listen(&host, NULL);
    host_greet(&host.peer, "2025-11-25");
    host_end(&host);
}

/* --serve: what a server program does. */
static int serve(const char *url)
{
    fl_server *server = fl_server_new("run", "1");
    const char *urls[] = {url, NULL};
    const fl_tool tool = {.name = "echo", .call = tool_echo};

    if (fl_server_add_tool(server, &tool) != FL_OK)
        return 3;
    return fl_server_run(server, urls);
}

static pid_t start(const char *url)
{
    pid_t pid = fork();

    if (pid == 0) {
        execl(self, self, "--serve", url, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static int exit_code(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_run_ends_on(int signal)
{
    char path[64], url[80];
    fl_loop *loop = io_loop();

    snprintf(path, sizeof path, "/tmp/fl-run-%d.sock", (int)getpid());
    snprintf(url, sizeof url, "unix:%s", path);
    pid_t pid = start(url);
    io_until(loop, access(path, F_OK) == 0 || !process_alive(pid));
    usleep(20000); /* bound is not yet listening */
    raw_take(&other, loop, raw_dial_unix(path));
    host_greet(&other, "2025-11-25");
    raw_asks(&other, CALL("1", "echo", "{\"text\":\"x\"}"),
             TEXT_ANSWER("1", "x"));
    kill(pid, signal);
    raw_hears_end(&other);
    assert_int_equal(exit_code(pid), 0);
    assert_int_equal(access(path, F_OK), -1);
    raw_close(&other);
    fl_loop_free(loop);
}

static void test_server_run_ends_in_order_on_a_signal(void **state)
{
    (void)state;
    check_run_ends_on(SIGTERM);
    check_run_ends_on(SIGINT);
}

static void test_server_run_says_what_is_wrong(void **state)
{
    int fds[2];
    char text[512] = "";

    (void)state;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        execl(self, self, "--serve", "tcp://0.0.0.0:0", (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    assert_int_equal(exit_code(pid), 1);
    assert_true(read(fds[0], text, sizeof text - 1) > 0);
    assert_memory_equal(text, "fairlead: address '0.0.0.0'", 27);
    close(fds[0]);
}

static void check_fail_says(fl_server *server, const char *says)
{
    int fds[2];
    char text[512] = "";

    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        _exit(fl_server_fail(server));
    }
    close(fds[1]);
    assert_int_equal(exit_code(pid), 1);
    assert_true(read(fds[0], text, sizeof text - 1) > 0);
    assert_string_equal(text, says);
    close(fds[0]);
}

static void test_server_fail_says_what_could_not_be_added(void **state)
{
    fl_server *server = fl_server_new("fail", "1");
    const fl_tool tool = {.name = "add",
                          .input_schema = "{\"type\":\"objekt\"}",
                          .call = tool_echo};
    char says[300];

    (void)state;
    check_fail_says(NULL, "fairlead: out of memory\n");
    check_fail_says(server, "fairlead: the server could not be set up\n");
    assert_int_equal(fl_server_add_tool(server, &tool), FL_E_INVALID);
    assert_non_null(strstr(fl_server_error(server)->text, "'add'"));
    snprintf(says, sizeof says, "fairlead: %s\n",
             fl_server_error(server)->text);
    check_fail_says(server, says);
    fl_server_free(server); /* the children's were copies */
}

/* One client's whole visit, with memory that runs out somewhere in it. */
static void visit(void *user)
{
    uint64_t now = 1000;
    fl_clock clock = {io_read_clock, &now};
    fl_error error;

    (void)user;
    fl_loop *loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    if (loop == NULL)
        return;
    host.kept_count = host.cancelled = host.closed = 0;
    host.loop = loop;
    host.server = fl_server_new("host", "1");
    if (host.server != NULL && host_add_tools(&host) == FL_OK &&
        fl_server_listen(host.server, loop, "tcp://127.0.0.1:0", NULL,
                         &error) == FL_OK) {
        static const char types[] =
            CALL("4", "types", "{\"t\":\"\\n\",\"n\":1,\"i\":2,\"b\":true}");
        char lines[1024];
        int len = snprintf(lines, sizeof lines, "%s\n%s\n%s\n%s\n%s\n%s\n",
                           INITIALIZE("1", "2025-03-26"), INITIALIZED,
                           LIST("2"), CALL("3", "wait", "{}"), types,
                           "[" PING("5") "," PING("6") "]\nnonsense");
        int fd = raw_dial(fl_server_port(host.server));
        send(fd, lines, (size_t)len, MSG_NOSIGNAL);
        for (int i = 0; i < 20; i++)
            fl_loop_step(loop);
        if (host.kept_count > 0)
            fl_call_replyf(host.kept[0], "%600d", 1);
        for (int i = 0; i < 5; i++)
            fl_loop_step(loop);
        close(fd);
    }
    if (host.server != NULL) {
        fl_server_close(host.server, 0, host_closed, &host);
        for (int i = 0; i < 1000 && host.closed == 0; i++, now += 1000)
            io_turn(loop);
        assert_int_equal(host.closed, 1);
    }
    fl_server_free(host.server);
    fl_loop_free(loop);
}

static void test_server_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(visit, NULL) > 30);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server_speaks_the_revision_asked_for),
        cmocka_unit_test(test_server_offers_its_nearest_revision),
        cmocka_unit_test(test_server_shows_its_instructions),
        cmocka_unit_test(test_server_without_tools_declares_none),
        cmocka_unit_test(test_server_serves_nothing_before_initialize),
        cmocka_unit_test(test_server_answers_a_ping_at_any_time),
        cmocka_unit_test(test_server_refuses_a_second_initialize),
        cmocka_unit_test(test_server_says_what_is_wrong_with_initialize),
        cmocka_unit_test(test_server_names_the_method_it_does_not_know),
        cmocka_unit_test(test_server_leaves_out_a_name_too_long_to_repeat),
        cmocka_unit_test(test_server_echoes_ids_byte_for_byte),
        cmocka_unit_test(test_server_lists_what_each_revision_knows),
        cmocka_unit_test(test_server_knows_no_cursor),
        cmocka_unit_test(test_server_tells_ready_clients_of_a_new_tool),
        cmocka_unit_test(test_server_tells_of_a_new_tool_when_there_is_room),
        cmocka_unit_test(test_server_refuses_a_tool_that_is_none),
        cmocka_unit_test(test_server_says_what_is_wrong_with_a_tool),
        cmocka_unit_test(test_server_says_what_is_wrong_with_all_else),
        cmocka_unit_test(test_server_says_more_of_itself),
        cmocka_unit_test(test_server_logs_from_the_level_asked_for),
        cmocka_unit_test(test_server_listens_on_one_loop_only),
        cmocka_unit_test(test_server_counts_its_links),
        cmocka_unit_test(test_server_that_never_listened_closes_at_once),
        cmocka_unit_test(test_server_close_waits_for_answers),
        cmocka_unit_test(test_server_close_fails_what_is_not_answered_in_time),
        cmocka_unit_test(test_server_close_does_not_need_the_handlers),
        cmocka_unit_test(test_server_close_shuts_the_door_first),
        cmocka_unit_test(test_server_listens_again_after_a_close),
        cmocka_unit_test(test_server_run_ends_in_order_on_a_signal),
        cmocka_unit_test(test_server_run_says_what_is_wrong),
        cmocka_unit_test(test_server_fail_says_what_could_not_be_added),
        cmocka_unit_test(test_server_survives_every_failed_allocation),
    };

    if (argc > 2 && strcmp(argv[1], "--serve") == 0)
        return serve(argv[2]);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
