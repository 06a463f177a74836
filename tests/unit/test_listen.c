/*
 * test_listen.c - subscriptions/listen: how it begins, what it tells, and the
 * ways in which it ends.
 */
#include "fake_door.h"
#include "lists.h"

#include "server/listen.h"
#include "server/watch.h"
#include "support/ration.h"

static server_host host;
static fake_door door;

#define TOOLS "{\"toolsListChanged\":true}"

#define GONE(id)                                                               \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{" \
    "\"requestId\":" id ",\"reason\":\"the subscription has ended\"}}"

static void add_tool(const char *name)
{
    assert_int_equal(
        fl_server_add_tool(host.server,
                           &(fl_tool){.name = name, .call = tool_echo}),
        FL_OK);
}

static void test_listen_is_acknowledged_and_told(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, LISTEN("1", TOOLS), WELCOME("1"));
    raw_hears_nothing(&host.peer);
    add_tool("new");
    raw_hears(&host.peer, CHANGED("1"));
    add_tool("newer");
    raw_hears(&host.peer, CHANGED("1"));
    host_end(&host);
}

static void test_listen_hears_only_what_it_asked_for(void **state)
{
    const char *nothing =
        TOLD("1", "subscriptions/acknowledged", ",\"notifications\":{}");

    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, LISTEN("1", "{}"), nothing);
    raw_asks(
        &host.peer, LISTEN("\"a\"", "{\"toolsListChanged\":false}"),
        TOLD("\"a\"", "subscriptions/acknowledged", ",\"notifications\":{}"));
    raw_asks(&host.peer,
             LISTEN("2", "{\"promptsListChanged\":true,"
                         "\"resourcesListChanged\":true,"
                         "\"resourceSubscriptions\":[\"file:///x\"],"
                         "\"unheardOf\":7}"),
             TOLD("2", "subscriptions/acknowledged", ",\"notifications\":{}"));
    add_tool("new");
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_listen_promises_no_tools_where_there_are_none(void **state)
{
    (void)state;
    host_begin_bare(&host);
    host_listen(&host, NULL);
    raw_asks(&host.peer, LISTEN("1", TOOLS),
             TOLD("1", "subscriptions/acknowledged", ",\"notifications\":{}"));
    host_end(&host);
}

static void test_listen_goes_with_a_session_of_the_other_era(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(&host.peer, LISTEN("1", TOOLS), WELCOME("1"));
    add_tool("new");
    raw_hears(&host.peer, CHANGED("1"));
    raw_hears(&host.peer, "{\"jsonrpc\":\"2.0\",\"method\":"
                          "\"notifications/tools/list_changed\"}");
    host_end(&host);
}

static void test_listen_refuses_a_filter_that_is_wrong(void **state)
{
    static const struct {
        const char *filter;
        const char *what;
    } wrong[] = {
        {"", "params.notifications must be an object"},
        {",\"notifications\":[]", "params.notifications must be an object"},
        {",\"notifications\":{\"toolsListChanged\":1}", "true or false"},
        {",\"notifications\":{\"promptsListChanged\":null}", "true or false"},
        {",\"notifications\":{\"resourceSubscriptions\":\"file:///x\"}",
         "resourceSubscriptions must be a list"},
        {",\"notifications\":{\"resourceSubscriptions\":[\"doc:1\",1]}",
         "resourceSubscriptions must be a list of strings"},
    };
    char line[512];

    (void)state;
    host_begin_with(&host, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, MODERN("1", "subscriptions/listen", "%s"),
                 wrong[i].filter);
        raw_say(&host.peer, line);
        raw_hears_part(&host.peer, wrong[i].what);
    }
    raw_asks(&host.peer, LISTEN("1", TOOLS), WELCOME("1"));
    host_end(&host);
}

static void test_listen_takes_its_id(void **state)
{
    const char *refusal =
        ERROR_ANSWER("1", "-32600", "\"a request with this id is in flight\"");

    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, LISTEN("1", TOOLS), WELCOME("1"));
    raw_asks(&host.peer, LISTEN("1", TOOLS), refusal);
    raw_asks(&host.peer, MODERN_CALL("1", "echo", "{\"text\":\"a\"}"), refusal);
    raw_asks(&host.peer, MODERN_CALL("\"1\"", "echo", "{\"text\":\"a\"}"),
             MODERN_TEXT("\"1\"", "a"));
    host_end(&host);
}

static void test_listen_ends_when_it_is_cancelled(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, LISTEN("1", TOOLS), WELCOME("1"));
    raw_asks(&host.peer, LISTEN("2", TOOLS), WELCOME("2"));
    raw_say(&host.peer, CANCELLED("1"));
    raw_say(&host.peer, CANCELLED("9"));
    raw_hears_nothing(&host.peer);
    add_tool("new");
    raw_hears(&host.peer, CHANGED("2"));
    raw_hears_nothing(&host.peer);
    raw_asks(&host.peer, LISTEN("1", TOOLS), WELCOME("1")); /* free again */
    host_end(&host);
}

static void test_listen_ends_with_the_server(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, LISTEN("\"a\"", TOOLS), WELCOME("\"a\""));
    raw_asks(&host.peer, LISTEN("2", "{}"),
             TOLD("2", "subscriptions/acknowledged", ",\"notifications\":{}"));
    fl_server_close(host.server, 0, host_closed, &host);
    raw_hears(&host.peer, GOODBYE("\"a\""));
    raw_hears(&host.peer, GONE("\"a\""));
    raw_hears(&host.peer, GOODBYE("2"));
    raw_hears(&host.peer, GONE("2"));
    raw_hears_end(&host.peer);
    host_end(&host);
}

static void test_listen_does_not_hold_the_closing_up(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, LISTEN("1", TOOLS), WELCOME("1"));
    fl_server_close(host.server, 3600000, host_closed, &host);
    raw_hears(&host.peer, GOODBYE("1"));
    host_end(&host);
}

static void test_listen_does_not_hold_a_link_whose_client_is_done(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_say(&host.peer, LISTEN("1", TOOLS));
    raw_hears_part(&host.peer, "acknowledged");
    raw_finish(&host.peer);
    /* at once, without the clock having moved: nothing is under way */
    io_until(host.loop, fl_server_links(host.server) == 0);
    host_end(&host);
}

static void test_listen_keeps_its_link_from_being_idle(void **state)
{
    fl_options options = {.idle_timeout_ms = 5000};

    (void)state;
    host_begin_with(&host, &options);
    raw_asks(&host.peer, LISTEN("1", TOOLS), WELCOME("1"));
    for (int i = 0; i < 20; i++) {
        host.now += 1000;
        io_turn(host.loop);
    }
    raw_hears_nothing(&host.peer);
    raw_say(&host.peer, CANCELLED("1"));
    raw_hears_nothing(&host.peer);
    io_until(host.loop,
             (host.now += 1000, raw_read(&host.peer), host.peer.ended));
    host_end(&host);
}

static void test_listen_goes_with_its_link(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, LISTEN("1", TOOLS), WELCOME("1"));
    raw_close(&host.peer);
    io_until(host.loop, (host.now += 1000, fl_server_links(host.server) == 0));
    add_tool("new");
    host_end(&host);
}

static void fill(raw_peer *peer, unsigned count)
{
    char line[512], want[512];

    for (unsigned i = 1; i <= count; i++) {
        snprintf(line, sizeof line, LISTEN("%u", TOOLS), i);
        snprintf(want, sizeof want, WELCOME("%u"), i);
        raw_asks(peer, line, want);
    }
}

static void test_listen_has_a_limit_on_each_link(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    fill(&host.peer, FL_LISTEN_MAX);
    raw_asks(&host.peer, LISTEN("\"x\"", TOOLS),
             ERROR_ANSWER("\"x\"", "-32603",
                          "\"too many subscriptions\",\"data\":{\"limit\":64"
                          "}"));
    raw_say(&host.peer, CANCELLED("64"));
    raw_asks(&host.peer, LISTEN("\"x\"", TOOLS), WELCOME("\"x\""));
    host_end(&host);
}

static void begin_fake(unsigned max_in_flight)
{
    fake_begin(&door, &host, FL_LINK_STATELESS, max_in_flight);
    fake_set(&door, "mcp-protocol-version", "2026-07-28");
    fake_set(&door, "mcp-method", "subscriptions/listen");
}

static void test_listen_is_bounded_where_many_share_a_link(void **state)
{
    static fake_stream streams[3];

    (void)state;
    begin_fake(2);
    fake_ask(&door, &streams[0], LISTEN("1", TOOLS));
    fake_ask(&door, &streams[1], LISTEN("1", TOOLS));
    fake_asks_part(&door, LISTEN("1", TOOLS), -32010, "\"limit\":2");
    fake_hang_up(&door, &streams[0]);
    fake_ask(&door, &streams[2], LISTEN("1", TOOLS));
    assert_string_equal(streams[2].text, WELCOME("1") "\n");
    fake_end(&door, &host);
}

static void test_listen_ends_when_the_client_hangs_up(void **state)
{
    static fake_stream first, second;

    (void)state;
    begin_fake(4);
    fake_ask(&door, &first, LISTEN("1", TOOLS));
    fake_ask(&door, &second, LISTEN("1", TOOLS));
    fake_hang_up(&door, &first);
    assert_int_equal(first.ended, 1);
    assert_int_equal(door.link.holds, 1);
    add_tool("new");
    assert_string_equal(first.text, WELCOME("1") "\n");
    assert_string_equal(second.text, WELCOME("1") "\n" CHANGED("1") "\n");
    assert_int_equal(second.ended, 0);
    fake_end(&door, &host);
    assert_int_equal(second.ended, 0); /* it went with its link */
    assert_int_equal(door.link.holds, 0);
}

static void test_listen_ends_a_stream_with_its_result_alone(void **state)
{
    static fake_stream stream;

    (void)state;
    begin_fake(4);
    fake_ask(&door, &stream, LISTEN("1", "{}"));
    fl_session_shut(door.link.user);
    assert_string_equal(stream.text,
                        TOLD("1", "subscriptions/acknowledged",
                             ",\"notifications\":{}") "\n" GOODBYE("1") "\n");
    assert_int_equal(stream.ended, 1);
    assert_int_equal(stream.code, 0);
    fake_end(&door, &host);
}

static void test_listen_owes_what_there_was_no_room_for(void **state)
{
    static fake_stream stream;

    (void)state;
    begin_fake(4);
    door.busy = true;
    fake_ask(&door, &stream, LISTEN("1", TOOLS));
    add_tool("new");
    add_tool("newer");
    assert_string_equal(stream.text, "");
    door.busy = false;
    door.link.events->on_writable(&door.link);
    assert_string_equal(stream.text, WELCOME("1") "\n" CHANGED("1") "\n");
    door.link.events->on_writable(&door.link);
    assert_string_equal(stream.text, WELCOME("1") "\n" CHANGED("1") "\n");
    fake_end(&door, &host);
}

#define WATCHED(id, uris)                                                      \
    TOLD(id, "subscriptions/acknowledged",                                     \
         ",\"notifications\":{\"resourceSubscriptions\":[" uris "]}")
#define UPDATED(id, uri) TOLD(id, "resources/updated", ",\"uri\":\"" uri "\"")
#define WATCH(id, uris) LISTEN(id, "{\"resourceSubscriptions\":[" uris "]}")

static void begin_resources(void)
{
    host_begin_with(&host, NULL);
    add_resource(host.server, "doc:1");
    add_resource(host.server, "doc:\"2\"");
    add_template(host.server, "log:{day}");
}

static void test_listen_hears_of_resources(void **state)
{
    (void)state;
    begin_resources();
    raw_asks(&host.peer,
             WATCH("1", "\"doc:1\",\"gone:1\",\"log:\\u0061\",\"doc:1\""),
             WATCHED("1", "\"doc:1\",\"log:a\""));
    raw_asks(&host.peer, WATCH("\"b\"", "\"doc:\\\"2\\\"\""),
             WATCHED("\"b\"", "\"doc:\\\"2\\\"\""));
    fl_server_resource_updated(host.server, "log:a");
    raw_hears(&host.peer, UPDATED("1", "log:a"));
    fl_server_resource_updated(host.server, "doc:\"2\"");
    raw_hears(&host.peer, UPDATED("\"b\"", "doc:\\\"2\\\""));
    fl_server_resource_updated(host.server, "gone:1");
    fl_server_resource_updated(host.server, "log:b");
    raw_hears_nothing(&host.peer);
    raw_say(&host.peer, CANCELLED("1"));
    raw_hears_nothing(&host.peer);
    fl_server_resource_updated(host.server, "doc:1");
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_listen_to_both_lists_and_resources(void **state)
{
    (void)state;
    begin_resources();
    raw_asks(&host.peer,
             LISTEN("1", "{\"resourceSubscriptions\":[\"doc:1\"],"
                         "\"resourcesListChanged\":true}"),
             TOLD("1", "subscriptions/acknowledged",
                  ",\"notifications\":{\"resourcesListChanged\":true,"
                  "\"resourceSubscriptions\":[\"doc:1\"]}"));
    add_resource(host.server, "doc:3");
    raw_hears(&host.peer, TOLD("1", "resources/list_changed", ""));
    fl_server_resource_updated(host.server, "doc:1");
    raw_hears(&host.peer, UPDATED("1", "doc:1"));
    host_end(&host);
}

/* `count` URIs of a template, and whether they are taken. */
static void check_many(int count, const char *part)
{
    static char line[64 * (FL_WATCH_MAX + 8)];
    size_t at = (size_t)snprintf(line, sizeof line, "%s",
                                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                                 "\"subscriptions/listen\",\"params\":{" META
                                 ",\"notifications\":{"
                                 "\"resourceSubscriptions\":[");

    for (int i = 0; i < count; i++)
        at += (size_t)snprintf(line + at, sizeof line - at, "%s\"log:%d\"",
                               i > 0 ? "," : "", i);
    snprintf(line + at, sizeof line - at, "]}}}");
    raw_say(&host.peer, line);
    raw_hears_part(&host.peer, part);
}

static void test_listen_to_resources_has_a_limit(void **state)
{
    (void)state;
    begin_resources();
    check_many(FL_WATCH_MAX + 1, "\"code\":-32602,\"message\":"
                                 "\"resourceSubscriptions must not have more "
                                 "than 1024 elements\"");
    check_many(FL_WATCH_MAX, "\"log:1023\"]");
    fl_server_resource_updated(host.server, "log:1023");
    raw_hears(&host.peer, UPDATED("1", "log:1023"));
    host_end(&host);
}

static void test_listen_counts_what_it_remembers(void **state)
{
    static fake_stream stream, second;

    (void)state;
    begin_fake(4);
    add_resource(host.server, "doc:1");
    fl_session *session = door.link.user;
    fake_ask(&door, &stream, WATCH("1", "\"doc:1\""));
    assert_int_equal(session->kept, strlen("[\"doc:1\"]"));
    session->kept += FL_SESSION_KEPT_MAX - 2 * 9;
    fake_ask(&door, &second, WATCH("2", "\"doc:1\"")); /* to the brim */
    assert_int_equal(second.ended, 0);
    fake_asks_part(&door, WATCH("3", "\"doc:1\""), -32010,
                   "the requests in flight are too large together");
    session->kept -= FL_SESSION_KEPT_MAX - 2 * 9;
    fake_hang_up(&door, &second);
    fake_hang_up(&door, &stream);
    assert_int_equal(session->kept, 0);
    fake_end(&door, &host);
}

static void test_listen_owes_each_resource_one_word(void **state)
{
    static fake_stream stream;

    (void)state;
    begin_fake(4);
    add_resource(host.server, "doc:1");
    add_resource(host.server, "doc:2");
    door.busy = true;
    fake_ask(&door, &stream, WATCH("1", "\"doc:1\",\"doc:2\""));
    fl_server_resource_updated(host.server, "doc:2");
    fl_server_resource_updated(host.server, "doc:2");
    door.busy = false;
    door.link.events->on_writable(&door.link);
    door.link.events->on_writable(&door.link);
    assert_string_equal(
        stream.text,
        WATCHED("1", "\"doc:1\",\"doc:2\"") "\n" UPDATED("1", "doc:2") "\n");
    fake_end(&door, &host);
}

static void test_listen_to_resources_needs_memory(void **state)
{
    size_t n = 0;
    bool refused;

    (void)state;
    begin_fake(4);
    add_template(host.server, "log:{day}");
    fl_session *session = door.link.user;
    do {
        fake_stream stream;
        assert_true(n < 100);
        ration_reset();
        ration_fail_at(++n);
        fake_ask(&door, &stream, WATCH("1", "\"log:a-long-one-0123456789\""));
        refused = ration_refused();
        ration_reset();
        if (refused && stream.ended == 0) { /* only the word is late */
            door.link.events->on_writable(&door.link);
            assert_non_null(strstr(stream.text, "log:a-long-one"));
        } else if (refused) {
            assert_non_null(strstr(stream.text, "out of memory"));
            assert_null(session->listens);
            assert_int_equal(session->kept, 0);
        }
        if (stream.ended == 0)
            fake_hang_up(&door, &stream);
    } while (refused);
    assert_true(n > 4);
    fake_end(&door, &host);
}

static void test_listen_says_when_there_is_no_memory(void **state)
{
    (void)state;
    begin_fake(4);
    ration_reset();
    ration_fail_at(1);
    fake_asks(&door, LISTEN("1", TOOLS), 0,
              ERROR_ANSWER("1", "-32603", "\"out of memory\""));
    ration_reset();
    fake_end(&door, &host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listen_is_acknowledged_and_told),
        cmocka_unit_test(test_listen_hears_only_what_it_asked_for),
        cmocka_unit_test(test_listen_promises_no_tools_where_there_are_none),
        cmocka_unit_test(test_listen_goes_with_a_session_of_the_other_era),
        cmocka_unit_test(test_listen_refuses_a_filter_that_is_wrong),
        cmocka_unit_test(test_listen_takes_its_id),
        cmocka_unit_test(test_listen_ends_when_it_is_cancelled),
        cmocka_unit_test(test_listen_ends_with_the_server),
        cmocka_unit_test(test_listen_does_not_hold_the_closing_up),
        cmocka_unit_test(test_listen_does_not_hold_a_link_whose_client_is_done),
        cmocka_unit_test(test_listen_keeps_its_link_from_being_idle),
        cmocka_unit_test(test_listen_goes_with_its_link),
        cmocka_unit_test(test_listen_has_a_limit_on_each_link),
        cmocka_unit_test(test_listen_is_bounded_where_many_share_a_link),
        cmocka_unit_test(test_listen_ends_when_the_client_hangs_up),
        cmocka_unit_test(test_listen_ends_a_stream_with_its_result_alone),
        cmocka_unit_test(test_listen_owes_what_there_was_no_room_for),
        cmocka_unit_test(test_listen_hears_of_resources),
        cmocka_unit_test(test_listen_to_both_lists_and_resources),
        cmocka_unit_test(test_listen_to_resources_has_a_limit),
        cmocka_unit_test(test_listen_counts_what_it_remembers),
        cmocka_unit_test(test_listen_owes_each_resource_one_word),
        cmocka_unit_test(test_listen_to_resources_needs_memory),
        cmocka_unit_test(test_listen_says_when_there_is_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
