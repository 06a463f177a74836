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

enum { TEXT_MAX = 16 * 1024 * 1024 };

/* An error about nothing in particular: why we are turned away, most likely. */
static void on_complaint(fl_client *client, const fl_msg *msg)
{
    fl_span message = fl_json_get(msg->error, FL_SPAN("message"));
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_json_string_copy(message, &text) == FL_OK)
        fl_error_set(&client->complaint, FL_E_REMOTE, "the server said: %.*s",
                     (int)fl_buf_len(&text), fl_buf_view(&text).ptr);
    fl_buf_reset(&text);
}

static void on_response(fl_client *client, const fl_msg *msg)
{
    fl_request *request = fl_requests_find(&client->requests, msg->id);
    fl_answer answer = {.status = FL_OK, .result = msg->result};
    fl_buf text;
    int64_t code = 0;

    if (request == NULL || fl_buf_len(&request->text) > 0 ||
        request->ending != FL_OK)
        return;
    fl_buf_init(&text, TEXT_MAX);
    if (msg->kind == FL_MSG_ERROR) {
        fl_span message = fl_json_get(msg->error, FL_SPAN("message"));
        if (fl_json_int64(fl_json_get(msg->error, FL_SPAN("code")), &code) !=
                FL_OK ||
            fl_json_string_copy(message, &text) != FL_OK)
            code = FL_RPC_INTERNAL_ERROR;
        answer = (fl_answer){
            .status = FL_E_REMOTE,
            .code = (int)code,
            .error = msg->error,
            .text = fl_buf_view(&text),
        };
    }
    fl_request_end(request, &answer);
    fl_buf_reset(&text);
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
    else if (client->events.on_notification != NULL)
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
    else if (msg->kind == FL_MSG_REQUEST)
        on_request(msg, reply);
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
