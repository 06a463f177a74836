/*
 * hangup.c - tells when whoever is at the other end of a pipe has gone.
 *
 * The system tells of that whether or not it is asked to, and by level; so the
 * first time is the last.
 */
#include "io/hangup.h"

#include "base/list.h"
#include "io/loop_impl.h"

#include <sys/stat.h>

static void on_event(fl_watch *watch, unsigned events)
{
    fl_hangup *hangup = FL_LIST_ENTRY(watch, fl_hangup, watch);
    fl_task *task = hangup->task;
    void *user = hangup->user;

    (void)events;
    fl_hangup_deinit(hangup);
    task(user);
}

static bool has_other_end(int fd)
{
    struct stat facts;

    return fstat(fd, &facts) == 0 &&
           (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode));
}

fl_status fl_hangup_init(fl_hangup *hangup, fl_loop *loop, int fd,
                         fl_task *task, void *user)
{
    *hangup = (fl_hangup){.task = task, .user = user};
    if (!has_other_end(fd))
        return FL_OK;
    fl_watch_init(&hangup->watch, on_event);
    hangup->watch.fd = fd;
    if (fl_poller_ask(&loop->poller, &hangup->watch, EPOLLRDHUP) < 0)
        return FL_E_IO;
    hangup->loop = loop;
    return FL_OK;
}

void fl_hangup_deinit(fl_hangup *hangup)
{
    if (hangup->loop != NULL)
        fl_poller_stop(&hangup->loop->poller, &hangup->watch);
    hangup->loop = NULL;
}
