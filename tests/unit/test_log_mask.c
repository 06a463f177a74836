/*
 * test_log_mask.c - what of a value may be shown in a log.
 */
#include "base/log_mask.h"

#include "base/span.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char shown[FL_LOG_VALUE + 1];

static const char *mask(const char *text)
{
    size_t len = strlen(text);
    char *copy = malloc(len > 0 ? len : 1); /* no NUL: nobody may look for it */

    assert_non_null(copy);
    memcpy(copy, text, len);
    fl_span out = fl_log_mask((fl_span){copy, len}, NULL, shown);
    free(copy);
    shown[out.len] = '\0';
    return shown;
}

static void test_mask_knows_the_names_of_secrets(void **state)
{
    static const char *const secret[] = {
        "authorization",
        "Authorization",
        "Proxy-Authorization",
        "token",
        "access_token",
        "accessToken",
        "refresh-token",
        "API_KEY",
        "apiKey",
        "x-api-key",
        "password",
        "PASSWD",
        "secret",
        "client_secret",
        "Cookie",
        "Set-Cookie",
        "sessionId",
        "session_id",
        "Mcp-Session-Id",
        "session",
        "credential",
        "credentials",
        "private_key",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
    };
    static const char *const open[] = {
        "",       "key",  "tokens",        "max_tokens", "peer", "keyboard",
        "method", "path", "progressToken", "sessions",   "-",    "_",
    };

    (void)state;
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        if (!fl_log_is_secret(fl_span_of(secret[i]), NULL))
            fail_msg("%s", secret[i]);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (fl_log_is_secret(fl_span_of(open[i]), NULL))
            fail_msg("%s", open[i]);
}

static void test_mask_knows_the_names_it_was_told(void **state)
{
    static const char more[] = "key\0tenant\0";

    (void)state;
    assert_true(fl_log_is_secret(FL_SPAN("KEY"), more));
    assert_true(fl_log_is_secret(FL_SPAN("ten-ant"), more));
    assert_false(fl_log_is_secret(FL_SPAN("monkey"), more));
    assert_true(fl_log_is_secret(FL_SPAN("token"), more));
}

static void test_mask_fold_keeps_the_end_of_a_long_name(void **state)
{
    char name[FL_LOG_NAME * 2], folded[FL_LOG_NAME];

    (void)state;
    memset(name, 'X', sizeof name);
    memcpy(name + sizeof name - 8, "-My_Name", 8);
    fl_log_fold((fl_span){name, sizeof name}, folded);
    assert_int_equal(strlen(folded), FL_LOG_NAME - 1);
    assert_string_equal(folded + strlen(folded) - 7, "xmyname");
    memcpy(name + sizeof name - 8, "password", 8);
    assert_true(fl_log_is_secret((fl_span){name, sizeof name}, NULL));
}

static void test_mask_shows_harmless_text_as_it_is(void **state)
{
    static const char *const texts[] = {
        "",
        "hello",
        "http://example.com/mcp?page=2#top",
        "https://example.com:8080",
        "user@example.com wrote",
        "https://example.com/@scope/package",
        "a: b = c",
        "the token was good",
        "key=value",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"progressToken\":7}",
        "--verbose yes",
        "basically",
        "Basic",
        "Bearer ",
        "token=",
        "token",
        "password:",
        "\\",
        "--token",
        "://",
        "://@",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(mask(texts[i]), texts[i]);
}

static void test_mask_hides_credentials_in_every_shape(void **state)
{
    static const char *const cases[][2] = {
        {"Bearer abc.DEF-1_2~3+4/5==", "Bearer [redacted]"},
        {"got bearer  abc, then", "got bearer  [redacted], then"},
        {"Basic dXNlcjpwYXNz x", "Basic [redacted] x"},
        {"Authorization: Bearer abc", "Authorization: [redacted]"},
        {"Authorization: Digest username=\"u\"\r\nHost: h",
         "Authorization: [redacted]\"u\"\r\nHost: h"},
        {"Cookie: a=b; c=d\nHost: h", "Cookie: [redacted]\nHost: h"},
        {"https://user:pass@host/x", "https://[redacted]@host/x"},
        {"https://ghp_123@host", "https://[redacted]@host"},
        {"redis://:p@ss@host:6379/0", "redis://[redacted]@host:6379/0"},
        {"a http://u:p@h/ b https://v:q@i/",
         "a http://[redacted]@h/ b https://[redacted]@i/"},
        {"/sse?token=abc&x=1", "/sse?token=[redacted]&x=1"},
        {"/sse?x=1&access_token=abc#f", "/sse?x=1&access_token=[redacted]#f"},
        {"?key=abc&api_key=def", "?key=[redacted]&api_key=[redacted]"},
        {"?a=1&KEY=abc", "?a=1&KEY=[redacted]"},
        {"?password=p&secret=s&sessionId=i",
         "?password=[redacted]&secret=[redacted]&sessionId=[redacted]"},
        {"{\"token\":\"abc\",\"a\":1}", "{\"token\":\"[redacted]\",\"a\":1}"},
        {"{\"token\" : \"a\\\"bc\", \"a\":1}",
         "{\"token\" : \"[redacted]\", \"a\":1}"},
        {"{\"pin\":1,\"password\":12345}",
         "{\"pin\":1,\"password\":[redacted]}"},
        {"\"{\\\"token\\\":\\\"abc\\\",\\\"a\\\":1}\"",
         "\"{\\\"token\\\":\\\"[redacted]\\\",\\\"a\\\":1}\""},
        {"{\"credentials\":{\"user\":\"u\"}}", "{\"credentials\":[redacted]"},
        {"{'secret': 'abc'}", "{'secret': '[redacted]'}"},
        {"{\"token\":\"never ends", "{\"token\":\"[redacted]"},
        {"run --token=abc x", "run --token=[redacted] x"},
        {"run --api-key abc x", "run --api-key [redacted] x"},
        {"run -password abc x", "run -password [redacted] x"},
        {"run --key abc", "run --key [redacted]"},
        {"[\"--token\",\"abc\",\"x\"]", "[\"--token\",\"[redacted]\",\"x\"]"},
        {"OPENAI_API_KEY=sk-123 cmd", "OPENAI_API_KEY=[redacted] cmd"},
        {"X-Api-Key: abc", "X-Api-Key: [redacted]"},
        {"Mcp-Session-Id: 1f\r\n", "Mcp-Session-Id: [redacted]\r\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(mask(cases[i][0]), cases[i][1]);
}

static void test_mask_uses_the_names_it_was_told(void **state)
{
    fl_span out = fl_log_mask(FL_SPAN("tenant=abc x"), "tenant\0", shown);

    (void)state;
    assert_true(fl_span_equal(out, FL_SPAN("tenant=[redacted] x")));
}

static void test_mask_cuts_one_past_the_limit(void **state)
{
    char text[FL_LOG_SHOWN + 101], want[FL_LOG_VALUE + 1];

    (void)state;
    memset(text, 'x', sizeof text);
    text[FL_LOG_SHOWN] = '\0';
    assert_string_equal(mask(text), text);

    text[FL_LOG_SHOWN] = 'x';
    text[FL_LOG_SHOWN + 1] = '\0';
    snprintf(want, sizeof want, "%.*s…(+1 bytes)", FL_LOG_SHOWN, text);
    assert_string_equal(mask(text), want);

    text[FL_LOG_SHOWN + 1] = 'x';
    text[FL_LOG_SHOWN + 100] = '\0';
    snprintf(want, sizeof want, "%.*s…(+100 bytes)", FL_LOG_SHOWN, text);
    assert_string_equal(mask(text), want);
}

static void test_mask_does_not_cut_a_character_in_two(void **state)
{
    char text[FL_LOG_SHOWN + 8];

    (void)state;
    for (size_t lead = FL_LOG_SHOWN - 4; lead <= FL_LOG_SHOWN; lead++) {
        memset(text, 'x', sizeof text);
        memcpy(text + lead, "\xf0\x9f\x98\x80", 4);
        fl_span out = fl_log_mask((fl_span){text, sizeof text}, NULL, shown);
        assert_true(fl_utf8_valid(out));
    }
}

/* Wherever the cut falls, no byte of the secret is shown. */
static void test_mask_no_secret_shows_at_the_cut(void **state)
{
    static const char *const secrets[] = {
        "?token=ZZZZZZZZZZZZZZZZZZZZ",  "https://ZZZZ:ZZZZZZZZ@host",
        "Bearer ZZZZZZZZZZZZZZZZZZZZ",  "\"secret\":\"ZZZZZZZZZZZZZZZZ\"",
        "--password ZZZZZZZZZZZZZZZZZ",
    };
    char text[FL_LOG_SHOWN + 100];

    (void)state;
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        for (size_t lead = FL_LOG_SHOWN - 60; lead <= FL_LOG_SHOWN; lead++) {
            memset(text, ' ', sizeof text);
            memcpy(text + lead, secrets[i], strlen(secrets[i]));
            fl_span out =
                fl_log_mask((fl_span){text, sizeof text}, NULL, shown);
            assert_int_equal(fl_span_find(out, 'Z'), out.len);
            /* and the mask is there whole or not at all */
            fl_span mask = fl_span_from(out, fl_span_find(out, '['));
            assert_true(mask.len == 0 ||
                        fl_span_starts(mask, FL_SPAN(FL_LOG_MASKED)));
        }
}

static void test_mask_long_secrets_are_masked_whole(void **state)
{
    static const char *const starts[] = {"?token=", "Bearer ",
                                         "https://u:", "{\"token\":\"",
                                         "{\"credentials\":{\"a\":\""};
    static char text[100000];

    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        memset(text, 'Z', sizeof text);
        memcpy(text, starts[i], strlen(starts[i]));
        memcpy(text + sizeof text - 4, "@h x", 4);
        fl_span out = fl_log_mask((fl_span){text, sizeof text}, NULL, shown);
        assert_int_equal(fl_span_find(out, 'Z'), out.len);
        assert_in_range(out.len, 1, 100);
    }
}

/* Pieces of secrets in any order, in blocks of exactly their size: whatever
 * they make, it fits. A sanitizer sees the rest. */
static void test_mask_any_bytes_fit(void **state)
{
    static const char *const bits[] = {
        "token", "=",      ":",      "\"",       "\\",
        "'",     " ",      "--",     "://",      "@",
        "a",     "/",      "?",      "&",        "{",
        "key",   "\n",     "Bearer", "Basic",    "\xe2\x82\xac",
        "\xff",  "cookie", "-",      "password", "[",
        ",",
    };
    static char text[4096];

    (void)state;
    srand(3);
    for (int round = 0; round < 20000; round++) {
        size_t len = 0;
        for (int n = rand() % 200; n > 0; n--) {
            const char *bit =
                bits[(size_t)rand() % (sizeof bits / sizeof *bits)];
            memcpy(text + len, bit, strlen(bit));
            len += strlen(bit);
        }
        char *copy = malloc(len > 0 ? len : 1);
        char *room = malloc(FL_LOG_VALUE);
        assert_non_null(copy);
        assert_non_null(room);
        memcpy(copy, text, len);
        fl_span out = fl_log_mask((fl_span){copy, len}, "key\0", room);
        assert_in_range(out.len, 0, FL_LOG_VALUE);
        free(room);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mask_knows_the_names_of_secrets),
        cmocka_unit_test(test_mask_knows_the_names_it_was_told),
        cmocka_unit_test(test_mask_fold_keeps_the_end_of_a_long_name),
        cmocka_unit_test(test_mask_shows_harmless_text_as_it_is),
        cmocka_unit_test(test_mask_hides_credentials_in_every_shape),
        cmocka_unit_test(test_mask_uses_the_names_it_was_told),
        cmocka_unit_test(test_mask_cuts_one_past_the_limit),
        cmocka_unit_test(test_mask_does_not_cut_a_character_in_two),
        cmocka_unit_test(test_mask_no_secret_shows_at_the_cut),
        cmocka_unit_test(test_mask_long_secrets_are_masked_whole),
        cmocka_unit_test(test_mask_any_bytes_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
