/*
 * test_ask_modern.c - a handler that asks back, in the era in which its client
 * comes back with the answers and carries what is known, sealed.
 */
#include "ask_tools.h"
#include "http_host.h"
#include "modern.h"
#include "support/ration.h"

static server_host host, second;
static ask_log seen;

#define ALL                                                                    \
    "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},"   \
    "\"roots\":{}}"

static char state[400 * 1024]; /* the latest requestState */
static char line[1024 * 1024];

/* A request; `rest` begins with a comma, or is empty. */
static const char *ask(const char *capabilities, const char *name,
                       const char *arguments, const char *rest)
{
    int n = snprintf(
        line, sizeof line,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
        "\"params\":{\"_meta\":{" VERSION_IS(
            "\"2026-07-28\"") "," CAPABILITIES_ARE("%s") "},\"name\":\"%s\","
                                                         "\"arguments\":%s%s}}",
        capabilities, name, arguments, rest);
    assert_true(n > 0 && (size_t)n < sizeof line);
    return line;
}

static const char *says(server_host *at, const char *name,
                        const char *arguments, const char *rest)
{
    raw_say(&at->peer, ask(ALL, name, arguments, rest));
    return raw_hear(&at->peer);
}

static void has(const char *text, const char *part)
{
    assert_non_null(text);
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in '%s'", part, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("there is '%s' in '%s'", part, text);
}

/* It is asked for input, and the state is kept for the next round. */
static void is_asked(const char *heard)
{
    const char *from = strstr(heard, "\"requestState\":\"");

    has(heard, "\"resultType\":\"input_required\"");
    has(heard, TAG);
    assert_non_null(from);
    from += strlen("\"requestState\":\"");
    size_t len = strcspn(from, "\"");
    assert_true(len > 0 && len < sizeof state);
    memcpy(state, from, len);
    state[len] = '\0';
}

/* The retry: what was carried, and `responses`. */
static const char *retry(const char *responses)
{
    static char rest[800 * 1024];
    int n = snprintf(rest, sizeof rest,
                     ",\"inputResponses\":%s,\"requestState\":\"%s\"",
                     responses, state);
    assert_true(n > 0 && (size_t)n < sizeof rest);
    return rest;
}

#define REFUSED "\"error\":{\"code\":-32602"

static void test_ask_modern_form_is_asked_for_and_answered(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    const char *heard = says(&host, "greet", "{}", "");
    has(heard, "\"inputRequests\":{\"name\":{\"method\":\"elicitation/create\","
               "\"params\":{\"mode\":\"form\",\"message\":\"Who are "
               "\\\"you\\\"?\",\"requestedSchema\":" NAME_SCHEMA "}}}");
    is_asked(heard);
    assert_int_equal(seen.runs, 1);
    raw_asks(&host.peer,
             ask(ALL, "greet", "{}",
                 retry("{\"name\":" ACCEPT("{\"name\":\"Al\"}") "}")),
             MODERN_TEXT("1", "name accepted {\\\"name\\\":\\\"Al\\\"}"));
    assert_int_equal(seen.runs, 2);
    host_end(&host);
}

static void test_ask_modern_answers_of_every_kind_come_at_once(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    const char *heard = says(&host, "trio", "{}", "");
    has(heard, "\"sample\":{\"method\":\"sampling/createMessage\","
               "\"params\":" SAMPLE "}");
    has(heard, "\"roots\":{\"method\":\"roots/list\",\"params\":{}}");
    is_asked(heard);
    heard = says(&host, "trio", "{}",
                 retry("{\"form\":" DECLINE ",\"sample\":" PARIS
                       ",\"roots\":" ROOTS "}"));
    has(heard, "form declined , sample accepted {\\\"role\\\"");
    has(heard, "roots accepted {\\\"roots\\\":[{\\\"uri\\\"");
    host_end(&host);
}

static void test_ask_modern_keeps_what_was_answered_before(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    is_asked(says(&host, "trio", "{}", ""));
    const char *heard =
        says(&host, "trio", "{}",
             retry("{\"roots\":" ROOTS ",\"more\":1,\"sample\":7}"));
    has_not(heard, "\"roots\":{");
    has(heard, "\"form\":{");
    has(heard, "\"sample\":{");
    is_asked(heard);
    heard =
        says(&host, "trio", "{}",
             retry("{\"form\":{\"action\":\"cancel\"},\"sample\":" PARIS "}"));
    has(heard, "form cancelled , sample accepted");
    has(heard, "roots accepted");
    host_end(&host);
}

static void test_ask_modern_rounds_have_states_of_their_own(void **unused)
{
    char first[4096];

    (void)unused;
    ask_begin(&host, &seen);
    is_asked(says(&host, "steps", "{}", ""));
    snprintf(first, sizeof first, "%.4000s", state);
    const char *heard =
        says(&host, "steps", "{}", retry("{\"one\":" ACCEPT("{}") "}"));
    has(heard, "\"two\":{");
    is_asked(heard);
    assert_string_not_equal(first, state);
    heard =
        says(&host, "steps", "{}", retry("{\"two\":" ACCEPT("{\"a\":1}") "}"));
    has(heard, "\"text\":\"ab accepted accepted {\\\"a\\\":1}\"");
    /* a retry whose answer was lost may be sent again */
    is_asked(says(&host, "steps", "{}",
                  (snprintf(state, sizeof state, "%s", first),
                   retry("{\"one\":" DECLINE "}"))));
    host_end(&host);
}

static void test_ask_modern_what_is_no_answer_is_asked_again(void **unused)
{
    static const char *const responses[] = {
        "{}",
        "{\"other\":" ACCEPT("{\"name\":\"x\"}") "}",
        "{\"name\":12345}",
        "{\"name\":null}",
        "{\"name\":{}}",
        "{\"name\":{\"action\":\"maybe\"}}",
        "{\"name\":{\"action\":1}}",
        "{\"name\":{\"action\":\"accept\"}}",
        "{\"name\":" ACCEPT("[]") "}",
        "{\"name\":" ACCEPT("{}") "}",
        "{\"name\":" ACCEPT("{\"name\":7}") "}",
    };

    (void)unused;
    ask_begin(&host, &seen);
    is_asked(says(&host, "greet", "{}", ""));
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
        const char *heard = says(&host, "greet", "{}", retry(responses[i]));
        has(heard, "\"resultType\":\"input_required\"");
    }
    /* without any, too */
    char rest[2048];
    assert_true(strlen(state) < 1024);
    snprintf(rest, sizeof rest, ",\"requestState\":\"%.1024s\"", state);
    is_asked(says(&host, "greet", "{}", rest));
    host_end(&host);
}

static void test_ask_modern_refuses_what_is_of_the_wrong_type(void **unused)
{
    static const char *const rests[] = {
        ",\"inputResponses\":null",  ",\"inputResponses\":[]",
        ",\"inputResponses\":\"x\"", ",\"requestState\":null",
        ",\"requestState\":{}",      ",\"requestState\":\"\"",
        ",\"requestState\":\"?\"",   ",\"requestState\":\"AAAA\"",
    };

    (void)unused;
    ask_begin(&host, &seen);
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
        has(says(&host, "greet", "{}", rests[i]), REFUSED);
    assert_int_equal(seen.runs, 0);
    host_end(&host);
}

/* A client that learned the keys elsewhere, and carries no state. */
static void test_ask_modern_answers_without_a_state_are_judged(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    const char *heard = says(&host, "greet", "{}",
                             ",\"inputResponses\":{\"x\":{},\"name\":" ACCEPT(
                                 "{\"name\":\"Al\"}") "}");
    has(heard, "name accepted {\\\"name\\\":\\\"Al\\\"}");
    assert_int_equal(seen.runs, 2);
    is_asked(says(&host, "greet", "{}", ",\"inputResponses\":{\"name\":1}"));
    is_asked(says(&host, "greet", "{}",
                  ",\"inputResponses\":{\"name\":" ACCEPT("{}") "}"));
    /* some of them: the rest is asked for, and the state knows these */
    heard =
        says(&host, "trio", "{}",
             ",\"inputResponses\":{\"roots\":" ROOTS ",\"form\":" DECLINE "}");
    has_not(heard, "\"roots\":{");
    is_asked(heard);
    has(says(&host, "trio", "{}", retry("{\"sample\":" PARIS "}")),
        "form declined , sample accepted");
    /* in the first round only: this one would never end */
    seen.runs = 0;
    is_asked(says(&host, "forever", "{}",
                  ",\"inputResponses\":{\"k\":" ACCEPT("{}") "}"));
    assert_int_equal(seen.runs, 2);
    host_end(&host);
}

static void test_ask_modern_state_changed_anywhere_is_refused(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    is_asked(says(&host, "greet", "{}", ""));
    seen.runs = 0;
    size_t len = strlen(state);
    for (size_t i = 0; i < len; i++) {
        char was = state[i];
        state[i] = was == 'A' ? 'B' : 'A';
        has(says(&host, "greet", "{}", retry("{}")), REFUSED);
        state[i] = was;
    }
    for (size_t cut = 1; cut < len; cut += 7) {
        char was = state[len - cut];
        state[len - cut] = '\0';
        has(says(&host, "greet", "{}", retry("{}")), REFUSED);
        state[len - cut] = was;
    }
    memcpy(state + len, "-TAMPERED", 10);
    has(says(&host, "greet", "{}", retry("{}")), REFUSED);
    assert_int_equal(seen.runs, 0);
    state[len] = '\0';
    is_asked(says(&host, "greet", "{}", retry("{}")));
    host_end(&host);
}

static void test_ask_modern_state_is_of_one_request(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    is_asked(says(&host, "greet", "{\"a\":1}", ""));
    seen.runs = 0;
    has(says(&host, "hail", "{\"a\":1}", retry("{}")), REFUSED);
    has(says(&host, "greet", "{\"a\":2}", retry("{}")), REFUSED);
    has(says(&host, "greet", "{}", retry("{}")), REFUSED);
    assert_int_equal(seen.runs, 0);
    is_asked(says(&host, "greet", "{\"a\":1}", retry("{}")));
    host_end(&host);
}

static void test_ask_modern_state_expires(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    fl_server_set_input_timeout(host.server, 5000);
    is_asked(says(&host, "greet", "{}", ""));
    host.now += 5000;
    has(says(&host, "greet", "{}",
             retry("{\"name\":" ACCEPT("{\"name\":\"a\"}") "}")),
        "name accepted");
    host.now += 1;
    const char *heard = says(&host, "greet", "{}", retry("{}"));
    has(heard, REFUSED);
    has(heard, "\"data\":{\"reason\":\"expired\"}");
    host_end(&host);
}

static void test_ask_modern_state_is_of_one_key(void **unused)
{
    const unsigned char key[32] = {1, 2, 3};

    (void)unused;
    ask_begin(&host, &seen);
    ask_begin(&second, &seen);
    is_asked(says(&host, "greet", "{}", ""));
    has(says(&second, "greet", "{}", retry("{}")), REFUSED);
    /* unless they share one */
    fl_server_set_key(host.server, key);
    fl_server_set_key(second.server, key);
    is_asked(says(&host, "greet", "{}", ""));
    has(says(&second, "greet", "{}",
             retry("{\"name\":" ACCEPT("{\"name\":\"a\"}") "}")),
        "name accepted");
    host_end(&second);
    host_end(&host);
}

static void lacking(const char *capabilities, const char *tool,
                    const char *arguments, const char *required)
{
    char part[256];

    raw_say(&host.peer, ask(capabilities, tool, arguments, ""));
    snprintf(part, sizeof part, "\"data\":{\"requiredCapabilities\":%s}}",
             required);
    const char *heard = raw_hear(&host.peer);
    has(heard, "\"error\":{\"code\":-32021");
    has(heard, part);
}

static void test_ask_modern_wants_only_what_was_declared(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    lacking("{}", "greet", "{}", "{\"elicitation\":{}}");
    lacking("{\"elicitation\":{\"url\":{}}}", "greet", "{}",
            "{\"elicitation\":{\"form\":{}}}");
    lacking("{\"elicitation\":{}}", "url", "{}",
            "{\"elicitation\":{\"url\":{}}}");
    lacking("{}", "trio", "{}",
            "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}");
    lacking("{\"elicitation\":{},\"roots\":{}}", "trio", "{}",
            "{\"sampling\":{}}");
    lacking("{\"sampling\":{}}", "sample",
            "{\"params\":{\"messages\":[],\"maxTokens\":1,\"tools\":[]}}",
            "{\"sampling\":{\"tools\":{}}}");
    raw_say(&host.peer, ask("{\"elicitation\":{}}", "greet", "{}", ""));
    is_asked(raw_hear(&host.peer));
    host_end(&host);
}

static void test_ask_modern_url_has_no_id(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    const char *heard = says(&host, "url", "{}", "");
    has(heard, "\"params\":{\"mode\":\"url\",\"message\":\"Pay\",\"url\":"
               "\"https://pay.example/1\"}");
    is_asked(heard);
    has(says(&host, "url", "{}", retry("{\"go\":{\"action\":\"accept\"}}")),
        "\"go accepted \"");
    host_end(&host);
}

static void test_ask_modern_ends_after_ten_rounds(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    const char *heard = says(&host, "forever", "{}", "");
    for (int round = 1; round <= 10; round++) {
        is_asked(heard);
        heard = says(&host, "forever", "{}", retry("{\"k\":" ACCEPT("{}") "}"));
    }
    has(heard, "the client was asked 10 times");
    has(heard, "\"isError\":true");
    host_end(&host);
}

static void badly(const char *arguments, const char *why)
{
    const char *heard = says(&host, "badly", arguments, "");

    has(heard, "\"error\":{\"code\":-32603");
    has(heard, why);
}

static void test_ask_modern_tells_what_a_handler_did_wrong(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    badly("{\"how\":\"no key\"}", "asks under no key");
    badly("{\"how\":\"twice\"}", "asks twice under one key");
    badly("{\"how\":\"schema\"}", "not a JSON");
    badly("{\"how\":\"no url\"}", "to no URL");
    badly("{\"how\":\"many\",\"n\":33}", "too much at once");
    badly("{\"how\":\"state\",\"n\":131073}", "larger than 128 KiB");
    badly("{\"how\":\"x\"}", "nothing to ask");
    has(says(&host, "badly", "{}", ""), "argument \\\"how\\\" is missing");
    is_asked(says(&host, "badly", "{\"how\":\"many\",\"n\":32}", ""));
    is_asked(says(&host, "badly", "{\"how\":\"state\",\"n\":131072}", ""));
    has(says(&host, "sample", "{\"params\":{\"messages\":[]}}", ""),
        "with messages and maxTokens");
    has(says(&host, "sample", "{\"params\":[]}", ""),
        "with messages and maxTokens");
    host_end(&host);
}

static void test_ask_modern_what_is_known_has_a_limit(void **unused)
{
    static char responses[300 * 1024];

    (void)unused;
    ask_begin(&host, &seen);
    is_asked(says(&host, "steps", "{}", ""));
    size_t at = (size_t)snprintf(responses, sizeof responses,
                                 "{\"one\":{\"action\":\"accept\",\"content\":"
                                 "{\"a\":\"");
    memset(responses + at, 'x', 200 * 1024);
    snprintf(responses + at + 200 * 1024, 16, "\"}}}");
    has(says(&host, "steps", "{}", retry(responses)), "larger than 256 KiB");
    snprintf(responses + at + 150 * 1024, 16, "\"}}}");
    is_asked(says(&host, "steps", "{}", retry(responses)));
    has(says(&host, "steps", "{}", retry("{\"two\":" DECLINE "}")),
        "ab accepted declined");
    host_end(&host);
}

static void test_ask_modern_deferred_call_may_ask(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    raw_say(&host.peer, ask(ALL, "later", "{}", ""));
    io_until(host.loop, seen.kept != NULL);
    fl_call_want_roots(seen.kept, "r");
    fl_call_ask(seen.kept);
    seen.kept = NULL;
    is_asked(raw_hear(&host.peer));
    raw_say(&host.peer, ask(ALL, "later", "{}", retry("{\"r\":" ROOTS "}")));
    io_until(host.loop, seen.kept != NULL);
    ask_tell(seen.kept, (const char *[]){"r", NULL});
    seen.kept = NULL;
    has(raw_hear(&host.peer), "r accepted");
    host_end(&host);
}

static void test_ask_modern_cancelled_call_asks_nobody(void **unused)
{
    (void)unused;
    ask_begin(&host, &seen);
    raw_say(&host.peer, ask(ALL, "later", "{}", ""));
    io_until(host.loop, seen.kept != NULL);
    fl_call_on_cancel(seen.kept, NULL, NULL);
    raw_say(&host.peer, CANCELLED("1"));
    raw_asks(&host.peer, MODERN_CALL("2", "echo", "{\"text\":\"a\"}"),
             MODERN_TEXT("2", "a"));
    fl_call_want_roots(seen.kept, "r");
    fl_call_ask(seen.kept);
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

#define FIELDS(name)                                                           \
    HTTP_MODERN("tools/call")                                                  \
    "Mcp-Name: " name "\r\n"

static void test_ask_modern_over_http(void **unused)
{
    static http_answer answer;

    (void)unused;
    seen = (ask_log){0};
    http_begin(&host, NULL);
    ask_add_tools(&host, &seen);
    http_post(&host.peer, FIELDS("greet"), ask(ALL, "greet", "{}", ""));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    is_asked(answer.body);
    /* on another connection, as it may be another process */
    close(host.peer.fd);
    host_dial(&host, &host.peer);
    http_post(&host.peer, FIELDS("greet"),
              ask(ALL, "greet", "{}",
                  retry("{\"name\":" ACCEPT("{\"name\":\"a\"}") "}")));
    http_hear(&host.peer, &answer);
    has(answer.body, "name accepted");
    http_post(&host.peer, FIELDS("greet"), ask("{}", "greet", "{}", ""));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 400);
    has(answer.body, "-32021");
    http_post(&host.peer, FIELDS("greet"),
              ask(ALL, "greet", "{}", ",\"inputResponses\":null"));
    http_hear(&host.peer, &answer);
    has(answer.body, REFUSED);
    host_end(&host);
}

/* Whatever is refused, the client hears something, or the link ends. */
static void refuse_each_in_a_retry(size_t *runs)
{
    bool refused = true;

    for (size_t n = 1; refused; n++, ++*runs) {
        raw_say(&host.peer,
                ask(ALL, "steps", "{}", retry("{\"one\":" ACCEPT("{}") "}")));
        ration_reset();
        ration_fail_at(n);
        io_until(host.loop,
                 (raw_read(&host.peer),
                  raw_find_end(&host.peer) != NULL || host.peer.ended));
        refused = ration_refused();
        ration_reset();
        if (host.peer.ended) {
            close(host.peer.fd);
            host_dial(&host, &host.peer);
            continue;
        }
        const char *heard = raw_hear(&host.peer);
        if (strstr(heard, "input_required") == NULL)
            has(heard, "\"error\":{\"code\":-32603");
    }
}

static void test_ask_modern_survives_want_of_memory(void **unused)
{
    size_t runs = 0;

    (void)unused;
    ask_begin(&host, &seen);
    is_asked(says(&host, "steps", "{}", ""));
    refuse_each_in_a_retry(&runs);
    assert_true(runs > 8);
    host_end(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ask_modern_form_is_asked_for_and_answered),
        cmocka_unit_test(test_ask_modern_answers_of_every_kind_come_at_once),
        cmocka_unit_test(test_ask_modern_keeps_what_was_answered_before),
        cmocka_unit_test(test_ask_modern_rounds_have_states_of_their_own),
        cmocka_unit_test(test_ask_modern_what_is_no_answer_is_asked_again),
        cmocka_unit_test(test_ask_modern_refuses_what_is_of_the_wrong_type),
        cmocka_unit_test(test_ask_modern_answers_without_a_state_are_judged),
        cmocka_unit_test(test_ask_modern_state_changed_anywhere_is_refused),
        cmocka_unit_test(test_ask_modern_state_is_of_one_request),
        cmocka_unit_test(test_ask_modern_state_expires),
        cmocka_unit_test(test_ask_modern_state_is_of_one_key),
        cmocka_unit_test(test_ask_modern_wants_only_what_was_declared),
        cmocka_unit_test(test_ask_modern_url_has_no_id),
        cmocka_unit_test(test_ask_modern_ends_after_ten_rounds),
        cmocka_unit_test(test_ask_modern_tells_what_a_handler_did_wrong),
        cmocka_unit_test(test_ask_modern_what_is_known_has_a_limit),
        cmocka_unit_test(test_ask_modern_deferred_call_may_ask),
        cmocka_unit_test(test_ask_modern_cancelled_call_asks_nobody),
        cmocka_unit_test(test_ask_modern_over_http),
        cmocka_unit_test(test_ask_modern_survives_want_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
