/*
 * test_http_keys.c - a server whose clients must show a key: who comes in, and
 * what a key that is taken away takes with it.
 */
#include "http_host.h"
#include "ws_host.h"

#define ADA "ada-has-this-key"
#define BOB "bob-has-that-key"
#define CALL_1 HTTP_MODERN_CALL("1", "echo", "{\"text\":\"hi\"}")
#define MODERN HTTP_MODERN("tools/call") "Mcp-Name: echo\r\n"
#define MODERN_WAIT HTTP_MODERN("tools/call") "Mcp-Name: wait\r\n"
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static server_host host;
static http_answer answer;
static fl_keys *keys;
static raw_peer second;

static void set(const char *const *list)
{
    fl_error error = {.text = ""};

    if (fl_keys_set(keys, list, &error) != FL_OK)
        fail_msg("%s", error.text);
}

static int begin(void **state)
{
    (void)state;
    keys = fl_keys_new();
    set(LIST(ADA, BOB));
    http_begin(&host,
               &(fl_options){.http.keys = keys, .http.health_path = "/health"});
    second.fd = -1;
    return 0;
}

static int finish(void **state)
{
    (void)state;
    if (second.fd >= 0)
        raw_close(&second);
    host_end(&host);
    fl_keys_free(keys);
    return 0;
}

static void expect(int status, const char *part)
{
    http_hear(&host.peer, &answer);
    if (answer.status != status || strstr(answer.body, part) == NULL)
        fail_msg("want %d with '%s', got %d: %s", status, part, answer.status,
                 answer.body);
}

static void test_no_key_is_told_what_is_missing(void **state)
{
    (void)state;
    http_post(&host.peer, MODERN, CALL_1);
    expect(401, "a key is missing");
    assert_string_equal(http_field(&answer, "www-authenticate"),
                        "Bearer realm=\"mcp\"");
    assert_non_null(strstr(answer.body, "\"jsonrpc\":\"2.0\""));
    http_post(&host.peer, MODERN "Authorization: Basic " ADA "\r\n", CALL_1);
    expect(401, "a key is missing");
    http_post(&host.peer, MODERN "Authorization: Bearer\r\n", CALL_1);
    expect(401, "a key is missing");
    http_post(&host.peer, MODERN "Authorization: Bearer" ADA "\r\n", CALL_1);
    expect(401, "a key is missing");
    http_post(&host.peer, MODERN "X-API-Key:\r\n", CALL_1);
    expect(401, "a key is missing");
}

static void test_a_wrong_key_is_not_repeated(void **state)
{
    static const char *const wrong[] = {
        "X-API-Key: ada-has-this-kez\r\n",
        "X-API-Key: ada-has-this-ke\r\n",
        "X-API-Key: ada-has-this-key1\r\n",
        "X-API-Key: ADA-has-this-key\r\n",
        "Authorization: Bearer ada-has-this-kez\r\n",
        "Authorization: Bearer ada-has-this-key bob-has-that-key\r\n",
    };
    char fields[256];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(fields, sizeof fields, MODERN "%s", wrong[i]);
        http_post(&host.peer, fields, CALL_1);
        expect(401, "none of the server's");
        assert_null(strstr(answer.body, "ada"));
        assert_non_null(strstr(http_field(&answer, "www-authenticate"),
                               "error=\"invalid_token\""));
    }
}

static void test_a_right_key_comes_in_by_either_header(void **state)
{
    static const char *const right[] = {
        "X-API-Key: " ADA "\r\n",
        "x-api-key:" BOB "\r\n",
        "Authorization: Bearer " ADA "\r\n",
        "authorization: bEARER   " BOB "\r\n",
        "X-API-Key: wrong-key-of-mine\r\nAuthorization: Bearer " ADA "\r\n",
        "X-API-Key: " ADA "\r\nAuthorization: Bearer of-somebody-else\r\n",
        "X-API-Key: " ADA "\r\nAuthorization: Basic eDp5\r\n",
    };
    char fields[256];

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        snprintf(fields, sizeof fields, MODERN "%s", right[i]);
        http_post(&host.peer, fields, CALL_1);
        expect(200, "\"hi\"");
    }
}

static void test_strangers_learn_no_paths(void **state)
{
    (void)state;
    http_send(&host.peer, "POST", "/other", HTTP_POST_FIELDS, CALL_1);
    expect(401, "a key");
    http_send(&host.peer, "PUT", "/mcp", HTTP_POST_FIELDS, CALL_1);
    expect(401, "a key");
    http_send(&host.peer, "GET", "/.well-known/oauth-protected-resource", "",
              "");
    expect(404, "path");
    http_send(&host.peer, "POST", "/other",
              HTTP_POST_FIELDS "X-API-Key: " ADA "\r\n", CALL_1);
    expect(404, "path");
}

static void test_preflight_and_health_need_no_key(void **state)
{
    (void)state;
    http_send(&host.peer, "OPTIONS", "/mcp",
              "Origin: http://localhost:3000\r\n"
              "Access-Control-Request-Method: POST\r\n",
              "");
    expect(204, "");
    assert_non_null(strstr(http_field(&answer, "access-control-allow-headers"),
                           "X-API-Key"));
    http_send(&host.peer, "GET", "/health", "", "");
    expect(200, "ok");
    http_post(&host.peer, "Origin: http://localhost:3000\r\n", CALL_1);
    expect(401, "a key");
    assert_string_equal(http_field(&answer, "access-control-allow-origin"),
                        "http://localhost:3000");
    http_post(&host.peer, "Origin: https://evil.example\r\n", CALL_1);
    expect(403, "--allow-origin");
}

/* `fields` is what Ada's requests carry from then on, without her key. */
static void open_session(char fields[256])
{
    http_post(&host.peer, "X-API-Key: " ADA "\r\n",
              INITIALIZE("0", "2025-11-25"));
    expect(200, "2025-11-25");
    snprintf(fields, 256, "Mcp-Session-Id: %.22s\r\n",
             http_field(&answer, "mcp-session-id"));
}

static void post_in(const char *session, const char *key, const char *body)
{
    char fields[512];

    snprintf(fields, sizeof fields, "%sX-API-Key: %s\r\n", session, key);
    http_post(&host.peer, fields, body);
}

static void test_a_session_is_of_the_key_that_opened_it(void **state)
{
    char session[256], fields[512];

    (void)state;
    open_session(session);
    post_in(session, ADA, INITIALIZED);
    expect(202, "");
    post_in(session, BOB, CALL("1", "echo", "{\"text\":\"x\"}"));
    expect(404, "-32001,\"message\":\"Session not found");
    snprintf(fields, sizeof fields, "%sX-API-Key: " BOB "\r\n", session);
    http_send(&host.peer, "DELETE", "/mcp", fields, "");
    expect(404, "-32001,\"message\":\"Session not found");
    http_get(&host.peer, "/mcp", fields);
    expect(404, "-32001,\"message\":\"Session not found");
    post_in(session, ADA, CALL("1", "echo", "{\"text\":\"x\"}"));
    expect(200, "\"x\"");
}

static void test_two_keys_on_one_connection_are_two_clients(void **state)
{
    (void)state;
    http_post(&host.peer, MODERN "X-API-Key: " ADA "\r\n", CALL_1);
    expect(200, "hi");
    assert_int_equal(fl_server_links(host.server), 1);
    http_post(&host.peer, MODERN "X-API-Key: " BOB "\r\n", CALL_1);
    expect(200, "hi");
    assert_int_equal(fl_server_links(host.server), 2);
    http_post(&host.peer, MODERN "Authorization: Bearer " ADA "\r\n", CALL_1);
    expect(200, "hi");
    assert_int_equal(fl_server_links(host.server), 2);
}

static void test_a_key_that_goes_takes_its_sessions(void **state)
{
    char session[256];

    (void)state;
    open_session(session);
    assert_int_equal(fl_server_links(host.server), 1);
    set(LIST(BOB));
    io_until(host.loop, fl_server_links(host.server) == 0);
    assert_int_equal(fl_server_links(host.server), 0);
    post_in(session, ADA, INITIALIZED);
    expect(401, "none of the server's");
    set(LIST(ADA, BOB));
    post_in(session, ADA, CALL("1", "echo", "{\"text\":\"x\"}"));
    expect(404, "-32001,\"message\":\"Session not found");
}

static void test_a_key_that_stays_keeps_its_sessions(void **state)
{
    char session[256];

    (void)state;
    open_session(session);
    set(LIST("another-key-of-some", ADA));
    post_in(session, ADA, INITIALIZED);
    expect(202, "");
    assert_int_equal(fl_server_links(host.server), 1);
}

static void test_a_key_that_goes_takes_its_streams(void **state)
{
    (void)state;
    http_get(&host.peer, "/sse", "X-API-Key: " ADA "\r\n");
    http_hear_head(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    http_hear_event(&host.peer, &answer);
    set(LIST(BOB));
    assert_false(http_hear_chunk(&host.peer, &answer));
    io_until(host.loop, fl_server_links(host.server) == 0);
    assert_int_equal(fl_server_links(host.server), 0);
}

static void test_a_key_that_goes_takes_its_calls(void **state)
{
    (void)state;
    host_dial(&host, &second);
    http_post(&second, MODERN_WAIT "X-API-Key: " BOB "\r\n",
              HTTP_MODERN_CALL("2", "wait", "{}"));
    host_kept(&host, 1);
    http_post(&host.peer, MODERN_WAIT "X-API-Key: " ADA "\r\n",
              HTTP_MODERN_CALL("1", "wait", "{}"));
    host_kept(&host, 2);
    set(LIST(BOB));
    expect(503, "closing");
    host_answer(&host, 0, "well");
    http_hear(&second, &answer);
    assert_int_equal(answer.status, 200);
}

static void test_sockets_need_a_key_too(void **state)
{
    (void)state;
    assert_int_equal(ws_ask(&host.peer, "/mcp", WS_UPGRADE, &answer), 401);
    http_hear_bytes(&host.peer, &answer,
                    strtoul(http_field(&answer, "content-length"), NULL, 10));
    assert_non_null(strstr(answer.body, "a key is missing"));
    assert_int_equal(ws_ask(&host.peer, "/mcp",
                            WS_UPGRADE "Authorization: Bearer " ADA "\r\n",
                            &answer),
                     101);
    set(LIST(BOB));
    io_until(host.loop, (raw_read(&host.peer),
                         host.peer.end > host.peer.start || host.peer.ended));
    assert_int_equal((unsigned char)host.peer.room[host.peer.start], 0x88);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_no_key_is_told_what_is_missing),
        RUN(test_a_wrong_key_is_not_repeated),
        RUN(test_a_right_key_comes_in_by_either_header),
        RUN(test_strangers_learn_no_paths),
        RUN(test_preflight_and_health_need_no_key),
        RUN(test_a_session_is_of_the_key_that_opened_it),
        RUN(test_two_keys_on_one_connection_are_two_clients),
        RUN(test_a_key_that_goes_takes_its_sessions),
        RUN(test_a_key_that_stays_keeps_its_sessions),
        RUN(test_a_key_that_goes_takes_its_streams),
        RUN(test_a_key_that_goes_takes_its_calls),
        RUN(test_sockets_need_a_key_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
