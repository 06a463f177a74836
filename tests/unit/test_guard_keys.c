/*
 * test_guard_keys.c - which key is whose, and what may be one.
 */
#include "guard/keys.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static fl_keys *make(const char *const *list)
{
    fl_keys *keys = fl_keys_new();
    fl_error error = {.text = ""};

    assert_non_null(keys);
    if (fl_keys_set(keys, list, &error) != FL_OK)
        fail_msg("%s", error.text);
    return keys;
}

static uint64_t find(const fl_keys *keys, const char *text)
{
    return fl_keys_find(keys, fl_span_of(text));
}

static void refused(fl_keys *keys, const char *const *list, fl_status want,
                    const char *part)
{
    fl_error error = {.text = ""};

    assert_int_equal(fl_keys_set(keys, list, &error), want);
    if (strstr(error.text, part) == NULL)
        fail_msg("no '%s' in '%s'", part, error.text);
}

static void test_keys_are_told_apart(void **state)
{
    fl_keys *keys = make(LIST("first", "second", "secone"));

    (void)state;
    assert_true(find(keys, "first") != 0);
    assert_true(find(keys, "second") != 0);
    assert_true(find(keys, "second") != find(keys, "secone"));
    assert_int_equal(fl_keys_ordinal(find(keys, "first")), 1);
    assert_int_equal(fl_keys_ordinal(find(keys, "secone")), 3);
    assert_true(fl_keys_has(keys, find(keys, "first")));
    assert_false(fl_keys_has(keys, 0));
    fl_keys_free(keys);
}

static void test_keys_are_nothing_less_and_nothing_more(void **state)
{
    static const char *const others[] = {"",       "f",     "firs",   "first ",
                                         "first1", "First", " first", "firsu"};
    fl_keys *keys = make(LIST("first"));

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (find(keys, others[i]) != 0)
            fail_msg("'%s' is taken for a key", others[i]);
    assert_int_equal(fl_keys_find(keys, (fl_span){0}), 0);
    assert_int_equal(fl_keys_find(keys, (fl_span){"first\0", 6}), 0);
    fl_keys_free(keys);
}

static void test_keys_without_any_nobody_has_one(void **state)
{
    fl_keys *keys = fl_keys_new();

    (void)state;
    assert_non_null(keys);
    assert_int_equal(fl_keys_find(keys, (fl_span){0}), 0);
    assert_int_equal(find(keys, "x"), 0);
    fl_keys_free(keys);
}

static void test_keys_that_stay_keep_their_numbers(void **state)
{
    fl_keys *keys = make(LIST("first", "second"));
    uint64_t first = find(keys, "first"), second = find(keys, "second");
    fl_error error;

    (void)state;
    assert_int_equal(fl_keys_set(keys, LIST("third", "second"), &error), FL_OK);
    assert_int_equal(find(keys, "first"), 0);
    assert_false(fl_keys_has(keys, first));
    assert_int_equal(find(keys, "second"), second);
    assert_int_equal(fl_keys_ordinal(find(keys, "third")), 3);

    /* one that comes back is somebody else */
    assert_int_equal(fl_keys_set(keys, LIST("first"), &error), FL_OK);
    assert_true(find(keys, "first") != first);
    assert_int_equal(fl_keys_ordinal(find(keys, "first")), 4);
    fl_keys_free(keys);
}

static void test_keys_of_two_sets_are_two_users(void **state)
{
    fl_keys *one = make(LIST("same")), *two = make(LIST("same"));

    (void)state;
    assert_true(find(one, "same") != find(two, "same"));
    assert_false(fl_keys_has(two, find(one, "same")));
    fl_keys_free(one);
    fl_keys_free(two);
}

static void test_keys_twice_are_one(void **state)
{
    fl_keys *keys = make(LIST("same", "same", "other"));

    (void)state;
    assert_int_equal(fl_keys_ordinal(find(keys, "other")), 2);
    fl_keys_free(keys);
}

static void test_keys_that_cannot_be_change_nothing(void **state)
{
    char longest[FL_KEYS_TEXT + 2];
    fl_keys *keys = make(LIST("good"));
    fl_error error;

    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[FL_KEYS_TEXT + 1] = '\0';
    refused(keys, LIST("fine", longest), FL_E_INVALID, "key number 2");
    refused(keys, LIST(longest), FL_E_INVALID, "513");
    refused(keys, LIST(""), FL_E_INVALID, "key number 1");
    refused(keys, LIST("fine", "a b"), FL_E_INVALID, "character at 2");
    refused(keys, LIST("secret\n"), FL_E_INVALID, "character at 7");
    refused(keys, LIST("caf\xC3\xA9"), FL_E_INVALID, "character at 4");
    refused(keys, (const char *const[]){NULL}, FL_E_INVALID, "no key");
    assert_true(find(keys, "good") != 0);
    assert_int_equal(find(keys, "fine"), 0);
    longest[FL_KEYS_TEXT] = '\0';
    assert_int_equal(fl_keys_set(keys, LIST(longest), &error), FL_OK);
    assert_true(find(keys, longest) != 0);
    fl_keys_free(keys);
}

static void test_keys_errors_do_not_tell_them(void **state)
{
    fl_keys *keys = fl_keys_new();
    fl_error error;

    (void)state;
    assert_int_equal(fl_keys_set(keys, LIST("hush hush"), &error),
                     FL_E_INVALID);
    assert_null(strstr(error.text, "hush"));
    fl_keys_free(keys);
}

static void test_keys_are_only_so_many(void **state)
{
    static char texts[FL_KEYS_MAX + 1][8];
    static const char *list[FL_KEYS_MAX + 2];
    fl_keys *keys = make(LIST("good"));
    fl_error error;

    (void)state;
    for (size_t i = 0; i <= FL_KEYS_MAX; i++) {
        snprintf(texts[i], sizeof texts[i], "k%zu", i);
        list[i] = texts[i];
    }
    refused(keys, list, FL_E_LIMIT, "1024");
    list[FL_KEYS_MAX] = NULL;
    assert_int_equal(fl_keys_set(keys, list, &error), FL_OK);
    assert_true(find(keys, "k1023") != 0);
    fl_keys_free(keys);
}

static void count(void *user)
{
    ++*(int *)user;
}

static void test_keys_tell_of_their_changes(void **state)
{
    fl_keys *keys = make(LIST("one"));
    int changes = 0;
    fl_keys_watch watch = {.changed = count, .user = &changes};
    fl_error error;

    (void)state;
    fl_keys_watch_begin(keys, &watch);
    assert_int_equal(fl_keys_set(keys, LIST("two"), &error), FL_OK);
    assert_int_equal(changes, 1);
    refused(keys, LIST(""), FL_E_INVALID, "empty");
    assert_int_equal(changes, 1);
    fl_keys_watch_end(&watch);
    assert_int_equal(fl_keys_set(keys, LIST("three"), &error), FL_OK);
    assert_int_equal(changes, 1);
    fl_keys_free(keys);
}

static void test_keys_live_as_long_as_they_are_held(void **state)
{
    fl_keys *keys = make(LIST("one"));

    (void)state;
    fl_keys_ref(keys);
    fl_keys_free(keys);
    assert_true(find(keys, "one") != 0);
    fl_keys_free(keys);
    fl_keys_free(NULL);
}

static void change(void *user)
{
    fl_keys *keys = fl_keys_new();
    fl_error error;

    (void)user;
    if (keys == NULL)
        return;
    if (fl_keys_set(keys, LIST("one", "two"), &error) == FL_OK &&
        fl_keys_set(keys, LIST("two", "three"), &error) != FL_OK) {
        assert_int_equal(error.status, FL_E_NOMEM);
        assert_true(find(keys, "one") != 0);
        assert_int_equal(find(keys, "three"), 0);
    }
    fl_keys_free(keys);
}

static void test_keys_survive_every_lack_of_memory(void **state)
{
    (void)state;
    assert_int_equal(ration_each(change, NULL), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_told_apart),
        cmocka_unit_test(test_keys_are_nothing_less_and_nothing_more),
        cmocka_unit_test(test_keys_without_any_nobody_has_one),
        cmocka_unit_test(test_keys_that_stay_keep_their_numbers),
        cmocka_unit_test(test_keys_of_two_sets_are_two_users),
        cmocka_unit_test(test_keys_twice_are_one),
        cmocka_unit_test(test_keys_that_cannot_be_change_nothing),
        cmocka_unit_test(test_keys_errors_do_not_tell_them),
        cmocka_unit_test(test_keys_are_only_so_many),
        cmocka_unit_test(test_keys_tell_of_their_changes),
        cmocka_unit_test(test_keys_live_as_long_as_they_are_held),
        cmocka_unit_test(test_keys_survive_every_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
