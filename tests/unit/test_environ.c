/*
 * test_environ.c - what of our environment a child gets to see.
 */
#include "transport/environ.h"

#include "base/mem.h"
#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The list made, joined with spaces. */
static const char *made_of(const char *const *parent,
                           const char *const *inherit, const char *const *extra)
{
    static char text[256];
    const char **made = fl_environ_make(parent, inherit, extra);
    size_t n = 0;

    assert_non_null(made);
    text[0] = '\0';
    for (size_t i = 0; made[i] != NULL; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s",
                              i > 0 ? " " : "", made[i]);
    fl_mem_free(made);
    return text;
}

static void test_environ_names_that_look_like_secrets_are(void **state)
{
    static const char *const secrets[] = {
        "API_KEY",         "KEY",           "KEYS",           "SSH_KEYS",
        "KEY_ID",          "GITHUB_TOKEN",  "TOKEN",          "MYTOKEN2",
        "github_token",    "ApiKey",        "OPENAI_APIKEY",  "DB_PASSWORD",
        "PGPASSWORD",      "MYSQL_PWD",     "DB_PASS",        "PASS",
        "LDAP_PASSWD",     "CLIENT_SECRET", "SECRETS",        "AWS_SECRET_KEY",
        "AWS_CREDENTIALS", "GH_PAT",        "BASIC_AUTH",     "AUTH",
        "SENTRY_DSN",      "SSH_PRIVATE",   "SESSION_COOKIE", "JWT",
        "WIFI_PSK",
    };

    (void)state;
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (!fl_environ_is_secret(fl_span_of(secrets[i])))
            fail_msg("%s was not taken for a secret", secrets[i]);
}

static void test_environ_names_of_everyday_are_not(void **state)
{
    static const char *const plain[] = {
        "PATH",      "HOME",    "PWD",    "OLDPWD", "LANG", "KEYBOARD",
        "MONKEY",    "COMPASS", "AUTHOR", "PATCH",  "TERM", "XKEYS",
        "PASSENGER", "LC_ALL",  "USER",   "KE",     "",     "_",
    };

    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (fl_environ_is_secret(fl_span_of(plain[i])))
            fail_msg("%s was taken for a secret", plain[i]);
    assert_false(fl_environ_is_secret((fl_span){0}));
}

static void test_environ_reads_no_further_than_the_name(void **state)
{
    (void)state;
    assert_false(fl_environ_is_secret((fl_span){"PATH_TOKEN", 4}));
    assert_false(fl_environ_is_secret((fl_span){"TOKEN", 4}));
    assert_false(fl_environ_is_secret((fl_span){"KEYS", 2}));
}

static void test_environ_secrets_stay_behind(void **state)
{
    (void)state;
    assert_string_equal(
        made_of(LIST("PATH=/bin", "API_KEY=1", "HOME=/", "X_TOKEN="), NULL,
                NULL),
        "PATH=/bin HOME=/");
}

/* The name decides, not the value. */
static void test_environ_values_are_not_looked_at(void **state)
{
    (void)state;
    assert_string_equal(made_of(LIST("HINT=MY_TOKEN", "A=b=c"), NULL, NULL),
                        "HINT=MY_TOKEN A=b=c");
}

static void test_environ_named_secrets_come_along(void **state)
{
    (void)state;
    assert_string_equal(made_of(LIST("A_KEY=1", "B_KEY=2", "C_KEY=3"),
                                LIST("B_KEY", "C", "D_KEY"), NULL),
                        "B_KEY=2");
}

static void test_environ_what_is_set_comes_on_top(void **state)
{
    (void)state;
    assert_string_equal(made_of(LIST("A=1", "B=2", "A_KEY=3"), LIST("A_KEY"),
                                LIST("A=9", "A_KEY=8", "NEW_TOKEN=7")),
                        "B=2 A=9 A_KEY=8 NEW_TOKEN=7");
    assert_string_equal(made_of(LIST("AB=1"), NULL, LIST("A=2")), "AB=1 A=2");
}

static void test_environ_lists_may_be_missing_or_empty(void **state)
{
    const char *const none[] = {NULL};

    (void)state;
    assert_string_equal(made_of(NULL, NULL, NULL), "");
    assert_string_equal(made_of(none, none, none), "");
    assert_string_equal(made_of(NULL, NULL, LIST("A=1")), "A=1");
}

static void make_with_little_memory(void *user)
{
    const char **made = fl_environ_make(LIST("A=1"), NULL, LIST("B=2"));

    (void)user;
    assert_int_equal(made == NULL, ration_refused());
    fl_mem_free(made);
}

static void test_environ_is_one_allocation(void **state)
{
    (void)state;
    assert_int_equal(ration_each(make_with_little_memory, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environ_names_that_look_like_secrets_are),
        cmocka_unit_test(test_environ_names_of_everyday_are_not),
        cmocka_unit_test(test_environ_reads_no_further_than_the_name),
        cmocka_unit_test(test_environ_secrets_stay_behind),
        cmocka_unit_test(test_environ_values_are_not_looked_at),
        cmocka_unit_test(test_environ_named_secrets_come_along),
        cmocka_unit_test(test_environ_what_is_set_comes_on_top),
        cmocka_unit_test(test_environ_lists_may_be_missing_or_empty),
        cmocka_unit_test(test_environ_is_one_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
