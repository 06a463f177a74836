/*
 * test_target.c - options that outlive whoever gave them.
 */
#include "client/target.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
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
        cmocka_unit_test(test_target_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
