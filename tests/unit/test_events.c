/*
 * test_events.c - what was missed is said again, all of it or none.
 *
 * A replay is written down as "1:data 2:data ... ok", with "gone" for events
 * that were dropped and "unknown" for a stream or number that never was. Time
 * is a number that the test passes in.
 */
#include "store/events.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 5000 };

typedef struct bench {
    fl_events *events;
    fl_event_log *log;
} bench;

static bench open_with(size_t max_events, size_t max_bytes, uint64_t max_age_ms)
{
    const fl_events_limits limits = {max_events, max_bytes, max_age_ms};
    bench b = {.events = fl_events_new_memory(&limits)};

    assert_non_null(b.events);
    assert_int_equal(fl_events_open(b.events, FL_SPAN("session"), &b.log),
                     FL_OK);
    return b;
}

static void close_bench(bench *b)
{
    fl_event_log_close(b->log);
    fl_events_free(b->events);
}

static void say(bench *b, uint64_t stream, uint64_t number, const char *data,
                uint64_t now_ms)
{
    assert_int_equal(
        fl_event_log_append(b->log, stream, number, fl_span_of(data), now_ms),
        FL_OK);
}

typedef struct transcript {
    char text[1000];
    size_t len;
    int done;
} transcript;

static void write_event(void *user, uint64_t number, fl_span data)
{
    transcript *t = user;

    assert_int_equal(t->done, 0);
    t->len +=
        (size_t)snprintf(t->text + t->len, sizeof t->text - t->len, "%u:%.*s ",
                         (unsigned)number, (int)data.len, data.ptr);
    assert_true(t->len < sizeof t->text);
}

static void write_done(void *user, fl_status status)
{
    transcript *t = user;
    const char *word = status == FL_OK            ? "ok"
                       : status == FL_E_LIMIT     ? "gone"
                       : status == FL_E_NOT_FOUND ? "unknown"
                                                  : "?";

    t->done++;
    (void)snprintf(t->text + t->len, sizeof t->text - t->len, "%s", word);
}

static const fl_replay writer = {write_event, write_done};

static void expect(bench *b, uint64_t stream, uint64_t after, uint64_t now_ms,
                   const char *want)
{
    transcript t = {.len = 0};

    fl_event_log_replay(b->log, stream, after, now_ms, &writer, &t);
    assert_int_equal(t.done, 1);
    if (strcmp(t.text, want) != 0)
        fail_msg("stream %u after %u at %u\n  want %s\n  got  %s",
                 (unsigned)stream, (unsigned)after, (unsigned)now_ms, want,
                 t.text);
}

static void test_events_replays_what_was_missed(void **state)
{
    bench b = open_with(0, 0, 0);

    (void)state;
    say(&b, 7, 1, "a", 0);
    say(&b, 7, 2, "", 0);
    say(&b, 7, 3, "c", 0);
    expect(&b, 7, 0, 0, "1:a 2: 3:c ok");
    expect(&b, 7, 1, 0, "2: 3:c ok");
    expect(&b, 7, 2, 0, "3:c ok");
    expect(&b, 7, 3, 0, "ok");
    expect(&b, 7, 0, 0, "1:a 2: 3:c ok"); /* asking changes nothing */
    close_bench(&b);
}

static void test_events_knows_what_never_was(void **state)
{
    bench b = open_with(0, 0, 0);

    (void)state;
    expect(&b, 7, 0, 0, "unknown");
    say(&b, 7, 1, "a", 0);
    expect(&b, 7, 2, 0, "unknown");
    expect(&b, 7, UINT64_MAX, 0, "unknown");
    expect(&b, 6, 0, 0, "unknown");
    expect(&b, 7 + (1ull << 32), 0, 0, "unknown");
    close_bench(&b);
}

static void test_events_keeps_streams_apart(void **state)
{
    bench b = open_with(0, 0, 0);

    (void)state;
    for (uint64_t n = 1; n <= 3; n++)
        for (uint64_t stream = 0; stream < 20; stream++) {
            char data[20];
            (void)snprintf(data, sizeof data, "%u",
                           (unsigned)(stream * 10 + n));
            say(&b, stream, n, data, 0);
        }
    for (uint64_t stream = 0; stream < 20; stream++) {
        char want[60];
        unsigned s = (unsigned)stream * 10;
        (void)snprintf(want, sizeof want, "2:%u 3:%u ok", s + 2, s + 3);
        expect(&b, stream, 1, 0, want);
    }
    close_bench(&b);
}

static void test_events_of_two_sessions_are_apart(void **state)
{
    bench b = open_with(0, 0, 0), other = b;

    (void)state;
    assert_int_equal(fl_events_open(b.events, FL_SPAN("other"), &other.log),
                     FL_OK);
    say(&b, 1, 1, "a", 0);
    say(&other, 1, 1, "b", 0);
    expect(&b, 1, 0, 0, "1:a ok");
    expect(&other, 1, 0, 0, "1:b ok");
    fl_event_log_close(other.log);
    close_bench(&b);
}

static void test_events_refuses_numbers_that_go_back(void **state)
{
    bench b = open_with(0, 0, 0);
    const fl_span data = FL_SPAN("x");

    (void)state;
    assert_int_equal(fl_event_log_append(b.log, 1, 0, data, 0), FL_E_INVALID);
    say(&b, 1, 1, "a", 0);
    say(&b, 1, 2, "b", 0);
    assert_int_equal(fl_event_log_append(b.log, 1, 2, data, 0), FL_E_INVALID);
    assert_int_equal(fl_event_log_append(b.log, 1, 1, data, 0), FL_E_INVALID);
    assert_int_equal(fl_event_log_append(b.log, 1, 0, data, 0), FL_E_INVALID);
    expect(&b, 1, 0, 0, "1:a 2:b ok");
    close_bench(&b);
}

/* Whoever skips a number has lost an event, and must hear of it. */
static void test_events_skipped_numbers_are_dropped_events(void **state)
{
    bench b = open_with(0, 0, 0);

    (void)state;
    say(&b, 1, 1, "a", 0);
    say(&b, 1, 3, "c", 0);
    expect(&b, 1, 0, 0, "gone");
    expect(&b, 1, 1, 0, "gone");
    expect(&b, 1, 2, 0, "3:c ok");
    close_bench(&b);
}

static void test_events_count_at_the_limit_and_one_past(void **state)
{
    bench b = open_with(3, 0, 0);

    (void)state;
    say(&b, 1, 1, "a", 0);
    say(&b, 2, 1, "x", 0);
    say(&b, 1, 2, "b", 0);
    expect(&b, 1, 0, 0, "1:a 2:b ok");
    say(&b, 1, 3, "c", 0); /* the oldest goes */
    expect(&b, 1, 0, 0, "gone");
    expect(&b, 1, 1, 0, "2:b 3:c ok");
    expect(&b, 2, 0, 0, "1:x ok");
    say(&b, 1, 4, "d", 0); /* the oldest is the other stream's */
    expect(&b, 2, 0, 0, "gone");
    expect(&b, 2, 1, 0, "ok");
    expect(&b, 2, 2, 0, "unknown");
    expect(&b, 1, 1, 0, "2:b 3:c 4:d ok");
    close_bench(&b);
}

static void test_events_bytes_at_the_limit_and_one_past(void **state)
{
    bench b = open_with(0, 10, 0);

    (void)state;
    say(&b, 1, 1, "aaaa", 0);
    say(&b, 1, 2, "bbb", 0);
    say(&b, 1, 3, "ccc", 0);
    expect(&b, 1, 0, 0, "1:aaaa 2:bbb 3:ccc ok");
    say(&b, 1, 4, "", 0); /* adds none */
    expect(&b, 1, 0, 0, "1:aaaa 2:bbb 3:ccc 4: ok");
    say(&b, 1, 5, "d", 0);
    expect(&b, 1, 0, 0, "gone");
    expect(&b, 1, 1, 0, "2:bbb 3:ccc 4: 5:d ok");
    say(&b, 1, 6, "0123456789", 0); /* takes all there is */
    expect(&b, 1, 4, 0, "gone");
    expect(&b, 1, 5, 0, "6:0123456789 ok");
    close_bench(&b);
}

static void test_events_larger_than_the_log_count_as_dropped(void **state)
{
    bench b = open_with(0, 10, 0);

    (void)state;
    say(&b, 1, 1, "a", 0);
    say(&b, 2, 1, "x", 0);
    assert_int_equal(
        fl_event_log_append(b.log, 1, 2, FL_SPAN("0123456789A"), 0),
        FL_E_TOO_BIG);
    expect(&b, 1, 0, 0, "gone");
    expect(&b, 1, 1, 0, "gone");
    expect(&b, 1, 2, 0, "ok");
    expect(&b, 2, 0, 0, "1:x ok"); /* no other stream pays for it */
    say(&b, 1, 3, "c", 0);
    expect(&b, 1, 1, 0, "gone");
    expect(&b, 1, 2, 0, "3:c ok");
    close_bench(&b);
}

static void test_events_age_at_the_limit_and_one_past(void **state)
{
    bench b = open_with(0, 0, 100);

    (void)state;
    say(&b, 1, 1, "a", 1000);
    say(&b, 1, 2, "b", 1050);
    expect(&b, 1, 0, 1100, "1:a 2:b ok");
    expect(&b, 1, 0, 1101, "gone");
    expect(&b, 1, 1, 1101, "2:b ok");
    fl_event_log_expire(b.log, 1150);
    expect(&b, 1, 1, 1150, "2:b ok");
    fl_event_log_expire(b.log, 1151);
    expect(&b, 1, 1, 1151, "gone");
    expect(&b, 1, 2, 1151, "ok");
    say(&b, 1, 3, "c", 1151);
    expect(&b, 1, 2, 1151, "3:c ok");
    close_bench(&b);
}

static void test_events_are_no_older_when_the_clock_goes_back(void **state)
{
    bench b = open_with(0, 0, 100);

    (void)state;
    say(&b, 1, 1, "a", 1000);
    say(&b, 1, 2, "b", 10);
    expect(&b, 1, 0, 0, "1:a 2:b ok");
    expect(&b, 1, 0, UINT64_MAX, "unknown"); /* so long that all is gone */
    close_bench(&b);
}

static void test_events_remembers_a_stream_as_long_again(void **state)
{
    bench b = open_with(0, 0, 100);

    (void)state;
    say(&b, 1, 1, "a", 1000);
    fl_event_log_expire(b.log, 1101);
    expect(&b, 1, 0, 1200, "gone");
    expect(&b, 1, 0, 1201, "unknown");
    close_bench(&b);
}

/* The back end has forgotten a stream, which goes on all the same. */
static void test_events_stream_may_go_on_after_it_was_forgotten(void **state)
{
    bench b = open_with(0, 0, 100);

    (void)state;
    say(&b, 1, 1, "a", 0);
    fl_event_log_expire(b.log, 101);
    expect(&b, 1, 0, 201, "unknown");
    say(&b, 1, 2, "b", 201);
    expect(&b, 1, 0, 201, "gone");
    expect(&b, 1, 1, 201, "2:b ok");
    close_bench(&b);
}

static void test_events_limits_have_defaults(void **state)
{
    bench b = {.events = fl_events_new_memory(NULL)};

    (void)state;
    assert_int_equal(fl_events_open(b.events, (fl_span){0}, &b.log), FL_OK);
    for (uint64_t n = 1; n <= 1001; n++)
        say(&b, 1, n, "", 0);
    expect(&b, 1, 0, 0, "gone");
    expect(&b, 1, 999, 0, "1000: 1001: ok");
    expect(&b, 1, 999, 300000, "1000: 1001: ok");
    expect(&b, 1, 999, 300001, "gone");

    enum { MOST = 4 * 1024 * 1024 };
    char *large = calloc(1, MOST + 1);
    assert_non_null(large);
    assert_int_equal(
        fl_event_log_append(b.log, 2, 1, (fl_span){large, MOST}, 300001),
        FL_OK);
    assert_int_equal(
        fl_event_log_append(b.log, 2, 2, (fl_span){large, MOST + 1}, 300001),
        FL_E_TOO_BIG);
    free(large);
    close_bench(&b);
}

static void test_events_empty_log_is_small(void **state)
{
    bench b = open_with(0, 0, 100);

    (void)state;
    ration_reset();
    ptrdiff_t before = ration_live_bytes();
    fl_event_log *log;
    assert_int_equal(fl_events_open(b.events, FL_SPAN("s"), &log), FL_OK);
    assert_in_range(ration_live_bytes() - before, 1, 199);
    assert_in_range(fl_event_log_memory(log), 1, 199);
    size_t empty = fl_event_log_memory(log);

    for (uint64_t stream = 0; stream < 300; stream++)
        assert_int_equal(fl_event_log_append(log, stream, 1, FL_SPAN("x"), 0),
                         FL_OK);
    assert_true(fl_event_log_memory(log) > 300 * 64);
    fl_event_log_expire(log, 201);
    assert_int_equal(fl_event_log_memory(log), empty);
    assert_in_range(ration_live_bytes() - before, 1, 199);
    fl_event_log_close(log);
    close_bench(&b);
}

static void test_events_memory_is_what_was_allocated(void **state)
{
    bench b = open_with(0, 0, 0);
    size_t before = fl_event_log_memory(b.log);

    (void)state;
    ration_reset();
    ptrdiff_t live = ration_live_bytes();
    for (uint64_t n = 1; n <= 100; n++)
        say(&b, n % 10, (n - n % 10) / 10 + 1, "0123456789", 0);
    size_t told = fl_event_log_memory(b.log) - before;
    size_t taken = (size_t)(ration_live_bytes() - live);
    assert_in_range(taken, told, told + 115 * 16); /* rounding */
    close_bench(&b);
}

/* Streams come and go without end, and each is one event. */
static void test_events_memory_of_dropped_streams_is_bounded(void **state)
{
    bench b = open_with(10, 0, 0);
    size_t most = 0;

    (void)state;
    for (uint64_t stream = 1; stream <= MANY; stream++) {
        say(&b, stream, 1, "x", 0);
        size_t now = fl_event_log_memory(b.log);
        most = now > most ? now : most;
    }
    assert_in_range(most, 1, 12000);
    expect(&b, MANY, 0, 0, "1:x ok");
    expect(&b, MANY - 9, 0, 0, "1:x ok");
    expect(&b, MANY - 10, 0, 0, "gone");
    expect(&b, MANY - 10, 1, 0, "ok");
    expect(&b, MANY - 73, 0, 0, "gone"); /* the 64th that is remembered */
    expect(&b, MANY - 74, 0, 0, "unknown");
    close_bench(&b);
}

/* One large event pushes out more streams than are remembered, its own older
 * events among them. */
static void test_events_making_room_keeps_the_stream_it_is_for(void **state)
{
    bench b = open_with(0, 200, 0);
    char large[200];

    (void)state;
    memset(large, 'x', sizeof large);
    say(&b, 1, 1, "a", 0);
    for (uint64_t stream = 2; stream <= 200; stream++)
        say(&b, stream, 1, "b", 0);
    assert_int_equal(
        fl_event_log_append(b.log, 1, 2, (fl_span){large, sizeof large}, 0),
        FL_OK);
    expect(&b, 1, 0, 0, "gone");
    expect(&b, 200, 0, 0, "gone");
    expect(&b, 2, 0, 0, "unknown");
    expect(&b, 1, 2, 0, "ok");
    close_bench(&b);
}

/* The same steps done the slow way: an array that is searched. */
typedef struct model_event {
    uint64_t stream, number, at_ms;
} model_event;

typedef struct model {
    model_event events[64];
    size_t count;
    uint64_t last[8];
    uint64_t at_ms[8]; /* when that was */
    uint64_t now, memory;
} model;

static void model_drop(model *m)
{
    m->count--;
    memmove(m->events, m->events + 1, m->count * sizeof *m->events);
}

static void model_expire(model *m, uint64_t now, uint64_t age)
{
    while (m->count > 0 && now - m->events[0].at_ms > age)
        model_drop(m);
    m->now = now;
    m->memory = 2 * age;
}

static void model_replay(const model *m, uint64_t stream, uint64_t after,
                         char *text, size_t size)
{
    uint64_t last = m->last[stream], held = 0;
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < m->count; i++)
        held += m->events[i].stream == stream && m->events[i].number > after;
    if (last == 0 || after > last || m->now - m->at_ms[stream] > m->memory)
        (void)snprintf(text, size, "unknown");
    else if (last - after > held)
        (void)snprintf(text, size, "gone");
    else {
        for (size_t i = 0; i < m->count; i++)
            if (m->events[i].stream == stream && m->events[i].number > after)
                len += (size_t)snprintf(text + len, size - len, "%u:x ",
                                        (unsigned)m->events[i].number);
        (void)snprintf(text + len, size - len, "ok");
    }
}

static void test_events_does_as_the_slow_way_does(void **state)
{
    enum { EVENTS = 12, AGE = 40, STEPS = 20000 };
    bench b = open_with(EVENTS, 0, AGE);
    model m = {.count = 0};
    unsigned seed = 7;
    uint64_t now = 0;

    (void)state;
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1103515245u + 12345u;
        unsigned dice = seed >> 16;
        uint64_t stream = dice % 8;
        now += dice / 8 % 4;
        model_expire(&m, now, AGE);
        if (dice / 32 % 2 == 0) {
            uint64_t number = ++m.last[stream];
            m.at_ms[stream] = now;
            say(&b, stream, number, "x", now);
            if (m.count == EVENTS)
                model_drop(&m);
            m.events[m.count++] = (model_event){stream, number, now};
        } else {
            char want[400];
            uint64_t back = dice / 64 % 8, last = m.last[stream];
            uint64_t after = last + 1 > back ? last + 1 - back : 0;
            model_replay(&m, stream, after, want, sizeof want);
            expect(&b, stream, after, now, want);
        }
        assert_true(m.count <= EVENTS);
    }
    close_bench(&b);
}

static void fill_and_replay(void *user)
{
    fl_events *events = fl_events_new_memory(NULL);
    fl_event_log *log = NULL;
    fl_status rc = FL_E_NOMEM;

    (void)user;
    if (events != NULL)
        rc = fl_events_open(events, FL_SPAN("s"), &log);
    for (uint64_t n = 1; rc == FL_OK && n <= 3; n++)
        for (uint64_t stream = 0; stream < 6; stream++) {
            fl_status kept =
                fl_event_log_append(log, stream, n, FL_SPAN("x"), 0);
            assert_true(kept == FL_OK || kept == FL_E_NOMEM);
        }
    for (uint64_t stream = 0; log != NULL && stream < 6; stream++) {
        transcript t = {.len = 0};
        fl_event_log_replay(log, stream, 0, 0, &writer, &t);
        assert_true(strcmp(t.text, "1:x 2:x 3:x ok") == 0 ||
                    strcmp(t.text, "gone") == 0);
    }
    fl_event_log_close(log);
    fl_events_free(events);
}

static void test_events_without_memory_leaves_no_gap_and_no_leak(void **state)
{
    (void)state;
    assert_true(ration_each(fill_and_replay, NULL) > 20);
}

/* A back end with nothing but what it must have. */
static fl_status bare_append(fl_event_log *log, uint64_t stream,
                             uint64_t number, fl_span data, uint64_t now_ms)
{
    (void)log, (void)stream, (void)number, (void)data, (void)now_ms;
    return FL_E_UNSUPPORTED;
}

static void test_events_back_end_may_leave_things_out(void **state)
{
    static const fl_events_ops ops = {.append = bare_append};
    fl_events events = {.ops = &ops};
    fl_event_log log = {.events = &events};

    (void)state;
    fl_event_log_expire(&log, 1);
    assert_int_equal(fl_event_log_memory(&log), 0);
    assert_int_equal(fl_event_log_append(&log, 1, 1, (fl_span){0}, 0),
                     FL_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_replays_what_was_missed),
        cmocka_unit_test(test_events_knows_what_never_was),
        cmocka_unit_test(test_events_keeps_streams_apart),
        cmocka_unit_test(test_events_of_two_sessions_are_apart),
        cmocka_unit_test(test_events_refuses_numbers_that_go_back),
        cmocka_unit_test(test_events_skipped_numbers_are_dropped_events),
        cmocka_unit_test(test_events_count_at_the_limit_and_one_past),
        cmocka_unit_test(test_events_bytes_at_the_limit_and_one_past),
        cmocka_unit_test(test_events_larger_than_the_log_count_as_dropped),
        cmocka_unit_test(test_events_age_at_the_limit_and_one_past),
        cmocka_unit_test(test_events_are_no_older_when_the_clock_goes_back),
        cmocka_unit_test(test_events_remembers_a_stream_as_long_again),
        cmocka_unit_test(test_events_stream_may_go_on_after_it_was_forgotten),
        cmocka_unit_test(test_events_limits_have_defaults),
        cmocka_unit_test(test_events_empty_log_is_small),
        cmocka_unit_test(test_events_memory_is_what_was_allocated),
        cmocka_unit_test(test_events_memory_of_dropped_streams_is_bounded),
        cmocka_unit_test(test_events_making_room_keeps_the_stream_it_is_for),
        cmocka_unit_test(test_events_does_as_the_slow_way_does),
        cmocka_unit_test(test_events_without_memory_leaves_no_gap_and_no_leak),
        cmocka_unit_test(test_events_back_end_may_leave_things_out),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
