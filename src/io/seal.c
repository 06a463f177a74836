/*
 * seal.c - AES-256-GCM from OpenSSL, with the nonce in front.
 *
 * The output is written straight into the buffer's free room and counts only
 * once all of it is there. On opening, that room holds plain text before the
 * tag has been looked at: if the tag is wrong it is wiped, so that nobody ever
 * reads what was not authenticated.
 *
 * The nonce is random, 96 bits: no counter has to survive a restart or be
 * agreed among processes that share a key.
 */
#include "io/seal.h"

#include "base/mem.h"
#include "base/random.h"

#include <assert.h>
#include <limits.h>
#include <openssl/evp.h>
#include <string.h>

enum { NONCE = 12, TAG = 16 };

static_assert(NONCE + TAG == FL_SEAL_EXTRA, "what the header says is added");

fl_status fl_seal_key_make(fl_seal_key *key)
{
    return fl_random_bytes(key->bytes, sizeof key->bytes);
}

static const unsigned char *bytes_of(fl_span span)
{
    return (const unsigned char *)(span.ptr != NULL ? span.ptr : "");
}

/* OpenSSL counts in int. */
static bool countable(fl_span a, fl_span b)
{
    return a.len <= INT_MAX - FL_SEAL_EXTRA && b.len <= INT_MAX;
}

static bool encipher(EVP_CIPHER_CTX *ctx, const fl_seal_key *key, fl_span plain,
                     fl_span bound, unsigned char *to)
{
    int n = 0;
    unsigned char *text = to + NONCE;

    return EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key->bytes, to) &&
           EVP_EncryptUpdate(ctx, NULL, &n, bytes_of(bound), (int)bound.len) &&
           EVP_EncryptUpdate(ctx, text, &n, bytes_of(plain), (int)plain.len) &&
           EVP_EncryptFinal_ex(ctx, text + plain.len, &n) &&
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG,
                               text + plain.len);
}

fl_status fl_seal(const fl_seal_key *key, fl_span plain, fl_span bound,
                  fl_buf *out)
{
    if (!countable(plain, bound))
        return FL_E_TOO_BIG;

    size_t size = plain.len + FL_SEAL_EXTRA;
    if (size > fl_buf_room(out))
        return FL_E_TOO_BIG;
    unsigned char *to = (unsigned char *)fl_buf_reserve(out, size);
    if (to == NULL)
        return FL_E_NOMEM;
    fl_status rc = fl_random_bytes(to, NONCE);
    if (rc != FL_OK)
        return rc;

    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    if (ctx == NULL || !encipher(ctx, key, plain, bound, to))
        rc = FL_E_NOMEM;
    else
        fl_buf_commit(out, size);
    EVP_CIPHER_CTX_free(ctx);
    return rc;
}

/* `tag` is copied first: OpenSSL wants to be able to write to it. */
static bool decipher(EVP_CIPHER_CTX *ctx, const fl_seal_key *key,
                     fl_span sealed, fl_span bound, unsigned char *to)
{
    const unsigned char *from = bytes_of(sealed);
    size_t len = sealed.len - FL_SEAL_EXTRA;
    unsigned char tag[TAG];
    int n = 0;

    memcpy(tag, from + NONCE + len, TAG);
    return EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key->bytes, from) &&
           EVP_DecryptUpdate(ctx, NULL, &n, bytes_of(bound), (int)bound.len) &&
           EVP_DecryptUpdate(ctx, to, &n, from + NONCE, (int)len) &&
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, tag) &&
           EVP_DecryptFinal_ex(ctx, to + len, &n) > 0;
}

fl_status fl_seal_open(const fl_seal_key *key, fl_span sealed, fl_span bound,
                       fl_buf *out)
{
    if (sealed.len < FL_SEAL_EXTRA || !countable(sealed, bound))
        return FL_E_DENIED;

    size_t len = sealed.len - FL_SEAL_EXTRA;
    if (len > fl_buf_room(out))
        return FL_E_TOO_BIG;
    unsigned char *to = (unsigned char *)fl_buf_reserve(out, len);
    if (to == NULL)
        return FL_E_NOMEM;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    if (ctx == NULL)
        return FL_E_NOMEM;

    bool opened = decipher(ctx, key, sealed, bound, to);
    EVP_CIPHER_CTX_free(ctx);
    if (opened)
        fl_buf_commit(out, len);
    else
        fl_mem_wipe(to, len);
    return opened ? FL_OK : FL_E_DENIED;
}
