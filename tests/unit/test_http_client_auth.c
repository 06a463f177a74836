/*
 * test_http_client_auth.c - a client link whose requests are refused: what is
 * held, what is sent again, and what is given up.
 *
 * The fl_auth is the test's own: it lets in, holds back and refuses as it is
 * told.
 */
#include "http_rig.h"
#include "transport/credentials.h"

static struct {
    fl_auth auth;
    fl_status attach, ready, refused;
    const char *token; /* NULL: none */
    unsigned serial;
    fl_list waits;
    int attached, detached, heard, asked;
    char url[128], challenge[256], signed_for[128];
    unsigned status, tries;
} fake;

static fl_status attach(fl_auth *auth, fl_loop *loop, fl_span url,
                        const fl_options *options, fl_error *error)
{
    (void)auth;
    (void)loop;
    (void)options;
    snprintf(fake.url, sizeof fake.url, "%.*s", (int)url.len, url.ptr);
    if (fake.attach == FL_OK)
        fake.attached++;
    else
        snprintf(error->text, sizeof error->text, "not you");
    return fake.attach;
}

static void detach(fl_auth *auth)
{
    (void)auth;
    fake.detached++;
}

static fl_status ready(fl_auth *auth, fl_auth_wait *wait)
{
    (void)auth;
    if (fake.ready == FL_AGAIN)
        fl_list_append(&fake.waits, &wait->node);
    return fake.ready;
}

static fl_status sign(fl_auth *auth, fl_span method, fl_span target,
                      fl_auth_fields *out)
{
    (void)auth;
    fl_auth_fields_init(out);
    snprintf(fake.signed_for, sizeof fake.signed_for, "%.*s %.*s",
             (int)method.len, method.ptr, (int)target.len, target.ptr);
    if (fake.token == NULL)
        return FL_OK;
    fl_status rc = fl_buf_printf(&out->text, "Bearer %s", fake.token);
    out->fields[out->count++] =
        FL_FIELD_SET(AUTHORIZATION, fl_buf_view(&out->text));
    out->serial = fake.serial;
    return rc;
}

static void heard(fl_auth *auth, const fl_head *head)
{
    (void)auth;
    (void)head;
    fake.heard++;
}

static fl_status refused(fl_auth *auth, const fl_auth_refusal *refusal,
                         fl_auth_wait *wait, fl_error *why)
{
    (void)auth;
    fake.asked++;
    fake.status = refusal->status;
    fake.tries = refusal->tries;
    snprintf(fake.challenge, sizeof fake.challenge, "%.*s",
             (int)refusal->challenge.len,
             refusal->challenge.len > 0 ? refusal->challenge.ptr : "");
    if (fake.refused == FL_AGAIN)
        fl_list_append(&fake.waits, &wait->node);
    else if (fake.refused < 0 && why != NULL) {
        why->status = fake.refused;
        snprintf(why->text, sizeof why->text, "go away");
    }
    return fake.refused;
}

static const fl_auth_ops ops = {
    .attach = attach,
    .detach = detach,
    .ready = ready,
    .sign = sign,
    .heard = heard,
    .refused = refused,
};

static void release(const fl_error *why)
{
    fl_list waits, *node;

    fl_list_move(&waits, &fake.waits);
    while ((node = fl_list_take(&waits)) != NULL) {
        fl_auth_wait *wait = FL_LIST_ENTRY(node, fl_auth_wait, node);
        wait->fn(wait->user, why);
    }
}

static fl_options options_of(void)
{
    return (fl_options){.http = {.auth = &fake.auth}};
}

static void begin(void)
{
    memset(&fake, 0, sizeof fake);
    fake.auth.ops = &ops;
    fl_list_init(&fake.waits);
    fl_options options = options_of();
    rig_open(&options);
    assert_int_equal(fake.attached, 1);
}

static void end(void)
{
    rig_end();
    assert_int_equal(fake.detached, 1);
    assert_true(fl_list_empty(&fake.waits));
}

static void test_auth_is_told_which_server_it_is_for(void **state)
{
    char url[64];

    (void)state;
    begin();
    snprintf(url, sizeof url, "http://127.0.0.1:%u/mcp", at.port);
    assert_string_equal(fake.url, url);
    end();
}

static void test_auth_that_is_anothers_fails_at_once(void **state)
{
    fl_options options = options_of();
    fl_error error;

    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.auth.ops = &ops;
    fake.attach = FL_E_INVALID;
    rig_begin();
    assert_int_equal(fl_link_connect(at.loop, "http://127.0.0.1:1/mcp",
                                     &options, &rig_events, NULL, &at.link,
                                     &error),
                     FL_E_INVALID);
    assert_string_equal(error.text, "not you");
    assert_int_equal(fake.detached, 0);
    close(at.listener);
    fl_loop_free(at.loop);
}

static void test_auth_and_a_header_of_ones_own_do_not_go_together(void **state)
{
    static const char *const headers[] = {"Authorization: Bearer x", NULL};
    fl_options options = options_of();
    fl_error error;

    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.auth.ops = &ops;
    options.http.headers = headers;
    rig_begin();
    assert_int_equal(fl_link_connect(at.loop, "http://127.0.0.1:1/mcp",
                                     &options, &rig_events, NULL, &at.link,
                                     &error),
                     FL_E_INVALID);
    assert_non_null(strstr(error.text, "http.auth"));
    close(at.listener);
    fl_loop_free(at.loop);
}

/* The refused request did not run: it is sent again, the same. */
static void test_auth_holds_a_refused_request_and_sends_it_again(void **state)
{
    (void)state;
    begin();
    fake.refused = FL_AGAIN;
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_lacks("authorization");
    assert_string_equal(fake.signed_for, "POST /mcp");
    http_say(&one, "401 Unauthorized",
             "WWW-Authenticate: Basic x\r\nWWW-Authenticate: Bearer y\r\n",
             "who?");
    io_until(at.loop, fake.asked == 1);
    assert_string_equal(fake.challenge, "Basic x, Bearer y");
    assert_int_equal(fake.status, 401);
    assert_int_equal(fake.tries, 1);
    io_some_turns(at.loop);
    assert_int_equal(at.messages, 0);
    fake.token = "t";
    release(NULL);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_has("authorization", "Bearer t");
    http_hears_body(ASK("1", "m"));
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    raw_close(&one);
    end();
}

static void test_auth_that_says_at_once_is_believed_at_once(void **state)
{
    (void)state;
    begin();
    fake.refused = FL_OK;
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say(&one, "403 Forbidden", "", "");
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    assert_int_equal(fake.asked, 1);
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    raw_close(&one);
    end();
}

static void test_auth_in_vain_is_an_error_for_the_sender(void **state)
{
    fl_error why = {.status = FL_E_DENIED, .text = "he said no"};

    (void)state;
    begin();
    fake.refused = FL_AGAIN;
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say(&one, "401 Unauthorized", "", "");
    io_until(at.loop, fake.asked == 1);
    release(&why);
    rig_hears_part(0, "he said no");
    fake.refused = FL_E_DENIED;
    rig_sends(ASK("2", "m"));
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say(&one, "401 Unauthorized", "", "");
    rig_hears_part(1, "go away");
    raw_close(&one);
    end();
}

static void test_auth_leaves_alone_what_is_no_matter_of_its(void **state)
{
    (void)state;
    begin();
    fake.refused = FL_E_UNSUPPORTED;
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say(&one, "403 Forbidden", JSON,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,"
             "\"message\":\"no\"}}");
    rig_hears_part(0, "\"code\":-1");
    rig_sends(ASK("2", "m"));
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say(&one, "500 Oops", "", "");
    rig_hears_part(1, "500");
    assert_int_equal(fake.asked, 1);
    raw_close(&one);
    end();
}

static void test_auth_that_is_not_ready_holds_requests_back(void **state)
{
    (void)state;
    begin();
    fake.ready = FL_AGAIN;
    rig_sends(ASK("1", "m"));
    rig_sends("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}");
    assert_true(rig_nobody_comes());
    fake.ready = FL_OK;
    fake.token = "t";
    release(NULL);
    http_accept(&one);
    http_accept(&two);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_has("authorization", "Bearer t");
    http_hear(&two, "POST /mcp HTTP/1.1\n");
    http_has("authorization", "Bearer t");
    raw_close(&one);
    raw_close(&two);
    end();
}

static void test_auth_request_that_is_cancelled_while_it_waits(void **state)
{
    (void)state;
    begin();
    fake.refused = FL_AGAIN;
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say(&one, "401 Unauthorized", "", "");
    io_until(at.loop, fake.asked == 1);
    assert_false(fl_list_empty(&fake.waits));
    fl_link_cancel(at.link, FL_SPAN("1"));
    assert_true(fl_list_empty(&fake.waits));
    release(NULL);
    io_some_turns(at.loop);
    assert_int_equal(at.messages, 0);
    raw_close(&one);
    end();
}

static void test_auth_link_that_closes_while_requests_wait(void **state)
{
    (void)state;
    begin();
    fake.ready = FL_AGAIN;
    rig_sends(ASK("1", "m"));
    rig_sends(ASK("2", "m"));
    end();
}

/* The first to fail closes the link: the second goes with it. */
static void test_auth_link_that_is_closed_by_the_first_who_failed(void **state)
{
    fl_error why = {.status = FL_E_DENIED, .text = "no"};

    (void)state;
    begin();
    fake.ready = FL_AGAIN;
    at.close_in_message = true;
    rig_sends(ASK("1", "m"));
    rig_sends(ASK("2", "m"));
    release(&why);
    assert_int_equal(at.messages, 1);
    end();
}

static void test_auth_notification_in_vain_is_only_counted(void **state)
{
    fl_error why = {.status = FL_E_DENIED, .text = "no"};

    (void)state;
    begin();
    fake.ready = FL_AGAIN;
    rig_sends("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}");
    release(&why);
    assert_int_equal(at.messages, 0);
    assert_int_equal(at.link->stats.errors, 1);
    end();
}

static void test_auth_old_stream_is_asked_for_again(void **state)
{
    fl_options options = options_of();

    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.auth.ops = &ops;
    fl_list_init(&fake.waits);
    fake.refused = FL_AGAIN;
    rig_begin();
    at.scheme = "sse+http";
    rig_connect("/sse", &options);
    http_accept(&one);
    http_hear(&one, "GET /sse HTTP/1.1\n");
    http_say(&one, "401 Unauthorized", "", "");
    io_until(at.loop, fake.asked == 1);
    fake.token = "t";
    release(NULL);
    http_hear(&one, "GET /sse HTTP/1.1\n");
    http_has("authorization", "Bearer t");
    http_say_events(&one, "");
    http_chunk(&one, "event: endpoint\ndata: /m?s=1\n\n");
    io_until(at.loop, at.opened == 1);
    rig_sends(ASK("1", "m"));
    http_accept(&two);
    http_hear(&two, "POST /m?s=1 HTTP/1.1\n");
    assert_string_equal(fake.signed_for, "POST /m?s=1");
    http_say(&two, "202 Accepted", "", "");
    raw_close(&one);
    raw_close(&two);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auth_is_told_which_server_it_is_for),
        cmocka_unit_test(test_auth_that_is_anothers_fails_at_once),
        cmocka_unit_test(test_auth_and_a_header_of_ones_own_do_not_go_together),
        cmocka_unit_test(test_auth_holds_a_refused_request_and_sends_it_again),
        cmocka_unit_test(test_auth_that_says_at_once_is_believed_at_once),
        cmocka_unit_test(test_auth_in_vain_is_an_error_for_the_sender),
        cmocka_unit_test(test_auth_leaves_alone_what_is_no_matter_of_its),
        cmocka_unit_test(test_auth_that_is_not_ready_holds_requests_back),
        cmocka_unit_test(test_auth_request_that_is_cancelled_while_it_waits),
        cmocka_unit_test(test_auth_link_that_closes_while_requests_wait),
        cmocka_unit_test(test_auth_link_that_is_closed_by_the_first_who_failed),
        cmocka_unit_test(test_auth_notification_in_vain_is_only_counted),
        cmocka_unit_test(test_auth_old_stream_is_asked_for_again),
    };

    return cmocka_run_group_tests_name("http client auth", tests, NULL, NULL);
}
