/*
 * link.h - the contract every transport keeps.
 *
 * Two nouns cover all transports. A link is a peer one can send to. A reply is
 * where the answers to one request go: on a channel (stdio, sockets,
 * WebSocket) it writes to the link; on HTTP it is the response itself. Nobody
 * above this room knows which.
 *
 *   CREATED -> CONNECTING -> ACTIVE -> CLOSING -> CLOSED
 *                  ^            |
 *                  +- DISCONNECTED   (an outage; the transport comes back)
 *
 * A link may be closed from inside any of its callbacks. on_closed comes
 * exactly once, always later; after it the transport's reference is gone and
 * the memory lives as long as somebody else holds one.
 */
#ifndef FL_TRANSPORT_LINK_H
#define FL_TRANSPORT_LINK_H

#include "base/buf.h"
#include "rpc/msg.h"

#include <fairlead/loop.h>
#include <fairlead/options.h>

typedef struct fl_link fl_link;
typedef struct fl_listener fl_listener;
typedef struct fl_transport fl_transport;

typedef enum fl_link_state {
    FL_LINK_CREATED,
    FL_LINK_CONNECTING,
    FL_LINK_ACTIVE,
    FL_LINK_CLOSING,
    FL_LINK_DISCONNECTED,
    FL_LINK_CLOSED,
} fl_link_state;

typedef enum fl_link_trait {
    FL_LINK_CHANNEL = 1 << 0,    /* one shared pipe: replies go to the link */
    FL_LINK_RECONNECTS = 1 << 1, /* a client link survives outages */
    FL_LINK_NETWORK = 1 << 2,    /* the peer may be a stranger */
    FL_LINK_STATELESS = 1 << 3,  /* replies only: nothing can be sent to it,
                                    and no request knows of another */
    FL_LINK_OPEN = 1 << 4,       /* requests without a claim and without an
                                    initialize are served, as 2025-03-26 */
    FL_LINK_JUDGED = 1 << 5,     /* what the envelope says beside its messages
                                    was looked at already */
} fl_link_trait;

/* A value, made by the transport for each request it delivers. It is ended
 * exactly once, by fl_reply_end(), or goes with its link. Hold a reference on
 * the link meanwhile. */
typedef struct fl_reply {
    fl_link *link;
    void *stream; /* the transport's; NULL on a channel */
} fl_reply;

typedef struct fl_link_stats {
    uint64_t messages_in, messages_out;
    uint64_t bytes_in, bytes_out;
    uint64_t opened_ms;    /* loop time at which it became active, or 0 */
    uint64_t last_seen_ms; /* loop time of the last message, either way */
    uint32_t errors;       /* bad lines, refused messages */
    uint32_t pings;
} fl_link_stats;

typedef struct fl_link_events {
    /* Became ACTIVE: for a client link, again after each outage. Never called
     * for a link that on_link handed over: that one is active. May be NULL. */
    void (*on_open)(fl_link *link);

    /* One whole valid message, or batch. `msg` is good for this call only. */
    void (*on_message)(fl_link *link, const fl_msg *msg, fl_reply reply);

    /* Room again, after a send said FL_BUSY. May be NULL. */
    void (*on_writable)(fl_link *link);

    /* The peer hung up on this request, which in its revision cancels it; or
     * has not come back for it in time. The reply is to be ended all the same;
     * it goes nowhere. May be NULL. */
    void (*on_abandoned)(fl_link *link, fl_reply reply);

    /* The peer will say no more, but may be waiting for answers: who holds the
     * link for anything else lets go now. May be NULL. */
    void (*on_ended)(fl_link *link);

    /* An outage began; on_open or on_closed will end it. May be NULL. */
    void (*on_down)(fl_link *link, const fl_error *why);

    /* Gone, and with it every reply that was not ended. `why` says FL_OK after
     * fl_link_close(), FL_END when the peer left in order, or what went wrong.
     */
    void (*on_closed)(fl_link *link, const fl_error *why);
} fl_link_events;

/* The common part, first in every transport's own struct. The rooms above
 * may read it; only this room writes it, `user` aside. */
struct fl_link {
    const fl_transport *transport;
    fl_loop *loop;
    const fl_link_events *events; /* kept */
    void *user;
    fl_link_stats stats;
    unsigned refs;
    unsigned holds; /* requests in flight: a link with any is not idle */
    fl_link_state state;
    bool server; /* accepted by a listener: the peer is a client */
    bool unsent; /* with fl_link_blame(): nothing of the request has arrived */
    uint16_t endpoint; /* of the listener; 0: the first */
};

typedef struct fl_link_info {
    const char *kind; /* the transport's name */
    fl_link_state state;
    unsigned traits;
    size_t max_message; /* bytes; 0: any */
    size_t buffered;    /* bytes waiting to leave */
    fl_link_stats stats;
    uint64_t uptime_ms;
    uint64_t principal; /* the key that the peer has shown (guard/keys.h); 0:
                           it was not asked for one */
    char peer[64];      /* for people */
    bool is_asking;     /* what we send waits for somebody on our side */
} fl_link_info;

/* In the text of an error: what a child wrote to stderr last comes after it. */
#define FL_LINK_LAST_SAID "; it last said: "

/* The most parts a message may come in. */
enum { FL_LINK_PARTS = 20 };

/*
 * Sends one message, given in parts that are joined without a copy of the
 * whole. Parts must together be one valid JSON text; on a line transport
 * line ends between tokens become spaces.
 *
 * FL_OK    accepted: it leaves in order, or on_closed tells
 * FL_BUSY  the buffer is full: wait for on_writable, then try again
 * below 0  FL_E_STATE, FL_E_TOO_BIG or FL_E_NOMEM: nothing was sent
 */
FL_MUST_USE fl_status fl_link_send(fl_link *link, const fl_span *parts,
                                   size_t count);

/*
 * Passes on a request that has been read, under an id of ours, a raw token,
 * which takes the place of its own and of its progress token. As
 * fl_link_send(); but a transport that has to know what it carries is told,
 * and does not read it a second time.
 */
FL_MUST_USE fl_status fl_link_relay(fl_link *link, const fl_msg *msg,
                                    fl_span id);

/* A message about the request that is not its answer: a notification or a
 * request of ours. As fl_link_send(). */
FL_MUST_USE fl_status fl_reply_send(fl_reply reply, const fl_span *parts,
                                    size_t count);

/*
 * The answer. Never FL_BUSY: reading pauses at the high water mark, so what
 * can pile up is bounded by what is in flight. FL_E_TOO_BIG: nothing was sent
 * and the reply is not ended: say so in a smaller one. When there is no
 * memory for an answer the link is closed. An empty `parts` ends it without a
 * message.
 */
fl_status fl_reply_end(fl_reply reply, const fl_span *parts, size_t count);

/* The same for an answer that is an error with this code: a transport that has
 * statuses of its own chooses one by it (rpc/error.h). */
fl_status fl_reply_end_error(fl_reply reply, int code, const fl_span *parts,
                             size_t count);

/* The same for one that may be tried again, in so many seconds. */
fl_status fl_reply_end_retry(fl_reply reply, int code, unsigned retry_s,
                             const fl_span *parts, size_t count);

/* What the request's envelope says beside the message: a header field of this
 * name, in lower case; {NULL, 0} when it does not, and on channels. Good for
 * the on_message the reply came with. */
fl_span fl_reply_field(fl_reply reply, fl_span name);

/* Lets the connection go that the answer would be sent on, where its client
 * can come back for it (2025-11-25: polling) and is told to, `retry_ms` from
 * now. Elsewhere nothing happens. */
void fl_reply_hang_up(fl_reply reply, uint64_t retry_ms);

/* The answer to our request of this id is not wanted any more: a transport
 * whose requests are streams closes its stream. `id` is a raw token. */
void fl_link_cancel(fl_link *link, fl_span id);

/* During on_message: the raw id of our request on whose stream the message
 * came, so that it is most likely about that; empty where that cannot be told,
 * as on channels. */
fl_span fl_link_about(const fl_link *link);

/* During on_message: why the transport made this error up, in place of an
 * answer that will not come. NULL: the message is the peer's. Its status is
 * never FL_E_CLOSED or FL_E_CANCELLED: those are of our own doing. */
const fl_error *fl_link_blame(const fl_link *link);

/* The answer that came has an id that we have given to no request: it is
 * counted, and logged, if there were not many before. */
void fl_link_unasked(fl_link *link, fl_span id);

/* Lets what was accepted leave, then closes. Harmless twice. */
void fl_link_close(fl_link *link);

void fl_link_get_info(const fl_link *link, fl_link_info *info);

/* A transport's own operation ("pid", "stderr", "peer-subject", "reconnect");
 * answers are appended to `answer`. FL_E_UNSUPPORTED when it has none of that
 * name. */
FL_MUST_USE fl_status fl_link_operate(fl_link *link, const char *operation,
                                      fl_buf *answer);

fl_link *fl_link_ref(fl_link *link);
void fl_link_unref(fl_link *link);

/* Counts a request in flight in and out: see `holds`. */
void fl_link_hold(fl_link *link);
void fl_link_release(fl_link *link);

const char *fl_link_state_name(fl_link_state state);

typedef struct fl_listener_events {
    /* A new link, ACTIVE. Set its events and user before returning, or close
     * it. Messages come after this returns. */
    void (*on_link)(fl_listener *listener, fl_link *link, void *user);
    /* Exactly once, always later. Links live on. */
    void (*on_closed)(fl_listener *listener, void *user);
} fl_listener_events;

/* The common part of every transport's listener. */
struct fl_listener {
    const fl_transport *transport;
    fl_loop *loop;
    const fl_listener_events *events;
    void *user;
    uint16_t port; /* bound, for addresses that have one */
};

/*
 * Listens on, or connects to, a URL. Checks the address and every option
 * first: `error` names the one that is wrong. A connecting link is CONNECTING
 * on return; `events` are kept. With `url` NULL options->child is run.
 */
FL_MUST_USE fl_status fl_link_listen(fl_loop *loop, const char *url,
                                     const fl_options *options,
                                     const fl_listener_events *events,
                                     void *user, fl_listener **out,
                                     fl_error *error);
FL_MUST_USE fl_status fl_link_connect(fl_loop *loop, const char *url,
                                      const fl_options *options,
                                      const fl_link_events *events, void *user,
                                      fl_link **out, fl_error *error);

/*
 * Gives a listener whose transport has paths one more endpoint, at BASE/mcp and
 * what else it serves; links that come by it have this number. 0 takes the
 * endpoint away; its links live on. FL_E_UNSUPPORTED: there are no paths.
 */
FL_MUST_USE fl_status fl_listener_serve(fl_listener *listener, const char *base,
                                        uint16_t endpoint, fl_error *error);

void fl_listener_close(fl_listener *listener);

#endif
