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

/*
 * Present if `msg` is a request or notification whose params._meta has the key
 * io.modelcontextprotocol/protocolVersion, whatever its value; otherwise all
 * of `claim` is empty. Of a key given twice the last one counts. Keys may be
 * spelled with escapes ("io.modelcontextprotocol\/protocolVersion" is what
 * some encoders write), but not in the middle of the longest word.
 */
static inline void fl_claim_read(const fl_msg *msg, fl_claim *claim)
{
    *claim = msg->inner.claim;
}

/* How it is made, for params.c: of each member of _meta, whether it is one of
 * the claim's; and after the last one. */
bool fl_claim_note(fl_claim *claim, const fl_json_member *member);
void fl_claim_end(fl_claim *claim);

#endif
