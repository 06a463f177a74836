/*
 * test_ws_frame.c - heads, masks and close bodies, against ones made by hand.
 */
#include "wire/ws.h"

#include "unit/ws_wire.h"

static void test_ws_head_is_what_a_peer_would_write(void **state)
{
    static const uint64_t lengths[] = {0,     1,     125,        126,      127,
                                       65535, 65536, UINT32_MAX, INT64_MAX};
    static const unsigned kinds[] = {FL_WS_TEXT, FL_WS_BINARY, FL_WS_CLOSE,
                                     FL_WS_PING, FL_WS_PONG};
    static const unsigned char key[4] = {0x37, 0xfa, 0x21, 0x3d};
    static wire w;

    (void)state;
    for (size_t i = 0; i < COUNT(lengths); i++)
        for (size_t k = 0; k < COUNT(kinds); k++)
            for (int how = 0; how < 4; how++) {
                bool masked = how & 1, packed = how & 2;
                uint64_t len = lengths[i];
                char head[FL_WS_HEAD_MAX];
                w.len = 0;
                wire_head(&w, FIN | (packed ? RSV1 : 0u) | kinds[k], len,
                          len < 126     ? 0
                          : len < 65536 ? 2
                                        : 8,
                          masked);
                size_t size = fl_ws_head(head, (fl_ws_kind)kinds[k], packed,
                                         len, masked ? key : NULL);
                assert_true(
                    fl_span_equal((fl_span){head, size}, wire_view(&w)));
            }
}

/* Every length around the vectors, every phase, in place and not, at every
 * alignment; in blocks of exactly that size, for a sanitizer to see. */
static void mask_one(size_t len, size_t phase, size_t shift)
{
    static const unsigned char key[4] = {0x01, 0x80, 0xfe, 0x5a};
    char *src = malloc(shift + len + 1), *dst = malloc(shift + len + 1);

    assert_non_null(src);
    assert_non_null(dst);
    for (size_t i = 0; i <= shift + len; i++)
        src[i] = (char)(i * 37 + len);
    memset(dst, 0x55, shift + len + 1);
    fl_ws_mask(dst + shift, src + shift, len, key, phase);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)dst[shift + i] !=
            ((unsigned char)src[shift + i] ^ key[(phase + i) % 4]))
            fail_msg("length %zu, phase %zu: byte %zu", len, phase, i);
    for (size_t i = 0; i < shift; i++)
        assert_int_equal(dst[i], 0x55);
    assert_int_equal(dst[shift + len], 0x55);
    fl_ws_mask(src + shift, src + shift, len, key, phase);
    assert_memory_equal(src + shift, dst + shift, len);
    free(src);
    free(dst);
}

static void test_ws_mask_is_the_key_over_and_over(void **state)
{
    (void)state;
    for (size_t len = 0; len < 300; len++)
        for (size_t phase = 0; phase < 9; phase++)
            for (size_t shift = 0; shift < 3; shift++)
                mask_one(len, phase, shift);
    for (size_t len = 4090; len < 4100; len++)
        mask_one(len, len % 4, 0);
}

static void test_ws_mask_goes_on_where_it_stopped(void **state)
{
    static const unsigned char key[4] = {9, 8, 7, 6};
    char text[100], whole[100], pieces[100];

    (void)state;
    memset(text, 'x', sizeof text);
    fl_ws_mask(whole, text, sizeof text, key, 0);
    for (size_t cut = 0; cut <= sizeof text; cut++) {
        fl_ws_mask(pieces, text, cut, key, 0);
        fl_ws_mask(pieces + cut, text + cut, sizeof text - cut, key, cut);
        assert_memory_equal(whole, pieces, sizeof whole);
    }
}

static void test_ws_codes_that_may_be_sent(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 66000; code++) {
        bool want = code == 1000 || code == 1001 || code == 1002 ||
                    code == 1003 || code == 1007 || code == 1008 ||
                    code == 1009 || code == 1010 || code == 1011 ||
                    code == 1012 || code == 1013 || code == 1014 ||
                    (code > 2999 && code < 5000);
        if (fl_ws_code_ok(code) != want)
            fail_msg("%u", code);
    }
}

static void check_body(unsigned code, fl_span reason, fl_span want)
{
    char body[FL_WS_CONTROL_MAX];
    size_t len = fl_ws_close_body(body, code, reason);

    assert_int_equal(len, want.len);
    assert_memory_equal(body, want.ptr, want.len);
}

static void test_ws_close_body_is_code_and_reason(void **state)
{
    (void)state;
    check_body(FL_WS_NO_CODE, FL_SPAN("unsaid"), FL_SPAN(""));
    check_body(1000, (fl_span){0}, FL_SPAN("\x03\xe8"));
    check_body(4999, FL_SPAN("bye"),
               FL_SPAN("\x13\x87"
                       "bye"));
}

static void test_ws_close_body_lets_no_controls_and_no_rubbish_out(void **state)
{
    (void)state;
    check_body(1000, FL_SPAN("a\nb\tc\x7f"),
               FL_SPAN("\x03\xe8"
                       "a?b?c?"));
    check_body(1000, FL_SPAN("\0"), FL_SPAN("\x03\xe8?"));
    check_body(1000, FL_SPAN("\xc2\x85\xc2\xa0"), FL_SPAN("\x03\xe8?\xc2\xa0"));
    check_body(1000, FL_SPAN("\xff\xc3"), FL_SPAN("\x03\xe8??"));
    check_body(1000, FL_SPAN("\xed\xa0\x80z"), FL_SPAN("\x03\xe8???z"));
    check_body(1000, FL_SPAN("\xf0\x9f\x98\x80"),
               FL_SPAN("\x03\xe8\xf0\x9f\x98\x80"));
}

static void test_ws_close_body_is_cut_between_characters(void **state)
{
    char reason[200], want[FL_WS_CONTROL_MAX] = "\x03\xe8";

    (void)state;
    memset(reason, 'x', sizeof reason);
    memset(want + 2, 'x', sizeof want - 2);
    check_body(1000, (fl_span){reason, 123}, (fl_span){want, 125});
    check_body(1000, (fl_span){reason, 124}, (fl_span){want, 125});
    memcpy(reason + 120, "\xe2\x82\xac", 3); /* fits, to the byte */
    memcpy(want + 122, "\xe2\x82\xac", 3);
    check_body(1000, (fl_span){reason, 200}, (fl_span){want, 125});
    memset(reason, 'x', sizeof reason);
    memset(want + 2, 'x', sizeof want - 2);
    memcpy(reason + 121, "\xe2\x82\xac", 3); /* one byte too long */
    check_body(1000, (fl_span){reason, 200}, (fl_span){want, 123});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ws_head_is_what_a_peer_would_write),
        cmocka_unit_test(test_ws_mask_is_the_key_over_and_over),
        cmocka_unit_test(test_ws_mask_goes_on_where_it_stopped),
        cmocka_unit_test(test_ws_codes_that_may_be_sent),
        cmocka_unit_test(test_ws_close_body_is_code_and_reason),
        cmocka_unit_test(
            test_ws_close_body_lets_no_controls_and_no_rubbish_out),
        cmocka_unit_test(test_ws_close_body_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
