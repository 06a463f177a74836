/*
 * test_target.c - options that outlive whoever gave them.
 */
#include "client/target.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const words[] = {"one", "", "three", NULL};
static const char *const none[] = {NULL};

/* Every pointer there is. */
static const fl_options given = {
    .max_message = 17,
    .allow_addresses = words,
    .deny_addresses = none,
    .tls = {.cert_file = "cert",
            .key_file = "key",
            .ca_file = "ca",
            .server_name = "name"},
    .child = {.argv = words,
              .env = words,
              .env_inherit = words,
              .cwd = "cwd",
              .allow = words},
    .http = {.sse_path = "/sse",
             .messages_path = "/messages",
             .allow_origins = words,
             .allow_hosts = words,
             .headers = words},
};

static void check_text(const char *kept, const char *text)
{
    assert_string_equal(kept, text);
    assert_ptr_not_equal(kept, text);
}

static void check_words(const char *const *kept)
{
    assert_ptr_not_equal(kept, words);
    for (int i = 0; i < 3; i++)
        check_text(kept[i], words[i]);
    assert_null(kept[3]);
}

static void test_target_keeps_copies_of_all_texts(void **state)
{
    fl_target target;
    const fl_options *kept = &target.options;

    (void)state;
    assert_int_equal(fl_target_init(&target, "tcp://h:1", &given), FL_OK);
    check_text(target.url, "tcp://h:1");
    assert_int_equal(kept->max_message, 17);
    check_text(kept->tls.cert_file, given.tls.cert_file);
    check_text(kept->tls.key_file, given.tls.key_file);
    check_text(kept->tls.ca_file, given.tls.ca_file);
    check_text(kept->tls.server_name, given.tls.server_name);
    check_text(kept->child.cwd, given.child.cwd);
    check_text(kept->http.sse_path, given.http.sse_path);
    check_text(kept->http.messages_path, given.http.messages_path);
    const char *const *const lists[] = {
        kept->child.argv,   kept->child.env,          kept->child.env_inherit,
        kept->child.allow,  kept->http.allow_origins, kept->http.allow_hosts,
        kept->http.headers, kept->allow_addresses};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        check_words(lists[i]);
    assert_ptr_not_equal(kept->deny_addresses, none);
    assert_null(kept->deny_addresses[0]);
    fl_target_deinit(&target);
    assert_null(target.url);
}

static void test_target_keeps_nothing_of_nothing(void **state)
{
    static const fl_options nothing;
    fl_target target;

    (void)state;
    assert_int_equal(fl_target_init(&target, NULL, &nothing), FL_OK);
    assert_null(target.url);
    assert_null(target.options.child.argv);
    assert_null(target.options.tls.ca_file);
    fl_target_deinit(&target);
    fl_target_deinit(&target); /* harmless */
}

static const char *hint(const char *url, fl_status status)
{
    static fl_error why;
    const fl_target target = {.url = url};

    why = (fl_error){.status = status, .text = "nothing is here"};
    fl_target_hint(&target, &why);
    assert_int_equal(why.status, status);
    return why.text;
}

static void test_target_without_a_path_gets_a_hint(void **state)
{
    static const char *const urls[] = {"http://h:1", "https://h", "ws://h:1",
                                       "wss://[::1]:1"};
    char slash[64], says[128];

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        snprintf(says, sizeof says,
                 "nothing is here; the address has no path: try %s/mcp",
                 urls[i]);
        snprintf(slash, sizeof slash, "%s/", urls[i]);
        assert_string_equal(hint(urls[i], FL_E_REMOTE), says);
        assert_string_equal(hint(slash, FL_E_NOT_FOUND), says);
    }
}

static void test_target_gets_no_hint_that_does_not_help(void **state)
{
    static const char *const urls[] = {
        "http://h/mcp",  "http://h//", "http://h?x=1",
        "http://h/?x=1", "tcp://h:1",  "unix:/run/http",
        "sse+http://h",  "http:h",     NULL};

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        assert_string_equal(hint(urls[i], FL_E_REMOTE), "nothing is here");
    assert_string_equal(hint("http://h", FL_E_REFUSED), "nothing is here");
    assert_string_equal(hint("http://h", FL_E_TIMEOUT), "nothing is here");
}

static void try_it(void *user)
{
    fl_target target;

    (void)user;
    if (fl_target_init(&target, "stdio:", &given) != FL_OK)
        assert_null(target.block);
    fl_target_deinit(&target);
}

static void test_target_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_int_equal(ration_each(try_it, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target_keeps_copies_of_all_texts),
        cmocka_unit_test(test_target_keeps_nothing_of_nothing),
        cmocka_unit_test(test_target_without_a_path_gets_a_hint),
        cmocka_unit_test(test_target_gets_no_hint_that_does_not_help),
        cmocka_unit_test(test_target_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
