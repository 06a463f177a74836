/*
 * test_client_ws.c - a client over WebSocket: what was in flight fails with
 * its socket, what had not left waits for the next one.
 */
#include "client_desk.h"
#include "ws_door.h"

static raw_peer server;
static int door;
static uint16_t port;

static void begin(void)
{
    char url[64];
    fl_error error;

    at = (desk){.now = 1000};
    at.loop = io_driven_loop(&at.now);
    port = 0;
    door = raw_listen(&port);
    snprintf(url, sizeof url, "ws://127.0.0.1:%u/mcp", port);
    fl_status rc = fl_client_open(
        at.loop, url,
        &(fl_client_options){
            .era = FL_ERA_LEGACY,
            .connection = {.reconnect_first_ms = 100, .reconnect_max_ms = 100}},
        &desk_events, &at, &at.client, &error);
    if (rc != FL_OK)
        fail_msg("%s", error.text);
}

static void welcome(const char *initialize, const char *answer)
{
    raw_accept(&server, at.loop, door);
    door_welcome(&server, "Sec-WebSocket-Protocol: mcp.v1\r\n");
    door_hears(&server, initialize);
    door_say(&server, answer);
    door_hears(&server, INITIALIZED);
}

static void end(void)
{
    if (server.fd >= 0)
        raw_close(&server);
    desk_close();
    close(door);
}

static void test_client_ws_shakes_hands_and_asks(void **state)
{
    (void)state;
    begin();
    welcome(INITIALIZE("1"), ANSWER("1", WELCOME));
    io_until(at.loop, at.ready == 1);
    desk_is(FL_ERA_LEGACY, "2025-11-25");
    desk_ask("tools/list");
    door_hears(&server, LEGACY("2", "tools/list"));
    door_say(&server, ANSWER("2", "{\"tools\":[]}"));
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_OK);
    assert_string_equal(at.result, "{\"tools\":[]}");
    end();
}

static void test_client_ws_fails_what_was_sent_when_it_drops(void **state)
{
    (void)state;
    begin();
    welcome(INITIALIZE("1"), ANSWER("1", WELCOME));
    io_until(at.loop, at.ready == 1);
    desk_ask("ping");
    desk_ask("tools/list");
    door_hears(&server, LEGACY("2", "ping"));
    door_hears(&server, LEGACY("3", "tools/list"));
    raw_close(&server);
    io_until(at.loop, at.answers == 2);
    assert_int_equal(at.status, FL_E_CLOSED);
    assert_int_equal(at.closed, 0);

    desk_ask("ping"); /* waits for the next socket */
    io_some_turns(at.loop);
    assert_int_equal(at.answers, 2);
    at.now += 100;
    welcome(INITIALIZE("5"), ANSWER("5", WELCOME));
    door_hears(&server, LEGACY("4", "ping"));
    door_say(&server, ANSWER("4", "{}"));
    io_until(at.loop, at.answers == 3);
    assert_int_equal(at.status, FL_OK);
    assert_int_equal(at.ready, 2);
    end();
}

static void test_client_ws_says_why_the_server_left(void **state)
{
    (void)state;
    begin();
    welcome(INITIALIZE("1"), ANSWER("1", WELCOME));
    io_until(at.loop, at.ready == 1);
    desk_ask("ping");
    door_hears(&server, LEGACY("2", "ping"));
    door_say_close(&server, 1001, "going down");
    io_until(at.loop, at.answers == 1);
    assert_int_equal(at.status, FL_E_CLOSED);
    assert_non_null(strstr(at.text, "going down"));
    end();
}

static void test_client_ws_ends_when_it_is_turned_away(void **state)
{
    (void)state;
    begin();
    desk_ask("ping");
    raw_accept(&server, at.loop, door);
    io_until(at.loop, (raw_read(&server), server.end > 0));
    door_answer(&server, "HTTP/1.1 401 Unauthorized\r\n"
                         "Content-Length: 0\r\n\r\n");
    desk_see_closed(FL_E_DENIED, "401 Unauthorized: send credentials");
    assert_int_equal(at.answers, 1);
    assert_int_equal(at.status, FL_E_CLOSED);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_ws_shakes_hands_and_asks),
        cmocka_unit_test(test_client_ws_fails_what_was_sent_when_it_drops),
        cmocka_unit_test(test_client_ws_says_why_the_server_left),
        cmocka_unit_test(test_client_ws_ends_when_it_is_turned_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
