/*
 * test_cmd_shell_words.c - a text cut into words, and words that need a shell.
 */
#include "base/mem.h"
#include "cmd/shell_words.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The words with a bar between them. */
static void expect(const char *text, const char *want)
{
    fl_texts words;
    fl_error error;
    char got[512] = "";
    size_t at = 0;

    if (fl_shell_words(text, &words, &error) != FL_OK)
        fail_msg("%s: %s", text, error.text);
    for (size_t i = 0; i < words.count; i++)
        at += (size_t)snprintf(got + at, sizeof got - at, "%s%s",
                               i > 0 ? "|" : "", words.items[i]);
    assert_string_equal(got, want);
    assert_null(words.items[words.count]);
    fl_texts_deinit(&words);
}

static void refuse(const char *text, const char *why)
{
    fl_texts words;
    fl_error error;

    assert_int_equal(fl_shell_words(text, &words, &error), FL_E_INVALID);
    assert_non_null(strstr(error.text, why));
    assert_int_equal(words.count, 0);
}

static void test_words_are_cut_at_blanks(void **state)
{
    (void)state;
    expect("a", "a");
    expect("  a \t b\r\nc  ", "a|b|c");
    expect("npx -y @scope/server ./dir", "npx|-y|@scope/server|./dir");
}

static void test_words_keep_what_is_quoted_together(void **state)
{
    (void)state;
    expect("a 'b c' \"d e\"", "a|b c|d e");
    expect("a'b'\"c\"d", "abcd");
    expect("a '' \"\"", "a||");
    expect("a 'x\"y' \"x'y\"", "a|x\"y|x'y");
    expect("a '$HOME | \\n'", "a|$HOME | \\n");
    expect("a \"| ; & > * #\"", "a|| ; & > * #");
}

static void test_words_take_the_backslash_as_a_shell_does(void **state)
{
    (void)state;
    expect("a\\ b", "a b");
    expect("\\a \\\\ \\$x \\|", "a|\\|$x||");
    expect("a \"\\\\ \\\" \\$ \\` \\n\"", "a|\\ \" $ ` \\n");
    expect("a \\\n b", "a|b");
    expect("a\\\nb", "ab");
    expect("a \"b\\\nc\"", "a|bc");
    expect("a 'b\\'", "a|b\\");
}

static void test_words_take_globs_and_braces_as_they_stand(void **state)
{
    (void)state;
    expect("uvx pkg[extra] http://h/?a=1 {} --allow=* a~b !",
           "uvx|pkg[extra]|http://h/?a=1|{}|--allow=*|a~b|!");
}

static void test_words_leave_comments_out(void **state)
{
    (void)state;
    expect("a # b 'c\nd", "a|d");
    expect("a#b #", "a#b");
}

static void test_words_refuse_what_needs_a_shell(void **state)
{
    static const char *const texts[] = {
        "a | b", "a && b", "a; b", "a > f",     "a < f",   "a $X",  "a \"$X\"",
        "a `b`", "a & ",   "(a)",  "a \"`b`\"", "~/bin/a", "a b|c", "$A",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refuse(texts[i], "put the command into a script");
    refuse("A=1 b", "write env A=1");
    expect("./a=b c", "./a=b|c");
    expect("b A=1", "b|A=1");
}

static void test_words_refuse_a_text_that_ends_too_early(void **state)
{
    (void)state;
    refuse("a 'b", "'...'");
    refuse("a \"b", "\"...\"");
    refuse("a \"b\\", "\"...\"");
    refuse("a \\", "an escape");
    refuse("", "no command");
    refuse("  # all of it", "no command");
}

static void test_words_come_back_from_their_quotes(void **state)
{
    static const char letters[] = "ab '\"\\$`|&;<>()*?[]{}!~#=\t\n-";
    unsigned seed = 1;

    (void)state;
    for (unsigned run = 0; run < 5000; run++) {
        char word[12], text[128];
        size_t len = 0;
        seed = seed * 1103515245u + 12345u;
        for (unsigned bits = seed >> 8; len < (seed >> 28); len++) {
            bits = bits * 1664525u + 1013904223u;
            word[len % sizeof word] =
                letters[(bits >> 16) % (sizeof letters - 1)];
        }
        len = len < sizeof word ? len : sizeof word - 1;
        word[len] = '\0';
        char *quoted = fl_shell_quote(word);
        assert_non_null(quoted);
        snprintf(text, sizeof text, "x %s", quoted);
        fl_texts words;
        assert_int_equal(fl_shell_words(text, &words, NULL), FL_OK);
        assert_int_equal(words.count, 2);
        assert_string_equal(words.items[1], word);
        fl_texts_deinit(&words);
        fl_mem_free(quoted);
    }
}

/* Whatever is thrown at it: it cuts or refuses, and no word is longer than
 * what it was cut from. */
static void test_words_of_anything_fit_into_it(void **state)
{
    static const char letters[] = "a'\"\\ $|#~=\n";
    unsigned seed = 7;

    (void)state;
    for (unsigned run = 0; run < 20000; run++) {
        char text[17];
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = letters[(seed >> 16) % (sizeof letters - 1)];
        }
        text[(seed >> 8) % sizeof text] = '\0';
        text[sizeof text - 1] = '\0';
        fl_texts words;
        fl_error error;
        fl_status rc = fl_shell_words(text, &words, &error);
        size_t all = 0;
        for (size_t i = 0; i < words.count; i++)
            all += strlen(words.items[i]);
        assert_true(rc == FL_OK || rc == FL_E_INVALID);
        assert_true(all <= strlen(text));
        assert_int_equal(rc == FL_OK, words.count > 0);
        fl_texts_deinit(&words);
    }
}

static void cut_once(void *user)
{
    fl_texts words;
    fl_status rc = fl_shell_words(user, &words, NULL);

    assert_int_equal(rc == FL_E_NOMEM, ration_refused());
    fl_texts_deinit(&words);
}

static void test_words_survive_any_lack_of_memory(void **state)
{
    char text[] = "a b c d e f g h i 'j k'";

    (void)state;
    assert_true(ration_each(cut_once, text) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_cut_at_blanks),
        cmocka_unit_test(test_words_keep_what_is_quoted_together),
        cmocka_unit_test(test_words_take_the_backslash_as_a_shell_does),
        cmocka_unit_test(test_words_take_globs_and_braces_as_they_stand),
        cmocka_unit_test(test_words_leave_comments_out),
        cmocka_unit_test(test_words_refuse_what_needs_a_shell),
        cmocka_unit_test(test_words_refuse_a_text_that_ends_too_early),
        cmocka_unit_test(test_words_come_back_from_their_quotes),
        cmocka_unit_test(test_words_of_anything_fit_into_it),
        cmocka_unit_test(test_words_survive_any_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
