/*
 * http2_say.c - what we say: requests, responses, bodies.
 *
 * A body that is there when its head is said, and fits the windows, goes along
 * with it in one write. What does not fit waits with the stream, or, if it was
 * lent, with its owner.
 *
 * Every function here leaves the codec at its end, which may free it: nothing
 * is touched after fl_http2_leave().
 */
#include "wire/http2_impl.h"

#include "base/span.h"
#include "wire/http2_heading.h"

enum { HELD_REQUESTS = 32 };

/* A stream whose loss is noted but not told yet, or of a dead connection. */
static bool is_gone(const fl_http2_stream *stream)
{
    return stream->lost || fl_http2_of(stream)->broken;
}

static void note_length(fl_http2_stream *stream, int64_t length)
{
    stream->sized = length >= 0;
    stream->left = length >= 0 ? (uint64_t)length : 0;
}

/* Whether all of a body can leave now, in one frame. */
static bool fits(const fl_http2_stream *stream, size_t total, size_t count)
{
    const fl_http2 *h = fl_http2_of(stream);

    return !h->busy && count + 2 <= FL_HTTP2_PARTS &&
           fl_http2_may_send(stream, total) == total;
}

static fl_status append(fl_http2_stream *stream, const fl_span *parts,
                        size_t count)
{
    fl_status rc = fl_buf_append_all(&stream->out, parts, count);

    if (rc == FL_OK)
        fl_http2_of(stream)->waiting += fl_span_total(parts, count);
    return rc;
}

/* What follows a head that is said: a body that goes along, nothing, or what
 * waits. */
typedef struct body {
    const fl_span *parts;
    size_t count;
    size_t total;
} body;

static fl_status say(fl_http2_stream *stream, const fl_heading *heading,
                     const body *along)
{
    fl_http2_said said;
    fl_span parts[FL_HTTP2_PARTS];
    size_t count = along != NULL ? along->count : 0;
    fl_status rc = fl_http2_heading_say(&said, stream, heading,
                                        along != NULL ? along->total : 0);

    if (rc != FL_OK)
        return rc;
    parts[0] = said.frames;
    for (size_t i = 0; i < count; i++)
        parts[i + 1] = along->parts[i];
    fl_http2_put(fl_http2_of(stream), parts, count + 1);
    fl_http2_heading_done(&said);
    if (along != NULL)
        fl_http2_sent_data(stream, along->total);
    return FL_OK;
}

static bool takes_requests(const fl_http2 *h)
{
    return !h->broken && !h->ended && h->doom == 0 && !h->farewell &&
           h->next <= FL_HTTP2_MAX;
}

/* Requests that cannot leave wait better where they are than here. */
static bool has_room(const fl_http2 *h)
{
    return h->running < h->to_open &&
           !(h->busy && h->held_count >= HELD_REQUESTS);
}

bool fl_http2_available(const fl_http *http)
{
    const fl_http2 *h = (const fl_http2 *)(const void *)http;

    return h->client && takes_requests(h) && has_room(h);
}

/* The body is lent, or still to come. */
static fl_status say_request(fl_http2_stream *stream, const fl_heading *heading,
                             fl_span lent)
{
    bool along = lent.len > 0 && fits(stream, lent.len, 1);
    const body whole = {&lent, 1, lent.len};

    stream->is_head = fl_span_equal(heading->method, FL_SPAN("HEAD"));
    stream->bodiless = heading->length == 0;
    stream->finished = stream->bodiless || lent.len > 0;
    note_length(stream, lent.len > 0 ? 0 : heading->length);
    fl_status rc = say(stream, heading, along ? &whole : NULL);
    if (rc != FL_OK)
        return rc;
    if (!along)
        stream->lent = lent;
    stream->sent_end = along || stream->bodiless;
    if (!stream->sent_end && lent.len > 0)
        fl_http2_make_ready(stream);
    return FL_OK;
}

fl_status fl_http2_ask(fl_http *http, const fl_heading *heading, fl_span lent,
                       void *exchange_user, fl_exchange **out)
{
    fl_http2 *h = (fl_http2 *)(void *)http;

    *out = NULL;
    if (!h->client || !takes_requests(h))
        return FL_E_STATE;
    if (!has_room(h))
        return FL_BUSY;
    fl_http2_stream *stream = fl_http2_stream_new(h, h->next);
    if (stream == NULL)
        return FL_E_NOMEM;
    stream->base.user = exchange_user;
    fl_http2_enter(h);
    fl_status rc = say_request(stream, heading, lent);
    if (rc == FL_OK) {
        h->next += 2;
        stream->owned = true;
        h->open++;
        *out = &stream->base;
    } else {
        fl_http2_stream_free(stream);
    }
    fl_http2_leave(h, false);
    return rc;
}

fl_status fl_http2_request(fl_http *http, const fl_heading *heading,
                           void *exchange_user, fl_exchange **out)
{
    return fl_http2_ask(http, heading, (fl_span){0}, exchange_user, out);
}

static bool has_no_body(const fl_http2_stream *stream, unsigned status)
{
    return stream->is_head || status == 204 || status == 304;
}

static fl_status say_response(fl_http2_stream *stream,
                              const fl_heading *heading, const body *along)
{
    stream->bodiless =
        has_no_body(stream, heading->status) || heading->length == 0;
    fl_status rc = say(stream, heading, along);
    if (rc != FL_OK)
        return rc;
    stream->responded = true;
    note_length(stream, heading->length);
    if (heading->close && !stream->bad)
        fl_http2_shut(stream->base.http);
    return FL_OK;
}

fl_status fl_http2_respond(fl_exchange *exchange, const fl_heading *heading)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);

    if (h->client || stream->responded || heading->status < 200)
        return FL_E_STATE; /* there is no 101 in HTTP/2 */
    if (is_gone(stream))
        return FL_E_RESET;
    fl_http2_enter(h);
    fl_status rc = say_response(stream, heading, NULL);
    if (rc == FL_OK) {
        stream->sent_end = stream->bodiless;
        fl_http2_stream_settle(stream);
    }
    fl_http2_leave(h, false);
    return rc;
}

/* At once, if nothing is before it; or it waits. */
static fl_status send_body(fl_http2_stream *stream, const fl_span *parts,
                           size_t count, size_t total)
{
    if (total == 0)
        return FL_OK;
    if (fl_http2_unsent(stream) == 0 && fits(stream, total, count) &&
        fl_http2_put_data(stream, parts, count, false)) {
        fl_http2_sent_data(stream, total);
        return FL_OK;
    }
    fl_status rc = append(stream, parts, count);
    if (rc == FL_OK)
        fl_http2_make_ready(stream);
    return rc;
}

fl_status fl_http2_send(fl_exchange *exchange, const fl_span *parts,
                        size_t count, bool urgent)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);
    size_t total = fl_span_total(parts, count);

    if (stream->finished || (!h->client && !stream->responded))
        return FL_E_STATE;
    if (is_gone(stream))
        return FL_E_RESET;
    if (stream->sized && total > stream->left)
        return FL_E_TOO_BIG;
    if (!urgent && fl_buf_len(&stream->out) >= h->base.limits->high_water) {
        fl_http2_drain_at(exchange, h->base.limits->high_water / 2);
        return FL_BUSY;
    }
    fl_http2_enter(h);
    fl_status rc =
        stream->bodiless ? FL_OK : send_body(stream, parts, count, total);
    if (rc == FL_OK && stream->sized)
        stream->left -= total;
    fl_http2_leave(h, false);
    return rc;
}

/* By the owner's wish. */
static void break_off(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);

    stream->ours = true;
    fl_http2_stream_drop_out(stream);
    fl_http2_give_back(stream);
    if (!h->broken)
        fl_http2_stream_break(stream, h->client ? FL_HTTP2_CANCEL
                                                : FL_HTTP2_INTERNAL_ERROR);
}

/* Less than was promised, or no response at all, is no message. */
static bool is_short(const fl_http2_stream *stream)
{
    if (!fl_http2_of(stream)->client && !stream->responded)
        return true;
    return stream->sized && stream->left > 0 && !stream->bodiless;
}

void fl_http2_finish(fl_exchange *exchange)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);

    fl_http2_enter(h);
    if (is_short(stream)) {
        break_off(stream);
        if (h->client)
            fl_http2_stream_lose(stream, FL_HTTP2_CANCEL);
    } else if (!stream->finished) {
        stream->finished = true;
        if (!stream->sent_end)
            fl_http2_make_ready(stream);
    }
    if (!h->client)
        fl_http2_stream_release(stream);
    fl_http2_leave(h, false);
}

static fl_status say_answer(fl_http2_stream *stream, const fl_heading *heading,
                            const fl_span *parts, size_t count)
{
    const body whole = {parts, count, fl_span_total(parts, count)};
    bool none = whole.total == 0 || has_no_body(stream, heading->status);
    bool along = !none && fits(stream, whole.total, count);
    fl_status rc = none || along ? FL_OK : append(stream, parts, count);

    if (rc == FL_OK)
        rc = say_response(stream, heading, along ? &whole : NULL);
    if (rc != FL_OK) {
        fl_http2_stream_drop_out(stream);
        return rc;
    }
    stream->finished = true;
    stream->left = 0;
    stream->sent_end = none || along;
    if (!stream->sent_end)
        fl_http2_make_ready(stream);
    fl_http2_stream_release(stream);
    return FL_OK;
}

fl_status fl_http2_answer(fl_exchange *exchange, const fl_heading *heading,
                          const fl_span *parts, size_t count)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);

    if (h->client || stream->responded || heading->status < 200)
        return FL_E_STATE;
    if (is_gone(stream))
        return FL_E_RESET;
    fl_http2_enter(h);
    fl_status rc = say_answer(stream, heading, parts, count);
    fl_http2_leave(h, false);
    return rc;
}

void fl_http2_reset(fl_exchange *exchange)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);

    fl_http2_enter(h);
    break_off(stream);
    fl_http2_stream_release(stream);
    fl_http2_leave(h, false);
}
