/*
 * test_adapt_shapes.c - what was adapted is held against the schema of the
 * revision it was adapted to.
 *
 * The corpus is one result, question or hello of each kind, with all that a
 * revision has words for in it; and the examples that the specification has
 * for 2026-07-28. Each is adapted to every other revision. What is given is
 * checked before, for a test of what was wrong already says nothing.
 */
#include "adapt_words.h"
#include "schema/schema.h"
#include "support/data.h"

static const char *const names[] = {
    [L1] = "2024-11-05", [L2] = "2025-03-26", [L3] = "2025-06-18",
    [L4] = "2025-11-25", [M] = "2026-07-28",
};

/* Schemas of a revision, compiled when they are asked for. */
enum { SHAPES = 24 };

typedef struct shape {
    int revision;
    char name[64];
    fl_schema *schema;
} shape;

static fl_span documents[M + 1];
static shape shapes[SHAPES * M];
static size_t shape_count;

static fl_schema *compile(int revision, const char *name)
{
    fl_span text = documents[revision];
    const char *place = revision < L4 ? "definitions" : "$defs";
    fl_schema *schema = NULL;
    fl_error error;
    fl_buf whole;

    fl_buf_init(&whole, 4 * WORDS_MAX);
    assert_int_equal(
        fl_buf_printf(&whole, "{\"$ref\":\"#/%s/%s\",", place, name), FL_OK);
    assert_int_equal(fl_buf_append(&whole, fl_span_from(text, 1)), FL_OK);
    fl_status rc = fl_schema_compile(
        fl_buf_view(&whole),
        &(fl_schema_options){.dialect = revision < L4 ? FL_SCHEMA_DRAFT_07
                                                      : FL_SCHEMA_2020_12},
        &schema, &error);
    if (rc != FL_OK)
        fail_msg("%s %s: %s", names[revision], name, error.text);
    fl_buf_reset(&whole);
    return schema;
}

static const fl_schema *shape_of(int revision, const char *name)
{
    for (size_t i = 0; i < shape_count; i++)
        if (shapes[i].revision == revision && strcmp(shapes[i].name, name) == 0)
            return shapes[i].schema;
    shape *new = &shapes[shape_count++];
    assert_true(shape_count <= sizeof shapes / sizeof *shapes);
    new->revision = revision;
    snprintf(new->name, sizeof new->name, "%s", name);
    new->schema = compile(revision, name);
    return new->schema;
}

static void check_shape(int revision, const char *name, fl_span text)
{
    fl_schema_fault fault;

    check_json(text);
    if (fl_schema_check(shape_of(revision, name), text, &fault) != FL_OK)
        fail_msg("%s %s: %s\n%.*s", names[revision], name, fault.text,
                 (int)text.len, text.ptr);
}

/* Of a thing that is said: the definition each revision has for it. */
typedef struct kind {
    fl_method method;
    words_adapt *say;
    const char *legacy;
    const char *modern;
} kind;

static fl_status say_hello(const fl_adapt *adapt, fl_span text, fl_buf *out)
{
    return fl_adapt_server_hello(adapt, text, FL_SPAN("route"), out);
}

static const kind call = {FL_METHOD_TOOLS_CALL, fl_adapt_result,
                          "CallToolResult", "CallToolResult"};
static const kind hello = {FL_METHOD_INITIALIZE, say_hello, "InitializeResult",
                           "DiscoverResult"};
static const kind tools = {FL_METHOD_TOOLS_LIST, fl_adapt_result,
                           "ListToolsResult", "ListToolsResult"};
static const kind get_prompt = {FL_METHOD_PROMPTS_GET, fl_adapt_result,
                                "GetPromptResult", "GetPromptResult"};
static const kind resources = {FL_METHOD_RESOURCES_LIST, fl_adapt_result,
                               "ListResourcesResult", "ListResourcesResult"};
static const kind templates = {FL_METHOD_TEMPLATES_LIST, fl_adapt_result,
                               "ListResourceTemplatesResult",
                               "ListResourceTemplatesResult"};
static const kind prompts = {FL_METHOD_PROMPTS_LIST, fl_adapt_result,
                             "ListPromptsResult", "ListPromptsResult"};
static const kind reading = {FL_METHOD_RESOURCES_READ, fl_adapt_result,
                             "ReadResourceResult", "ReadResourceResult"};
static const kind complete = {FL_METHOD_COMPLETE, fl_adapt_result,
                              "CompleteResult", "CompleteResult"};
static const kind offer = {FL_METHOD_INITIALIZE, fl_adapt_client_capabilities,
                           "ClientCapabilities", "ClientCapabilities"};
static const kind answer = {FL_METHOD_SAMPLE, fl_adapt_answer,
                            "CreateMessageResult", "CreateMessageResult"};

static const char *definition(const kind *what, int revision)
{
    return revision == M ? what->modern : what->legacy;
}

static void check_to(const kind *what, int from, int to, fl_span text)
{
    fl_adapt adapt = between(from, to, what->method);
    fl_buf out;

    adapt.tasks = true;
    adapt.server_info = FL_SPAN("{\"name\":\"s\",\"version\":\"1\"}");
    fl_buf_init(&out, WORDS_MAX);
    fl_status rc = what->say(&adapt, text, &out);
    assert_true(rc == FL_OK || rc == FL_END);
    check_shape(to, definition(what, to),
                rc == FL_OK ? fl_buf_view(&out) : text);
    fl_buf_reset(&out);
}

static void check_all(const kind *what, int from, const char *text)
{
    fl_span given = words(text);

    check_shape(from, definition(what, from), given);
    for (int to = L1; to <= M; to++)
        check_to(what, from, to, given);
}

static void load_all(void)
{
    for (int id = L1; id <= M; id++) {
        char path[64];
        snprintf(path, sizeof path, "../spec/schema/%s/schema.json", names[id]);
        documents[id] = data_load(path);
    }
}

static void load(void)
{
    if (documents[M].len == 0)
        load_all();
}

static int unload(void **state)
{
    (void)state;
    for (size_t i = 0; i < shape_count; i++)
        fl_schema_free(shapes[i].schema);
    for (int id = L1; id <= M; id++)
        if (documents[id].len > 0)
            data_free(documents[id]);
    return 0;
}

#define PARTS_1                                                                \
    "{'type':'text','text':'t'},{'type':'image','data':'AAAA',"                \
    "'mimeType':'image/png'},{'type':'resource','resource':{'uri':'a:b',"      \
    "'text':'x'}}"
#define PARTS_2 PARTS_1 ",{'type':'audio','data':'AAAA','mimeType':'audio/wav'}"
#define PARTS_3                                                                \
    PARTS_2 ",{'type':'resource_link','uri':'a:b','name':'n','title':'t',"     \
            "'annotations':{'audience':['user'],'lastModified':'2025-01-01'}}"

static void test_shapes_of_calls_fit_every_revision(void **state)
{
    (void)state;
    load();
    check_all(&call, L1, "{'content':[" PARTS_1 "],'isError':true}");
    check_all(&call, L2, "{'content':[" PARTS_2 "],'_meta':{'a':1}}");
    check_all(&call, L3,
              "{'content':[" PARTS_3 "],'structuredContent':{'a':1}}");
    check_all(&call, L4, "{'content':[],'structuredContent':{'a':1}}");
    check_all(&call, M,
              "{'resultType':'complete','content':[" PARTS_3
              "],'structuredContent':[1]}");
    check_all(&call, M,
              "{'resultType':'complete','content':[],'structuredContent':5,"
              "'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'a',"
              "'version':'1'}}}");
}

static void test_shapes_of_prompts_fit_every_revision(void **state)
{
    (void)state;
    load();
    check_all(&get_prompt, L4,
              "{'messages':[{'role':'user','content':{'type':'audio',"
              "'data':'AAAA','mimeType':'audio/wav'}},{'role':'assistant',"
              "'content':{'type':'resource_link','uri':'a:b','name':'n'}}]}");
    check_all(&get_prompt, M,
              "{'resultType':'complete','messages':[{'role':'user','content':"
              "{'type':'audio','data':'AAAA','mimeType':'audio/wav'}}]}");
    check_all(&prompts, L1, "{'prompts':[{'name':'a'}]}");
    check_all(&prompts, M,
              "{'resultType':'complete','ttlMs':1,'cacheScope':'public',"
              "'prompts':[{'name':'a','title':'t','icons':[{'src':'a:b'}]}]}");
}

static void test_shapes_of_tools_fit_every_revision(void **state)
{
    (void)state;
    load();
    check_all(&tools, L1,
              "{'tools':[{'name':'a','inputSchema':{'type':'object'}}]}");
    check_all(&tools, L4,
              "{'tools':[{'name':'a','inputSchema':{'type':'object'},"
              "'outputSchema':{'type':'object'},'execution':{'taskSupport':"
              "'required'},'annotations':{'title':'t'}}],'nextCursor':'c'}");
    check_all(&tools, M,
              "{'resultType':'complete','ttlMs':1,'cacheScope':'public',"
              "'tools':[{'name':'a','inputSchema':{'type':'object',"
              "'properties':{'x':true,'y':{'x-mcp-header':'Y'}}},"
              "'outputSchema':{'type':'array'}},{'name':'b','inputSchema':"
              "{'type':'object'},'outputSchema':{'$ref':'#/$defs/x',"
              "'$defs':{'x':{}}}},{'name':'c','inputSchema':{'type':'object'},"
              "'outputSchema':{'type':'object','properties':{'a':false}}}]}");
}

static void test_shapes_of_resources_fit_every_revision(void **state)
{
    (void)state;
    load();
    check_all(&resources, L1, "{'resources':[{'uri':'a:b','name':'a'}]}");
    check_all(&templates, L3,
              "{'resourceTemplates':[{'uriTemplate':'a:{b}','name':'a'}]}");
    check_all(&reading, L2, "{'contents':[{'uri':'a:b','blob':'AAAA'}]}");
    check_all(&reading, M,
              "{'resultType':'complete','ttlMs':1,'cacheScope':'public',"
              "'contents':[{'uri':'a:b','text':'x'}]}");
    check_all(&complete, L1, "{'completion':{'values':['a'],'total':1}}");
    check_all(&complete, M,
              "{'resultType':'complete','completion':{'values':[]}}");
}

static void test_shapes_of_hellos_fit_every_revision(void **state)
{
    (void)state;
    load();
    check_all(&hello, L1,
              "{'protocolVersion':'2024-11-05','serverInfo':{'name':'a',"
              "'version':'1'},'capabilities':{'prompts':{'listChanged':true},"
              "'logging':{}},'instructions':'i'}");
    check_all(&hello, L4,
              "{'protocolVersion':'2025-11-25','serverInfo':{'name':'a',"
              "'version':'1','icons':[{'src':'a:b'}]},'capabilities':{'tasks':"
              "{'list':{},'requests':{'tools':{'call':{}}}},'tools':{}}}");
    check_all(&hello, M,
              "{'resultType':'complete','supportedVersions':['2026-07-28'],"
              "'ttlMs':1,'cacheScope':'public','capabilities':{'extensions':"
              "{'io.modelcontextprotocol/tasks':{},'a/b':{}},'completions':{},"
              "'resources':{'subscribe':true}}}");
    check_all(&offer, L4,
              "{'roots':{'listChanged':true},'sampling':{'tools':{}},'tasks':"
              "{'list':{}},'elicitation':{'url':{}}}");
    check_all(&offer, M,
              "{'roots':{},'sampling':{'context':{}},'extensions':"
              "{'io.modelcontextprotocol/tasks':{}}}");
}

/* Between the two revisions that have them; the extension has no schema. */
static void test_shapes_of_tasks_fit(void **state)
{
    static const kind get = {FL_METHOD_TASKS_GET, fl_adapt_result,
                             "GetTaskResult", "Result"};
    static const kind made = {FL_METHOD_TOOLS_CALL, fl_adapt_result,
                              "CreateTaskResult", "Result"};

    (void)state;
    load();
    check_to(&get, M, L4,
             words("{'resultType':'complete','taskId':'t','status':'completed',"
                   "'createdAt':'c','lastUpdatedAt':'u','ttlMs':1,"
                   "'pollIntervalMs':5,'result':{'isError':true}}"));
    check_to(&get, L4, M,
             words("{'taskId':'t','status':'working','createdAt':'c',"
                   "'lastUpdatedAt':'u','ttl':null}"));
    check_to(&made, M, L4,
             words("{'resultType':'task','taskId':'t','status':'working',"
                   "'createdAt':'c','lastUpdatedAt':'u'}"));
    check_to(&made, L4, M,
             words("{'task':{'taskId':'t','status':'working','createdAt':'c',"
                   "'lastUpdatedAt':'u','ttl':7}}"));
}

/* Wrapped as a request, for before 2025-11-25 params have no name. */
static fl_status ask(const fl_adapt *adapt, fl_span params, const char *method,
                     fl_buf *out)
{
    fl_buf said;

    fl_buf_init(&said, WORDS_MAX);
    fl_status rc = fl_adapt_question(adapt, params, &said);
    fl_span text = rc == FL_OK ? fl_buf_view(&said) : params;
    if (rc == FL_OK || rc == FL_END)
        assert_int_equal(fl_buf_printf(out,
                                       "{\"jsonrpc\":\"2.0\",\"id\":1,"
                                       "\"method\":\"%s\",\"params\":%.*s}",
                                       method, (int)text.len, text.ptr),
                         FL_OK);
    fl_buf_reset(&said);
    return rc;
}

static void asked(int from, int to, fl_method method, const char *name,
                  const char *text)
{
    fl_adapt adapt = between(from, to, method);
    fl_buf out;

    adapt.object = FL_SPAN("\"e\"");
    fl_buf_init(&out, WORDS_MAX);
    fl_status rc = ask(&adapt, words(text), fl_method_name(method).ptr, &out);
    if (rc == FL_OK || rc == FL_END)
        check_shape(to, name, fl_buf_view(&out));
    else
        assert_int_equal(rc, FL_E_UNSUPPORTED);
    fl_buf_reset(&out);
}

static void test_shapes_of_questions_fit_every_revision(void **state)
{
    static const char *const forms[] = {
        "{'type':'string','oneOf':[{'const':'a','title':'A'}],'default':'a'}",
        "{'type':'string','enum':['a'],'default':'a'}",
        "{'type':'array','items':{'type':'string','enum':['a']}}",
        "{'type':'integer','default':1}",
    };

    (void)state;
    load();
    for (int to = L1; to <= M; to++) {
        asked(L4, to, FL_METHOD_SAMPLE, "CreateMessageRequest",
              "{'maxTokens':1,'task':{},'messages':[{'role':'user','content':["
              "{'type':'text','text':'a'},{'type':'text','text':'b'}]},"
              "{'role':'user','content':[{'type':'text','text':'c'}]},"
              "{'role':'user','content':[]}]}");
        asked(M, to, FL_METHOD_SAMPLE, "CreateMessageRequest",
              "{'maxTokens':1,'messages':[{'role':'user','content':["
              "{'type':'audio','data':'AAAA','mimeType':'a/b'}]}]}");
        if (to >= L3)
            asked(M, to, FL_METHOD_ELICIT, "ElicitRequest",
                  "{'message':'m','mode':'url','url':'a:b'}");
        for (size_t i = 0; to >= L3 && i < 4; i++) {
            char text[512];
            snprintf(text, sizeof text,
                     "{'message':'m','requestedSchema':{'type':'object',"
                     "'properties':{'p':%s}}}",
                     forms[i]);
            asked(M, to, FL_METHOD_ELICIT, "ElicitRequest", text);
            asked(L4, to, FL_METHOD_ELICIT, "ElicitRequest", text);
        }
    }
    for (int to = L1; to <= M; to++)
        check_to(&answer, L4, to,
                 words("{'role':'assistant','model':'m','content':[{'type':"
                       "'text','text':'a'},{'type':'text','text':'b'}]}"));
}

static void visit_example(void *user, const char *name, fl_span file)
{
    fl_json_top top;

    (void)name;
    assert_int_equal(fl_json_scan(file, 0, &top, NULL), FL_OK);
    check_shape(M, definition(user, M), top.value);
    for (int to = L1; to <= M; to++)
        check_to(user, M, to, top.value);
}

static void test_shapes_of_the_specifications_own_examples_fit(void **state)
{
    static const kind *const kinds[] = {
        &call,      &hello,   &tools,   &get_prompt, &resources,
        &templates, &prompts, &reading, &complete,   &offer};

    (void)state;
    load();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kind visited = *kinds[i];
        char path[128];
        snprintf(path, sizeof path, "../spec/schema/2026-07-28/examples/%s",
                 visited.modern);
        assert_true(data_each(path, visit_example, &visited) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_of_calls_fit_every_revision),
        cmocka_unit_test(test_shapes_of_prompts_fit_every_revision),
        cmocka_unit_test(test_shapes_of_tools_fit_every_revision),
        cmocka_unit_test(test_shapes_of_resources_fit_every_revision),
        cmocka_unit_test(test_shapes_of_hellos_fit_every_revision),
        cmocka_unit_test(test_shapes_of_tasks_fit),
        cmocka_unit_test(test_shapes_of_questions_fit_every_revision),
        cmocka_unit_test(test_shapes_of_the_specifications_own_examples_fit),
    };
    return cmocka_run_group_tests(tests, NULL, unload);
}
