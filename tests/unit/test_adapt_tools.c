/*
 * test_adapt_tools.c - lists of tools, for a client of another revision.
 */
#include "adapt_words.h"

#define TOOLS(members) "{'tools':[{'name':'a'" members "}]}"
#define FRAME ",'resultType':'complete','ttlMs':0,'cacheScope':'private'}"
#define RAISED(members) "{'tools':[{'name':'a'" members "}]" FRAME
#define EXECUTION(how) ",'execution':{'taskSupport':'" how "'}"

static void listed(int from, int to, bool tasks, const char *text,
                   const char *want)
{
    fl_adapt adapt = between(from, to, FL_METHOD_TOOLS_LIST);

    adapt.tasks = tasks;
    check_words(fl_adapt_result, &adapt, text, want);
}

static void test_tools_execution_is_hidden_where_one_side_lacks_it(void **state)
{
    (void)state;
    for (int id = L1; id <= L3; id++) {
        listed(L4, id, false, TOOLS(EXECUTION("required")), TOOLS(""));
        listed(id, L4, false, TOOLS(EXECUTION("required")), TOOLS(""));
        listed(id, M, false, TOOLS(EXECUTION("optional")), RAISED(""));
    }
    listed(L4, M, true, TOOLS(EXECUTION("required")), RAISED(""));
    listed(M, L4, false, TOOLS(EXECUTION("required")), TOOLS(""));
    listed(L3, L2, false, TOOLS(EXECUTION("x")), NULL);
    listed(L4, L3, false, TOOLS(",'title':'t'"), NULL);
}

static void test_tools_of_modern_servers_may_become_tasks(void **state)
{
    (void)state;
    listed(M, L4, true, TOOLS(""), TOOLS(EXECUTION("optional")));
    listed(M, L4, true, TOOLS(EXECUTION("required") ",'b':1"),
           TOOLS(",'b':1" EXECUTION("optional")));
    listed(M, L4, true, TOOLS(EXECUTION("optional") ",'b':1"), NULL);
    listed(M, L3, true, TOOLS(""), NULL);
}

static void test_tools_outputs_that_are_no_objects_are_wrapped(void **state)
{
    (void)state;
    for (int to = L3; to <= L4; to++) {
        listed(M, to, false, TOOLS(",'outputSchema':{'type':'array'}"),
               TOOLS(",'outputSchema':{'type':'object','properties':{"
                     "'result':{'type':'array'}},'required':['result']}"));
        listed(M, to, false, TOOLS(",'outputSchema':true"),
               TOOLS(",'outputSchema':{'type':'object','properties':{"
                     "'result':{}},'required':['result']}"));
        listed(M, to, false,
               TOOLS(",'outputSchema':{'$ref':'#/$defs/a'},'b':1"),
               TOOLS(",'b':1"));
        listed(M, to, false, TOOLS(",'outputSchema':{'type':'object'}"), NULL);
    }
    listed(M, L2, false, TOOLS(",'outputSchema':{'type':'array'}"), NULL);
    listed(L4, L3, false, TOOLS(",'outputSchema':{'type':'array'}"), NULL);
}

static void test_tools_have_no_booleans_for_schemas_of_old(void **state)
{
    (void)state;
    for (int to = L1; to <= L4; to++)
        listed(M, to, false,
               TOOLS(",'inputSchema':{'type':'object','properties':{'a':true,"
                     "'b':{'not':true},'c':false}}"),
               TOOLS(",'inputSchema':{'type':'object','properties':{'a':{},"
                     "'b':{'not':true},'c':{'not':{}}}}"));
    listed(M, L3, false,
           TOOLS(",'outputSchema':{'type':'object','properties':{'a':true}}"),
           TOOLS(",'outputSchema':{'type':'object','properties':{'a':{}}}"));
}

static void test_tools_that_are_none_pass(void **state)
{
    (void)state;
    listed(M, L4, true, "{'tools':{'a':1}}", NULL);
    listed(M, L4, true, "{'tools':[1,null,[{'name':'a'}]]}", NULL);
    listed(
        M, L3, true,
        "{'tools':[{'inputSchema':7},{'inputSchema':{'properties':[true]}}]}",
        NULL);
}

static void test_tools_want_memory_and_say_so(void **state)
{
    fl_adapt adapt = between(M, L4, FL_METHOD_TOOLS_LIST);

    (void)state;
    adapt.tasks = true;
    check_scarcity(fl_adapt_result, &adapt,
                   TOOLS(",'outputSchema':{},'inputSchema':{'properties':"
                         "{'a':true}}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_tools_execution_is_hidden_where_one_side_lacks_it),
        cmocka_unit_test(test_tools_of_modern_servers_may_become_tasks),
        cmocka_unit_test(test_tools_outputs_that_are_no_objects_are_wrapped),
        cmocka_unit_test(test_tools_have_no_booleans_for_schemas_of_old),
        cmocka_unit_test(test_tools_that_are_none_pass),
        cmocka_unit_test(test_tools_want_memory_and_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
