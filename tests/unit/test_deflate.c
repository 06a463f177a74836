/*
 * test_deflate.c - packed and unpacked, however it is cut, and no further than
 * the bound.
 */
#include "wire/deflate.h"

#include "base/span.h"
#include "support/chop.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MIB = 1024 * 1024, ROOMY = 64 * MIB };

static const fl_coding codings[] = {FL_CODING_GZIP, FL_CODING_DEFLATE,
                                    FL_CODING_RAW};

static void pack(fl_coding coding, int bits, fl_span text, fl_buf *out)
{
    fl_deflate *packer = fl_deflate_new(coding, bits);

    assert_non_null(packer);
    assert_int_equal(fl_deflate_feed(packer, &text, 1, FL_DEFLATE_END, out),
                     FL_OK);
    fl_deflate_free(packer);
}

/* As much nothing in as few bytes as zlib can do, which is not our way of
 * packing: 1030 to 1. */
static fl_span pack_zeroes(size_t size)
{
    static const unsigned char zeroes[32 * MIB];
    static unsigned char packed[64 * 1024];
    uLongf len = sizeof packed;

    assert_in_range(size, 1, sizeof zeroes);
    assert_int_equal(compress2(packed, &len, zeroes, size, 9), Z_OK);
    return (fl_span){(const char *)packed, len};
}

/* All of `packed` at once, with a bound. */
static fl_status unpack(fl_coding coding, fl_span packed, size_t max,
                        fl_buf *out)
{
    fl_inflate *unpacker = fl_inflate_new(coding, max);

    assert_non_null(unpacker);
    fl_status rc = fl_inflate_feed(unpacker, packed, out);
    fl_inflate_free(unpacker);
    return rc;
}

typedef struct source {
    fl_inflate *unpacker;
    fl_coding coding;
    size_t max;
    fl_buf out;
} source;

static void start(void *user)
{
    source *s = user;

    s->unpacker = fl_inflate_new(s->coding, s->max);
    fl_buf_init(&s->out, ROOMY);
}

static void feed(void *user, fl_span piece, chop_notes *notes)
{
    source *s = user;
    fl_status rc = s->unpacker == NULL
                       ? FL_E_NOMEM
                       : fl_inflate_feed(s->unpacker, piece, &s->out);

    if (rc == FL_END)
        chop_note(notes, "end ");
    else if (rc != FL_OK)
        chop_note(notes, "failed ");
}

static void end(void *user, chop_notes *notes)
{
    source *s = user;

    chop_note_bytes(notes, fl_buf_view(&s->out));
    fl_buf_reset(&s->out);
    fl_inflate_free(s->unpacker);
}

static const chop_reader reader = {start, feed, end};

static void test_deflate_unpacks_however_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codings); i++) {
        source s = {.coding = codings[i], .max = 100};
        fl_buf packed;
        fl_buf_init(&packed, ROOMY);
        pack(codings[i], 0, FL_SPAN("hello hello hello hello"), &packed);
        chop(&reader, &s, fl_buf_view(&packed), "end hello hello hello hello");
        fl_buf_reset(&packed);
    }
}

/* Text with a pattern that small windows see and one that they do not. */
static void fill(char *text, size_t size)
{
    unsigned seed = 1;

    for (size_t i = 0; i < size; i++) {
        seed = seed * 1103515245u + 12345u;
        text[i] = i % 3 == 0 ? (char)('a' + (seed >> 16) % 26) : "ab"[i % 2];
    }
}

static void test_deflate_comes_back_whatever_the_window(void **state)
{
    static char text[300 * 1000];

    (void)state;
    fill(text, sizeof text);
    for (int bits = 8; bits <= 15; bits++)
        for (size_t i = 0; i < COUNT(codings); i++) {
            fl_buf packed, out;
            fl_buf_init(&packed, ROOMY);
            fl_buf_init(&out, ROOMY);
            fl_span given = {text, sizeof text};
            pack(codings[i], bits == 8 ? 0 : bits, given, &packed);
            assert_true(fl_buf_len(&packed) < sizeof text);
            assert_int_equal(
                unpack(codings[i], fl_buf_view(&packed), sizeof text, &out),
                FL_END);
            assert_true(fl_span_equal(fl_buf_view(&out), given));
            fl_buf_reset(&packed);
            fl_buf_reset(&out);
        }
}

static void test_deflate_small_window_takes_little_memory(void **state)
{
    static const struct {
        int bits;
        size_t most;
    } cases[] = {{9, 12 * 1024}, {11, 26 * 1024}, {15, 280 * 1024}};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        ration_reset();
        ptrdiff_t before = ration_live_bytes();
        fl_deflate *packer = fl_deflate_new(FL_CODING_RAW, cases[i].bits);
        assert_non_null(packer);
        assert_in_range(ration_live_bytes() - before, 1, cases[i].most);
        fl_deflate_free(packer);
        assert_int_equal(ration_live_bytes(), before);
    }
}

static void test_deflate_flush_can_be_unpacked_so_far(void **state)
{
    fl_deflate *packer = fl_deflate_new(FL_CODING_GZIP, 11);
    fl_inflate *unpacker = fl_inflate_new(FL_CODING_GZIP, 1000);
    fl_buf packed, out;

    (void)state;
    fl_buf_init(&packed, ROOMY);
    fl_buf_init(&out, ROOMY);
    for (int i = 0; i < 10; i++) {
        const fl_span parts[] = {FL_SPAN("data: "), FL_SPAN(""),
                                 FL_SPAN("{}\n\n")};
        assert_int_equal(
            fl_deflate_feed(packer, parts, 3, FL_DEFLATE_FLUSH, &packed),
            FL_OK);
        assert_int_equal(fl_inflate_feed(unpacker, fl_buf_view(&packed), &out),
                         FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&out), FL_SPAN("data: {}\n\n")));
        fl_buf_truncate(&packed, 0);
        fl_buf_truncate(&out, 0);
    }
    /* flushing nothing is allowed, and is nothing new */
    assert_int_equal(
        fl_deflate_feed(packer, NULL, 0, FL_DEFLATE_FLUSH, &packed), FL_OK);
    assert_int_equal(fl_deflate_feed(packer, NULL, 0, FL_DEFLATE_END, &packed),
                     FL_OK);
    assert_int_equal(fl_inflate_feed(unpacker, fl_buf_view(&packed), &out),
                     FL_END);
    assert_int_equal(fl_buf_len(&out), 0);
    fl_deflate_free(packer);
    fl_inflate_free(unpacker);
    fl_buf_reset(&packed);
    fl_buf_reset(&out);
}

static void test_deflate_after_its_end_packs_no_more(void **state)
{
    fl_deflate *packer = fl_deflate_new(FL_CODING_GZIP, 0);
    fl_buf out;

    (void)state;
    fl_buf_init(&out, ROOMY);
    assert_int_equal(fl_deflate_feed(packer, NULL, 0, FL_DEFLATE_END, &out),
                     FL_OK);
    size_t len = fl_buf_len(&out);
    assert_true(len > 0);
    assert_int_equal(fl_deflate_feed(packer, NULL, 0, FL_DEFLATE_END, &out),
                     FL_E_STATE);
    assert_int_equal(fl_buf_len(&out), len);
    fl_deflate_free(packer);
    fl_buf_reset(&out);
}

/* A stream with a piece missing is of no use, so it does not go on. */
static void test_deflate_that_did_not_fit_is_over(void **state)
{
    fl_deflate *packer = fl_deflate_new(FL_CODING_GZIP, 0);
    const fl_span text = FL_SPAN("hello");
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 12);
    assert_int_equal(fl_deflate_feed(packer, &text, 1, FL_DEFLATE_FLUSH, &out),
                     FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&out), 0);
    assert_int_equal(fl_deflate_feed(packer, NULL, 0, FL_DEFLATE_MORE, &out),
                     FL_E_TOO_BIG);
    fl_deflate_free(packer);
    fl_buf_reset(&out);
}

static void test_inflate_at_the_bound_and_one_past(void **state)
{
    static char text[100 * 1000];

    (void)state;
    fill(text, sizeof text);
    for (size_t i = 0; i < COUNT(codings); i++) {
        fl_buf packed, out;
        fl_buf_init(&packed, ROOMY);
        fl_buf_init(&out, ROOMY);
        pack(codings[i], 0, (fl_span){text, sizeof text}, &packed);
        fl_span view = fl_buf_view(&packed);
        assert_int_equal(unpack(codings[i], view, sizeof text, &out), FL_END);
        fl_buf_truncate(&out, 0);
        assert_int_equal(unpack(codings[i], view, sizeof text - 1, &out),
                         FL_E_TOO_BIG);
        assert_true(fl_buf_len(&out) < sizeof text);
        fl_buf_reset(&packed);
        fl_buf_reset(&out);
    }
}

static void test_inflate_of_a_bomb_costs_the_bound_at_most(void **state)
{
    fl_span bomb = pack_zeroes(10 * MIB);
    fl_buf out;

    (void)state;
    fl_buf_init(&out, ROOMY);
    ration_reset();
    assert_int_equal(unpack(FL_CODING_DEFLATE, bomb, 100000, &out),
                     FL_E_TOO_BIG);
    assert_true(fl_buf_len(&out) <= 100000);
    assert_in_range(ration_peak_bytes(), 1, 400000);
    fl_buf_reset(&out);
}

/* Feeds in small pieces, throws away what comes out, says how much. */
static fl_status drain(fl_span packed, size_t *total)
{
    fl_inflate *unpacker = fl_inflate_new(FL_CODING_DEFLATE, SIZE_MAX);
    fl_status rc = FL_OK;
    fl_buf out;

    assert_non_null(unpacker);
    fl_buf_init(&out, ROOMY);
    *total = 0;
    while (rc == FL_OK && packed.len > 0) {
        size_t n = packed.len < 100 ? packed.len : 100;
        rc = fl_inflate_feed(unpacker, (fl_span){packed.ptr, n}, &out);
        *total += fl_buf_len(&out);
        fl_buf_truncate(&out, 0);
        packed = fl_span_from(packed, n);
    }
    fl_inflate_free(unpacker);
    fl_buf_reset(&out);
    return rc;
}

/* What goes on at more than 1024 to 1 holds nothing. The first 64 KiB are
 * free, so that the little bombs that small messages are stay messages. */
static void test_inflate_refuses_what_is_too_dense(void **state)
{
    size_t total;

    (void)state;
    assert_int_equal(drain(pack_zeroes(32 * MIB), &total), FL_E_TOO_BIG);
    assert_in_range(total, 64 * 1024, 32 * MIB - 1);
    assert_int_equal(drain(pack_zeroes(64 * 1024), &total), FL_END);
    assert_int_equal(total, 64 * 1024);
    assert_int_equal(drain(pack_zeroes(MIB), &total), FL_END);
    assert_int_equal(total, MIB);
}

/* Nothing that could be unpacked is kept back, however dense it is: what comes
 * out depends on what went in and not on how it was cut. */
static void test_inflate_keeps_nothing_back(void **state)
{
    fl_span packed = pack_zeroes(MIB);

    (void)state;
    for (size_t cut = 1; cut < packed.len; cut += 29) {
        source whole = {.coding = FL_CODING_DEFLATE, .max = MIB};
        source bytes = whole;
        start(&whole);
        start(&bytes);
        assert_int_equal(fl_inflate_feed(whole.unpacker,
                                         (fl_span){packed.ptr, cut},
                                         &whole.out),
                         FL_OK);
        for (size_t i = 0; i < cut; i++)
            assert_int_equal(fl_inflate_feed(bytes.unpacker,
                                             (fl_span){packed.ptr + i, 1},
                                             &bytes.out),
                             FL_OK);
        assert_int_equal(fl_buf_len(&whole.out), fl_buf_len(&bytes.out));
        fl_inflate_free(whole.unpacker);
        fl_inflate_free(bytes.unpacker);
        fl_buf_reset(&whole.out);
        fl_buf_reset(&bytes.out);
    }
}

static void test_inflate_takes_one_stream_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codings); i++) {
        source s = {.coding = codings[i], .max = 100};
        fl_buf packed;
        fl_buf_init(&packed, ROOMY);
        pack(codings[i], 0, FL_SPAN("one"), &packed);
        size_t first = fl_buf_len(&packed);
        pack(codings[i], 0, FL_SPAN("two"), &packed);
        fl_span both = fl_buf_view(&packed);
        assert_string_equal(chop_run(&reader, &s, both, 0, both.len),
                            "failed one");
        assert_string_equal(chop_run(&reader, &s, both, first, both.len),
                            "end failed one");
        assert_string_equal(chop_run(&reader, &s, both, first + 1, both.len),
                            "failed failed one");
        fl_buf_reset(&packed);
    }
}

/* Cut short it is not at its end, and with a byte changed it is nothing. */
static void test_inflate_knows_damage(void **state)
{
    fl_buf packed;

    (void)state;
    fl_buf_init(&packed, ROOMY);
    pack(FL_CODING_GZIP, 0, FL_SPAN("some text to damage, some text"), &packed);
    fl_span view = fl_buf_view(&packed);
    for (size_t len = 0; len < view.len; len++) {
        fl_buf out;
        fl_buf_init(&out, ROOMY);
        assert_int_equal(
            unpack(FL_CODING_GZIP, (fl_span){view.ptr, len}, 1000, &out),
            FL_OK);
        fl_buf_reset(&out);
    }
    for (size_t at = 0; at < view.len; at++) {
        char copy[200];
        fl_buf out;
        assert_in_range(view.len, 1, sizeof copy);
        memcpy(copy, view.ptr, view.len);
        copy[at] = (char)(copy[at] ^ 0x55);
        fl_buf_init(&out, ROOMY);
        fl_status rc =
            unpack(FL_CODING_GZIP, (fl_span){copy, view.len}, 1000, &out);
        /* the time, the level and the system it came from say nothing */
        if (at >= 4 && at < 10)
            assert_int_equal(rc, FL_END);
        else
            assert_true(rc == FL_E_INVALID || rc == FL_OK);
        fl_buf_reset(&out);
    }
    fl_buf_reset(&packed);
}

static void test_inflate_failure_is_final(void **state)
{
    fl_inflate *unpacker = fl_inflate_new(FL_CODING_GZIP, 100);
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 100);
    assert_int_equal(fl_inflate_feed(unpacker, FL_SPAN("plain text"), &out),
                     FL_E_INVALID);
    assert_int_equal(fl_inflate_feed(unpacker, (fl_span){0}, &out),
                     FL_E_INVALID);
    assert_int_equal(fl_inflate_feed(unpacker, FL_SPAN("\x1f\x8b"), &out),
                     FL_E_INVALID);
    fl_inflate_free(unpacker);
    fl_inflate_free(NULL);
    fl_deflate_free(NULL);
}

/* A preset dictionary (RFC 1950 2.2, FDICT) is nothing we agreed on. */
static void test_inflate_has_no_dictionary(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 100);
    assert_int_equal(unpack(FL_CODING_DEFLATE,
                            FL_SPAN("\x78\xbb\x01\x02\x03\x04\x05\x06"), 100,
                            &out),
                     FL_E_INVALID);
    fl_buf_reset(&out);
}

static void test_inflate_says_when_the_buffer_is_full(void **state)
{
    fl_buf packed, out;

    (void)state;
    fl_buf_init(&packed, ROOMY);
    pack(FL_CODING_GZIP, 0, FL_SPAN("hello"), &packed);
    for (size_t max = 1; max <= 5; max++) {
        fl_buf_init(&out, max);
        assert_int_equal(
            unpack(FL_CODING_GZIP, fl_buf_view(&packed), 1000, &out),
            max < 5 ? FL_E_TOO_BIG : FL_END);
        fl_buf_reset(&out);
    }
    fl_buf_reset(&packed);
}

static void round_trip(void *user)
{
    static char text[40000];
    const fl_span given = {text, sizeof text};
    fl_buf packed, out;

    (void)user;
    fill(text, sizeof text);
    fl_buf_init(&packed, ROOMY);
    fl_buf_init(&out, ROOMY);
    fl_deflate *packer = fl_deflate_new(FL_CODING_GZIP, 0);
    fl_inflate *unpacker = fl_inflate_new(FL_CODING_GZIP, sizeof text);
    fl_status rc = FL_E_NOMEM;
    if (packer != NULL && unpacker != NULL)
        rc = fl_deflate_feed(packer, &given, 1, FL_DEFLATE_END, &packed);
    if (rc == FL_OK) {
        rc = fl_inflate_feed(unpacker, fl_buf_view(&packed), &out);
        assert_true(rc == FL_END || rc == FL_E_NOMEM);
    } else {
        assert_int_equal(rc, FL_E_NOMEM);
        assert_int_equal(fl_buf_len(&packed), 0);
    }
    fl_deflate_free(packer);
    fl_inflate_free(unpacker);
    fl_buf_reset(&packed);
    fl_buf_reset(&out);
}

/* zlib's own memory included: it comes through the same door. */
static void test_deflate_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_true(ration_each(round_trip, NULL) > 8);
}

static void test_coding_is_found_by_name(void **state)
{
    static const struct {
        const char *name;
        fl_coding want;
    } cases[] = {
        {"", FL_CODING_IDENTITY},         {"identity", FL_CODING_IDENTITY},
        {"gzip", FL_CODING_GZIP},         {"GZip", FL_CODING_GZIP},
        {"x-gzip", FL_CODING_GZIP},       {"deflate", FL_CODING_DEFLATE},
        {"br", FL_CODING_UNKNOWN},        {"gzip, gzip", FL_CODING_UNKNOWN},
        {"gzip,", FL_CODING_UNKNOWN},     {"gzi", FL_CODING_UNKNOWN},
        {"gzipp", FL_CODING_UNKNOWN},     {"raw", FL_CODING_UNKNOWN},
        {"identity;", FL_CODING_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(fl_coding_find(fl_span_of(cases[i].name)),
                         cases[i].want);
}

static void test_coding_is_chosen_by_weight(void **state)
{
    static const struct {
        const char *accept;
        bool gzip;
    } cases[] = {
        {"", false},
        {"gzip", true},
        {"GZIP", true},
        {"x-gzip", true},
        {"*", true},
        {"br, deflate", false},
        {"gzip, deflate, br, zstd", true},
        {"br;q=1.0,gzip;q=0.8 , *;q=0.1", true},
        {"\tbr , \tgzip ; q=0.5", true},
        {"gzip;q=0", false},
        {"gzip;q=0.000", false},
        {"gzip;q=0.001", true},
        {"gzip;q=1.000", true},
        {"gzip;Q=1", true},
        {"*;q=0", false},
        {"*;q=0.5", true},
        {"gzip;q=0, *", false},
        {"*;q=0, gzip", true},
        {"identity", false},
        {"identity, gzip", true},
        {"identity;q=1, gzip;q=0.5", false},
        {"identity;q=0.5, gzip;q=0.5", true},
        {"identity;q=0", false},
        {"identity;q=0, gzip", true},
        {"gzip;q=1.001", false},
        {"gzip;q=2", false},
        {"gzip;q=", false},
        {"gzip;q=x", false},
        {"gzip;q=0.5x", false},
        {"gzip;q=0.5000", false},
        {"gzip;q=1.", true},
        {"gzip;level=9", false},
        {",,gzip,,", true},
        {"gzip;", true},
        {"gzi", false},
        {";q=1", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (fl_coding_choose(fl_span_of(cases[i].accept)) !=
            (cases[i].gzip ? FL_CODING_GZIP : FL_CODING_IDENTITY))
            fail_msg("wrong for \"%s\"", cases[i].accept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deflate_unpacks_however_it_is_cut),
        cmocka_unit_test(test_deflate_comes_back_whatever_the_window),
        cmocka_unit_test(test_deflate_small_window_takes_little_memory),
        cmocka_unit_test(test_deflate_flush_can_be_unpacked_so_far),
        cmocka_unit_test(test_deflate_after_its_end_packs_no_more),
        cmocka_unit_test(test_deflate_that_did_not_fit_is_over),
        cmocka_unit_test(test_inflate_at_the_bound_and_one_past),
        cmocka_unit_test(test_inflate_of_a_bomb_costs_the_bound_at_most),
        cmocka_unit_test(test_inflate_refuses_what_is_too_dense),
        cmocka_unit_test(test_inflate_keeps_nothing_back),
        cmocka_unit_test(test_inflate_takes_one_stream_only),
        cmocka_unit_test(test_inflate_knows_damage),
        cmocka_unit_test(test_inflate_failure_is_final),
        cmocka_unit_test(test_inflate_has_no_dictionary),
        cmocka_unit_test(test_inflate_says_when_the_buffer_is_full),
        cmocka_unit_test(test_deflate_without_memory_leaks_nothing),
        cmocka_unit_test(test_coding_is_found_by_name),
        cmocka_unit_test(test_coding_is_chosen_by_weight),
    };

    return cmocka_run_group_tests_name("deflate", tests, NULL, NULL);
}
