/*
 * http_watch.h - writes down what an HTTP connection says, both ways.
 *
 * Events become text: "<POST /x host a=1|body>" is a request, an exchange that
 * ends badly is "!400" or "lost". A plan says what the watcher does in which
 * event. What was written to the peer is kept apart.
 */
#ifndef TESTS_UNIT_HTTP_WATCH_H
#define TESTS_UNIT_HTTP_WATCH_H

#include "base/span.h"
#include "support/chop.h"
#include "support/ration.h"
#include "wire/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef enum watch_event {
    W_NONE,
    W_WRITE,
    W_HEAD,
    W_BODY,
    W_END,
    W_BAD,
    W_REST,
    W_LOST,
    W_WRITABLE,
    W_PAUSE,
    W_HELD,
    W_OVER,
} watch_event;

typedef struct watch {
    fl_http *http;
    fl_exchange *exchange; /* the one in hand */
    chop_notes *notes;     /* or NULL: `text` is written */
    char text[8192];
    size_t text_len;
    char out[1 << 17];
    size_t out_len;
    unsigned writes, begun, ended, bad, lost, held, over;
    int paused;            /* -1: never said */
    unsigned last_bad;     /* status */
    fl_status write_rc;    /* what write says */
    watch_event answer_at; /* W_NONE: never by itself */
    watch_event free_at;   /* frees the connection there */
    watch_event reset_at;  /* resets the exchange there */
    fl_heading heading;    /* of answers; status 0: 200 */
    fl_span body;          /* of answers */
    fl_status answer_rc;
    fl_http_limits limits;
} watch;

static void watch_note(watch *w, const char *format, ...) FL_PRINTF(2, 3);
static void watch_note(watch *w, const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (w->notes != NULL) {
        chop_note(w->notes, "%s", line);
        return;
    }
    assert_true(n >= 0 && (size_t)n < sizeof line);
    assert_true(w->text_len + (size_t)n < sizeof w->text);
    memcpy(w->text + w->text_len, line, (size_t)n + 1);
    w->text_len += (size_t)n;
}

static void watch_note_bytes(watch *w, fl_span bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        watch_note(w, "%c", bytes.ptr[i] != '\0' ? bytes.ptr[i] : '?');
}

static inline void watch_do(watch *w, watch_event event)
{
    if (w->answer_at == event && w->exchange != NULL) {
        fl_exchange *exchange = w->exchange;
        fl_heading heading = w->heading;
        if (heading.status == 0)
            heading.status = w->last_bad != 0 ? w->last_bad : 200;
        w->exchange = NULL;
        w->answer_rc = fl_exchange_answer(exchange, &heading, &w->body, 1);
        if (w->answer_rc != FL_OK)
            w->exchange = exchange;
    }
    if (w->reset_at == event && w->exchange != NULL) {
        fl_exchange *exchange = w->exchange;
        w->exchange = NULL;
        fl_exchange_reset(exchange);
    }
    if (w->free_at == event && w->http != NULL) {
        fl_http *http = w->http;
        w->http = NULL;
        w->exchange = NULL;
        fl_http_free(http);
    }
}

static fl_status watch_write(void *user, const fl_span *parts, size_t count,
                             bool urgent)
{
    watch *w = user;

    if (w->write_rc != FL_OK && !(urgent && w->write_rc == FL_BUSY))
        return w->write_rc;
    w->writes++;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(w->out_len + parts[i].len < sizeof w->out);
        memcpy(w->out + w->out_len, parts[i].ptr, parts[i].len);
        w->out_len += parts[i].len;
    }
    w->out[w->out_len] = '\0';
    watch_do(w, W_WRITE);
    return FL_OK;
}

static void watch_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    watch *w = user;

    w->exchange = exchange;
    w->begun++;
    fl_exchange_set_user(exchange, w);
    assert_ptr_equal(fl_exchange_head(exchange), head);
    if (head->method.len > 0)
        watch_note(w, "<%.*s %.*s %.*s", (int)head->method.len,
                   head->method.ptr, (int)head->target.len, head->target.ptr,
                   (int)head->authority.len, head->authority.ptr);
    else
        watch_note(w, "<%u", head->status);
    for (size_t i = 0; i < head->count; i++)
        if (head->fields[i].id == FL_FIELD_OTHER)
            watch_note(w, " %.*s=%.*s", (int)head->fields[i].name.len,
                       head->fields[i].name.ptr, (int)head->fields[i].value.len,
                       head->fields[i].value.ptr);
    watch_note(w, "|");
    watch_do(w, W_HEAD);
}

static void watch_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    watch *w = user;

    assert_ptr_equal(fl_exchange_user(exchange), w);
    assert_true(bytes.len > 0);
    assert_non_null(fl_exchange_head(exchange));
    watch_note_bytes(w, bytes);
    watch_do(w, W_BODY);
}

static void watch_end(fl_exchange *exchange, void *user)
{
    watch *w = user;
    const fl_head *head = fl_exchange_head(exchange);

    assert_non_null(head);
    for (size_t i = 0; i < head->count; i++) /* it is all still there */
        assert_true(fl_field_name_ok(head->fields[i].name) &&
                    fl_field_value_ok(head->fields[i].value));
    w->ended++;
    watch_note(w, ">");
    watch_do(w, W_END);
}

static void watch_bad(fl_exchange *exchange, unsigned status, const char *what,
                      void *user)
{
    watch *w = user;

    assert_non_null(what);
    assert_null(fl_exchange_head(exchange));
    w->bad++;
    w->last_bad = status;
    w->exchange = exchange;
    watch_note(w, "!%u", status);
    watch_do(w, W_BAD);
}

static void watch_rest(fl_span bytes, void *user)
{
    watch *w = user;

    assert_true(bytes.len > 0);
    watch_note_bytes(w, bytes);
    watch_do(w, W_REST);
}

static void watch_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    watch *w = user;

    (void)exchange;
    assert_true(why->status < 0 && why->text[0] != '\0');
    w->lost++;
    w->exchange = NULL;
    watch_note(w, "lost");
    watch_do(w, W_LOST);
}

static void watch_writable(fl_exchange *exchange, void *user)
{
    (void)exchange;
    watch_note(user, "writable");
    watch_do(user, W_WRITABLE);
}

static void watch_pause(bool paused, void *user)
{
    watch *w = user;

    assert_int_not_equal(w->paused, paused);
    w->paused = paused;
    watch_do(w, W_PAUSE);
}

static void watch_held(void *user)
{
    watch *w = user;

    w->held++;
    watch_do(w, W_HELD);
}

static void watch_over(void *user)
{
    watch *w = user;

    w->over++;
    assert_int_equal(w->over, 1);
    watch_note(w, ".");
    watch_do(w, W_OVER);
}

static const fl_http_events watch_events = {
    .write = watch_write,
    .on_head = watch_head,
    .on_body = watch_body,
    .on_end = watch_end,
    .on_bad = watch_bad,
    .on_rest = watch_rest,
    .on_lost = watch_lost,
    .on_writable = watch_writable,
    .on_pause = watch_pause,
    .on_held = watch_held,
    .on_over = watch_over,
};

static inline fl_status watch_open(watch *w, bool client,
                                   const fl_http_limits *limits)
{
    const fl_http_options options = {
        .version = 11,
        .client = client,
        .limits = &w->limits,
        .events = &watch_events,
        .user = w,
    };

    w->limits = fl_http_limits_fill(limits);
    w->paused = -1;
    return fl_http_new(&options, &w->http);
}

static inline void watch_close(watch *w)
{
    fl_http_free(w->http);
    w->http = NULL;
}

/* Feeds a heap block of exactly that size, for a sanitizer to guard. */
static inline void watch_feed(watch *w, fl_span bytes)
{
    char *copy = ration_raw_realloc(NULL, bytes.len > 0 ? bytes.len : 1);

    assert_non_null(copy);
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    if (w->http != NULL)
        fl_http_feed(w->http, (fl_span){copy, bytes.len});
    ration_raw_free(copy);
}

static inline void watch_feed_text(watch *w, const char *text)
{
    watch_feed(w, fl_span_of(text));
}

#endif
