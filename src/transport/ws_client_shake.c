/*
 * ws_client_shake.c - the client's handshake (RFC 6455 4.1): one request of
 * HTTP/1.1, whose answer must be 101 and prove that it was read.
 *
 * Connecting, TLS and this share one time limit: the stream keeps it until it
 * is open, the link's timer from there. What a server says instead of 101 is
 * for people to read, so a little of it is: its status, what that means here,
 * and the message of a JSON-RPC error if its body is one.
 *
 * Bytes may come right behind the 101, in the same packet. The codec hands
 * them over while it still holds them; so the socket is opened from there.
 */
#include "transport/ws_client_impl.h"

#include "base/random.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/extract.h"
#include "transport/ws_shake.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    BODY_MAX = 4096, /* of an answer that is not 101 */
    EXTENSIONS_MAX = 4096,
};

static const char *const protocols[] = {"mcp.v1", "mcp", NULL};

void fl_ws_shake_forget(fl_ws_client *client)
{
    fl_ws_shake *shake = &client->shake;
    fl_http *http = shake->http;

    fl_buf_reset(&shake->body);
    *shake = (fl_ws_shake){0};
    fl_http_free(http);
}

/* What the status of a refusal means for us, and what can be done. */
static const struct verdict {
    unsigned status;
    fl_status code;
    const char *advice;
} verdicts[] = {
    {400, FL_E_REFUSED, "it does not take this handshake"},
    {401, FL_E_DENIED, "send credentials with --header (http.headers)"},
    {403, FL_E_DENIED, "it does not let us in; check the credentials"},
    {404, FL_E_NOT_FOUND, "nothing is there; check the path of the address"},
    {405, FL_E_REFUSED, "no WebSocket is there; check the path of the address"},
    {426, FL_E_REFUSED, "it speaks another version of the protocol"},
    {429, FL_E_LIMIT, "it is asked too often"},
    {503, FL_E_LIMIT, "it is overloaded, or going down"},
};

static struct verdict judge(unsigned status)
{
    const char *advice = "it may be in trouble";

    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (verdicts[i].status == status)
            return verdicts[i];
    if (status < 300)
        advice = "that is no WebSocket; check the path of the address";
    else if (status < 400)
        advice = "redirects are not followed; use the address it has moved to";
    else if (status < 500)
        advice = "it does not want this request";
    return (struct verdict){status, FL_E_REFUSED, advice};
}

/* Trying again what is wrong with the request does not make it right. */
static bool is_final(unsigned status)
{
    return status / 100 == 4 && status != 408 && status != 425 && status != 429;
}

/* The message of a JSON-RPC error, cut and cleaned as a close's reason is. */
static fl_span find_message(fl_span body, char out[FL_WS_CONTROL_MAX])
{
    fl_msg_fault fault;
    fl_buf text;
    fl_msg msg;
    size_t len = 0;

    fl_buf_init(&text, BODY_MAX);
    if (fl_msg_read(body, &msg, &fault) == FL_OK &&
        fl_extract_text(fl_extract_error_message(&msg), &text) == FL_OK &&
        fl_buf_len(&text) > 0)
        len = fl_ws_close_body(out, FL_WS_NORMAL, fl_buf_view(&text));
    fl_buf_reset(&text);
    return len > 2 ? (fl_span){out + 2, len - 2} : (fl_span){0};
}

static void refuse(fl_ws_client *client)
{
    const fl_ws_shake *shake = &client->shake;
    unsigned status = shake->status;
    struct verdict verdict = judge(status);
    char said[FL_WS_CONTROL_MAX];
    fl_span text = find_message(fl_buf_view(&shake->body), said);
    fl_error why;

    fl_error_set(&why, verdict.code, "the server answered %u %s%s%.*s%s: %s",
                 status, fl_http_reason(status), text.len > 0 ? " (" : "",
                 (int)text.len, text.len > 0 ? text.ptr : "",
                 text.len > 0 ? ")" : "", verdict.advice);
    if (status == 429 || status == 503)
        client->redial.asked_ms = shake->asked_s * 1000;
    fl_ws_client_failed(client, &why, is_final(status));
}

static void fail(fl_ws_client *client, fl_status status, const char *what)
{
    fl_error why;

    fl_error_set(&why, status, "handshake: %s", what);
    fl_ws_client_failed(client, &why, false);
}

/* Whether the attempt is still going on. */
static bool is_open(const fl_ws_client *client)
{
    return client->ws.link.state == FL_LINK_CONNECTING;
}

static fl_status write(void *user, const fl_span *parts, size_t count,
                       bool urgent)
{
    fl_ws_client *client = user;

    (void)urgent;
    return fl_stream_write_urgent(client->ws.stream, parts, count);
}

static const char *check_extensions(fl_ws_client *client, const fl_head *head)
{
    const char *fault = NULL;
    fl_buf answer;

    fl_buf_init(&answer, EXTENSIONS_MAX);
    fl_status rc = fl_ws_join(head, FL_FIELD_SEC_WEBSOCKET_EXTENSIONS, &answer);
    if (rc != FL_OK)
        fault = fl_status_text(rc);
    else if (fl_ws_settle(fl_buf_view(&answer), &client->settings.packing,
                          &client->shake.agreed, &fault) == FL_OK)
        fault = NULL;
    fl_buf_reset(&answer);
    return fault;
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    fl_ws_client *client = user;
    fl_ws_shake *shake = &client->shake;
    fl_span protocol;

    (void)exchange;
    shake->status = head->status;
    shake->asked_s =
        fl_backoff_seconds(fl_head_get(head, FL_FIELD_RETRY_AFTER));
    if (head->status != 101)
        return;
    shake->fault = fl_ws_check_response(head, fl_span_of(shake->accept),
                                        protocols, &protocol);
    if (shake->fault == NULL)
        shake->fault = check_extensions(client, head);
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    fl_ws_client *client = user;

    (void)exchange;
    if (is_open(client) && fl_buf_append(&client->shake.body, bytes) != FL_OK)
        refuse(client); /* that is enough to know */
}

static void on_end(fl_exchange *exchange, void *user)
{
    fl_ws_client *client = user;
    fl_ws_shake *shake = &client->shake;

    (void)exchange;
    if (!is_open(client))
        return;
    if (shake->status != 101)
        refuse(client);
    else if (shake->fault != NULL)
        fail(client, FL_E_BAD_MESSAGE, shake->fault);
    else
        shake->done = true;
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    fl_ws_client *client = user;

    (void)exchange;
    if (!is_open(client))
        return;
    if (client->shake.status != 0 && client->shake.status != 101)
        refuse(client);
    else
        fail(client, why->status, why->text);
}

static void open_socket(fl_ws_client *client, fl_span rest)
{
    client->shake.done = false;
    fl_ws_client_open(client, rest);
}

static void on_rest(fl_span bytes, void *user)
{
    fl_ws_client *client = user;

    if (client->shake.done)
        open_socket(client, bytes);
}

static void on_pause(bool paused, void *user)
{
    fl_ws_client *client = user;

    fl_stream_pause(client->ws.stream, paused);
}

/* The end of HTTP here is either a socket, or has been told before. */
static void on_over(void *user)
{
    (void)user;
}

static const fl_http_events http_events = {
    .write = write,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_rest = on_rest,
    .on_lost = on_lost,
    .on_pause = on_pause,
    .on_held = on_over,
    .on_over = on_over,
};

static fl_status ask(fl_ws_client *client, const char key[FL_WS_KEY])
{
    fl_span offer = fl_ws_offer(&client->settings.packing);
    const fl_field fields[] = {
        FL_FIELD_SET(UPGRADE, FL_SPAN("websocket")),
        FL_FIELD_SET(SEC_WEBSOCKET_KEY, fl_span_of(key)),
        FL_FIELD_SET(SEC_WEBSOCKET_VERSION, FL_SPAN("13")),
        FL_FIELD_SET(SEC_WEBSOCKET_PROTOCOL, FL_SPAN("mcp.v1, mcp")),
        FL_FIELD_SET(SEC_WEBSOCKET_EXTENSIONS, offer),
    };
    size_t count = sizeof fields / sizeof *fields;
    fl_exchange *exchange;

    return fl_http_request(
        client->shake.http,
        &(fl_heading){
            .method = FL_SPAN("GET"),
            .target = fl_buf_view(&client->target),
            .scheme = client->tls != NULL ? FL_SPAN("https") : FL_SPAN("http"),
            .authority = fl_buf_view(&client->authority),
            .common = &client->fields,
            .fields = fields,
            .count = offer.len > 0 ? count : count - 1,
        },
        client, &exchange);
}

static fl_status begin(fl_ws_client *client)
{
    unsigned char random[16];
    char key[FL_WS_KEY];

    fl_buf_init(&client->shake.body, BODY_MAX);
    fl_status rc = fl_random_bytes(random, sizeof random);
    if (rc == FL_OK) {
        fl_ws_key_text(random, key);
        rc = fl_ws_shake_accept(fl_span_of(key), client->shake.accept);
    }
    if (rc == FL_OK)
        rc = fl_http_new(&(fl_http_options){.version = 11,
                                            .client = true,
                                            .events = &http_events,
                                            .user = client},
                         &client->shake.http);
    return rc == FL_OK ? ask(client, key) : rc;
}

static void watch(fl_ws_client *client)
{
    uint64_t limit = client->limits.open_timeout_ms;
    uint64_t spent = fl_loop_now(client->ws.link.loop) - client->shake.begun_ms;

    if (limit != FL_NEVER)
        fl_timer_start(&client->ws.timer, spent < limit ? limit - spent : 0);
}

static void on_stream_open(void *user)
{
    fl_ws_client *client = user;
    fl_status rc = begin(client);

    if (rc == FL_OK)
        watch(client);
    else
        fail(client, rc, fl_status_text(rc));
}

void fl_ws_shake_timed_out(fl_ws_client *client)
{
    char name[FL_STREAM_NAME];
    fl_error why;

    if (client->shake.status != 0) {
        refuse(client);
        return;
    }
    fl_stream_peer_name(client->ws.stream, name);
    fl_error_set(&why, FL_E_TIMEOUT,
                 "handshake: no answer from %s after %" PRIu64 " ms", name,
                 client->limits.open_timeout_ms);
    fl_ws_client_failed(client, &why, false);
}

static void on_stream_data(void *user, fl_span bytes)
{
    fl_ws_client *client = user;

    fl_link_ref(&client->ws.link);
    fl_http_feed(client->shake.http, bytes);
    if (client->shake.done)
        open_socket(client, (fl_span){0});
    fl_link_unref(&client->ws.link);
}

static void on_stream_end(void *user, const fl_error *why)
{
    fl_ws_client *client = user;

    fl_link_ref(&client->ws.link);
    if (client->shake.http != NULL && why->status == FL_END)
        fl_http_end_input(client->shake.http);
    if (is_open(client) && why->status == FL_END)
        fail(client, FL_E_CLOSED, "the server closed the connection");
    else if (is_open(client))
        fl_ws_client_failed(client, why, false);
    fl_link_unref(&client->ws.link);
}

static void on_stream_closed(void *user)
{
    fl_ws_client *client = user;

    fl_ws_stream_events.on_closed(&client->ws);
}

const fl_stream_events fl_ws_shake_events = {
    .on_open = on_stream_open,
    .on_data = on_stream_data,
    .on_end = on_stream_end,
    .on_closed = on_stream_closed,
};
