/*
 * test_adapt_edit.c - texts said again: which commas go, and what is copied.
 */
#include "adapt/edit.h"

#include "adapt_words.h"

/* Drops what has an x for its name or is the string "x", and adds some. */
static fl_status drop_x(const fl_adapt *adapt, fl_span text, fl_buf *out)
{
    fl_edit edit;
    fl_edit_walk walk;
    fl_json_member member;

    fl_edit_init(&edit, text, out);
    fl_edit_open(&walk, &edit, text);
    while (fl_edit_next(&walk, &member))
        if (fl_edit_named(&member, "x") ||
            fl_json_string_is(member.value, FL_SPAN("x")))
            fl_edit_drop(&walk);
    if (adapt != NULL) {
        fl_edit_add_raw(&walk, "y", FL_SPAN("1"));
        fl_edit_add_members(&walk, FL_SPAN("\"z\":2"));
        fl_edit_add_members(&walk, (fl_span){0});
    }
    return fl_edit_end(&edit);
}

static void test_edit_without_a_change_says_nothing(void **state)
{
    (void)state;
    check_same(drop_x, NULL, "{'a':1,'b':[2]}");
    check_same(drop_x, NULL, "{}");
    check_same(drop_x, NULL, "[]");
    check_same(drop_x, NULL, "17");
}

static void test_edit_takes_the_right_comma_along(void **state)
{
    (void)state;
    check_words(drop_x, NULL, "{'x':1}", "{}");
    check_words(drop_x, NULL, "{'x':1,'a':2}", "{'a':2}");
    check_words(drop_x, NULL, "{'a':2,'x':1}", "{'a':2}");
    check_words(drop_x, NULL, "{'a':2,'x':1,'b':3}", "{'a':2,'b':3}");
    check_words(drop_x, NULL, "{'x':1,'x':2,'a':3}", "{'a':3}");
    check_words(drop_x, NULL, "{'x':1,'x':2}", "{}");
    check_words(drop_x, NULL, "{'x':1,'a':3,'x':2}", "{'a':3}");
    check_words(drop_x, NULL, "{'a':1,'x':1,'x':2,'b':3,'x':4}",
                "{'a':1,'b':3}");
    check_words(drop_x, NULL, "['x',1,'x','x',2,'x']", "[1,2]");
    check_words(drop_x, NULL, "['x']", "[]");
}

static void test_edit_copies_spaces_with_what_stays(void **state)
{
    (void)state;
    check_words(drop_x, NULL, "{ 'a' : 1 , 'x' : 2 , 'b' : 1.0e+3 }",
                "{ 'a' : 1 , 'b' : 1.0e+3 }");
    check_words(drop_x, NULL, "{ 'x' : 1 , 'a' : 2 }", "{ 'a' : 2 }");
}

static void test_edit_knows_names_in_an_odd_spelling(void **state)
{
    (void)state;
    check_words(drop_x, NULL, "{'\\u0078':1,'\\u0061':2}", "{'\\u0061':2}");
}

static void test_edit_adds_behind_what_stays(void **state)
{
    fl_adapt any = between(L1, L2, FL_METHOD_PING);

    (void)state;
    check_words(drop_x, &any, "{}", "{'y':1,'z':2}");
    check_words(drop_x, &any, "{ }", "{ 'y':1,'z':2}");
    check_words(drop_x, &any, "{'a':1}", "{'a':1,'y':1,'z':2}");
    check_words(drop_x, &any, "{'x':1}", "{'y':1,'z':2}");
    check_words(drop_x, &any, "{'x':0,'x':1}", "{'y':1,'z':2}");
    check_words(drop_x, &any, "{'a':1,'x':0}", "{'a':1,'y':1,'z':2}");
}

static fl_status set_all(const fl_adapt *adapt, fl_span text, fl_buf *out)
{
    fl_edit edit;
    fl_edit_walk walk;
    fl_json_member member;

    (void)adapt;
    fl_edit_init(&edit, text, out);
    fl_edit_open(&walk, &edit, text);
    while (fl_edit_next(&walk, &member)) {
        if (fl_edit_named(&member, "old"))
            fl_edit_rename(&edit, &member, "new");
        fl_edit_set(&edit, member.value, FL_SPAN("0"));
    }
    return fl_edit_end(&edit);
}

static void test_edit_sets_only_what_differs(void **state)
{
    (void)state;
    check_same(set_all, NULL, "{'a':0,'b':0}");
    check_words(set_all, NULL, "{'a':0,'old':[1],'b':'x'}",
                "{'a':0,'new':0,'b':0}");
}

static void test_edit_takes_back_what_it_cannot_end(void **state)
{
    fl_adapt any = between(L1, L2, FL_METHOD_PING);

    (void)state;
    check_scarcity(drop_x, &any, "{'a':1,'x':2,'b':3}");
}

static void test_edit_remembers_the_first_failure(void **state)
{
    fl_edit edit;
    fl_buf out;

    (void)state;
    fl_buf_init(&out, WORDS_MAX);
    fl_edit_init(&edit, FL_SPAN("[1]"), &out);
    fl_edit_put(&edit, FL_SPAN("something"));
    fl_edit_note(&edit, FL_E_UNSUPPORTED);
    fl_edit_note(&edit, FL_E_NOMEM);
    assert_int_equal(fl_edit_end(&edit), FL_E_UNSUPPORTED);
    assert_int_equal(fl_buf_len(&out), 0);
    fl_buf_reset(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edit_without_a_change_says_nothing),
        cmocka_unit_test(test_edit_takes_the_right_comma_along),
        cmocka_unit_test(test_edit_copies_spaces_with_what_stays),
        cmocka_unit_test(test_edit_knows_names_in_an_odd_spelling),
        cmocka_unit_test(test_edit_adds_behind_what_stays),
        cmocka_unit_test(test_edit_sets_only_what_differs),
        cmocka_unit_test(test_edit_takes_back_what_it_cannot_end),
        cmocka_unit_test(test_edit_remembers_the_first_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
