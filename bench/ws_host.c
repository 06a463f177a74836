/*
 * ws_host.c - a WebSocket server of some lines, which pings as it is told.
 *
 *     ws_host PORT SOCKETS PING_MS
 *
 * It serves ws://127.0.0.1:PORT/mcp with the library's own listener and one
 * tool, echo, to as many sockets as it is told to expect. Pings every half
 * minute would make a measurement of them long, and the demo has no need for
 * others.
 */
#include "client.h"

#include <fairlead/loop.h>
#include <fairlead/server.h>

#include <errno.h>
#include <stdio.h>

static void echo(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(call, fl_call_text(call, "text"));
}

int main(int argc, char **argv)
{
    errno = 0;
    if (argc != 4)
        die("usage: ws_host PORT SOCKETS PING_MS");
    unsigned port = (unsigned)number_of("PORT", argv[1], 1);
    unsigned room = (unsigned)number_of("SOCKETS", argv[2], 1);
    fl_options options = {
        .max_connections = room + 100,
        .http.max_connections_per_address = room + 100,
        .http.max_sessions = room + 100,
        .ws.ping_ms = number_of("PING_MS", argv[3], 1),
    };
    fl_loop *loop = fl_loop_new();
    fl_server *server = fl_server_new("bench", "1");
    char url[64];
    fl_error error;

    snprintf(url, sizeof url, "ws://127.0.0.1:%u/mcp", port);
    raise_file_limit();
    if (loop == NULL || server == NULL ||
        fl_server_add_tool(server, &(fl_tool){.name = "echo", .call = echo}) !=
            FL_OK)
        die("memory");
    if (fl_server_listen(server, loop, url, &options, &error) != FL_OK)
        die("%s", error.text);
    fl_loop_run(loop);
    return 0;
}
