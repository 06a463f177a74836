/*
 * client_hear.c - what a client makes of what its server says.
 *
 * Answers and progress find their request by id; whatever answers nothing is
 * dropped, for it is late or a mistake, and neither is ours to mend.
 */
#include "peer/client.h"

#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"

#include <limits.h>

enum { TEXT_MAX = 16 * 1024 * 1024, SHOWN = 80 };

/* A result need not be the final word of a modern server. */
static void check_type(fl_answer *answer, fl_buf *text)
{
    fl_span type = fl_json_get(answer->result, FL_SPAN("resultType"));

    if (type.len == 0 || fl_json_string_is(type, FL_SPAN("complete")))
        return;
    if (fl_json_string_is(type, FL_SPAN("input_required")))
        *answer = (fl_answer){
            .status = FL_E_UNSUPPORTED,
            .text =
                FL_SPAN("the server wants more input before it goes on "
                        "(input_required), which this client does not give"),
        };
    else if (fl_buf_printf(text,
                           "the server's result is of a type this client does "
                           "not know: %.*s",
                           (int)(type.len < SHOWN ? type.len : SHOWN),
                           type.ptr) == FL_OK)
        *answer = (fl_answer){
            .status = FL_E_BAD_MESSAGE,
            .text = fl_buf_view(text),
        };
    else
        *answer = (fl_answer){.status = FL_E_NOMEM};
}

/* As far as it fits; the whole is in answer.error. */
static int code_of(fl_span error)
{
    int64_t code;

    if (fl_json_int64(fl_json_get(error, FL_SPAN("code")), &code) != FL_OK ||
        code < INT_MIN || code > INT_MAX)
        return FL_RPC_INTERNAL_ERROR;
    return (int)code;
}

static void answer_request(const fl_client *client, fl_request *request,
                           const fl_msg *msg)
{
    const fl_error *blame = client->link->blame;
    fl_answer answer = {.status = FL_OK, .result = msg->result};
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (blame != NULL && !request->own) {
        answer = (fl_answer){
            .status = blame->status,
            .text = fl_span_of(blame->text),
        };
    } else if (msg->kind == FL_MSG_ERROR) {
        fl_span message = fl_json_get(msg->error, FL_SPAN("message"));
        if (fl_json_string_copy(message, &text) != FL_OK)
            fl_buf_reset(&text);
        answer = (fl_answer){
            .status = FL_E_REMOTE,
            .code = code_of(msg->error),
            .error = msg->error,
            .text = fl_buf_view(&text),
        };
    } else if (request->claims && request != client->agreement.probe) {
        check_type(&answer, &text);
    }
    fl_request_end(request, &answer);
    fl_buf_reset(&text);
}

static void on_response(fl_client *client, const fl_msg *msg)
{
    fl_request *request = fl_requests_find(&client->requests, msg->id);

    if (request == NULL || !request->sent || request->ending != FL_OK)
        return;
    if (msg->kind == FL_MSG_ERROR &&
        fl_client_take_back(client, request, msg->error))
        return;
    answer_request(client, request, msg);
}

/* An error about nothing in particular: why we are turned away, most likely.
 * If there is nothing but a probe that it can be about, it is about that. */
static void on_complaint(fl_client *client, const fl_msg *msg)
{
    fl_agreement *agreement = &client->agreement;
    fl_span message = fl_json_get(msg->error, FL_SPAN("message"));
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_json_string_copy(message, &text) == FL_OK)
        fl_error_set(&client->complaint, FL_E_REMOTE, "the server said: %.*s",
                     (int)fl_buf_len(&text), fl_buf_view(&text).ptr);
    fl_buf_reset(&text);
    if (agreement->probe != NULL && !agreement->raced && !client->streams)
        answer_request(client, agreement->probe, msg);
}

static void on_progress(fl_client *client, const fl_msg *msg)
{
    fl_span token = fl_json_get(msg->params, FL_SPAN("progressToken"));
    fl_request *request = fl_requests_find(&client->requests, token);
    double progress = 0, total = 0;
    fl_buf message;

    if (request == NULL || request->options.on_progress == NULL ||
        request->ending != FL_OK ||
        fl_json_double(fl_json_get(msg->params, FL_SPAN("progress")),
                       &progress) != FL_OK)
        return;
    if (fl_json_double(fl_json_get(msg->params, FL_SPAN("total")), &total) !=
        FL_OK)
        total = 0;
    fl_buf_init(&message, TEXT_MAX);
    if (fl_json_string_copy(fl_json_get(msg->params, FL_SPAN("message")),
                            &message) != FL_OK)
        fl_buf_reset(&message);
    fl_request_touch(request);
    request->options.on_progress(client, progress, total, fl_buf_view(&message),
                                 request->user);
    fl_buf_reset(&message);
}

static void on_notification(fl_client *client, const fl_msg *msg)
{
    if (fl_msg_method_is(msg, FL_SPAN("notifications/progress")))
        on_progress(client, msg);
    else if (!fl_client_listen_takes(client, msg) &&
             client->events.on_notification != NULL)
        client->events.on_notification(client, msg->method, msg->params,
                                       client->user);
}

/* We declare no capabilities, so ping is all a server may ask. */
static void on_request(const fl_msg *msg, fl_reply reply)
{
    fl_buf *out = fl_loop_scratch(reply.link->loop);

    if (fl_msg_method_is(msg, FL_SPAN("ping"))) {
        fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), msg->id,
                           FL_SPAN(",\"result\":{}}")};
        reply.link->stats.pings++;
        fl_reply_end(reply, parts, 3);
    } else if (fl_rpc_error_write(out, msg->id, FL_RPC_METHOD_NOT_FOUND,
                                  FL_SPAN("this client has not declared that"),
                                  (fl_span){0}) == FL_OK) {
        fl_span text = fl_buf_view(out);
        fl_reply_end(reply, &text, 1);
    }
}

static void on_one(fl_client *client, const fl_msg *msg, fl_reply reply)
{
    if (client->state == FL_CLIENT_CLOSING)
        return;
    if (msg->kind == FL_MSG_ERROR &&
        (msg->id.len == 0 || fl_json_type_of(msg->id) == FL_JSON_NULL))
        on_complaint(client, msg);
    else if (msg->kind == FL_MSG_RESULT || msg->kind == FL_MSG_ERROR)
        on_response(client, msg);
    else if (msg->kind == FL_MSG_NOTIFICATION)
        on_notification(client, msg);
    else if (msg->kind == FL_MSG_REQUEST && !fl_client_is_modern(client))
        on_request(msg, reply); /* a modern server must not ask */
}

/* Batches are taken from any legacy server, and never sent. */
void fl_client_hear(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    fl_json_walk walk;
    fl_json_member element;
    fl_msg one;
    fl_msg_fault fault;

    if (msg->kind != FL_MSG_BATCH) {
        on_one(link->user, msg, reply);
        return;
    }
    fl_json_walk_init(&walk, msg->text);
    while (fl_json_walk_next(&walk, &element))
        if (fl_msg_read(element.value, &one, &fault) == FL_OK)
            on_one(link->user, &one, reply);
}
