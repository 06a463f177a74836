/*
 * test_line_input.c - what a line link takes in, however it is cut, however
 * long, however wrong, and however little of the answers is read.
 *
 * The link is a bare fl_line_link over one end of a socket pair; the other
 * end is the test's. It answers every request with its params.
 */
#include "base/span.h"
#include "raw_peer.h"
#include "support/chop.h"
#include "support/ration.h"
#include "transport/line_link.h"

enum { LIMIT = 4096, HIGH_WATER = 16 * 1024, SEND_TIMEOUT = 5000 };

typedef struct bed {
    uint64_t now;
    fl_loop *loop;
    fl_line_link line; /* first the owner's, then freed by its hook */
    fl_line_settings settings;
    chop_notes *notes; /* where messages are written down, or NULL */
    bool server, freed;
    int messages, writables, closed;
    fl_error why;
} bed;

static bed in;
static raw_peer peer;

#define ASK(id, params)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"m\",\"params\":" params "}"

#define ANSWER(id, result)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    assert_ptr_equal(link->user, &in);
    in.messages++;
    if (in.notes != NULL)
        chop_note_bytes(in.notes, msg->text);
    if (msg->kind != FL_MSG_REQUEST)
        return;
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), msg->id,
                       FL_SPAN(",\"result\":"), msg->params, FL_SPAN("}")};
    fl_reply_end(reply, parts, 5);
}

static void on_writable(fl_link *link)
{
    (void)link;
    in.writables++;
}

static void on_closed(fl_link *link, const fl_error *why)
{
    (void)link;
    in.closed++;
    in.why = *why;
}

static const fl_link_events link_events = {
    .on_message = on_message,
    .on_writable = on_writable,
    .on_closed = on_closed,
};

static void on_active(fl_line_link *line)
{
    assert_int_equal(line->link.state, FL_LINK_ACTIVE);
}

static void on_freed(fl_line_link *line)
{
    assert_ptr_equal(line, &in.line);
    in.freed = true;
}

static const fl_line_hooks hooks = {.on_active = on_active, .free = on_freed};

static void open_bed(fl_loop *loop, fl_stream *stream, size_t limit)
{
    in.loop = loop;
    in.settings = (fl_line_settings){
        .max_message = limit,
        .high_water = HIGH_WATER,
        .lease_ms = FL_NEVER,
        .idle_ms = FL_NEVER,
        .drain_ms = 100,
        .flush_ms = 1000,
    };
    fl_line_link_init(&in.line, fl_transport_find(FL_SPAN("unix")), loop,
                      in.server, &hooks, &in.settings);
    in.line.link.events = &link_events;
    in.line.link.user = &in;
    fl_line_link_attach(&in.line, stream);
}

static fl_stream *make_stream(fl_loop *loop, int *other)
{
    const fl_stream_limits limits = {.high_water = HIGH_WATER,
                                     .send_timeout_ms = SEND_TIMEOUT};
    fl_stream *stream = NULL;
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                     0);
    *other = fds[1];
    if (fl_stream_open_pair(loop, fds[0], fds[0], &limits, &stream) != FL_OK)
        return NULL;
    return stream;
}

static void begin_as(bool server, size_t limit)
{
    int other;

    in = (bed){.now = 1000, .server = server};
    fl_loop *loop = io_driven_loop(&in.now);
    fl_stream *stream = make_stream(loop, &other);
    assert_non_null(stream);
    raw_take(&peer, loop, other);
    open_bed(loop, stream, limit);
}

static void begin(void)
{
    begin_as(true, LIMIT);
}

static void end(void)
{
    if (in.closed == 0)
        fl_link_close(&in.line.link);
    io_until(in.loop, (in.now += 200, in.closed > 0));
    assert_int_equal(in.closed, 1);
    assert_true(in.freed);
    fl_loop_free(in.loop);
    close(peer.fd);
}

/* Sent byte by byte, so that each is a read of its own. */
static void trickle(const char *text)
{
    uint64_t before = in.line.link.stats.bytes_in;

    for (size_t i = 0; text[i] != '\0'; i++) {
        raw_put(&peer, text + i, 1);
        io_until(in.loop, in.line.link.stats.bytes_in == before + i + 1);
    }
}

static void chop_start(void *user)
{
    (void)user;
    begin();
}

static void chop_piece(void *user, fl_span piece, chop_notes *notes)
{
    uint64_t want = in.line.link.stats.bytes_in + piece.len;

    (void)user;
    in.notes = notes;
    raw_put(&peer, piece.ptr, piece.len);
    io_until(in.loop, in.line.link.stats.bytes_in == want);
}

static void chop_end(void *user, chop_notes *notes)
{
    (void)user;
    in.notes = notes;
    fl_link_ref(&in.line.link);
    raw_finish(&peer);
    io_until(in.loop, (in.now += 200, in.closed == 1));
    io_until(in.loop, (raw_read(&peer), peer.ended));
    chop_note_bytes(notes, (fl_span){peer.room, peer.end});
    chop_note(notes, "%u errors, %s", in.line.link.stats.errors,
              fl_status_name(in.why.status));
    fl_link_unref(&in.line.link);
    assert_true(in.freed);
    fl_loop_free(in.loop);
    close(peer.fd);
}

static const chop_reader reader = {chop_start, chop_piece, chop_end};

static void check_chopped(const char *text, size_t len)
{
    chop(&reader, NULL, (fl_span){text, len}, NULL);
}

static void test_line_input_ends_lines_in_every_way(void **state)
{
    (void)state;
    begin();
    trickle(ASK("1", "[1]") "\n" ASK("2", "[2]") "\r\n" ASK("3", "[3]") "\r" //
            ASK("4", "[4]") "\r\n\n\r\r\n \t \n" ASK("5", "[5]") " \t\n");
    raw_hears(&peer, ANSWER("1", "[1]"));
    raw_hears(&peer, ANSWER("2", "[2]"));
    raw_hears(&peer, ANSWER("3", "[3]"));
    raw_hears(&peer, ANSWER("4", "[4]"));
    raw_hears(&peer, ANSWER("5", "[5]"));
    raw_hears_nothing(&peer);
    assert_int_equal(in.line.link.stats.errors, 0);
    assert_int_equal(in.line.link.stats.messages_in, 5);
    end();
}

static void test_line_input_does_not_care_how_it_is_cut(void **state)
{
    static const char text[] =
        ASK("1", "[\"\xC3\xA9\\n\"]") "\r\n"                               //
                                      "\n{]\r" ASK("2", "{ }") " \n\xff\n" //
                                                               "[]\n" ASK("3",
                                                                          "[]");

    (void)state;
    check_chopped(text, sizeof text - 1);
}

static void test_line_input_whole_last_line_needs_no_end(void **state)
{
    (void)state;
    begin();
    raw_put(&peer, ASK("1", "[]"), strlen(ASK("1", "[]")));
    raw_finish(&peer);
    raw_hears(&peer, ANSWER("1", "[]"));
    raw_hears_end(&peer);
    io_until(in.loop, in.closed == 1);
    assert_int_equal(in.why.status, FL_END);
    end();
}

static void test_line_input_half_a_message_is_none(void **state)
{
    const char *half = "{\"jsonrpc\":\"2.0\",\"id\":1,\"meth";

    (void)state;
    begin();
    raw_put(&peer, half, strlen(half));
    raw_finish(&peer);
    raw_hears_part(&peer, "\"id\":null,\"error\":{\"code\":-32700");
    raw_hears_end(&peer);
    io_until(in.loop, in.closed == 1);
    assert_int_equal(in.messages, 0);
    end();
}

/* A request that is exactly `len` bytes long. */
static void say_long(size_t len)
{
    static char line[2 * LIMIT];
    int n = snprintf(line, sizeof line, ASK("7", "[\"%0*d\"]"),
                     (int)(len - strlen(ASK("7", "[\"\"]"))), 0);

    assert_int_equal(n, len);
    raw_say(&peer, line);
}

static void test_line_input_takes_a_line_of_the_limit(void **state)
{
    (void)state;
    begin();
    say_long(LIMIT);
    raw_hears_part(&peer, "\"id\":7,\"result\"");
    end();
}

#define TOO_LARGE                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32012,"             \
    "\"message\":\"Message too large\",\"data\":{\"limit\":4096}}}"

static void test_line_input_refuses_one_byte_past_the_limit(void **state)
{
    (void)state;
    begin();
    say_long(LIMIT + 1);
    raw_hears(&peer, TOO_LARGE);
    raw_asks(&peer, ASK("1", "[]"), ANSWER("1", "[]"));
    assert_int_equal(in.messages, 1);
    assert_int_equal(in.line.link.stats.errors, 1);
    end();
}

/* CRLF is no part of a line, so it does not count. */
static void test_line_input_counts_no_line_ends(void **state)
{
    static char line[LIMIT + 3];

    (void)state;
    begin();
    int n = snprintf(line, sizeof line, ASK("7", "[\"%0*d\"]") "\r\n",
                     (int)(LIMIT - strlen(ASK("7", "[\"\"]"))), 0);
    assert_int_equal(n, LIMIT + 2);
    raw_put(&peer, line, (size_t)n);
    raw_hears_part(&peer, "\"id\":7,\"result\"");
    end();
}

static void test_line_input_line_without_end_costs_no_memory(void **state)
{
    static char flood[64 * 1024];

    (void)state;
    begin();
    memset(flood, 'x', sizeof flood);
    raw_put(&peer, flood, sizeof flood); /* the loop's read buffer comes */
    raw_hears(&peer, TOO_LARGE);         /* at once, not when the line ends */
    ration_reset();
    size_t before = (size_t)ration_live_bytes();
    for (int i = 0; i < 256; i++) /* 16 MiB */
        raw_put(&peer, flood, sizeof flood);
    assert_true(ration_peak_bytes() - before < 2 * LIMIT);
    raw_hears_nothing(&peer);
    raw_put(&peer, "\n", 1);
    raw_asks(&peer, ASK("1", "[]"), ANSWER("1", "[]"));
    assert_int_equal(in.line.link.stats.errors, 1);
    end();
}

static void test_line_input_refuses_what_is_not_utf8(void **state)
{
    static const char *const wrong[] = {
        "\xff",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xC3\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xC0\x80\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xED\xA0\x80\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xF5\x80\x80\x80\"}",
    };

    (void)state;
    begin();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        raw_say(&peer, wrong[i]);
        raw_hears_part(&peer, "\"error\":{\"code\":-32700,\"message\":");
    }
    raw_asks(&peer, ASK("1", "[]"), ANSWER("1", "[]"));
    assert_int_equal(in.messages, 1);
    end();
}

#define PUT(bytes) raw_put(&peer, bytes, sizeof(bytes) - 1)

static void test_line_input_refuses_nul_bytes(void **state)
{
    (void)state;
    begin();
    PUT("\0\n");
    raw_hears_part(&peer, "\"code\":-32700");
    PUT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}\n");
    raw_hears_part(&peer, "\"code\":-32700");
    PUT(ASK("1", "[]") "\0\n");
    raw_hears_part(&peer, "\"code\":-32700");
    raw_asks(&peer, ASK("1", "[]"), ANSWER("1", "[]"));
    end();
}

static void test_line_input_refuses_what_is_nested_too_deep(void **state)
{
    static char line[20100];
    int head = snprintf(line, sizeof line,
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\","
                        "\"params\":");

    (void)state;
    begin_as(true, 1 << 20);
    memset(line + head, '[', 10000);
    memset(line + head + 10000, ']', 10000);
    memcpy(line + head + 20000, "}", 2);
    raw_say(&peer, line);
    raw_hears_part(&peer, "\"error\":{\"code\":-32700,\"message\":\"");
    assert_int_equal(in.messages, 0);
    raw_asks(&peer, ASK("1", "[]"), ANSWER("1", "[]"));
    end();
}

static void test_line_input_says_where_a_line_goes_wrong(void **state)
{
    (void)state;
    begin();
    raw_say(&peer, "{\"jsonrpc\":\"2.0\",x}");
    raw_hears_part(&peer, "\"data\":{\"offset\":17}");
    raw_say(&peer, "{\"jsonrpc\":\"2.0\",\"id\":\"k\",\"method\":7}");
    raw_hears_part(&peer, "\"id\":\"k\",\"error\":{\"code\":-32600");
    raw_say(&peer, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}");
    raw_hears_part(&peer, "\"id\":null,\"error\":{\"code\":-32600");
    end();
}

/* Two sides that answer errors with errors would never end. */
static void test_line_input_never_answers_a_bad_response(void **state)
{
    (void)state;
    begin();
    raw_say(&peer, "{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":1}");
    raw_say(&peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}");
    raw_hears_nothing(&peer);
    assert_int_equal(in.line.link.stats.errors, 2);
    end();
}

static void test_line_input_of_a_client_skips_in_silence(void **state)
{
    (void)state;
    begin_as(false, LIMIT);
    raw_say(&peer, "Server listening on stdio");
    raw_say(&peer, "\xff\xff");
    say_long(LIMIT + 1);
    raw_say(&peer, "{\"jsonrpc\":\"2.0\",\"id\":1}");
    raw_say(&peer, "{\"jsonrpc\":\"2.0\",\"method\":\"note\"}");
    io_until(in.loop, in.messages == 1);
    raw_hears_nothing(&peer);
    assert_int_equal(in.line.link.stats.errors, 4);
    end();
}

enum { SHORT = 300 };

static void start_short(void *user)
{
    (void)user;
    begin_as(false, SHORT);
}

static const chop_reader short_reader = {start_short, chop_piece, chop_end};

static void check_lost(const char *before, const char *after)
{
    static char text[5 * SHORT];
    int n = snprintf(text, sizeof text, "%s%0*d%s\r\n%s%0*d%s\r\n%s\n", before,
                     2 * SHORT, 0, after, before, SHORT, 0, after,
                     ANSWER("8", "[]"));
    fl_span all = {text, (size_t)n};
    const char *heard = chop_run(&short_reader, NULL, all, 0, all.len);

    const char *first = strstr(heard, "\"id\":7,\"error\":{\"code\":-32603,");

    assert_non_null(first);
    assert_non_null(strstr(first + 1, "\"id\":7,\"error\":"));
    assert_non_null(strstr(heard, "--max-message"));
    assert_non_null(strstr(heard, "\"limit\":300"));
    assert_non_null(strstr(heard, ANSWER("8", "[]")));
    chop(&short_reader, NULL, all, NULL);
}

/* Wherever its id is, and once more. What comes after it is heard as ever. */
static void test_line_input_answer_past_the_limit_fails_at_once(void **state)
{
    (void)state;
    check_lost("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":[\"", "\"]}");
    check_lost("{\"result\":[\"", "\"],\"jsonrpc\":\"2.0\",\"id\":7}");
}

static void test_line_input_skips_a_byte_order_mark(void **state)
{
    static const char text[] = "\xEF\xBB\xBF" ASK(
        "1", "[]") "\r\n" //
                   "\xEF\xBB\xBF\n\xEF\xBB\xBF" ASK("2", "[]") "\n";

    (void)state;
    begin();
    PUT("\xEF\xBB\xBF" ASK("1", "[]") "\n");
    raw_hears(&peer, ANSWER("1", "[]"));
    assert_int_equal(in.line.link.stats.errors, 0);
    end();
    check_chopped(text, sizeof text - 1);
}

enum { ASKED = 4000, ANSWER_ROOM = 1000 };

/* Asks as long as there is room in the socket, and never reads. */
static int ask_without_reading(void)
{
    static char line[2 * ANSWER_ROOM];
    int asked = 0;

    for (int i = 0; i < ASKED; i++) {
        int n = snprintf(line, sizeof line, ASK("%d", "[\"%0*d\"]") "\n", i,
                         ANSWER_ROOM, 0);
        ssize_t sent = send(peer.fd, line, (size_t)n, MSG_NOSIGNAL);
        for (int turns = 0; sent < 0 && turns < 50; turns++) {
            fl_loop_step(in.loop);
            sent = send(peer.fd, line, (size_t)n, MSG_NOSIGNAL);
        }
        if (sent < 0)
            return asked;
        raw_put(&peer, line + sent, (size_t)(n - sent));
        asked++;
    }
    return asked;
}

static void test_line_input_stops_serving_a_peer_that_never_reads(void **state)
{
    (void)state;
    begin();
    io_some_turns(in.loop);
    ration_reset();
    size_t before = (size_t)ration_live_bytes();
    int asked = ask_without_reading();
    assert_true(asked < ASKED);
    assert_true(in.messages < asked);
    /* a full buffer, what was held of one read, and the read buffer */
    assert_true(ration_peak_bytes() - before < 2 * HIGH_WATER + 3 * 65536);

    int served = 0;
    while (served < asked) { /* now it reads: all is answered, in order */
        char want[64];
        snprintf(want, sizeof want, "{\"jsonrpc\":\"2.0\",\"id\":%d,", served);
        const char *heard = raw_hear(&peer);
        assert_memory_equal(heard, want, strlen(want));
        served++;
    }
    assert_int_equal(in.messages, asked);
    assert_true(in.writables > 0);
    raw_hears_nothing(&peer);
    end();
}

static void test_line_input_held_back_comes_before_the_end(void **state)
{
    (void)state;
    begin();
    int asked = ask_without_reading();
    raw_finish(&peer); /* unread, like most of what was asked */
    for (int i = 0; i < asked; i++)
        raw_hears_part(&peer, "\"result\"");
    raw_hears_end(&peer);
    io_until(in.loop, in.closed == 1);
    assert_int_equal(in.why.status, FL_END);
    assert_int_equal(in.messages, asked);
    end();
}

static void test_line_input_link_to_a_dead_reader_is_closed(void **state)
{
    (void)state;
    begin();
    assert_true(ask_without_reading() < ASKED);
    in.now += SEND_TIMEOUT / 2;
    io_some_turns(in.loop);
    assert_int_equal(in.closed, 0);
    for (int i = 0; i < 20 && in.closed == 0; i++) {
        in.now += SEND_TIMEOUT / 2;
        io_some_turns(in.loop);
    }
    assert_int_equal(in.closed, 1);
    assert_int_equal(in.why.status, FL_E_TIMEOUT);
    end();
}

static void test_line_input_close_with_input_held_leaks_nothing(void **state)
{
    (void)state;
    begin();
    assert_true(ask_without_reading() < ASKED);
    fl_link_close(&in.line.link);
    end();
}

/* Set up, one round trip, one bad line, with memory that runs out. */
static void visit(void *user)
{
    int other;

    (void)user;
    in = (bed){.now = 1000, .server = true};
    fl_clock clock = {io_read_clock, &in.now};
    fl_loop *loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    if (loop == NULL)
        return;
    fl_stream *stream = make_stream(loop, &other);
    if (stream == NULL) {
        close(other);
        fl_loop_free(loop);
        return;
    }
    open_bed(loop, stream, LIMIT);
    const char *pieces[] = {ASK("1", "[]") "\n{", "}\n" ASK("2", "["), "]\n"};
    for (int i = 0; i < 3; i++) {
        send(other, pieces[i], strlen(pieces[i]), MSG_NOSIGNAL);
        fl_loop_step(loop);
        fl_loop_step(loop);
    }
    if (in.closed == 0)
        fl_link_close(&in.line.link);
    for (int i = 0; i < 100 && in.closed == 0; i++, in.now += 200)
        fl_loop_step(loop);
    assert_int_equal(in.closed, 1);
    fl_loop_free(loop);
    close(other);
}

static void test_line_input_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(visit, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_input_ends_lines_in_every_way),
        cmocka_unit_test(test_line_input_does_not_care_how_it_is_cut),
        cmocka_unit_test(test_line_input_whole_last_line_needs_no_end),
        cmocka_unit_test(test_line_input_half_a_message_is_none),
        cmocka_unit_test(test_line_input_takes_a_line_of_the_limit),
        cmocka_unit_test(test_line_input_refuses_one_byte_past_the_limit),
        cmocka_unit_test(test_line_input_counts_no_line_ends),
        cmocka_unit_test(test_line_input_line_without_end_costs_no_memory),
        cmocka_unit_test(test_line_input_refuses_what_is_not_utf8),
        cmocka_unit_test(test_line_input_refuses_nul_bytes),
        cmocka_unit_test(test_line_input_refuses_what_is_nested_too_deep),
        cmocka_unit_test(test_line_input_says_where_a_line_goes_wrong),
        cmocka_unit_test(test_line_input_never_answers_a_bad_response),
        cmocka_unit_test(test_line_input_of_a_client_skips_in_silence),
        cmocka_unit_test(test_line_input_answer_past_the_limit_fails_at_once),
        cmocka_unit_test(test_line_input_skips_a_byte_order_mark),
        cmocka_unit_test(test_line_input_stops_serving_a_peer_that_never_reads),
        cmocka_unit_test(test_line_input_held_back_comes_before_the_end),
        cmocka_unit_test(test_line_input_link_to_a_dead_reader_is_closed),
        cmocka_unit_test(test_line_input_close_with_input_held_leaks_nothing),
        cmocka_unit_test(test_line_input_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
