/*
 * test_defaults.c - every option at its limits and one past them.
 *
 * The table is written out again here, on purpose: a limit that is changed in
 * defaults.c by accident must disagree with somebody.
 */
#include "transport/defaults.h"

#include "base/span.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define DAY_MS UINT64_C(86400000)
#define GIB (UINT64_C(1) << 30)

enum kind { SIZE, MS, UINT, INT };

struct option {
    const char *name;
    size_t offset;
    enum kind kind;
    uint64_t normal, least, most;
};

#define OPTION(field, kind, normal, least, most)                               \
    {                                                                          \
#field, offsetof(fl_options, field), kind, normal, least, most         \
    }

static const struct option all[] = {
    OPTION(max_message, SIZE, 16777216, 64, GIB),
    OPTION(high_water, SIZE, 262144, 1, GIB),
    OPTION(open_timeout_ms, MS, 5000, 1, DAY_MS),
    OPTION(send_timeout_ms, MS, 5000, 1, DAY_MS),
    OPTION(idle_timeout_ms, MS, 300000, 1, DAY_MS),
    OPTION(lease_ms, MS, 30000, 1, DAY_MS),
    OPTION(drain_ms, MS, 1500, 1, DAY_MS),
    OPTION(max_in_flight, UINT, 1024, 1, 1000000),
    OPTION(max_connections, UINT, 1024, 1, 1000000),
    OPTION(max_per_second, UINT, 0, 0, 1000000),
    OPTION(backlog, INT, 1024, 1, 65535),
    OPTION(socket_buffer, INT, 0, 0, 67108864),
    OPTION(socket_mode, UINT, 0600, 1, 0777),
    OPTION(reconnect_attempts, UINT, 0, 0, 1000000),
    OPTION(reconnect_first_ms, MS, 1000, 1, DAY_MS),
    OPTION(reconnect_max_ms, MS, 60000, 1, DAY_MS),
    OPTION(outage_queue, SIZE, 1048576, 1, GIB),
    OPTION(http.pool, UINT, 10, 1, 1000),
    OPTION(http.pool_overflow, UINT, 5, 1, 1000),
    OPTION(child.stop_grace_ms, MS, 2000, 1, DAY_MS),
    OPTION(child.kill_grace_ms, MS, 2000, 1, DAY_MS),
};

enum { COUNT = sizeof all / sizeof *all };

static const fl_address tcp = {
    .scheme = "tcp", .host = "127.0.0.1", .port = 7332, .has_port = true};
static const fl_address tls = {
    .scheme = "tls", .host = "127.0.0.1", .port = 7332, .has_port = true};
static const fl_address stdio = {.scheme = "stdio"};

static void set(fl_options *options, const struct option *option,
                uint64_t value)
{
    char *at = (char *)options + option->offset;
    unsigned narrow = (unsigned)value;

    if (option->kind == UINT || option->kind == INT)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &value, sizeof value);
}

static uint64_t get(const fl_options *options, const struct option *option)
{
    const char *at = (const char *)options + option->offset;
    uint64_t wide;
    unsigned narrow;

    memcpy(&narrow, at, sizeof narrow);
    if (option->kind == UINT || option->kind == INT)
        return narrow;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

/* One option set, and the other end of the pair that must stay in order. */
static fl_options with(const struct option *option, uint64_t value)
{
    fl_options options = {0};

    if (strcmp(option->name, "reconnect_first_ms") == 0)
        options.reconnect_max_ms = FL_NEVER;
    if (strcmp(option->name, "reconnect_max_ms") == 0)
        options.reconnect_first_ms = 1;
    set(&options, option, value);
    return options;
}

static void assert_accepted(const struct option *option, uint64_t value)
{
    fl_options given = with(option, value), full;
    fl_error error = {.text = ""};

    if (fl_options_for_server(&given, &tcp, &full, &error) != FL_OK)
        fail_msg("%s = %" PRIu64 ": %s", option->name, value, error.text);
    assert_int_equal(get(&full, option), value);
    if (fl_options_for_client(&given, &tcp, &full, &error) != FL_OK)
        fail_msg("%s = %" PRIu64 ": %s", option->name, value, error.text);
    assert_int_equal(get(&full, option), value);
}

/* The text must name the option, its value and the range. */
static void assert_refused(const struct option *option, uint64_t value,
                           const char *shown)
{
    fl_options given = with(option, value), full;
    fl_error error = {.text = ""};
    char want[160];

    snprintf(want, sizeof want,
             "option %s: %s is out of range, want %" PRIu64 " to %" PRIu64,
             option->name, shown, option->least, option->most);
    assert_int_equal(fl_options_for_server(&given, &tcp, &full, &error),
                     FL_E_INVALID);
    assert_int_equal(error.status, FL_E_INVALID);
    assert_memory_equal(error.text, want, strlen(want));
    assert_int_equal(strstr(error.text, "FL_NEVER") != NULL,
                     option->kind == MS);
    assert_int_equal(fl_options_for_client(&given, &tcp, &full, &error),
                     FL_E_INVALID);
    assert_memory_equal(error.text, want, strlen(want));
    assert_int_equal(fl_options_for_client(&given, &tcp, &full, NULL),
                     FL_E_INVALID);
}

/* For checks that are not about a range. */
static void assert_server_says(const fl_options *given,
                               const fl_address *address, fl_status want,
                               const char *says)
{
    fl_options full;
    fl_error error = {.text = ""};
    fl_status rc = fl_options_for_server(given, address, &full, &error);

    if (rc != want || (says != NULL && strstr(error.text, says) == NULL))
        fail_msg("%s: '%s', not '%s'", fl_status_name(rc), error.text, says);
}

static void assert_client_says(const fl_options *given,
                               const fl_address *address, fl_status want,
                               const char *says)
{
    fl_options full;
    fl_error error = {.text = ""};
    fl_status rc = fl_options_for_client(given, address, &full, &error);

    if (rc != want || (says != NULL && strstr(error.text, says) == NULL))
        fail_msg("%s: '%s', not '%s'", fl_status_name(rc), error.text, says);
}

static void test_options_zero_is_the_default(void **state)
{
    fl_options full, given = {0};

    (void)state;
    assert_int_equal(fl_options_for_server(&given, &tcp, &full, NULL), FL_OK);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(get(&full, &all[i]), all[i].normal);
    assert_false(full.allow_public);
    assert_false(full.no_reconnect);
}

static void test_options_none_given_are_all_default(void **state)
{
    fl_options full;

    (void)state;
    assert_int_equal(fl_options_for_server(NULL, &tcp, &full, NULL), FL_OK);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(get(&full, &all[i]), all[i].normal);
}

static void test_options_client_is_never_idle_by_default(void **state)
{
    fl_options full;

    (void)state;
    assert_int_equal(fl_options_for_client(NULL, &tcp, &full, NULL), FL_OK);
    assert_true(full.idle_timeout_ms == FL_NEVER);
    full.idle_timeout_ms = 300000; /* all else is as for a server */
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(get(&full, &all[i]), all[i].normal);
}

static void test_options_are_accepted_at_their_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        if (all[i].least > 0)
            assert_accepted(&all[i], all[i].least);
        assert_accepted(&all[i], all[i].most);
    }
}

static void test_options_are_refused_one_past_them(void **state)
{
    char shown[32];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(shown, sizeof shown, "%" PRIu64, all[i].most + 1);
        assert_refused(&all[i], all[i].most + 1, shown);
        if (all[i].least < 2) /* below is 0, which is the default */
            continue;
        snprintf(shown, sizeof shown, "%" PRIu64, all[i].least - 1);
        assert_refused(&all[i], all[i].least - 1, shown);
    }
}

static void test_options_negative_numbers_are_refused_as_such(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        if (all[i].kind == INT) {
            assert_refused(&all[i], (uint64_t)-1, "-1");
            assert_refused(&all[i], (uint64_t)INT32_MIN, "-2147483648");
        }
}

static void test_options_huge_numbers_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        if (all[i].kind == UINT)
            assert_refused(&all[i], UINT32_MAX, "4294967295");
        else if (all[i].kind == MS)
            assert_refused(&all[i], INT64_MAX, "9223372036854775807");
        else if (all[i].kind == SIZE)
            assert_refused(&all[i], SIZE_MAX, "18446744073709551615");
}

static void test_options_only_durations_may_be_never(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        if (all[i].kind == MS)
            assert_accepted(&all[i], FL_NEVER);
}

static void test_options_first_wait_is_at_most_the_longest(void **state)
{
    fl_options given = {.reconnect_first_ms = 500, .reconnect_max_ms = 500};

    (void)state;
    assert_client_says(&given, &tcp, FL_OK, NULL);
    given.reconnect_first_ms = 501;
    assert_client_says(&given, &tcp, FL_E_INVALID,
                       "option reconnect_first_ms: 501 is more than "
                       "reconnect_max_ms, which is 500");
    given = (fl_options){.reconnect_max_ms = 999}; /* the default is 1000 */
    assert_client_says(&given, &tcp, FL_E_INVALID, "reconnect_first_ms");
    given = (fl_options){.reconnect_first_ms = 60001};
    assert_client_says(&given, &tcp, FL_E_INVALID, "reconnect_first_ms");
}

static void test_options_public_address_is_refused(void **state)
{
    static const char *const hosts[] = {"0.0.0.0", "::", "192.0.2.1",
                                        "example.org"};
    fl_options open = {.allow_public = true};

    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        fl_address address = tcp;
        snprintf(address.host, sizeof address.host, "%s", hosts[i]);
        assert_server_says(NULL, &address, FL_E_DENIED, hosts[i]);
        assert_server_says(NULL, &address, FL_E_DENIED, "allow_public");
        assert_server_says(&open, &address, FL_OK, NULL);
        assert_client_says(NULL, &address, FL_OK, NULL);
    }
}

static void test_options_local_address_is_not(void **state)
{
    static const fl_address v6 = {
        .scheme = "tcp", .host = "::1", .has_port = true};
    static const fl_address path = {.scheme = "unix", .path = "/x"};

    (void)state;
    assert_server_says(NULL, &tcp, FL_OK, NULL);
    assert_server_says(NULL, &v6, FL_OK, NULL);
    assert_server_says(NULL, &path, FL_OK, NULL);
    assert_server_says(NULL, &stdio, FL_OK, NULL);
}

/* A file that can be read; what is in it is for the TLS code to judge. */
static char file[] = "/tmp/test_defaults.XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(file);

    (void)state;
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(file);
}

static void test_options_tls_server_needs_certificate_and_key(void **state)
{
    fl_options given = {0};

    (void)state;
    assert_server_says(&given, &tls, FL_E_INVALID,
                       "option tls.cert_file: missing");
    given.tls.cert_file = file;
    assert_server_says(&given, &tls, FL_E_INVALID,
                       "option tls.key_file: missing");
    given.tls.key_file = file;
    assert_server_says(&given, &tls, FL_OK, NULL);
    given.tls.cert_file = NULL;
    assert_server_says(&given, &tls, FL_E_INVALID,
                       "option tls.cert_file: missing");
    assert_client_says(&given, &tls, FL_E_INVALID,
                       "option tls.cert_file: missing");
}

static void test_options_mutual_tls_needs_to_know_whom_to_trust(void **state)
{
    fl_options given = {.tls = {.cert_file = file,
                                .key_file = file,
                                .require_client_cert = true}};

    (void)state;
    assert_server_says(&given, &tls, FL_E_INVALID,
                       "option tls.ca_file: missing");
    given.tls.ca_file = file;
    assert_server_says(&given, &tls, FL_OK, NULL);
}

static void test_options_mutual_tls_may_be_public(void **state)
{
    fl_address address = tls;
    fl_options given = {
        .tls = {.cert_file = file, .key_file = file, .ca_file = file}};

    (void)state;
    memcpy(address.host, "0.0.0.0", 8);
    assert_server_says(&given, &address, FL_E_DENIED, "0.0.0.0");
    given.tls.require_client_cert = true;
    assert_server_says(&given, &address, FL_OK, NULL);
    memcpy(address.scheme, "tcp", 4); /* where nobody asks for it */
    assert_server_says(&given, &address, FL_E_INVALID,
                       "tls.require_client_cert");
    given.tls.require_client_cert = false;
    assert_server_says(&given, &address, FL_E_DENIED, "0.0.0.0");
}

static void test_options_keys_ask_who_it_is(void **state)
{
    fl_keys *keys = fl_keys_new();
    fl_options given = {.http.keys = keys};
    fl_options both = {.http.keys = keys, .allow_public = true};
    static const char *const asking[] = {"http", "sse+http", "ws"};
    fl_address address = {.host = "0.0.0.0", .has_port = true, .port = 80};

    (void)state;
    assert_non_null(keys);
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++) {
        snprintf(address.scheme, sizeof address.scheme, "%s", asking[i]);
        assert_server_says(NULL, &address, FL_E_DENIED, "http.keys");
        assert_server_says(&given, &address, FL_OK, NULL);
    }
    /* where nobody would be asked for one, whatever else is said */
    snprintf(address.scheme, sizeof address.scheme, "tcp");
    assert_server_says(&given, &address, FL_E_INVALID, "HTTP and WebSocket");
    assert_server_says(&both, &address, FL_E_INVALID, "tcp://0.0.0.0");
    assert_server_says(&given, &tcp, FL_OK, NULL);
    fl_keys_free(keys);
}

static void test_options_what_pages_are_told_is_checked(void **state)
{
    static const char *const urls[] = {
        "example.org/gate",
        "ftp://example.org",
        "https://",
        "https://example.org/gate?x=1",
        "https://example.org/#x",
        "https://example.org/a b",
        "https://u@example.org/a",
        "/gate",
        "",
    };
    const char *names[] = {"X-Team", "X Team", NULL};
    fl_address address = {
        .scheme = "http", .host = "127.0.0.1", .has_port = true, .port = 80};
    fl_options given = {.http.allow_headers = names};

    (void)state;
    assert_server_says(&given, &address, FL_E_INVALID, "http.allow_headers");
    assert_server_says(&given, &address, FL_E_INVALID, "X Team");
    given = (fl_options){.http.expose_headers = names};
    assert_server_says(&given, &address, FL_E_INVALID, "http.expose_headers");
    names[1] = "X-Other";
    assert_server_says(&given, &address, FL_OK, NULL);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        given = (fl_options){.http.base_url = urls[i]};
        assert_server_says(&given, &address, FL_E_INVALID, "http.base_url");
    }
    given = (fl_options){.http.base_url = "https://example.org:8443/gate/"};
    assert_server_says(&given, &address, FL_OK, NULL);
}

static void test_options_abstract_sockets_are_public(void **state)
{
    fl_address address = {.scheme = "unix", .path = "@name"};
    fl_options given = {.allow_public = true};

    (void)state;
    assert_server_says(NULL, &address, FL_E_DENIED, "@name");
    assert_server_says(&given, &address, FL_OK, NULL);
    assert_client_says(NULL, &address, FL_OK, NULL);
}

static void test_options_child_drops_its_group_with_its_user(void **state)
{
    const char *argv[] = {"true", NULL};
    fl_address address = {.scheme = "stdio"};
    fl_options given = {.child = {.argv = argv, .set_uid = true, .uid = 1}};

    (void)state;
    assert_client_says(&given, &address, FL_E_INVALID, "child.gid");
    given.child.set_gid = true;
    assert_client_says(&given, &address, FL_OK, NULL);
}

static void test_options_tls_files_must_be_readable(void **state)
{
    static const char *const missing = "/nowhere/at/all.pem";
    const char *const names[] = {"tls.cert_file", "tls.key_file",
                                 "tls.ca_file"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        fl_options given = {.tls = {.cert_file = i == 0 ? missing : file,
                                    .key_file = i == 1 ? missing : file,
                                    .ca_file = i == 2 ? missing : file}};
        assert_server_says(&given, &tls, FL_E_INVALID, names[i]);
        assert_server_says(&given, &tls, FL_E_INVALID, missing);
        assert_client_says(&given, &tls, FL_E_INVALID, names[i]);
    }
}

static void test_options_client_needs_no_tls_settings(void **state)
{
    fl_options given = {.tls = {.ca_file = file, .server_name = "x"}};

    (void)state;
    assert_client_says(NULL, &tls, FL_OK, NULL);
    assert_client_says(&given, &tls, FL_OK, NULL);
}

static void test_options_address_lists_are_checked(void **state)
{
    fl_options given = {.allow_addresses = LIST("10.0.0.0/8", "::1"),
                        .deny_addresses = LIST("10.6.6.6")};

    (void)state;
    assert_server_says(&given, &tcp, FL_OK, NULL);
    given.allow_addresses = LIST("::1", "10.0.0.0/33");
    assert_server_says(&given, &tcp, FL_E_INVALID,
                       "option allow_addresses: '10.0.0.0/33'");
    given.allow_addresses = NULL;
    given.deny_addresses = LIST("example.org");
    assert_server_says(&given, &tcp, FL_E_INVALID,
                       "option deny_addresses: 'example.org'");
}

static void test_options_child_needs_a_command(void **state)
{
    const char *const none[] = {NULL};
    fl_options given = {0};

    (void)state;
    assert_client_says(NULL, &stdio, FL_E_INVALID, "option child.argv: empty");
    given.child.argv = none;
    assert_client_says(&given, &stdio, FL_E_INVALID,
                       "option child.argv: empty");
    given.child.argv = LIST("");
    assert_client_says(&given, &stdio, FL_E_INVALID,
                       "option child.argv: empty");
    given.child.argv = LIST("server", "");
    assert_client_says(&given, &stdio, FL_OK, NULL);
    given.child.argv = NULL;
    assert_client_says(&given, &tcp, FL_OK, NULL); /* not its affair */
    assert_server_says(&given, &stdio, FL_OK, NULL);
}

static void test_options_child_environment_is_names_and_values(void **state)
{
    fl_options given = {.child.argv = LIST("server")};

    (void)state;
    given.child.env = LIST("A=1", "B=", "C==");
    assert_client_says(&given, &stdio, FL_OK, NULL);
    given.child.env = LIST("A=1", "NAME");
    assert_client_says(&given, &stdio, FL_E_INVALID,
                       "option child.env: 'NAME' is not NAME=value");
    given.child.env = LIST("");
    assert_client_says(&given, &stdio, FL_E_INVALID, "option child.env");
}

/* A value may be a password: what follows the "=" is never shown. */
static void test_options_child_error_shows_no_value(void **state)
{
    fl_options given = {
        .child = {.argv = LIST("server"), .env = LIST("=hunter2")}};
    fl_options full;
    fl_error error;

    (void)state;
    assert_int_equal(fl_options_for_client(&given, &stdio, &full, &error),
                     FL_E_INVALID);
    assert_null(strstr(error.text, "hunter2"));
    assert_non_null(strstr(error.text, "child.env"));
}

static void test_options_nobody_connects_to_port_0(void **state)
{
    fl_address address = tcp;

    (void)state;
    address.port = 0;
    assert_client_says(NULL, &address, FL_E_INVALID, "port 0");
    assert_server_says(NULL, &address, FL_OK, NULL);
    address.port = 1;
    assert_client_says(NULL, &address, FL_OK, NULL);
}

static void test_options_given_are_left_alone(void **state)
{
    fl_options given = {.max_message = 100, .tls.server_name = "x"};
    fl_options full, before = given;

    (void)state;
    assert_int_equal(fl_options_for_client(&given, &tcp, &full, NULL), FL_OK);
    assert_memory_equal(&given, &before, sizeof given);
    assert_ptr_equal(full.tls.server_name, given.tls.server_name);
    assert_int_equal(full.max_message, 100);
}

static void test_options_limits_leave_room_for_one_whole_message(void **state)
{
    fl_options given = {.max_message = GIB,
                        .high_water = GIB,
                        .send_timeout_ms = 7,
                        .open_timeout_ms = 8,
                        .socket_buffer = 4096};
    fl_options full;

    (void)state;
    assert_int_equal(fl_options_for_server(&given, &tcp, &full, NULL), FL_OK);
    fl_stream_limits limits = fl_options_limits(&full);
    assert_int_equal(limits.high_water, GIB);
    assert_true(limits.out_max > limits.high_water + GIB);
    assert_int_equal(limits.send_timeout_ms, 7);
    assert_int_equal(limits.open_timeout_ms, 8);
    assert_int_equal(limits.recv_buffer, 4096);
    assert_int_equal(limits.send_buffer, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_zero_is_the_default),
        cmocka_unit_test(test_options_none_given_are_all_default),
        cmocka_unit_test(test_options_client_is_never_idle_by_default),
        cmocka_unit_test(test_options_are_accepted_at_their_limits),
        cmocka_unit_test(test_options_are_refused_one_past_them),
        cmocka_unit_test(test_options_negative_numbers_are_refused_as_such),
        cmocka_unit_test(test_options_huge_numbers_are_refused),
        cmocka_unit_test(test_options_only_durations_may_be_never),
        cmocka_unit_test(test_options_first_wait_is_at_most_the_longest),
        cmocka_unit_test(test_options_public_address_is_refused),
        cmocka_unit_test(test_options_local_address_is_not),
        cmocka_unit_test(test_options_tls_server_needs_certificate_and_key),
        cmocka_unit_test(test_options_mutual_tls_needs_to_know_whom_to_trust),
        cmocka_unit_test(test_options_mutual_tls_may_be_public),
        cmocka_unit_test(test_options_keys_ask_who_it_is),
        cmocka_unit_test(test_options_what_pages_are_told_is_checked),
        cmocka_unit_test(test_options_abstract_sockets_are_public),
        cmocka_unit_test(test_options_child_drops_its_group_with_its_user),
        cmocka_unit_test(test_options_tls_files_must_be_readable),
        cmocka_unit_test(test_options_client_needs_no_tls_settings),
        cmocka_unit_test(test_options_address_lists_are_checked),
        cmocka_unit_test(test_options_child_needs_a_command),
        cmocka_unit_test(test_options_child_environment_is_names_and_values),
        cmocka_unit_test(test_options_child_error_shows_no_value),
        cmocka_unit_test(test_options_nobody_connects_to_port_0),
        cmocka_unit_test(test_options_given_are_left_alone),
        cmocka_unit_test(test_options_limits_leave_room_for_one_whole_message),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
