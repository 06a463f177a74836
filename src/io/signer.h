/*
 * signer.h - a private key that signs for JOSE: ES256, RS256 or EdDSA.
 *
 * What a signature is made of, and how its public key is written, is as JSON
 * Web Tokens want it (RFC 7518, RFC 8037); the tokens themselves are made
 * elsewhere.
 */
#ifndef FL_IO_SIGNER_H
#define FL_IO_SIGNER_H

#include "base/buf.h"

typedef struct fl_signer fl_signer;

/*
 * From PEM, PKCS#8 or what OpenSSL takes besides. `algorithm` ("ES256",
 * "RS256", "EdDSA") must suit the key; NULL: what suits it. FL_E_INVALID: it
 * does not, or there is no key in it (or one behind a password).
 */
FL_MUST_USE fl_status fl_signer_from_pem(fl_span pem, const char *algorithm,
                                         fl_signer **out, fl_error *error);

/* A new key of its own, for ES256. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_signer_generate(fl_signer **out);

/* Wiped before it goes; NULL is fine. */
void fl_signer_free(fl_signer *signer);

/* "ES256", "RS256" or "EdDSA". */
const char *fl_signer_algorithm(const fl_signer *signer);

/* Appends the signature of `bytes`, raw. */
FL_MUST_USE fl_status fl_signer_sign(const fl_signer *signer, fl_span bytes,
                                     fl_buf *out);

/* Appends the public key as a JSON Web Key: only what must be in it, in the
 * order in which RFC 7638 wants it digested. */
FL_MUST_USE fl_status fl_signer_jwk(const fl_signer *signer, fl_buf *out);

/* Appends the thumbprint of that, in base64url (RFC 7638). */
FL_MUST_USE fl_status fl_signer_thumbprint(const fl_signer *signer,
                                           fl_buf *out);

/* Appends the private key as PEM, to be kept where nobody reads it. */
FL_MUST_USE fl_status fl_signer_pem(const fl_signer *signer, fl_buf *out);

#endif
