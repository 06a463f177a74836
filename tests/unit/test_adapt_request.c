/*
 * test_adapt_request.c - requests, on their way to a server of another
 * revision.
 */
#include "adapt_words.h"

#define ID "io.modelcontextprotocol/"
#define CLAIM                                                                  \
    "'" ID "protocolVersion':'2026-07-28','" ID "clientCapabilities':{},"      \
    "'" ID "clientInfo':{'name':'c'},'" ID "logLevel':'info'"

static fl_adapt_params extra;

static fl_status say_request(const fl_adapt *adapt, fl_span params, fl_buf *out)
{
    fl_adapt_params request = extra;

    request.params = params;
    return fl_adapt_request(adapt, &request, out);
}

static void said(int from, int to, const char *text, const char *want)
{
    fl_adapt adapt = between(from, to, FL_METHOD_TOOLS_CALL);

    check_words(say_request, &adapt, text, want);
}

static int forget(void **state)
{
    (void)state;
    extra = (fl_adapt_params){0};
    return 0;
}

static void test_request_to_a_legacy_server_claims_nothing(void **state)
{
    (void)state;
    for (int to = L1; to <= L4; to++) {
        said(M, to, "{'name':'a','_meta':{" CLAIM "}}", "{'name':'a'}");
        said(M, to,
             "{'_meta':{'v/a':1," CLAIM ",'progressToken':7},'a':[0.10]}",
             "{'_meta':{'v/a':1,'progressToken':7},'a':[0.10]}");
        said(M, to,
             "{'_meta':{'io.modelcontextprotocol\\/protocolVersion':1,'b':2}}",
             "{'_meta':{'b':2}}");
        said(M, to, "{'_meta':{" CLAIM "}}", "{}");
        said(M, to, "{'name':'a','_meta':{}}", NULL);
    }
}

static void test_request_to_a_legacy_server_has_no_rounds(void **state)
{
    (void)state;
    said(M, L4, "{'inputResponses':{},'name':'a','requestState':'s'}",
         "{'name':'a'}");
    said(M, L4, "{'\\u0069nputResponses':{}}", "{}");
    said(L4, M, "{'inputResponses':{},'requestState':'s'}", "{}");
    said(M, M, "{'inputResponses':{},'requestState':'s'}", NULL);
}

static void test_request_gets_another_token_if_it_has_one(void **state)
{
    (void)state;
    extra.token = FL_SPAN("42");
    said(L1, L1, "{'_meta':{'progressToken':'mine'}}",
         "{'_meta':{'progressToken':42}}");
    said(M, L1, "{'_meta':{'progress\\u0054oken':1,'" ID "logLevel':1}}",
         "{'_meta':{'progress\\u0054oken':42}}");
    said(L1, L1, "{'_meta':{'a':1},'progressToken':5}", NULL);
    said(L1, L1, "{'a':1}", NULL);
    said(L1, L1, "{'_meta':{'progressToken':42}}", NULL);
}

static void test_request_to_a_modern_server_makes_a_claim(void **state)
{
    (void)state;
    extra.claim = FL_SPAN("\"c\":1,\"d\":2");
    for (int from = L1; from <= M; from++) {
        said(from, M, "{}", "{'_meta':{'c':1,'d':2}}");
        said(from, M, "{'a':0,'_meta':{'b':1}}",
             "{'a':0,'_meta':{'b':1,'c':1,'d':2}}");
        said(from, M, "{'_meta':{" CLAIM "},'a':0}",
             "{'_meta':{'c':1,'d':2},'a':0}");
        said(from, M, "{'_meta':7}", "{'_meta':{'c':1,'d':2}}");
    }
    said(M, L4, "{'_meta':{'b':1}}", NULL);
}

static void test_request_of_a_legacy_client_makes_none_itself(void **state)
{
    (void)state;
    said(L4, M, "{'a':1,'_meta':{" CLAIM "}}", "{'a':1}");
    said(L4, L1, "{'_meta':{" CLAIM "}}", NULL);
}

static void test_request_without_params_may_get_some(void **state)
{
    fl_adapt adapt = between(L4, M, FL_METHOD_TOOLS_LIST);
    fl_buf out;

    (void)state;
    fl_buf_init(&out, WORDS_MAX);
    assert_int_equal(fl_adapt_request(&adapt, &extra, &out), FL_END);
    extra.claim = words("'c':1");
    assert_int_equal(fl_adapt_request(&adapt, &extra, &out), FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&out), words("{'_meta':{'c':1}}")));
    fl_buf_reset(&out);
}

static void test_request_says_task_only_where_it_is_a_word(void **state)
{
    (void)state;
    for (int to = L1; to <= L3; to++)
        said(L4, to, "{'name':'a','task':{'ttl':1}}", "{'name':'a'}");
    said(L4, M, "{'task':{},'name':'a'}", "{'name':'a'}");
    said(L4, L4, "{'task':{},'name':'a'}", NULL);
    said(M, L4, "{'task':{},'name':'a'}", NULL);
}

static void test_request_gets_members_in_place_of_its_own(void **state)
{
    (void)state;
    extra.members = words("'task':{'ttl':3600000}");
    said(M, L4, "{'name':'a','_meta':{" CLAIM "}}",
         "{'name':'a','task':{'ttl':3600000}}");
    extra.members = words("'inputResponses':{'k':1},'requestState':'s'");
    extra.claim = words("'c':1");
    said(L4, M, "{'requestState':'old','name':'a','task':{}}",
         "{'name':'a','_meta':{'c':1},'inputResponses':{'k':1},"
         "'requestState':'s'}");
    extra.claim = (fl_span){0};
    said(M, M, "{'requestState':'old','name':'a'}",
         "{'name':'a','inputResponses':{'k':1},'requestState':'s'}");
}

static void test_request_with_odd_params_passes(void **state)
{
    (void)state;
    extra.claim = words("'c':1");
    said(L4, M, "[1]", NULL);
    said(L4, M, "'x'", NULL);
    said(M, L4, "{'_meta':[{'" ID "logLevel':1}]}", NULL);
}

static void test_request_wants_memory_and_says_so(void **state)
{
    fl_adapt adapt = between(L4, M, FL_METHOD_TOOLS_CALL);

    (void)state;
    extra.claim = FL_SPAN("\"c\":1,\"d\":2");
    extra.members = words("'requestState':'s'");
    check_scarcity(say_request, &adapt, "{'task':1,'_meta':{'a':1},'b':1}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_request_to_a_legacy_server_claims_nothing,
                               forget),
        cmocka_unit_test_setup(test_request_to_a_legacy_server_has_no_rounds,
                               forget),
        cmocka_unit_test_setup(test_request_gets_another_token_if_it_has_one,
                               forget),
        cmocka_unit_test_setup(test_request_to_a_modern_server_makes_a_claim,
                               forget),
        cmocka_unit_test_setup(
            test_request_of_a_legacy_client_makes_none_itself, forget),
        cmocka_unit_test_setup(test_request_without_params_may_get_some,
                               forget),
        cmocka_unit_test_setup(test_request_says_task_only_where_it_is_a_word,
                               forget),
        cmocka_unit_test_setup(test_request_gets_members_in_place_of_its_own,
                               forget),
        cmocka_unit_test_setup(test_request_with_odd_params_passes, forget),
        cmocka_unit_test_setup(test_request_wants_memory_and_says_so, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
