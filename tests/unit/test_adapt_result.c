/*
 * test_adapt_result.c - results, on their way to a client of another revision.
 */
#include "adapt_words.h"

#define INFO "{'name':'s','version':'1'}"
#define SERVER "'io.modelcontextprotocol/serverInfo':" INFO

static void raised(fl_method method, const char *text, const char *want)
{
    for (int from = L1; from <= L4; from++) {
        fl_adapt adapt = between(from, M, method);
        adapt.server_info = words(INFO);
        check_words(fl_adapt_result, &adapt, text, want);
    }
}

static void lowered(fl_method method, const char *text, const char *want)
{
    for (int to = L1; to <= L4; to++) {
        fl_adapt adapt = between(M, to, method);
        check_words(fl_adapt_result, &adapt, text, want);
    }
}

static void told(int from, int to, fl_method method, const char *text,
                 const char *want)
{
    fl_adapt adapt = between(from, to, method);

    check_words(fl_adapt_result, &adapt, text, want);
}

static void test_result_of_the_same_revision_is_not_touched(void **state)
{
    (void)state;
    for (int id = L1; id <= M; id++)
        told(id, id, FL_METHOD_TOOLS_CALL,
             "{'content':[{'type':'audio','data':'','mimeType':'a'}],"
             "'resultType':'x','structuredContent':[1]}",
             NULL);
}

static void test_result_for_modern_clients_is_complete(void **state)
{
    (void)state;
    raised(FL_METHOD_COMPLETE, "{'completion':{'values':[]}}",
           "{'completion':{'values':[]},'resultType':'complete',"
           "'_meta':{" SERVER "}}");
    raised(FL_METHOD_PING, "{}",
           "{'resultType':'complete','_meta':{" SERVER "}}");
    raised(FL_METHOD_OTHER, "{'x':1}",
           "{'x':1,'resultType':'complete','_meta':{" SERVER "}}");
}

static void test_result_keeps_what_a_server_has_in_meta(void **state)
{
    (void)state;
    raised(FL_METHOD_TOOLS_CALL, "{'content':[],'_meta':{'v/a':1.50}}",
           "{'content':[],'_meta':{'v/a':1.50," SERVER
           "},'resultType':'complete'}");
    raised(FL_METHOD_TOOLS_CALL,
           "{'_meta':{'io.modelcontextprotocol\\/serverInfo':{}}}",
           "{'_meta':{'io.modelcontextprotocol\\/serverInfo':{}},"
           "'resultType':'complete'}");
    raised(FL_METHOD_TOOLS_CALL, "{'_meta':7}",
           "{'_meta':7,'resultType':'complete'}");
}

static void test_result_without_a_known_server_gets_no_meta(void **state)
{
    (void)state;
    told(L4, M, FL_METHOD_PING, "{}", "{'resultType':'complete'}");
    told(L4, M, FL_METHOD_PING, "{'resultType':'complete'}", NULL);
}

static void test_result_that_can_be_kept_is_kept_by_nobody(void **state)
{
    static const fl_method methods[] = {
        FL_METHOD_TOOLS_LIST,     FL_METHOD_RESOURCES_LIST,
        FL_METHOD_PROMPTS_LIST,   FL_METHOD_TEMPLATES_LIST,
        FL_METHOD_RESOURCES_READ,
    };

    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        told(L2, M, methods[i], "{'a':1}",
             "{'a':1,'resultType':'complete','ttlMs':0,"
             "'cacheScope':'private'}");
        told(L2, M, methods[i],
             "{'ttlMs':99,'c\\u0061cheScope':'public','resultType':'complete'}",
             "{'ttlMs':0,'c\\u0061cheScope':'private',"
             "'resultType':'complete'}");
    }
}

static void test_result_of_a_legacy_server_cannot_ask(void **state)
{
    (void)state;
    told(L4, M, FL_METHOD_TOOLS_CALL,
         "{'resultType':'input_required','requestState':'s'}",
         "{'resultType':'complete','requestState':'s'}");
    told(L4, M, FL_METHOD_TOOLS_CALL, "{'resultType':{}}",
         "{'resultType':'complete'}");
    told(L4, M, FL_METHOD_PROMPTS_GET, "{'resultType':'task'}",
         "{'resultType':'complete'}");
}

static void test_result_for_legacy_clients_loses_its_frame(void **state)
{
    (void)state;
    lowered(FL_METHOD_RESOURCES_LIST,
            "{'resultType':'complete','resources':[],'ttlMs':5,"
            "'cacheScope':'public','_meta':{" SERVER "}}",
            "{'resources':[]}");
    lowered(FL_METHOD_COMPLETE,
            "{'result\\u0054ype':'complete','completion':{'values':['a']},"
            "'_meta':{'v/a':1," SERVER ",'v/b':2}}",
            "{'completion':{'values':['a']},'_meta':{'v/a':1,'v/b':2}}");
    lowered(FL_METHOD_OTHER, "{'resultType':'complete'}", "{}");
    lowered(FL_METHOD_PROMPTS_LIST, "{'prompts':[],'_meta':{'v':1}}", NULL);
    lowered(FL_METHOD_PROMPTS_LIST, "{'prompts':[],'_meta':[]}", NULL);
}

#define SOUND "{'type':'audio','data':'AAA=','mimeType':'audio/wav'"
#define BLOB                                                                   \
    "{'type':'resource','resource':{'uri':'audio:','mimeType':'audio/wav',"    \
    "'blob':'AAA='}"

static void test_result_has_sounds_as_resources_for_the_oldest(void **state)
{
    (void)state;
    for (int from = L2; from <= L4; from++) {
        told(from, L1, FL_METHOD_TOOLS_CALL,
             "{'content':[{'type':'text','text':'a'}," SOUND "},1]}",
             "{'content':[{'type':'text','text':'a'}," BLOB "},1]}");
        told(from, L1, FL_METHOD_PROMPTS_GET,
             "{'messages':[{'role':'user','content':" SOUND
             ",'annotations':{'priority':1}}},7,{'content':5}]}",
             "{'messages':[{'role':'user','content':" BLOB
             ",'annotations':{'priority':1}}},7,{'content':5}]}");
    }
    told(L4, L2, FL_METHOD_TOOLS_CALL, "{'content':[" SOUND "}]}", NULL);
    told(L3, L2, FL_METHOD_PROMPTS_GET, "{'messages':[{'content':" SOUND "}}]}",
         NULL);
    told(M, L1, FL_METHOD_TOOLS_CALL,
         "{'content':[" SOUND "}],'resultType':'complete'}",
         "{'content':[" BLOB "}]}");
    told(L4, L1, FL_METHOD_TOOLS_CALL, "{'content':[{'type':'audio'}]}", NULL);
}

#define LINK "{'type':'resource_link','name':'n\\u0021','uri':'file:///a'"

static void test_result_has_links_as_text_before_there_were_any(void **state)
{
    (void)state;
    for (int to = L1; to <= L2; to++) {
        told(L3, to, FL_METHOD_TOOLS_CALL, "{'content':[" LINK ",'size':7}]}",
             "{'content':[{'type':'text','text':'n\\u0021: file:///a'}]}");
        told(L4, to, FL_METHOD_PROMPTS_GET,
             "{'messages':[{'content':" LINK ",'_meta':{'a':1},"
             "'annotations':{}}}]}",
             "{'messages':[{'content':{'type':'text','text':"
             "'n\\u0021: file:///a','annotations':{},'_meta':{'a':1}}}]}");
        told(M, to, FL_METHOD_TASKS_RESULT,
             "{'content':[{'uri':'u','type':'resource_l\\u0069nk'}]}",
             "{'content':[{'type':'text','text':'resource: u'}]}");
    }
    told(L4, L3, FL_METHOD_TOOLS_CALL, "{'content':[" LINK "}]}", NULL);
    told(L4, L2, FL_METHOD_TOOLS_CALL,
         "{'content':[{'type':'resource_link','uri':5}]}", NULL);
}

static void test_result_that_is_structured_only_gets_text(void **state)
{
    (void)state;
    for (int to = L1; to <= L2; to++) {
        told(L3, to, FL_METHOD_TOOLS_CALL,
             "{'content':[],'structuredContent':{'a':1.0}}",
             "{'content':[{'type':'text','text':'{\\\"a\\\":1.0}'}],"
             "'structuredContent':{'a':1.0}}");
        told(L4, to, FL_METHOD_TOOLS_CALL, "{'structuredContent':{}}",
             "{'structuredContent':{},'content':[{'type':'text',"
             "'text':'{}'}]}");
        told(L4, to, FL_METHOD_TOOLS_CALL,
             "{'content':[{'type':'image'}],'structuredContent':{}}", NULL);
    }
    told(L4, L3, FL_METHOD_TOOLS_CALL, "{'structuredContent':{}}", NULL);
    told(L3, M, FL_METHOD_TOOLS_CALL, "{'structuredContent':{}}",
         "{'structuredContent':{},'resultType':'complete'}");
}

static void test_result_that_is_no_object_is_wrapped(void **state)
{
    (void)state;
    for (int to = L3; to <= L4; to++) {
        told(M, to, FL_METHOD_TOOLS_CALL,
             "{'structuredContent':[1, 2],'content':[],'isError':false}",
             "{'structuredContent':{'result':[1, 2]},'content':"
             "[{'type':'text','text':'[1, 2]'}],'isError':false}");
        told(M, to, FL_METHOD_TOOLS_CALL,
             "{'content':[{'type':'text','text':'x'}],"
             "'structuredContent':null}",
             "{'content':[{'type':'text','text':'x'}],"
             "'structuredContent':{'result':null}}");
        told(M, to, FL_METHOD_TOOLS_CALL,
             "{'content':[],'structuredContent':{'a':1}}", NULL);
    }
}

static void test_result_is_wrapped_as_its_schema_was(void **state)
{
    fl_outputs outputs;
    fl_adapt adapt = between(M, L3, FL_METHOD_TOOLS_CALL);

    (void)state;
    fl_outputs_init(&outputs, 4);
    assert_int_equal(
        fl_outputs_learn(&outputs,
                         words("{'tools':[{'name':'any','outputSchema':{}},"
                               "{'name':'ref','outputSchema':{'$ref':'#'}}]}")),
        FL_OK);
    adapt.outputs = &outputs;
    adapt.object = FL_SPAN("\"any\"");
    check_words(fl_adapt_result, &adapt,
                "{'content':[{'type':'text'}],'structuredContent':{'a':1}}",
                "{'content':[{'type':'text'}],"
                "'structuredContent':{'result':{'a':1}}}");
    adapt.object = FL_SPAN("\"ref\"");
    check_words(fl_adapt_result, &adapt,
                "{'structuredContent':{'a':1},'content':[{'type':'image'}]}",
                "{'content':[{'type':'image'},{'type':'text','text':"
                "'{\\\"a\\\":1}'}]}");
    check_words(fl_adapt_result, &adapt, "{'structuredContent':5}",
                "{'content':[{'type':'text','text':'5'}]}");
    fl_outputs_deinit(&outputs);
}

#define STATE "'taskId':'t','status':'working','createdAt':'c'"

static void test_result_that_is_a_task_changes_its_shape(void **state)
{
    (void)state;
    told(L4, M, FL_METHOD_TOOLS_CALL,
         "{'task':{" STATE ",'ttl':60,'pollInterval':5}}",
         "{" STATE ",'ttlMs':60,'pollIntervalMs':5,'resultType':'task'}");
    told(L4, M, FL_METHOD_TOOLS_CALL,
         "{'_meta':{},'task':{'resultType':'x','ttl':null,'ttl':1},'a':0}",
         "{'_meta':{},'ttlMs':null,'ttlMs':1,'a':0,'resultType':'task'}");
    told(L4, M, FL_METHOD_TOOLS_CALL, "{'a':1,'task':{'_meta':1}}",
         "{'a':1,'resultType':'task'}");
    told(L4, M, FL_METHOD_TOOLS_CALL, "{'task':7}",
         "{'task':7,'resultType':'complete'}");
    told(M, L4, FL_METHOD_TOOLS_CALL,
         "{'resultType':'task'," STATE ",'ttlMs':60,'pollIntervalMs':5}",
         "{'task':{" STATE ",'ttl':60,'pollInterval':5}}");
    told(M, L4, FL_METHOD_TOOLS_CALL,
         "{" STATE ",'resultType':'task','_meta':{'v':1," SERVER "}}",
         "{'task':{" STATE ",'ttl':null},'_meta':{'v':1}}");
    told(M, L4, FL_METHOD_TOOLS_CALL,
         "{" STATE ",'ttlMs':1,'resultType':'task','_meta':{'v':1}}",
         "{'task':{" STATE ",'ttl':1},'_meta':{'v':1}}");
}

static void test_result_of_a_task_has_units_in_its_names(void **state)
{
    (void)state;
    told(L4, M, FL_METHOD_TASKS_GET, "{" STATE ",'ttl':9,'pollInterval':5}",
         "{" STATE ",'ttlMs':9,'pollIntervalMs':5,'resultType':'complete'}");
    told(M, L4, FL_METHOD_TASKS_GET,
         "{'resultType':'complete'," STATE ",'ttlMs':9,'pollIntervalMs':5}",
         "{" STATE ",'ttl':9,'pollInterval':5}");
    told(M, L4, FL_METHOD_TASKS_GET, "{" STATE ",'ttlMs':9,'ttl':5}",
         "{" STATE ",'ttl':5}");
}

static void test_result_of_a_task_is_not_told_with_its_state(void **state)
{
    (void)state;
    told(M, L4, FL_METHOD_TASKS_GET,
         "{'status':'completed','result':{'content':[]},'ttlMs':1}",
         "{'status':'completed','ttl':1}");
    told(M, L4, FL_METHOD_TASKS_GET,
         "{'status':'completed','result':{'isError':true},'ttlMs':1}",
         "{'status':'failed','ttl':1}");
    told(M, L4, FL_METHOD_TASKS_GET,
         "{'error':{},'status':'failed','inputRequests':{},'ttlMs':1}",
         "{'status':'failed','ttl':1}");
}

static void test_result_of_a_cancelled_task_is_an_empty_one(void **state)
{
    (void)state;
    told(L4, M, FL_METHOD_TASKS_CANCEL, "{" STATE ",'ttl':1,'_meta':{'v':1}}",
         "{'_meta':{'v':1},'resultType':'complete'}");
}

static void test_result_that_is_no_object_passes(void **state)
{
    (void)state;
    told(L4, M, FL_METHOD_TOOLS_CALL, "[1]", NULL);
    told(M, L1, FL_METHOD_TOOLS_CALL, "null", NULL);
    told(L4, L1, FL_METHOD_RESOURCES_LIST, "{'resources':[{'icons':[]}]}",
         NULL);
    told(L4, L1, FL_METHOD_TOOLS_CALL, "{'content':{'type':'audio'}}", NULL);
    told(L4, L1, FL_METHOD_PROMPTS_GET, "{'messages':{'type':'audio'}}", NULL);
}

static void test_result_wants_memory_and_says_so(void **state)
{
    fl_adapt down = between(M, L1, FL_METHOD_TOOLS_CALL);
    fl_adapt up = between(L4, M, FL_METHOD_TOOLS_CALL);

    (void)state;
    up.server_info = words(INFO);
    check_scarcity(fl_adapt_result, &down,
                   "{'resultType':'complete','content':[" SOUND "}," LINK
                   "}],'structuredContent':[1]}");
    check_scarcity(fl_adapt_result, &down, "{'structuredContent':[1]}");
    check_scarcity(fl_adapt_result, &down,
                   "{'resultType':'task'," STATE ",'_meta':{'a':1," SERVER
                   "}}");
    check_scarcity(fl_adapt_result, &up, "{'task':{'ttl':1,'taskId':'a'}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result_of_the_same_revision_is_not_touched),
        cmocka_unit_test(test_result_for_modern_clients_is_complete),
        cmocka_unit_test(test_result_keeps_what_a_server_has_in_meta),
        cmocka_unit_test(test_result_without_a_known_server_gets_no_meta),
        cmocka_unit_test(test_result_that_can_be_kept_is_kept_by_nobody),
        cmocka_unit_test(test_result_of_a_legacy_server_cannot_ask),
        cmocka_unit_test(test_result_for_legacy_clients_loses_its_frame),
        cmocka_unit_test(test_result_has_sounds_as_resources_for_the_oldest),
        cmocka_unit_test(test_result_has_links_as_text_before_there_were_any),
        cmocka_unit_test(test_result_that_is_structured_only_gets_text),
        cmocka_unit_test(test_result_that_is_no_object_is_wrapped),
        cmocka_unit_test(test_result_is_wrapped_as_its_schema_was),
        cmocka_unit_test(test_result_that_is_a_task_changes_its_shape),
        cmocka_unit_test(test_result_of_a_task_has_units_in_its_names),
        cmocka_unit_test(test_result_of_a_task_is_not_told_with_its_state),
        cmocka_unit_test(test_result_of_a_cancelled_task_is_an_empty_one),
        cmocka_unit_test(test_result_that_is_no_object_passes),
        cmocka_unit_test(test_result_wants_memory_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
