/*
 * test_client_modern.c - a client of a server that speaks 2026-07-28, over a
 * channel: what its requests look like, which answers it takes, and how it is
 * told of changes.
 */
#include "client_desk.h"

static raw_peer server;
static int door;
static int progresses;

#define TELLS                                                                  \
    "{\"tools\":{\"listChanged\":true},\"prompts\":{\"listChanged\":false},"   \
    "\"resources\":{\"listChanged\":true,\"subscribe\":true}}"

#define LISTEN(id)                                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"subscriptions/listen\",\"params\":{\"_meta\":{" CLAIM       \
    "},\"notifications\":{\"toolsListChanged\":true,"                          \
    "\"resourcesListChanged\":true}}}"

#define NOTE(method, params)                                                   \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method                  \
    "\",\"params\":" params "}"

#define BELONGS(id)                                                            \
    "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" id "}}"

static const fl_client_options quick = {
    .connection = {.reconnect_first_ms = 100, .reconnect_max_ms = 100},
};

static void discover(const char *answer)
{
    raw_accept(&server, at.loop, door);
    raw_hears_part(&server, "\"method\":\"server/discover\"");
    raw_say(&server, answer);
    io_until(at.loop, at.ready > 0);
}

static void begin_as(const fl_client_events *events, const char *discovered)
{
    uint16_t port = 0;
    char url[64];
    fl_error error;

    at = (desk){.now = 1000};
    at.loop = io_driven_loop(&at.now);
    door = raw_listen(&port);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", port);
    assert_int_equal(
        fl_client_open(at.loop, url, &quick, events, &at, &at.client, &error),
        FL_OK);
    discover(discovered);
    desk_is(FL_ERA_MODERN, "2026-07-28");
}

static void begin(void)
{
    begin_as(&desk_hears_all,
             ANSWER("1", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
}

static void end(void)
{
    desk_close();
    close(door);
    if (server.fd >= 0)
        close(server.fd);
    server.fd = -1;
}

static void on_progress(fl_client *client, double progress, double total,
                        fl_span message, void *user)
{
    (void)client, (void)progress, (void)total, (void)message, (void)user;
    progresses++;
}

static void check_sent(const char *params, bool progress, const char *want)
{
    const fl_request_options options = {.on_progress =
                                            progress ? on_progress : NULL};

    begin();
    assert_int_equal(fl_client_request(at.client, "tools/list",
                                       fl_span_of(params), &options,
                                       desk_on_answer, NULL, NULL),
                     FL_OK);
    const char *heard = raw_hear(&server);
    const char *head = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                       "list\",\"params\":";
    assert_memory_equal(heard, head, strlen(head));
    assert_string_equal(heard + strlen(head), want);
    end();
}

static void test_client_modern_claims_beside_what_is_there(void **state)
{
    (void)state;
    check_sent("", false, "{\"_meta\":{" CLAIM "}}}");
    check_sent("{}", false, "{\"_meta\":{" CLAIM "}}}");
    check_sent("{ }", false, "{\"_meta\":{" CLAIM "} }}");
    check_sent("{\"a\":1.50}", false, "{\"_meta\":{" CLAIM "},\"a\":1.50}}");
    check_sent("{\"_meta\":{}}", false, "{\"_meta\":{" CLAIM "}}}");
    check_sent("{\"a\":[ ],\"_meta\":{\"b\":\"\\u00e9\"},\"c\":2}", false,
               "{\"a\":[ ],\"_meta\":{" CLAIM ",\"b\":\"\\u00e9\"},\"c\":2}}");
    check_sent("", true, "{\"_meta\":{\"progressToken\":2," CLAIM "}}}");
    check_sent("{\"_meta\":{\"b\":2}}", true,
               "{\"_meta\":{\"progressToken\":2," CLAIM ",\"b\":2}}}");
}

static void test_client_modern_leaves_a_claim_that_is_there(void **state)
{
    static const char claimed[] =
        "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"x\"}}";

    (void)state;
    check_sent(claimed, false,
               "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"x\"}"
               "}}");
    check_sent(claimed, true,
               "{\"_meta\":{\"progressToken\":2,"
               "\"io.modelcontextprotocol/protocolVersion\":\"x\"}}}");
}

static void test_client_modern_has_no_ping(void **state)
{
    static const char *const gone[] = {"ping", "initialize", "logging/setLevel",
                                       "resources/subscribe",
                                       "resources/unsubscribe"};

    (void)state;
    begin_as(&desk_events,
             ANSWER("1", DISCOVERED("[\"2026-07-28\"]",
                                    "{\"logging\":{},\"resources\":{}}")));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        assert_int_equal(desk_try(gone[i], ""), FL_E_UNSUPPORTED);
    assert_int_equal(desk_try("tools/list", ""), FL_E_UNSUPPORTED);
    assert_int_equal(desk_try("resources/list", ""), FL_OK);
    raw_hears(&server, MODERN("2", "resources/list"));
    end();
}

static void test_client_modern_fails_a_ping_that_waited(void **state)
{
    (void)state;
    begin();
    raw_close(&server);
    desk_digest();
    desk_ask("ping");
    at.now += 100;
    at.ready = 0;
    discover(ANSWER("3", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_E_UNSUPPORTED);
    raw_hears_nothing(&server);
    end();
}

static void check_answer(const char *result, fl_status status,
                         const char *want_result, const char *want_text)
{
    begin();
    desk_ask("tools/list");
    raw_hears(&server, MODERN("2", "tools/list"));
    char line[512];
    snprintf(line, sizeof line, ANSWER("2", "%s"), result);
    raw_say(&server, line);
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, status);
    assert_string_equal(at.result, want_result);
    if (strstr(at.text, want_text) == NULL)
        fail_msg("no '%s' in '%s'", want_text, at.text);
    end();
}

static void test_client_modern_knows_types_of_results(void **state)
{
    (void)state;
    check_answer("{\"a\":1}", FL_OK, "{\"a\":1}", "");
    check_answer("{\"resultType\":\"complete\"}", FL_OK,
                 "{\"resultType\":\"complete\"}", "");
    check_answer("{\"resultType\":\"input_required\",\"requestState\":\"x\"}",
                 FL_E_BAD_MESSAGE, "", "input_required"); /* not for a list */
    check_answer("{\"resultType\":\"task\"}", FL_E_BAD_MESSAGE, "", "\"task\"");
    check_answer("{\"resultType\":7}", FL_E_BAD_MESSAGE, "",
                 "does not know: 7");
}

static void test_client_modern_cancels_by_a_message_on_a_channel(void **state)
{
    uint64_t id;
    const fl_request_options options = {.timeout_ms = 250};

    (void)state;
    begin();
    assert_int_equal(fl_client_request(at.client, "tools/list", FL_SPAN(""),
                                       &options, desk_on_answer, NULL, &id),
                     FL_OK);
    raw_hears(&server, MODERN("2", "tools/list"));
    assert_int_equal(fl_client_cancel(at.client, id, "enough"), FL_OK);
    raw_hears(&server,
              NOTE("cancelled", "{\"requestId\":2,\"reason\":\"enough\"}"));
    assert_int_equal(at.status, FL_E_CANCELLED);
    assert_int_equal(fl_client_request(at.client, "tools/list", FL_SPAN(""),
                                       &options, desk_on_answer, NULL, &id),
                     FL_OK);
    raw_hears(&server, MODERN("3", "tools/list"));
    at.now += 250;
    raw_hears(&server,
              NOTE("cancelled", "{\"requestId\":3,\"reason\":\"timed out\"}"));
    assert_int_equal(at.status, FL_E_TIMEOUT);
    end();
}

static void test_client_modern_hears_of_progress(void **state)
{
    const fl_request_options options = {.on_progress = on_progress};

    (void)state;
    progresses = 0;
    begin();
    assert_int_equal(fl_client_request(at.client, "tools/list", FL_SPAN(""),
                                       &options, desk_on_answer, NULL, NULL),
                     FL_OK);
    raw_say(&server, NOTE("progress", "{\"progressToken\":2,\"progress\":1}"));
    io_until(at.loop, progresses == 1);
    assert_int_equal(at.notes, 0);
    end();
}

/* It must not ask, and we must not answer (MCP 2026-07-28, stdio). */
static void test_client_modern_does_not_answer_the_server(void **state)
{
    (void)state;
    begin();
    raw_say(&server, LEGACY("\"p\"", "ping"));
    raw_say(&server, LEGACY("9", "roots/list"));
    desk_digest();
    raw_hears_nothing(&server);
    end();
}

/* Up to a subscription that was acknowledged. */
static void begin_listening(void)
{
    begin_as(&desk_hears_all,
             ANSWER("1", DISCOVERED("[\"2026-07-28\"]", TELLS)));
    raw_hears(&server, LISTEN("2"));
    raw_say(&server,
            NOTE("subscriptions/acknowledged",
                 "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":2},"
                 "\"notifications\":{\"toolsListChanged\":true}}"));
    desk_digest();
    raw_hears_nothing(&server);
    assert_int_equal(at.notes, 0); /* that is nobody's business */
}

static void test_client_modern_listens_for_what_was_declared(void **state)
{
    (void)state;
    begin_listening();
    raw_say(&server, NOTE("tools/list_changed", BELONGS("2")));
    io_until(at.loop, at.notes == 1);
    assert_string_equal(at.note,
                        "notifications/tools/list_changed " BELONGS("2"));
    raw_say(&server, NOTE("message", "{\"level\":\"info\"}"));
    io_until(at.loop, at.notes == 2);
    raw_say(&server, NOTE("tools/list_changed", BELONGS("77"))); /* not ours */
    raw_say(&server, NOTE("tools/list_changed", BELONGS("\"2\"")));
    desk_digest();
    raw_hears_nothing(&server);
    assert_int_equal(at.notes, 2);
    at.now += UINT64_C(1000) * 3600 * 24 * 30; /* it does not time out */
    raw_hears_nothing(&server);
    end();
}

static void test_client_modern_listens_only_if_there_is_reason(void **state)
{
    (void)state;
    begin_as(&desk_events, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", TELLS)));
    raw_hears_nothing(&server); /* nobody wants to know */
    end();
    begin(); /* nothing is told */
    raw_hears_nothing(&server);
    end();
}

/* The wait is between half of it and all of it. */
static void check_reopened(uint64_t wait_ms, const char *listen)
{
    desk_digest();
    raw_hears_nothing(&server);
    at.now += wait_ms / 2 - 1;
    raw_hears_nothing(&server);
    at.now += wait_ms / 2 + 1;
    raw_hears(&server, listen);
}

static void test_client_modern_listens_again_after_the_end(void **state)
{
    (void)state;
    begin_listening();
    raw_say(&server, ANSWER("2", "{\"resultType\":\"complete\"}"));
    raw_say(&server, NOTE("cancelled", "{\"requestId\":2}")); /* the same end */
    check_reopened(1000, LISTEN("3"));
    raw_say(&server, NOTE("cancelled", "{\"requestId\":3}"));
    check_reopened(2000, LISTEN("4"));
    raw_say(&server, REFUSAL("4", "-32603", ""));
    check_reopened(4000, LISTEN("5"));
    at.now += 60000; /* it lasted: what went before is forgotten */
    raw_say(&server, ANSWER("5", "{}"));
    check_reopened(1000, LISTEN("6"));
    assert_int_equal(at.notes, 0);
    assert_int_equal(at.answers, 0);
    end();
}

static void test_client_modern_waits_a_minute_at_most_to_listen(void **state)
{
    static const unsigned waits[] = {1, 2, 4, 8, 16, 32, 60, 60};
    char line[128];

    (void)state;
    begin_listening();
    for (int i = 0; i < 8; i++) {
        snprintf(line, sizeof line, ANSWER("%d", "{}"), i + 2);
        raw_say(&server, line);
        desk_digest();
        raw_hears_nothing(&server);
        at.now += waits[i] * 500 - 1;
        raw_hears_nothing(&server);
        at.now += waits[i] * 500 + 1;
        raw_hears_part(&server, "subscriptions/listen");
    }
    end();
}

static void test_client_modern_does_not_insist_on_listening(void **state)
{
    (void)state;
    begin_listening();
    raw_say(&server, REFUSAL("2", "-32601", ""));
    desk_digest();
    raw_hears_nothing(&server);
    at.now += 3600000;
    raw_hears_nothing(&server);
    desk_ask("tools/list"); /* all else goes on */
    raw_hears(&server, MODERN("3", "tools/list"));
    end();
}

static void test_client_modern_listens_again_after_an_outage(void **state)
{
    (void)state;
    begin_listening();
    raw_close(&server);
    desk_digest();
    at.now += 100;
    at.ready = 0;
    discover(ANSWER("3", DISCOVERED("[\"2026-07-28\"]", TELLS)));
    raw_hears(&server, LISTEN("4"));
    raw_say(&server, NOTE("tools/list_changed", BELONGS("2"))); /* the old */
    raw_say(&server, NOTE("tools/list_changed", BELONGS("4")));
    io_until(at.loop, at.notes == 1);
    end();
}

static void test_client_modern_listening_is_not_counted(void **state)
{
    (void)state;
    begin_listening();
    for (int i = 0; i < 1024; i++)
        desk_ask("tools/list");
    assert_int_equal(desk_try("tools/list", ""), FL_BUSY);
    assert_int_equal(fl_client_cancel(at.client, 2, NULL), FL_E_NOT_FOUND);
    end();
}

static void test_client_modern_leaves_other_subscriptions_alone(void **state)
{
    (void)state;
    begin_listening();
    desk_ask("subscriptions/listen"); /* with an id of 3 */
    raw_hears(&server, MODERN("3", "subscriptions/listen"));
    raw_say(&server, NOTE("subscriptions/acknowledged", BELONGS("3")));
    io_until(at.loop, at.notes == 1);
    raw_say(&server, NOTE("resources/updated", BELONGS("3")));
    io_until(at.loop, at.notes == 2);
    raw_say(&server, NOTE("cancelled", "{\"requestId\":3}"));
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_E_CANCELLED);
    assert_string_equal(at.text, "the server ended it");
    assert_int_equal(at.notes, 2);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_modern_claims_beside_what_is_there),
        cmocka_unit_test(test_client_modern_leaves_a_claim_that_is_there),
        cmocka_unit_test(test_client_modern_has_no_ping),
        cmocka_unit_test(test_client_modern_fails_a_ping_that_waited),
        cmocka_unit_test(test_client_modern_knows_types_of_results),
        cmocka_unit_test(test_client_modern_cancels_by_a_message_on_a_channel),
        cmocka_unit_test(test_client_modern_hears_of_progress),
        cmocka_unit_test(test_client_modern_does_not_answer_the_server),
        cmocka_unit_test(test_client_modern_listens_for_what_was_declared),
        cmocka_unit_test(test_client_modern_listens_only_if_there_is_reason),
        cmocka_unit_test(test_client_modern_listens_again_after_the_end),
        cmocka_unit_test(test_client_modern_waits_a_minute_at_most_to_listen),
        cmocka_unit_test(test_client_modern_does_not_insist_on_listening),
        cmocka_unit_test(test_client_modern_listens_again_after_an_outage),
        cmocka_unit_test(test_client_modern_listening_is_not_counted),
        cmocka_unit_test(test_client_modern_leaves_other_subscriptions_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
