/*
 * http_keys.c - what the keys of a hub mean to it.
 *
 * A request shows its key in one of two headers, and belongs to it from there
 * on; so does the link it opens, and no other key gets at that. An EventSource
 * of a page sends no headers: where that is allowed, the stream of HTTP+SSE may
 * show its key in the query. Nothing else may, for URLs end up in logs and
 * histories; not in ours. A key that is
 * taken away takes what is open with it: streams and sockets, which will not
 * show it again, are closed.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "rpc/error.h"
#include "wire/url.h"

enum { QUERY_KEY_MAX = 4096 };

/* What comes after "Bearer"; empty if there is nothing of the kind. */
static fl_span bearer(fl_span value)
{
    static const fl_span scheme = {"bearer ", 7};

    if (value.len < scheme.len ||
        !fl_field_name_equal((fl_span){value.ptr, scheme.len - 1},
                             (fl_span){scheme.ptr, scheme.len - 1}) ||
        value.ptr[scheme.len - 1] != ' ')
        return (fl_span){0};
    value = fl_span_from(value, scheme.len);
    while (value.len > 0 && value.ptr[0] == ' ')
        value = fl_span_from(value, 1);
    return value;
}

/* RFC 6750 3.1: who has shown nothing is told nothing about it. */
static void refuse(fl_http_turn *turn, bool any)
{
    fl_http_refuse(
        turn,
        &(fl_http_refusal){
            .status = 401,
            .code = FL_RPC_INVALID_REQUEST,
            .message = any ? FL_SPAN("this key is none of the server's; it "
                                     "wants another in X-API-Key, or in "
                                     "Authorization after Bearer")
                           : FL_SPAN("a key is missing: send X-API-Key: KEY, "
                                     "or Authorization: Bearer KEY"),
            .challenge = any ? FL_SPAN("Bearer realm=\"mcp\", "
                                       "error=\"invalid_token\"")
                             : FL_SPAN("Bearer realm=\"mcp\""),
        });
}

/* The key in the query of a request that may have one there; else empty. */
static fl_span find_query_key(const fl_http_turn *turn, const fl_head *head)
{
    fl_span path, query, value;

    if (!turn->hub->options.http.key_in_query || turn->route != FL_HTTP_SSE ||
        !fl_span_equal(head->method, FL_SPAN("GET")))
        return (fl_span){0};
    fl_url_split_target(head->target, &path, &query);
    return fl_url_query_get(query, FL_SPAN("token"), &value) ? value
                                                             : (fl_span){0};
}

/* As it is written in a URL. */
static uint64_t find_written(const fl_http_hub *hub, fl_span written)
{
    uint64_t principal = 0;
    fl_buf key;

    if (written.len == 0)
        return 0;
    fl_buf_init(&key, QUERY_KEY_MAX);
    if (fl_url_decode(written, &key) == FL_OK)
        principal = fl_keys_find(hub->keys, fl_buf_view(&key));
    if (key.ptr != NULL)
        fl_mem_wipe(key.ptr, key.cap);
    fl_buf_reset(&key);
    return principal;
}

bool fl_http_keys_admit(fl_http_turn *turn, const fl_head *head)
{
    fl_span own = fl_head_get(head, FL_FIELD_X_API_KEY);
    fl_span common = bearer(fl_head_get(head, FL_FIELD_AUTHORIZATION));
    fl_span written = find_query_key(turn, head);
    uint64_t principal = fl_keys_find(turn->hub->keys, own);

    if (principal == 0)
        principal = fl_keys_find(turn->hub->keys, common);
    if (principal == 0)
        principal = find_written(turn->hub, written);
    turn->asked->principal = principal;
    if (principal == 0)
        refuse(turn, own.len > 0 || common.len > 0 || written.len > 0);
    return principal != 0;
}

bool fl_http_keys_still(fl_http_turn *turn)
{
    const fl_http_hub *hub = turn->hub;

    if (hub->keys == NULL || turn->asked->principal == 0 ||
        fl_keys_has(hub->keys, turn->asked->principal))
        return true;
    refuse(turn, true);
    return false;
}

static void close_void(const fl_http_hub *hub, fl_link *link)
{
    fl_link_info info;

    if (link == NULL)
        return;
    fl_link_get_info(link, &info);
    if (!fl_keys_has(hub->keys, info.principal))
        fl_link_close(link);
}

static void close_sessions(fl_http_hub *hub)
{
    for (fl_list *node = hub->by_use.next; node != &hub->by_use;) {
        fl_http_session *session = FL_LIST_ENTRY(node, fl_http_session, node);
        node = node->next;
        close_void(hub, &session->link);
    }
}

static void close_turns(const fl_http_conn *conn)
{
    for (fl_list *node = conn->turns.next; node != &conn->turns;) {
        const fl_http_turn *turn = FL_LIST_ENTRY(node, fl_http_turn, node);
        node = node->next;
        close_void(conn->caller->hub, turn->link);
    }
}

static void close_conns(const fl_http_hub *hub, const fl_list *conns)
{
    for (fl_list *node = conns->next; node != conns;) {
        const fl_http_conn *conn = FL_LIST_ENTRY(node, fl_http_conn, node);
        node = node->next; /* it leaves the list later, never now */
        if (conn->socket != NULL)
            close_void(hub, &conn->socket->link);
        else
            close_turns(conn);
    }
}

static void on_change(void *user)
{
    fl_http_hub *hub = user;

    close_sessions(hub);
    close_conns(hub, &hub->conns);
    close_conns(hub, &hub->yielded);
}

void fl_http_keys_begin(fl_http_hub *hub, fl_keys *keys)
{
    if (keys == NULL)
        return;
    hub->keys = fl_keys_ref(keys);
    hub->key_watch = (fl_keys_watch){.changed = on_change, .user = hub};
    fl_keys_watch_begin(keys, &hub->key_watch);
}

void fl_http_keys_end(fl_http_hub *hub)
{
    if (hub->keys == NULL)
        return;
    fl_keys_watch_end(&hub->key_watch);
    fl_keys_free(hub->keys);
    hub->keys = NULL;
}
