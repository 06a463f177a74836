/*
 * test_signer.c - signatures and keys as JOSE wants them, against the examples
 * of RFC 8037 and, where a signature is never the same twice, against OpenSSL.
 */
#include "io/signer.h"

#include "base/base64.h"
#include "base/span.h"
#include "support/ration.h"

#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* RFC 8037 A.1. */
#define ED25519                                                                \
    "-----BEGIN PRIVATE KEY-----\n"                                            \
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"       \
    "-----END PRIVATE KEY-----\n"

#define P384                                                                   \
    "-----BEGIN PRIVATE KEY-----\n"                                            \
    "MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDgn13boS8AsBmDAS5B\n"       \
    "Ozd2klJAF2r767Myy8RpISYHtBEqc5Fv0DkcOJH8ono3yMWhZANiAARBsH3V6OPF\n"       \
    "jJKeW/H5sKyw3GekbO8u9ntcsaJRIjBTG6JqLAjE/FQX51zQMP4THUhRIUiTIs8h\n"       \
    "RtzX4/KXJOxtI9PdUEglGf/KRuA5BPICY//drX1J7e+yYH53Ifd0OA8=\n"               \
    "-----END PRIVATE KEY-----\n"

static fl_signer *signer_of(fl_span pem)
{
    fl_signer *signer;
    fl_error error;

    assert_int_equal(fl_signer_from_pem(pem, NULL, &signer, &error), FL_OK);
    return signer;
}

static void test_signer_writes_the_key_of_rfc_8037(void **state)
{
    fl_signer *signer = signer_of(FL_SPAN(ED25519));
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 1000);
    assert_string_equal(fl_signer_algorithm(signer), "EdDSA");
    assert_int_equal(fl_signer_jwk(signer, &out), FL_OK);
    assert_true(fl_span_equal(
        fl_buf_view(&out),
        FL_SPAN("{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":"
                "\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}")));
    fl_buf_clear(&out);
    assert_int_equal(fl_signer_thumbprint(signer, &out), FL_OK);
    assert_true(
        fl_span_equal(fl_buf_view(&out),
                      FL_SPAN("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")));
    fl_buf_reset(&out);
    fl_signer_free(signer);
}

static void test_signer_signs_as_rfc_8037_does(void **state)
{
    fl_signer *signer = signer_of(FL_SPAN(ED25519));
    fl_buf raw, text;

    (void)state;
    fl_buf_init(&raw, 1000);
    fl_buf_init(&text, 1000);
    assert_int_equal(
        fl_signer_sign(signer,
                       FL_SPAN("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5"
                               "IHNpZ25pbmc"),
                       &raw),
        FL_OK);
    assert_int_equal(fl_base64url_encode(fl_buf_view(&raw), &text), FL_OK);
    assert_true(fl_span_equal(
        fl_buf_view(&text),
        FL_SPAN("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylG"
                "jg5BhVsPt9g7sVvpAr_MuM0KAg")));
    fl_buf_reset(&raw);
    fl_buf_reset(&text);
    fl_signer_free(signer);
}

/* The two numbers go back into DER, and OpenSSL judges. */
static bool verifies(fl_span pem, fl_span bytes, fl_span flat)
{
    const unsigned char *raw = (const unsigned char *)flat.ptr;
    BIO *bio = BIO_new_mem_buf(pem.ptr, (int)pem.len);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    ECDSA_SIG *pair = ECDSA_SIG_new();
    unsigned char *der = NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    assert_int_equal(flat.len, 64);
    ECDSA_SIG_set0(pair, BN_bin2bn(raw, 32, NULL),
                   BN_bin2bn(raw + 32, 32, NULL));
    int len = i2d_ECDSA_SIG(pair, &der);
    assert_int_equal(EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key),
                     1);
    int rc = EVP_DigestVerify(ctx, der, (size_t)len,
                              (const unsigned char *)bytes.ptr, bytes.len);
    EVP_MD_CTX_free(ctx);
    OPENSSL_free(der);
    ECDSA_SIG_free(pair);
    EVP_PKEY_free(key);
    BIO_free(bio);
    return rc == 1;
}

static void test_signer_makes_keys_whose_signatures_verify(void **state)
{
    fl_signer *signer, *again;
    fl_buf pem, signature, jwk, jwk_again;
    fl_error error;

    (void)state;
    fl_buf_init(&pem, 4096);
    fl_buf_init(&signature, 64);
    fl_buf_init(&jwk, 1000);
    fl_buf_init(&jwk_again, 1000);
    assert_int_equal(fl_signer_generate(&signer), FL_OK);
    assert_string_equal(fl_signer_algorithm(signer), "ES256");
    assert_int_equal(fl_signer_pem(signer, &pem), FL_OK);
    for (int i = 0; i < 50; i++) { /* numbers with leading zeroes come up */
        char text[] = {'t', (char)i};
        fl_span bytes = {text, sizeof text};
        fl_buf_clear(&signature);
        assert_int_equal(fl_signer_sign(signer, bytes, &signature), FL_OK);
        assert_true(
            verifies(fl_buf_view(&pem), bytes, fl_buf_view(&signature)));
        assert_false(verifies(fl_buf_view(&pem), FL_SPAN("other"),
                              fl_buf_view(&signature)));
    }
    assert_int_equal(
        fl_signer_from_pem(fl_buf_view(&pem), "ES256", &again, &error), FL_OK);
    assert_int_equal(fl_signer_jwk(signer, &jwk), FL_OK);
    assert_int_equal(fl_signer_jwk(again, &jwk_again), FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&jwk), fl_buf_view(&jwk_again)));
    fl_signer_free(again);
    fl_signer_free(signer);
    fl_buf_reset(&pem);
    fl_buf_reset(&signature);
    fl_buf_reset(&jwk);
    fl_buf_reset(&jwk_again);
}

static void test_signer_refuses_what_it_cannot_use(void **state)
{
    static const fl_span bad[] = {
        {NULL, 0},
        {"key", 3},
        {P384, sizeof P384 - 1},
        {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 59},
    };
    fl_signer *signer;
    fl_error error;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(fl_signer_from_pem(bad[i], NULL, &signer, &error),
                         FL_E_INVALID);
        assert_null(signer);
    }
    assert_int_equal(
        fl_signer_from_pem(FL_SPAN(ED25519), "ES256", &signer, &error),
        FL_E_INVALID);
    assert_non_null(strstr(error.text, "EdDSA does"));
    assert_null(signer);
}

static void work(void *user)
{
    fl_signer *signer;
    fl_buf out;

    (void)user;
    fl_buf_init(&out, 4096);
    fl_status rc = fl_signer_generate(&signer);
    if (rc == FL_OK)
        rc = fl_signer_sign(signer, FL_SPAN("x"), &out);
    if (rc == FL_OK)
        rc = fl_signer_thumbprint(signer, &out);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_signer_free(signer);
    fl_buf_reset(&out);
}

static void test_signer_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_true(ration_each(work, NULL) >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signer_writes_the_key_of_rfc_8037),
        cmocka_unit_test(test_signer_signs_as_rfc_8037_does),
        cmocka_unit_test(test_signer_makes_keys_whose_signatures_verify),
        cmocka_unit_test(test_signer_refuses_what_it_cannot_use),
        cmocka_unit_test(test_signer_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("signer", tests, NULL, NULL);
}
