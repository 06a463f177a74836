/*
 * events_memory.c - events kept in the memory of this process.
 *
 * An event is in two rings: that of its log, where all lie by age, and that of
 * its stream. The oldest of the log is always the first of its stream, and a
 * hole makes what lies before it useless, so it goes too. Hence what a stream
 * holds is always its last `count` events without a gap, and "dropped up to"
 * need not be written down: it is last - count.
 *
 * A stream of which nothing is left is remembered for a while, so that one who
 * comes late is told that events are gone and not that they never were; but
 * only for a while, and only so many. A log that holds nothing is one small
 * block.
 */
#include "store/events.h"

#include "base/list.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

enum {
    DEFAULT_EVENTS = 1000,
    DEFAULT_BYTES = 4 * 1024 * 1024,
    DEFAULT_AGE_MS = 300 * 1000,
    FIRST_BUCKETS = 4,
    MAX_BARE = 64,
};

struct store {
    fl_events base;
    fl_events_limits limits;
};

struct stream {
    struct stream *next; /* in its bucket */
    uint64_t id;
    uint64_t last;  /* the highest number it had */
    uint64_t at_ms; /* when that was */
    size_t count;
    fl_list events;
    fl_list bare; /* among those that hold no event */
};

struct event {
    fl_list by_age;
    fl_list of_stream;
    struct stream *stream;
    uint64_t number;
    uint64_t at_ms;
    size_t len;
    char data[];
};

struct log {
    fl_event_log base;
    struct stream **buckets;
    size_t bucket_count; /* a power of two, or 0 */
    size_t stream_count;
    size_t bare_count;
    size_t count;
    size_t bytes;
    fl_list by_age;
    fl_list bare; /* the one that has been so the longest first */
    bool replaying;
};

static_assert(sizeof(struct log) < 200, "every session has one");

static struct log *log_of(fl_event_log *base)
{
    return (struct log *)(void *)base;
}

static const fl_events_limits *limits_of(const struct log *log)
{
    return &((const struct store *)(const void *)log->base.events)->limits;
}

/* Stream ids are our own counting, so nobody can aim at a bucket. */
static struct stream **bucket_of(const struct log *log, uint64_t id)
{
    return &log->buckets[id & (log->bucket_count - 1)];
}

static struct stream *find(const struct log *log, uint64_t id)
{
    struct stream *stream = log->bucket_count > 0 ? *bucket_of(log, id) : NULL;

    while (stream != NULL && stream->id != id)
        stream = stream->next;
    return stream;
}

static void put(struct log *log, struct stream *stream)
{
    struct stream **bucket = bucket_of(log, stream->id);

    stream->next = *bucket;
    *bucket = stream;
}

/* Twice as many buckets. Without memory for them the old ones do, if there
 * are any. */
static bool grow(struct log *log)
{
    size_t old_count = log->bucket_count;
    struct stream **old = log->buckets;
    size_t count = old_count > 0 ? 2 * old_count : FIRST_BUCKETS;
    struct stream **buckets = fl_mem_zalloc(count * sizeof(struct stream *));

    if (buckets == NULL)
        return old_count > 0;
    log->buckets = buckets;
    log->bucket_count = count;
    for (size_t i = 0; i < old_count; i++)
        for (struct stream *at = old[i], *next; at != NULL; at = next) {
            next = at->next;
            put(log, at);
        }
    fl_mem_free(old);
    return true;
}

static struct stream *add_stream(struct log *log, uint64_t id, uint64_t last)
{
    if (log->stream_count == log->bucket_count && !grow(log))
        return NULL;
    struct stream *stream = fl_mem_zalloc(sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->id = id;
    stream->last = last;
    fl_list_init(&stream->events);
    fl_list_init(&stream->bare);
    put(log, stream);
    log->stream_count++;
    return stream;
}

static void leave_bare(struct log *log, struct stream *stream)
{
    if (fl_list_empty(&stream->bare))
        return;
    fl_list_remove(&stream->bare);
    log->bare_count--;
}

/* The stream, which holds no event, is no longer known. */
static void remove_stream(struct log *log, struct stream *stream)
{
    struct stream **link = bucket_of(log, stream->id);

    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    leave_bare(log, stream);
    fl_mem_free(stream);
    if (--log->stream_count == 0) {
        fl_mem_free(log->buckets);
        log->buckets = NULL;
        log->bucket_count = 0;
    }
}

static struct stream *first_bare(const struct log *log)
{
    return FL_LIST_ENTRY(log->bare.next, struct stream, bare);
}

/* If nothing is left of the stream, it joins those of which that is true. */
static void check_bare(struct log *log, struct stream *stream)
{
    if (stream->count > 0 || !fl_list_empty(&stream->bare))
        return;
    fl_list_append(&log->bare, &stream->bare);
    if (++log->bare_count > MAX_BARE)
        remove_stream(log, first_bare(log));
}

static struct event *oldest(const struct log *log)
{
    return FL_LIST_ENTRY(log->by_age.next, struct event, by_age);
}

static void drop(struct log *log, struct event *event)
{
    fl_list_remove(&event->by_age);
    fl_list_remove(&event->of_stream);
    event->stream->count--;
    log->count--;
    log->bytes -= event->len;
    fl_mem_free(event);
}

static void drop_oldest(struct log *log)
{
    struct event *event = oldest(log);
    struct stream *stream = event->stream;

    drop(log, event);
    check_bare(log, stream);
}

static void drop_all(struct log *log, struct stream *stream)
{
    while (!fl_list_empty(&stream->events))
        drop(log, FL_LIST_ENTRY(stream->events.next, struct event, of_stream));
}

/* A clock that went back makes nothing old. */
static bool is_older(uint64_t at_ms, uint64_t now_ms, uint64_t age_ms)
{
    return now_ms > at_ms && now_ms - at_ms > age_ms;
}

static void expire(fl_event_log *base, uint64_t now_ms)
{
    struct log *log = log_of(base);
    uint64_t age = limits_of(log)->max_age_ms;
    uint64_t twice = age < UINT64_MAX / 2 ? 2 * age : UINT64_MAX;

    assert(!log->replaying);
    while (log->count > 0 && is_older(oldest(log)->at_ms, now_ms, age))
        drop_oldest(log);
    while (log->bare_count > 0 &&
           is_older(first_bare(log)->at_ms, now_ms, twice))
        remove_stream(log, first_bare(log));
}

/* A hole: nothing up to and with `number` can be replayed any more. */
static fl_status lose(struct log *log, struct stream *stream, uint64_t number,
                      fl_status why)
{
    drop_all(log, stream);
    stream->last = number;
    check_bare(log, stream);
    return why;
}

static bool is_full_for(const struct log *log, size_t len)
{
    const fl_events_limits *limits = limits_of(log);

    return log->count >= limits->max_events ||
           log->bytes > limits->max_bytes - len;
}

/* The stream counts its new event first: otherwise, bare for a moment, it
 * could be forgotten to make room for it. */
static void keep(struct log *log, struct stream *stream, struct event *event)
{
    leave_bare(log, stream);
    stream->count++;
    while (is_full_for(log, event->len))
        drop_oldest(log);
    event->stream = stream;
    fl_list_append(&log->by_age, &event->by_age);
    fl_list_append(&stream->events, &event->of_stream);
    stream->last = event->number;
    log->count++;
    log->bytes += event->len;
}

static struct event *copy(uint64_t number, fl_span data, uint64_t now_ms)
{
    struct event *event = fl_mem_alloc(sizeof *event + data.len);

    if (event == NULL)
        return NULL;
    *event = (struct event){.number = number, .at_ms = now_ms, .len = data.len};
    if (data.len > 0)
        memcpy(event->data, data.ptr, data.len);
    return event;
}

static fl_status append(fl_event_log *base, uint64_t id, uint64_t number,
                        fl_span data, uint64_t now_ms)
{
    struct log *log = log_of(base);

    expire(base, now_ms);
    struct stream *stream = find(log, id);
    if (number == 0 || (stream != NULL && number <= stream->last))
        return FL_E_INVALID;
    if (stream == NULL)
        stream = add_stream(log, id, number - 1);
    if (stream == NULL)
        return FL_E_NOMEM;
    stream->at_ms = now_ms;
    if (number > stream->last + 1)
        drop_all(log, stream);
    if (data.ptr == NULL || data.len > limits_of(log)->max_bytes)
        return lose(log, stream, number, FL_E_TOO_BIG);
    struct event *event = copy(number, data, now_ms);
    if (event == NULL)
        return lose(log, stream, number, FL_E_NOMEM);
    keep(log, stream, event);
    return FL_OK;
}

/* Back from the last event, so that it costs what is asked for, not what is
 * held. */
static void replay_from(struct stream *stream, uint64_t after,
                        const fl_replay *to, void *user)
{
    fl_list *at = &stream->events;

    for (uint64_t missed = stream->last - after; missed > 0; missed--)
        at = at->prev;
    for (; at != &stream->events; at = at->next) {
        const struct event *event = FL_LIST_ENTRY(at, struct event, of_stream);
        to->on_event(user, event->number, (fl_span){event->data, event->len});
    }
}

static void replay(fl_event_log *base, uint64_t id, uint64_t after,
                   uint64_t now_ms, const fl_replay *to, void *user)
{
    struct log *log = log_of(base);
    fl_status status = FL_OK;

    expire(base, now_ms);
    struct stream *stream = find(log, id);
    if (stream == NULL || after > stream->last)
        status = FL_E_NOT_FOUND;
    else if (stream->last - after > stream->count)
        status = FL_E_LIMIT;
    if (status == FL_OK && after < stream->last) {
        log->replaying = true;
        replay_from(stream, after, to, user);
        log->replaying = false;
    }
    to->on_done(user, status);
}

static size_t memory(const fl_event_log *base)
{
    const struct log *log = (const struct log *)(const void *)base;

    return sizeof *log + log->bucket_count * sizeof(void *) +
           log->stream_count * sizeof(struct stream) +
           log->count * sizeof(struct event) + log->bytes;
}

static fl_status open_log(fl_events *events, fl_span session,
                          fl_event_log **out)
{
    struct log *log = fl_mem_zalloc(sizeof *log);

    (void)session; /* nobody else can look for it here */
    if (log == NULL)
        return FL_E_NOMEM;
    log->base.events = events;
    fl_list_init(&log->by_age);
    fl_list_init(&log->bare);
    *out = &log->base;
    return FL_OK;
}

static void close_log(fl_event_log *base)
{
    struct log *log = log_of(base);

    assert(!log->replaying);
    while (log->count > 0)
        drop_oldest(log);
    while (log->bare_count > 0)
        remove_stream(log, first_bare(log));
    fl_mem_free(log);
}

static void free_store(fl_events *events)
{
    fl_mem_free(events);
}

static const fl_events_ops ops = {
    .open = open_log,
    .close = close_log,
    .append = append,
    .replay = replay,
    .expire = expire,
    .memory = memory,
    .free = free_store,
};

fl_events *fl_events_new_memory(const fl_events_limits *limits)
{
    struct store *store = fl_mem_zalloc(sizeof *store);

    if (store == NULL)
        return NULL;
    store->base.ops = &ops;
    if (limits != NULL)
        store->limits = *limits;
    if (store->limits.max_events == 0)
        store->limits.max_events = DEFAULT_EVENTS;
    if (store->limits.max_bytes == 0)
        store->limits.max_bytes = DEFAULT_BYTES;
    if (store->limits.max_age_ms == 0)
        store->limits.max_age_ms = DEFAULT_AGE_MS;
    return &store->base;
}
