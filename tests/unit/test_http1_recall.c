/*
 * test_http1_recall.c - a head means the same, whatever was read before it.
 *
 * Every head of a list is read after every other one, whole and cut anywhere,
 * and must come out as it does for a reader who remembers nothing. And what is
 * remembered must be nobody's own.
 */
#include "wire/http1_recall.h"

#include "base/mem.h"
#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const fl_http_limits plain = {
    .max_head = 4096, .max_target = 1024, .max_fields = 20};

#define START "POST /mcp HTTP/1.1\r\n"
#define COMMON                                                                 \
    "Host: example.com:8080\r\nContent-Type: application/json\r\n"             \
    "Accept: application/json, text/event-stream\r\n"
#define TEN "Accept: a\r\nAccept: b\r\nAccept: c\r\nAccept: d\r\nAccept: e\r\n"

static const char *const heads[] = {
    START COMMON "Content-Length: 12\r\n\r\n",
    START COMMON "Content-Length: 13\r\n\r\n",
    START COMMON "Content-Length: 12\r\nConnection: close\r\n\r\n",
    START COMMON "\r\n",
    START "Host: example.com:8080\r\n\r\n",
    START "Host: example.com:80\r\nAccept: a/b\r\n\r\n",
    "GET /mcp HTTP/1.1\r\n" COMMON "\r\n",
    "POST /mcp HTTP/1.0\r\n" COMMON "Content-Length: 12\r\n\r\n",
    "\r\n" START COMMON "Content-Length: 12\r\n\r\n",
    "POST http://example.com:8080/mcp HTTP/1.1\r\n" COMMON "\r\n",
    START "host:  example.com:8080 \r\naccept:\r\nuser-agent:\ta\r\n\r\n",
    START COMMON "Mcp-Name: echo\r\nMcp-Method: tools/call\r\n\r\n",
    START COMMON "Mcp-Name: file:///key\r\nMcp-Method: a\r\n\r\n",
    START COMMON "Mcp-Name: =?base64?a2V5?=\r\nMcp-Method: a\r\n\r\n",
    "POST /messages?sessionId=sesame HTTP/1.1\r\n" COMMON "\r\n",
    "POST /messages?sessionId=sesamo HTTP/1.1\r\n" COMMON "\r\n",
    START COMMON "Mcp-Session-Id: sesame\r\nContent-Length: 12\r\n\r\n",
    START COMMON "Authorization: Bearer sesame\r\nUser-Agent: a\r\n\r\n",
    START COMMON "X-Mine: sesame\r\nUser-Agent: a\r\n\r\n",
    START COMMON "X-Mine: other\r\nUser-Agent: a\r\n\r\n",
    START COMMON TEN TEN "Accept: f\r\n\r\n",
    START COMMON TEN TEN TEN "\r\n", /* too many */
    START COMMON "Host: example.com:8080\r\n\r\n",
    START COMMON "Content-Length: 12\r\nContent-Length: 12\r\n\r\n",
    START COMMON "Content-Length: x\r\n\r\n",
    START COMMON " folded\r\n\r\n",
    START COMMON "Accept : a\r\n\r\n",
    START COMMON "Accept: a\n\r\n",
    START "Accept: a\r\nContent-Type: b\r\n\r\n", /* no host */
};

enum { HEADS = sizeof heads / sizeof *heads };

static bool same_place(fl_span a, fl_span b)
{
    return a.ptr == b.ptr && a.len == b.len;
}

static void check_same(const fl_http1_message *a, const fl_http1_message *b)
{
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->chunked, b->chunked);
    assert_int_equal(a->keep_alive, b->keep_alive);
    assert_int_equal(a->head.version, b->head.version);
    assert_int_equal(a->head.length, b->head.length);
    assert_int_equal(a->head.has_length, b->head.has_length);
    assert_int_equal(a->head.has_body, b->head.has_body);
    assert_true(same_place(a->head.method, b->head.method));
    assert_true(same_place(a->head.target, b->head.target));
    assert_true(same_place(a->head.authority, b->head.authority));
    assert_int_equal(a->head.count, b->head.count);
    assert_memory_equal(a->head.at, b->head.at, sizeof a->head.at);
    for (size_t i = 0; i < a->head.count; i++) {
        assert_int_equal(a->fields[i].id, b->fields[i].id);
        assert_true(same_place(a->fields[i].name, b->fields[i].name));
        assert_true(same_place(a->fields[i].value, b->fields[i].value));
    }
}

/* The first `cut` bytes of the text come first. */
static fl_status read_cut(fl_http1_message *m, const fl_http_limits *limits,
                          fl_span text, size_t cut)
{
    fl_http1_mark mark = {0};
    fl_status rc = fl_http1_head_read(m, &mark, FL_HTTP1_REQUEST, limits,
                                      (fl_span){text.ptr, cut});

    return rc == FL_AGAIN
               ? fl_http1_head_read(m, &mark, FL_HTTP1_REQUEST, limits, text)
               : rc;
}

static void check_after(const char *first, const char *second)
{
    static fl_http1_message with, without;
    fl_http_recall *recall = fl_http_recall_new();
    fl_http_limits limits = plain;
    fl_span text = fl_span_of(second);

    assert_non_null(recall);
    limits.recall = recall;
    (void)!read_cut(&with, &limits, fl_span_of(first), strlen(first));
    fl_http_recall learnt = *recall;
    for (size_t cut = 0; cut <= text.len; cut++) {
        *recall = learnt;
        fl_status expected = read_cut(&without, &plain, text, cut);
        assert_int_equal(read_cut(&with, &limits, text, cut), expected);
        if (expected == FL_OK) {
            check_same(&with, &without);
        } else {
            assert_int_equal(with.fault.status, without.fault.status);
            assert_string_equal(with.fault.what, without.fault.what);
        }
    }
    fl_http_recall_free(recall);
}

static void test_what_was_read_before_makes_no_difference(void **state)
{
    (void)state;
    for (size_t i = 0; i < HEADS; i++)
        for (size_t j = 0; j < HEADS; j++)
            check_after(heads[i], heads[j]);
}

static void test_limit_of_the_head_holds_within_what_is_known(void **state)
{
    static fl_http1_message m;
    fl_http_recall recall = {0};
    fl_http_limits limits = plain;
    fl_span text = fl_span_of(heads[0]);

    (void)state;
    limits.recall = &recall;
    assert_int_equal(read_cut(&m, &limits, text, text.len), FL_OK);
    limits.max_head = text.len; /* and more would come */
    assert_int_equal(read_cut(&m, &limits, text, text.len), FL_OK);
    limits.max_head = text.len - 10;
    assert_int_equal(read_cut(&m, &limits, text, text.len), FL_E_BAD_MESSAGE);
    assert_int_equal(m.fault.status, 431);
    limits.max_head = 30;
    assert_int_equal(read_cut(&m, &limits, text, text.len), FL_E_BAD_MESSAGE);
    assert_int_equal(m.fault.status, 431);
}

static void test_limits_of_fields_and_target_hold_as_well(void **state)
{
    static fl_http1_message m;
    fl_http_recall recall = {0};
    fl_http_limits limits = plain;
    fl_span text = fl_span_of(heads[0]); /* four fields, a target of four */

    (void)state;
    limits.recall = &recall;
    assert_int_equal(read_cut(&m, &limits, text, text.len), FL_OK);
    limits.max_fields = 4;
    limits.max_target = 4;
    assert_int_equal(read_cut(&m, &limits, text, text.len), FL_OK);
    limits.max_fields = 3;
    assert_int_equal(read_cut(&m, &limits, text, text.len), FL_E_BAD_MESSAGE);
    assert_int_equal(m.fault.status, 431);
    limits.max_fields = 4;
    limits.max_target = 3;
    assert_int_equal(read_cut(&m, &limits, text, text.len), FL_E_BAD_MESSAGE);
    assert_int_equal(m.fault.status, 414);
}

static void test_lines_are_taken_over_as_far_as_they_are_alike(void **state)
{
    static fl_http1_message m;
    fl_http_recall recall = {0};
    fl_http_limits limits = plain;
    fl_http1_mark mark = {0};

    (void)state;
    limits.recall = &recall;
    fl_http1_recall_use(&limits, fl_span_of(heads[0]), &m, &mark);
    assert_false(mark.begun);
    assert_int_equal(read_cut(&m, &limits, fl_span_of(heads[0]), 0), FL_OK);
    assert_int_equal(recall.count, 4);

    m.head = (fl_head){.fields = m.fields};
    fl_http1_recall_use(&limits, fl_span_of(heads[0]), &m, &mark);
    assert_true(mark.begun);
    assert_int_equal(mark.count, 4);
    assert_int_equal(mark.line, strlen(heads[0]) - 2);

    mark = (fl_http1_mark){0};
    m.head = (fl_head){.fields = m.fields};
    fl_http1_recall_use(&limits, fl_span_of(heads[1]), &m, &mark);
    assert_int_equal(mark.count, 3); /* another length */

    mark = (fl_http1_mark){0};
    fl_http1_recall_use(&limits, FL_SPAN("POST /mcp HT"), &m, &mark);
    assert_false(mark.begun);
}

static void test_secrets_are_not_kept(void **state)
{
    static fl_http1_message m;
    fl_http_limits limits = plain;

    (void)state;
    for (size_t i = 0; i < HEADS; i++) {
        fl_http_recall recall = {0};
        limits.recall = &recall;
        (void)!read_cut(&m, &limits, fl_span_of(heads[i]), 0);
        fl_span kept = {recall.text, sizeof recall.text};
        assert_null(memmem(kept.ptr, kept.len, "sesame", 6));
        assert_null(memmem(kept.ptr, kept.len, "key", 3));
        assert_null(memmem(kept.ptr, kept.len, "a2V5", 4));
        assert_null(memmem(kept.ptr, kept.len, "X-Mine", 6));
    }
}

static void test_long_beginnings_are_not_kept(void **state)
{
    static fl_http1_message m;
    static char text[4096];
    fl_http_recall recall = {0};
    fl_http_limits limits = plain;

    (void)state;
    limits.recall = &recall;
    for (size_t extra = 0; extra < 2; extra++) {
        static const char front[] =
            START "Host: a\r\nAccept: a\r\nUser-Agent: ";
        size_t n = sizeof front - 1;
        memcpy(text, front, n);
        while (n < FL_HTTP1_RECALL_TEXT - 2 + extra)
            text[n++] = 'a';
        memcpy(text + n, "\r\n\r\n", 5);
        recall = (fl_http_recall){0};
        assert_int_equal(read_cut(&m, &limits, fl_span_of(text), 0), FL_OK);
        assert_int_equal(recall.count, extra == 0 ? 3 : 0);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    ration_allow(0);
    assert_null(fl_http_recall_new());
    ration_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_read_before_makes_no_difference),
        cmocka_unit_test(test_limit_of_the_head_holds_within_what_is_known),
        cmocka_unit_test(test_limits_of_fields_and_target_hold_as_well),
        cmocka_unit_test(test_lines_are_taken_over_as_far_as_they_are_alike),
        cmocka_unit_test(test_secrets_are_not_kept),
        cmocka_unit_test(test_long_beginnings_are_not_kept),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
