/*
 * test_cmd_term.c - what a terminal may be shown of a stranger's text.
 */
#include "base/span.h"
#include "cmd/term.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *want, fl_span text)
{
    fl_buf out;

    fl_buf_init(&out, 4096);
    assert_int_equal(fl_term_spell(&out, text), FL_OK);
    fl_span got = fl_buf_view(&out);
    assert_int_equal(got.len, strlen(want));
    if (got.len > 0)
        assert_memory_equal(got.ptr, want, got.len);
    fl_buf_reset(&out);
}

static void test_term_leaves_text_alone(void **state)
{
    (void)state;
    expect("", FL_SPAN(""));
    expect("plain\n\ttext ~", FL_SPAN("plain\n\ttext ~"));
    expect("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
           FL_SPAN("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
    expect("\xc2\xa0", FL_SPAN("\xc2\xa0")); /* the first after the C1 block */
}

static void test_term_spells_out_what_a_terminal_would_obey(void **state)
{
    (void)state;
    expect("a\\x1b[31mb", FL_SPAN("a\x1b[31mb"));
    expect("\\x00\\x1f\\x7f\\x0d", FL_SPAN("\0\x1f\x7f\r"));
    expect("\\u0080\\u009b\\u009f", FL_SPAN("\xc2\x80\xc2\x9b\xc2\x9f"));
}

static void test_term_spells_out_what_turns_the_writing(void **state)
{
    (void)state;
    expect("\\u202e\\u202a", FL_SPAN("\xe2\x80\xae\xe2\x80\xaa"));
    expect("\\u2066\\u2069", FL_SPAN("\xe2\x81\xa6\xe2\x81\xa9"));
    expect("\\u200e\\u200f", FL_SPAN("\xe2\x80\x8e\xe2\x80\x8f"));
    /* their neighbours are ordinary */
    expect("\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
           FL_SPAN("\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"));
}

static void test_term_stays_inside_a_text_that_is_cut(void **state)
{
    static const char whole[] = "\xe2\x80\xae";

    (void)state;
    for (size_t len = 1; len < 3; len++) {
        char *exact = malloc(len);
        fl_buf out;
        assert_non_null(exact);
        memcpy(exact, whole, len);
        fl_buf_init(&out, 64);
        assert_int_equal(fl_term_spell(&out, (fl_span){exact, len}), FL_OK);
        assert_int_equal(fl_buf_len(&out), len);
        fl_buf_reset(&out);
        free(exact);
    }
}

static void test_term_writes_raw_where_there_is_no_terminal(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    fl_term plain = {.file = file};
    fl_term tty = {.file = file, .is_tty = true, .colour = true};

    (void)state;
    fl_term_put(&plain, FL_SPAN("\x1b!"));
    fl_term_put(&tty, FL_SPAN("\x1b!"));
    fl_term_say(&plain, FL_TERM_BOLD, "%d", 1);
    fl_term_say(&tty, FL_TERM_BOLD, "%d", 2);
    fl_term_say(&tty, FL_TERM_PLAIN, "%d", 3);
    fclose(file);
    assert_string_equal(text, "\x1b!\\x1b!1\x1b[1m2\x1b[0m3");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_term_leaves_text_alone),
        cmocka_unit_test(test_term_spells_out_what_a_terminal_would_obey),
        cmocka_unit_test(test_term_spells_out_what_turns_the_writing),
        cmocka_unit_test(test_term_stays_inside_a_text_that_is_cut),
        cmocka_unit_test(test_term_writes_raw_where_there_is_no_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
