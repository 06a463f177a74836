/*
 * test_adapt_outputs.c - which tools promise what no object is.
 */
#include "adapt/outputs.h"

#include "adapt_words.h"

static fl_output judge(const char *schema)
{
    return fl_output_judge(words(schema));
}

static void test_outputs_an_object_is_one_in_every_revision(void **state)
{
    (void)state;
    assert_int_equal(judge("{'type':'object'}"), FL_OUTPUT_OBJECT);
    assert_int_equal(judge("{'type':'\\u006fbject','$ref':'#'}"),
                     FL_OUTPUT_OBJECT);
    assert_int_equal(fl_output_judge((fl_span){0}), FL_OUTPUT_UNKNOWN);
}

static void test_outputs_what_is_no_object_is_wrapped(void **state)
{
    (void)state;
    assert_int_equal(judge("{'type':'array','items':{'type':'string'}}"),
                     FL_OUTPUT_WRAPPED);
    assert_int_equal(judge("{'type':['object','null']}"), FL_OUTPUT_WRAPPED);
    assert_int_equal(judge("{}"), FL_OUTPUT_WRAPPED);
    assert_int_equal(judge("true"), FL_OUTPUT_WRAPPED);
    assert_int_equal(judge("{'description':'a \\'$ref\\' inside'}"),
                     FL_OUTPUT_WRAPPED);
    assert_int_equal(judge("{'$reference':1,'ref':2}"), FL_OUTPUT_WRAPPED);
}

static void test_outputs_references_hide_it_however_spelled(void **state)
{
    (void)state;
    assert_int_equal(judge("{'items':{'$ref':'#/$defs/a'}}"), FL_OUTPUT_HIDDEN);
    assert_int_equal(judge("{'a':[[{'$dynamicRef':'#a'}]]}"), FL_OUTPUT_HIDDEN);
    assert_int_equal(judge("{'$recursiveRef':'#'}"), FL_OUTPUT_HIDDEN);
    assert_int_equal(judge("{'\\\\':1,'\\u0024ref':'#'}"), FL_OUTPUT_HIDDEN);
}

static void test_outputs_what_is_no_schema_is_hidden(void **state)
{
    (void)state;
    assert_int_equal(judge("17"), FL_OUTPUT_HIDDEN);
    assert_int_equal(judge("'object'"), FL_OUTPUT_HIDDEN);
    assert_int_equal(judge("[]"), FL_OUTPUT_HIDDEN);
}

static const char listed[] =
    "{'tools':[{'name':'object','outputSchema':{'type':'object'}},"
    "{'name':'plain'},{'name':'list','outputSchema':{'type':'array'}},"
    "{'n\\u0061me':'li\\u006e\\u006b','outputSchema':{'$ref':'#'}},"
    "{'name':7,'outputSchema':{}},null]}";

static void test_outputs_are_found_by_what_a_name_means(void **state)
{
    fl_outputs outputs;

    (void)state;
    fl_outputs_init(&outputs, 4);
    assert_int_equal(fl_outputs_learn(&outputs, words(listed)), FL_OK);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"list\"")),
                     FL_OUTPUT_WRAPPED);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"l\\u0069st\"")),
                     FL_OUTPUT_WRAPPED);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"link\"")),
                     FL_OUTPUT_HIDDEN);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"l\\u0069nk\"")),
                     FL_OUTPUT_HIDDEN);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"object\"")),
                     FL_OUTPUT_UNKNOWN);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"\\u0061\"")),
                     FL_OUTPUT_UNKNOWN);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("7")),
                     FL_OUTPUT_UNKNOWN);
    assert_int_equal(fl_outputs_find(&outputs, (fl_span){0}),
                     FL_OUTPUT_UNKNOWN);
    fl_outputs_deinit(&outputs);
}

static void test_outputs_what_is_said_last_counts(void **state)
{
    fl_outputs outputs;

    (void)state;
    fl_outputs_init(&outputs, 4);
    assert_int_equal(fl_outputs_learn(&outputs, words(listed)), FL_OK);
    assert_int_equal(
        fl_outputs_learn(&outputs,
                         words("{'tools':[{'name':'list'},{'name':'link',"
                               "'outputSchema':{'type':'string'}}]}")),
        FL_OK);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"list\"")),
                     FL_OUTPUT_UNKNOWN);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"link\"")),
                     FL_OUTPUT_WRAPPED);
    assert_int_equal(fl_outputs_learn(&outputs, words("{'tools':5}")), FL_OK);
    assert_int_equal(fl_outputs_learn(&outputs, words("[]")), FL_OK);
    fl_outputs_deinit(&outputs);
}

static void test_outputs_remembers_as_many_as_it_may(void **state)
{
    fl_outputs outputs;

    (void)state;
    fl_outputs_init(&outputs, 1);
    assert_int_equal(fl_outputs_learn(&outputs, words(listed)), FL_E_LIMIT);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"list\"")),
                     FL_OUTPUT_WRAPPED);
    assert_int_equal(fl_outputs_find(&outputs, FL_SPAN("\"link\"")),
                     FL_OUTPUT_UNKNOWN);
    fl_outputs_deinit(&outputs);
}

static void learn_in_need(void *user)
{
    fl_outputs outputs;

    fl_outputs_init(&outputs, 4);
    fl_status rc = fl_outputs_learn(&outputs, *(const fl_span *)user);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_outputs_deinit(&outputs);
}

static void test_outputs_want_of_memory_loses_nothing_but_a_tool(void **state)
{
    fl_span text = words(listed);

    (void)state;
    assert_true(ration_each(learn_in_need, &text) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs_an_object_is_one_in_every_revision),
        cmocka_unit_test(test_outputs_what_is_no_object_is_wrapped),
        cmocka_unit_test(test_outputs_references_hide_it_however_spelled),
        cmocka_unit_test(test_outputs_what_is_no_schema_is_hidden),
        cmocka_unit_test(test_outputs_are_found_by_what_a_name_means),
        cmocka_unit_test(test_outputs_what_is_said_last_counts),
        cmocka_unit_test(test_outputs_remembers_as_many_as_it_may),
        cmocka_unit_test(test_outputs_want_of_memory_loses_nothing_but_a_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
