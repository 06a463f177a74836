/*
 * test_cmd_progress.c - one line, whatever the server says.
 */
#include "base/span.h"
#include "cmd/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

static void expect(const char *want, double done, double total,
                   const char *message, size_t columns)
{
    fl_buf out;

    fl_buf_init(&out, 4096);
    assert_int_equal(
        fl_progress_draw(&out, done, total, fl_span_of(message), columns),
        FL_OK);
    fl_span got = fl_buf_view(&out);
    assert_int_equal(got.len, strlen(want));
    if (got.len > 0)
        assert_memory_equal(got.ptr, want, got.len);
    fl_buf_reset(&out);
}

static void test_progress_fills_as_it_goes(void **state)
{
    (void)state;
    expect("[--------------------] 0/4", 0, 4, "", 80);
    expect("[##########----------] 2/4 half", 2, 4, "half", 80);
    expect("[####################] 4/4", 4, 4, "", 80);
    expect("[###################-] 0.99/1", 0.99, 1, "", 80);
}

static void test_progress_without_a_total_counts(void **state)
{
    (void)state;
    expect("7 files", 7, 0, "files", 80);
    expect("7", 7, -1, "", 80);
    expect("7", 7, INFINITY, "", 80);
}

static void test_progress_beyond_reason_is_still_a_bar(void **state)
{
    (void)state;
    expect("[####################] 9/4", 9, 4, "", 80);
    expect("[--------------------] -9/4", -9, 4, "", 80);
    expect("[--------------------] nan/4", NAN, 4, "", 80);
    expect("[####################] inf/4", INFINITY, 4, "", 80);
}

static void test_progress_is_one_line_no_wider_than_the_screen(void **state)
{
    (void)state;
    expect("[##########----------] 1/2 a b c", 1, 2, "a\nb\tc", 80);
    expect("[##########----------] 1/2 \\x1b[2J", 1, 2, "\x1b[2J", 80);
    expect("[##########----", 1, 2, "long", 15);
    expect("5 \xc3\xa9\xc3\xa9", 5, 0, "\xc3\xa9\xc3\xa9\xc3\xa9", 4);
    expect("", 5, 0, "x", 0);
}

static void test_progress_cuts_a_huge_message_between_letters(void **state)
{
    enum { LETTERS = 3000 };
    static char message[2 * LETTERS + 1];
    fl_buf out;

    (void)state;
    for (size_t i = 0; i < LETTERS; i++)
        memcpy(message + 2 * i, "\xc3\xa9", 2);
    fl_buf_init(&out, 4096);
    assert_int_equal(
        fl_progress_draw(&out, 5, 0, (fl_span){message + 1, 5999}, 10000),
        FL_OK);
    assert_int_equal(fl_buf_len(&out), 2 + 511);
    fl_buf_reset(&out);
}

static void expect_line(const char *want, double done, double total,
                        const char *message)
{
    fl_buf out;

    fl_buf_init(&out, 4096);
    assert_int_equal(fl_progress_line(&out, done, total, fl_span_of(message)),
                     FL_OK);
    fl_span got = fl_buf_view(&out);
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
    fl_buf_reset(&out);
}

static void test_progress_as_a_line_has_no_bar(void **state)
{
    (void)state;
    expect_line("progress: 2/4 half", 2, 4, "half");
    expect_line("progress: 2/4", 2, 4, "");
    expect_line("progress: 7 files", 7, 0, "files");
    expect_line("progress: 1/2 a b \\x1b[2J", 1, 2, "a\nb\t\x1b[2J");
}

static size_t shown(bool lines)
{
    char *text = NULL;
    size_t len = 0;
    fl_progress progress = {.lines = lines};

    progress.term.file = open_memstream(&text, &len);
    assert_non_null(progress.term.file);
    fl_progress_show(&progress, 1, 2, FL_SPAN("half"));
    fl_progress_clear(&progress);
    fclose(progress.term.file);
    if (lines)
        assert_string_equal(text, "progress: 1/2 half\n");
    free(text);
    return len;
}

static void test_progress_elsewhere_is_shown_if_wanted(void **state)
{
    (void)state;
    assert_int_equal(shown(false), 0);
    assert_int_equal(shown(true), 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_fills_as_it_goes),
        cmocka_unit_test(test_progress_without_a_total_counts),
        cmocka_unit_test(test_progress_beyond_reason_is_still_a_bar),
        cmocka_unit_test(test_progress_is_one_line_no_wider_than_the_screen),
        cmocka_unit_test(test_progress_cuts_a_huge_message_between_letters),
        cmocka_unit_test(test_progress_as_a_line_has_no_bar),
        cmocka_unit_test(test_progress_elsewhere_is_shown_if_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
