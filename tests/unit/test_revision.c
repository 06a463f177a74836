/*
 * test_revision.c - each revision's features, and which one a server answers.
 *
 * The expectations are written out feature by feature, the other way round
 * from revision.c, so that a slip in one is not repeated in the other.
 */
#include "rpc/revision.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_revision_rows_are_in_order_and_found(void **state)
{
    static const char *const names[] = {
        "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"};
    const fl_revision *row = fl_revision_table();

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++, row++) {
        assert_string_equal(row->name, names[i]);
        assert_int_equal(row->legacy, i < 4);
        assert_ptr_equal(fl_revision_find(fl_span_of(names[i])), row);
        assert_ptr_equal(fl_revision_get(row->id), row);
        assert_int_equal(row->id, FL_REVISION_2024_11_05 + (int)i);
    }
    assert_int_equal(row->id, FL_REVISION_UNKNOWN);
}

static void test_revision_unknown_names_are_not_found(void **state)
{
    static const char *const names[] = {
        "",           "2025",  "2025-11-2",  "2025-11-255",
        "2025-11-24", "draft", "2027-01-01", "2025-11-25 "};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_null(fl_revision_find(fl_span_of(names[i])));
    assert_null(fl_revision_find((fl_span){0}));
    assert_null(fl_revision_get(FL_REVISION_UNKNOWN));
    assert_null(fl_revision_get(FL_REVISION_2026_07_28 + 1));
}

static void test_revision_preview_is_the_first_revision(void **state)
{
    (void)state;
    assert_ptr_equal(fl_revision_find(FL_SPAN("2024-10-07")),
                     fl_revision_get(FL_REVISION_2024_11_05));
}

static void test_revision_has_what_its_specification_has(void **state)
{
    static const struct {
        fl_feature feature;
        const char *in; /* one letter per revision, oldest first */
    } want[] = {
        {FL_HAS_INITIALIZE, "yyyy-"},
        {FL_HAS_BATCH, "-y---"},
        {FL_HAS_HTTP_SSE, "y----"},
        {FL_HAS_STREAMABLE_HTTP, "-yyyy"},
        {FL_HAS_VERSION_HEADER, "--yyy"},
        {FL_HAS_PROGRESS_MESSAGE, "-yyyy"},
        {FL_HAS_TOOL_ANNOTATIONS, "-yyyy"},
        {FL_HAS_AUDIO, "-yyyy"},
        {FL_HAS_COMPLETIONS, "-yyyy"},
        {FL_HAS_STRUCTURED_CONTENT, "--yyy"},
        {FL_HAS_TITLE, "--yyy"},
        {FL_HAS_ELICITATION, "--yyy"},
        {FL_HAS_ICONS, "---yy"},
        {FL_HAS_TASKS, "---y-"},
        {FL_HAS_URL_ELICITATION, "---yy"},
        {FL_HAS_SSE_POLLING, "---y-"},
        {FL_HAS_DISCOVER, "----y"},
        {FL_HAS_INPUT_REQUIRED, "----y"},
        {FL_HAS_DISCONNECT_CANCELS, "----y"},
        {FL_HAS_STRUCTURED_ANY, "----y"},
        {FL_HAS_TOO_LARGE_CODE, "yyyy-"},
        {FL_HAS_INPUT_ERRORS, "---yy"},
        {FL_HAS_SAMPLING_PARTS, "---yy"},
        {FL_HAS_TITLED_ENUMS, "---yy"},
    };
    uint32_t seen = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(want); i++) {
        const fl_revision *row = fl_revision_table();
        seen |= (uint32_t)want[i].feature;
        for (size_t at = 0; row->id != FL_REVISION_UNKNOWN; at++, row++)
            if (fl_revision_has(row, want[i].feature) !=
                (want[i].in[at] == 'y'))
                fail_msg("feature %zu of %s", i, row->name);
    }
    for (const fl_revision *row = fl_revision_table();
         row->id != FL_REVISION_UNKNOWN; row++)
        assert_int_equal(row->features & ~seen, 0);
}

static void test_revision_negotiates_what_a_server_answers(void **state)
{
    static const struct {
        const char *asked, *answer;
    } cases[] = {
        {"2024-11-05", "2024-11-05"}, {"2025-03-26", "2025-03-26"},
        {"2025-06-18", "2025-06-18"}, {"2025-11-25", "2025-11-25"},
        {"2026-07-28", "2025-11-25"}, {"2999-12-31", "2025-11-25"},
        {"2025-11-26", "2025-11-25"}, {"2025-11-24", "2025-06-18"},
        {"2025-03-27", "2025-03-26"}, {"2025-03-25", "2024-11-05"},
        {"2024-11-04", "2024-11-05"}, {"2024-10-07", "2024-11-05"},
        {"0000-00-00", "2024-11-05"}, {"", "2024-11-05"},
        {"latest", "2024-11-05"},     {"2025-11-25x", "2024-11-05"},
        {"2025-11-2x", "2024-11-05"}, {"2025/11/25", "2024-11-05"},
        {"9", "2024-11-05"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        fl_span asked = fl_span_of(cases[i].asked);
        assert_string_equal(fl_revision_negotiate(asked)->name,
                            cases[i].answer);
    }
    assert_string_equal(fl_revision_negotiate((fl_span){0})->name,
                        "2024-11-05");
}

static void test_revision_modern_names_are_dates_of_the_era(void **state)
{
    static const char *const modern[] = {"2026-07-28", "2026-07-29",
                                         "2027-01-01", "9999-99-99"};
    static const char *const others[] = {"",       "2026-07-27",  "2025-11-25",
                                         "latest", "2026-07-28 ", "DRAFT-2027"};

    (void)state;
    for (size_t i = 0; i < sizeof modern / sizeof *modern; i++)
        assert_true(fl_revision_is_modern(fl_span_of(modern[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(fl_revision_is_modern(fl_span_of(others[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_revision_rows_are_in_order_and_found),
        cmocka_unit_test(test_revision_unknown_names_are_not_found),
        cmocka_unit_test(test_revision_preview_is_the_first_revision),
        cmocka_unit_test(test_revision_has_what_its_specification_has),
        cmocka_unit_test(test_revision_negotiates_what_a_server_answers),
        cmocka_unit_test(test_revision_modern_names_are_dates_of_the_era),
    };

    return cmocka_run_group_tests_name("revision", tests, NULL, NULL);
}
