/*
 * test_cmd_flags.c - a command line taken apart, and what is refused of it.
 */
#include "cmd/flags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    bool loud;
    const char *name;
    fl_flag_list item;
    unsigned count;
    size_t bytes;
    uint64_t ms;
    unsigned choice;
};

static const char *const colours[] = {"red", "green", "blue", NULL};

/* The last argument is NULL, as argv's is. */
static fl_status parse(struct seen *seen, fl_words *words, fl_error *error,
                       char **argv)
{
    const fl_flag flags[] = {
        {"--loud", FL_FLAG_SWITCH, &seen->loud, NULL},
        {"--name", FL_FLAG_TEXT, &seen->name, NULL},
        {"--item", FL_FLAG_LIST, &seen->item, NULL},
        {"--count", FL_FLAG_COUNT, &seen->count, NULL},
        {"--bytes", FL_FLAG_BYTES, &seen->bytes, NULL},
        {"--wait", FL_FLAG_SECONDS, &seen->ms, NULL},
        {"--colour", FL_FLAG_CHOICE, &seen->choice, colours},
        {0},
    };

    *seen = (struct seen){0};
    return fl_flags_parse(flags, argv, words, error);
}

static fl_error refusal_of(const char *first, const char *second)
{
    char a[128], b[128];
    char *argv[] = {a, second != NULL ? b : NULL, NULL};
    struct seen seen;
    fl_words words;
    fl_error error = {0};

    snprintf(a, sizeof a, "%s", first);
    snprintf(b, sizeof b, "%s", second != NULL ? second : "");
    assert_true(parse(&seen, &words, &error, argv) < 0);
    return error;
}

static struct seen accept(const char *first, const char *second)
{
    char a[128], b[128];
    char *argv[] = {a, second != NULL ? b : NULL, NULL};
    struct seen seen;
    fl_words words;
    fl_error error;

    snprintf(a, sizeof a, "%s", first);
    snprintf(b, sizeof b, "%s", second != NULL ? second : "");
    assert_int_equal(parse(&seen, &words, &error, argv), FL_OK);
    return seen;
}

static void test_flags_may_stand_among_the_words(void **state)
{
    char one[] = "one", loud[] = "--loud", two[] = "two", dash[] = "-";
    char *argv[] = {one, loud, two, dash, NULL};
    struct seen seen;
    fl_words words;

    (void)state;
    assert_int_equal(parse(&seen, &words, NULL, argv), FL_OK);
    assert_true(seen.loud);
    assert_int_equal(words.count, 3);
    assert_string_equal(words.word[0], "one");
    assert_string_equal(words.word[1], "two");
    assert_string_equal(words.word[2], "-");
    assert_null(words.rest);
}

static void test_flags_leave_what_follows_two_dashes(void **state)
{
    char one[] = "one", end[] = "--", loud[] = "--loud", x[] = "--unknown";
    char *argv[] = {one, end, loud, x, NULL};
    struct seen seen;
    fl_words words;

    (void)state;
    assert_int_equal(parse(&seen, &words, NULL, argv), FL_OK);
    assert_false(seen.loud);
    assert_int_equal(words.count, 1);
    assert_string_equal(words.rest[0], "--loud");
    assert_string_equal(words.rest[1], "--unknown");
    assert_null(words.rest[2]);
}

static void expect_name(const char *want, char *first, char *second)
{
    char *argv[] = {first, second, NULL};
    struct seen seen;
    fl_words words;

    assert_int_equal(parse(&seen, &words, NULL, argv), FL_OK);
    assert_string_equal(seen.name, want);
}

static void test_flags_take_a_value_either_way(void **state)
{
    char name[] = "--name", joined[] = "--name=x=y", none[] = "--name=";
    char value[] = "x=y", dashes[] = "--loud";

    (void)state;
    expect_name("x=y", name, value);
    expect_name("x=y", joined, NULL);
    expect_name("", none, NULL);
    expect_name("--loud", name, dashes);
}

static void test_flags_name_what_is_unknown_and_what_was_meant(void **state)
{
    fl_error error = refusal_of("--colou=red", NULL);

    (void)state;
    assert_non_null(strstr(error.text, "'--colou'"));
    assert_non_null(strstr(error.text, "did you mean --colour?"));
    assert_null(strstr(refusal_of("--zzzzzzzz", NULL).text, "mean"));
    assert_non_null(strstr(refusal_of("-x", NULL).text, "'-x'"));
}

static void test_flags_want_a_value_where_there_is_none(void **state)
{
    (void)state;
    assert_non_null(strstr(refusal_of("--name", NULL).text, "needs a value"));
    assert_non_null(strstr(refusal_of("--name", "--").text, "needs a value"));
    assert_non_null(strstr(refusal_of("--loud=1", NULL).text, "no value"));
}

static void test_flags_count_from_one_to_the_limit(void **state)
{
    (void)state;
    assert_int_equal(accept("--count", "1").count, 1);
    assert_int_equal(accept("--count", "2147483647").count, INT32_MAX);
    refusal_of("--count", "2147483648");
    refusal_of("--count", "99999999999999999999");
    refusal_of("--count", "0");
    refusal_of("--count", "-1");
    refusal_of("--count", " 1");
    refusal_of("--count", "1x");
    refusal_of("--count=", NULL);
}

static void test_flags_read_sizes_with_suffixes(void **state)
{
    (void)state;
    assert_int_equal(accept("--bytes", "100").bytes, 100);
    assert_int_equal(accept("--bytes", "2K").bytes, 2048);
    assert_int_equal(accept("--bytes", "16M").bytes, 16 << 20);
    assert_int_equal(accept("--bytes", "1g").bytes, 1 << 30);
    assert_int_equal(accept("--bytes", "17179869183G").bytes,
                     (size_t)17179869183 << 30);
    refusal_of("--bytes", "17179869184G"); /* one past: 2 to the 64 */
    refusal_of("--bytes", "0");
    refusal_of("--bytes", "1KB");
    refusal_of("--bytes", "1T");
    refusal_of("--bytes", "K");
    refusal_of("--bytes", "1@");
}

static void test_flags_read_seconds_as_milliseconds(void **state)
{
    (void)state;
    assert_int_equal(accept("--wait", "1.5").ms, 1500);
    assert_int_equal(accept("--wait", "0.001").ms, 1);
    assert_int_equal(accept("--wait", "86400").ms, 86400000);
    refusal_of("--wait", "86400.001");
    refusal_of("--wait", "0.0009");
    refusal_of("--wait", "0");
    refusal_of("--wait", "-1");
    refusal_of("--wait", "nan");
    refusal_of("--wait", "1e999");
    refusal_of("--wait", "5s");
}

static void test_flags_choose_one_of_the_names(void **state)
{
    fl_error error = refusal_of("--colour", "pink");

    (void)state;
    assert_int_equal(accept("--colour", "red").choice, 1);
    assert_int_equal(accept("--colour", "blue").choice, 3);
    assert_non_null(strstr(error.text, "red green blue"));
    refusal_of("--colour=", NULL);
}

static void test_flags_refuse_one_item_past_the_list(void **state)
{
    char item[] = "--item=x";
    char *argv[FL_FLAG_LIST_MAX + 2];
    struct seen seen;
    fl_words words;
    fl_error error;

    (void)state;
    for (size_t i = 0; i <= FL_FLAG_LIST_MAX; i++)
        argv[i] = item;
    argv[FL_FLAG_LIST_MAX + 1] = NULL;
    assert_int_equal(parse(&seen, &words, &error, argv), FL_E_LIMIT);
    argv[FL_FLAG_LIST_MAX] = NULL;
    assert_int_equal(parse(&seen, &words, &error, argv), FL_OK);
    assert_int_equal(seen.item.count, FL_FLAG_LIST_MAX);
    assert_null(seen.item.items[FL_FLAG_LIST_MAX]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags_may_stand_among_the_words),
        cmocka_unit_test(test_flags_leave_what_follows_two_dashes),
        cmocka_unit_test(test_flags_take_a_value_either_way),
        cmocka_unit_test(test_flags_name_what_is_unknown_and_what_was_meant),
        cmocka_unit_test(test_flags_want_a_value_where_there_is_none),
        cmocka_unit_test(test_flags_count_from_one_to_the_limit),
        cmocka_unit_test(test_flags_read_sizes_with_suffixes),
        cmocka_unit_test(test_flags_read_seconds_as_milliseconds),
        cmocka_unit_test(test_flags_choose_one_of_the_names),
        cmocka_unit_test(test_flags_refuse_one_item_past_the_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
