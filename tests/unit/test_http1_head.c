/*
 * test_http1_head.c - reading heads without a connection around them.
 *
 * How requests and responses are judged is tested through the connections
 * that serve them; here it is about what the reader itself promises.
 */
#include "wire/http1_head.h"

#include "base/mem.h"
#include "base/span.h"
#include "support/ration.h"
#include "wire/http1_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const fl_http_limits limits = {
    .max_head = 4096, .max_target = 1024, .max_fields = 100};

static const char sample[] = "POST /a?b HTTP/1.1\r\n"
                             "Host: example.com:8080\r\n"
                             "X-One: 1\r\n"
                             "Accept: application/json\r\n"
                             "x-one: again\r\n"
                             "Accept: text/event-stream\r\n"
                             "Content-Length: 12\r\n"
                             "Connection: foo\r\n"
                             "Connection: Close\r\n"
                             "\r\n"
                             "hello, world";

static const fl_span whole = {sample, sizeof sample - 1};

static void check_sample(const fl_head *head)
{
    assert_int_equal(head->version, 11);
    assert_true(fl_span_equal(head->method, FL_SPAN("POST")));
    assert_true(fl_span_equal(head->target, FL_SPAN("/a?b")));
    assert_true(fl_span_equal(head->authority, FL_SPAN("example.com:8080")));
    assert_true(head->has_body && head->has_length);
    assert_int_equal(head->length, 12);
    assert_int_equal(head->count, 8);
    assert_int_equal(head->at[FL_FIELD_HOST], 1);
    assert_int_equal(head->at[FL_FIELD_ACCEPT], 3);
    assert_false(fl_head_has(head, FL_FIELD_ORIGIN));
    assert_null(fl_head_get(head, FL_FIELD_ORIGIN).ptr);
    assert_true(fl_span_equal(fl_head_get(head, FL_FIELD_ACCEPT),
                              FL_SPAN("application/json")));
    assert_true(
        fl_span_equal(fl_head_find(head, FL_SPAN("x-ONE")), FL_SPAN("1")));
    assert_true(fl_span_equal(fl_head_find(head, FL_SPAN("ACCEPT")),
                              FL_SPAN("application/json")));
    assert_null(fl_head_find(head, FL_SPAN("x-two")).ptr);
}

static void test_head_is_read_where_it_lies(void **state)
{
    static fl_http1_message m;
    fl_http1_mark mark = {0};
    fl_span bytes = whole;

    (void)state;
    ration_reset();
    assert_int_equal(
        fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST, &limits, bytes), FL_OK);
    assert_int_equal(ration_count(), 0);
    assert_int_equal(m.size, sizeof sample - 1 - 12);
    assert_false(m.keep_alive);
    assert_false(m.chunked);
    assert_ptr_equal(m.head.method.ptr, bytes.ptr);
    check_sample(&m.head);
}

/* The bytes move between calls, as a buffer that grows does. */
static void test_head_is_read_on_from_its_mark(void **state)
{
    static fl_http1_message m;
    size_t size = sizeof sample - 1 - 12;

    (void)state;
    for (size_t step = 1; step < size; step++) {
        fl_http1_mark mark = {0};
        for (size_t n = step; n < size; n += step) {
            char *copy = malloc(n);
            assert_non_null(copy);
            memcpy(copy, sample, n);
            assert_int_equal(fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST,
                                                &limits, (fl_span){copy, n}),
                             FL_AGAIN);
            free(copy);
        }
        assert_int_equal(fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST,
                                            &limits, (fl_span){sample, size}),
                         FL_OK);
        check_sample(&m.head);
        assert_int_equal(m.size, size);
    }
}

static void test_head_that_is_kept_lives_on(void **state)
{
    static fl_http1_message m;
    fl_http1_mark mark = {0};
    size_t size = sizeof sample - 1;
    char *copy = malloc(size);

    (void)state;
    assert_non_null(copy);
    memcpy(copy, sample, size);
    assert_int_equal(fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST, &limits,
                                        (fl_span){copy, size}),
                     FL_OK);
    fl_http1_kept *kept = fl_http1_head_keep(&m, (fl_span){copy, m.size});
    assert_non_null(kept);
    memset(copy, 0, size);
    free(copy);
    memset(&m, 0, sizeof m);
    check_sample(&kept->head);
    fl_mem_free(kept);

    mark = (fl_http1_mark){0};
    assert_int_equal(
        fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST, &limits, whole), FL_OK);
    ration_allow(0);
    assert_null(fl_http1_head_keep(&m, whole));
    ration_reset();
}

static void test_head_takes_as_many_fields_as_there_can_be(void **state)
{
    static fl_http1_message m;
    static char text[4096];
    const fl_http_limits most = {.max_head = sizeof text,
                                 .max_target = 100,
                                 .max_fields = FL_HTTP_FIELDS_MAX};
    fl_http1_mark mark = {0};

    (void)state;
    size_t n = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.0\r\n");
    for (int i = 0; i < FL_HTTP_FIELDS_MAX; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "a: b\r\n");
    snprintf(text + n, sizeof text - n, "\r\n");
    assert_int_equal(fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST, &most,
                                        fl_span_of(text)),
                     FL_OK);
    assert_int_equal(m.head.count, FL_HTTP_FIELDS_MAX);
    snprintf(text + n, sizeof text - n, "c: d\r\n\r\n");
    mark = (fl_http1_mark){0};
    assert_int_equal(fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST, &most,
                                        fl_span_of(text)),
                     FL_E_BAD_MESSAGE);
    assert_int_equal(m.fault.status, 431);
}

/* Wrong at once, not when the line is complete: a peer that speaks TLS, or
 * that ends its lines otherwise, should not be waited for. */
static void test_head_is_refused_as_early_as_can_be(void **state)
{
    static const struct {
        const char *text;
        unsigned status;
    } cases[] = {
        {"\x16", 400},
        {"\n", 400},
        {"\r\n\r", 400},
        {"GET / HTTP/1.1\n", 400},
        {"GET / HTTP/2", 0},
        {"GET / HTTP/2.", 0},
        {"GET / HTTP/2.0", 505},
        {"GET / HTTP/1.1\r\n ", 400},
        {"GET / HTTP/1.1\r\nA ", 400},
        {"GET / HTTP/1.1\r\nA: \x01", 400},
        {"GET / HTTP/1.1\r\nA: b\n", 400},
        {"GET / HTTP/1.1\r\nA: b\r", 0},
        {"", 0},
        {"\r", 0},
        {"\r\n", 0},
        {"GET", 0},
    };
    static fl_http1_message m;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fl_http1_mark mark = {0};
        fl_status rc = fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST, &limits,
                                          fl_span_of(cases[i].text));
        assert_int_equal(rc,
                         cases[i].status != 0 ? FL_E_BAD_MESSAGE : FL_AGAIN);
        if (rc != FL_AGAIN) {
            assert_int_equal(m.fault.status, cases[i].status);
            assert_non_null(m.fault.what);
        }
    }
}

static void test_head_line_without_end_is_refused_at_the_limit(void **state)
{
    static fl_http1_message m;
    static char text[5000];
    fl_http1_mark mark = {0};
    fl_http_limits wide = limits;

    (void)state;
    wide.max_target = 8192;
    memset(text, 'a', sizeof text);
    memcpy(text, "GET /", 5);
    assert_int_equal(fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST, &wide,
                                        (fl_span){text, 4095}),
                     FL_AGAIN);
    assert_int_equal(fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST, &wide,
                                        (fl_span){text, 4096}),
                     FL_E_BAD_MESSAGE);
    assert_int_equal(m.fault.status, 414);
    mark = (fl_http1_mark){0};
    assert_int_equal(fl_http1_head_read(&m, &mark, FL_HTTP1_REQUEST, &wide,
                                        (fl_span){text, sizeof text}),
                     FL_E_BAD_MESSAGE);
    assert_int_equal(m.fault.status, 414);
}

static void test_rules_know_an_authority(void **state)
{
    static const char *const good[] = {
        "a",       "a:1",    "a:",    "127.0.0.1:65535", "[::1]",
        "[::1]:8", "a_b.c~", "a%2Fb", "a.b.c:080",       "!$&'()*+,;=",
    };
    static const char *const bad[] = {
        "",       ":",   ":1",   "a:b",   "a:65536", "a:99999999999", "a b",
        "a@b",    "a/b", "[",    "[]",    "[::1",    "[g]",           "a[b]",
        "[::1]x", "a%2", "a%zz", "a\x80", "a?b",     "a#b",           "a:1:2",
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(fl_http1_rules_authority(fl_span_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(fl_http1_rules_authority(fl_span_of(bad[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_is_read_where_it_lies),
        cmocka_unit_test(test_head_is_read_on_from_its_mark),
        cmocka_unit_test(test_head_that_is_kept_lives_on),
        cmocka_unit_test(test_head_takes_as_many_fields_as_there_can_be),
        cmocka_unit_test(test_head_is_refused_as_early_as_can_be),
        cmocka_unit_test(test_head_line_without_end_is_refused_at_the_limit),
        cmocka_unit_test(test_rules_know_an_authority),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
