/*
 * test_ws_handshake.c - who may open a WebSocket, and what is said about it.
 *
 * A request or response is a list of fields; each rule is broken alone.
 */
#include "wire/ws_handshake.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

enum { LINES = 12 };

/* A head as the codec would make it of "name: value" lines. */
typedef struct sheet {
    fl_head head;
    fl_field fields[LINES];
} sheet;

static void add(sheet *s, const char *line)
{
    fl_span text = fl_span_of(line);
    size_t colon = fl_span_find(text, ':');
    fl_field *f = &s->fields[s->head.count++];

    assert_in_range(s->head.count, 1, LINES);
    assert_in_range(colon + 2, 2, text.len);
    f->name = (fl_span){line, colon};
    f->value = fl_span_from(text, colon + 2);
    f->id = fl_field_find(f->name);
    if (s->head.at[f->id] == 0)
        s->head.at[f->id] = (uint8_t)s->head.count;
    s->head.fields = s->fields;
}

static void fill(sheet *s, const char *const *lines)
{
    *s = (sheet){.head = {.version = 11,
                          .method = FL_SPAN("GET"),
                          .target = FL_SPAN("/ws")}};
    for (; *lines != NULL; lines++)
        add(s, *lines);
}

/* The good one, with line `out` replaced by `in` (or left out, if NULL). */
static void fill_but(sheet *s, const char *const *good, size_t out,
                     const char *in)
{
    const char *lines[LINES + 1] = {0};
    size_t n = 0;

    for (size_t i = 0; good[i] != NULL; i++)
        if (i != out)
            lines[n++] = good[i];
        else if (in != NULL)
            lines[n++] = in;
    fill(s, lines);
}

static const char *const request[] = {
    "Host: server.example.com",     "Upgrade: websocket",
    "Connection: Upgrade",          "Sec-WebSocket-Key: " KEY,
    "Sec-WebSocket-Version: 13",    "Origin: http://example.com",
    "Sec-WebSocket-Protocol: chat", NULL,
};

static unsigned refused(const sheet *s, const char *why)
{
    const char *what;
    unsigned status = fl_ws_refused(&s->head, &what);

    if (status == 0)
        assert_null(what);
    else if (why == NULL || what == NULL || strstr(what, why) == NULL)
        fail_msg("%u %s", status, what);
    return status;
}

static void test_ws_takes_the_request_of_the_rfc(void **state)
{
    sheet s;

    (void)state;
    fill(&s, request);
    assert_true(fl_ws_wanted(&s.head));
    assert_int_equal(refused(&s, NULL), 0);
}

static void test_ws_takes_lists_in_any_case_and_over_many_lines(void **state)
{
    static const char *const lines[] = {
        "upgrade: h2c, WebSocket",   "connection: keep-alive",
        "CONNECTION: foo, UPGRADE",  "sec-websocket-key: " KEY,
        "sec-websocket-version: 13", NULL,
    };
    sheet s;

    (void)state;
    fill(&s, lines);
    assert_true(fl_ws_wanted(&s.head));
    assert_int_equal(refused(&s, NULL), 0);
}

static void test_ws_is_wanted_by_those_who_say_so(void **state)
{
    sheet s;

    (void)state;
    fill_but(&s, request, 1, NULL);
    assert_false(fl_ws_wanted(&s.head));
    fill_but(&s, request, 1, "Upgrade: h2c");
    assert_false(fl_ws_wanted(&s.head));
    fill_but(&s, request, 1, "Upgrade: websocket2");
    assert_false(fl_ws_wanted(&s.head));
    fill(&s, request);
    s.head.version = 10; /* RFC 9110 7.8 */
    assert_false(fl_ws_wanted(&s.head));
    fill_but(&s, request, 4, "Sec-WebSocket-Version: 8");
    assert_true(fl_ws_wanted(&s.head)); /* wrongly, but it does */
}

static void test_ws_refuses_a_request_that_breaks_one_rule(void **state)
{
    static const struct {
        size_t out;
        const char *in;
        unsigned status;
        const char *why;
    } cases[] = {
        {2, NULL, 400, "Connection"},
        {2, "Connection: keep-alive", 400, "Connection"},
        {3, NULL, 400, "Key must be there once"},
        {3, "Sec-WebSocket-Key: ", 400, "not 16 bytes"},
        {3, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=", 400, "not 16 bytes"},
        {3, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ===", 400, "not 16"},
        {3, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ1=", 400, "not 16"},
        {3, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=1", 400, "not 16"},
        {3, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZ===", 400, "not 16"},
        {3, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j-Q==", 400, "not 16"},
        {4, NULL, 400, "Version must be there once"},
        {4, "Sec-WebSocket-Version: 8", 426, "version 13"},
        {4, "Sec-WebSocket-Version: 14", 426, "version 13"},
        {4, "Sec-WebSocket-Version: 013", 426, "version 13"},
        {4, "Sec-WebSocket-Version: 13, 8", 426, "version 13"},
        {4, "Sec-WebSocket-Version: ", 426, "version 13"},
    };
    sheet s;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        fill_but(&s, request, cases[i].out, cases[i].in);
        assert_int_equal(refused(&s, cases[i].why), cases[i].status);
    }
}

static void test_ws_refuses_fields_that_come_twice(void **state)
{
    sheet s;

    (void)state;
    fill(&s, request);
    add(&s, "sec-websocket-key: " KEY);
    assert_int_equal(refused(&s, "Key must be there once"), 400);
    fill(&s, request);
    add(&s, "Sec-Websocket-Version: 13");
    assert_int_equal(refused(&s, "Version must be there once"), 400);
}

static void test_ws_refuses_other_methods_and_bodies(void **state)
{
    sheet s;

    (void)state;
    fill(&s, request);
    s.head.method = FL_SPAN("POST");
    assert_true(fl_ws_wanted(&s.head));
    assert_int_equal(refused(&s, "GET"), 405);
    s.head.method = FL_SPAN("get");
    assert_int_equal(refused(&s, "GET"), 405);
    fill(&s, request);
    s.head.has_body = true;
    assert_int_equal(refused(&s, "no body"), 400);
}

/* RFC 8441 5.1 */
static void test_ws_is_wanted_over_http2_by_its_protocol(void **state)
{
    static const char *const lines[] = {
        "sec-websocket-protocol: chat, superchat",
        "sec-websocket-extensions: permessage-deflate",
        "sec-websocket-version: 13",
        "origin: http://www.example.com",
        NULL,
    };
    sheet s;

    (void)state;
    fill(&s, lines);
    s.head.version = 20;
    s.head.method = FL_SPAN("CONNECT");
    s.head.has_body = true; /* the stream stays open */
    assert_false(fl_ws_wanted(&s.head));
    s.head.protocol = FL_SPAN("connect-udp");
    assert_false(fl_ws_wanted(&s.head));
    s.head.protocol = FL_SPAN("websocket");
    assert_true(fl_ws_wanted(&s.head));
    assert_int_equal(refused(&s, NULL), 0);
    s.fields[2].value = FL_SPAN("12");
    assert_int_equal(refused(&s, "version 13"), 426);
    fill_but(&s, lines, 2, NULL);
    s.head.version = 20;
    assert_int_equal(refused(&s, "Version must be there once"), 400);

    fill(&s, request); /* Upgrade means nothing there */
    s.head.version = 20;
    assert_false(fl_ws_wanted(&s.head));
}

static void test_ws_accept_is_that_of_the_rfc(void **state)
{
    /* RFC 6455 1.3 */
    static const unsigned char sha1[FL_WS_SHA1] = {
        0xb3, 0x7a, 0x4f, 0x2c, 0xc0, 0x62, 0x4f, 0x16, 0x90, 0xf6,
        0x46, 0x06, 0xcf, 0x38, 0x59, 0x45, 0xb2, 0xbe, 0xc4, 0xea};
    char input[FL_WS_ACCEPT_INPUT], text[FL_WS_ACCEPT], key[FL_WS_KEY];

    (void)state;
    fl_ws_accept_input(FL_SPAN(KEY), input);
    assert_memory_equal(input, KEY "258EAFA5-E914-47DA-95CA-C5AB0DC85B11",
                        FL_WS_ACCEPT_INPUT);
    fl_ws_accept_text(sha1, text);
    assert_string_equal(text, ACCEPT);
    fl_ws_key_text((const unsigned char *)"the sample nonce", key);
    assert_string_equal(key, KEY);
}

static void test_ws_chooses_our_favourite_of_what_is_offered(void **state)
{
    static const char *const known[] = {"mcp.v1", "mcp", NULL};
    static const char *const nothing[] = {NULL};
    sheet s;

    (void)state;
    fill(&s, request);
    assert_null(fl_ws_choose_protocol(&s.head, known).ptr);
    add(&s, "sec-websocket-protocol: foo, mcp");
    assert_true(
        fl_span_equal(fl_ws_choose_protocol(&s.head, known), FL_SPAN("mcp")));
    add(&s, "Sec-WebSocket-Protocol: ,mcp.v1");
    assert_true(fl_span_equal(fl_ws_choose_protocol(&s.head, known),
                              FL_SPAN("mcp.v1")));
    assert_null(fl_ws_choose_protocol(&s.head, nothing).ptr);
    fill_but(&s, request, 6, "Sec-WebSocket-Protocol: MCP, mcp.v10, mcp.v");
    assert_null(fl_ws_choose_protocol(&s.head, known).ptr);
    fill_but(&s, request, 6, NULL);
    assert_null(fl_ws_choose_protocol(&s.head, known).ptr);
}

static void join_starved(void *user)
{
    const sheet *s = user;
    fl_buf out;

    fl_buf_init(&out, 100);
    fl_status rc =
        fl_ws_join(&s->head, FL_FIELD_SEC_WEBSOCKET_EXTENSIONS, &out);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&out), rc == FL_OK
                                                     ? FL_SPAN("a, b; c=1, d")
                                                     : FL_SPAN("")));
    fl_buf_reset(&out);
}

static void test_ws_joins_all_lines_of_a_field(void **state)
{
    sheet s;
    fl_buf out;

    (void)state;
    fill(&s, request);
    fl_buf_init(&out, 4);
    assert_int_equal(
        fl_ws_join(&s.head, FL_FIELD_SEC_WEBSOCKET_EXTENSIONS, &out), FL_OK);
    assert_int_equal(fl_buf_len(&out), 0);
    add(&s, "sec-websocket-extensions: a");
    add(&s, "sec-websocket-extensions: b; c=1");
    add(&s, "Sec-WebSocket-Extensions: d");
    assert_int_equal(ration_each(join_starved, &s), 2);
    assert_int_equal(
        fl_ws_join(&s.head, FL_FIELD_SEC_WEBSOCKET_EXTENSIONS, &out),
        FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&out), 0);
    fl_buf_reset(&out);
}

static const char *const response[] = {
    "Upgrade: websocket", "Connection: Upgrade",
    "Sec-WebSocket-Accept: " ACCEPT, "Sec-WebSocket-Protocol: chat", NULL};

static const char *const offered[] = {"superchat", "chat", NULL};

static const char *check(sheet *s, const char *const *ours, fl_span *protocol)
{
    s->head.status = 101;
    s->head.method = (fl_span){0};
    return fl_ws_check_response(&s->head, FL_SPAN(ACCEPT), ours, protocol);
}

static void test_ws_takes_the_response_of_the_rfc(void **state)
{
    fl_span protocol;
    sheet s;

    (void)state;
    fill(&s, response);
    assert_null(check(&s, offered, &protocol));
    assert_ptr_equal(protocol.ptr, offered[1]);
    assert_int_equal(protocol.len, 4);
    fill_but(&s, response, 3, NULL); /* none is chosen: that is allowed */
    assert_null(check(&s, offered, &protocol));
    assert_null(protocol.ptr);
    assert_null(check(&s, NULL, &protocol));
    fill_but(&s, response, 0, "UPGRADE: WebSocket");
    assert_null(check(&s, offered, &protocol));
    fill_but(&s, response, 1, "connection: keep-alive, upgrade");
    assert_null(check(&s, offered, &protocol));
}

static void test_ws_refuses_a_response_that_breaks_one_rule(void **state)
{
    static const struct {
        size_t out;
        const char *in, *why;
    } cases[] = {
        {0, NULL, "something else"},
        {0, "Upgrade: h2c", "something else"},
        {1, NULL, "Connection"},
        {1, "Connection: close", "Connection"},
        {2, NULL, "does not match our key"},
        {2, "Sec-WebSocket-Accept: S3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "our key"},
        {2, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo", "our key"},
        {2, "Sec-WebSocket-Accept: " ACCEPT "=", "our key"},
        {3, "Sec-WebSocket-Protocol: other", "subprotocol that was not"},
        {3, "Sec-WebSocket-Protocol: Chat", "subprotocol that was not"},
        {3, "Sec-WebSocket-Protocol: chat, superchat", "that was not"},
        {3, "Sec-WebSocket-Protocol: ", "that was not"},
    };
    fl_span protocol;
    sheet s;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        fill_but(&s, response, cases[i].out, cases[i].in);
        const char *what = check(&s, offered, &protocol);
        if (what == NULL || strstr(what, cases[i].why) == NULL)
            fail_msg("case %zu: %s", i, what);
        assert_null(protocol.ptr);
    }
    fill(&s, response);
    assert_non_null(check(&s, NULL, &protocol)); /* we offered none */
    add(&s, "sec-websocket-protocol: chat");
    assert_non_null(strstr(check(&s, offered, &protocol), "more than one"));
    fill(&s, response);
    add(&s, "SEC-WebSocket-Accept: " ACCEPT);
    assert_non_null(strstr(check(&s, offered, &protocol), "our key"));
    fill(&s, response);
    s.head.status = 200;
    assert_non_null(
        fl_ws_check_response(&s.head, FL_SPAN(ACCEPT), offered, &protocol));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ws_takes_the_request_of_the_rfc),
        cmocka_unit_test(test_ws_takes_lists_in_any_case_and_over_many_lines),
        cmocka_unit_test(test_ws_is_wanted_by_those_who_say_so),
        cmocka_unit_test(test_ws_refuses_a_request_that_breaks_one_rule),
        cmocka_unit_test(test_ws_refuses_fields_that_come_twice),
        cmocka_unit_test(test_ws_refuses_other_methods_and_bodies),
        cmocka_unit_test(test_ws_is_wanted_over_http2_by_its_protocol),
        cmocka_unit_test(test_ws_accept_is_that_of_the_rfc),
        cmocka_unit_test(test_ws_chooses_our_favourite_of_what_is_offered),
        cmocka_unit_test(test_ws_joins_all_lines_of_a_field),
        cmocka_unit_test(test_ws_takes_the_response_of_the_rfc),
        cmocka_unit_test(test_ws_refuses_a_response_that_breaks_one_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
