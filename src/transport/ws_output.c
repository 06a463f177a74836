/*
 * ws_output.c - what a WebSocket link sends: one frame for each message.
 *
 * Head and parts leave in one write, and what a client sends is masked where
 * it lies in the stream's buffer, so that nothing is copied twice. The key of
 * each frame must be one that nobody can foretell (RFC 6455 10.3): they are
 * drawn from the system a few hundred at a time.
 *
 * A message is packed if that was agreed on, it is long enough, and it gets
 * shorter. With a context of our own it must be sent packed once it has been
 * fed to it, and what goes wrong with that ends the link.
 */
#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "transport/line_link.h"
#include "transport/ws_link_impl.h"

#include <assert.h>
#include <string.h>

enum {
    KEYS = 256,        /* drawn at one time */
    PACKED_MORE = 512, /* what packing may add to a short text */
};

struct fl_ws_keys {
    unsigned used;
    unsigned char keys[KEYS][4];
};

struct fl_ws_owed {
    size_t len;
    char body[FL_WS_CONTROL_MAX];
};

fl_status fl_ws_output_open(fl_ws_link *ws)
{
    if (!ws->link.server && ws->keys == NULL) {
        ws->keys = fl_mem_alloc(sizeof *ws->keys);
        if (ws->keys == NULL)
            return FL_E_NOMEM;
        ws->keys->used = KEYS;
    }
    return fl_ws_pack_new(&ws->agreed, &ws->pack);
}

void fl_ws_output_forget(fl_ws_link *ws)
{
    fl_ws_pack_free(ws->pack);
    ws->pack = NULL;
    fl_mem_free(ws->owed);
    ws->owed = NULL;
    fl_mem_free(ws->keys);
    ws->keys = NULL;
}

/* HTTP/2 counts for itself, a connection at a time (http_backlog.c). */
void fl_ws_output_charge(fl_ws_link *ws, bool full)
{
    fl_budget *budget = ws->settings->budget;
    size_t held = full && ws->stream != NULL ? ws->pipe->pending(ws) : 0;

    if (budget == NULL || held == ws->charged_out)
        return;
    fl_budget_give(budget, ws->charged_out);
    fl_budget_charge(budget, held);
    ws->charged_out = held;
}

static fl_status draw_key(fl_ws_keys *keys, const unsigned char **key)
{
    fl_status rc = FL_OK;

    if (keys->used == KEYS) {
        rc = fl_random_bytes(keys->keys, sizeof keys->keys);
        if (rc != FL_OK)
            return rc;
        keys->used = 0;
    }
    *key = keys->keys[keys->used++];
    return FL_OK;
}

static fl_status put_frame(fl_ws_link *ws, fl_ws_kind kind, bool packed,
                           const fl_span *parts, size_t count, bool urgent)
{
    const unsigned char *key = NULL;
    char head[FL_WS_HEAD_MAX];
    fl_span all[FL_LINK_PARTS + 2];
    size_t len = fl_span_total(parts, count);
    fl_status rc = FL_OK;

    if (ws->keys != NULL)
        rc = draw_key(ws->keys, &key);
    if (rc != FL_OK)
        return rc;
    all[0] = (fl_span){head, fl_ws_head(head, kind, packed, len, key)};
    memcpy(all + 1, parts, count * sizeof *parts);
    rc = ws->pipe->write(ws, all, count + 1, urgent);
    if (rc == FL_OK)
        ws->written += all[0].len + len;
    if (rc == FL_OK && key != NULL) {
        char *body = fl_stream_last_write(ws->stream, len);
        fl_ws_mask(body, body, len, key, 0);
    }
    fl_ws_watch_output(ws);
    return rc;
}

/* Who asks faster than he listens is owed one pong, the latest (RFC 6455
 * 5.5.3). */
static fl_status owe(fl_ws_link *ws, fl_span body)
{
    if (ws->owed == NULL)
        ws->owed = fl_mem_alloc(sizeof *ws->owed);
    if (ws->owed == NULL)
        return FL_E_NOMEM;
    ws->owed->len = body.len;
    if (body.len > 0)
        memcpy(ws->owed->body, body.ptr, body.len);
    return FL_OK;
}

fl_status fl_ws_link_control(fl_ws_link *ws, fl_ws_kind kind, fl_span body)
{
    if (ws->close_sent)
        return FL_OK;
    if (kind == FL_WS_PONG && fl_ws_input_is_full(ws))
        return owe(ws, body);
    return put_frame(ws, kind, false, &body, 1, true);
}

void fl_ws_output_drained(fl_ws_link *ws)
{
    fl_ws_owed *owed = ws->owed;

    if (owed == NULL || fl_ws_input_is_full(ws))
        return;
    ws->owed = NULL;
    /* a pong that is lost is made up for by the next */
    (void)!fl_ws_link_control(ws, FL_WS_PONG, (fl_span){owed->body, owed->len});
    fl_mem_free(owed);
}

/* The context has taken in what the peer will never see. */
static fl_status lose_context(fl_ws_link *ws, fl_status rc)
{
    fl_error why;

    fl_error_set(&why, rc, "a message could not be packed: %s",
                 fl_status_text(rc));
    fl_ws_link_fail(ws, FL_WS_INTERNAL, &why);
    return rc;
}

static fl_status send_packed(fl_ws_link *ws, const fl_span *parts, size_t count,
                             bool urgent)
{
    size_t len = fl_span_total(parts, count);
    fl_pool *pool = fl_loop_pool(ws->link.loop);
    fl_buf out;

    fl_status rc = ws->pipe->write(ws, NULL, 0, urgent);
    if (rc != FL_OK)
        return rc;
    fl_buf_init(&out, ws->pack != NULL ? len + len / 8 + PACKED_MORE : len);
    fl_pool_lend(pool, &out);
    rc = fl_ws_pack_message(ws->settings->frames.packs, ws->pack, &ws->agreed,
                            parts, count, &out);
    fl_span packed = fl_buf_view(&out);
    if (rc == FL_OK)
        rc = put_frame(ws, FL_WS_TEXT, true, &packed, 1, true);
    else if (ws->pack == NULL) /* it got no shorter */
        rc = put_frame(ws, FL_WS_TEXT, false, parts, count, true);
    fl_buf_truncate(&out, 0);
    fl_pool_return(pool, &out);
    return rc < 0 && ws->pack != NULL ? lose_context(ws, rc) : rc;
}

static fl_status send_text(fl_ws_link *ws, const fl_span *parts, size_t count,
                           bool urgent)
{
    if (ws->agreed.on && fl_span_total(parts, count) >= ws->settings->pack_from)
        return send_packed(ws, parts, count, urgent);
    return put_frame(ws, FL_WS_TEXT, false, parts, count, urgent);
}

/* One line, ended by its newline: whoever asked for that gets a copy. */
static fl_status send_line(fl_ws_link *ws, const fl_span *parts, size_t count,
                           bool urgent)
{
    fl_pool *pool = fl_loop_pool(ws->link.loop);
    fl_buf line;

    fl_buf_init(&line, fl_span_total(parts, count) + 1);
    fl_pool_lend(pool, &line);
    fl_status rc = fl_buf_append_all(&line, parts, count);
    if (rc == FL_OK)
        rc = fl_buf_append(&line, FL_SPAN("\n"));
    if (rc == FL_OK) {
        fl_span whole = fl_buf_view(&line);
        fl_line_link_join(line.ptr + line.start, whole.len - 1);
        rc = send_text(ws, &whole, 1, urgent);
    }
    fl_buf_truncate(&line, 0);
    fl_pool_return(pool, &line);
    return rc;
}

static fl_status deliver(fl_ws_link *ws, const fl_span *parts, size_t count,
                         bool urgent)
{
    assert(count > 0 && count <= FL_LINK_PARTS);
    if (fl_span_total(parts, count) > ws->settings->max_message)
        return FL_E_TOO_BIG;
    if (ws->link.state == FL_LINK_ACTIVE)
        return ws->settings->strict_lines ? send_line(ws, parts, count, urgent)
                                          : send_text(ws, parts, count, urgent);
    return ws->hooks->on_unsent != NULL ? ws->hooks->on_unsent(ws, parts, count)
                                        : FL_E_STATE;
}

fl_status fl_ws_link_send(fl_link *link, void *reply_stream,
                          const fl_span *parts, size_t count)
{
    (void)reply_stream;
    return deliver((fl_ws_link *)link, parts, count, false);
}

fl_status fl_ws_link_answer(fl_link *link, void *reply_stream, int code,
                            const fl_span *parts, size_t count)
{
    (void)reply_stream;
    (void)code;
    return count > 0 ? deliver((fl_ws_link *)link, parts, count, true) : FL_OK;
}
