/*
 * test_era_http.c - a client finds out of which era its server is where each
 * request has a stream of its own, and the answer may be an HTTP status.
 *
 * The transport is a fake: the table of transports is this file's, and has one
 * row. What the client sends is kept here; what comes is what the test says.
 */
#include "client_desk.h"
#include "io/timer.h"
#include "transport/transport.h"

enum { SENT_MAX = 16 };

typedef struct fake {
    fl_link link;
    fl_timer timer; /* opens it, and ends it, later */
} fake;

static struct wire {
    fake *link;
    int opened; /* links, in all */
    char sent[SENT_MAX][512];
    int count, seen; /* messages */
    char cancelled[64];
} wire;

static void on_timer(fl_timer *timer)
{
    fake *self = FL_LIST_ENTRY(timer, fake, timer);
    fl_error why = {.status = FL_OK};

    if (self->link.state == FL_LINK_CLOSING) {
        wire.link = NULL;
        fl_link_ended(&self->link, &why);
        return;
    }
    assert_int_equal(fl_link_move(&self->link, FL_LINK_ACTIVE), FL_OK);
    self->link.events->on_open(&self->link);
}

extern const fl_transport fake_transport;

static fl_status fake_connect(fl_loop *loop, const fl_address *address,
                              const fl_options *options,
                              const fl_link_events *events, void *user,
                              fl_link **out, fl_error *error)
{
    fake *self = calloc(1, sizeof *self);

    (void)address, (void)options, (void)error;
    assert_non_null(self);
    fl_link_init(&self->link, &fake_transport, loop, false);
    self->link.events = events;
    self->link.user = user;
    fl_timer_init(&self->timer, loop, on_timer);
    fl_timer_start(&self->timer, 0);
    assert_int_equal(fl_link_move(&self->link, FL_LINK_CONNECTING), FL_OK);
    wire.link = self;
    wire.opened++;
    *out = &self->link;
    return FL_OK;
}

static fl_status fake_send(fl_link *link, void *stream, const fl_span *parts,
                           size_t count)
{
    size_t at_byte = 0;

    (void)link, (void)stream;
    assert_true(wire.count < SENT_MAX);
    char *to = wire.sent[wire.count++];
    for (size_t i = 0; i < count; i++) {
        assert_true(at_byte + parts[i].len < sizeof wire.sent[0]);
        memcpy(to + at_byte, parts[i].ptr, parts[i].len);
        at_byte += parts[i].len;
    }
    to[at_byte] = '\0';
    return FL_OK;
}

static fl_status fake_answer(fl_link *link, void *stream, int code,
                             const fl_span *parts, size_t count)
{
    (void)code;
    return fake_send(link, stream, parts, count);
}

static void fake_cancel(fl_link *link, fl_span id)
{
    (void)link;
    size_t used = strlen(wire.cancelled);
    snprintf(wire.cancelled + used, sizeof wire.cancelled - used, "%.*s ",
             (int)id.len, id.ptr);
}

static void fake_close(fl_link *link)
{
    assert_int_equal(fl_link_move(link, FL_LINK_CLOSING), FL_OK);
    fl_timer_start(&((fake *)link)->timer, 0);
}

static void fake_free(fl_link *link)
{
    free(link);
}

static void fake_info(const fl_link *link, fl_link_info *info)
{
    (void)link, (void)info;
}

static const char *const schemes[] = {"fake", NULL};

const fl_transport fake_transport = {
    .name = "fake",
    .schemes = schemes,
    .address = FL_ADDRESS_BARE,
    .traits = FL_LINK_NETWORK | FL_LINK_RECONNECTS,
    .connect = fake_connect,
    .send = fake_send,
    .answer = fake_answer,
    .cancel = fake_cancel,
    .close = fake_close,
    .free = fake_free,
    .info = fake_info,
};

const fl_transport *const *fl_transport_table(void)
{
    static const fl_transport *const table[] = {&fake_transport, NULL};

    return table;
}

const fl_transport *fl_transport_find(fl_span scheme)
{
    return fl_span_equal(scheme, FL_SPAN("fake")) ? &fake_transport : NULL;
}

static void say(const char *text)
{
    fl_msg msg;
    fl_msg_fault fault;
    fl_link *link = &wire.link->link;

    assert_int_equal(fl_msg_read(fl_span_of(text), &msg, &fault), FL_OK);
    link->events->on_message(link, &msg, (fl_reply){.link = link});
}

static void hears(const char *text)
{
    for (int i = 0; i < 3 && wire.seen == wire.count; i++)
        fl_loop_step(at.loop);
    assert_true(wire.seen < wire.count);
    assert_string_equal(wire.sent[wire.seen++], text);
}

static void hears_nothing(void)
{
    io_some_turns(at.loop);
    if (wire.seen < wire.count)
        fail_msg("heard '%s'", wire.sent[wire.seen]);
}

#define STATUS(id, status)                                                     \
    REFUSAL(id, "-32000", ",\"data\":{\"httpStatus\":" status "}")

static void begin_as(const fl_client_options *options,
                     const fl_client_events *events)
{
    fl_error error;

    wire = (struct wire){0};
    at = (desk){.now = 1000};
    at.loop = io_driven_loop(&at.now);
    assert_int_equal(fl_client_open(at.loop, "fake:", options, events, &at,
                                    &at.client, &error),
                     FL_OK);
}

static void begin(const fl_client_options *options)
{
    begin_as(options, &desk_events);
    hears(DISCOVER("1"));
}

static void end(void)
{
    desk_close();
    assert_int_equal(wire.opened, 1); /* no link is opened twice here */
}

static void begin_modern(const fl_client_options *options)
{
    begin(options);
    say(ANSWER("1", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
    assert_int_equal(at.ready, 1);
    desk_is(FL_ERA_MODERN, "2026-07-28");
    hears_nothing();
}

static void see_legacy(const char *initialize, const char *answer)
{
    int before = at.ready;

    hears(initialize);
    say(answer);
    hears(INITIALIZED);
    assert_int_equal(at.ready, before + 1);
    desk_is(FL_ERA_LEGACY, "2025-11-25");
}

static void begin_legacy(const fl_client_options *options)
{
    begin(options);
    say(STATUS("1", "400"));
    see_legacy(INITIALIZE("2"), ANSWER("2", WELCOME));
}

static void test_era_http_discovers(void **state)
{
    (void)state;
    begin_modern(NULL);
    desk_ask("tools/list");
    hears(MODERN("2", "tools/list"));
    say(ANSWER("2", "{\"resultType\":\"complete\",\"tools\":[]}"));
    assert_int_equal(at.status, FL_OK);
    end();
}

static void test_era_http_refusals_without_words_mean_legacy(void **state)
{
    static const char *const refusals[] = {
        STATUS("1", "400"),
        STATUS("1", "404"),
        STATUS("1", "405"),
        STATUS("1", "406"),
        STATUS("1", "415"),
        REFUSAL("1", "-32000", ""),
        REFUSAL("1", "-32601", ""),
        REFUSAL("1", "-32600", ",\"data\":7"),
        ANSWER("1", "{}"),
        REFUSAL("1", "-32022", SUPPORTED("[\"2025-11-25\"]"))};

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        begin(NULL);
        say(refusals[i]);
        see_legacy(INITIALIZE("2"), ANSWER("2", WELCOME));
        end();
    }
}

static void test_era_http_modern_errors_are_words(void **state)
{
    (void)state;
    begin(NULL);
    say(REFUSAL("1", "-32020", ""));
    desk_is(FL_ERA_MODERN, "2026-07-28");
    end();
    begin(NULL);
    say(REFUSAL("1", "-32022", SUPPORTED("[\"2026-07-28\"]")));
    hears(DISCOVER("2"));
    say(REFUSAL("2", "-32022", SUPPORTED("[\"2026-07-28\"]")));
    desk_see_closed(FL_E_UNSUPPORTED, "the server speaks 2026-07-28");
    end();
    begin(NULL);
    say(REFUSAL("1", "-32022", SUPPORTED("[\"2031-01-01\"]")));
    desk_see_closed(FL_E_UNSUPPORTED, "the server speaks 2031-01-01");
    end();
}

static void test_era_http_being_kept_out_is_no_sign(void **state)
{
    (void)state;
    begin(NULL);
    say(STATUS("1", "401"));
    desk_see_closed(FL_E_DENIED, "HTTP status 401");
    hears_nothing(); /* no initialize */
    end();
    begin(NULL);
    say(STATUS("1", "403"));
    desk_see_closed(FL_E_DENIED, "HTTP status 403");
    end();
    begin(NULL);
    say(STATUS("1", "404"));
    hears(INITIALIZE("2"));
    say(STATUS("2", "401"));
    desk_see_closed(FL_E_DENIED, "HTTP status 401");
    end();
}

static const fl_client_options patient = {
    .connection = {.reconnect_attempts = 3,
                   .reconnect_first_ms = 100,
                   .reconnect_max_ms = 400},
};

/* Waits of 100, 200 and 400, of which up to a half may be left out. */
static void test_era_http_being_out_of_order_is_waited_for(void **state)
{
    static const char *const troubles[] = {"500", "503", "429", "0"};
    char line[256];

    (void)state;
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        begin(&patient);
        for (int try = 1; try <= 3; try++) {
            snprintf(line, sizeof line, STATUS("%d", "%s"), try, troubles[i]);
            say(line);
            hears_nothing();
            at.now += (uint64_t)(50 << (try - 1)) - 1;
            hears_nothing();
            at.now += (uint64_t)(50 << (try - 1)) + 1;
            io_some_turns(at.loop);
            assert_int_equal(wire.count, ++wire.seen);
            assert_non_null(strstr(wire.sent[try], "server/discover"));
        }
        snprintf(line, sizeof line, STATUS("%d", "%s"), 4, troubles[i]);
        say(line);
        desk_see_closed(FL_E_UNREACHABLE, "the server is not available");
        end();
    }
}

static void test_era_http_finds_out_once_it_is_in_order(void **state)
{
    (void)state;
    begin(&patient);
    desk_ask("tools/list");
    say(STATUS("1", "503"));
    at.now += 100;
    hears(DISCOVER("3"));
    say(STATUS("3", "404"));
    hears(INITIALIZE("4"));
    say(STATUS("4", "502")); /* nothing is known yet */
    at.now += 200;
    hears(DISCOVER("5"));
    say(ANSWER("5", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
    hears(MODERN("2", "tools/list"));
    end();
}

static void test_era_http_does_not_wait_if_once_is_all(void **state)
{
    (void)state;
    begin(&(fl_client_options){.connection.no_reconnect = true});
    say(STATUS("1", "503"));
    desk_see_closed(FL_E_UNREACHABLE,
                    "the server is not available: HTTP status 503, no");
    end();
}

static void test_era_http_silence_is_not_raced(void **state)
{
    (void)state;
    begin(&patient);
    at.now += 59999;
    hears_nothing();
    at.now += 1;
    hears_nothing();
    assert_string_equal(wire.cancelled, "1 "); /* its stream */
    at.now += 100;
    hears(DISCOVER("2"));
    say(STATUS("2", "404"));
    hears(INITIALIZE("3"));
    at.now += 60000; /* nor is it the end if it is not answered */
    hears_nothing();
    assert_string_equal(wire.cancelled, "1 3 ");
    at.now += 200;
    hears(DISCOVER("4"));
    end();
}

static void test_era_http_modern_needs_no_probe_after_an_outage(void **state)
{
    fl_error why = {.status = FL_E_RESET, .text = "reset"};

    (void)state;
    begin_modern(NULL);
    desk_ask("tools/list");
    hears(MODERN("2", "tools/list"));
    fl_link *link = &wire.link->link;
    assert_int_equal(fl_link_move(link, FL_LINK_DISCONNECTED), FL_OK);
    link->events->on_down(link, &why);
    assert_int_equal(at.answers, 0); /* its stream will tell */
    desk_ask("tools/list");
    hears_nothing();
    assert_int_equal(fl_link_move(link, FL_LINK_CONNECTING), FL_OK);
    assert_int_equal(fl_link_move(link, FL_LINK_ACTIVE), FL_OK);
    link->events->on_open(link);
    assert_int_equal(at.ready, 2);
    hears(MODERN("3", "tools/list"));
    say(ANSWER("2", "{}"));
    assert_int_equal(at.answers, 1);
    end();
}

/* As an HTTP link does it when its session is gone. */
static void lose_session(void)
{
    fl_error why = {.status = FL_E_CLOSED, .text = "session lost"};
    fl_link *link = &wire.link->link;

    assert_int_equal(fl_link_move(link, FL_LINK_DISCONNECTED), FL_OK);
    link->events->on_down(link, &why);
    assert_int_equal(fl_link_move(link, FL_LINK_CONNECTING), FL_OK);
    assert_int_equal(fl_link_move(link, FL_LINK_ACTIVE), FL_OK);
    link->events->on_open(link);
}

static void test_era_http_lost_session_is_opened_anew(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        begin_legacy(NULL);
        desk_ask("tools/list");
        hears(LEGACY("3", "tools/list"));
        if (order == 0)
            lose_session();
        say(STATUS("3", "404"));
        if (order == 1)
            lose_session(); /* or else the client does it by itself */
        assert_int_equal(at.answers, 0);
        see_legacy(INITIALIZE("4"), ANSWER("4", WELCOME));
        hears(LEGACY("3", "tools/list"));
        hears_nothing();
        say(STATUS("3", "404")); /* once is enough */
        assert_int_equal(at.answers, 1);
        assert_int_equal(at.status, FL_E_REMOTE);
        hears_nothing();
        end();
    }
}

static void test_era_http_news_of_an_old_session_loses_no_new_one(void **state)
{
    (void)state;
    begin_legacy(NULL);
    desk_ask("tools/list");
    desk_ask("tools/call");
    hears(LEGACY("3", "tools/list"));
    hears(LEGACY("4", "tools/call"));
    say(STATUS("3", "404"));
    see_legacy(INITIALIZE("5"), ANSWER("5", WELCOME));
    hears(LEGACY("3", "tools/list"));
    say(STATUS("4", "404")); /* was under way all the time */
    hears(LEGACY("4", "tools/call"));
    hears_nothing();
    assert_int_equal(at.answers, 0);
    end();
}

static void test_era_http_only_404_loses_a_session(void **state)
{
    (void)state;
    begin_legacy(NULL);
    desk_ask("tools/list");
    hears(LEGACY("3", "tools/list"));
    say(STATUS("3", "400"));
    assert_int_equal(at.answers, 1);
    desk_ask("tools/list");
    hears(LEGACY("4", "tools/list"));
    say(REFUSAL("4", "-32601", "")); /* in its own words */
    assert_int_equal(at.answers, 2);
    hears_nothing();
    end();
}

static void test_era_http_modern_is_doubted_once(void **state)
{
    (void)state;
    begin_modern(NULL);
    desk_ask("tools/list");
    hears(MODERN("2", "tools/list"));
    say(STATUS("2", "400"));
    assert_int_equal(at.answers, 0);
    hears(DISCOVER("3"));
    hears_nothing();
    say(ANSWER("3", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
    hears(MODERN("2", "tools/list"));
    say(STATUS("2", "400"));
    assert_int_equal(at.answers, 1);
    assert_int_equal(at.status, FL_E_REMOTE);
    hears_nothing();
    end();
}

static void test_era_http_modern_may_turn_out_legacy(void **state)
{
    (void)state;
    begin_modern(NULL);
    desk_ask("tools/list");
    hears(MODERN("2", "tools/list"));
    say(STATUS("2", "404"));
    hears(DISCOVER("3"));
    say(STATUS("3", "404"));
    see_legacy(INITIALIZE("4"), ANSWER("4", WELCOME));
    hears(LEGACY("2", "tools/list"));
    end();
}

static void test_era_http_other_refusals_raise_no_doubt(void **state)
{
    static const char *const others[] = {
        STATUS("2", "401"),         STATUS("2", "403"),
        STATUS("2", "413"),         STATUS("2", "429"),
        STATUS("2", "500"),         STATUS("2", "0"),
        REFUSAL("2", "-32601", ""), REFUSAL("2", "-32602", "")};

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        begin_modern(NULL);
        desk_ask("tools/list");
        hears(MODERN("2", "tools/list"));
        say(others[i]);
        assert_int_equal(at.answers, 1);
        assert_int_equal(at.status, FL_E_REMOTE);
        hears_nothing();
        end();
    }
    begin_modern(&(fl_client_options){.era = FL_ERA_MODERN});
    desk_ask("tools/list");
    hears(MODERN("2", "tools/list"));
    say(STATUS("2", "404")); /* we were told what it is */
    assert_int_equal(at.answers, 1);
    end();
}

static void cancel_one(void)
{
    uint64_t id;

    assert_int_equal(fl_client_request(at.client, "tools/list", FL_SPAN(""),
                                       NULL, desk_on_answer, NULL, &id),
                     FL_OK);
    io_some_turns(at.loop);
    wire.seen++;
    assert_int_equal(fl_client_cancel(at.client, id, "enough"), FL_OK);
}

static void test_era_http_cancels_by_closing_the_stream(void **state)
{
    (void)state;
    begin_modern(NULL);
    cancel_one();
    hears_nothing(); /* no message */
    assert_string_equal(wire.cancelled, "2 ");
    assert_int_equal(at.status, FL_E_CANCELLED);
    end();
}

static void test_era_http_legacy_is_told_of_a_cancellation(void **state)
{
    (void)state;
    begin_legacy(NULL);
    cancel_one();
    hears("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
          "\"params\":{\"requestId\":3,\"reason\":\"enough\"}}");
    assert_string_equal(wire.cancelled, "3 ");
    end();
}

static void test_era_http_a_lost_listening_is_no_doubt(void **state)
{
    (void)state;
    begin_as(NULL, &desk_hears_all);
    hears(DISCOVER("1"));
    say(ANSWER("1", DISCOVERED("[\"2026-07-28\"]",
                               "{\"tools\":{\"listChanged\":true}}")));
    io_some_turns(at.loop);
    assert_non_null(strstr(wire.sent[wire.seen++], "subscriptions/listen"));
    say(STATUS("2", "404"));
    hears_nothing();
    at.now += 1000;
    io_some_turns(at.loop);
    assert_non_null(strstr(wire.sent[wire.seen++], "subscriptions/listen"));
    fl_client_close(at.client);
    assert_string_equal(wire.cancelled, "3 ");
    end();
}

#define TOOL(name, annotation)                                                 \
    "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\","             \
    "\"properties\":{\"p\":{\"type\":\"string\",\"x-mcp-header\":"             \
    "\"" annotation "\"}}}}"

#define LIST(tools) "{\"resultType\":\"complete\",\"tools\":[" tools "]}"

static void test_era_http_does_not_show_tools_annotated_wrongly(void **state)
{
    (void)state;
    begin_modern(NULL);
    desk_ask("tools/list");
    hears(MODERN("2", "tools/list"));
    say(ANSWER("2", LIST(TOOL("bad", "no token") "," TOOL("good", "P") "," TOOL(
                        "empty", ""))));
    assert_int_equal(at.status, FL_OK);
    assert_string_equal(at.result, LIST(TOOL("good", "P")));
    end();
}

static void test_era_http_puts_pages_together_without_them(void **state)
{
    (void)state;
    begin_modern(NULL);
    assert_int_equal(fl_client_list(at.client, FL_LIST_TOOLS, NULL,
                                    desk_on_answer, NULL, NULL),
                     FL_OK);
    hears(MODERN("2", "tools/list"));
    say(ANSWER("2", "{\"resultType\":\"complete\",\"nextCursor\":\"c\","
                    "\"tools\":[" TOOL("bad", "") "," TOOL("one", "P") "]}"));
    io_some_turns(at.loop);
    assert_non_null(strstr(wire.sent[wire.seen++], "\"cursor\":\"c\""));
    say(ANSWER("3", LIST(TOOL("two", "P") "," TOOL("worse", ":"))));
    assert_int_equal(at.status, FL_OK);
    assert_string_equal(
        at.result, "{\"tools\":[" TOOL("one", "P") "," TOOL("two", "P") "]}");
    end();
}

static void test_era_http_legacy_knows_no_annotations(void **state)
{
    (void)state;
    begin_legacy(NULL);
    desk_ask("tools/list");
    io_some_turns(at.loop);
    wire.seen = wire.count;
    say(ANSWER("3", "{\"tools\":[" TOOL("bad", "") "]}"));
    assert_string_equal(at.result, "{\"tools\":[" TOOL("bad", "") "]}");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_era_http_discovers),
        cmocka_unit_test(test_era_http_refusals_without_words_mean_legacy),
        cmocka_unit_test(test_era_http_modern_errors_are_words),
        cmocka_unit_test(test_era_http_being_kept_out_is_no_sign),
        cmocka_unit_test(test_era_http_being_out_of_order_is_waited_for),
        cmocka_unit_test(test_era_http_finds_out_once_it_is_in_order),
        cmocka_unit_test(test_era_http_does_not_wait_if_once_is_all),
        cmocka_unit_test(test_era_http_silence_is_not_raced),
        cmocka_unit_test(test_era_http_modern_needs_no_probe_after_an_outage),
        cmocka_unit_test(test_era_http_lost_session_is_opened_anew),
        cmocka_unit_test(test_era_http_news_of_an_old_session_loses_no_new_one),
        cmocka_unit_test(test_era_http_only_404_loses_a_session),
        cmocka_unit_test(test_era_http_modern_is_doubted_once),
        cmocka_unit_test(test_era_http_modern_may_turn_out_legacy),
        cmocka_unit_test(test_era_http_other_refusals_raise_no_doubt),
        cmocka_unit_test(test_era_http_cancels_by_closing_the_stream),
        cmocka_unit_test(test_era_http_legacy_is_told_of_a_cancellation),
        cmocka_unit_test(test_era_http_a_lost_listening_is_no_doubt),
        cmocka_unit_test(test_era_http_does_not_show_tools_annotated_wrongly),
        cmocka_unit_test(test_era_http_puts_pages_together_without_them),
        cmocka_unit_test(test_era_http_legacy_knows_no_annotations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
