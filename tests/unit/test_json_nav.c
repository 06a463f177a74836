/*
 * test_json_nav.c - finding one's way: members, elements, meanings, numbers.
 *
 * Slices lie in heap blocks of exactly their size. Numbers are read under a
 * locale whose decimal point is a comma too, if the system has one.
 */
#include "json/nav.h"

#include "base/span.h"
#include "support/data.h"
#include "support/ration.h"
#include "json/kernel.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static fl_span copy_of(fl_span text)
{
    char *copy = malloc(text.len > 0 ? text.len : 1);

    assert_non_null(copy);
    memcpy(copy, text.ptr, text.len);
    return (fl_span){copy, text.len};
}

static fl_span exact(const char *text)
{
    return copy_of((fl_span){text, strlen(text)});
}

static void discard(fl_span span)
{
    free((void *)(uintptr_t)span.ptr);
}

static void require_span(fl_span span, const char *want)
{
    if (!fl_span_equal(span, fl_span_of(want)))
        fail_msg("got %.*s, want %s", (int)span.len, span.ptr, want);
}

static void require_get(const char *object, const char *key, const char *want)
{
    fl_span copy = exact(object);

    require_span(fl_json_get(copy, fl_span_of(key)), want);
    discard(copy);
}

static void test_json_nav_gets_a_member(void **state)
{
    const char *object = "{\"a\":1, \"bb\" : \"two\" ,\"c\":{\"a\":9},\"d\":[{"
                         "\"a\":8}] , \"e\":null}";

    (void)state;
    require_get(object, "a", "1");
    require_get(object, "bb", "\"two\"");
    require_get(object, "c", "{\"a\":9}");
    require_get(object, "d", "[{\"a\":8}]");
    require_get(object, "e", "null");
    require_get(object, "b", "");
    require_get(object, "bbb", "");
    require_get(object, "", "");
    require_get("{}", "a", "");
    require_get("{ }", "", "");
    require_get("{\"\":1}", "", "1");
    require_get("[\"a\"]", "a", "");
    require_get("\"a\"", "a", "");
    require_get("", "a", "");
}

static void test_json_nav_gets_the_last_of_duplicates(void **state)
{
    (void)state;
    require_get("{\"a\":1,\"b\":2,\"a\":3}", "a", "3");
    require_get("{\"a\":1,\"\\u0061\":2}", "a", "2");
    require_get("{\"a\":1,\"b\":{\"a\":2}}", "a", "1");
}

static void test_json_nav_undoes_escapes_in_keys(void **state)
{
    (void)state;
    require_get("{\"\\u0061\\/\":1}", "a/", "1");
    require_get("{\"\\uD834\\uDD1E\":1}", "\xf0\x9d\x84\x9e", "1");
    require_get("{\"a\\nb\":1}", "a\nb", "1");
    require_get("{\"a\\nb\":1}", "a\\nb", ""); /* same bytes, other meaning */
    require_get("{\"a\\\\\":1}", "a\\", "1");
    require_get("{\"a\\\"\":1}", "a\"", "1");
    require_get("{\"ab\":1}", "a", "");
    require_get("{\"\\u00e9\":1}", "\xc3\xa9", "1");
    require_get("{\"e\xcc\x81\":1}", "\xc3\xa9", ""); /* not normalised */
}

/* More members than are marked at a time, values longer than a block. */
static void test_json_nav_gets_from_a_long_object(void **state)
{
    enum { COUNT = 100 };
    static char text[COUNT * 160];
    char key[16], want[160];
    size_t len = 1;

    (void)state;
    text[0] = '{';
    for (int i = 0; i < COUNT; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "%s\"k%d\":[\"%0*d\",{\"x\":\"]}\"}]",
                                i > 0 ? "," : "", i, i, i);
    snprintf(text + len, sizeof text - len, "}");
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof key, "k%d", i);
        snprintf(want, sizeof want, "[\"%0*d\",{\"x\":\"]}\"}]", i, i);
        require_get(text, key, want);
    }
    require_get(text, "k100", "");
}

/* Writes "key=value;" for each member. */
static void walk_to(const char *container, char *out, size_t size)
{
    fl_span copy = exact(container);
    fl_json_walk walk;
    fl_json_member member;
    size_t len = 0;

    out[0] = '\0';
    fl_json_walk_init(&walk, copy);
    while (fl_json_walk_next(&walk, &member))
        len += (size_t)snprintf(out + len, size - len, "%.*s=%.*s;",
                                (int)member.key.len, member.key.ptr,
                                (int)member.value.len, member.value.ptr);
    assert_int_equal(member.key.len + member.value.len, 0);
    assert_false(fl_json_walk_next(&walk, &member));
    discard(copy);
}

static void require_walk(const char *container, const char *want)
{
    char seen[512];

    walk_to(container, seen, sizeof seen);
    assert_string_equal(seen, want);
}

static void test_json_nav_walks_members_and_elements(void **state)
{
    (void)state;
    require_walk("{\"a\":1,\"b\":[1,2],\"c\":\"x,y\"}",
                 "a=1;b=[1,2];c=\"x,y\";");
    require_walk("[1, \"a,]\" ,{\"k\":[]},[[ ]] ,null]",
                 "=1;=\"a,]\";={\"k\":[]};=[[ ]];=null;");
    require_walk("[7]", "=7;");
    require_walk("[[]]", "=[];");
    require_walk("{\"a\":{}}", "a={};");
    require_walk("{\"\":\"\"}", "=\"\";");
    require_walk("{}", "");
    require_walk("[ ]", "");
    require_walk("[\n]", "");
    require_walk("1", "");
    require_walk("\"[1]\"", "");
    require_walk("", "");
}

static void test_json_nav_stays_inside_of_broken_text(void **state)
{
    static const char *const broken[] = {
        "{",         "[",        "{\"a",
        "{\"a\"",    "{\"a\":",  "{\"a\":1",
        "{\"a\\",    "[\"",      "[1,",
        "[,",        "{,",       "{:",
        "{:,:,",     "{a:1}",    "[1}",
        "{\"a\":1]", "[\"\\u12", "{\"\\u\":\"\\",
        "{\":\":\"", "[]]]]",    "[\"\\uD834\\u\"]",
    };
    char seen[512];

    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        fl_span copy = exact(broken[i]), got;
        walk_to(broken[i], seen, sizeof seen);
        got = fl_json_get(copy, FL_SPAN("a"));
        assert_true(got.len == 0 || (got.ptr >= copy.ptr &&
                                     got.ptr + got.len <= copy.ptr + copy.len));
        discard(copy);
    }
}

/* Every kernel finds the same delimiters, wherever the value begins. */
static void test_json_nav_kernels_mark_alike(void **state)
{
    static const char text[] =
        "                                                                 "
        "[1,\"a\\\"],\\\\\",{\"k\":[1,2],\"l\":\"}\"},[[],[[]]], \"\xc3\xa9\" ,"
        "{\"x\":{\"y\":[1,2,3]}},\"long long long long long long long long "
        "long long long long long long long long long\",7],8,[9],10]";
    size_t len = sizeof text - 1, start = strcspn(text, "[") + 1;

    (void)state;
    for (size_t from = 0; from < start; from++)
        for (size_t want = 1; want <= 9; want++) {
            size_t first[16], other[16];
            fl_span slice = {text + from, len - from};
            size_t n =
                fl_json_kernel_plain.mark(slice, start - from, want, first);
            assert_int_equal(n, want < 8 ? want : 8);
            for (size_t i = 1; i < FL_JSON_KERNELS; i++) {
                const fl_json_kernel *kernel = fl_json_kernel_at(i);
                if (kernel == NULL)
                    continue;
                assert_int_equal(kernel->mark(slice, start - from, want, other),
                                 n);
                assert_memory_equal(first, other, n * sizeof *first);
            }
        }
}

/* What was kept of a scan must lead over the same members as looking does, also
 * in a copy. */
static void require_same_walk_along(const fl_json_top *top, unsigned level,
                                    fl_span container)
{
    fl_json_walk noted, looked;
    fl_json_member one, other;
    fl_json_cuts cuts;

    fl_json_cuts_keep(&cuts, top, level, container);
    fl_span copy = copy_of(container);
    fl_json_walk_along(&noted, copy, &cuts);
    fl_json_walk_init(&looked, container);
    while (fl_json_walk_next(&looked, &other)) {
        assert_true(fl_json_walk_next(&noted, &one));
        assert_int_equal(one.key.len, other.key.len);
        assert_int_equal(one.value.ptr - copy.ptr,
                         other.value.ptr - container.ptr);
        assert_int_equal(one.value.len, other.value.len);
        if (looked.in_object) {
            fl_span get = fl_json_get(container, other.key);
            fl_span along = fl_json_get_along(copy, &cuts, other.key);
            assert_int_equal(get.len, along.len);
            if (get.len > 0)
                assert_int_equal(along.ptr - copy.ptr, get.ptr - container.ptr);
        }
    }
    assert_false(fl_json_walk_next(&noted, &one));
    assert_int_equal(fl_json_get_along(copy, &cuts, FL_SPAN("none")).len, 0);
    discard(copy);
}

/* What a scan has noted must lead over the same members as looking does. */
static void require_same_walk(const fl_json_top *top, unsigned level,
                              fl_span container)
{
    fl_json_walk noted, looked;
    fl_json_member one, other;

    fl_json_walk_inside(&noted, top, level, container);
    fl_json_walk_init(&looked, container);
    assert_int_equal(noted.in_object, looked.in_object);
    for (bool more = true; more;) {
        more = fl_json_walk_next(&looked, &other);
        assert_int_equal(fl_json_walk_next(&noted, &one), more);
        assert_ptr_equal(one.key.ptr, other.key.ptr);
        assert_int_equal(one.key.len, other.key.len);
        assert_ptr_equal(one.value.ptr, other.value.ptr);
        assert_int_equal(one.value.len, other.value.len);
        if (more && level < FL_JSON_LEVELS)
            require_same_walk(top, level + 1, other.value);
    }
    assert_false(fl_json_walk_next(&noted, &one));
    if (level < FL_JSON_LEVELS)
        require_same_walk_along(top, level, container);
}

static void require_same_walks(const char *text)
{
    fl_span copy = exact(text);

    for (size_t i = 0; i < FL_JSON_KERNELS; i++) {
        const fl_json_kernel *kernel = fl_json_kernel_at(i);
        fl_json_top top;
        if (kernel == NULL)
            continue;
        assert_int_equal(fl_json_scan_with(kernel, copy, 0, &top, NULL), FL_OK);
        require_same_walk(&top, 0, top.value);
    }
    discard(copy);
}

static void test_json_nav_walks_inside_along_what_was_noted(void **state)
{
    static const char *const texts[] = {
        "{}",
        " { \"a\" : { } , \"b\" : [ ] , \"c\" : 1 } ",
        "{\"a\":{},\"b\":{\"c\":1},\"d\":{},\"e\":[],\"f\":[1],\"g\":[1,2]}",
        "{\"a\":{\"b\":{},\"c\":{\"d\":{\"e\":[{}]}},\"f\":[]},\"g\":[[],{}]}",
        "[{\"a\":[1,[2,3]]},[],[{}],{\"b\":\"}],:\\\"\"}]",
        "\"{\"",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        require_same_walks(texts[i]);
}

/* {"0":0,"1":1...} or [0,1...] */
static size_t put_members(char *at, size_t n, bool object)
{
    size_t len = 0;

    at[len++] = object ? '{' : '[';
    for (size_t i = 0; i < n; i++) {
        const char *comma = i > 0 ? "," : "";
        len += (size_t)(object ? snprintf(at + len, 32, "%s\"%zu\":%zu", comma,
                                          i, i)
                               : snprintf(at + len, 32, "%s%zu", comma, i));
    }
    at[len++] = object ? '}' : ']';
    at[len] = '\0';
    return len;
}

/* Up to the last mark there is room for, and past it, in each container. */
static void test_json_nav_walks_on_past_what_was_noted(void **state)
{
    char first[1024], second[1024], text[8192];

    (void)state;
    for (size_t n = 0; n <= FL_JSON_MARKS + 2; n++)
        for (unsigned kinds = 0; kinds < 4; kinds++) {
            put_members(first, n, (kinds & 1) != 0);
            put_members(second, FL_JSON_MEMBERS, (kinds & 2) != 0);
            snprintf(text, sizeof text,
                     "{\"a\":%s,\"b\":{},\"c\":{\"d\":%s,\"e\":%s},\"f\":%s}",
                     first, first, second, second);
            require_same_walks(text);
        }
}

static void test_json_nav_tells_the_types(void **state)
{
    (void)state;
    assert_int_equal(fl_json_type_of((fl_span){0}), FL_JSON_NONE);
    assert_int_equal(fl_json_type_of(FL_SPAN("{}")), FL_JSON_OBJECT);
    assert_int_equal(fl_json_type_of(FL_SPAN("[]")), FL_JSON_ARRAY);
    assert_int_equal(fl_json_type_of(FL_SPAN("\"\"")), FL_JSON_STRING);
    assert_int_equal(fl_json_type_of(FL_SPAN("-1")), FL_JSON_NUMBER);
    assert_int_equal(fl_json_type_of(FL_SPAN("true")), FL_JSON_TRUE);
    assert_int_equal(fl_json_type_of(FL_SPAN("false")), FL_JSON_FALSE);
    assert_int_equal(fl_json_type_of(FL_SPAN("null")), FL_JSON_NULL);
}

static void test_json_nav_compares_what_a_string_means(void **state)
{
    (void)state;
    assert_true(fl_json_string_is(FL_SPAN("\"2.0\""), FL_SPAN("2.0")));
    assert_false(fl_json_string_is(FL_SPAN("\"2.0\""), FL_SPAN("2.1")));
    assert_false(fl_json_string_is(FL_SPAN("\"2.0\""), FL_SPAN("2.00")));
    assert_false(fl_json_string_is(FL_SPAN("2.0"), FL_SPAN("2.0")));
    assert_false(fl_json_string_is(FL_SPAN("\""), FL_SPAN("")));
    assert_true(fl_json_string_is(FL_SPAN("\"\""), (fl_span){0}));
    assert_true(
        fl_json_string_is(FL_SPAN("\"\\u0032\\u002e0\""), FL_SPAN("2.0")));
    assert_false(fl_json_string_is(FL_SPAN("\"\\u0032\""), FL_SPAN("2.0")));
    assert_false(fl_json_string_is(FL_SPAN("\"\\u0032.0x\""), FL_SPAN("2.0")));
    assert_true(fl_json_string_is(FL_SPAN("\"a\\u0000b\""), FL_SPAN("a\0b")));
}

static void require_copy(fl_span value, fl_span want)
{
    fl_buf out;

    fl_buf_init(&out, 1024);
    assert_int_equal(fl_buf_append(&out, FL_SPAN("<")), FL_OK);
    assert_int_equal(fl_json_string_copy(value, &out), FL_OK);
    fl_span got = fl_span_from(fl_buf_view(&out), 1);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr, want.ptr, want.len);
    fl_buf_reset(&out);
}

static void test_json_nav_copies_what_a_string_means(void **state)
{
    (void)state;
    require_copy(FL_SPAN("\"\""), FL_SPAN(""));
    require_copy(FL_SPAN("\"plain\""), FL_SPAN("plain"));
    require_copy(FL_SPAN("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
                 FL_SPAN("\"\\/\b\f\n\r\t"));
    require_copy(FL_SPAN("\"\\u0041\\u00e9\\u4E2d\\uD834\\udd1e.\""),
                 FL_SPAN("A\xc3\xa9\xe4\xb8\xad\xf0\x9d\x84\x9e."));
    require_copy(FL_SPAN("\"\\u0000\""), FL_SPAN("\0"));
    require_copy(FL_SPAN("\"\\uFFFF\\uD7ff\\ue000\""),
                 FL_SPAN("\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80"));
}

static void test_json_nav_replaces_lone_surrogates(void **state)
{
#define U_FFFD "\xef\xbf\xbd"
    (void)state;
    require_copy(FL_SPAN("\"\\uD800\""), FL_SPAN(U_FFFD));
    require_copy(FL_SPAN("\"\\uDC00x\""), FL_SPAN(U_FFFD "x"));
    require_copy(FL_SPAN("\"\\uD800\\n\""), FL_SPAN(U_FFFD "\n"));
    require_copy(FL_SPAN("\"\\uD800\\u0041\""), FL_SPAN(U_FFFD "A"));
    require_copy(FL_SPAN("\"\\uD800\\uD800\\uDC00\""),
                 FL_SPAN(U_FFFD "\xf0\x90\x80\x80"));
    require_copy(FL_SPAN("\"\\uDBFF\\uDFFF\""), FL_SPAN("\xf4\x8f\xbf\xbf"));
}

static void test_json_nav_copies_all_or_nothing(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 6);
    assert_int_equal(fl_json_string_copy(FL_SPAN("1"), &out), FL_E_INVALID);
    assert_int_equal(fl_json_string_copy(FL_SPAN("\""), &out), FL_E_INVALID);
    assert_int_equal(fl_json_string_copy((fl_span){0}, &out), FL_E_INVALID);
    assert_int_equal(fl_json_string_copy(FL_SPAN("\"abc\\n12\""), &out), FL_OK);
    assert_int_equal(fl_buf_len(&out), 6);
    fl_buf_reset(&out);
    assert_int_equal(fl_json_string_copy(FL_SPAN("\"abc\\n123\""), &out),
                     FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&out), 0);
    fl_buf_reset(&out);
    ration_reset();
    ration_allow(0);
    assert_int_equal(fl_json_string_copy(FL_SPAN("\"a\""), &out), FL_E_NOMEM);
    ration_reset();
    assert_int_equal(fl_buf_len(&out), 0);
    fl_buf_reset(&out);
}

static void require_double(const char *text, double want)
{
    fl_span copy = exact(text);
    double got = 1;

    assert_int_equal(fl_json_double(copy, &got), FL_OK);
    if (memcmp(&got, &want, sizeof got) != 0)
        fail_msg("%s is %.17g, want %.17g", text, got, want);
    discard(copy);
}

/* The compiler is the judge: its literals are correctly rounded. */
static void require_doubles(void)
{
    require_double("0", 0.0);
    require_double("-0", -0.0);
    require_double("0.0e99999999999999999999", 0.0);
    require_double("1", 1.0);
    require_double("-1.5", -1.5);
    require_double("0.1", 0.1);
    require_double("123456789012345", 123456789012345.0);
    require_double("1234567890123456", 1234567890123456.0);
    require_double("9007199254740993", 9007199254740993.0);
    require_double("9007199254740992.99999999999999999999", 9007199254740993.0);
    require_double("3.141592653589793", 3.141592653589793);
    require_double("1e22", 1e22);
    require_double("1e23", 1e23);
    require_double("1.7976931348623157e308", DBL_MAX);
    require_double("2.2250738585072014e-308", DBL_MIN);
    require_double("5e-324", 5e-324);
    require_double("2e-324", 0.0);
    require_double("1e400", (double)INFINITY);
    require_double("-1e400", -(double)INFINITY);
    require_double("1e-400", 0.0);
    require_double("1e99999999999999999999999999", (double)INFINITY);
    require_double("1e-99999999999999999999999999", 0.0);
    require_double("100000000000000000000000000000e-29", 1.0);
    require_double("0.000000000000000000000000000001e30", 1.0);
}

static void test_json_nav_reads_doubles(void **state)
{
    static const char *const bad[] = {"",     "-",     "1.",  ".1",    "1e",
                                      "01",   "+1",    " 1",  "1 ",    "0x1",
                                      "true", "\"1\"", "1,5", "1.5.5", "NaN"};
    double got = 1;

    (void)state;
    require_doubles();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(fl_json_double(fl_span_of(bad[i]), &got),
                         FL_E_INVALID);
        assert_true(got == 0);
    }
}

static void test_json_nav_reads_doubles_in_any_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR",
                                        "nl_NL.UTF-8", "ps_AF.UTF-8", "de_DE"};
    bool found = false;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found) {
        fprintf(stderr,
                "SKIPPED: no locale with a decimal comma is installed\n");
        skip();
    }
    assert_string_not_equal(localeconv()->decimal_point, ".");
    require_doubles();
    setlocale(LC_NUMERIC, "C");
}

/* Half way between two doubles, and the least bit above, 800 digits on. */
static void test_json_nav_rounds_very_long_numbers(void **state)
{
    enum { ZEROES = 1000 };
    char text[ZEROES + 64];
    size_t len = (size_t)snprintf(text, sizeof text, "9007199254740993.");

    (void)state;
    memset(text + len, '0', ZEROES);
    text[len + ZEROES] = '\0';
    require_double(text, 9007199254740992.0); /* ties to even */
    text[len + ZEROES - 1] = '1';
    require_double(text, 9007199254740994.0);
    memset(text, '0', ZEROES);
    memcpy(text, "0.", 2);
    snprintf(text + ZEROES, 64, "15e%d", ZEROES - 1);
    require_double(text, 1.5);
    memset(text, '0', ZEROES);
    text[0] = '7';
    snprintf(text + ZEROES, 64, "e-%d", ZEROES - 1);
    require_double(text, 7.0);
}

static void require_int64(const char *text, fl_status status, int64_t want)
{
    fl_span copy = exact(text);
    int64_t got = 1;

    assert_int_equal(fl_json_int64(copy, &got), status);
    assert_int_equal(got, want);
    discard(copy);
}

static void test_json_nav_reads_whole_numbers(void **state)
{
    (void)state;
    require_int64("0", FL_OK, 0);
    require_int64("-0", FL_OK, 0);
    require_int64("-0.000e5", FL_OK, 0);
    require_int64("17", FL_OK, 17);
    require_int64("1.0", FL_OK, 1);
    require_int64("1e2", FL_OK, 100);
    require_int64("-12.50e1", FL_OK, -125);
    require_int64("1000e-3", FL_OK, 1);
    require_int64("9223372036854775807", FL_OK, INT64_MAX);
    require_int64("-9223372036854775808", FL_OK, INT64_MIN);
    require_int64("9223372036854775808", FL_E_INVALID, 0);
    require_int64("-9223372036854775809", FL_E_INVALID, 0);
    require_int64("9223372036854775807.0", FL_OK, INT64_MAX);
    require_int64("1e18", FL_OK, 1000000000000000000);
    require_int64("1e19", FL_E_INVALID, 0);
    require_int64("1e99999999999999999999", FL_E_INVALID, 0);
    require_int64("0e99999999999999999999", FL_OK, 0);
    require_int64("1e-1", FL_E_INVALID, 0);
    require_int64("0.5", FL_E_INVALID, 0);
    require_int64("1.0000000000000000000001", FL_E_INVALID, 0);
    require_int64("12345678901234567890123", FL_E_INVALID, 0);
    require_int64("\"1\"", FL_E_INVALID, 0);
    require_int64("", FL_E_INVALID, 0);
    require_int64("1x", FL_E_INVALID, 0);
}

static fl_span transform(const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "json/JSONTestSuite/test_transform/%s.json",
             name);
    fl_span file = data_load(path);
    fl_json_top top;
    assert_int_equal(fl_json_scan(file, 0, &top, NULL), FL_OK);
    return file;
}

static void require_first(const char *name, const char *want)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_json_top top;
    fl_span file = transform(name);

    assert_int_equal(fl_json_scan(file, 0, &top, NULL), FL_OK);
    fl_json_walk_init(&walk, top.value);
    assert_true(fl_json_walk_next(&walk, &member));
    require_span(member.value, want);
    data_free(file);
}

static void require_last(const char *name, const char *key, const char *want)
{
    fl_json_top top;
    fl_span file = transform(name);

    assert_int_equal(fl_json_scan(file, 0, &top, NULL), FL_OK);
    require_span(fl_json_get(top.value, fl_span_of(key)), want);
    data_free(file);
}

static void test_json_nav_transforms_nothing(void **state)
{
    (void)state;
    require_first("number_1.000000000000000005", "1.000000000000000005");
    require_first("number_10000000000000000999", "10000000000000000999");
    require_first("number_1e-999", "1E-999");
    require_first("number_-9223372036854775809", "-9223372036854775809");
    require_first("number_1.0", "1.0");
    require_last("object_same_key_different_values", "a", "2");
    require_last("object_same_key_same_value", "a", "1");
    require_last("object_same_key_unclear_values", "a", "-0");
    require_last("object_key_nfc_nfd", "\xc3\xa9", "\"NFC\"");
    require_last("object_key_nfc_nfd", "e\xcc\x81", "\"NFD\"");
    require_last("object_key_nfd_nfc", "\xc3\xa9", "\"NFC\"");
    require_first("string_1_escaped_invalid_codepoint", "\"\\uD800\"");
    require_first("string_with_escaped_NULL", "\"A\\u0000B\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_nav_gets_a_member),
        cmocka_unit_test(test_json_nav_gets_the_last_of_duplicates),
        cmocka_unit_test(test_json_nav_undoes_escapes_in_keys),
        cmocka_unit_test(test_json_nav_gets_from_a_long_object),
        cmocka_unit_test(test_json_nav_walks_members_and_elements),
        cmocka_unit_test(test_json_nav_stays_inside_of_broken_text),
        cmocka_unit_test(test_json_nav_kernels_mark_alike),
        cmocka_unit_test(test_json_nav_walks_inside_along_what_was_noted),
        cmocka_unit_test(test_json_nav_walks_on_past_what_was_noted),
        cmocka_unit_test(test_json_nav_tells_the_types),
        cmocka_unit_test(test_json_nav_compares_what_a_string_means),
        cmocka_unit_test(test_json_nav_copies_what_a_string_means),
        cmocka_unit_test(test_json_nav_replaces_lone_surrogates),
        cmocka_unit_test(test_json_nav_copies_all_or_nothing),
        cmocka_unit_test(test_json_nav_reads_doubles),
        cmocka_unit_test(test_json_nav_reads_doubles_in_any_locale),
        cmocka_unit_test(test_json_nav_rounds_very_long_numbers),
        cmocka_unit_test(test_json_nav_reads_whole_numbers),
        cmocka_unit_test(test_json_nav_transforms_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
