/*
 * sse.h - Server-Sent Events, both directions, by the WHATWG rules.
 *
 * The parser is pulled, keeps no pointer to the caller's bytes, and is fed
 * bytes cut anywhere. Field values are UTF-8 as they came: invalid bytes are
 * passed on, for whoever reads a message validates it anyway.
 */
#ifndef FL_WIRE_SSE_H
#define FL_WIRE_SSE_H

#include "wire/lines.h"

#include "base/buf.h"

/* Owned by whoever embeds it. Fields are private to sse.c, the last two
 * aside: they may be read at any time. */
typedef struct fl_sse {
    fl_lines lines;
    fl_buf type;
    fl_buf data;
    fl_buf id; /* of the event in hand, if it has one */
    size_t max;
    bool begun;        /* past a byte order mark */
    bool dropping;     /* this event is over the limit */
    bool has_id;       /* the event in hand brings one */
    bool given;        /* type and data are with the caller */
    fl_buf last_id;    /* "last event ID", for Last-Event-ID */
    uint64_t retry_ms; /* what the server asked for; UINT64_MAX: nothing yet */
} fl_sse;

typedef struct fl_sse_event {
    fl_span type; /* "message" if it has none */
    fl_span data; /* lines joined by LF */
    fl_span id;   /* the last event ID as of this event; may be empty */
} fl_sse_event;

/* Allocates nothing. `max` bounds one event's data, its type, its id, and each
 * line without "data: " in front. */
void fl_sse_init(fl_sse *sse, size_t max);
void fl_sse_deinit(fl_sse *sse);

/*
 * Takes from the front of `in` up to the end of the next event. FL_OK: `event`
 * is good until the next call. FL_AGAIN: `in` is used up. FL_E_TOO_BIG or
 * FL_E_NOMEM: that event is lost, the next call goes on after it. An event
 * without data is no event (but its id counts, as that of a lost one does, or
 * it would be asked for again); one that the stream's end cuts off is dropped,
 * as the rules say.
 */
FL_MUST_USE fl_status fl_sse_next(fl_sse *sse, fl_span *in,
                                  fl_sse_event *event);

/* A new connection: what was begun is dropped; last_id and retry_ms stay. */
void fl_sse_restart(fl_sse *sse);

/* What to send; empty fields are left out. */
typedef struct fl_sse_out {
    fl_span id;
    fl_span event;
    uint64_t retry_ms; /* 0: none */
} fl_sse_out;

/*
 * Appends one event whose data is the parts together, one "data:" line for
 * each line in them. With no parts at all: "data:" with nothing, as a priming
 * event is. FL_E_INVALID: an id or type with a line end or NUL in it; nothing
 * is appended on failure.
 */
FL_MUST_USE fl_status fl_sse_write(fl_buf *out, const fl_sse_out *fields,
                                   const fl_span *parts, size_t count);

/* ": text" and a blank line. FL_E_INVALID: text with a line end in it. */
FL_MUST_USE fl_status fl_sse_write_comment(fl_buf *out, fl_span text);

#endif
