/*
 * ws_client.h - what a WebSocket client says before the load begins.
 */
#ifndef BENCH_WS_CLIENT_H
#define BENCH_WS_CLIENT_H

#include <stdbool.h>

/*
 * Both on a blocking socket to `address`, HOST:PORT. False when the server
 * closed the connection, refused or did not answer within thirty seconds.
 */

/* GET /mcp and its answer, 101. No extension and no subprotocol is offered. */
bool ws_open(int fd, const char *address);

/* initialize, its answer, notifications/initialized. */
bool ws_greet(int fd);

#endif
