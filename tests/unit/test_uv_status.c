/*
 * test_uv_status.c - every code of libuv's has a word, and every word a text.
 */
#include "io/uv_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <uv.h>

static void test_uv_status_has_our_words(void **state)
{
    (void)state;
    assert_int_equal(fl_status_from_uv(0), FL_OK);
    assert_int_equal(fl_status_from_uv(42), FL_OK);
    assert_int_equal(fl_status_from_uv(UV_EOF), FL_END);
    assert_int_equal(fl_status_from_uv(UV_ECONNREFUSED), FL_E_REFUSED);
    assert_int_equal(fl_status_from_uv(UV_EAI_NONAME), FL_E_UNREACHABLE);
    assert_int_equal(fl_status_from_uv(UV_EMFILE), FL_E_LIMIT);
    assert_int_equal(fl_status_from_uv(UV_EXDEV), FL_E_IO);
}

static void test_uv_status_has_a_text_for_every_code(void **state)
{
    (void)state;
#define HAS_TEXT(name, text) assert_string_equal(fl_uv_text(UV_##name), text);
    UV_ERRNO_MAP(HAS_TEXT)
#undef HAS_TEXT
    assert_string_equal(fl_uv_text(-99999), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uv_status_has_our_words),
        cmocka_unit_test(test_uv_status_has_a_text_for_every_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
