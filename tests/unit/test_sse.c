/*
 * test_sse.c - events in and out, however they are cut.
 *
 * What is read is written down as "type|data|id;" for an event, "!big;" and
 * "!mem;" for one that is lost, and at the end the last event ID and, if one
 * was asked for, the retry time.
 */
#include "wire/sse.h"

#include "base/span.h"
#include "support/chop.h"
#include "support/ration.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct stream {
    fl_sse sse;
    size_t max;
} stream;

static void start(void *user)
{
    stream *s = user;

    fl_sse_init(&s->sse, s->max);
}

static void note(chop_notes *notes, fl_status rc, const fl_sse_event *event)
{
    if (rc != FL_OK) {
        assert_true(rc == FL_E_TOO_BIG || rc == FL_E_NOMEM);
        assert_int_equal(event->data.len, 0);
        chop_note(notes, rc == FL_E_NOMEM ? "!mem;" : "!big;");
        return;
    }
    chop_note_bytes(notes, event->type);
    chop_note(notes, "|");
    chop_note_bytes(notes, event->data);
    chop_note(notes, "|");
    chop_note_bytes(notes, event->id);
    chop_note(notes, ";");
}

static void feed(void *user, fl_span piece, chop_notes *notes)
{
    stream *s = user;
    fl_sse_event event;
    fl_status rc;

    while ((rc = fl_sse_next(&s->sse, &piece, &event)) != FL_AGAIN)
        note(notes, rc, &event);
    assert_int_equal(piece.len, 0);
}

static void end(void *user, chop_notes *notes)
{
    stream *s = user;

    chop_note_bytes(notes, fl_buf_view(&s->sse.last_id));
    if (s->sse.retry_ms != UINT64_MAX)
        chop_note(notes, " %" PRIu64, s->sse.retry_ms);
    fl_sse_deinit(&s->sse);
}

static const chop_reader reader = {start, feed, end};

static void expect(const char *text, const char *want)
{
    stream s = {.max = 1000};

    chop(&reader, &s, fl_span_of(text), want);
}

static void test_sse_reads_the_rules_own_examples(void **state)
{
    (void)state;
    expect("data: YHOO\ndata: +2\ndata: 10\n\n", "message|YHOO\n+2\n10|;");
    expect(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\n"
           "id\n\ndata:  third event\n\n",
           "message|first event|1;message|second event|;"
           "message| third event|;");
    expect("data\n\ndata\ndata\n\ndata:", "message||;message|\n|;");
    expect("data:test\n\ndata: test\n\n", "message|test|;message|test|;");
    expect("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n"
           "data: 113\n\n",
           "add|73857293|;remove|2153|;message|113|;");
}

static void test_sse_ends_lines_three_ways(void **state)
{
    (void)state;
    expect("data:a\rdata:b\r\ndata:c\n\r\ndata:d\r\rdata:e\n\ndata:f\r\n\r\n",
           "message|a\nb\nc|;message|d|;message|e|;message|f|;");
}

static void test_sse_drops_one_byte_order_mark(void **state)
{
    (void)state;
    expect("\xEF\xBB\xBF"
           "data:a\n\n\xEF\xBB\xBF"
           "data:b\n\n",
           "message|a|;");
    expect("\xEF\xBB\xBF\xEF\xBB\xBF"
           "data:a\n\ndata:b\n\n",
           "message|b|;");
    expect("\xEF\xBB\xBF\ndata:b\n\n", "message|b|;");
    expect("\xEF\xBB"
           "data:a\n\ndata:b\n\n",
           "message|b|;");
}

static void test_sse_removes_one_space_only(void **state)
{
    (void)state;
    expect("data:  a\nevent:  b\nid:  c\n\n", " b| a| c; c");
}

static void test_sse_ignores_what_it_does_not_know(void **state)
{
    (void)state;
    expect("DATA:x\ndata :x\n data:x\nfoo\n:comment\nfoo:bar\ndat:x\ndatax:x\n"
           "data:a\n\n",
           "message|a|;");
}

static void test_sse_event_without_data_is_none_but_its_id_counts(void **state)
{
    (void)state;
    expect("event:x\nid:7\n\ndata:a\n\n", "message|a|7;7");
    expect("id:7\n\n", "7");
    expect("event:x\n\ndata:a\n\n", "message|a|;");
}

static void test_sse_what_is_cut_off_never_was(void **state)
{
    (void)state;
    expect("id:1\ndata:a\n\nid:2\ndata:b\n", "message|a|1;1");
    expect("data:a\n", "");
    expect("data:a\n\ndata:b", "message|a|;");
}

static void test_sse_last_id_stays_until_it_is_changed(void **state)
{
    (void)state;
    expect("id:1\ndata:a\n\ndata:b\n\nid:2\nid:3\ndata:c\n\nid\ndata:d\n\n",
           "message|a|1;message|b|1;message|c|3;message|d|;");
}

static void test_sse_id_with_a_nul_is_no_id(void **state)
{
    static const char text[] = "id:1\ndata:a\n\nid:x\0y\ndata:b\n\n";
    stream s = {.max = 1000};

    (void)state;
    chop(&reader, &s, (fl_span){text, sizeof text - 1},
         "message|a|1;message|b|1;1");
}

static void test_sse_retry_is_digits_only(void **state)
{
    (void)state;
    expect("retry:0\n", " 0");
    expect("retry: 3000\nretry:-1\nretry:1.5\nretry:1e3\nretry:\nretry:  1\n"
           "retry: 1 \nretry\nretry:0x1\nretry:+1\nretry:\xD9\xA1\n",
           " 3000");
    expect("retry:007\n", " 7");
    expect("retry:18446744073709551613\n", " 18446744073709551613");
    expect("retry:18446744073709551614\n", " 18446744073709551614");
    expect("retry:18446744073709551615\n", " 18446744073709551614");
    expect("retry:18446744073709551616\n", " 18446744073709551614");
    expect("retry:999999999999999999999999\n", " 18446744073709551614");
}

static void test_sse_retry_counts_at_once(void **state)
{
    (void)state;
    expect("data:x\nretry:5\n", " 5");
}

static void test_sse_restart_keeps_what_a_new_connection_needs(void **state)
{
    fl_sse sse;
    fl_sse_event event;
    fl_span in = FL_SPAN("id:1\nretry:9\ndata:a\n\nid:2\nevent:x\ndata:b\nda");

    (void)state;
    fl_sse_init(&sse, 100);
    assert_int_equal(fl_sse_next(&sse, &in, &event), FL_OK);
    assert_int_equal(fl_sse_next(&sse, &in, &event), FL_AGAIN);
    fl_sse_restart(&sse);
    assert_true(fl_span_equal(fl_buf_view(&sse.last_id), FL_SPAN("1")));
    assert_int_equal(sse.retry_ms, 9);
    in = FL_SPAN("\xEF\xBB\xBF"
                 "data:c\n\n");
    assert_int_equal(fl_sse_next(&sse, &in, &event), FL_OK);
    assert_true(fl_span_equal(event.type, FL_SPAN("message")));
    assert_true(fl_span_equal(event.data, FL_SPAN("c")));
    assert_true(fl_span_equal(event.id, FL_SPAN("1")));
    fl_sse_deinit(&sse);
}

static void test_sse_restart_after_a_lost_line_reads_on(void **state)
{
    fl_sse sse;
    fl_sse_event event;
    fl_span in = FL_SPAN("data:0123456789");

    (void)state;
    fl_sse_init(&sse, 4);
    assert_int_equal(fl_sse_next(&sse, &in, &event), FL_E_TOO_BIG);
    assert_int_equal(fl_sse_next(&sse, &in, &event), FL_AGAIN);
    fl_sse_restart(&sse);
    in = FL_SPAN("data:c\n\n");
    assert_int_equal(fl_sse_next(&sse, &in, &event), FL_OK);
    assert_true(fl_span_equal(event.data, FL_SPAN("c")));
    fl_sse_deinit(&sse);
}

static void test_sse_data_at_the_limit_and_one_past(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"data: 12345\n\ndata:x\n\n", "message|12345|;message|x|;"},
        {"data: 123456\n\ndata:x\n\n", "!big;message|x|;"},
        {"data:12\ndata:34\n\ndata:x\n\n", "message|12\n34|;message|x|;"},
        {"data:12\ndata:345\n\ndata:x\n\n", "!big;message|x|;"},
        {"data:12345\ndata\n\ndata:x\n\n", "!big;message|x|;"},
        {"\xEF\xBB\xBF"
         "data: 12345\n\n",
         "message|12345|;"},
        {"event: 12345\ndata:x\n\n", "12345|x|;"},
        {"event: 123456\ndata:x\n\ndata:y\n\n", "!big;message|y|;"},
        {"id: 12345\ndata:x\n\n", "message|x|12345;12345"},
        {"id: 123456\ndata:x\n\ndata:y\n\n", "!big;message|y|;"},
        {": 345678901234\ndata:x\n\n", "message|x|;"},
        {": 3456789012345\ndata:x\n\ndata:y\n\n", "!big;message|y|;"},
        /* told once, however much is too big; its id counts all the same */
        {"id:1\ndata:0123456\ndata:0123456\nevent:0123456\n:0123456789012345\n"
         "data:x\n\ndata:y\n\n",
         "!big;message|y|1;1"},
        {"data:0123456\nid:2\nretry:3\n\ndata:y\n\n", "!big;message|y|2;2 3"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        stream s = {.max = 5};
        chop(&reader, &s, fl_span_of(cases[i].text), cases[i].want);
    }
}

static void test_sse_memory_never_passes_the_limit(void **state)
{
    enum { MAX = 100 * 1000, LINES = 10000 };
    fl_sse sse;
    fl_sse_event event;
    int lost = 0;

    (void)state;
    ration_reset();
    ptrdiff_t before = ration_live_bytes();
    fl_sse_init(&sse, MAX);
    for (int i = 0; i < LINES; i++) { /* 1 MB of data without an end */
        char line[101];
        (void)snprintf(line, sizeof line, "data:%094d\n", i);
        fl_span in = fl_span_of(line);
        lost += fl_sse_next(&sse, &in, &event) == FL_E_TOO_BIG;
    }
    assert_int_equal(lost, 1);
    assert_in_range(ration_peak_bytes(), MAX, 2 * MAX);
    assert_int_equal(ration_live_bytes(), before);
    fl_sse_deinit(&sse);
}

static void test_sse_at_rest_holds_no_memory(void **state)
{
    fl_sse sse;
    fl_sse_event event;
    fl_span in = FL_SPAN("data:a\n\nevent:x\n\n: hello\n\n");

    (void)state;
    ration_reset();
    ptrdiff_t before = ration_live_blocks();
    fl_sse_init(&sse, 1000);
    assert_int_equal(fl_sse_next(&sse, &in, &event), FL_OK);
    assert_true(ration_live_blocks() > before);
    assert_int_equal(fl_sse_next(&sse, &in, &event), FL_AGAIN);
    assert_int_equal(ration_live_blocks(), before);
    fl_sse_deinit(&sse);
}

static void read_rationed(void *user)
{
    static const char text[] = "id:1\nevent:t\ndata:abc\n\nid:2\ndata:d\n\n";

    (void)chop_run(&reader, user, (fl_span){text, sizeof text - 1}, 0, 5);
}

static void test_sse_without_memory_leaks_nothing(void **state)
{
    stream s = {.max = 1000};

    (void)state;
    assert_true(ration_each(read_rationed, &s) > 5);
}

static void test_sse_without_memory_loses_one_event(void **state)
{
    stream s = {.max = 1000};
    fl_span text = FL_SPAN("data:a\n\ndata:b\n\n");

    (void)state;
    ration_reset();
    ration_fail_at(1);
    assert_string_equal(chop_run(&reader, &s, text, 0, 99), "!mem;message|b|;");
    ration_reset();
}

/* What fl_sse_write() appends, as text. */
static const char *write(const fl_sse_out *fields, const char *const *parts,
                         fl_status want)
{
    static char text[1000];
    fl_span spans[8];
    size_t count = 0;
    fl_buf out;

    for (; parts != NULL && parts[count] != NULL; count++)
        spans[count] = fl_span_of(parts[count]);
    fl_buf_init(&out, 1000);
    assert_int_equal(fl_buf_append(&out, FL_SPAN("~")), FL_OK);
    assert_int_equal(fl_sse_write(&out, fields, spans, count), want);
    fl_span view = fl_buf_view(&out);
    memcpy(text, view.ptr, view.len);
    text[view.len] = '\0';
    fl_buf_reset(&out);
    return text;
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_sse_writes_fields_that_are_there(void **state)
{
    (void)state;
    assert_string_equal(write(&(fl_sse_out){0}, PARTS("{}"), FL_OK),
                        "~data: {}\n\n");
    assert_string_equal(
        write(&(fl_sse_out){FL_SPAN("1_2"), FL_SPAN("message"), UINT64_MAX},
              PARTS("a", "b"), FL_OK),
        "~id: 1_2\nevent: message\nretry: "
        "18446744073709551615\ndata: ab\n\n");
    assert_string_equal(write(&(fl_sse_out){.id = FL_SPAN("1")}, NULL, FL_OK),
                        "~id: 1\ndata:\n\n");
    assert_string_equal(write(&(fl_sse_out){0}, PARTS("", ""), FL_OK),
                        "~data:\n\n");
}

static void test_sse_writes_a_data_line_for_each_line(void **state)
{
    const fl_sse_out none = {0};

    (void)state;
    assert_string_equal(write(&none, PARTS("a\nb\r\nc\rd"), FL_OK),
                        "~data: a\ndata: b\ndata: c\ndata: d\n\n");
    assert_string_equal(write(&none, PARTS("a\r", "", "\nb"), FL_OK),
                        "~data: a\ndata: b\n\n");
    assert_string_equal(write(&none, PARTS("a\r", "\r", "\n\n"), FL_OK),
                        "~data: a\ndata: \ndata: \ndata: \n\n");
    assert_string_equal(write(&none, PARTS("\n"), FL_OK),
                        "~data: \ndata: \n\n");
}

static void test_sse_writes_nothing_that_could_be_another_field(void **state)
{
    static const char *const bad[] = {"a\nb", "a\rb", "\n", "a\r\ndata: x"};

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        fl_span text = fl_span_of(bad[i]);
        assert_string_equal(
            write(&(fl_sse_out){.id = text}, PARTS("x"), FL_E_INVALID), "~");
        assert_string_equal(
            write(&(fl_sse_out){.event = text}, PARTS("x"), FL_E_INVALID), "~");
    }
    assert_string_equal(
        write(&(fl_sse_out){.id = {"a\0b", 3}}, PARTS("x"), FL_E_INVALID), "~");
    assert_string_equal(
        write(&(fl_sse_out){.event = {"a\0b", 3}}, PARTS("x"), FL_E_INVALID),
        "~");
}

static void test_sse_writes_comments(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 100);
    assert_int_equal(fl_sse_write_comment(&out, FL_SPAN("hi")), FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&out), FL_SPAN(": hi\n\n")));
    assert_int_equal(fl_sse_write_comment(&out, FL_SPAN("a\ndata: x")),
                     FL_E_INVALID);
    assert_int_equal(fl_buf_len(&out), 6);
    fl_buf_reset(&out);
}

/* Whole at the limit, and not a byte of it one below. */
static void test_sse_writes_all_or_nothing(void **state)
{
    const fl_span part = FL_SPAN("ab\ncd");
    const fl_sse_out fields = {FL_SPAN("1"), FL_SPAN("e"), 5};
    const size_t size = strlen("id: 1\nevent: e\nretry: 5\n"
                               "data: ab\ndata: cd\n\n");

    (void)state;
    for (size_t max = 1; max <= size; max++) {
        fl_buf out;
        fl_buf_init(&out, max);
        assert_int_equal(fl_sse_write(&out, &fields, &part, 1),
                         max < size ? FL_E_TOO_BIG : FL_OK);
        assert_int_equal(fl_buf_len(&out), max < size ? 0 : size);
        fl_buf_reset(&out);
    }
    for (size_t max = 1; max <= 6; max++) {
        fl_buf out;
        fl_buf_init(&out, max);
        assert_int_equal(fl_sse_write_comment(&out, FL_SPAN("hi")),
                         max < 6 ? FL_E_TOO_BIG : FL_OK);
        assert_int_equal(fl_buf_len(&out), max < 6 ? 0 : 6);
        fl_buf_reset(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sse_reads_the_rules_own_examples),
        cmocka_unit_test(test_sse_ends_lines_three_ways),
        cmocka_unit_test(test_sse_drops_one_byte_order_mark),
        cmocka_unit_test(test_sse_removes_one_space_only),
        cmocka_unit_test(test_sse_ignores_what_it_does_not_know),
        cmocka_unit_test(test_sse_event_without_data_is_none_but_its_id_counts),
        cmocka_unit_test(test_sse_what_is_cut_off_never_was),
        cmocka_unit_test(test_sse_last_id_stays_until_it_is_changed),
        cmocka_unit_test(test_sse_id_with_a_nul_is_no_id),
        cmocka_unit_test(test_sse_retry_is_digits_only),
        cmocka_unit_test(test_sse_retry_counts_at_once),
        cmocka_unit_test(test_sse_restart_keeps_what_a_new_connection_needs),
        cmocka_unit_test(test_sse_restart_after_a_lost_line_reads_on),
        cmocka_unit_test(test_sse_data_at_the_limit_and_one_past),
        cmocka_unit_test(test_sse_memory_never_passes_the_limit),
        cmocka_unit_test(test_sse_at_rest_holds_no_memory),
        cmocka_unit_test(test_sse_without_memory_leaks_nothing),
        cmocka_unit_test(test_sse_without_memory_loses_one_event),
        cmocka_unit_test(test_sse_writes_fields_that_are_there),
        cmocka_unit_test(test_sse_writes_a_data_line_for_each_line),
        cmocka_unit_test(test_sse_writes_nothing_that_could_be_another_field),
        cmocka_unit_test(test_sse_writes_comments),
        cmocka_unit_test(test_sse_writes_all_or_nothing),
    };

    return cmocka_run_group_tests_name("sse", tests, NULL, NULL);
}
