/*
 * inquiry.c - what a server asks one of its clients.
 *
 * Whom does it mean? A server with one client means that one. Of many it most
 * likely means the one whose call is longest under way: that is why it asks.
 * With no call under way there is nobody to ask, but for roots, which many want
 * to know at once: those that share a server look the same, so any will do. A
 * client that is not ready yet is asked when it is.
 */
#include "gateway/inquiry.h"

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/span.h"
#include "gateway/cells.h"
#include "gateway/gateway.h"
#include "gateway/legacy.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 64 * 1024 * 1024, OPEN_MAX = 256 };

struct fl_inquiry {
    fl_list by_front;
    fl_list by_back;
    fl_front *front;
    fl_back *back;
    fl_reply reply; /* to the server */
    uint64_t number;
    fl_method method;
    fl_span id;        /* the server's; behind the struct */
    fl_span token;     /* of its progress; likewise, or empty */
    fl_inquiry_fn *fn; /* if it is ours; then it has no id, no back */
    void *user;
    fl_errand *about;
};

void fl_inquiry_refuse(fl_reply reply, fl_span id, int code, fl_span text)
{
    fl_buf *out = fl_loop_scratch(reply.link->loop);

    if (fl_rpc_error_write(out, id, code, text, (fl_span){0}) != FL_OK)
        return;
    fl_span error = fl_buf_view(out);
    fl_reply_end(reply, &error, 1);
}

void fl_inquiry_give(fl_reply reply, fl_span id, fl_span result)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), id,
                       FL_SPAN(",\"result\":"), result, FL_SPAN("}")};

    fl_reply_end(reply, parts, 5);
}

static void note(fl_front_more *more, fl_inquiry *inquiry)
{
    inquiry->number = ++more->last_question;
    fl_list_append(&more->questions, &inquiry->by_front);
}

static fl_inquiry *inquiry_new(fl_back *back, fl_front *front,
                               const fl_msg *msg, fl_reply reply)
{
    fl_span token = msg->inner.progress_token;
    fl_inquiry *inquiry =
        fl_front_get_more(front) != NULL
            ? fl_mem_zalloc(sizeof *inquiry + msg->id.len + token.len)
            : NULL;

    if (inquiry == NULL)
        return NULL;
    char *at = (char *)(inquiry + 1);
    memcpy(at, msg->id.ptr, msg->id.len);
    inquiry->id = (fl_span){at, msg->id.len};
    at += msg->id.len;
    if (token.len > 0)
        memcpy(at, token.ptr, token.len);
    inquiry->token = (fl_span){at, token.len};
    inquiry->front = front;
    inquiry->back = back;
    inquiry->reply = reply;
    inquiry->method = fl_method_of(msg);
    note(front->more, inquiry);
    fl_list_append(&back->questions, &inquiry->by_back);
    return inquiry;
}

static void inquiry_free(fl_inquiry *inquiry)
{
    fl_list_remove(&inquiry->by_front);
    fl_list_remove(&inquiry->by_back);
    fl_mem_free(inquiry);
}

/* Asks, by the stream of the call it is about if there is one. */
static fl_status ask(const fl_inquiry *inquiry, const fl_errand *errand,
                     fl_span method, fl_span params)
{
    char text[32];
    int n = snprintf(text, sizeof text, "\"g%" PRIu64 "\"", inquiry->number);
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        {text, (size_t)n},
        FL_SPAN(",\"method\":\""),
        method,
        FL_SPAN("\""),
        params.len > 0 ? FL_SPAN(",\"params\":") : FL_SPAN(""),
        params,
        FL_SPAN("}"),
    };

    return errand != NULL ? fl_reply_send(errand->asker.reply, parts, 8)
                          : fl_link_send(inquiry->front->link, parts, 8);
}

static bool declares(fl_span capabilities, fl_span name, fl_span detail)
{
    fl_span value = fl_json_get(capabilities, name);

    if (fl_json_type_of(value) != FL_JSON_OBJECT)
        return false;
    return detail.len == 0 || fl_json_get(value, detail).len > 0;
}

bool fl_front_can(const fl_front *front, fl_method method, fl_span params)
{
    fl_span said = fl_json_get(fl_introduction_text(front->params),
                               FL_SPAN("capabilities"));
    fl_span mode = fl_json_get(params, FL_SPAN("mode"));

    if (method == FL_METHOD_SAMPLE)
        return declares(said, FL_SPAN("sampling"), (fl_span){0});
    if (method == FL_METHOD_ROOTS_LIST)
        return declares(said, FL_SPAN("roots"), (fl_span){0});
    if (method == FL_METHOD_ELICIT)
        return declares(said, FL_SPAN("elicitation"),
                        fl_json_string_is(mode, FL_SPAN("url")) ? FL_SPAN("url")
                                                                : (fl_span){0});
    return false;
}

/* The question to its client that comes after `last`; the first, if that is
 * NULL. */
static fl_inquiry *next_open(const fl_front *front, const fl_inquiry *last)
{
    const fl_front_more *more = front->more;

    if (more == NULL)
        return NULL;
    fl_list *node = last != NULL ? last->by_front.next : more->questions.next;
    return node != &more->questions ? FL_LIST_ENTRY(node, fl_inquiry, by_front)
                                    : NULL;
}

static bool is_asked_enough(const fl_front *front)
{
    size_t n = 0;

    for (const fl_inquiry *open = next_open(front, NULL); open != NULL;
         open = next_open(front, open))
        n++;
    return n >= OPEN_MAX;
}

static void pass_on(fl_front *front, fl_errand *errand, fl_back *back,
                    const fl_msg *msg, fl_reply reply)
{
    fl_adapt adapt = {
        .from = fl_back_speaks(back),
        .to = front->revision,
        .method = fl_method_of(msg),
    };
    fl_buf out;

    if (is_asked_enough(front)) {
        fl_inquiry_refuse(reply, msg->id, FL_RPC_BUSY, (fl_span){0});
        return;
    }
    fl_buf_init(&out, TEXT_MAX);
    fl_status rc = adapt.from == adapt.to
                       ? FL_END
                       : fl_adapt_question(&adapt, msg->params, &out);
    fl_inquiry *inquiry = rc == FL_OK || rc == FL_END
                              ? inquiry_new(back, front, msg, reply)
                              : NULL;
    if (rc == FL_E_UNSUPPORTED) {
        fl_inquiry_refuse(reply, msg->id, FL_RPC_INVALID_PARAMS,
                          FL_SPAN("Multi-select not supported by client"));
    } else if (inquiry == NULL) {
        fl_inquiry_refuse(reply, msg->id, FL_RPC_INTERNAL_ERROR,
                          FL_SPAN("out of memory"));
    } else if (ask(inquiry, errand, msg->method,
                   rc == FL_OK ? fl_buf_view(&out) : msg->params) != FL_OK) {
        fl_inquiry_refuse(reply, msg->id, FL_RPC_INTERNAL_ERROR,
                          FL_SPAN("the client does not read"));
        inquiry_free(inquiry);
    }
    fl_buf_reset(&out);
}

/* The client that a server means, and the call that it is about, if any. */
static fl_front *whom(fl_back *back, fl_method method, fl_errand **errand)
{
    bool alone = back->own && !fl_list_empty(&back->fronts);
    fl_front *first = !fl_list_empty(&back->fronts)
                          ? FL_LIST_ENTRY(back->fronts.next, fl_front, by_back)
                          : NULL;
    fl_front *only = alone ? first : NULL;

    *errand = fl_back_about(back);
    if (*errand == NULL)
        *errand = fl_back_oldest(back, only, true);
    if (*errand == NULL)
        *errand = fl_back_oldest(back, only, false);
    if (alone || (*errand == NULL && method == FL_METHOD_ROOTS_LIST))
        return first;
    return *errand != NULL ? (*errand)->asker.front : NULL;
}

void fl_inquiry_hand(fl_front *front, fl_back *back, fl_span id, fl_reply reply)
{
    const fl_msg msg = {
        .kind = FL_MSG_REQUEST, .id = id, .method = FL_SPAN("roots/list")};

    pass_on(front, NULL, back, &msg, reply);
}

void fl_inquiry_hear(fl_back *back, const fl_msg *msg, fl_reply reply)
{
    fl_method method = fl_method_of(msg);
    fl_errand *errand;

    if (method == FL_METHOD_PING) {
        fl_inquiry_give(reply, msg->id, FL_SPAN("{}"));
        return;
    }
    if (fl_back_is_modern(back))
        return; /* the modern era has no such requests */
    if (!fl_method_is(method, FL_METHOD_SERVERS)) {
        fl_inquiry_refuse(reply, msg->id, FL_RPC_METHOD_NOT_FOUND,
                          (fl_span){0});
        return;
    }
    back->route->told_apart = true;
    fl_front *front = whom(back, method, &errand);
    if (errand == NULL && front != NULL && front->state != FL_FRONT_READY &&
        method == FL_METHOD_ROOTS_LIST) {
        fl_legacy_want_roots(back, msg, reply);
        return;
    }
    if ((errand != NULL ? !errand->asker.revision->legacy : front == NULL) &&
        fl_to_legacy_asks(back, errand, msg, reply))
        return;
    if (front == NULL || front->revision == NULL)
        fl_inquiry_refuse(reply, msg->id, FL_RPC_INVALID_PARAMS,
                          FL_SPAN("No client request to carry this"));
    else if (!fl_front_can(front, method, msg->params))
        fl_inquiry_refuse(reply, msg->id, FL_RPC_METHOD_NOT_FOUND,
                          FL_SPAN("the client has not declared that"));
    else
        pass_on(front, errand, back, msg, reply);
}

static fl_inquiry *find_by_server(const fl_back *back, fl_span id)
{
    for (fl_list *node = back->questions.next; node != &back->questions;
         node = node->next) {
        fl_inquiry *inquiry = FL_LIST_ENTRY(node, fl_inquiry, by_back);
        if (fl_msg_id_equal(inquiry->id, id))
            return inquiry;
    }
    return NULL;
}

static void take_back(fl_inquiry *inquiry)
{
    char text[128];
    int n = snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                     "cancelled\",\"params\":{\"requestId\":\"g%" PRIu64 "\"}}",
                     inquiry->number);
    fl_span whole = {text, (size_t)n};

    if (inquiry->about == NULL)
        fl_front_say(inquiry->front, &whole, 1);
    else if (fl_errand_tell(inquiry->about, &whole, 1) != FL_OK)
        fl_log_say(fl_loop_log(inquiry->front->link->loop), FL_LOG_DEBUG,
                   "a client does not read: it is not told that a question "
                   "was withdrawn",
                   fl_log_int("question", (int64_t)inquiry->number));
}

void fl_inquiry_withdraw(fl_back *back, const fl_msg *msg)
{
    fl_inquiry *inquiry =
        find_by_server(back, fl_json_get(msg->params, FL_SPAN("requestId")));

    if (inquiry == NULL) {
        fl_to_legacy_withdraws(back, msg);
        return;
    }
    take_back(inquiry);
    inquiry_free(inquiry);
}

/* "g12" */
static uint64_t read_number(fl_span token)
{
    if (token.len < 4 || token.ptr[0] != '"' || token.ptr[1] != 'g')
        return 0;
    return fl_numbers_read((fl_span){token.ptr + 2, token.len - 3});
}

static fl_inquiry *find_by_client(const fl_front *front, fl_span id)
{
    uint64_t number = read_number(id);
    fl_inquiry *inquiry = next_open(front, NULL);

    while (inquiry != NULL && inquiry->number != number)
        inquiry = next_open(front, inquiry);
    return inquiry;
}

static void give(const fl_inquiry *inquiry, const fl_msg *msg)
{
    fl_adapt adapt = {
        .from = inquiry->front->revision,
        .to = fl_back_speaks(inquiry->back),
        .method = inquiry->method,
    };
    fl_span parts[3];
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    if (msg->kind == FL_MSG_RESULT && adapt.from != adapt.to &&
        fl_adapt_answer(&adapt, msg->result, &out) == FL_OK) {
        fl_inquiry_give(inquiry->reply, inquiry->id, fl_buf_view(&out));
    } else {
        fl_msg_splice_id(msg, inquiry->id, parts);
        fl_reply_end(inquiry->reply, parts, 3);
    }
    fl_buf_reset(&out);
}

/* What it leads to may be the end of the call. */
static void settle(fl_inquiry *inquiry, const fl_msg *msg)
{
    fl_inquiry_fn *fn = inquiry->fn;
    void *user = inquiry->user;

    inquiry_free(inquiry);
    fn(user, msg);
}

fl_status fl_inquiry_ask(fl_errand *about, fl_method method, fl_span params,
                         fl_inquiry_fn *fn, void *user, fl_inquiry **out)
{
    fl_front *front = about->asker.front;

    *out = NULL;
    if (front->ended)
        return FL_E_STATE;
    if (is_asked_enough(front))
        return FL_E_LIMIT;
    fl_inquiry *inquiry = fl_front_get_more(front) != NULL
                              ? fl_mem_zalloc(sizeof *inquiry)
                              : NULL;
    if (inquiry == NULL)
        return FL_E_NOMEM;
    inquiry->front = front;
    inquiry->method = method;
    inquiry->fn = fn;
    inquiry->user = user;
    inquiry->about = about;
    fl_list_init(&inquiry->by_back);
    note(front->more, inquiry);
    fl_status rc = ask(inquiry, about, fl_method_name(method), params);
    if (rc != FL_OK)
        inquiry_free(inquiry);
    else
        *out = inquiry;
    return rc;
}

void fl_inquiry_drop(fl_inquiry *inquiry)
{
    take_back(inquiry);
    inquiry_free(inquiry);
}

void fl_inquiry_answer(fl_front *front, const fl_msg *msg)
{
    fl_inquiry *inquiry = find_by_client(front, msg->id);

    if (inquiry == NULL)
        return;
    if (inquiry->fn != NULL) {
        settle(inquiry, msg);
        return;
    }
    give(inquiry, msg);
    inquiry_free(inquiry);
}

void fl_inquiry_progress(fl_front *front, const fl_msg *msg)
{
    fl_span token = fl_json_get(msg->params, FL_SPAN("progressToken"));

    for (fl_inquiry *inquiry = next_open(front, NULL); inquiry != NULL;
         inquiry = next_open(front, inquiry)) {
        if (inquiry->token.len > 0 && fl_msg_id_equal(inquiry->token, token)) {
            fl_back_notify(inquiry->back, FL_METHOD_PROGRESS, msg->params);
            return;
        }
    }
}

void fl_inquiries_lose_front(fl_front *front)
{
    fl_inquiry *inquiry;

    while ((inquiry = next_open(front, NULL)) != NULL) {
        if (inquiry->fn != NULL) {
            settle(inquiry, NULL);
            continue;
        }
        fl_inquiry_refuse(inquiry->reply, inquiry->id, FL_RPC_INTERNAL_ERROR,
                          FL_SPAN("the client has gone"));
        inquiry_free(inquiry);
    }
}

void fl_inquiries_lose_back(fl_back *back)
{
    while (!fl_list_empty(&back->questions)) {
        fl_inquiry *inquiry =
            FL_LIST_ENTRY(back->questions.next, fl_inquiry, by_back);
        take_back(inquiry);
        inquiry_free(inquiry);
    }
}
