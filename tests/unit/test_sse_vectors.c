/*
 * test_sse_vectors.c - the vectors of the Web Platform Tests and of
 * LaunchDarkly's contract tests.
 *
 * Each comes in pieces, which matter as bytes only: it is read whole, byte by
 * byte and, unless it is very long, at every split in two.
 */
#include "wire/sse.h"

#include "base/base64.h"
#include "base/span.h"
#include "support/chop.h"
#include "support/data.h"
#include "json/nav.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX = 1 << 20, LONG = 2000 };

static void start(void *user)
{
    fl_sse_init(user, MAX);
}

static void feed(void *user, fl_span piece, chop_notes *notes)
{
    fl_sse_event event;
    fl_status rc;

    while ((rc = fl_sse_next(user, &piece, &event)) != FL_AGAIN) {
        assert_int_equal(rc, FL_OK);
        chop_note_bytes(notes, event.type);
        chop_note(notes, "|");
        chop_note_bytes(notes, event.data);
        chop_note(notes, "|");
        chop_note_bytes(notes, event.id);
        chop_note(notes, ";");
    }
}

static void end(void *user, chop_notes *notes)
{
    fl_sse *sse = user;

    chop_note(notes, "id ");
    chop_note_bytes(notes, fl_buf_view(&sse->last_id));
    if (sse->retry_ms != UINT64_MAX)
        chop_note(notes, " retry %" PRIu64, sse->retry_ms);
    fl_sse_deinit(sse);
}

static const chop_reader reader = {start, feed, end};

static void add(fl_buf *out, fl_span bytes)
{
    assert_int_equal(fl_buf_append(out, bytes), FL_OK);
}

static void add_string(fl_buf *out, fl_span object, fl_span key)
{
    assert_int_equal(fl_json_string_copy(fl_json_get(object, key), out), FL_OK);
}

/* The last of the retry times counts. */
static void add_retry(fl_buf *out, fl_span times)
{
    fl_json_walk walk;
    fl_json_member time;
    fl_span last = {0};

    fl_json_walk_init(&walk, times);
    while (fl_json_walk_next(&walk, &time))
        last = time.value;
    if (last.len == 0)
        return;
    add(out, FL_SPAN(" retry "));
    add(out, last);
}

/* What the reader should write down, with a NUL at the end. */
static void add_wanted(fl_buf *out, fl_span vector)
{
    fl_json_walk walk;
    fl_json_member event;

    fl_json_walk_init(&walk, fl_json_get(vector, FL_SPAN("events")));
    while (fl_json_walk_next(&walk, &event)) {
        add_string(out, event.value, FL_SPAN("event"));
        add(out, FL_SPAN("|"));
        add_string(out, event.value, FL_SPAN("data"));
        add(out, FL_SPAN("|"));
        add_string(out, event.value, FL_SPAN("id"));
        add(out, FL_SPAN(";"));
    }
    add(out, FL_SPAN("id "));
    add_string(out, vector, FL_SPAN("last_event_id"));
    add_retry(out, fl_json_get(vector, FL_SPAN("retry")));
    add(out, (fl_span){"", 1});
}

static void add_pieces(fl_buf *out, fl_span pieces)
{
    fl_json_walk walk;
    fl_json_member piece;

    fl_json_walk_init(&walk, pieces);
    while (fl_json_walk_next(&walk, &piece)) {
        fl_span packed = {piece.value.ptr + 1, piece.value.len - 2};
        assert_int_equal(fl_base64_decode(packed, out), FL_OK);
    }
}

/* Some have a NUL in their data, so it is bytes that are compared. */
static void check_cut(fl_span bytes, size_t first, size_t step, fl_span wanted)
{
    fl_sse sse;
    const char *got = chop_run(&reader, &sse, bytes, first, step);

    assert_memory_equal(got, wanted.ptr, wanted.len);
}

static void check(fl_span vector)
{
    fl_span name = fl_json_get(vector, FL_SPAN("id"));
    fl_buf wanted, bytes;

    print_message("# %.*s\n", (int)name.len, name.ptr);
    assert_int_equal(fl_json_type_of(fl_json_get(vector, FL_SPAN("gen"))),
                     FL_JSON_NULL);
    fl_buf_init(&wanted, MAX);
    fl_buf_init(&bytes, MAX);
    add_wanted(&wanted, vector);
    add_pieces(&bytes, fl_json_get(vector, FL_SPAN("chunks_b64")));

    fl_span text = fl_buf_view(&bytes), want = fl_buf_view(&wanted);
    check_cut(text, 0, 1, want);
    check_cut(text, 0, text.len, want);
    for (size_t first = 1; first < text.len && text.len <= LONG; first++)
        check_cut(text, first, text.len, want);
    fl_buf_reset(&wanted);
    fl_buf_reset(&bytes);
}

static void test_sse_reads_all_vectors(void **state)
{
    fl_span file = data_load("sse/sse_vectors.json");
    fl_json_walk walk;
    fl_json_member vector;
    size_t count = 0;

    (void)state;
    fl_json_walk_init(&walk, fl_json_get(file, FL_SPAN("vectors")));
    for (; fl_json_walk_next(&walk, &vector); count++)
        check(vector.value);
    assert_true(count >= 100);
    data_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sse_reads_all_vectors),
    };

    return cmocka_run_group_tests_name("sse vectors", tests, NULL, NULL);
}
