/*
 * test_gateway_report.c - what a gateway holds, as JSON: all of it, nothing
 * that is secret, and never too much.
 */
#include "gateway_host.h"

#include "gateway/report.h"
#include "support/ration.h"
#include "json/nav.h"

static fl_buf report;

/* Made anew; it is one JSON object. */
static fl_span make_report(const fl_gateway *gateway)
{
    fl_json_top top;

    fl_buf_init(&report, FL_REPORT_MAX);
    assert_int_equal(fl_gateway_report(gateway, &report), FL_OK);
    assert_int_equal(
        fl_json_scan(fl_buf_view(&report), FL_JSON_MAX_DEPTH, &top, NULL),
        FL_OK);
    assert_int_equal(top.type, FL_JSON_OBJECT);
    return fl_buf_view(&report);
}

static fl_span get(fl_span object, const char *key)
{
    return fl_json_get(object, fl_span_of(key));
}

static void is_number(fl_span object, const char *key, int64_t number)
{
    int64_t got = -1;

    assert_int_equal(fl_json_int64(get(object, key), &got), FL_OK);
    if (got != number)
        fail_msg("%s is %lld, not %lld", key, (long long)got,
                 (long long)number);
}

static void is_text(fl_span object, const char *key, const char *text)
{
    fl_span got = get(object, key);

    if (!fl_json_string_is(got, fl_span_of(text)))
        fail_msg("%s is %.*s, not %s", key, (int)got.len,
                 got.len > 0 ? got.ptr : "", text);
}

static void is_null(fl_span object, const char *key)
{
    assert_int_equal(fl_json_type_of(get(object, key)), FL_JSON_NULL);
}

static fl_span element(fl_span array, size_t index)
{
    fl_json_walk walk;
    fl_json_member one = {0};

    fl_json_walk_init(&walk, array);
    for (size_t i = 0; i <= index; i++)
        assert_true(fl_json_walk_next(&walk, &one));
    return one.value;
}

static size_t count(fl_span array)
{
    fl_json_walk walk;
    fl_json_member one;
    size_t n = 0;

    assert_int_equal(fl_json_type_of(array), FL_JSON_ARRAY);
    fl_json_walk_init(&walk, array);
    while (fl_json_walk_next(&walk, &one))
        n++;
    return n;
}

static fl_span first_server(void)
{
    return element(get(make_report(host.gateway), "servers"), 0);
}

static void has_not(const char *secret)
{
    fl_span all = fl_buf_view(&report);

    if (memmem(all.ptr, all.len, secret, strlen(secret)) != NULL)
        fail_msg("'%s' is in %.*s", secret, (int)all.len, all.ptr);
}

static void test_report_of_a_gateway_that_never_listened_is_whole(void **state)
{
    fl_gateway *gateway = fl_gateway_new();
    fl_span all = make_report(gateway);

    (void)state;
    is_number(all, "pid", getpid());
    is_number(all, "clients", 0);
    is_number(all, "omitted", 0);
    is_number(all, "uptime_ms", 0);
    assert_int_equal(count(get(all, "servers")), 0);
    assert_int_equal(count(get(all, "listen")), 0);
    fl_buf_reset(&report);
    fl_gateway_free(gateway);
}

static void test_report_shows_a_server_nobody_has_asked_as_idle(void **state)
{
    char url[64];

    (void)state;
    host_open(&(fl_upstream){.name = "files"});
    fl_span server = first_server();
    is_text(server, "name", "files");
    is_text(server, "kind", "tcp");
    is_text(server, "state", "idle");
    is_text(server, "mode", "auto");
    is_null(server, "era");
    is_null(server, "revision");
    assert_int_equal(count(get(server, "children")), 0);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u",
             fl_gateway_port(host.gateway));
    assert_true(fl_json_string_is(
        element(get(fl_buf_view(&report), "listen"), 0), fl_span_of(url)));
    fl_buf_reset(&report);
    host.server.fd = -1;
    host_end();
}

/* A legacy client has begun, and asked for something. */
static void begin(const fl_upstream *upstream)
{
    host_open(upstream);
    raw_say(&host.client,
            ASK("1", "initialize",
                "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
                "\"clientInfo\":{\"name\":\"cursor\",\"version\":\"1\"}"));
    host_welcome("2025-06-18", "{\"tools\":{},\"logging\":{}}");
    raw_hears_part(&host.client, "serverInfo");
    raw_say(&host.client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                          "initialized\"}");
    raw_say(&host.client, ASK("2", "tools/call", "\"name\":\"t\""));
    raw_hears_part(&host.server, "tools/call");
}

static void test_report_tells_of_a_server_at_work(void **state)
{
    (void)state;
    begin(NULL);
    host.now += 2500;
    io_turn(host.loop);
    fl_span server = first_server();
    is_text(server, "state", "ready");
    is_text(server, "era", "legacy");
    is_text(server, "revision", "2025-06-18");
    is_text(get(server, "info"), "name", "s");
    is_number(server, "clients", 1);
    is_number(server, "sessions", 1);
    is_number(server, "in_flight", 1);
    is_number(server, "restarts", 0);
    assert_int_equal(count(get(server, "capabilities")), 2);
    is_text(get(server, "health"), "breaker", "closed");
    is_number(get(server, "statistics"), "messages_in", 1);
    is_number(get(server, "statistics"), "messages_out", 3);
    is_number(get(server, "statistics"), "errors", 0);
    fl_span child = element(get(server, "children"), 0);
    is_null(child, "pid");
    is_null(child, "memory");
    is_null(child, "stderr");
    is_text(child, "state", "ready");
    is_number(child, "in_flight", 1);
    is_number(child, "age_ms", 2500);
    is_number(fl_buf_view(&report), "uptime_ms", 2500);
    is_number(fl_buf_view(&report), "clients", 1);
    fl_buf_reset(&report);
    host_end();
}

static void owner_of(fl_child_mode mode, const char *kind, const char *client)
{
    begin(&(fl_upstream){.child = mode});
    fl_span child = element(get(first_server(), "children"), 0);
    fl_span owner = get(child, "owner");
    is_text(owner, "kind", kind);
    is_number(owner, "sessions", 1);
    if (client != NULL)
        is_text(owner, "client", client);
    else
        assert_int_equal(get(owner, "client").len, 0);
    fl_buf_reset(&report);
    host_end();
}

static void test_report_tells_whose_a_conversation_is(void **state)
{
    (void)state;
    owner_of(FL_CHILD_SHARED, "shared", NULL);
    owner_of(FL_CHILD_SESSION, "session", "cursor");
    owner_of(FL_CHILD_AUTO, "user", "cursor");
}

static void add(fl_gateway *gateway, const fl_upstream *upstream)
{
    fl_error error;

    assert_int_equal(fl_gateway_add(gateway, upstream, &error), FL_OK);
}

static void add_command(fl_gateway *gateway, const char *name,
                        const char *const *argv)
{
    const char *env[] = {"API_TOKEN=environment-secret", NULL};

    add(gateway, &(fl_upstream){
                     .name = name,
                     .client.connection.child = {.argv = argv, .env = env},
                 });
}

static void test_report_has_no_secrets(void **state)
{
    const char *words[] = {"/bin/tool",
                           "--token",
                           "word-secret",
                           "--api-key=equals-secret",
                           "https://user:login-secret@example.org/",
                           "https://example.org/mcp?key=query-secret",
                           "plain",
                           NULL};
    const char *headers[] = {"Authorization: Bearer header-secret", NULL};
    fl_gateway *gateway = fl_gateway_new();

    (void)state;
    add_command(gateway, "command", words);
    add(gateway, &(fl_upstream){
                     .name = "remote",
                     .url = "https://example.org:8443/api/0123456789abcdef-"
                            "path-secret/mcp?key=query-secret",
                     .client.connection.http.headers = headers,
                 });
    fl_span servers = get(make_report(gateway), "servers");
    has_not("secret");
    is_text(element(servers, 0), "command",
            "/bin/tool --token [redacted] --api-key=[redacted] "
            "https://[redacted]@example.org/ "
            "https://example.org/mcp?[redacted] plain");
    is_text(element(servers, 0), "kind", "stdio");
    is_text(element(servers, 1), "url",
            "https://example.org:8443/api/[redacted]/mcp");
    fl_buf_reset(&report);
    fl_gateway_free(gateway);
}

static void
test_report_stays_bounded_and_counts_what_it_leaves_out(void **state)
{
    enum { SERVERS = 3000, LONG = 4000 };
    static char text[LONG + 1];
    const char *words[] = {text, text, NULL};
    fl_gateway *gateway = fl_gateway_new();
    int64_t omitted;
    char name[16];

    (void)state;
    memset(text, '\x01', LONG); /* each is six bytes of JSON */
    for (int i = 0; i < SERVERS; i++) {
        snprintf(name, sizeof name, "s%d", i);
        add_command(gateway, name, words);
    }
    fl_span all = make_report(gateway);
    assert_in_range(all.len, FL_REPORT_MAX / 2, FL_REPORT_MAX);
    assert_int_equal(fl_json_int64(get(all, "omitted"), &omitted), FL_OK);
    assert_true(omitted > 0);
    assert_int_equal(count(get(all, "servers")) + (size_t)omitted, SERVERS);
    fl_buf_reset(&report);
    fl_gateway_free(gateway);
}

static void test_report_item_is_smaller_than_its_bound(void **state)
{
    enum { LONG = 900 };
    static char text[LONG + 1];
    const char *words[] = {text, NULL};
    fl_gateway *gateway = fl_gateway_new();

    (void)state;
    memset(text, '\x01', LONG);
    add_command(gateway, NULL, words);
    assert_in_range(make_report(gateway).len, 1000, FL_REPORT_ITEM);
    fl_buf_reset(&report);
    fl_gateway_free(gateway);
}

static void test_report_survives_every_failed_allocation(void **state)
{
    size_t refusals = 0;

    (void)state;
    begin(NULL);
    for (bool refused = true; refused; refusals++) {
        ration_reset();
        fl_buf_init(&report, FL_REPORT_MAX);
        ptrdiff_t before = ration_live_blocks();
        ration_fail_at(refusals + 1);
        fl_status rc = fl_gateway_report(host.gateway, &report);
        refused = ration_refused();
        assert_true(rc == FL_OK || (refused && rc == FL_E_NOMEM));
        fl_buf_reset(&report);
        assert_int_equal(ration_live_blocks(), before);
    }
    ration_reset();
    assert_true(refusals > 3);
    host_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_of_a_gateway_that_never_listened_is_whole),
        cmocka_unit_test(test_report_shows_a_server_nobody_has_asked_as_idle),
        cmocka_unit_test(test_report_tells_of_a_server_at_work),
        cmocka_unit_test(test_report_tells_whose_a_conversation_is),
        cmocka_unit_test(test_report_has_no_secrets),
        cmocka_unit_test(
            test_report_stays_bounded_and_counts_what_it_leaves_out),
        cmocka_unit_test(test_report_item_is_smaller_than_its_bound),
        cmocka_unit_test(test_report_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
