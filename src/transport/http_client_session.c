/*
 * http_client_session.c - what initialize agreed on, and the stream on which
 * the server speaks unasked.
 *
 * The standing stream is opened when notifications/initialized has arrived; a
 * server that has none says 405. It is kept open: when it breaks it is asked
 * for again, after the time the server wanted, from the last event on.
 */
#include "transport/http_client_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"

enum {
    STANDING_FIRST_MS = 1000,
    STANDING_MAX_MS = 60000,
};

static fl_http_client *client_of(fl_flight *flight)
{
    return FL_LIST_ENTRY(flight, fl_http_client, standing);
}

void fl_http_client_session_forget(fl_http_client *client)
{
    if (client->has_standing)
        fl_flight_deinit(&client->standing);
    client->has_standing = false;
    fl_badge_rest(&client->standing_badge);
    fl_timer_stop(&client->standing_timer);
    if (client->session != NULL)
        fl_mem_wipe(client->session, strlen(client->session));
    fl_mem_free(client->session);
    client->session = NULL;
    client->revision = NULL;
}

void fl_http_client_session_begin(fl_http_client *client, char *taken_name,
                                  const fl_revision *revision)
{
    fl_http_client_session_forget(client);
    client->session = taken_name;
    client->revision = revision;
    client->session_number++;
}

static void ask(fl_http_client *client)
{
    fl_span target = fl_buf_view(&client->target);
    fl_http_head head;

    if (fl_badge_ready(&client->standing_badge) == FL_AGAIN)
        return; /* on_authorized() goes on */
    fl_http_head_listen(&head, client,
                        fl_buf_view(&client->standing.sse.last_id));
    fl_status rc = fl_http_head_show(&head, &client->standing_badge,
                                     FL_SPAN("GET"), target);
    if (rc == FL_OK)
        rc = fl_flight_start(&client->standing, &(fl_flight_request){
                                                    .method = FL_SPAN("GET"),
                                                    .target = target,
                                                    .fields = head.fields,
                                                    .count = head.count,
                                                    .urgent = true,
                                                });
    fl_http_head_deinit(&head);
    if (rc != FL_OK)
        fl_timer_start(&client->standing_timer, STANDING_FIRST_MS);
}

static void on_head(fl_flight *flight, const fl_head *head)
{
    fl_badge_heard(&client_of(flight)->standing_badge, head);
}

static void on_event(fl_flight *flight, const fl_sse_event *event)
{
    fl_http_client *client = client_of(flight);
    fl_msg msg;

    fl_backoff_reset(&client->standing_wait);
    if (!fl_span_equal(event->type, FL_SPAN("message")) &&
        !fl_span_equal(event->type, FL_SPAN("notification")))
        return;
    if (fl_http_read(event->data, &msg) != FL_OK) {
        client->link.stats.errors++;
        return;
    }
    fl_link_ref(&client->link);
    fl_http_client_deliver(client, &msg);
    fl_link_unref(&client->link);
}

/* Nothing unasked will be heard in this session. */
static void give_up(fl_http_client *client, unsigned status)
{
    fl_log_say(fl_loop_log(client->link.loop), FL_LOG_INFO,
               "the server offers no standing stream",
               fl_log_int("http_status", status));
}

static void wait(fl_http_client *client)
{
    uint64_t asked = client->standing.sse.retry_ms, wait_ms;

    if (fl_backoff_next(&client->standing_wait, &wait_ms) != FL_OK)
        return;
    if (asked != UINT64_MAX && asked <= STANDING_MAX_MS)
        wait_ms = asked > wait_ms || client->standing_wait.made == 1 ? asked
                                                                     : wait_ms;
    fl_timer_start(&client->standing_timer, wait_ms);
}

static void on_done(fl_flight *flight, const fl_flight_outcome *outcome)
{
    fl_http_client *client = client_of(flight);
    bool passing = outcome->streamed || outcome->why != NULL ||
                   outcome->status >= 500 || outcome->status == 429;

    if (client->link.state != FL_LINK_ACTIVE)
        return;
    fl_status rc =
        outcome->why != NULL
            ? FL_E_UNSUPPORTED
            : fl_badge_refused(&client->standing_badge, outcome->status,
                               fl_http_client_speaks(client), NULL);
    if (rc == FL_AGAIN)
        return; /* on_authorized() goes on */
    if (rc == FL_OK)
        ask(client);
    else if (outcome->status == 404 && client->session != NULL)
        fl_http_client_session_lost(client);
    else if (passing && client->reconnects)
        wait(client);
    else
        give_up(client, outcome->status);
}

static const fl_flight_events standing_events = {
    .on_head = on_head,
    .on_event = on_event,
    .on_done = on_done,
};

static void on_timer(fl_timer *timer)
{
    ask(FL_LIST_ENTRY(timer, fl_http_client, standing_timer));
}

static void on_authorized(void *user, const fl_error *why)
{
    fl_http_client *client = user;

    if (why != NULL)
        give_up(client, 401);
    else if (client->has_standing)
        ask(client);
}

void fl_http_client_session_init(fl_http_client *client)
{
    fl_badge_init(&client->standing_badge, NULL, on_authorized, client);
    fl_timer_init(&client->standing_timer, client->link.loop, on_timer);
}

void fl_http_client_session_deinit(fl_http_client *client)
{
    fl_badge_deinit(&client->standing_badge);
}

void fl_http_client_session_listen(fl_http_client *client)
{
    if (client->has_standing || client->mode != FL_HTTP_STREAMABLE ||
        client->revision == NULL || client->link.state != FL_LINK_ACTIVE)
        return;
    client->has_standing = true;
    client->standing_wait =
        (fl_backoff){.first_ms = STANDING_FIRST_MS, .max_ms = STANDING_MAX_MS};
    fl_flight_init(&client->standing, &client->site, &standing_events);
    ask(client);
}

fl_status fl_http_client_session_delete(fl_http_client *client)
{
    fl_http_head head;
    fl_post *post;
    fl_status rc = fl_post_new(client, &(fl_post_text){0}, &post);

    if (rc != FL_OK)
        return rc;
    fl_http_head_plain(&head, client);
    rc = fl_http_head_show(&head, &post->badge, FL_SPAN("DELETE"),
                           fl_buf_view(&client->target));
    if (rc == FL_OK)
        rc = fl_flight_start(&post->flight,
                             &(fl_flight_request){
                                 .method = FL_SPAN("DELETE"),
                                 .target = fl_buf_view(&client->target),
                                 .fields = head.fields,
                                 .count = head.count,
                                 .urgent = true,
                             });
    fl_http_head_deinit(&head);
    if (rc != FL_OK)
        fl_post_free(post);
    else
        fl_list_append(&client->posts, &post->node);
    return rc;
}

void fl_http_client_session_lost(fl_http_client *client)
{
    fl_error why;

    fl_error_set(&why, FL_E_CLOSED, "the server has forgotten the session");
    fl_http_client_down(client, &why, true);
}
