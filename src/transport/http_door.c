/*
 * http_door.c - looks at the head of a request before anything is done for it.
 *
 * In the order of what a stranger may learn: is this connection served at all,
 * is the page or host name it comes by one of ours, does it have a key, is
 * there such a path, such a method there, and can we read and write what the
 * client does. Whoever is refused is told which option, or flag of the command,
 * would let him in.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "wire/ws_handshake.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 64 * 1024 }; /* bytes of header names */

static char *join_names(const char *first, const char *const *more)
{
    char *all = NULL;
    fl_buf text;

    fl_buf_init(&text, NAMES_MAX);
    fl_status rc = fl_buf_append(&text, fl_span_of(first));
    for (; more != NULL && *more != NULL && rc == FL_OK; more++)
        rc = fl_buf_printf(&text, ", %s", *more);
    if (rc == FL_OK)
        all = fl_mem_string(fl_buf_view(&text));
    fl_buf_reset(&text);
    return all;
}

/* Fetch: what pages may send, and read. */
fl_status fl_http_door_prepare(fl_http_hub *hub)
{
    const fl_http_settings *http = &hub->options.http;

    hub->may_send =
        join_names("Accept, Authorization, Content-Type, Last-Event-ID, "
                   "Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, "
                   "Mcp-Name, X-API-Key, X-Request-Id",
                   http->allow_headers);
    hub->may_read =
        join_names("Mcp-Session-Id, MCP-Protocol-Version, Retry-After, "
                   "WWW-Authenticate, X-Request-Id",
                   http->expose_headers);
    return hub->may_send != NULL && hub->may_read != NULL ? FL_OK : FL_E_NOMEM;
}

static void refuse_connection(fl_http_turn *turn)
{
    const fl_http_conn *conn = turn->conn;
    bool too_often = conn->retry_ms > 0;
    char data[48];
    int n = too_often
                ? snprintf(data, sizeof data, "{\"retryAfterMs\":%" PRIu32 "}",
                           conn->retry_ms)
                : snprintf(data, sizeof data, "{\"limit\":%u}",
                           turn->hub->options.max_connections);

    fl_http_refuse(
        turn, &(fl_http_refusal){
                  .status = too_often ? 429 : 503,
                  .code = FL_RPC_BUSY,
                  .message = fl_span_of(fl_http_refusal_text(conn->refusal)),
                  .data = {data, (size_t)n},
                  .retry_ms = too_often ? conn->retry_ms : 1000,
              });
}

/* What came is repeated neither to the peer nor, unmasked, to the log. */
static bool check_origin(fl_http_turn *turn, const fl_head *head)
{
    fl_span origin = fl_head_get(head, FL_FIELD_ORIGIN);

    switch (fl_origin_check(turn->hub->origin, head->authority, origin)) {
    case FL_ORIGIN_OK:
        break;
    case FL_ORIGIN_BAD_HOST:
        fl_http_refuse_with(turn, 421, FL_RPC_INVALID_REQUEST,
                            "this server does not answer to that Host; name "
                            "it with --allow-host (http.allow_hosts)");
        return false;
    case FL_ORIGIN_BAD_ORIGIN:
        fl_http_refuse_with(turn, 403, FL_RPC_INVALID_REQUEST,
                            "pages of that Origin may not use this server; "
                            "name it with --allow-origin "
                            "(http.allow_origins)");
        return false;
    }
    if (origin.len > 0 && origin.len < sizeof turn->asked->origin) {
        memcpy(turn->asked->origin, origin.ptr, origin.len);
        turn->asked->origin[origin.len] = '\0';
    }
    return true;
}

/* "TAG-N"; for every request, so without snprintf. */
static void make_request_id(fl_http_turn *turn)
{
    char digits[20];
    char *at = digits + sizeof digits;
    size_t tag = sizeof turn->hub->tag - 1;
    uint64_t number = turn->hub->turns;

    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    size_t len = (size_t)(digits + sizeof digits - at);
    memcpy(turn->asked->id, turn->hub->tag, tag);
    turn->asked->id[tag] = '-';
    memcpy(turn->asked->id + tag + 1, at, len);
    turn->asked->id[tag + 1 + len] = '\0';
}

/* H10: the client's own id comes back; without one it gets ours. */
static void name_request(fl_http_turn *turn, const fl_head *head)
{
    fl_span id = fl_head_get(head, FL_FIELD_X_REQUEST_ID);

    turn->hub->turns++;
    if (id.len == 0 || id.len >= sizeof turn->asked->id) {
        make_request_id(turn);
        return;
    }
    memcpy(turn->asked->id, id.ptr, id.len);
    turn->asked->id[id.len] = '\0';
}

static fl_span allowed_methods(fl_http_route route)
{
    switch (route) {
    case FL_HTTP_ENDPOINT:
        return FL_SPAN("GET, POST, DELETE, OPTIONS");
    case FL_HTTP_SSE:
    case FL_HTTP_SOCKET:
    case FL_HTTP_HEALTH:
        return FL_SPAN("GET, OPTIONS");
    case FL_HTTP_MESSAGES:
        return FL_SPAN("POST, OPTIONS");
    case FL_HTTP_NOWHERE:
        break;
    }
    return FL_SPAN("OPTIONS");
}

static void refuse_method(fl_http_turn *turn, const char *message)
{
    fl_http_refuse(turn, &(fl_http_refusal){
                             .status = 405,
                             .code = FL_RPC_INVALID_REQUEST,
                             .message = fl_span_of(message),
                             .allow = allowed_methods(turn->route),
                         });
}

/* Fetch, CORS preflight: any header may be sent that a name allows for. The
 * origin has been checked; without one this is a plain OPTIONS. */
static void answer_preflight(fl_http_turn *turn, const fl_head *head)
{
    fl_span wanted = fl_head_get(head, FL_FIELD_ACCESS_CONTROL_REQUEST_HEADERS);
    fl_field fields[5];
    size_t count = 0;

    fields[count++] = FL_FIELD_SET(ALLOW, allowed_methods(turn->route));
    if (turn->asked->origin[0] != '\0') {
        fields[count++] =
            (fl_field){FL_SPAN("access-control-allow-methods"),
                       allowed_methods(turn->route), FL_FIELD_OTHER};
        fields[count++] = (fl_field){
            FL_SPAN("access-control-allow-headers"),
            wanted.len > 0 ? wanted : fl_span_of(turn->hub->may_send),
            FL_FIELD_OTHER};
        fields[count++] = (fl_field){FL_SPAN("access-control-max-age"),
                                     FL_SPAN("7200"), FL_FIELD_OTHER};
        if (fl_head_find(head,
                         FL_SPAN("access-control-request-private-network"))
                .len > 0)
            fields[count++] =
                (fl_field){FL_SPAN("access-control-allow-private-network"),
                           FL_SPAN("true"), FL_FIELD_OTHER};
    }
    fl_http_turn_answer(turn, 204, fields, count, NULL, 0);
    fl_http_turn_free(turn);
}

static bool takes(const fl_head *head, fl_span type)
{
    fl_span accept = fl_head_get(head, FL_FIELD_ACCEPT);

    return accept.len == 0 || fl_field_quality(accept, type) > 0;
}

/* Where both will do, the one that is liked better, or is named first. */
static bool likes_events_better(fl_span accept)
{
    unsigned json = fl_field_quality(accept, FL_SPAN("application/json"));
    unsigned events = fl_field_quality(accept, FL_SPAN("text/event-stream"));
    fl_span element;

    if (json != events || json == 0)
        return events > json;
    while (fl_field_list_next(&accept, &element)) {
        if (fl_field_media_is(element, FL_SPAN("text/event-stream")))
            return true;
        if (fl_field_media_is(element, FL_SPAN("application/json")))
            return false;
    }
    return false;
}

/* Almost all requests accept what the one before did: equal text is not read
 * again. */
static const fl_http_accept *read_accept(fl_http_hub *hub, const fl_head *head)
{
    fl_span accept = fl_head_get(head, FL_FIELD_ACCEPT);
    fl_http_accept *last = &hub->accept;

    if (last->len != accept.len || accept.len == 0 ||
        memcmp(last->text, accept.ptr, accept.len) != 0) {
        last->len = accept.len <= sizeof last->text ? accept.len : 0;
        if (last->len > 0)
            memcpy(last->text, accept.ptr, last->len);
        last->json = takes(head, FL_SPAN("application/json"));
        last->events = takes(head, FL_SPAN("text/event-stream"));
        last->events_first =
            last->json && last->events && likes_events_better(accept);
    }
    return last;
}

/* MCP has clients accept both forms of an answer. One who can read JSON alone
 * is served where sessions are not asked for (H11). */
static bool check_accept(fl_http_turn *turn, const fl_head *head)
{
    const fl_http_accept *accept = read_accept(turn->hub, head);
    bool json = accept->json, events = accept->events;

    turn->prefers_events = accept->events_first;
    turn->dialect =
        events && !json && turn->hub->options.http.streaming_dialect;
    if ((json && events) || turn->dialect || turn->route == FL_HTTP_MESSAGES ||
        (json && turn->hub->options.http.stateless))
        return true;
    fl_http_refuse_with(turn, 406, FL_RPC_INVALID_REQUEST,
                        "Accept must list application/json and "
                        "text/event-stream");
    return false;
}

static bool check_coding(fl_http_turn *turn, const fl_head *head)
{
    fl_coding coding =
        fl_coding_find(fl_head_get(head, FL_FIELD_CONTENT_ENCODING));

    turn->asked->coding = coding;
    if (coding == FL_CODING_IDENTITY || coding == FL_CODING_GZIP ||
        coding == FL_CODING_DEFLATE)
        return true;
    fl_http_refuse_with(turn, 415, FL_RPC_INVALID_REQUEST,
                        "Content-Encoding must be gzip, deflate or none");
    return false;
}

static void check_post(fl_http_turn *turn, const fl_head *head)
{
    const fl_options *options = &turn->hub->options;

    if (!fl_field_media_is(fl_head_get(head, FL_FIELD_CONTENT_TYPE),
                           FL_SPAN("application/json"))) {
        fl_http_refuse_with(turn, 415, FL_RPC_INVALID_REQUEST,
                            "Content-Type must be application/json");
        return;
    }
    if (!check_accept(turn, head) || !check_coding(turn, head))
        return;
    turn->gzip =
        !options->http.no_compression &&
        fl_coding_choose(fl_head_get(head, FL_FIELD_ACCEPT_ENCODING)) ==
            FL_CODING_GZIP;
    if (head->has_length && head->length > options->max_message) {
        fl_http_refuse_size(turn);
        return;
    }
    fl_http_body_begin(turn, head);
}

static void check_get(fl_http_turn *turn, const fl_head *head)
{
    if (!takes(head, FL_SPAN("text/event-stream")) ||
        !fl_head_has(head, FL_FIELD_ACCEPT))
        refuse_method(turn, "GET opens an event stream: it must accept "
                            "text/event-stream");
}

static void check_method(fl_http_turn *turn, const fl_head *head)
{
    bool post = fl_span_equal(head->method, FL_SPAN("POST"));
    bool get = fl_span_equal(head->method, FL_SPAN("GET"));
    bool remove = fl_span_equal(head->method, FL_SPAN("DELETE"));

    turn->verb = post ? FL_HTTP_POST : get ? FL_HTTP_GET : FL_HTTP_DELETE;
    if (post && turn->route != FL_HTTP_SSE)
        check_post(turn, head);
    else if (get && turn->route != FL_HTTP_MESSAGES)
        check_get(turn, head);
    else if (!remove || turn->route != FL_HTTP_ENDPOINT)
        refuse_method(turn, "this method has no meaning here");
}

/* At the endpoint, and at a path of their own. */
static bool wants_socket(const fl_http_turn *turn, const fl_head *head)
{
    return turn->hub->socket_path != NULL &&
           (turn->route == FL_HTTP_ENDPOINT || turn->route == FL_HTTP_SOCKET) &&
           fl_ws_wanted(head);
}

static void ask_for_upgrade(fl_http_turn *turn)
{
    fl_http_refuse(turn, &(fl_http_refusal){
                             .status = 426,
                             .code = FL_RPC_INVALID_REQUEST,
                             .message = FL_SPAN("this path is for WebSockets: "
                                                "ask for an Upgrade"),
                             .upgrade = true,
                         });
}

/* For load balancers and the like: whoever reads this has reached us. */
static void answer_health(fl_http_turn *turn, const fl_head *head)
{
    fl_span body = FL_SPAN("{\"status\":\"ok\"}");

    if (!fl_span_equal(head->method, FL_SPAN("GET"))) {
        refuse_method(turn, "this path is for GET");
        return;
    }
    fl_http_turn_answer(turn, 200, NULL, 0, &body, 1);
    fl_http_turn_free(turn);
}

/* A browser asks before it may send a key. Who looks after us need not be able
 * to use us. And a client that is told 401 looks for metadata of another way
 * in, and goes on when there is none. */
static bool is_for_all(const fl_http_turn *turn, const fl_head *head)
{
    return fl_span_equal(head->method, FL_SPAN("OPTIONS")) ||
           turn->route == FL_HTTP_HEALTH ||
           (turn->route == FL_HTTP_NOWHERE &&
            fl_span_starts(head->target, FL_SPAN("/.well-known/")));
}

void fl_http_door_admit(fl_http_turn *turn, const fl_head *head)
{
    turn->route = (uint8_t)fl_http_endpoint_find(turn, head);
    name_request(turn, head);
    if (turn->conn->refusal != FL_HTTP_WELCOME) {
        refuse_connection(turn);
        return;
    }
    if (!check_origin(turn, head))
        return;
    if (turn->hub->keys != NULL && !is_for_all(turn, head) &&
        !fl_http_keys_admit(turn, head))
        return;
    if (turn->route == FL_HTTP_NOWHERE)
        fl_http_refuse_with(turn, 404, FL_RPC_INVALID_REQUEST,
                            "nothing is served at this path");
    else if (wants_socket(turn, head))
        fl_ws_server_admit(turn, head);
    else if (fl_span_equal(head->method, FL_SPAN("OPTIONS")))
        answer_preflight(turn, head);
    else if (turn->route == FL_HTTP_HEALTH)
        answer_health(turn, head);
    else if (turn->route == FL_HTTP_SOCKET)
        ask_for_upgrade(turn);
    else
        check_method(turn, head);
}
