/*
 * http.c - the table rows of HTTP, and the kinds of links behind them.
 *
 * One row serves http:// and https://, one the HTTP+SSE of 2024 alone. What a
 * listener makes are links of three kinds: a session, a connection whose
 * requests know of no session, and an HTTP+SSE conversation. A client link is
 * one kind, for its server tells it which of these it is.
 */
#include "transport/http_client.h"
#include "transport/http_server.h"

static const char *const schemes[] = {"http", "https", NULL};
static const char *const sse_schemes[] = {"sse+http", "sse+https", NULL};
static const char *const none[] = {NULL};

extern const fl_transport fl_transport_http, fl_transport_sse;

#define SESSION                                                                \
    .send = fl_http_session_send, .answer = fl_http_session_answer,            \
    .field = fl_http_turn_field, .close = fl_http_session_close,               \
    .hang_up = fl_http_turn_hang_up, .retry = fl_http_turn_retry,              \
    .free = fl_http_session_free, .info = fl_http_session_info

#define STATELESS                                                              \
    .send = fl_http_stateless_send, .answer = fl_http_stateless_answer,        \
    .field = fl_http_turn_field, .close = fl_http_stateless_close,             \
    .retry = fl_http_turn_retry, .free = fl_http_stateless_free,               \
    .info = fl_http_stateless_info

#define CHANNEL                                                                \
    .send = fl_http_sse_send, .answer = fl_http_sse_answer,                    \
    .close = fl_http_sse_close, .free = fl_http_sse_free,                      \
    .info = fl_http_sse_info

const fl_transport fl_transport_http = {
    .name = "http",
    .schemes = schemes,
    .address = FL_ADDRESS_URL,
    .traits = FL_LINK_NETWORK | FL_LINK_RECONNECTS,
    .listen = fl_http_listen,
    .connect = fl_http_connect,
    .close_listener = fl_http_close_listener,
    .serve = fl_http_serve,
    SESSION,
};

const fl_transport fl_transport_sse = {
    .name = "sse",
    .schemes = sse_schemes,
    .address = FL_ADDRESS_URL,
    .traits = FL_LINK_NETWORK | FL_LINK_CHANNEL,
    .listen = fl_http_listen,
    .connect = fl_http_connect,
    .close_listener = fl_http_close_listener,
    .serve = fl_http_serve,
    CHANNEL,
};

const fl_transport fl_http_session_transport = {
    .name = "http",
    .schemes = none,
    .traits = FL_LINK_NETWORK,
    SESSION,
};

const fl_transport fl_http_stateless_transport = {
    .name = "http",
    .schemes = none,
    .traits = FL_LINK_NETWORK | FL_LINK_STATELESS,
    STATELESS,
};

const fl_transport fl_http_open_transport = {
    .name = "http",
    .schemes = none,
    .traits = FL_LINK_NETWORK | FL_LINK_STATELESS | FL_LINK_OPEN,
    STATELESS,
};

const fl_transport fl_http_sse_transport = {
    .name = "sse",
    .schemes = none,
    .traits = FL_LINK_NETWORK | FL_LINK_CHANNEL,
    CHANNEL,
};
