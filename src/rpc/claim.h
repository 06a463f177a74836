/*
 * claim.h - what a request of the modern era says about itself.
 *
 * From revision 2026-07-28 on there is no handshake: each request carries the
 * protocol version, and what its client is and can do, in params._meta. A
 * message without such a claim is one of the older revisions.
 */
#ifndef FL_RPC_CLAIM_H
#define FL_RPC_CLAIM_H

#include "rpc/msg.h"

/* Raw JSON tokens borrowed from the message, of whatever type they came as
 * (strings have their quotes); an absent one is an empty span. */
typedef struct fl_claim {
    bool present;
    fl_span version;
    fl_span client_capabilities;
    fl_span client_info;
    fl_span log_level;
} fl_claim;

/*
 * Present if `msg` is a request or notification whose params._meta has the key
 * io.modelcontextprotocol/protocolVersion, whatever its value; otherwise all
 * of `claim` is empty. Of a key given twice the last one counts. Keys may be
 * spelled with escapes ("io.modelcontextprotocol\/protocolVersion" is what
 * some encoders write), but not in the middle of the word that is looked for
 * first: that is what makes this nearly free for a message without a claim.
 */
void fl_claim_read(const fl_msg *msg, fl_claim *claim);

/* The same for who has found params._meta already; `meta` may be empty. */
void fl_claim_read_meta(fl_span meta, fl_claim *claim);

#endif
