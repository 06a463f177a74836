/*
 * test_lines.c - the cutter must not care how the bytes were chopped.
 *
 * Every case is run whole, at every split in two, and in steps of every size,
 * and must give the same transcript. A random stream is then compared with a
 * splitter too simple to be wrong. Memory is counted, rationed and refused.
 */
#include "wire/lines.h"

#include "base/span.h"
#include "support/chop.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is under test, and how it is made anew for each run. */
typedef struct cutter {
    fl_lines lines;
    fl_lines_ends ends;
    size_t max;
} cutter;

static void start(void *user)
{
    cutter *c = user;

    fl_lines_init(&c->lines, c->ends, c->max);
}

/* Lines come out as "[line]", an unended rest as "<rest>", refusals as "!big"
 * and "!mem". */
static void note(chop_notes *notes, fl_status rc, fl_span line,
                 const char *form)
{
    if (rc == FL_OK) {
        chop_note(notes, "%c", form[0]);
        chop_note_bytes(notes, line);
        chop_note(notes, "%c", form[1]);
        return;
    }
    assert_true(rc == FL_E_TOO_BIG || rc == FL_E_NOMEM);
    assert_int_equal(line.len, 0);
    chop_note(notes, "%s", rc == FL_E_NOMEM ? "!mem" : "!big");
}

static void feed(void *user, fl_span piece, chop_notes *notes)
{
    cutter *c = user;
    fl_span in = piece, line;
    fl_status rc;

    while ((rc = fl_lines_next(&c->lines, &in, &line)) != FL_AGAIN)
        note(notes, rc, line, "[]");
    assert_int_equal(in.len, 0);
    fl_lines_rest(&c->lines);
}

static void end(void *user, chop_notes *notes)
{
    cutter *c = user;
    fl_span line;
    fl_status rc = fl_lines_finish(&c->lines, &line);

    if (rc != FL_END)
        note(notes, rc, line, "<>");
    assert_int_equal(fl_lines_finish(&c->lines, &line), FL_END);
    fl_lines_deinit(&c->lines);
}

static const chop_reader reader = {start, feed, end};

static void test_lines_chopped_any_way(void **state)
{
    static const struct {
        const char *text, *want;
        fl_lines_ends ends;
        size_t max;
    } cases[] = {
        {"a\nbc\n", "[a][bc]", FL_LINES_LF, 9},
        {"a\r\nbc\r\n", "[a][bc]", FL_LINES_LF, 9},
        {"a\rb\n", "[a\rb]", FL_LINES_LF, 9},
        {"\n\n\r\n", "[][][]", FL_LINES_LF, 9},
        {"a\nbc", "[a]<bc>", FL_LINES_LF, 9},
        {"a\nbc\r", "[a]<bc>", FL_LINES_LF, 9},
        {"abc\nabc\r\n", "[abc][abc]", FL_LINES_LF, 3},
        {"abcd\nab\n", "!big[ab]", FL_LINES_LF, 3},
        {"abcd\r\nab\n", "!big[ab]", FL_LINES_LF, 3},
        {"abcdefghij\nab\n", "!big[ab]", FL_LINES_LF, 3},
        {"abcd", "!big", FL_LINES_LF, 3},
        {"abcdefg", "!big", FL_LINES_LF, 3},
        {"", "", FL_LINES_LF, 9},
        {"a\nbc\n", "[a][bc]", FL_LINES_ANY, 9},
        {"a\rb\nc\r\n\r\nd\r\r", "[a][b][c][][d][]", FL_LINES_ANY, 9},
        {"\n\r\n\r", "[][][]", FL_LINES_ANY, 9},
        {"a\r\n\nb", "[a][]<b>", FL_LINES_ANY, 9},
        {"abc\rabc\r\nabc\n", "[abc][abc][abc]", FL_LINES_ANY, 3},
        {"abcd\rab\r", "!big[ab]", FL_LINES_ANY, 3},
        {"abcdefghij\r\nab\r", "!big[ab]", FL_LINES_ANY, 3},
        {"abcd", "!big", FL_LINES_ANY, 3},
        {"", "", FL_LINES_ANY, 9},
        {"{\"a\":1}\r\n  {\"b\":2}  \n", "[{\"a\":1}][  {\"b\":2}  ]",
         FL_LINES_ANY, 99},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cutter c = {.ends = cases[i].ends, .max = cases[i].max};
        fl_span text = fl_span_of(cases[i].text);
        chop(&reader, &c, text, cases[i].want);
        for (size_t first = 0; first <= text.len; first++)
            for (size_t step = 1; step <= text.len; step++)
                assert_string_equal(chop_run(&reader, &c, text, first, step),
                                    cases[i].want);
    }
}

/* An end at every place in and around the sixteen bytes compared at once. */
static void test_lines_finds_an_end_at_every_offset(void **state)
{
    enum { LONG = 70 };
    char text[LONG], want[LONG + 8];

    (void)state;
    for (size_t at = 0; at < LONG; at++)
        for (size_t kind = 0; kind < 2; kind++) {
            cutter c = {.ends = FL_LINES_ANY, .max = LONG};
            memset(text, 'x', LONG);
            text[at] = "\n\r"[kind];
            int n = snprintf(want, sizeof want, "[%.*s]", (int)at, text);
            if (at + 1 < LONG)
                snprintf(want + n, sizeof want - (size_t)n, "<%.*s>",
                         (int)(LONG - at - 1), text + at + 1);
            chop(&reader, &c, (fl_span){text, LONG}, want);
        }
}

static void test_lines_bytes_near_the_ends_are_no_ends(void **state)
{
    cutter c = {.ends = FL_LINES_ANY, .max = 300};
    char text[256], want[256];
    size_t n = 0;

    (void)state;
    for (int byte = 255; byte > 0; byte--)
        if (byte != '\n' && byte != '\r')
            text[n++] = (char)byte;
    want[0] = '<';
    memcpy(want + 1, text, n);
    memcpy(want + 1 + n, ">", 2);
    chop(&reader, &c, (fl_span){text, n}, want);
}

static void test_lines_whole_line_is_not_copied(void **state)
{
    static const fl_lines_ends modes[] = {FL_LINES_LF, FL_LINES_ANY};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fl_lines lines;
        fl_span in = FL_SPAN("one\ntwo\n"), line;
        const char *at = in.ptr;

        ration_reset();
        fl_lines_init(&lines, modes[i], 9);
        assert_int_equal(fl_lines_next(&lines, &in, &line), FL_OK);
        assert_ptr_equal(line.ptr, at);
        assert_int_equal(fl_lines_next(&lines, &in, &line), FL_OK);
        assert_ptr_equal(line.ptr, at + 4);
        assert_int_equal(fl_lines_next(&lines, &in, &line), FL_AGAIN);
        assert_int_equal(ration_count(), 0);
        fl_lines_deinit(&lines);
    }
}

static void test_lines_cr_ends_its_line_at_once(void **state)
{
    fl_lines lines;
    fl_span in = FL_SPAN("data\r"), line;

    (void)state;
    fl_lines_init(&lines, FL_LINES_ANY, 9);
    assert_int_equal(fl_lines_next(&lines, &in, &line), FL_OK);
    assert_true(fl_span_equal(line, FL_SPAN("data")));
    in = FL_SPAN("\nx\n");
    assert_int_equal(fl_lines_next(&lines, &in, &line), FL_OK);
    assert_true(fl_span_equal(line, FL_SPAN("x")));
    fl_lines_deinit(&lines);
}

static void test_lines_out_of_memory_loses_one_line(void **state)
{
    cutter c = {.ends = FL_LINES_ANY, .max = 9};

    (void)state;
    ration_allow(0);
    assert_string_equal(chop_run(&reader, &c, FL_SPAN("ab\ncd\n"), 1, 9),
                        "!mem[cd]");
    assert_string_equal(chop_run(&reader, &c, FL_SPAN("ab\ncd\n"), 4, 9),
                        "[ab]!mem");
    assert_string_equal(chop_run(&reader, &c, FL_SPAN("ab\ncd\n"), 2, 9),
                        "!mem[cd]");
    ration_reset();
}

static void read_rationed(void *user)
{
    char text[3000];

    memset(text, 'x', sizeof text);
    text[1499] = text[2999] = '\n';
    chop_run(&reader, user, (fl_span){text, sizeof text}, 0, 100);
}

static void test_lines_without_memory_leaks_nothing(void **state)
{
    cutter c = {.ends = FL_LINES_LF, .max = 5000};

    (void)state;
    /* each line: 512, 1024, 2048 */
    assert_int_equal(ration_each(read_rationed, &c), 7);
}

static void test_lines_long_line_grows_by_doubling(void **state)
{
    enum { LONG = 5000 };
    static char text[LONG + 1];
    cutter c = {.ends = FL_LINES_LF, .max = 100000};

    (void)state;
    memset(text, 'x', LONG);
    text[LONG] = '\n';
    ration_reset();
    assert_int_equal(
        strlen(chop_run(&reader, &c, (fl_span){text, LONG + 1}, 0, 1)),
        LONG + 2);
    assert_int_equal(ration_count(), 5); /* 512, 1024, 2048, 4096, 8192 */
    assert_int_equal(ration_largest(), 8192);
}

static void test_lines_memory_never_passes_the_limit(void **state)
{
    /* no power of two, or doubling would stop at the limit by itself */
    enum { READ = 65536, MAX = READ * 150, READS = 1600 };
    static char read[READ];
    static const fl_lines_ends modes[] = {FL_LINES_LF, FL_LINES_ANY};

    (void)state;
    memset(read, 'x', READ);
    for (size_t mode = 0; mode < 2; mode++) {
        fl_lines lines;
        fl_span line, in;
        int refused = 0;

        ration_reset();
        ptrdiff_t before = ration_live_bytes();
        fl_lines_init(&lines, modes[mode], MAX);
        for (int i = 0; i < READS; i++) { /* 100 MB without an end */
            in = (fl_span){read, READ};
            fl_status rc = fl_lines_next(&lines, &in, &line);
            refused += rc == FL_E_TOO_BIG;
            if (rc == FL_E_TOO_BIG) {
                assert_int_equal(i, MAX / READ);
                assert_int_equal(ration_live_bytes(), before);
            }
        }
        assert_int_equal(refused, 1);
        assert_in_range(ration_largest(), MAX, MAX + 1);
        assert_int_equal(ration_live_bytes(), before);
        in = FL_SPAN("\nnext\n");
        assert_int_equal(fl_lines_next(&lines, &in, &line), FL_OK);
        assert_true(fl_span_equal(line, FL_SPAN("next")));
        fl_lines_deinit(&lines);
    }
}

static void test_lines_at_the_limit_and_one_past(void **state)
{
    enum { MAX = 5000 };
    static char text[MAX + 2];

    (void)state;
    for (int ends = FL_LINES_LF; ends <= FL_LINES_ANY; ends++) {
        cutter c = {.ends = (fl_lines_ends)ends, .max = MAX};
        memset(text, 'x', sizeof text);
        text[MAX] = '\n';
        ration_reset();
        assert_int_equal(
            strlen(chop_run(&reader, &c, (fl_span){text, MAX + 1}, 0, 7)),
            MAX + 2);
        assert_in_range(ration_largest(), MAX, MAX + 1);
        text[MAX] = 'x';
        text[MAX + 1] = '\n';
        assert_string_equal(
            chop_run(&reader, &c, (fl_span){text, MAX + 2}, 0, 7), "!big");
        assert_string_equal(
            chop_run(&reader, &c, (fl_span){text, MAX + 2}, 0, MAX + 2),
            "!big");
    }
}

static void test_lines_at_rest_hold_no_memory(void **state)
{
    ptrdiff_t before = ration_live_blocks();
    fl_lines lines;
    fl_span in = FL_SPAN("one\ntw"), line;

    (void)state;
    fl_lines_init(&lines, FL_LINES_ANY, 99);
    assert_int_equal(fl_lines_next(&lines, &in, &line), FL_OK);
    assert_int_equal(fl_lines_next(&lines, &in, &line), FL_AGAIN);
    fl_lines_rest(&lines); /* the start of a line stays */
    assert_int_equal(ration_live_blocks(), before + 1);
    in = FL_SPAN("o\n");
    assert_int_equal(fl_lines_next(&lines, &in, &line), FL_OK);
    assert_true(fl_span_equal(line, FL_SPAN("two")));
    assert_int_equal(fl_lines_next(&lines, &in, &line), FL_AGAIN);
    fl_lines_rest(&lines);
    assert_int_equal(ration_live_blocks(), before);
    fl_lines_rest(&lines);
    fl_lines_deinit(&lines);
}

static void test_lines_drops_a_long_buffer_at_the_next_call(void **state)
{
    enum { LONG = 6000 };
    static char text[LONG];
    ptrdiff_t before = ration_live_blocks();
    fl_lines lines;
    fl_span in = {text, LONG}, line;

    (void)state;
    memset(text, 'x', LONG);
    fl_lines_init(&lines, FL_LINES_ANY, 99999);
    assert_int_equal(fl_lines_next(&lines, &in, &line), FL_AGAIN);
    in = FL_SPAN("\nsecond\n");
    assert_int_equal(fl_lines_next(&lines, &in, &line), FL_OK);
    assert_int_equal(line.len, LONG);
    assert_memory_equal(line.ptr, text, LONG); /* still there to borrow */
    assert_int_equal(ration_live_blocks(), before + 1);
    assert_int_equal(fl_lines_next(&lines, &in, &line), FL_OK);
    assert_true(fl_span_equal(line, FL_SPAN("second")));
    assert_int_equal(ration_live_blocks(), before);
    fl_lines_deinit(&lines);
}

/* The lines of `text`, by the plainest reading of the rules. */
static void split_simply(char *want, size_t size, fl_span text, const cutter *c)
{
    bool any = c->ends == FL_LINES_ANY;
    size_t from = 0, used = 0;

    *want = '\0';
    for (size_t i = 0; i <= text.len; i++) {
        char byte = i < text.len ? text.ptr[i] : '\n';
        if (byte != '\n' && !(any && byte == '\r'))
            continue;
        if (i == text.len && i == from)
            return;
        size_t len = i - from;
        if (!any && len > 0 && text.ptr[i - 1] == '\r')
            len--;
        bool ended = i < text.len;
        int n = len > c->max ? snprintf(want + used, size - used, "!big")
                             : snprintf(want + used, size - used, "%c%.*s%c",
                                        ended ? '[' : '<', (int)len,
                                        text.ptr + from, ended ? ']' : '>');
        used += (size_t)n;
        if (any && byte == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n')
            i++;
        from = i + 1;
    }
}

static void test_lines_matches_a_simple_splitter(void **state)
{
    enum { N = 400, ROUNDS = 20000 };
    static char text[N], want[8 * N];

    (void)state;
    srand(7);
    for (int round = 0; round < ROUNDS; round++) {
        cutter c = {.ends = rand() % 2 == 0 ? FL_LINES_LF : FL_LINES_ANY,
                    .max = 1 + (size_t)(rand() % 40)};
        size_t n = (size_t)(rand() % N);
        int spread = 3 + rand() % 60; /* how rare the ends are */
        for (size_t i = 0; i < n; i++) {
            int pick = rand() % spread;
            text[i] = "\n\rabcdefgh"[pick < 10 ? pick : 2 + pick % 8];
        }
        split_simply(want, sizeof want, (fl_span){text, n}, &c);
        assert_string_equal(chop_run(&reader, &c, (fl_span){text, n},
                                     (size_t)(rand() % 9),
                                     1 + (size_t)(rand() % 60)),
                            want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_chopped_any_way),
        cmocka_unit_test(test_lines_finds_an_end_at_every_offset),
        cmocka_unit_test(test_lines_bytes_near_the_ends_are_no_ends),
        cmocka_unit_test(test_lines_whole_line_is_not_copied),
        cmocka_unit_test(test_lines_cr_ends_its_line_at_once),
        cmocka_unit_test(test_lines_out_of_memory_loses_one_line),
        cmocka_unit_test(test_lines_without_memory_leaks_nothing),
        cmocka_unit_test(test_lines_long_line_grows_by_doubling),
        cmocka_unit_test(test_lines_memory_never_passes_the_limit),
        cmocka_unit_test(test_lines_at_the_limit_and_one_past),
        cmocka_unit_test(test_lines_at_rest_hold_no_memory),
        cmocka_unit_test(test_lines_drops_a_long_buffer_at_the_next_call),
        cmocka_unit_test(test_lines_matches_a_simple_splitter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
