/*
 * digest.c - SHA-256 and HMAC, from OpenSSL.
 */
#include "io/digest.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

fl_status fl_sha256(fl_span bytes, unsigned char digest[FL_SHA256])
{
    const void *from = bytes.ptr != NULL ? bytes.ptr : "";

    return EVP_Digest(from, bytes.len, digest, NULL, EVP_sha256(), NULL) == 1
               ? FL_OK
               : FL_E_UNSUPPORTED;
}

fl_status fl_hmac_sha256(fl_span key, fl_span bytes,
                         unsigned char code[FL_SHA256])
{
    const void *secret = key.ptr != NULL ? key.ptr : "";
    const void *from = bytes.ptr != NULL ? bytes.ptr : "";

    if (key.len > INT_MAX)
        return FL_E_TOO_BIG;
    return HMAC(EVP_sha256(), secret, (int)key.len, from, bytes.len, code,
                NULL) != NULL
               ? FL_OK
               : FL_E_UNSUPPORTED;
}

bool fl_digest_same(const unsigned char *a, const unsigned char *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}
