/*
 * http_client.c - the link of an HTTP client: its life, sending, closing.
 *
 *   CONNECTING -> ACTIVE -> (session lost) DISCONNECTED -> CONNECTING -> ACTIVE
 *
 * There is no connection to speak of: connections come and go with what is
 * sent. What can be lost is the conversation: the session, when the server
 * says that it does not know it any more, or the event stream of 2024.
 *
 * Requests travel side by side, so that one may overtake another. There is
 * one that must not be overtaken: what is sent after notifications/initialized
 * waits until that has arrived.
 */
#include "transport/http_client.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "io/tls.h"
#include "transport/http_client_impl.h"

#include <stdio.h>

enum {
    HELD_MAX = 64,
    GOODBYE_MS = 1000, /* for what is still to arrive when closing */
    LASTING_MS = 5000, /* a session that stood so long was a success */
};

static fl_http_client *client_of(fl_link *link)
{
    return (fl_http_client *)link;
}

void fl_http_client_deliver(fl_http_client *client, const fl_msg *msg)
{
    fl_link *link = &client->link;

    if (link->state != FL_LINK_ACTIVE)
        return;
    link->stats.messages_in++;
    link->stats.bytes_in += msg->text.len;
    link->stats.last_seen_ms = fl_loop_now(link->loop);
    link->events->on_message(link, msg, (fl_reply){.link = link});
}

static void tell_writable(fl_http_client *client)
{
    fl_link *link = &client->link;

    if (!client->refused || link->state != FL_LINK_ACTIVE)
        return;
    client->refused = false;
    if (link->events->on_writable != NULL)
        link->events->on_writable(link);
}

void fl_http_client_begin(fl_http_client *client)
{
    fl_link *link = &client->link;

    if (fl_link_move(link, FL_LINK_ACTIVE) != FL_OK)
        return;
    fl_link_ref(link);
    if (link->events->on_open != NULL)
        link->events->on_open(link);
    tell_writable(client);
    fl_link_unref(link);
}

static void free_posts(fl_list *list, bool requests_only)
{
    fl_list *at = list->next;

    while (at != list) {
        fl_post *post = FL_LIST_ENTRY(at, fl_post, node);
        at = at->next;
        if (!requests_only || post->id.len > 0)
            fl_post_free(post);
    }
}

static void drop_everything(fl_http_client *client)
{
    free_posts(&client->posts, false);
    free_posts(&client->held, false);
    if (client->first != NULL)
        fl_post_free(client->first);
    client->first = NULL;
    fl_http_channel_close(client);
    fl_http_client_session_forget(client);
}

/* Nothing will be asked any more. */
static void hand_back(fl_http_client *client)
{
    if (client->auth != NULL)
        client->auth->ops->detach(client->auth);
    client->auth = NULL;
}

static void finish_close(fl_http_client *client)
{
    fl_timer_stop(&client->life);
    drop_everything(client);
    fl_post_free_spares(client);
    hand_back(client);
    fl_http_pool_close(client->site.pool);
}

static void begin_close(fl_http_client *client, bool in_order)
{
    if (fl_link_move(&client->link, FL_LINK_CLOSING) != FL_OK)
        return;
    fl_timer_start(&client->life, 0);
    free_posts(&client->posts, true);
    free_posts(&client->held, true);
    if (!in_order || (client->session != NULL &&
                      fl_http_client_session_delete(client) != FL_OK))
        free_posts(&client->posts, false);
    if (!fl_list_empty(&client->posts))
        fl_timer_start(&client->life, GOODBYE_MS);
}

static void close_link(fl_link *link)
{
    fl_http_client *client = client_of(link);

    fl_error_set(&client->why, FL_OK, "closed");
    begin_close(client, true);
}

void fl_http_client_fail(fl_http_client *client, const fl_error *why)
{
    if (client->link.state == FL_LINK_CLOSING)
        return;
    client->why = *why;
    begin_close(client, false);
}

/* A server that forgets each session at once is as good as none. */
static uint64_t time_to_wait(fl_http_client *client, bool was_active)
{
    uint64_t now = fl_loop_now(client->link.loop), wait_ms;

    if (was_active && now - client->link.stats.opened_ms >= LASTING_MS)
        fl_backoff_reset(&client->outage);
    bool first = client->outage.made == 0 && was_active;
    if (fl_backoff_next(&client->outage, &wait_ms) != FL_OK)
        return UINT64_MAX;
    return first ? 0 : wait_ms;
}

/* Messages that wait for a session which there is no more. */
static void refuse_held(fl_http_client *client)
{
    fl_list held;
    fl_list *node;

    fl_list_move(&held, &client->held);
    while ((node = fl_list_take(&held)) != NULL)
        fl_post_refuse(FL_LIST_ENTRY(node, fl_post, node),
                       &(fl_flight_outcome){.status = 404});
}

/* What is under way ends by itself: the server says to each that it knows
 * nothing of it, and so does its sender hear. */
static void forget_session(fl_http_client *client)
{
    client->gate = NULL;
    client->session_number++; /* what is of the old one is not of any other */
    fl_http_client_session_forget(client);
    refuse_held(client);
}

void fl_http_client_down(fl_http_client *client, const fl_error *why,
                         bool forgotten)
{
    fl_link *link = &client->link;
    bool was_active = link->state == FL_LINK_ACTIVE;
    fl_error told = *why;

    if (fl_link_move(link, FL_LINK_DISCONNECTED) != FL_OK)
        return;
    if (forgotten)
        forget_session(client);
    else
        drop_everything(client);
    if (link->state != FL_LINK_DISCONNECTED)
        return; /* who was told of it has closed the link */
    uint64_t wait_ms = time_to_wait(client, was_active);
    if (!client->reconnects || wait_ms == UINT64_MAX) {
        fl_http_client_fail(client, &told);
        return;
    }
    fl_timer_start(&client->life, wait_ms);
    if (was_active && link->events->on_down != NULL)
        link->events->on_down(link, &told);
}

/* Lets go what waited for notifications/initialized to arrive. */
static void release_held(fl_http_client *client)
{
    fl_list *node;

    while (client->gate == NULL && client->link.state == FL_LINK_ACTIVE &&
           (node = fl_list_take(&client->held)) != NULL) {
        fl_post *post = FL_LIST_ENTRY(node, fl_post, node);
        fl_list_append(&client->posts, &post->node);
        fl_status rc = fl_post_start(post, true);
        if (rc != FL_OK) {
            fl_error why;
            fl_error_set(&why, rc, "%s", fl_status_text(rc));
            fl_post_refuse(post, &(fl_flight_outcome){.why = &why});
            return; /* that settled again, and saw to the rest */
        }
    }
}

void fl_http_client_settle(fl_http_client *client)
{
    if (client->link.state == FL_LINK_CLOSING) {
        if (fl_list_empty(&client->posts))
            fl_timer_start(&client->life, 0);
        return;
    }
    release_held(client);
    if (client->mode != FL_HTTP_FALLING)
        tell_writable(client);
}

void fl_http_client_on_room(void *user)
{
    fl_http_client *client = user;

    if (client->mode != FL_HTTP_FALLING)
        tell_writable(client);
}

void fl_http_client_on_gone(void *user)
{
    fl_http_client *client = user;
    fl_error why = client->why;

    fl_http_pool_free(client->site.pool);
    client->site.pool = NULL;
    fl_link_ended(&client->link, &why);
}

static void on_life(fl_timer *timer)
{
    fl_http_client *client = FL_LIST_ENTRY(timer, fl_http_client, life);

    if (client->link.state == FL_LINK_CLOSING) {
        finish_close(client);
        return;
    }
    if (client->link.state == FL_LINK_DISCONNECTED &&
        fl_link_move(&client->link, FL_LINK_CONNECTING) != FL_OK)
        return;
    if (client->mode == FL_HTTP_CHANNEL)
        fl_http_channel_open(client);
    else
        fl_http_client_begin(client);
}

void fl_http_client_init(fl_http_client *client)
{
    fl_timer_init(&client->life, client->link.loop, on_life);
    fl_http_client_session_init(client);
    fl_http_channel_init(client);
}

void fl_http_client_start(fl_http_client *client)
{
    if (fl_link_move(&client->link, FL_LINK_CONNECTING) == FL_OK)
        fl_timer_start(&client->life, 0);
}

static fl_status let_go(fl_http_client *client, fl_post *post, bool urgent)
{
    size_t held = 0;

    if (client->gate == NULL || urgent) {
        fl_status rc = fl_post_start(post, urgent);
        if (rc == FL_OK)
            fl_list_append(&client->posts, &post->node);
        return rc;
    }
    for (fl_list *at = client->held.next; at != &client->held; at = at->next)
        held++;
    if (held == HELD_MAX)
        return FL_BUSY;
    fl_list_append(&client->held, &post->node);
    return FL_OK;
}

static bool is_ready(const fl_http_client *client)
{
    return client->link.state != FL_LINK_DISCONNECTED &&
           client->mode != FL_HTTP_FALLING &&
           (client->mode != FL_HTTP_CHANNEL ||
            fl_buf_len(&client->endpoint) > 0);
}

static fl_status post_message(fl_http_client *client, const fl_post_text *text,
                              bool urgent)
{
    fl_post *post;

    if (fl_span_total(text->parts, text->count) > client->max_message)
        return FL_E_TOO_BIG;
    if (!is_ready(client)) {
        client->refused = true;
        return urgent ? FL_E_STATE : FL_BUSY;
    }
    fl_status rc = fl_post_new(client, text, &post);
    if (rc != FL_OK)
        return rc;
    bool is_note = post->msg.kind == FL_MSG_NOTIFICATION;
    urgent = urgent ||
             (is_note &&
              fl_msg_method_is(&post->msg, FL_SPAN("notifications/cancelled")));
    rc = let_go(client, post, urgent);
    if (rc != FL_OK) {
        client->refused = client->refused || rc == FL_BUSY;
        fl_post_free(post);
    } else if (is_note && !post->modern && client->mode == FL_HTTP_STREAMABLE &&
               client->revision != NULL &&
               fl_msg_method_is(&post->msg,
                                FL_SPAN("notifications/initialized"))) {
        client->gate = post;
    }
    return rc;
}

static fl_status send(fl_link *link, void *reply_stream, const fl_span *parts,
                      size_t count)
{
    (void)reply_stream;
    return post_message(client_of(link),
                        &(fl_post_text){.parts = parts, .count = count}, false);
}

static fl_status relay(fl_link *link, const fl_relay *relayed)
{
    return post_message(client_of(link),
                        &(fl_post_text){.parts = relayed->parts,
                                        .count = relayed->count,
                                        .relay = relayed},
                        false);
}

static fl_status answer(fl_link *link, void *reply_stream, int code,
                        const fl_span *parts, size_t count)
{
    (void)reply_stream;
    (void)code;
    if (count == 0)
        return FL_OK;
    return post_message(client_of(link),
                        &(fl_post_text){.parts = parts, .count = count}, true);
}

static fl_span about(const fl_link *link)
{
    return ((const fl_http_client *)link)->about;
}

static const fl_error *blame(const fl_link *link)
{
    return ((const fl_http_client *)link)->blame;
}

static bool cancel_in(fl_list *list, fl_span id)
{
    for (fl_list *at = list->next; at != list; at = at->next) {
        fl_post *post = FL_LIST_ENTRY(at, fl_post, node);
        if (post->id.len > 0 && fl_msg_id_equal(post->id, id)) {
            fl_post_free(post);
            return true;
        }
    }
    return false;
}

static void cancel(fl_link *link, fl_span id)
{
    fl_http_client *client = client_of(link);

    if (cancel_in(&client->posts, id) || cancel_in(&client->held, id) ||
        client->first == NULL || !fl_msg_id_equal(client->first->id, id))
        return;
    fl_post_free(client->first);
    client->first = NULL;
}

static void info(const fl_link *link, fl_link_info *out)
{
    const fl_http_client *client = (const fl_http_client *)link;
    fl_span name = client->site.authority;

    out->max_message = client->max_message;
    out->is_asking = client->auth != NULL &&
                     client->auth->ops->is_asking != NULL &&
                     client->auth->ops->is_asking(client->auth);
    snprintf(out->peer, sizeof out->peer, "%.*s", (int)name.len, name.ptr);
}

/* Custom ones may be credentials. */
static void wipe_fields(fl_fields *fields)
{
    if (fields->text.ptr != NULL)
        fl_mem_wipe(fields->text.ptr, fields->text.cap);
    fl_fields_deinit(fields);
}

static void free_link(fl_link *link)
{
    fl_http_client *client = client_of(link);

    fl_timer_stop(&client->life);
    drop_everything(client);
    hand_back(client);
    fl_http_client_session_deinit(client);
    fl_http_channel_deinit(client);
    fl_post_free_spares(client);
    fl_http_pool_free(client->site.pool);
    fl_proxy_deinit(&client->proxy);
    fl_tls_unref(client->tls);
    wipe_fields(&client->fields);
    wipe_fields(&client->post_fields);
    fl_mirrors_deinit(&client->mirrors);
    fl_buf_reset(&client->authority);
    fl_buf_reset(&client->target);
    fl_buf_reset(&client->endpoint);
    fl_mem_free(client);
}

#define CLIENT_ROW(kind, more_traits)                                          \
    {                                                                          \
        .name = (kind),                                                        \
        .traits = FL_LINK_NETWORK | FL_LINK_RECONNECTS | (more_traits),        \
        .send = send, .relay = relay, .answer = answer, .close = close_link,   \
        .cancel = cancel, .about = about, .blame = blame, .free = free_link,   \
        .info = info,                                                          \
    }

const fl_transport fl_http_client_transport = CLIENT_ROW("http", 0);
const fl_transport fl_http_client_sse_transport =
    CLIENT_ROW("sse", FL_LINK_CHANNEL);
