/*
 * test_adapt_notice.c - notifications, on their way to a client of another
 * revision.
 */
#include "adapt_words.h"

#define TAG "'io.modelcontextprotocol/subscriptionId'"

static void noticed(int from, int to, fl_method method, const char *object,
                    const char *text, const char *want)
{
    fl_adapt adapt = between(from, to, method);

    adapt.object = words(object);
    check_words(fl_adapt_notice, &adapt, text, want);
}

static void test_notice_of_progress_has_no_message_at_first(void **state)
{
    (void)state;
    for (int from = L2; from <= M; from++)
        noticed(from, L1, FL_METHOD_PROGRESS, "",
                "{'progress':1,'message':'m','total':2.50}",
                "{'progress':1,'total':2.50}");
    noticed(L4, L2, FL_METHOD_PROGRESS, "", "{'message':'m'}", NULL);
    noticed(L4, L1, FL_METHOD_MESSAGE, "", "{'message':'m'}", NULL);
}

static void test_notice_has_the_clients_own_token(void **state)
{
    (void)state;
    for (int id = L1; id <= M; id++) {
        noticed(id, id, FL_METHOD_PROGRESS, "'mine'",
                "{'progressToken':7,'progress':1}",
                "{'progressToken':'mine','progress':1}");
        noticed(id, id, FL_METHOD_CANCELLED, "1", "{'requestId':'g1'}",
                "{'requestId':1}");
        noticed(id, id, FL_METHOD_PROGRESS, "", "{'progressToken':7}", NULL);
        noticed(id, id, FL_METHOD_MESSAGE, "1", "{'progressToken':7}", NULL);
    }
}

static void test_notice_to_a_listen_is_tagged(void **state)
{
    static const fl_method methods[] = {
        FL_METHOD_TOOLS_CHANGED,     FL_METHOD_PROMPTS_CHANGED,
        FL_METHOD_RESOURCES_CHANGED, FL_METHOD_RESOURCE_UPDATED,
        FL_METHOD_ACKNOWLEDGED,
    };

    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        noticed(L4, M, methods[i], "'l'", "{'uri':'u'}",
                "{'uri':'u','_meta':{" TAG ":'l'}}");
        noticed(M, M, methods[i], "7", "{'_meta':{'v':1," TAG ":3},'uri':'u'}",
                "{'_meta':{'v':1," TAG ":7},'uri':'u'}");
        noticed(L4, M, methods[i], "7", "{'_meta':{'v':1}}",
                "{'_meta':{'v':1," TAG ":7}}");
    }
    noticed(L4, M, FL_METHOD_MESSAGE, "7", "{'level':'info'}", NULL);
    noticed(L4, M, FL_METHOD_TOOLS_CHANGED, "7", "{'_meta':[]}", NULL);
}

static void test_notice_without_params_is_tagged_as_well(void **state)
{
    fl_adapt adapt = between(L1, M, FL_METHOD_TOOLS_CHANGED);
    fl_buf out;

    (void)state;
    fl_buf_init(&out, WORDS_MAX);
    assert_int_equal(fl_adapt_notice(&adapt, (fl_span){0}, &out), FL_END);
    adapt.object = FL_SPAN("7");
    assert_int_equal(fl_adapt_notice(&adapt, (fl_span){0}, &out), FL_OK);
    assert_true(
        fl_span_equal(fl_buf_view(&out), words("{'_meta':{" TAG ":7}}")));
    fl_buf_reset(&out);
}

static void test_notice_to_a_legacy_client_has_no_tag(void **state)
{
    (void)state;
    noticed(M, L4, FL_METHOD_TOOLS_CHANGED, "", "{'_meta':{" TAG ":1}}", "{}");
    noticed(M, L1, FL_METHOD_RESOURCE_UPDATED, "",
            "{'_meta':{" TAG ":1,'v':2},'uri':'u'}",
            "{'_meta':{'v':2},'uri':'u'}");
    noticed(L4, L1, FL_METHOD_RESOURCE_UPDATED, "",
            "{'_meta':{" TAG ":1,'v':2},'uri':'u'}", NULL);
}

static void test_notice_of_a_task_has_units_in_its_names(void **state)
{
    (void)state;
    noticed(L4, M, FL_METHOD_TASK_STATUS, "7", "{'taskId':'t','ttl':1}",
            "{'taskId':'t','ttlMs':1,'_meta':{" TAG ":7}}");
    noticed(M, L4, FL_METHOD_TASK_TOLD, "",
            "{'status':'completed','result':{'isError':true},"
            "'pollIntervalMs':1}",
            "{'status':'failed','pollInterval':1,'ttl':null}");
}

static void test_notice_of_an_odd_shape_passes(void **state)
{
    (void)state;
    noticed(M, L1, FL_METHOD_PROGRESS, "1", "[{'message':1}]", NULL);
    noticed(L4, L4, FL_METHOD_PROGRESS, "1", "null", NULL);
}

static void test_notice_wants_memory_and_says_so(void **state)
{
    fl_adapt adapt = between(L4, M, FL_METHOD_TASK_STATUS);

    (void)state;
    adapt.object = FL_SPAN("7");
    check_scarcity(fl_adapt_notice, &adapt, "{'taskId':'t','ttl':1}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notice_of_progress_has_no_message_at_first),
        cmocka_unit_test(test_notice_has_the_clients_own_token),
        cmocka_unit_test(test_notice_to_a_listen_is_tagged),
        cmocka_unit_test(test_notice_without_params_is_tagged_as_well),
        cmocka_unit_test(test_notice_to_a_legacy_client_has_no_tag),
        cmocka_unit_test(test_notice_of_a_task_has_units_in_its_names),
        cmocka_unit_test(test_notice_of_an_odd_shape_passes),
        cmocka_unit_test(test_notice_wants_memory_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
