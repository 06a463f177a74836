/*
 * seal.h - bytes that leave our hands and come back unread and unchanged.
 *
 * State that a peer carries for us is sealed: enciphered, so that it cannot be
 * read, and authenticated, so that it cannot be altered (AES-256-GCM). What it
 * is bound to (who it was given to, say) is not carried but must be the same
 * when it comes back, or it does not open.
 *
 * A key may seal 2^32 times; past that two nonces are too likely to meet.
 */
#ifndef FL_IO_SEAL_H
#define FL_IO_SEAL_H

#include "base/buf.h"

enum {
    FL_SEAL_KEY = 32,
    FL_SEAL_EXTRA = 12 + 16, /* what sealing adds: a nonce and a tag */
};

typedef struct fl_seal_key {
    unsigned char bytes[FL_SEAL_KEY];
} fl_seal_key;

/* A new key, from the system's random source. */
FL_MUST_USE fl_status fl_seal_key_make(fl_seal_key *key);

/*
 * Appends nonce, ciphertext and tag to `out`. Either span may be empty.
 * FL_E_TOO_BIG, FL_E_NOMEM, FL_E_IO (no randomness): nothing was appended.
 */
FL_MUST_USE fl_status fl_seal(const fl_seal_key *key, fl_span plain,
                              fl_span bound, fl_buf *out);

/*
 * Appends what was sealed. FL_E_DENIED: it was not sealed with this key and
 * bound to this, or was tampered with; nothing was appended then, nor on any
 * other failure.
 */
FL_MUST_USE fl_status fl_seal_open(const fl_seal_key *key, fl_span sealed,
                                   fl_span bound, fl_buf *out);

#endif
