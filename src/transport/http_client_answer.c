/*
 * http_client_answer.c - what the sender of a message gets to hear.
 *
 * Whoever sent a request gets an answer, come what may: the server's, if it
 * gave one, or an error that says what HTTP or the network said instead.
 *
 * A post that delivers its answer is in no list any more, so that nobody can
 * find it and free it meanwhile.
 */
#include "transport/http_client_impl.h"

#include "base/span.h"
#include "base/status.h"
#include "rpc/error.h"
#include "rpc/extract.h"

#include <inttypes.h>
#include <stdio.h>

enum { ENVELOPE = 4096 }; /* of an error of our own */

void fl_post_end(fl_post *post, const fl_msg *msg)
{
    fl_http_client *client = post->client;

    fl_list_remove(&post->node);
    if (client->gate == post)
        client->gate = NULL;
    fl_link_ref(&client->link);
    if (msg != NULL) {
        client->blame = post->blame.status != FL_OK ? &post->blame : NULL;
        client->link.unsent = post->unsent;
        fl_http_client_deliver(client, msg);
        client->blame = NULL;
    }
    fl_post_free(post);
    fl_http_client_settle(client);
    fl_link_unref(&client->link);
}

/* There is no memory to say what is wrong: the end of the link says it. */
static void end_mute(fl_post *post)
{
    fl_error why;

    fl_error_set(&why, FL_E_NOMEM, "no memory for an answer");
    fl_list_remove(&post->node);
    fl_http_client_fail(post->client, &why);
    fl_post_end(post, NULL);
}

static void end_with_text(fl_post *post, fl_status rc, fl_buf *text)
{
    fl_msg msg;

    if (rc == FL_OK)
        rc = fl_http_read(fl_buf_view(text), &msg);
    if (rc == FL_OK)
        fl_post_end(post, &msg);
    else
        end_mute(post);
    fl_buf_reset(text);
}

static int code_for(unsigned status)
{
    switch (status) {
    case 408:
    case 504:
        return FL_RPC_REQUEST_TIMEOUT;
    case 413:
        return FL_RPC_MESSAGE_TOO_LARGE;
    case 429:
    case 503:
        return FL_RPC_BUSY;
    default:
        return status >= 500 ? FL_RPC_INTERNAL_ERROR : FL_RPC_INVALID_REQUEST;
    }
}

/* Numbers and names of ours: nothing that would need escapes. */
static fl_status write_details(fl_buf *out, const fl_post *post,
                               unsigned status, const fl_error *why)
{
    fl_status rc = fl_buf_printf(out, "{\"httpStatus\":%u", status);

    if (rc == FL_OK && why != NULL)
        rc = fl_buf_printf(out, ",\"transport\":\"%s\"",
                           fl_status_name(why->status));
    if (rc == FL_OK && post->flight.wait_s > 0)
        rc =
            fl_buf_printf(out, ",\"retryAfter\":%" PRIu64, post->flight.wait_s);
    return rc == FL_OK ? fl_buf_append(out, FL_SPAN("}")) : rc;
}

/* It was the other side that closed or cancelled: as good as a reset. */
static void take_blame(fl_error *blame, const fl_error *why)
{
    *blame = *why;
    if (why->status >= 0 || why->status == FL_E_CLOSED ||
        why->status == FL_E_CANCELLED)
        blame->status = FL_E_RESET;
}

/* An error of our own in the server's place. */
void fl_post_fail(fl_post *post, unsigned status, const fl_error *why)
{
    int code = why != NULL ? FL_RPC_CONNECTION_CLOSED : code_for(status);
    char message[300];
    fl_buf text, data;

    if (why != NULL)
        take_blame(&post->blame, why);
    if (why != NULL && why->status == FL_E_TOO_BIG)
        code = FL_RPC_MESSAGE_TOO_LARGE;
    snprintf(message, sizeof message, "HTTP %u %s", status,
             fl_http_reason(status));
    fl_buf_init(&data, ENVELOPE);
    fl_buf_init(&text, ENVELOPE + post->id.len);
    fl_status rc = write_details(&data, post, status, why);
    if (rc == FL_OK)
        rc = fl_rpc_error_write(&text, post->id, code,
                                fl_span_of(why != NULL ? why->text : message),
                                fl_buf_view(&data));
    fl_buf_reset(&data);
    end_with_text(post, rc, &text);
}

/* "error" of a response that names no request is about ours. */
static bool end_relabelled(fl_post *post, const fl_msg *msg)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), post->id,
                       FL_SPAN(",\"error\":"), msg->error, FL_SPAN("}")};
    fl_buf text;
    fl_msg again;

    fl_buf_init(&text, fl_span_total(parts, 5));
    fl_status rc = fl_buf_append_all(&text, parts, 5);
    bool is_message =
        rc == FL_OK && fl_http_read(fl_buf_view(&text), &again) == FL_OK;
    if (is_message)
        fl_post_end(post, &again);
    fl_buf_reset(&text);
    return is_message;
}

static bool is_nobody(fl_span id)
{
    return id.len == 0 || fl_span_equal(id, FL_SPAN("null"));
}

/* Whether `body` was an error response to this post, which it ends. */
static bool end_with_said(fl_post *post, fl_span body)
{
    fl_msg msg;
    fl_status rc = fl_http_read(body, &msg);

    if (rc == FL_OK && msg.kind == FL_MSG_ERROR &&
        fl_msg_id_equal(msg.id, post->id)) {
        fl_post_end(post, &msg);
        return true;
    }
    return msg.error.len > 0 && is_nobody(msg.id) && end_relabelled(post, &msg);
}

void fl_post_refuse(fl_post *post, const fl_flight_outcome *outcome)
{
    if (outcome->why == NULL && end_with_said(post, outcome->body))
        return;
    fl_post_fail(post, outcome->status, outcome->why);
}

static void end_unclear(fl_post *post, unsigned status, const char *what)
{
    fl_error why;

    fl_error_set(&why, FL_E_BAD_MESSAGE, "%s", what);
    fl_post_fail(post, status, &why);
}

bool fl_post_is_answer(const fl_post *post, const fl_msg *msg)
{
    return (msg->kind == FL_MSG_RESULT || msg->kind == FL_MSG_ERROR) &&
           post->id.len > 0 && fl_msg_id_equal(msg->id, post->id);
}

/* What the answer to initialize settles for all that follows. */
void fl_post_note_answer(fl_post *post, const fl_msg *msg)
{
    post->answered = true;
    if (post->modern && msg->kind == FL_MSG_RESULT &&
        fl_msg_method_is(&post->msg, FL_SPAN("tools/list")))
        fl_mirrors_learn(&post->client->mirrors, msg);
    if (!post->initialize || msg->kind != FL_MSG_RESULT || post->on_channel)
        return;
    fl_http_client_session_begin(post->client, post->minted,
                                 fl_extract_revision(msg));
    post->minted = NULL;
}

void fl_post_end_with_body(fl_post *post, const fl_flight_outcome *outcome)
{
    fl_msg msg;

    if (outcome->body.len == 0) {
        end_unclear(post, outcome->status, "the server gave no answer");
    } else if (fl_http_read(outcome->body, &msg) == FL_OK &&
               (fl_post_is_answer(post, &msg) || msg.kind == FL_MSG_BATCH)) {
        fl_post_note_answer(post, &msg);
        fl_post_end(post, &msg);
    } else if (!(msg.error.len > 0 && is_nobody(msg.id) &&
                 end_relabelled(post, &msg))) {
        end_unclear(post, outcome->status,
                    "the server's answer is none to this request");
    }
}
