/*
 * test_http2_rules.c - which fields a message of HTTP/2 may have (RFC 9113 8.2
 * and 8.3), byte by byte and pseudo field by pseudo field.
 */
#include "wire/http2_rules.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_name(const char *name, unsigned want, bool ok)
{
    uint8_t kind = UINT8_MAX;

    if (fl_http2_name_ok(fl_span_of(name), &kind) != ok || kind != want)
        fail_msg("\"%s\" is %s, and of kind %u", name, ok ? "refused" : "taken",
                 kind);
}

static void check_value(uint8_t kind, const char *value, bool ok)
{
    if (fl_http2_value_ok(kind, fl_span_of(value)) != ok)
        fail_msg("\"%s\" for %u is %s", value, kind, ok ? "refused" : "taken");
}

static void test_http2_names_are_known_by_their_kind(void **state)
{
    (void)state;
    check_name("x-anything", FL_FIELD_OTHER, true);
    check_name("host", FL_FIELD_HOST, true);
    check_name("te", FL_FIELD_TE, true);
    check_name(":authority", FL_PSEUDO_AUTHORITY, true);
    check_name(":method", FL_PSEUDO_METHOD, true);
    check_name(":path", FL_PSEUDO_PATH, true);
    check_name(":protocol", FL_PSEUDO_PROTOCOL, true);
    check_name(":scheme", FL_PSEUDO_SCHEME, true);
    check_name(":status", FL_PSEUDO_STATUS, true);
}

static void test_http2_names_that_are_none_are_refused(void **state)
{
    (void)state;
    check_name("", FL_FIELD_OTHER, false);
    check_name(":", FL_FIELD_OTHER, false);
    check_name("::path", FL_FIELD_OTHER, false);
    check_name(":pat", FL_FIELD_OTHER, false);
    check_name(":Path", FL_FIELD_OTHER, false);
    check_name(":path ", FL_FIELD_OTHER, false);
    check_name(":host", FL_FIELD_OTHER, false);
    check_name("path:", FL_FIELD_OTHER, false);
}

static void test_http2_names_of_http1_are_refused(void **state)
{
    (void)state;
    check_name("connection", FL_FIELD_CONNECTION, false);
    check_name("keep-alive", FL_FIELD_KEEP_ALIVE, false);
    check_name("proxy-connection", FL_FIELD_PROXY_CONNECTION, false);
    check_name("transfer-encoding", FL_FIELD_TRANSFER_ENCODING, false);
    check_name("upgrade", FL_FIELD_UPGRADE, false);
}

/* First, last and in between, and in names as long as a vector. */
static void test_http2_names_are_lower_case_tokens(void **state)
{
    static const char good[] = "!#$%&'*+-.^_`|~0123456789"
                               "abcdefghijklmnopqrstuvwxyz";
    const size_t lengths[] = {1, 2, 15, 16, 17, 40};

    (void)state;
    for (unsigned c = 0; c < 256; c++)
        for (size_t i = 0; i < COUNT(lengths); i++)
            for (size_t at = 0; at < lengths[i]; at++) {
                char name[40];
                uint8_t kind;
                memset(name, 'x', sizeof name);
                name[at] = (char)c;
                bool want = memchr(good, (int)c, sizeof good - 1) != NULL;
                if (fl_http2_name_ok((fl_span){name, lengths[i]}, &kind) !=
                    want)
                    fail_msg("%#x at %zu of %zu", c, at, lengths[i]);
            }
}

/* Any text, but controls nowhere and blanks at neither end. */
static void test_http2_values_have_no_controls(void **state)
{
    const size_t lengths[] = {1, 2, 15, 16, 17, 40};

    (void)state;
    assert_true(fl_http2_value_ok(FL_FIELD_OTHER, (fl_span){0}));
    for (unsigned c = 0; c < 256; c++)
        for (size_t i = 0; i < COUNT(lengths); i++)
            for (size_t at = 0; at < lengths[i]; at++) {
                char value[40];
                bool edge = at == 0 || at == lengths[i] - 1;
                bool blank = c == ' ' || c == '\t';
                bool want = blank ? !edge : c > ' ' && c != 0x7f;
                memset(value, 'x', sizeof value);
                value[at] = (char)c;
                if (fl_http2_value_ok(FL_FIELD_OTHER,
                                      (fl_span){value, lengths[i]}) != want)
                    fail_msg("%#x at %zu of %zu", c, at, lengths[i]);
            }
}

static void test_http2_status_has_three_digits_and_is_not_101(void **state)
{
    char text[8];

    (void)state;
    for (unsigned status = 0; status < 1100; status++) {
        (void)snprintf(text, sizeof text, "%u", status);
        check_value(FL_PSEUDO_STATUS, text,
                    status > 99 && status < 1000 && status != 101);
    }
    check_value(FL_PSEUDO_STATUS, "", false);
    check_value(FL_PSEUDO_STATUS, "020", false);
    check_value(FL_PSEUDO_STATUS, "20x", false);
    check_value(FL_PSEUDO_STATUS, "+20", false);
    check_value(FL_PSEUDO_STATUS, "200 ", false);
}

static void test_http2_length_is_a_number(void **state)
{
    (void)state;
    check_value(FL_FIELD_CONTENT_LENGTH, "0", true);
    check_value(FL_FIELD_CONTENT_LENGTH, "007", true);
    check_value(FL_FIELD_CONTENT_LENGTH, "999999999999999999", true);
    check_value(FL_FIELD_CONTENT_LENGTH, "1000000000000000000", false);
    check_value(FL_FIELD_CONTENT_LENGTH, "", false);
    check_value(FL_FIELD_CONTENT_LENGTH, "-1", false);
    check_value(FL_FIELD_CONTENT_LENGTH, "+1", false);
    check_value(FL_FIELD_CONTENT_LENGTH, " 1", false);
    check_value(FL_FIELD_CONTENT_LENGTH, "1,1", false);
    check_value(FL_FIELD_CONTENT_LENGTH, "0x1", false);
}

static void test_http2_te_is_trailers(void **state)
{
    (void)state;
    check_value(FL_FIELD_TE, "trailers", true);
    check_value(FL_FIELD_TE, "", false);
    check_value(FL_FIELD_TE, "gzip", false);
    check_value(FL_FIELD_TE, "trailers, deflate", false);
}

static void test_http2_method_and_protocol_are_tokens(void **state)
{
    static const uint8_t kinds[] = {FL_PSEUDO_METHOD, FL_PSEUDO_PROTOCOL};

    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        check_value(kinds[i], "GET", true);
        check_value(kinds[i], "websocket", true);
        check_value(kinds[i], "", false);
        check_value(kinds[i], "GET ", false);
        check_value(kinds[i], "GE\nT", false);
        check_value(kinds[i], "G/T", false);
    }
}

static void test_http2_path_has_no_blanks(void **state)
{
    (void)state;
    check_value(FL_PSEUDO_PATH, "/", true);
    check_value(FL_PSEUDO_PATH, "*", true);
    check_value(FL_PSEUDO_PATH, "/mcp?a=b", true);
    check_value(FL_PSEUDO_PATH, "", false);
    check_value(FL_PSEUDO_PATH, "/a b", false);
    check_value(FL_PSEUDO_PATH, "/a\tb", false);
    check_value(FL_PSEUDO_PATH, "/a HTTP/1.1\r\nx: y", false);
    check_value(FL_PSEUDO_PATH, "/\x7f", false);
    check_value(FL_PSEUDO_PATH, "/\xc3\xa4", false);
}

static void test_http2_scheme_begins_with_a_letter(void **state)
{
    (void)state;
    check_value(FL_PSEUDO_SCHEME, "http", true);
    check_value(FL_PSEUDO_SCHEME, "HTTPS", true);
    check_value(FL_PSEUDO_SCHEME, "a+b-c.9", true);
    check_value(FL_PSEUDO_SCHEME, "", false);
    check_value(FL_PSEUDO_SCHEME, "9p", false);
    check_value(FL_PSEUDO_SCHEME, "+a", false);
    check_value(FL_PSEUDO_SCHEME, "http:", false);
    check_value(FL_PSEUDO_SCHEME, "http://a/", false);
    check_value(FL_PSEUDO_SCHEME, "ht tp", false);
}

static void test_http2_authority_is_a_host_and_a_port(void **state)
{
    (void)state;
    check_value(FL_PSEUDO_AUTHORITY, "example.com", true);
    check_value(FL_PSEUDO_AUTHORITY, "example.com:65535", true);
    check_value(FL_PSEUDO_AUTHORITY, "[::1]:80", true);
    check_value(FL_PSEUDO_AUTHORITY, "", false);
    check_value(FL_PSEUDO_AUTHORITY, "example.com:65536", false);
    check_value(FL_PSEUDO_AUTHORITY, "user@example.com", false);
    check_value(FL_PSEUDO_AUTHORITY, "example.com/x", false);
    check_value(FL_PSEUDO_AUTHORITY, "a b", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http2_names_are_known_by_their_kind),
        cmocka_unit_test(test_http2_names_that_are_none_are_refused),
        cmocka_unit_test(test_http2_names_of_http1_are_refused),
        cmocka_unit_test(test_http2_names_are_lower_case_tokens),
        cmocka_unit_test(test_http2_values_have_no_controls),
        cmocka_unit_test(test_http2_status_has_three_digits_and_is_not_101),
        cmocka_unit_test(test_http2_length_is_a_number),
        cmocka_unit_test(test_http2_te_is_trailers),
        cmocka_unit_test(test_http2_method_and_protocol_are_tokens),
        cmocka_unit_test(test_http2_path_has_no_blanks),
        cmocka_unit_test(test_http2_scheme_begins_with_a_letter),
        cmocka_unit_test(test_http2_authority_is_a_host_and_a_port),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
