/*
 * http_server.h - the inside of the HTTP server, for its own files only.
 *
 *   listener -> conn (one connection) -> turn (one request with its answer)
 *                                          |
 *                     session, stateless, sse: the links turns belong to
 *                     socket: the WebSocket a turn, or its conn, turns into
 *
 * What all of them share is the hub, which is counted: sessions live on after
 * their listener has closed. A turn is what fl_reply.stream points to. It may
 * lose its exchange (the client went) and, in a session whose revision can
 * resume, gain another; it ends when its reply has.
 */
#ifndef FL_TRANSPORT_HTTP_SERVER_H
#define FL_TRANSPORT_HTTP_SERVER_H

#include "base/index.h"
#include "base/list.h"
#include "base/map.h"
#include "guard/addresses.h"
#include "guard/budget.h"
#include "guard/keys.h"
#include "guard/origin.h"
#include "guard/rate.h"
#include "io/acceptor.h"
#include "io/timer.h"
#include "rpc/claim.h"
#include "rpc/revision.h"
#include "store/events.h"
#include "transport/transport.h"
#include "transport/ws_link.h"
#include "wire/deflate.h"
#include "wire/http.h"

#include <assert.h>

typedef struct fl_http_hub fl_http_hub;
typedef struct fl_http_conn fl_http_conn;
typedef struct fl_http_turn fl_http_turn;
typedef struct fl_http_session fl_http_session;
typedef struct fl_http_caller fl_http_caller;
typedef struct fl_http_backlog fl_http_backlog;

enum {
    FL_HTTP_ID = 22, /* letters, of six bits each; no NUL */
    FL_HTTP_REQUEST_ID = 65,
    FL_HTTP_ORIGIN = 128,
    FL_HTTP_EVENT_ID = 44, /* two 64-bit numbers, a hyphen, a NUL */
};

/* One client address, counted while it has anything open. What it has open
 * finds the hub by it. */
struct fl_http_caller {
    fl_http_hub *hub;
    unsigned connections;
    unsigned sessions;
    unsigned named; /* links that say `name` when asked who they are with */
    char name[48];
};

typedef struct fl_http_listener {
    fl_listener listener;
    fl_acceptor *acceptor; /* NULL once it has closed */
    fl_http_hub *hub;
} fl_http_listener;

/* What the last Accept meant. */
typedef struct fl_http_accept {
    size_t len;
    char text[128];
    bool json;
    bool events;
    bool events_first; /* both, and events are preferred */
} fl_http_accept;

struct fl_http_hub {
    fl_loop *loop;
    fl_http_listener *listener; /* NULL once it closes */
    fl_timer closer;            /* breaks off who stays too long */
    fl_http_listener *closing;  /* the same, until its last connection went */
    unsigned refs;
    fl_options options; /* checked; its strings are not ours, but for: */
    char *path;         /* the endpoint */
    char *sse_path;
    char *messages_path;
    char *socket_path; /* NULL: no sockets */
    char *health_path; /* NULL: nobody asks */
    char *base_url;    /* without a slash at its end; NULL: none */
    char *may_send;    /* lists of header names, for pages */
    char *may_read;
    fl_map endpoints; /* by base: the numbers of further ones */
    bool tls;
    bool serve_mcp;    /* http(s)://: the endpoint */
    bool sockets_only; /* ws(s)://; neither: HTTP+SSE alone */
    fl_http_limits limits;
    fl_http_accept accept;
    fl_origin *origin;
    fl_addresses *addresses; /* NULL: everybody */
    fl_rate *rate;           /* NULL: any number */
    fl_keys *keys;           /* NULL: none are needed */
    fl_keys_watch key_watch;
    fl_budget budget;
    fl_ws_link_settings sockets;
    fl_events *events;
    size_t logged;        /* bytes in their logs */
    fl_index sessions;    /* by id: fl_link, of either kind */
    fl_map callers;       /* by address: fl_http_caller */
    fl_list by_use;       /* sessions, the one longest unused first */
    fl_list conns;        /* that a listener waits for */
    fl_list yielded;      /* and those that are sockets by now */
    unsigned connections; /* that are served */
    unsigned refused;     /* that are only told so */
    fl_list spare;        /* turns that wait to be used again */
    unsigned spares;
    uint64_t turns;          /* ever, for request ids */
    char tag[9];             /* the same for all of them */
    uint64_t second;         /* that the date in these says: */
    fl_fields json_fields;   /* that go with every JSON answer */
    fl_fields empty_fields;  /* with every answer without a body */
    fl_fields stream_fields; /* with every event stream */
    fl_buf text;             /* to compose one event in */
    fl_http_turn *serving;   /* whose message is being delivered */
};

typedef enum fl_http_route {
    FL_HTTP_NOWHERE,
    FL_HTTP_ENDPOINT,
    FL_HTTP_SSE,
    FL_HTTP_MESSAGES,
    FL_HTTP_SOCKET,
    FL_HTTP_HEALTH,
} fl_http_route;

typedef enum fl_http_verb {
    FL_HTTP_POST,
    FL_HTTP_GET,
    FL_HTTP_DELETE,
} fl_http_verb;

typedef enum fl_http_phase {
    FL_HTTP_RECEIVING, /* the request is not whole yet */
    FL_HTTP_WAITING,   /* nothing has been said */
    FL_HTTP_STREAMING, /* events */
    FL_HTTP_ENDED,
} fl_http_phase;

/* What is known of a request until it is answered. A stream that has begun and
 * stays open for long does without. */
typedef struct fl_http_asked {
    fl_buf body;
    fl_span whole;       /* the body, if it came in one piece */
    size_t budgeted;     /* bytes taken from the budget */
    fl_inflate *inflate; /* NULL: nothing has been unpacked */
    fl_coding coding;    /* of the body */
    uint64_t principal;  /* of the key it came with */
    unsigned retry_s;    /* what a 503 says in Retry-After; 0: 1 */
    char id[FL_HTTP_REQUEST_ID];
    char origin[FL_HTTP_ORIGIN]; /* "": none was sent */
} fl_http_asked;

struct fl_http_turn {
    fl_list node;         /* in its conn, or among the spare */
    fl_list session_node; /* in its session, if it can be resumed */
    fl_http_hub *hub;
    fl_http_conn *conn;    /* NULL with `exchange` */
    fl_exchange *exchange; /* NULL: the client went */
    fl_link *link;         /* whose request it is; we hold a reference */
    fl_http_asked *asked;  /* NULL once the turn is a stream that has lasted */
    fl_timer timer;        /* whole body, first event, keep-alive */
    uint64_t stream;       /* the number of its event stream; 0: none, or the
                              standing one */
    uint64_t events;       /* how many it has had */
    uint16_t endpoint;     /* whose path it came by */
    uint8_t phase;         /* fl_http_phase */
    uint8_t route;         /* fl_http_route */
    uint8_t verb;          /* fl_http_verb */
    bool unpacked : 1;     /* the packed body is whole */
    bool in_one : 1;       /* the body may come in one piece, and stay */
    bool standing : 1;     /* the session's GET stream */
    bool replaying : 1;    /* what it missed is being said */
    bool unasked : 1;      /* its client named no event to go on from */
    bool initialize : 1;   /* its answer opens the session */
    bool told_retry : 1;   /* how long to wait before coming back */
    bool resumable : 1;    /* events have ids and are kept */
    bool gzip : 1;         /* the client takes packed bodies */
    bool dialect : 1;      /* result and complete events */
    bool prefers_events : 1; /* ... to JSON, even for an answer alone */
    bool socket : 1;         /* its link is a WebSocket, whose pipe it is */
};
static_assert(sizeof(fl_http_turn) <= 136, "a standing stream stays small");

/* http_hub.c */
FL_MUST_USE fl_status fl_http_hub_new(fl_loop *loop, const fl_address *address,
                                      const fl_options *options,
                                      fl_http_hub **out, fl_error *error);
fl_http_hub *fl_http_hub_ref(fl_http_hub *hub);
void fl_http_hub_unref(fl_http_hub *hub);
/* To be called before any of its fields are used: they have the date. */
void fl_http_hub_tick(fl_http_hub *hub);
/* The parts in one piece, in the hub's buffer; good until its next use. */
FL_MUST_USE fl_status fl_http_hub_join(fl_http_hub *hub, const fl_span *parts,
                                       size_t count, fl_span *whole);
/* An id nobody can guess. FL_E_IO: no random source. */
FL_MUST_USE fl_status fl_http_hub_mint(char id[FL_HTTP_ID]);
static inline fl_span fl_http_id(const char id[FL_HTTP_ID])
{
    return (fl_span){id, FL_HTTP_ID};
}
/* The counts of an address; NULL when there is no memory, or too many. */
fl_http_caller *fl_http_hub_caller(fl_http_hub *hub, const char *address);
/* To be called after each of its counts fell: it goes when all are 0. */
void fl_http_hub_let_go(fl_http_hub *hub, fl_http_caller *caller);

/* Why a connection is told, whatever it asks for, to come again later. */
typedef enum fl_http_turned_away {
    FL_HTTP_WELCOME,
    FL_HTTP_TOO_OFTEN,
    FL_HTTP_TOO_MANY, /* from its address */
    FL_HTTP_FULL,
} fl_http_turned_away;

/* http_conn.c: what an idle connection does not need hangs off it. */
struct fl_http_conn {
    fl_list node;
    fl_http_caller *caller; /* and by it a reference on the hub */
    fl_stream *stream;
    fl_http *http;  /* NULL until the version is known */
    fl_timer timer; /* lease, head, idle, held input */
    fl_list turns;
    fl_link *stateless;       /* for requests without a session: the first of
                                 one for each endpoint used; or NULL */
    fl_ws_link *socket;       /* has the stream now; or NULL */
    fl_http_backlog *backlog; /* NULL: none to speak of */
    uint64_t quiet_since;
    uint32_t retry_ms;  /* if it is to come again: when */
    uint8_t refusal;    /* fl_http_turned_away */
    uint8_t version;    /* of HTTP, once known */
    uint8_t prefaced;   /* until then: bytes of HTTP/2's preface that came */
    bool ended : 1;     /* the client has said all */
    bool leased : 1;    /* ... and its timer is for that no longer */
    bool shut : 1;      /* takes no more requests */
    bool heard : 1;     /* a request has come */
    bool in_head : 1;   /* part of one has: the timer is for that */
    bool past_head : 1; /* ... but that head is whole, or was refused */
    bool held : 1;      /* input waits in the codec */
    bool closing : 1;
};
static_assert(sizeof(fl_http_conn) <= 136, "an idle connection stays small");

/* Takes the stream. */
void fl_http_conn_open(fl_http_hub *hub, fl_stream *stream,
                       fl_http_caller *caller, fl_http_turned_away refusal,
                       uint64_t retry_ms);
/* Takes no more requests, and goes when what is open has ended. */
void fl_http_conn_shut(fl_http_conn *conn);
/* Tells every exchange, then goes. */
void fl_http_conn_break(fl_http_conn *conn, fl_status status, const char *text);
/* Somebody is still to be answered on it. */
bool fl_http_conn_is_busy(const fl_http_conn *conn);
/* All that is open on it are sockets, and there are some. */
bool fl_http_conn_has_sockets_only(const fl_http_conn *conn);
/* The stream is the socket's from here on, which tells when it has gone. Until
 * then the connection keeps its place, and does nothing. */
void fl_http_conn_yield(fl_http_conn *conn, fl_ws_link *socket);
void fl_http_conn_gone(fl_http_conn *conn);

/* http_backlog.c */
/* To be called when more, or less, may be waiting to leave. */
void fl_http_backlog_charge(fl_http_conn *conn);
void fl_http_backlog_clear(fl_http_conn *conn);

/* http_turn.c */
fl_http_turn *fl_http_turn_new(fl_http_conn *conn, fl_exchange *exchange);
/* Lets go of the body. */
void fl_http_turn_shed(fl_http_turn *turn);
/* ... and of all that was asked: its answer has begun, and may take long. */
void fl_http_turn_forget(fl_http_turn *turn);
/* The exchange is no longer there. The turn may be gone on return. */
void fl_http_turn_lost(fl_http_turn *turn, const fl_error *why);
/* Ends the stream on our side; its client comes back for the rest. */
void fl_http_turn_hang_up(fl_link *link, void *stream, uint64_t retry_ms);
/* Its answer is a refusal for so long. */
void fl_http_turn_retry(fl_link *link, void *stream, unsigned seconds);
/* The exchange is the codec's again. */
void fl_http_turn_let_go(fl_http_turn *turn);
/* It has ended, or was never delivered: gives everything back. */
void fl_http_turn_free(fl_http_turn *turn);
/* One of the spare ones goes for good. */
void fl_http_turn_discard(fl_http_turn *turn);
/* A whole answer with a JSON body, or none if `count` is 0. */
fl_status fl_http_turn_answer(fl_http_turn *turn, unsigned status,
                              const fl_field *more, size_t more_count,
                              const fl_span *parts, size_t count);
/* Becomes an event stream, if it is not one yet. */
FL_MUST_USE fl_status fl_http_turn_stream(fl_http_turn *turn);
/* One event. FL_BUSY: nothing was sent. */
FL_MUST_USE fl_status fl_http_turn_event(fl_http_turn *turn, fl_span id,
                                         fl_span type, const fl_span *parts,
                                         size_t count, bool urgent);
/* The id of its latest event; empty if its events have none. */
fl_span fl_http_turn_id(const fl_http_turn *turn, char text[FL_HTTP_EVENT_ID]);
/* Ends an event stream, or breaks it off. */
void fl_http_turn_finish(fl_http_turn *turn);
void fl_http_turn_break(fl_http_turn *turn);
/* The exchange of `fresh` is `running`'s from here on, and `fresh` goes. */
void fl_http_turn_adopt(fl_http_turn *running, fl_http_turn *fresh);
fl_span fl_http_turn_field(fl_link *link, void *stream, fl_span name);

/* http_reply.c: the functions of fl_transport for links whose replies are
 * turns. */
fl_status fl_http_turn_reply(fl_link *link, fl_http_turn *turn,
                             const fl_span *parts, size_t count);
fl_status fl_http_turn_end(fl_link *link, fl_http_turn *turn, int code,
                           const fl_span *parts, size_t count);

/* The message is delivered, and the turn is its reply. It may be gone on
 * return. */
void fl_http_turn_deliver(fl_http_turn *turn, fl_link *link, const fl_msg *msg);
/* What a dialect calls an event; "message" where there is none. `streamed` is
 * that of result and complete. */
fl_span fl_http_event_type(fl_http_hub *hub, bool streamed,
                           const fl_span *parts, size_t count);

/* http_refuse.c: an HTTP error with a JSON-RPC error in its body. The turn is
 * gone on return. */
typedef struct fl_http_refusal {
    unsigned status;
    int code;
    fl_span id; /* raw; empty: null */
    fl_span message;
    fl_span data;      /* JSON, or empty */
    fl_span allow;     /* for 405 */
    uint64_t retry_ms; /* for 429 and 503; 0: none */
    bool upgrade;      /* what to become instead: for 426 */
    fl_span challenge; /* for 401 */
} fl_http_refusal;
void fl_http_refuse(fl_http_turn *turn, const fl_http_refusal *refusal);
/* The same with a message alone. */
void fl_http_refuse_with(fl_http_turn *turn, unsigned status, int code,
                         const char *message);
/* ... and data of {"limit":N}. */
void fl_http_refuse_limit(fl_http_turn *turn, unsigned status, int code,
                          const char *message, uint64_t limit);

/* http_body.c: the same for its body. */
void fl_http_refuse_size(fl_http_turn *turn);
void fl_http_body_begin(fl_http_turn *turn, const fl_head *head);
void fl_http_body_add(fl_http_turn *turn, fl_span bytes);
void fl_http_body_end(fl_http_turn *turn);

/* http_endpoint.c: what a path means, and which of our endpoints it is of. */
fl_http_route fl_http_endpoint_find(fl_http_turn *turn, const fl_head *head);
/* What the paths of a further endpoint begin with; empty: it is the first. */
fl_span fl_http_endpoint_base(const fl_http_hub *hub, uint16_t endpoint);
fl_status fl_http_serve(fl_listener *listener, const char *base,
                        uint16_t endpoint, fl_error *error);

/* http_door.c: what pages are told of headers... */
FL_MUST_USE fl_status fl_http_door_prepare(fl_http_hub *hub);
/* ... and looks at the head of a request. If it is refused, or answered
 * already, the turn is gone on return. */
void fl_http_door_admit(fl_http_turn *turn, const fl_head *head);

/* http_keys.c: what the keys of a hub mean to it. */
void fl_http_keys_begin(fl_http_hub *hub, fl_keys *keys);
void fl_http_keys_end(fl_http_hub *hub);
/* Does it come with one? If not, it is refused, and the turn is gone. */
FL_MUST_USE bool fl_http_keys_admit(fl_http_turn *turn, const fl_head *head);
/* When all of it has come: the key is one still. False: it was refused. */
bool fl_http_keys_still(fl_http_turn *turn);

/* http_post.c: the request is whole. */
void fl_http_post(fl_http_turn *turn, const fl_head *head, fl_span body);
void fl_http_get(fl_http_turn *turn, const fl_head *head);
void fl_http_delete(fl_http_turn *turn, const fl_head *head);

/* http_session.c: a conversation of 2025-03-26 to 2025-11-25, and how it may
 * end. */
typedef enum fl_http_over {
    FL_HTTP_OVER_CLOSED,  /* by us */
    FL_HTTP_OVER_DELETED, /* by its client */
    FL_HTTP_OVER_REFUSED, /* initialize was */
    FL_HTTP_OVER_IDLE,
    FL_HTTP_OVER_EVICTED,
} fl_http_over;

struct fl_http_session {
    fl_link link;
    fl_list node;           /* in the hub, by use */
    fl_http_caller *caller; /* and by it a reference on the hub */
    fl_event_log *log;      /* NULL until there is something to keep */
    fl_list turns;          /* that have a stream; standing ones too */
    fl_timer timer;         /* idle, or the end */
    uint64_t principal;     /* whose it is */
    uint64_t streams;       /* numbers given out; 0 is the standing one */
    uint64_t said;          /* events on the standing stream, ever */
    size_t budgeted;
    unsigned waiting : 9;  /* of them, the latest, which went to no exchange */
    unsigned revision : 3; /* fl_revision_id, once initialize is answered */
    unsigned over : 3;     /* fl_http_over, while it is closing */
    bool busy : 1;         /* a send was refused: tell when there is room */
    char id[FL_HTTP_ID];
};
static_assert(sizeof(fl_http_session) <= 248, "an idle session stays small");
static_assert(FL_REVISION_2026_07_28 < 1 << 3, "... and can tell them apart");

/* FL_E_LIMIT: too many; FL_E_NOMEM, FL_E_IO. */
FL_MUST_USE fl_status fl_http_session_new(const fl_http_turn *turn,
                                          fl_http_session **out);
/* Delivers the message; the turn is its reply if it is a request. */
void fl_http_session_take(fl_http_session *session, fl_http_turn *turn,
                          const fl_msg *msg);
void fl_http_session_over(fl_http_session *session, fl_http_over why);
/* An event of this turn is to be kept, and gets its id. */
fl_status fl_http_session_keep(fl_http_session *session, fl_http_turn *turn,
                               const fl_span *parts, size_t count);
/* The answer to initialize passes by. False: there will be no session. */
FL_MUST_USE bool fl_http_session_opened(fl_http_session *session,
                                        fl_span answer);
/* One of its turns lost its exchange. */
void fl_http_session_lost(fl_http_session *session, fl_http_turn *turn);
/* There is room again on one of its streams. */
void fl_http_session_writable(fl_http_session *session);

fl_status fl_http_session_send(fl_link *link, void *stream,
                               const fl_span *parts, size_t count);
fl_status fl_http_session_answer(fl_link *link, void *stream, int code,
                                 const fl_span *parts, size_t count);
void fl_http_session_close(fl_link *link);
void fl_http_session_free(fl_link *link);
void fl_http_session_info(const fl_link *link, fl_link_info *info);

/* http_resume.c: opens or resumes an event stream; `last` is Last-Event-ID, or
 * empty. */
void fl_http_session_listen(fl_http_session *session, fl_http_turn *turn,
                            fl_span last);

/* http_stateless.c: requests that know of no other, on one connection. */
void fl_http_stateless_take(fl_http_turn *turn, const fl_msg *msg);
/* The connection has gone. */
void fl_http_stateless_gone(fl_http_conn *conn);
fl_status fl_http_stateless_send(fl_link *link, void *stream,
                                 const fl_span *parts, size_t count);
fl_status fl_http_stateless_answer(fl_link *link, void *stream, int code,
                                   const fl_span *parts, size_t count);
void fl_http_stateless_close(fl_link *link);
void fl_http_stateless_free(fl_link *link);
void fl_http_stateless_info(const fl_link *link, fl_link_info *info);

/* http_sse.c: HTTP+SSE of 2024-11-05. */
void fl_http_sse_open(fl_http_turn *turn);
void fl_http_sse_take(fl_link *link, fl_http_turn *turn, const fl_msg *msg);
void fl_http_sse_lost(fl_link *link);
void fl_http_sse_writable(fl_link *link);
fl_status fl_http_sse_send(fl_link *link, void *stream, const fl_span *parts,
                           size_t count);
fl_status fl_http_sse_answer(fl_link *link, void *stream, int code,
                             const fl_span *parts, size_t count);
void fl_http_sse_close(fl_link *link);
void fl_http_sse_free(fl_link *link);
uint64_t fl_http_sse_principal(const fl_link *link);
fl_span fl_http_sse_id(const fl_link *link);
void fl_http_sse_info(const fl_link *link, fl_link_info *info);

/* ws_server.c: what the sockets of a hub share, if it takes any. */
FL_MUST_USE fl_status fl_ws_server_prepare(fl_http_hub *hub);
/* The request wants to become a WebSocket. The turn is gone on
 * return or, in HTTP/2, its pipe. */
void fl_ws_server_admit(fl_http_turn *turn, const fl_head *head);

/* ws_h2.c: what happens to a turn that is a pipe. */
void fl_ws_h2_take(fl_http_turn *turn, fl_span bytes);
void fl_ws_h2_end(fl_http_turn *turn);
void fl_ws_h2_writable(fl_http_turn *turn);
/* Its exchange is gone, already. */
void fl_ws_h2_lost(fl_http_turn *turn, const fl_error *why);
/* It was closed, a while ago. The turn is gone on return. */
void fl_ws_h2_gone(fl_http_turn *turn);

/* http.c */
extern const fl_transport fl_http_session_transport;
extern const fl_transport fl_http_stateless_transport;
extern const fl_transport fl_http_open_transport; /* stateless, all eras */
extern const fl_transport fl_http_sse_transport;
/* ws.c */
extern const fl_transport fl_transport_ws;
extern const fl_transport fl_ws_open_transport; /* no initialize is needed */

/* http_server.c */
fl_status fl_http_listen(fl_loop *loop, const fl_address *address,
                         const fl_options *options,
                         const fl_listener_events *events, void *user,
                         fl_listener **out, fl_error *error);
void fl_http_close_listener(fl_listener *listener);
/* The refusal, for people and the log. */
const char *fl_http_refusal_text(fl_http_turned_away why);
/* A connection has gone: perhaps the listener waited for it. */
void fl_http_listener_settle(fl_http_hub *hub);

#endif
