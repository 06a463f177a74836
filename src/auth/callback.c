/*
 * callback.c - where a user's browser comes back to.
 *
 * Browsers ask for more than they are sent for (an icon, the same page twice),
 * and any page can make one ask for something here. So nobody is believed for
 * having come: what he brings is judged by whoever waits, and the door stays
 * open until it was the right one.
 *
 * Visitors are few, each has a time limit, and nothing they say is kept.
 */
#include "auth/callback.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/acceptor.h"
#include "io/timer.h"
#include "wire/http.h"
#include "wire/url.h"

enum {
    URI_MAX = 8 * 1024,
    VISITS_MAX = 16,
    VISIT_MS = 10000,
    LAST_WORDS_MS = 1000
};

struct fl_callback {
    fl_loop *loop;
    fl_acceptor *acceptor; /* NULL: closed */
    fl_list visits;
    size_t count;
    char *path;
    char *uri;
    fl_callback_fn *fn; /* NULL: nobody waits any more */
    void *user;
};

typedef struct visitor {
    fl_list node;
    fl_callback *callback;
    fl_stream *stream;
    fl_http *http;
    fl_timer timer;
    bool leaving;
} visitor;

static void release(fl_callback *callback)
{
    if (callback->acceptor != NULL || callback->count > 0)
        return;
    fl_mem_free(callback->path);
    fl_mem_free(callback->uri);
    fl_mem_free(callback);
}

static void leave(visitor *visit)
{
    if (visit->leaving)
        return;
    visit->leaving = true;
    fl_timer_stop(&visit->timer);
    fl_stream_close_after_flush(visit->stream, LAST_WORDS_MS);
}

static fl_status write_out(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    visitor *visit = user;

    (void)urgent;
    return fl_stream_write_urgent(visit->stream, parts, count);
}

static void answer(fl_exchange *exchange, unsigned status, fl_span text)
{
    const fl_field fields[] = {
        FL_FIELD_SET(CONTENT_TYPE, FL_SPAN("text/html; charset=utf-8")),
        FL_FIELD_SET(CACHE_CONTROL, FL_SPAN("no-store")),
        {FL_SPAN("referrer-policy"), FL_SPAN("no-referrer"), FL_FIELD_OTHER},
    };
    fl_heading heading = {.status = status,
                          .fields = fields,
                          .count = sizeof fields / sizeof *fields,
                          .close = true};

    if (fl_exchange_answer(exchange, &heading, &text, 1) != FL_OK)
        fl_exchange_reset(exchange);
}

static bool is_for_us(const fl_callback *callback, const fl_head *head)
{
    fl_span path, query;

    fl_url_split_target(head->target, &path, &query);
    return callback->fn != NULL &&
           fl_span_equal(head->method, FL_SPAN("GET")) &&
           fl_span_equal(path, fl_span_of(callback->path));
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    visitor *visit = user;
    fl_callback *callback = visit->callback;

    if (!is_for_us(callback, head))
        answer(exchange, 404, FL_SPAN("<p>There is nothing here.</p>\n"));
    else if (callback->fn(callback->user, head->target))
        answer(exchange, 200,
               FL_SPAN("<title>Done</title><p>You can close this window and "
                       "go back to the program.</p>\n"));
    else
        answer(exchange, 400,
               FL_SPAN("<title>Not used</title><p>This is not the answer that "
                       "is waited for. See what the program says.</p>\n"));
}

static void on_bad(fl_exchange *exchange, unsigned status, const char *what,
                   void *user)
{
    (void)user;
    answer(exchange, status, fl_span_of(what));
}

static void ignore_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    (void)exchange;
    (void)bytes;
    (void)user;
}

static void ignore_end(fl_exchange *exchange, void *user)
{
    (void)exchange;
    (void)user;
}

static void ignore_loss(fl_exchange *exchange, const fl_error *why, void *user)
{
    (void)exchange;
    (void)why;
    (void)user;
}

static void ignore_pause(bool paused, void *user)
{
    (void)paused;
    (void)user;
}

static void on_held(void *user)
{
    leave(user); /* one request is all that is answered */
}

static void on_over(void *user)
{
    leave(user);
}

static const fl_http_events http_events = {
    .write = write_out,
    .on_head = on_head,
    .on_body = ignore_body,
    .on_end = ignore_end,
    .on_bad = on_bad,
    .on_lost = ignore_loss,
    .on_writable = ignore_end,
    .on_pause = ignore_pause,
    .on_held = on_held,
    .on_over = on_over,
};

static void on_data(void *user, fl_span bytes)
{
    visitor *visit = user;

    if (!visit->leaving)
        fl_http_feed(visit->http, bytes);
}

static void on_end(void *user, const fl_error *error)
{
    (void)error;
    leave(user);
}

static void on_timer(fl_timer *timer)
{
    leave(FL_LIST_ENTRY(timer, visitor, timer));
}

static void on_closed(void *user)
{
    visitor *visit = user;
    fl_callback *callback = visit->callback;

    fl_timer_stop(&visit->timer);
    fl_list_remove(&visit->node);
    fl_http_free(visit->http);
    fl_mem_free(visit);
    callback->count--;
    release(callback);
}

static const fl_stream_events stream_events = {
    .on_open = NULL,
    .on_data = on_data,
    .on_end = on_end,
    .on_closed = on_closed,
};

static visitor *admit(fl_callback *callback, fl_stream *stream)
{
    visitor *made =
        callback->count < VISITS_MAX ? fl_mem_zalloc(sizeof *made) : NULL;

    if (made == NULL)
        return NULL;
    *made = (visitor){.callback = callback, .stream = stream};
    fl_status rc = fl_http_new(
        &(fl_http_options){.version = 11, .events = &http_events, .user = made},
        &made->http);
    if (rc != FL_OK) {
        fl_mem_free(made);
        return NULL;
    }
    return made;
}

static void on_accept(void *user, fl_stream *stream, const char *address)
{
    fl_callback *callback = user;
    visitor *made = admit(callback, stream);

    (void)address;
    if (made == NULL) {
        fl_stream_close(stream);
        return;
    }
    fl_list_append(&callback->visits, &made->node);
    callback->count++;
    fl_timer_init(&made->timer, callback->loop, on_timer);
    fl_timer_start(&made->timer, VISIT_MS);
    if (fl_stream_start(stream, &stream_events, made) < 0)
        leave(made);
}

static void on_acceptor_closed(void *user)
{
    fl_callback *callback = user;

    callback->acceptor = NULL;
    release(callback);
}

static const fl_acceptor_events acceptor_events = {
    .on_accept = on_accept,
    .on_closed = on_acceptor_closed,
};

/* The host to bind to, or NULL: it is not on loopback. */
static const char *loopback_of(const fl_url *url)
{
    if (!fl_span_equal(url->scheme, FL_SPAN("http")))
        return NULL;
    if (fl_span_equal(url->host, FL_SPAN("127.0.0.1")) ||
        fl_span_equal(url->host, FL_SPAN("localhost")))
        return "127.0.0.1";
    return fl_span_equal(url->host, FL_SPAN("::1")) ? "::1" : NULL;
}

/* The same with the port that was found free. */
static char *name(const fl_url *url, uint16_t port, const char *path)
{
    fl_url bound = *url;
    char *made = NULL;
    fl_buf text;

    bound.port = port;
    bound.has_port = true;
    fl_buf_init(&text, URI_MAX);
    if (fl_buf_append(&text, FL_SPAN("http://")) == FL_OK &&
        fl_url_write_authority(&bound, &text) == FL_OK &&
        fl_buf_append(&text, fl_span_of(path)) == FL_OK)
        made = fl_mem_string(fl_buf_view(&text));
    fl_buf_reset(&text);
    return made;
}

static fl_status listen_at(fl_callback *callback, const fl_url *url,
                           const char *host, fl_error *error)
{
    fl_span path = url->path.len > 0 ? url->path : FL_SPAN("/");

    callback->path = fl_mem_string(path);
    if (callback->path == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    return fl_acceptor_open(
        callback->loop,
        &(fl_acceptor_options){.host = host,
                               .port = url->has_port ? url->port : 0,
                               .backlog = VISITS_MAX},
        &acceptor_events, callback, &callback->acceptor, error);
}

fl_status fl_callback_open(fl_loop *loop, const char *redirect_uri,
                           fl_callback_fn *fn, void *user, fl_callback **out,
                           fl_error *error)
{
    fl_url url;
    const char *host = NULL;

    *out = NULL;
    if (fl_url_parse(fl_span_of(redirect_uri), &url) == FL_OK)
        host = loopback_of(&url);
    if (host == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "redirect_uri '%.100s' is not on loopback "
                            "(http://127.0.0.1:PORT/PATH): set the hook "
                            "authorize to receive it yourself",
                            redirect_uri);
    fl_callback *callback = fl_mem_zalloc(sizeof *callback);
    if (callback == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    *callback = (fl_callback){.loop = loop, .fn = fn, .user = user};
    fl_list_init(&callback->visits);
    fl_status rc = listen_at(callback, &url, host, error);
    if (rc != FL_OK) {
        release(callback);
        return rc;
    }
    callback->uri =
        name(&url, fl_acceptor_port(callback->acceptor), callback->path);
    if (callback->uri == NULL) {
        fl_callback_close(callback);
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    }
    *out = callback;
    return FL_OK;
}

const char *fl_callback_uri(const fl_callback *callback)
{
    return callback->uri;
}

void fl_callback_close(fl_callback *callback)
{
    if (callback == NULL)
        return;
    callback->fn = NULL;
    for (fl_list *at = callback->visits.next; at != &callback->visits;
         at = at->next)
        leave(FL_LIST_ENTRY(at, visitor, node));
    fl_acceptor_close(callback->acceptor);
}
