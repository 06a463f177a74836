/*
 * http2_stream.c - the life of one exchange between two masters.
 *
 * The owner lets go of an exchange when it has answered or given up; the
 * protocol lets go of the stream when both sides have ended or one has broken
 * it off. Either may be first, so the memory goes with the second. And what the
 * owner must hear is noted when it happens and told when it may be: not from
 * inside a call that sends.
 *
 * Streams are used again: those of a client follow each other, and a server's
 * that answers at once needs one.
 */
#include "wire/http2_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "wire/http2_window.h"

enum {
    HIGH_MAX = 1024 * 1024 * 1024,
    ENVELOPE = 64 * 1024, /* bytes around a message */
    CLIENT_SPARES = 64,
    SERVER_SPARES = 1, /* connections are many, and mostly idle */
    FIRST_BITS = 3,
    ROW_BITS_MAX = 16,
};

/* Numbers are the peer's choice, and where the connection lies is not known to
 * it: so it cannot choose numbers that fall into one row. */
static fl_http2_stream **row_of(const fl_http2 *h, uint32_t id)
{
    uint32_t salt = (uint32_t)((uintptr_t)h >> 4) | 1;

    return &h->rows[(id / 2 * salt * 0x9e3779b1U) >> (32 - h->row_bits)];
}

/* What comes next is mostly about the same. */
fl_http2_stream *fl_http2_find(fl_http2 *h, uint32_t id)
{
    fl_http2_stream *stream = h->latest;

    if (stream != NULL && stream->id == id)
        return stream;
    stream = h->rows != NULL ? *row_of(h, id) : NULL;
    while (stream != NULL && stream->id != id)
        stream = stream->next_in_row;
    h->latest = stream;
    return stream;
}

bool fl_http2_is_idle(const fl_http2 *h, uint32_t id)
{
    return id % 2 == 0 || (h->client ? id >= h->next : id > h->newest);
}

static void leave_row(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);
    fl_http2_stream **at = row_of(h, stream->id);

    while (*at != stream)
        at = &(*at)->next_in_row;
    *at = stream->next_in_row;
    if (h->latest == stream)
        h->latest = NULL;
}

static void enter_row(fl_http2_stream *stream)
{
    fl_http2_stream **row = row_of(fl_http2_of(stream), stream->id);

    stream->next_in_row = *row;
    *row = stream;
}

/* As many rows as there are streams, about; false if there are none at all. */
static bool make_rows(fl_http2 *h)
{
    uint32_t bits = h->rows != NULL ? h->row_bits + 1 : FIRST_BITS;

    if (h->rows != NULL &&
        (h->running >> h->row_bits < 2 || bits > ROW_BITS_MAX))
        return true;
    fl_http2_stream **rows = fl_mem_zalloc(sizeof(void *) << bits);
    if (rows == NULL)
        return h->rows != NULL;
    fl_mem_free(h->rows);
    h->rows = rows;
    h->row_bits = bits;
    for (fl_list *at = h->streams.next; at != &h->streams; at = at->next) {
        fl_http2_stream *stream = FL_LIST_ENTRY(at, fl_http2_stream, node);
        if (!stream->closed)
            enter_row(stream);
    }
    return true;
}

static fl_http2_stream *take_spare(fl_http2 *h)
{
    fl_list *node = fl_list_take(&h->spares);

    if (node == NULL)
        return fl_mem_zalloc(sizeof(fl_http2_stream));
    h->spare_count--;
    return FL_LIST_ENTRY(node, fl_http2_stream, node);
}

fl_http2_stream *fl_http2_stream_new(fl_http2 *h, uint32_t id)
{
    fl_http2_stream *stream = make_rows(h) ? take_spare(h) : NULL;
    const fl_http_limits *limits = h->base.limits;
    size_t high = limits->high_water < HIGH_MAX ? limits->high_water : HIGH_MAX;

    if (stream == NULL)
        return NULL;
    stream->base.http = &h->base;
    stream->id = id;
    stream->window = h->to_stream;
    stream->room = FL_HTTP2_STREAM_ROOM;
    fl_buf_init(&stream->out, high + limits->max_message + ENVELOPE);
    fl_list_init(&stream->news);
    fl_list_init(&stream->ready);
    fl_list_append(&h->streams, &stream->node);
    enter_row(stream);
    h->latest = stream;
    h->running++;
    return stream;
}

static void destroy(fl_http2_stream *stream)
{
    fl_mem_free(stream->fields);
    fl_mem_free(stream->held);
    fl_mem_free(stream);
}

/* Nothing is left but the memory for the next head. */
static void clean(fl_http2_stream *stream)
{
    *stream = (fl_http2_stream){
        .fields = stream->fields,
        .held = stream->held,
        .cap = stream->cap,
    };
}

static void mark_closed(fl_http2_stream *stream)
{
    stream->closed = true;
    fl_http2_of(stream)->running--;
    fl_list_remove(&stream->ready);
    leave_row(stream);
}

void fl_http2_stream_free(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);

    if (!stream->closed)
        mark_closed(stream);
    fl_list_remove(&stream->node);
    fl_list_remove(&stream->news);
    fl_http2_head_drop(stream);
    fl_http2_stream_drop_out(stream);
    if (h->spare_count == (h->client ? CLIENT_SPARES : SERVER_SPARES)) {
        destroy(stream);
        return;
    }
    clean(stream);
    fl_list_prepend(&h->spares, &stream->node);
    h->spare_count++;
}

void fl_http2_stream_free_spares(fl_http2 *h)
{
    fl_list *node;

    while ((node = fl_list_take(&h->spares)) != NULL)
        destroy(FL_LIST_ENTRY(node, fl_http2_stream, node));
    fl_mem_free(h->rows);
    h->rows = NULL;
}

void fl_http2_stream_sent(fl_http2_stream *stream, size_t n)
{
    fl_http2_of(stream)->waiting -= n;
    fl_buf_consume(&stream->out, n);
    if (fl_buf_len(&stream->out) == 0)
        fl_buf_reset(&stream->out); /* a quiet stream holds no buffer */
}

void fl_http2_stream_drop_out(fl_http2_stream *stream)
{
    fl_http2_stream_sent(stream, fl_buf_len(&stream->out));
}

static void free_if_done(fl_http2_stream *stream)
{
    if (stream->closed && !stream->owned &&
        fl_http2_of(stream)->telling != stream)
        fl_http2_stream_free(stream);
}

void fl_http2_stream_settle(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);

    if (!stream->closed && stream->sent_end && h->telling != stream) {
        if (stream->whole) {
            fl_http2_count_end(h);
            mark_closed(stream);
        } else if (!h->client) {
            fl_http2_count_end(h);
            stream->ours = true;
            fl_http2_stream_break(stream, FL_HTTP2_NO_ERROR);
            return;
        }
    }
    free_if_done(stream);
}

void fl_http2_give_back(fl_http2_stream *stream)
{
    stream->torn = stream->torn || stream->lent.len > 0;
    stream->lent = (fl_span){0};
}

void fl_http2_stream_release(fl_http2_stream *stream)
{
    fl_list_remove(&stream->news);
    fl_http2_give_back(stream);
    fl_http2_refund_withheld(stream); /* nobody is there to say when */
    stream->owned = false;
    fl_http2_of(stream)->open--;
    fl_http2_stream_settle(stream);
}

void fl_http2_stream_lose(fl_http2_stream *stream, uint32_t error)
{
    if (!stream->owned || stream->lost)
        return;
    stream->lost = true;
    stream->error = error;
    fl_list_remove(&stream->news);
    fl_list_append(&fl_http2_of(stream)->news, &stream->news);
}

void fl_http2_stream_close(fl_http2_stream *stream, uint32_t error)
{
    fl_http2_count_reset(stream);
    mark_closed(stream);
    if (!stream->whole || !stream->sent_end)
        fl_http2_stream_lose(stream, error);
    free_if_done(stream);
}

void fl_http2_stream_break(fl_http2_stream *stream, fl_http2_error why)
{
    fl_http2 *h = fl_http2_of(stream);

    if (stream->closed)
        return;
    h->stopped = true;
    fl_http2_stream_drop_out(stream);
    fl_http2_put_number(h, FL_HTTP2_RST_STREAM, stream->id, (uint32_t)why);
    fl_http2_stream_close(stream, (uint32_t)why);
}

/* REFUSED_STREAM promises that nothing was done (RFC 9113 8.7): it has a
 * status of its own, for it may be tried again. Who has begun to answer cannot
 * promise that any more. */
static fl_status status_of(const fl_http2_stream *stream)
{
    switch (stream->error) {
    case FL_HTTP2_REFUSED_STREAM:
        return stream->announced ? FL_E_RESET : FL_E_STATE;
    case FL_HTTP2_CANCEL:
        return FL_E_CANCELLED;
    case FL_HTTP2_HTTP_1_1_REQUIRED:
        return FL_E_UNSUPPORTED;
    default:
        return FL_E_RESET;
    }
}

static const char *words_of(uint32_t error)
{
    switch (error) {
    case FL_HTTP2_REFUSED_STREAM:
        return "the peer did not take this request";
    case FL_HTTP2_HTTP_1_1_REQUIRED:
        return "the server does not speak HTTP/2";
    default:
        return "the HTTP/2 stream was reset";
    }
}

static const char *name_of(uint32_t error)
{
    switch (error) {
#define NAME(name, code)                                                       \
    case code:                                                                 \
        return #name;
        FL_HTTP2_ERROR_MAP(NAME)
#undef NAME
    default:
        return "unknown";
    }
}

static void tell_lost(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);
    const fl_error *why = h->why;
    fl_error error;

    if (why == NULL) {
        (void)fl_error_set(&error, status_of(stream), "%s (%s)",
                           words_of(stream->error), name_of(stream->error));
        why = &error;
    }
    /* The owner may not touch it any more, and must not have to. */
    fl_http2_give_back(stream);
    stream->owned = false;
    h->open--;
    h->base.events->on_lost(&stream->base, why, h->base.user);
    free_if_done(stream);
}

static void tell_writable(fl_http2 *h, fl_http2_stream *stream)
{
    if (h->base.events->on_writable != NULL)
        h->base.events->on_writable(&stream->base, h->base.user);
}

bool fl_http2_tell(fl_http2 *h)
{
    bool told = false;
    fl_list *node;

    while (!h->freed && (node = fl_list_take(&h->news)) != NULL) {
        fl_http2_stream *stream = FL_LIST_ENTRY(node, fl_http2_stream, news);
        told = true;
        if (stream->lost)
            tell_lost(stream);
        else
            tell_writable(h, stream);
    }
    return told;
}
