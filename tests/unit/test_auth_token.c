/*
 * test_auth_token.c - who we say we are, what we ask for, what we make of the
 * answer, and the tokens that we sign.
 */
#include "auth/token.h"

#include "auth/jwt.h"
#include "auth/register.h"
#include "auth/text.h"
#include "base/base64.h"
#include "base/span.h"
#include "support/ration.h"
#include "json/nav.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const fl_buf *buf, const char *want)
{
    if (!fl_span_equal(fl_buf_view(buf), fl_span_of(want)))
        fail_msg("want '%s', got '%.*s'", want, (int)fl_buf_len(buf),
                 fl_buf_view(buf).ptr);
}

/* RFC 6749 2.3.1 wants both halves encoded before they are joined. */
static void test_token_client_says_who_it_is_as_the_server_wants(void **state)
{
    static const struct {
        fl_client_method method;
        const char *form, *basic;
    } rows[] = {
        {FL_METHOD_NONE, "g=1&client_id=a%20b", ""},
        {FL_METHOD_POST, "g=1&client_id=a%20b&client_secret=s%3A%2F", ""},
        {FL_METHOD_BASIC, "g=1", "Basic YSUyMGI6cyUzQSUyRg=="},
    };
    fl_buf form, basic;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fl_buf_init(&form, 1000);
        fl_buf_init(&basic, 1000);
        assert_int_equal(fl_form_add(&form, "g", FL_SPAN("1")), FL_OK);
        assert_int_equal(
            fl_token_identify(&(fl_token_client){.id = FL_SPAN("a b"),
                                                 .secret = FL_SPAN("s:/"),
                                                 .method = rows[i].method},
                              0, &form, &basic),
            FL_OK);
        expect(&form, rows[i].form);
        expect(&basic, rows[i].basic);
        fl_buf_reset(&form);
        fl_buf_reset(&basic);
    }
}

static void test_token_forms_say_what_the_grants_want(void **state)
{
    fl_buf form;

    (void)state;
    fl_buf_init(&form, 2000);
    assert_int_equal(fl_token_form_code(FL_SPAN("c"), FL_SPAN("v"),
                                        FL_SPAN("r"), FL_SPAN("u"), &form),
                     FL_OK);
    expect(&form, "grant_type=authorization_code&code=c&redirect_uri=r"
                  "&code_verifier=v&resource=u");
    fl_buf_clear(&form);
    assert_int_equal(fl_token_form_refresh(FL_SPAN("t"), (fl_span){0}, &form),
                     FL_OK);
    expect(&form, "grant_type=refresh_token&refresh_token=t");
    fl_buf_clear(&form);
    assert_int_equal(fl_token_form_client(FL_SPAN("s"), FL_SPAN("u"), &form),
                     FL_OK);
    expect(&form, "grant_type=client_credentials&scope=s&resource=u");
    fl_buf_clear(&form);
    assert_int_equal(fl_token_form_assertion(FL_SPAN("a.b.c"), (fl_span){0},
                                             FL_SPAN("u"), &form),
                     FL_OK);
    expect(&form, "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-"
                  "bearer&assertion=a.b.c&resource=u");
    fl_buf_reset(&form);
}

static fl_status read_token(fl_record *record, const char *json,
                            fl_error *error)
{
    return fl_token_read(fl_span_of(json), FL_SPAN("asked"), 1000, record,
                         error);
}

static void test_token_answer_is_noted(void **state)
{
    fl_record record = {0};
    fl_error error;

    (void)state;
    assert_int_equal(
        read_token(&record,
                   "{\"access_token\":\"t\",\"token_type\":\"bearer\","
                   "\"expires_in\":3600,\"refresh_token\":\"r\"}",
                   &error),
        FL_OK);
    assert_string_equal(record.text[FL_RECORD_ACCESS], "t");
    assert_string_equal(record.text[FL_RECORD_REFRESH], "r");
    assert_string_equal(record.text[FL_RECORD_TYPE], "Bearer");
    assert_string_equal(record.text[FL_RECORD_SCOPE], "asked");
    assert_int_equal(record.expires, 4600);
    /* a second one: the refresh token stays, the scope is what it says */
    assert_int_equal(read_token(&record,
                                "{\"access_token\":\"u\",\"token_type\":"
                                "\"DPOP\",\"scope\":\"a b\"}",
                                &error),
                     FL_OK);
    assert_string_equal(record.text[FL_RECORD_ACCESS], "u");
    assert_string_equal(record.text[FL_RECORD_REFRESH], "r");
    assert_string_equal(record.text[FL_RECORD_TYPE], "DPoP");
    assert_string_equal(record.text[FL_RECORD_SCOPE], "a b");
    assert_int_equal(record.expires, 0);
    fl_record_clear(&record);
}

/* And what was there before stays as it was. */
static void test_token_answer_that_is_none_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"access_token\":\"\"}",
        "{\"access_token\":7}",
        "{\"access_token\":\"a b\"}",
        "{\"access_token\":\"a\\r\\nX: y\"}",
        "{\"access_token\":\"a\\u0000b\"}",
        "{\"access_token\":\"\xc3\xa9\"}",
        "{\"access_token\":\"a\",\"token_type\":\"mac\"}",
        "access_token=a&token_type=bearer",
    };
    fl_record record = {0};
    fl_error error;

    (void)state;
    assert_int_equal(fl_record_set(&record, FL_RECORD_ACCESS, FL_SPAN("old")),
                     FL_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (read_token(&record, bad[i], &error) != FL_E_REMOTE)
            fail_msg("%s was taken", bad[i]);
        assert_string_equal(record.text[FL_RECORD_ACCESS], "old");
    }
    fl_record_clear(&record);
}

static void test_token_lifetimes_at_the_limit_and_past(void **state)
{
    static const struct {
        const char *json;
        int64_t expires;
    } rows[] = {
        {"{\"access_token\":\"t\",\"expires_in\":1}", 1001},
        {"{\"access_token\":\"t\",\"expires_in\":0}", 0},
        {"{\"access_token\":\"t\",\"expires_in\":-5}", 0},
        {"{\"access_token\":\"t\",\"expires_in\":\"9\"}", 0},
        {"{\"access_token\":\"t\",\"expires_in\":315360000}", 315361000},
        {"{\"access_token\":\"t\",\"expires_in\":315360001}", 0},
        {"{\"access_token\":\"t\",\"expires_in\":9223372036854775807}", 0},
        {"{\"access_token\":\"t\",\"expires_in\":1e400}", 0},
    };
    fl_record record = {0};
    fl_error error;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read_token(&record, rows[i].json, &error), FL_OK);
        assert_int_equal(record.expires, rows[i].expires);
    }
    fl_record_clear(&record);
}

/* And one that was just given is never to be renewed, however short its life:
 * that would go round for ever. */
static void test_token_is_renewed_a_minute_ahead(void **state)
{
    static const struct {
        const char *json;
        int64_t good, stale;
    } rows[] = {
        {"{\"access_token\":\"t\",\"expires_in\":3600}", 4539, 4540},
        {"{\"access_token\":\"t\",\"expires_in\":40}", 1029, 1030},
        {"{\"access_token\":\"t\",\"expires_in\":1}", 1000, 1001},
    };
    fl_record record = {0};
    fl_error error;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read_token(&record, rows[i].json, &error), FL_OK);
        assert_false(fl_token_is_stale(&record, rows[i].good));
        assert_true(fl_token_is_stale(&record, rows[i].stale));
    }
    assert_int_equal(read_token(&record, "{\"access_token\":\"t\"}", &error),
                     FL_OK);
    assert_false(fl_token_is_stale(&record, INT64_MAX));
    fl_record_clear(&record);
}

static void test_token_errors_are_named(void **state)
{
    char code[FL_TOKEN_ERROR];

    (void)state;
    fl_token_read_error(FL_SPAN("{\"error\":\"invalid_grant\"}"), code);
    assert_string_equal(code, "invalid_grant");
    fl_token_read_error(FL_SPAN("{\"error\":7}"), code);
    assert_string_equal(code, "");
    fl_token_read_error(FL_SPAN("<html>"), code);
    assert_string_equal(code, "");
    fl_token_read_error(
        FL_SPAN("{\"error\":\"0123456789012345678901234567890123456789"
                "01234567890123456789012\"}"),
        code);
    assert_int_equal(strlen(code), 63);
    fl_token_read_error(
        FL_SPAN("{\"error\":\"0123456789012345678901234567890123456789"
                "012345678901234567890123\"}"),
        code);
    assert_string_equal(code, "");
}

static void test_register_method_is_one_that_the_server_takes(void **state)
{
    fl_as as = {0};

    (void)state;
    assert_int_equal(fl_register_method(&as, false, false), FL_METHOD_NONE);
    assert_int_equal(fl_register_method(&as, true, false), FL_METHOD_BASIC);
    assert_int_equal(fl_register_method(&as, true, true), FL_METHOD_JWT);
    assert_int_equal(fl_register_wish(&as), FL_METHOD_NONE);
    as.methods = 1u << FL_METHOD_POST;
    assert_int_equal(fl_register_method(&as, true, false), FL_METHOD_POST);
    assert_int_equal(fl_register_method(&as, true, true), FL_METHOD_POST);
    assert_int_equal(fl_register_method(&as, false, true), FL_METHOD_UNKNOWN);
    assert_int_equal(fl_register_wish(&as), FL_METHOD_POST);
    as.methods |= 1u << FL_METHOD_BASIC;
    assert_int_equal(fl_register_wish(&as), FL_METHOD_BASIC);
    as.methods |= 1u << FL_METHOD_NONE;
    assert_int_equal(fl_register_wish(&as), FL_METHOD_NONE);
}

static void test_register_asks_as_the_program_it_is(void **state)
{
    fl_buf json;

    (void)state;
    fl_buf_init(&json, 2000);
    assert_int_equal(
        fl_register_write(
            &(fl_register_ask){.name = FL_SPAN("A \"b\""),
                               .redirect_uri = FL_SPAN("http://127.0.0.1:1/c"),
                               .method = FL_METHOD_NONE},
            &json),
        FL_OK);
    expect(&json,
           "{\"client_name\":\"A \\\"b\\\"\",\"application_type\":\"native\","
           "\"redirect_uris\":[\"http://127.0.0.1:1/c\"],\"grant_types\":["
           "\"authorization_code\",\"refresh_token\"],\"response_types\":["
           "\"code\"],\"token_endpoint_auth_method\":\"none\"}");
    fl_buf_clear(&json);
    assert_int_equal(
        fl_register_write(
            &(fl_register_ask){.redirect_uri = FL_SPAN("https://app/c"),
                               .scope = FL_SPAN("s"),
                               .method = FL_METHOD_POST},
            &json),
        FL_OK);
    assert_non_null(memmem(fl_buf_view(&json).ptr, fl_buf_len(&json),
                           "\"application_type\":\"web\"", 24));
    fl_buf_reset(&json);
}

static void registered(const char *json, fl_status want, const char *method)
{
    char issuer[] = "https://a";
    fl_as as = {.issuer = issuer};
    fl_record record = {0};
    fl_error error;

    assert_int_equal(fl_register_read(fl_span_of(json), &as, &record, &error),
                     want);
    if (want == FL_OK)
        assert_string_equal(record.text[FL_RECORD_METHOD], method);
    fl_record_clear(&record);
}

static void test_register_takes_what_it_is_given(void **state)
{
    (void)state;
    registered("{\"client_id\":\"i\"}", FL_OK, "none");
    registered("{\"client_id\":\"i\",\"client_secret\":\"s\"}", FL_OK,
               "client_secret_basic");
    registered("{\"client_id\":\"i\",\"client_secret\":\"s\","
               "\"token_endpoint_auth_method\":\"client_secret_post\"}",
               FL_OK, "client_secret_post");
    registered("{\"client_id\":\"\"}", FL_E_REMOTE, "");
    registered("{}", FL_E_REMOTE, "");
    registered("[]", FL_E_REMOTE, "");
    registered("{\"client_id\":\"i\",\"token_endpoint_auth_method\":"
               "\"client_secret_post\"}",
               FL_E_REMOTE, "");
    registered("{\"client_id\":\"i\",\"token_endpoint_auth_method\":"
               "\"tls_client_auth\"}",
               FL_E_REMOTE, "");
}

/* Part `n` of a token, decoded. */
static void part(const fl_buf *jwt, int n, fl_buf *out)
{
    fl_span rest = fl_buf_view(jwt);

    fl_buf_clear(out);
    while (n-- > 0)
        rest = fl_span_from(rest, fl_span_find(rest, '.') + 1);
    rest.len = fl_span_find(rest, '.');
    assert_int_equal(fl_base64url_decode(rest, out), FL_OK);
}

static void member_is(const fl_buf *json, const char *key, const char *want)
{
    fl_json_top top;

    assert_int_equal(fl_json_scan(fl_buf_view(json), 0, &top, NULL), FL_OK);
    fl_span got = fl_json_get(top.value, fl_span_of(key));
    if (!fl_span_equal(got, fl_span_of(want)))
        fail_msg("%s: want %s, got %.*s", key, want, (int)got.len, got.ptr);
}

static void test_jwt_proof_is_for_one_request(void **state)
{
    fl_buf one, two, json;
    fl_signer *key;
    fl_dpop_use use = {.method = FL_SPAN("POST"),
                       .url = FL_SPAN("https://h/mcp?q=1"),
                       .token = FL_SPAN("token"),
                       .nonce = FL_SPAN("n\"1")};

    (void)state;
    fl_buf_init(&one, 4096);
    fl_buf_init(&two, 4096);
    fl_buf_init(&json, 4096);
    assert_int_equal(fl_signer_generate(&key), FL_OK);
    assert_int_equal(fl_dpop_proof(key, &use, 1000, &one), FL_OK);
    assert_int_equal(fl_dpop_proof(key, &use, 1000, &two), FL_OK);
    assert_false(fl_span_equal(fl_buf_view(&one), fl_buf_view(&two)));
    part(&one, 0, &json);
    member_is(&json, "typ", "\"dpop+jwt\"");
    member_is(&json, "alg", "\"ES256\"");
    assert_null(memmem(fl_buf_view(&json).ptr, fl_buf_len(&json), "\"d\"", 3));
    part(&one, 1, &json);
    member_is(&json, "htm", "\"POST\"");
    member_is(&json, "htu", "\"https://h/mcp\"");
    member_is(&json, "iat", "1000");
    member_is(&json, "nonce", "\"n\\\"1\"");
    /* printf token | openssl dgst -sha256 -binary | basenc --base64url */
    member_is(&json, "ath", "\"PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A\"");
    part(&one, 2, &json);
    assert_int_equal(fl_buf_len(&json), 64);
    fl_signer_free(key);
    fl_buf_reset(&one);
    fl_buf_reset(&two);
    fl_buf_reset(&json);
}

static void test_jwt_assertion_says_who_for_whom_and_until_when(void **state)
{
    fl_buf jwt, json;
    fl_signer *key;

    (void)state;
    fl_buf_init(&jwt, 4096);
    fl_buf_init(&json, 4096);
    assert_int_equal(fl_signer_generate(&key), FL_OK);
    assert_int_equal(
        fl_jwt_assertion(key, FL_SPAN("me"), FL_SPAN("https://a"), 1000, &jwt),
        FL_OK);
    part(&jwt, 1, &json);
    member_is(&json, "iss", "\"me\"");
    member_is(&json, "sub", "\"me\"");
    member_is(&json, "aud", "\"https://a\"");
    member_is(&json, "iat", "1000");
    member_is(&json, "exp", "1300");
    fl_signer_free(key);
    fl_buf_reset(&jwt);
    fl_buf_reset(&json);
}

static void work(void *user)
{
    fl_record record = {0};
    fl_error error;
    fl_buf form, basic;

    fl_buf_init(&form, 8000);
    fl_buf_init(&basic, 8000);
    fl_status rc =
        fl_token_identify(&(fl_token_client){.id = FL_SPAN("i"),
                                             .method = FL_METHOD_JWT,
                                             .key = user,
                                             .audience = FL_SPAN("a")},
                          0, &form, &basic);
    if (rc == FL_OK)
        rc = read_token(&record,
                        "{\"access_token\":\"t\",\"refresh_token\":\"r\"}",
                        &error);
    if (rc == FL_OK)
        rc = fl_dpop_proof(user, &(fl_dpop_use){.token = FL_SPAN("t")}, 0,
                           &basic);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_record_clear(&record);
    fl_buf_reset(&form);
    fl_buf_reset(&basic);
}

static void test_token_without_memory_leaks_nothing(void **state)
{
    fl_signer *key;

    (void)state;
    assert_int_equal(fl_signer_generate(&key), FL_OK);
    assert_true(ration_each(work, key) > 10);
    fl_signer_free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_client_says_who_it_is_as_the_server_wants),
        cmocka_unit_test(test_token_forms_say_what_the_grants_want),
        cmocka_unit_test(test_token_answer_is_noted),
        cmocka_unit_test(test_token_answer_that_is_none_is_refused),
        cmocka_unit_test(test_token_lifetimes_at_the_limit_and_past),
        cmocka_unit_test(test_token_is_renewed_a_minute_ahead),
        cmocka_unit_test(test_token_errors_are_named),
        cmocka_unit_test(test_register_method_is_one_that_the_server_takes),
        cmocka_unit_test(test_register_asks_as_the_program_it_is),
        cmocka_unit_test(test_register_takes_what_it_is_given),
        cmocka_unit_test(test_jwt_proof_is_for_one_request),
        cmocka_unit_test(test_jwt_assertion_says_who_for_whom_and_until_when),
        cmocka_unit_test(test_token_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("auth token", tests, NULL, NULL);
}
