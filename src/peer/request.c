/*
 * request.c - the requests of a client that have no answer yet.
 *
 * A message is made of slices: what the caller gave goes out as it is, and
 * what we have to say beside it (a progress token, the claim of a revision) is
 * spliced in behind the brace that opens its _meta. Nothing is read into a
 * tree and written anew.
 */
#include "peer/request.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "json/nav.h"
#include "json/scan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 64 * 1024 * 1024, TOTAL_FACTOR = 10 };

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

void fl_request_drop(fl_request *request)
{
    fl_timer_stop(&request->timer);
    fl_list_remove(&request->node);
    fl_map_remove(&request->owner->by_token, fl_span_of(request->token));
    fl_buf_reset(&request->text);
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

void fl_request_fail_later(fl_request *request, fl_status status)
{
    request->ending = status;
    fl_timer_start(&request->timer, 0);
}

static void fail_as_promised(fl_request *request)
{
    fl_request_fail(request, request->ending,
                    fl_span_of(fl_status_text(request->ending)));
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

static void on_timer(fl_timer *timer, void *user)
{
    fl_request *request = user;

    (void)timer;
    if (request->ending != FL_OK)
        fail_as_promised(request);
    else
        expire(request);
}

static void start_timer(fl_request *request)
{
    uint64_t now = fl_loop_now(request->owner->loop);
    uint64_t wait = request->options.timeout_ms;
    uint64_t spent = now - request->started_ms;

    if (request->options.max_total_ms != FL_NEVER) {
        uint64_t left = request->options.max_total_ms > spent
                            ? request->options.max_total_ms - spent
                            : 0;
        wait = wait < left ? wait : left;
    }
    if (wait != FL_NEVER)
        fl_timer_start(&request->timer, wait);
}

void fl_request_touch(fl_request *request)
{
    if (request->ending == FL_OK)
        start_timer(request);
}

void fl_requests_fail(fl_requests *requests, bool sent_only, fl_status status,
                      fl_span text)
{
    fl_list list;
    fl_list *node;

    fl_list_move(&list, &requests->list);
    while ((node = fl_list_take(&list)) != NULL) {
        fl_request *request = FL_LIST_ENTRY(node, fl_request, node);
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

/* A caller who says the revision himself says the rest as well. */
static bool has_claim(fl_span meta)
{
    return fl_json_get(meta, FL_SPAN("io.modelcontextprotocol/protocolVersion"))
               .len > 0;
}

/* What we put into a _meta: raw members, and how many parts they take. */
static size_t own_members(const fl_request *request, fl_span claim,
                          fl_span parts[4])
{
    size_t count = 0;

    if (request->options.on_progress != NULL) {
        parts[count++] = FL_SPAN("\"progressToken\":");
        parts[count++] = fl_span_of(request->token);
    }
    if (count > 0 && claim.len > 0)
        parts[count++] = FL_SPAN(",");
    if (claim.len > 0)
        parts[count++] = claim;
    return count;
}

static bool is_empty(fl_span object)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, object);
    return !fl_json_walk_next(&walk, &member);
}

/* params, with our members in its _meta; at most 8 parts. */
static size_t put_params(const fl_request *request, fl_span params,
                         fl_span claim, fl_span *parts)
{
    fl_span meta = fl_json_get(params, FL_SPAN("_meta"));
    bool nested = fl_json_type_of(meta) == FL_JSON_OBJECT;
    fl_span into = nested ? meta : params;
    fl_span members[4];

    if (has_claim(meta))
        claim = (fl_span){0};
    size_t added = own_members(request, claim, members);
    if (added == 0) {
        parts[0] = params;
        return 1;
    }
    /* right after the brace that opens `into` */
    size_t at = (size_t)(into.ptr - params.ptr) + 1;
    size_t count = 0;
    parts[count++] = (fl_span){params.ptr, at};
    if (!nested)
        parts[count++] = FL_SPAN("\"_meta\":{");
    for (size_t i = 0; i < added; i++)
        parts[count++] = members[i];
    if (!nested)
        parts[count++] = FL_SPAN("}");
    if (!is_empty(into))
        parts[count++] = FL_SPAN(",");
    parts[count++] = fl_span_from(params, at);
    return count;
}

size_t fl_request_compose(const fl_request *request, fl_span claim,
                          fl_span parts[FL_REQUEST_PARTS])
{
    fl_span params =
        fl_span_from(fl_buf_view(&request->text), request->method_len);
    size_t count = 0;

    parts[count++] = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":");
    parts[count++] = fl_span_of(request->token);
    parts[count++] = FL_SPAN(",\"method\":\"");
    parts[count++] = fl_request_method(request);
    if (params.len == 0 &&
        (claim.len > 0 || request->options.on_progress != NULL))
        params = FL_SPAN("{}");
    if (params.len == 0) {
        parts[count++] = FL_SPAN("\"}");
        return count;
    }
    parts[count++] = FL_SPAN("\",\"params\":");
    count += put_params(request, params, claim, parts + count);
    parts[count++] = FL_SPAN("}");
    return count;
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
    fl_timer_init(&request->timer, requests->loop, on_timer, request);
    if (request->options.max_total_ms == 0)
        request->options.max_total_ms =
            request->options.timeout_ms > FL_NEVER / TOTAL_FACTOR
                ? FL_NEVER
                : request->options.timeout_ms * TOTAL_FACTOR;

    request->method_len = strlen(method);
    rc = fl_buf_append(&request->text, fl_span_of(method));
    if (rc == FL_OK)
        rc = fl_buf_append(&request->text, params);
    if (rc == FL_OK)
        rc = fl_map_add(&requests->by_token, fl_span_of(request->token),
                        request);
    if (rc != FL_OK) {
        fl_buf_reset(&request->text);
        fl_mem_free(request);
        return rc == FL_E_LIMIT ? FL_BUSY : rc;
    }
    fl_list_append(&requests->list, &request->node);
    start_timer(request);
    *out = request;
    return FL_OK;
}
