/*
 * test_cmd_matrix.c - the table of the matrix has no holes and no leftovers.
 */
#include "cmd/matrix_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool holds(const fl_matrix_rule *rule, fl_revision_id client,
                  fl_revision_id server)
{
    return client >= rule->client_from && client <= rule->client_to &&
           server >= rule->server_from && server <= rule->server_to;
}

static void test_matrix_has_a_rule_for_every_pair(void **state)
{
    const fl_matrix_feature *one = fl_matrix_features();

    (void)state;
    for (; one->name != NULL; one++)
        for (fl_revision_id c = FL_REVISION_2024_11_05;
             c <= FL_REVISION_2026_07_28; c++)
            for (fl_revision_id s = FL_REVISION_2024_11_05;
                 s <= FL_REVISION_2026_07_28; s++)
                assert_true(holds(fl_matrix_find(one, c, s), c, s));
}

static void test_matrix_has_no_rule_that_never_holds(void **state)
{
    const fl_matrix_feature *one = fl_matrix_features();

    (void)state;
    for (; one->name != NULL; one++)
        for (size_t i = 0; i < one->count; i++) {
            bool used = false;
            for (fl_revision_id c = FL_REVISION_2024_11_05;
                 c <= FL_REVISION_2026_07_28; c++)
                for (fl_revision_id s = FL_REVISION_2024_11_05;
                     s <= FL_REVISION_2026_07_28; s++)
                    used |= fl_matrix_find(one, c, s) == &one->rules[i];
            if (!used)
                fail_msg("%s: rule %zu is never used", one->name, i);
        }
}

static void test_matrix_names_each_feature_once(void **state)
{
    const fl_matrix_feature *all = fl_matrix_features();

    (void)state;
    for (const fl_matrix_feature *a = all; a->name != NULL; a++) {
        assert_true(strlen(a->name) < 17 && strlen(a->what) > 0);
        for (const fl_matrix_feature *b = all; b != a; b++)
            assert_string_not_equal(a->name, b->name);
        for (size_t i = 0; i < a->count; i++)
            assert_true(strlen(a->rules[i].why) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix_has_a_rule_for_every_pair),
        cmocka_unit_test(test_matrix_has_no_rule_that_never_holds),
        cmocka_unit_test(test_matrix_names_each_feature_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
