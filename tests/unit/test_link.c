/*
 * test_link.c - what all links have in common, on a transport that carries
 * nothing and writes down what it was asked to do.
 */
#include "base/span.h"
#include "io/loop.h"
#include "support/ration.h"
#include "transport/transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* As a transport would: the common part first. */
typedef struct fake {
    fl_link link;
    fl_status answer; /* what send says */
    int sends, ends, cancels, closes, frees, releases, closed;
    bool urgent;
    int code;
    void *stream;
    char text[256]; /* of what was sent last */
    int relays;
    fl_error why;
    bool close_in_callback, unref_in_callback;
} fake;

typedef struct bench {
    uint64_t now;
    fl_loop *loop;
    fake fake;
} bench;

static void keep_text(fake *self, const fl_span *parts, size_t count)
{
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        assert_true(len + parts[i].len < sizeof self->text);
        memcpy(self->text + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
    }
    self->text[len] = '\0';
}

static fl_status fake_send(fl_link *link, void *stream, const fl_span *parts,
                           size_t count)
{
    fake *self = (fake *)link;

    assert_true(count > 0);
    keep_text(self, parts, count);
    self->sends++;
    self->urgent = false;
    self->stream = stream;
    return self->answer;
}

static fl_status fake_relay(fl_link *link, const fl_relay *relay)
{
    fake *self = (fake *)link;

    keep_text(self, relay->parts, relay->count);
    assert_true(fl_span_equal(relay->id, FL_SPAN("7")));
    assert_true(fl_span_equal(relay->msg->id, FL_SPAN("\"a\"")));
    self->relays++;
    return self->answer;
}

static fl_status fake_answer(fl_link *link, void *stream, int code,
                             const fl_span *parts, size_t count)
{
    fake *self = (fake *)link;

    (void)parts;
    self->code = code;
    self->stream = stream;
    self->urgent = true;
    if (count > 0)
        self->sends++;
    if (count > 0 && self->answer == FL_E_TOO_BIG)
        return FL_E_TOO_BIG;
    self->ends++;
    return count > 0 ? self->answer : FL_OK;
}

static void fake_cancel(fl_link *link, fl_span id)
{
    assert_true(fl_span_equal(id, FL_SPAN("7")));
    ((fake *)link)->cancels++;
}

static fl_span fake_field(fl_link *link, void *stream, fl_span name)
{
    (void)link, (void)stream;
    return fl_span_equal(name, FL_SPAN("mcp-name")) ? FL_SPAN("echo")
                                                    : (fl_span){0};
}

static void fake_close(fl_link *link)
{
    ((fake *)link)->closes++;
    assert_int_equal(fl_link_move(link, FL_LINK_CLOSING), FL_OK);
}

static void fake_free(fl_link *link)
{
    ((fake *)link)->frees++;
}

static void fake_info(const fl_link *link, fl_link_info *info)
{
    (void)link;
    info->buffered = 17;
    info->peer[0] = 'x';
}

static fl_status fake_operate(fl_link *link, const char *operation,
                              fl_buf *answer)
{
    (void)link;
    return strcmp(operation, "shout") == 0
               ? fl_buf_append(answer, FL_SPAN("HEY"))
               : FL_E_UNSUPPORTED;
}

static void fake_released(fl_link *link)
{
    ((fake *)link)->releases++;
}

/* Like HTTP: replies have a stream of their own, which ends. */
static const fl_transport streaming = {
    .name = "fake",
    .traits = FL_LINK_NETWORK,
    .send = fake_send,
    .relay = fake_relay,
    .answer = fake_answer,
    .cancel = fake_cancel,
    .field = fake_field,
    .close = fake_close,
    .free = fake_free,
    .info = fake_info,
    .operate = fake_operate,
    .released = fake_released,
};

/* Only what a transport must have. */
static const fl_transport bare = {
    .name = "bare",
    .traits = FL_LINK_CHANNEL,
    .send = fake_send,
    .answer = fake_answer,
    .close = fake_close,
    .free = fake_free,
    .info = fake_info,
};

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    (void)link, (void)msg, (void)reply;
}

static void on_closed(fl_link *link, const fl_error *why)
{
    fake *self = (fake *)link;

    self->closed++;
    self->why = *why;
    assert_int_equal(link->state, FL_LINK_CLOSED);
    assert_int_equal(self->frees, 0);
    if (self->close_in_callback)
        fl_link_close(link);
    if (self->unref_in_callback)
        fl_link_unref(link);
    assert_int_equal(self->frees, 0); /* not from under its own callback */
}

static const fl_link_events events = {
    .on_message = on_message,
    .on_closed = on_closed,
};

static uint64_t read_clock(void *user)
{
    return *(uint64_t *)user;
}

static int set_up(void **state)
{
    bench *b = calloc(1, sizeof *b);

    b->now = 1000;
    fl_clock clock = {read_clock, &b->now};
    b->loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    fl_link_init(&b->fake.link, &streaming, b->loop, false);
    b->fake.link.events = &events;
    *state = b;
    return b->loop == NULL;
}

static int tear_down(void **state)
{
    bench *b = *state;

    fl_loop_free(b->loop);
    free(b);
    return 0;
}

static void activate(fake *f)
{
    assert_int_equal(fl_link_move(&f->link, FL_LINK_CONNECTING), FL_OK);
    assert_int_equal(fl_link_move(&f->link, FL_LINK_ACTIVE), FL_OK);
}

static void end(fake *f)
{
    fl_error why = {.status = FL_E_RESET, .text = "so it was"};

    fl_link_ended(&f->link, &why);
}

static void go_to(bench *b, uint64_t now)
{
    b->now = now;
    fl_loop_step(b->loop);
}

static void test_link_is_born_created_with_one_reference(void **state)
{
    const fl_link *link = &((bench *)*state)->fake.link;

    assert_int_equal(link->state, FL_LINK_CREATED);
    assert_int_equal(link->refs, 1);
    assert_int_equal(link->holds, 0);
    assert_false(link->server);
    assert_ptr_equal(link->transport, &streaming);
}

static void test_link_cancels_where_requests_are_streams(void **state)
{
    bench *b = *state;
    fl_link *link = &b->fake.link;

    activate(&b->fake);
    fl_link_cancel(link, FL_SPAN("7"));
    assert_int_equal(b->fake.cancels, 1);
    link->transport = &bare;
    fl_link_cancel(link, FL_SPAN("7")); /* nothing, and no harm */
    link->transport = &streaming;
    fl_link_close(link);
    fl_link_cancel(link, FL_SPAN("7")); /* all are cancelled by that */
    assert_int_equal(b->fake.cancels, 1);
}

/* Row: from; column: to; in the order of fl_link_state. */
static void test_link_takes_legal_steps_and_no_others(void **state)
{
    static const char *const legal[] = {
        [FL_LINK_CREATED] = ".yyy..",      [FL_LINK_CONNECTING] = "..yyy.",
        [FL_LINK_ACTIVE] = "...yy.",       [FL_LINK_CLOSING] = ".....y",
        [FL_LINK_DISCONNECTED] = ".y.y..", [FL_LINK_CLOSED] = "......",
    };
    fl_link *link = &((bench *)*state)->fake.link;

    for (int from = FL_LINK_CREATED; from <= FL_LINK_CLOSED; from++)
        for (int to = FL_LINK_CREATED; to <= FL_LINK_CLOSED; to++) {
            bool allowed = legal[from][to] == 'y';
            link->state = (fl_link_state)from;
            fl_status rc = fl_link_move(link, (fl_link_state)to);
            assert_int_equal(rc, allowed ? FL_OK : FL_E_STATE);
            assert_int_equal(link->state, allowed ? to : from);
        }
}

static void test_link_states_have_names(void **state)
{
    (void)state;
    assert_string_equal(fl_link_state_name(FL_LINK_CREATED), "created");
    assert_string_equal(fl_link_state_name(FL_LINK_CONNECTING), "connecting");
    assert_string_equal(fl_link_state_name(FL_LINK_ACTIVE), "active");
    assert_string_equal(fl_link_state_name(FL_LINK_CLOSING), "closing");
    assert_string_equal(fl_link_state_name(FL_LINK_DISCONNECTED),
                        "disconnected");
    assert_string_equal(fl_link_state_name(FL_LINK_CLOSED), "closed");
}

static void test_link_send_is_counted_when_accepted(void **state)
{
    bench *b = *state;
    fl_link *link = &b->fake.link;
    fl_span parts[] = {FL_SPAN("{}"), FL_SPAN("   ")};

    activate(&b->fake);
    go_to(b, 1234);
    assert_int_equal(fl_link_send(link, parts, 2), FL_OK);
    assert_false(b->fake.urgent);
    assert_null(b->fake.stream);
    assert_int_equal(link->stats.messages_out, 1);
    assert_int_equal(link->stats.bytes_out, 5);
    assert_int_equal(link->stats.last_seen_ms, 1234);
    assert_int_equal(link->stats.errors, 0);
}

static void test_link_relays_under_another_id(void **state)
{
    static const char passed[] =
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":{"
        "\"_meta\":{\"progressToken\":7}}}";
    bench *b = *state;
    fl_link *link = &b->fake.link;
    fl_msg_fault fault;
    fl_msg msg;

    assert_int_equal(
        fl_msg_read(FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":"
                            "\"m\",\"params\":{\"_meta\":{"
                            "\"progressToken\":\"p\"}}}"),
                    &msg, &fault),
        FL_OK);
    activate(&b->fake);
    assert_int_equal(fl_link_relay(link, &msg, FL_SPAN("7")), FL_OK);
    assert_int_equal(b->fake.relays, 1);
    assert_int_equal(b->fake.sends, 0);
    assert_string_equal(b->fake.text, passed);
    assert_int_equal(link->stats.bytes_out, strlen(passed));

    link->transport = &bare; /* which knows of no relays */
    b->fake.text[0] = '\0';
    assert_int_equal(fl_link_relay(link, &msg, FL_SPAN("7")), FL_OK);
    assert_int_equal(b->fake.sends, 1);
    assert_string_equal(b->fake.text, passed);
    assert_int_equal(link->stats.messages_out, 2);
    link->transport = &streaming;
    fl_link_close(link);
    assert_int_equal(fl_link_relay(link, &msg, FL_SPAN("7")), FL_E_STATE);
    assert_int_equal(b->fake.relays, 1);
}

static void test_link_busy_is_no_error_and_a_failure_is(void **state)
{
    bench *b = *state;
    fl_link *link = &b->fake.link;
    fl_span part = FL_SPAN("{}");

    activate(&b->fake);
    b->fake.answer = FL_BUSY;
    assert_int_equal(fl_link_send(link, &part, 1), FL_BUSY);
    assert_int_equal(link->stats.errors, 0);
    b->fake.answer = FL_E_TOO_BIG;
    assert_int_equal(fl_link_send(link, &part, 1), FL_E_TOO_BIG);
    assert_int_equal(link->stats.errors, 1);
    assert_int_equal(link->stats.messages_out, 0);
    assert_int_equal(link->stats.bytes_out, 0);
    assert_int_equal(link->stats.last_seen_ms, 0);
}

static void test_link_send_is_refused_when_closing_or_closed(void **state)
{
    bench *b = *state;
    fl_link *link = &b->fake.link;
    fl_span part = FL_SPAN("{}");
    fl_reply reply = {.link = link};

    activate(&b->fake);
    fl_link_ref(link);
    fl_link_close(link);
    assert_int_equal(fl_link_send(link, &part, 1), FL_E_STATE);
    assert_int_equal(fl_reply_send(reply, &part, 1), FL_E_STATE);
    end(&b->fake);
    assert_int_equal(fl_link_send(link, &part, 1), FL_E_STATE);
    assert_int_equal(fl_reply_end(reply, &part, 1), FL_E_STATE);
    assert_int_equal(b->fake.sends, 0);
    assert_int_equal(b->fake.closes, 1);
}

/* A client link keeps what is sent during an outage: the transport decides. */
static void
test_link_send_without_connection_is_the_transports_affair(void **state)
{
    bench *b = *state;
    fl_span part = FL_SPAN("{}");

    assert_int_equal(fl_link_move(&b->fake.link, FL_LINK_CONNECTING), FL_OK);
    assert_int_equal(fl_link_send(&b->fake.link, &part, 1), FL_OK);
    assert_int_equal(fl_link_move(&b->fake.link, FL_LINK_DISCONNECTED), FL_OK);
    assert_int_equal(fl_link_send(&b->fake.link, &part, 1), FL_OK);
    assert_int_equal(b->fake.sends, 2);
}

static void test_reply_goes_to_its_stream_and_the_answer_is_urgent(void **state)
{
    bench *b = *state;
    int stream;
    fl_reply reply = {.link = &b->fake.link, .stream = &stream};
    fl_span part = FL_SPAN("{}");

    activate(&b->fake);
    assert_int_equal(fl_reply_send(reply, &part, 1), FL_OK);
    assert_false(b->fake.urgent);
    assert_ptr_equal(b->fake.stream, &stream);
    assert_int_equal(b->fake.ends, 0);
    assert_int_equal(fl_reply_end(reply, &part, 1), FL_OK);
    assert_true(b->fake.urgent);
    assert_int_equal(b->fake.ends, 1);
    assert_int_equal(b->fake.sends, 2);
    assert_int_equal(b->fake.code, 0);
    assert_int_equal(fl_reply_end_error(reply, -32601, &part, 1), FL_OK);
    assert_int_equal(b->fake.code, -32601);
}

static void test_reply_tells_what_the_envelope_says(void **state)
{
    bench *b = *state;
    fl_reply reply = {.link = &b->fake.link};

    assert_true(fl_span_equal(fl_reply_field(reply, FL_SPAN("mcp-name")),
                              FL_SPAN("echo")));
    assert_null(fl_reply_field(reply, FL_SPAN("origin")).ptr);
    b->fake.link.transport = &bare; /* a channel has none */
    assert_null(fl_reply_field(reply, FL_SPAN("mcp-name")).ptr);
}

static void test_reply_without_parts_ends_without_a_message(void **state)
{
    bench *b = *state;
    int stream;
    fl_reply reply = {.link = &b->fake.link, .stream = &stream};

    activate(&b->fake);
    assert_int_equal(fl_reply_end(reply, NULL, 0), FL_OK);
    assert_int_equal(b->fake.sends, 0);
    assert_int_equal(b->fake.ends, 1);
    assert_ptr_equal(b->fake.stream, &stream);
}

static void test_answer_that_cannot_be_held_closes_the_link(void **state)
{
    bench *b = *state;
    fl_reply reply = {.link = &b->fake.link};
    fl_span part = FL_SPAN("{}");

    b->fake.link.state = FL_LINK_ACTIVE;
    b->fake.answer = FL_E_TOO_BIG; /* a smaller one may be sent instead */
    assert_int_equal(fl_reply_end(reply, &part, 1), FL_E_TOO_BIG);
    assert_int_equal(b->fake.closes, 0);
    assert_int_equal(b->fake.ends, 0);
    b->fake.answer = FL_E_NOMEM;
    assert_int_equal(fl_reply_end(reply, &part, 1), FL_E_NOMEM);
    assert_int_equal(b->fake.closes, 1);
    b->fake.link.state = FL_LINK_DISCONNECTED;
    b->fake.answer = FL_E_STATE; /* the link is going by itself */
    assert_int_equal(fl_reply_end(reply, &part, 1), FL_E_STATE);
    assert_int_equal(b->fake.closes, 1);
}

static void test_link_close_twice_is_harmless(void **state)
{
    bench *b = *state;
    fl_link *link = &b->fake.link;

    activate(&b->fake);
    fl_link_ref(link);
    fl_link_close(link);
    fl_link_close(link);
    assert_int_equal(b->fake.closes, 1);
    assert_int_equal(b->fake.closed, 0); /* always later */
    end(&b->fake);
    fl_link_close(link);
    assert_int_equal(b->fake.closes, 1);
    assert_int_equal(b->fake.closed, 1);
}

static void test_link_may_be_closed_from_every_open_state(void **state)
{
    static const fl_link_state open[] = {FL_LINK_CREATED, FL_LINK_CONNECTING,
                                         FL_LINK_ACTIVE, FL_LINK_DISCONNECTED};
    bench *b = *state;

    for (int i = 0; i < 4; i++) {
        b->fake.link.state = open[i];
        fl_link_close(&b->fake.link);
        assert_int_equal(b->fake.closes, i + 1);
    }
}

static void test_link_end_says_why_and_lets_go(void **state)
{
    bench *b = *state;

    activate(&b->fake);
    fl_link_close(&b->fake.link);
    end(&b->fake);
    assert_int_equal(b->fake.closed, 1);
    assert_int_equal(b->fake.why.status, FL_E_RESET);
    assert_string_equal(b->fake.why.text, "so it was");
    assert_int_equal(b->fake.frees, 1);
}

static void test_link_end_waits_for_other_references(void **state)
{
    bench *b = *state;
    fl_link *link = fl_link_ref(&b->fake.link);

    activate(&b->fake);
    fl_link_close(link);
    end(&b->fake);
    assert_int_equal(b->fake.closed, 1);
    assert_int_equal(b->fake.frees, 0);
    assert_int_equal(link->state, FL_LINK_CLOSED);
    fl_link_unref(link);
    assert_int_equal(b->fake.frees, 1);
}

static void test_link_on_closed_may_close_and_unref(void **state)
{
    bench *b = *state;

    fl_link_ref(&b->fake.link);
    b->fake.close_in_callback = true;
    b->fake.unref_in_callback = true;
    activate(&b->fake);
    fl_link_close(&b->fake.link);
    end(&b->fake);
    assert_int_equal(b->fake.closed, 1);
    assert_int_equal(b->fake.closes, 1);
    assert_int_equal(b->fake.frees, 1);
}

static void test_link_nobody_listens_to_may_end(void **state)
{
    bench *b = *state;

    b->fake.link.events = NULL; /* as one that on_link did not want */
    activate(&b->fake);
    fl_link_close(&b->fake.link);
    end(&b->fake);
    assert_int_equal(b->fake.frees, 1);
}

static void test_link_references_are_counted(void **state)
{
    bench *b = *state;
    fl_link *link = &b->fake.link;

    assert_ptr_equal(fl_link_ref(link), link);
    fl_link_ref(link);
    fl_link_unref(link);
    fl_link_unref(link);
    assert_int_equal(b->fake.frees, 0);
    fl_link_unref(link);
    assert_int_equal(b->fake.frees, 1);
}

static void test_link_tells_when_the_last_hold_goes(void **state)
{
    bench *b = *state;
    fl_link *link = &b->fake.link;

    fl_link_hold(link);
    fl_link_hold(link);
    fl_link_release(link);
    assert_int_equal(b->fake.releases, 0);
    fl_link_release(link);
    assert_int_equal(b->fake.releases, 1);
    fl_link_hold(link);
    fl_link_release(link);
    assert_int_equal(b->fake.releases, 2);

    link->transport = &bare; /* which does not want to know */
    fl_link_hold(link);
    fl_link_release(link);
    assert_int_equal(link->holds, 0);
}

static void
test_link_info_is_what_it_says_and_what_the_transport_adds(void **state)
{
    bench *b = *state;
    fl_link_info info;

    fl_link_get_info(&b->fake.link, &info);
    assert_int_equal(info.state, FL_LINK_CREATED);
    assert_int_equal(info.uptime_ms, 0);

    activate(&b->fake);
    b->fake.link.stats.pings = 3;
    go_to(b, 61000);
    fl_link_get_info(&b->fake.link, &info);
    assert_string_equal(info.kind, "fake");
    assert_int_equal(info.state, FL_LINK_ACTIVE);
    assert_int_equal(info.traits, FL_LINK_NETWORK);
    assert_int_equal(info.buffered, 17);
    assert_string_equal(info.peer, "x");
    assert_int_equal(info.stats.pings, 3);
    assert_int_equal(info.uptime_ms, 60000);
}

static void test_link_uptime_starts_again_after_an_outage(void **state)
{
    bench *b = *state;
    fl_link_info info;

    activate(&b->fake);
    go_to(b, 5000);
    assert_int_equal(fl_link_move(&b->fake.link, FL_LINK_DISCONNECTED), FL_OK);
    activate(&b->fake);
    go_to(b, 5010);
    fl_link_get_info(&b->fake.link, &info);
    assert_int_equal(info.uptime_ms, 10);
}

static void test_link_operation_nobody_has_is_unsupported(void **state)
{
    bench *b = *state;
    fl_link *link = &b->fake.link;
    fl_buf answer;

    fl_buf_init(&answer, 64);
    assert_int_equal(fl_link_operate(link, "pid", &answer), FL_E_UNSUPPORTED);
    assert_int_equal(fl_buf_len(&answer), 0);
    assert_int_equal(fl_link_operate(link, "shout", &answer), FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&answer), FL_SPAN("HEY")));
    link->transport = &bare;
    assert_int_equal(fl_link_operate(link, "shout", &answer), FL_E_UNSUPPORTED);
    fl_buf_reset(&answer);
}

static void test_link_bad_address_or_option_starts_nothing(void **state)
{
    static const fl_listener_events listener_events = {0};
    bench *b = *state;
    fl_link *link = &b->fake.link;
    fl_listener *listener = (fl_listener *)(void *)b;
    fl_options bad = {.max_message = 1};
    fl_error error;

    assert_int_equal(
        fl_link_connect(b->loop, "tcp:x", NULL, &events, NULL, &link, &error),
        FL_E_INVALID);
    assert_null(link);
    assert_non_null(strstr(error.text, "tcp:x"));
    assert_int_equal(
        fl_link_connect(b->loop, "unix:/x", &bad, &events, NULL, &link, &error),
        FL_E_INVALID);
    assert_non_null(strstr(error.text, "max_message"));
    assert_int_equal(
        fl_link_connect(b->loop, NULL, NULL, &events, NULL, &link, NULL),
        FL_E_INVALID); /* no address, and no child either */
    assert_null(link);

    assert_int_equal(fl_link_listen(b->loop, NULL, NULL, &listener_events, NULL,
                                    &listener, &error),
                     FL_E_INVALID);
    assert_null(listener);
    assert_int_equal(fl_link_listen(b->loop, "gopher://x:1", NULL,
                                    &listener_events, NULL, &listener, NULL),
                     FL_E_INVALID);
    assert_int_equal(fl_link_listen(b->loop, "tcp://0.0.0.0:0", NULL,
                                    &listener_events, NULL, &listener, NULL),
                     FL_E_DENIED);
    assert_null(listener);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_link_is_born_created_with_one_reference),
        TEST(test_link_cancels_where_requests_are_streams),
        TEST(test_link_takes_legal_steps_and_no_others),
        TEST(test_link_states_have_names),
        TEST(test_link_send_is_counted_when_accepted),
        TEST(test_link_relays_under_another_id),
        TEST(test_link_busy_is_no_error_and_a_failure_is),
        TEST(test_link_send_is_refused_when_closing_or_closed),
        TEST(test_link_send_without_connection_is_the_transports_affair),
        TEST(test_reply_goes_to_its_stream_and_the_answer_is_urgent),
        TEST(test_reply_tells_what_the_envelope_says),
        TEST(test_reply_without_parts_ends_without_a_message),
        TEST(test_answer_that_cannot_be_held_closes_the_link),
        TEST(test_link_close_twice_is_harmless),
        TEST(test_link_may_be_closed_from_every_open_state),
        TEST(test_link_end_says_why_and_lets_go),
        TEST(test_link_end_waits_for_other_references),
        TEST(test_link_on_closed_may_close_and_unref),
        TEST(test_link_nobody_listens_to_may_end),
        TEST(test_link_references_are_counted),
        TEST(test_link_tells_when_the_last_hold_goes),
        TEST(test_link_info_is_what_it_says_and_what_the_transport_adds),
        TEST(test_link_uptime_starts_again_after_an_outage),
        TEST(test_link_operation_nobody_has_is_unsupported),
        TEST(test_link_bad_address_or_option_starts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
