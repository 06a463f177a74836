/*
 * ws_pack.h - permessage-deflate (RFC 7692): what two sides agree on, and the
 * packing itself.
 *
 * Without context takeover, which is the default, a message is packed by
 * itself: then one packer and one unpacker serve all sockets of an owner, and
 * a socket holds none. With it each socket has its own two.
 */
#ifndef FL_WIRE_WS_PACK_H
#define FL_WIRE_WS_PACK_H

#include "base/buf.h"

typedef struct fl_ws_packs fl_ws_packs;   /* an owner's shared two */
typedef struct fl_ws_pack fl_ws_pack;     /* a socket's own, with context */
typedef struct fl_ws_unpack fl_ws_unpack; /* the same */

/* What we are ready for. */
typedef struct fl_ws_policy {
    bool off;
    bool takeover; /* contexts may be kept between messages */
} fl_ws_policy;

/* What a handshake settled. */
typedef struct fl_ws_agreed {
    bool on;
    bool our_takeover; /* our context is kept between messages */
    bool peer_takeover;
    uint8_t our_bits; /* of our window: 9 to 15 */
    uint8_t peer_bits;
} fl_ws_agreed;

/*
 * Server: takes the first offer in a Sec-WebSocket-Extensions (all its lines
 * joined with commas) that can be had, and appends the answer to it. Nothing
 * is agreed, and nothing appended, when there is none; unknown extensions and
 * offers that are not well formed are passed over (RFC 7692 7.1). FL_E_NOMEM.
 */
FL_MUST_USE fl_status fl_ws_agree(fl_span offers, const fl_ws_policy *policy,
                                  fl_ws_agreed *agreed, fl_buf *answer);

/* Client: our offer; "" when it is off. */
fl_span fl_ws_offer(const fl_ws_policy *policy);

/* Client: what the server made of it. FL_E_BAD_MESSAGE: not what we offered;
 * `what` says how, in static text. */
FL_MUST_USE fl_status fl_ws_settle(fl_span answer, const fl_ws_policy *policy,
                                   fl_ws_agreed *agreed, const char **what);

/* Nothing is allocated before it is needed. NULL: no memory. */
FL_MUST_USE fl_ws_packs *fl_ws_packs_new(void);
void fl_ws_packs_free(fl_ws_packs *packs);

/* A socket's own, if `agreed` keeps contexts on that side; *out is NULL when
 * it does not. */
FL_MUST_USE fl_status fl_ws_pack_new(const fl_ws_agreed *agreed,
                                     fl_ws_pack **out);
void fl_ws_pack_free(fl_ws_pack *pack);
FL_MUST_USE fl_status fl_ws_unpack_new(const fl_ws_agreed *agreed,
                                       fl_ws_unpack **out);
void fl_ws_unpack_free(fl_ws_unpack *unpack);
size_t fl_ws_pack_memory(const fl_ws_pack *pack); /* 0 for NULL */
size_t fl_ws_unpack_memory(const fl_ws_unpack *unpack);

/* Appends the parts, packed as one message; with `own`, or by itself with the
 * shared packer if that is NULL. */
FL_MUST_USE fl_status fl_ws_pack_message(fl_ws_packs *packs, fl_ws_pack *own,
                                         const fl_ws_agreed *agreed,
                                         const fl_span *parts, size_t count,
                                         fl_buf *out);

/* Appends what a whole packed message unpacks to, `max` bytes at most.
 * FL_E_TOO_BIG, FL_E_BAD_MESSAGE, FL_E_NOMEM. */
FL_MUST_USE fl_status fl_ws_unpack_message(fl_ws_packs *packs,
                                           fl_ws_unpack *own, fl_span in,
                                           size_t max, fl_buf *out);

#endif
