/*
 * test_cmd_chart.c - findings as people and as scripts read them.
 */
#include "base/span.h"
#include "base/utf8.h"
#include "cmd/chart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_quote(const char *want, fl_span text)
{
    char out[FL_CHART_QUOTE];

    assert_string_equal(fl_chart_quote(text, out), want);
}

static void test_chart_quotes_text_as_it_is(void **state)
{
    (void)state;
    expect_quote("", FL_SPAN(""));
    expect_quote("plain ~", FL_SPAN("plain ~"));
    expect_quote("\xc3\xa9 \xf0\x9f\x98\x80",
                 FL_SPAN("\xc3\xa9 \xf0\x9f\x98\x80"));
}

static void test_chart_spells_out_what_would_break_a_line(void **state)
{
    (void)state;
    expect_quote("a\\x0ab\\x09\\x1b[2J\\x00\\x7f",
                 FL_SPAN("a\nb\t\x1b[2J\0\x7f"));
}

static void test_chart_spells_out_bytes_that_are_no_text(void **state)
{
    (void)state;
    expect_quote("\\xff\\x9b\\xc3", FL_SPAN("\xff\x9b\xc3"));
    expect_quote("\\xc3(\\xe2\\x82", FL_SPAN("\xc3(\xe2\x82"));
    expect_quote("\\xc0\\x80", FL_SPAN("\xc0\x80"));
}

static void test_chart_cuts_long_text_between_letters(void **state)
{
    char text[400], out[FL_CHART_QUOTE];

    (void)state;
    memset(text, 'x', sizeof text);
    fl_chart_quote((fl_span){text, 160}, out);
    assert_int_equal(strlen(out), 160);
    fl_chart_quote((fl_span){text, 161}, out);
    assert_int_equal(strlen(out), 163);
    assert_string_equal(out + 160, "...");
    memset(text, 1, sizeof text); /* each takes four */
    fl_chart_quote((fl_span){text, sizeof text}, out);
    assert_true(strlen(out) < FL_CHART_QUOTE);
    assert_string_equal(out + strlen(out) - 7, "\\x01...");
    for (size_t i = 0; i < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    for (size_t len = 155; len < 170; len++) {
        fl_chart_quote((fl_span){text, len}, out);
        assert_null(strstr(out, len % 2 == 0 ? "\\x" : "\\xa9"));
    }
}

/* What a chart with one finding of each kind writes. */
static char *write_chart(bool json, bool unreachable)
{
    char *text = NULL;
    size_t size = 0;
    fl_chart chart;

    fl_chart_init(&chart, json, "there");
    chart.out = (fl_term){.file = open_memstream(&text, &size)};
    assert_non_null(chart.out.file);
    fl_chart_group(&chart, "one");
    fl_chart_ok(&chart, "one.a", "is %s", "fine");
    fl_chart_find(&chart, FL_CHART_NOTE, "one.b", "Look.", "say \"%d\"", 2);
    fl_chart_group(&chart, "two");
    fl_chart_find(&chart, FL_CHART_FAULT, "two.c", "Mend it.", "broken");
    chart.unreachable = unreachable;
    assert_true(fl_chart_end(&chart));
    fclose(chart.out.file);
    fl_chart_deinit(&chart);
    return text;
}

static void test_chart_is_grouped_for_people(void **state)
{
    char *text = write_chart(false, false);

    (void)state;
    assert_string_equal(text, "Looking at there\n"
                              "\n"
                              "one\n"
                              "  ok       is fine\n"
                              "  note     say \"2\"\n"
                              "           -> Look.\n"
                              "\n"
                              "two\n"
                              "  fault    broken\n"
                              "           -> Mend it.\n"
                              "\n"
                              "Not healthy: 1 fault, 1 note, 1 ok.\n");
    free(text);
}

static void test_chart_is_one_object_for_scripts(void **state)
{
    char *text = write_chart(true, true);

    (void)state;
    assert_string_equal(
        text, "{\"target\":\"there\",\"findings\":["
              "{\"group\":\"one\",\"check\":\"one.a\",\"verdict\":\"ok\","
              "\"text\":\"is fine\"},"
              "{\"group\":\"one\",\"check\":\"one.b\",\"verdict\":\"note\","
              "\"text\":\"say \\\"2\\\"\",\"advice\":\"Look.\"},"
              "{\"group\":\"two\",\"check\":\"two.c\",\"verdict\":\"fault\","
              "\"text\":\"broken\",\"advice\":\"Mend it.\"}],"
              "\"counts\":{\"ok\":1,\"note\":1,\"warning\":0,\"fault\":1},"
              "\"verdict\":\"unreachable\"}\n");
    free(text);
}

static void test_no_character_is_cut_in_two(void **state)
{
    char text[160], out[FL_CHART_QUOTE];

    (void)state;
    for (size_t spelt = 40; spelt < 70; spelt++) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (char)(i < spelt ? 1 : (i - spelt) % 2 ? 0xa9 : 0xc3);
        fl_chart_quote((fl_span){text, sizeof text}, out);
        assert_true(fl_utf8_valid(fl_span_of(out)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_character_is_cut_in_two),
        cmocka_unit_test(test_chart_quotes_text_as_it_is),
        cmocka_unit_test(test_chart_spells_out_what_would_break_a_line),
        cmocka_unit_test(test_chart_spells_out_bytes_that_are_no_text),
        cmocka_unit_test(test_chart_cuts_long_text_between_letters),
        cmocka_unit_test(test_chart_is_grouped_for_people),
        cmocka_unit_test(test_chart_is_one_object_for_scripts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
