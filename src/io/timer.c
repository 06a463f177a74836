/*
 * timer.c - a wheel of wheels.
 *
 * A timer lies on the level of the highest group of six bits in which its due
 * time differs from the wheel's time, in the slot which that group names. So
 * every slot that holds something lies ahead of the wheel's hand on its level,
 * every lower level comes before every higher one, and "what is next" is the
 * lowest bit of the lowest busy level. When the hand reaches a slot of a higher
 * level its timers are dealt out again, each lands lower, and after at most
 * eight deals it is due to the millisecond.
 *
 * Starting and stopping touch one list. Stopping does not look whether its
 * slot ran empty: an empty slot's bit is cleared when somebody finds it so.
 */
#include "io/timer.h"

#include "io/loop_impl.h"

#include <assert.h>

static const uint64_t FAR =
    ((uint64_t)1 << (FL_WHEEL_LEVELS * FL_WHEEL_BITS)) - 1;

void fl_wheel_init(fl_wheel *wheel, uint64_t now)
{
    *wheel = (fl_wheel){.now = now};
    fl_list_init(&wheel->soon);
    for (size_t level = 0; level < FL_WHEEL_LEVELS; level++)
        for (size_t slot = 0; slot < FL_WHEEL_SLOTS; slot++)
            fl_list_init(&wheel->slots[level][slot]);
}

static void place(fl_wheel *wheel, fl_timer *timer)
{
    if (timer->due <= wheel->now) {
        fl_list_append(&wheel->soon, &timer->node);
        return;
    }
    unsigned top = 63 - (unsigned)__builtin_clzll(timer->due ^ wheel->now);
    unsigned level = top / FL_WHEEL_BITS;
    unsigned slot =
        (unsigned)(timer->due >> (level * FL_WHEEL_BITS)) % FL_WHEEL_SLOTS;
    fl_list_append(&wheel->slots[level][slot], &timer->node);
    wheel->busy[level] |= (uint64_t)1 << slot;
}

/* The next slot that holds a timer: its list, and when the hand is there. */
static fl_list *find_next(fl_wheel *wheel, uint64_t *at)
{
    for (unsigned level = 0; level < FL_WHEEL_LEVELS; level++) {
        unsigned shift = level * FL_WHEEL_BITS;
        while (wheel->busy[level] != 0) {
            unsigned slot = (unsigned)__builtin_ctzll(wheel->busy[level]);
            uint64_t turn = wheel->now >> shift >> FL_WHEEL_BITS;
            *at = (turn << FL_WHEEL_BITS | slot) << shift;
            if (!fl_list_empty(&wheel->slots[level][slot]))
                return &wheel->slots[level][slot];
            wheel->busy[level] &= wheel->busy[level] - 1;
        }
    }
    return NULL;
}

bool fl_wheel_next(fl_wheel *wheel, uint64_t *due)
{
    *due = wheel->now;
    return !fl_list_empty(&wheel->soon) || find_next(wheel, due) != NULL;
}

/* Deals the timers of one slot out again; those due land in `soon`. */
static void deal(fl_wheel *wheel, fl_list *slot)
{
    fl_list dealt;
    fl_list *node;

    fl_list_move(&dealt, slot);
    while ((node = fl_list_take(&dealt)) != NULL)
        place(wheel, FL_LIST_ENTRY(node, fl_timer, node));
}

static void turn_to(fl_wheel *wheel, uint64_t now)
{
    uint64_t at;
    fl_list *slot;

    while ((slot = find_next(wheel, &at)) != NULL && at <= now) {
        wheel->now = at;
        deal(wheel, slot);
    }
    if (wheel->now < now)
        wheel->now = now;
}

void fl_wheel_turn(fl_loop *loop)
{
    fl_list due;
    fl_list *node;

    turn_to(loop->wheel, loop->now);
    /* What the callbacks start with no time to wait goes to `soon` again, and
     * so to the next turn: a timer that restarts itself cannot hold us here. */
    fl_list_move(&due, &loop->wheel->soon);
    while ((node = fl_list_take(&due)) != NULL) {
        fl_timer *timer = FL_LIST_ENTRY(node, fl_timer, node);
        loop->wheel->running--;
        timer->fn(timer);
    }
}

void fl_timer_init(fl_timer *timer, fl_loop *loop, fl_timer_fn *fn)
{
    *timer = (fl_timer){.loop = loop, .fn = fn};
    fl_list_init(&timer->node);
}

void fl_timer_start(fl_timer *timer, uint64_t ms)
{
    fl_loop *loop = timer->loop;

    fl_timer_stop(timer);
    fl_loop_refresh(loop); /* the poll may have slept since the turn began */
    assert(loop->now < FAR);
    timer->due = ms < FAR - loop->now ? loop->now + ms : FAR;
    place(loop->wheel, timer);
    loop->wheel->running++;
}

void fl_timer_stop(fl_timer *timer)
{
    if (!fl_timer_running(timer))
        return;
    fl_list_remove(&timer->node);
    timer->loop->wheel->running--;
}
