/*
 * http_dial.c - one connection of an HTTP client: a stream and a codec.
 *
 * It lives until its stream has said on_closed, which is always later: so the
 * codec, the stream and this object may be given up from any callback, and
 * nobody has to ask whether they are still there.
 */
#include "transport/http_pool_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"

enum { LAST_WORDS_MS = 1000 };

static fl_status write(void *user, const fl_span *parts, size_t count,
                       bool urgent)
{
    fl_dial *dial = user;
    /* HTTP/1.1 has one message to say, and that is what may always wait */
    bool waits = !urgent && dial->pool->kind == FL_HTTP_KIND_MANY;

    if (dial->dying)
        return FL_E_CLOSED;
    fl_status rc = waits ? fl_stream_write(dial->stream, parts, count)
                         : fl_stream_write_urgent(dial->stream, parts, count);
    if (rc == FL_OK)
        dial->written += fl_span_total(parts, count);
    return rc;
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    fl_http_call *call = fl_exchange_user(exchange);

    (void)user;
    call->events->on_head(call, head);
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    fl_http_call *call = fl_exchange_user(exchange);

    (void)user;
    call->events->on_body(call, bytes);
}

/* In front of `before`, in the list of those that may be used. */
static void move(fl_dial *dial, fl_list *before)
{
    if (&dial->node == before)
        return;
    fl_list_remove(&dial->node);
    fl_list_append(before, &dial->node);
}

static fl_http_call *take_back(fl_exchange *exchange)
{
    fl_http_call *call = fl_exchange_user(exchange);
    fl_dial *dial = call->dial;

    call->exchange = NULL;
    call->dial = NULL;
    call->pool = NULL;
    if (!dial->dying) /* it can perhaps take another now: let it be found */
        move(dial, dial->pool->dials.next);
    return call;
}

static void on_end(fl_exchange *exchange, void *user)
{
    fl_dial *dial = user;
    fl_http_call *call = take_back(exchange);

    fl_dial_settle_later(dial);
    call->events->on_end(call);
}

/* HTTP/2 can say that it has not begun with a request (RFC 9113 8.7). */
static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    fl_dial *dial = user;
    fl_http_call *call = take_back(exchange);
    bool unsent = dial->unsent || why->status == FL_E_STATE;

    fl_dial_settle_later(dial);
    call->events->on_lost(call, why,
                          unsent ? FL_HTTP_LOSS_UNSENT : FL_HTTP_LOSS_SENT);
}

static void on_pause(bool paused, void *user)
{
    fl_dial *dial = user;

    if (!dial->dying)
        fl_stream_pause(dial->stream, paused);
}

static void on_held(void *user)
{
    fl_dial *dial = user;

    dial->held = true;
    fl_dial_settle_later(dial);
}

/* It may be over within a call that sends. Whoever waits for an answer hears of
 * it then from a fresh stack, for the codec tells nobody in a caller's. */
static void on_over(void *user)
{
    fl_dial *dial = user;

    if (fl_http_open(dial->http) == 0) {
        fl_dial_kill(dial);
    } else if (!dial->dying) {
        dial->spent = dial->broken = true;
        dial->resting = false;
        fl_timer_start(&dial->timer, 0);
    }
}

static const fl_http_events http_events = {
    .write = write,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_lost = on_lost,
    .on_pause = on_pause,
    .on_held = on_held,
    .on_over = on_over,
};

static void on_stream_data(void *user, fl_span bytes)
{
    fl_dial *dial = user;

    dial->heard = true;
    if (dial->http != NULL)
        fl_http_feed(dial->http, bytes);
}

static void on_stream_drain(void *user)
{
    fl_dial *dial = user;

    if (dial->http != NULL)
        fl_http_drained(dial->http);
    if (!dial->dying && (dial->pool->queued > 0 || dial->pool->refused))
        fl_dial_settle_later(dial);
}

/* 0: TLS was to agree on HTTP/2, and has not. Without TLS there is nobody to
 * agree, and what is known before is done. */
static unsigned agreed_version(const fl_dial *dial)
{
    const fl_http_pool *pool = dial->pool;
    bool is_h2 = fl_span_equal(fl_stream_alpn(dial->stream), FL_SPAN("h2"));

    if (pool->version == 20)
        return pool->connect.tls == NULL || is_h2 ? 20 : 0;
    if (pool->version != 0)
        return pool->version;
    return is_h2 ? 20 : 11;
}

static void fail(fl_dial *dial, fl_status status, const char *what)
{
    fl_error why;

    fl_error_set(&why, status, "%s", what);
    fl_dial_kill(dial);
    fl_http_pool_failed(dial->pool, &why);
}

static void on_stream_open(void *user)
{
    fl_dial *dial = user;
    unsigned version = agreed_version(dial);

    if (version == 0) {
        fail(dial, FL_E_UNSUPPORTED, "the server does not speak HTTP/2");
        return;
    }
    fl_status rc = fl_http_new(&(fl_http_options){.version = version,
                                                  .client = true,
                                                  .events = &http_events,
                                                  .user = dial},
                               &dial->http);
    if (rc != FL_OK) {
        fail(dial, rc, fl_status_text(rc));
        return;
    }
    dial->pool->kind = version == 20 ? FL_HTTP_KIND_MANY : FL_HTTP_KIND_ONE;
    if (version == 20)
        fl_stream_gather(dial->stream, FL_HTTP2_ASKS);
    fl_http_pool_settle(dial->pool, dial);
}

/* It was spoken to in HTTP/2 because somebody said so, and never answered. */
static bool is_mute(const fl_dial *dial)
{
    return !dial->heard && dial->pool->version == 20 &&
           dial->pool->connect.tls == NULL;
}

/* Bytes of ours that still wait for the turn's end when the server's end of
 * file comes in have reached nobody: a server closes idle connections when it
 * likes, and that must not cost a request. */
static void lose(fl_dial *dial, const fl_error *why)
{
    fl_error told = *why;

    dial->unsent = why->status == FL_END && dial->written > 0 &&
                   fl_stream_pending(dial->stream) >= dial->written;
    if (why->status == FL_END && !dial->unsent && !is_mute(dial))
        fl_http_end_input(dial->http);
    if (why->status == FL_END)
        fl_error_set(&told, FL_E_CLOSED, "%s",
                     is_mute(dial) ? "the server closed the connection without "
                                     "a word: perhaps it does not speak HTTP/2"
                                   : "the server closed the connection");
    fl_dial_kill(dial);
    fl_http_lose(dial->http, &told);
}

static void on_stream_end(void *user, const fl_error *why)
{
    fl_dial *dial = user;

    if (dial->http != NULL) {
        lose(dial, why);
        fl_http_pool_settle(dial->pool, dial);
        return;
    }
    fl_dial_kill(dial);
    fl_http_pool_failed(dial->pool, why);
}

static void on_stream_closed(void *user)
{
    fl_dial *dial = user;
    fl_http_pool *pool = dial->pool;

    fl_timer_stop(&dial->timer);
    fl_list_remove(&dial->node);
    fl_http_free(dial->http);
    fl_mem_free(dial);
    fl_http_pool_dial_gone(pool);
}

static const fl_stream_events stream_events = {
    .on_open = on_stream_open,
    .on_data = on_stream_data,
    .on_end = on_stream_end,
    .on_drain = on_stream_drain,
    .on_closed = on_stream_closed,
};

static void lose_all(fl_dial *dial)
{
    fl_error why;

    fl_error_set(&why, FL_E_IO, "the connection broke while sending");
    fl_dial_kill(dial);
    fl_http_lose(dial->http, &why);
}

static void on_timer(fl_timer *timer)
{
    fl_dial *dial = FL_LIST_ENTRY(timer, fl_dial, timer);

    if (dial->broken && !dial->dying)
        lose_all(dial);
    if (dial->resting)
        fl_dial_kill(dial);
    if (dial->held && !dial->dying) {
        dial->held = false;
        fl_http_feed(dial->http, (fl_span){0});
    }
    fl_http_pool_settle(dial->pool, dial);
}

fl_status fl_dial_open(fl_http_pool *pool)
{
    fl_dial *dial = fl_mem_zalloc(sizeof *dial);

    if (dial == NULL)
        return FL_E_NOMEM;
    fl_status rc = fl_connect(pool->loop, &pool->connect, &dial->stream);
    if (rc != FL_OK) {
        fl_mem_free(dial);
        return rc;
    }
    dial->pool = pool;
    fl_list_init(&dial->node);
    fl_list_append(&pool->dials, &dial->node);
    fl_timer_init(&dial->timer, pool->loop, on_timer);
    pool->count++;
    /* FL_AGAIN: a connection is never open at once */
    rc = fl_stream_start(dial->stream, &stream_events, dial);
    return rc == FL_AGAIN ? FL_OK : rc;
}

bool fl_dial_usable(const fl_dial *dial)
{
    return !dial->dying && !dial->spent && dial->http != NULL &&
           fl_http_available(dial->http);
}

bool fl_dial_is_stale(const fl_dial *dial)
{
    return fl_http_open(dial->http) == 0 && fl_stream_peer_left(dial->stream);
}

fl_status fl_dial_launch(fl_dial *dial, fl_http_call *call)
{
    if (dial->resting)
        fl_timer_stop(&dial->timer);
    dial->resting = false;
    if (fl_http_open(dial->http) == 0)
        dial->written = 0;
    fl_status rc = fl_http_ask(dial->http, &call->heading, call->body, call,
                               &call->exchange);
    if (rc != FL_OK)
        return rc;
    call->dial = dial;
    /* one that takes no more is looked at last from now on */
    if (!dial->dying && !fl_dial_usable(dial))
        move(dial, &dial->pool->dials);
    return FL_OK;
}

void fl_dial_kill(fl_dial *dial)
{
    if (dial->dying)
        return;
    dial->dying = true;
    dial->pool->count--;
    fl_timer_stop(&dial->timer);
    fl_list_remove(&dial->node);
    fl_list_append(&dial->pool->dying, &dial->node);
    /* what is tried again elsewhere must not be heard here */
    if (dial->http != NULL && !dial->unsent &&
        fl_stream_pending(dial->stream) > 0)
        fl_stream_close_after_flush(dial->stream, LAST_WORDS_MS);
    else
        fl_stream_close(dial->stream);
}

void fl_dial_settle_later(fl_dial *dial)
{
    if (dial->dying || (!dial->resting && fl_timer_running(&dial->timer)))
        return;
    dial->resting = false;
    fl_timer_start(&dial->timer, 0);
}

void fl_dial_rest(fl_dial *dial, uint64_t ms)
{
    dial->resting = true;
    fl_timer_start(&dial->timer, ms);
}
