/*
 * test_auth.c - an fl_auth is made or refused, and nothing said out of turn
 * does anything.
 */
#include "base/mem.h"
#include "base/span.h"
#include "support/ration.h"

#include <fairlead/fairlead.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void open_url(fl_auth *auth, const char *url, void *user)
{
    (void)auth;
    (void)url;
    (void)user;
}

static void refused(const fl_auth_options *options, const char *names)
{
    fl_error error;
    fl_auth *auth;

    assert_int_equal(fl_auth_new(options, &auth, &error), FL_E_INVALID);
    assert_null(auth);
    if (strstr(error.text, names) == NULL)
        fail_msg("'%s' does not name %s", error.text, names);
}

static void taken(const fl_auth_options *options)
{
    fl_error error;
    fl_auth *auth;

    if (fl_auth_new(options, &auth, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_auth_free(auth);
}

#define BROWSER .hooks = {.open_url = open_url}

static void test_auth_names_the_option_that_is_wrong(void **state)
{
    (void)state;
    refused(&(fl_auth_options){0}, "hooks");
    refused(&(fl_auth_options){.hooks = {.authorize = open_url}},
            "redirect_uri");
    refused(&(fl_auth_options){BROWSER, .client_secret = "s"}, "client_secret");
    refused(&(fl_auth_options){BROWSER, .client_metadata_url = "http://h/c"},
            "client_metadata_url");
    refused(&(fl_auth_options){BROWSER, .client_metadata_url = "https://h"},
            "client_metadata_url");
    refused(&(fl_auth_options){BROWSER, .client_metadata_url = "https://h/"},
            "client_metadata_url");
    refused(&(fl_auth_options){BROWSER, .client_metadata_url = "https:///x"},
            "client_metadata_url");
    refused(&(fl_auth_options){.grant = FL_AUTH_CLIENT_CREDENTIALS,
                               .client_id = "c"},
            "client_id");
    refused(&(fl_auth_options){.grant = FL_AUTH_JWT_BEARER}, "assertion");
    refused(&(fl_auth_options){.grant = FL_AUTH_ENTERPRISE, .client_id = "c"},
            "idp");
    refused(&(fl_auth_options){.grant = (fl_auth_grant)9}, "grant");
    refused(&(fl_auth_options){.grant = FL_AUTH_CLIENT_CREDENTIALS,
                               .client_id = "c",
                               .private_key_pem = "no key"},
            "private key");
}

static void test_auth_is_made_of_what_each_grant_needs(void **state)
{
    (void)state;
    taken(&(fl_auth_options){BROWSER});
    taken(
        &(fl_auth_options){BROWSER, .client_metadata_url = "https://h/c.json"});
    taken(&(fl_auth_options){.hooks = {.authorize = open_url},
                             .redirect_uri = "app:/callback"});
    taken(&(fl_auth_options){.grant = FL_AUTH_CLIENT_CREDENTIALS,
                             .client_id = "c",
                             .client_secret = "s"});
    taken(&(fl_auth_options){.grant = FL_AUTH_JWT_BEARER, .assertion = "a"});
    taken(&(fl_auth_options){
        .grant = FL_AUTH_ENTERPRISE,
        .client_id = "c",
        .idp = {.token_endpoint = "https://i/t", .id_token = "t"}});
}

static void test_auth_hears_nothing_that_it_did_not_ask(void **state)
{
    fl_error error;
    fl_auth *auth;

    (void)state;
    assert_int_equal(fl_auth_new(&(fl_auth_options){BROWSER}, &auth, &error),
                     FL_OK);
    fl_auth_redirected(auth, "http://127.0.0.1/?code=x");
    fl_auth_set_token(auth, "t");
    fl_auth_deny(auth, "no");
    assert_int_equal(fl_auth_forget(auth), FL_OK);
    assert_int_equal(fl_auth_restore(auth, FL_SPAN("{")), FL_E_BAD_JSON);
    assert_int_equal(fl_auth_restore(auth, FL_SPAN("{\"server\":\"x\"}")),
                     FL_OK);
    fl_auth_free(auth);
    fl_auth_free(NULL);
}

static void give_token(fl_auth *auth, bool refused, void *user)
{
    (void)refused;
    (void)user;
    fl_auth_set_token(auth, "secret");
}

/* That a server may be asked in the clear does not mean that a token may. */
static void test_auth_is_not_for_servers_in_the_clear(void **state)
{
    fl_auth_options options = {.hooks = {.token = give_token}};
    fl_client_options through = {.connection.http.allow_plaintext = true};
    fl_loop *loop = fl_loop_new();
    fl_client *client;
    fl_error error;

    (void)state;
    assert_int_equal(
        fl_auth_new(&options, &through.connection.http.auth, &error), FL_OK);
    assert_int_equal(fl_client_open(loop, "http://192.0.2.1/mcp", &through,
                                    NULL, NULL, &client, &error),
                     FL_E_DENIED);
    assert_non_null(strstr(error.text, "in the clear"));
    fl_auth_free(through.connection.http.auth);
    fl_loop_free(loop);
}

static void work(void *user)
{
    fl_error error;
    fl_auth *auth;

    (void)user;
    fl_status rc =
        fl_auth_new(&(fl_auth_options){BROWSER, .client_id = "c",
                                       .client_secret = "s", .scope = "x"},
                    &auth, &error);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_auth_free(auth);
}

static void test_auth_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_int_equal(ration_each(work, NULL), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auth_names_the_option_that_is_wrong),
        cmocka_unit_test(test_auth_is_made_of_what_each_grant_needs),
        cmocka_unit_test(test_auth_hears_nothing_that_it_did_not_ask),
        cmocka_unit_test(test_auth_is_not_for_servers_in_the_clear),
        cmocka_unit_test(test_auth_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("auth", tests, NULL, NULL);
}
