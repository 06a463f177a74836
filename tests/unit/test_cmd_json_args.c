/*
 * test_cmd_json_args.c - from what somebody typed to a JSON object.
 */
#include "base/span.h"
#include "cmd/json_args.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

enum { WORDS = 8 };

/* Words, NULL-terminated, as the command gets them: not constant. */
static fl_status build(const char *const *words, fl_buf *json, fl_error *error)
{
    char texts[WORDS][256];
    char *argv[WORDS];
    size_t count = 0;

    for (; words[count] != NULL; count++) {
        snprintf(texts[count], sizeof texts[count], "%s", words[count]);
        argv[count] = texts[count];
    }
    fl_buf_init(json, FL_JSON_ARGS_MAX);
    return fl_json_args(argv, count, json, error);
}

static void expect(const char *want, const char *const *words)
{
    fl_buf json;
    fl_error error = {0};

    if (build(words, &json, &error) != FL_OK)
        fail_msg("%s: %s", words[0], error.text);
    fl_span view = fl_buf_view(&json);
    char *got = strndup(view.ptr, view.len);
    assert_string_equal(got, want);
    free(got);
    fl_buf_reset(&json);
}

static void refuse(const char *quote, const char *const *words)
{
    fl_buf json;
    fl_error error = {0};

    assert_true(build(words, &json, &error) < 0);
    if (strstr(error.text, quote) == NULL)
        fail_msg("'%s' is not in: %s", quote, error.text);
    fl_buf_reset(&json);
}

#define W(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_args_of_nothing_are_an_empty_object(void **state)
{
    (void)state;
    expect("{}", (const char *const[]){NULL});
}

static void test_args_that_are_json_stay_json(void **state)
{
    (void)state;
    expect("{\"a\":2,\"b\":-1.50e2}", W("a=2", "b=-1.50e2"));
    expect("{\"a\":true,\"b\":false,\"c\":null}",
           W("a=true", "b=false", "c=null"));
    expect("{\"a\":[1,{\"b\":2}],\"c\":\"d\"}",
           W("a=[1,{\"b\":2}]", "c=\"d\""));
    expect("{\"a\":2}", W("a= 2 "));
}

static void test_args_that_are_not_json_are_text(void **state)
{
    (void)state;
    expect("{\"text\":\"hello\"}", W("text=hello"));
    expect("{\"text\":\"a=b\"}", W("text=a=b"));
    expect("{\"text\":\"\"}", W("text="));
    expect("{\"n\":\"007\",\"m\":\"NaN\"}", W("n=007", "m=NaN"));
    expect("{\"o\":\"{broken\"}", W("o={broken"));
    expect("{\"q\":\"say \\\"hi\\\"\"}", W("q=say \"hi\""));
}

static void test_args_can_be_forced_to_be_text(void **state)
{
    (void)state;
    expect("{\"a\":\"2\",\"b\":\"true\"}", W("a:=2", "b:=true"));
    expect("{\"f\":\"@home\"}", W("f:=@home"));
    expect("{\"e\":\"\"}", W("e:="));
}

static void test_args_key_is_escaped(void **state)
{
    (void)state;
    expect("{\"a\\\"b\":1}", W("a\"b=1"));
}

static void test_args_take_a_whole_object(void **state)
{
    (void)state;
    expect("{\"a\": 1}", W("{\"a\": 1} "));
    refuse("at byte 5", W("{\"a\":}"));
    refuse("not key=value", W("{\"a\":1}", "b=2"));
}

static void test_args_name_the_word_that_is_wrong(void **state)
{
    (void)state;
    refuse("'hello'", W("hello"));
    refuse("'=2'", W("=2"));
    refuse("':=2'", W(":=2"));
    refuse("'a' is given twice", W("a=1", "b=2", "a:=3"));
    refuse("UTF-8", W("a=\xff"));
}

static void test_args_read_a_file_as_text(void **state)
{
    char path[] = "/tmp/fairlead-args-XXXXXX", word[64], missing[64];
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "[1]\n", 4), 4);
    snprintf(word, sizeof word, "text=@%s", path);
    expect("{\"text\":\"[1]\\n\"}", W(word));
    assert_int_equal(write(fd, "\xff", 1), 1);
    refuse("not UTF-8", W(word));
    close(fd);
    unlink(path);
    snprintf(missing, sizeof missing, "cannot open '%s'", path);
    refuse(missing, W(word));
}

static void build_once(void *user)
{
    fl_buf json;
    fl_error error;
    fl_status rc = build(W("a=2", "text=hello", "code:=7"), &json, &error);

    (void)user;
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    assert_int_equal(rc == FL_E_NOMEM, ration_refused());
    fl_buf_reset(&json);
}

static void test_args_survive_any_lack_of_memory(void **state)
{
    (void)state;
    assert_true(ration_each(build_once, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_args_of_nothing_are_an_empty_object),
        cmocka_unit_test(test_args_that_are_json_stay_json),
        cmocka_unit_test(test_args_that_are_not_json_are_text),
        cmocka_unit_test(test_args_can_be_forced_to_be_text),
        cmocka_unit_test(test_args_key_is_escaped),
        cmocka_unit_test(test_args_take_a_whole_object),
        cmocka_unit_test(test_args_name_the_word_that_is_wrong),
        cmocka_unit_test(test_args_read_a_file_as_text),
        cmocka_unit_test(test_args_survive_any_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
