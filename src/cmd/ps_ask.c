/*
 * ps_ask.c - asks gateways what they hold, by their control sockets.
 *
 * All are asked at the same time, so that one which does not answer costs its
 * timeout once; but only so many, for each takes a descriptor. There is
 * nothing to say: who connects is told, and what comes before the end is the
 * answer.
 */
#include "cmd/ps_ask.h"

#include "base/mem.h"
#include "base/status.h"
#include "gateway/report.h"
#include "io/connect.h"
#include "io/loop.h"
#include "io/timer.h"
#include "json/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { AT_ONCE = 64, FIRST_ROOM = 8, SAID_MAX = 2 * FL_REPORT_MAX };

typedef struct question {
    fl_ps_gateway *gateway;
    fl_stream *stream; /* NULL once it has gone */
    fl_timer timer;
    uint64_t timeout_ms;
} question;

fl_status fl_ps_list_add(fl_ps_list *list, const fl_ps_gateway *gateway)
{
    if (list->count == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : FIRST_ROOM;
        fl_ps_gateway *items =
            fl_mem_realloc(list->items, room * sizeof *items);
        if (items == NULL)
            return FL_E_NOMEM;
        list->items = items;
        list->room = room;
    }
    list->items[list->count] = *gateway;
    fl_buf_init(&list->items[list->count++].said, SAID_MAX);
    return FL_OK;
}

static int compare(const void *a, const void *b)
{
    const fl_ps_gateway *one = a, *other = b;

    return (one->pid > other->pid) - (one->pid < other->pid);
}

void fl_ps_list_sort(fl_ps_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare);
}

void fl_ps_list_deinit(fl_ps_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        fl_buf_reset(&list->items[i].said);
    fl_mem_free(list->items);
    *list = (fl_ps_list){0};
}

static void forget(fl_ps_gateway *gateway, fl_status status, const char *text)
{
    fl_buf_reset(&gateway->said);
    fl_error_set(&gateway->why, status, "%s", text);
}

/* It is one object, whatever is in it: newer gateways may say more. */
static void check(fl_ps_gateway *gateway)
{
    fl_json_top top;

    if (fl_buf_len(&gateway->said) == 0)
        forget(gateway, FL_E_CLOSED, "it hung up without an answer");
    else if (fl_json_scan(fl_buf_view(&gateway->said), FL_JSON_MAX_DEPTH, &top,
                          NULL) != FL_OK ||
             top.type != FL_JSON_OBJECT)
        forget(gateway, FL_E_BAD_JSON, "what it says is no report");
}

static void on_data(void *user, fl_span bytes)
{
    question *about = user;

    if (fl_buf_append(&about->gateway->said, bytes) == FL_OK)
        return;
    forget(about->gateway, FL_E_TOO_BIG, "what it says has no end");
    fl_stream_close(about->stream);
}

static void on_end(void *user, const fl_error *error)
{
    question *about = user;

    if (error->status == FL_END)
        check(about->gateway);
    else
        forget(about->gateway, error->status, error->text);
    fl_stream_close(about->stream);
}

static void on_closed(void *user)
{
    question *about = user;

    about->stream = NULL;
    fl_timer_stop(&about->timer);
}

static const fl_stream_events events = {
    .on_data = on_data,
    .on_end = on_end,
    .on_closed = on_closed,
};

static void on_timer(fl_timer *timer)
{
    question *about = FL_LIST_ENTRY(timer, question, timer);
    char text[80];

    snprintf(text, sizeof text, "no answer within %" PRIu64 " ms",
             about->timeout_ms);
    forget(about->gateway, FL_E_TIMEOUT, text);
    fl_stream_close(about->stream);
}

static void ask(question *about, fl_loop *loop)
{
    fl_connect_options options = {
        .path = about->gateway->path,
        .limits.open_timeout_ms = about->timeout_ms,
    };

    fl_timer_init(&about->timer, loop, on_timer);
    fl_status rc = fl_connect(loop, &options, &about->stream);
    if (rc != FL_OK) {
        forget(about->gateway, rc, fl_status_text(rc));
        return;
    }
    fl_timer_start(&about->timer, about->timeout_ms);
    rc = fl_stream_start(about->stream, &events, about);
    if (rc < 0) { /* on_end comes, too */
        forget(about->gateway, rc, fl_status_text(rc));
        fl_stream_close(about->stream);
    }
}

fl_status fl_ps_ask(fl_ps_list *list, uint64_t timeout_ms)
{
    fl_loop *loop = fl_loop_new();
    question questions[AT_ONCE];

    if (loop == NULL)
        return FL_E_NOMEM;
    for (size_t from = 0; from < list->count; from += AT_ONCE) {
        size_t n = list->count - from < AT_ONCE ? list->count - from : AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            questions[i] = (question){
                .gateway = &list->items[from + i],
                .timeout_ms = timeout_ms,
            };
            ask(&questions[i], loop);
        }
        fl_loop_run(loop);
    }
    fl_loop_free(loop);
    return FL_OK;
}
