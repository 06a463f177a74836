/*
 * test_cmd_show.c - results and lists, as people see them.
 *
 * Both streams are files in memory; what no terminal is involved in is
 * compared to the letter. The rest is seen in the flow tests.
 */
#include "base/span.h"
#include "cmd/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct stage {
    char *out, *err;
    size_t out_size, err_size;
    fl_show show;
};

static struct stage *set(bool json)
{
    struct stage *stage = calloc(1, sizeof *stage);

    assert_non_null(stage);
    stage->show.json = json;
    stage->show.out.file = open_memstream(&stage->out, &stage->out_size);
    stage->show.err.file = open_memstream(&stage->err, &stage->err_size);
    return stage;
}

static void expect(struct stage *stage, const char *out, const char *err)
{
    fclose(stage->show.out.file);
    fclose(stage->show.err.file);
    assert_string_equal(stage->out, out);
    assert_string_equal(stage->err, err);
    free(stage->out);
    free(stage->err);
    free(stage);
}

static void expect_result(const char *result, fl_exit code, const char *out,
                          const char *err)
{
    struct stage *stage = set(false);

    assert_int_equal(fl_show_result(&stage->show, fl_span_of(result)), code);
    expect(stage, out, err);
}

static void expect_tools(const char *tools, const char *out, const char *err)
{
    struct stage *stage = set(false);

    fl_show_tools(&stage->show, fl_span_of(tools));
    expect(stage, out, err);
}

static void test_show_prints_text_and_only_text(void **state)
{
    (void)state;
    expect_result("{\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\"},"
                  "{\"type\":\"text\",\"text\":\"c\\n\"}]}",
                  FL_EXIT_OK, "a\nb\nc\n", "");
    expect_result("{\"content\":[]}", FL_EXIT_OK, "", "");
}

static void test_show_sends_a_tools_error_to_stderr(void **state)
{
    (void)state;
    expect_result("{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],"
                  "\"isError\":true}",
                  FL_EXIT_TOOL, "", "no\n");
    expect_result("{\"content\":[],\"isError\":\"true\"}", FL_EXIT_OK, "", "");
}

static void test_show_counts_the_bytes_behind_base64(void **state)
{
    (void)state;
    expect_result("{\"content\":[{\"type\":\"image\",\"data\":\"\"}]}",
                  FL_EXIT_OK, "[image, 0 bytes]\n", "");
    expect_result("{\"content\":[{\"type\":\"image\",\"data\":\"eA==\"}]}",
                  FL_EXIT_OK, "[image, 1 bytes]\n", "");
    expect_result("{\"content\":[{\"type\":\"image\",\"data\":\"eHg=\"}]}",
                  FL_EXIT_OK, "[image, 2 bytes]\n", "");
    expect_result("{\"content\":[{\"type\":\"image\",\"data\":\"eHh4\"}]}",
                  FL_EXIT_OK, "[image, 3 bytes]\n", "");
    expect_result("{\"content\":[{\"type\":\"image\",\"data\":\"=\"}]}",
                  FL_EXIT_OK, "[image, 0 bytes]\n", "");
}

static void test_show_copes_with_content_that_is_none(void **state)
{
    (void)state;
    expect_result("{\"content\":[1,null,{}]}", FL_EXIT_OK, "[]\n[]\n[]\n", "");
    expect_result("{\"content\":[{\"type\":\"text\"}]}", FL_EXIT_OK, "", "");
    expect_result("{\"content\":5}", FL_EXIT_OK, "{\n  \"content\": 5\n}\n",
                  "");
    expect_result("7", FL_EXIT_OK, "7\n", "");
}

static void test_show_json_is_the_result_untouched(void **state)
{
    struct stage *stage = set(true);

    (void)state;
    assert_int_equal(
        fl_show_result(&stage->show, FL_SPAN("{ \"isError\": true}")),
        FL_EXIT_TOOL);
    fl_show_tools(&stage->show, FL_SPAN("[1]"));
    fl_show_pong(&stage->show, 1);
    fl_show_failure(&stage->show, FL_E_REMOTE, FL_SPAN("no"),
                    FL_SPAN("{\"code\":-1}"));
    fl_show_failure(&stage->show, FL_E_TIMEOUT, FL_SPAN("\"late\""),
                    (fl_span){0});
    expect(stage,
           "{ \"isError\": true}\n"
           "{\"tools\":[1]}\n"
           "{}\n"
           "{\"error\":{\"code\":-1}}\n"
           "{\"error\":{\"status\":\"E_TIMEOUT\","
           "\"message\":\"\\\"late\\\"\"}}\n",
           "");
}

static void test_show_aligns_tools_and_marks_what_is_optional(void **state)
{
    (void)state;
    expect_tools("[{\"name\":\"a\",\"description\":\"first\\nsecond\","
                 "\"inputSchema\":{\"properties\":{"
                 "\"x\":{\"type\":\"string\"},"
                 "\"y\":{\"type\":[\"number\",\"null\"]},"
                 "\"z\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"
                 "\"w\":{\"type\":\"array\"},"
                 "\"v\":{\"anyOf\":[]}},\"required\":[\"x\",\"z\"]}},"
                 "{\"name\":\"l\xc3\xa9ng\",\"inputSchema\":{}}]",
                 "a     first\n"
                 "      x: string, [y: number|null], z: integer[], "
                 "[w: any[]], [v: any]\n"
                 "l\xc3\xa9ng\n",
                 "");
    expect_tools("[]", "", "The server has no tools.\n");
}

#define ONE_ARGUMENT(schema)                                                   \
    "[{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"n\":" schema          \
    "},\"required\":[\"n\"]}}]"

static void test_show_says_what_an_argument_may_be(void **state)
{
    (void)state;
    expect_tools(ONE_ARGUMENT("{\"enum\":[\"green\",\"black\",3,null]}"),
                 "t\n   n: green|black|3|null\n", "");
    expect_tools(ONE_ARGUMENT("{\"type\":\"string\",\"enum\":[{\"a\":\n1}]}"),
                 "t\n   n: ...\n", "");
    expect_tools(ONE_ARGUMENT("{\"type\":\"string\",\"enum\":[]}"),
                 "t\n   n: string\n", "");
    expect_tools(ONE_ARGUMENT("{\"enum\":[1,2,3,4,5,6,7,8,9,10,11,12]}"),
                 "t\n   n: 1|2|3|4|5|6|7|8|9|10|11|12\n", "");
    expect_tools(ONE_ARGUMENT("{\"enum\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14]}"),
                 "t\n   n: 1|2|3|4|5|6|7|8|9|10|11|12|...\n", "");
    expect_tools(ONE_ARGUMENT("{\"type\":\"array\",\"items\":{\"enum\":"
                              "[\"a\",\"b\"]}}"),
                 "t\n   n: (a|b)[]\n", "");
    expect_tools(ONE_ARGUMENT("{\"type\":\"integer\",\"minimum\":1}"),
                 "t\n   n: integer >= 1\n", "");
    expect_tools(ONE_ARGUMENT("{\"type\":\"number\",\"exclusiveMinimum\":0,"
                              "\"maximum\":1.5}"),
                 "t\n   n: number > 0 <= 1.5\n", "");
    expect_tools(ONE_ARGUMENT("{\"type\":\"integer\",\"minimum\":\"x\","
                              "\"exclusiveMaximum\":true}"),
                 "t\n   n: integer\n", "");
}

static void test_show_tells_what_is_taken_for_an_argument(void **state)
{
    (void)state;
    expect_tools(ONE_ARGUMENT("{\"type\":\"integer\",\"default\":5}"),
                 "t\n   n: integer = 5\n", "");
    expect_tools(ONE_ARGUMENT("{\"type\":\"string\",\"default\":\"a\\nb\"}"),
                 "t\n   n: string = a\n", "");
    expect_tools(ONE_ARGUMENT("{\"type\":\"array\",\"default\":[1,2]}"),
                 "t\n   n: any[] = ...\n", "");
}

static void test_show_tells_what_a_tool_answers(void **state)
{
    (void)state;
    expect_tools("[{\"name\":\"add\",\"inputSchema\":{},\"outputSchema\":{"
                 "\"type\":\"object\",\"properties\":{\"sum\":{\"type\":"
                 "\"number\"},\"exact\":{\"type\":\"boolean\"}},"
                 "\"required\":[\"sum\"]}},{\"name\":\"abcdefghijklmnopqrstuvwx"
                 "\",\"outputSchema\":{\"properties\":{\"x\":{}}}}]",
                 "add\n"
                 "                          -> sum: number, [exact: boolean]\n"
                 "abcdefghijklmnopqrstuvwx\n"
                 "                          -> [x: any]\n",
                 "");
}

static void test_show_does_not_pad_to_a_name_beyond_reason(void **state)
{
    (void)state;
    expect_tools("[{\"name\":\"abcdefghijklmnopqrstuvwx\"},{\"name\":\"b\","
                 "\"description\":\"x\"}]",
                 "abcdefghijklmnopqrstuvwx\n"
                 "b                         x\n",
                 "");
    expect_tools("[{\"name\":\"abcdefghijklmnopqrstuvwxy\"},{\"name\":\"b\","
                 "\"description\":\"x\"}]",
                 "abcdefghijklmnopqrstuvwxy\n"
                 "b  x\n",
                 "");
}

static void test_show_copes_with_tools_that_are_none(void **state)
{
    (void)state;
    expect_tools("[1,{\"name\":2,\"inputSchema\":3},"
                 "{\"inputSchema\":{\"properties\":[1],\"required\":{}}}]",
                 "\n\n\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_show_prints_text_and_only_text),
        cmocka_unit_test(test_show_sends_a_tools_error_to_stderr),
        cmocka_unit_test(test_show_counts_the_bytes_behind_base64),
        cmocka_unit_test(test_show_copes_with_content_that_is_none),
        cmocka_unit_test(test_show_json_is_the_result_untouched),
        cmocka_unit_test(test_show_aligns_tools_and_marks_what_is_optional),
        cmocka_unit_test(test_show_says_what_an_argument_may_be),
        cmocka_unit_test(test_show_tells_what_is_taken_for_an_argument),
        cmocka_unit_test(test_show_tells_what_a_tool_answers),
        cmocka_unit_test(test_show_does_not_pad_to_a_name_beyond_reason),
        cmocka_unit_test(test_show_copes_with_tools_that_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
