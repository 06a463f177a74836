/*
 * test_http.c - the front door: what holds whatever the version.
 */
#include "http_watch.h"
#include "wire/http_impl.h"

static void test_http_sniffs_the_version(void **state)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    (void)state;
    for (size_t n = 0; n < sizeof preface - 1; n++)
        assert_int_equal(fl_http_sniff((fl_span){preface, n}), 0);
    assert_int_equal(fl_http_sniff((fl_span){preface, sizeof preface - 1}), 20);
    assert_int_equal(
        fl_http_sniff(FL_SPAN("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore")), 20);
    assert_int_equal(
        fl_http_sniff(FL_SPAN("PRI * HTTP/2.0\r\n\r\nSM\r\n\r.more")), 11);
    assert_int_equal(fl_http_sniff(FL_SPAN("G")), 11);
    assert_int_equal(fl_http_sniff(FL_SPAN("PO")), 11);
    assert_int_equal(fl_http_sniff(FL_SPAN("PRI * HTTP/1.1\r\n")), 11);
}

static void test_http_has_a_reason_for_everything(void **state)
{
    (void)state;
    assert_string_equal(fl_http_reason(200), "OK");
    assert_string_equal(fl_http_reason(404), "Not Found");
    assert_string_equal(fl_http_reason(431), "Request Header Fields Too Large");
    assert_string_equal(fl_http_reason(299), "Unknown");
    assert_string_equal(fl_http_reason(0), "Unknown");
}

static void test_http_refuses_versions_that_are_none(void **state)
{
    fl_http_options options = {.version = 10, .events = &watch_events};
    fl_http *http;

    (void)state;
    assert_int_equal(fl_http_new(&options, &http), FL_E_INVALID);
    assert_null(http);
    options = (fl_http_options){.version = 11};
    assert_int_equal(fl_http_new(&options, &http), FL_E_INVALID);
    fl_http_free(NULL);
}

static void test_http_limits_have_defaults_and_bounds(void **state)
{
    const fl_http_limits odd = {.max_head = SIZE_MAX, .max_fields = 1000};
    fl_http_limits limits = fl_http_limits_fill(NULL);

    (void)state;
    assert_int_equal(limits.max_head, 32 * 1024);
    assert_int_equal(limits.max_target, 8 * 1024);
    assert_int_equal(limits.max_fields, 100);
    assert_int_equal(limits.max_streams, 100);
    assert_int_equal(limits.high_water, 256 * 1024);
    limits = fl_http_limits_fill(&odd);
    assert_true(limits.max_head < SIZE_MAX / 8);
    assert_int_equal(limits.max_fields, FL_HTTP_FIELDS_MAX);
    assert_int_equal(limits.max_target, 8 * 1024);
}

static void test_http_each_side_refuses_what_is_for_the_other(void **state)
{
    static watch w;
    const fl_heading heading = {
        .status = 200,
        .method = FL_SPAN("GET"),
        .target = FL_SPAN("/"),
        .authority = FL_SPAN("h"),
    };
    fl_exchange *exchange;

    (void)state;
    w = (watch){0};
    assert_int_equal(watch_open(&w, false, NULL), FL_OK);
    assert_false(fl_http_available(w.http));
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &exchange),
                     FL_E_STATE);
    watch_close(&w);

    w = (watch){0};
    assert_int_equal(watch_open(&w, true, NULL), FL_OK);
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &exchange), FL_OK);
    assert_int_equal(fl_exchange_respond(exchange, &heading), FL_E_STATE);
    assert_int_equal(fl_exchange_answer(exchange, &heading, NULL, 0),
                     FL_E_STATE);
    watch_close(&w);
}

/* A codec that has no way to answer at once. */
typedef struct steps {
    fl_http http;
    fl_exchange exchange;
    fl_status respond_rc, send_rc;
    char said[8];
    size_t count;
} steps;

static fl_status step_respond(fl_exchange *exchange, const fl_heading *heading)
{
    steps *s = (steps *)(void *)exchange->http;

    assert_int_equal(heading->length, 5);
    s->said[s->count++] = 'h';
    return s->respond_rc;
}

static fl_status step_send(fl_exchange *exchange, const fl_span *parts,
                           size_t count, bool urgent)
{
    steps *s = (steps *)(void *)exchange->http;

    assert_true(urgent);
    assert_int_equal(fl_span_total(parts, count), 5);
    s->said[s->count++] = 'b';
    return s->send_rc;
}

static void step_finish(fl_exchange *exchange)
{
    steps *s = (steps *)(void *)exchange->http;
    s->said[s->count++] = 'f';
}

static void step_reset(fl_exchange *exchange)
{
    steps *s = (steps *)(void *)exchange->http;
    s->said[s->count++] = 'r';
}

static void test_http_answers_in_steps_where_it_must(void **state)
{
    static const fl_http_ops ops = {
        .respond = step_respond,
        .send = step_send,
        .finish = step_finish,
        .reset = step_reset,
    };
    static const struct {
        fl_status respond, send, rc;
        const char *said;
    } cases[] = {
        {FL_OK, FL_OK, FL_OK, "hbf"},
        {FL_E_NOMEM, FL_OK, FL_E_NOMEM, "h"},
        {FL_OK, FL_E_NOMEM, FL_OK, "hbr"},
    };
    const fl_http_options options = {.version = 20, .events = &watch_events};
    const fl_heading heading = {.status = 200};
    const fl_span parts[] = {FL_SPAN("ab"), FL_SPAN("cde")};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        steps s = {.respond_rc = cases[i].respond, .send_rc = cases[i].send};
        fl_http_init(&s.http, &ops, &options);
        s.exchange.http = &s.http;
        assert_int_equal(fl_exchange_answer(&s.exchange, &heading, parts, 2),
                         cases[i].rc);
        assert_string_equal(s.said, cases[i].said);
        assert_int_equal(fl_exchange_pending(&s.exchange), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_sniffs_the_version),
        cmocka_unit_test(test_http_has_a_reason_for_everything),
        cmocka_unit_test(test_http_refuses_versions_that_are_none),
        cmocka_unit_test(test_http_limits_have_defaults_and_bounds),
        cmocka_unit_test(test_http_each_side_refuses_what_is_for_the_other),
        cmocka_unit_test(test_http_answers_in_steps_where_it_must),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
