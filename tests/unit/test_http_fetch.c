/*
 * test_http_fetch.c - one exchange with any URL, byte for byte.
 */
#include "transport/http_fetch.h"

#include "http_rig.h"

static struct {
    int calls;
    unsigned status;
    fl_status why;
    char text[256];
    char body[256];
    size_t length;
    char location[256];
    bool has_location;
    bool restart; /* fetch once more from inside the call */
} got;

static fl_fetch *fetch;

static void on_answer(void *user, const fl_fetch_answer *answer);

static fl_fetch_request ask(const char *path)
{
    static char url[300];

    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", at.port, path);
    return (fl_fetch_request){.method = FL_SPAN("GET"),
                              .url = fl_span_of(url),
                              .want = {"location"},
                              .plain = FL_FETCH_LOOPBACK,
                              .max_body = 100};
}

static void start(const fl_fetch_request *request)
{
    fl_error error;

    assert_int_equal(
        fl_fetch_start(at.loop, request, on_answer, NULL, &fetch, &error),
        FL_OK);
    assert_int_equal(got.calls, 0); /* never from inside the call */
}

static void on_answer(void *user, const fl_fetch_answer *answer)
{
    (void)user;
    fetch = NULL;
    got.calls++;
    got.status = answer->status;
    got.why = answer->why != NULL ? answer->why->status : FL_OK;
    snprintf(got.text, sizeof got.text, "%s",
             answer->why != NULL ? answer->why->text : "");
    got.length = answer->body.len;
    snprintf(got.body, sizeof got.body, "%.*s", (int)answer->body.len,
             answer->body.len > 0 ? answer->body.ptr : "");
    got.has_location = answer->value[0].ptr != NULL;
    snprintf(got.location, sizeof got.location, "%.*s",
             (int)answer->value[0].len,
             answer->value[0].len > 0 ? answer->value[0].ptr : "");
    if (got.restart) {
        fl_fetch_request again = ask("/again");
        fl_error error;
        got.restart = false;
        assert_int_equal(
            fl_fetch_start(at.loop, &again, on_answer, NULL, &fetch, &error),
            FL_OK);
    }
}

static void begin(void)
{
    memset(&got, 0, sizeof got);
    rig_begin();
}

/* Nothing is left on the loop. */
static void end(void)
{
    close(at.listener);
    io_some_turns(at.loop);
    io_until(at.loop, !fl_loop_step(at.loop));
    fl_loop_free(at.loop);
}

static void test_fetch_gets_a_document(void **state)
{
    (void)state;
    begin();
    fl_fetch_request request = ask("/a?b=c");
    start(&request);
    http_accept(&one);
    http_hear(&one, "GET /a?b=c HTTP/1.1\n");
    http_has("connection", "close");
    http_lacks("authorization");
    http_say(&one, "200 OK", JSON, "{}");
    io_until(at.loop, got.calls == 1);
    assert_int_equal(got.status, 200);
    assert_string_equal(got.body, "{}");
    assert_false(got.has_location);
    raw_close(&one);
    end();
}

static void test_fetch_posts_a_form_with_fields_of_its_own(void **state)
{
    const fl_field fields[] = {
        FL_FIELD_SET(CONTENT_TYPE,
                     FL_SPAN("application/x-www-form-urlencoded")),
        FL_FIELD_SET(AUTHORIZATION, FL_SPAN("Basic x")),
    };

    (void)state;
    begin();
    fl_fetch_request request = ask("/token");
    request.method = FL_SPAN("POST");
    request.fields = fields;
    request.count = 2;
    request.body = FL_SPAN("a=b");
    start(&request);
    http_accept(&one);
    http_hear(&one, "POST /token HTTP/1.1\n");
    http_has("authorization", "Basic x");
    http_hears_body("a=b");
    http_say(&one, "400 Bad Request", "", "no");
    io_until(at.loop, got.calls == 1);
    assert_int_equal(got.status, 400);
    assert_string_equal(got.body, "no");
    raw_close(&one);
    end();
}

static void test_fetch_follows_no_redirect(void **state)
{
    (void)state;
    begin();
    fl_fetch_request request = ask("/");
    start(&request);
    http_accept(&one);
    http_hear(&one, "GET / HTTP/1.1\n");
    http_say(&one, "302 Found", "Location: http://127.0.0.1/else?x=1\r\n", "");
    io_until(at.loop, got.calls == 1);
    assert_int_equal(got.status, 302);
    assert_string_equal(got.location, "http://127.0.0.1/else?x=1");
    assert_true(rig_nobody_comes());
    raw_close(&one);
    end();
}

static void test_fetch_body_at_the_limit_and_one_past(void **state)
{
    char body[102];

    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        memset(body, 'x', sizeof body);
        body[100 + extra] = '\0';
        begin();
        fl_fetch_request request = ask("/");
        start(&request);
        http_accept(&one);
        http_hear(&one, "GET / HTTP/1.1\n");
        http_say(&one, "200 OK", "", body);
        io_until(at.loop, got.calls == 1);
        assert_int_equal(got.status, extra == 0 ? 200 : 0);
        assert_int_equal(got.why, extra == 0 ? FL_OK : FL_E_TOO_BIG);
        raw_close(&one);
        end();
    }
}

static void test_fetch_takes_no_packed_answer(void **state)
{
    (void)state;
    begin();
    fl_fetch_request request = ask("/");
    start(&request);
    http_accept(&one);
    http_hear(&one, "GET / HTTP/1.1\n");
    http_lacks("accept-encoding");
    http_say(&one, "200 OK", "Content-Encoding: gzip\r\n", "x");
    io_until(at.loop, got.calls == 1);
    assert_int_equal(got.why, FL_E_UNSUPPORTED);
    raw_close(&one);
    end();
}

static void test_fetch_tells_of_a_server_that_goes_away(void **state)
{
    (void)state;
    begin();
    fl_fetch_request request = ask("/");
    start(&request);
    http_accept(&one);
    http_hear(&one, "GET / HTTP/1.1\n");
    raw_close(&one);
    io_until(at.loop, got.calls == 1);
    assert_int_equal(got.status, 0);
    assert_true(got.why < 0);
    end();
}

static void test_fetch_waits_only_so_long(void **state)
{
    (void)state;
    begin();
    fl_fetch_request request = ask("/");
    request.timeout_ms = 1;
    start(&request);
    io_until(at.loop, got.calls == 1);
    assert_int_equal(got.why, FL_E_TIMEOUT);
    end();
}

static void test_fetch_may_be_started_from_inside_the_answer(void **state)
{
    (void)state;
    begin();
    fl_fetch_request request = ask("/");
    got.restart = true;
    start(&request);
    http_accept(&one);
    http_hear(&one, "GET / HTTP/1.1\n");
    http_say(&one, "200 OK", "", "1");
    http_accept(&two);
    http_hear(&two, "GET /again HTTP/1.1\n");
    http_say(&two, "200 OK", "", "2");
    io_until(at.loop, got.calls == 2);
    assert_string_equal(got.body, "2");
    raw_close(&one);
    raw_close(&two);
    end();
}

static void test_fetch_that_is_cancelled_says_nothing(void **state)
{
    (void)state;
    begin();
    fl_fetch_request request = ask("/");
    start(&request);
    fl_fetch_cancel(fetch);
    io_some_turns(at.loop);
    start(&request);
    http_accept(&one);
    io_some_turns(at.loop);
    fl_fetch_cancel(fetch);
    fl_fetch_cancel(NULL);
    io_some_turns(at.loop);
    assert_int_equal(got.calls, 0);
    raw_close(&one);
    end();
}

static void check_plain(const char *url, fl_fetch_plain plain, fl_status want)
{
    fl_error error;

    assert_int_equal(fl_fetch_check(fl_span_of(url), plain, &error), want);
}

static void test_fetch_keeps_secrets_out_of_the_clear(void **state)
{
    (void)state;
    check_plain("https://h/x", FL_FETCH_SECURE, FL_OK);
    check_plain("HTTPS://h/x", FL_FETCH_SECURE, FL_OK);
    check_plain("http://127.0.0.1/x", FL_FETCH_SECURE, FL_E_DENIED);
    check_plain("http://127.0.0.1/x", FL_FETCH_LOOPBACK, FL_OK);
    check_plain("http://localhost:1/x", FL_FETCH_LOOPBACK, FL_OK);
    check_plain("http://[::1]/x", FL_FETCH_LOOPBACK, FL_OK);
    check_plain("http://127.0.0.1.evil/x", FL_FETCH_LOOPBACK, FL_E_DENIED);
    check_plain("http://h/x", FL_FETCH_LOOPBACK, FL_E_DENIED);
    check_plain("http://h/x", FL_FETCH_ANY, FL_OK);
    check_plain("file:///etc/passwd", FL_FETCH_ANY, FL_E_INVALID);
    check_plain("javascript:alert(1)", FL_FETCH_ANY, FL_E_INVALID);
    check_plain("https://u:p@h/", FL_FETCH_ANY, FL_E_INVALID);
    check_plain("https://h/\r\nX: y", FL_FETCH_ANY, FL_E_INVALID);
    check_plain("", FL_FETCH_ANY, FL_E_INVALID);
}

static void test_fetch_url_at_the_limit_and_one_past(void **state)
{
    static char url[FL_FETCH_URL + 2];

    (void)state;
    memset(url, 'x', sizeof url - 1);
    memcpy(url, "https://h/", 10);
    check_plain(url, FL_FETCH_SECURE, FL_E_INVALID);
    url[FL_FETCH_URL] = '\0';
    check_plain(url, FL_FETCH_SECURE, FL_OK);
}

static void test_fetch_without_tls_asks_no_secure_server(void **state)
{
    fl_error error;

    (void)state;
    begin();
    assert_int_equal(fl_fetch_start(at.loop,
                                    &(fl_fetch_request){
                                        .method = FL_SPAN("GET"),
                                        .url = FL_SPAN("https://127.0.0.1/")},
                                    on_answer, NULL, &fetch, &error),
                     FL_E_TLS);
    assert_null(fetch);
    end();
}

static void work(void *user)
{
    fl_fetch_request request = ask("/");
    fl_error error;

    (void)user;
    fl_status rc =
        fl_fetch_start(at.loop, &request, on_answer, NULL, &fetch, &error);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    if (rc == FL_OK)
        fl_fetch_cancel(fetch);
    while (fl_loop_step(at.loop))
        io_some_turns(at.loop);
}

static void test_fetch_without_memory_leaks_nothing(void **state)
{
    (void)state;
    begin();
    work(NULL); /* the loop takes what it keeps */
    assert_true(ration_each(work, NULL) > 5);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fetch_gets_a_document),
        cmocka_unit_test(test_fetch_posts_a_form_with_fields_of_its_own),
        cmocka_unit_test(test_fetch_follows_no_redirect),
        cmocka_unit_test(test_fetch_body_at_the_limit_and_one_past),
        cmocka_unit_test(test_fetch_takes_no_packed_answer),
        cmocka_unit_test(test_fetch_tells_of_a_server_that_goes_away),
        cmocka_unit_test(test_fetch_waits_only_so_long),
        cmocka_unit_test(test_fetch_may_be_started_from_inside_the_answer),
        cmocka_unit_test(test_fetch_that_is_cancelled_says_nothing),
        cmocka_unit_test(test_fetch_keeps_secrets_out_of_the_clear),
        cmocka_unit_test(test_fetch_url_at_the_limit_and_one_past),
        cmocka_unit_test(test_fetch_without_tls_asks_no_secure_server),
        cmocka_unit_test(test_fetch_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("http fetch", tests, NULL, NULL);
}
