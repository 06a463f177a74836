/*
 * test_schema_pattern.c - ECMA-262's expressions on PCRE2.
 *
 * What the two mean differently, what only one of them has, and what a match
 * costs.
 */
#include "schema/pattern.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MEMORY = 1 << 20, BACKTRACKS = 100000, STEPS = 1000000 };

static fl_status match(const char *expression, const char *subject)
{
    fl_patterns patterns;
    const fl_pattern *pattern;
    uint64_t steps = STEPS;
    char why[128];

    assert_int_equal(fl_patterns_init(&patterns, MEMORY, BACKTRACKS), FL_OK);
    if (fl_pattern_compile(&patterns, fl_span_of(expression), &pattern, why) !=
        FL_OK)
        fail_msg("%s: %s", expression, why);
    fl_status rc =
        fl_pattern_match(&patterns, pattern, fl_span_of(subject), &steps);
    fl_patterns_deinit(&patterns);
    return rc;
}

static void require_match(const char *expression, const char *subject,
                          bool want)
{
    fl_status rc = match(expression, subject);

    if (rc != (want ? FL_OK : FL_END))
        fail_msg("%s on \"%s\": %s", expression, subject, fl_status_name(rc));
}

static void test_pattern_means_what_ecma_says(void **state)
{
    static const struct {
        const char *expression, *subject;
        bool want;
    } cases[] = {
        {"es", "expression", true},
        {"^a$", "a\n", false},
        {"^.$", "\n", false},
        {"^.$", "\xe2\x80\xa8", false},
        {"^.$", "\xc2\x85", true},
        {"^[\\s\\S]$", "\n", true},
        {"^[^\\S]$", "\xc2\xa0", true},
        {"^[\\S]$", "\xe3\x80\x80", false},
        {"^[^]$", "\n", true},
        {"[]", "a", false},
        {"^\\u0061\\x62\\cJ\\0$", "ab\n", false},
        {"^\\u0061\\x62\\cJ$", "ab\n", true},
        {"^\\ud83d\\udc32$", "\xf0\x9f\x90\xb2", true},
        {"^\\u{1F432}$", "\xf0\x9f\x90\xb2", true},
        {"^[\\b]$", "\b", true},
        {"\\bfoo\\b", "a foo b", true},
        {"^\\p{Lu}\\P{Lu}$", "\xc3\x89\xc3\xa9", true},
        {"^\\p{Script=Greek}+$", "\xce\xb1\xce\xb2", true},
        {"^\\p{scx=Greek}$", "a", false},
        {"^\\p{gc=Decimal_Number}$", "\xe0\xa7\xaa", true},
        {"^[\\p{Letter}_]+$", "\xc3\xa9_", true},
        {"^(?<year>\\d{4})-\\k<year>$", "2020-2020", true},
        {"^(a)\\1$", "aa", true},
        {"^(?:(a)|b)\\1$", "b", true},
        {"^(?=a)(?!b)a(?<=a)(?<!b)$", "a", true},
        {"^[[:alpha:]]$", "a]", true},
        {"^[[:alpha:]]$", "b", false},
        {"^{a}$", "{a}", true},
        {"^a{,2}$", "a{,2}", true},
        {"^a{2,}?$", "aaa", true},
        {"^]$", "]", true},
        {"^\\/\\-\\_$", "/-_", true},
        {"^[a\\-z]$", "-", true},
        {"^[\\d-x]$", "-", true},
        {"^[\\w-.]+$", "a-b.c", true},
        {"^[\\s-x]$", "-", true},
        {"^[\\s-x]$", "w", false},
        {"^[+-\\d]$", "-", true},
        {"^[+-\\d]$", ",", false},
        {"^\\d\\w$", "1\xc3\xa9", false},
        {"", "", true},
        {"", "x", true},
        {"^#.x# ", "#.x# ", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        require_match(cases[i].expression, cases[i].subject, cases[i].want);
}

static void test_pattern_refuses_what_ecma_lacks(void **state)
{
    static const char *const bad[] = {
        "\\a",
        "\\A",
        "\\Z",
        "\\Qa\\E",
        "\\h",
        "\\G",
        "(?i)a",
        "(?#c)",
        "(?P<n>a)",
        "(?>a)",
        "(*UTF)a",
        "(*F)",
        "a*+",
        "a++",
        "a?+",
        "a{2}+",
        "a**",
        "*a",
        "+",
        "a|*",
        "^*",
        "(?:*a)",
        "(",
        ")",
        "[a",
        "[b-a]",
        "\\",
        "\\u12",
        "\\ud800",
        "\\xz",
        "\\p{Nope}",
        "\\p{L",
        "\\pL",
        "\\p{x=L}",
        "\\c1",
        "\\k<a>",
        "\\2(a)",
        "(?|a|b)",
        "(?R)",
        "(?1)",
        "(?(1)a)",
        "\\u{110000}",
        "\\p{L}\\p{^L}",
    };
    fl_patterns patterns;
    const fl_pattern *pattern;
    char why[128];

    (void)state;
    assert_int_equal(fl_patterns_init(&patterns, MEMORY, BACKTRACKS), FL_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fl_status rc =
            fl_pattern_compile(&patterns, fl_span_of(bad[i]), &pattern, why);
        if (rc != FL_E_INVALID || why[0] == '\0')
            fail_msg("%s: %s, %s", bad[i], fl_status_name(rc), why);
        assert_false(fl_pattern_is_valid(&patterns, fl_span_of(bad[i])));
    }
    assert_int_equal(
        fl_pattern_compile(&patterns, FL_SPAN("(?<=a+)b"), &pattern, why),
        FL_E_UNSUPPORTED);
    assert_true(fl_pattern_is_valid(&patterns, FL_SPAN("(?<=a+)b")));
    fl_patterns_deinit(&patterns);
}

static void test_pattern_matching_takes_no_memory(void **state)
{
    fl_patterns patterns;
    const fl_pattern *pattern;
    uint64_t steps = STEPS;
    char why[128];

    (void)state;
    ration_reset();
    assert_int_equal(fl_patterns_init(&patterns, MEMORY, BACKTRACKS), FL_OK);
    assert_int_equal(
        fl_pattern_compile(&patterns, FL_SPAN("^(\\w+\\s?)+$"), &pattern, why),
        FL_OK);
    ration_allow(0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(fl_pattern_match(&patterns, pattern,
                                          FL_SPAN("a few short words"), &steps),
                         FL_OK);
    assert_false(ration_refused());
    ration_reset();
    fl_patterns_deinit(&patterns);
}

static void test_pattern_pays_for_backtracks(void **state)
{
    fl_patterns patterns;
    const fl_pattern *pattern;
    uint64_t steps = STEPS;
    char why[128];

    (void)state;
    assert_int_equal(fl_patterns_init(&patterns, MEMORY, BACKTRACKS), FL_OK);
    assert_int_equal(
        fl_pattern_compile(&patterns, FL_SPAN("^(a+)+$"), &pattern, why),
        FL_OK);
    assert_int_equal(
        fl_pattern_match(&patterns, pattern, FL_SPAN("aaa"), &steps), FL_OK);
    assert_int_equal(steps, STEPS - 1);
    assert_int_equal(
        fl_pattern_match(&patterns, pattern, FL_SPAN("aaaaaaaaaaaab"), &steps),
        FL_END);
    assert_in_range(STEPS - steps, 1000, 100000);
    assert_int_equal(
        fl_pattern_match(&patterns, pattern,
                         FL_SPAN("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), &steps),
        FL_E_LIMIT);
    steps = 0;
    assert_int_equal(fl_pattern_match(&patterns, pattern, FL_SPAN("a"), &steps),
                     FL_E_LIMIT);
    fl_patterns_deinit(&patterns);
}

static void test_pattern_memory_is_bounded(void **state)
{
    fl_patterns patterns;
    const fl_pattern *pattern;
    fl_status rc = FL_OK;
    char why[128];
    int count = 0;

    (void)state;
    assert_int_equal(fl_patterns_init(&patterns, MEMORY, BACKTRACKS), FL_OK);
    for (; count < 1000 && rc == FL_OK; count++)
        rc = fl_pattern_compile(&patterns, FL_SPAN("((a{50}){50}){4}"),
                                &pattern, why);
    assert_int_equal(rc, FL_E_LIMIT);
    assert_in_range(count, 2, 999);
    assert_string_equal(why, "expressions take too much memory");
    fl_patterns_deinit(&patterns);
    assert_int_equal(patterns.used, 0);
}

static void compile_one(void *user)
{
    fl_patterns patterns;
    const fl_pattern *pattern;
    char why[128];
    fl_status rc = fl_patterns_init(&patterns, MEMORY, BACKTRACKS);

    (void)user;
    if (rc == FL_OK) {
        rc = fl_pattern_compile(&patterns, FL_SPAN("^[\\s\\S]+\\p{L}$"),
                                &pattern, why);
        if (rc == FL_E_NOMEM)
            assert_string_equal(why, "out of memory");
    }
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_patterns_deinit(&patterns);
}

static void test_pattern_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(compile_one, NULL) > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pattern_means_what_ecma_says),
        cmocka_unit_test(test_pattern_refuses_what_ecma_lacks),
        cmocka_unit_test(test_pattern_matching_takes_no_memory),
        cmocka_unit_test(test_pattern_pays_for_backtracks),
        cmocka_unit_test(test_pattern_memory_is_bounded),
        cmocka_unit_test(test_pattern_survives_every_refused_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
