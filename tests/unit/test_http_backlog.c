/*
 * test_http_backlog.c - what piles up for clients that do not take it: answers
 * on the way, events kept for those who may come back, and sessions.
 */
#include "h2_peer.h"
#include "link_host.h"
#include "support/ration.h"

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

enum { HALF = 32 * 1024, LARGE = 1000000 };

static link_host host;
static http_answer answer;
static raw_peer second;
static char fields[256];
static char room[2 * LARGE + 1];

static int begin_with(const fl_options *options)
{
    link_begin(&host, options, fields);
    second.fd = -1;
    return 0;
}

static int begin(void **state)
{
    (void)state;
    return begin_with(NULL);
}

static int finish(void **state)
{
    (void)state;
    if (second.fd >= 0)
        raw_close(&second);
    link_end(&host);
    return 0;
}

static void restart(const fl_options *options)
{
    finish(NULL);
    begin_with(options);
}

static const fl_http_hub *hub(void)
{
    return link_session(&host)->caller->hub;
}

static void forget(raw_peer *peer)
{
    raw_read(peer);
    peer->start = peer->end;
}

typedef fl_status send_fn(link_host *host, const char *text);

/* Until nothing more is taken. */
static void fill(send_fn *send)
{
    fl_status rc = FL_OK;

    link_long(room, 8192, false);
    for (int i = 0; i < 20000 && rc == FL_OK; i++) {
        rc = send(&host, room);
        fl_loop_step(host.loop);
    }
    assert_int_equal(rc, FL_BUSY);
    assert_int_equal(host.writables, 0);
}

static void fill_request(void)
{
    restart(&(fl_options){.high_water = 16 * 1024});
    http_post(&host.peer, fields, ASK("1"));
    link_asked(&host, 1);
    fill(link_reply);
}

static void fill_standing(void)
{
    restart(&(fl_options){.high_water = 16 * 1024});
    assert_int_equal(link_listen(&host, &second, fields, "", &answer), 200);
    fill(link_say);
}

static void hears_of_room_once(send_fn *send, raw_peer *reader)
{
    io_until(host.loop, (forget(reader), host.writables > 0));
    for (int i = 0; i < 20; i++)
        io_turn(host.loop);
    assert_int_equal(host.writables, 1);
    assert_int_equal(send(&host, NOTE("a")), FL_OK);
}

static void test_backlog_of_a_request_that_is_read_makes_room(void **state)
{
    (void)state;
    fill_request();
    hears_of_room_once(link_reply, &host.peer);
}

static void test_backlog_of_the_standing_stream_read_makes_room(void **state)
{
    (void)state;
    fill_standing();
    hears_of_room_once(link_say, &second);
}

static void test_backlog_of_a_request_whose_client_goes_is_none(void **state)
{
    (void)state;
    fill_request();
    raw_close(&host.peer);
    io_until(host.loop, host.writables == 1);
    assert_int_equal(link_reply(&host, NOTE("a")), FL_OK);
}

static void test_backlog_of_the_standing_stream_gone_is_none(void **state)
{
    (void)state;
    fill_standing();
    raw_close(&second);
    io_until(host.loop, host.writables == 1);
    assert_int_equal(link_say(&host, NOTE("a")), FL_OK);
}

static void test_backlog_of_events_is_forgotten_in_time(void **state)
{
    (void)state;
    assert_int_equal(hub()->budget.used, 0);
    assert_int_equal(link_say(&host, link_long(room, 1000, false)), FL_OK);
    assert_in_range(hub()->budget.used, 1000, 1999);
    link_pass(&host, 200000);
    assert_int_equal(link_say(&host, room), FL_OK);
    assert_in_range(hub()->budget.used, 2000, 2999);
    link_pass(&host, 100001);
    assert_in_range(hub()->budget.used, 1000, 1999); /* the first */
    link_pass(&host, 300001);
    assert_in_range(hub()->budget.used, 1, 999); /* all */
    assert_int_equal(hub()->logged, hub()->budget.used);
    fl_http_hub *kept = fl_http_hub_ref(link_session(&host)->caller->hub);
    fl_link_close(host.link);
    io_until(host.loop, host.links == 0);
    assert_int_equal(kept->budget.used, 0);
    assert_int_equal(kept->logged, 0);
    fl_http_hub_unref(kept);
}

static void test_backlog_of_events_has_half_of_the_budget(void **state)
{
    static const fl_options tight = {.http.memory_budget = 2 * HALF};

    (void)state;
    restart(&tight);
    assert_int_equal(link_say(&host, link_long(room, HALF + 1, false)),
                     FL_BUSY);
    assert_int_equal(link_say(&host, link_long(room, HALF, false)), FL_OK);
    assert_int_equal(link_say(&host, NOTE("more")), FL_BUSY);
    /* so nobody else is turned away, and what was kept comes */
    assert_int_equal(link_listen(&host, &second, fields, "", &answer), 200);
    assert_non_null(strstr(http_hear_event(&second, &answer), room));
    io_until(host.loop, host.writables == 1);
    assert_int_equal(link_say(&host, NOTE("more")), FL_OK);
    http_hear_event(&second, &answer);
    assert_non_null(strstr(answer.body, "id: 0-2\n"));
}

/* One that cannot be kept is refused, and costs neither what was kept before
 * nor what comes after. */
static void test_backlog_goes_on_after_an_event_too_large(void **state)
{
    (void)state;
    restart(&(fl_options){.http.event_bytes = 1000});
    assert_int_equal(link_say(&host, NOTE("a")), FL_OK);
    assert_int_equal(link_say(&host, link_long(room, 1001, false)),
                     FL_E_TOO_BIG);
    assert_int_equal(link_say(&host, NOTE("b")), FL_OK);
    assert_int_equal(link_listen(&host, &second, fields, "", &answer), 200);
    assert_non_null(strstr(http_hear_event(&second, &answer), NOTE("a")));
    assert_non_null(strstr(http_hear_event(&second, &answer), NOTE("b")));
}

/* An answer of a million bytes, for a client that opens no window. */
static void shut_window(void)
{
    static h2_text text;

    restart(
        &(fl_options){.high_water = 64 * 1024, .http.memory_budget = 1 << 20});
    link_dial(&host, &second);
    h2_begin(&second, 0);
    h2_post(&text, 1, fields, ASK("1"), true);
    h2_flush(&second, &text);
    link_asked(&host, 1);
    assert_int_equal(link_answer(&host, link_long(room, LARGE, true)), FL_OK);
}

static void test_backlog_behind_a_shut_window_is_charged(void **state)
{
    (void)state;
    shut_window();
    assert_true(hub()->budget.used >= LARGE);
    http_post(&host.peer, fields, ASK("2"));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 503);
    assert_non_null(strstr(answer.body, "memory_budget"));
    raw_close(&second);
    io_until(host.loop, hub()->budget.used == 0);
}

static void say_to_it(unsigned type, uint32_t stream, fl_span payload)
{
    static h2_text text;

    h2_add(&text, type, 0, stream, payload);
    h2_flush(&second, &text);
    for (int i = 0; i < 20; i++)
        io_turn(host.loop);
}

/* Pings are answered meanwhile, and the window is opened a crack. */
static void test_backlog_behind_a_shut_window_ends_it(void **state)
{
    static h2_frame frame;

    (void)state;
    shut_window();
    link_pass(&host, 2500); /* the head has left meanwhile */
    assert_true(hub()->budget.used >= LARGE);
    say_to_it(H2_PING, 0, FL_SPAN("12345678"));
    say_to_it(H2_WINDOW_UPDATE, 1, FL_SPAN("\0\0\x01\0"));
    link_pass(&host, 2499);
    assert_in_range(hub()->budget.used, LARGE - 256, 2 * LARGE);
    link_pass(&host, 1);
    h2_hear_type(&second, H2_RESET, &frame);
    assert_int_equal(frame.stream, 1);
    io_until(host.loop, hub()->budget.used == 0);
    http_post(&host.peer, fields, ASK("2"));
    link_asked(&host, 2);
    say_to_it(H2_PING, 0, FL_SPAN("87654321"));
    h2_hear_type(&second, H2_PING, &frame); /* the connection goes on */
}

static void test_backlog_that_is_let_out_in_time_goes_on(void **state)
{
    (void)state;
    shut_window();
    for (int i = 0; i < 10; i++) {
        link_pass(&host, 4000);
        say_to_it(H2_WINDOW_UPDATE, 0, FL_SPAN("\0\0\x40\0"));
        say_to_it(H2_WINDOW_UPDATE, 1, FL_SPAN("\0\0\x40\0"));
        link_pass(&host, 1000);
        forget(&second);
    }
    assert_in_range(hub()->budget.used, LARGE - 10 * 16384, LARGE);
}

/* Requests that are not whole have a time-out of their own. */
static void test_backlog_is_not_what_the_client_has_to_say(void **state)
{
    enum { REQUESTS = 60 };
    static h2_text text;
    char long_field[128];

    (void)state;
    restart(
        &(fl_options){.high_water = 16 * 1024, .http.body_timeout_ms = 100000});
    link_dial(&host, &second);
    h2_begin(&second, H2_WINDOW);
    snprintf(long_field, sizeof long_field, "%sx-long: %0100d\r\n", "", 1);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        h2_post(&text, 2 * i + 1, long_field, "{", false);
        h2_flush(&second, &text);
    }
    io_until(host.loop, hub()->budget.used > 16 * 1024);
    for (int i = 0; i < 4; i++)
        link_pass(&host, 10000);
    assert_true(hub()->budget.used > 16 * 1024);
    say_to_it(H2_PING, 0, FL_SPAN("12345678"));
    static h2_frame frame;
    h2_hear_type(&second, H2_PING, &frame);
}

/* It is the connection's own timer that comes back to it here. */
static void test_backlog_without_memory_is_charged_later(void **state)
{
    (void)state;
    shut_window();
    fl_http_conn *conn = FL_LIST_ENTRY(hub()->conns.prev, fl_http_conn, node);
    fl_http_backlog_clear(conn);
    assert_int_equal(hub()->budget.used, 0);
    ration_allow(0);
    fl_http_backlog_charge(conn);
    ration_reset();
    assert_null(conn->backlog);
    link_pass(&host, hub()->options.idle_timeout_ms);
    assert_true(hub()->budget.used >= LARGE);
}

static void test_backlog_that_leaves_slowly_is_no_reason_to_end(void **state)
{
    enum { ROUNDS = 10, SIP = 32 * 1024 };
    static char sip[SIP];
    int small = SIP;
    size_t got = 0;

    (void)state;
    restart(&(fl_options){.socket_buffer = SIP});
    setsockopt(host.peer.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    http_post(&host.peer, fields, ASK("1"));
    link_asked(&host, 1);
    assert_int_equal(link_answer(&host, link_long(room, 2 * LARGE, true)),
                     FL_OK);
    for (int i = 0; i < ROUNDS; i++) {
        ssize_t n = 0;
        io_until(host.loop, (n = recv(host.peer.fd, sip, SIP, 0)) > 0);
        got += (size_t)n;
        for (int k = 0; k < 10; k++)
            io_turn(host.loop);
        link_pass(&host, 2000);
    }
    assert_true(hub()->budget.used > LARGE); /* there was one all the time */
    io_until(host.loop,
             (raw_read(&host.peer), got += host.peer.end - host.peer.start,
              host.peer.start = host.peer.end, got >= 2 * LARGE));
    io_until(host.loop, hub()->budget.used == 0);
}

static void expect_opened(int status)
{
    http_post(&host.peer, "", INITIALIZE("0", "2025-06-18"));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, status);
}

static void test_backlog_of_sessions_is_cleared_of_idle_ones(void **state)
{
    char idle[256];

    (void)state;
    restart(&(fl_options){.http.max_sessions = 2, .idle_timeout_ms = FL_NEVER});
    fl_link *busy = host.link;
    assert_int_equal(link_listen(&host, &second, fields, "", &answer), 200);
    http_open_session(&host.peer, "2025-06-18", idle);
    link_pass(&host, 59999);
    expect_opened(503);
    link_pass(&host, 1);
    assert_int_equal(fl_link_send(busy, &FL_SPAN(NOTE("still here")), 1),
                     FL_OK); /* not idle, and not even silent */
    expect_opened(200);
    io_until(host.loop, host.links == 2);
    http_post(&host.peer, idle, INITIALIZED);
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    http_post(&host.peer, fields, INITIALIZED);
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 202);
}

static void test_backlog_of_sessions_is_bounded_by_address(void **state)
{
    (void)state;
    restart(&(fl_options){.http.max_sessions_per_address = 2});
    expect_opened(200);
    expect_opened(503);
    assert_non_null(strstr(answer.body, "max_sessions_per_address"));
    http_send(&host.peer, "DELETE", "/mcp", fields, "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 204);
    expect_opened(200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_backlog_of_a_request_that_is_read_makes_room),
        RUN(test_backlog_of_the_standing_stream_read_makes_room),
        RUN(test_backlog_of_a_request_whose_client_goes_is_none),
        RUN(test_backlog_of_the_standing_stream_gone_is_none),
        RUN(test_backlog_of_events_is_forgotten_in_time),
        RUN(test_backlog_of_events_has_half_of_the_budget),
        RUN(test_backlog_goes_on_after_an_event_too_large),
        RUN(test_backlog_behind_a_shut_window_is_charged),
        RUN(test_backlog_behind_a_shut_window_ends_it),
        RUN(test_backlog_that_is_let_out_in_time_goes_on),
        RUN(test_backlog_is_not_what_the_client_has_to_say),
        RUN(test_backlog_without_memory_is_charged_later),
        RUN(test_backlog_that_leaves_slowly_is_no_reason_to_end),
        RUN(test_backlog_of_sessions_is_cleared_of_idle_ones),
        RUN(test_backlog_of_sessions_is_bounded_by_address),
    };

    return cmocka_run_group_tests_name("http_backlog", tests, NULL, NULL);
}
