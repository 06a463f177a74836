/*
 * test_ws.c - what a WebSocket makes of frames, however they are cut.
 *
 * Every case runs whole, at every split and byte by byte. A message comes out
 * as t[text], b[binary], p[ping], o[pong], c1000[reason]; a fault as its code
 * and text; "..." is a message that was not whole at the end.
 */
#include "wire/ws.h"

#include "unit/ws_wire.h"

static socket_end server(size_t max)
{
    return (socket_end){.settings = {.max_message = max}};
}

static socket_end client(size_t max)
{
    return (socket_end){.settings = {.client = true, .max_message = max}};
}

static void check(socket_end *s, const wire *w, const char *want)
{
    chop(&socket_reader, s, wire_view(w), want);
}

static void test_ws_reads_the_examples_of_the_rfc(void **state)
{
    /* RFC 6455 5.7 */
    socket_end c = client(1000), s = server(1000);

    (void)state;
    chop(&socket_reader, &c, FL_SPAN("\x81\x05\x48\x65\x6c\x6c\x6f"),
         "t[Hello]");
    chop(&socket_reader, &s,
         FL_SPAN("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "t[Hello]");
    chop(&socket_reader, &c, FL_SPAN("\x01\x03\x48\x65\x6c\x80\x02\x6c\x6f"),
         "t[Hello]");
    chop(&socket_reader, &c, FL_SPAN("\x89\x05\x48\x65\x6c\x6c\x6f"),
         "p[Hello]");
    chop(&socket_reader, &s,
         FL_SPAN("\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "o[Hello]");
}

/* Messages of any length that changes the head, in both roles. */
static void test_ws_reads_every_form_of_length(void **state)
{
    static const size_t lengths[] = {0,   1,   15,  16,    17,    125,
                                     126, 127, 256, 65535, 65536, 65537};
    static wire w;
    static char payload[65537], want[65537 + 8];

    (void)state;
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (char)('a' + i % 26);
    for (size_t i = 0; i < COUNT(lengths); i++)
        for (int masked = 0; masked < 2; masked++) {
            size_t len = lengths[i];
            socket_end s = masked ? server(len + 1) : client(len + 1);
            w.len = 0;
            wire_frame(&w, FIN | FL_WS_BINARY, (fl_span){payload, len}, masked);
            snprintf(want, sizeof want, "b[%.*s]", (int)len, payload);
            assert_string_equal(
                chop_run(&socket_reader, &s, wire_view(&w), 0, WIRE_ROOM),
                want);
            assert_string_equal(
                chop_run(&socket_reader, &s, wire_view(&w), 0, 1), want);
            for (size_t first = 1; first < 20 && first < w.len; first++)
                assert_string_equal(
                    chop_run(&socket_reader, &s, wire_view(&w), first, 1000),
                    want);
        }
}

static void test_ws_control_frames_come_between_fragments(void **state)
{
    static wire w;

    (void)state;
    for (int masked = 0; masked < 2; masked++) {
        socket_end s = masked ? server(100) : client(100);
        w.len = 0;
        wire_frame(&w, FL_WS_TEXT, FL_SPAN("one "), masked);
        wire_frame(&w, FIN | FL_WS_PING, FL_SPAN("now"), masked);
        wire_frame(&w, FL_WS_MORE, FL_SPAN(""), masked);
        wire_frame(&w, FIN | FL_WS_PONG, FL_SPAN(""), masked);
        wire_frame(&w, FL_WS_MORE, FL_SPAN("two "), masked);
        wire_frame(&w, FIN | FL_WS_MORE, FL_SPAN("three"), masked);
        wire_frame(&w, FIN | FL_WS_BINARY, FL_SPAN("next"), masked);
        wire_frame(&w, FL_WS_BINARY, FL_SPAN("half"), masked);
        wire_frame(&w, FIN | FL_WS_CLOSE, FL_SPAN("\x03\xe8 bye"), masked);
        wire_frame(&w, FIN | FL_WS_MORE, FL_SPAN("after"), masked);
        check(&s, &w, "p[now]o[]t[one two three]b[next]c1000[ bye]");
    }
}

static void test_ws_empty_messages_are_messages(void **state)
{
    static wire w;

    (void)state;
    for (int masked = 0; masked < 2; masked++) {
        socket_end s = masked ? server(100) : client(100);
        w.len = 0;
        wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN(""), masked);
        wire_frame(&w, FIN | FL_WS_BINARY, FL_SPAN(""), masked);
        wire_frame(&w, FL_WS_TEXT, FL_SPAN(""), masked);
        wire_frame(&w, FIN | FL_WS_MORE, FL_SPAN(""), masked);
        wire_frame(&w, FIN | FL_WS_PING, FL_SPAN(""), masked);
        wire_frame(&w, FIN | FL_WS_CLOSE, FL_SPAN(""), masked);
        check(&s, &w, "t[]b[]t[]p[]c1005[]");
    }
}

/* What the rules say of a first byte, in the order of the fewest words. */
static const char *want_of(unsigned first, bool in_message, bool packing,
                           bool masked, bool client_reads)
{
    unsigned opcode = first & 15;
    bool control = opcode >= 8, fin = first >= 0x80;

    if ((first & 0x30) != 0)
        return "!1002 a reserved bit is set";
    if ((first & RSV1) != 0 && !packing)
        return "!1002 RSV1 is set, but no compression was agreed on";
    if ((first & RSV1) != 0 && control)
        return "!1002 a control frame says it is compressed";
    if ((first & RSV1) != 0 && opcode == 0)
        return "!1002 a continuation says it is compressed; only a first frame "
               "may";
    if (opcode > 10)
        return "!1002 a control frame is of a reserved kind";
    if (opcode > 2 && opcode < 8)
        return "!1002 a data frame is of a reserved kind";
    if (control && !fin)
        return "!1002 a control frame is fragmented";
    if (opcode == 0 && !in_message)
        return "!1002 a continuation of no message";
    if ((opcode == 1 || opcode == 2) && in_message)
        return "!1002 a message begins within another that has not ended";
    if (masked && client_reads)
        return "!1002 a frame from a server is masked";
    return !masked && !client_reads
               ? "!1002 a frame from a client is not masked"
               : NULL;
}

/* One frame with this first byte, alone or after the start of a message. */
static void try_first_byte(fl_ws_packs *packs, unsigned first, unsigned how)
{
    static const fl_ws_agreed agreed = {
        .on = true, .our_bits = 15, .peer_bits = 15};
    bool in_message = how & 1, packing = how & 2, masked = how & 4;
    bool client_reads = how & 8;
    socket_end s = client_reads ? client(100) : server(100);
    wire *w = malloc(sizeof *w);

    assert_non_null(w);
    w->len = 0;
    s.settings.packs = packs;
    s.agreed = packing ? &agreed : NULL;
    if (in_message)
        wire_frame(w, FL_WS_BINARY, FL_SPAN("x"), !client_reads);
    wire_frame(w, first, FL_SPAN(""), masked);
    const char *want =
        want_of(first, in_message, packing, masked, client_reads);
    const char *got = chop_run(&socket_reader, &s, wire_view(w), 0, WIRE_ROOM);
    if (want != NULL ? strcmp(got, want) != 0 : strchr(got, '!') != NULL)
        fail_msg("%02x, %x: want %s, got %s", first, how, want, got);
    chop(&socket_reader, &s, wire_view(w), NULL);
    free(w);
}

static void test_ws_every_first_byte_is_judged_by_the_rules(void **state)
{
    fl_ws_packs *packs = fl_ws_packs_new();

    (void)state;
    assert_non_null(packs);
    for (unsigned first = 0; first < 256; first++)
        for (unsigned how = 0; how < 16; how++)
            try_first_byte(packs, first, how);
    fl_ws_packs_free(packs);
}

static void test_ws_control_frames_hold_125_bytes_at_most(void **state)
{
    static wire w;
    char body[126], want[140];
    socket_end s = server(10);

    (void)state;
    memset(body, 'x', sizeof body);
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_PING, (fl_span){body, 125}, true);
    snprintf(want, sizeof want, "p[%.*s]", 125, body);
    check(&s, &w, want);
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_PING, (fl_span){body, 126}, true);
    check(&s, &w, "!1002 a control frame is longer than 125 bytes");
    w.len = 0; /* two bytes tell: its length need not have come */
    wire_head(&w, FIN | FL_WS_PONG, 0, 8, true);
    w.len = 2;
    check(&s, &w, "!1002 a control frame is longer than 125 bytes");
}

static void test_ws_lengths_are_in_their_shortest_form(void **state)
{
    static const struct {
        uint64_t len;
        int form;
        const char *want;
    } cases[] = {
        {125, 2, "!1002 a length is not written in its shortest form"},
        {126, 2, "..."},
        {0, 2, "!1002 a length is not written in its shortest form"},
        {125, 8, "!1002 a length is not written in its shortest form"},
        {65535, 8, "!1002 a length is not written in its shortest form"},
        {65536, 8, "..."},
        {INT64_MAX, 8, "!1009 a message is longer than the limit"},
        {INT64_MAX + UINT64_C(1), 8, "!1002 a length has its highest bit set"},
        {UINT64_MAX, 8, "!1002 a length has its highest bit set"},
    };
    static wire w;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        socket_end s = server(100000);
        w.len = 0;
        wire_head(&w, FIN | FL_WS_TEXT, cases[i].len, cases[i].form, true);
        check(&s, &w, cases[i].want);
    }
}

static void test_ws_refuses_a_length_one_past_the_limit(void **state)
{
    static wire w;

    (void)state;
    for (size_t max = 1; max < 400; max += 133) {
        socket_end s = server(max);
        char body[401], want[410];
        memset(body, 'x', sizeof body);
        snprintf(want, sizeof want, "t[%.*s]", (int)max, body);
        w.len = 0;
        wire_frame(&w, FIN | FL_WS_TEXT, (fl_span){body, max}, true);
        check(&s, &w, want);
        w.len = 0;
        wire_frame(&w, FIN | FL_WS_TEXT, (fl_span){body, max + 1}, true);
        check(&s, &w, "!1009 a message is longer than the limit");
        w.len = 0; /* the head alone */
        wire_head(&w, FIN | FL_WS_TEXT, max + 1, max + 1 < 126 ? 0 : 2, true);
        check(&s, &w, "!1009 a message is longer than the limit");
    }
}

/* Eight bytes of length of which the first two alone would be one. */
static void test_ws_a_huge_length_is_not_taken_for_a_small_one(void **state)
{
    static wire w;
    socket_end s = server(1000);

    (void)state;
    w.len = 0;
    wire_head(&w, FIN | FL_WS_TEXT, UINT64_C(0x0080000000000000), 8, true);
    for (int i = 0; i < 200; i++)
        wire_byte(&w, 'x');
    check(&s, &w, "!1009 a message is longer than the limit");
}

/* Where a frame may not begin, what looks like one is not one. */
static void test_ws_a_frame_is_one_only_where_it_may_begin(void **state)
{
    static wire w, inner;
    static char want[64];
    socket_end s = server(100);

    (void)state;
    w.len = inner.len = 0;
    wire_frame(&inner, FIN | FL_WS_TEXT, FL_SPAN("not a frame"), true);
    wire_head(&w, FIN | FL_WS_BINARY, inner.len, 0, true);
    memset(w.bytes + w.len - 4, 0, 4); /* a mask that changes nothing */
    wire_put(&w, wire_view(&inner));
    snprintf(want, sizeof want, "b[%.*s]", (int)inner.len, inner.bytes);
    check(&s, &w, want);

    w.len = 0;
    wire_frame(&w, FL_WS_TEXT, FL_SPAN("half"), true);
    wire_frame(&w, FIN | FL_WS_PING, FL_SPAN("?"), true);
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("another one"), true);
    check(&s, &w,
          "p[?]!1002 a message begins within another that has not ended");
}

static void test_ws_the_limit_is_for_all_fragments_together(void **state)
{
    static wire w;
    socket_end s = server(10);

    (void)state;
    w.len = 0;
    wire_frame(&w, FL_WS_TEXT, FL_SPAN("123456"), true);
    wire_frame(&w, FIN | FL_WS_PING, FL_SPAN("longer than 10 bytes"), true);
    wire_frame(&w, FIN | FL_WS_MORE, FL_SPAN("7890"), true);
    check(&s, &w, "p[longer than 10 bytes]t[1234567890]");
    w.len = 0;
    wire_frame(&w, FL_WS_TEXT, FL_SPAN("123456"), true);
    wire_frame(&w, FL_WS_MORE, FL_SPAN("7890"), true);
    wire_head(&w, FIN | FL_WS_MORE, 1, 0, true);
    check(&s, &w, "!1009 a message is longer than the limit");
}

static void test_ws_binary_is_refused_before_it_is_kept(void **state)
{
    static wire w;
    socket_end s = server(10);

    (void)state;
    s.settings.refuse_binary = true;
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("text"), true);
    wire_head(&w, FIN | FL_WS_BINARY, 5, 0, true);
    check(&s, &w, "t[text]!1003 binary messages are not taken");
    w.len -= 4; /* the second byte is enough */
    check(&s, &w, "t[text]!1003 binary messages are not taken");
}

static void test_ws_close_says_a_code_and_a_reason(void **state)
{
    static const struct {
        const char *body, *want;
        size_t len;
    } cases[] = {
        {"", "c1005[]", 0},
        {"\x03", "!1002 a close has half a code: one byte", 1},
        {"\x03\xe8", "c1000[]", 2},
        {"\x03\xe9why", "c1001[why]", 5},
        {"\x03\xe8\xc3\xa9", "c1000[\xc3\xa9]", 4},
        {"\x03\xe8\xc3", "!1007 the reason of a close is not UTF-8", 3},
        {"\x03\xe8\xff", "!1007 the reason of a close is not UTF-8", 3},
        {"\x03\xe7", "!1002 a close has a code that may not be sent", 2},
        {"\x03\xec", "!1002 a close has a code that may not be sent", 2},
        {"\x03\xed", "!1002 a close has a code that may not be sent", 2},
        {"\x03\xee", "!1002 a close has a code that may not be sent", 2},
        {"\x03\xf7", "!1002 a close has a code that may not be sent", 2},
        {"\x0b\xb7", "!1002 a close has a code that may not be sent", 2},
        {"\x0b\xb8", "c3000[]", 2},
        {"\x13\x87", "c4999[]", 2},
        {"\x13\x88", "!1002 a close has a code that may not be sent", 2},
    };
    static wire w;
    socket_end s = server(10);

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        w.len = 0;
        wire_frame(&w, FIN | FL_WS_CLOSE,
                   (fl_span){cases[i].body, cases[i].len}, true);
        check(&s, &w, cases[i].want);
    }
}

static void test_ws_nothing_is_read_after_a_close(void **state)
{
    socket_end s = client(100);
    fl_span in = FL_SPAN("\x88\x00\x81\x01x"), before;
    fl_ws_message m;

    (void)state;
    socket_start(&s);
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_int_equal(m.kind, FL_WS_CLOSE);
    before = in;
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_END);
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_END);
    assert_ptr_equal(in.ptr, before.ptr);
    assert_false(fl_ws_in_message(&s.ws));
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

static void test_ws_a_fault_is_final(void **state)
{
    socket_end s = client(100);
    fl_span in = FL_SPAN("\x83\x00\x81\x01x");
    fl_ws_message m;

    (void)state;
    socket_start(&s);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_E_BAD_MESSAGE);
        assert_int_equal(s.ws.fault.code, FL_WS_PROTOCOL_ERROR);
        fl_ws_rest(&s.ws);
    }
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

/* Whether some text goes on from these bytes, by trying what could follow. */
static bool could_go_on(const char *bytes, size_t len)
{
    static const char *const tails[] = {
        "",
        "\x80",
        "\xa0",
        "\x8f",
        "\x80\x80",
        "\x90\x80",
        "\xa0\x80",
        "\x8f\x80",
        "\x80\x80\x80",
        "\x90\x80\x80",
        "\x8f\x80\x80",
    };
    char text[128];

    memcpy(text, bytes, len);
    for (size_t i = 0; i < COUNT(tails); i++) {
        size_t n = strlen(tails[i]);
        memcpy(text + len, tails[i], n);
        if (fl_utf8_valid((fl_span){text, len + n}))
            return true;
    }
    return false;
}

static size_t oracle(fl_span text)
{
    for (size_t n = 1; n <= text.len; n++)
        if (!could_go_on(text.ptr, n))
            return n;
    return text.len + 1;
}

static const fl_span texts[] = {
    {"plain", 5},
    {"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5", 11},
    {"ab\xed\xa0\x80zz", 7},
    {"ab\xe0\x9f\xbfzz", 7},
    {"ab\xf0\x8f\xbf\xbfz", 7},
    {"ab\xf4\x90\x80\x80z", 7},
    {"\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 8},
    {"\xf0\x9f\x98\x80\xf0\x9f\x98z", 8},
    {"0123456789abcdef\xc3\xa9\xc3\x28gh", 22},
    {"x\xc0\xaf", 3},
    {"x\xc1", 2},
    {"\x80", 1},
    {"\xf5\x80\x80\x80", 4},
    {"\xff", 1},
    {"\0\0", 2},
    {"end\xe2\x82", 5},
};

/* The byte at which it must fail, fed one at a time, in frames of any size. */
static void test_ws_text_fails_at_the_first_impossible_byte(void **state)
{
    static wire w;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t cut = 1; cut <= texts[i].len; cut++)
            for (int unchecked = 0; unchecked < 2; unchecked++) {
                socket_end s = server(100);
                size_t bad = oracle(texts[i]), frames = (bad - 1) / cut + 1;
                s.settings.text_unchecked = unchecked;
                w.len = 0;
                for (size_t at = 0; at < texts[i].len; at += cut) {
                    size_t n = texts[i].len - at;
                    n = n < cut ? n : cut;
                    wire_frame(&w, at == 0 ? FL_WS_TEXT : FL_WS_MORE,
                               (fl_span){texts[i].ptr + at, n}, true);
                }
                const char *got =
                    chop_run(&socket_reader, &s, wire_view(&w), 0, 1);
                if (bad > texts[i].len) {
                    assert_string_equal(got, "...");
                } else {
                    assert_string_equal(got, "!1007 text is not UTF-8");
                    assert_int_equal(s.fed, frames * 6 + bad);
                }
                check(&s, &w, NULL);
            }
}

static void test_ws_text_must_end_between_characters(void **state)
{
    static wire w;
    socket_end s = server(100);

    (void)state;
    w.len = 0;
    wire_frame(&w, FL_WS_TEXT, FL_SPAN("euro \xe2\x82"), true);
    wire_frame(&w, FIN | FL_WS_MORE, FL_SPAN("\xac"), true);
    check(&s, &w, "t[euro \xe2\x82\xac]");
    w.len = 0;
    wire_frame(&w, FL_WS_TEXT, FL_SPAN("euro \xe2"), true);
    wire_frame(&w, FIN | FL_WS_MORE, FL_SPAN("\x82"), true);
    check(&s, &w, "!1007 text ends within a character");
    w.len = 0; /* in one frame, however it is cut */
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("euro \xe2\x82"), true);
    check(&s, &w, "!1007 text ends within a character");
    w.len = 0; /* and what a message left undone is not the next one's */
    wire_frame(&w, FL_WS_BINARY, FL_SPAN("\xe2"), true);
    wire_frame(&w, FIN | FL_WS_MORE, FL_SPAN("\x82"), true);
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("a"), true);
    check(&s, &w, "b[\xe2\x82]t[a]");
}

static void test_ws_whole_bad_text_is_refused(void **state)
{
    static wire w;
    socket_end s = server(100);

    (void)state;
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("a\xff"), true);
    check(&s, &w, "!1007 text is not UTF-8");
    s = client(100);
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("a\xff"), false);
    check(&s, &w, "!1007 text is not UTF-8");
}

static void test_ws_unchecked_text_is_unchecked_in_one_piece_only(void **state)
{
    static wire w;
    socket_end s = server(100);
    fl_ws_message m;

    (void)state;
    s.settings.text_unchecked = true;
    socket_start(&s);
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("a\xff!"), true);
    fl_span in = wire_view(&w);
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_false(m.checked);
    assert_int_equal(m.bytes.len, 3);

    w.len = 0; /* in two pieces, good */
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("good"), true);
    in = (fl_span){w.bytes, 8};
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_AGAIN);
    in = (fl_span){w.bytes + 8, w.len - 8};
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_true(m.checked);

    w.len = 0; /* the head alone first: the text is in one piece */
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("a\xff!"), true);
    in = (fl_span){w.bytes, 6};
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_AGAIN);
    in = (fl_span){w.bytes + 6, w.len - 6};
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_false(m.checked);

    w.len = 0; /* in two pieces, bad in the first */
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("\xff bad"), true);
    in = (fl_span){w.bytes, 7};
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_E_BAD_MESSAGE);
    assert_int_equal(s.ws.fault.code, FL_WS_BAD_DATA);
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

static void test_ws_unmasked_messages_are_lent_from_the_input(void **state)
{
    static wire w;
    socket_end s = client(70000);
    static char body[70000];
    fl_ws_message m;

    (void)state;
    memset(body, 'x', sizeof body);
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_TEXT, (fl_span){body, sizeof body}, false);
    wire_frame(&w, FIN | FL_WS_BINARY, FL_SPAN("second"), false);
    fl_span in = wire_view(&w);
    socket_start(&s);
    ration_reset();
    ration_allow(0);
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_ptr_equal(m.bytes.ptr, w.bytes + 10);
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_ptr_equal(m.bytes.ptr, w.bytes + w.len - 6);
    assert_false(ration_refused());
    ration_reset();
    assert_int_equal(fl_ws_memory(&s.ws), 0);
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

static void test_ws_an_announced_length_reserves_nothing(void **state)
{
    enum { ANNOUNCED = 200 * 1024 * 1024 };
    static wire w;
    socket_end s = server(ANNOUNCED);
    fl_ws_message m;

    (void)state;
    w.len = 0;
    wire_head(&w, FIN | FL_WS_BINARY, ANNOUNCED, 8, true);
    size_t head = w.len;
    for (size_t i = 0; i < 1000; i++)
        wire_byte(&w, 'x');
    socket_start(&s);
    ration_reset();
    fl_span in = {w.bytes, head};
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_AGAIN);
    assert_int_equal(ration_count(), 0);
    assert_true(fl_ws_in_message(&s.ws));
    in = (fl_span){w.bytes + head, 1000};
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_AGAIN);
    assert_in_range(ration_largest(), 1000, 2048);
    assert_in_range(fl_ws_memory(&s.ws), 1000, 2048);
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

static void test_ws_an_idle_socket_holds_nothing(void **state)
{
    static wire w;
    socket_end s = server(1000);
    fl_ws_message m;

    (void)state;
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("message"), true);
    wire_frame(&w, FL_WS_TEXT, FL_SPAN("half"), true);
    wire_frame(&w, FIN | FL_WS_MORE, FL_SPAN("whole"), true);
    socket_start(&s);
    fl_span in = wire_view(&w);
    in.len -= 11;
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_true(fl_ws_memory(&s.ws) > 0);
    assert_false(fl_ws_in_message(&s.ws));
    fl_ws_rest(&s.ws);
    assert_int_equal(fl_ws_memory(&s.ws), 0);

    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_AGAIN);
    fl_ws_rest(&s.ws); /* half a message stays */
    assert_true(fl_ws_memory(&s.ws) > 0);
    assert_true(fl_ws_in_message(&s.ws));
    in.len = 11;
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_true(fl_span_equal(m.bytes, FL_SPAN("halfwhole")));
    fl_ws_rest(&s.ws);
    assert_int_equal(fl_ws_memory(&s.ws), 0);
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

/* Half a message that will never be whole. */
static void test_ws_a_finished_socket_holds_nothing(void **state)
{
    static wire w;
    socket_end s = server(1000);
    fl_ws_message m;

    (void)state;
    w.len = 0;
    wire_frame(&w, FL_WS_TEXT, FL_SPAN("half"), true);
    wire_frame(&w, FIN | FL_WS_CLOSE, FL_SPAN(""), true);
    socket_start(&s);
    fl_span in = wire_view(&w);
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_true(fl_ws_memory(&s.ws) > 0);
    fl_ws_rest(&s.ws);
    assert_int_equal(fl_ws_memory(&s.ws), 0);
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

static void test_ws_busy_sockets_allocate_once(void **state)
{
    static wire w;
    socket_end s = server(1000);
    fl_ws_message m;

    (void)state;
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("message"), true);
    socket_start(&s);
    ration_reset();
    for (int i = 0; i < 100; i++) {
        fl_span in = wire_view(&w);
        assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
        assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_AGAIN);
        fl_ws_rest(&s.ws);
    }
    assert_int_equal(ration_count(), 1);
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

static void test_ws_a_part_of_a_head_is_a_message_begun(void **state)
{
    socket_end s = server(1000);
    fl_span in = FL_SPAN("\x81");
    fl_ws_message m;

    (void)state;
    socket_start(&s);
    assert_false(fl_ws_in_message(&s.ws));
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_AGAIN);
    assert_true(fl_ws_in_message(&s.ws));
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

/* Its memory refused, a socket fails with 1011 and leaves nothing behind. */
static void starve(void *user)
{
    const wire *w = user;
    socket_end s = server(100000);
    const char *notes;

    notes = chop_run(&socket_reader, &s, wire_view(w), 700, WIRE_ROOM);
    if (ration_refused()) {
        assert_non_null(strstr(notes, "!1011 out of memory"));
        assert_int_equal(s.last, FL_E_NOMEM);
    } else {
        assert_null(strchr(notes, '!'));
    }
}

static void starve_one(void *user)
{
    const wire *w = user;
    socket_end s = server(100000);
    const char *notes =
        chop_run(&socket_reader, &s, wire_view(w), 0, WIRE_ROOM);

    assert_string_equal(notes, ration_refused() ? "!1011 out of memory"
                                                : "t[one whole message]");
}

static void test_ws_fails_alone_when_memory_does(void **state)
{
    static wire w;
    static char body[40000];

    (void)state;
    memset(body, 'x', sizeof body);
    w.len = 0;
    wire_frame(&w, FL_WS_TEXT, (fl_span){body, 600}, true);
    wire_frame(&w, FIN | FL_WS_MORE, (fl_span){body, sizeof body}, true);
    wire_frame(&w, FIN | FL_WS_TEXT, (fl_span){body, sizeof body}, true);
    assert_in_range(ration_each(starve, &w), 3, 100);
    w.len = 0;
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("one whole message"), true);
    assert_int_equal(ration_each(starve_one, &w), 2);
}

static unsigned roll(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static void put_note(wire *want, char letter, fl_span bytes)
{
    wire_byte(want, (unsigned char)letter);
    wire_byte(want, '[');
    wire_put(want, bytes);
    wire_byte(want, ']');
}

/* A random message in random fragments with control frames in between, and
 * what must come out of it. */
static void put_random(wire *w, wire *want, unsigned *seed, bool masked)
{
    char body[200];
    size_t len = roll(seed) % sizeof body, at = 0;
    unsigned kind = 1 + roll(seed) % 2, opcode = kind;
    bool last = false;

    for (size_t i = 0; i < len; i++)
        body[i] = (char)('a' + roll(seed) % 26);
    while (!last) {
        last = roll(seed) % 3 == 0;
        size_t n = last ? len - at : roll(seed) % (len - at + 1);
        wire_frame(w, (last ? FIN : 0u) | opcode, (fl_span){body + at, n},
                   masked);
        at += n;
        opcode = FL_WS_MORE;
        if (!last && roll(seed) % 4 == 0) {
            wire_frame(w, FIN | FL_WS_PING, (fl_span){body, len / 2}, masked);
            put_note(want, 'p', (fl_span){body, len / 2});
        }
    }
    put_note(want, kind == FL_WS_TEXT ? 't' : 'b', (fl_span){body, len});
}

static void test_ws_random_messages_come_out_whole(void **state)
{
    static wire w, want;
    unsigned seed = 1;

    (void)state;
    for (int run = 0; run < 300; run++) {
        bool masked = run % 2 != 0;
        socket_end s = masked ? server(200) : client(200);
        w.len = want.len = 0;
        for (int i = 0; i < 5; i++)
            put_random(&w, &want, &seed, masked);
        wire_byte(&want, 0);
        for (size_t step = 1; step < 300; step += 1 + step / 2)
            assert_string_equal(chop_run(&socket_reader, &s, wire_view(&w),
                                         roll(&seed) % 40, step),
                                want.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ws_reads_the_examples_of_the_rfc),
        cmocka_unit_test(test_ws_reads_every_form_of_length),
        cmocka_unit_test(test_ws_control_frames_come_between_fragments),
        cmocka_unit_test(test_ws_empty_messages_are_messages),
        cmocka_unit_test(test_ws_every_first_byte_is_judged_by_the_rules),
        cmocka_unit_test(test_ws_control_frames_hold_125_bytes_at_most),
        cmocka_unit_test(test_ws_lengths_are_in_their_shortest_form),
        cmocka_unit_test(test_ws_refuses_a_length_one_past_the_limit),
        cmocka_unit_test(test_ws_a_huge_length_is_not_taken_for_a_small_one),
        cmocka_unit_test(test_ws_a_frame_is_one_only_where_it_may_begin),
        cmocka_unit_test(test_ws_the_limit_is_for_all_fragments_together),
        cmocka_unit_test(test_ws_binary_is_refused_before_it_is_kept),
        cmocka_unit_test(test_ws_close_says_a_code_and_a_reason),
        cmocka_unit_test(test_ws_nothing_is_read_after_a_close),
        cmocka_unit_test(test_ws_a_fault_is_final),
        cmocka_unit_test(test_ws_text_fails_at_the_first_impossible_byte),
        cmocka_unit_test(test_ws_text_must_end_between_characters),
        cmocka_unit_test(test_ws_whole_bad_text_is_refused),
        cmocka_unit_test(test_ws_unchecked_text_is_unchecked_in_one_piece_only),
        cmocka_unit_test(test_ws_unmasked_messages_are_lent_from_the_input),
        cmocka_unit_test(test_ws_an_announced_length_reserves_nothing),
        cmocka_unit_test(test_ws_an_idle_socket_holds_nothing),
        cmocka_unit_test(test_ws_a_finished_socket_holds_nothing),
        cmocka_unit_test(test_ws_busy_sockets_allocate_once),
        cmocka_unit_test(test_ws_a_part_of_a_head_is_a_message_begun),
        cmocka_unit_test(test_ws_fails_alone_when_memory_does),
        cmocka_unit_test(test_ws_random_messages_come_out_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
