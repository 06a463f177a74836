/*
 * poller.c - tells who watches a descriptor what the system has for it.
 *
 * Between the poll and the last event of its batch nothing is freed, for that
 * happens at the end of a turn, or at the beginning of the next. So an event
 * may find its watch dropped, but never gone. A descriptor leaves the set
 * before it is closed: a child that was forked meanwhile may hold a copy, and
 * with it the entry.
 */
#include "io/poller.h"

#include "io/uv_status.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int fl_watch_unblock(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0 && (flags & O_NONBLOCK) == 0)
        flags = fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    return flags < 0 ? -errno : 0;
}

fl_status fl_poller_open(fl_poller *poller)
{
    *poller = (fl_poller){.set = epoll_create1(EPOLL_CLOEXEC)};
    return poller->set >= 0 ? FL_OK : fl_status_from_uv(-errno);
}

void fl_poller_close(fl_poller *poller)
{
    close(poller->set);
}

void fl_poller_wait(const fl_poller *poller, int ms, fl_polled *out)
{
    int room = (int)(sizeof out->events / sizeof *out->events);

    out->count = epoll_wait(poller->set, out->events, room, ms);
}

void fl_poller_tell(const fl_polled *polled)
{
    for (int i = 0; i < polled->count; i++) {
        fl_watch *watch = polled->events[i].data.ptr;
        if (watch->asked != 0)
            watch->fn(watch, polled->events[i].events);
    }
}

int fl_poller_ask(fl_poller *poller, fl_watch *watch, unsigned events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    int how = watch->asked != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    if (epoll_ctl(poller->set, how, watch->fd, &event) != 0)
        return -errno;
    watch->asked = events;
    return 0;
}

void fl_poller_stop(fl_poller *poller, fl_watch *watch)
{
    if (watch->asked != 0)
        epoll_ctl(poller->set, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->asked = 0;
}

void fl_poller_drop(fl_poller *poller, fl_watch *watch)
{
    fl_poller_stop(poller, watch);
    if (watch->fd >= 0)
        close(watch->fd);
    watch->fd = -1;
}
