/*
 * test_schema_uri.c - references resolved as RFC 3986, 5.4, has them.
 */
#include "schema/uri.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void require_resolved(const char *base, const char *reference,
                             const char *want)
{
    fl_buf out;

    fl_buf_init(&out, 256);
    assert_int_equal(
        fl_uri_resolve(fl_span_of(base), fl_span_of(reference), &out), FL_OK);
    if (!fl_span_equal(fl_buf_view(&out), fl_span_of(want)))
        fail_msg("%s at %s is %.*s, not %s", reference, base,
                 (int)fl_buf_len(&out), fl_buf_view(&out).ptr, want);
    fl_buf_reset(&out);
}

static void test_uri_resolves_the_examples_of_rfc_3986(void **state)
{
    static const char *const examples[][2] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y#s"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/./x", "http://a/b/c/g#s/./x"},
        {"g#s/../x", "http://a/b/c/g#s/../x"},
        {"http:g", "http:g"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        require_resolved("http://a/b/c/d;p?q", examples[i][0], examples[i][1]);
}

static void test_uri_resolves_without_a_hierarchy(void **state)
{
    (void)state;
    require_resolved("urn:uuid:1234", "#/$defs/a", "urn:uuid:1234#/$defs/a");
    require_resolved("", "a#b", "a#b");
    require_resolved("", "", "");
    require_resolved("a/b", "c", "a/c");
    require_resolved("http://a", "b", "http://a/b");
    require_resolved("urn:x:y?=q", "#", "urn:x:y?=q#");
}

static void test_uri_refuses_one_past_the_buffers_maximum(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 10);
    assert_int_equal(fl_uri_resolve(FL_SPAN("http://a/b"), FL_SPAN("c"), &out),
                     FL_OK);
    fl_buf_clear(&out);
    assert_int_equal(fl_uri_resolve(FL_SPAN("http://a/b"), FL_SPAN("cd"), &out),
                     FL_E_TOO_BIG);
    fl_buf_reset(&out);
}

static void test_uri_decodes_percent_signs(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 64);
    assert_int_equal(fl_uri_decode(FL_SPAN("a%25b%2Fc%c3%A9"), &out), FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&out), FL_SPAN("a%b/c\xc3\xa9")));
    fl_buf_clear(&out);
    assert_int_equal(fl_uri_decode(FL_SPAN("a%2"), &out), FL_E_INVALID);
    assert_int_equal(fl_uri_decode(FL_SPAN("%zz"), &out), FL_E_INVALID);
    fl_buf_reset(&out);
}

static void test_uri_is_cut_at_its_fragment(void **state)
{
    (void)state;
    assert_true(
        fl_span_equal(fl_uri_without_fragment(FL_SPAN("a#b#c")), FL_SPAN("a")));
    assert_true(
        fl_span_equal(fl_uri_fragment(FL_SPAN("a#b#c")), FL_SPAN("b#c")));
    assert_int_equal(fl_uri_fragment(FL_SPAN("a")).len, 0);
    assert_true(fl_uri_is_absolute(FL_SPAN("urn:a")));
    assert_false(fl_uri_is_absolute(FL_SPAN("a/b:c")));
    assert_false(fl_uri_is_absolute(FL_SPAN("1a:b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uri_resolves_the_examples_of_rfc_3986),
        cmocka_unit_test(test_uri_resolves_without_a_hierarchy),
        cmocka_unit_test(test_uri_refuses_one_past_the_buffers_maximum),
        cmocka_unit_test(test_uri_decodes_percent_signs),
        cmocka_unit_test(test_uri_is_cut_at_its_fragment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
