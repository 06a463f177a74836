/*
 * test_client.c - a client against a server that is a raw socket: what leaves
 * is compared byte for byte, what comes in is whatever the test says.
 *
 * The clock is driven, so every timeout and every wait between attempts is
 * the test's doing. The server is of the legacy era, and known to be: how that
 * is found out, and what is different in the modern one, is test_era.c's.
 */
#include "base/span.h"
#include "raw_peer.h"
#include "support/ration.h"

#include <fairlead/fairlead.h>

/* In which of its callbacks the client is closed. */
typedef enum close_in {
    CLOSE_NEVER,
    CLOSE_IN_READY,
    CLOSE_IN_ANSWER,
    CLOSE_IN_PROGRESS,
    CLOSE_IN_NOTIFICATION,
} close_in;

typedef struct desk {
    uint64_t now;
    fl_loop *loop;
    fl_client *client;
    int door; /* where the raw server listens */
    uint16_t port;
    close_in close_in;
    int ready, notes, closed, answers, progresses;
    uint64_t cancel_in_answer; /* the request to cancel in the next one */
    fl_error why;
    fl_status status; /* of the last answer */
    int code;
    int in_order[8]; /* the answers' users, as they came */
    char result[256], error[256], text[256];
    char note[128];
    double progress, total;
    char message[64];
} desk;

static desk at;
static raw_peer server;
static int users[8] = {0, 1, 2, 3, 4, 5, 6, 7};

#define INITIALIZE_1                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"     \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"  \
    "\"name\":\"fairlead\",\"version\":\"" FL_VERSION "\"}}}"

#define INITIALIZED                                                            \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

#define WELCOME(id, version)                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"result\":{\"protocolVersion\":\"" version                              \
    "\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"raw\","     \
    "\"version\":\"7\"},\"instructions\":\"be kind\"}}"

#define ANSWER(id, result)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"

#define REQUEST(id, method)                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"

#define GAVE_UP(id, reason)                                                    \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{" \
    "\"requestId\":" id ",\"reason\":\"" reason "\"}}"

static void close_when(close_in where)
{
    if (at.close_in == where)
        fl_client_close(at.client);
}

static void keep(char *to, size_t size, fl_span text)
{
    snprintf(to, size, "%.*s", (int)text.len, text.len > 0 ? text.ptr : "");
}

static void on_ready(fl_client *client, void *user)
{
    assert_ptr_equal(user, &at);
    assert_int_equal(at.closed, 0);
    assert_true(at.client == NULL || at.client == client);
    at.ready++;
    close_when(CLOSE_IN_READY);
}

static void on_notification(fl_client *client, fl_span method, fl_span params,
                            void *user)
{
    (void)client;
    (void)user;
    at.notes++;
    snprintf(at.note, sizeof at.note, "%.*s %.*s", (int)method.len, method.ptr,
             (int)params.len, params.len > 0 ? params.ptr : "");
    close_when(CLOSE_IN_NOTIFICATION);
}

static void on_closed(fl_client *client, const fl_error *why, void *user)
{
    (void)user;
    assert_int_equal(
        fl_client_request(client, "ping", FL_SPAN(""), NULL, NULL, NULL, NULL),
        FL_E_CLOSED);
    at.closed++;
    at.why = *why;
    at.client = NULL;
}

static const fl_client_events events = {
    .on_ready = on_ready,
    .on_notification = on_notification,
    .on_closed = on_closed,
};

static void on_answer(fl_client *client, const fl_answer *answer, void *user)
{
    if (at.cancel_in_answer != 0)
        fl_client_cancel(client, at.cancel_in_answer, NULL);
    at.cancel_in_answer = 0;
    if (user != NULL && at.answers < 8)
        at.in_order[at.answers] = *(int *)user;
    at.answers++;
    at.status = answer->status;
    at.code = answer->code;
    keep(at.result, sizeof at.result, answer->result);
    keep(at.error, sizeof at.error, answer->error);
    keep(at.text, sizeof at.text, answer->text);
    close_when(CLOSE_IN_ANSWER);
}

static void on_progress(fl_client *client, double progress, double total,
                        fl_span message, void *user)
{
    (void)client;
    (void)user;
    at.progresses++;
    at.progress = progress;
    at.total = total;
    keep(at.message, sizeof at.message, message);
    close_when(CLOSE_IN_PROGRESS);
}

static void begin_with(const fl_client_options *options)
{
    fl_client_options legacy =
        options != NULL ? *options : (fl_client_options){0};
    char url[64];
    fl_error error;

    legacy.era = FL_ERA_LEGACY;

    at = (desk){.now = 1000};
    at.loop = io_driven_loop(&at.now);
    at.door = raw_listen(&at.port);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", at.port);
    assert_int_equal(
        fl_client_open(at.loop, url, &legacy, &events, &at, &at.client, &error),
        FL_OK);
    server.fd = -1;
}

/* The server's part of the handshake. */
static void welcome(const char *id)
{
    char line[512];

    raw_hears_part(&server, "\"method\":\"initialize\"");
    snprintf(line, sizeof line, WELCOME("%s", "2025-11-25"), id);
    raw_say(&server, line);
    raw_hears(&server, INITIALIZED);
}

static void begin_ready(const fl_client_options *options)
{
    begin_with(options);
    raw_accept(&server, at.loop, at.door);
    welcome("1");
    assert_int_equal(at.ready, 1);
}

static void end(void)
{
    if (at.client != NULL)
        fl_client_close(at.client);
    io_until(at.loop, (at.now += 500, at.closed > 0));
    io_some_turns(at.loop);
    assert_int_equal(at.closed, 1);
    fl_loop_free(at.loop);
    close(at.door);
    if (server.fd >= 0)
        close(server.fd);
}

static void ask(const char *method, int *user)
{
    assert_int_equal(fl_client_request(at.client, method, FL_SPAN(""), NULL,
                                       on_answer, user, NULL),
                     FL_OK);
}

static void check_closed(fl_status status, const char *text)
{
    io_until(at.loop, (at.now += 500, at.closed > 0));
    assert_int_equal(at.why.status, status);
    assert_string_equal(at.why.text, text);
}

static void test_client_shakes_hands(void **state)
{
    (void)state;
    begin_with(NULL);
    assert_string_equal(fl_client_revision(at.client), "");
    assert_int_equal(fl_client_server_info(at.client).len, 0);
    raw_accept(&server, at.loop, at.door);
    raw_hears(&server, INITIALIZE_1);
    raw_hears_nothing(&server);
    assert_int_equal(at.ready, 0);
    raw_say(&server, WELCOME("1", "2025-06-18"));
    raw_hears(&server, INITIALIZED);
    assert_int_equal(at.ready, 1);
    assert_string_equal(fl_client_revision(at.client), "2025-06-18");
    keep(at.text, sizeof at.text, fl_client_server_info(at.client));
    assert_string_equal(at.text, "{\"name\":\"raw\",\"version\":\"7\"}");
    keep(at.text, sizeof at.text, fl_client_capabilities(at.client));
    assert_string_equal(at.text, "{\"tools\":{}}");
    keep(at.text, sizeof at.text, fl_client_instructions(at.client));
    assert_string_equal(at.text, "\"be kind\"");
    fl_client_close(at.client);
    check_closed(FL_OK, "");
    end();
}

static void test_client_offers_what_it_is_told_to(void **state)
{
    const fl_client_options options = {
        .name = "me \"too\"", .version = "9", .revision = "2024-11-05"};

    (void)state;
    begin_with(&options);
    raw_accept(&server, at.loop, at.door);
    raw_hears(&server,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
              "\"params\":{\"protocolVersion\":\"2024-11-05\","
              "\"capabilities\":{},\"clientInfo\":{\"name\":\"me "
              "\\\"too\\\"\",\"version\":\"9\"}}}");
    end();
}

static void check_refused_option(const char *url,
                                 const fl_client_options *options,
                                 const char *part)
{
    fl_loop *loop = io_loop();
    fl_client *client;
    fl_error error;

    assert_int_equal(
        fl_client_open(loop, url, options, &events, &at, &client, &error),
        FL_E_INVALID);
    assert_null(client);
    if (strstr(error.text, part) == NULL)
        fail_msg("no '%s' in '%s'", part, error.text);
    fl_loop_free(loop);
}

static void test_client_names_the_option_that_is_wrong(void **state)
{
    (void)state;
    check_refused_option(
        "tcp://127.0.0.1:1",
        &(fl_client_options){.revision = "2026-07-28", .era = FL_ERA_LEGACY},
        "option revision: '2026-07-28'");
    check_refused_option(
        "tcp://127.0.0.1:1",
        &(fl_client_options){.revision = "2025-11-25", .era = FL_ERA_MODERN},
        "option revision: '2025-11-25'");
    check_refused_option("tcp://127.0.0.1:1",
                         &(fl_client_options){.era = (fl_era)3},
                         "option era: 3");
    check_refused_option("tcp://127.0.0.1:1",
                         &(fl_client_options){.revision = "soon"},
                         "option revision: 'soon'");
    check_refused_option("tcp://127.0.0.1:0", NULL, "port 0");
    check_refused_option("nowhere", NULL, "'nowhere'");
    check_refused_option(NULL, NULL, "option child.argv");
    check_refused_option("tcp://127.0.0.1:1",
                         &(fl_client_options){.connection.max_message = 1},
                         "option max_message");
}

static void check_refused_welcome(const char *line, fl_status status,
                                  const char *text)
{
    begin_with(NULL);
    ask("ping", users);
    raw_accept(&server, at.loop, at.door);
    raw_hears_part(&server, "\"id\":2,\"method\":\"initialize\"");
    raw_say(&server, line);
    check_closed(status, text);
    assert_int_equal(at.ready, 0);
    assert_int_equal(at.answers, 1); /* what waited is told */
    assert_int_equal(at.status, FL_E_CLOSED);
    assert_string_equal(at.text, text);
    end();
}

static void test_client_leaves_a_server_it_cannot_speak_with(void **state)
{
    (void)state;
    check_refused_welcome(WELCOME("2", "2031-01-01"), FL_E_UNSUPPORTED,
                          "this client does not speak the revision the server "
                          "wants: 2031-01-01");
    check_refused_welcome(WELCOME("2", "2026-07-28"), FL_E_UNSUPPORTED,
                          "this client does not speak the revision the server "
                          "wants: 2026-07-28");
    check_refused_welcome(
        ANSWER("2", "{}"), FL_E_BAD_MESSAGE,
        "the server's answer to initialize has no protocolVersion");
    check_refused_welcome(
        ANSWER("2", "{\"protocolVersion\":7}"), FL_E_BAD_MESSAGE,
        "the server's answer to initialize has no protocolVersion");
    check_refused_welcome("{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":"
                          "-32000,\"message\":\"go \\\"away\\\"\"}}",
                          FL_E_REMOTE, "initialize failed: go \"away\"");
}

static void test_client_gives_up_a_server_that_never_welcomes_it(void **state)
{
    (void)state;
    begin_with(&(fl_client_options){.request_timeout_ms = 5000});
    raw_accept(&server, at.loop, at.door);
    raw_hears(&server, INITIALIZE_1);
    at.now += 4999;
    raw_hears_nothing(&server);
    assert_int_equal(at.closed, 0);
    at.now += 1;
    check_closed(FL_E_TIMEOUT, "initialize failed: no answer, and no progress, "
                               "for 5000 ms");
    raw_hears_end(&server); /* initialize is not cancelled (MCP) */
    end();
}

static void test_client_requests_wait_until_it_is_ready(void **state)
{
    (void)state;
    begin_with(NULL);
    ask("ping", users);
    ask("tools/list", users + 1);
    assert_int_equal(
        fl_client_notify(at.client, "notifications/x", FL_SPAN("")),
        FL_E_STATE);
    raw_accept(&server, at.loop, at.door);
    raw_hears_part(&server, "\"id\":3,\"method\":\"initialize\"");
    raw_hears_nothing(&server);
    raw_say(&server, WELCOME("3", "2025-11-25"));
    raw_hears(&server, INITIALIZED);
    raw_hears(&server, REQUEST("1", "ping"));
    raw_hears(&server, REQUEST("2", "tools/list"));
    raw_say(&server, ANSWER("2", "{\"tools\":[]}"));
    raw_say(&server, ANSWER("1", "{}"));
    io_until(at.loop, at.answers == 2);
    assert_int_equal(at.in_order[0], 1);
    assert_int_equal(at.in_order[1], 0);
    end();
}

static void test_client_says_what_the_answer_was(void **state)
{
    (void)state;
    begin_ready(NULL);
    assert_int_equal(fl_client_request(at.client, "ping",
                                       FL_SPAN(" {\"a\" : 1} "), NULL,
                                       on_answer, NULL, NULL),
                     FL_OK);
    assert_int_equal(at.answers, 0); /* always later */
    raw_hears(&server, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\","
                       "\"params\":{\"a\" : 1}}");
    raw_say(&server, ANSWER("2", "[1, 2]"));
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_OK);
    assert_string_equal(at.result, "[1, 2]");
    ask("ping", NULL);
    raw_hears(&server, REQUEST("3", "ping"));
    raw_say(&server, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-7,"
                     "\"message\":\"n\\u006f\",\"data\":[]}}");
    io_until(at.loop, at.answers == 2);
    assert_int_equal(at.status, FL_E_REMOTE);
    assert_int_equal(at.code, -7);
    assert_string_equal(at.text, "no");
    assert_string_equal(at.error, "{\"code\":-7,\"message\":\"n\\u006f\","
                                  "\"data\":[]}");
    assert_string_equal(at.result, "");
    ask("ping", NULL);
    raw_hears(&server, REQUEST("4", "ping"));
    raw_say(&server, "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":"
                     "4294967295,\"message\":\"more than an int\"}}");
    io_until(at.loop, at.answers == 3);
    assert_int_equal(at.code, -32603); /* and not -1 */
    end();
}

static void test_client_calls_a_tool(void **state)
{
    (void)state;
    begin_ready(NULL);
    assert_int_equal(fl_client_call_tool(at.client, FL_SPAN("a \"b\""),
                                         FL_SPAN("{\"x\":\n1}"), NULL,
                                         on_answer, NULL, NULL),
                     FL_OK);
    raw_hears(&server,
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
              "\"params\":{\"name\":\"a \\\"b\\\"\",\"arguments\":{\"x\": "
              "1}}}");
    assert_int_equal(fl_client_call_tool(at.client, FL_SPAN("c"), FL_SPAN(""),
                                         NULL, on_answer, NULL, NULL),
                     FL_OK);
    raw_hears(&server, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
                       "call\",\"params\":{\"name\":\"c\"}}");
    assert_int_equal(fl_client_call_tool(at.client, FL_SPAN("c"),
                                         FL_SPAN("{\"x\":"), NULL, on_answer,
                                         NULL, NULL),
                     FL_E_INVALID);
    end();
}

static void test_client_refuses_what_is_no_request(void **state)
{
    static const char *const methods[] = {"", "a\"b", "a\nb", "a b",
                                          "\xC3\xA9"};

    (void)state;
    begin_ready(NULL);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        assert_int_equal(fl_client_request(at.client, methods[i], FL_SPAN(""),
                                           NULL, on_answer, NULL, NULL),
                         FL_E_INVALID);
        assert_int_equal(fl_client_notify(at.client, methods[i], FL_SPAN("")),
                         FL_E_INVALID);
    }
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN("[]"), NULL,
                                       on_answer, NULL, NULL),
                     FL_E_INVALID);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN("{},{}"),
                                       NULL, on_answer, NULL, NULL),
                     FL_E_INVALID);
    assert_int_equal(fl_client_notify(at.client, "x", FL_SPAN("1")),
                     FL_E_INVALID);
    assert_int_equal(fl_client_notify(at.client, "x", FL_SPAN("{\"a\":1}")),
                     FL_OK);
    raw_hears(&server, "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{"
                       "\"a\":1}}");
    assert_int_equal(fl_client_notify(at.client, "y", FL_SPAN("")), FL_OK);
    raw_hears(&server, "{\"jsonrpc\":\"2.0\",\"method\":\"y\"}");
    end();
}

static void test_client_asks_only_for_what_was_declared(void **state)
{
    (void)state;
    begin_with(NULL);
    ask("prompts/list", users); /* not known yet: it waits */
    raw_accept(&server, at.loop, at.door);
    raw_hears_part(&server, "initialize");
    raw_say(&server, WELCOME("2", "2025-11-25"));
    raw_hears(&server, INITIALIZED);
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_E_UNSUPPORTED);
    static const char *const methods[] = {"prompts/list", "resources/read",
                                          "logging/setLevel",
                                          "completion/complete"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        assert_int_equal(fl_client_request(at.client, methods[i], FL_SPAN(""),
                                           NULL, on_answer, NULL, NULL),
                         FL_E_UNSUPPORTED);
    raw_hears_nothing(&server);
    ask("vendor/thing", NULL); /* belongs to no capability */
    raw_hears(&server, REQUEST("3", "vendor/thing"));
    end();
}

static void test_client_fails_what_is_too_big_to_send(void **state)
{
    static char params[5000];

    (void)state;
    begin_ready(&(fl_client_options){.connection.max_message = 4096});
    snprintf(params, sizeof params, "{\"a\":\"%0*d\"}", 4096, 0);
    assert_int_equal(fl_client_request(at.client, "ping", fl_span_of(params),
                                       NULL, on_answer, NULL, NULL),
                     FL_OK);
    assert_int_equal(at.answers, 0);
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_E_TOO_BIG);
    ask("ping", NULL);
    raw_hears(&server, REQUEST("3", "ping")); /* the rest goes on */
    end();
}

static void test_client_times_out_and_says_so(void **state)
{
    const fl_request_options options = {.timeout_ms = 250};

    (void)state;
    begin_ready(NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), &options,
                                       on_answer, NULL, NULL),
                     FL_OK);
    raw_hears(&server, REQUEST("2", "ping"));
    at.now += 249;
    raw_hears_nothing(&server);
    assert_int_equal(at.answers, 0);
    at.now += 1;
    raw_hears(&server, GAVE_UP("2", "timed out"));
    assert_int_equal(at.answers, 1);
    assert_int_equal(at.status, FL_E_TIMEOUT);
    assert_string_equal(at.text, "no answer, and no progress, for 250 ms");
    raw_say(&server, ANSWER("2", "{}")); /* late, and dropped */
    raw_hears_nothing(&server);
    assert_int_equal(at.answers, 1);
    end();
}

static void test_client_timeout_may_be_never(void **state)
{
    const fl_request_options options = {.timeout_ms = FL_NEVER};
    const fl_request_options long_one = {.timeout_ms = FL_NEVER / 10 + 1};

    (void)state;
    begin_ready(NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), &options,
                                       on_answer, NULL, NULL),
                     FL_OK);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""),
                                       &long_one, on_answer, NULL, NULL),
                     FL_OK);
    raw_hears(&server, REQUEST("2", "ping"));
    raw_hears(&server, REQUEST("3", "ping"));
    at.now += UINT64_C(1000) * 86400 * 365;
    raw_hears_nothing(&server);
    assert_int_equal(at.answers, 0);
    end();
}

static void test_client_what_waits_times_out_in_silence(void **state)
{
    (void)state;
    begin_with(NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""),
                                       &(fl_request_options){.timeout_ms = 50},
                                       on_answer, NULL, NULL),
                     FL_OK);
    raw_accept(&server, at.loop, at.door);
    raw_hears_part(&server, "initialize");
    at.now += 50;
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_E_TIMEOUT);
    raw_say(&server, WELCOME("2", "2025-11-25"));
    raw_hears(&server, INITIALIZED);
    raw_hears_nothing(&server);
    end();
}

static void say_progress(const char *rest)
{
    char line[256];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
             "\"params\":{\"progressToken\":2,%s}}",
             rest);
    raw_say(&server, line);
}

static void test_client_hears_of_progress(void **state)
{
    const fl_request_options options = {.on_progress = on_progress};

    (void)state;
    begin_ready(NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), &options,
                                       on_answer, NULL, NULL),
                     FL_OK);
    raw_hears(&server, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\","
                       "\"params\":{\"_meta\":{\"progressToken\":2}}}");
    say_progress("\"progress\":0.5,\"total\":4,\"message\":\"so \\\"far\\\"\"");
    io_until(at.loop, at.progresses == 1);
    assert_true(at.progress == 0.5 && at.total == 4);
    assert_string_equal(at.message, "so \"far\"");
    say_progress("\"progress\":1");
    io_until(at.loop, at.progresses == 2);
    assert_true(at.progress == 1 && at.total == 0);
    assert_string_equal(at.message, "");
    say_progress("\"progress\":\"much\"");
    say_progress("\"total\":1");
    raw_say(&server, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                     "progress\",\"params\":{\"progressToken\":\"2\","
                     "\"progress\":1}}");
    raw_say(&server, ANSWER("2", "{}"));
    io_until(at.loop, at.answers == 1);
    say_progress("\"progress\":2"); /* late */
    raw_hears_nothing(&server);
    assert_int_equal(at.progresses, 2);
    assert_int_equal(at.notes, 0);
    end();
}

static void test_client_puts_its_token_beside_what_is_there(void **state)
{
    const fl_request_options options = {.on_progress = on_progress};
    static const char *const params[][2] = {
        {"{}", "{\"_meta\":{\"progressToken\":%d}}"},
        {"{\"a\":1}", "{\"_meta\":{\"progressToken\":%d},\"a\":1}"},
        {"{\"_meta\":{}}", "{\"_meta\":{\"progressToken\":%d}}"},
        {"{\"a\":1,\"_meta\":{\"b\":2}}",
         "{\"a\":1,\"_meta\":{\"progressToken\":%d,\"b\":2}}"},
        {"{ }", "{\"_meta\":{\"progressToken\":%d} }"},
    };
    char head[128], want[256];

    (void)state;
    begin_ready(NULL);
    for (int i = 0; i < (int)(sizeof params / sizeof *params); i++) {
        assert_int_equal(fl_client_request(at.client, "ping",
                                           fl_span_of(params[i][0]), &options,
                                           on_answer, NULL, NULL),
                         FL_OK);
        snprintf(head, sizeof head,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\","
                 "\"params\":",
                 i + 2);
        const char *heard = raw_hear(&server);
        assert_memory_equal(heard, head, strlen(head));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(want, sizeof want, params[i][1], i + 2);
#pragma GCC diagnostic pop
        assert_memory_equal(heard + strlen(head), want, strlen(want));
        assert_string_equal(heard + strlen(head) + strlen(want), "}");
    }
    end();
}

static void test_client_progress_renews_the_timeout_up_to_a_limit(void **state)
{
    const fl_request_options options = {
        .timeout_ms = 100, .max_total_ms = 250, .on_progress = on_progress};

    (void)state;
    begin_ready(NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), &options,
                                       on_answer, NULL, NULL),
                     FL_OK);
    raw_hears_part(&server, "\"id\":2");
    for (int i = 1; i <= 2; i++) {
        at.now += 99;
        io_some_turns(at.loop);
        say_progress("\"progress\":1");
        io_until(at.loop, at.progresses == i);
    }
    at.now += 51; /* 249 in all */
    raw_hears_nothing(&server);
    assert_int_equal(at.answers, 0);
    at.now += 1;
    raw_hears(&server, GAVE_UP("2", "timed out"));
    assert_int_equal(at.status, FL_E_TIMEOUT);
    end();
}

static void test_client_cancels(void **state)
{
    uint64_t first, second;

    (void)state;
    begin_ready(NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), NULL,
                                       on_answer, users, &first),
                     FL_OK);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), NULL,
                                       on_answer, users + 1, &second),
                     FL_OK);
    raw_hears(&server, REQUEST("2", "ping"));
    raw_hears(&server, REQUEST("3", "ping"));
    assert_int_equal(fl_client_cancel(at.client, first, "not \"now\""), FL_OK);
    assert_int_equal(at.answers, 0); /* later */
    assert_int_equal(fl_client_cancel(at.client, first, NULL), FL_E_NOT_FOUND);
    raw_hears(&server, GAVE_UP("2", "not \\\"now\\\""));
    assert_int_equal(at.answers, 1);
    assert_int_equal(at.status, FL_E_CANCELLED);
    raw_say(&server, ANSWER("2", "{}"));
    assert_int_equal(fl_client_cancel(at.client, second, NULL), FL_OK);
    raw_say(&server, ANSWER("3", "{}")); /* crosses it, and is too late */
    raw_hears(&server, GAVE_UP("3", "cancelled"));
    raw_hears_nothing(&server);
    assert_int_equal(at.answers, 2);
    assert_int_equal(at.status, FL_E_CANCELLED);
    assert_int_equal(fl_client_cancel(at.client, second, NULL), FL_E_NOT_FOUND);
    assert_int_equal(fl_client_cancel(at.client, 1, NULL), FL_E_NOT_FOUND);
    end();
}

static void test_client_cancels_what_has_not_left_in_silence(void **state)
{
    uint64_t id;

    (void)state;
    begin_with(NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), NULL,
                                       on_answer, NULL, &id),
                     FL_OK);
    assert_int_equal(fl_client_cancel(at.client, id, NULL), FL_OK);
    raw_accept(&server, at.loop, at.door);
    raw_hears_part(&server, "initialize");
    assert_int_equal(at.answers, 1);
    assert_int_equal(at.status, FL_E_CANCELLED);
    raw_say(&server, WELCOME("2", "2025-11-25"));
    raw_hears(&server, INITIALIZED);
    raw_hears_nothing(&server);
    end();
}

static void test_client_is_busy_past_the_most_in_flight(void **state)
{
    const fl_client_options options = {.connection.max_in_flight = 2};

    (void)state;
    begin_ready(&options);
    ask("ping", NULL);
    ask("ping", NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), NULL,
                                       on_answer, NULL, NULL),
                     FL_BUSY);
    raw_hears(&server, REQUEST("2", "ping"));
    raw_hears(&server, REQUEST("3", "ping"));
    raw_say(&server, ANSWER("3", "{}"));
    io_until(at.loop, at.answers == 1);
    ask("ping", NULL);
    raw_hears_part(&server, "\"method\":\"ping\"");
    end();
}

/* What waits must not be in the way of initialize, or it waits for ever. */
static void test_client_opens_however_much_waits_for_it(void **state)
{
    const fl_client_options options = {.connection.max_in_flight = 1};

    (void)state;
    begin_with(&options);
    ask("ping", NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), NULL,
                                       on_answer, NULL, NULL),
                     FL_BUSY);
    raw_accept(&server, at.loop, at.door);
    raw_hears_part(&server, "\"method\":\"initialize\"");
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), NULL,
                                       on_answer, NULL, NULL),
                     FL_BUSY);
    raw_say(&server, WELCOME("2", "2025-11-25"));
    raw_hears(&server, INITIALIZED);
    raw_hears(&server, REQUEST("1", "ping"));
    raw_say(&server, ANSWER("1", "{}"));
    io_until(at.loop, at.answers == 1);
    end();
}

static void test_client_does_not_count_initialize_as_in_flight(void **state)
{
    const fl_client_options options = {.connection.max_in_flight = 1};

    (void)state;
    begin_with(&options);
    raw_accept(&server, at.loop, at.door);
    raw_hears(&server, INITIALIZE_1);
    ask("ping", NULL);
    raw_say(&server, WELCOME("1", "2025-11-25"));
    raw_hears(&server, INITIALIZED);
    raw_hears(&server, REQUEST("2", "ping"));
    end();
}

static void test_client_answers_the_server(void **state)
{
    (void)state;
    begin_ready(NULL);
    raw_asks(&server, REQUEST("\"p\"", "ping"), ANSWER("\"p\"", "{}"));
    raw_asks(&server, REQUEST("9", "roots/list"),
             "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32601,"
             "\"message\":\"this client has not declared that\"}}");
    raw_say(&server, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                     "message\",\"params\":{\"level\":\"info\"}}");
    io_until(at.loop, at.notes == 1);
    assert_string_equal(at.note, "notifications/message {\"level\":\"info\"}");
    end();
}

static void test_client_answers_a_ping_before_it_is_ready(void **state)
{
    (void)state;
    begin_with(NULL);
    raw_accept(&server, at.loop, at.door);
    raw_hears(&server, INITIALIZE_1);
    raw_asks(&server, REQUEST("1", "ping"), ANSWER("1", "{}"));
    end();
}

static void test_client_takes_a_batch(void **state)
{
    (void)state;
    begin_ready(NULL);
    ask("ping", users);
    ask("ping", users + 1);
    raw_hears(&server, REQUEST("2", "ping"));
    raw_hears(&server, REQUEST("3", "ping"));
    raw_say(&server,
            "[" ANSWER("3", "{}") ",7,{\"jsonrpc\":\"2.0\","
                                  "\"method\":\"n\"}," ANSWER("2", "{}") //
            "," REQUEST("4", "ping") "]");
    raw_hears(&server, ANSWER("4", "{}"));
    assert_int_equal(at.answers, 2);
    assert_int_equal(at.notes, 1);
    end();
}

static void test_client_skips_what_is_no_message(void **state)
{
    (void)state;
    begin_ready(NULL);
    ask("ping", NULL);
    raw_hears(&server, REQUEST("2", "ping"));
    raw_say(&server, "Listening on port 8080...");
    raw_say(&server, "{\"jsonrpc\":\"1.0\",\"id\":2,\"result\":{}}");
    raw_say(&server, "");
    raw_say(&server, "\xff\xfe");
    raw_say(&server, ANSWER("\"2\"", "{}")); /* another id */
    raw_say(&server, ANSWER("77", "{}"));
    raw_hears_nothing(&server); /* nor is it told so */
    assert_int_equal(at.answers, 0);
    raw_say(&server, ANSWER("2", "{}"));
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_OK);
    end();
}

static const fl_client_options quick = {
    .connection = {.reconnect_first_ms = 100, .reconnect_max_ms = 400},
};

static void
test_client_fails_what_was_sent_when_a_connection_breaks(void **state)
{
    (void)state;
    begin_ready(&quick);
    ask("ping", users);
    raw_hears(&server, REQUEST("2", "ping"));
    raw_close(&server);
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_E_CLOSED);
    assert_int_equal(at.closed, 0);

    ask("ping", users + 1); /* waits for the next connection */
    io_some_turns(at.loop);
    assert_int_equal(at.answers, 1);
    at.now += 100;
    raw_accept(&server, at.loop, at.door);
    raw_hears_part(&server, "\"id\":4,\"method\":\"initialize\"");
    raw_hears_nothing(&server);
    raw_say(&server, WELCOME("4", "2024-11-05"));
    raw_hears(&server, INITIALIZED);
    raw_hears(&server, REQUEST("3", "ping"));
    raw_say(&server, ANSWER("3", "{}"));
    io_until(at.loop, at.answers == 2);
    assert_int_equal(at.status, FL_OK);
    assert_int_equal(at.ready, 2);
    assert_string_equal(fl_client_revision(at.client), "2024-11-05");
    end();
}

static void
test_client_keeps_what_waited_through_a_broken_handshake(void **state)
{
    (void)state;
    begin_with(&quick);
    ask("ping", users);
    raw_accept(&server, at.loop, at.door);
    raw_hears_part(&server, "initialize");
    raw_close(&server);
    io_some_turns(at.loop);
    at.now += 100;
    raw_accept(&server, at.loop, at.door);
    welcome("3");
    raw_hears(&server, REQUEST("1", "ping"));
    assert_int_equal(at.answers, 0);
    assert_int_equal(at.ready, 1);
    end();
}

static void test_client_without_reconnect_ends_with_its_connection(void **state)
{
    (void)state;
    begin_ready(&(fl_client_options){.connection.no_reconnect = true});
    ask("ping", NULL);
    raw_hears(&server, REQUEST("2", "ping"));
    raw_close(&server);
    io_until(at.loop, (at.now += 500, at.closed == 1));
    assert_int_equal(at.why.status, FL_END);
    assert_int_equal(at.answers, 1);
    assert_int_equal(at.status, FL_E_CLOSED);
    end();
}

static void test_client_says_who_refused_it(void **state)
{
    uint16_t port = 0;
    int gone = raw_listen(&port);
    char url[64];
    fl_error error;

    (void)state;
    close(gone);
    at = (desk){.now = 1000, .loop = io_loop()};
    at.door = raw_listen(&at.port);
    server.fd = -1;
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", port);
    assert_int_equal(
        fl_client_open(at.loop, url,
                       &(fl_client_options){.connection.no_reconnect = true},
                       &events, &at, &at.client, &error),
        FL_OK);
    ask("ping", NULL);
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.why.status, FL_E_REFUSED);
    assert_int_equal(at.status, FL_E_CLOSED);
    assert_int_equal(at.answers, 1);
    end();
}

static void test_client_close_fails_all_there_is(void **state)
{
    uint64_t id;

    (void)state;
    begin_ready(NULL);
    ask("ping", NULL);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), NULL,
                                       on_answer, NULL, &id),
                     FL_OK);
    raw_hears(&server, REQUEST("2", "ping"));
    fl_client_close(at.client);
    assert_int_equal(at.answers, 0);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), NULL,
                                       on_answer, NULL, NULL),
                     FL_E_CLOSED);
    fl_client_close(at.client); /* harmless */
    io_until(at.loop, (at.now += 500, at.closed == 1));
    assert_int_equal(at.why.status, FL_OK);
    assert_int_equal(at.answers, 2);
    assert_int_equal(at.status, FL_E_CLOSED);
    assert_string_equal(at.text, "the client was closed");
    end();
}

static void test_client_keeps_to_a_cancellation_when_it_closes(void **state)
{
    (void)state;
    begin_ready(NULL);
    ask("ping", users);
    assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""), NULL,
                                       on_answer, users + 1,
                                       &at.cancel_in_answer),
                     FL_OK);
    raw_hears(&server, REQUEST("2", "ping"));
    raw_hears(&server, REQUEST("3", "ping"));
    raw_close(&server); /* fails the first, which cancels the second */
    io_until(at.loop, at.answers == 2);
    assert_int_equal(at.in_order[1], 1);
    assert_int_equal(at.status, FL_E_CANCELLED);
    end();
}

static void test_client_sends_the_rest_when_there_is_room(void **state)
{
    enum { ASKED = 200 };
    static char params[64 * 1024];

    (void)state;
    begin_ready(&(fl_client_options){.connection.high_water = 1024});
    snprintf(params, sizeof params, "{\"a\":\"%0*d\"}", 60000, 0);
    for (int i = 0; i < ASKED; i++) {
        assert_int_equal(fl_client_request(at.client, "ping",
                                           fl_span_of(params), NULL, on_answer,
                                           NULL, NULL),
                         FL_OK);
        fl_loop_step(at.loop);
    }
    for (int i = 0; i < ASKED; i++) { /* in order, when it is read at last */
        char want[64];
        snprintf(want, sizeof want, "{\"jsonrpc\":\"2.0\",\"id\":%d,", i + 2);
        const char *heard = raw_hear(&server);
        assert_memory_equal(heard, want, strlen(want));
    }
    assert_int_equal(at.answers, 0);
    end();
}

static void test_client_may_be_closed_before_it_is_open(void **state)
{
    (void)state;
    begin_with(NULL);
    ask("ping", NULL);
    fl_client_close(at.client);
    assert_int_equal(at.closed, 0);
    io_until(at.loop, (at.now += 500, at.closed == 1));
    assert_int_equal(at.answers, 1);
    end();
}

static void test_client_may_be_closed_during_an_outage(void **state)
{
    (void)state;
    begin_ready(&quick);
    raw_close(&server);
    io_some_turns(at.loop);
    ask("ping", NULL);
    fl_client_close(at.client);
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.answers, 1);
    end();
}

static void test_client_may_be_closed_in_any_callback(void **state)
{
    const fl_request_options options = {.on_progress = on_progress};

    (void)state;
    for (close_in where = CLOSE_IN_READY; where <= CLOSE_IN_NOTIFICATION;
         where++) {
        begin_with(NULL);
        at.close_in = where;
        raw_accept(&server, at.loop, at.door);
        welcome("1");
        if (where != CLOSE_IN_READY) {
            assert_int_equal(fl_client_request(at.client, "ping", FL_SPAN(""),
                                               &options, on_answer, NULL, NULL),
                             FL_OK);
            ask("ping", NULL);
            raw_hears_part(&server, "\"id\":2");
            raw_say(&server,
                    "[" INITIALIZED ",{\"jsonrpc\":\"2.0\",\"method\":"
                    "\"notifications/progress\",\"params\":{"
                    "\"progressToken\":2,\"progress\":1}}," //
                    ANSWER("2", "{}") "," ANSWER("3", "{}") "]");
            raw_say(&server, INITIALIZED); /* after the end */
        }
        io_until(at.loop, (at.now += 500, at.closed == 1));
        assert_int_equal(at.why.status, FL_OK);
        end();
    }
}

/* A client's whole life, with memory that runs out somewhere in it. */
static void live(void *user)
{
    fl_clock clock = {io_read_clock, &at.now};
    char url[64];
    fl_error error;
    fl_client *client;

    (void)user;
    at.now = 1000;
    at.closed = at.answers = 0;
    fl_loop *loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    if (loop == NULL)
        return;
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", at.port);
    if (fl_client_open(loop, url, &(fl_client_options){.era = FL_ERA_LEGACY},
                       &events, &at, &client, &error) != FL_OK) {
        assert_null(client);
        assert_int_equal(error.status, FL_E_NOMEM);
        fl_loop_free(loop);
        return;
    }
    at.client = client;
    int asked = 0, fd = -1;
    const fl_request_options options = {.on_progress = on_progress};
    asked += fl_client_call_tool(client, FL_SPAN("x"), FL_SPAN("{}"), &options,
                                 on_answer, NULL, NULL) == FL_OK;
    for (int i = 0; i < 100 && fd < 0 && at.closed == 0; i++, at.now += 200) {
        io_turn(loop);
        fd = accept(at.door, NULL, NULL);
    }
    static const char lines[] =
        WELCOME("1", "2025-11-25") "\n" WELCOME("2", "2025-11-25") "\n" ANSWER(
            "1",
            "{}") "\n[" REQUEST("1",
                                "ping") "," REQUEST("2",
                                                    "x") "]\n"
                                                         "{\"jsonrpc\":\"2.0\","
                                                         "\"id\":3,\"error\":{"
                                                         "\"code\":1,"
                                                         "\"message\":"
                                                         "\"\"}}\n";
    if (fd >= 0)
        send(fd, lines, sizeof lines - 1, MSG_NOSIGNAL);
    for (int i = 0; i < 10; i++)
        fl_loop_step(loop);
    if (at.closed == 0) {
        asked += fl_client_request(client, "ping", FL_SPAN(""), NULL, on_answer,
                                   NULL, NULL) == FL_OK;
        fl_client_close(client);
    }
    for (int i = 0; i < 1000 && at.closed == 0; i++, at.now += 1000)
        io_turn(loop);
    assert_int_equal(at.closed, 1);
    assert_int_equal(at.answers, asked);
    if (fd >= 0)
        close(fd);
    while ((fd = accept(at.door, NULL, NULL)) >= 0)
        close(fd);
    fl_loop_free(loop);
}

static void test_client_survives_every_failed_allocation(void **state)
{
    (void)state;
    at = (desk){0};
    at.door = raw_listen(&at.port);
    assert_true(ration_each(live, NULL) > 20);
    close(at.door);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_shakes_hands),
        cmocka_unit_test(test_client_offers_what_it_is_told_to),
        cmocka_unit_test(test_client_names_the_option_that_is_wrong),
        cmocka_unit_test(test_client_leaves_a_server_it_cannot_speak_with),
        cmocka_unit_test(test_client_gives_up_a_server_that_never_welcomes_it),
        cmocka_unit_test(test_client_requests_wait_until_it_is_ready),
        cmocka_unit_test(test_client_says_what_the_answer_was),
        cmocka_unit_test(test_client_calls_a_tool),
        cmocka_unit_test(test_client_refuses_what_is_no_request),
        cmocka_unit_test(test_client_asks_only_for_what_was_declared),
        cmocka_unit_test(test_client_fails_what_is_too_big_to_send),
        cmocka_unit_test(test_client_times_out_and_says_so),
        cmocka_unit_test(test_client_timeout_may_be_never),
        cmocka_unit_test(test_client_what_waits_times_out_in_silence),
        cmocka_unit_test(test_client_hears_of_progress),
        cmocka_unit_test(test_client_puts_its_token_beside_what_is_there),
        cmocka_unit_test(test_client_progress_renews_the_timeout_up_to_a_limit),
        cmocka_unit_test(test_client_cancels),
        cmocka_unit_test(test_client_cancels_what_has_not_left_in_silence),
        cmocka_unit_test(test_client_is_busy_past_the_most_in_flight),
        cmocka_unit_test(test_client_opens_however_much_waits_for_it),
        cmocka_unit_test(test_client_does_not_count_initialize_as_in_flight),
        cmocka_unit_test(test_client_answers_the_server),
        cmocka_unit_test(test_client_answers_a_ping_before_it_is_ready),
        cmocka_unit_test(test_client_takes_a_batch),
        cmocka_unit_test(test_client_skips_what_is_no_message),
        cmocka_unit_test(
            test_client_fails_what_was_sent_when_a_connection_breaks),
        cmocka_unit_test(
            test_client_keeps_what_waited_through_a_broken_handshake),
        cmocka_unit_test(
            test_client_without_reconnect_ends_with_its_connection),
        cmocka_unit_test(test_client_says_who_refused_it),
        cmocka_unit_test(test_client_close_fails_all_there_is),
        cmocka_unit_test(test_client_keeps_to_a_cancellation_when_it_closes),
        cmocka_unit_test(test_client_sends_the_rest_when_there_is_room),
        cmocka_unit_test(test_client_may_be_closed_before_it_is_open),
        cmocka_unit_test(test_client_may_be_closed_during_an_outage),
        cmocka_unit_test(test_client_may_be_closed_in_any_callback),
        cmocka_unit_test(test_client_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
