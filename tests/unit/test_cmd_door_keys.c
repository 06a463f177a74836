/*
 * test_cmd_door_keys.c - keys from variables and a file, read by line.
 */
#include "cmd/door_keys.h"

#include "base/span.h"
#include "guard/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define ONE "0123456789abcdef"
#define TWO "fedcba98765432100"

static char path[] = "/tmp/fairlead-keys-XXXXXX";
static fl_keys *keys;
static fl_error error;

static int begin(void **state)
{
    int fd;

    (void)state;
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    fd = mkstemp(path);
    keys = fl_keys_new();
    error = (fl_error){.text = ""};
    return fd < 0 || close(fd) != 0 || keys == NULL;
}

static int finish(void **state)
{
    (void)state;
    fl_keys_free(keys);
    return unlink(path);
}

static fl_status load(fl_door_keys *flags, const char *text, size_t len)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    flags->file = path;
    return fl_door_keys_load(flags, keys, &error);
}

static void takes(const char *text)
{
    fl_door_keys flags = {0};

    if (load(&flags, text, strlen(text)) != FL_OK)
        fail_msg("%s", error.text);
}

static void refuses(const char *text, const char *part)
{
    fl_door_keys flags = {0};

    if (load(&flags, text, strlen(text)) == FL_OK)
        fail_msg("taken: %s", text);
    if (strstr(error.text, part) == NULL)
        fail_msg("no '%s' in '%s'", part, error.text);
    assert_null(strstr(error.text, "hush"));
}

static bool has(const char *key)
{
    return fl_keys_find(keys, fl_span_of(key)) != 0;
}

static void test_a_file_has_a_key_a_line(void **state)
{
    (void)state;
    takes("# ours\n\n" ONE "\n \t\n" TWO);
    assert_true(has(ONE) && has(TWO));
    takes("  " ONE " \t# Ada's\r\n\r\n#" TWO "\r\n");
    assert_true(has(ONE));
    assert_false(has(TWO));
}

static void test_a_hash_in_a_key_is_part_of_it(void **state)
{
    (void)state;
    takes(ONE "#1\n");
    assert_true(has(ONE "#1"));
    assert_false(has(ONE));
}

static void test_what_is_wrong_with_a_file_is_told_by_line(void **state)
{
    fl_door_keys flags = {0};

    (void)state;
    refuses("", "there is no key in");
    refuses("# nothing\n\n", "there is no key in");
    refuses(ONE "\n" TWO " hush\n", "line 2: one key a line");
    refuses("\n\nhushhushhushhushcaf\xC3\xA9\n", "line 3: the character at 20");
    assert_int_equal(load(&flags, ONE "\0hush", sizeof ONE + 4), FL_E_INVALID);
    assert_non_null(strstr(error.text, "is no text"));
    flags.file = "/nowhere/at/all";
    assert_int_equal(fl_door_keys_load(&flags, keys, &error), FL_E_NOT_FOUND);
    assert_non_null(strstr(error.text, "/nowhere/at/all"));
}

static void test_a_key_has_sixteen_characters(void **state)
{
    fl_door_keys flags = {.allow_short = true};

    (void)state;
    takes("0123456789abcdef\n");
    refuses("hush56789abcdef\n", "line 1: a key of 15 characters");
    assert_true(has(ONE));
    assert_int_equal(load(&flags, "x\n", 2), FL_OK);
    assert_true(has("x"));
}

static void test_variables_are_hidden(void **state)
{
    fl_door_keys flags = {.env = {{"KEYS_ONE", "KEYS_TWO", "KEYS_ONE"}, 3}};

    (void)state;
    assert_int_equal(setenv("KEYS_ONE", ONE, 1), 0);
    assert_int_equal(setenv("KEYS_TWO", TWO, 1), 0);
    const char *stood = getenv("KEYS_ONE");
    assert_int_equal(fl_door_keys_check(&flags, &error), FL_OK);
    assert_int_equal(fl_door_keys_hide(&flags, &error), FL_OK);
    assert_null(getenv("KEYS_ONE"));
    assert_null(getenv("KEYS_TWO"));
    assert_string_equal(stood, "");
    assert_int_equal(fl_door_keys_load(&flags, keys, &error), FL_OK);
    assert_true(has(ONE) && has(TWO));

    /* those of the file come and go, these stay */
    assert_int_equal(load(&flags, "another-key-of-some\n", 20), FL_OK);
    assert_true(has(ONE) && has("another-key-of-some"));
    fl_door_keys_deinit(&flags);
    fl_door_keys_deinit(&flags);
}

static void test_variables_are_checked(void **state)
{
    fl_door_keys flags = {.env = {{"KEYS_HUSH"}, 1}};

    (void)state;
    unsetenv("KEYS_HUSH");
    assert_int_equal(fl_door_keys_check(&flags, &error), FL_E_INVALID);
    assert_non_null(strstr(error.text, "KEYS_HUSH is not set"));
    setenv("KEYS_HUSH", "hush56789abcdef", 1);
    assert_int_equal(fl_door_keys_check(&flags, &error), FL_E_INVALID);
    assert_non_null(strstr(error.text, "KEYS_HUSH: a key of 15 characters"));
    setenv("KEYS_HUSH", "", 1);
    assert_int_equal(fl_door_keys_check(&flags, &error), FL_E_INVALID);
    assert_non_null(strstr(error.text, "KEYS_HUSH: the key is empty"));
    setenv("KEYS_HUSH", "hush\nhushhushhushhush", 1);
    assert_int_equal(fl_door_keys_check(&flags, &error), FL_E_INVALID);
    assert_null(strstr(error.text, "hush"));
}

static void test_short_keys_need_keys(void **state)
{
    fl_door_keys flags = {.allow_short = true};

    (void)state;
    assert_false(fl_door_keys_wanted(&flags));
    assert_int_equal(fl_door_keys_check(&flags, &error), FL_E_INVALID);
    assert_non_null(strstr(error.text, "--api-key-file"));
}

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_a_file_has_a_key_a_line),
        RUN(test_a_hash_in_a_key_is_part_of_it),
        RUN(test_what_is_wrong_with_a_file_is_told_by_line),
        RUN(test_a_key_has_sixteen_characters),
        RUN(test_variables_are_hidden),
        RUN(test_variables_are_checked),
        RUN(test_short_keys_need_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
