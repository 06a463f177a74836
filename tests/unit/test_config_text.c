/*
 * test_config_text.c - the two forms of text beside JSON: JSON with comments,
 * and env files.
 */
#include "base/span.h"
#include "config/dotenv.h"
#include "config/jsonc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* In memory of its exact size, so that no byte more is touched. */
static void check_blank(const char *text, const char *expected)
{
    size_t at, len = strlen(text);
    char *copy = malloc(len > 0 ? len : 1);

    assert_non_null(copy);
    memcpy(copy, text, len);
    assert_int_equal(strlen(expected), len);
    assert_int_equal(fl_jsonc_blank(copy, len, &at), FL_OK);
    assert_memory_equal(copy, expected, len);
    free(copy);
}

static void test_jsonc_comments_become_spaces(void **state)
{
    (void)state;
    check_blank("", "");
    check_blank("{\"a\":1}", "{\"a\":1}");
    check_blank("{//x\n}", "{   \n}");
    check_blank("{//x\r\n}", "{   \r\n}");
    check_blank("//x", "   ");
    check_blank("[1/*,*/]", "[1     ]");
    check_blank("/*a\nb*/1", "   \n   1");
    check_blank("/***/1", "     1");
    check_blank("1 /", "1 /");
}

static void test_jsonc_strings_stay(void **state)
{
    (void)state;
    check_blank("[\"//x\",\"/*\",\"*/\"]", "[\"//x\",\"/*\",\"*/\"]");
    check_blank("[\"\\\"//\"]", "[\"\\\"//\"]");
    check_blank("[\"\\\\\"//\n]", "[\"\\\\\"  \n]");
    check_blank("\"//", "\"//");
    check_blank("\"\\", "\"\\");
    check_blank("[\",]\",]", "[\",]\" ]");
}

static void test_jsonc_last_comma_becomes_a_space(void **state)
{
    (void)state;
    check_blank("[1,]", "[1 ]");
    check_blank("{\"a\":[],}", "{\"a\":[] }");
    check_blank("[1, // one\n]", "[1        \n]");
    check_blank("[[1,],]", "[[1 ] ]");
    check_blank("[,]", "[,]");
    check_blank("{,}", "{,}");
    check_blank("[1,,]", "[1,,]");
    check_blank("{\"a\":,}", "{\"a\":,}");
    check_blank("[1,2]", "[1,2]");
    check_blank("1,", "1,");
}

static void test_jsonc_comment_without_an_end(void **state)
{
    (void)state;
    static const char *const texts[] = {"12/*", "12/* *", "12/*/", "12/**"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t at, len = strlen(texts[i]);
        char *copy = malloc(len);
        assert_non_null(copy);
        memcpy(copy, texts[i], len);
        assert_int_equal(fl_jsonc_blank(copy, len, &at), FL_E_BAD_JSON);
        assert_int_equal(at, 2);
        free(copy);
    }
}

static void check_next(fl_span *text, size_t *line, const char *name,
                       const char *value)
{
    fl_span found;
    fl_buf out;

    fl_buf_init(&out, 64);
    assert_int_equal(fl_dotenv_next(text, line, &found, &out), FL_OK);
    assert_true(fl_span_equal(found, fl_span_of(name)));
    assert_true(fl_span_equal(fl_buf_view(&out), fl_span_of(value)));
    fl_buf_reset(&out);
}

static void test_dotenv_reads_variables(void **state)
{
    (void)state;
    fl_span text = FL_SPAN("# remark\n"
                           "A=1\r\n"
                           "\n"
                           "  export  B = two words  # remark\n"
                           "C=\"x\\n\\\"\\\\ #y\" # remark\n"
                           "D='x\\n#'\n"
                           "E=\n"
                           "F=a#b=c\n"
                           "G=#x\n"
                           "h.i-J_1=${A}");
    size_t line = 0;
    fl_span name;
    fl_buf out;

    check_next(&text, &line, "A", "1");
    assert_int_equal(line, 2);
    check_next(&text, &line, "B", "two words");
    assert_int_equal(line, 4);
    check_next(&text, &line, "C", "x\n\"\\ #y");
    check_next(&text, &line, "D", "x\\n#");
    check_next(&text, &line, "E", "");
    check_next(&text, &line, "F", "a#b=c");
    check_next(&text, &line, "G", "");
    check_next(&text, &line, "h.i-J_1", "${A}");
    fl_buf_init(&out, 64);
    assert_int_equal(fl_dotenv_next(&text, &line, &name, &out), FL_END);
    fl_buf_reset(&out);
}

static void test_dotenv_refuses_other_lines(void **state)
{
    (void)state;
    static const char *const texts[] = {"A",     "=1",      "1A=1",   "A B=1",
                                        "A=\"x", "A='x' y", "A=\"\\", "export"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fl_span text = fl_span_of(texts[i]), name;
        size_t line = 0;
        fl_buf out;
        fl_buf_init(&out, 64);
        assert_int_equal(fl_dotenv_next(&text, &line, &name, &out),
                         FL_E_INVALID);
        assert_int_equal(line, 1);
        fl_buf_reset(&out);
    }
    fl_span nul = {"A=a\0b", 5}, name;
    size_t line = 0;
    fl_buf out;
    fl_buf_init(&out, 64);
    assert_int_equal(fl_dotenv_next(&nul, &line, &name, &out), FL_E_INVALID);
    fl_buf_reset(&out);
}

static void test_dotenv_value_has_a_maximum(void **state)
{
    (void)state;
    fl_span text = FL_SPAN("A=1234\nA=12345\nA=\"12345\"\n"), name;
    size_t line = 0;
    fl_buf out;

    fl_buf_init(&out, 4);
    assert_int_equal(fl_dotenv_next(&text, &line, &name, &out), FL_OK);
    assert_int_equal(fl_dotenv_next(&text, &line, &name, &out), FL_E_TOO_BIG);
    assert_int_equal(fl_dotenv_next(&text, &line, &name, &out), FL_E_TOO_BIG);
    fl_buf_reset(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jsonc_comments_become_spaces),
        cmocka_unit_test(test_jsonc_strings_stay),
        cmocka_unit_test(test_jsonc_last_comma_becomes_a_space),
        cmocka_unit_test(test_jsonc_comment_without_an_end),
        cmocka_unit_test(test_dotenv_reads_variables),
        cmocka_unit_test(test_dotenv_refuses_other_lines),
        cmocka_unit_test(test_dotenv_value_has_a_maximum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
