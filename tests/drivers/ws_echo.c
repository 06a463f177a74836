/*
 * ws_echo.c - one WebSocket that says back what it hears.
 *
 * Each message leaves before the next one is looked at. When that fills the
 * stream, the rest of the input is put aside and the stream paused, so that
 * one message at most is held beyond the high water mark however small its
 * sender had packed it.
 */
#include "ws_echo.h"

#include "base/random.h"
#include "base/span.h"
#include "io/sha1.h"
#include "wire/ws_handshake.h"

enum {
    HIGH_WATER = 256 * 1024,
    HELD_MAX = 1024 * 1024, /* several times what one read can bring */
    ROOM = 64 * 1024,
    CLOSE_MS = 1000,
    SEND_MS = 60000, /* suites can be slow to read */
};

/* What does not shrink when packed grows by five bytes in 16 KiB, or so. */
static size_t packed_max(size_t max)
{
    return max + max / 1024 + ROOM;
}

bool ws_shop_init(ws_shop *shop, bool client, size_t max)
{
    *shop = (ws_shop){
        .loop = fl_loop_new(),
        .settings = {.client = client,
                     .max_message = max,
                     .packs = fl_ws_packs_new()},
        .policy = {.takeover = true},
        .limits = {.high_water = HIGH_WATER,
                   .out_max = HIGH_WATER + packed_max(max),
                   .send_timeout_ms = SEND_MS},
    };
    fl_pool_init(&shop->pool);
    fl_buf_init(&shop->packed, packed_max(max));
    return shop->loop != NULL && shop->settings.packs != NULL;
}

void ws_shop_deinit(ws_shop *shop)
{
    fl_buf_reset(&shop->packed);
    fl_ws_packs_free(shop->settings.packs);
    fl_pool_deinit(&shop->pool);
    fl_loop_free(shop->loop);
}

bool ws_echo_accept(fl_span key, char accept[29])
{
    char input[FL_WS_ACCEPT_INPUT];
    unsigned char digest[FL_SHA1];

    fl_ws_accept_input(key, input);
    if (fl_sha1((fl_span){input, sizeof input}, digest) != FL_OK)
        return false;
    fl_ws_accept_text(digest, accept);
    return true;
}

static void hang_up(ws_echo *echo)
{
    echo->over = true;
    fl_timer_stop(&echo->patience);
    fl_stream_close_after_flush(echo->stream, CLOSE_MS);
}

static fl_status send_frame(ws_echo *echo, fl_ws_kind kind, bool packed,
                            fl_span payload)
{
    bool masked = echo->shop->settings.client;
    unsigned char key[4];
    char head[FL_WS_HEAD_MAX];
    fl_status rc = masked ? fl_random_bytes(key, sizeof key) : FL_OK;

    if (rc != FL_OK)
        return rc;
    size_t len =
        fl_ws_head(head, kind, packed, payload.len, masked ? key : NULL);
    const fl_span parts[] = {{head, len}, payload};
    rc = fl_stream_write_urgent(echo->stream, parts, 2);
    if (rc == FL_OK && masked && payload.len > 0) {
        char *at = fl_stream_last_write(echo->stream, payload.len);
        fl_ws_mask(at, at, payload.len, key, 0);
    }
    return rc;
}

static fl_status send_packed(ws_echo *echo, const fl_ws_message *message)
{
    fl_buf *packed = &echo->shop->packed;

    fl_pool_lend(&echo->shop->pool, packed);
    fl_status rc =
        fl_ws_pack_message(echo->shop->settings.packs, echo->pack,
                           &echo->agreed, &message->bytes, 1, packed);

    if (rc == FL_OK)
        rc = send_frame(echo, message->kind, true, fl_buf_view(packed));
    fl_buf_truncate(packed, 0);
    fl_pool_return(&echo->shop->pool, packed);
    return rc;
}

static fl_status send_close(ws_echo *echo, unsigned code, fl_span reason)
{
    char body[FL_WS_CONTROL_MAX];
    size_t len = fl_ws_close_body(body, code, reason);

    return send_frame(echo, FL_WS_CLOSE, false, (fl_span){body, len});
}

/* RFC 6455 7.1.1: the server closes the connection first. */
static fl_status take_close(ws_echo *echo, unsigned code)
{
    fl_status rc = send_close(echo, code, (fl_span){0});

    if (echo->shop->settings.client)
        fl_timer_start(&echo->patience, CLOSE_MS);
    else
        hang_up(echo);
    return rc;
}

static fl_status take_data(ws_echo *echo, const fl_ws_message *message)
{
    if (echo->take != NULL) {
        echo->take(echo->user, message->bytes);
        return FL_OK;
    }
    return echo->agreed.on
               ? send_packed(echo, message)
               : send_frame(echo, message->kind, false, message->bytes);
}

static fl_status take(ws_echo *echo, const fl_ws_message *message)
{
    switch (message->kind) {
    case FL_WS_TEXT:
    case FL_WS_BINARY:
        return take_data(echo, message);
    case FL_WS_PING:
        return send_frame(echo, FL_WS_PONG, false, message->bytes);
    case FL_WS_CLOSE:
        return take_close(echo, message->code);
    case FL_WS_PONG:
    case FL_WS_MORE:
        break;
    }
    return FL_OK;
}

static void stop_if_full(ws_echo *echo)
{
    if (fl_stream_pending(echo->stream) < HIGH_WATER)
        return;
    echo->stopped = true;
    fl_stream_pause(echo->stream, true);
}

/* Takes what it can of `in`. */
static void run(ws_echo *echo, fl_span *in)
{
    fl_status rc = FL_OK;

    while (rc == FL_OK && !echo->over && !echo->stopped) {
        fl_ws_message message;
        rc = fl_ws_next(&echo->ws, in, &message);
        if (rc != FL_OK)
            break;
        if (take(echo, &message) != FL_OK)
            hang_up(echo);
        else if (!echo->over)
            stop_if_full(echo);
    }
    if (rc < 0) {
        (void)!send_close(echo, echo->ws.fault.code,
                          fl_span_of(echo->ws.fault.what));
        hang_up(echo);
    }
    fl_ws_rest(&echo->ws);
}

static void hold(ws_echo *echo, fl_span bytes)
{
    if (fl_buf_append(&echo->held, bytes) != FL_OK)
        hang_up(echo);
}

void ws_echo_feed(ws_echo *echo, fl_span bytes)
{
    if (echo->over)
        return;
    if (!echo->stopped)
        run(echo, &bytes);
    if (!echo->over && echo->stopped)
        hold(echo, bytes);
}

static void on_data(void *user, fl_span bytes)
{
    ws_echo_feed(user, bytes);
}

static void on_drain(void *user)
{
    ws_echo *echo = user;
    fl_span in = fl_buf_view(&echo->held);
    size_t all = in.len;

    if (echo->over || !echo->stopped)
        return;
    echo->stopped = false;
    if (all > 0)
        run(echo, &in);
    fl_buf_consume(&echo->held, all - in.len);
    if (echo->over || echo->stopped)
        return;
    fl_buf_reset(&echo->held);
    fl_stream_pause(echo->stream, false);
}

static void on_end(void *user, const fl_error *why)
{
    (void)why;
    hang_up(user);
}

static void on_closed(void *user)
{
    ws_echo *echo = user;

    fl_ws_deinit(&echo->ws);
    fl_ws_pack_free(echo->pack);
    fl_buf_reset(&echo->held);
    echo->gone(echo->user);
}

static const fl_stream_events events = {
    .on_data = on_data,
    .on_end = on_end,
    .on_drain = on_drain,
    .on_closed = on_closed,
};

static void on_patience(fl_timer *timer)
{
    hang_up(FL_LIST_ENTRY(timer, ws_echo, patience));
}

bool ws_echo_begin(ws_echo *echo, ws_shop *shop, fl_stream *stream,
                   const fl_ws_agreed *agreed)
{
    echo->shop = shop;
    echo->stream = stream;
    echo->agreed = *agreed;
    fl_buf_init(&echo->held, HELD_MAX);
    fl_timer_init(&echo->patience, shop->loop, on_patience);
    if (fl_ws_pack_new(agreed, &echo->pack) != FL_OK)
        return false;
    if (fl_ws_init(&echo->ws, &shop->settings, agreed, &shop->pool) != FL_OK) {
        fl_ws_pack_free(echo->pack);
        return false;
    }
    fl_stream_rebind(stream, &events, echo);
    return true;
}
