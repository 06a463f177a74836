/*
 * test_gateway_replicas.c - two places of one server, by the clock: whose turn
 * it is, when a silent one is asked, what waits how long, who goes where.
 *
 * The servers are the test's; what runs across processes is tested elsewhere.
 */
#include "gateway/route.h"
#include "gateway_host.h"

#include "gateway/affinity.h"
#include "gateway/gateway.h"

#define HELLO                                                                  \
    ASK("0", "initialize",                                                     \
        "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"              \
        "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}")

static raw_peer second;
static int other_door;
static char other_url[64];

static void open_two(const fl_upstream *upstream)
{
    fl_upstream other = {.url = other_url, .client.era = FL_ERA_LEGACY};
    uint16_t port = 0;
    fl_error error;

    host_open(upstream);
    other_door = raw_listen(&port);
    snprintf(other_url, sizeof other_url, "tcp://127.0.0.1:%u", port);
    assert_int_equal(fl_gateway_add_replica(host.gateway, &other, &error),
                     FL_OK);
}

/* Numbers go on from one lane to the next. */
static void greet(raw_peer *peer)
{
    const char *line = raw_hear(peer);
    const char *id = strstr(line, "\"id\":");
    char said[256];

    if (id == NULL || strstr(line, "\"method\":\"initialize\"") == NULL)
        fail_msg("no initialize: %s", line);
    snprintf(said, sizeof said,
             GIVE("%ld", "{\"protocolVersion\":\"2025-11-25\","
                         "\"capabilities\":{},\"serverInfo\":{\"name\":"
                         "\"s\",\"version\":\"1\"}}"),
             strtol(id + 5, NULL, 10));
    raw_say(peer, said);
}

static void welcome(raw_peer *peer, int door)
{
    raw_accept(peer, host.loop, door);
    greet(peer);
    raw_hears_part(peer, "notifications/initialized");
}

static void end_two(void)
{
    host_end();
    if (second.fd > 0)
        raw_close(&second);
    second.fd = -1;
    close(other_door);
}

static const fl_route *the_route(void)
{
    return FL_LIST_ENTRY(host.gateway->routes.next, fl_route, node);
}

static fl_health_report report(size_t i)
{
    fl_health_report reports[2];

    assert_int_equal(fl_route_health(the_route(), reports, 2), 2);
    return reports[i];
}

static void test_replicas_take_turns_with_modern_requests(void **state)
{
    (void)state;
    open_two(NULL);
    raw_say(&host.client, CALL("1"));
    welcome(&host.server, host.door);
    raw_hears_part(&host.server, "tools/call");
    raw_say(&host.client, CALL("2"));
    welcome(&second, other_door);
    raw_hears_part(&second, "tools/call");
    raw_say(&host.client, CALL("3"));
    raw_hears_part(&host.server, "tools/call");
    assert_int_equal(report(0).in_flight, 2);
    assert_int_equal(report(1).in_flight, 1);
    assert_int_equal(report(1).conversations, 1);
    assert_string_equal(report(1).replica, other_url);
    assert_string_equal(report(1).state, "up");
    end_two();
}

/* The number of the replica that a request is bound to, or 0. */
static unsigned made_by(const char *text)
{
    fl_msg msg;
    fl_msg_fault fault;

    assert_int_equal(fl_msg_read(fl_span_of(text), &msg, &fault), FL_OK);
    const fl_replica *replica = fl_affinity_find(the_route(), &msg);
    return replica != NULL ? replica->number : 0;
}

static void test_task_is_asked_about_where_it_was_made(void **state)
{
    (void)state;
    open_two(NULL);
    raw_say(&host.client,
            ASK("1", "tools/call", "\"name\":\"t\",\"task\":{}," CLAIM));
    welcome(&host.server, host.door);
    raw_hears_part(&host.server, "tools/call");
    raw_say(&host.server, GIVE("2", "{\"task\":{\"taskId\":\"x\","
                                    "\"status\":\"working\",\"ttl\":60000,"
                                    "\"createdAt\":\"\",\"lastUpdatedAt\":"
                                    "\"\"}}"));
    io_until(host.loop, fl_map_count(&the_route()->tasks) == 1);
    assert_int_equal(made_by(ASK("3", "tasks/get", "\"taskId\":\"x\"")), 1);
    assert_int_equal(made_by(ASK("3", "tasks/cancel", "\"taskId\":\"x\"")), 1);
    assert_int_equal(made_by(ASK("3", "tasks/get", "\"taskId\":\"y\"")), 0);
    assert_int_equal(made_by(ASK("3", "tools/call", "\"taskId\":\"x\"")), 0);
    end_two();
}

static void test_replica_of_weight_nothing_stands_by(void **state)
{
    fl_error error;

    (void)state;
    open_two(NULL);
    assert_int_equal(
        fl_gateway_weigh_replica(host.gateway, NULL, other_url, 0, &error),
        FL_OK);
    assert_int_equal(report(1).weight, 0);
    raw_say(&host.client, CALL("1"));
    welcome(&host.server, host.door);
    for (int i = 0; i < 3; i++) {
        raw_hears_part(&host.server, "tools/call");
        raw_say(&host.client, i == 0 ? CALL("2") : i == 1 ? CALL("3") : "");
    }
    end_two();
}

static void test_replicas_are_told_apart(void **state)
{
    fl_upstream again = {.url = other_url};
    fl_error error;

    (void)state;
    open_two(NULL);
    assert_int_equal(fl_gateway_add_replica(host.gateway, &again, &error),
                     FL_E_IN_USE);
    again.name = "nobody";
    assert_int_equal(fl_gateway_add_replica(host.gateway, &again, &error),
                     FL_E_INVALID);
    assert_int_equal(
        fl_gateway_remove_replica(host.gateway, NULL, "none", &error),
        FL_E_INVALID);
    assert_int_equal(
        fl_gateway_remove_replica(host.gateway, NULL, other_url, &error),
        FL_OK);
    assert_int_equal(
        fl_gateway_remove_replica(
            host.gateway, NULL,
            FL_LIST_ENTRY(the_route()->replicas.next, fl_replica, node)->label,
            &error),
        FL_E_INVALID); /* it is the last */
    end_two();
}

static void test_replicas_are_bounded(void **state)
{
    fl_upstream more = {.client.era = FL_ERA_LEGACY};
    char url[64];
    fl_error error;

    (void)state;
    host_open(NULL);
    more.url = url;
    for (int i = 1; i < FL_REPLICAS; i++) {
        snprintf(url, sizeof url, "tcp://127.0.0.1:%d", i);
        assert_int_equal(fl_gateway_add_replica(host.gateway, &more, &error),
                         FL_OK);
    }
    snprintf(url, sizeof url, "tcp://127.0.0.1:%d", FL_REPLICAS);
    assert_int_equal(fl_gateway_add_replica(host.gateway, &more, &error),
                     FL_E_LIMIT);
    host.server.fd = -1;
    host_end();
}

/* A session, whose server is the first. */
static void begin_session(const fl_upstream *upstream)
{
    open_two(upstream);
    raw_say(&host.client, HELLO);
    welcome(&host.server, host.door);
    raw_hears_part(&host.client, "serverInfo");
    raw_say(&host.client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                          "initialized\"}");
    host_wait(0);
}

static void test_session_moves_when_its_replica_is_lost(void **state)
{
    (void)state;
    begin_session(NULL);
    raw_say(&host.client, ASK("1", "tools/call", "\"name\":\"t\""));
    raw_hears_part(&host.server, "tools/call");
    raw_close(&host.server);
    host.server.fd = -1;
    raw_hears_part(&host.client, "Upstream connection lost");
    welcome(&second, other_door); /* at once: no time has passed */
    raw_say(&host.client, ASK("2", "tools/call", "\"name\":\"u\""));
    raw_hears_part(&second, "\"u\"");
    assert_string_equal(report(0).state, "doubted");
    assert_int_equal(report(0).failures, 1);
    end_two();
}

static void test_silent_replica_is_asked_after_the_interval(void **state)
{
    (void)state;
    begin_session(&(fl_upstream){.health_ms = 1000});
    host_wait(998);
    raw_hears_nothing(&host.server);
    host_wait(3);
    raw_hears_part(&host.server, "\"method\":\"ping\"");
    raw_say(&host.server, GIVE("2", "{}"));
    host_wait(0);
    assert_string_equal(report(0).state, "up");
    host_wait(990);
    raw_hears_nothing(&host.server);
    host_wait(12);
    raw_hears_part(&host.server, "\"method\":\"ping\"");
    end_two();
}

static void test_replica_that_does_not_answer_a_probe_is_doubted(void **state)
{
    (void)state;
    begin_session(&(fl_upstream){.breaker_failures = 2});
    host_wait(30100);
    raw_hears_part(&host.server, "\"method\":\"ping\"");
    host_wait(4990);
    assert_string_equal(report(0).state, "up");
    host_wait(20);
    assert_string_equal(report(0).state, "doubted");
    raw_hears_part(&host.server, "cancelled");
    host_wait(1000); /* the second follows sooner */
    raw_hears_part(&host.server, "\"method\":\"ping\"");
    host_wait(5010);
    assert_string_equal(report(0).state, "down");
    welcome(&second, other_door); /* nobody had to ask */
    end_two();
}

static void test_probe_of_a_lost_replica_finds_it_back(void **state)
{
    (void)state;
    begin_session(NULL);
    raw_close(&host.server);
    host.server.fd = -1;
    welcome(&second, other_door);
    assert_string_equal(report(0).state, "doubted");
    host_wait(1000);
    raw_accept(&host.server, host.loop, host.door);
    greet(&host.server);
    io_until(host.loop, strcmp(report(0).state, "up") == 0);
    end_two();
}

static void test_queue_holds_so_long_and_no_longer(void **state)
{
    (void)state;
    host_open(&(fl_upstream){.queue_ms = 1000, .connect_backoff_ms = 60000});
    raw_say(&host.client, CALL("1"));
    raw_accept(&host.server, host.loop, host.door);
    raw_close(&host.server); /* and the next try is in a minute */
    host_wait(0);
    host.server.fd = -1;
    host_wait(999);
    raw_hears_nothing(&host.client);
    host_wait(1);
    raw_hears_part(&host.client, "\"data\":{\"queueTime\":1000");
    host_end();
}

static void test_queue_holds_so_many_and_no_more(void **state)
{
    (void)state;
    host_open(&(fl_upstream){.queue_max = 2});
    raw_say(&host.client, CALL("1"));
    raw_say(&host.client, CALL("2"));
    host_wait(0);
    raw_hears_nothing(&host.client);
    raw_say(&host.client, CALL("3"));
    raw_hears_part(&host.client, "\"data\":{\"queueMax\":2,\"retryAfter\":1}");
    host_welcome("2025-11-25", "{}");
    raw_hears_part(&host.server, "tools/call");
    raw_hears_part(&host.server, "tools/call");
    raw_hears_nothing(&host.server);
    host_end();
}

static void test_queue_holds_so_much_and_no_more(void **state)
{
    const size_t size = strlen(CALL("1"));

    (void)state;
    host_open(&(fl_upstream){.queue_bytes = 2 * size});
    raw_say(&host.client, CALL("1"));
    raw_say(&host.client, CALL("2"));
    host_wait(0);
    raw_hears_nothing(&host.client);
    raw_say(&host.client, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":"
                          "\"tools/list\",\"params\":{" CLAIM "}}");
    raw_hears_part(&host.client, "queueBytes");
    host.server.fd = -1;
    host_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replicas_take_turns_with_modern_requests),
        cmocka_unit_test(test_task_is_asked_about_where_it_was_made),
        cmocka_unit_test(test_replica_of_weight_nothing_stands_by),
        cmocka_unit_test(test_replicas_are_told_apart),
        cmocka_unit_test(test_replicas_are_bounded),
        cmocka_unit_test(test_session_moves_when_its_replica_is_lost),
        cmocka_unit_test(test_silent_replica_is_asked_after_the_interval),
        cmocka_unit_test(test_replica_that_does_not_answer_a_probe_is_doubted),
        cmocka_unit_test(test_probe_of_a_lost_replica_finds_it_back),
        cmocka_unit_test(test_queue_holds_so_long_and_no_longer),
        cmocka_unit_test(test_queue_holds_so_many_and_no_more),
        cmocka_unit_test(test_queue_holds_so_much_and_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
