/*
 * http1.c - what both sides of an HTTP/1.1 connection have in common.
 *
 * A read that holds a whole message is used where it lies. Only the beginning
 * of a head is copied to `held`, and then completed one line at a time from
 * the bytes that follow, so that what comes after the head is used in place
 * again. When nothing is held, nothing is allocated.
 */
#include "wire/http1.h"

#include "base/mem.h"
#include "base/span.h"

enum { READ_ROOM = 1024 * 1024 }; /* what one read may bring, and more */

void fl_http1_init(fl_http1 *h, const fl_http_ops *ops,
                   const fl_http_options *options)
{
    fl_http_init(&h->http, ops, options);
}

static void drop_held(fl_http1 *h)
{
    fl_buf_reset(h->held);
    fl_mem_free(h->held);
    h->held = NULL;
}

static fl_status hold(fl_http1 *h, fl_span bytes)
{
    if (bytes.len == 0)
        return FL_OK;
    if (h->held == NULL) {
        h->held = fl_mem_alloc(sizeof *h->held);
        if (h->held == NULL)
            return FL_E_NOMEM;
        fl_buf_init(h->held, h->http.limits->max_head + READ_ROOM);
    }
    return fl_buf_append(h->held, bytes);
}

static void release(fl_http1 *h)
{
    if (h->held != NULL)
        drop_held(h);
    fl_mem_free(h->kept);
    fl_mem_free(h);
}

void fl_http1_leave(fl_http1 *h)
{
    if (--h->pins > 0)
        return;
    if (h->dead) {
        release(h);
        return;
    }
    if (h->kept != NULL && h->stage != FL_HTTP1_IN_BODY) {
        fl_mem_free(h->kept);
        h->kept = NULL;
    }
    if (h->held != NULL &&
        (fl_buf_len(h->held) == 0 || h->stage == FL_HTTP1_DEAF))
        drop_held(h);
}

void fl_http1_free(fl_http *http)
{
    fl_http1 *h = (fl_http1 *)http;

    h->dead = true;
    if (h->pins == 0)
        release(h);
}

/* The head at the front of what is held lacks bytes: gives it the rest of its
 * line, or as much as there is. */
static fl_status hold_line(fl_http1 *h, fl_span *bytes)
{
    size_t max = h->http.limits->max_head;
    fl_span line = {bytes->ptr, bytes->len < max ? bytes->len : max};
    size_t n = fl_span_find(line, '\n');

    line.len = n < line.len ? n + 1 : n;
    *bytes = fl_span_from(*bytes, line.len);
    return hold(h, line);
}

/* True: all of what was held is used, and `bytes` may be. */
static bool run_held(fl_http1 *h, fl_http1_run *run, bool *hungry)
{
    fl_span in = fl_buf_view(h->held);
    size_t before = in.len;

    *hungry = run(h, &in);
    if (h->dead)
        return false;
    fl_buf_consume(h->held, before - in.len);
    return in.len == 0;
}

fl_status fl_http1_take(fl_http1 *h, fl_span bytes, fl_http1_run *run)
{
    bool hungry = true;
    fl_status rc = FL_OK;

    while (fl_http1_held(h) > 0 && rc == FL_OK) {
        if (run_held(h, run, &hungry))
            break;
        if (h->dead || !hungry || bytes.len == 0)
            break;
        rc = hold_line(h, &bytes);
    }
    if (rc == FL_OK && !h->dead && hungry && fl_http1_held(h) == 0)
        run(h, &bytes);
    return rc == FL_OK && !h->dead ? hold(h, bytes) : rc;
}

void fl_http1_pass(fl_http1 *h, fl_span *in)
{
    fl_span rest = *in;

    *in = fl_span_from(rest, rest.len);
    if (rest.len > 0 && h->http.events->on_rest != NULL)
        h->http.events->on_rest(rest, h->http.user);
}

void fl_http1_end(fl_http1 *h)
{
    bool between = h->stage == FL_HTTP1_AT_HEAD || h->stage == FL_HTTP1_BEYOND;

    h->stage = FL_HTTP1_DEAF;
    if (h->over || h->dead)
        return;
    h->http.was_cut = !between;
    h->over = true;
    h->http.events->on_over(h->http.user);
}

size_t fl_http1_held_memory(const fl_http1 *h)
{
    size_t held = h->held != NULL ? sizeof *h->held + h->held->cap : 0;

    return held + (h->kept != NULL ? h->kept->size : 0);
}

const fl_head *fl_http1_settle_head(fl_http1 *h,
                                    const fl_http1_message *message,
                                    fl_span text, fl_span rest)
{
    if (fl_http1_body_within(&h->body, rest))
        return &message->head;
    fl_mem_free(h->kept); /* of the message before, if still around */
    h->kept = fl_http1_head_keep(message, text);
    return h->kept != NULL ? &h->kept->head : NULL;
}

bool fl_http1_is_ending(const fl_exchange *exchange)
{
    const fl_http1 *h = (const void *)exchange->http;

    return fl_http1_body_ends_soon(&h->body, 0);
}
