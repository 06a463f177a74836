/*
 * request.c - the requests of a client that have no answer yet.
 *
 * Each has one timer, and what that is for changes with whose turn it is: the
 * server's, which may be silent for so long; ours; nobody's, in a pause; or
 * that of an answer that is known and has to come later.
 */
#include "client/request.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "json/scan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_MAX = 64 * 1024 * 1024,
    TOTAL_FACTOR = 10,
    SPARED_MS = 1000, /* until somebody looks again */
};

void fl_requests_init(fl_requests *requests, fl_client *client, fl_loop *loop,
                      size_t max, const fl_requests_events *events)
{
    *requests = (fl_requests){.client = client, .loop = loop, .events = events};
    fl_list_init(&requests->list);
    fl_map_init(&requests->by_token, max);
}

void fl_requests_deinit(fl_requests *requests)
{
    assert(fl_list_empty(&requests->list));
    fl_map_deinit(&requests->by_token);
}

fl_request *fl_requests_find(const fl_requests *requests, fl_span token)
{
    return fl_map_get(&requests->by_token, token);
}

/* By far most have had one message only. The list may be on its way out, but
 * the map has all of them. */
fl_request *fl_requests_find_first(const fl_requests *requests, uint64_t id)
{
    char token[24];
    size_t at = 0;
    fl_span key;
    void *value;

    snprintf(token, sizeof token, "%" PRIu64, id);
    fl_request *request = fl_requests_find(requests, fl_span_of(token));
    if (request != NULL && request->id == id)
        return request;
    while (fl_map_next(&requests->by_token, &at, &key, &value)) {
        request = value;
        if (request->id == id)
            return request;
    }
    return NULL;
}

void fl_request_drop(fl_request *request)
{
    fl_requests *owner = request->owner;

    fl_timer_stop(&request->timer);
    fl_list_remove(&request->node);
    fl_map_remove(&owner->by_token, fl_span_of(request->token));
    owner->events->on_dropped(owner, request);
    fl_buf_reset(&request->text);
    fl_buf_reset(&request->extra);
    fl_mem_free(request);
}

void fl_request_end(fl_request *request, const fl_answer *answer)
{
    fl_client *client = request->owner->client;
    fl_answer_fn *on_answer = request->on_answer;
    void *user = request->user;

    fl_request_drop(request);
    on_answer(client, answer, user);
}

void fl_request_fail(fl_request *request, fl_status status, fl_span text)
{
    fl_request_end(request, &(fl_answer){.status = status, .text = text});
}

static void fail_as_promised(fl_request *request)
{
    fl_buf text = request->text; /* which outlives the request for a moment */
    bool explained = request->explained;

    if (explained)
        request->text = (fl_buf){0};
    fl_request_fail(request, request->ending,
                    explained ? fl_buf_view(&text)
                              : fl_span_of(fl_status_text(request->ending)));
    if (explained)
        fl_buf_reset(&text);
}

static void expire(fl_request *request)
{
    char text[96];
    uint64_t spent = fl_loop_now(request->owner->loop) - request->started_ms;
    bool in_all = spent >= request->options.max_total_ms;
    int n = in_all ? snprintf(text, sizeof text,
                              "no answer within %" PRIu64 " ms in all",
                              request->options.max_total_ms)
                   : snprintf(text, sizeof text,
                              "no answer, and no progress, for %" PRIu64 " ms",
                              request->options.timeout_ms);

    request->owner->events->on_abandoned(request->owner, request);
    fl_request_fail(request, FL_E_TIMEOUT, (fl_span){text, (size_t)n});
}

/* Of the time it has in all. */
static uint64_t time_left(const fl_request *request)
{
    uint64_t most = request->options.max_total_ms;
    uint64_t spent = fl_loop_now(request->owner->loop) - request->started_ms;

    if (most == FL_NEVER)
        return FL_NEVER;
    return most > spent ? most - spent : 0;
}

static void start_timer(fl_request *request, uint64_t wait)
{
    uint64_t left = time_left(request);

    wait = wait < left ? wait : left;
    if (wait != FL_NEVER)
        fl_timer_start(&request->timer, wait);
    else
        fl_timer_stop(&request->timer);
}

void fl_request_await(fl_request *request, fl_request_wait wait, uint64_t ms)
{
    if (request->wait == FL_WAIT_END)
        return;
    request->wait = wait;
    if (wait == FL_WAIT_END)
        fl_timer_start(&request->timer, 0);
    else if (wait == FL_WAIT_PAUSE)
        start_timer(request, ms);
    else
        start_timer(request, wait == FL_WAIT_ANSWER
                                 ? request->options.timeout_ms
                                 : FL_NEVER);
}

void fl_request_fail_later(fl_request *request, fl_status status)
{
    if (request->ending != FL_OK)
        return;
    request->ending = status;
    request->held = true;
    fl_request_await(request, FL_WAIT_END, 0);
}

void fl_request_explain_later(fl_request *request, fl_status status,
                              fl_span text)
{
    if (request->ending != FL_OK)
        return;
    fl_buf_clear(&request->text);
    request->explained = fl_buf_append(&request->text, text) == FL_OK;
    fl_request_fail_later(request, status);
}

fl_status fl_request_know(fl_request *request, fl_span result)
{
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    fl_status rc = fl_buf_append(&text, result);
    if (rc != FL_OK)
        return rc;
    fl_buf_reset(&request->text);
    request->text = text;
    request->method_len = 0;
    request->held = true;
    fl_request_await(request, FL_WAIT_END, 0);
    return FL_OK;
}

fl_buf fl_request_take_known(fl_request *request)
{
    fl_buf known = request->text;

    fl_buf_init(&request->text, TEXT_MAX);
    request->wait = FL_WAIT_ANSWER;
    return known;
}

/* The server is silent, or has not been asked yet: then it gets all of its
 * time, once it is. */
static void judge_silence(fl_request *request)
{
    fl_requests *owner = request->owner;
    bool was_spared = request->spared;

    request->spared = owner->events->is_asking(owner);
    if (request->spared)
        start_timer(request, SPARED_MS);
    else if (was_spared || owner->patience > 0)
        fl_request_touch(request);
    else
        expire(request);
}

static void on_timer(fl_timer *timer)
{
    fl_request *request = FL_LIST_ENTRY(timer, fl_request, timer);
    fl_requests *owner = request->owner;

    if (request->ending != FL_OK)
        fail_as_promised(request);
    else if (request->wait == FL_WAIT_END)
        owner->events->on_known(owner, request);
    else if (time_left(request) == 0)
        expire(request);
    else if (request->wait == FL_WAIT_PAUSE)
        owner->events->on_due(owner, request);
    else
        judge_silence(request);
}

void fl_request_touch(fl_request *request)
{
    if (request->wait == FL_WAIT_ANSWER)
        fl_request_await(request, FL_WAIT_ANSWER, 0);
}

void fl_requests_touch(fl_requests *requests)
{
    for (fl_list *node = requests->list.next; node != &requests->list;
         node = node->next) {
        fl_request *request = FL_LIST_ENTRY(node, fl_request, node);
        if (request->sent)
            fl_request_touch(request);
    }
}

void fl_requests_fail(fl_requests *requests, bool sent_only, fl_status status,
                      fl_span text)
{
    fl_list list;
    fl_list *node;

    fl_list_move(&list, &requests->list);
    while ((node = fl_list_take(&list)) != NULL) {
        fl_request *request = FL_LIST_ENTRY(node, fl_request, node);
        if (request->repeats && sent_only)
            request->sent = false;
        if (sent_only && !request->sent)
            fl_list_append(&requests->list, node);
        else if (request->ending != FL_OK) /* its end was promised before */
            fail_as_promised(request);
        else
            fl_request_fail(request, status, text);
    }
}

fl_span fl_request_method(const fl_request *request)
{
    return (fl_span){fl_buf_view(&request->text).ptr, request->method_len};
}

fl_span fl_request_params(const fl_request *request)
{
    return fl_span_from(fl_buf_view(&request->text), request->method_len);
}

void fl_request_left(fl_request *request, bool keep_text)
{
    request->sent = true;
    if (!keep_text)
        fl_buf_reset(&request->text);
}

bool fl_request_method_ok(const char *method)
{
    return method[0] != '\0' &&
           strspn(method, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789/_-.$") == strlen(method);
}

static fl_status check(const char *method, fl_span *params)
{
    fl_json_top top;

    if (!fl_request_method_ok(method))
        return FL_E_INVALID;
    if (params->len == 0)
        return FL_OK;
    if (fl_json_scan(*params, 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT)
        return FL_E_INVALID;
    *params = top.value;
    return FL_OK;
}

static fl_status set_text(fl_request *request, const char *method,
                          fl_span params)
{
    fl_buf_reset(&request->text);
    request->method_len = strlen(method);
    fl_status rc = fl_buf_append(&request->text, fl_span_of(method));
    if (rc == FL_OK)
        rc = fl_buf_append(&request->text, params);
    return rc;
}

/* The new id first: so there is no moment without one. */
fl_status fl_request_renew(fl_request *request)
{
    fl_requests *owner = request->owner;
    char token[sizeof request->token];

    snprintf(token, sizeof token, "%" PRIu64, owner->last_id + 1);
    fl_status rc = fl_map_add(&owner->by_token, fl_span_of(token), request);
    if (rc != FL_OK)
        return FL_E_NOMEM;
    owner->last_id++;
    fl_map_remove(&owner->by_token, fl_span_of(request->token));
    memcpy(request->token, token, sizeof token);
    request->sent = false;
    request->taken_back = false;
    return FL_OK;
}

fl_status fl_request_become(fl_request *request, const char *method,
                            fl_span params)
{
    fl_status rc = set_text(request, method, params);

    fl_buf_reset(&request->extra);
    return rc == FL_OK ? fl_request_renew(request) : rc;
}

static uint64_t total_of(const fl_request_options *options)
{
    if (options->task || options->timeout_ms > FL_NEVER / TOTAL_FACTOR)
        return FL_NEVER;
    return options->timeout_ms * TOTAL_FACTOR;
}

fl_status fl_request_new(fl_requests *requests, const char *method,
                         fl_span params, const fl_request_options *options,
                         fl_request **out)
{
    *out = NULL;
    fl_status rc = check(method, &params);
    if (rc != FL_OK)
        return rc;
    fl_request *request = fl_mem_zalloc(sizeof *request);
    if (request == NULL)
        return FL_E_NOMEM;
    request->owner = requests;
    request->options = *options;
    request->started_ms = fl_loop_now(requests->loop);
    request->id = ++requests->last_id;
    snprintf(request->token, sizeof request->token, "%" PRIu64, request->id);
    fl_buf_init(&request->text, TEXT_MAX);
    fl_buf_init(&request->extra, TEXT_MAX);
    fl_timer_init(&request->timer, requests->loop, on_timer);
    if (request->options.max_total_ms == 0)
        request->options.max_total_ms = total_of(options);

    rc = set_text(request, method, params);
    if (rc == FL_OK)
        rc = fl_map_add(&requests->by_token, fl_span_of(request->token),
                        request);
    if (rc != FL_OK) {
        fl_buf_reset(&request->text);
        fl_mem_free(request);
        return rc == FL_E_LIMIT ? FL_BUSY : rc;
    }
    fl_list_append(&requests->list, &request->node);
    fl_request_await(request, FL_WAIT_ANSWER, 0);
    *out = request;
    return FL_OK;
}
