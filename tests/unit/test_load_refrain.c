/*
 * test_load_refrain.c - what is asked is a request, and what comes is judged.
 */
#include "load/refrain.h"

#include "base/span.h"
#include "rpc/claim.h"
#include "support/ration.h"
#include "json/nav.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLAIM                                                                  \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","              \
    "\"io.modelcontextprotocol/"                                               \
    "clientInfo\":{\"name\":\"x\",\"version\":\"1\"}"

static const char *const all_params[] = {
    "", "{}", "{ }", "{\"name\":\"echo\",\"arguments\":{\"text\":\"a, } b\"}}"};

static void init(fl_refrain *refrain, const char *params, const char *claim)
{
    assert_int_equal(fl_refrain_init(refrain, "tools/call", fl_span_of(params),
                                     fl_span_of(claim)),
                     FL_OK);
}

static void test_refrain_is_a_request_with_the_params_it_was_given(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all_params / sizeof *all_params; i++) {
        fl_refrain refrain;
        fl_claim claim;
        init(&refrain, all_params[i], "");
        assert_int_equal(refrain.msg.kind, FL_MSG_REQUEST);
        assert_true(fl_msg_method_is(&refrain.msg, FL_SPAN("tools/call")));
        assert_true(
            fl_span_equal(refrain.msg.params, fl_span_of(all_params[i])));
        fl_claim_read(&refrain.msg, &claim);
        assert_false(claim.present);
        fl_refrain_deinit(&refrain);
    }
}

static void test_refrain_with_a_claim_has_it_in_its_meta(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all_params / sizeof *all_params; i++) {
        fl_refrain refrain;
        fl_claim claim;
        init(&refrain, all_params[i], CLAIM);
        assert_int_equal(refrain.msg.kind, FL_MSG_REQUEST);
        fl_claim_read(&refrain.msg, &claim);
        assert_true(claim.present);
        assert_true(fl_json_string_is(claim.version, FL_SPAN("2026-07-28")));
        fl_span name = fl_json_get(refrain.msg.params, FL_SPAN("name"));
        assert_int_equal(name.len > 0, i == 3);
        fl_refrain_deinit(&refrain);
    }
}

static void test_refrain_can_have_any_id(void **state)
{
    fl_refrain refrain;
    fl_span parts[3];

    (void)state;
    init(&refrain, all_params[3], CLAIM);
    fl_msg_splice_id(&refrain.msg, FL_SPAN("123456"), parts);
    assert_true(fl_span_equal(parts[1], FL_SPAN("123456")));
    assert_int_equal(parts[0].len + 1 + parts[2].len, refrain.msg.text.len);
    fl_refrain_deinit(&refrain);
}

static void test_refrain_refuses_what_is_no_request(void **state)
{
    static const char *const bad[] = {"{", "7", "\"x\"", "{\"a\":}", "{}}"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int claims = 0; claims < 2; claims++) {
            fl_refrain refrain;
            fl_span claim = claims ? FL_SPAN(CLAIM) : FL_SPAN("");
            assert_int_equal(
                fl_refrain_init(&refrain, "ping", fl_span_of(bad[i]), claim),
                FL_E_INVALID);
            fl_refrain_deinit(&refrain);
        }
}

static void read_answer(const char *text, fl_msg *msg)
{
    fl_msg_fault fault;

    assert_int_equal(fl_msg_read(fl_span_of(text), msg, &fault), FL_OK);
}

static fl_load_fault judge(fl_refrain *refrain, const char *text)
{
    fl_msg msg;

    read_answer(text, &msg);
    return fl_refrain_judge(refrain, &msg);
}

#define ANSWER(result) "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" result "}"

static void test_refrain_knows_right_answers_from_wrong_ones(void **state)
{
    static const struct {
        const char *text;
        fl_load_fault fault;
    } rows[] = {
        {ANSWER("{}"), FL_LOAD_NO_FAULT},
        {ANSWER("{\"content\":[]}"), FL_LOAD_NO_FAULT},
        {ANSWER("{\"isError\":false}"), FL_LOAD_NO_FAULT},
        {ANSWER("{\"isError\":true,\"content\":[]}"), FL_LOAD_TOOL},
        {ANSWER("{\"isError\":\"true\"}"), FL_LOAD_NO_FAULT},
        {ANSWER("{\"content\":[{\"isError\":true}]}"), FL_LOAD_NO_FAULT},
        {ANSWER("{\"resultType\":\"complete\"}"), FL_LOAD_NO_FAULT},
        {ANSWER("{\"resultType\":\"input_required\"}"), FL_LOAD_ASKED},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"
         "\"message\":\"no\"}}",
         FL_LOAD_ERROR},
    };

    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        fl_refrain refrain;
        init(&refrain, "", "");
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int again = 0; again <= twice; again++)
                assert_int_equal(judge(&refrain, rows[i].text), rows[i].fault);
        fl_refrain_deinit(&refrain);
    }
}

static void test_refrain_remembers_the_last_right_answer_alone(void **state)
{
    fl_refrain refrain;

    (void)state;
    init(&refrain, "", "");
    assert_int_equal(judge(&refrain, ANSWER("{\"a\":1}")), FL_LOAD_NO_FAULT);
    assert_true(
        fl_span_equal(fl_buf_view(&refrain.good), FL_SPAN("{\"a\":1}")));
    assert_int_equal(judge(&refrain, ANSWER("{\"isError\":true}")),
                     FL_LOAD_TOOL);
    assert_true(
        fl_span_equal(fl_buf_view(&refrain.good), FL_SPAN("{\"a\":1}")));
    assert_int_equal(judge(&refrain, ANSWER("{\"a\":2}")), FL_LOAD_NO_FAULT);
    assert_true(
        fl_span_equal(fl_buf_view(&refrain.good), FL_SPAN("{\"a\":2}")));
    fl_refrain_deinit(&refrain);
}

/* `len` bytes of an object. */
static char *answer_of(size_t len)
{
    static const char front[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":";
    size_t at = sizeof front - 1;
    char *text = malloc(at + len + 2);

    assert_non_null(text);
    memcpy(text, front, at);
    memset(text + at, 'x', len);
    memcpy(text + at, "{\"a\":\"", 6);
    memcpy(text + at + len - 2, "\"}}", 4);
    return text;
}

static void test_refrain_keeps_answers_of_64_kib_and_no_longer(void **state)
{
    (void)state;
    for (size_t past = 0; past < 2; past++) {
        fl_refrain refrain;
        size_t len = 64 * 1024 + past;
        char *text = answer_of(len);
        init(&refrain, "", "");
        for (int i = 0; i < 2; i++) {
            assert_int_equal(judge(&refrain, ANSWER("{}")), FL_LOAD_NO_FAULT);
            assert_int_equal(judge(&refrain, text), FL_LOAD_NO_FAULT);
            assert_int_equal(fl_buf_len(&refrain.good), past ? 0 : len);
        }
        free(text);
        fl_refrain_deinit(&refrain);
    }
}

static void ask_and_judge(void *user)
{
    const fl_msg *answer = user;
    fl_refrain refrain;
    fl_status rc = fl_refrain_init(&refrain, "tools/call",
                                   fl_span_of(all_params[3]), FL_SPAN(CLAIM));

    assert_int_equal(rc, rc != FL_OK ? FL_E_NOMEM : FL_OK);
    assert_true(rc == FL_OK || ration_refused());
    /* what cannot be remembered is looked into, each time */
    for (int i = 0; i < 3 && rc == FL_OK; i++)
        assert_int_equal(fl_refrain_judge(&refrain, answer), FL_LOAD_NO_FAULT);
    fl_refrain_deinit(&refrain);
}

static void test_refrain_without_memory_says_so_or_does_without(void **state)
{
    fl_msg answer;

    (void)state;
    read_answer(ANSWER("{\"content\":[]}"), &answer);
    assert_true(ration_each(ask_and_judge, &answer) > 2);
}

static void test_refrain_has_a_name_for_every_fault(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FL_LOAD_FAULTS; i++)
        assert_true(strlen(fl_load_fault_name((fl_load_fault)i)) > 0);
    assert_string_equal(fl_load_fault_name(FL_LOAD_FAULTS), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_refrain_is_a_request_with_the_params_it_was_given),
        cmocka_unit_test(test_refrain_with_a_claim_has_it_in_its_meta),
        cmocka_unit_test(test_refrain_can_have_any_id),
        cmocka_unit_test(test_refrain_refuses_what_is_no_request),
        cmocka_unit_test(test_refrain_knows_right_answers_from_wrong_ones),
        cmocka_unit_test(test_refrain_remembers_the_last_right_answer_alone),
        cmocka_unit_test(test_refrain_keeps_answers_of_64_kib_and_no_longer),
        cmocka_unit_test(test_refrain_without_memory_says_so_or_does_without),
        cmocka_unit_test(test_refrain_has_a_name_for_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
