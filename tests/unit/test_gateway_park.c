/*
 * test_gateway_park.c - calls of modern clients at a legacy server, by the
 * clock: how long questions are gathered, parked calls kept, pages waited for,
 * subscriptions and levels tried.
 */
#include "gateway_host.h"
#include "support/ration.h"

#define QUESTION(id, method)                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":\"" id "\",\"method\":\"" method              \
    "\",\"params\":{}}"
#define PAGE                                                                   \
    "\"error\":{\"code\":-32042,\"message\":\"see\",\"data\":{"                \
    "\"elicitations\":[{\"mode\":\"url\",\"url\":\"https://a.example\","       \
    "\"elicitationId\":\"e\",\"message\":\"m\"}]}}}"

static char state[512];

/* The next line is a round; its token is kept. */
static void hears_round(const char *part)
{
    const char *line = raw_hear(&host.client);
    const char *token = strstr(line, "\"requestState\":\"");

    if (token == NULL || strstr(line, "\"input_required\"") == NULL ||
        strstr(line, part) == NULL)
        fail_msg("no round with '%s': %s", part, line);
    token += strlen("\"requestState\":\"");
    snprintf(state, sizeof state, "%.*s", (int)strcspn(token, "\""), token);
}

static void come_back(const char *id, const char *answers)
{
    char line[2048];

    snprintf(line, sizeof line,
             ASK("%s", "tools/call",
                 "\"name\":\"t\",\"requestState\":\"%s\","
                 "\"inputResponses\":%s," CLAIM),
             id, state, answers);
    raw_say(&host.client, line);
}

static void call(const fl_upstream *upstream, const char *revision)
{
    host_open(upstream);
    raw_say(&host.client, CALL("1"));
    host_welcome(revision, "{\"tools\":{}}");
    raw_hears(&host.server, ASK("2", "tools/call", "\"name\":\"t\""));
}

static void test_park_gathers_for_twenty_milliseconds(void **unused)
{
    (void)unused;
    call(NULL, "2025-06-18");
    raw_say(&host.server, QUESTION("a", "elicitation/create"));
    host_wait(0);
    host_wait(19);
    raw_say(&host.server, QUESTION("b", "sampling/createMessage"));
    raw_hears_nothing(&host.client);
    host_wait(1);
    hears_round("\"k1\":{\"method\":\"elicitation/create\"");
    come_back("2",
              "{\"k1\":{\"action\":\"decline\"},\"k2\":{\"model\":\"m\"}}");
    raw_hears(&host.server, GIVE("\"a\"", "{\"action\":\"decline\"}"));
    raw_hears(&host.server, GIVE("\"b\"", "{\"model\":\"m\"}"));
    raw_say(&host.server, GIVE("2", "{\"content\":[]}"));
    raw_hears_part(&host.client, "\"id\":2,\"result\":{\"content\":[]");
    host_end();
}

static void test_park_is_kept_until_its_time_is_over(void **unused)
{
    (void)unused;
    call(&(fl_upstream){.input_timeout_ms = 5000}, "2025-06-18");
    raw_say(&host.server, QUESTION("a", "elicitation/create"));
    raw_say(&host.server, QUESTION("b", "sampling/createMessage"));
    host_wait(0);
    host_wait(20);
    hears_round("\"k2\"");
    host_wait(4990);
    raw_hears_nothing(&host.server);
    host_wait(20);
    raw_hears_part(&host.server, "notifications/cancelled\",\"params\":"
                                 "{\"requestId\":2,");
    raw_hears(&host.server, GIVE("\"a\"", "{\"action\":\"cancel\"}"));
    raw_hears_part(&host.server, "\"id\":\"b\",\"error\":{\"code\":-1,");
    raw_say(&host.server, GIVE("2", "{}")); /* too late for anybody */
    come_back("2", "{\"k1\":{\"action\":\"accept\"}}");
    raw_hears_part(&host.client, "\"code\":-32602");
    host_end();
}

/* However long a client thinks, the server has its time. */
static void test_park_is_not_the_servers_time(void **unused)
{
    (void)unused;
    call(&(fl_upstream){.timeout_ms = 1000}, "2025-06-18");
    raw_say(&host.server, QUESTION("a", "elicitation/create"));
    host_wait(0);
    host_wait(20);
    hears_round("\"k1\"");
    host_wait(100000);
    come_back("2", "{\"k1\":{\"action\":\"cancel\"}}");
    raw_hears_part(&host.server, "\"id\":\"a\"");
    host_wait(900);
    raw_hears_nothing(&host.client);
    host_wait(200);
    raw_hears_part(&host.client, "Upstream timeout");
    raw_hears_part(&host.server, "notifications/cancelled");
    host_end();
}

static void test_park_tries_a_page_again_for_two_minutes(void **unused)
{
    char line[512];

    (void)unused;
    call(NULL, "2025-11-25");
    raw_say(&host.server, "{\"jsonrpc\":\"2.0\",\"id\":2," PAGE);
    hears_round("\"mode\":\"url\"");
    come_back("2", "{\"k1\":{\"action\":\"accept\"}}");
    for (int id = 3; id < 3 + 24; id++) {
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,", id);
        raw_hears_part(&host.server, "\"method\":\"tools/call\"");
        strncat(line, PAGE, sizeof line - strlen(line) - 1);
        raw_say(&host.server, line);
        host_wait(0);
        raw_hears_nothing(&host.client);
        host_wait(5000);
    }
    hears_round("\"resultType\":\"input_required\",\"requestState\"");
    come_back("3", "{}");
    raw_hears_part(&host.server, "\"method\":\"tools/call\"");
    raw_say(&host.server, GIVE("27", "{\"content\":[]}"));
    raw_hears_part(&host.client, "\"id\":3,\"result\"");
    host_end();
}

static void test_listening_leaves_out_what_takes_too_long(void **unused)
{
    (void)unused;
    host_open(NULL);
    raw_say(
        &host.client,
        ASK("1", "subscriptions/listen",
            "\"notifications\":{\"resourceSubscriptions\":[\"a:b\"]}," CLAIM));
    host_welcome("2025-11-25", "{\"resources\":{\"subscribe\":true}}");
    raw_hears_part(&host.server, "resources/subscribe");
    host_wait(4990);
    raw_hears_nothing(&host.client);
    host_wait(20);
    raw_hears_part(&host.client, "\"resourceSubscriptions\":[]");
    raw_hears_part(&host.server, "notifications/cancelled");
    host_end();
}

static void test_verbosity_is_relaxed_when_nobody_listens(void **unused)
{
    (void)unused;
    host_open(NULL);
    raw_say(&host.client,
            ASK("1", "tools/list",
                CLAIM_WITH(",\"io.modelcontextprotocol/logLevel\":\"info\"")));
    host_welcome("2025-06-18", "{\"tools\":{},\"logging\":{}}");
    raw_hears_part(&host.server,
                   "logging/setLevel\",\"params\":{\"level\":\"info\"}");
    raw_say(&host.server, GIVE("2", "{}"));
    raw_hears_part(&host.server, "tools/list");
    raw_say(&host.server, GIVE("3", "{\"tools\":[]}"));
    raw_hears_part(&host.client, "\"tools\":[]");
    host_wait(59900);
    raw_hears_nothing(&host.server);
    host_wait(200);
    raw_hears_part(&host.server,
                   "logging/setLevel\",\"params\":{\"level\":\"emergency\"}");
    host_end();
}

/* A server whose client was lost for want of memory has been hung up on. */
static void say_if_heard(raw_peer *peer, const char *line)
{
    (void)!send(peer->fd, line, strlen(line), MSG_NOSIGNAL);
    (void)!send(peer->fd, "\n", 1, MSG_NOSIGNAL);
}

/* One allocation of the whole way back is refused; whatever comes of it, the
 * gateway goes on and ends in order. */
static bool survives(size_t nth)
{
    call(NULL, "2025-06-18");
    ration_fail_at(nth);
    raw_say(&host.server, QUESTION("a", "elicitation/create"));
    host_wait(0);
    host_wait(20);
    raw_read(&host.client);
    if (raw_find_end(&host.client) != NULL &&
        strstr(host.client.room + host.client.start, "requestState") != NULL) {
        hears_round("\"k1\"");
        come_back("2", "{\"k1\":{\"action\":\"cancel\"}}");
        host_wait(0);
    }
    say_if_heard(&host.server, GIVE("2", "{\"content\":[]}"));
    host_wait(20);
    bool refused = ration_refused();
    ration_reset();
    host_end();
    return refused;
}

static void test_park_lives_with_little_memory(void **unused)
{
    size_t nth = 1;

    (void)unused;
    while (survives(nth))
        nth++;
    assert_true(nth > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_park_gathers_for_twenty_milliseconds),
        cmocka_unit_test(test_park_is_kept_until_its_time_is_over),
        cmocka_unit_test(test_park_is_not_the_servers_time),
        cmocka_unit_test(test_park_tries_a_page_again_for_two_minutes),
        cmocka_unit_test(test_park_lives_with_little_memory),
        cmocka_unit_test(test_listening_leaves_out_what_takes_too_long),
        cmocka_unit_test(test_verbosity_is_relaxed_when_nobody_listens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
