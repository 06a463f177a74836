/*
 * test_claim.c - what makes a claim, and what only looks like one.
 */
#include "rpc/claim.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define KEY(name) "\"io.modelcontextprotocol/" name "\""
#define VERSION KEY("protocolVersion") ":\"2026-07-28\""
#define REQUEST(params)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"                        \
    "call\",\"params\":" params "}"

static fl_claim read_claim(const char *text)
{
    fl_msg msg;
    fl_msg_fault fault;
    fl_claim claim = {true, FL_SPAN("x"), FL_SPAN("x"), FL_SPAN("x"),
                      FL_SPAN("x")};

    assert_int_equal(fl_msg_read(fl_span_of(text), &msg, &fault), FL_OK);
    fl_claim_read(&msg, &claim);
    return claim;
}

static void same(fl_span got, const char *want)
{
    if (!fl_span_equal(got, fl_span_of(want)))
        fail_msg("want %s, got %.*s", want != NULL ? want : "nothing",
                 (int)got.len, got.ptr);
}

static void test_claim_gives_all_four_parts_as_raw_tokens(void **state)
{
    fl_claim claim = read_claim(
        REQUEST("{\"name\":\"t\",\"_meta\": { \"progressToken\" : 7 , " KEY(
            "clientInfo") " : {\"name\": \"c\"} , " VERSION
                          " ," KEY("logLevel") ":\"info\"," KEY(
                              "clientCapabilities") ":{} }}"));

    (void)state;
    assert_true(claim.present);
    same(claim.version, "\"2026-07-28\"");
    same(claim.client_capabilities, "{}");
    same(claim.client_info, "{\"name\": \"c\"}");
    same(claim.log_level, "\"info\"");
}

static void test_claim_needs_the_version_alone(void **state)
{
    fl_claim claim = read_claim(REQUEST("{\"_meta\":{" VERSION "}}"));

    (void)state;
    assert_true(claim.present);
    same(claim.version, "\"2026-07-28\"");
    same(claim.client_capabilities, NULL);
    same(claim.client_info, NULL);
    same(claim.log_level, NULL);
}

static void test_claim_is_in_a_notification_too(void **state)
{
    (void)state;
    assert_true(read_claim("{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":"
                           "{\"_meta\":{" VERSION "}}}")
                    .present);
}

static void test_claim_version_may_be_of_any_type(void **state)
{
    static const char *const values[] = {"7",    "null", "{\"a\":1}", "[1,2]",
                                         "true", "\"\"", "-1.5e3"};

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       REQUEST("{\"_meta\":{" KEY("protocolVersion") ":%s}}"),
                       values[i]);
        fl_claim claim = read_claim(text);
        assert_true(claim.present);
        same(claim.version, values[i]);
    }
}

static void test_claim_counts_the_last_of_two(void **state)
{
    fl_claim claim = read_claim(
        REQUEST("{\"_meta\":{" KEY("protocolVersion") ":\"a\"," VERSION "}}"));

    (void)state;
    same(claim.version, "\"2026-07-28\"");

    claim = read_claim(REQUEST("{\"_meta\":{" VERSION "},\"_meta\":{}}"));
    assert_false(claim.present);
}

static void test_claim_elsewhere_is_none(void **state)
{
    static const char *const texts[] = {
        REQUEST("{\"arguments\":{\"_meta\":{" VERSION "}}}"),
        REQUEST("{\"_meta\":{\"a\":{" VERSION "}}}"),
        REQUEST("{\"_meta\":[{" VERSION "}]}"),
        REQUEST("{\"_meta\":" KEY("protocolVersion") "}"),
        REQUEST("{\"_meta\":{\"x\":" KEY("protocolVersion") "}}"),
        REQUEST("{\"_meta\":null,\"x\":" KEY("protocolVersion") "}"),
        REQUEST("{" VERSION "}"),
        REQUEST("[{\"_meta\":{" VERSION "}}]"),
        REQUEST("{\"meta\":{" VERSION "}}"),
        REQUEST("{\"s\":\"{\\\"_meta\\\":{\\\"io.modelcontextprotocol/"
                "protocolVersion\\\":1}}\"}"),
        REQUEST("{\"_meta\":{\"io.modelcontextprotocol/protocolVersions\":1}}"),
        REQUEST("{\"_meta\":{\"xio.modelcontextprotocol/protocolVersion\":1}}"),
        REQUEST("{\"_meta\":{}}"),
        REQUEST("{}"),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"_meta\":"
        "{" VERSION "}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"_meta\":{" VERSION "}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"m\","
        "\"data\":{\"_meta\":{" VERSION "}}}}",
        "[" REQUEST("{\"_meta\":{" VERSION "}}") "]",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        fl_claim claim = read_claim(texts[i]);
        if (claim.present || claim.version.len > 0)
            fail_msg("a claim in %s", texts[i]);
    }
}

/* "\/" is what PHP's json_encode() makes of a slash. */
static void test_claim_may_be_spelled_with_escapes(void **state)
{
    static const char *const spellings[] = {
        REQUEST("{\"_meta\":{\"io.modelcontextprotocol\\/"
                "protocolVersion\":\"2026-07-28\"}}"),
        REQUEST("{\"\\u005fmeta\":{\"\\u0069o.modelcontextprotocol/"
                "protocol\\u0056ersion\":\"2026-07-28\"}}"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(spellings); i++) {
        fl_claim claim = read_claim(spellings[i]);
        assert_true(claim.present);
        same(claim.version, "\"2026-07-28\"");
    }
}

/* The one word that is looked for first must be spelled out. */
static void test_claim_in_a_word_spelled_oddly_is_none(void **state)
{
    (void)state;
    assert_false(read_claim(REQUEST("{\"_meta\":{\"io.m\\u006f"
                                    "delcontextprotocol/protocolVersion\":"
                                    "\"2026-07-28\"}}"))
                     .present);
}

/* No half claims: the other parts mean nothing without a version. */
static void test_claim_without_a_version_is_all_empty(void **state)
{
    fl_claim claim =
        read_claim(REQUEST("{\"x\":" KEY("protocolVersion") ",\"_meta\":{" KEY(
            "clientInfo") ":{}," KEY("logLevel") ":\"info\"}}"));

    (void)state;
    assert_false(claim.present);
    same(claim.client_info, NULL);
    same(claim.log_level, NULL);
}

static void test_claim_allocates_nothing(void **state)
{
    (void)state;
    ration_reset();
    ration_allow(0);
    (void)read_claim(REQUEST("{\"_meta\":{" VERSION "}}"));
    assert_false(ration_refused());
    ration_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claim_gives_all_four_parts_as_raw_tokens),
        cmocka_unit_test(test_claim_needs_the_version_alone),
        cmocka_unit_test(test_claim_is_in_a_notification_too),
        cmocka_unit_test(test_claim_version_may_be_of_any_type),
        cmocka_unit_test(test_claim_counts_the_last_of_two),
        cmocka_unit_test(test_claim_elsewhere_is_none),
        cmocka_unit_test(test_claim_may_be_spelled_with_escapes),
        cmocka_unit_test(test_claim_in_a_word_spelled_oddly_is_none),
        cmocka_unit_test(test_claim_without_a_version_is_all_empty),
        cmocka_unit_test(test_claim_allocates_nothing),
    };

    return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}
