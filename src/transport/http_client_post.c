/*
 * http_client_post.c - one message on its way.
 *
 * Where many are under way, one begins as soon as another ends. So those that
 * ended are kept, with their buffers if these are small, and used again: then
 * a message costs no allocation.
 *
 * A message is never sent twice to find out what became of it. But a stream
 * that broke before the answer, and whose events had names, is asked for
 * again, by the last name that came. And what was refused for want of
 * authorization did not run: it waits for that, and is sent again.
 */
#include "transport/http_client_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"

enum {
    LINGER_MS = 1000,
    RESUMES_MAX = 5,
    RESUME_FIRST_MS = 1000,
    RESUME_MAX_MS = 30000,
    SPARES_MAX = 64,
    SPARE_TEXT = 4096, /* bytes: one that grew past that is not kept */
};

static const fl_flight_events flight_events;

static void on_again(fl_timer *timer);
static void on_authorized(void *user, const fl_error *why);

static fl_post *post_of(fl_flight *flight)
{
    return FL_LIST_ENTRY(flight, fl_post, flight);
}

/* What a relay says of the message holds for the copy, too. */
static fl_status read_message(fl_post *post, const fl_relay *relay)
{
    fl_span text = fl_buf_view(&post->text);
    fl_status rc = FL_OK;

    if (relay != NULL)
        fl_msg_renumbered(relay->msg, relay->id, text.ptr, &post->msg);
    else
        rc = fl_http_read(text, &post->msg);
    if (rc != FL_OK)
        return FL_E_BAD_MESSAGE;
    const fl_msg *msg = &post->msg;
    post->modern = msg->inner.claim.present;
    post->initialize = msg->kind == FL_MSG_REQUEST && !post->modern &&
                       fl_msg_method_is(msg, FL_SPAN("initialize"));
    if (msg->kind == FL_MSG_REQUEST)
        post->id = msg->id;
    return FL_OK;
}

static fl_post *make(fl_http_client *client)
{
    fl_post *post = fl_mem_zalloc(sizeof *post);

    if (post == NULL)
        return NULL;
    post->client = client;
    fl_list_init(&post->node);
    fl_buf_init(&post->text, client->max_message);
    fl_buf_init(&post->refusal_text, client->max_message);
    fl_fragments_init(&post->fragments, client->max_message);
    fl_flight_init(&post->flight, &client->site, &flight_events);
    fl_timer_init(&post->again, client->link.loop, on_again);
    return post;
}

static fl_post *take_spare(fl_http_client *client)
{
    fl_list *node = fl_list_take(&client->spares);

    if (node == NULL)
        return make(client);
    client->spare_count--;
    return FL_LIST_ENTRY(node, fl_post, node);
}

fl_status fl_post_new(fl_http_client *client, const fl_post_text *text,
                      fl_post **out)
{
    fl_post *post = take_spare(client);

    *out = NULL;
    if (post == NULL)
        return FL_E_NOMEM;
    fl_badge_init(&post->badge, client->auth, on_authorized, post);
    post->patience =
        (fl_backoff){RESUME_FIRST_MS, RESUME_MAX_MS, RESUMES_MAX, 0};
    fl_status rc = fl_buf_append_all(&post->text, text->parts, text->count);
    if (rc == FL_OK && text->count > 0)
        rc = read_message(post, text->relay);
    if (rc != FL_OK) {
        fl_post_free(post);
        return rc;
    }
    *out = post;
    return FL_OK;
}

static void destroy(fl_post *post)
{
    fl_flight_deinit(&post->flight);
    fl_buf_reset(&post->text);
    fl_mem_free(post);
}

/* As a new one is, but for the memory it has. */
static void clean(fl_post *post)
{
    fl_timer_stop(&post->again);
    fl_flight_rest(&post->flight);
    fl_badge_deinit(&post->badge);
    fl_fragments_deinit(&post->fragments);
    fl_fragments_init(&post->fragments, post->client->max_message);
    fl_buf_clear(&post->text);
    fl_buf_reset(&post->refusal_text);
    fl_buf_init(&post->refusal_text, post->client->max_message);
    if (post->minted != NULL)
        fl_mem_wipe(post->minted, strlen(post->minted));
    fl_mem_free(post->minted);
    post->minted = NULL;
    post->msg.kind = FL_MSG_INVALID;
    post->id = (fl_span){0};
    post->session = post->refusal = 0;
    post->initialize = post->modern = post->answered = false;
    post->resuming = post->on_channel = post->unsent = false;
    post->blame.status = FL_OK;
}

void fl_post_free(fl_post *post)
{
    fl_http_client *client = post->client;

    fl_list_remove(&post->node);
    if (client->gate == post)
        client->gate = NULL;
    clean(post);
    if (client->spare_count == SPARES_MAX || post->text.cap > SPARE_TEXT ||
        client->link.state == FL_LINK_CLOSING) {
        destroy(post);
        return;
    }
    client->spare_count++;
    fl_list_prepend(&client->spares, &post->node);
}

void fl_post_free_spares(fl_http_client *client)
{
    fl_list *node;

    while ((node = fl_list_take(&client->spares)) != NULL)
        destroy(FL_LIST_ENTRY(node, fl_post, node));
    client->spare_count = 0;
}

fl_status fl_post_start(fl_post *post, bool urgent)
{
    fl_http_client *client = post->client;
    fl_http_head head;

    post->unsent = false; /* each try is judged by itself */
    if (fl_badge_ready(&post->badge) == FL_AGAIN)
        return FL_OK; /* on_authorized() goes on */
    post->on_channel = client->mode == FL_HTTP_CHANNEL;
    post->session = client->session != NULL && !post->modern &&
                            !post->initialize && !post->on_channel
                        ? client->session_number
                        : 0;
    fl_span target =
        fl_buf_view(post->on_channel ? &client->endpoint : &client->target);
    fl_status rc = fl_http_head_message(&head, client, post, &post->msg);
    if (rc == FL_OK)
        rc = fl_http_head_show(&head, &post->badge, FL_SPAN("POST"), target);
    if (rc == FL_OK)
        rc =
            fl_flight_start(&post->flight, &(fl_flight_request){
                                               .method = FL_SPAN("POST"),
                                               .target = target,
                                               .common = &client->post_fields,
                                               .fields = head.fields,
                                               .count = head.count,
                                               .body = fl_buf_view(&post->text),
                                               .urgent = urgent,
                                           });
    fl_http_head_deinit(&head);
    return rc;
}

static void on_head(fl_flight *flight, const fl_head *head)
{
    fl_post *post = post_of(flight);
    fl_span name = fl_head_get(head, FL_FIELD_MCP_SESSION_ID);

    fl_badge_heard(&post->badge, head);
    if (!post->initialize || head->status / 100 != 2 || name.len == 0 ||
        name.len > FL_HTTP_SESSION_MAX || post->minted != NULL)
        return;
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] < '!' || name.ptr[i] > '~')
            return;
    post->minted = fl_mem_string(name); /* without memory: without session */
}

static void hear(fl_post *post, fl_span text)
{
    fl_http_client *client = post->client;
    fl_msg msg;

    if (fl_http_read(text, &msg) != FL_OK) {
        client->link.stats.errors++;
        return;
    }
    if (fl_post_is_answer(post, &msg) && !post->answered) {
        fl_post_note_answer(post, &msg);
        fl_flight_linger(&post->flight, LINGER_MS);
    }
    fl_link_ref(&client->link);
    client->about = post->id;
    fl_http_client_deliver(client, &msg);
    client->about = (fl_span){0};
    fl_link_unref(&client->link);
}

static void hear_end(fl_post *post, const fl_sse_event *event)
{
    bool failed = fl_span_equal(event->type, FL_SPAN("error"));
    fl_status rc;
    fl_buf text;
    fl_msg msg;

    if (failed && fl_http_read(event->data, &msg) == FL_OK &&
        fl_post_is_answer(post, &msg)) {
        hear(post, event->data); /* whole already */
        return;
    }
    fl_buf_init(&text, 2 * post->client->max_message);
    rc = failed ? fl_fragments_error(event->data, post->id, &text)
                : fl_fragments_complete(&post->fragments, event->data, post->id,
                                        &text);
    if (rc == FL_OK)
        hear(post, fl_buf_view(&text));
    fl_buf_reset(&text);
}

static bool has_type(const fl_sse_event *event, const char *type)
{
    return fl_span_equal(event->type, fl_span_of(type));
}

/* Some call every message by this name that is not the answer. */
static void hear_fragment(fl_post *post, fl_span data)
{
    fl_msg msg;

    if (fl_http_read(data, &msg) == FL_OK &&
        (msg.kind == FL_MSG_NOTIFICATION || msg.kind == FL_MSG_REQUEST))
        hear(post, data);
    else if (fl_fragments_add(&post->fragments, data) != FL_OK)
        post->client->link.stats.errors++;
}

static void on_event(fl_flight *flight, const fl_sse_event *event)
{
    fl_post *post = post_of(flight);

    fl_backoff_reset(&post->patience);
    if (has_type(event, "message") || has_type(event, "notification"))
        hear(post, event->data);
    else if (post->id.len == 0 || post->answered)
        return;
    else if (has_type(event, "result"))
        hear_fragment(post, event->data);
    else if (has_type(event, "complete") || has_type(event, "error"))
        hear_end(post, event);
}

/* Asks for what its stream still had to say. */
static fl_status ask_again(fl_post *post)
{
    fl_http_client *client = post->client;
    fl_span target = fl_buf_view(&client->target);
    fl_http_head head;

    post->resuming = true;
    post->unsent = false;
    if (fl_badge_ready(&post->badge) == FL_AGAIN)
        return FL_OK;
    fl_http_head_listen(&head, client, fl_buf_view(&post->flight.sse.last_id));
    fl_status rc =
        fl_http_head_show(&head, &post->badge, FL_SPAN("GET"), target);
    if (rc == FL_OK)
        rc = fl_flight_start(&post->flight, &(fl_flight_request){
                                                .method = FL_SPAN("GET"),
                                                .target = target,
                                                .fields = head.fields,
                                                .count = head.count,
                                                .urgent = true,
                                            });
    fl_http_head_deinit(&head);
    return rc;
}

static void on_again(fl_timer *timer)
{
    fl_post *post = FL_LIST_ENTRY(timer, fl_post, again);
    fl_status rc = ask_again(post);

    if (rc == FL_OK)
        return;
    fl_error why;
    fl_error_set(&why, rc, "cannot resume the stream: %s", fl_status_text(rc));
    fl_post_fail(post, 0, &why);
}

/* True: the answer may still come. */
static bool resume(fl_post *post, const fl_flight_outcome *outcome)
{
    const fl_sse *sse = &post->flight.sse;
    bool broke = outcome->streamed || (post->resuming && outcome->why != NULL);
    uint64_t wait_ms;

    if (!broke || post->modern || post->on_channel ||
        fl_buf_len(&sse->last_id) == 0 ||
        !fl_field_value_ok(fl_buf_view(&sse->last_id)) ||
        post->client->link.state != FL_LINK_ACTIVE ||
        (outcome->why != NULL && outcome->why->status == FL_E_TOO_BIG))
        return false;
    if (outcome->streamed && outcome->why == NULL &&
        sse->retry_ms != UINT64_MAX)
        fl_backoff_reset(&post->patience); /* it asked us to come back */
    if (fl_backoff_next(&post->patience, &wait_ms) != FL_OK)
        return false;
    if (sse->retry_ms != UINT64_MAX)
        wait_ms = sse->retry_ms < RESUME_MAX_MS ? sse->retry_ms : RESUME_MAX_MS;
    fl_timer_start(&post->again, wait_ms);
    return true;
}

static void request_done(fl_post *post, const fl_flight_outcome *outcome)
{
    fl_error why;

    if (resume(post, outcome))
        return;
    if (outcome->why != NULL) {
        post->unsent = outcome->unsent && !post->resuming;
        fl_post_fail(post, outcome->status, outcome->why);
    } else if (outcome->streamed) {
        fl_error_set(&why, FL_E_CLOSED, "the stream ended before the answer");
        fl_post_fail(post, outcome->status, &why);
    } else if (outcome->status / 100 != 2) {
        fl_post_refuse(post, outcome);
    } else if (post->on_channel) {
        fl_post_end(post, NULL); /* the answer comes on the other stream */
    } else {
        fl_post_end_with_body(post, outcome);
    }
}

/* Nobody waits for what came of it. */
static void message_done(fl_post *post, const fl_flight_outcome *outcome)
{
    fl_http_client *client = post->client;
    bool arrived = outcome->why == NULL && outcome->status / 100 == 2;
    bool opens = arrived && client->gate == post;
    fl_msg msg;

    if (!arrived && post->msg.kind != FL_MSG_INVALID) {
        client->link.stats.errors++;
        fl_log_say(fl_loop_log(client->link.loop), FL_LOG_WARN,
                   "the server did not take a message",
                   fl_log_int("http_status", outcome->status),
                   fl_log_text("reason", fl_span_of(outcome->why != NULL
                                                        ? outcome->why->text
                                                        : "")));
    }
    if (opens)
        fl_http_client_session_listen(client);
    if (arrived && post->msg.kind == FL_MSG_BATCH &&
        fl_http_read(outcome->body, &msg) == FL_OK)
        fl_post_end(post, &msg);
    else
        fl_post_end(post, NULL);
}

static void give_up(fl_post *post, unsigned status, const fl_error *why)
{
    if (post->id.len > 0)
        fl_post_fail(post, status, why);
    else
        message_done(post, &(fl_flight_outcome){.status = status, .why = why});
}

static void send_again(fl_post *post)
{
    fl_status rc = post->resuming ? ask_again(post) : fl_post_start(post, true);
    fl_error why;

    if (rc == FL_OK)
        return;
    fl_error_set(&why, rc, "%s", fl_status_text(rc));
    give_up(post, 0, &why);
}

static void on_authorized(void *user, const fl_error *why)
{
    if (why != NULL)
        give_up(user, 401, why);
    else
        send_again(user);
}

/* True: it was refused for want of authorization, and is seen to. */
static bool is_unauthorized(fl_post *post, const fl_flight_outcome *outcome)
{
    fl_http_client *client = post->client;
    fl_error why;

    if (outcome->why != NULL || post->msg.kind == FL_MSG_INVALID ||
        client->link.state != FL_LINK_ACTIVE)
        return false;
    fl_status rc = fl_badge_refused(&post->badge, outcome->status,
                                    fl_http_client_speaks(client), &why);
    if (rc == FL_OK)
        send_again(post);
    else if (rc < 0 && rc != FL_E_UNSUPPORTED)
        give_up(post, outcome->status, &why);
    return rc != FL_E_UNSUPPORTED;
}

/* Its sender hears of it first: the message was not heard. */
static void lose_session(fl_post *post, const fl_flight_outcome *outcome)
{
    fl_http_client *client = post->client;
    unsigned number = client->session_number;

    fl_link_ref(&client->link);
    if (post->id.len > 0)
        request_done(post, outcome);
    else
        message_done(post, outcome);
    if (client->link.state == FL_LINK_ACTIVE &&
        client->session_number == number)
        fl_http_client_session_lost(client);
    fl_link_unref(&client->link);
}

static void on_done(fl_flight *flight, const fl_flight_outcome *outcome)
{
    fl_post *post = post_of(flight);
    fl_http_client *client = post->client;

    if (post->answered)
        fl_post_end(post, NULL);
    else if (is_unauthorized(post, outcome))
        return;
    else if (outcome->status == 404 && post->session != 0 &&
             post->session == client->session_number &&
             client->link.state == FL_LINK_ACTIVE)
        lose_session(post, outcome);
    else if (fl_http_channel_should_fall(post, outcome))
        fl_http_channel_fall(post, outcome);
    else if (post->id.len > 0)
        request_done(post, outcome);
    else
        message_done(post, outcome);
}

static const fl_flight_events flight_events = {
    .on_head = on_head,
    .on_event = on_event,
    .on_done = on_done,
};
