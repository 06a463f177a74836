/*
 * events.h - what was said on the event streams of a session, kept so that it
 * can be said again (H6, E5).
 *
 * A log holds the events of one session; each belongs to one of its streams
 * and has a number in it, counted from 1. A back end is one struct of
 * functions: memory is here, Redis can be another. Because another may have to
 * ask over a network, replay answers through callbacks.
 *
 * Bounded three ways: events and bytes per log, and age. What is over the
 * bound goes oldest first, whichever stream it is of; a replay that would need
 * it is told so, rather than given a gap.
 */
#ifndef FL_STORE_EVENTS_H
#define FL_STORE_EVENTS_H

#include <fairlead/types.h>

typedef struct fl_events fl_events;       /* a back end */
typedef struct fl_event_log fl_event_log; /* one session's */

typedef struct fl_events_limits {
    size_t max_events;   /* per log; 1000 */
    size_t max_bytes;    /* of data, per log; 4 MiB */
    uint64_t max_age_ms; /* 300000 */
} fl_events_limits;

typedef struct fl_replay {
    /* Each event after the one asked for, in order. `data` is good for this
     * call only, in which the log must be left alone. */
    void (*on_event)(void *user, uint64_t number, fl_span data);
    /*
     * Once, after the last event; it may come before fl_event_log_replay()
     * returns. FL_OK: nothing is missing. FL_E_NOT_FOUND: no such stream, or a
     * number it never had. FL_E_LIMIT: events after that one have been dropped
     * (none were replayed).
     */
    void (*on_done)(void *user, fl_status status);
} fl_replay;

typedef struct fl_events_ops {
    fl_status (*open)(fl_events *events, fl_span session, fl_event_log **out);
    void (*close)(fl_event_log *log);
    fl_status (*append)(fl_event_log *log, uint64_t stream, uint64_t number,
                        fl_span data, uint64_t now_ms);
    void (*replay)(fl_event_log *log, uint64_t stream, uint64_t after,
                   uint64_t now_ms, const fl_replay *replay, void *user);
    void (*expire)(fl_event_log *log, uint64_t now_ms);
    size_t (*memory)(const fl_event_log *log);
    void (*free)(fl_events *events);
} fl_events_ops;

/* The common parts, first in every back end's own structs. */
struct fl_events {
    const fl_events_ops *ops;
};
struct fl_event_log {
    fl_events *events;
};

/* In the memory of this process. `limits` NULL or its zeroes: the defaults. */
FL_MUST_USE fl_events *fl_events_new_memory(const fl_events_limits *limits);

/* All logs must be closed. */
void fl_events_free(fl_events *events);

FL_MUST_USE fl_status fl_events_open(fl_events *events, fl_span session,
                                     fl_event_log **out);
/* The session is over: its events go. */
void fl_event_log_close(fl_event_log *log);

/* `data` of {NULL, 0}: it was said, but cannot be kept. `number` is one more
 * than the last of this stream, or 1; FL_E_INVALID if it
 * is no more than the last. One event larger than max_bytes is not kept, and so
 * counts as dropped: FL_E_TOO_BIG. FL_E_NOMEM likewise: it is an event lost to
 * replay, not to the peer. */
fl_status fl_event_log_append(fl_event_log *log, uint64_t stream,
                              uint64_t number, fl_span data, uint64_t now_ms);

void fl_event_log_replay(fl_event_log *log, uint64_t stream, uint64_t after,
                         uint64_t now_ms, const fl_replay *replay, void *user);

/* Drops what is too old, which is more than max_age_ms; cheap when nothing is.
 * That there was a stream is remembered for as long again. */
void fl_event_log_expire(fl_event_log *log, uint64_t now_ms);

/* Bytes of heap. */
size_t fl_event_log_memory(const fl_event_log *log);

#endif
