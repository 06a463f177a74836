/*
 * http_client_sse.c - HTTP+SSE of 2024-11-05: one stream for what the server
 * says, and POSTs to a place that its first event names.
 *
 * An sse+http:// link opens the stream first, and is a channel like any other:
 * when the stream breaks, the conversation is over and another one begins. An
 * http:// link comes here when its initialize was refused in a way that old
 * servers have; the message is kept, and sent again where the stream says. If
 * there is no stream, its sender gets the refusal that came first.
 */
#include "transport/http_client_impl.h"

#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "rpc/extract.h"

#include <stdio.h>

static fl_http_client *client_of(fl_flight *flight)
{
    return FL_LIST_ENTRY(flight, fl_http_client, channel);
}

void fl_http_channel_close(fl_http_client *client)
{
    fl_timer_stop(&client->deadline);
    if (client->has_channel)
        fl_flight_deinit(&client->channel);
    client->has_channel = false;
    fl_badge_rest(&client->channel_badge);
    fl_buf_truncate(&client->endpoint, 0);
}

/* The refusal that came first is the answer after all. */
static void give_back(fl_http_client *client)
{
    fl_post *post = client->first;

    client->mode = FL_HTTP_STREAMABLE;
    client->first = NULL;
    if (post == NULL)
        return;
    /* taken along, for the post frees its own on the way */
    fl_buf body = post->refusal_text;
    post->refusal_text = (fl_buf){0};
    fl_post_refuse(post, &(fl_flight_outcome){.status = post->refusal,
                                              .body = fl_buf_view(&body)});
    fl_buf_reset(&body);
}

static void lose(fl_http_client *client, fl_status status, const char *what)
{
    fl_error why;

    fl_http_channel_close(client);
    if (client->mode == FL_HTTP_FALLING) {
        give_back(client);
        return;
    }
    fl_error_set(&why, status, "%s", what);
    fl_http_client_down(client, &why, false);
}

/* What a request for it says after its method. */
static fl_status write_target(const fl_url *to, fl_buf *out)
{
    fl_status rc =
        fl_buf_append(out, to->path.len > 0 ? to->path : FL_SPAN("/"));

    if (rc == FL_OK && to->query.len > 0)
        rc = fl_buf_append(out, FL_SPAN("?"));
    if (rc == FL_OK && to->query.len > 0)
        rc = fl_buf_append(out, to->query);
    return rc;
}

static fl_status read_endpoint(fl_http_client *client, fl_span data)
{
    fl_url base = client->site.url, to;
    fl_span query;
    fl_buf text;

    fl_url_split_target(fl_buf_view(&client->target), &base.path, &query);
    fl_buf_init(&text, 8192);
    fl_status rc = fl_url_resolve(&base, data, &text);
    if (rc == FL_OK)
        rc = fl_url_parse(fl_buf_view(&text), &to);
    if (rc == FL_OK && !fl_url_same_origin(&to, &client->site.url))
        rc = FL_E_DENIED;
    fl_buf_truncate(&client->endpoint, 0);
    if (rc == FL_OK)
        rc = write_target(&to, &client->endpoint);
    fl_buf_reset(&text);
    return rc;
}

static void send_first(fl_http_client *client)
{
    fl_post *post = client->first;

    client->mode = FL_HTTP_CHANNEL;
    client->first = NULL;
    if (post == NULL)
        return;
    fl_list_append(&client->posts, &post->node);
    fl_status rc = fl_post_start(post, true);
    if (rc == FL_OK)
        return;
    fl_error why;
    fl_error_set(&why, rc, "%s", fl_status_text(rc));
    fl_post_refuse(post, &(fl_flight_outcome){.why = &why});
}

static void take_endpoint(fl_http_client *client, fl_span data)
{
    if (fl_buf_len(&client->endpoint) > 0)
        return; /* the first one counts */
    fl_status rc = read_endpoint(client, data);
    if (rc != FL_OK) {
        lose(client, rc,
             rc == FL_E_DENIED ? "the server's endpoint is of another origin"
                               : "the server's endpoint event is no URL");
        return;
    }
    fl_timer_stop(&client->deadline);
    fl_backoff_reset(&client->outage);
    if (client->mode == FL_HTTP_FALLING)
        send_first(client);
    else
        fl_http_client_begin(client);
}

/* Some servers name what is in a message. */
static bool is_message(fl_span type)
{
    return fl_span_equal(type, FL_SPAN("message")) ||
           fl_span_equal(type, FL_SPAN("notification")) ||
           fl_span_equal(type, FL_SPAN("error"));
}

static void on_event(fl_flight *flight, const fl_sse_event *event)
{
    fl_http_client *client = client_of(flight);
    fl_msg msg;

    fl_link_ref(&client->link);
    if (fl_span_equal(event->type, FL_SPAN("endpoint")))
        take_endpoint(client, event->data);
    else if (!is_message(event->type))
        ; /* not of this protocol */
    else if (fl_http_read(event->data, &msg) == FL_OK)
        fl_http_client_deliver(client, &msg);
    else
        client->link.stats.errors++;
    fl_link_unref(&client->link);
}

static void on_head(fl_flight *flight, const fl_head *head)
{
    fl_badge_heard(&client_of(flight)->channel_badge, head);
}

static void on_authorized(void *user, const fl_error *why)
{
    if (why != NULL)
        lose(user, why->status, why->text);
    else
        fl_http_channel_open(user);
}

/* True: it is seen to. */
static bool is_unauthorized(fl_http_client *client,
                            const fl_flight_outcome *outcome)
{
    fl_error why;

    if (outcome->why != NULL)
        return false;
    fl_status rc = fl_badge_refused(&client->channel_badge, outcome->status,
                                    fl_http_client_speaks(client), &why);
    if (rc == FL_OK)
        fl_http_channel_open(client);
    else if (rc == FL_AGAIN)
        fl_timer_stop(&client->deadline);
    else if (rc != FL_E_UNSUPPORTED)
        lose(client, rc, why.text);
    return rc != FL_E_UNSUPPORTED;
}

static void on_done(fl_flight *flight, const fl_flight_outcome *outcome)
{
    fl_http_client *client = client_of(flight);
    fl_status status = FL_E_CLOSED;
    char what[320];

    if (is_unauthorized(client, outcome))
        return;
    if (outcome->why != NULL) {
        status = outcome->why->status;
        snprintf(what, sizeof what, "%s", outcome->why->text);
    } else if (outcome->streamed) {
        status = FL_END;
        snprintf(what, sizeof what, "the server ended the event stream");
    } else {
        snprintf(what, sizeof what, "no event stream: HTTP %u %s",
                 outcome->status, fl_http_reason(outcome->status));
    }
    lose(client, status, what);
}

static const fl_flight_events channel_events = {
    .on_head = on_head,
    .on_event = on_event,
    .on_done = on_done,
};

static void on_deadline(fl_timer *timer)
{
    lose(FL_LIST_ENTRY(timer, fl_http_client, deadline), FL_E_TIMEOUT,
         "no endpoint event came in time");
}

void fl_http_channel_init(fl_http_client *client)
{
    fl_timer_init(&client->deadline, client->link.loop, on_deadline);
    fl_badge_init(&client->channel_badge, NULL, on_authorized, client);
}

void fl_http_channel_deinit(fl_http_client *client)
{
    fl_badge_deinit(&client->channel_badge);
}

void fl_http_channel_open(fl_http_client *client)
{
    fl_span target = fl_buf_view(&client->target);
    fl_http_head head;

    fl_http_channel_close(client);
    if (fl_badge_ready(&client->channel_badge) == FL_AGAIN)
        return; /* on_authorized() goes on */
    fl_flight_init(&client->channel, &client->site, &channel_events);
    client->has_channel = true;
    fl_http_head_listen(&head, client, (fl_span){0});
    fl_status rc = fl_http_head_show(&head, &client->channel_badge,
                                     FL_SPAN("GET"), target);
    if (rc == FL_OK)
        rc = fl_flight_start(&client->channel, &(fl_flight_request){
                                                   .method = FL_SPAN("GET"),
                                                   .target = target,
                                                   .fields = head.fields,
                                                   .count = head.count,
                                                   .urgent = true,
                                               });
    fl_http_head_deinit(&head);
    /* a failure is told from there, too: never from inside this call */
    fl_timer_start(&client->deadline, rc == FL_OK ? FL_HTTP_ENDPOINT_MS : 0);
}

/* MCP 2025-11-25, Backwards Compatibility. A modern error says that there is
 * no 2024 server. */
bool fl_http_channel_should_fall(const fl_post *post,
                                 const fl_flight_outcome *outcome)
{
    unsigned status = outcome->status;
    fl_msg msg;

    if (!post->initialize || post->client->mode != FL_HTTP_STREAMABLE ||
        post->client->link.state != FL_LINK_ACTIVE || outcome->why != NULL ||
        (status != 400 && status != 404 && status != 405))
        return false;
    if (fl_http_read(outcome->body, &msg) != FL_OK)
        return true;
    int64_t code = fl_extract_error_code(&msg);
    return code > FL_RPC_HEADER_MISMATCH || code < FL_RPC_UNSUPPORTED_VERSION;
}

void fl_http_channel_fall(fl_post *post, const fl_flight_outcome *outcome)
{
    fl_http_client *client = post->client;

    post->refusal = outcome->status;
    if (fl_buf_append(&post->refusal_text, outcome->body) != FL_OK) {
        fl_post_refuse(post, outcome);
        return;
    }
    fl_list_remove(&post->node);
    client->first = post;
    client->mode = FL_HTTP_FALLING;
    fl_log_say(fl_loop_log(client->link.loop), FL_LOG_INFO,
               "initialize was refused, looking for HTTP+SSE",
               fl_log_int("http_status", outcome->status));
    fl_http_channel_open(client);
}
