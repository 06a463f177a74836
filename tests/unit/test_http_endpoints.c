/*
 * test_http_endpoints.c - one listener, several endpoints: each request finds
 * its own, by every way of HTTP, and no session is known at another.
 *
 * Every link here answers with the number of its endpoint.
 */
#include "ws_host.h"

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static ws_host host;
static http_answer answer;
static raw_peer poster;
static fl_error error;

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    char text[128];
    int n = snprintf(text, sizeof text,
                     ",\"result\":{\"protocolVersion\":\"2025-06-18\","
                     "\"at\":%u}}",
                     link->endpoint);
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), msg->id, {text, (size_t)n}};

    if (msg->kind == FL_MSG_REQUEST)
        assert_int_equal(fl_reply_end(reply, parts, 3), FL_OK);
}

static const fl_link_events counting = {
    .on_message = on_message,
    .on_closed = ws_on_closed,
};

static void on_link(fl_listener *listener, fl_link *link, void *user)
{
    ws_on_link(listener, link, user);
    link->events = &counting;
}

static const fl_listener_events events = {
    .on_link = on_link,
    .on_closed = ws_on_finished,
};

static void begin_at(const char *url, const fl_options *options)
{
    ws_begin(&host, url, options);
    host.listener->events = &events;
    assert_int_equal(fl_listener_serve(host.listener, "/servers/a", 1, &error),
                     FL_OK);
    assert_int_equal(fl_listener_serve(host.listener, "/servers/b", 2, &error),
                     FL_OK);
    poster.fd = -1;
}

static int begin(void **state)
{
    (void)state;
    begin_at("http://127.0.0.1:0/mcp", NULL);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    if (poster.fd >= 0)
        raw_close(&poster);
    ws_end(&host);
    return 0;
}

static void post(const char *path, const char *fields, const char *body,
                 int status, const char *part)
{
    char all[1024];

    snprintf(all, sizeof all, HTTP_POST_FIELDS "%s", fields);
    http_send(&host.peer, "POST", path, all, body);
    http_hear(&host.peer, &answer);
    if (answer.status != status || strstr(answer.body, part) == NULL)
        fail_msg("%s: want %d with '%s', got %d: %s", path, status, part,
                 answer.status, answer.body);
}

static void open_session(const char *path, const char *at, char fields[128])
{
    post(path, "", INITIALIZE("0", "2025-06-18"), 200, at);
    snprintf(fields, 128, "Mcp-Session-Id: %.64s\r\n",
             http_field(&answer, "mcp-session-id"));
}

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define MODERN                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"                        \
    "list\",\"params\":{" HTTP_META("") "}}"

static void test_each_path_leads_to_its_endpoint(void **state)
{
    const char *fields = HTTP_MODERN("tools/list");

    (void)state;
    post("/mcp", fields, MODERN, 200, "\"at\":0");
    post("/servers/a/mcp", fields, MODERN, 200, "\"at\":1");
    post("/servers/b/mcp?x=1", fields, MODERN, 200, "\"at\":2");
    post("/servers/a/mcp", fields, MODERN, 200, "\"at\":1");
    assert_int_equal(host.opened, 3); /* a link each, and no more */
}

static void test_links_of_a_connection_go_with_it(void **state)
{
    const char *fields = HTTP_MODERN("tools/list");

    (void)state;
    post("/servers/a/mcp", fields, MODERN, 200, "\"at\":1");
    post("/servers/b/mcp", fields, MODERN, 200, "\"at\":2");
    raw_close(&host.peer);
    io_until(host.loop, host.closed == 2);
}

static void test_a_link_that_closes_leaves_the_others(void **state)
{
    const char *fields = HTTP_MODERN("tools/list");

    (void)state;
    post("/servers/a/mcp", fields, MODERN, 200, "\"at\":1");
    fl_link *first = host.link;
    post("/servers/b/mcp", fields, MODERN, 200, "\"at\":2");
    fl_link_close(first);
    io_until(host.loop, host.closed == 1);
    post("/servers/b/mcp", fields, MODERN, 200, "\"at\":2");
    assert_int_equal(host.opened, 2);
    post("/servers/a/mcp", fields, MODERN, 200, "\"at\":1");
    assert_int_equal(host.opened, 3);
}

static void test_other_paths_are_nowhere(void **state)
{
    static const char *const paths[] = {
        "/servers/c/mcp",     "/servers/a",      "/servers/a/",
        "/servers/a/mcp/",    "/servers/a/mcpx", "/servers//mcp",
        "/mcp/servers/a/mcp", "/servers",
    };

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        post(paths[i], "", PING, 404, "nothing is served");
}

static void test_sessions_are_unknown_at_other_endpoints(void **state)
{
    char a[128], main[128];

    (void)state;
    open_session("/servers/a/mcp", "\"at\":1", a);
    open_session("/mcp", "\"at\":0", main);
    post("/servers/a/mcp", a, PING, 200, "\"at\":1");
    post("/servers/b/mcp", a, PING, 404,
         "-32001,\"message\":\"Session not found");
    post("/mcp", a, PING, 404, "-32001,\"message\":\"Session not found");
    post("/servers/a/mcp", main, PING, 404,
         "-32001,\"message\":\"Session not found");
    post("/mcp", main, PING, 200, "\"at\":0");
}

static void test_sessions_are_ended_at_their_own_only(void **state)
{
    char fields[128];

    (void)state;
    open_session("/servers/a/mcp", "\"at\":1", fields);
    http_send(&host.peer, "DELETE", "/servers/b/mcp", fields, "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    http_get(&host.peer, "/servers/b/mcp", fields);
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    post("/servers/a/mcp", fields, PING, 200, "\"at\":1");
    http_send(&host.peer, "DELETE", "/servers/a/mcp", fields, "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 204);
}

/* What the client is told to post to. */
static const char *open_stream(const char *path)
{
    static char target[128];
    static const char start[] = "event: endpoint\ndata: ";

    http_get(&host.peer, path, "");
    http_hear_head(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    const char *event = http_hear_event(&host.peer, &answer);
    assert_int_equal(strncmp(event, start, sizeof start - 1), 0);
    event += sizeof start - 1;
    snprintf(target, sizeof target, "%.*s", (int)strcspn(event, "\n"), event);
    return target;
}

static void test_event_streams_have_their_own_place_to_post(void **state)
{
    static http_answer said;
    char other[160];

    (void)state;
    const char *target = open_stream("/servers/b/sse");
    assert_int_equal(strncmp(target, "/servers/b/messages?sessionId=", 30), 0);
    ws_dial(&host, &poster);
    http_send(&poster, "POST", target, HTTP_POST_FIELDS, PING);
    http_hear(&poster, &said);
    assert_int_equal(said.status, 202);
    assert_non_null(strstr(http_hear_event(&host.peer, &answer), "\"at\":2"));
    snprintf(other, sizeof other, "/servers/a%s", target + 10);
    http_send(&poster, "POST", other, HTTP_POST_FIELDS, PING);
    http_hear(&poster, &said);
    assert_int_equal(said.status, 404);
    http_send(&poster, "POST", target + 10, HTTP_POST_FIELDS, PING);
    http_hear(&poster, &said);
    assert_int_equal(said.status, 404);
}

static void test_a_get_at_an_endpoint_opens_its_stream(void **state)
{
    (void)state;
    assert_int_equal(strncmp(open_stream("/servers/a/mcp"),
                             "/servers/a/messages?sessionId=", 30),
                     0);
    assert_int_equal(host.link->endpoint, 1);
}

static void test_sockets_have_their_endpoint(void **state)
{
    (void)state;
    assert_int_equal(ws_ask(&host.peer, "/servers/b/mcp", WS_UPGRADE, &answer),
                     101);
    assert_int_equal(host.link->endpoint, 2);
    ws_dial(&host, &poster);
    assert_int_equal(ws_ask(&poster, "/servers/a/ws", WS_UPGRADE, &answer),
                     101);
    assert_int_equal(host.link->endpoint, 1);
}

static void test_what_is_off_is_off_everywhere(void **state)
{
    fl_options options = {.http.no_sse = true, .ws.off = true};

    (void)state;
    ws_end(&host);
    begin_at("http://127.0.0.1:0/mcp", &options);
    http_get(&host.peer, "/servers/a/sse", "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    http_get(&host.peer, "/servers/a/ws", "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
}

static void test_an_endpoint_can_be_taken_away(void **state)
{
    char fields[128];

    (void)state;
    open_session("/servers/a/mcp", "\"at\":1", fields);
    assert_int_equal(fl_listener_serve(host.listener, "/servers/a", 0, &error),
                     FL_OK);
    post("/servers/a/mcp", fields, PING, 404, "nothing is served");
    assert_int_equal(host.closed, 0); /* its link lives on */
    post("/servers/b/mcp", HTTP_MODERN("tools/list"), MODERN, 200, "\"at\":2");
}

static void test_bases_are_checked(void **state)
{
    (void)state;
    assert_int_equal(fl_listener_serve(host.listener, "/servers/a", 3, &error),
                     FL_E_IN_USE);
    assert_non_null(strstr(error.text, "/servers/a is served already"));
    assert_int_equal(fl_listener_serve(host.listener, "no path", 3, &error),
                     FL_E_INVALID);
    assert_int_equal(fl_listener_serve(host.listener, "/a b", 3, &error),
                     FL_E_INVALID);
}

static void test_lines_have_no_paths(void **state)
{
    (void)state;
    ws_end(&host);
    ws_begin(&host, "tcp://127.0.0.1:0", NULL);
    assert_int_equal(fl_listener_serve(host.listener, "/servers/a", 1, &error),
                     FL_E_UNSUPPORTED);
}

static void test_health_is_asked_for_at_its_path(void **state)
{
    fl_options options = {.http.health_path = "/healthz"};

    (void)state;
    http_get(&host.peer, "/healthz", "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    ws_end(&host);
    begin_at("http://127.0.0.1:0/mcp", &options);
    http_get(&host.peer, "/healthz", "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "{\"status\":\"ok\"}");
    post("/healthz", "", PING, 405, "GET");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_each_path_leads_to_its_endpoint),
        RUN(test_links_of_a_connection_go_with_it),
        RUN(test_a_link_that_closes_leaves_the_others),
        RUN(test_other_paths_are_nowhere),
        RUN(test_sessions_are_unknown_at_other_endpoints),
        RUN(test_sessions_are_ended_at_their_own_only),
        RUN(test_event_streams_have_their_own_place_to_post),
        RUN(test_a_get_at_an_endpoint_opens_its_stream),
        RUN(test_sockets_have_their_endpoint),
        RUN(test_what_is_off_is_off_everywhere),
        RUN(test_an_endpoint_can_be_taken_away),
        RUN(test_bases_are_checked),
        RUN(test_lines_have_no_paths),
        RUN(test_health_is_asked_for_at_its_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
