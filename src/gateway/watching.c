/*
 * watching.c - what a legacy client is told of by a modern server.
 *
 *   subscribe -> (50 ms, for others) -> a listen for all of them -> its
 *   acknowledgement -> the listen before it is closed, and the client answered
 *
 * The old listen goes only when the new one is acknowledged, so that nothing
 * that changes in between is missed; nothing is told twice either, for what a
 * closed listen still says is heard by nobody. One that ends is opened again,
 * after a while that grows.
 *
 * A subscription is an errand that never gets a number: it waits here, by the
 * node with which others wait at their back.
 */
#include "gateway/watching.h"

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "rpc/extract.h"
#include "json/nav.h"
#include "json/write.h"

enum {
    TEXT_MAX = 16 * 1024 * 1024,
    GATHER_MS = 50,
    AGAIN_FIRST_MS = 1000,
    AGAIN_MAX_MS = 30000,
};

struct fl_watch {
    fl_watching *watching;
    fl_errand *errand;
};

static void close_watch(fl_watch **watch)
{
    if (*watch == NULL)
        return;
    fl_back_unask((*watch)->errand);
    fl_mem_free(*watch);
    *watch = NULL;
}

static fl_errand *take(fl_list *list)
{
    fl_list *node = fl_list_take(list);

    return node != NULL ? FL_LIST_ENTRY(node, fl_errand, by_back) : NULL;
}

static void answer_asked(fl_watching *watching, fl_span granted)
{
    fl_errand *errand;

    /* who has unsubscribed meanwhile has what it wants */
    while ((errand = take(&watching->asked)) != NULL) {
        fl_span uri = errand->msg->inner.uri;
        if (!fl_front_watches(watching->front, uri) ||
            fl_watching_is_granted(granted, uri)) {
            fl_errand_result(errand, FL_SPAN("{}"));
            continue;
        }
        fl_front_unwatch(watching->front, uri);
        fl_errand_fail(errand, FL_RPC_INVALID_PARAMS,
                       FL_SPAN("the server does not let this resource be "
                               "subscribed to"),
                       (fl_span){0});
    }
}

/* The server's error, or why there is none. */
static void refuse(fl_errand *errand, const fl_msg *msg, const fl_error *why)
{
    fl_error ended;
    fl_buf text;

    if (msg == NULL || msg->kind != FL_MSG_ERROR) {
        fl_error_set(&ended, FL_E_CLOSED, "the server ended the subscription");
        fl_gateway_refuse(&errand->asker, errand->id,
                          why != NULL ? why : &ended);
        fl_errand_drop(errand);
        return;
    }
    fl_buf_init(&text, TEXT_MAX);
    if (fl_json_string_copy(fl_extract_error_message(msg), &text) != FL_OK)
        fl_buf_reset(&text);
    fl_errand_fail(errand, (int)fl_extract_error_code(msg), fl_buf_view(&text),
                   fl_json_get(msg->error, FL_SPAN("data")));
    fl_buf_reset(&text);
}

static void refuse_asked(fl_watching *watching, const fl_msg *msg,
                         const fl_error *why)
{
    fl_errand *errand;

    while ((errand = take(&watching->asked)) != NULL) {
        if (errand->method == FL_METHOD_SUBSCRIBE)
            fl_front_unwatch(watching->front, errand->msg->inner.uri);
        refuse(errand, msg, why);
    }
}

static void try_later(fl_watching *watching)
{
    uint64_t wait_ms;

    if (!watching->hopeless && !fl_timer_running(&watching->timer) &&
        fl_backoff_next(&watching->backoff, &wait_ms) == FL_OK)
        fl_timer_start(&watching->timer, wait_ms);
}

static void on_acknowledged(fl_watch *watch, const fl_msg *msg)
{
    fl_watching *watching = watch->watching;
    fl_span granted = fl_json_get(msg->params, FL_SPAN("notifications"));

    if (watch != watching->next)
        return;
    close_watch(&watching->open);
    watching->open = watch;
    watching->next = NULL;
    watch->errand->standing = true;
    fl_backoff_reset(&watching->backoff);
    answer_asked(watching,
                 fl_json_get(granted, FL_SPAN("resourceSubscriptions")));
    if (!fl_list_empty(&watching->waiting))
        fl_timer_start(&watching->timer, GATHER_MS);
}

static void on_ended(fl_watch *watch, const fl_msg *msg, const fl_error *why)
{
    fl_watching *watching = watch->watching;
    bool first = watch == watching->next;

    if (first)
        watching->next = NULL;
    else
        watching->open = NULL;
    fl_mem_free(watch);
    watching->hopeless =
        msg != NULL && fl_extract_error_code(msg) == FL_RPC_METHOD_NOT_FOUND;
    if (first)
        refuse_asked(watching, msg, why);
    if (watching->hopeless) {
        fl_list_move(&watching->asked, &watching->waiting);
        refuse_asked(watching, msg, why);
    }
    if (watching->open == NULL || !fl_list_empty(&watching->waiting))
        try_later(watching);
}

static void on_heard(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_watch *watch = user;
    fl_front *front = watch->watching->front;

    if (msg == NULL || msg->kind != FL_MSG_NOTIFICATION) {
        on_ended(watch, msg, why);
        return;
    }
    fl_method method = fl_method_of(msg);
    if (method == FL_METHOD_ACKNOWLEDGED)
        on_acknowledged(watch, msg);
    else if (method == FL_METHOD_RESOURCE_UPDATED)
        fl_watching_tell(front, msg);
    else
        fl_front_changed(front, method);
}

static fl_status open_next(fl_watching *watching)
{
    fl_watch *next = fl_mem_zalloc(sizeof *next);
    fl_buf params;

    if (next == NULL)
        return FL_E_NOMEM;
    next->watching = watching;
    fl_buf_init(&params, TEXT_MAX);
    fl_status rc = fl_watching_write(watching, &params);
    if (rc == FL_OK)
        rc = fl_back_ask(watching->front->back, FL_METHOD_LISTEN,
                         fl_buf_view(&params), on_heard, next, &next->errand);
    fl_buf_reset(&params);
    if (rc == FL_OK)
        watching->next = next;
    else
        fl_mem_free(next);
    return rc;
}

/* It is told when the server is ready; unless that will never be. */
static void wait(fl_watching *watching)
{
    const fl_back *back = watching->front->back;

    if (fl_list_empty(&watching->waiting))
        return;
    if (!back->closing) {
        try_later(watching);
        return;
    }
    fl_list_move(&watching->asked, &watching->waiting);
    refuse_asked(watching, NULL, &back->why);
}

/* One at a time: who comes meanwhile is for the next. */
static void begin(fl_watching *watching)
{
    const fl_back *back = watching->front->back;

    if (watching->next != NULL)
        return;
    if (!fl_back_is_ready(back) || !fl_back_is_modern(back)) {
        wait(watching);
        return;
    }
    fl_list_move(&watching->asked, &watching->waiting);
    if (!fl_watching_is_wanted(watching)) {
        close_watch(&watching->open);
        answer_asked(watching, (fl_span){0});
        return;
    }
    if (open_next(watching) == FL_OK)
        return;
    fl_list_move(&watching->waiting, &watching->asked);
    try_later(watching);
}

static void on_timer(fl_timer *timer)
{
    fl_watching *watching = FL_LIST_ENTRY(timer, fl_watching, timer);

    begin(watching);
}

void fl_watching_resume(fl_watching *watching)
{
    watching->hopeless = false;
    if (watching->open == NULL || !fl_list_empty(&watching->waiting))
        begin(watching);
}

static bool is_settled(const fl_watching *watching)
{
    return watching->open != NULL && fl_list_empty(&watching->waiting) &&
           fl_list_empty(&watching->asked);
}

/* What is wrong with it, if anything, is noted in `text`. */
static int check(fl_watching *watching, const fl_errand *errand,
                 const char **text)
{
    if (!fl_watching_is_offered(watching)) {
        *text = "the server has no subscriptions";
        return FL_RPC_METHOD_NOT_FOUND;
    }
    if (errand->msg == NULL ||
        fl_json_type_of(errand->msg->inner.uri) != FL_JSON_STRING) {
        *text = "params.uri must be a string";
        return FL_RPC_INVALID_PARAMS;
    }
    if (errand->method == FL_METHOD_SUBSCRIBE &&
        fl_front_watch(watching->front, errand->msg->inner.uri) != FL_OK) {
        *text = "too many resources are subscribed to";
        return FL_RPC_BUSY;
    }
    return 0;
}

void fl_watching_takes(fl_watching *watching, fl_errand *errand)
{
    fl_front *front = watching->front;
    bool there =
        errand->msg != NULL && fl_front_watches(front, errand->msg->inner.uri);
    bool wanted = errand->method == FL_METHOD_SUBSCRIBE;
    const char *text;
    int code = check(watching, errand, &text);

    if (code != 0) {
        fl_errand_fail(errand, code, fl_span_of(text), (fl_span){0});
        return;
    }
    if (there == wanted && is_settled(watching)) {
        fl_errand_result(errand, FL_SPAN("{}"));
        return;
    }
    if (!wanted)
        fl_front_unwatch(front, errand->msg->inner.uri);
    fl_list_remove(&errand->by_back);
    fl_list_append(&watching->waiting, &errand->by_back);
    if (watching->next == NULL && !fl_timer_running(&watching->timer))
        fl_timer_start(&watching->timer, GATHER_MS);
}

void fl_watching_init(fl_watching *watching, fl_front *front, bool lists)
{
    *watching = (fl_watching){
        .front = front,
        .lists = lists,
        .backoff = {.first_ms = AGAIN_FIRST_MS, .max_ms = AGAIN_MAX_MS},
    };
    fl_list_init(&watching->waiting);
    fl_list_init(&watching->asked);
    fl_timer_init(&watching->timer, front->route->gateway->loop, on_timer);
}

void fl_watching_deinit(fl_watching *watching)
{
    fl_timer_stop(&watching->timer);
    close_watch(&watching->next);
    close_watch(&watching->open);
}
