/*
 * socket_client.c - a link to a server on TCP, TLS or a Unix socket, that
 * outlives the connections it is made of.
 *
 *   CONNECTING -> ACTIVE -> DISCONNECTED -> (wait, doubling) -> CONNECTING
 *
 * Messages sent while there is no connection are kept, up to a limit, and
 * leave first when there is one again; then sending says busy. The first
 * connection counts as an attempt like any other, so that a server may start
 * after its client. An old stream is waited for until it is quite gone before
 * the next one is made: there is never more than one.
 */
#include "transport/socket.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/connect.h"
#include "io/loop.h"
#include "io/tls.h"
#include "transport/backoff.h"
#include "transport/defaults.h"
#include "transport/line_link.h"

#include <string.h>

enum { LASTING_MS = 5000 }; /* a connection that stood so long was a success */

typedef struct client_link {
    fl_line_link line;
    fl_line_settings settings;
    fl_address address;
    fl_tls *tls; /* or NULL */
    char *server_name;
    fl_stream_limits limits;
    fl_backoff backoff;
    bool reconnects;
    bool refused;  /* a send was told to wait for on_writable */
    fl_buf unsent; /* whole lines waiting for a connection */
    fl_error last; /* why the connection was lost or not made */
} client_link;

static void schedule(client_link *link);

static void dial(client_link *link)
{
    const fl_address *address = &link->address;
    fl_stream *stream;
    fl_status rc =
        fl_connect(link->line.link.loop,
                   &(fl_connect_options){
                       .host = address->host[0] != '\0' ? address->host : NULL,
                       .port = address->port,
                       .path = address->path[0] != '\0' ? address->path : NULL,
                       .tls = link->tls,
                       .server_name = link->server_name,
                       .limits = link->limits,
                   },
                   &stream);

    if (rc == FL_OK) {
        fl_line_link_attach(&link->line, stream);
        return;
    }
    fl_error_set(&link->last, rc, "cannot connect: %s", fl_status_text(rc));
    if (fl_link_move(&link->line.link, FL_LINK_DISCONNECTED) == FL_OK)
        schedule(link);
}

/* Tries again in a while, or gives up. */
static void schedule(client_link *link)
{
    uint64_t wait_ms;

    if (!link->reconnects ||
        fl_backoff_next(&link->backoff, &wait_ms) != FL_OK) {
        fl_line_link_fail(&link->line, &link->last);
        return;
    }
    fl_log_say(fl_loop_log(link->line.link.loop), FL_LOG_INFO, "reconnecting",
               fl_log_text("reason", fl_span_of(link->last.text)),
               fl_log_int("wait_ms", (int64_t)wait_ms));
    fl_timer_start(&link->line.timer, wait_ms);
}

static void on_retry(fl_line_link *line)
{
    if (fl_link_move(&line->link, FL_LINK_CONNECTING) == FL_OK)
        dial((client_link *)line);
}

static fl_status send_kept(client_link *link)
{
    fl_span lines = fl_buf_view(&link->unsent);

    if (lines.len == 0)
        return FL_OK;
    fl_status rc = fl_stream_write_urgent(link->line.stream, &lines, 1);
    if (rc == FL_OK)
        fl_buf_reset(&link->unsent);
    return rc;
}

static void on_active(fl_line_link *line)
{
    client_link *link = (client_link *)line;
    fl_link *self = &line->link;

    fl_status rc = send_kept(link);
    if (rc != FL_OK) {
        fl_error_set(&link->last, rc, "cannot send what was kept: %s",
                     fl_status_text(rc));
        fl_line_link_fail(line, &link->last);
        return;
    }
    if (self->events->on_open != NULL)
        self->events->on_open(self);
    if (!link->refused || self->state != FL_LINK_ACTIVE)
        return;
    link->refused = false;
    if (self->events->on_writable != NULL)
        self->events->on_writable(self);
}

/* A server that takes connections only to drop them is as good as none: its
 * clients wait longer each time, too. */
static bool lasted(const client_link *link)
{
    const fl_link *self = &link->line.link;
    uint64_t enough =
        link->backoff.max_ms < LASTING_MS ? link->backoff.max_ms : LASTING_MS;

    return fl_loop_now(self->loop) - self->stats.opened_ms >= enough;
}

static void on_lost(fl_line_link *line, const fl_error *why)
{
    client_link *link = (client_link *)line;
    bool was_active = line->link.state == FL_LINK_ACTIVE;

    link->last = *why;
    if (was_active && lasted(link))
        fl_backoff_reset(&link->backoff);
    if (!link->reconnects) {
        fl_line_link_fail(line, why);
        return;
    }
    if (fl_link_move(&line->link, FL_LINK_DISCONNECTED) != FL_OK)
        return;
    fl_stream_close(line->stream);
    if (was_active && line->link.events->on_down != NULL)
        line->link.events->on_down(&line->link, why);
}

static void on_stream_gone(fl_line_link *line)
{
    client_link *link = (client_link *)line;

    if (line->link.state == FL_LINK_CLOSING)
        fl_line_link_end(line);
    else
        schedule(link);
}

static fl_status on_unsent(fl_line_link *line, const fl_span *parts,
                           size_t count)
{
    client_link *link = (client_link *)line;
    size_t before = fl_buf_len(&link->unsent);
    fl_status rc = FL_OK;

    for (size_t i = 0; i < count && rc == FL_OK; i++)
        rc = fl_buf_append(&link->unsent, parts[i]);
    if (rc == FL_OK)
        rc = fl_buf_append(&link->unsent, FL_SPAN("\n"));
    if (rc == FL_OK) {
        size_t after = fl_buf_len(&link->unsent);
        fl_line_link_join(link->unsent.ptr + link->unsent.start + before,
                          after - before - 1);
        return FL_OK;
    }
    fl_buf_truncate(&link->unsent, before);
    if (rc != FL_E_TOO_BIG)
        return rc;
    link->refused = true;
    return FL_BUSY;
}

static void free_link(fl_line_link *line)
{
    client_link *link = (client_link *)line;

    fl_buf_reset(&link->unsent);
    fl_tls_unref(link->tls);
    fl_mem_free(link->server_name);
    fl_mem_free(link);
}

static const fl_line_hooks client_hooks = {
    .on_active = on_active,
    .on_lost = on_lost,
    .on_stream_gone = on_stream_gone,
    .on_unsent = on_unsent,
    .on_retry = on_retry,
    .free = free_link,
};

static fl_status make_tls(client_link *link, const fl_options *options,
                          fl_error *error)
{
    if (strcmp(link->address.scheme, "tls") != 0)
        return FL_OK;
    if (options->tls.server_name != NULL) {
        link->server_name = fl_mem_string(fl_span_of(options->tls.server_name));
        if (link->server_name == NULL)
            return fl_error_set(error, FL_E_NOMEM, "out of memory");
    }
    return fl_tls_new_client(
        &(fl_tls_options){
            .cert_file = options->tls.cert_file,
            .key_file = options->tls.key_file,
            .ca_file = options->tls.ca_file,
            .insecure_skip_verify = options->tls.insecure_skip_verify,
        },
        &link->tls, error);
}

fl_status fl_socket_connect(fl_loop *loop, const fl_address *address,
                            const fl_options *options,
                            const fl_link_events *events, void *user,
                            fl_link **out, fl_error *error)
{
    client_link *link = fl_mem_zalloc(sizeof *link);

    if (link == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    link->settings = fl_line_settings_from(options);
    link->address = *address;
    link->limits = fl_options_limits(options);
    link->reconnects = !options->no_reconnect;
    link->backoff = (fl_backoff){
        .first_ms = options->reconnect_first_ms,
        .max_ms = options->reconnect_max_ms,
        .attempts = options->reconnect_attempts,
    };
    /* what was kept must fit into the new stream's buffer in one piece */
    size_t room = options->high_water + options->max_message;
    fl_buf_init(&link->unsent,
                options->outage_queue < room ? options->outage_queue : room);
    fl_line_link_init(&link->line, fl_socket_transport(address), loop, false,
                      &client_hooks, &link->settings);
    link->line.link.events = events;
    link->line.link.user = user;

    fl_status rc = make_tls(link, options, error);
    if (rc != FL_OK) {
        fl_link_unref(&link->line.link);
        return rc;
    }
    *out = &link->line.link;
    rc = fl_link_move(&link->line.link, FL_LINK_CONNECTING);
    dial(link);
    return rc;
}
