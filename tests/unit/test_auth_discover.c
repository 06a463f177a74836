/*
 * test_auth_discover.c - where metadata are looked for, what they say, and
 * which of them are believed.
 */
#include "auth/discover.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef fl_status place(fl_span from, unsigned step, fl_buf *url);

/* All places, with a space between each two. */
static void check(place *next, const char *from, const char *want)
{
    fl_status rc = FL_OK;
    fl_buf all;

    fl_buf_init(&all, 2000);
    for (unsigned step = 0; rc == FL_OK && step < 9; step++) {
        size_t before = fl_buf_len(&all);
        if (before > 0)
            assert_int_equal(fl_buf_append(&all, FL_SPAN(" ")), FL_OK);
        rc = next(fl_span_of(from), step, &all);
        if (rc != FL_OK)
            fl_buf_truncate(&all, before);
    }
    assert_int_equal(rc, FL_END);
    if (!fl_span_equal(fl_buf_view(&all), fl_span_of(want)))
        fail_msg("%s: want '%s', got '%.*s'", from, want, (int)fl_buf_len(&all),
                 fl_buf_view(&all).ptr);
    fl_buf_reset(&all);
}

static void test_discover_resource_metadata_of_the_path_come_first(void **state)
{
    (void)state;
    check(fl_discover_prm, "https://h/public/mcp",
          "https://h/.well-known/oauth-protected-resource/public/mcp "
          "https://h/.well-known/oauth-protected-resource");
    check(fl_discover_prm, "https://h/",
          "https://h/.well-known/oauth-protected-resource");
    check(fl_discover_prm, "http://127.0.0.1:8080",
          "http://127.0.0.1:8080/.well-known/oauth-protected-resource");
    check(fl_discover_prm, "https://[::1]:8443/a/?q=1",
          "https://[::1]:8443/.well-known/oauth-protected-resource/a "
          "https://[::1]:8443/.well-known/oauth-protected-resource");
}

static void test_discover_server_metadata_in_the_order_of_mcp(void **state)
{
    (void)state;
    check(fl_discover_as, "https://a/tenant1",
          "https://a/.well-known/oauth-authorization-server/tenant1 "
          "https://a/.well-known/openid-configuration/tenant1 "
          "https://a/tenant1/.well-known/openid-configuration");
    check(fl_discover_as, "https://a",
          "https://a/.well-known/oauth-authorization-server "
          "https://a/.well-known/openid-configuration");
    check(fl_discover_as, "https://a/",
          "https://a/.well-known/oauth-authorization-server "
          "https://a/.well-known/openid-configuration");
}

static void test_discover_refuses_what_is_no_issuer(void **state)
{
    static const char *const bad[] = {"",           "a",
                                      "ftp://a",    "https://a?x=1",
                                      "https://a#", "https://u:p@a",
                                      "file:///a",  "https://a/\n"};
    fl_buf url;

    (void)state;
    fl_buf_init(&url, 1000);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(fl_discover_as(fl_span_of(bad[i]), 0, &url),
                         FL_E_INVALID);
    fl_buf_reset(&url);
}

static bool fits(const char *resource, const char *server)
{
    return fl_discover_resource_fits(fl_span_of(resource), fl_span_of(server));
}

static void test_discover_resource_must_be_the_servers_own(void **state)
{
    (void)state;
    assert_true(fits("https://h/mcp", "https://h/mcp"));
    assert_true(fits("https://h", "https://h/mcp"));
    assert_true(fits("https://h/", "https://h/mcp"));
    assert_true(fits("https://H:443/mcp/", "https://h/mcp/v1"));
    assert_false(fits("https://evil.example.com/mcp", "https://h/mcp"));
    assert_false(fits("http://h/mcp", "https://h/mcp"));
    assert_false(fits("https://h:8443/mcp", "https://h/mcp"));
    assert_false(fits("https://h/mc", "https://h/mcp"));
    assert_false(fits("https://h/mcp/other", "https://h/mcp"));
    assert_false(fits("https://h/mcp#x", "https://h/mcp"));
    assert_false(fits("", "https://h/mcp"));
    assert_false(fits("https://h@evil/mcp", "https://h/mcp"));
}

static void test_discover_issuer_is_compared_letter_by_letter(void **state)
{
    static const char *const other[] = {"https://a/", "https://A",
                                        "https://a:443", "https://b", ""};
    fl_as as = {0};
    char issuer[] = "https://a";
    fl_error error;

    (void)state;
    as.issuer = issuer;
    assert_int_equal(fl_discover_check_as(&as, FL_SPAN("https://a"), &error),
                     FL_OK);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_int_equal(
            fl_discover_check_as(&as, fl_span_of(other[i]), &error),
            FL_E_DENIED);
    as.issuer = NULL;
    assert_int_equal(fl_discover_check_as(&as, FL_SPAN("https://a"), &error),
                     FL_E_DENIED);
}

static void test_discover_guesses_the_endpoints_of_2025_03_26(void **state)
{
    fl_as as;

    (void)state;
    assert_int_equal(
        fl_discover_guess(FL_SPAN("https://api.example.com/v1/mcp"), &as),
        FL_OK);
    assert_string_equal(as.issuer, "https://api.example.com");
    assert_string_equal(as.authorize, "https://api.example.com/authorize");
    assert_string_equal(as.token, "https://api.example.com/token");
    assert_string_equal(as.registration, "https://api.example.com/register");
    assert_true(as.guessed);
    fl_as_deinit(&as);
}

static void test_metadata_of_a_resource_are_read(void **state)
{
    fl_prm prm;

    (void)state;
    assert_int_equal(
        fl_prm_read(FL_SPAN("{\"resource\":\"https://h/m\\u0063p\","
                            "\"authorization_servers\":[\"https://a\",7,\"\","
                            "\"https://b\"],\"scopes_supported\":[\"x\",\"y z\""
                            ",\"x\",null],"
                            "\"dpop_bound_access_tokens_required\":true}"),
                    &prm),
        FL_OK);
    assert_string_equal(prm.resource, "https://h/mcp");
    assert_int_equal(prm.count, 2);
    assert_string_equal(prm.issuers[0], "https://a");
    assert_string_equal(prm.issuers[1], "https://b");
    assert_string_equal(prm.scopes, "x y z");
    assert_true(prm.dpop_required);
    fl_prm_deinit(&prm);
}

static void test_metadata_of_the_wrong_types_are_as_good_as_none(void **state)
{
    fl_prm prm;
    fl_as as;

    (void)state;
    assert_int_equal(fl_prm_read(FL_SPAN("{\"resource\":[\"x\"],"
                                         "\"authorization_servers\":\"a\","
                                         "\"scopes_supported\":{},"
                                         "\"dpop_bound_access_tokens_required\""
                                         ":\"true\"}"),
                                 &prm),
                     FL_OK);
    assert_null(prm.resource);
    assert_int_equal(prm.count, 0);
    assert_null(prm.scopes);
    assert_false(prm.dpop_required);
    fl_prm_deinit(&prm);
    assert_int_equal(
        fl_as_read(
            FL_SPAN("{\"issuer\":\"https://a\\u0000\","
                    "\"authorization_endpoint\":1,\"token_endpoint\":null,"
                    "\"code_challenge_methods_supported\":\"S256\","
                    "\"client_id_metadata_document_supported\":1}"),
            &as),
        FL_OK);
    assert_null(as.issuer);
    assert_null(as.token);
    assert_false(as.says_pkce);
    assert_false(as.cimd);
    fl_as_deinit(&as);
}

static void test_metadata_that_are_no_object_are_refused(void **state)
{
    static const char *const bad[] = {"",       "[]",         "null", "{",
                                      "<html>", "{\"a\":1}x", "\"x\""};
    fl_prm prm;
    fl_as as;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(fl_prm_read(fl_span_of(bad[i]), &prm), FL_E_BAD_JSON);
        assert_int_equal(fl_as_read(fl_span_of(bad[i]), &as), FL_E_BAD_JSON);
    }
}

static void test_metadata_list_of_issuers_at_the_limit_and_past(void **state)
{
    char text[1024] = "{\"authorization_servers\":[";
    fl_prm prm;

    (void)state;
    for (int i = 0; i < FL_PRM_ISSUERS + 1; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s\"https://a%d\"", i > 0 ? "," : "", i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "]}");
    assert_int_equal(fl_prm_read(fl_span_of(text), &prm), FL_OK);
    assert_int_equal(prm.count, FL_PRM_ISSUERS);
    assert_string_equal(prm.issuers[FL_PRM_ISSUERS - 1], "https://a7");
    fl_prm_deinit(&prm);
}

/* A document as large as is fetched at all, of one string. */
static void test_metadata_string_that_is_too_long_is_left_out(void **state)
{
    enum { LIMIT = 16 * 1024 };
    static char text[LIMIT + 64];

    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        fl_as as;
        size_t n = (size_t)snprintf(text, sizeof text, "{\"issuer\":\"");
        memset(text + n, 'i', LIMIT + extra);
        memcpy(text + n + LIMIT + extra, "\"}", 3);
        assert_int_equal(fl_as_read(fl_span_of(text), &as), FL_OK);
        assert_true((as.issuer != NULL) == (extra == 0));
        fl_as_deinit(&as);
    }
}

#define SERVER                                                                 \
    "{\"issuer\":\"https://a\",\"authorization_endpoint\":\"https://a/o\","    \
    "\"token_endpoint\":\"https://a/t\","                                      \
    "\"registration_endpoint\":\"https://a/r\","                               \
    "\"scopes_supported\":[\"offline_access\"],"                               \
    "\"token_endpoint_auth_methods_supported\":[\"client_secret_post\","       \
    "\"tls_client_auth\",\"private_key_jwt\"],"                                \
    "\"code_challenge_methods_supported\":[\"plain\",\"S256\"],"               \
    "\"dpop_signing_alg_values_supported\":[\"RS256\",\"ES256\"],"             \
    "\"client_id_metadata_document_supported\":true,"                          \
    "\"authorization_response_iss_parameter_supported\":true}"

static void test_metadata_of_an_authorization_server_are_read(void **state)
{
    fl_as as;

    (void)state;
    assert_int_equal(fl_as_read(FL_SPAN(SERVER), &as), FL_OK);
    assert_string_equal(as.issuer, "https://a");
    assert_string_equal(as.authorize, "https://a/o");
    assert_string_equal(as.token, "https://a/t");
    assert_string_equal(as.registration, "https://a/r");
    assert_string_equal(as.scopes, "offline_access");
    assert_int_equal(as.methods, 1u << FL_METHOD_POST | 1u << FL_METHOD_JWT);
    assert_true(as.cimd && as.says_iss && as.says_pkce && as.pkce && as.dpop);
    assert_false(as.guessed);
    fl_as_deinit(&as);
}

static void work(void *user)
{
    fl_as as;

    (void)user;
    fl_status rc = fl_as_read(FL_SPAN(SERVER), &as);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    if (rc == FL_OK)
        fl_as_deinit(&as);
    rc = fl_discover_guess(FL_SPAN("https://h/mcp"), &as);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    if (rc == FL_OK)
        fl_as_deinit(&as);
}

static void test_discover_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_true(ration_each(work, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_discover_resource_metadata_of_the_path_come_first),
        cmocka_unit_test(test_discover_server_metadata_in_the_order_of_mcp),
        cmocka_unit_test(test_discover_refuses_what_is_no_issuer),
        cmocka_unit_test(test_discover_resource_must_be_the_servers_own),
        cmocka_unit_test(test_discover_issuer_is_compared_letter_by_letter),
        cmocka_unit_test(test_discover_guesses_the_endpoints_of_2025_03_26),
        cmocka_unit_test(test_metadata_of_a_resource_are_read),
        cmocka_unit_test(test_metadata_of_the_wrong_types_are_as_good_as_none),
        cmocka_unit_test(test_metadata_that_are_no_object_are_refused),
        cmocka_unit_test(test_metadata_list_of_issuers_at_the_limit_and_past),
        cmocka_unit_test(test_metadata_string_that_is_too_long_is_left_out),
        cmocka_unit_test(test_metadata_of_an_authorization_server_are_read),
        cmocka_unit_test(test_discover_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("auth discover", tests, NULL, NULL);
}
