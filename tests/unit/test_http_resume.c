/*
 * test_http_resume.c - clients that come back: what they are told when the
 * server no longer has, or never kept, what they missed.
 */
#include "link_host.h"

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static link_host host;
static http_answer answer;
static raw_peer second, third;
static char fields[256];
static char room[64 * 1024];

static int begin_with(const fl_options *options)
{
    link_begin(&host, options, fields);
    second.fd = third.fd = -1;
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
    if (third.fd >= 0)
        raw_close(&third);
    link_end(&host);
    return 0;
}

static void restart(const fl_options *options)
{
    finish(NULL);
    begin_with(options);
}

static int listen_from(raw_peer *peer, const char *last)
{
    return link_listen(&host, peer, fields, last, &answer);
}

static void hears(raw_peer *peer, const char *id, const char *data)
{
    char want[512];

    snprintf(want, sizeof want, "id: %s\n", id);
    http_hear_event(peer, &answer);
    if (strstr(answer.body, want) == NULL || strstr(answer.body, data) == NULL)
        fail_msg("want %s with %s, got %s", id, data, answer.body);
}

/* A request whose stream has had event 1-1, and lost its client. */
static void lose_stream(void)
{
    http_post(&host.peer, fields, ASK("1"));
    link_asked(&host, host.requests + 1);
    assert_int_equal(link_reply(&host, NOTE("a")), FL_OK);
    http_hear_head(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    hears(&host.peer, "1-1", NOTE("a"));
    raw_close(&host.peer);
    io_until(host.loop, ((fl_http_turn *)host.reply.stream)->exchange == NULL);
}

static void test_resume_unasked_never_fails_though_the_log_forgot(void **state)
{
    (void)state;
    assert_int_equal(link_say(&host, NOTE("old")), FL_OK);
    link_pass(&host, 300002); /* forgotten, but not that it was */
    assert_int_equal(listen_from(&second, ""), 200);
    assert_int_equal(link_say(&host, NOTE("new")), FL_OK);
    hears(&second, "0-2", NOTE("new"));
    raw_close(&second);
    link_pass(&host, 700000); /* forgotten altogether */
    assert_int_equal(listen_from(&second, ""), 200);
    assert_int_equal(link_say(&host, NOTE("newer")), FL_OK);
    hears(&second, "0-3", NOTE("newer"));
}

/* 2025-11-25 names that place with an event of its own. */
static void test_resume_unasked_begins_at_the_present(void **state)
{
    static server_host server;
    static raw_peer back;
    fl_tool late = {.name = "late", .call = tool_echo};

    (void)state;
    http_begin(&server, NULL);
    http_open_session(&server.peer, "2025-11-25", fields);
    assert_int_equal(fl_server_add_tool(server.server, &late), FL_OK);
    io_some_turns(server.loop);
    server.now += 300002;
    io_some_turns(server.loop);
    host_dial(&server, &back);
    http_get(&back, "/mcp", fields);
    http_hear_head(&back, &answer);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(http_hear_event(&back, &answer), "id: 0-1\n"));
    raw_close(&back);
    host_end(&server);
}

static void test_resume_at_the_present_is_good_at_any_time(void **state)
{
    (void)state;
    assert_int_equal(listen_from(&second, ""), 200);
    assert_int_equal(link_say(&host, NOTE("a")), FL_OK);
    hears(&second, "0-1", NOTE("a"));
    link_pass(&host, 700000);
    assert_int_equal(listen_from(&second, "0-1"), 200);
    assert_int_equal(link_say(&host, NOTE("b")), FL_OK);
    hears(&second, "0-2", NOTE("b"));
    /* ... and at no other, once it is forgotten */
    link_pass(&host, 300002);
    assert_int_equal(listen_from(&second, "0-1"), 410);
    assert_int_equal(listen_from(&second, "0-3"), 400);
}

static void test_resume_of_a_running_request_is_good_at_any_time(void **state)
{
    (void)state;
    lose_stream();
    link_pass(&host, 700000);
    assert_int_equal(listen_from(&second, "1-1"), 200);
    assert_int_equal(link_answer(&host, DONE("1")), FL_OK);
    hears(&second, "1-2", DONE("1"));
    assert_false(http_hear_chunk(&second, &answer));
}

static void test_resume_switched_off_leaves_the_standing_stream(void **state)
{
    (void)state;
    restart(&(fl_options){.http.no_resume = true});
    assert_int_equal(listen_from(&second, ""), 200);
    assert_int_equal(link_say(&host, NOTE("a")), FL_OK);
    http_hear_event(&second, &answer);
    assert_null(strstr(answer.body, "id:"));
    assert_int_equal(listen_from(&second, ""), 200);
    assert_int_equal(link_say(&host, NOTE("b")), FL_OK);
    assert_non_null(strstr(http_hear_event(&second, &answer), NOTE("b")));
    assert_int_equal(listen_from(&second, "0-1"), 400);
}

static void reset(raw_peer *peer)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    raw_close(peer);
}

/* What nobody has an id for must not be put where others look. */
static void test_resume_needs_a_stream_that_had_begun(void **state)
{
    (void)state;
    http_post(&host.peer, fields, ASK("1"));
    link_asked(&host, 1);
    reset(&host.peer);
    io_until(host.loop, ((fl_http_turn *)host.reply.stream)->exchange == NULL);
    assert_int_equal(link_reply(&host, NOTE("secret")), FL_E_STATE);
    assert_int_not_equal(link_answer(&host, DONE("1")), FL_OK);
    assert_int_equal(link_say(&host, NOTE("a")), FL_OK);
    assert_int_equal(link_say(&host, NOTE("b")), FL_OK);
    assert_int_equal(listen_from(&second, ""), 200);
    hears(&second, "0-1", NOTE("a"));
    hears(&second, "0-2", NOTE("b"));
    raw_hears_nothing(&second);
    assert_int_equal(listen_from(&second, "0-0"), 200);
    hears(&second, "0-1", NOTE("a"));
}

#define UPLOAD                                                                 \
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" HTTP_POST_FIELDS               \
    "Content-Length: 60000\r\n\r\n"

static void test_resume_of_an_answer_not_kept_is_told(void **state)
{
    (void)state;
    restart(&(fl_options){.http.memory_budget = 64 * 1024});
    lose_stream();
    link_dial(&host, &second);
    raw_put(&second, UPLOAD, strlen(UPLOAD));
    memset(room, ' ', 50000);
    raw_put(&second, room, 50000);
    io_until(host.loop, link_session(&host)->caller->hub->budget.used > 50000);
    link_answer(&host, link_long(room, 20000, true));
    raw_close(&second);
    io_until(host.loop, link_session(&host)->caller->hub->budget.used < 50000);
    assert_int_equal(listen_from(&second, "1-1"), 410);
}

static void test_resume_of_an_answer_at_the_log_s_limit_works(void **state)
{
    (void)state;
    restart(&(fl_options){.http.event_bytes = 1000});
    lose_stream();
    assert_int_equal(link_answer(&host, link_long(room, 1000, true)), FL_OK);
    assert_int_equal(listen_from(&second, "1-1"), 200);
    hears(&second, "1-2", room);
    assert_false(http_hear_chunk(&second, &answer));
}

/* FL_E_TOO_BIG would mean that the reply is not ended yet. */
static void test_resume_of_an_answer_over_that_limit_is_told(void **state)
{
    (void)state;
    restart(&(fl_options){.http.event_bytes = 1000});
    lose_stream();
    assert_int_equal(link_answer(&host, link_long(room, 1001, true)),
                     FL_E_STATE);
    assert_int_equal(listen_from(&second, "1-1"), 410);
}

/* The same under a server, which would try to say something smaller. */
static void test_resume_of_a_call_answered_too_large_is_told(void **state)
{
    static server_host server;
    static raw_peer back;

    (void)state;
    http_begin(&server, &(fl_options){.http.event_bytes = 1000});
    http_open_session(&server.peer, "2025-06-18", fields);
    http_post(&server.peer, fields, CALL("1", "wait", "{}"));
    host_kept(&server, 1);
    server.now += 251;
    http_hear_head(&server.peer, &answer);
    raw_close(&server.peer);
    for (int i = 0; i < 4; i++)
        io_turn(server.loop);
    memset(room, 'x', 2000);
    room[2000] = '\0';
    host_answer(&server, 0, room);
    host_dial(&server, &back);
    snprintf(room, sizeof room, "%sLast-Event-ID: 1-0\r\n", fields);
    http_get(&back, "/mcp", room);
    http_hear(&back, &answer);
    assert_int_equal(answer.status, 410);
    http_post(&back, fields, CALL("2", "echo", "{\"text\":\"on\"}"));
    http_hear(&back, &answer);
    assert_string_equal(answer.body, TEXT_ANSWER("2", "on"));
    raw_close(&back);
    host_end(&server);
}

static void test_resume_twice_leaves_the_stream_to_the_later(void **state)
{
    (void)state;
    lose_stream();
    assert_int_equal(listen_from(&second, "1-1"), 200);
    assert_int_equal(link_reply(&host, NOTE("b")), FL_OK);
    hears(&second, "1-2", NOTE("b"));
    assert_int_equal(listen_from(&third, "1-1"), 200);
    hears(&third, "1-2", NOTE("b"));
    raw_hears_end(&second);
    assert_int_equal(link_answer(&host, DONE("1")), FL_OK);
    hears(&third, "1-3", DONE("1"));
    assert_false(http_hear_chunk(&third, &answer));
    /* the answer is kept for who did not hear it */
    assert_int_equal(listen_from(&second, "1-2"), 200);
    hears(&second, "1-3", DONE("1"));
    assert_false(http_hear_chunk(&second, &answer));
}

static void test_resume_names_events_as_they_were_named(void **state)
{
    (void)state;
    restart(&(fl_options){.http.event_types = true});
    lose_stream();
    assert_int_equal(link_reply(&host, NOTE("b")), FL_OK);
    assert_int_equal(listen_from(&second, "1-1"), 200);
    hears(&second, "1-2", NOTE("b"));
    assert_non_null(strstr(answer.body, "event: notification\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_resume_unasked_never_fails_though_the_log_forgot),
        RUN(test_resume_unasked_begins_at_the_present),
        RUN(test_resume_at_the_present_is_good_at_any_time),
        RUN(test_resume_of_a_running_request_is_good_at_any_time),
        RUN(test_resume_switched_off_leaves_the_standing_stream),
        RUN(test_resume_needs_a_stream_that_had_begun),
        RUN(test_resume_of_an_answer_not_kept_is_told),
        RUN(test_resume_of_an_answer_at_the_log_s_limit_works),
        RUN(test_resume_of_an_answer_over_that_limit_is_told),
        RUN(test_resume_of_a_call_answered_too_large_is_told),
        RUN(test_resume_twice_leaves_the_stream_to_the_later),
        RUN(test_resume_names_events_as_they_were_named),
    };

    return cmocka_run_group_tests_name("http_resume", tests, NULL, NULL);
}
