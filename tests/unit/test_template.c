/*
 * test_template.c - URI templates read backwards: what is understood, what is
 * refused, what stood for the variables, and that no URI takes long.
 */
#include "base/span.h"
#include "server/template.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { ROOM = 1 << 20 };

static fl_template *make(const char *text)
{
    fl_template *made;
    fl_error error;

    if (fl_template_new(fl_span_of(text), &made, &error) != FL_OK)
        fail_msg("'%s': %s", text, error.text);
    assert_non_null(made);
    return made;
}

/* `want` is the arguments; NULL: the URI does not fit. */
static void check_match(const fl_template *template, fl_span uri,
                        const char *want)
{
    char *exact = test_malloc(uri.len + 1); /* so that a sanitizer sees */
    fl_buf arguments;

    memcpy(exact, uri.ptr, uri.len);
    fl_buf_init(&arguments, ROOM);
    assert_int_equal(fl_buf_append(&arguments, FL_SPAN("x")), FL_OK);
    fl_status rc =
        fl_template_match(template, (fl_span){exact, uri.len}, &arguments);
    fl_span got = fl_span_from(fl_buf_view(&arguments), 1);
    if (want == NULL) {
        if (rc != FL_E_NOT_FOUND)
            fail_msg("'%.*s' gave %.*s", (int)uri.len, uri.ptr, (int)got.len,
                     got.ptr);
        assert_int_equal(got.len, 0);
    } else if (rc != FL_OK || !fl_span_equal(got, fl_span_of(want))) {
        fail_msg("'%.*s' gave %d '%.*s', not '%s'", (int)uri.len, uri.ptr, rc,
                 (int)got.len, got.ptr, want);
    }
    fl_buf_reset(&arguments);
    test_free(exact);
}

static void check(const char *text, const char *uri, const char *want)
{
    fl_template *template = make(text);

    check_match(template, fl_span_of(uri), want);
    fl_template_free(template);
}

static void test_template_without_variables_fits_itself(void **state)
{
    (void)state;
    check("file:///a%20b", "file:///a%20b", "{}");
    check("file:///a", "file:///b", NULL);
    check("file:///a", "file:///ab", NULL);
    check("file:///a", "file:///", NULL);
    check("file:///a", "", NULL);
}

static void test_template_variable_is_one_segment(void **state)
{
    const char *day = "file:///logs/{day}.txt";

    (void)state;
    check(day, "file:///logs/monday.txt", "{\"day\":\"monday\"}");
    check(day, "file:///logs/a.b.txt", "{\"day\":\"a.b\"}");
    check(day, "file:///logs/.txt", NULL);
    check(day, "file:///logs/a/b.txt", NULL);
    check(day, "file:///logs/a?b.txt", NULL);
    check(day, "file:///logs/a#b.txt", NULL);
    check(day, "file:///logs/a&b.txt", NULL);
    check(day, "file:///logs/a.txt/", NULL);
    check(day, "file:///log", NULL);
    check("test://template/{id}/data", "test://template/123/data",
          "{\"id\":\"123\"}");
    check("{all}", "a:b@c=d,e;f", "{\"all\":\"a:b@c=d,e;f\"}");
    check("{all}", "", NULL);
}

static void test_template_gives_the_left_more(void **state)
{
    (void)state;
    check("{a}-{b}", "1-2-3", "{\"a\":\"1-2\",\"b\":\"3\"}");
    check("{a}-{b}", "1--", "{\"a\":\"1\",\"b\":\"-\"}");
    check("{a}-{b}", "--", NULL);
    check("x/{a}/{b}/{c}", "x/1/2/3", "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}");
    check("{a}aa{b}", "aaaaa", "{\"a\":\"aa\",\"b\":\"a\"}");
}

static void test_template_reserved_holds_slashes(void **state)
{
    (void)state;
    check("file:///{+path}", "file:///a/b/c.txt", "{\"path\":\"a/b/c.txt\"}");
    check("fetch:{+url}", "fetch:https://x/y?z=1&a#b",
          "{\"url\":\"https://x/y?z=1&a#b\"}");
    check("file:///{+path}", "file:///", NULL);
    check("f:{+dir}/{name}", "f:a/b/c", "{\"dir\":\"a/b\",\"name\":\"c\"}");
    check("f:{+dir}/{name}", "f:c", NULL);
    check("f:{+dir}/x/{+name}", "f:a/x/b/x/c",
          "{\"dir\":\"a/x/b\",\"name\":\"c\"}");
}

static void test_template_fragment_may_be_left_out(void **state)
{
    (void)state;
    check("f:{name}{#part}", "f:a#b/c?d",
          "{\"name\":\"a\",\"part\":\"b/c?d\"}");
    check("f:{name}{#part}", "f:a", "{\"name\":\"a\"}");
    check("f:{name}{#part}", "f:a#", NULL);
    check("f:{+name}{#part}", "f:a#b#c", "{\"name\":\"a\",\"part\":\"b#c\"}");
}

static void test_template_segments_and_labels(void **state)
{
    (void)state;
    check("u:/x{/id}", "u:/x/7", "{\"id\":\"7\"}");
    check("u:/x{/id}", "u:/x", "{}");
    check("u:/x{/id}", "u:/x/", NULL);
    check("u:/x{/id}", "u:/x/7/8", NULL);
    check("u:/x{/a,b}", "u:/x/1", "{\"a\":\"1\"}");
    check("u:/x{/a}{/b}", "u:/x/1/2", "{\"a\":\"1\",\"b\":\"2\"}");
    check("u:/x{/a}/end", "u:/x/end", "{}");
    check("u:/x{/a}/end", "u:/x/end/end", "{\"a\":\"end\"}");
    check("f:{name}{.ext}", "f:a.tar.gz",
          "{\"name\":\"a\",\"ext\":\"tar.gz\"}");
    check("f:{name}{.ext}", "f:a", "{\"name\":\"a\"}");
    check("f:{name}{.ext}", "f:a.", NULL);
    check("f:{name}{.a,b}", "f:n.1.2",
          "{\"name\":\"n\",\"a\":\"1\",\"b\":\"2\"}");
    check("f:{+dir}{.ext}{/rest}", "f:a.b/c",
          "{\"dir\":\"a\",\"ext\":\"b\",\"rest\":\"c\"}");
    check("f:{+dir}{.ext}{/rest}", "f:a/c", "{\"dir\":\"a\",\"rest\":\"c\"}");
}

static void test_template_star_takes_many_segments(void **state)
{
    (void)state;
    check("file://{/path*}", "file:///a/b%20c/d", "{\"path\":\"a/b c/d\"}");
    check("file://{/path*}", "file:///a", "{\"path\":\"a\"}");
    check("file://{/path*}", "file://", "{}");
    check("file://{/path*}/x", "file:///a/b/x", "{\"path\":\"a/b\"}");
    check("file://{/path*}{?q}", "file:///a/b?q=1",
          "{\"path\":\"a/b\",\"q\":\"1\"}");
    /* a slash that was none */
    check("file://{/path*}", "file:///a%2Fb", NULL);
    check("file:///{path}", "file:///a%2Fb", "{\"path\":\"a/b\"}");
}

static void test_template_query_in_any_order(void **state)
{
    const char *search = "s:find{?q,lang}";

    (void)state;
    check(search, "s:find", "{}");
    check(search, "s:find?q=a", "{\"q\":\"a\"}");
    check(search, "s:find?q=a&lang=b", "{\"q\":\"a\",\"lang\":\"b\"}");
    check(search, "s:find?lang=b&q=a", "{\"lang\":\"b\",\"q\":\"a\"}");
    check(search, "s:find?q=", "{\"q\":\"\"}");
    check(search, "s:find?q=a=b/c?d", "{\"q\":\"a=b/c?d\"}");
    check(search, "s:find?q=%26+%3D", "{\"q\":\"&+=\"}");
    check(search, "s:find?q", NULL);
    check(search, "s:find?", NULL);
    check(search, "s:find?q=a&", NULL);
    check(search, "s:find?&q=a", NULL);
    check(search, "s:find?q=a&q=b", NULL);
    check(search, "s:find?q=a&other=b", NULL);
    check(search, "s:find?=a", NULL);
    check(search, "s:find?q=a#f", NULL);
    check("s:find{?q}{&lang}", "s:find?lang=b", "{\"lang\":\"b\"}");
    check("s:find{?q}{#f}", "s:find?q=a#b", "{\"q\":\"a\",\"f\":\"b\"}");
    check("s:find{?q}#top", "s:find?q=a#top", "{\"q\":\"a\"}");
    check("s:find?v=1{&q,lang}", "s:find?v=1&lang=b&q=a",
          "{\"lang\":\"b\",\"q\":\"a\"}");
    check("s:find?v=1{&q}", "s:find?v=1", "{}");
    check("s:{+path}{?q}", "s:a/b?q=1", "{\"path\":\"a/b\",\"q\":\"1\"}");
    check("s:{+path}/x{?q}", "s:a/x?q=/x", "{\"path\":\"a\",\"q\":\"/x\"}");
    check("s:x?a={a}&b={b}", "s:x?a=1&b=2", "{\"a\":\"1\",\"b\":\"2\"}");
}

static void test_template_undoes_percent_codes(void **state)
{
    (void)state;
    check("f:{a}", "f:%41%c3%A9%22", "{\"a\":\"A\xC3\xA9\\\"\"}");
    check("f:{a}", "f:\xC3\xA9", "{\"a\":\"\xC3\xA9\"}");
    check("f:{a}", "f:%", NULL);
    check("f:{a}", "f:%4", NULL);
    check("f:{a}", "f:%4g", NULL);
    check("f:{a}", "f:%g4", NULL);
    check("f:{a}", "f:a%00b", NULL);
    check("f:{a}", "f:%FF", NULL);
    check("f:{a}", "f:%C3", NULL);
    check("f:{a}-{b}", "f:%C3-%A9", NULL); /* each for itself */
    check("f:{a}7{b}", "f:x7%7By", "{\"a\":\"x\",\"b\":\"{y\"}");
    check("f:{a}B{b}", "f:%7Bx", NULL); /* there is no B in it */
    check("f:{?a}", "f:?a=%ED%A0%80", NULL);
    fl_template *template = make("f:{a}");
    check_match(template, (fl_span){"f:a\0b", 5}, NULL);
    fl_template_free(template);
}

static void test_template_knows_its_variables(void **state)
{
    fl_template *template = make("f:{a}/{+b_2}{?c.d,e}");

    (void)state;
    assert_true(fl_template_has(template, FL_SPAN("a")));
    assert_true(fl_template_has(template, FL_SPAN("b_2")));
    assert_true(fl_template_has(template, FL_SPAN("c.d")));
    assert_true(fl_template_has(template, FL_SPAN("e")));
    assert_false(fl_template_has(template, FL_SPAN("b")));
    assert_false(fl_template_has(template, FL_SPAN("f")));
    assert_false(fl_template_has(template, FL_SPAN("")));
    fl_template_free(template);
    fl_template_free(NULL);
}

static void test_template_refuses_what_cannot_be_read_back(void **state)
{
    static const struct {
        const char *text;
        const char *why;
    } wrong[] = {
        {"", "empty"},
        {"{", "byte 1: not the name"},
        {"{}", "byte 1: not the name"},
        {"a{b", "byte 3: cannot be read backwards"},
        {"a{b:3}", "byte 3: cannot be read backwards"},
        {"a{b*}", "byte 3: cannot be read backwards"},
        {"a{+b*}", "cannot be read backwards"},
        {"a{?b*}", "cannot be read backwards"},
        {"a{;b}", "byte 2: not the name"},
        {"a{=b}", "not the name"},
        {"a{|b}", "not the name"},
        {"a{b c}", "cannot be read backwards"},
        {"a{b-c}", "cannot be read backwards"},
        {"a{.}", "not the name"},
        {"a{b.}", "not the name"},
        {"a{b..c}", "not the name"},
        {"a{b,}", "byte 4: not the name"},
        {"a{b,c}", "byte 4: nothing tells this variable"},
        {"a{b}{c}", "byte 5: nothing tells this variable"},
        {"a{+b}{c}", "nothing tells this variable"},
        {"a{/b}{+c}", "nothing tells this variable"},
        {"a{/b*}{/c}", "nothing tells this segment"},
        {"a{/b*,c}", "nothing tells this segment"},
        {"a{#b}c", "nothing follows a fragment"},
        {"a{#b}{c}", "nothing follows a fragment"},
        {"a{#b,c}", "nothing follows a fragment"},
        {"a{?b}c", "only a fragment follows a query"},
        {"a{?b}{/c}", "only a fragment follows a query"},
        {"a{?b}{?c}", "only a fragment follows a query"},
        {"a{b}/{b}", "byte 6: the variable is there twice"},
        {"a{?b,b}", "the variable is there twice"},
        {"a}", "byte 1: neither"},
        {"a b", "byte 1: neither"},
        {"a\"", "neither"},
        {"a%", "neither"},
        {"a%4", "neither"},
        {"a%4x", "neither"},
        {"a\x7f", "neither"},
        {"a\n", "neither"},
    };
    fl_template *made;
    fl_error error;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        made = (fl_template *)&error;
        fl_status rc =
            fl_template_new(fl_span_of(wrong[i].text), &made, &error);
        if (rc != FL_E_INVALID || strstr(error.text, wrong[i].why) == NULL)
            fail_msg("'%s' gave %d, '%s'", wrong[i].text, rc, error.text);
        assert_null(made);
        assert_int_equal(
            fl_template_new(fl_span_of(wrong[i].text), &made, NULL),
            FL_E_INVALID);
    }
}

static void test_template_has_a_most_of_variables(void **state)
{
    char text[16 * (FL_TEMPLATE_VARIABLES + 2)] = "x:";
    fl_template *made;

    (void)state;
    for (int i = 0; i < FL_TEMPLATE_VARIABLES; i++)
        snprintf(text + strlen(text), 16, "{v%d},", i);
    fl_template_free(make(text));
    snprintf(text + strlen(text), 16, "{one}");
    assert_int_equal(fl_template_new(fl_span_of(text), &made, NULL),
                     FL_E_TOO_BIG);
    assert_null(made);
}

static void test_template_has_a_most_of_bytes(void **state)
{
    static char text[FL_TEMPLATE_BYTES + 2];
    fl_template *made, *all = make("{all}");

    (void)state;
    memset(text, 'x', FL_TEMPLATE_BYTES + 1);
    assert_int_equal(
        fl_template_new((fl_span){text, FL_TEMPLATE_BYTES}, &made, NULL),
        FL_OK);
    check_match(made, (fl_span){text, FL_TEMPLATE_BYTES}, "{}");
    fl_template_free(made);
    assert_int_equal(
        fl_template_new((fl_span){text, FL_TEMPLATE_BYTES + 1}, &made, NULL),
        FL_E_TOO_BIG);

    fl_buf arguments;
    fl_buf_init(&arguments, ROOM);
    assert_int_equal(
        fl_template_match(all, (fl_span){text, FL_TEMPLATE_BYTES}, &arguments),
        FL_OK);
    fl_buf_clear(&arguments);
    assert_int_equal(fl_template_match(all,
                                       (fl_span){text, FL_TEMPLATE_BYTES + 1},
                                       &arguments),
                     FL_E_NOT_FOUND);
    fl_buf_reset(&arguments);
    fl_template_free(all);
}

/* A reader that tries every way would still be at it when the sun is cold. */
static void test_template_takes_no_longer_on_a_nasty_uri(void **state)
{
    static char uri[FL_TEMPLATE_BYTES];
    char text[256] = "";
    clock_t begun = clock();

    (void)state;
    memset(uri, '-', sizeof uri);
    uri[sizeof uri - 1] = '!';
    for (int i = 0; i < FL_TEMPLATE_VARIABLES; i++)
        snprintf(text + strlen(text), 16, "{v%d}-", i);
    fl_template *nasty = make(text);
    check_match(nasty, (fl_span){uri, sizeof uri}, NULL);
    fl_template_free(nasty);
    assert_true(clock() - begun < 10 * CLOCKS_PER_SEC);
}

static void use(void *user)
{
    fl_template *template = NULL;
    fl_buf arguments;
    bool *done = user;

    fl_buf_init(&arguments, ROOM);
    fl_status rc = fl_template_new(FL_SPAN("f:{a}{?b,c}"), &template, NULL);
    if (rc == FL_OK)
        rc = fl_template_match(template, FL_SPAN("f:%41?b=1&c=2"), &arguments);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    if (rc != FL_OK)
        assert_int_equal(fl_buf_len(&arguments), 0);
    *done = rc == FL_OK;
    fl_buf_reset(&arguments);
    fl_template_free(template);
}

static void test_template_survives_a_lack_of_memory(void **state)
{
    bool done = false;

    (void)state;
    assert_true(ration_each(use, &done) > 3);
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_template_without_variables_fits_itself),
        cmocka_unit_test(test_template_variable_is_one_segment),
        cmocka_unit_test(test_template_gives_the_left_more),
        cmocka_unit_test(test_template_reserved_holds_slashes),
        cmocka_unit_test(test_template_fragment_may_be_left_out),
        cmocka_unit_test(test_template_segments_and_labels),
        cmocka_unit_test(test_template_star_takes_many_segments),
        cmocka_unit_test(test_template_query_in_any_order),
        cmocka_unit_test(test_template_undoes_percent_codes),
        cmocka_unit_test(test_template_knows_its_variables),
        cmocka_unit_test(test_template_refuses_what_cannot_be_read_back),
        cmocka_unit_test(test_template_has_a_most_of_variables),
        cmocka_unit_test(test_template_has_a_most_of_bytes),
        cmocka_unit_test(test_template_takes_no_longer_on_a_nasty_uri),
        cmocka_unit_test(test_template_survives_a_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
