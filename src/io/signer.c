/*
 * signer.c - a private key that signs for JOSE, on OpenSSL's EVP.
 *
 * What differs between the three algorithms is one row of a table, all but
 * two things: OpenSSL writes an ECDSA signature as DER, JOSE as two numbers of
 * fixed length; and public keys have different members.
 */
#include "io/signer.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/digest.h"

#include <assert.h>
#include <limits.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

enum {
    COORDINATE = 32,      /* of P-256, and of its signatures' numbers */
    KEY_MAX = 1024,       /* bytes of an RSA modulus */
    SIGNATURE_MAX = 1024, /* likewise, of a signature */
    JWK_MAX = 4 * KEY_MAX,
};

typedef struct algorithm {
    const char *name;
    int key;                       /* EVP_PKEY_... */
    const EVP_MD *(*digest)(void); /* NULL: the algorithm has its own */
} algorithm;

static const algorithm algorithms[] = {
    {"ES256", EVP_PKEY_EC, EVP_sha256},
    {"RS256", EVP_PKEY_RSA, EVP_sha256},
    {"EdDSA", EVP_PKEY_ED25519, NULL},
};

struct fl_signer {
    EVP_PKEY *key;
    const algorithm *algorithm;
};

/* ES256 is P-256 and no other curve. */
static bool is_p256(const EVP_PKEY *key)
{
    char name[32];
    size_t len = 0;

    return EVP_PKEY_get_group_name(key, name, sizeof name, &len) == 1 &&
           (strcmp(name, "prime256v1") == 0 || strcmp(name, "P-256") == 0);
}

static const algorithm *suitable(const EVP_PKEY *key)
{
    int kind = EVP_PKEY_get_base_id(key);

    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (algorithms[i].key == kind &&
            (kind != EVP_PKEY_EC || is_p256(key)) &&
            EVP_PKEY_get_size(key) <= SIGNATURE_MAX)
            return &algorithms[i];
    return NULL;
}

/* Takes the key, failure included. */
static fl_status adopt(EVP_PKEY *taken, fl_signer **out)
{
    const algorithm *found = suitable(taken);
    fl_signer *signer = found != NULL ? fl_mem_zalloc(sizeof *signer) : NULL;

    if (signer == NULL) {
        EVP_PKEY_free(taken);
        return found == NULL ? FL_E_UNSUPPORTED : FL_E_NOMEM;
    }
    *signer = (fl_signer){.key = taken, .algorithm = found};
    *out = signer;
    return FL_OK;
}

static EVP_PKEY *read_pem(fl_span pem)
{
    char password[] = ""; /* nobody is there to be asked for one */
    EVP_PKEY *key = NULL;
    BIO *bio = pem.len > 0 && pem.len <= INT_MAX
                   ? BIO_new_mem_buf(pem.ptr, (int)pem.len)
                   : NULL;

    if (bio != NULL)
        key = PEM_read_bio_PrivateKey(bio, NULL, NULL, password);
    BIO_free(bio);
    ERR_clear_error();
    return key;
}

fl_status fl_signer_from_pem(fl_span pem, const char *name, fl_signer **out,
                             fl_error *error)
{
    EVP_PKEY *key = read_pem(pem);

    *out = NULL;
    if (key == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "the private key is no PEM (PKCS#8) that can be "
                            "read without a password");
    fl_status rc = adopt(key, out);
    if (rc != FL_OK)
        return fl_error_set(error, rc == FL_E_NOMEM ? rc : FL_E_INVALID,
                            "the private key is of a kind that is not "
                            "supported; P-256, RSA and Ed25519 are");
    const char *suits = (*out)->algorithm->name;
    if (name == NULL || strcmp(name, suits) == 0)
        return FL_OK;
    fl_signer_free(*out);
    *out = NULL;
    return fl_error_set(error, FL_E_INVALID,
                        "algorithm '%s' does not suit the private key: %s does",
                        name, suits);
}

fl_status fl_signer_generate(fl_signer **out)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");

    *out = NULL;
    return key != NULL ? adopt(key, out) : FL_E_NOMEM;
}

void fl_signer_free(fl_signer *signer)
{
    if (signer == NULL)
        return;
    EVP_PKEY_free(signer->key);
    fl_mem_free(signer);
}

const char *fl_signer_algorithm(const fl_signer *signer)
{
    return signer->algorithm->name;
}

/* Two numbers in DER to two numbers side by side (RFC 7518 3.4). */
static bool flatten(const unsigned char *der, size_t len,
                    unsigned char flat[2 * COORDINATE])
{
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)len);
    bool done = false;

    if (pair != NULL)
        done = BN_bn2binpad(ECDSA_SIG_get0_r(pair), flat, COORDINATE) > 0 &&
               BN_bn2binpad(ECDSA_SIG_get0_s(pair), flat + COORDINATE,
                            COORDINATE) > 0;
    ECDSA_SIG_free(pair);
    return done;
}

fl_status fl_signer_sign(const fl_signer *signer, fl_span bytes, fl_buf *out)
{
    const algorithm *with = signer->algorithm;
    const void *from = bytes.ptr != NULL ? bytes.ptr : "";
    unsigned char made[SIGNATURE_MAX], flat[2 * COORDINATE];
    size_t len = sizeof made;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const EVP_MD *digest = with->digest != NULL ? with->digest() : NULL;
    bool done = ctx != NULL &&
                EVP_DigestSignInit(ctx, NULL, digest, NULL, signer->key) == 1 &&
                EVP_DigestSign(ctx, made, &len, from, bytes.len) == 1;

    EVP_MD_CTX_free(ctx);
    if (!done)
        return FL_E_NOMEM;
    fl_span signature = {(const char *)made, len};
    if (with->key == EVP_PKEY_EC) {
        if (!flatten(made, len, flat))
            return FL_E_NOMEM;
        signature = (fl_span){(const char *)flat, sizeof flat};
    }
    return fl_buf_append(out, signature);
}

static fl_status add_bytes(fl_buf *out, const char *before,
                           const unsigned char *bytes, size_t len)
{
    fl_status rc = fl_buf_append(out, fl_span_of(before));

    return rc == FL_OK
               ? fl_base64url_encode((fl_span){(const char *)bytes, len}, out)
               : rc;
}

/* A public number of the key; `size` 0: as many bytes as it has. */
static fl_status add_number(const fl_signer *signer, const char *which,
                            int size, const char *before, fl_buf *out)
{
    unsigned char bytes[KEY_MAX];
    BIGNUM *number = NULL;
    int len = -1;

    if (EVP_PKEY_get_bn_param(signer->key, which, &number) == 1) {
        int width = size > 0 ? size : BN_num_bytes(number);
        if (width <= KEY_MAX)
            len = BN_bn2binpad(number, bytes, width);
    }
    BN_free(number);
    return len > 0 ? add_bytes(out, before, bytes, (size_t)len) : FL_E_NOMEM;
}

static fl_status write_ec(const fl_signer *signer, fl_buf *out)
{
    fl_status rc =
        add_number(signer, OSSL_PKEY_PARAM_EC_PUB_X, COORDINATE,
                   "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"", out);

    if (rc == FL_OK)
        rc = add_number(signer, OSSL_PKEY_PARAM_EC_PUB_Y, COORDINATE,
                        "\",\"y\":\"", out);
    return rc;
}

static fl_status write_rsa(const fl_signer *signer, fl_buf *out)
{
    fl_status rc =
        add_number(signer, OSSL_PKEY_PARAM_RSA_E, 0, "{\"e\":\"", out);

    if (rc == FL_OK)
        rc = add_number(signer, OSSL_PKEY_PARAM_RSA_N, 0,
                        "\",\"kty\":\"RSA\",\"n\":\"", out);
    return rc;
}

static fl_status write_okp(const fl_signer *signer, fl_buf *out)
{
    unsigned char bytes[32];
    size_t len = sizeof bytes;

    if (EVP_PKEY_get_raw_public_key(signer->key, bytes, &len) != 1)
        return FL_E_NOMEM;
    return add_bytes(out, "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"",
                     bytes, len);
}

fl_status fl_signer_jwk(const fl_signer *signer, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    int kind = signer->algorithm->key;
    fl_status rc = kind == EVP_PKEY_EC    ? write_ec(signer, out)
                   : kind == EVP_PKEY_RSA ? write_rsa(signer, out)
                                          : write_okp(signer, out);

    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("\"}"));
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}

fl_status fl_signer_thumbprint(const fl_signer *signer, fl_buf *out)
{
    unsigned char digest[FL_SHA256];
    fl_buf jwk;

    fl_buf_init(&jwk, JWK_MAX);
    fl_status rc = fl_signer_jwk(signer, &jwk);
    if (rc == FL_OK)
        rc = fl_sha256(fl_buf_view(&jwk), digest);
    if (rc == FL_OK)
        rc = fl_base64url_encode((fl_span){(const char *)digest, sizeof digest},
                                 out);
    fl_buf_reset(&jwk);
    return rc;
}

fl_status fl_signer_pem(const fl_signer *signer, fl_buf *out)
{
    BIO *bio = BIO_new(BIO_s_secmem());
    char *text = NULL;
    fl_status rc = FL_E_NOMEM;

    if (bio != NULL && PEM_write_bio_PKCS8PrivateKey(bio, signer->key, NULL,
                                                     NULL, 0, NULL, NULL)) {
        long len = BIO_get_mem_data(bio, &text);
        if (len > 0)
            rc = fl_buf_append(out, (fl_span){text, (size_t)len});
    }
    BIO_free(bio); /* which wipes it */
    return rc;
}
