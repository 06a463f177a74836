/*
 * test_gateway_modern.c - a legacy client of a modern server, and a gateway
 * between them that runs out of memory: every request has an end all the same.
 *
 * What is said in which turn is tested elsewhere, with whole programs. Here
 * each allocation on the way of a request fails once; the request must be
 * answered, well or not, or its client be turned away, and nothing may leak.
 */
#include "raw_peer.h"
#include "support/ration.h"

#include <fairlead/gateway.h>

#define COMPLETE "\"resultType\":\"complete\""

typedef struct stage {
    fl_loop *loop;
    fl_gateway *gateway;
    int listener;
    bool dialled; /* the gateway has */
    bool closed;
    bool answered;
} stage;

static stage play;
static raw_peer client, server;

static void on_closed(void *user)
{
    ((stage *)user)->closed = true;
}

/* What a modern server answers, for each of its requests. */
static const struct {
    const char *part; /* of the request; the first that fits */
    const char *answer;
} script[] = {
    {"server/discover",
     "\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{"
     "\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true},"
     "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}},\"ttlMs\":0,"
     "\"cacheScope\":\"private\"," COMPLETE "}"},
    {"tasks/get",
     "\"result\":{\"taskId\":\"t\",\"status\":\"completed\",\"ttlMs\":9,"
     "\"createdAt\":\"\",\"lastUpdatedAt\":\"\",\"result\":{\"content\":[]}," //
     COMPLETE "}"},
    {"inputResponses", "\"result\":{\"content\":[]," COMPLETE "}"},
    {"\"ask\"",
     "\"result\":{\"resultType\":\"input_required\",\"requestState\":\"s\","
     "\"inputRequests\":{\"who\":{\"method\":\"elicitation/create\","
     "\"params\":{\"message\":\"Who?\",\"requestedSchema\":{}}},\"page\":{"
     "\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\","
     "\"message\":\"See\",\"url\":\"https://example.org\"}}}}"},
    {"tools/call", "\"result\":{\"content\":[]," COMPLETE "}"},
};

static long number_of(const char *line)
{
    const char *id = strstr(line, "\"id\":");

    return id != NULL ? strtol(id + 5, NULL, 10) : 0;
}

static void acknowledge(const char *line)
{
    char said[512];
    const char *uri = strstr(line, "test://a");

    snprintf(said, sizeof said,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
             "acknowledged\",\"params\":{\"notifications\":{"
             "\"resourceSubscriptions\":[%s]},\"_meta\":{"
             "\"io.modelcontextprotocol/subscriptionId\":%ld}}}",
             uri != NULL ? "\"test://a\"" : "", number_of(line));
    raw_say(&server, said);
}

static void serve(const char *line)
{
    char said[1024];

    if (strstr(line, "subscriptions/listen") != NULL) {
        acknowledge(line);
        return;
    }
    for (size_t i = 0; i < sizeof script / sizeof *script; i++) {
        if (strstr(line, script[i].part) == NULL)
            continue;
        snprintf(said, sizeof said, "{\"jsonrpc\":\"2.0\",\"id\":%ld,%s}",
                 number_of(line), script[i].answer);
        raw_say(&server, said);
        return;
    }
}

/* A client that accepts whatever it is asked. */
static void attend(const char *line)
{
    const char *id = strstr(line, "\"g");
    char said[256];

    if (strstr(line, "\"id\":2,") != NULL) {
        play.answered = true;
    } else if (strstr(line, "elicitation/create") != NULL && id != NULL) {
        snprintf(said, sizeof said,
                 "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"action\":"
                 "\"accept\"}}",
                 (int)(strchr(id + 1, '"') - id + 1), id);
        raw_say(&client, said);
    }
}

static void hear(raw_peer *peer, void (*heard)(const char *line))
{
    char *end;

    raw_read(peer);
    while ((end = raw_find_end(peer)) != NULL) {
        char *line = peer->room + peer->start;
        *end = '\0';
        peer->start = (size_t)(end - peer->room) + 1;
        heard(line);
    }
}

/* One turn of everybody. A server that was hung up on is dialled again. */
static void turn(void)
{
    io_turn(play.loop);
    if (play.dialled) {
        hear(&server, serve);
        if (server.ended) {
            raw_close(&server);
            play.dialled = false;
        }
    } else {
        int fd = accept(play.listener, NULL, NULL);
        if (fd >= 0) {
            raw_take(&server, play.loop, fd);
            play.dialled = true;
        }
    }
    if (client.fd >= 0)
        hear(&client, attend);
}

static void until(const bool *done)
{
    time_t begun = io_seconds();

    while (!*done && !client.ended) {
        assert_true(io_seconds() - begun < stretched(60));
        turn();
    }
}

static void raise_curtain(void)
{
    uint16_t port = 0;
    char url[64];
    fl_error error;

    play = (stage){.loop = io_loop()};
    play.listener = raw_listen(&port);
    play.gateway = fl_gateway_new();
    assert_non_null(play.gateway);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", port);
    assert_int_equal(fl_gateway_add(play.gateway,
                                    &(fl_upstream){
                                        .url = url,
                                        .client.era = FL_ERA_MODERN,
                                    },
                                    &error),
                     FL_OK);
    assert_int_equal(fl_gateway_listen(play.gateway, play.loop,
                                       "tcp://127.0.0.1:0", NULL, &error),
                     FL_OK);
    raw_take(&client, play.loop, raw_dial(fl_gateway_port(play.gateway)));
    raw_say(&client,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\","
            "\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{"
            "\"elicitation\":{\"form\":{},\"url\":{}}},\"clientInfo\":{"
            "\"name\":\"c\",\"version\":\"1\"}}}");
    until(&play.answered);
    assert_true(play.answered);
    play.answered = false;
}

static void drop_curtain(void)
{
    raw_close(&client);
    fl_gateway_close(play.gateway, 0, on_closed, &play);
    for (time_t begun = io_seconds(); !play.closed;) {
        assert_true(io_seconds() - begun < stretched(60));
        turn();
    }
    fl_gateway_free(play.gateway);
    if (play.dialled)
        raw_close(&server);
    close(play.listener);
    fl_loop_free(play.loop);
}

/* Each allocation that follows the request fails once. Returns how many there
 * were. */
static size_t starve(const char *request)
{
    for (size_t n = 1;; n++) {
        ration_reset();
        ptrdiff_t before = ration_live_blocks();
        raise_curtain();
        ration_fail_at(n);
        raw_say(&client, request);
        until(&play.answered);
        bool refused = ration_refused();
        ration_reset();
        assert_true(play.answered || client.ended);
        drop_curtain();
        assert_int_equal(ration_live_blocks(), before);
        if (!refused)
            return n - 1;
    }
}

static void test_rounds_end_when_memory_does(void **state)
{
    (void)state;
    assert_true(starve("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                       "call\",\"params\":{\"name\":\"ask\"}}") > 10);
}

static void test_subscriptions_end_when_memory_does(void **state)
{
    (void)state;
    assert_true(starve("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                       "initialized\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,"
                       "\"method\":\"resources/subscribe\",\"params\":{"
                       "\"uri\":\"test://a\"}}") > 5);
}

static void test_tasks_of_ours_end_when_memory_does(void **state)
{
    (void)state;
    assert_true(starve("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                       "call\",\"params\":{\"name\":\"do\",\"task\":{}}}") > 5);
}

static void test_results_of_tasks_end_when_memory_does(void **state)
{
    (void)state;
    assert_true(starve("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tasks/"
                       "result\",\"params\":{\"taskId\":\"t\"}}") > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_end_when_memory_does),
        cmocka_unit_test(test_subscriptions_end_when_memory_does),
        cmocka_unit_test(test_tasks_of_ours_end_when_memory_does),
        cmocka_unit_test(test_results_of_tasks_end_when_memory_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
