/*
 * test_status.c - every status has a name and a text, and an error is safe to
 * print.
 */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_status_name_and_text_come_from_the_table(void **state)
{
    (void)state;
#define CHECK_ROW(name, code, text)                                            \
    assert_int_equal(FL_##name, code);                                         \
    assert_string_equal(fl_status_name(FL_##name), #name);                     \
    assert_string_equal(fl_status_text(FL_##name), text);
    FL_STATUS_MAP(CHECK_ROW)
#undef CHECK_ROW
}

static void test_status_of_a_foreign_number_is_still_named(void **state)
{
    (void)state;
    assert_string_equal(fl_status_name((fl_status)-999), "UNKNOWN");
    assert_string_equal(fl_status_text((fl_status)-999), "unknown status");
}

static void test_error_set_fills_and_returns_the_status(void **state)
{
    fl_error error;

    (void)state;
    assert_int_equal(
        fl_error_set(&error, FL_E_INVALID, "port %d: 0 to %d", 70000, 65535),
        FL_E_INVALID);
    assert_int_equal(error.status, FL_E_INVALID);
    assert_string_equal(error.text, "port 70000: 0 to 65535");
}

static void test_error_set_without_an_error_returns_the_status(void **state)
{
    (void)state;
    assert_int_equal(fl_error_set(NULL, FL_E_IO, "%s", "x"), FL_E_IO);
}

static void test_error_text_holds_no_control_characters(void **state)
{
    fl_error error;

    (void)state;
    fl_error_set(&error, FL_E_IO, "%s", "a\x1b[31m\r\n\x7f b\tc");
    assert_string_equal(error.text, "a?[31m??? b?c");
    fl_error_set(&error, FL_E_IO, "%s", "C1 \xc2\x9b, no-break \xc2\xa0.");
    assert_string_equal(error.text, "C1 ??, no-break \xc2\xa0.");
}

static void test_error_text_is_utf8_whatever_it_quotes(void **state)
{
    fl_error error;

    (void)state;
    fl_error_set(&error, FL_E_IO, "%s", "a\x9b\xff caf\xc3\xa9 \xe2\x82");
    assert_string_equal(error.text, "a?? caf\xc3\xa9 ??");
}

static void test_error_text_is_cut_at_its_size(void **state)
{
    fl_error error;
    char long_text[sizeof error.text + 1];

    (void)state;
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof error.text - 1] = '\0';
    fl_error_set(&error, FL_E_IO, "%s", long_text);
    assert_string_equal(error.text, long_text);

    long_text[sizeof error.text - 1] = 'y';
    long_text[sizeof error.text] = '\0';
    fl_error_set(&error, FL_E_IO, "%s", long_text);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_null(strchr(error.text, 'y'));
}

static void test_error_cut_inside_a_character_stays_text(void **state)
{
    fl_error error;
    char long_text[sizeof error.text + 1];

    (void)state;
    memset(long_text, 'x', sizeof error.text - 2);
    memcpy(long_text + sizeof error.text - 2, "\xc3\xa9", 3);
    fl_error_set(&error, FL_E_IO, "%s", long_text);
    assert_int_equal(error.text[sizeof error.text - 2], '?');
}

static void test_error_may_quote_itself(void **state)
{
    fl_error error;

    (void)state;
    fl_error_set(&error, FL_E_IO, "no route");
    fl_error_set(&error, FL_E_IO, "upstream a: %s", error.text);
    assert_string_equal(error.text, "upstream a: no route");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_name_and_text_come_from_the_table),
        cmocka_unit_test(test_status_of_a_foreign_number_is_still_named),
        cmocka_unit_test(test_error_set_fills_and_returns_the_status),
        cmocka_unit_test(test_error_set_without_an_error_returns_the_status),
        cmocka_unit_test(test_error_text_holds_no_control_characters),
        cmocka_unit_test(test_error_text_is_utf8_whatever_it_quotes),
        cmocka_unit_test(test_error_text_is_cut_at_its_size),
        cmocka_unit_test(test_error_cut_inside_a_character_stays_text),
        cmocka_unit_test(test_error_may_quote_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
