/*
 * test_adapt_abuse.c - texts that nobody should send, adapted all the same.
 *
 * Random texts out of the words that this room knows, with wrong types, names
 * given twice and odd spellings; then some that are deep, long or many.
 */
#include "adapt_laws.h"
#include "adapt_words.h"

enum { ROUNDS = 10000, DEPTH = 7, SIZE = 1 << 16 };

/* A linear congruential generator: the same texts in every run. */
static unsigned roll(uint64_t *dice, unsigned sides)
{
    *dice = *dice * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*dice >> 33) % sides;
}

static const char *const keys[] = {"content",
                                   "structuredContent",
                                   "tools",
                                   "messages",
                                   "task",
                                   "ttl",
                                   "ttlMs",
                                   "pollInterval",
                                   "_meta",
                                   "resultType",
                                   "cacheScope",
                                   "type",
                                   "data",
                                   "uri",
                                   "name",
                                   "text",
                                   "mimeType",
                                   "execution",
                                   "outputSchema",
                                   "inputSchema",
                                   "properties",
                                   "oneOf",
                                   "const",
                                   "title",
                                   "default",
                                   "requestedSchema",
                                   "role",
                                   "mode",
                                   "elicitationId",
                                   "code",
                                   "message",
                                   "status",
                                   "result",
                                   "isError",
                                   "error",
                                   "capabilities",
                                   "serverInfo",
                                   "protocolVersion",
                                   "supportedVersions",
                                   "extensions",
                                   "tasks",
                                   "requests",
                                   "roots",
                                   "listChanged",
                                   "completions",
                                   "prompts",
                                   "progressToken",
                                   "requestId",
                                   "requestState",
                                   "inputResponses",
                                   "params",
                                   "x",
                                   "enum",
                                   "annotations",
                                   "io.modelcontextprotocol/serverInfo",
                                   "io.modelcontextprotocol/tasks",
                                   "io.modelcontextprotocol/logLevel",
                                   "io.modelcontextprotocol\\/subscriptionId",
                                   "t\\u0061sk",
                                   "\\u0063ontent",
                                   "",
                                   "\\ud800"};
static const char *const values[] = {"null",
                                     "true",
                                     "false",
                                     "0",
                                     "-32002",
                                     "-32020",
                                     "-32602",
                                     "1e400",
                                     "\"text\"",
                                     "\"audio\"",
                                     "\"resource_link\"",
                                     "\"tool_use\"",
                                     "\"array\"",
                                     "\"object\"",
                                     "\"string\"",
                                     "\"url\"",
                                     "\"complete\"",
                                     "\"task\"",
                                     "\"input_required\"",
                                     "\"completed\"",
                                     "\"optional\"",
                                     "\"u\"",
                                     "\"\"",
                                     "\"\\ud83d\"",
                                     "\"\\\"\\\\\"",
                                     "[]",
                                     "{}",
                                     "[[]]",
                                     "\"private\""};

#define PICK(dice, list) (list)[roll((dice), sizeof(list) / sizeof *(list))]

static void put(fl_buf *out, const char *text)
{
    assert_int_equal(fl_buf_append(out, fl_span_of(text)), FL_OK);
}

static void make(uint64_t *dice, fl_buf *out, unsigned depth)
{
    bool object = roll(dice, 3) > 0;
    unsigned count = roll(dice, 6);

    if (depth == 0 || (depth < DEPTH && roll(dice, 3) == 0)) {
        put(out, PICK(dice, values));
        return;
    }
    put(out, object ? "{" : "[");
    for (unsigned i = 0; i < count; i++) {
        put(out, i > 0 ? roll(dice, 4) > 0 ? "," : " ,\n" : "");
        if (object) {
            put(out, "\"");
            put(out, PICK(dice, keys));
            put(out, roll(dice, 4) > 0 ? "\":" : "\" : ");
        }
        make(dice, out, depth - 1);
    }
    put(out, roll(dice, 4) > 0 ? "" : " ");
    put(out, object ? "}" : "]");
}

static void obey(const laws_case *chosen, fl_span text)
{
    const char *fault = laws_check(chosen, text);

    if (fault != NULL)
        fail_msg("%s: %u, %s to %s, method %d: %.*s", fault, chosen->verb,
                 chosen->adapt.from->name, chosen->adapt.to->name,
                 (int)chosen->adapt.method, (int)text.len, text.ptr);
}

static void test_abuse_by_random_texts_breaks_no_law(void **state)
{
    uint64_t dice = 1;
    fl_buf text;

    (void)state;
    fl_buf_init(&text, SIZE);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint8_t thrown[4];
        laws_case chosen;
        for (size_t j = 0; j < sizeof thrown; j++)
            thrown[j] = (uint8_t)roll(&dice, 256);
        laws_choose(&chosen, thrown);
        fl_buf_clear(&text);
        make(&dice, &text, DEPTH);
        obey(&chosen, fl_buf_view(&text));
    }
    fl_buf_reset(&text);
}

/* Of every other method what is said is of the same shape as of one of these.
 */
static const fl_method methods[] = {
    FL_METHOD_OTHER,        FL_METHOD_TOOLS_LIST,     FL_METHOD_TOOLS_CALL,
    FL_METHOD_TASKS_GET,    FL_METHOD_RESOURCES_READ, FL_METHOD_PROMPTS_GET,
    FL_METHOD_TASKS_CANCEL, FL_METHOD_SAMPLE,         FL_METHOD_ELICIT,
    FL_METHOD_PROGRESS,     FL_METHOD_TOOLS_CHANGED,  FL_METHOD_TASK_TOLD,
};

/* In every verb, from each revision to each. */
static void obey_all(fl_span text)
{
    const size_t count = sizeof methods / sizeof *methods;

    for (unsigned verb = 0; verb < LAWS_VERBS; verb++) {
        for (unsigned pair = 0; pair < 25; pair++) {
            for (size_t i = 0; i < count; i++) {
                const uint8_t thrown[4] = {(uint8_t)verb, (uint8_t)pair,
                                           (uint8_t)methods[i], 15};
                laws_case chosen;
                laws_choose(&chosen, thrown);
                obey(&chosen, text);
            }
        }
    }
}

static void repeat(fl_buf *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        put(out, text);
}

static void test_abuse_by_depth_breaks_no_law(void **state)
{
    fl_buf text;

    (void)state;
    fl_buf_init(&text, SIZE);
    put(&text, "{\"structuredContent\":");
    repeat(&text, "[", LAWS_DEPTH - 2);
    repeat(&text, "]", LAWS_DEPTH - 2);
    put(&text, ",\"content\":[],\"task\":{\"task\":{\"task\":{}}},\"tools\":[{"
               "\"outputSchema\":{\"a\":{\"a\":{}}}}]}");
    obey_all(fl_buf_view(&text));
    fl_buf_reset(&text);
}

static void test_abuse_by_wrong_types_breaks_no_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        fl_buf text;
        fl_buf_init(&text, SIZE);
        put(&text, "{");
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++) {
            put(&text, j > 0 ? ",\"" : "\"");
            put(&text, keys[j]);
            put(&text, "\":");
            put(&text, values[i]);
        }
        put(&text, "}");
        obey_all(fl_buf_view(&text));
        obey_all(fl_span_of(values[i]));
        fl_buf_reset(&text);
    }
}

/* As long as it is: time that grows faster would be seen here. */
static void test_abuse_by_number_breaks_no_law(void **state)
{
    static const struct {
        uint8_t dice[4];
        const char *head, *each, *tail;
    } cases[] = {
        {{0, 4, FL_METHOD_TOOLS_CALL, 0},
         "{\"content\":[",
         "{\"type\":\"audio\",\"data\":\"\"},",
         "1]}"},
        {{0, 4, FL_METHOD_TOOLS_LIST, 0},
         "{\"tools\":[",
         "{\"outputSchema\":{},\"execution\":1},",
         "1]}"},
        {{3, 14, FL_METHOD_SAMPLE, 0},
         "{\"messages\":[{\"role\":\"user\",\"content\":[",
         "{\"a\":1},",
         "{}]}]}"},
        {{0, 19, FL_METHOD_TASKS_GET, 0}, "{", "\"ttlMs\":1,", "\"a\":1}"},
        {{2, 4, FL_METHOD_TOOLS_CALL, 0},
         "{\"_meta\":{",
         "\"io.modelcontextprotocol/logLevel\":1,",
         "\"a\":1}}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        laws_case chosen;
        fl_buf text;
        fl_buf_init(&text, 1 << 22);
        put(&text, cases[i].head);
        repeat(&text, cases[i].each, 40000);
        put(&text, cases[i].tail);
        laws_choose(&chosen, cases[i].dice);
        obey(&chosen, fl_buf_view(&text));
        fl_buf_reset(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_abuse_by_random_texts_breaks_no_law),
        cmocka_unit_test(test_abuse_by_depth_breaks_no_law),
        cmocka_unit_test(test_abuse_by_wrong_types_breaks_no_law),
        cmocka_unit_test(test_abuse_by_number_breaks_no_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
