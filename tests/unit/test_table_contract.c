/*
 * test_table_contract.c - what every transport promises, asked of every row.
 *
 * The scenarios are written once, against link.h. For each row of the table a
 * server is made on an address of that row, and a client link to it; the
 * server answers what it is asked (see `serve`). stdio has its server in a
 * child: this same program, started with --serve.
 *
 * A row without an entry in `places` fails the test: a new transport is
 * tested before anyone writes a test for it.
 */
#include "base/span.h"
#include "io/loop.h"
#include "io/timer.h"
#include "support/process.h"
#include "support/ration.h"
#include "transport/transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT = 4096, HIGH_WATER = 16 * 1024, PATIENCE_MS = 10000 };

static char self[4096];

/* The server. It answers with the params it got, except for a few methods. */

struct server {
    fl_listener *listener;
    fl_link *link;
    int links, links_closed, listener_closed;
    fl_status why;
};

static void answer(fl_reply reply, fl_span id, fl_span result)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), id,
                       FL_SPAN(",\"result\":"), result, FL_SPAN("}")};
    assert_int_equal(fl_reply_end(reply, parts, 5), FL_OK);
}

static void serve(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    fl_span note = FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"note\"}");

    if (msg->kind != FL_MSG_REQUEST)
        return;
    if (fl_msg_method_is(msg, FL_SPAN("leave"))) {
        answer(reply, msg->id, FL_SPAN("true"));
        fl_link_close(link);
    } else if (fl_msg_method_is(msg, FL_SPAN("note-first"))) {
        assert_int_equal(fl_reply_send(reply, &note, 1), FL_OK);
        answer(reply, msg->id, FL_SPAN("true"));
    } else if (fl_msg_method_is(msg, FL_SPAN("pretty"))) {
        answer(reply, msg->id, FL_SPAN("{\n\r\n \"a\": 1\n}"));
    } else {
        answer(reply, msg->id,
               msg->params.len > 0 ? msg->params : FL_SPAN("null"));
    }
}

static void on_server_link_closed(fl_link *link, const fl_error *why)
{
    struct server *server = link->user;

    assert_int_equal(link->state, FL_LINK_CLOSED);
    server->links_closed++;
    server->why = why->status;
    if (server->link == link) /* behind HTTP there are several */
        server->link = NULL;
}

static const fl_link_events server_link_events = {
    .on_message = serve,
    .on_closed = on_server_link_closed,
};

static void on_link(fl_listener *listener, fl_link *link, void *user)
{
    struct server *server = user;

    (void)listener;
    assert_int_equal(link->state, FL_LINK_ACTIVE);
    assert_true(link->server);
    link->events = &server_link_events;
    link->user = server;
    server->link = link;
    server->links++;
}

static void on_listener_closed(fl_listener *listener, void *user)
{
    (void)listener;
    ((struct server *)user)->listener_closed++;
}

static const fl_listener_events listener_events = {
    .on_link = on_link,
    .on_closed = on_listener_closed,
};

static fl_options server_options(void)
{
    return (fl_options){.max_message = LIMIT, .high_water = HIGH_WATER};
}

/* --serve: the server side of the stdio row. */
static int serve_stdio(void)
{
    fl_loop *loop = fl_loop_new();
    struct server server = {0};
    fl_options options = server_options();
    fl_error error;

    if (fl_link_listen(loop, "stdio:", &options, &listener_events, &server,
                       &server.listener, &error) != FL_OK)
        return 1;
    while (server.links_closed == 0)
        fl_loop_step(loop), usleep(200);
    fl_listener_close(server.listener);
    fl_loop_run(loop);
    fl_loop_free(loop);
    return server.listener_closed == 1 ? 0 : 1;
}

/* The client. */

struct client {
    fl_loop *loop;
    fl_link *link;
    struct server server;
    int opened, closed, writable, messages, notes;
    bool close_in_open, close_in_message;
    fl_status why;
    char last[2 * LIMIT];
    char last_id[64];
};

static void on_open(fl_link *link)
{
    struct client *client = link->user;

    assert_int_equal(link->state, FL_LINK_ACTIVE);
    client->opened++;
    if (client->close_in_open)
        fl_link_close(link);
}

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    struct client *client = link->user;

    (void)reply;
    assert_int_equal(client->closed, 0);
    if (msg->kind == FL_MSG_NOTIFICATION)
        client->notes++;
    else
        client->messages++;
    snprintf(client->last, sizeof client->last, "%.*s", (int)msg->text.len,
             msg->text.ptr);
    snprintf(client->last_id, sizeof client->last_id, "%.*s", (int)msg->id.len,
             msg->id.len > 0 ? msg->id.ptr : "");
    if (client->close_in_message)
        fl_link_close(link);
}

static void on_writable(fl_link *link)
{
    ((struct client *)link->user)->writable++;
}

static void on_closed(fl_link *link, const fl_error *why)
{
    struct client *client = link->user;

    assert_int_equal(link->state, FL_LINK_CLOSED);
    client->closed++;
    client->why = why->status;
}

static const fl_link_events client_events = {
    .on_open = on_open,
    .on_message = on_message,
    .on_writable = on_writable,
    .on_closed = on_closed,
};

/* How to get a server and an address for it, by the row's name. */
struct place {
    const char *name;
    const char *listen;  /* NULL: the server is a child of ours */
    const char *connect; /* with the port that was bound; NULL: as `listen` */
};

static char unix_url[128];

static const struct place places[] = {
    {"stdio", NULL, NULL},
    {"tcp", "tcp://127.0.0.1:0", "tcp://127.0.0.1:%u"},
    {"unix", unix_url, NULL},
    {"http", "http://127.0.0.1:0/mcp", "http://127.0.0.1:%u/mcp"},
    {"sse", "sse+http://127.0.0.1:0/sse", "sse+http://127.0.0.1:%u/sse"},
    {"ws", "ws://127.0.0.1:0/mcp", "ws://127.0.0.1:%u/mcp"},
};

static const struct place *place_of(const fl_transport *row)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].name, row->name) == 0)
            return &places[i];
    fail_msg("transport '%s' has no place in the contract test", row->name);
    abort(); /* the compiler does not know that fail_msg() never returns */
}

static void turn_until(struct client *client, const int *count, int wanted)
{
    uint64_t patience = (uint64_t)stretched(PATIENCE_MS);
    uint64_t end = fl_loop_now(client->loop) + patience;

    while (*count < wanted) {
        fl_loop_step(client->loop);
        usleep(100);
        if (fl_loop_now(client->loop) > end)
            fail_msg("%s: waited in vain (%d of %d)",
                     client->link != NULL ? client->link->transport->name : "?",
                     *count, wanted);
    }
}

static void connect_client(struct client *client, const struct place *place)
{
    const char *argv[] = {self, "--serve", NULL};
    fl_options options = {
        .max_message = LIMIT,
        .high_water = HIGH_WATER,
        .no_reconnect = true,
        .child = {.argv = argv, .stop_grace_ms = 3000},
    };
    fl_error error;
    char url[160];

    snprintf(url, sizeof url, "%s", place->listen != NULL ? place->listen : "");
    if (place->connect != NULL) {
        int n = snprintf(url, sizeof url, "%.*s%u",
                         (int)strcspn(place->connect, "%"), place->connect,
                         client->server.listener->port);
        snprintf(url + n, sizeof url - (size_t)n, "%s",
                 strchr(place->connect, '%') + 2);
    }
    assert_int_equal(fl_link_connect(client->loop, url[0] != '\0' ? url : NULL,
                                     &options, &client_events, client,
                                     &client->link, &error),
                     FL_OK);
    assert_int_equal(client->opened, 0); /* never from inside the call */
    fl_link_ref(client->link);
}

static void begin(struct client *client, const fl_transport *row)
{
    const struct place *place = place_of(row);
    fl_options options = server_options();
    fl_error error;

    *client = (struct client){.loop = fl_loop_new()};
    assert_non_null(client->loop);
    if (place->listen != NULL)
        assert_int_equal(fl_link_listen(client->loop, place->listen, &options,
                                        &listener_events, &client->server,
                                        &client->server.listener, &error),
                         FL_OK);
    connect_client(client, place);
}

static void finish(struct client *client)
{
    struct server *server = &client->server;

    fl_link_close(client->link);
    turn_until(client, &client->closed, 1);
    fl_link_close(client->link); /* harmless */
    if (server->listener != NULL) {
        if (server->link != NULL)
            fl_link_close(server->link);
        fl_listener_close(server->listener);
        turn_until(client, &server->listener_closed, 1);
        turn_until(client, &server->links_closed, server->links);
    }
    fl_loop_run(client->loop);
    assert_int_equal(client->closed, 1);
    assert_int_equal(server->links_closed, server->links);
    fl_link_unref(client->link);
    fl_loop_free(client->loop);
}

static void request(struct client *client, const char *text)
{
    fl_span span = fl_span_of(text);
    int before = client->messages;

    assert_int_equal(fl_link_send(client->link, &span, 1), FL_OK);
    turn_until(client, &client->messages, before + 1);
}

static void for_each_row(void (*scenario)(struct client *client))
{
    for (const fl_transport *const *row = fl_transport_table(); *row != NULL;
         row++) {
        ptrdiff_t blocks = ration_live_blocks();
        struct client client;
        begin(&client, *row);
        scenario(&client);
        finish(&client);
        if (ration_live_blocks() != blocks)
            fail_msg("%s: %td blocks leaked", (*row)->name,
                     ration_live_blocks() - blocks);
    }
}

static void ask_and_be_answered(struct client *client)
{
    fl_link_info info;

    turn_until(client, &client->opened, 1);
    request(client, "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\",\"method\":\"m\","
                    "\"params\":{\"n\":1.50}}");
    assert_string_equal(client->last,
                        "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\","
                        "\"result\":{\"n\":1.50}}");
    fl_link_get_info(client->link, &info);
    assert_string_equal(info.kind, client->link->transport->name);
    assert_int_equal(info.state, FL_LINK_ACTIVE);
    assert_int_equal(info.stats.messages_in, 1);
    assert_int_equal(info.stats.messages_out, 1);
    assert_int_equal(info.stats.errors, 0);
    assert_true(info.stats.bytes_in > 0 && info.stats.bytes_out > 0);
    assert_int_equal(info.buffered, 0);
}

static void test_table_every_row_carries_a_request(void **state)
{
    (void)state;
    for_each_row(ask_and_be_answered);
}

static void send_in_parts(struct client *client)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\","), FL_SPAN("\"id\":7,"),
                       FL_SPAN(""), FL_SPAN("\"method\":\"m\"}")};

    turn_until(client, &client->opened, 1);
    assert_int_equal(fl_link_send(client->link, parts, 4), FL_OK);
    turn_until(client, &client->messages, 1);
    assert_string_equal(client->last_id, "7");
}

static void test_table_every_row_joins_parts(void **state)
{
    (void)state;
    for_each_row(send_in_parts);
}

static void send_with_line_ends(struct client *client)
{
    turn_until(client, &client->opened, 1);
    request(client, "{\n\"jsonrpc\":\"2.0\",\r\n\"id\":1,\r\"method\":\"m\"}");
    assert_string_equal(client->last_id, "1");
    request(client, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"pretty\"}");
    assert_string_equal(client->last_id, "2");
    assert_int_equal(client->messages, 2);
}

static void test_table_every_row_keeps_a_message_in_one_piece(void **state)
{
    (void)state;
    for_each_row(send_with_line_ends);
}

static void hear_a_note_first(struct client *client)
{
    turn_until(client, &client->opened, 1);
    request(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"note-first\"}");
    assert_int_equal(client->notes, 1);
}

static void test_table_every_row_sends_notes_before_the_answer(void **state)
{
    (void)state;
    for_each_row(hear_a_note_first);
}

/* A request of exactly `size` bytes. */
static void ask_with_size(struct client *client, size_t size,
                          fl_status expected)
{
    char text[2 * LIMIT];
    int n = snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"y\":\"");

    memset(text + n, 'y', size - (size_t)n - 2);
    memcpy(text + size - 2, "\"}", 2);
    fl_span span = {text, size};
    assert_int_equal(fl_link_send(client->link, &span, 1), expected);
}

static void send_at_the_limit(struct client *client)
{
    turn_until(client, &client->opened, 1);
    ask_with_size(client, LIMIT, FL_OK);
    turn_until(client, &client->messages, 1);
    ask_with_size(client, LIMIT + 1, FL_E_TOO_BIG);
    request(client, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"m\"}");
    assert_string_equal(client->last_id, "2");
    assert_int_equal(client->link->stats.errors, 1);
}

static void test_table_every_row_refuses_one_past_the_limit(void **state)
{
    (void)state;
    for_each_row(send_at_the_limit);
}

static bool is_channel(const struct client *client)
{
    return (client->link->transport->traits & FL_LINK_CHANNEL) != 0 &&
           strcmp(client->link->transport->name, "sse") != 0;
}

static void be_busy(struct client *client)
{
    fl_span text = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}");
    int sent = 0;
    fl_status rc;

    turn_until(client, &client->opened, 1);
    /* what the system holds between the two comes on top of the mark */
    while ((rc = fl_link_send(client->link, &text, 1)) == FL_OK)
        sent++;
    assert_int_equal(rc, FL_BUSY);
    if (is_channel(client)) /* others count requests, not bytes */
        assert_true(sent >= (int)(HIGH_WATER / (text.len + 2)));
    turn_until(client, &client->writable, 1);
    turn_until(client, &client->messages, sent);
    assert_int_equal(fl_link_send(client->link, &text, 1), FL_OK);
    turn_until(client, &client->messages, sent + 1);
}

static void test_table_every_row_says_busy_and_then_writable(void **state)
{
    (void)state;
    for_each_row(be_busy);
}

static void close_at_once(struct client *client)
{
    fl_span text = FL_SPAN("{}");

    fl_link_close(client->link);
    assert_int_equal(client->closed, 0); /* always later */
    assert_int_equal(fl_link_send(client->link, &text, 1), FL_E_STATE);
    turn_until(client, &client->closed, 1);
    assert_int_equal(client->opened, 0);
    assert_int_equal(client->why, FL_OK);
}

static void test_table_every_row_closes_before_it_opened(void **state)
{
    (void)state;
    for_each_row(close_at_once);
}

static void close_when_opened(struct client *client)
{
    client->close_in_open = true;
    turn_until(client, &client->closed, 1);
    assert_int_equal(client->opened, 1);
}

static void test_table_every_row_closes_from_on_open(void **state)
{
    (void)state;
    for_each_row(close_when_opened);
}

static void close_when_told(struct client *client)
{
    fl_span text = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}");

    turn_until(client, &client->opened, 1);
    client->close_in_message = true;
    for (int i = 0; i < 10; i++) /* answers that arrive together */
        assert_int_equal(fl_link_send(client->link, &text, 1), FL_OK);
    turn_until(client, &client->closed, 1);
    assert_int_equal(client->messages, 1);
}

static void test_table_every_row_closes_from_on_message(void **state)
{
    (void)state;
    for_each_row(close_when_told);
}

static void send_and_close(struct client *client)
{
    fl_span text = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}");

    turn_until(client, &client->opened, 1);
    assert_int_equal(fl_link_send(client->link, &text, 1), FL_OK);
    fl_link_close(client->link);
    turn_until(client, &client->closed, 1);
    if (client->server.link != NULL)
        assert_int_equal(client->server.link->stats.messages_in, 1);
}

static void test_table_every_row_sends_what_it_accepted(void **state)
{
    (void)state;
    for_each_row(send_and_close);
}

static void be_left(struct client *client)
{
    turn_until(client, &client->opened, 1);
    request(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"leave\"}");
    if (strcmp(client->link->transport->name, "http") == 0)
        return; /* there is no connection that would end */
    turn_until(client, &client->closed, 1);
    assert_int_equal(client->why, FL_END);
}

static void test_table_every_row_sees_the_peer_leave(void **state)
{
    (void)state;
    for_each_row(be_left);
}

static void ask_for_the_unknown(struct client *client)
{
    fl_buf out;

    fl_buf_init(&out, 64);
    turn_until(client, &client->opened, 1);
    assert_int_equal(fl_link_operate(client->link, "fly", &out),
                     FL_E_UNSUPPORTED);
    fl_buf_reset(&out);
}

static void test_table_every_row_refuses_unknown_operations(void **state)
{
    (void)state;
    for_each_row(ask_for_the_unknown);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--serve") == 0)
        return serve_stdio();

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_every_row_carries_a_request),
        cmocka_unit_test(test_table_every_row_joins_parts),
        cmocka_unit_test(test_table_every_row_keeps_a_message_in_one_piece),
        cmocka_unit_test(test_table_every_row_sends_notes_before_the_answer),
        cmocka_unit_test(test_table_every_row_refuses_one_past_the_limit),
        cmocka_unit_test(test_table_every_row_says_busy_and_then_writable),
        cmocka_unit_test(test_table_every_row_closes_before_it_opened),
        cmocka_unit_test(test_table_every_row_closes_from_on_open),
        cmocka_unit_test(test_table_every_row_closes_from_on_message),
        cmocka_unit_test(test_table_every_row_sends_what_it_accepted),
        cmocka_unit_test(test_table_every_row_sees_the_peer_leave),
        cmocka_unit_test(test_table_every_row_refuses_unknown_operations),
    };
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n <= 0)
        return 1;
    snprintf(unix_url, sizeof unix_url, "unix:/tmp/fairlead-contract-%d.sock",
             (int)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
