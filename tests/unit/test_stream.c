/*
 * test_stream.c - streams over sockets, pipes, files and terminals.
 *
 * The other side is a second stream on the same loop, or a bare descriptor the
 * test reads and writes itself. Time is driven by hand where it matters.
 */
#include "io_probe.h"
#include "support/process.h"
#include "support/ration.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum { MEGA = 1024 * 1024 };

static void test_stream_carries_bytes_both_ways(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {.is_echo = true};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(probe_say(&a, "hello"), FL_OK);
    assert_int_equal(fl_stream_pending(a.stream), 5);
    assert_int_equal(fl_loop_timeout(loop), 0); /* it must not be slept over */
    io_until(loop, a.received == 5);
    assert_string_equal(a.head, "hello");
    assert_int_equal(fl_stream_pending(a.stream), 0);
    assert_int_equal(a.opens, 0); /* start said FL_OK */
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static void test_stream_idle_is_one_small_object(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {.is_echo = true};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_true(fl_stream_memory(a.stream) <= 264);
    assert_int_equal(probe_say(&a, "hello"), FL_OK);
    assert_true(fl_stream_memory(a.stream) > 264);
    io_until(loop, a.received == 5);
    assert_true(fl_stream_memory(a.stream) <= 264);
    assert_true(fl_stream_memory(b.stream) <= 264);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static void test_stream_writes_of_a_turn_leave_together(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};
    fl_span parts[] = {{"one ", 4}, {NULL, 0}, {"two ", 4}};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(fl_stream_write(a.stream, parts, 3), FL_OK);
    assert_int_equal(probe_say(&a, "thrEE"), FL_OK);
    memcpy(fl_stream_last_write(a.stream, 2), "ee", 2);
    io_until(loop, b.received == 13);
    assert_string_equal(b.head, "one two three");
    assert_int_equal(b.reads, 1);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static void test_stream_in_steady_state_allocates_nothing(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {.is_echo = true}, b = {.is_echo = true};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(probe_say(&a, "around and around"), FL_OK);
    io_until(loop, a.reads == 3);
    ration_reset();
    io_until(loop, a.reads == 100);
    assert_int_equal(ration_count(), 0);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static void test_stream_write_before_start_waits_for_it(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(probe_say(&a, "early"), FL_OK);
    io_some_turns(loop);
    assert_int_equal(b.received, 0);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&a), FL_E_STATE);
    io_until(loop, b.received == 5);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

/* Writes pseudo-random bytes as long as the stream takes them. */
typedef struct pump {
    uint64_t seed;
    size_t left;
    uint64_t sum;
} pump;

static void pump_on(pump *source, fl_stream *stream)
{
    char piece[4096];

    while (source->left > 0) {
        pump next = *source;
        size_t n = next.left < sizeof piece ? next.left : sizeof piece;
        for (size_t i = 0; i < n; i++) {
            next.seed = next.seed * 6364136223846793005u + 1442695040888963407u;
            piece[i] = (char)(next.seed >> 56);
        }
        next.left -= n;
        next.sum = probe_sum(next.sum, (fl_span){piece, n});
        fl_status rc = fl_stream_write(stream, &(fl_span){piece, n}, 1);
        if (rc == FL_BUSY)
            return;
        assert_int_equal(rc, FL_OK);
        *source = next;
    }
}

static void test_stream_carries_megabytes_both_ways_unharmed(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};
    pump from_a = {.seed = 1, .left = 5 * MEGA};
    pump from_b = {.seed = 2, .left = 4 * MEGA};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    pump_on(&from_a, a.stream);
    pump_on(&from_b, b.stream);
    assert_true(from_a.left > 0 && from_b.left > 0); /* it was FL_BUSY */
    for (int a_drains = 0, b_drains = 0;
         a.received < 4 * MEGA || b.received < 5 * MEGA;) {
        io_until(loop, a.drains > a_drains || b.drains > b_drains ||
                           (a.received == 4 * MEGA && b.received == 5 * MEGA));
        a_drains = a.drains;
        b_drains = b.drains;
        pump_on(&from_a, a.stream);
        pump_on(&from_b, b.stream);
    }
    assert_int_equal(b.sum, from_a.sum);
    assert_int_equal(a.sum, from_b.sum);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static void test_stream_is_busy_at_high_water_and_not_before(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};
    fl_stream_limits limits = {.high_water = 10, .out_max = 12};

    (void)state;
    io_pair(loop, &limits, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(probe_say(&a, "123456789"), FL_OK);
    assert_int_equal(probe_say(&a, "1234"), FL_E_TOO_BIG);
    assert_int_equal(probe_say(&a, "123"), FL_OK); /* out_max, to the byte */
    assert_int_equal(probe_say(&a, "x"), FL_BUSY);
    assert_int_equal(fl_stream_pending(a.stream), 12);
    io_until(loop, a.drains == 1 && b.received == 12);
    assert_int_equal(probe_say(&a, "1234567890"), FL_OK);
    assert_int_equal(probe_say(&a, ""), FL_BUSY);
    io_until(loop, a.drains == 2 && b.received == 22);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static void test_stream_takes_urgent_writes_past_high_water(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};
    fl_stream_limits limits = {.high_water = 4, .out_max = 12};

    (void)state;
    io_pair(loop, &limits, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(probe_say(&a, "1234"), FL_OK);
    assert_int_equal(probe_say(&a, "5"), FL_BUSY);
    fl_span more = {"abcdefghi", 8};
    assert_int_equal(fl_stream_write_urgent(a.stream, &more, 1), FL_OK);
    more.len = 1;
    assert_int_equal(fl_stream_write_urgent(a.stream, &more, 1), FL_E_TOO_BIG);
    io_until(loop, a.drains == 1 && b.received == 12);
    assert_string_equal(b.head, "1234abcdefgh");
    fl_stream_finish(a.stream);
    assert_int_equal(fl_stream_write_urgent(a.stream, &more, 1), FL_E_STATE);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static size_t fill(fl_stream *stream)
{
    static const char zeroes[65536];
    size_t sent = 0;
    fl_status rc;

    while ((rc = fl_stream_write(stream, &(fl_span){zeroes, sizeof zeroes},
                                 1)) == FL_OK)
        sent += sizeof zeroes;
    assert_int_equal(rc, FL_BUSY);
    return sent;
}

static size_t slurp(int fd, size_t most)
{
    static char drop[65536];
    size_t sum = 0;
    ssize_t n;

    while (sum < most && (n = recv(fd, drop, sizeof drop, MSG_DONTWAIT)) > 0)
        sum += (size_t)n;
    return sum;
}

static void test_stream_tells_when_a_slow_reader_made_room(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    int peer = io_half(loop, &(fl_stream_limits){.high_water = MEGA}, &a);
    size_t sent, got = 0;

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    sent = fill(a.stream);
    io_some_turns(loop);
    sent += fill(a.stream); /* what the socket took, and it is busy again */
    io_some_turns(loop);
    assert_true(fl_stream_pending(a.stream) >= MEGA);
    assert_int_equal(a.drains, 0);
    io_until(loop, (got += slurp(peer, MEGA / 4)) > 0 && a.drains == 1);
    assert_true(fl_stream_pending(a.stream) <= MEGA / 2);
    io_until(loop, (got += slurp(peer, sent)) == sent);
    assert_int_equal(fl_stream_pending(a.stream), 0);
    assert_true(fl_stream_memory(a.stream) <= 264);
    io_end(loop, (probe *[]){&a}, 1);
    close(peer);
}

static void test_stream_that_makes_no_progress_times_out(void **state)
{
    uint64_t now = 100;
    fl_loop *loop = io_driven_loop(&now);
    probe a = {0};
    int peer = io_half(loop, &(fl_stream_limits){.send_timeout_ms = 1000}, &a);

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    fill(a.stream);
    io_some_turns(loop);
    fill(a.stream);
    io_some_turns(loop);
    for (now = 101; now < 1100; now++)
        fl_loop_step(loop);
    assert_int_equal(a.ends, 0);
    now = 1100;
    io_until(loop, a.ends == 1);
    assert_int_equal(a.error.status, FL_E_TIMEOUT);
    assert_string_equal(a.error.text,
                        "the other side took nothing for 1000 ms");
    assert_int_equal(probe_say(&a, "x"), FL_E_STATE);
    io_end(loop, (probe *[]){&a}, 1);
    close(peer);
}

static void test_stream_that_makes_progress_does_not_time_out(void **state)
{
    uint64_t now = 100;
    fl_loop *loop = io_driven_loop(&now);
    probe a = {0};
    int peer = io_half(loop, &(fl_stream_limits){.send_timeout_ms = 1000}, &a);
    size_t got = 0, sent;

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    sent = fill(a.stream);
    io_some_turns(loop);
    sent += fill(a.stream);
    while (got < sent) {
        now += 700;
        got += slurp(peer, MEGA / 4);
        io_turn(loop);
        io_turn(loop);
        assert_int_equal(a.ends, 0);
    }
    assert_int_equal(fl_stream_pending(a.stream), 0);
    /* and with nothing left to send there is nothing to time out */
    now += 1000000;
    io_some_turns(loop);
    assert_int_equal(a.ends, 0);
    io_end(loop, (probe *[]){&a}, 1);
    close(peer);
}

/* Its user looks to that; but what it said before still counts. */
static void test_stream_that_is_patient_does_not_time_out(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        uint64_t now = 100;
        fl_loop *loop = io_driven_loop(&now);
        fl_stream_limits limits = {.send_timeout_ms = 1000};
        probe a = {0};
        int peer = io_half(loop, &limits, &a);

        assert_int_equal(probe_start(&a), FL_OK);
        if (!late)
            fl_stream_be_patient(a.stream);
        size_t sent = fill(a.stream);
        io_some_turns(loop);
        sent += fill(a.stream);
        io_some_turns(loop);
        assert_true(fl_stream_pending(a.stream) > 0);
        if (late)
            fl_stream_be_patient(a.stream);
        for (now = 200; now < 10000; now += 100)
            fl_loop_step(loop);
        assert_int_equal(a.ends, 0);
        for (size_t got = 0; got < sent;) {
            got += slurp(peer, MEGA / 4);
            io_turn(loop);
        }
        assert_int_equal(fl_stream_pending(a.stream), 0);
        io_end(loop, (probe *[]){&a}, 1);
        close(peer);
    }
}

static void test_stream_that_is_patient_still_closes_in_time(void **state)
{
    uint64_t now = 100;
    fl_loop *loop = io_driven_loop(&now);
    probe a = {0};
    int peer = io_half(loop, &(fl_stream_limits){.send_timeout_ms = 1000}, &a);

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    fl_stream_be_patient(a.stream);
    fill(a.stream);
    io_some_turns(loop);
    fl_stream_close_after_flush(a.stream, 50);
    fl_stream_be_patient(a.stream);
    now += 51;
    io_until(loop, a.closes == 1);
    io_end(loop, (probe *[]){&a}, 1);
    close(peer);
}

/* The first owner hands over in the middle of a read. */
typedef struct heir {
    probe old, fresh;
} heir;

static void hand_over(void *user, fl_span bytes)
{
    heir *h = user;

    probe_on_data(&h->old, bytes);
    h->fresh.stream = h->old.stream;
    h->old.stream = NULL;
    fl_stream_rebind(h->fresh.stream, &probe_events, &h->fresh);
}

static void test_stream_serves_another_after_a_rebind(void **state)
{
    static const fl_stream_events first = {.on_data = hand_over};
    fl_loop *loop = io_loop();
    heir h = {.fresh = {.is_echo = true}};
    probe b = {0};

    (void)state;
    io_pair(loop, NULL, &h.old, &b);
    assert_int_equal(fl_stream_start(h.old.stream, &first, &h), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(fl_stream_write(h.old.stream, &(fl_span){"old", 3}, 1),
                     FL_OK); /* still leaves */
    assert_int_equal(probe_say(&b, "one"), FL_OK);
    io_until(loop, h.fresh.stream != NULL);
    assert_int_equal(probe_say(&b, "two"), FL_OK);
    io_until(loop, b.received == 6);
    assert_string_equal(b.head, "oldtwo");
    assert_string_equal(h.old.head, "one");
    assert_string_equal(h.fresh.head, "two");
    fl_stream_close(b.stream);
    io_until(loop, h.fresh.ends == 1);
    assert_int_equal(h.old.ends, 0);
    io_end(loop, (probe *[]){&h.fresh, &b}, 2);
}

static void test_stream_can_answer_after_the_other_side_finished(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    int peer = io_half(loop, NULL, &a);
    char got[16] = "";

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(write(peer, "ask", 3), 3);
    shutdown(peer, SHUT_WR);
    io_until(loop, a.ends == 1);
    assert_int_equal(a.error.status, FL_END);
    assert_string_equal(a.head, "ask");
    assert_int_equal(probe_say(&a, "answer"), FL_OK);
    io_until(loop, fl_stream_pending(a.stream) == 0);
    assert_int_equal(read(peer, got, sizeof got), 6);
    assert_string_equal(got, "answer");
    io_end(loop, (probe *[]){&a}, 1);
    close(peer);
}

static void test_stream_kept_open_after_its_end_may_still_break(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    int peer = io_half(loop, NULL, &a);

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    close(peer);
    io_until(loop, a.ends == 1);
    assert_int_equal(a.error.status, FL_END);
    assert_int_equal(probe_say(&a, "answer"), FL_OK);
    io_until(loop, a.ends == 2);
    assert_int_equal(a.error.status, FL_E_CLOSED);
    io_end(loop, (probe *[]){&a}, 1);
}

static void test_stream_finish_flushes_then_ends_our_direction(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(probe_say(&a, "last words"), FL_OK);
    fl_stream_finish(a.stream);
    fl_stream_finish(a.stream);
    assert_int_equal(probe_say(&a, "x"), FL_E_STATE);
    io_until(loop, b.ends == 1);
    assert_int_equal(b.error.status, FL_END);
    assert_string_equal(b.head, "last words");
    assert_int_equal(probe_say(&b, "still here"), FL_OK);
    io_until(loop, a.received == 10);
    assert_int_equal(a.ends, 0);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static void test_stream_may_be_closed_in_each_callback(void **state)
{
    (void)state;
    for (probe_close where = PROBE_ON_DATA; where <= PROBE_ON_DRAIN; where++) {
        fl_loop *loop = io_loop();
        probe a = {.close_in = where}, b = {0};
        size_t high = where == PROBE_ON_DRAIN ? 4 : 0;
        io_pair(loop, &(fl_stream_limits){.high_water = high}, &a, &b);
        assert_int_equal(probe_start(&a), FL_OK);
        assert_int_equal(probe_start(&b), FL_OK);
        assert_int_equal(probe_say(&a, "12345"), FL_OK);
        assert_int_equal(probe_say(&b, "12345"), FL_OK);
        fl_stream_finish(b.stream);
        io_until(loop, a.closes == 1 && b.ends >= 1);
        assert_int_equal(a.drains, where == PROBE_ON_DRAIN);
        assert_int_equal(a.ends, where == PROBE_ON_END);
        io_end(loop, (probe *[]){&a, &b}, 2);
    }
}

static void test_stream_closed_makes_no_callback_but_the_last(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(probe_say(&a, "dropped"), FL_OK);
    assert_int_equal(probe_say(&b, "unread"), FL_OK);
    fl_loop_step(loop);
    fl_stream_close(a.stream);
    fl_stream_close(a.stream);
    assert_int_equal(a.closes, 0); /* always later */
    assert_int_equal(probe_say(&a, "x"), FL_E_STATE);
    int reads = a.reads;
    io_until(loop, a.closes == 1);
    assert_int_equal(a.reads, reads);
    assert_int_equal(a.ends, 0);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static void test_stream_never_started_just_goes(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    fl_stream_close(a.stream);
    fl_stream_close_after_flush(b.stream, 1000);
    fl_loop_run(loop);
    fl_loop_free(loop); /* asserts that both are gone */
}

static void test_stream_closes_with_a_write_under_way(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    int peer = io_half(loop, NULL, &a);

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    fill(a.stream);
    io_some_turns(loop);
    fill(a.stream);
    io_some_turns(loop);
    assert_true(fl_stream_pending(a.stream) > 0);
    io_end(loop, (probe *[]){&a}, 1);
    close(peer);
}

static void test_stream_paused_reads_nothing_until_resumed(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    fl_stream_pause(b.stream, true);
    assert_int_equal(probe_say(&a, "wait"), FL_OK);
    io_some_turns(loop);
    assert_int_equal(b.received, 0);
    fl_stream_pause(b.stream, false);
    io_until(loop, b.received == 4);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

/* What came while nobody looked is told by no edge any more. */
static void test_stream_resumed_reads_what_came_meanwhile(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(
        fl_stream_open_pair(loop, ends[0], ends[0], NULL, &a.stream), FL_OK);
    assert_int_equal(probe_start(&a), FL_OK);
    fl_stream_pause(a.stream, true);
    assert_int_equal(write(ends[1], "early", 5), 5);
    assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
    io_some_turns(loop);
    assert_int_equal(a.received, 0);
    fl_stream_pause(a.stream, false);
    io_until(loop, a.ends == 1);
    assert_string_equal(a.head, "early");
    assert_int_equal(a.error.status, FL_END);
    close(ends[1]);
    io_end(loop, (probe *[]){&a}, 1);
}

/* More than is read in a row: the rest has its turn without another edge. */
static void test_stream_reads_on_after_others_had_their_turn(void **state)
{
    enum { MUCH = 4 * MEGA };
    fl_loop *loop = io_loop();
    probe a = {0};
    int ends[2], size = 2 * MUCH;
    char *bytes = calloc(1, MUCH);

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    ssize_t sent = write(ends[1], bytes, MUCH); /* as much as there is room */
    assert_int_equal(
        fl_stream_open_pair(loop, ends[0], ends[0], NULL, &a.stream), FL_OK);
    assert_int_equal(probe_start(&a), FL_OK);
    io_until(loop, a.received == (size_t)sent);
    free(bytes);
    close(ends[1]);
    io_until(loop, a.ends == 1);
    io_end(loop, (probe *[]){&a}, 1);
    if (sent <= MEGA) /* sixteen reads of 64 KiB */
        skip_because("the system lends a socket no more than was read in a "
                     "row (net.core.wmem_max)");
}

static void test_stream_close_after_flush_loses_nothing(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    size_t sent = fill(a.stream);
    fl_stream_close_after_flush(a.stream, 60000);
    assert_int_equal(probe_say(&a, "x"), FL_E_STATE);
    assert_int_equal(probe_say(&b, "not wanted any more"), FL_OK);
    io_until(loop, a.closes == 1 && b.ends == 1);
    assert_int_equal(b.received, sent);
    assert_int_equal(b.error.status, FL_END);
    assert_int_equal(a.received + (size_t)a.ends + (size_t)a.drains, 0);
    io_end(loop, (probe *[]){&a, &b}, 2);
}

static void test_stream_close_after_flush_works_unstarted(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0};

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(probe_say(&a, "too many connections"), FL_OK);
    fl_stream_close_after_flush(a.stream, 1000);
    a.stream = NULL;
    io_until(loop, b.ends == 1);
    assert_string_equal(b.head, "too many connections");
    io_end(loop, (probe *[]){&b}, 1);
}

static void test_stream_close_after_flush_reads_leftovers_away(void **state)
{
    uint64_t now = 5;
    fl_loop *loop = io_driven_loop(&now);
    probe a = {0};
    int peer = io_half(loop, NULL, &a);
    char got[8] = "";

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_say(&a, "bye"), FL_OK);
    fl_stream_close_after_flush(a.stream, 200);
    assert_int_equal(write(peer, "unread", 6), 6);
    io_until(loop, a.closes == 1); /* without the clock, or the peer's end */
    assert_int_equal(a.received, 0);
    assert_int_equal(read(peer, got, sizeof got), 3);
    assert_int_equal(read(peer, got, sizeof got), 0);
    fl_loop_free(loop);
    close(peer);
}

/* An upload may pause at any moment, and go on. */
static void test_stream_close_after_peer_hears_it_out(void **state)
{
    uint64_t now = 5;
    fl_loop *loop = io_driven_loop(&now);
    probe a = {0};
    int peer = io_half(loop, NULL, &a);
    char got[8] = "";

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_say(&a, "bye"), FL_OK);
    fl_stream_close_after_peer(a.stream, 200);
    for (int i = 0; i < 3; i++) {
        io_some_turns(loop);
        assert_int_equal(a.closes, 0);
        assert_int_equal(write(peer, "more", 4), 4);
    }
    assert_int_equal(read(peer, got, sizeof got), 3);
    assert_int_equal(read(peer, got, sizeof got), 0);
    assert_int_equal(shutdown(peer, SHUT_WR), 0);
    io_until(loop, a.closes == 1);
    assert_int_equal(a.received, 0);
    fl_loop_free(loop);
    close(peer);
}

static void test_stream_close_after_peer_waits_no_longer(void **state)
{
    uint64_t now = 5;
    fl_loop *loop = io_driven_loop(&now);
    probe a = {0};
    int peer = io_half(loop, NULL, &a);

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    fl_stream_close_after_peer(a.stream, 200);
    now = 204;
    io_some_turns(loop);
    assert_int_equal(a.closes, 0);
    now = 205;
    io_until(loop, a.closes == 1);
    fl_loop_free(loop);
    close(peer);
}

static void test_stream_close_after_flush_waits_no_longer(void **state)
{
    uint64_t now = 5;
    fl_loop *loop = io_driven_loop(&now);
    probe a = {0};
    int peer = io_half(loop, NULL, &a);

    (void)state;
    assert_int_equal(probe_start(&a), FL_OK);
    fill(a.stream);
    io_some_turns(loop);
    fill(a.stream);
    fl_stream_close_after_flush(a.stream, 200);
    now = 204;
    io_some_turns(loop);
    assert_int_equal(a.closes, 0);
    now = 205;
    io_until(loop, a.closes == 1);
    assert_int_equal(a.ends, 0);
    fl_loop_free(loop);
    close(peer);
}

/* A stream over two pipes; `ends` gets the far ends: to write, to read. */
static void open_pipes(fl_loop *loop, probe *a, int ends[2])
{
    int in[2], out[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(fl_stream_open_pair(loop, in[0], out[1], NULL, &a->stream),
                     FL_OK);
    ends[0] = in[1];
    ends[1] = out[0];
}

static void test_stream_over_pipes_ends_each_direction_alone(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {.is_echo = true};
    char got[8] = "", name[FL_STREAM_NAME];
    int ends[2];

    (void)state;
    open_pipes(loop, &a, ends);
    fl_stream_peer_name(a.stream, name);
    assert_string_equal(name, "pipe");
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(write(ends[0], "one", 3), 3);
    io_until(loop, a.received == 3);
    io_some_turns(loop);
    fl_stream_finish(a.stream);
    io_some_turns(loop);
    assert_int_equal(read(ends[1], got, sizeof got), 3);
    assert_string_equal(got, "one");
    assert_int_equal(read(ends[1], got, sizeof got), 0); /* end of file */
    a.is_echo = false;
    assert_int_equal(write(ends[0], "two", 3), 3);
    close(ends[0]);
    io_until(loop, a.ends == 1);
    assert_int_equal(a.error.status, FL_END);
    assert_string_equal(a.head, "onetwo");
    io_end(loop, (probe *[]){&a}, 1);
    close(ends[1]);
}

static void test_stream_knows_whose_socket_it_talks_to(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0}, b = {0}, c = {0};
    uid_t user = (uid_t)-1;
    int ends[2];

    (void)state;
    io_pair(loop, NULL, &a, &b);
    assert_true(fl_stream_peer_user(a.stream, &user));
    assert_int_equal(user, geteuid());
    open_pipes(loop, &c, ends);
    assert_false(fl_stream_peer_user(c.stream, &user)); /* nobody's */
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(probe_start(&b), FL_OK);
    assert_int_equal(probe_start(&c), FL_OK);
    io_end(loop, (probe *[]){&a, &b, &c}, 3);
    close(ends[0]);
    close(ends[1]);
}

static void test_stream_with_a_broken_pipe_ends_and_we_live(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    sigset_t pending;
    int ends[2];

    (void)state;
    open_pipes(loop, &a, ends);
    assert_int_equal(probe_start(&a), FL_OK);
    close(ends[1]);
    assert_int_equal(probe_say(&a, "anybody?"), FL_OK);
    io_until(loop, a.ends == 1);
    assert_int_equal(a.error.status, FL_E_CLOSED);
    assert_string_equal(a.error.text, "write: broken pipe");
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
    io_end(loop, (probe *[]){&a}, 1);
    close(ends[0]);
}

static int open_temporary(void)
{
    char path[] = "/tmp/fairlead-test-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);

    assert_true(fd >= 0);
    unlink(path);
    return fd;
}

static void test_stream_reads_and_writes_files_in_order(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {.is_echo = true};
    int in = open_temporary(), out = open_temporary(), look = dup(out);
    static char bytes[65536];
    uint64_t sum = 0;

    (void)state;
    srand(3);
    for (int i = 0; i < 40; i++) {
        for (size_t j = 0; j < sizeof bytes; j++)
            bytes[j] = (char)rand();
        assert_int_equal(write(in, bytes, sizeof bytes), sizeof bytes);
        sum = probe_sum(sum, (fl_span){bytes, sizeof bytes});
    }
    lseek(in, 0, SEEK_SET);
    assert_int_equal(
        fl_stream_open_pair(loop, in, out,
                            &(fl_stream_limits){.high_water = 8 * MEGA},
                            &a.stream),
        FL_OK);
    assert_int_equal(probe_start(&a), FL_OK);
    io_until(loop, a.ends == 1);
    assert_int_equal(a.error.status, FL_END);
    assert_int_equal(a.sum, sum);
    io_until(loop, fl_stream_pending(a.stream) == 0);
    uint64_t written = 0;
    ssize_t n;
    lseek(look, 0, SEEK_SET);
    while ((n = read(look, bytes, sizeof bytes)) > 0)
        written = probe_sum(written, (fl_span){bytes, (size_t)n});
    assert_int_equal(written, sum);
    io_end(loop, (probe *[]){&a}, 1);
    close(look);
}

static void test_stream_of_a_file_can_be_paused(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {.pauses = true};
    int in = open_temporary();
    static const char zeroes[150000];

    (void)state;
    assert_int_equal(write(in, zeroes, sizeof zeroes), sizeof zeroes);
    lseek(in, 0, SEEK_SET);
    assert_int_equal(fl_stream_open_pair(loop, in, open("/dev/null", O_WRONLY),
                                         NULL, &a.stream),
                     FL_OK);
    assert_int_equal(probe_start(&a), FL_OK);
    for (int reads = 1; a.received < sizeof zeroes; reads++) {
        io_until(loop, a.reads == reads);
        for (int i = 0; i < 3; i++)
            io_turn(loop);
        assert_int_equal(a.reads, reads);
        fl_stream_pause(a.stream, false);
    }
    io_until(loop, a.ends == 1);
    io_end(loop, (probe *[]){&a}, 1);
}

static void test_stream_of_dev_null_ends_at_once_and_takes_all(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};

    (void)state;
    assert_int_equal(fl_stream_open_pair(loop, open("/dev/null", O_RDONLY),
                                         open("/dev/null", O_WRONLY), NULL,
                                         &a.stream),
                     FL_OK);
    assert_int_equal(probe_start(&a), FL_OK);
    fill(a.stream);
    io_until(loop, a.ends == 1 && fl_stream_pending(a.stream) == 0);
    assert_int_equal(a.error.status, FL_END);
    assert_int_equal(a.drains, 1);
    fl_stream_finish(a.stream);
    io_some_turns(loop);
    io_end(loop, (probe *[]){&a}, 1);
}

static void test_stream_of_a_file_closes_with_work_under_way(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    int both = open_temporary();

    (void)state;
    assert_int_equal(fl_stream_open_pair(loop, both, both, NULL, &a.stream),
                     FL_OK);
    assert_int_equal(probe_start(&a), FL_OK);
    fill(a.stream);
    fl_loop_step(loop);
    io_end(loop, (probe *[]){&a}, 1);
}

static void test_stream_leaves_the_terminal_of_others_blocking(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {.is_echo = true};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char path[128], got[64] = "";

    (void)state;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        ptsname_r(master, path, sizeof path) != 0)
        skip_because("there are no pseudo-terminals here");
    int shell = open(path, O_RDWR | O_NOCTTY);
    assert_true(shell >= 0);
    int in = dup(shell), out = dup(shell);
    assert_int_equal(fl_stream_open_pair(loop, in, out, NULL, &a.stream),
                     FL_OK);
    assert_int_equal(fcntl(shell, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(write(master, "line\n", 5), 5);
    io_until(loop, a.received == 5);
    assert_string_equal(a.head, "line\n");
    io_some_turns(loop);
    assert_true(read(master, got, sizeof got) >= 6); /* echo and answer */
    assert_memory_equal(got, "line\r\n", 6);
    io_end(loop, (probe *[]){&a}, 1);
    assert_int_equal(fcntl(in, F_GETFD), -1);
    close(shell);
    close(master);
}

static void test_stream_takes_stdin_out_of_the_way(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3), fds[2];
    struct stat st, null;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    int shared = dup(fds[0]); /* as a parent shell would still hold it */
    dup2(fds[0], 0);
    close(fds[0]);
    assert_int_equal(fl_stream_open_pair(loop, 0, open("/dev/null", O_WRONLY),
                                         NULL, &a.stream),
                     FL_OK);
    assert_int_equal(fstat(0, &st), 0);
    assert_int_equal(stat("/dev/null", &null), 0);
    assert_int_equal(st.st_rdev, null.st_rdev);
    assert_int_equal(fcntl(shared, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(probe_start(&a), FL_OK);
    assert_int_equal(write(fds[1], "in", 2), 2);
    close(fds[1]);
    io_until(loop, a.ends == 1);
    assert_string_equal(a.head, "in");
    io_end(loop, (probe *[]){&a}, 1);
    dup2(saved, 0);
    close(saved);
    close(shared);
}

static void test_stream_refuses_what_cannot_be_one(void **state)
{
    fl_loop *loop = io_loop();
    fl_stream *stream;
    int datagrams = socket(AF_INET, SOCK_DGRAM, 0), fds[2];

    (void)state;
    assert_int_equal(
        fl_stream_open_pair(loop, datagrams, datagrams, NULL, &stream),
        FL_E_UNSUPPORTED);
    assert_null(stream);
    assert_int_equal(pipe(fds), 0);
    int folder = open("/", O_RDONLY);
    assert_int_equal(fl_stream_open_pair(loop, fds[0], folder, NULL, &stream),
                     FL_E_UNSUPPORTED);
    fl_loop_run(loop);
    /* it owned them, failure included */
    assert_int_equal(fcntl(datagrams, F_GETFD), -1);
    assert_int_equal(fcntl(fds[0], F_GETFD), -1);
    assert_int_equal(fcntl(folder, F_GETFD), -1);
    close(fds[1]);
    fl_loop_free(loop);
}

/* Everything that allocates, once; memory may be refused at any point. */
static void live_once(void *user)
{
    fl_loop *loop = fl_loop_new();
    probe a = {0};
    int fds[2];

    (void)user;
    if (loop == NULL)
        return;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    if (fl_stream_open_pair(loop, fds[0], fds[0], NULL, &a.stream) == FL_OK) {
        assert_int_equal(probe_start(&a), FL_OK);
        fl_status rc = FL_OK;
        static const char zeroes[65536];
        while (rc == FL_OK)
            rc =
                fl_stream_write(a.stream, &(fl_span){zeroes, sizeof zeroes}, 1);
        assert_true(rc == FL_BUSY || rc == FL_E_NOMEM);
        io_some_turns(loop);
        assert_true(a.ends == 0 || a.error.status == FL_E_NOMEM);
        fl_stream_close(a.stream);
    }
    fl_loop_run(loop);
    fl_loop_free(loop);
    close(fds[1]);
}

static void test_stream_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_true(ration_each(live_once, NULL) >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream_carries_bytes_both_ways),
        cmocka_unit_test(test_stream_idle_is_one_small_object),
        cmocka_unit_test(test_stream_writes_of_a_turn_leave_together),
        cmocka_unit_test(test_stream_in_steady_state_allocates_nothing),
        cmocka_unit_test(test_stream_write_before_start_waits_for_it),
        cmocka_unit_test(test_stream_carries_megabytes_both_ways_unharmed),
        cmocka_unit_test(test_stream_is_busy_at_high_water_and_not_before),
        cmocka_unit_test(test_stream_takes_urgent_writes_past_high_water),
        cmocka_unit_test(test_stream_tells_when_a_slow_reader_made_room),
        cmocka_unit_test(test_stream_that_makes_no_progress_times_out),
        cmocka_unit_test(test_stream_that_makes_progress_does_not_time_out),
        cmocka_unit_test(test_stream_that_is_patient_does_not_time_out),
        cmocka_unit_test(test_stream_that_is_patient_still_closes_in_time),
        cmocka_unit_test(test_stream_serves_another_after_a_rebind),
        cmocka_unit_test(test_stream_can_answer_after_the_other_side_finished),
        cmocka_unit_test(test_stream_kept_open_after_its_end_may_still_break),
        cmocka_unit_test(test_stream_finish_flushes_then_ends_our_direction),
        cmocka_unit_test(test_stream_may_be_closed_in_each_callback),
        cmocka_unit_test(test_stream_closed_makes_no_callback_but_the_last),
        cmocka_unit_test(test_stream_never_started_just_goes),
        cmocka_unit_test(test_stream_closes_with_a_write_under_way),
        cmocka_unit_test(test_stream_paused_reads_nothing_until_resumed),
        cmocka_unit_test(test_stream_resumed_reads_what_came_meanwhile),
        cmocka_unit_test(test_stream_reads_on_after_others_had_their_turn),
        cmocka_unit_test(test_stream_close_after_flush_loses_nothing),
        cmocka_unit_test(test_stream_close_after_flush_works_unstarted),
        cmocka_unit_test(test_stream_close_after_flush_reads_leftovers_away),
        cmocka_unit_test(test_stream_close_after_flush_waits_no_longer),
        cmocka_unit_test(test_stream_close_after_peer_hears_it_out),
        cmocka_unit_test(test_stream_close_after_peer_waits_no_longer),
        cmocka_unit_test(test_stream_over_pipes_ends_each_direction_alone),
        cmocka_unit_test(test_stream_knows_whose_socket_it_talks_to),
        cmocka_unit_test(test_stream_with_a_broken_pipe_ends_and_we_live),
        cmocka_unit_test(test_stream_reads_and_writes_files_in_order),
        cmocka_unit_test(test_stream_of_a_file_can_be_paused),
        cmocka_unit_test(test_stream_of_dev_null_ends_at_once_and_takes_all),
        cmocka_unit_test(test_stream_of_a_file_closes_with_work_under_way),
        cmocka_unit_test(test_stream_leaves_the_terminal_of_others_blocking),
        cmocka_unit_test(test_stream_takes_stdin_out_of_the_way),
        cmocka_unit_test(test_stream_refuses_what_cannot_be_one),
        cmocka_unit_test(test_stream_without_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
