/*
 * address.h - where something is: a URL taken apart.
 *
 *   stdio:                 this process's stdin and stdout
 *   tcp://127.0.0.1:7332   lines over TCP; an IPv6 address in brackets
 *   tls://example.org:7333 the same inside TLS
 *   unix:/run/fairlead.sock, unix:@name (abstract)   lines
 *   unix:/run/fairlead.sock#/mcp    HTTP through a Unix socket; the host is
 *                                   localhost then
 *   https://example.org/mcp, http://127.0.0.1:8080/mcp?key=1
 *   sse+http://127.0.0.1:8080/sse   HTTP+SSE of 2024-11-05; sse+unix: too
 *   wss://example.org/mcp, ws://127.0.0.1:8080/mcp   WebSocket
 */
#ifndef FL_TRANSPORT_ADDRESS_H
#define FL_TRANSPORT_ADDRESS_H

#include <fairlead/types.h>

/* What comes after a scheme; each transport says what its own have. */
typedef enum fl_address_shape {
    FL_ADDRESS_BARE, /* nothing */
    FL_ADDRESS_HOST, /* //HOST:PORT */
    FL_ADDRESS_PATH,
    FL_ADDRESS_URL, /* //HOST[:PORT][/PATH][?QUERY] */
} fl_address_shape;

struct fl_address {
    char scheme[16]; /* "http" of HTTP through a Unix socket */
    char host[254];  /* without brackets; empty if it has none */
    uint16_t port;
    bool has_port;     /* it was given; without it `port` is the scheme's */
    char path[108];    /* sun_path is that long; empty if it has none */
    char target[1024]; /* of a URL: path and query; empty if it has none */
};
typedef struct fl_address fl_address;

/* FL_E_INVALID with a text that quotes the address and shows a right one. */
FL_MUST_USE fl_status fl_address_parse(const char *url, fl_address *address,
                                       fl_error *error);

/* Whether the scheme says TLS. */
bool fl_address_is_tls(const fl_address *address);

/* Whether it says WebSocket: ws, wss. */
bool fl_address_is_websocket(const fl_address *address);

/* Whether a right one says HTTP, by its text alone. */
bool fl_address_says_http(const char *url);

/* A loopback address by its text, or a Unix path; "localhost" counts. */
bool fl_address_is_local(const fl_address *address);

/* The path of its Unix socket, or NULL; and the host to look up, or NULL. */
const char *fl_address_socket(const fl_address *address);
const char *fl_address_host(const fl_address *address);

#endif
