/*
 * transport.h - what a transport is made of: one const struct of functions.
 *
 * A sixth transport is one file that fills this struct and one row in
 * table.c. The contract test walks the table, so that a new row is tested
 * before anyone writes a test for it.
 */
#ifndef FL_TRANSPORT_TRANSPORT_H
#define FL_TRANSPORT_TRANSPORT_H

#include "transport/address.h"
#include "transport/link.h"

/* A request that is passed on. */
typedef struct fl_relay {
    const fl_msg *msg; /* as it was read */
    fl_span id;        /* what it is called from here on */
    fl_span parts[FL_MSG_RENUMBERED];
    size_t count;
} fl_relay;

struct fl_transport {
    const char *name;
    const char *const *schemes; /* NULL-terminated */
    fl_address_shape address;
    unsigned traits; /* fl_link_trait */

    /* Start. The address is parsed and the options are checked, with their
     * defaults filled in. */
    fl_status (*listen)(fl_loop *loop, const fl_address *address,
                        const fl_options *options,
                        const fl_listener_events *events, void *user,
                        fl_listener **out, fl_error *error);
    fl_status (*connect)(fl_loop *loop, const fl_address *address,
                         const fl_options *options,
                         const fl_link_events *events, void *user,
                         fl_link **out, fl_error *error);
    void (*close_listener)(fl_listener *listener);
    /* NULL: a listener has the one endpoint only. */
    fl_status (*serve)(fl_listener *listener, const char *base,
                       uint16_t endpoint, fl_error *error);

    /* On a link: a message that is no answer; `reply_stream` is the request's
     * it belongs to, or NULL. */
    fl_status (*send)(fl_link *link, void *reply_stream, const fl_span *parts,
                      size_t count);
    /* fl_link_relay(): the parts are `msg` under another id, fit to send. NULL:
     * they are sent as any others. */
    fl_status (*relay)(fl_link *link, const fl_relay *relay);
    /* The answer, which passes the high water mark; `code` is 0 or its error's.
     * Without parts the reply ends without one. */
    fl_status (*answer)(fl_link *link, void *reply_stream, int code,
                        const fl_span *parts, size_t count);
    /* NULL: there are none. */
    fl_span (*field)(fl_link *link, void *reply_stream, fl_span name);
    /* Lets the connection under a reply go; its client comes back for it.
     * NULL: that cannot be. */
    void (*hang_up)(fl_link *link, void *reply_stream, uint64_t retry_ms);
    /* The answer will be a refusal, and its client may come back in so many
     * seconds. NULL: there is nowhere to say that. */
    void (*retry)(fl_link *link, void *reply_stream, unsigned seconds);
    /* The answer to our request of this id is not wanted any more. NULL:
     * nothing is to be done about it. */
    void (*cancel)(fl_link *link, fl_span id);
    /* During on_message: the id of our request that it came beside, on the
     * stream of that. NULL: nothing of the kind is known. */
    fl_span (*about)(const fl_link *link);
    /* fl_link_blame(). NULL: this one makes nothing up. */
    const fl_error *(*blame)(const fl_link *link);
    void (*close)(fl_link *link);
    void (*free)(fl_link *link); /* the last reference went */
    void (*info)(const fl_link *link, fl_link_info *info);
    /* NULL: no operations of its own */
    fl_status (*operate)(fl_link *link, const char *operation, fl_buf *answer);
    void (*released)(fl_link *link); /* holds fell to 0; may be NULL */
};

/* Ends with a NULL. */
const fl_transport *const *fl_transport_table(void);

/* The one that serves this scheme, or NULL. */
const fl_transport *fl_transport_find(fl_span scheme);

/* For transports: the steps of a link's life, illegal ones refused (K5). */
FL_MUST_USE fl_status fl_link_move(fl_link *link, fl_link_state to);
void fl_link_init(fl_link *link, const fl_transport *transport, fl_loop *loop,
                  bool server);
/* CLOSED, on_closed, and the transport's reference goes: `link` may be gone
 * on return. */
void fl_link_ended(fl_link *link, const fl_error *why);

#endif
