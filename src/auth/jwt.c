/*
 * jwt.c - the two kinds of JSON Web Token that a client signs.
 *
 * Both are "header.claims.signature", each in base64url; what is signed is the
 * first two with the dot between them, as they stand.
 */
#include "auth/jwt.h"

#include "auth/text.h"
#include "base/base64.h"
#include "base/random.h"
#include "base/span.h"
#include "io/digest.h"
#include "json/write.h"

enum {
    PART_MAX = 32 * 1024,
    LIFETIME_S = 300,
    ID_BYTES = 16,
    ID_TEXT = 22,
    DIGEST_TEXT = 43,
};

/* A name that nothing else has. */
static fl_status make_id(fl_buf *out)
{
    char bytes[ID_BYTES];
    fl_status rc = fl_random_bytes(bytes, sizeof bytes);

    return rc == FL_OK
               ? fl_base64url_encode((fl_span){bytes, sizeof bytes}, out)
               : rc;
}

static void add_text(fl_json_writer *writer, const char *key, fl_span text)
{
    fl_json_key(writer, key);
    fl_json_text(writer, text);
}

static void add_int(fl_json_writer *writer, const char *key, int64_t number)
{
    fl_json_key(writer, key);
    fl_json_integer(writer, number);
}

/* Puts header and claims together and signs them. */
static fl_status sign(const fl_signer *signer, fl_span header, fl_span claims,
                      fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_buf raw;
    fl_status rc = fl_base64url_encode(header, out);

    fl_buf_init(&raw, PART_MAX);
    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("."));
    if (rc == FL_OK)
        rc = fl_base64url_encode(claims, out);
    if (rc == FL_OK)
        rc = fl_signer_sign(signer, fl_span_from(fl_buf_view(out), before),
                            &raw);
    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("."));
    if (rc == FL_OK)
        rc = fl_base64url_encode(fl_buf_view(&raw), out);
    fl_buf_reset(&raw);
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}

static fl_status write_assertion_claims(fl_span client_id, fl_span audience,
                                        fl_span id, int64_t now, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    add_text(&writer, "iss", client_id);
    add_text(&writer, "sub", client_id);
    add_text(&writer, "aud", audience);
    add_text(&writer, "jti", id);
    add_int(&writer, "iat", now);
    add_int(&writer, "exp", now + LIFETIME_S);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

fl_status fl_jwt_assertion(const fl_signer *signer, fl_span client_id,
                           fl_span audience, int64_t now, fl_buf *out)
{
    fl_buf header, claims, id;

    fl_buf_init(&header, PART_MAX);
    fl_buf_init(&claims, PART_MAX);
    fl_buf_init(&id, ID_TEXT);
    fl_status rc = make_id(&id);
    if (rc == FL_OK)
        rc = fl_buf_printf(&header, "{\"typ\":\"JWT\",\"alg\":\"%s\"}",
                           fl_signer_algorithm(signer));
    if (rc == FL_OK)
        rc = write_assertion_claims(client_id, audience, fl_buf_view(&id), now,
                                    &claims);
    if (rc == FL_OK)
        rc = sign(signer, fl_buf_view(&header), fl_buf_view(&claims), out);
    fl_buf_reset(&header);
    fl_buf_reset(&claims);
    fl_buf_reset(&id);
    return rc;
}

static fl_status write_proof_header(const fl_signer *signer, fl_buf *out)
{
    fl_status rc =
        fl_buf_printf(out, "{\"typ\":\"dpop+jwt\",\"alg\":\"%s\",\"jwk\":",
                      fl_signer_algorithm(signer));

    if (rc == FL_OK)
        rc = fl_signer_jwk(signer, out);
    return rc == FL_OK ? fl_buf_append(out, FL_SPAN("}")) : rc;
}

/* The token's digest, so that a proof is good for that token alone. */
static fl_status digest(fl_span token, fl_buf *out)
{
    unsigned char bytes[FL_SHA256];
    fl_status rc = fl_sha256(token, bytes);

    return rc == FL_OK ? fl_base64url_encode(
                             (fl_span){(const char *)bytes, sizeof bytes}, out)
                       : rc;
}

static fl_status write_proof_claims(const fl_dpop_use *use, fl_span id,
                                    fl_span ath, int64_t now, fl_buf *out)
{
    fl_json_writer writer;
    size_t query = fl_span_find(use->url, '?');
    size_t fragment = fl_span_find(use->url, '#');
    size_t len = query < fragment ? query : fragment;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    add_text(&writer, "jti", id);
    add_text(&writer, "htm", use->method);
    add_text(&writer, "htu", (fl_span){use->url.ptr, len});
    add_int(&writer, "iat", now);
    if (ath.len > 0)
        add_text(&writer, "ath", ath);
    if (use->nonce.ptr != NULL)
        add_text(&writer, "nonce", use->nonce);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

fl_status fl_dpop_proof(const fl_signer *signer, const fl_dpop_use *use,
                        int64_t now, fl_buf *out)
{
    fl_buf header, claims, id, ath;

    fl_buf_init(&header, PART_MAX);
    fl_buf_init(&claims, PART_MAX);
    fl_buf_init(&id, ID_TEXT);
    fl_buf_init(&ath, DIGEST_TEXT);
    fl_status rc = make_id(&id);
    if (rc == FL_OK && use->token.ptr != NULL)
        rc = digest(use->token, &ath);
    if (rc == FL_OK)
        rc = write_proof_header(signer, &header);
    if (rc == FL_OK)
        rc = write_proof_claims(use, fl_buf_view(&id), fl_buf_view(&ath), now,
                                &claims);
    if (rc == FL_OK)
        rc = sign(signer, fl_buf_view(&header), fl_buf_view(&claims), out);
    fl_buf_reset(&header);
    fl_buf_reset(&claims);
    fl_buf_reset(&id);
    fl_buf_reset(&ath);
    return rc;
}
