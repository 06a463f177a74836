/*
 * test_watch.c - resources/subscribe of the legacy era, from the request to
 * the word that something has changed.
 */
#include "fake_door.h"
#include "http_host.h"
#include "lists.h"

#include "server/watch.h"
#include "support/ration.h"

static server_host host;
static fake_door door;
static raw_peer other;

#define SUBSCRIBE(id, uri)                                                     \
    ASK(id, "resources/subscribe", "{\"uri\":\"" uri "\"}")
#define UNSUBSCRIBE(id, uri)                                                   \
    ASK(id, "resources/unsubscribe", "{\"uri\":\"" uri "\"}")
#define UPDATED(uri)                                                           \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","     \
    "\"params\":{\"uri\":\"" uri "\"}}"

static void add_resources(void)
{
    add_resource(host.server, "doc:1");
    add_resource(host.server, "doc:2");
    add_template(host.server, "log:{day}");
}

static void begin(const char *revision)
{
    host_begin_bare(&host);
    add_resources();
    lists_begin(&host, revision);
}

static void update(const char *uri)
{
    fl_server_resource_updated(host.server, uri);
}

static void test_watch_hears_of_what_it_subscribed_to(void **state)
{
    (void)state;
    begin("2025-11-25");
    update("doc:1");
    raw_asks(&host.peer, SUBSCRIBE("1", "doc:1"), RESULT("1", "{}"));
    raw_asks(&host.peer, SUBSCRIBE("2", "log:\\u006donday"), RESULT("2", "{}"));
    raw_hears_nothing(&host.peer);
    update("doc:1");
    raw_hears(&host.peer, UPDATED("doc:1"));
    update("log:monday");
    raw_hears(&host.peer, UPDATED("log:monday"));
    update("doc:2");
    update("log:tuesday");
    update("");
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_watch_twice_is_once(void **state)
{
    (void)state;
    begin("2024-11-05");
    raw_asks(&host.peer, SUBSCRIBE("1", "doc:1"), RESULT("1", "{}"));
    raw_asks(&host.peer, SUBSCRIBE("2", "doc:1"), RESULT("2", "{}"));
    update("doc:1");
    raw_hears(&host.peer, UPDATED("doc:1"));
    raw_hears_nothing(&host.peer);
    raw_asks(&host.peer, UNSUBSCRIBE("3", "doc:1"), RESULT("3", "{}"));
    raw_asks(&host.peer, UNSUBSCRIBE("4", "doc:1"), RESULT("4", "{}"));
    update("doc:1");
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_watch_is_of_one_client(void **state)
{
    (void)state;
    begin("2025-11-25");
    host_dial(&host, &other);
    host_greet(&other, "2025-06-18");
    raw_asks(&host.peer, SUBSCRIBE("1", "doc:1"), RESULT("1", "{}"));
    raw_asks(&other, SUBSCRIBE("1", "doc:2"), RESULT("1", "{}"));
    update("doc:1");
    update("doc:2");
    raw_hears(&host.peer, UPDATED("doc:1"));
    raw_hears(&other, UPDATED("doc:2"));
    raw_hears_nothing(&host.peer);
    raw_hears_nothing(&other);
    raw_close(&other);
    io_until(host.loop, (host.now += 1000, fl_server_links(host.server) == 1));
    update("doc:2");
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_watch_refuses_what_cannot_be_read(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_asks(&host.peer, SUBSCRIBE("1", "gone:1"),
             ERROR_ANSWER("1", "-32002",
                          "\"resource not found\",\"data\":{\"uri\":\"gone:1"
                          "\"}"));
    raw_asks(&host.peer, ASK("2", "resources/subscribe", "{}"),
             ERROR_ANSWER("2", "-32602", "\"params.uri must be a string\""));
    raw_asks(&host.peer, ASK("3", "resources/unsubscribe", "{\"uri\":[]}"),
             ERROR_ANSWER("3", "-32602", "\"params.uri must be a string\""));
    /* nothing was subscribed to, and that is no error */
    raw_asks(&host.peer, UNSUBSCRIBE("4", "gone:1"), RESULT("4", "{}"));
    update("gone:1");
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_watch_is_not_of_the_modern_era(void **state)
{
    (void)state;
    begin(NULL);
    raw_say(&host.peer,
            MODERN("1", "resources/subscribe", ",\"uri\":\"doc:1\""));
    raw_hears_part(&host.peer, "-32601");
    host_end(&host);
}

static void test_watch_has_a_limit(void **state)
{
    char line[256], want[256];

    (void)state;
    begin("2025-11-25");
    for (int i = 0; i < FL_WATCH_MAX; i++) {
        snprintf(line, sizeof line, SUBSCRIBE("1", "log:%d"), i);
        raw_asks(&host.peer, line, RESULT("1", "{}"));
    }
    snprintf(want, sizeof want,
             ERROR_ANSWER("2", "-32010",
                          "\"too many resources subscribed to\",\"data\":{"
                          "\"limit\":%d}"),
             FL_WATCH_MAX);
    raw_asks(&host.peer, SUBSCRIBE("2", "doc:1"), want);
    /* one that is there already is no more */
    raw_asks(&host.peer, SUBSCRIBE("3", "log:0"), RESULT("3", "{}"));
    raw_asks(&host.peer, UNSUBSCRIBE("4", "log:7"), RESULT("4", "{}"));
    raw_asks(&host.peer, SUBSCRIBE("5", "doc:1"), RESULT("5", "{}"));
    update("log:7");
    update("doc:1");
    raw_hears(&host.peer, UPDATED("doc:1"));
    host_end(&host);
}

/* A link whose room the test decides on. */
static struct {
    char text[FAKE_ROOM];
    int room; /* messages it takes */
} wire;

static fl_status wire_send(fl_link *link, void *stream, const fl_span *parts,
                           size_t count)
{
    size_t at = strlen(wire.text);

    (void)link;
    assert_null(stream);
    if (wire.room == 0)
        return FL_BUSY;
    wire.room--;
    assert_true(at + fl_span_total(parts, count) + 2 < FAKE_ROOM);
    for (size_t i = 0; i < count; i++) {
        memcpy(wire.text + at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    memcpy(wire.text + at, "\n", 2);
    return FL_OK;
}

static fl_transport wire_transport;

static void begin_wire(unsigned traits)
{
    fake_begin(&door, &host, traits, 8);
    add_resources();
    wire_transport = fake_transport;
    wire_transport.send = wire_send;
    door.link.transport = &wire_transport;
    wire.text[0] = '\0';
    wire.room = 0;
}

static void subscribe_wire(void)
{
    fake_asks_part(&door, INITIALIZE("0", "2025-11-25"), 0, "2025-11-25");
    fake_asks(&door, SUBSCRIBE("1", "doc:1"), 0, RESULT("1", "{}"));
    fake_asks(&door, SUBSCRIBE("2", "doc:2"), 0, RESULT("2", "{}"));
}

static void test_watch_owes_one_word_while_there_is_no_room(void **state)
{
    (void)state;
    begin_wire(0);
    subscribe_wire();
    update("doc:2");
    update("doc:1");
    update("doc:2");
    assert_string_equal(wire.text, "");
    wire.room = 1;
    door.link.events->on_writable(&door.link);
    assert_string_equal(wire.text, UPDATED("doc:1") "\n");
    update("doc:1");
    wire.room = 9;
    door.link.events->on_writable(&door.link);
    assert_string_equal(wire.text, UPDATED("doc:1") "\n" UPDATED(
                                       "doc:1") "\n" UPDATED("doc:2") "\n");
    assert_int_equal(wire.room, 7);
    door.link.events->on_writable(&door.link);
    assert_int_equal(wire.room, 7);
    fake_end(&door, &host);
}

static void test_watch_forgets_what_is_not_wanted_any_more(void **state)
{
    (void)state;
    begin_wire(0);
    subscribe_wire();
    update("doc:1");
    update("doc:2");
    fake_asks(&door, UNSUBSCRIBE("3", "doc:1"), 0, RESULT("3", "{}"));
    wire.room = 9;
    door.link.events->on_writable(&door.link);
    assert_string_equal(wire.text, UPDATED("doc:2") "\n");
    fake_end(&door, &host);
}

static void test_watch_needs_a_session(void **state)
{
    (void)state;
    begin_wire(FL_LINK_STATELESS | FL_LINK_OPEN);
    fake_asks(&door, SUBSCRIBE("1", "doc:1"), -32600,
              ERROR_ANSWER("1", "-32600", "\"there are no sessions here\""));
    fake_asks(&door, UNSUBSCRIBE("1", "doc:1"), -32600,
              ERROR_ANSWER("1", "-32600", "\"there are no sessions here\""));
    assert_null(((fl_session *)door.link.user)->watch);
    fake_end(&door, &host);
}

static void test_watch_says_when_there_is_no_memory(void **state)
{
    size_t n = 0;
    bool refused;

    (void)state;
    begin_wire(0);
    fake_asks_part(&door, INITIALIZE("0", "2025-11-25"), 0, "2025-11-25");
    wire.room = 9;
    do {
        fake_stream stream;
        assert_true(n < 100);
        ration_reset();
        ration_fail_at(++n);
        fake_ask(&door, &stream,
                 SUBSCRIBE("1", "log:a\\u0062c-and-so-on-0123"));
        refused = ration_refused();
        ration_reset();
        if (refused && strstr(stream.text, "out of memory") == NULL)
            fail_msg("%s", stream.text);
    } while (refused);
    assert_true(n > 4);
    update("log:abc-and-so-on-0123");
    assert_string_equal(wire.text, UPDATED("log:abc-and-so-on-0123") "\n");
    fake_end(&door, &host);
}

static void test_watch_is_heard_on_the_standing_stream_of_http(void **state)
{
    static http_answer answer;
    const char *event;
    char fields[256];

    (void)state;
    http_begin(&host, NULL);
    add_resources();
    http_open_session(&host.peer, "2025-11-25", fields);
    http_post(&host.peer, fields, SUBSCRIBE("1", "doc:1"));
    http_hear(&host.peer, &answer);
    assert_string_equal(answer.body, RESULT("1", "{}"));
    host_dial(&host, &other);
    http_get(&other, "/mcp", fields);
    http_hear_head(&other, &answer);
    update("doc:1");
    do /* there may be an event that primes the stream */
        event = http_hear_event(&other, &answer);
    while (strstr(event, "resources/updated") == NULL);
    assert_non_null(strstr(event, UPDATED("doc:1")));
    raw_close(&other);
    host_end(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watch_hears_of_what_it_subscribed_to),
        cmocka_unit_test(test_watch_twice_is_once),
        cmocka_unit_test(test_watch_is_of_one_client),
        cmocka_unit_test(test_watch_refuses_what_cannot_be_read),
        cmocka_unit_test(test_watch_is_not_of_the_modern_era),
        cmocka_unit_test(test_watch_has_a_limit),
        cmocka_unit_test(test_watch_owes_one_word_while_there_is_no_room),
        cmocka_unit_test(test_watch_forgets_what_is_not_wanted_any_more),
        cmocka_unit_test(test_watch_needs_a_session),
        cmocka_unit_test(test_watch_says_when_there_is_no_memory),
        cmocka_unit_test(test_watch_is_heard_on_the_standing_stream_of_http),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
