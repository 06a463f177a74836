/*
 * test_cmd_ps_show.c - reports of gateways, as people see them.
 */
#include "base/span.h"
#include "cmd/ps_show.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *report, size_t columns, const char *want)
{
    char *out = NULL;
    size_t size = 0;
    fl_term to = {.file = open_memstream(&out, &size)};

    assert_int_equal(fl_ps_show(&to, fl_span_of(report), columns), FL_OK);
    fclose(to.file);
    assert_string_equal(out, want);
    free(out);
}

static const char busy[] =
    "{\"pid\":42,\"version\":\"1.2\",\"uptime_ms\":192000,\"clients\":1,"
    "\"state\":\"open\",\"listen\":[\"tcp://127.0.0.1:1\"],\"servers\":["
    "{\"name\":\"files\",\"named\":true,\"command\":\"x\",\"children\":["
    "{\"pid\":7,\"memory\":{\"family\":12897485},\"owner\":{\"kind\":\"shared\""
    ",\"sessions\":2},\"state\":\"ready\",\"age_ms\":190000,\"in_flight\":3,"
    "\"stderr\":\"all is well, and then some\"},"
    "{\"pid\":12345,\"owner\":{\"kind\":\"session\",\"session\":4,\"client\":"
    "\"cursor\"},\"state\":\"restarting\",\"age_ms\":null,\"in_flight\":0,"
    "\"stderr\":null,\"error\":\"it died\"}]},"
    "{\"name\":\"server\",\"named\":false,\"url\":\"https://example.org/mcp\","
    "\"state\":\"unavailable\",\"health\":{\"breaker\":\"open\",\"retry_ms\":"
    "9000,\"error\":\"refused\"},\"in_flight\":0,\"children\":[]}],"
    "\"omitted\":0}";

static void test_ps_lines_up_what_it_shows(void **state)
{
    (void)state;
    expect(busy, 0,
           "Gateway 42: fairlead 1.2, up 3m12s, 1 client\n"
           "  on tcp://127.0.0.1:1\n"
           "    PID  SERVER                   OWNER               STATE       "
           "      AGE    MEMORY  BUSY  LAST STDERR LINE\n"
           "      7  files                    shared (2)          ready       "
           "    3m10s  12.3 MiB     3  all is well, and then some\n"
           "  12345  files                    session 4 (cursor)  restarting  "
           "        -         -     0  (it died)\n"
           "      -  https://example.org/mcp  -                   unavailable "
           "9s      -         -     0  (refused)\n");
}

/* Though another has a child that is ready. */
static void test_ps_shows_each_replica_as_it_is(void **state)
{
    (void)state;
    expect("{\"pid\":42,\"version\":\"1\",\"uptime_ms\":0,\"clients\":1,"
           "\"servers\":[{\"named\":false,\"name\":\"server\",\"url\":"
           "\"tcp://a:1\",\"state\":\"ready\",\"replicas\":[{\"replica\":"
           "\"tcp://a:1\",\"state\":\"down\",\"retry_ms\":8000,\"error\":"
           "\"refused\",\"in_flight\":0},{\"replica\":\"tcp://b:1\","
           "\"state\":\"up\",\"retry_ms\":0,\"error\":\"old\","
           "\"in_flight\":1}],\"children\":[{\"replica\":\"tcp://b:1\","
           "\"owner\":{\"kind\":\"shared\"},\"state\":\"ready\","
           "\"in_flight\":1}]},"
           "{\"named\":true,\"name\":\"n\",\"url\":\"tcp://c:1\","
           "\"replicas\":[{\"replica\":\"tcp://c:1\",\"state\":"
           "\"doubted\",\"error\":\"lost\",\"in_flight\":0}]}]}",
           0,
           "Gateway 42: fairlead 1, up 0s, 1 client\n"
           "  PID  SERVER     OWNER              STATE    AGE  MEMORY  BUSY"
           "  LAST STDERR LINE\n"
           "    -  tcp://a:1  replica            down 8s    -       -     0"
           "  (refused)\n"
           "    -  tcp://b:1  replica            up         -       -     1"
           "\n"
           "    -  tcp://b:1  shared             ready      -       -     1"
           "\n"
           "    -  n          replica tcp://c:1  doubted    -       -     0"
           "  (lost)\n");
}

static size_t widest(const char *text)
{
    size_t most = 0;

    while (*text != '\0') {
        size_t letters = 0, len = strcspn(text, "\n");
        for (size_t i = 0; i < len; i++)
            letters += ((unsigned char)text[i] & 0xc0) != 0x80;
        most = letters > most ? letters : most;
        text += len + (text[len] != '\0');
    }
    return most;
}

static char *shown(const char *report, size_t columns)
{
    char *out = NULL;
    size_t size = 0;
    fl_term to = {.file = open_memstream(&out, &size)};

    assert_int_equal(fl_ps_show(&to, fl_span_of(report), columns), FL_OK);
    fclose(to.file);
    return out;
}

static void test_ps_shows_an_open_breaker_beside_children(void **state)
{
    char *out =
        shown("{\"servers\":[{\"named\":true,\"name\":\"files\",\"state\":"
              "\"unavailable\",\"health\":{\"breaker\":\"open\","
              "\"retry_ms\":9000,\"error\":\"it hangs\"},\"children\":"
              "[{\"pid\":7,\"state\":\"ready\"}]}]}",
              0);

    (void)state;
    assert_non_null(strstr(out, "ready"));
    assert_non_null(strstr(out, "unavailable 9s"));
    assert_non_null(strstr(out, "(it hangs)"));
    free(out);
}

static void test_ps_fits_the_terminal_at_the_end_of_a_line(void **state)
{
    char *all = shown(busy, 0);
    size_t natural = widest(all);

    (void)state;
    free(all);
    for (size_t columns = natural - 10; columns < natural + 5; columns++) {
        char *out = shown(busy, columns);
        assert_true(widest(out) <= columns);
        bool whole = strstr(out, "and then some") != NULL;
        assert_int_equal(whole, columns >= natural);
        assert_int_equal(strstr(out, "\xe2\x80\xa6") == NULL, whole);
        assert_non_null(strstr(out, "https://example.org/mcp "));
        free(out);
    }
}

static void test_ps_cuts_names_where_there_is_little_room(void **state)
{
    (void)state;
    for (size_t columns = 96; columns < 109; columns++) {
        char *out = shown(busy, columns);
        assert_true(widest(out) <= columns);
        assert_null(strstr(out, "https://example.org/mcp "));
        assert_non_null(strstr(out, "all is well, an\xe2\x80\xa6\n"));
        free(out);
    }
    char *out = shown(busy, 10); /* so narrow that it has to break */
    assert_non_null(strstr(out, "https://e\xe2\x80\xa6 "));
    assert_non_null(strstr(out, "all is well, an\xe2\x80\xa6\n"));
    free(out);
}

static void test_ps_shows_no_control_character_of_others(void **state)
{
    char *out = shown(
        "{\"pid\":1,\"version\":\"\\u001b[2J\",\"listen\":[\"\\u001b]0;x\"],"
        "\"servers\":[{\"name\":\"a\\nb\",\"named\":true,\"children\":[{"
        "\"owner\":{\"kind\":\"session\",\"client\":\"x\\ny\\tz\\u202e\"},"
        "\"stderr\":\"\\u001b[31mred\\r\\u009b\"}]}]}",
        0);

    (void)state;
    for (const char *at = out; *at != '\0'; at++)
        assert_true(*at == '\n' || (unsigned char)*at >= ' ');
    assert_non_null(strstr(out, "a b"));
    assert_non_null(strstr(out, "(x y z\\u202e)"));
    assert_non_null(strstr(out, "\\x1b[31mred\\x0d\\u009b\n"));
    assert_null(strstr(out, "\xc2\x9b"));
    free(out);
}

static void test_ps_makes_do_with_what_a_report_has(void **state)
{
    static const char *const odd[] = {
        "{}",
        "{\"servers\":1}",
        "{\"servers\":[1,null,\"x\",[],{}]}",
        "{\"servers\":[{\"children\":[1,{},[],{\"owner\":1,\"memory\":[]}]}]}",
        "{\"pid\":-1,\"clients\":1e99,\"listen\":{\"a\":1},\"servers\":{}}",
        ("{\"servers\":[{\"children\":[{\"pid\":\"7\",\"age_ms\":-5,"
         "\"stderr\":{},\"state\":7}]}]}"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char *out = shown(odd[i], 80);
        assert_non_null(strstr(out, "LAST STDERR LINE\n"));
        free(out);
    }
}

static void test_ps_says_how_many_it_was_not_told_of(void **state)
{
    char *out = shown("{\"servers\":[],\"omitted\":17}", 80);

    (void)state;
    assert_non_null(strstr(out, "\n  ... and 17 more\n"));
    free(out);
}

static void expect_age(uint64_t ms, const char *want)
{
    char text[FL_PS_TEXT];

    fl_ps_age(ms, text);
    assert_string_equal(text, want);
}

static void test_ps_age_has_two_units(void **state)
{
    (void)state;
    expect_age(0, "0s");
    expect_age(999, "0s");
    expect_age(59999, "59s");
    expect_age(60000, "1m00s");
    expect_age(192000, "3m12s");
    expect_age(3599999, "59m59s");
    expect_age(3600000, "1h00m");
    expect_age(86399999, "23h59m");
    expect_age(86400000, "1d00h");
    expect_age(INT64_MAX, "106751991167d07h");
}

static void expect_size(uint64_t bytes, const char *want)
{
    char text[FL_PS_TEXT];

    fl_ps_size(bytes, text);
    assert_string_equal(text, want);
}

static void test_ps_size_has_the_unit_that_fits(void **state)
{
    (void)state;
    expect_size(0, "0 B");
    expect_size(1023, "1023 B");
    expect_size(1024, "1.0 KiB");
    expect_size(1048524, "1023.9 KiB");
    expect_size(1048575, "1.0 MiB");
    expect_size(1048576, "1.0 MiB");
    expect_size(12897485, "12.3 MiB");
    expect_size((uint64_t)3 << 30, "3.0 GiB");
    expect_size((uint64_t)5000 << 40, "5000.0 TiB");
    expect_size(INT64_MAX, "8388608.0 TiB");
}

static void test_ps_says_when_there_was_no_memory(void **state)
{
    char *out = NULL;
    size_t size = 0, refusals = 0;

    (void)state;
    for (bool refused = true; refused; refusals++) {
        fl_term to = {.file = open_memstream(&out, &size)};
        ration_reset();
        ptrdiff_t before = ration_live_blocks();
        ration_fail_at(refusals + 1);
        fl_status rc = fl_ps_show(&to, fl_span_of(busy), 80);
        refused = ration_refused();
        assert_int_equal(rc, refused ? FL_E_NOMEM : FL_OK);
        assert_int_equal(ration_live_blocks(), before);
        ration_reset();
        fclose(to.file);
        free(out);
    }
    assert_true(refusals > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ps_lines_up_what_it_shows),
        cmocka_unit_test(test_ps_shows_each_replica_as_it_is),
        cmocka_unit_test(test_ps_shows_an_open_breaker_beside_children),
        cmocka_unit_test(test_ps_fits_the_terminal_at_the_end_of_a_line),
        cmocka_unit_test(test_ps_cuts_names_where_there_is_little_room),
        cmocka_unit_test(test_ps_shows_no_control_character_of_others),
        cmocka_unit_test(test_ps_makes_do_with_what_a_report_has),
        cmocka_unit_test(test_ps_says_how_many_it_was_not_told_of),
        cmocka_unit_test(test_ps_age_has_two_units),
        cmocka_unit_test(test_ps_size_has_the_unit_that_fits),
        cmocka_unit_test(test_ps_says_when_there_was_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
