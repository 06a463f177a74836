/*
 * test_ws_link.c - a link over a pipe that is the test's own, so that what the
 * peer takes and when is for the test to say.
 */
#include "transport/ws_link.h"

#include "base/mem.h"
#include "base/random.h"
#include "support/ration.h"
#include "transport/line_link.h"
#include "ws_frames.h"

#include <stdio.h>
#include <sys/socket.h>

#define ASK(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"m\"}"
#define NOTE "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}"
#define DONE(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"

enum { HIGH = 1000, LIMIT = 4096 };

/* In which of its callbacks the owner closes the link. */
enum close_in { NEVER, IN_MESSAGE, IN_WRITABLE, IN_CLOSED };

static struct rig {
    fl_ws_link ws; /* first */
    uint64_t now;
    fl_loop *loop;
    fl_ws_link_settings settings;
    fl_budget budget;

    char out[WS_ROOM];    /* what the link wrote */
    size_t out_len, read; /* and what of it was looked at */
    bool deaf;            /* the peer takes nothing: it waits */
    size_t waiting;
    fl_status write_rc;
    bool paused;
    int closes, gone_due;
    uint64_t flush_ms;

    int messages, writables, closed, freed;
    char last[LIMIT + 1];
    bool answers;
    enum close_in close_in;
    fl_error why;

    int losses, gones, retries, unsents;
    fl_error lost;
    bool comes_back; /* on_lost moves to DISCONNECTED */
} rig;

static ws_text said;
static ws_frame heard;

static fl_status pipe_write(fl_ws_link *ws, const fl_span *parts, size_t count,
                            bool urgent)
{
    (void)ws;
    if (!urgent && rig.waiting >= rig.settings.high_water)
        return FL_BUSY;
    if (rig.write_rc != FL_OK && count > 0)
        return rig.write_rc;
    for (size_t i = 0; i < count; i++) {
        assert_true(parts[i].len <= sizeof rig.out - rig.out_len);
        if (parts[i].len > 0)
            memcpy(rig.out + rig.out_len, parts[i].ptr, parts[i].len);
        rig.out_len += parts[i].len;
        rig.waiting += rig.deaf ? parts[i].len : 0;
    }
    return FL_OK;
}

static size_t pipe_pending(const fl_ws_link *ws)
{
    (void)ws;
    return rig.waiting;
}

static void pipe_pause(fl_ws_link *ws, bool paused)
{
    (void)ws;
    assert_true(rig.paused != paused);
    rig.paused = paused;
}

static void pipe_close(fl_ws_link *ws, uint64_t flush_ms)
{
    (void)ws;
    rig.closes++;
    rig.gone_due = 1;
    rig.flush_ms = flush_ms;
}

static void pipe_name(const fl_ws_link *ws, char name[FL_STREAM_NAME])
{
    (void)ws;
    snprintf(name, FL_STREAM_NAME, "a pipe");
}

static const fl_ws_pipe test_pipe = {
    .write = pipe_write,
    .pending = pipe_pending,
    .pause = pipe_pause,
    .close = pipe_close,
    .name = pipe_name,
};

static void free_rig(fl_ws_link *ws)
{
    (void)ws;
    rig.freed++;
}

static void on_lost(fl_ws_link *ws, const fl_error *why)
{
    rig.losses++;
    rig.lost = *why;
    if (rig.comes_back)
        assert_int_equal(fl_link_move(&ws->link, FL_LINK_DISCONNECTED), FL_OK);
    else
        fl_ws_link_give_up(ws, why);
}

static void on_gone(fl_ws_link *ws)
{
    rig.gones++;
    if (ws->link.state == FL_LINK_CLOSING)
        fl_ws_link_end(ws);
}

static fl_status on_unsent(fl_ws_link *ws, const fl_span *parts, size_t count)
{
    (void)ws;
    (void)parts;
    (void)count;
    rig.unsents++;
    return FL_BUSY;
}

static void on_retry(fl_ws_link *ws)
{
    (void)ws;
    rig.retries++;
}

static const fl_ws_hooks server_hooks = {.free = free_rig};
static const fl_ws_hooks client_hooks = {
    .on_lost = on_lost,
    .on_gone = on_gone,
    .on_unsent = on_unsent,
    .on_retry = on_retry,
    .free = free_rig,
};

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    rig.messages++;
    assert_int_equal(rig.closed, 0);
    snprintf(rig.last, sizeof rig.last, "%.*s", (int)msg->text.len,
             msg->text.ptr);
    if (rig.answers && msg->kind == FL_MSG_REQUEST) {
        fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), msg->id,
                           FL_SPAN(",\"result\":{}}")};
        (void)fl_reply_end(reply, parts, 3);
    }
    if (rig.close_in == IN_MESSAGE)
        fl_link_close(link);
}

static void on_writable(fl_link *link)
{
    rig.writables++;
    if (rig.close_in == IN_WRITABLE)
        fl_link_close(link);
}

static void on_closed(fl_link *link, const fl_error *why)
{
    rig.closed++;
    rig.why = *why;
    if (rig.close_in == IN_CLOSED)
        fl_link_close(link);
}

static const fl_link_events events = {
    .on_message = on_message,
    .on_writable = on_writable,
    .on_closed = on_closed,
};

static fl_status open_rig(void)
{
    return fl_ws_link_open(&rig.ws, &test_pipe, NULL);
}

/* Not opened yet. False: there was no memory. */
static bool make(bool client)
{
    memset(&rig, 0, sizeof rig);
    rig.now = 1000;
    rig.loop = fl_loop_new_with(
        &(fl_loop_options){.clock = &(fl_clock){io_read_clock, &rig.now}});
    if (rig.loop == NULL)
        return false;
    fl_budget_init(&rig.budget, 256 * 1024);
    rig.settings = (fl_ws_link_settings){
        .frames = {.client = client,
                   .max_message = LIMIT,
                   .text_unchecked = true,
                   .refuse_binary = true},
        .budget = &rig.budget,
        .max_message = LIMIT,
        .high_water = HIGH,
        .pack_from = 512,
        .lease_ms = FL_NEVER,
        .idle_ms = FL_NEVER,
        .ping_ms = FL_NEVER,
        .fragment_ms = FL_NEVER,
        .stuck_ms = 5000,
        .close_ms = 2000,
        .utf8_code = FL_WS_BAD_DATA,
    };
    fl_ws_link_init(&rig.ws, fl_transport_find(FL_SPAN("ws")), rig.loop,
                    !client, client ? &client_hooks : &server_hooks,
                    &rig.settings);
    rig.ws.link.events = &events;
    rig.answers = true;
    return true;
}

static int set_up(void **state)
{
    (void)state;
    return make(false) ? 0 : -1;
}

static void pass(uint64_t ms)
{
    io_some_turns(rig.loop);
    rig.now += ms;
    io_some_turns(rig.loop);
}

/* The pipe goes when it was closed, and only then. */
static void settle(void)
{
    io_some_turns(rig.loop);
    if (rig.gone_due) {
        rig.gone_due = 0;
        fl_ws_link_on_gone(&rig.ws);
    }
    io_some_turns(rig.loop);
}

static int tear_down(void **state)
{
    (void)state;
    if (rig.ws.link.state != FL_LINK_CLOSED) {
        fl_link_close(&rig.ws.link);
        pass(rig.settings.close_ms);
        settle();
    }
    assert_int_equal(rig.freed, 1);
    assert_int_equal(rig.budget.used, 0);
    fl_loop_free(rig.loop);
    return 0;
}

static void open_now(void)
{
    assert_int_equal(open_rig(), FL_OK);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
}

static void feed_said(void)
{
    size_t len = said.len;
    char *bytes = fl_mem_alloc(len > 0 ? len : 1); /* exactly, for ASan */

    assert_non_null(bytes);
    memcpy(bytes, said.room, len);
    said.len = 0;
    if (rig.ws.pipe != NULL)
        fl_ws_link_on_data(&rig.ws, (fl_span){bytes, len});
    fl_mem_free(bytes);
}

static void say(const char *text)
{
    said.len = 0;
    ws_add(&said, FL_WS_TEXT, rig.ws.link.server, text);
    feed_said();
}

static void say_kind(unsigned kind, const char *text)
{
    said.len = 0;
    ws_add(&said, kind, rig.ws.link.server, text);
    feed_said();
}

static void say_close(unsigned code, const char *reason)
{
    said.len = 0;
    ws_add_close(&said, rig.ws.link.server, code, reason);
    feed_said();
}

/* The next frame it has written; false: none. */
static bool hear(void)
{
    size_t n =
        ws_cut((fl_span){rig.out + rig.read, rig.out_len - rig.read}, &heard);

    rig.read += n;
    return n > 0;
}

static void hears(unsigned kind, const char *body)
{
    assert_true(hear());
    assert_int_equal(heard.kind, kind);
    assert_string_equal(heard.body, body);
    assert_int_equal(heard.masked, !rig.ws.link.server);
}

static void hears_close(unsigned code)
{
    assert_true(hear());
    assert_int_equal(ws_close_code(&heard), code);
    assert_false(hear());
}

/* The peer reads all that waits. */
static void drain(void)
{
    rig.waiting = 0;
    fl_ws_link_on_drain(&rig.ws);
}

static fl_status send_text(const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_link_send(&rig.ws.link, &span, 1);
}

static void test_a_message_in_a_frame_is_delivered_and_answered(void **state)
{
    (void)state;
    open_now();
    say(ASK("1"));
    assert_string_equal(rig.last, ASK("1"));
    hears(FL_WS_TEXT, DONE("1"));
    assert_int_equal(rig.ws.link.stats.messages_in, 1);
    assert_int_equal(rig.ws.link.stats.messages_out, 1);
}

static void test_newlines_inside_json_do_not_cut_it(void **state)
{
    (void)state;
    open_now();
    say("{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 1,\n  \"method\": \"m\"\n}\n");
    assert_int_equal(rig.messages, 1);
    hears(FL_WS_TEXT, DONE("1"));
}

static void test_lines_in_a_frame_are_messages_each(void **state)
{
    (void)state;
    open_now();
    say(ASK("1") "\n\r\n " ASK("2") "\r\nno message\n" ASK("3"));
    assert_int_equal(rig.messages, 3);
    hears(FL_WS_TEXT, DONE("1"));
    hears(FL_WS_TEXT, DONE("2"));
    assert_true(hear());
    assert_non_null(strstr(heard.body, "-32700"));
    hears(FL_WS_TEXT, DONE("3"));
}

static void test_blank_text_is_nothing(void **state)
{
    (void)state;
    open_now();
    say("");
    say(" \n\t\r\n");
    assert_int_equal(rig.messages, 0);
    assert_false(hear());
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
}

static void test_what_is_no_message_is_answered_with_its_id(void **state)
{
    (void)state;
    open_now();
    say("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":8}");
    assert_true(hear());
    assert_non_null(strstr(heard.body, "\"id\":7"));
    assert_non_null(strstr(heard.body, "-32600"));
    say("{");
    assert_true(hear());
    assert_non_null(strstr(heard.body, "\"id\":null"));
    assert_int_equal(rig.ws.link.stats.errors, 2);
}

static void test_a_bad_response_is_not_answered(void **state)
{
    (void)state;
    open_now();
    say("{\"jsonrpc\":\"1.0\",\"id\":7,\"result\":{}}");
    assert_false(hear());
    assert_int_equal(rig.ws.link.stats.errors, 1);
}

static void test_fragments_make_one_message(void **state)
{
    fl_span text = FL_SPAN(ASK("1"));

    (void)state;
    open_now();
    ws_add_raw(&said, FL_WS_TEXT, true, (fl_span){text.ptr, 10});
    ws_add(&said, FL_WS_PING, true, "p");
    ws_add_raw(&said, FL_WS_MORE, true, (fl_span){text.ptr + 10, 5});
    feed_said();
    assert_int_equal(rig.messages, 0);
    hears(FL_WS_PONG, "p");
    assert_true(rig.budget.used > 0);
    ws_add_raw(&said, 0x80, true, fl_span_from(text, 15));
    feed_said();
    hears(FL_WS_TEXT, DONE("1"));
    assert_int_equal(rig.budget.used, 0);
}

static void test_text_that_is_not_utf8_closes_with_the_code_set(void **state)
{
    (void)state;
    rig.settings.utf8_code = FL_WS_PROTOCOL_ERROR;
    open_now();
    say("{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}");
    hears_close(FL_WS_PROTOCOL_ERROR);
    assert_int_equal(rig.closes, 1); /* it is not listened to any more */
    settle();
    assert_int_equal(rig.why.status, FL_E_BAD_TEXT);
}

static void test_fragments_that_are_not_utf8_close_as_well(void **state)
{
    (void)state;
    open_now();
    ws_add_raw(&said, FL_WS_TEXT, true, FL_SPAN("\"\xc3"));
    ws_add_raw(&said, FL_WS_MORE, true, FL_SPAN("\xc3"));
    feed_said();
    hears_close(FL_WS_BAD_DATA);
}

static void test_bad_lines_of_good_text_cost_only_themselves(void **state)
{
    (void)state;
    open_now();
    say("\xc3\xa4\n" NOTE);
    assert_int_equal(rig.messages, 1);
    assert_true(hear());
    assert_int_equal(heard.kind, FL_WS_TEXT);
}

static void test_binary_closes_1003(void **state)
{
    (void)state;
    open_now();
    say_kind(FL_WS_BINARY, ASK("1"));
    assert_int_equal(rig.messages, 0);
    hears_close(FL_WS_UNSUPPORTED);
}

static void test_a_message_at_the_limit_passes_and_one_past_closes(void **state)
{
    static char text[LIMIT + 2];

    (void)state;
    open_now();
    memset(text, ' ', sizeof text);
    memcpy(text, ASK("1"), strlen(ASK("1")));
    text[LIMIT] = '\0';
    say(text);
    hears(FL_WS_TEXT, DONE("1"));
    text[LIMIT] = ' ';
    text[LIMIT + 1] = '\0';
    say(text);
    hears_close(FL_WS_TOO_BIG);
    assert_non_null(strstr(heard.body + 2, "max_message"));
    assert_non_null(strstr(heard.body + 2, "4096"));
    settle();
    assert_int_equal(rig.why.status, FL_E_TOO_BIG);
}

static void test_sending_too_much_sends_nothing(void **state)
{
    static char text[LIMIT + 2];

    (void)state;
    open_now();
    memset(text, 'x', LIMIT);
    assert_int_equal(send_text(text), FL_OK);
    text[LIMIT] = 'x';
    assert_int_equal(send_text(text), FL_E_TOO_BIG);
    assert_true(hear());
    assert_int_equal(heard.len, LIMIT);
    assert_false(hear());
}

static void test_strict_lines_want_their_newline(void **state)
{
    (void)state;
    rig.settings.strict_lines = true;
    open_now();
    say(ASK("1"));
    assert_int_equal(rig.messages, 0);
    assert_true(hear());
    assert_non_null(strstr(heard.body, "-32600"));
    assert_non_null(strstr(heard.body, "ws.strict_lines"));
    assert_int_equal(heard.body[heard.len - 1], '\n');
    say(ASK("1") "\n" ASK("2") "\n");
    hears(FL_WS_TEXT, DONE("1") "\n");
    hears(FL_WS_TEXT, DONE("2") "\n");
    assert_int_equal(send_text("{\n\"jsonrpc\":\r\n1}"), FL_OK);
    hears(FL_WS_TEXT, "{ \"jsonrpc\":  1}\n");
}

static void test_strict_lines_that_are_not_utf8_close(void **state)
{
    (void)state;
    rig.settings.strict_lines = true;
    open_now();
    say("{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}\n");
    hears_close(FL_WS_BAD_DATA);
}

static void test_the_dialect_is_a_tool_call(void **state)
{
    (void)state;
    rig.settings.tool_dialect = true;
    open_now();
    say("{\"id\":\"a\",\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}}");
    assert_string_equal(
        rig.last, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\","
                  "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":"
                  "\"x\"}}}");
    hears(FL_WS_TEXT, DONE("\"a\""));
    say("{\"id\":2,\"name\":\"echo\"}");
    assert_string_equal(rig.last,
                        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                        "call\",\"params\":{\"name\":\"echo\"}}");
    hears(FL_WS_TEXT, DONE("2"));
    say(ASK("3"));
    hears(FL_WS_TEXT, DONE("3"));
}

static void test_in_the_dialect_the_unknown_is_ignored(void **state)
{
    static const char *const unknown[] = {
        "{\"id\":1}",
        "{\"name\":\"x\"}",
        "{\"id\":true,\"name\":\"x\"}",
        "{\"id\":1,\"name\":2}",
        "{\"id\":1,\"name\":\"x\",\"method\":\"m\"}",
        "{\"id\":1,\"name\":\"x\",\"jsonrpc\":\"1.0\"}",
        "{\"type\":\"hello\"}",
        "[]",
        "hello",
    };

    (void)state;
    rig.settings.tool_dialect = true;
    open_now();
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        say(unknown[i]);
    assert_int_equal(rig.messages, 0);
    assert_false(hear());
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
}

static void test_pings_are_answered_and_pongs_are_not(void **state)
{
    (void)state;
    open_now();
    say_kind(FL_WS_PING, "ask");
    hears(FL_WS_PONG, "ask");
    say_kind(FL_WS_PONG, "unasked");
    assert_false(hear());
}

static void test_a_full_client_owes_the_latest_pong_alone(void **state)
{
    (void)state;
    assert_int_equal(tear_down(NULL), 0);
    assert_true(make(true));
    open_now();
    fl_mem_free(rig.ws.keys); /* in the test's pipe nothing can be masked */
    rig.ws.keys = NULL;
    rig.deaf = true;
    rig.waiting = HIGH;
    for (int i = 0; i < 1000; i++)
        say_kind(FL_WS_PING, i < 999 ? "early" : "late");
    assert_false(hear());
    drain();
    assert_true(hear());
    assert_int_equal(heard.kind, FL_WS_PONG);
    assert_string_equal(heard.body, "late");
    assert_false(hear());
}

static void test_a_server_at_high_water_takes_nothing_in(void **state)
{
    (void)state;
    open_now();
    rig.deaf = true;
    for (int i = 0; i < 100; i++)
        ws_add(&said, FL_WS_TEXT, true, ASK("1"));
    feed_said();
    assert_true(rig.paused);
    int before = rig.messages;
    assert_true(before < 100 && rig.waiting >= HIGH &&
                rig.waiting < HIGH + 100);
    assert_true(rig.budget.used > 0);
    for (int i = 0; i < 100; i++) /* what the pipe had in hand already */
        ws_add(&said, FL_WS_TEXT, true, ASK("2"));
    feed_said();
    assert_int_equal(rig.messages, before);
    while (rig.messages < 200)
        drain();
    assert_int_equal(rig.messages, 200);
    drain();
    assert_false(rig.paused);
    assert_int_equal(rig.budget.used, 0);
}

static void test_lines_of_one_frame_wait_for_room_too(void **state)
{
    static char text[LIMIT];
    size_t len = 0;

    (void)state;
    open_now();
    rig.deaf = true;
    for (int i = 0; i < 60; i++)
        len +=
            (size_t)snprintf(text + len, sizeof text - len, ASK("%d") "\n", i);
    ws_add(&said, FL_WS_TEXT, true, text);
    ws_add(&said, FL_WS_TEXT, true, ASK("99"));
    feed_said();
    assert_true(rig.paused && rig.messages < 60);
    assert_true(rig.waiting < HIGH + 100);
    while (rig.messages < 61)
        drain();
    assert_string_equal(rig.last, ASK("99"));
    drain();
    assert_false(rig.paused);
}

static void test_sending_is_busy_at_high_water_and_answers_pass(void **state)
{
    (void)state;
    open_now();
    rig.waiting = HIGH - 1;
    assert_int_equal(send_text(NOTE), FL_OK);
    rig.waiting = HIGH;
    assert_int_equal(send_text(NOTE), FL_BUSY);
    fl_span answer = FL_SPAN(DONE("1"));
    assert_int_equal(fl_reply_end((fl_reply){.link = &rig.ws.link}, &answer, 1),
                     FL_OK);
    drain();
    assert_int_equal(rig.writables, 1);
    assert_int_equal(send_text(NOTE), FL_OK);
}

static void test_a_peer_that_takes_nothing_is_closed_1011(void **state)
{
    (void)state;
    open_now();
    rig.deaf = true;
    while (!rig.paused)
        say(ASK("1"));
    pass(4000);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
    rig.waiting -= 10; /* it moves a little, and is still at high water */
    rig.waiting += HIGH;
    rig.ws.written += HIGH;
    pass(1000);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
    pass(4999);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
    pass(1);
    assert_int_equal(rig.ws.link.state, FL_LINK_CLOSING);
    while (hear() && heard.kind == FL_WS_TEXT) {
    }
    assert_int_equal(ws_close_code(&heard), FL_WS_INTERNAL);
    assert_false(rig.paused); /* or its Close could not be heard */
    assert_int_equal(rig.closes, 0);
    pass(2000);
    assert_int_equal(rig.closes, 1);
    assert_int_equal(rig.flush_ms, 5000);
    settle();
    assert_int_equal(rig.why.status, FL_E_TIMEOUT);
    assert_non_null(strstr(rig.why.text, "send_timeout_ms"));
}

static void test_output_that_drains_in_time_is_not_stuck(void **state)
{
    (void)state;
    open_now();
    rig.deaf = true;
    while (!rig.paused)
        say(ASK("1"));
    pass(4999);
    drain();
    rig.deaf = false;
    pass(60000);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
}

static void test_pings_go_out_and_an_answer_keeps_the_peer(void **state)
{
    (void)state;
    rig.settings.ping_ms = 30000;
    open_now();
    pass(29999);
    assert_false(hear());
    pass(1);
    hears(FL_WS_PING, "");
    say_kind(FL_WS_PONG, "");
    pass(30000);
    hears(FL_WS_PING, "");
    say_kind(FL_WS_PONG, "");
    assert_int_equal(rig.ws.link.stats.pings, 2);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
}

static void test_silence_between_two_pings_is_death(void **state)
{
    (void)state;
    rig.settings.ping_ms = 30000;
    open_now();
    pass(30000);
    hears(FL_WS_PING, "");
    pass(29999);
    assert_int_equal(rig.closes, 0);
    pass(1);
    assert_int_equal(rig.closes, 1);
    assert_int_equal(rig.flush_ms, 0);
    assert_false(hear()); /* nobody is there to be told */
    settle();
    assert_int_equal(rig.why.status, FL_E_TIMEOUT);
    assert_non_null(strstr(rig.why.text, "ws.ping_ms"));
}

static void test_whom_we_do_not_hear_is_not_dead(void **state)
{
    (void)state;
    rig.settings.ping_ms = 1000;
    rig.settings.stuck_ms = FL_NEVER;
    open_now();
    pass(1000);
    hears(FL_WS_PING, "");
    rig.deaf = true;
    while (!rig.paused)
        say(ASK("1"));
    for (int i = 0; i < 5; i++)
        pass(1000);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
    rig.deaf = false;
    drain();
    pass(1000);
    pass(1000);
    assert_int_equal(rig.closes, 1);
}

static void test_a_lease_without_a_message_ends_1008(void **state)
{
    (void)state;
    rig.settings.lease_ms = 30000;
    open_now();
    say_kind(FL_WS_PING, "");
    hears(FL_WS_PONG, "");
    pass(29999);
    assert_false(hear());
    pass(1);
    hears_close(FL_WS_POLICY);
    assert_non_null(strstr(heard.body + 2, "lease_ms"));
}

static void test_an_idle_link_ends_1001_but_not_at_work(void **state)
{
    (void)state;
    rig.settings.lease_ms = 90000;
    rig.settings.idle_ms = 10000;
    open_now();
    pass(5000);
    say(NOTE);
    fl_link_hold(&rig.ws.link);
    pass(15000);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
    fl_link_release(&rig.ws.link);
    say(NOTE);
    pass(9999);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
    pass(1);
    hears_close(FL_WS_GOING_AWAY);
    say_close(FL_WS_GOING_AWAY, "");
    settle();
    assert_int_equal(rig.why.status, FL_E_TIMEOUT);
}

static void test_a_message_must_be_whole_in_time(void **state)
{
    (void)state;
    rig.settings.fragment_ms = 30000;
    open_now();
    pass(50000);
    ws_add_raw(&said, FL_WS_TEXT, true, FL_SPAN("{"));
    feed_said();
    pass(15000);
    ws_add_raw(&said, FL_WS_MORE, true, FL_SPAN(" "));
    feed_said();
    pass(14999);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
    pass(1);
    hears_close(FL_WS_POLICY);
    assert_non_null(strstr(heard.body + 2, "ws.fragment_ms"));
}

static void test_messages_one_after_the_other_have_their_time_each(void **state)
{
    (void)state;
    rig.settings.fragment_ms = 30000;
    open_now();
    for (int i = 0; i < 3; i++) {
        ws_add_raw(&said, FL_WS_TEXT, true, FL_SPAN("{"));
        feed_said();
        pass(20000);
        ws_add_raw(&said, 0x80, true,
                   FL_SPAN("\"jsonrpc\":\"2.0\",\"method\":"
                           "\"n\"}"));
        feed_said();
        pass(20000);
    }
    assert_int_equal(rig.messages, 3);
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
}

static void test_closing_says_1000_and_waits_for_the_peer(void **state)
{
    (void)state;
    open_now();
    fl_link_close(&rig.ws.link);
    fl_link_close(&rig.ws.link);
    hears_close(FL_WS_NORMAL);
    assert_int_equal(rig.closed, 0);
    assert_int_equal(rig.closes, 0);
    say(ASK("1")); /* it crossed with our Close: nobody is there to answer */
    say_kind(FL_WS_PING, "x");
    assert_int_equal(rig.messages, 0);
    assert_false(hear());
    say_close(FL_WS_NORMAL, "");
    assert_int_equal(rig.closes, 1);
    assert_int_equal(rig.closed, 0);
    settle();
    assert_int_equal(rig.closed, 1);
    assert_int_equal(rig.why.status, FL_OK);
}

static void test_a_peer_that_does_not_answer_the_close_is_left(void **state)
{
    (void)state;
    open_now();
    fl_link_close(&rig.ws.link);
    pass(1999);
    assert_int_equal(rig.closes, 0);
    pass(1);
    assert_int_equal(rig.closes, 1);
    settle();
    assert_int_equal(rig.closed, 1);
    assert_int_equal(rig.why.status, FL_OK);
}

static void close_from_peer(unsigned code, const char *reason, fl_status status,
                            const char *text)
{
    open_now();
    ws_add_close(&said, true, code, reason);
    ws_add(&said, FL_WS_TEXT, true, ASK("1")); /* after a Close: nothing */
    feed_said();
    hears_close(code);
    assert_int_equal(rig.messages, 0);
    assert_int_equal(rig.closes, 1);
    settle();
    assert_int_equal(rig.closed, 1);
    assert_int_equal(rig.why.status, status);
    assert_string_equal(rig.why.text, text);
}

static void test_the_peers_1000_is_an_end_in_order(void **state)
{
    (void)state;
    close_from_peer(FL_WS_NORMAL, "", FL_END,
                    "the peer closed the WebSocket (1000)");
}

static void test_the_peers_close_without_a_code_is_too(void **state)
{
    (void)state;
    close_from_peer(FL_WS_NO_CODE, "", FL_END,
                    "the peer closed the WebSocket (1005)");
}

static void test_the_peers_other_codes_are_failures(void **state)
{
    (void)state;
    close_from_peer(FL_WS_INTERNAL, "on fire", FL_E_CLOSED,
                    "the peer closed the WebSocket (1011: on fire)");
}

static void test_the_peers_reason_may_go_to_a_terminal(void **state)
{
    (void)state;
    close_from_peer(FL_WS_INTERNAL, "a\033[2Jb\n", FL_E_CLOSED,
                    "the peer closed the WebSocket (1011: a?[2Jb?)");
}

static void test_an_end_without_a_close_is_a_failure(void **state)
{
    fl_error end = {.status = FL_END, .text = "end"};

    (void)state;
    open_now();
    fl_ws_link_on_end(&rig.ws, &end);
    assert_int_equal(rig.ws.close_code, FL_WS_ABNORMAL);
    settle();
    assert_int_equal(rig.closed, 1);
    assert_int_equal(rig.why.status, FL_E_CLOSED);
}

static void test_an_end_while_closing_is_what_was_waited_for(void **state)
{
    fl_error end = {.status = FL_END, .text = "end"};

    (void)state;
    open_now();
    fl_link_close(&rig.ws.link);
    fl_ws_link_on_end(&rig.ws, &end);
    assert_int_equal(rig.closes, 1);
    settle();
    assert_int_equal(rig.why.status, FL_OK);
}

static void test_what_breaks_the_rules_is_not_listened_to(void **state)
{
    (void)state;
    open_now();
    ws_add(&said, FL_WS_TEXT, false, ASK("1")); /* not masked */
    feed_said();
    hears_close(FL_WS_PROTOCOL_ERROR);
    assert_int_equal(rig.closes, 1);
    settle();
    assert_int_equal(rig.why.status, FL_E_BAD_MESSAGE);
}

static void test_rules_broken_after_our_close_only_hasten_the_end(void **state)
{
    (void)state;
    open_now();
    fl_link_close(&rig.ws.link);
    hears_close(FL_WS_NORMAL);
    ws_add(&said, FL_WS_TEXT, false, ASK("1"));
    feed_said();
    assert_false(hear());
    assert_int_equal(rig.closes, 1);
}

static void test_the_link_may_be_closed_from_on_message(void **state)
{
    (void)state;
    open_now();
    rig.close_in = IN_MESSAGE;
    ws_add(&said, FL_WS_TEXT, true, ASK("1") "\n" ASK("2"));
    ws_add(&said, FL_WS_TEXT, true, ASK("3"));
    ws_add_close(&said, true, FL_WS_NORMAL, "");
    feed_said();
    assert_int_equal(rig.messages, 1);
    hears(FL_WS_TEXT, DONE("1"));
    hears_close(FL_WS_NORMAL);
    settle();
    assert_int_equal(rig.closed, 1);
}

static void test_the_link_may_be_closed_from_on_writable(void **state)
{
    (void)state;
    open_now();
    rig.close_in = IN_WRITABLE;
    rig.deaf = true;
    while (!rig.paused)
        say(ASK("1"));
    rig.answers = false;
    drain();
    assert_int_equal(rig.ws.link.state, FL_LINK_CLOSING);
    assert_false(rig.paused);
}

static void test_the_link_may_be_closed_from_on_closed(void **state)
{
    (void)state;
    open_now();
    rig.close_in = IN_CLOSED;
    say_close(FL_WS_NORMAL, "");
    settle();
    assert_int_equal(rig.closed, 1);
}

static void test_input_held_back_is_searched_for_the_peers_close(void **state)
{
    (void)state;
    open_now();
    rig.deaf = true;
    while (!rig.paused)
        say(ASK("1"));
    say(ASK("2"));
    say_close(FL_WS_NORMAL, "");
    fl_link_close(&rig.ws.link);
    assert_int_equal(rig.closes, 1); /* no need to wait */
    settle();
    assert_int_equal(rig.closed, 1);
}

/* Every read ends within the next message, and none of them takes long. */
static void test_a_peer_that_is_always_busy_is_not_late(void **state)
{
    char turned[256];

    (void)state;
    rig.settings.fragment_ms = 1000;
    open_now();
    ws_add(&said, FL_WS_TEXT, true, NOTE);
    size_t len = said.len, half = len / 2;
    assert_true(len <= sizeof turned);
    memcpy(turned, said.room + half, len - half);
    memcpy(turned + len - half, said.room, half);
    fl_ws_link_on_data(&rig.ws, (fl_span){said.room, half});
    for (int i = 1; i <= 10; i++) {
        pass(200);
        fl_ws_link_on_data(&rig.ws, (fl_span){turned, len});
        assert_int_equal(rig.messages, i);
    }
    assert_int_equal(rig.ws.link.state, FL_LINK_ACTIVE);
    pass(1000);
    hears_close(FL_WS_POLICY);
}

static void test_without_budget_nothing_new_is_begun(void **state)
{
    size_t all = 256 * 1024;

    (void)state;
    open_now();
    fl_budget_charge(&rig.budget, all);
    say(ASK("7"));
    assert_int_equal(rig.messages, 0);
    assert_true(hear());
    assert_non_null(strstr(heard.body, "\"id\":7,"));
    assert_non_null(strstr(heard.body, "-32010"));
    assert_non_null(strstr(heard.body, "http.memory_budget"));
    say(NOTE);
    assert_int_equal(rig.messages, 1);
    fl_budget_give(&rig.budget, all);
    say(ASK("8"));
    assert_int_equal(rig.messages, 2);
}

static void test_without_budget_a_message_ends_1013(void **state)
{
    (void)state;
    fl_budget_init(&rig.budget, 16);
    open_now();
    ws_add_raw(&said, FL_WS_TEXT, true, FL_SPAN("{\"jsonrpc\":\"2.0\","));
    feed_said();
    hears_close(FL_WS_OVERLOAD);
    assert_non_null(strstr(heard.body + 2, "http.memory_budget"));
}

static void test_a_client_that_is_lost_may_come_back(void **state)
{
    fl_error end = {.status = FL_E_RESET, .text = "reset"};

    (void)state;
    assert_int_equal(tear_down(NULL), 0);
    assert_true(make(true));
    rig.settings.frames.client = true;
    assert_int_equal(fl_link_move(&rig.ws.link, FL_LINK_CONNECTING), FL_OK);
    assert_int_equal(send_text(NOTE), FL_BUSY);
    assert_int_equal(rig.unsents, 1);
    open_now();
    rig.comes_back = true;
    fl_ws_link_on_end(&rig.ws, &end);
    assert_int_equal(rig.losses, 1);
    assert_int_equal(rig.lost.status, FL_E_RESET);
    assert_int_equal(rig.closes, 1);
    settle();
    assert_int_equal(rig.gones, 1);
    assert_int_equal(rig.ws.link.state, FL_LINK_DISCONNECTED);
    fl_timer_start(&rig.ws.timer, 10);
    pass(10);
    assert_int_equal(rig.retries, 1);
    assert_int_equal(fl_link_move(&rig.ws.link, FL_LINK_CONNECTING), FL_OK);
    open_now();
    fl_ws_link_on_end(&rig.ws, &end);
    settle();
    fl_link_close(&rig.ws.link); /* with no socket to tell */
    settle();
    assert_int_equal(rig.closed, 1);
}

static void test_info_tells_what_waits_and_who_is_there(void **state)
{
    fl_link_info info;

    (void)state;
    open_now();
    rig.waiting = 77;
    fl_link_get_info(&rig.ws.link, &info);
    assert_string_equal(info.kind, "ws");
    assert_string_equal(info.peer, "a pipe");
    assert_int_equal(info.buffered, 77);
    assert_int_equal(info.max_message, LIMIT);
    rig.waiting = 0;
}

static void test_messages_cost_no_allocation_and_leave_none(void **state)
{
    (void)state;
    open_now();
    say(ASK("1")); /* the pool and the scratch buffer fill */
    io_some_turns(rig.loop);
    said.len = 0;
    for (int i = 0; i < 20; i++) {
        ws_add(&said, FL_WS_TEXT, true, ASK("1"));
        ws_add_raw(&said, FL_WS_TEXT, true, FL_SPAN("{\"jsonrpc\":\"2.0\","));
        ws_add_raw(&said, 0x80, true, FL_SPAN("\"method\":\"n\"}"));
        ws_add(&said, FL_WS_PING, true, "x");
    }
    ration_reset();
    fl_ws_link_on_data(&rig.ws, (fl_span){said.room, said.len});
    assert_int_equal(ration_count(), 0);
    said.len = 0;
    assert_int_equal(rig.messages, 41);
}

/* So much text that packing pays, or so little order that it does not. */
static const char *long_text(bool orderly)
{
    static char text[2048];
    uint32_t seed = 1;

    for (size_t i = 0; i < sizeof text - 1; i++) {
        seed = seed * 1664525 + 1013904223;
        text[i] = (char)(orderly ? 'a' : 33 + (seed >> 24) % 90);
    }
    return text;
}

static void open_packing(bool takeover)
{
    fl_ws_agreed agreed = {true, takeover, takeover, 15, 15};

    rig.settings.frames.packs = fl_ws_packs_new();
    assert_non_null(rig.settings.frames.packs);
    assert_int_equal(fl_ws_link_open(&rig.ws, &test_pipe, &agreed), FL_OK);
}

static void hears_packed(fl_ws_unpack *own, const char *text)
{
    fl_buf out;

    fl_buf_init(&out, 4096);
    assert_true(hear());
    assert_true(heard.packed);
    assert_true(heard.len < strlen(text));
    assert_int_equal(fl_ws_unpack_message(rig.settings.frames.packs, own,
                                          (fl_span){heard.body, heard.len},
                                          4096, &out),
                     FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&out), fl_span_of(text)));
    fl_buf_reset(&out);
}

static void test_long_messages_are_packed_if_that_makes_them_shorter(void **s)
{
    static char random[600];

    (void)s;
    open_packing(false);
    assert_int_equal(send_text(NOTE), FL_OK);
    hears(FL_WS_TEXT, NOTE);
    assert_false(heard.packed);
    assert_int_equal(send_text(long_text(true)), FL_OK);
    hears_packed(NULL, long_text(true));
    assert_int_equal(fl_random_bytes(random, sizeof random - 1), FL_OK);
    for (size_t i = 0; i < sizeof random - 1; i++)
        random[i] = (char)(random[i] != 0 ? random[i] : 1);
    assert_int_equal(send_text(random), FL_OK);
    hears(FL_WS_TEXT, random);
    assert_false(heard.packed);
    rig.waiting = HIGH;
    assert_int_equal(send_text(long_text(true)), FL_BUSY);
    rig.waiting = 0;
    fl_link_close(&rig.ws.link);
    pass(rig.settings.close_ms);
    settle();
    fl_ws_packs_free(rig.settings.frames.packs);
}

static void test_a_context_of_our_own_is_kept_and_counted(void **s)
{
    fl_ws_agreed theirs = {true, true, true, 15, 15};
    fl_ws_unpack *unpack;

    (void)s;
    fl_budget_init(&rig.budget, 64 << 20);
    open_packing(true);
    assert_int_equal(fl_ws_unpack_new(&theirs, &unpack), FL_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(send_text(long_text(false)), FL_OK);
        hears_packed(unpack, long_text(false));
    }
    assert_true(heard.len < 200); /* nothing new: that is what it is for */
    say(NOTE);
    assert_true(rig.budget.used >= 64 * 1024);
    fl_ws_unpack_free(unpack);
    fl_link_close(&rig.ws.link);
    pass(rig.settings.close_ms);
    settle();
    fl_ws_packs_free(rig.settings.frames.packs);
}

static void refuse_allocations(void *user)
{
    (void)user;
    if (!make(false))
        return;
    if (open_rig() != FL_OK) {
        fl_link_unref(&rig.ws.link);
        fl_loop_free(rig.loop);
        return;
    }
    rig.deaf = true;
    for (int i = 0; i < 60; i++)
        ws_add(&said, FL_WS_TEXT, true, ASK("1"));
    ws_add_raw(&said, FL_WS_TEXT, true, FL_SPAN("{\"jsonrpc\":\"2.0\","));
    fl_ws_link_on_data(&rig.ws, (fl_span){said.room, said.len});
    said.len = 0;
    if (rig.ws.pipe != NULL)
        drain();
    fl_link_close(&rig.ws.link);
    pass(rig.settings.close_ms);
    settle();
    assert_int_equal(rig.closed, 1);
    assert_int_equal(rig.freed, 1);
    fl_loop_free(rig.loop);
}

static void test_every_refused_allocation_is_survived(void **state)
{
    (void)state;
    assert_int_equal(tear_down(NULL), 0);
    assert_true(ration_each(refuse_allocations, NULL) > 2);
    assert_true(make(false)); /* for tear_down() */
}

/* A client, on a stream: what leaves is masked, with keys that differ. */
static void test_a_client_masks_each_frame_with_a_key_of_its_own(void **state)
{
    static char bytes[64 * 1024];
    size_t len = 0, at = 0, n;
    unsigned char keys[300][4];
    fl_stream *stream;
    int ends[2], count = 0;

    (void)state;
    assert_int_equal(tear_down(NULL), 0);
    assert_true(make(true));
    rig.settings.high_water = sizeof bytes;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(
        fl_stream_open_pair(rig.loop, ends[0], ends[0], NULL, &stream), FL_OK);
    assert_int_equal(fl_stream_start(stream, &fl_ws_stream_events, &rig.ws),
                     FL_OK);
    rig.ws.stream = stream;
    assert_int_equal(fl_ws_link_open(&rig.ws, &fl_ws_stream_pipe, NULL), FL_OK);
    for (int i = 0; i < 300; i++)
        assert_int_equal(send_text(NOTE), FL_OK);
    io_some_turns(rig.loop);
    while ((n = (size_t)recv(ends[1], bytes + len, sizeof bytes - len,
                             MSG_DONTWAIT)) != (size_t)-1)
        len += n;
    while ((n = ws_cut((fl_span){bytes + at, len - at}, &heard)) > 0) {
        assert_true(heard.masked);
        assert_string_equal(heard.body, NOTE);
        memcpy(keys[count++], bytes + at + 2, 4);
        at += n;
    }
    assert_int_equal(count, 300);
    int same = 0;
    for (int i = 1; i < count; i++)
        same += memcmp(keys[i], keys[i - 1], 4) == 0;
    assert_true(same < 3);
    fl_link_close(&rig.ws.link);
    close(ends[1]);
    io_until(rig.loop, rig.closed == 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_message_in_a_frame_is_delivered_and_answered),
        TEST(test_newlines_inside_json_do_not_cut_it),
        TEST(test_lines_in_a_frame_are_messages_each),
        TEST(test_blank_text_is_nothing),
        TEST(test_what_is_no_message_is_answered_with_its_id),
        TEST(test_a_bad_response_is_not_answered),
        TEST(test_fragments_make_one_message),
        TEST(test_text_that_is_not_utf8_closes_with_the_code_set),
        TEST(test_fragments_that_are_not_utf8_close_as_well),
        TEST(test_bad_lines_of_good_text_cost_only_themselves),
        TEST(test_binary_closes_1003),
        TEST(test_a_message_at_the_limit_passes_and_one_past_closes),
        TEST(test_sending_too_much_sends_nothing),
        TEST(test_strict_lines_want_their_newline),
        TEST(test_strict_lines_that_are_not_utf8_close),
        TEST(test_the_dialect_is_a_tool_call),
        TEST(test_in_the_dialect_the_unknown_is_ignored),
        TEST(test_pings_are_answered_and_pongs_are_not),
        TEST(test_a_full_client_owes_the_latest_pong_alone),
        TEST(test_a_server_at_high_water_takes_nothing_in),
        TEST(test_lines_of_one_frame_wait_for_room_too),
        TEST(test_sending_is_busy_at_high_water_and_answers_pass),
        TEST(test_a_peer_that_takes_nothing_is_closed_1011),
        TEST(test_output_that_drains_in_time_is_not_stuck),
        TEST(test_pings_go_out_and_an_answer_keeps_the_peer),
        TEST(test_silence_between_two_pings_is_death),
        TEST(test_whom_we_do_not_hear_is_not_dead),
        TEST(test_a_lease_without_a_message_ends_1008),
        TEST(test_an_idle_link_ends_1001_but_not_at_work),
        TEST(test_a_message_must_be_whole_in_time),
        TEST(test_messages_one_after_the_other_have_their_time_each),
        TEST(test_closing_says_1000_and_waits_for_the_peer),
        TEST(test_a_peer_that_does_not_answer_the_close_is_left),
        TEST(test_the_peers_1000_is_an_end_in_order),
        TEST(test_the_peers_close_without_a_code_is_too),
        TEST(test_the_peers_other_codes_are_failures),
        TEST(test_the_peers_reason_may_go_to_a_terminal),
        TEST(test_an_end_without_a_close_is_a_failure),
        TEST(test_an_end_while_closing_is_what_was_waited_for),
        TEST(test_what_breaks_the_rules_is_not_listened_to),
        TEST(test_rules_broken_after_our_close_only_hasten_the_end),
        TEST(test_the_link_may_be_closed_from_on_message),
        TEST(test_the_link_may_be_closed_from_on_writable),
        TEST(test_the_link_may_be_closed_from_on_closed),
        TEST(test_input_held_back_is_searched_for_the_peers_close),
        TEST(test_a_peer_that_is_always_busy_is_not_late),
        TEST(test_without_budget_nothing_new_is_begun),
        TEST(test_without_budget_a_message_ends_1013),
        TEST(test_a_client_that_is_lost_may_come_back),
        TEST(test_info_tells_what_waits_and_who_is_there),
        TEST(test_long_messages_are_packed_if_that_makes_them_shorter),
        TEST(test_a_context_of_our_own_is_kept_and_counted),
        TEST(test_messages_cost_no_allocation_and_leave_none),
        TEST(test_every_refused_allocation_is_survived),
        TEST(test_a_client_masks_each_frame_with_a_key_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
