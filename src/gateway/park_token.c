/*
 * park_token.c - requestState: what a client of ours carries while its call is
 * parked.
 *
 * The body has a fixed length, numbers with the highest byte first:
 *
 *   1 key   8 gateway   16 park   4 generation   8 issued   8 expires
 *   1 kind   1 method   32 digest of params   32 keyed hash of the principal
 *
 * The code is looked at before anything else is: what was not signed by us is
 * never read.
 */
#include "gateway/park_token.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "gateway/canonical.h"

#include <assert.h>

enum {
    BODY = 1 + 8 + FL_PARK_ID + 4 + 8 + 8 + 1 + 1 + 2 * FL_SHA256,
    WHOLE = BODY + FL_SHA256,
    PARAMS_MAX = 64 * 1024 * 1024,
};

static_assert(3 + (WHOLE * 4 + 2) / 3 <= FL_PARK_TOKEN_TEXT,
              "a token fits where it is said to");

#define PREFIX "v1."

const char *fl_park_fault_name(fl_park_fault fault)
{
    static const char *const names[] = {
        [FL_PARK_FINE] = "fine",         [FL_PARK_TAMPERED] = "tampered",
        [FL_PARK_EXPIRED] = "expired",   [FL_PARK_REPLAYED] = "replayed",
        [FL_PARK_MISMATCH] = "mismatch", [FL_PARK_LOST] = "lost",
        [FL_PARK_FAILED] = "failed",
    };

    return names[fault];
}

fl_status fl_park_key_make(fl_park_key *key)
{
    fl_status rc = fl_random_bytes(key->secret, sizeof key->secret);

    if (rc == FL_OK)
        rc = fl_random_bytes(key->gateway, sizeof key->gateway);
    key->number = 1;
    return rc;
}

static fl_span secret_of(const fl_park_key *key)
{
    return (fl_span){(const char *)key->secret, sizeof key->secret};
}

static fl_status hash(const fl_park_key *key, char what, fl_span bytes,
                      unsigned char code[FL_SHA256])
{
    unsigned char derived[FL_SHA256];
    fl_status rc = fl_hmac_sha256(secret_of(key), (fl_span){&what, 1}, derived);

    if (rc == FL_OK)
        rc = fl_hmac_sha256((fl_span){(char *)derived, sizeof derived}, bytes,
                            code);
    fl_mem_wipe(derived, sizeof derived);
    return rc;
}

fl_status fl_park_token_bind(const fl_park_key *key, fl_method method,
                             fl_span params, fl_span principal,
                             fl_park_token *token)
{
    static const char *const without[] = {"_meta", "inputResponses",
                                          "requestState", NULL};
    fl_buf text;

    token->method = method;
    fl_buf_init(&text, PARAMS_MAX);
    fl_status rc = fl_canonical_write(params, without, &text);
    if (rc == FL_OK)
        rc = hash(key, 'a', fl_buf_view(&text), token->params);
    if (rc == FL_OK)
        rc = hash(key, 'p', principal, token->principal);
    fl_buf_reset(&text);
    return rc;
}

static unsigned char *put_number(unsigned char *at, uint64_t number,
                                 size_t bytes)
{
    for (size_t i = bytes; i-- > 0; number >>= 8)
        at[i] = (unsigned char)(number & 0xff);
    return at + bytes;
}

static unsigned char *put_bytes(unsigned char *at, const unsigned char *bytes,
                                size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static uint64_t get_number(const unsigned char **at, size_t bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | *(*at)++;
    return number;
}

static void get_bytes(const unsigned char **at, unsigned char *bytes,
                      size_t size)
{
    memcpy(bytes, *at, size);
    *at += size;
}

fl_status fl_park_token_write(const fl_park_key *key,
                              const fl_park_token *token, fl_buf *out)
{
    unsigned char whole[WHOLE];
    unsigned char *at = whole;

    at = put_number(at, key->number, 1);
    at = put_bytes(at, key->gateway, sizeof key->gateway);
    at = put_bytes(at, token->park, sizeof token->park);
    at = put_number(at, token->generation, 4);
    at = put_number(at, token->issued_ms, 8);
    at = put_number(at, token->expires_ms, 8);
    at = put_number(at, token->kind, 1);
    at = put_number(at, token->method, 1);
    at = put_bytes(at, token->params, sizeof token->params);
    at = put_bytes(at, token->principal, sizeof token->principal);
    fl_status rc =
        fl_hmac_sha256(secret_of(key), (fl_span){(char *)whole, BODY}, at);
    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN(PREFIX));
    return rc == FL_OK
               ? fl_base64url_encode((fl_span){(char *)whole, WHOLE}, out)
               : rc;
}

static void unpack(const unsigned char *at, fl_park_token *token)
{
    get_bytes(&at, token->park, sizeof token->park);
    token->generation = (uint32_t)get_number(&at, 4);
    token->issued_ms = get_number(&at, 8);
    token->expires_ms = get_number(&at, 8);
    token->kind = (fl_park_kind)get_number(&at, 1);
    token->method = (fl_method)get_number(&at, 1);
    get_bytes(&at, token->params, sizeof token->params);
    get_bytes(&at, token->principal, sizeof token->principal);
}

static fl_park_fault open_token(const fl_park_key *key, fl_span whole,
                                uint64_t now_ms, fl_park_token *token)
{
    const unsigned char *body = (const unsigned char *)whole.ptr;
    unsigned char code[FL_SHA256];

    if (whole.len != WHOLE)
        return FL_PARK_TAMPERED;
    if (fl_hmac_sha256(secret_of(key), (fl_span){whole.ptr, BODY}, code) !=
        FL_OK)
        return FL_PARK_FAILED;
    if (!fl_digest_same(code, body + BODY, sizeof code))
        return FL_PARK_TAMPERED;
    if (body[0] != key->number ||
        memcmp(body + 1, key->gateway, sizeof key->gateway) != 0)
        return FL_PARK_LOST; /* of one that shares our key */
    unpack(body + 1 + sizeof key->gateway, token);
    return now_ms < token->expires_ms ? FL_PARK_FINE : FL_PARK_EXPIRED;
}

fl_park_fault fl_park_token_read(const fl_park_key *key, fl_span text,
                                 uint64_t now_ms, fl_park_token *token)
{
    fl_park_fault fault = FL_PARK_TAMPERED;
    fl_buf whole;

    *token = (fl_park_token){0};
    if (text.len > FL_PARK_TOKEN_TEXT || !fl_span_starts(text, FL_SPAN(PREFIX)))
        return fault;
    fl_buf_init(&whole, FL_PARK_TOKEN_TEXT);
    fl_status rc =
        fl_base64url_decode(fl_span_from(text, sizeof PREFIX - 1), &whole);
    if (rc == FL_OK)
        fault = open_token(key, fl_buf_view(&whole), now_ms, token);
    else if (rc == FL_E_NOMEM)
        fault = FL_PARK_FAILED;
    fl_buf_reset(&whole);
    if (fault != FL_PARK_FINE)
        *token = (fl_park_token){0};
    return fault;
}

fl_park_fault fl_park_token_judge(const fl_park_token *token,
                                  const fl_park_token *bound)
{
    bool same = token->method == bound->method &&
                fl_digest_same(token->params, bound->params, FL_SHA256) &&
                fl_digest_same(token->principal, bound->principal, FL_SHA256);

    return same ? FL_PARK_FINE : FL_PARK_MISMATCH;
}
