/*
 * http2_in.c - what nghttp2 says about the peer's frames, told as events.
 *
 * nghttp2 keeps the rules of the protocol; here are the limits it has none
 * for. Frames that carry nothing (PING, SETTINGS, PRIORITY, empty DATA, types
 * nobody knows) and requests that come to nothing are counted per second, and
 * each useful frame or finished request makes up for one of them: a busy proxy
 * may cancel its share, a flood may not. It does not matter who resets: a peer
 * that makes us reset its requests, by breaking a rule on each, is counted like
 * one that does it itself. WINDOW_UPDATE is free as far as we have sent what
 * it is about.
 *
 * A callback that returns FAILED ends nghttp2_session_mem_recv() at once:
 * that is how a freed or doomed connection stops in the middle of a read.
 */
#include "wire/http2_impl.h"

#include "base/span.h"

enum {
    FAILED = NGHTTP2_ERR_CALLBACK_FAILURE,
    DRIBBLE = 256,
    READ_AT_ONCE = 1024,
};

static int verdict(const fl_http2 *h)
{
    return h->freed || h->broken || h->doom != 0 ? FAILED : 0;
}

/* What comes next is mostly about the same. */
static fl_http2_stream *find(fl_http2 *h, int32_t id)
{
    if (h->latest == NULL || h->latest->id != id)
        h->latest = id > 0
                        ? nghttp2_session_get_stream_user_data(h->session, id)
                        : NULL;
    return h->latest;
}

/* Whether events about the peer's message may still come. */
static bool is_heard(const fl_http2_stream *stream)
{
    return stream->owned && !stream->lost && stream->bad == 0;
}

static bool carries_something(const nghttp2_frame_hd *hd)
{
    switch (hd->type) {
    case NGHTTP2_DATA:
        return hd->length > 0 || (hd->flags & NGHTTP2_FLAG_END_STREAM) != 0;
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION:
        return true;
    default:
        return false;
    }
}

/* A window is opened for what has gone through it. */
static bool is_owed(fl_http2 *h, const nghttp2_frame_hd *hd)
{
    if (hd->type != NGHTTP2_WINDOW_UPDATE || h->updates == 0)
        return false;
    h->updates--;
    return true;
}

/* A RST_STREAM is counted when its stream closes, if there is one. */
static bool is_control(fl_http2 *h, const nghttp2_frame_hd *hd)
{
    if (hd->type == NGHTTP2_RST_STREAM)
        return find(h, hd->stream_id) == NULL;
    return !carries_something(hd) && !is_owed(h, hd);
}

/*
 * nghttp2 forgets a stream when it closes, and overlooks what comes for it
 * afterwards. That is right for frames that crossed with a RST_STREAM of
 * ours; while we have sent none, there can be no such frames (RFC 9113 5.1).
 */
static bool comes_too_late(fl_http2 *h, const nghttp2_frame_hd *hd)
{
    if (h->client || h->stopped ||
        (hd->type != NGHTTP2_DATA && hd->type != NGHTTP2_HEADERS))
        return false;
    return hd->stream_id > 0 && hd->stream_id <= h->newest &&
           find(h, hd->stream_id) == NULL;
}

/* A rule of RFC 9113 6.3 that nghttp2 leaves alone when it has been told to
 * leave priorities alone. */
static bool is_stray_priority(const nghttp2_frame_hd *hd)
{
    return hd->type == NGHTTP2_PRIORITY && hd->stream_id == 0;
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd,
                          void *user)
{
    fl_http2 *h = user;

    (void)session;
    if (comes_too_late(h, hd))
        h->doom = NGHTTP2_STREAM_CLOSED;
    else if (is_stray_priority(hd))
        h->doom = NGHTTP2_PROTOCOL_ERROR;
    else if (is_control(h, hd))
        (void)fl_http2_overdone(h, &h->control, h->base.limits->max_control);
    else if (h->control > 0 && carries_something(hd))
        h->control--;
    return verdict(h);
}

static int on_begin_headers(nghttp2_session *session,
                            const nghttp2_frame *frame, void *user)
{
    fl_http2 *h = user;
    int32_t id = frame->hd.stream_id;
    fl_http2_stream *stream = find(h, id);

    if (stream != NULL) {
        if (!stream->announced) /* after a 1xx */
            fl_http2_head_drop(stream);
        return verdict(h);
    }
    if (h->client)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    stream = fl_http2_stream_new(h);
    if (stream == NULL)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    stream->id = h->newest = id;
    if (nghttp2_session_set_stream_user_data(session, id, stream) != 0) {
        fl_http2_stream_free(stream);
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return verdict(h);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     nghttp2_rcbuf *name, nghttp2_rcbuf *value, uint8_t flags,
                     void *user)
{
    fl_http2 *h = user;
    fl_http2_stream *stream = find(h, frame->hd.stream_id);

    (void)session;
    (void)flags;
    if (stream == NULL || fl_http2_head_add(stream, name, value) != FL_OK)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return verdict(h);
}

/* nghttp2 would overlook the field; RFC 9113 8.2.1 calls it malformed. */
static int on_invalid_header(nghttp2_session *session,
                             const nghttp2_frame *frame, nghttp2_rcbuf *name,
                             nghttp2_rcbuf *value, uint8_t flags, void *user)
{
    (void)session;
    (void)frame;
    (void)name;
    (void)value;
    (void)flags;
    (void)user;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static void tell_request(fl_http2 *h, fl_http2_stream *stream, bool has_body)
{
    const fl_http_events *events = h->base.events;

    fl_http2_head_finish(stream, has_body);
    stream->announced = stream->owned = true;
    h->open++;
    if (stream->bad != 0)
        events->on_bad(&stream->base, stream->bad, stream->what, h->base.user);
    else
        events->on_head(&stream->base, &stream->head, h->base.user);
}

static void break_off(fl_http2 *h, fl_http2_stream *stream, uint32_t error)
{
    stream->ours = true;
    if (nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, stream->id,
                                  error) != 0)
        h->doom = NGHTTP2_INTERNAL_ERROR;
}

static void tell_response(fl_http2 *h, fl_http2_stream *stream, bool has_body)
{
    fl_http2_head_finish(stream, has_body);
    if (stream->head.status / 100 == 1 && stream->bad == 0)
        return;
    stream->announced = true;
    if (stream->bad != 0) {
        break_off(h, stream, NGHTTP2_PROTOCOL_ERROR);
        fl_http2_stream_lose(stream, NGHTTP2_PROTOCOL_ERROR);
    } else if (is_heard(stream)) {
        h->base.events->on_head(&stream->base, &stream->head, h->base.user);
    }
}

static void tell_end(fl_http2 *h, fl_http2_stream *stream)
{
    stream->whole = true;
    if (is_heard(stream))
        h->base.events->on_end(&stream->base, h->base.user);
    fl_http2_head_drop(stream);
    if (!h->client || h->freed || !is_heard(stream))
        return;
    /* The response is whole: nobody waits for the rest of our request. */
    if (!stream->finished || stream->lent.len > 0)
        break_off(h, stream, NGHTTP2_CANCEL);
    fl_http2_stream_release(stream);
}

static void on_message_frame(fl_http2 *h, const nghttp2_frame *frame)
{
    fl_http2_stream *stream = find(h, frame->hd.stream_id);
    bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;

    if (stream == NULL)
        return;
    if (frame->hd.type == NGHTTP2_HEADERS && !stream->announced) {
        if (h->client)
            tell_response(h, stream, !ends);
        else
            tell_request(h, stream, !ends);
    }
    if (ends && !h->freed)
        tell_end(h, stream);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame,
                    void *user)
{
    fl_http2 *h = user;

    (void)session;
    if (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA)
        on_message_frame(h, frame);
    else if (frame->hd.type == NGHTTP2_PING && h->noticed &&
             (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0)
        fl_http2_depart(h);
    return verdict(h);
}

/* Opens the windows again by what came; a paused stream keeps its own shut,
 * and the others go on. */
static int take_in(nghttp2_session *session, fl_http2_stream *stream,
                   int32_t id, size_t len)
{
    if (stream == NULL || !stream->owned || !stream->paused)
        return nghttp2_session_consume(session, id, len);
    stream->withheld += len;
    return nghttp2_session_consume_connection(session, len);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id,
                   const uint8_t *data, size_t len, void *user)
{
    fl_http2 *h = user;
    fl_http2_stream *stream = find(h, id);

    (void)flags;
    if (take_in(session, stream, id, len) != 0)
        return FAILED;
    if (stream != NULL && stream->announced && is_heard(stream))
        h->base.events->on_body(
            &stream->base, (fl_span){(const char *)data, len}, h->base.user);
    return verdict(h);
}

void fl_http2_pause(fl_exchange *exchange, bool paused)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);
    size_t due = paused ? 0 : stream->withheld;

    stream->paused = paused;
    if (due == 0)
        return;
    stream->withheld = 0;
    if (stream->closed || h->broken)
        return;
    fl_http2_enter(h);
    if (nghttp2_session_consume_stream(h->session, stream->id, due) != 0)
        h->doom = NGHTTP2_INTERNAL_ERROR;
    fl_http2_leave(h, false);
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error,
                    void *user)
{
    fl_http2 *h = user;
    fl_http2_stream *stream = find(h, id);

    (void)session;
    h->latest = NULL;
    if (stream == NULL)
        return 0;
    if (error == NGHTTP2_NO_ERROR)
        h->resets -= h->resets > 0;
    else if (!h->client && !stream->ours)
        (void)fl_http2_overdone(h, &h->resets, h->base.limits->max_resets);
    fl_http2_stream_close(stream, error);
    return 0;
}

/* Frames of types we do not know are dropped (RFC 9113 5.5). They are asked
 * for all the same: or on_begin_frame() would not get to see them. */
static int on_unknown(nghttp2_session *session, void **payload,
                      const nghttp2_frame_hd *hd, void *user)
{
    (void)session;
    (void)payload;
    (void)hd;
    (void)user;
    return NGHTTP2_ERR_CANCEL;
}

/*
 * Each frame of ours may be worth two updates, of its stream's window and of
 * the connection's, and a large one is perhaps read in pieces. One that is
 * small because the window was is worth nothing: that is what a peer would do
 * that dribbles updates to be sent a body byte by byte.
 */
static void note_data(fl_http2 *h, const fl_http2_stream *stream, size_t len)
{
    bool is_cut = stream != NULL && fl_http2_unsent(stream) > 0;

    if (len > 0 && (!is_cut || len >= DRIBBLE))
        h->updates += 2 + 2 * (len / READ_AT_ONCE);
}

static void note_reset(fl_http2 *h, uint32_t error)
{
    h->stopped = true;
    if (error == NGHTTP2_REFUSED_STREAM) /* it never became a stream */
        (void)fl_http2_overdone(h, &h->resets, h->base.limits->max_resets);
}

/* An answer that did not wait for the whole request: stop the rest of it
 * (RFC 9113 8.1). */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame,
                   void *user)
{
    fl_http2 *h = user;

    if (frame->hd.type == NGHTTP2_RST_STREAM)
        note_reset(h, frame->rst_stream.error_code);
    if (frame->hd.type == NGHTTP2_DATA)
        note_data(h, find(h, frame->hd.stream_id), frame->hd.length);
    if (h->client || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0 ||
        (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
        return 0;
    fl_http2_stream *stream = find(h, frame->hd.stream_id);
    if (stream == NULL || stream->whole)
        return 0;
    stream->ours = true;
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id,
                                     NGHTTP2_NO_ERROR);
}

void fl_http2_listen(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks,
                                                          on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks,
                                                            on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(callbacks, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(
        callbacks, on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_unpack_extension_callback(callbacks,
                                                            on_unknown);
}
