/*
 * test_poller.c - edges, levels, and watches that go while they are told of.
 */
#include "base/list.h"
#include "io/poller.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct ear {
    fl_watch watch;
    int told;
    unsigned events; /* of the last */
    fl_poller *poller;
    struct ear *drops; /* when it is told; or NULL */
} ear;

static void on_told(fl_watch *watch, unsigned events)
{
    ear *self = FL_LIST_ENTRY(watch, ear, watch);

    self->told++;
    self->events = events;
    if (self->drops != NULL)
        fl_poller_drop(self->poller, &self->drops->watch);
}

static void turn(const fl_poller *poller)
{
    fl_polled polled;

    fl_poller_wait(poller, 0, &polled);
    fl_poller_tell(&polled);
}

/* An ear at the reading end of a pipe; the writing end is returned. */
static int listen_to_a_pipe(fl_poller *poller, ear *self, unsigned events)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    *self = (ear){.poller = poller};
    fl_watch_init(&self->watch, on_told);
    self->watch.fd = ends[0];
    assert_int_equal(fl_watch_unblock(ends[0]), 0);
    assert_int_equal(fl_poller_ask(poller, &self->watch, events), 0);
    return ends[1];
}

static void test_poller_tells_an_edge_once_and_a_level_each_time(void **state)
{
    fl_poller poller;
    ear edge, level;

    (void)state;
    assert_int_equal(fl_poller_open(&poller), FL_OK);
    int one = listen_to_a_pipe(&poller, &edge, EPOLLIN | (unsigned)EPOLLET);
    int two = listen_to_a_pipe(&poller, &level, EPOLLIN);
    turn(&poller);
    assert_int_equal(edge.told + level.told, 0);
    assert_int_equal(write(one, "a", 1) + write(two, "a", 1), 2);
    turn(&poller);
    turn(&poller);
    assert_int_equal(edge.told, 1);
    assert_int_equal(level.told, 2);
    assert_int_equal(write(one, "b", 1), 1);
    turn(&poller);
    assert_int_equal(edge.told, 2);
    close(one);
    close(two);
    turn(&poller);
    assert_int_equal(edge.told, 3);
    assert_true((edge.events & EPOLLHUP) != 0);
    fl_poller_drop(&poller, &edge.watch);
    fl_poller_drop(&poller, &level.watch);
    fl_poller_close(&poller);
}

static void test_poller_tells_anew_what_is_asked_for_anew(void **state)
{
    fl_poller poller;
    ear self;

    (void)state;
    assert_int_equal(fl_poller_open(&poller), FL_OK);
    int end = listen_to_a_pipe(&poller, &self, EPOLLIN | (unsigned)EPOLLET);
    assert_int_equal(write(end, "a", 1), 1);
    turn(&poller);
    assert_int_equal(self.told, 1);
    assert_int_equal(fl_poller_ask(&poller, &self.watch,
                                   EPOLLIN | EPOLLPRI | (unsigned)EPOLLET),
                     0);
    turn(&poller);
    assert_int_equal(self.told, 2);
    fl_poller_stop(&poller, &self.watch);
    assert_int_equal(write(end, "b", 1), 1);
    turn(&poller);
    assert_int_equal(self.told, 2);
    assert_true(self.watch.fd >= 0);
    fl_poller_drop(&poller, &self.watch);
    fl_poller_drop(&poller, &self.watch); /* harmless */
    assert_int_equal(self.watch.fd, -1);
    close(end);
    fl_poller_close(&poller);
}

/* Both are in one batch; whichever is told first takes the other away. */
static void test_poller_tells_nothing_of_what_was_dropped(void **state)
{
    fl_poller poller;
    ear one, two;

    (void)state;
    assert_int_equal(fl_poller_open(&poller), FL_OK);
    int first = listen_to_a_pipe(&poller, &one, EPOLLIN);
    int second = listen_to_a_pipe(&poller, &two, EPOLLIN);
    one.drops = &two;
    two.drops = &one;
    assert_int_equal(write(first, "a", 1) + write(second, "a", 1), 2);
    turn(&poller);
    assert_int_equal(one.told + two.told, 1);
    fl_poller_drop(&poller, &one.watch);
    fl_poller_drop(&poller, &two.watch);
    close(first);
    close(second);
    fl_poller_close(&poller);
}

/* As a child that was forked has one. */
static void test_poller_forgets_what_somebody_else_holds_open(void **state)
{
    fl_poller poller;
    ear self;

    (void)state;
    assert_int_equal(fl_poller_open(&poller), FL_OK);
    int end = listen_to_a_pipe(&poller, &self, EPOLLIN);
    int copy = dup(self.watch.fd);
    assert_int_equal(write(end, "a", 1), 1);
    fl_poller_drop(&poller, &self.watch);
    turn(&poller);
    assert_int_equal(self.told, 0);
    close(copy);
    close(end);
    fl_poller_close(&poller);
}

static void test_poller_says_what_cannot_be_watched(void **state)
{
    fl_poller poller;
    fl_watch watch;

    (void)state;
    assert_int_equal(fl_poller_open(&poller), FL_OK);
    fl_watch_init(&watch, on_told);
    assert_int_equal(fl_poller_ask(&poller, &watch, EPOLLIN), -EBADF);
    assert_int_equal(watch.asked, 0);
    assert_int_equal(fl_watch_unblock(-1), -EBADF);
    fl_poller_close(&poller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poller_tells_an_edge_once_and_a_level_each_time),
        cmocka_unit_test(test_poller_tells_anew_what_is_asked_for_anew),
        cmocka_unit_test(test_poller_tells_nothing_of_what_was_dropped),
        cmocka_unit_test(test_poller_forgets_what_somebody_else_holds_open),
        cmocka_unit_test(test_poller_says_what_cannot_be_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
