/*
 * test_auth_code.c - the question to a user, and which answers are taken.
 */
#include "auth/code.h"

#include "auth/text.h"
#include "base/base64.h"
#include "base/span.h"
#include "io/digest.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* RFC 7636 appendix B. */
static const fl_code rfc = {
    .verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    .state = "0123456789012345678901234567890123456789012",
};

static void test_code_url_has_the_challenge_of_rfc_7636(void **state)
{
    fl_buf url;

    (void)state;
    fl_buf_init(&url, 2000);
    assert_int_equal(
        fl_code_url(
            &rfc,
            &(fl_code_ask){.endpoint = FL_SPAN("https://a/o?x=1"),
                           .client_id = FL_SPAN("me & you"),
                           .redirect_uri = FL_SPAN("http://127.0.0.1:1/c"),
                           .resource = FL_SPAN("https://h/mcp")},
            &url),
        FL_OK);
    assert_true(fl_span_equal(
        fl_buf_view(&url),
        FL_SPAN("https://a/o?x=1&response_type=code&client_id=me%20%26%20you"
                "&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fc"
                "&state=0123456789012345678901234567890123456789012"
                "&resource=https%3A%2F%2Fh%2Fmcp"
                "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
                "&code_challenge_method=S256")));
    fl_buf_reset(&url);
}

static void test_code_secrets_are_new_each_time(void **state)
{
    fl_code a, b;

    (void)state;
    assert_int_equal(fl_code_begin(&a), FL_OK);
    assert_int_equal(fl_code_begin(&b), FL_OK);
    assert_int_equal(strlen(a.verifier), 43);
    assert_int_equal(strlen(a.state), 43);
    assert_string_not_equal(a.verifier, b.verifier);
    assert_string_not_equal(a.state, b.state);
    assert_string_not_equal(a.verifier, a.state);
}

#define STATE "state=0123456789012345678901234567890123456789012"

static char issuer[] = "https://as.example";

static fl_status answer(const char *url, bool says_iss, char **code,
                        fl_error *error)
{
    fl_as as = {.issuer = issuer, .says_iss = says_iss};

    return fl_code_read(&rfc, &as, fl_span_of(url), code, error);
}

static void taken(const char *url, bool says_iss)
{
    fl_error error;
    char *code;

    assert_int_equal(answer(url, says_iss, &code, &error), FL_OK);
    assert_string_equal(code, "c/1");
    fl_text_drop(&code);
}

static void refused(const char *url, bool says_iss, const char *why)
{
    fl_error error;
    char *code;

    assert_int_equal(answer(url, says_iss, &code, &error), FL_E_DENIED);
    assert_null(code);
    if (strstr(error.text, why) == NULL)
        fail_msg("%s: '%s' does not say '%s'", url, error.text, why);
}

static void test_code_answers_that_are_taken(void **state)
{
    (void)state;
    taken("http://127.0.0.1:1/c?code=c%2F1&" STATE, false);
    taken("/c?" STATE "&code=c/1#x", false);
    taken("/c?" STATE "&code=c/1&iss=https%3A%2F%2Fas.example", false);
    taken("/c?" STATE "&code=c/1&iss=https%3A%2F%2Fas.example", true);
}

/* RFC 9207, and MCP: nothing is evened out before comparing. */
static void test_code_of_another_issuer_is_refused(void **state)
{
    static const char *const others[] = {"https://evil.example",
                                         "https://as.example/",
                                         "HTTPS://as.example",
                                         "https://as.example:443",
                                         "",
                                         "https%253A%252F%252Fas.example"};
    char url[256];

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(url, sizeof url, "/c?" STATE "&code=c&iss=%s", others[i]);
        refused(url, true, "(iss)");
        refused(url, false, "(iss)");
    }
    refused("/c?" STATE "&code=c", true, "(iss)");
    refused("/c?" STATE "&code=c&iss=https://as.example&iss=https://as.example",
            true, "(iss)");
}

static void test_code_of_another_question_is_refused(void **state)
{
    (void)state;
    refused("/c?code=c", false, "(state)");
    refused("/c?code=c&state=", false, "(state)");
    refused("/c?code=c&state=012345678901234567890123456789012345678901", false,
            "(state)");
    refused("/c?code=c&" STATE "3", false, "(state)");
    refused("/c?code=c&" STATE "&" STATE, false, "(state)");
    refused("/c", false, "(state)");
    refused("", false, "(state)");
}

/* Who was sent by us is told apart by what he brings, not by what is said of
 * it: a server may use any word. */
static void test_code_answer_is_known_by_its_state_alone(void **state)
{
    (void)state;
    assert_true(fl_code_is_answered(
        &rfc, FL_SPAN("/c?" STATE "&error=no&error_description=state")));
    assert_true(fl_code_is_answered(&rfc, FL_SPAN("/c?code=c&" STATE)));
    assert_false(fl_code_is_answered(&rfc, FL_SPAN("/c?code=c")));
    assert_false(fl_code_is_answered(&rfc, FL_SPAN("/c?code=c&" STATE "3")));
}

static void
test_code_errors_are_shown_only_if_they_are_of_our_server(void **state)
{
    fl_error error;
    char *code;

    (void)state;
    refused("/c?" STATE "&error=access_denied&error_description=He%20said%20no",
            false, "access_denied (He said no)");
    refused("/c?" STATE "&error=access_denied", false, "access_denied");
    assert_int_equal(answer("/c?" STATE "&error=phish&iss=https://evil", false,
                            &code, &error),
                     FL_E_DENIED);
    assert_null(strstr(error.text, "phish"));
    assert_int_equal(answer("/c?error=phish", false, &code, &error),
                     FL_E_DENIED);
    assert_null(strstr(error.text, "phish"));
}

static void test_code_must_be_there(void **state)
{
    (void)state;
    refused("/c?" STATE, false, "no code");
    refused("/c?" STATE "&code=", false, "no code");
    refused("/c?" STATE "&code=a&code=b", false, "no code");
}

static void work(void *user)
{
    fl_error error;
    fl_code made;
    fl_buf url;
    char *code;

    (void)user;
    fl_buf_init(&url, 2000);
    fl_status rc = fl_code_begin(&made);
    if (rc == FL_OK)
        rc = fl_code_url(&made, &(fl_code_ask){.endpoint = FL_SPAN("x")}, &url);
    fl_buf_reset(&url);
    if (rc == FL_OK)
        rc = answer("/c?" STATE "&code=c&iss=https://as.example", true, &code,
                    &error);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    if (rc == FL_OK)
        fl_text_drop(&code);
}

static void test_code_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_true(ration_each(work, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_url_has_the_challenge_of_rfc_7636),
        cmocka_unit_test(test_code_secrets_are_new_each_time),
        cmocka_unit_test(test_code_answers_that_are_taken),
        cmocka_unit_test(test_code_of_another_issuer_is_refused),
        cmocka_unit_test(test_code_of_another_question_is_refused),
        cmocka_unit_test(test_code_answer_is_known_by_its_state_alone),
        cmocka_unit_test(
            test_code_errors_are_shown_only_if_they_are_of_our_server),
        cmocka_unit_test(test_code_must_be_there),
        cmocka_unit_test(test_code_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("auth code", tests, NULL, NULL);
}
