/*
 * broadcast.c - a server that speaks first: messages to many sessions.
 *
 *     broadcast PORT SESSIONS RATE MESSAGES
 *
 * It serves http://127.0.0.1:PORT/mcp with the library's own listener, and
 * answers initialize and nothing else. Two seconds after the last of SESSIONS
 * clients has said that it is there, it sends MESSAGES notifications, RATE a
 * second, to one session after the other; they go out on the standing streams
 * that the clients have opened by then. At the end it prints
 *
 *     {"sent":N,"busy":N,"failed":N,"seconds":S,"cpu_us":PER_MESSAGE}
 *
 * and goes on serving. The demo has no reason to speak first, and a gateway
 * that relays would measure two things at once.
 */
#include "client.h"
#include "io/timer.h"
#include "mark.h"
#include "request.h"
#include "transport/link.h"

#include "base/span.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETTLE_MS = 2000, TICK_MS = 1 };

typedef struct client {
    fl_link *link; /* NULL once it has gone */
    uint64_t sent;
} client;

typedef struct stage {
    fl_loop *loop;
    fl_timer timer;
    client *clients;
    size_t count, room, ready;
    size_t turn; /* whose message is the next */
    uint64_t rate, messages;
    uint64_t begin, cpu_begin; /* ns */
    uint64_t sent, busy, failed;
} stage;

static const char welcome[] =
    ",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
    "{\"logging\":{}},\"serverInfo\":{\"name\":\"broadcast\","
    "\"version\":\"1\"}}}";

static void answer(const fl_msg *msg, fl_reply reply)
{
    const fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        msg->id,
        {welcome, sizeof welcome - 1},
    };

    if (fl_reply_end(reply, parts, 3) != FL_OK)
        die("initialize could not be answered");
}

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    stage *self = link->user;

    if (msg->kind == FL_MSG_REQUEST) {
        answer(msg, reply);
        return;
    }
    if (fl_msg_method_is(msg, FL_SPAN("notifications/initialized")) &&
        ++self->ready == self->room)
        fl_timer_start(&self->timer, SETTLE_MS);
}

static void on_closed(fl_link *link, const fl_error *why)
{
    stage *self = link->user;

    (void)why;
    for (size_t i = 0; i < self->count; i++)
        if (self->clients[i].link == link)
            self->clients[i].link = NULL;
}

static const fl_link_events link_events = {
    .on_message = on_message,
    .on_closed = on_closed,
};

static void on_link(fl_listener *listener, fl_link *link, void *user)
{
    stage *self = user;

    (void)listener;
    if (self->count == self->room) {
        fl_link_close(link);
        return;
    }
    link->events = &link_events;
    link->user = self;
    self->clients[self->count++].link = link;
}

static void on_listener_closed(fl_listener *listener, void *user)
{
    (void)listener;
    (void)user;
}

static const fl_listener_events listener_events = {
    .on_link = on_link,
    .on_closed = on_listener_closed,
};

static void send_one(stage *self)
{
    client *to = &self->clients[self->turn];
    char mark[MARK_SIZE + 1];
    fl_status rc = FL_E_STATE;

    self->turn = (self->turn + 1) % self->room;
    mark_write(mark, to->sent + 1, now_ns());
    const fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
                "\"params\":{\"level\":\"info\",\"data\":\""),
        {mark, MARK_SIZE},
        FL_SPAN("\"}}"),
    };
    if (to->link != NULL)
        rc = fl_link_send(to->link, parts, 3);
    self->sent += rc == FL_OK;
    to->sent += rc == FL_OK;
    self->busy += rc == FL_BUSY;
    self->failed += rc < 0;
}

static void report(const stage *self)
{
    double cpu = (double)(cpu_ns(getpid()) - self->cpu_begin);
    double sent = self->sent > 0 ? (double)self->sent : 1;

    printf("{\"sent\":%" PRIu64 ",\"busy\":%" PRIu64 ",\"failed\":%" PRIu64
           ",\"seconds\":%.3f,\"cpu_us\":%.3f}\n",
           self->sent, self->busy, self->failed,
           (double)(now_ns() - self->begin) / 1e9, cpu / sent / 1e3);
    fflush(stdout);
}

static void on_tick(fl_timer *timer)
{
    stage *self = FL_LIST_ENTRY(timer, stage, timer);

    if (self->begin == 0) {
        self->begin = now_ns();
        self->cpu_begin = cpu_ns(getpid());
    }
    uint64_t due = (now_ns() - self->begin) * self->rate / 1000000000U;
    if (due > self->messages)
        due = self->messages;
    while (self->sent + self->busy + self->failed < due)
        send_one(self);
    if (due < self->messages)
        fl_timer_start(timer, TICK_MS);
    else
        report(self);
}

static void listen_on(stage *self, unsigned port)
{
    unsigned room = (unsigned)self->room + 100;
    fl_options options = {
        .max_connections = room,
        .http.max_connections_per_address = room,
        .http.max_sessions = room,
        .http.max_sessions_per_address = room,
    };
    char url[64];
    fl_listener *listener;
    fl_error error;

    snprintf(url, sizeof url, "http://127.0.0.1:%u/mcp", port);
    errno = 0;
    if (fl_link_listen(self->loop, url, &options, &listener_events, self,
                       &listener, &error) != FL_OK)
        die("%s", error.text);
}

int main(int argc, char **argv)
{
    stage self = {0};

    errno = 0;
    if (argc != 5)
        die("usage: broadcast PORT SESSIONS RATE MESSAGES");
    self.room = number_of("SESSIONS", argv[2], 1);
    self.rate = number_of("RATE", argv[3], 1);
    self.messages = number_of("MESSAGES", argv[4], 1);
    self.clients = must_have(calloc(self.room, sizeof *self.clients));
    self.loop = must_have(fl_loop_new());
    fl_timer_init(&self.timer, self.loop, on_tick);
    raise_file_limit();
    listen_on(&self, (unsigned)number_of("PORT", argv[1], 1));
    fl_loop_run(self.loop);
    return 0;
}
