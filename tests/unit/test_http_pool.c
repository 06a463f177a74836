/*
 * test_http_pool.c - how many connections a client has, and which one a
 * request takes.
 */
#include "http_mini.h"

static void ask(int id)
{
    char text[128];

    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"m\"}", id);
    rig_sends(text);
}

static void begin(const fl_options *options)
{
    mini_begin(NULL, 11);
    mini.waits = true;
    rig_connect("/mcp", options);
    io_until(at.loop, at.opened == 1);
}

static void test_http_pool_opens_so_many_and_no_more(void **state)
{
    (void)state;
    begin(&(fl_options){.http = {.pool = 2, .pool_overflow = 1}});
    for (int i = 0; i < 3; i++)
        ask(i);
    assert_int_equal(rig_send(ASK("3", "m")), FL_BUSY);
    io_until(at.loop, mini.asked == 3);
    assert_int_equal(mini.guests, 3);
    assert_int_equal(rig_send(ASK("3", "m")), FL_BUSY);
    assert_int_equal(at.writables, 0);

    mini_answer(0);
    io_until(at.loop, at.messages == 1 && at.writables == 1);
    ask(3);
    io_until(at.loop, mini.asked == 4);
    assert_int_equal(rig_send(ASK("4", "m")), FL_BUSY);
    mini_answer_all();
    io_until(at.loop, at.messages == 4 && at.writables == 2);
    mini_end();
}

static void test_http_pool_has_ten_and_five_by_default(void **state)
{
    (void)state;
    begin(NULL);
    for (int i = 0; i < 15; i++)
        ask(i);
    assert_int_equal(rig_send(ASK("15", "m")), FL_BUSY);
    io_until(at.loop, mini.asked == 15);
    assert_int_equal(mini.guests, 15);
    mini_answer_all();
    io_until(at.loop, at.messages == 15 && mini.closed == 5);
    io_some_turns(at.loop);
    assert_int_equal(mini.closed, 5); /* ten are kept */
    mini_end();
}

static void test_http_pool_answers_pass_when_all_is_taken(void **state)
{
    fl_span answer = FL_SPAN(ANSWER("77"));

    (void)state;
    begin(&(fl_options){.http = {.pool = 1, .pool_overflow = 1}});
    ask(1);
    ask(2);
    assert_int_equal(rig_send(ASK("3", "m")), FL_BUSY);
    fl_reply reply = {.link = at.link};
    assert_int_equal(fl_reply_end(reply, &answer, 1), FL_OK);
    rig_sends(NOTE("notifications/cancelled"));
    assert_int_equal(rig_send(NOTE("notifications/progress")), FL_BUSY);
    io_until(at.loop, mini.asked == 4);
    assert_int_equal(mini.guests, 4);
    /* and past twice the number they wait for their turn */
    assert_int_equal(fl_reply_end(reply, &answer, 1), FL_OK);
    io_some_turns(at.loop);
    assert_int_equal(mini.guests, 4);
    mini_answer(0);
    io_until(at.loop, mini.asked == 5);
    assert_int_equal(mini.guests, 4);
    mini_end();
}

static void test_http_pool_takes_a_connection_again(void **state)
{
    (void)state;
    begin(NULL);
    mini.waits = false;
    for (int i = 0; i < 20; i++) {
        ask(i);
        io_until(at.loop, at.messages == i + 1);
        io_some_turns(at.loop);
    }
    assert_int_equal(mini.guests, 1);
    mini_end();
}

static void test_http_pool_lets_idle_connections_go(void **state)
{
    uint64_t now = 1000;

    (void)state;
    at = (rig){.loop = io_driven_loop(&now)};
    at.listener = raw_listen(&at.port);
    rig_connect("/mcp", NULL);
    io_until(at.loop, at.opened == 1);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    io_some_turns(at.loop);
    now += 29999;
    raw_hears_nothing(&one);
    now += 40; /* the wheel is coarse that far away */
    raw_hears_end(&one);
    rig_end();
}

static void test_http_pool_minds_connection_close(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say(&one, "200 OK", JSON "Connection: close\r\n", ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    raw_hears_end(&one);
    rig_sends(ASK("2", "m"));
    http_accept(&two);
    http_hear(&two, "POST /mcp");
    http_put(&two, "HTTP/1.0 200 OK\r\n" JSON "\r\n" ANSWER("2"));
    io_some_turns(at.loop);
    assert_int_equal(at.messages, 1); /* its end is the connection's */
    raw_close(&two);
    rig_hears(1, ANSWER("2"));
    rig_end();
}

static void test_http_pool_notices_what_closed_while_idle(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    raw_close(&one);
    io_some_turns(at.loop);
    rig_sends(ASK("2", "m"));
    http_accept(&two);
    http_hear(&two, "POST /mcp");
    http_say_json(&two, ANSWER("2"));
    rig_hears(1, ANSWER("2"));
    rig_end();
}

/* The end of the connection is there, but not seen, when the request is made:
 * nothing of it leaves, and it goes another way. */
static void test_http_pool_sends_again_what_never_left(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    io_some_turns(at.loop);
    raw_close(&one);
    usleep(2000);
    rig_sends(ASK("2", "m"));
    http_accept(&two);
    http_hear(&two, "POST /mcp");
    http_hears_body(ASK("2", "m"));
    http_say_json(&two, ANSWER("2"));
    rig_hears(1, ANSWER("2"));
    rig_end();
}

static void test_http_pool_nonsense_loses_one_request(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_put(&one, "SSH-2.0-OpenSSH\r\n\r\n");
    rig_hears_part(0, "\"id\":1,\"error\"");
    raw_hears_end(&one);
    rig_sends(ASK("2", "m"));
    http_accept(&two);
    http_hear(&two, "POST /mcp");
    http_say_json(&two, ANSWER("2"));
    rig_hears(1, ANSWER("2"));
    rig_end();
}

static void many_on_one(const fl_options *options)
{
    rig_connect("/mcp", options);
    io_until(at.loop, at.opened == 1);
    mini.waits = true;
    for (int i = 0; i < 15; i++)
        ask(i);
    io_until(at.loop, mini.asked == 15);
    for (int i = 15; i < 40; i++)
        ask(i);
    io_until(at.loop, mini.asked == 40);
    assert_int_equal(mini.guests, 1);
    assert_int_equal(mini.last_version, 20);
    fl_link_cancel(at.link, FL_SPAN("3"));
    io_until(at.loop, mini.lost == 1);
    mini_answer_all();
    io_until(at.loop, at.messages == 39);
    assert_int_equal(mini.guests, 1);
    mini_end();
}

static void test_http_pool_http2_by_prior_knowledge_has_one(void **state)
{
    (void)state;
    mini_begin(NULL, 20);
    many_on_one(&(fl_options){.http.http2_only = true});
}

static void test_http_pool_http2_by_alpn_has_one(void **state)
{
    static const char *const alpn[] = {"h2", "http/1.1", NULL};

    (void)state;
    mini_begin(alpn, 0);
    many_on_one(&(fl_options){.tls.ca_file = mini_cert});
}

#define SETTINGS "\0\0\0\4\0\0\0\0\0"
#define GOAWAY_AFTER_NONE                                                      \
    "\0\0\10\7\0\0\0\0\0"                                                      \
    "\0\0\0\0"                                                                 \
    "\0\0\0\0"
#define REFUSED_STREAM_1                                                       \
    "\0\0\4\3\0\0\0\0\1"                                                       \
    "\0\0\0\7"
#define PUT(peer, bytes) raw_put(peer, bytes, sizeof(bytes) - 1)

static void hear_preface(raw_peer *peer)
{
    http_accept(peer);
    io_until(at.loop, (raw_read(peer), peer->end > 200));
    assert_memory_equal(peer->room, "PRI * HTTP/2.0\r\n", 16);
}

/* A server says with what it has not begun (RFC 9113 6.8 and 8.7): that goes
 * out again, once. */
static void test_http_pool_http2_sends_again_what_was_refused(void **state)
{
    (void)state;
    rig_open(&(fl_options){.http.http2_only = true});
    ask(1);
    hear_preface(&one);
    PUT(&one, SETTINGS);
    PUT(&one, GOAWAY_AFTER_NONE);
    hear_preface(&two);
    assert_int_equal(at.messages, 0);
    PUT(&two, SETTINGS);
    PUT(&two, REFUSED_STREAM_1);
    rig_hears_part(0, "\"id\":1,\"error\"");
    rig_end();
}

/* Its windows are as wide as can be, and it reads nothing. */
#define WIDE_SETTINGS                                                          \
    "\0\0\6\4\0\0\0\0\0"                                                       \
    "\0\4\177\377\377\377"
#define WIDE_WINDOW                                                            \
    "\0\0\4\10\0\0\0\0\0"                                                      \
    "\177\376\377\377"

enum { LARGE = 120 * 1024, CALLS = 20 };

static void ask_much(uint64_t send_timeout_ms)
{
    static char text[LARGE];

    rig_open(&(fl_options){.http.http2_only = true,
                           .max_message = 2 * LARGE,
                           .high_water = 64 * 1024,
                           .socket_buffer = 4096,
                           .send_timeout_ms = send_timeout_ms,
                           .no_reconnect = true});
    ask(0);
    hear_preface(&one);
    PUT(&one, WIDE_SETTINGS);
    PUT(&one, WIDE_WINDOW);
    io_some_turns(at.loop);
    for (int i = 1; i <= CALLS; i++) {
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"m\",\"params\":"
                 "{\"x\":\"%*d\"}}",
                 i, LARGE - 100, i);
        rig_sends(text);
    }
    io_some_turns(at.loop);
    assert_int_equal(at.messages, 0);
}

static void test_http_pool_http2_that_never_reads_is_told(void **state)
{
    (void)state;
    ask_much(100);
    io_until(at.loop, at.messages > CALLS);
    rig_hears_part(0, "took nothing for 100 ms");
    raw_close(&one);
    rig_end();
}

/* What is sent is more than may wait, and nothing of it is lost. */
static void test_http_pool_http2_that_reads_late_gets_it_all(void **state)
{
    static char some[64 * 1024];
    size_t got = 0;
    ssize_t n;

    (void)state;
    ask_much(0);
    io_until(at.loop, (n = recv(one.fd, some, sizeof some, MSG_DONTWAIT),
                       got += n > 0 ? (size_t)n : 0,
                       got >= (size_t)CALLS * (LARGE - 100)));
    assert_int_equal(at.messages, 0);
    raw_close(&one);
    rig_end();
}

/* What is said to a server that was said to speak HTTP/2, and does not. */
static void test_http_pool_http2_tells_who_does_not_speak_it(void **state)
{
    static const char *const old[] = {"http/1.1", NULL};

    (void)state;
    rig_open(&(fl_options){.http.http2_only = true});
    ask(1);
    hear_preface(&one);
    http_put(&one, "HTTP/1.1 400 Bad Request\r\n\r\n");
    rig_hears_part(0, "the server does not speak HTTP/2");
    ask(2);
    hear_preface(&two);
    raw_close(&two);
    rig_hears_part(1, "perhaps it does not speak HTTP/2");
    raw_close(&one);
    rig_end();

    mini_begin(old, 0);
    rig_connect("/mcp", &(fl_options){.tls.ca_file = mini_cert,
                                      .no_reconnect = true,
                                      .http.http2_only = true});
    io_until(at.loop, at.opened == 1);
    ask(3);
    rig_hears_part(0, "\"error\"");
    assert_int_equal(mini.asked, 0);
    mini_end();
}

static void check_http1_over_tls(const char *const *alpn, bool http1_only)
{
    mini_begin(alpn, 0);
    rig_connect("/mcp", &(fl_options){.tls.ca_file = mini_cert,
                                      .http.http1_only = http1_only});
    io_until(at.loop, at.opened == 1);
    mini.waits = true;
    for (int i = 0; i < 4; i++)
        ask(i);
    io_until(at.loop, mini.asked == 4);
    assert_int_equal(mini.guests, 4); /* those in line got their own */
    assert_int_equal(mini.last_version, 11);
    mini_answer_all();
    io_until(at.loop, at.messages == 4);
    mini_end();
}

static void test_http_pool_speaks_http1_if_that_is_wanted(void **state)
{
    static const char *const both[] = {"h2", "http/1.1", NULL};
    static const char *const old[] = {"http/1.1", NULL};

    (void)state;
    check_http1_over_tls(old, false);
    check_http1_over_tls(both, true);
}

static void test_http_pool_verifies_who_is_there(void **state)
{
    static const char *const alpn[] = {"h2", NULL};

    (void)state;
    mini_begin(alpn, 0);
    rig_connect("/mcp", &(fl_options){.no_reconnect = true});
    io_until(at.loop, at.opened == 1);
    ask(1);
    rig_hears_part(0, "certificate verify failed");
    rig_hears_part(0, "\"transport\":\"E_TLS\"");
    mini_end();
}

static void test_http_pool_connecting_takes_no_longer_than_told(void **state)
{
    int hole = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof name;

    (void)state; /* it listens, takes connections, and never shakes hands */
    assert_int_equal(bind(hole, (struct sockaddr *)&name, len), 0);
    assert_int_equal(listen(hole, 1), 0);
    getsockname(hole, (struct sockaddr *)&name, &len);
    at = (rig){.loop = io_loop(), .scheme = "https"};
    at.port = ntohs(name.sin_port);
    at.listener = hole;
    rig_connect("/mcp",
                &(fl_options){.no_reconnect = true, .open_timeout_ms = 50});
    io_until(at.loop, at.opened == 1);
    ask(1);
    rig_hears_part(0, "\"transport\":\"E_TIMEOUT\"");
    rig_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_pool_opens_so_many_and_no_more),
        cmocka_unit_test(test_http_pool_has_ten_and_five_by_default),
        cmocka_unit_test(test_http_pool_answers_pass_when_all_is_taken),
        cmocka_unit_test(test_http_pool_takes_a_connection_again),
        cmocka_unit_test(test_http_pool_lets_idle_connections_go),
        cmocka_unit_test(test_http_pool_minds_connection_close),
        cmocka_unit_test(test_http_pool_notices_what_closed_while_idle),
        cmocka_unit_test(test_http_pool_sends_again_what_never_left),
        cmocka_unit_test(test_http_pool_nonsense_loses_one_request),
        cmocka_unit_test(test_http_pool_http2_by_prior_knowledge_has_one),
        cmocka_unit_test(test_http_pool_http2_by_alpn_has_one),
        cmocka_unit_test(test_http_pool_http2_sends_again_what_was_refused),
        cmocka_unit_test(test_http_pool_http2_that_never_reads_is_told),
        cmocka_unit_test(test_http_pool_http2_that_reads_late_gets_it_all),
        cmocka_unit_test(test_http_pool_http2_tells_who_does_not_speak_it),
        cmocka_unit_test(test_http_pool_speaks_http1_if_that_is_wanted),
        cmocka_unit_test(test_http_pool_verifies_who_is_there),
        cmocka_unit_test(test_http_pool_connecting_takes_no_longer_than_told),
    };

    return cmocka_run_group_tests_name("http_pool", tests, mini_make_files,
                                       mini_remove_files);
}
