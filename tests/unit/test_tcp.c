/*
 * test_tcp.c - links over TCP, TLS and Unix sockets: who is let in, how long
 * a silent one may stay, how a client comes back, and how it all ends.
 *
 * Servers are listeners of ours, spoken to by raw sockets; clients are links
 * of ours, spoken to by raw sockets too; TLS has one of ours at either end.
 * Time is driven throughout.
 */
#include "base/span.h"
#include "raw_peer.h"
#include "support/ration.h"
#include "transport/link.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

enum { LINKS = 8 };

/* A listener and its links. A request "hold" is answered when told to. */
typedef struct yard {
    uint64_t now;
    fl_loop *loop;
    fl_listener *listener;
    fl_link *links[LINKS];
    int opened, closed, listener_closed;
    fl_error why; /* the last link's to close */
    fl_reply held;
    char held_id[32];
} yard;

/* A client link. */
typedef struct boat {
    fl_link *link;
    int opened, down, closed, writable, messages;
    fl_error why, down_why;
    bool close_in_down;
    char last[512];
} boat;

static yard at;
static boat ship;
static raw_peer one, two, three;
static char dir[] = "/tmp/fl-tcp-XXXXXX";

#define ASK(id, method)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define ANSWER(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":true}"
#define NOTE(n) "{\"jsonrpc\":\"2.0\",\"method\":\"n" n "\"}"

static void answer(fl_reply reply, const char *id)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), fl_span_of(id),
                       FL_SPAN(",\"result\":true}")};
    fl_reply_end(reply, parts, 3);
}

static void on_yard_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    char id[32];

    if (msg->kind != FL_MSG_REQUEST)
        return;
    snprintf(id, sizeof id, "%.*s", (int)msg->id.len, msg->id.ptr);
    if (fl_msg_method_is(msg, FL_SPAN("hold"))) {
        fl_link_hold(link);
        at.held = reply;
        memcpy(at.held_id, id, sizeof id);
    } else {
        answer(reply, id);
    }
}

static void let_go(void)
{
    answer(at.held, at.held_id);
    fl_link_release(at.held.link);
    at.held.link = NULL;
}

static void on_yard_closed(fl_link *link, const fl_error *why)
{
    at.closed++;
    at.why = *why;
    for (int i = 0; i < LINKS; i++)
        if (at.links[i] == link)
            at.links[i] = NULL;
}

static const fl_link_events yard_link_events = {
    .on_message = on_yard_message,
    .on_closed = on_yard_closed,
};

static void on_link(fl_listener *listener, fl_link *link, void *user)
{
    (void)listener;
    (void)user;
    link->events = &yard_link_events;
    at.links[at.opened++ % LINKS] = link;
}

static void on_listener_closed(fl_listener *listener, void *user)
{
    (void)listener;
    (void)user;
    at.listener_closed++;
}

static const fl_listener_events yard_events = {
    .on_link = on_link,
    .on_closed = on_listener_closed,
};

static void begin(void)
{
    at = (yard){.now = 1000};
    at.loop = io_driven_loop(&at.now);
    ship = (boat){0};
}

static void listen_on(const char *url, const fl_options *options)
{
    fl_error error;

    fl_status rc = fl_link_listen(at.loop, url, options, &yard_events, NULL,
                                  &at.listener, &error);
    if (rc != FL_OK)
        fail_msg("%s", error.text);
}

static void begin_yard(const fl_options *options)
{
    begin();
    listen_on("tcp://127.0.0.1:0", options);
}

static void dial(raw_peer *peer)
{
    raw_take(peer, at.loop, raw_dial(at.listener->port));
}

static void end(void)
{
    if (at.listener != NULL)
        fl_listener_close(at.listener);
    for (int i = 0; i < LINKS; i++)
        if (at.links[i] != NULL)
            fl_link_close(at.links[i]);
    if (ship.link != NULL && ship.closed == 0)
        fl_link_close(ship.link);
    io_until(at.loop,
             (at.now += 500, at.closed == at.opened &&
                                 at.listener_closed == (at.listener != NULL) &&
                                 ship.closed == (ship.link != NULL)));
    for (int i = 0; i < 20; i++) { /* refused ones linger too */
        at.now += 500;
        fl_loop_step(at.loop);
    }
    fl_loop_free(at.loop);
}

static void check_reason(const fl_error *why, fl_status status,
                         const char *part)
{
    assert_int_equal(why->status, status);
    if (strstr(why->text, part) == NULL)
        fail_msg("no '%s' in '%s'", part, why->text);
}

static void test_tcp_tells_the_one_too_many_why(void **state)
{
    (void)state;
    begin_yard(&(fl_options){.max_connections = 2});
    dial(&one);
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    dial(&two);
    raw_asks(&two, ASK("1", "m"), ANSWER("1"));
    dial(&three);
    raw_hears(&three,
              "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32010,"
              "\"message\":\"connection limit reached\",\"data\":{\"limit\":"
              "2}}}");
    raw_hears_end(&three);
    raw_close(&three);
    assert_int_equal(at.opened, 2);

    raw_close(&two); /* makes room */
    io_until(at.loop, at.closed == 1);
    dial(&three);
    raw_asks(&three, ASK("2", "m"), ANSWER("2"));
    raw_asks(&one, ASK("2", "m"), ANSWER("2"));
    raw_close(&one);
    raw_close(&three);
    end();
}

enum { FLOOD = 200 };

static void test_tcp_flood_does_not_hurt_who_is_in(void **state)
{
    static int flood[FLOOD];
    char byte[512];
    int told = 0;

    (void)state;
    begin_yard(&(fl_options){.max_connections = 1});
    dial(&one);
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    ration_reset();
    size_t before = (size_t)ration_live_bytes();
    for (int i = 0; i < FLOOD; i++) { /* all in one turn */
        flood[i] = raw_dial(at.listener->port);
        send(flood[i], "x", 1, MSG_NOSIGNAL); /* and never reads */
    }
    raw_asks(&one, ASK("2", "m"), ANSWER("2"));
    assert_int_equal(at.opened, 1);
    assert_true(ration_peak_bytes() - before < 512 * 1024);
    for (int i = 0; i < FLOOD; i++) {
        told += recv(flood[i], byte, sizeof byte, MSG_DONTWAIT) > 0;
        close(flood[i]);
    }
    assert_true(told > 0);
    raw_close(&one);
    end();
}

static void test_tcp_lease_ends_a_connection_that_never_speaks(void **state)
{
    (void)state;
    begin_yard(NULL);
    dial(&one);
    io_until(at.loop, at.opened == 1);
    raw_say(&one, "garbage does not count");
    raw_hears_part(&one, "-32700");
    at.now += 29999;
    raw_hears_nothing(&one);
    at.now += 100; /* what waits for long may be late, a little */
    raw_hears_end(&one);
    raw_close(&one);
    io_until(at.loop, at.closed == 1);
    check_reason(&at.why, FL_E_TIMEOUT,
                 "nothing was said within the lease of 30000 ms");
    end();
}

static void test_tcp_idle_connection_is_closed(void **state)
{
    (void)state;
    begin_yard(&(fl_options){.idle_timeout_ms = 1000, .lease_ms = 500});
    dial(&one);
    io_until(at.loop, at.opened == 1);
    at.now += 400;
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    at.now += 900;
    raw_asks(&one, ASK("2", "m"), ANSWER("2"));
    at.now += 900; /* 1800 since the first, 900 since the last */
    raw_hears_nothing(&one);
    at.now += 99;
    raw_hears_nothing(&one);
    at.now += 20;
    raw_hears_end(&one);
    raw_close(&one);
    io_until(at.loop, at.closed == 1);
    check_reason(&at.why, FL_E_TIMEOUT, "idle for 1000 ms");
    end();
}

static void check_idle_with_lease(uint64_t lease_ms)
{
    begin_yard(&(fl_options){.idle_timeout_ms = 1000, .lease_ms = lease_ms});
    dial(&one);
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    at.now += 999;
    raw_hears_nothing(&one);
    at.now += 20;
    raw_hears_end(&one);
    raw_close(&one);
    end();
}

static void test_tcp_idle_does_not_depend_on_the_lease(void **state)
{
    (void)state;
    check_idle_with_lease(FL_NEVER);
    check_idle_with_lease(30000);
}

static void test_tcp_no_timeouts_means_none(void **state)
{
    (void)state;
    begin_yard(
        &(fl_options){.idle_timeout_ms = FL_NEVER, .lease_ms = FL_NEVER});
    dial(&one);
    io_until(at.loop, at.opened == 1);
    at.now += UINT64_C(1000) * 86400 * 30;
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    at.now += UINT64_C(1000) * 86400 * 30;
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    raw_close(&one);
    end();
}

static void test_tcp_request_in_flight_is_not_idle(void **state)
{
    (void)state;
    begin_yard(&(fl_options){.idle_timeout_ms = 1000});
    dial(&one);
    raw_say(&one, ASK("1", "hold"));
    io_until(at.loop, at.held.link != NULL);
    for (int i = 0; i < 5; i++) {
        at.now += 1000;
        raw_hears_nothing(&one);
    }
    let_go();
    raw_hears(&one, ANSWER("1"));
    at.now += 2000;
    raw_hears_end(&one);
    raw_close(&one);
    end();
}

static void test_tcp_half_closed_client_gets_its_answers(void **state)
{
    (void)state;
    begin_yard(NULL);
    dial(&one);
    raw_say(&one, ASK("1", "m"));
    raw_say(&one, ASK("2", "hold"));
    raw_finish(&one);
    raw_hears(&one, ANSWER("1"));
    at.now += 1499;
    raw_hears_nothing(&one);
    let_go();
    raw_hears(&one, ANSWER("2"));
    raw_hears_end(&one);
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.why.status, FL_END);
    raw_close(&one);
    end();
}

static void test_tcp_half_closed_client_waits_only_so_long(void **state)
{
    (void)state;
    begin_yard(&(fl_options){.drain_ms = 300});
    dial(&one);
    raw_say(&one, ASK("2", "hold"));
    raw_finish(&one);
    io_until(at.loop, at.held.link != NULL);
    io_some_turns(at.loop);
    at.now += 299;
    raw_hears_nothing(&one);
    at.now += 1;
    raw_hears_end(&one);
    io_until(at.loop, at.closed == 1);
    raw_close(&one);
    end();
}

static void check_not_let_in(const fl_options *options)
{
    begin_yard(options);
    dial(&one);
    raw_hears_end(&one); /* without a word */
    assert_int_equal(at.opened, 0);
    raw_close(&one);
    end();
}

static void test_tcp_lets_in_only_who_may_come(void **state)
{
    static const char *const home[] = {"127.0.0.0/8", NULL};
    static const char *const away[] = {"10.0.0.0/8", "::1", NULL};

    (void)state;
    check_not_let_in(&(fl_options){.allow_addresses = away});
    check_not_let_in(&(fl_options){.deny_addresses = home});
    check_not_let_in(
        &(fl_options){.allow_addresses = home, .deny_addresses = home});
    begin_yard(&(fl_options){.allow_addresses = home, .deny_addresses = away});
    dial(&one);
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    raw_close(&one);
    end();
}

static void test_tcp_tells_who_comes_too_often_when_to_come_again(void **state)
{
    (void)state;
    begin_yard(&(fl_options){.max_per_second = 2});
    dial(&one);
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    dial(&two);
    raw_asks(&two, ASK("1", "m"), ANSWER("1"));
    dial(&three);
    raw_hears(&three,
              "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32010,"
              "\"message\":\"too many new connections from this address\","
              "\"data\":{\"retryAfterMs\":500}}}");
    raw_hears_end(&three);
    raw_close(&three);
    at.now += 499;
    dial(&three);
    raw_hears_part(&three, "\"retryAfterMs\":1}");
    raw_hears_end(&three);
    raw_close(&three);
    at.now += 1;
    dial(&three);
    raw_asks(&three, ASK("1", "m"), ANSWER("1"));
    raw_close(&one);
    raw_close(&two);
    raw_close(&three);
    end();
}

static void test_tcp_does_not_serve_strangers_by_accident(void **state)
{
    fl_listener *listener;
    fl_error error;

    (void)state;
    begin();
    static const char *const urls[] = {"tcp://0.0.0.0:0", "tcp://[::]:0",
                                       "tcp://192.0.2.1:0"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        assert_int_equal(fl_link_listen(at.loop, urls[i], NULL, &yard_events,
                                        NULL, &listener, &error),
                         FL_E_DENIED);
        assert_null(listener);
        assert_non_null(strstr(error.text, "allow_public"));
    }
    listen_on("tcp://0.0.0.0:0", &(fl_options){.allow_public = true});
    end();
}

static void test_tcp_listener_closes_while_its_links_live(void **state)
{
    (void)state;
    begin_yard(NULL);
    dial(&one);
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    fl_listener_close(at.listener);
    io_until(at.loop, at.listener_closed == 1);
    raw_asks(&one, ASK("2", "m"), ANSWER("2"));
    raw_close(&one);
    io_until(at.loop, at.closed == 1);
    fl_loop_free(at.loop);
}

static void test_tcp_port_in_use_is_named(void **state)
{
    char url[64];
    fl_listener *second;
    fl_error error;

    (void)state;
    begin_yard(NULL);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", at.listener->port);
    assert_int_equal(
        fl_link_listen(at.loop, url, NULL, &yard_events, NULL, &second, &error),
        FL_E_IN_USE);
    snprintf(url, sizeof url, "%u", at.listener->port);
    assert_non_null(strstr(error.text, url));
    end();
}

static void on_open(fl_link *link)
{
    (void)link;
    ship.opened++;
}

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    (void)link;
    (void)reply;
    ship.messages++;
    snprintf(ship.last, sizeof ship.last, "%.*s", (int)msg->text.len,
             msg->text.ptr);
}

static void on_writable(fl_link *link)
{
    (void)link;
    ship.writable++;
}

static void on_down(fl_link *link, const fl_error *why)
{
    ship.down++;
    ship.down_why = *why;
    if (ship.close_in_down)
        fl_link_close(link);
}

static void on_closed(fl_link *link, const fl_error *why)
{
    (void)link;
    ship.closed++;
    ship.why = *why;
}

static const fl_link_events ship_events = {
    .on_open = on_open,
    .on_message = on_message,
    .on_writable = on_writable,
    .on_down = on_down,
    .on_closed = on_closed,
};

static void sail(const char *scheme, uint16_t port, const fl_options *options)
{
    char url[64];
    fl_error error;

    snprintf(url, sizeof url, "%s://127.0.0.1:%u", scheme, port);
    fl_status rc = fl_link_connect(at.loop, url, options, &ship_events, NULL,
                                   &ship.link, &error);
    if (rc != FL_OK)
        fail_msg("%s", error.text);
}

static fl_status say(const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_link_send(ship.link, &span, 1);
}

/* A port that nobody listens on. */
static uint16_t closed_port(void)
{
    uint16_t port = 0;

    close(raw_listen(&port));
    return port;
}

/* Every wait before another attempt is logged: that is how they are counted
 * here, for an attempt is over as soon as it is begun. */
static int count_attempts(int log_fd)
{
    static int count;
    char text[4096];
    ssize_t n;

    if (log_fd < 0)
        return count = 0;
    while ((n = read(log_fd, text, sizeof text - 1)) > 0) {
        text[n] = '\0';
        for (char *hit = text; (hit = strstr(hit, "\"reconnecting\"")); hit++)
            count++;
    }
    return count;
}

static void check_waits(int log_fd, int attempt, uint64_t least, uint64_t most)
{
    io_until(at.loop, count_attempts(log_fd) == attempt);
    at.now += least - 1;
    io_some_turns(at.loop);
    assert_int_equal(count_attempts(log_fd), attempt);
    at.now += most - least + 2;
    io_until(at.loop,
             count_attempts(log_fd) == attempt + 1 || ship.closed == 1);
}

static void test_tcp_client_tries_again_ever_more_slowly(void **state)
{
    const fl_options options = {
        .reconnect_first_ms = 100,
        .reconnect_max_ms = 350,
        .reconnect_attempts = 4,
    };
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    fl_log *log = fl_log_new(&(fl_log_options){.fd = fds[1]});
    begin();
    fl_loop_set_log(at.loop, log);
    count_attempts(-1);
    sail("tcp", closed_port(), &options);
    check_waits(fds[0], 1, 50, 100);
    check_waits(fds[0], 2, 100, 200);
    check_waits(fds[0], 3, 175, 350); /* 400, but for the limit */
    check_waits(fds[0], 4, 175, 350);
    io_until(at.loop, ship.closed == 1);
    check_reason(&ship.why, FL_E_REFUSED, "127.0.0.1");
    assert_int_equal(ship.opened, 0);
    assert_int_equal(ship.down, 0); /* it never was up */
    end();
    fl_log_free(log);
    close(fds[0]);
    close(fds[1]);
}

static const fl_options quick = {
    .reconnect_first_ms = 100,
    .reconnect_max_ms = 100,
    .outage_queue = 100,
};

static void test_tcp_client_comes_back(void **state)
{
    uint16_t port = 0;
    int door = raw_listen(&port);
    fl_options options = quick;

    (void)state;
    options.reconnect_attempts = 1; /* in a row */
    begin();
    sail("tcp", port, &options);
    raw_accept(&one, at.loop, door);
    io_until(at.loop, ship.opened == 1);
    assert_int_equal(say(NOTE("1")), FL_OK);
    raw_hears(&one, NOTE("1"));
    /* half a message is lost with its connection */
    raw_put(&one, "{\"jsonrpc\":", 11);
    at.now += 100; /* it stood long enough to count as a success */
    io_some_turns(at.loop);
    raw_close(&one);
    io_until(at.loop, ship.down == 1);
    assert_int_equal(ship.messages, 0);
    assert_int_equal(ship.link->state, FL_LINK_DISCONNECTED);
    at.now += 100;
    raw_accept(&one, at.loop, door);
    io_until(at.loop, ship.opened == 2);
    raw_say(&one, NOTE("2"));
    io_until(at.loop, ship.messages == 1);
    assert_string_equal(ship.last, NOTE("2"));
    at.now += 100;
    io_some_turns(at.loop);
    raw_close(&one); /* and once more */
    io_until(at.loop, ship.down == 2);
    at.now += 100;
    raw_accept(&one, at.loop, door);
    io_until(at.loop, ship.opened == 3);
    raw_close(&one);
    close(door);
    end();
}

static void test_tcp_server_that_only_drops_uses_up_the_attempts(void **state)
{
    uint16_t port = 0;
    int door = raw_listen(&port);
    fl_options options = quick;

    (void)state;
    options.reconnect_attempts = 2;
    begin();
    sail("tcp", port, &options);
    for (int i = 1; i <= 3; i++) { /* the first one, and two attempts */
        raw_accept(&one, at.loop, door);
        io_until(at.loop, ship.opened == i);
        raw_close(&one);
        io_until(at.loop, ship.down == i);
        at.now += 99; /* one short of what counts as a success */
        io_some_turns(at.loop);
        at.now += 1;
    }
    io_until(at.loop, ship.closed == 1);
    close(door);
    end();
}

/* Of three messages, kept as 32, 33 and 32 bytes with their line ends. */
static void check_queue(size_t queue, fl_status third)
{
    uint16_t port = closed_port();
    fl_options options = quick;

    options.outage_queue = queue;
    begin();
    sail("tcp", port, &options);
    assert_int_equal(say(NOTE("1")), FL_OK);
    io_until(at.loop, ship.link->state == FL_LINK_DISCONNECTED);
    assert_int_equal(say("{\"jsonrpc\":\"2.0\",\n\"method\":\"n2\"}"), FL_OK);
    assert_int_equal(say(NOTE("3")), third);
    assert_int_equal(say(NOTE("4")), FL_BUSY);
    int door = raw_listen(&port);
    at.now += 100;
    raw_accept(&one, at.loop, door);
    raw_hears(&one, NOTE("1"));
    raw_hears(&one, "{\"jsonrpc\":\"2.0\", \"method\":\"n2\"}");
    if (third == FL_OK)
        raw_hears(&one, NOTE("3"));
    assert_int_equal(ship.opened, 1);
    assert_int_equal(ship.writable, 1);
    assert_int_equal(say(NOTE("4")), FL_OK);
    raw_hears(&one, NOTE("4"));
    raw_close(&one);
    close(door);
    end();
}

static void test_tcp_client_keeps_messages_through_an_outage(void **state)
{
    (void)state;
    check_queue(97, FL_OK);
    check_queue(96, FL_BUSY);
}

static void test_tcp_client_may_be_closed_when_it_goes_down(void **state)
{
    uint16_t port = 0;
    int door = raw_listen(&port);

    (void)state;
    begin();
    ship.close_in_down = true;
    sail("tcp", port, &quick);
    raw_accept(&one, at.loop, door);
    io_until(at.loop, ship.opened == 1);
    raw_close(&one);
    io_until(at.loop, ship.closed == 1);
    assert_int_equal(ship.why.status, FL_OK);
    assert_int_equal(ship.opened, 1);
    close(door);
    end();
}

static void test_tcp_client_may_be_closed_while_it_waits(void **state)
{
    (void)state;
    begin();
    sail("tcp", closed_port(), &quick);
    io_until(at.loop, ship.link->state == FL_LINK_DISCONNECTED);
    fl_link_close(ship.link);
    assert_int_equal(ship.closed, 0);
    io_until(at.loop, ship.closed == 1);
    assert_int_equal(ship.why.status, FL_OK);
    end();
}

static void test_tcp_client_gives_up_on_who_does_not_read(void **state)
{
    uint16_t port = 0;
    int door = raw_listen(&port);
    static char big[64 * 1024];
    fl_options options = quick;

    (void)state;
    options.no_reconnect = true;
    begin();
    sail("tcp", port, &options);
    raw_accept(&one, at.loop, door);
    io_until(at.loop, ship.opened == 1);
    snprintf(big, sizeof big, "{\"jsonrpc\":\"2.0\",\"method\":\"%0*d\"}",
             60000, 0);
    for (int i = 0; i < 10000 && say(big) != FL_BUSY; i++)
        fl_loop_step(at.loop);
    assert_int_equal(say(big), FL_BUSY);
    at.now += 4000;
    io_some_turns(at.loop);
    assert_int_equal(ship.closed, 0);
    for (int i = 0; i < 20 && ship.closed == 0; i++) {
        at.now += 2500;
        io_some_turns(at.loop);
    }
    assert_int_equal(ship.closed, 1);
    check_reason(&ship.why, FL_E_TIMEOUT, "5000 ms");
    raw_close(&one);
    close(door);
    end();
}

/* A link whose output was full when it broke hears again after it is back. */
static void test_tcp_client_forgets_what_a_broken_link_held(void **state)
{
    uint16_t port = 0;
    int door = raw_listen(&port);
    static char big[64 * 1024];
    fl_options options = quick;

    (void)state;
    options.high_water = 1024;
    begin();
    sail("tcp", port, &options);
    raw_accept(&one, at.loop, door);
    io_until(at.loop, ship.opened == 1);
    snprintf(big, sizeof big, "{\"jsonrpc\":\"2.0\",\"method\":\"%0*d\"}",
             60000, 0);
    for (int i = 0; i < 10000 && say(big) != FL_BUSY; i++)
        fl_loop_step(at.loop);
    raw_say(&one, NOTE("1"));
    raw_put(&one, "{\"jsonrpc\"", 10);
    io_some_turns(at.loop);
    raw_close(&one);
    io_until(at.loop, ship.down == 1);
    int before = ship.messages;
    at.now += 100;
    raw_accept(&one, at.loop, door);
    io_until(at.loop, ship.opened == 2);
    raw_say(&one, NOTE("2"));
    io_until(at.loop, ship.messages == before + 1);
    assert_string_equal(ship.last, NOTE("2"));
    raw_close(&one);
    close(door);
    end();
}

static void unix_path(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", dir, name);
}

static void test_tcp_unix_socket_is_its_owners_alone(void **state)
{
    char path[64], url[80];
    struct stat status;

    (void)state;
    unix_path(path, sizeof path, "own.sock");
    snprintf(url, sizeof url, "unix:%s", path);
    begin();
    listen_on(url, NULL);
    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISSOCK(status.st_mode));
    assert_int_equal(status.st_mode & 0777, 0600);
    raw_take(&one, at.loop, raw_dial_unix(path));
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));
    raw_close(&one);
    end();
    assert_int_equal(stat(path, &status), -1); /* it cleans up */

    begin();
    listen_on(url, &(fl_options){.socket_mode = 0660});
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0660);
    end();
}

static void test_tcp_unix_socket_left_behind_is_replaced(void **state)
{
    char path[64], url[80];
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fl_listener *second;
    fl_error error;

    (void)state;
    unix_path(path, sizeof path, "stale.sock");
    snprintf(url, sizeof url, "unix:%s", path);
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    assert_int_equal(bind(dead, (struct sockaddr *)&name, sizeof name), 0);
    close(dead);
    begin();
    listen_on(url, NULL);
    raw_take(&one, at.loop, raw_dial_unix(path));
    raw_asks(&one, ASK("1", "m"), ANSWER("1"));

    assert_int_equal(
        fl_link_listen(at.loop, url, NULL, &yard_events, NULL, &second, &error),
        FL_E_IN_USE);
    raw_asks(&one, ASK("2", "m"), ANSWER("2"));
    raw_close(&one);
    end();
}

static X509 *issue(const char *name, const char *san, X509 *issuer,
                   EVP_PKEY **issuer_key)
{
    X509 *made = X509_new();
    EVP_PKEY *key = EVP_EC_gen("P-256");
    static long serial;
    char path[64];

    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600L * 24);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_pubkey(made, key);
    X509_set_issuer_name(made,
                         X509_get_subject_name(issuer != NULL ? issuer : made));
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(
        NULL, NULL, san != NULL ? NID_subject_alt_name : NID_basic_constraints,
        san != NULL ? san : "critical,CA:TRUE");
    X509_add_ext(made, extension, -1);
    X509_EXTENSION_free(extension);
    assert_true(
        X509_sign(made, issuer != NULL ? *issuer_key : key, EVP_sha256()) > 0);
    snprintf(path, sizeof path, "%s/%s.crt", dir, name);
    FILE *out = fopen(path, "w");
    PEM_write_X509(out, made);
    fclose(out);
    snprintf(path, sizeof path, "%s/%s.key", dir, name);
    out = fopen(path, "w");
    PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL);
    fclose(out);
    if (issuer == NULL)
        *issuer_key = key;
    else
        EVP_PKEY_free(key);
    return made;
}

static char ca[64], wrong_ca[64], server_crt[64], server_key[64],
    client_crt[64], client_key[64];

static int make_files(void **state)
{
    EVP_PKEY *key, *wrong_key;

    (void)state;
    if (mkdtemp(dir) == NULL)
        return -1;
    X509 *authority = issue("ca", NULL, NULL, &key);
    X509 *wrong = issue("wrong", NULL, NULL, &wrong_key);
    X509_free(issue("server", "IP:127.0.0.1", authority, &key));
    X509_free(issue("client", "DNS:client.test", authority, &key));
    X509_free(authority);
    X509_free(wrong);
    EVP_PKEY_free(key);
    EVP_PKEY_free(wrong_key);
    snprintf(ca, sizeof ca, "%s/ca.crt", dir);
    snprintf(wrong_ca, sizeof wrong_ca, "%s/wrong.crt", dir);
    snprintf(server_crt, sizeof server_crt, "%s/server.crt", dir);
    snprintf(server_key, sizeof server_key, "%s/server.key", dir);
    snprintf(client_crt, sizeof client_crt, "%s/client.crt", dir);
    snprintf(client_key, sizeof client_key, "%s/client.key", dir);
    return 0;
}

static int remove_files(void **state)
{
    static const char *const names[] = {"ca", "wrong", "server", "client"};
    char path[64];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s.crt", dir, names[i]);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s.key", dir, names[i]);
        unlink(path);
    }
    return rmdir(dir);
}

static fl_options server_tls(void)
{
    return (fl_options){
        .tls = {.cert_file = server_crt, .key_file = server_key}};
}

static void check_subject(fl_link *link, fl_status rc, const char *subject)
{
    fl_buf answer;

    fl_buf_init(&answer, 512);
    assert_int_equal(fl_link_operate(link, "peer-subject", &answer), rc);
    fl_span text = fl_buf_view(&answer);
    assert_int_equal(text.len, strlen(subject));
    assert_memory_equal(text.len > 0 ? text.ptr : "", subject, text.len);
    fl_buf_reset(&answer);
}

static void test_tcp_tls_carries_the_same_lines(void **state)
{
    fl_options options = server_tls();

    (void)state;
    begin();
    listen_on("tls://127.0.0.1:0", &options);
    sail("tls", at.listener->port, &(fl_options){.tls.ca_file = ca});
    io_until(at.loop, ship.opened == 1);
    assert_int_equal(say(ASK("1", "m")), FL_OK);
    io_until(at.loop, ship.messages == 1);
    assert_string_equal(ship.last, ANSWER("1"));
    check_subject(at.links[0], FL_E_NOT_FOUND, "");
    check_subject(ship.link, FL_OK, "CN=server");
    end();
}

static void test_tcp_mutual_tls_knows_its_client(void **state)
{
    fl_options options = server_tls();
    fl_options client = {.tls = {.ca_file = ca,
                                 .cert_file = client_crt,
                                 .key_file = client_key}};

    (void)state;
    options.tls.ca_file = ca;
    options.tls.require_client_cert = true;
    begin();
    listen_on("tls://127.0.0.1:0", &options);
    sail("tls", at.listener->port, &client);
    io_until(at.loop, at.opened == 1 && ship.opened == 1);
    check_subject(at.links[0], FL_OK, "CN=client");
    end();
}

static void test_tcp_mutual_tls_turns_away_who_has_no_certificate(void **state)
{
    fl_options options = server_tls();

    (void)state;
    options.tls.ca_file = ca;
    options.tls.require_client_cert = true;
    begin();
    listen_on("tls://127.0.0.1:0", &options);
    sail("tls", at.listener->port,
         &(fl_options){.tls.ca_file = ca, .no_reconnect = true});
    io_until(at.loop, ship.closed == 1);
    assert_int_equal(at.opened, 0);
    check_reason(&ship.why, FL_E_TLS, "certificate required");
    end();
}

static void test_tcp_tls_says_whom_it_does_not_trust(void **state)
{
    fl_options options = server_tls();

    (void)state;
    begin();
    listen_on("tls://127.0.0.1:0", &options);
    sail("tls", at.listener->port,
         &(fl_options){.tls.ca_file = wrong_ca, .no_reconnect = true});
    io_until(at.loop, ship.closed == 1);
    assert_int_equal(ship.opened, 0);
    assert_int_equal(at.opened, 0);
    check_reason(&ship.why, FL_E_TLS, "certificate");
    end();
}

/* One too many is told why after the handshake, which he may draw out: so only
 * so many of them are waited for, and the next is closed at once. */
static void test_tcp_waits_for_only_so_many_it_will_refuse(void **state)
{
    enum { WAITED_FOR = 64 };
    static int fds[1 + WAITED_FOR];
    fl_options options = server_tls();
    char byte;

    (void)state;
    options.max_connections = 1;
    begin();
    listen_on("tls://127.0.0.1:0", &options);
    for (int i = 0; i < 1 + WAITED_FOR; i++)
        fds[i] = raw_dial(at.listener->port);
    io_some_turns(at.loop);
    for (int i = 0; i < 1 + WAITED_FOR; i++) {
        assert_int_equal(recv(fds[i], &byte, 1, MSG_DONTWAIT), -1);
        assert_int_equal(errno, EAGAIN);
    }
    dial(&one);
    raw_hears_end(&one);
    raw_close(&one);
    for (int i = 0; i < 1 + WAITED_FOR; i++)
        close(fds[i]);
    end();
}

static void test_tcp_plain_client_of_a_tls_port_is_dropped(void **state)
{
    fl_options options = server_tls();

    (void)state;
    begin();
    listen_on("tls://127.0.0.1:0", &options);
    dial(&one);
    raw_say(&one, ASK("1", "m"));
    io_until(at.loop, (raw_read(&one), one.ended));
    assert_int_equal(at.opened, 0);
    raw_close(&one);
    end();
}

/* Nobody holds a place with a handshake he does not finish, or when the
 * listener has gone meanwhile. */
static void test_tcp_unfinished_handshake_comes_to_nothing(void **state)
{
    fl_options options = server_tls();

    (void)state;
    options.open_timeout_ms = 500;
    begin();
    listen_on("tls://127.0.0.1:0", &options);
    dial(&one);
    io_some_turns(at.loop);
    at.now += 499;
    raw_hears_nothing(&one);
    at.now += 10;
    raw_hears_end(&one);
    raw_close(&one);
    dial(&two);
    io_some_turns(at.loop);
    fl_listener_close(at.listener);
    io_until(at.loop, at.listener_closed == 1);
    at.now += 1000;
    raw_hears_end(&two);
    raw_close(&two);
    assert_int_equal(at.opened, 0);
    fl_loop_free(at.loop);
}

static void on_nothing(fl_link *link)
{
    (void)link;
}

/* Both ends and one round trip, with memory that runs out. */
static void meet(void *user)
{
    static const fl_link_events events = {
        .on_open = on_nothing,
        .on_message = on_message,
        .on_closed = on_closed,
    };
    static const char *const home[] = {"127.0.0.1", NULL};
    const fl_options options = {.allow_addresses = home, .max_per_second = 9};
    fl_error error;
    char url[64];

    (void)user;
    at = (yard){.now = 1000};
    ship = (boat){0};
    fl_clock clock = {io_read_clock, &at.now};
    at.loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    if (at.loop == NULL)
        return;
    if (fl_link_listen(at.loop, "tcp://127.0.0.1:0", &options, &yard_events,
                       NULL, &at.listener, &error) != FL_OK) {
        assert_int_equal(error.status, FL_E_NOMEM);
        fl_loop_free(at.loop);
        return;
    }
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", at.listener->port);
    if (fl_link_connect(at.loop, url, &(fl_options){.no_reconnect = true},
                        &events, NULL, &ship.link, &error) == FL_OK) {
        fl_link_ref(ship.link);
        (void)!say(ASK("1", "m"));
        for (int i = 0; i < 20 && ship.messages == 0 && ship.closed == 0; i++)
            io_turn(at.loop);
        if (ship.closed == 0)
            fl_link_close(ship.link);
    } else {
        assert_int_equal(error.status, FL_E_NOMEM);
    }
    fl_listener_close(at.listener);
    for (int i = 0; i < LINKS; i++)
        if (at.links[i] != NULL)
            fl_link_close(at.links[i]);
    for (int i = 0; i < 100; i++, at.now += 500)
        fl_loop_step(at.loop);
    assert_int_equal(at.listener_closed, 1);
    assert_int_equal(at.closed, at.opened);
    assert_int_equal(ship.closed, ship.link != NULL);
    if (ship.link != NULL)
        fl_link_unref(ship.link);
    fl_loop_free(at.loop);
}

static void test_tcp_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(meet, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tcp_tells_the_one_too_many_why),
        cmocka_unit_test(test_tcp_flood_does_not_hurt_who_is_in),
        cmocka_unit_test(test_tcp_lease_ends_a_connection_that_never_speaks),
        cmocka_unit_test(test_tcp_idle_connection_is_closed),
        cmocka_unit_test(test_tcp_idle_does_not_depend_on_the_lease),
        cmocka_unit_test(test_tcp_no_timeouts_means_none),
        cmocka_unit_test(test_tcp_request_in_flight_is_not_idle),
        cmocka_unit_test(test_tcp_half_closed_client_gets_its_answers),
        cmocka_unit_test(test_tcp_half_closed_client_waits_only_so_long),
        cmocka_unit_test(test_tcp_lets_in_only_who_may_come),
        cmocka_unit_test(test_tcp_tells_who_comes_too_often_when_to_come_again),
        cmocka_unit_test(test_tcp_does_not_serve_strangers_by_accident),
        cmocka_unit_test(test_tcp_listener_closes_while_its_links_live),
        cmocka_unit_test(test_tcp_port_in_use_is_named),
        cmocka_unit_test(test_tcp_client_tries_again_ever_more_slowly),
        cmocka_unit_test(test_tcp_client_comes_back),
        cmocka_unit_test(test_tcp_server_that_only_drops_uses_up_the_attempts),
        cmocka_unit_test(test_tcp_client_keeps_messages_through_an_outage),
        cmocka_unit_test(test_tcp_client_may_be_closed_when_it_goes_down),
        cmocka_unit_test(test_tcp_client_may_be_closed_while_it_waits),
        cmocka_unit_test(test_tcp_client_gives_up_on_who_does_not_read),
        cmocka_unit_test(test_tcp_client_forgets_what_a_broken_link_held),
        cmocka_unit_test(test_tcp_unix_socket_is_its_owners_alone),
        cmocka_unit_test(test_tcp_unix_socket_left_behind_is_replaced),
        cmocka_unit_test(test_tcp_tls_carries_the_same_lines),
        cmocka_unit_test(test_tcp_mutual_tls_knows_its_client),
        cmocka_unit_test(test_tcp_mutual_tls_turns_away_who_has_no_certificate),
        cmocka_unit_test(test_tcp_tls_says_whom_it_does_not_trust),
        cmocka_unit_test(test_tcp_waits_for_only_so_many_it_will_refuse),
        cmocka_unit_test(test_tcp_plain_client_of_a_tls_port_is_dropped),
        cmocka_unit_test(test_tcp_unfinished_handshake_comes_to_nothing),
        cmocka_unit_test(test_tcp_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
