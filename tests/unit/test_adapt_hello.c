/*
 * test_adapt_hello.c - what a server says of itself, in another revision; and
 * what either side can do.
 */
#include "adapt_words.h"

#define INFO "{'name':'s','version':'1'}"
#define SERVER "'io.modelcontextprotocol/serverInfo':" INFO
#define TASKS "'io.modelcontextprotocol/tasks':{}"
#define LEGACY_TASKS                                                           \
    "'tasks':{'cancel':{},'list':{},'requests':{'tools':{'call':{}}}}"

static fl_status say_hello(const fl_adapt *adapt, fl_span hello, fl_buf *out)
{
    return fl_adapt_server_hello(adapt, hello, FL_SPAN("route \"1\""), out);
}

static void greeted(int from, int to, bool tasks, const char *text,
                    const char *want)
{
    fl_adapt adapt = between(from, to, FL_METHOD_INITIALIZE);

    adapt.tasks = tasks;
    check_words(say_hello, &adapt, text, want);
}

#define INITIALIZED(revision, capabilities)                                    \
    "{'protocolVersion':'" revision "','capabilities':{" capabilities          \
    "},'serverInfo':" INFO "}"
#define DISCOVERED(capabilities)                                               \
    "{'capabilities':{" capabilities "},'resultType':'complete',"              \
    "'supportedVersions':['2026-07-28'],'ttlMs':60000,"                        \
    "'cacheScope':'private','_meta':{" SERVER "}}"

static void test_hello_of_a_legacy_server_is_a_discovery(void **state)
{
    (void)state;
    greeted(L3, M, true, INITIALIZED("2025-06-18", "'tools':{}"),
            DISCOVERED("'tools':{}"));
    greeted(L3, M, true,
            "{'_meta':{'v':1},'protocol\\u0056ersion':1,'instructions':'i',"
            "'serverInfo':" INFO ",'capabilities':5}",
            "{'_meta':{'v':1," SERVER "},'instructions':'i','capabilities':{},"
            "'resultType':'complete','supportedVersions':['2026-07-28'],"
            "'ttlMs':60000,'cacheScope':'private'}");
}

static void test_hello_of_nobody_has_the_name_it_was_given(void **state)
{
    (void)state;
    greeted(L3, M, false, "{}",
            "{'capabilities':{},'resultType':'complete',"
            "'supportedVersions':['2026-07-28'],'ttlMs':60000,"
            "'cacheScope':'private','_meta':{'io.modelcontextprotocol/"
            "serverInfo':{'name':'route \\\"1\\\"','version':'0'}}}");
    greeted(M, L3, false, "{'capabilities':{}}",
            "{'capabilities':{},'protocolVersion':'2025-06-18',"
            "'serverInfo':{'name':'route \\\"1\\\"','version':'0'}}");
    greeted(L3, L3, false, "{'serverInfo':7,'protocolVersion':'2025-06-18'}",
            "{'serverInfo':{'name':'route \\\"1\\\"','version':'0'},"
            "'protocolVersion':'2025-06-18','capabilities':{}}");
}

static void test_hello_has_tasks_as_an_extension(void **state)
{
    (void)state;
    greeted(L4, M, true, INITIALIZED("2025-11-25", LEGACY_TASKS),
            DISCOVERED("'extensions':{" TASKS "}"));
    greeted(L4, M, true,
            INITIALIZED("2025-11-25", LEGACY_TASKS ",'extensions':{'a':{}}"),
            DISCOVERED("'extensions':{'a':{}," TASKS "}"));
    greeted(L4, M, false, INITIALIZED("2025-11-25", LEGACY_TASKS),
            DISCOVERED(""));
    greeted(L4, M, true, INITIALIZED("2025-11-25", "'tasks':{'list':{}}"),
            DISCOVERED(""));
}

static void test_hello_of_the_oldest_may_complete(void **state)
{
    (void)state;
    greeted(L1, M, false, INITIALIZED("2024-11-05", "'prompts':{}"),
            DISCOVERED("'prompts':{},'completions':{}"));
    for (int to = L2; to <= L4; to++) {
        const char *name = fl_revision_get((fl_revision_id)to)->name;
        char want[256];
        snprintf(want, sizeof want,
                 "{'protocolVersion':'%s','capabilities':{'resources':{},"
                 "'completions':{}},'serverInfo':" INFO "}",
                 name);
        greeted(L1, to, false, INITIALIZED("2024-11-05", "'resources':{}"),
                want);
    }
    greeted(L1, L2, false, INITIALIZED("2024-11-05", "'tools':{}"),
            INITIALIZED("2025-03-26", "'tools':{}"));
    greeted(L4, L1, false, INITIALIZED("2025-11-25", "'completions':{},'a':1"),
            INITIALIZED("2024-11-05", "'a':1"));
    greeted(M, L1, false,
            "{'capabilities':{'completions':{}},'_meta':{" SERVER "}}",
            "{'capabilities':{},'protocolVersion':'2024-11-05',"
            "'serverInfo':" INFO "}");
}

static void test_hello_hides_tasks_where_one_side_lacks_them(void **state)
{
    (void)state;
    greeted(L4, L3, true, INITIALIZED("2025-11-25", LEGACY_TASKS),
            INITIALIZED("2025-06-18", ""));
    greeted(L3, L4, true, INITIALIZED("2025-06-18", LEGACY_TASKS),
            INITIALIZED("2025-11-25", ""));
    greeted(L3, M, true, INITIALIZED("2025-06-18", "'tasks':{}"),
            DISCOVERED(""));
    greeted(L3, L2, true, INITIALIZED("2025-06-18", "'tasks':{}"),
            INITIALIZED("2025-03-26", "'tasks':{}"));
    greeted(L4, L4, true, INITIALIZED("2025-11-25", LEGACY_TASKS), NULL);
}

#define MODERN(capabilities)                                                   \
    "{'resultType':'complete','supportedVersions':['2026-07-28'],"             \
    "'capabilities':{" capabilities "},'instructions':'i','ttlMs':5,"          \
    "'cacheScope':'public','_meta':{" SERVER "}}"
#define OPENED(revision, capabilities)                                         \
    "{'capabilities':{" capabilities "},'instructions':'i',"                   \
    "'protocolVersion':'" revision "','serverInfo':" INFO "}"

static void test_hello_of_a_modern_server_opens_a_session(void **state)
{
    (void)state;
    greeted(M, L1, true, MODERN("'tools':{},'extensions':{" TASKS "}"),
            OPENED("2024-11-05", "'tools':{}"));
    greeted(M, L4, true, MODERN("'extensions':{'a':{}," TASKS "}"),
            OPENED("2025-11-25", "'extensions':{'a':{}}," LEGACY_TASKS));
    greeted(M, L4, false, MODERN("'extensions':{" TASKS "},'tasks':{}"),
            OPENED("2025-11-25", ""));
    greeted(
        M, L3, true, MODERN("'logging':{},'resources':{'subscribe':true}"),
        OPENED("2025-06-18", "'logging':{},'resources':{'subscribe':true}"));
}

static void test_hello_between_modern_ends_passes(void **state)
{
    (void)state;
    greeted(M, M, true, MODERN(""), NULL);
    greeted(L4, M, true, "[]", NULL);
}

static void offered(int from, int to, bool tasks, const char *text,
                    const char *want)
{
    fl_adapt adapt = between(from, to, FL_METHOD_INITIALIZE);

    adapt.tasks = tasks;
    check_words(fl_adapt_client_capabilities, &adapt, text, want);
}

static void test_offer_of_a_modern_client_tells_of_roots(void **state)
{
    (void)state;
    offered(M, L4, false, "{'roots':{},'sampling':{'tools':{}}}",
            "{'roots':{'listChanged':true},'sampling':{'tools':{}}}");
    offered(M, L4, false, "{'elicitation':{'form':{},'url':{}},'a':1}", NULL);
    offered(M, L4, false, "{'roots':{'listChanged':false}}",
            "{'roots':{'listChanged':true}}");
    offered(M, L4, false, "{'roots':7}", NULL);
    offered(M, L4, true, "{'extensions':{'a':{}," TASKS "},'experimental':{}}",
            "{'extensions':{'a':{}},'experimental':{}}");
    offered(M, L4, true, "{'extensions':{" TASKS "},'tasks':{}}", "{}");
}

static void test_offer_of_a_legacy_client_claims_no_tasks(void **state)
{
    (void)state;
    offered(L4, M, false,
            "{'roots':{'listChanged':true},'tasks':{},'elicitation':{}}",
            "{'roots':{},'elicitation':{}}");
    offered(L4, M, true, "{'tasks':{}}", "{'extensions':{" TASKS "}}");
    offered(L4, M, true, "{'extensions':{'a':{}}}",
            "{'extensions':{'a':{}," TASKS "}}");
    offered(L4, M, false, "{'extensions':{" TASKS ",'a':{}}}",
            "{'extensions':{'a':{}}}");
    offered(L4, L3, false, "{'tasks':{},'roots':{'listChanged':true}}",
            "{'roots':{'listChanged':true}}");
    offered(L4, L4, false, "{'tasks':{}}", NULL);
    offered(L4, M, false, "[]", NULL);
}

static void test_hello_wants_memory_and_says_so(void **state)
{
    fl_adapt up = between(L4, M, FL_METHOD_INITIALIZE);
    fl_adapt down = between(M, L4, FL_METHOD_INITIALIZE);

    (void)state;
    up.tasks = down.tasks = true;
    check_scarcity(say_hello, &up, INITIALIZED("2025-11-25", LEGACY_TASKS));
    check_scarcity(say_hello, &down,
                   "{'capabilities':{'extensions':{" TASKS
                   "}},'resultType':'complete'}");
    check_scarcity(fl_adapt_client_capabilities, &up,
                   "{'roots':{'listChanged':true},'tasks':{}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hello_of_a_legacy_server_is_a_discovery),
        cmocka_unit_test(test_hello_of_nobody_has_the_name_it_was_given),
        cmocka_unit_test(test_hello_has_tasks_as_an_extension),
        cmocka_unit_test(test_hello_of_the_oldest_may_complete),
        cmocka_unit_test(test_hello_hides_tasks_where_one_side_lacks_them),
        cmocka_unit_test(test_hello_of_a_modern_server_opens_a_session),
        cmocka_unit_test(test_hello_between_modern_ends_passes),
        cmocka_unit_test(test_offer_of_a_modern_client_tells_of_roots),
        cmocka_unit_test(test_offer_of_a_legacy_client_claims_no_tasks),
        cmocka_unit_test(test_hello_wants_memory_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
