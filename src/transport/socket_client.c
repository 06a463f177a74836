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

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/connect.h"
#include "io/loop.h"
#include "io/tls.h"
#include "transport/defaults.h"
#include "transport/line_link.h"
#include "transport/redial.h"

#include <string.h>

typedef struct client_link {
    fl_line_link line;
    fl_line_settings settings;
    fl_address address;
    fl_tls *tls; /* or NULL */
    char *server_name;
    fl_stream_limits limits;
    fl_redial redial;
} client_link;

static void schedule(client_link *link);

static void dial(client_link *link)
{
    const fl_address *address = &link->address;
    fl_stream *stream;
    fl_status rc = fl_connect(link->line.link.loop,
                              &(fl_connect_options){
                                  .host = fl_address_host(address),
                                  .port = address->port,
                                  .path = fl_address_socket(address),
                                  .tls = link->tls,
                                  .server_name = link->server_name,
                                  .limits = link->limits,
                              },
                              &stream);

    if (rc == FL_OK) {
        fl_line_link_attach(&link->line, stream);
        return;
    }
    fl_error_set(&link->redial.last, rc, "cannot connect: %s",
                 fl_status_text(rc));
    if (fl_link_move(&link->line.link, FL_LINK_DISCONNECTED) == FL_OK)
        schedule(link);
}

/* Tries again in a while, or gives up. */
static void schedule(client_link *link)
{
    fl_line_link *line = &link->line;

    if (fl_redial_wait(&link->redial, &line->link, &line->timer) != FL_OK)
        fl_line_link_fail(line, &link->redial.last);
}

static void on_retry(fl_line_link *line)
{
    if (fl_link_move(&line->link, FL_LINK_CONNECTING) == FL_OK)
        dial((client_link *)line);
}

static fl_status send_kept(client_link *link)
{
    fl_span lines = fl_buf_view(&link->redial.unsent);

    if (lines.len == 0)
        return FL_OK;
    fl_status rc = fl_stream_write_urgent(link->line.stream, &lines, 1);
    if (rc == FL_OK)
        fl_redial_sent(&link->redial);
    return rc;
}

static void on_active(fl_line_link *line)
{
    client_link *link = (client_link *)line;
    fl_error *last = &link->redial.last;

    fl_status rc = send_kept(link);
    if (rc == FL_OK) {
        fl_redial_tell(&link->redial, &line->link);
        return;
    }
    fl_error_set(last, rc, "cannot send what was kept: %s", fl_status_text(rc));
    fl_line_link_fail(line, last);
}

static void on_lost(fl_line_link *line, const fl_error *why)
{
    client_link *link = (client_link *)line;
    bool was_active = line->link.state == FL_LINK_ACTIVE;

    fl_redial_lost(&link->redial, &line->link, why);
    if (!link->redial.reconnects) {
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
    return fl_redial_keep(&((client_link *)line)->redial, parts, count);
}

static void free_link(fl_line_link *line)
{
    client_link *link = (client_link *)line;

    fl_redial_deinit(&link->redial);
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
    fl_redial_init(&link->redial, options);
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
