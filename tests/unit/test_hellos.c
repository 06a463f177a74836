/*
 * test_hellos.c - what is remembered of a server's introduction, and for whom.
 */
#include "gateway/hellos.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const fl_revision *old, *newest, *modern;

static int prepare(void **state)
{
    (void)state;
    old = fl_revision_get(FL_REVISION_2025_03_26);
    newest = fl_revision_get(FL_REVISION_2025_11_25);
    modern = fl_revision_get(FL_REVISION_2026_07_28);
    return 0;
}

static void assert_known(const fl_hellos *hellos, const fl_revision *offered,
                         const fl_revision *revision, const char *said)
{
    const fl_hello *hello = fl_hellos_find(hellos, offered);

    assert_non_null(hello);
    assert_ptr_equal(hello->revision, revision);
    assert_true(fl_span_equal(fl_buf_view(&hello->said), fl_span_of(said)));
}

static void test_hellos_know_nothing_at_first(void **state)
{
    fl_hellos hellos = {0};

    (void)state;
    assert_null(fl_hellos_find(&hellos, NULL));
    assert_null(fl_hellos_find(&hellos, old));
    fl_hellos_deinit(&hellos);
}

static void test_hellos_of_legacy_servers_are_by_what_was_offered(void **state)
{
    fl_hellos hellos = {0};

    (void)state;
    fl_hellos_learn(&hellos, old, old, FL_SPAN("{\"old\":1}"));
    assert_null(fl_hellos_find(&hellos, newest));
    fl_hellos_learn(&hellos, NULL, newest, FL_SPAN("{\"new\":1}"));
    assert_known(&hellos, old, old, "{\"old\":1}");
    assert_known(&hellos, newest, newest, "{\"new\":1}");
    assert_known(&hellos, NULL, newest, "{\"new\":1}"); /* is the newest */
    fl_hellos_deinit(&hellos);
}

static void test_hellos_of_modern_servers_are_for_all(void **state)
{
    fl_hellos hellos = {0};

    (void)state;
    fl_hellos_learn(&hellos, old, modern, FL_SPAN("{}"));
    assert_known(&hellos, NULL, modern, "{}");
    assert_known(&hellos, newest, modern, "{}");
    fl_hellos_deinit(&hellos);
}

static void test_hellos_are_what_was_said_last(void **state)
{
    fl_hellos hellos = {0};

    (void)state;
    fl_hellos_learn(&hellos, NULL, newest, FL_SPAN("{\"n\":1}"));
    fl_hellos_learn(&hellos, NULL, newest, FL_SPAN("{\"n\":2}"));
    assert_known(&hellos, NULL, newest, "{\"n\":2}");
    fl_hellos_learn(&hellos, NULL, newest, (fl_span){0}); /* it would not say */
    assert_null(fl_hellos_find(&hellos, NULL));
    fl_hellos_deinit(&hellos);
}

static void test_hellos_of_another_era_are_forgotten(void **state)
{
    fl_hellos hellos = {0};

    (void)state;
    fl_hellos_learn(&hellos, old, old, FL_SPAN("{\"old\":1}"));
    fl_hellos_learn(&hellos, NULL, modern, FL_SPAN("{\"modern\":1}"));
    assert_known(&hellos, old, modern, "{\"modern\":1}");
    fl_hellos_learn(&hellos, NULL, newest, FL_SPAN("{\"new\":1}"));
    assert_known(&hellos, NULL, newest, "{\"new\":1}");
    assert_null(fl_hellos_find(&hellos, old));
    fl_hellos_deinit(&hellos);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hellos_know_nothing_at_first),
        cmocka_unit_test(test_hellos_of_legacy_servers_are_by_what_was_offered),
        cmocka_unit_test(test_hellos_of_modern_servers_are_for_all),
        cmocka_unit_test(test_hellos_are_what_was_said_last),
        cmocka_unit_test(test_hellos_of_another_era_are_forgotten),
    };

    return cmocka_run_group_tests(tests, prepare, NULL);
}
