/*
 * http_post.c - a message has come: which conversation does it belong to?
 *
 * The body decides, the headers only confirm: a request that claims a modern
 * revision is one, whatever session it names; initialize opens a session; all
 * else belongs to the session it names. What belongs nowhere is told how to
 * begin.
 */
#include "transport/http_server.h"

#include "base/span.h"
#include "rpc/error.h"
#include "wire/url.h"

#include <string.h>

/* As the TypeScript SDK and the gateways built on it say it; clients of theirs
 * look for it, and open a session anew. */
enum { SESSION_NOT_FOUND = -32001 };

static void refuse_message(fl_http_turn *turn, unsigned status, int code,
                           fl_span id, const char *message)
{
    fl_http_refuse(turn, &(fl_http_refusal){
                             .status = status,
                             .code = code,
                             .id = id,
                             .message = fl_span_of(message),
                             .retry_ms = status == 503 ? 1000 : 0,
                         });
}

static void accept_message(fl_http_turn *turn)
{
    fl_http_turn_answer(turn, 202, NULL, 0, NULL, 0);
    fl_http_turn_free(turn);
}

static uint64_t principal_of(const fl_link *link)
{
    return link->transport == &fl_http_session_transport
               ? ((const fl_http_session *)link)->principal
               : fl_http_sse_principal(link);
}

/* One of another endpoint, or another's, is as good as none. */
static fl_link *find_session(const fl_http_turn *turn, fl_span id,
                             const fl_transport *kind)
{
    fl_link *link = id.len > 0 ? fl_index_get(&turn->hub->sessions, id) : NULL;

    return link != NULL && link->transport == kind &&
                   link->endpoint == turn->endpoint &&
                   principal_of(link) == turn->asked->principal &&
                   link->state == FL_LINK_ACTIVE
               ? link
               : NULL;
}

static fl_http_session *find_legacy(fl_http_turn *turn, const fl_head *head)
{
    return (fl_http_session *)find_session(
        turn, fl_head_get(head, FL_FIELD_MCP_SESSION_ID),
        &fl_http_session_transport);
}

static void open_session(fl_http_turn *turn, const fl_msg *msg)
{
    fl_http_session *session;
    fl_status rc = fl_http_session_new(turn, &session);

    if (rc == FL_OK) {
        turn->initialize = true;
        fl_http_session_take(session, turn, msg);
    } else if (rc == FL_E_LIMIT) {
        fl_http_refuse_limit(turn, 503, FL_RPC_BUSY,
                             "too many sessions (http.max_sessions, "
                             "http.max_sessions_per_address)",
                             turn->hub->options.http.max_sessions);
    } else {
        refuse_message(turn, 503, FL_RPC_BUSY, msg->id,
                       "no session could be opened, try again");
    }
}

/* H4: a header that names no revision at all. */
static bool is_bad_version(const fl_http_session *session, const fl_head *head)
{
    fl_span version = fl_head_get(head, FL_FIELD_MCP_PROTOCOL_VERSION);
    const fl_revision *revision = fl_revision_get(session->revision);
    bool agreed =
        revision != NULL && fl_span_equal(version, fl_span_of(revision->name));

    return !agreed && version.len > 0 && fl_revision_find(version) == NULL;
}

static void refuse_version(fl_http_turn *turn, fl_span id)
{
    refuse_message(turn, 400, FL_RPC_INVALID_REQUEST, id,
                   "MCP-Protocol-Version names no revision we know");
}

static void serve_session(fl_http_session *session, fl_http_turn *turn,
                          const fl_head *head, const fl_msg *msg)
{
    if (is_bad_version(session, head))
        refuse_version(turn, msg->id);
    else
        fl_http_session_take(session, turn, msg);
}

static bool says_modern(const fl_head *head)
{
    return fl_revision_is_modern(
        fl_head_get(head, FL_FIELD_MCP_PROTOCOL_VERSION));
}

/* Neither a claim nor a session. */
static void serve_stranger(fl_http_turn *turn, const fl_head *head,
                           const fl_msg *msg)
{
    if (msg->kind == FL_MSG_REQUEST)
        fl_http_stateless_take(turn, msg);
    else if (msg->kind == FL_MSG_NOTIFICATION && says_modern(head))
        accept_message(turn); /* it has none that mean anything over HTTP */
    else if (msg->kind == FL_MSG_BATCH)
        refuse_message(turn, 400, FL_RPC_INVALID_REQUEST, (fl_span){0},
                       "batches exist in sessions of 2025-03-26 only");
    else
        refuse_message(turn, 400, FL_RPC_INVALID_REQUEST, (fl_span){0},
                       "no session: Mcp-Session-Id is missing; send "
                       "initialize first");
}

static bool is_modern(const fl_msg *msg)
{
    const fl_claim *claim = &msg->inner.claim;

    if (!claim->present || msg->kind != FL_MSG_REQUEST)
        return false;
    if (!fl_msg_method_is(msg, FL_SPAN("initialize")))
        return true;
    return claim->version.len > 2 &&
           fl_revision_is_modern(
               (fl_span){claim->version.ptr + 1, claim->version.len - 2});
}

static void serve_endpoint(fl_http_turn *turn, const fl_head *head,
                           const fl_msg *msg)
{
    fl_span id = fl_head_get(head, FL_FIELD_MCP_SESSION_ID);
    bool opens = msg->kind == FL_MSG_REQUEST &&
                 fl_msg_method_is(msg, FL_SPAN("initialize"));

    /* without either, a claim makes no difference here */
    if ((opens || id.len > 0) && is_modern(msg)) {
        fl_http_stateless_take(turn, msg);
        return;
    }
    if (!opens && says_modern(head)) {
        serve_stranger(turn, head, msg); /* its header says what it is */
        return;
    }
    fl_http_session *session = find_legacy(turn, head);
    if (session != NULL)
        serve_session(session, turn, head, msg);
    else if (opens)
        open_session(turn, msg);
    else if (id.len > 0)
        refuse_message(turn, 404, SESSION_NOT_FOUND, msg->id,
                       "Session not found: it is unknown or has expired; send "
                       "initialize again");
    else
        serve_stranger(turn, head, msg);
}

static void serve_messages(fl_http_turn *turn, const fl_head *head,
                           const fl_msg *msg)
{
    fl_span path, query, id = {0};

    fl_url_split_target(head->target, &path, &query);
    fl_url_query_get(query, FL_SPAN("sessionId"), &id);
    fl_link *link = find_session(turn, id, &fl_http_sse_transport);
    if (link != NULL)
        fl_http_sse_take(link, turn, msg);
    else
        refuse_message(turn, 404, SESSION_NOT_FOUND, msg->id,
                       "Session not found: unknown sessionId; open the event "
                       "stream again");
}

void fl_http_post(fl_http_turn *turn, const fl_head *head, fl_span body)
{
    fl_msg msg;
    fl_msg_fault fault;
    fl_status rc = fl_msg_read(body, &msg, &fault);

    if (rc == FL_E_NOMEM)
        refuse_message(turn, 503, FL_RPC_BUSY, (fl_span){0}, "out of memory");
    else if (rc != FL_OK)
        refuse_message(turn, 400, fault.code, msg.id, fault.what);
    else if (turn->hub->listener == NULL)
        refuse_message(turn, 503, FL_RPC_BUSY, msg.id, "the server is closing");
    else if (turn->route == FL_HTTP_MESSAGES)
        serve_messages(turn, head, &msg);
    else
        serve_endpoint(turn, head, &msg);
}

void fl_http_get(fl_http_turn *turn, const fl_head *head)
{
    fl_span id = fl_head_get(head, FL_FIELD_MCP_SESSION_ID);
    fl_http_session *session = find_legacy(turn, head);

    if (turn->hub->listener == NULL)
        refuse_message(turn, 503, FL_RPC_BUSY, (fl_span){0},
                       "the server is closing");
    else if (session != NULL && is_bad_version(session, head))
        refuse_version(turn, (fl_span){0});
    else if (!fl_budget_open(&turn->hub->budget))
        fl_http_refuse_limit(turn, 503, FL_RPC_BUSY,
                             "the memory budget (http.memory_budget) is used "
                             "up",
                             turn->hub->budget.max);
    else if (session != NULL && turn->route == FL_HTTP_ENDPOINT)
        fl_http_session_listen(session, turn,
                               fl_head_get(head, FL_FIELD_LAST_EVENT_ID));
    else if (id.len > 0 && turn->route == FL_HTTP_ENDPOINT)
        refuse_message(turn, 404, SESSION_NOT_FOUND, (fl_span){0},
                       "Session not found: it is unknown or has expired; send "
                       "initialize again");
    else if (turn->hub->options.http.no_sse)
        fl_http_refuse(turn,
                       &(fl_http_refusal){
                           .status = 405,
                           .code = FL_RPC_INVALID_REQUEST,
                           .message = FL_SPAN("no session, and HTTP+SSE of "
                                              "2024-11-05 is not served here"),
                           .allow = FL_SPAN("POST, DELETE, OPTIONS"),
                       });
    else
        fl_http_sse_open(turn);
}

void fl_http_delete(fl_http_turn *turn, const fl_head *head)
{
    fl_span id = fl_head_get(head, FL_FIELD_MCP_SESSION_ID);
    fl_http_session *session = find_legacy(turn, head);

    if (session == NULL && id.len == 0) {
        fl_http_refuse(turn, &(fl_http_refusal){
                                 .status = 405,
                                 .code = FL_RPC_INVALID_REQUEST,
                                 .message = FL_SPAN("DELETE ends a session: "
                                                    "Mcp-Session-Id is "
                                                    "missing"),
                                 .allow = FL_SPAN("GET, POST, OPTIONS"),
                             });
        return;
    }
    if (session == NULL) {
        refuse_message(turn, 404, SESSION_NOT_FOUND, (fl_span){0},
                       "Session not found: it is unknown or has expired");
        return;
    }
    if (is_bad_version(session, head)) {
        refuse_version(turn, (fl_span){0});
        return;
    }
    fl_http_session_over(session, FL_HTTP_OVER_DELETED);
    fl_http_turn_answer(turn, 204, NULL, 0, NULL, 0);
    fl_http_turn_free(turn);
}
