/*
 * http2_stream.c - the life of one exchange between two masters.
 *
 * The owner lets go of an exchange when it has answered or given up; nghttp2
 * lets go of the stream when its last frame has gone or come. Either may be
 * first, so the memory goes with the second. And what the owner must hear is
 * noted when it happens and told when it may be: not from inside a call that
 * sends, and not from inside nghttp2.
 */
#include "wire/http2_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"

enum {
    HIGH_MAX = 1024 * 1024 * 1024,
    OUT_ABOVE_HIGH = 16 * 1024 * 1024 + 64 * 1024,
    SPARES_MAX = 64,
};

static fl_http2_stream *take_spare(fl_http2 *h)
{
    fl_list *node = fl_list_take(&h->spares);

    if (node == NULL)
        return fl_mem_zalloc(sizeof(fl_http2_stream));
    h->spare_count--;
    return FL_LIST_ENTRY(node, fl_http2_stream, node);
}

fl_http2_stream *fl_http2_stream_new(fl_http2 *h)
{
    fl_http2_stream *stream = take_spare(h);
    size_t high = h->base.limits->high_water;

    if (stream == NULL)
        return NULL;
    stream->base.http = &h->base;
    fl_buf_init(&stream->out,
                (high < HIGH_MAX ? high : HIGH_MAX) + OUT_ABOVE_HIGH);
    fl_list_init(&stream->news);
    fl_list_append(&h->streams, &stream->node);
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

void fl_http2_stream_free(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);

    if (!stream->closed)
        h->running--;
    if (h->latest == stream)
        h->latest = NULL;
    fl_list_remove(&stream->node);
    fl_list_remove(&stream->news);
    fl_http2_head_drop(stream);
    fl_buf_reset(&stream->out);
    if (!h->client || h->spare_count == SPARES_MAX) {
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
}

void fl_http2_stream_release(fl_http2_stream *stream)
{
    fl_list_remove(&stream->news);
    fl_http2_give_back(stream);
    stream->owned = false;
    fl_http2_of(stream)->open--;
    if (stream->closed)
        fl_http2_stream_free(stream);
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
    stream->closed = true;
    fl_http2_of(stream)->running--;
    if (!stream->owned)
        fl_http2_stream_free(stream);
    else if (!stream->whole || !stream->bodiless)
        fl_http2_stream_lose(stream, error);
}

/* REFUSED_STREAM promises that nothing was done (RFC 9113 8.7): it has a
 * status of its own, for it may be tried again. */
static fl_status status_of(uint32_t error)
{
    switch (error) {
    case NGHTTP2_REFUSED_STREAM:
        return FL_E_STATE;
    case NGHTTP2_CANCEL:
        return FL_E_CANCELLED;
    case NGHTTP2_HTTP_1_1_REQUIRED:
        return FL_E_UNSUPPORTED;
    default:
        return FL_E_RESET;
    }
}

static const char *words_of(uint32_t error)
{
    switch (error) {
    case NGHTTP2_REFUSED_STREAM:
        return "the peer did not take this request";
    case NGHTTP2_HTTP_1_1_REQUIRED:
        return "the server does not speak HTTP/2";
    default:
        return "the HTTP/2 stream was reset";
    }
}

static void tell_lost(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);
    const fl_error *why = h->why;
    fl_error error;

    if (why == NULL) {
        (void)fl_error_set(&error, status_of(stream->error), "%s (%s)",
                           words_of(stream->error),
                           nghttp2_http2_strerror(stream->error));
        why = &error;
    }
    /* The owner may not touch it any more, and must not have to. */
    fl_http2_give_back(stream);
    stream->owned = false;
    h->open--;
    h->base.events->on_lost(&stream->base, why, h->base.user);
    if (stream->closed)
        fl_http2_stream_free(stream);
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
