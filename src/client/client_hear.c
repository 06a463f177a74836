/*
 * client_hear.c - what a client makes of what its server says.
 *
 * Answers and progress find their request by id; whatever answers nothing is
 * dropped, for it is late or a mistake, and neither is ours to mend. A mistake
 * is logged: to whoever waits for the right answer, it is the only trace.
 */
#include "client/client.h"

#include "base/numbers.h"
#include "base/span.h"
#include "base/status.h"
#include "client/client_steps.h"
#include "json/nav.h"

enum { TEXT_MAX = 64 * 1024 * 1024 };

static void answer_request(fl_client *client, fl_request *request,
                           const fl_msg *msg)
{
    const fl_error *blame = fl_link_blame(client->link);
    fl_answer answer = {.status = FL_OK, .result = msg->result};
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (blame != NULL && !request->own) {
        answer = (fl_answer){
            .status = blame->status,
            .text = fl_span_of(blame->text),
        };
    } else if (msg->kind == FL_MSG_ERROR) {
        answer = fl_client_refusal(msg->error, &text);
    }
    if (!fl_client_step(client, request, &answer, &text))
        fl_request_end(request, &answer);
    fl_buf_reset(&text);
}

/* It is of no request that there ever was. */
static bool is_unasked(const fl_client *client, fl_span id)
{
    uint64_t number = fl_numbers_read(id);

    return number == 0 || number > client->requests.last_id;
}

static void on_response(fl_client *client, const fl_msg *msg)
{
    fl_request *request = fl_requests_find(&client->requests, msg->id);

    if (request == NULL && is_unasked(client, msg->id))
        fl_link_unasked(client->link, msg->id);
    if (request == NULL && client->lane != NULL)
        client->lane->on_message(client->user, msg, (fl_reply){0});
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

/* A task goes on telling of its progress by the first message's id. */
static fl_request *find_progressing(const fl_client *client, fl_span token)
{
    fl_request *request = fl_requests_find(&client->requests, token);
    int64_t id;

    if (request != NULL || fl_json_int64(token, &id) != FL_OK || id < 0)
        return request;
    request = fl_requests_find_first(&client->requests, (uint64_t)id);
    return request != NULL && request->follow != NULL ? request : NULL;
}

static void on_progress(fl_client *client, const fl_msg *msg)
{
    fl_span token = fl_json_get(msg->params, FL_SPAN("progressToken"));
    fl_request *request = find_progressing(client, token);
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
             !fl_client_asked_cancelled(client, msg))
        fl_client_tell(client, msg);
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
    else if (client->lane != NULL)
        client->lane->on_message(client->user, msg, reply);
    else if (msg->kind == FL_MSG_NOTIFICATION)
        on_notification(client, msg);
    else if (msg->kind == FL_MSG_REQUEST && !fl_client_is_modern(client))
        fl_client_asked_request(client, msg, reply); /* a modern must not */
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
