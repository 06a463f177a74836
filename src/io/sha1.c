/*
 * sha1.c - the one digest a protocol still asks for, from OpenSSL.
 *
 * Nothing is kept secret with it. Where OpenSSL has been told to be strict it
 * has no SHA-1 at all, and that must be said rather than be taken for a bug.
 */
#include "io/sha1.h"

#include <assert.h>
#include <openssl/evp.h>

static_assert(FL_SHA1 <= EVP_MAX_MD_SIZE, "a digest fits where one is made");

fl_status fl_sha1(fl_span bytes, unsigned char digest[FL_SHA1])
{
    const void *from = bytes.ptr != NULL ? bytes.ptr : "";

    return EVP_Digest(from, bytes.len, digest, NULL, EVP_sha1(), NULL) == 1
               ? FL_OK
               : FL_E_UNSUPPORTED;
}
