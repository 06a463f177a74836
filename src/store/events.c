/*
 * events.c - the doors to whichever back end keeps the events.
 *
 * A back end must be able to open, close, append and replay. The rest it may
 * leave out: one that lets its events expire by itself has nothing to do when
 * told to, and one that keeps them elsewhere holds no memory of ours.
 */
#include "store/events.h"

void fl_events_free(fl_events *events)
{
    if (events != NULL)
        events->ops->free(events);
}

fl_status fl_events_open(fl_events *events, fl_span session, fl_event_log **out)
{
    *out = NULL;
    return events->ops->open(events, session, out);
}

void fl_event_log_close(fl_event_log *log)
{
    if (log != NULL)
        log->events->ops->close(log);
}

fl_status fl_event_log_append(fl_event_log *log, uint64_t stream,
                              uint64_t number, fl_span data, uint64_t now_ms)
{
    return log->events->ops->append(log, stream, number, data, now_ms);
}

void fl_event_log_replay(fl_event_log *log, uint64_t stream, uint64_t after,
                         uint64_t now_ms, const fl_replay *replay, void *user)
{
    log->events->ops->replay(log, stream, after, now_ms, replay, user);
}

void fl_event_log_expire(fl_event_log *log, uint64_t now_ms)
{
    if (log->events->ops->expire != NULL)
        log->events->ops->expire(log, now_ms);
}

size_t fl_event_log_memory(const fl_event_log *log)
{
    const fl_events_ops *ops = log->events->ops;

    return ops->memory != NULL ? ops->memory(log) : 0;
}
