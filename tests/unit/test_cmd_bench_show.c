/*
 * test_cmd_bench_show.c - figures as people, scripts and browsers get them.
 *
 * Above all when there are none: nothing came, nothing was measured, nothing
 * was even begun.
 */
#include "cmd/bench_show.h"

#include "base/span.h"
#include "support/ration.h"
#include "json/nav.h"
#include "json/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { REPORT_MAX = 4 * 1024 * 1024 };

#define SECOND UINT64_C(1000000000)

/* On the heap: an outcome is large. */
typedef struct sample {
    fl_bench_line line;
    fl_bench_scout scout;
    fl_load_outcome outcome;
    fl_bench_report report;
    fl_buf text;
} sample;

/* All zero, but for what is always there. */
static sample *make(void)
{
    sample *s = calloc(1, sizeof *s);

    assert_non_null(s);
    s->line.plan.url = "http://h/mcp";
    s->line.plan.connections = s->line.plan.depth = s->line.plan.threads = 1;
    fl_buf_init(&s->scout.server, 1024);
    fl_buf_init(&s->scout.what, 1024);
    fl_buf_init(&s->text, REPORT_MAX);
    s->report = (fl_bench_report){&s->line, &s->scout, &s->outcome};
    return s;
}

static void done(sample *s)
{
    fl_bench_scout_deinit(&s->scout);
    fl_buf_reset(&s->text);
    free(s);
}

/* A second with an answer each millisecond, and a fault. */
static sample *make_busy(void)
{
    sample *s = make();
    fl_load_outcome *outcome = &s->outcome;

    assert_int_equal(fl_buf_append(&s->scout.server, FL_SPAN("demo 1.0")),
                     FL_OK);
    assert_int_equal(fl_buf_append(&s->scout.what, FL_SPAN("tools/call echo")),
                     FL_OK);
    s->line.plan.warmup_ms = 500;
    s->line.plan.duration_ms = 1000;
    outcome->slice_ns = SECOND / FL_LOAD_SLICES + 1;
    outcome->elapsed_ns = SECOND;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t slice = i * 1000000 / outcome->slice_ns;
        fl_histogram_add(&outcome->latency, (i + 1) * 1000);
        fl_histogram_add(&outcome->slices[slice].latency, (i + 1) * 1000);
    }
    outcome->answers = 999; /* and one that came after the end */
    outcome->faults[FL_LOAD_TIMEOUT] = 2;
    outcome->busy = 0.25;
    strcpy(outcome->fault, "no answer in time");
    strcpy(outcome->revision, "2025-11-25");
    return s;
}

static void open_loop(sample *s)
{
    s->line.plan.rate = 1000;
    s->outcome.service = s->outcome.latency;
}

static const char *text_of(sample *s)
{
    assert_int_equal(fl_buf_append(&s->text, (fl_span){"", 1}), FL_OK);
    return fl_buf_view(&s->text).ptr;
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in: %s", part, text);
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("'%s' is in: %s", part, text);
}

static void test_bench_time_has_three_digits_and_a_unit(void **state)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } rows[] = {
        {0, "0 ns"},
        {1, "1 ns"},
        {999, "999 ns"},
        {1000, "1.00 us"},
        {9949, "9.95 us"},
        {9951, "10.0 us"},
        {99400, "99.4 us"},
        {99600, "100 us"},
        {548000, "548 us"},
        {999400, "999 us"},
        {999499, "999 us"},
        {999500, "1.00 ms"},
        {999600, "1.00 ms"},
        {1210000, "1.21 ms"},
        {999499999, "999 ms"},
        {999500000, "1.00 s"},
        {2500000000, "2.50 s"},
        {999 * SECOND, "999 s"},
        {1000 * SECOND, "1000 s"},
        {7200 * SECOND, "7200 s"},
        {UINT64_MAX, "18446744074 s"},
    };
    char text[FL_BENCH_AMOUNT];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(fl_bench_time(rows[i].ns, text), rows[i].text);
}

static void test_bench_rate_is_of_the_time_that_was_measured(void **state)
{
    sample *s = make();

    (void)state;
    assert_true(fl_bench_rate(&s->outcome) == 0);
    s->outcome.answers = 300;
    assert_true(fl_bench_rate(&s->outcome) == 0);
    s->outcome.elapsed_ns = SECOND / 2;
    assert_true(fl_bench_rate(&s->outcome) == 600);
    done(s);
}

static void test_bench_faults_are_all_but_what_is_right(void **state)
{
    sample *s = make();

    (void)state;
    assert_int_equal(fl_bench_faults(&s->outcome), 0);
    s->outcome.faults[FL_LOAD_NO_FAULT] = 1000;
    s->outcome.late = 1000;
    assert_int_equal(fl_bench_faults(&s->outcome), 0);
    for (unsigned i = FL_LOAD_NO_FAULT + 1; i < FL_LOAD_FAULTS; i++)
        s->outcome.faults[i] = 1;
    s->outcome.unsent = 10;
    assert_int_equal(fl_bench_faults(&s->outcome), 15);
    done(s);
}

static void test_bench_target_shows_no_query(void **state)
{
    sample *s = make();
    char out[FL_BENCH_TARGET];

    (void)state;
    s->line.plan.url = "https://h:1/mcp?token=s3cr3t";
    fl_bench_target(&s->line, out);
    assert_string_equal(out, "https://h:1/mcp");
    done(s);
}

static void test_bench_target_is_cut_where_there_is_no_room(void **state)
{
    sample *s = make();
    char out[FL_BENCH_TARGET], word[200];
    const char *argv[] = {"npx", "-y", "server", NULL};
    const char *longer[] = {word, word, word, NULL};

    (void)state;
    s->line.plan.url = NULL;
    s->line.plan.client.connection.child.argv = argv;
    fl_bench_target(&s->line, out);
    assert_string_equal(out, "npx -y server");
    for (size_t len = 50; len < sizeof word; len++) {
        memset(word, 'x', len);
        word[len] = '\0';
        s->line.plan.client.connection.child.argv = longer;
        fl_bench_target(&s->line, out);
        size_t all = 3 * len + 2;
        assert_int_equal(strlen(out),
                         all < FL_BENCH_TARGET ? all : FL_BENCH_TARGET - 1);
    }
    done(s);
}

static void test_bench_describe_counts_as_people_do(void **state)
{
    sample *s = make();
    fl_load_plan *plan = &s->line.plan;
    char out[FL_BENCH_TARGET];

    (void)state;
    fl_bench_describe(&s->line, out);
    assert_string_equal(out, "1 connection, 1 request under way on each, "
                             "closed loop, 1 thread");
    plan->connections = plan->depth = plan->threads = 2;
    plan->rate = 5000;
    plan->scatter = true;
    fl_bench_describe(&s->line, out);
    assert_string_equal(out, "2 connections, 2 requests under way on each at "
                             "most, open loop of 5000 a second at random, 2 "
                             "threads");
    plan->connections = 100000;
    plan->depth = 10000;
    plan->rate = INT32_MAX;
    plan->threads = 64;
    fl_bench_describe(&s->line, out);
    has(out, "2147483647 a second at random, 64 threads");
    done(s);
}

static bool notes_have(const sample *s, const char *part)
{
    const char *notes[FL_BENCH_NOTES];
    size_t count = fl_bench_notes(&s->report, notes);

    assert_in_range(count, 1, FL_BENCH_NOTES);
    for (size_t i = 0; i < count; i++)
        if (strstr(notes[i], part) != NULL)
            return true;
    return false;
}

static void test_bench_notes_say_what_the_figures_do_not(void **state)
{
    sample *s = make_busy();

    (void)state;
    assert_true(notes_have(s, "(coordinated omission)"));
    assert_true(notes_have(s, "--rate N"));
    assert_false(notes_have(s, "from when a request was due"));
    open_loop(s);
    assert_false(notes_have(s, "(coordinated omission)"));
    assert_true(notes_have(s, "from when a request was due"));
    assert_false(notes_have(s, "--threads N"));
    s->outcome.busy = 0.9;
    assert_false(notes_have(s, "--threads N"));
    s->outcome.busy = 0.91;
    assert_true(notes_have(s, "--threads N"));
    assert_false(notes_have(s, "never be sent"));
    s->outcome.unsent = 1;
    assert_true(notes_have(s, "never be sent"));
    assert_false(notes_have(s, "lost on the way"));
    s->outcome.outages = 1;
    assert_true(notes_have(s, "lost on the way"));
    assert_false(notes_have(s, "interrupted"));
    s->outcome.interrupted = true;
    assert_true(notes_have(s, "interrupted"));
    done(s);
}

/* What people see; to be freed. */
static char *shown(const sample *s)
{
    char *out = NULL;
    size_t size = 0;
    fl_term to = {.file = open_memstream(&out, &size)};

    fl_bench_show(&to, &s->report);
    fclose(to.file);
    return out;
}

static void test_bench_show_lines_up_its_figures(void **state)
{
    sample *s = make_busy();
    char *out = shown(s);

    (void)state;
    has(out, "demo 1.0 (2025-11-25), http://h/mcp\n"
             "tools/call echo: 1 connection, 1 request under way on each, "
             "closed loop, 1 thread; 1.0 s after 0.5 s of warm-up\n\n"
             "  answers          999\n"
             "  per second       999\n"
             "  faults             2   timeouts 2\n"
             "  the first: no answer in time\n\n");
    has(out, "                   p50       p90       p95       p99     p99.9"
             "       max\n"
             "  latency   ");
    has(out, "   1.00 ms\n\n  all connections ready after 0 ns; generator 25 %"
             " busy\n");
    lacks(out, "service");
    free(out);
    open_loop(s);
    s->outcome.unsent = 1234567;
    out = shown(s);
    has(out, "  faults     1,234,569   timeouts 2   never sent 1,234,567\n");
    has(out, "\n  service   ");
    free(out);
    done(s);
}

static void test_bench_show_can_show_nothing_at_all(void **state)
{
    sample *s = make();
    char *out = shown(s);

    (void)state;
    has(out, "a server without a name (), http://h/mcp\n");
    has(out, "  answers            0\n  per second         0\n"
             "  faults             0\n\n");
    lacks(out, "nan");
    lacks(out, "inf");
    free(out);
    done(s);
}

/* What every text that a browser or a script gets must be. */
static void check_both(sample *s)
{
    fl_json_top top;

    fl_buf_clear(&s->text);
    assert_int_equal(fl_bench_json(&s->report, &s->text), FL_OK);
    assert_int_equal(fl_json_scan(fl_buf_view(&s->text), 0, &top, NULL), FL_OK);
    assert_int_equal(top.type, FL_JSON_OBJECT);
    lacks(text_of(s), "null"); /* which a number that is none becomes */
    fl_buf_clear(&s->text);
    assert_int_equal(fl_bench_page(&s->report, &s->text), FL_OK);
    const char *text = text_of(s);
    lacks(text, "nan");
    lacks(text, "inf");
    lacks(text, "<script");
    lacks(text, "src=");
    lacks(text, "href=");
    has(text, "</body></html>\n");
}

static void test_bench_reports_can_be_made_of_nothing(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        sample *s = make();
        if (open)
            open_loop(s);
        check_both(s);
        s->outcome.slice_ns = s->outcome.elapsed_ns = 1; /* interrupted */
        check_both(s);
        s->outcome.slice_ns = SECOND;
        s->outcome.unsent = 5; /* nothing but faults */
        check_both(s);
        s->outcome.elapsed_ns = UINT64_MAX / 2;
        check_both(s);
        done(s);
    }
}

static void test_bench_reports_can_be_made_of_extremes(void **state)
{
    static const uint64_t values[] = {0, 1, 10, 1000, 999999, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int open = 0; open < 2; open++) {
            sample *s = make();
            s->outcome.slice_ns = s->outcome.elapsed_ns = SECOND;
            s->outcome.answers = 1;
            fl_histogram_add(&s->outcome.latency, values[i]);
            fl_histogram_add(&s->outcome.slices[0].latency, values[i]);
            if (open)
                open_loop(s);
            check_both(s);
            done(s);
        }
}

static double number_at(fl_span object, const char *key)
{
    fl_span token = fl_json_get(object, fl_span_of(key));
    char text[32];

    assert_in_range(token.len, 1, sizeof text - 1);
    memcpy(text, token.ptr, token.len);
    text[token.len] = '\0';
    return strtod(text, NULL);
}

static void test_bench_json_has_the_figures(void **state)
{
    sample *s = make_busy();

    (void)state;
    check_both(s);
    fl_buf_clear(&s->text);
    assert_int_equal(fl_bench_json(&s->report, &s->text), FL_OK);
    fl_span all = fl_buf_view(&s->text);
    fl_span latency = fl_json_get(all, FL_SPAN("latency_us"));
    fl_span faults = fl_json_get(all, FL_SPAN("faults"));
    assert_true(number_at(all, "answers") == 999);
    assert_true(number_at(all, "rate") == 999);
    assert_true(number_at(all, "elapsed_s") == 1);
    assert_true(number_at(latency, "count") == 1000);
    assert_true(number_at(latency, "min") == 1);
    assert_true(number_at(latency, "max") == 1000);
    assert_true(number_at(latency, "p50") >= 500);
    assert_true(number_at(latency, "p50") <= 504);
    assert_true(number_at(latency, "p99.9") >= 999);
    assert_true(number_at(faults, "all") == 2);
    assert_true(number_at(faults, "timeouts") == 2);
    assert_int_equal(fl_json_get(all, FL_SPAN("service_us")).len, 0);
    done(s);
}

/* The series covers what was measured, and no answer is missing in it. */
static void test_bench_json_has_a_series_of_all_answers(void **state)
{
    sample *s = make_busy();
    fl_json_walk walk;
    fl_json_member slice;
    double answers = 0;
    size_t count = 0;

    (void)state;
    assert_int_equal(fl_bench_json(&s->report, &s->text), FL_OK);
    fl_json_walk_init(&walk,
                      fl_json_get(fl_buf_view(&s->text), FL_SPAN("series")));
    while (fl_json_walk_next(&walk, &slice)) {
        answers += number_at(slice.value, "rate") / FL_LOAD_SLICES;
        count++;
    }
    assert_int_equal(count, FL_LOAD_SLICES);
    assert_true(answers > 999 && answers < 1001);
    done(s);
}

/* A server's words are words, whatever they look like. */
static void test_bench_page_lets_no_server_write_html(void **state)
{
    static const char evil[] = "<script>alert(\"1&2\")</script>";
    sample *s = make_busy();

    (void)state;
    fl_buf_clear(&s->scout.server);
    fl_buf_clear(&s->scout.what);
    assert_int_equal(fl_buf_append(&s->scout.server, fl_span_of(evil)), FL_OK);
    assert_int_equal(fl_buf_append(&s->scout.what, fl_span_of(evil)), FL_OK);
    strcpy(s->outcome.fault, evil);
    s->line.plan.url = "http://h/<script>";
    check_both(s);
    fl_buf_clear(&s->text);
    assert_int_equal(fl_bench_page(&s->report, &s->text), FL_OK);
    const char *text = text_of(s);
    has(text, "<h1>&lt;script>alert(&quot;1&amp;2&quot;)&lt;/script></h1>");
    has(text, "The first fault: &lt;script>");
    has(text, "http://h/&lt;script>");
    done(s);
}

/* A fault is cut at some byte, which may be in the middle of a letter. */
static void test_bench_json_is_json_whatever_came(void **state)
{
    sample *s = make_busy();

    (void)state;
    strcpy(s->outcome.fault, "caf\xc3");
    s->line.plan.url = "http://h/\xff\"\\";
    check_both(s);
    done(s);
}

static void write_both(void *user)
{
    sample *s = user;
    fl_buf text;

    fl_buf_init(&text, REPORT_MAX);
    fl_status rc = fl_bench_json(&s->report, &text);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    fl_buf_reset(&text);
    bool refused = ration_refused();
    rc = fl_bench_page(&s->report, &text);
    assert_true(rc == FL_OK || (rc == FL_E_NOMEM && ration_refused()));
    assert_true(rc == FL_E_NOMEM || refused || !ration_refused());
    fl_buf_reset(&text);
}

static void test_bench_reports_without_memory_say_so(void **state)
{
    sample *s = make_busy();

    (void)state;
    open_loop(s);
    assert_true(ration_each(write_both, s) > 4);
    done(s);
}

static void test_bench_reports_say_when_there_is_no_room(void **state)
{
    sample *s = make_busy();

    (void)state;
    fl_buf_reset(&s->text);
    fl_buf_init(&s->text, 1000);
    assert_int_equal(fl_bench_page(&s->report, &s->text), FL_E_TOO_BIG);
    fl_buf_clear(&s->text);
    assert_int_equal(fl_bench_json(&s->report, &s->text), FL_E_TOO_BIG);
    done(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench_time_has_three_digits_and_a_unit),
        cmocka_unit_test(test_bench_rate_is_of_the_time_that_was_measured),
        cmocka_unit_test(test_bench_faults_are_all_but_what_is_right),
        cmocka_unit_test(test_bench_target_shows_no_query),
        cmocka_unit_test(test_bench_target_is_cut_where_there_is_no_room),
        cmocka_unit_test(test_bench_describe_counts_as_people_do),
        cmocka_unit_test(test_bench_notes_say_what_the_figures_do_not),
        cmocka_unit_test(test_bench_show_lines_up_its_figures),
        cmocka_unit_test(test_bench_show_can_show_nothing_at_all),
        cmocka_unit_test(test_bench_reports_can_be_made_of_nothing),
        cmocka_unit_test(test_bench_reports_can_be_made_of_extremes),
        cmocka_unit_test(test_bench_json_has_the_figures),
        cmocka_unit_test(test_bench_json_has_a_series_of_all_answers),
        cmocka_unit_test(test_bench_page_lets_no_server_write_html),
        cmocka_unit_test(test_bench_json_is_json_whatever_came),
        cmocka_unit_test(test_bench_reports_without_memory_say_so),
        cmocka_unit_test(test_bench_reports_say_when_there_is_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
