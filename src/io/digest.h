/*
 * digest.h - SHA-256, and codes that only the holder of a key can make.
 */
#ifndef FL_IO_DIGEST_H
#define FL_IO_DIGEST_H

#include <fairlead/types.h>

enum { FL_SHA256 = 32 };

/* FL_E_UNSUPPORTED when OpenSSL has none to offer. */
FL_MUST_USE fl_status fl_sha256(fl_span bytes, unsigned char digest[FL_SHA256]);

/* HMAC of RFC 2104 with SHA-256. */
FL_MUST_USE fl_status fl_hmac_sha256(fl_span key, fl_span bytes,
                                     unsigned char code[FL_SHA256]);

/* Takes as long wherever they differ, so that time gives nothing away. */
bool fl_digest_same(const unsigned char *a, const unsigned char *b,
                    size_t size);

#endif
