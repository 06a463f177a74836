/*
 * test_last_words.c - the last lines of a child's stderr: bounded and
 * masked.
 */
#include "transport/last_words.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_said(const fl_last_words *words, const char *want)
{
    assert_true(fl_span_equal(fl_last_words_view(words), fl_span_of(want)));
}

static void assert_latest(const fl_last_words *words, const char *want)
{
    assert_true(fl_span_equal(fl_last_words_latest(words), fl_span_of(want)));
}

static void test_last_words_of_nobody_are_nothing(void **state)
{
    fl_last_words words;

    (void)state;
    fl_last_words_init(&words);
    assert_said(&words, "");
    assert_int_equal(fl_last_words_latest(&words).len, 0);
    fl_last_words_deinit(&words);
}

static void test_last_words_are_kept_in_order(void **state)
{
    fl_last_words words;

    (void)state;
    fl_last_words_init(&words);
    fl_last_words_add(&words, FL_SPAN("one"));
    fl_last_words_add(&words, FL_SPAN(""));
    fl_last_words_add(&words, FL_SPAN("two"));
    assert_said(&words, "one\n\ntwo\n");
    assert_latest(&words, "two");
    fl_last_words_deinit(&words);
}

static void test_last_words_keep_twenty_lines_and_not_one_more(void **state)
{
    fl_last_words words;
    char line[32];

    (void)state;
    fl_last_words_init(&words);
    for (int i = 0; i < FL_LAST_WORDS_LINES; i++) {
        snprintf(line, sizeof line, "%d", i);
        fl_last_words_add(&words, fl_span_of(line));
    }
    assert_int_equal(words.lines, FL_LAST_WORDS_LINES);
    assert_memory_equal(fl_buf_view(&words.text).ptr, "0\n1\n", 4);
    fl_last_words_add(&words, FL_SPAN("more"));
    assert_int_equal(words.lines, FL_LAST_WORDS_LINES);
    assert_memory_equal(fl_buf_view(&words.text).ptr, "1\n2\n", 4);
    assert_latest(&words, "more");
    fl_last_words_deinit(&words);
}

/* 15 lines of 273 bytes with their ends are 4095; one byte is left, which is
 * an empty line. */
static void test_last_words_keep_as_many_bytes_and_not_one_more(void **state)
{
    fl_last_words words;
    char line[272];

    (void)state;
    memset(line, 'x', sizeof line);
    fl_last_words_init(&words);
    for (int i = 0; i < 15; i++)
        fl_last_words_add(&words, (fl_span){line, sizeof line});
    fl_last_words_add(&words, (fl_span){0});
    assert_int_equal(fl_buf_len(&words.text), FL_LAST_WORDS_BYTES);
    assert_int_equal(words.lines, 16);
    fl_last_words_add(&words, (fl_span){0});
    assert_int_equal(words.lines, 16);
    assert_int_equal(fl_buf_len(&words.text), FL_LAST_WORDS_BYTES - 272);
    fl_last_words_deinit(&words);
}

static void test_last_words_cut_a_line_that_is_too_long(void **state)
{
    fl_last_words words;
    char line[9000];

    (void)state;
    memset(line, 'y', sizeof line);
    fl_last_words_init(&words);
    for (int i = 0; i < 30; i++)
        fl_last_words_add(&words, (fl_span){line, sizeof line});
    assert_in_range(fl_buf_len(&words.text), 1000, FL_LAST_WORDS_BYTES);
    fl_span latest = fl_last_words_latest(&words);
    assert_memory_equal(latest.ptr + latest.len - 7, " bytes)", 7);
    fl_last_words_deinit(&words);
}

static void test_last_words_tell_no_secrets(void **state)
{
    fl_last_words words;

    (void)state;
    fl_last_words_init(&words);
    fl_last_words_add(&words, FL_SPAN("Authorization: Bearer abcdef123456"));
    fl_last_words_add(&words, FL_SPAN("password=hunter2hunter2"));
    assert_said(&words, "Authorization: [redacted]\npassword=[redacted]\n");
    fl_last_words_deinit(&words);
}

static void test_last_words_keep_a_line_one_line(void **state)
{
    fl_last_words words;

    (void)state;
    fl_last_words_init(&words);
    fl_last_words_add(&words, FL_SPAN("a\nb"));
    assert_said(&words, "a b\n");
    assert_latest(&words, "a b");
    fl_last_words_deinit(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_words_of_nobody_are_nothing),
        cmocka_unit_test(test_last_words_are_kept_in_order),
        cmocka_unit_test(test_last_words_keep_twenty_lines_and_not_one_more),
        cmocka_unit_test(test_last_words_keep_as_many_bytes_and_not_one_more),
        cmocka_unit_test(test_last_words_cut_a_line_that_is_too_long),
        cmocka_unit_test(test_last_words_tell_no_secrets),
        cmocka_unit_test(test_last_words_keep_a_line_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
