/*
 * http_impl.h - what the two versions of HTTP share behind http.h.
 *
 * http.c owns the front door: it makes nothing and knows nothing but which
 * table of functions a connection has. A version embeds fl_http as the first
 * member of its connection and fl_exchange as the first member of its
 * exchange, and fills an fl_http_ops.
 */
#ifndef FL_WIRE_HTTP_IMPL_H
#define FL_WIRE_HTTP_IMPL_H

#include "wire/http.h"

/* The statuses that have a name here, and their names (RFC 9110 15). */
#define FL_HTTP_REASON_MAP(X)                                                  \
    X(100, "Continue")                                                         \
    X(101, "Switching Protocols")                                              \
    X(200, "OK")                                                               \
    X(201, "Created")                                                          \
    X(202, "Accepted")                                                         \
    X(204, "No Content")                                                       \
    X(206, "Partial Content")                                                  \
    X(301, "Moved Permanently")                                                \
    X(302, "Found")                                                            \
    X(303, "See Other")                                                        \
    X(304, "Not Modified")                                                     \
    X(307, "Temporary Redirect")                                               \
    X(308, "Permanent Redirect")                                               \
    X(400, "Bad Request")                                                      \
    X(401, "Unauthorized")                                                     \
    X(403, "Forbidden")                                                        \
    X(404, "Not Found")                                                        \
    X(405, "Method Not Allowed")                                               \
    X(406, "Not Acceptable")                                                   \
    X(408, "Request Timeout")                                                  \
    X(409, "Conflict")                                                         \
    X(410, "Gone")                                                             \
    X(411, "Length Required")                                                  \
    X(412, "Precondition Failed")                                              \
    X(413, "Content Too Large")                                                \
    X(414, "URI Too Long")                                                     \
    X(415, "Unsupported Media Type")                                           \
    X(417, "Expectation Failed")                                               \
    X(421, "Misdirected Request")                                              \
    X(422, "Unprocessable Content")                                            \
    X(425, "Too Early")                                                        \
    X(426, "Upgrade Required")                                                 \
    X(428, "Precondition Required")                                            \
    X(429, "Too Many Requests")                                                \
    X(431, "Request Header Fields Too Large")                                  \
    X(500, "Internal Server Error")                                            \
    X(501, "Not Implemented")                                                  \
    X(502, "Bad Gateway")                                                      \
    X(503, "Service Unavailable")                                              \
    X(504, "Gateway Timeout")                                                  \
    X(505, "HTTP Version Not Supported")                                       \
    X(507, "Insufficient Storage")                                             \
    X(511, "Network Authentication Required")

/* Each does what the function of that name in http.h says. NULL where a
 * connection or exchange of this kind has no such thing is for http.c to see:
 * `shut`, `request`, `respond`, `answer` and `pending` may be NULL. */
typedef struct fl_http_ops {
    void (*free)(fl_http *http);
    void (*feed)(fl_http *http, fl_span bytes);
    void (*end_input)(fl_http *http);
    void (*drained)(fl_http *http);
    void (*lose)(fl_http *http, const fl_error *why);
    void (*shut)(fl_http *http);          /* NULL: on a client, does nothing */
    bool (*in_head)(const fl_http *http); /* NULL: false */
    /* NULL: false */
    bool (*give_up)(fl_http *http, unsigned status, const char *what);
    size_t (*open)(const fl_http *http);
    bool (*available)(const fl_http *http); /* NULL: on a server, false */
    size_t (*memory)(const fl_http *http);
    size_t (*waiting)(const fl_http *http);            /* NULL: 0 */
    size_t (*look_for_stuck)(fl_http *http, bool end); /* NULL: 0 */

    /* NULL: on a server, FL_E_STATE. The heading has been checked. */
    fl_status (*request)(fl_http *http, const fl_heading *heading,
                         void *exchange_user, fl_exchange **out);
    /* NULL: on a server, FL_E_STATE. The same, and its length is that of the
     * body. */
    fl_status (*ask)(fl_http *http, const fl_heading *heading, fl_span body,
                     void *exchange_user, fl_exchange **out);
    /* NULL: on a client, FL_E_STATE. The heading has been checked. */
    fl_status (*respond)(fl_exchange *exchange, const fl_heading *heading);
    fl_status (*send)(fl_exchange *exchange, const fl_span *parts, size_t count,
                      bool urgent);
    void (*finish)(fl_exchange *exchange);
    /* NULL: respond, send (urgent) and finish, one after the other. The
     * heading has been checked, and its length is that of the parts. */
    fl_status (*answer)(fl_exchange *exchange, const fl_heading *heading,
                        const fl_span *parts, size_t count);
    void (*reset)(fl_exchange *exchange);
    void (*pause)(fl_exchange *exchange, bool paused);
    void (*drain_at)(fl_exchange *exchange, size_t level); /* or NULL */
    size_t (*pending)(const fl_exchange *exchange);        /* NULL: 0 */
    const fl_head *(*head)(const fl_exchange *exchange);
    bool (*is_ending)(const fl_exchange *exchange);
} fl_http_ops;

/* The common part of a connection; first member of every kind of it. */
struct fl_http {
    const fl_http_ops *ops;
    const fl_http_events *events;
    void *user;                   /* of the events */
    const fl_http_limits *limits; /* filled; shared by many connections */
    bool was_cut;                 /* fl_http_was_cut() */
};

/* The common part of an exchange; first member of every kind of it. */
struct fl_exchange {
    fl_http *http;
    void *user; /* fl_exchange_set_user() */
};

/* Fills the common part. */
void fl_http_init(fl_http *http, const fl_http_ops *ops,
                  const fl_http_options *options);

/* One constructor per kind; fl_http_new() chooses. `options->version` and
 * `options->client` have been looked at; HTTP/2 looks at `client` itself. */
FL_MUST_USE fl_status fl_http1_server_new(const fl_http_options *options,
                                          fl_http **out);
FL_MUST_USE fl_status fl_http1_client_new(const fl_http_options *options,
                                          fl_http **out);
FL_MUST_USE fl_status fl_http2_new(const fl_http_options *options,
                                   fl_http **out);

/* Whether a heading may be sent: its own fields are tokens in lower case with
 * clean values, and for a request method, target and authority are clean,
 * too. What is in `common` and `own` was checked when it was prepared. */
bool fl_heading_ok(const fl_heading *heading, bool request);

#endif
