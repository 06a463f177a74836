/*
 * joint_send.c - where a request of a client to all servers goes.
 */
#include "gateway/joint.h"

#include "base/span.h"
#include "base/status.h"
#include "gateway/merge.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/ladder.h"
#include "json/nav.h"

#include <string.h>

enum {
    TEXT_MAX = 64 * 1024 * 1024,
    PATIENCE_MS = 5000,
    URI_MAX = 8192,
};

static void send_to(fl_aggregate *all, size_t leg, fl_joint_kind kind,
                    const fl_msg *msg, fl_reply reply)
{
    fl_joint *joint =
        all->legs[leg] != NULL ? fl_joint_new(all, kind, msg, reply, 1) : NULL;

    if (joint == NULL) {
        fl_joint_refuse(reply, msg->id, FL_RPC_INTERNAL_ERROR,
                        "the server cannot be asked");
        return;
    }
    joint->parts[0].leg = leg;
    fl_leg_deliver(all->legs[leg], msg, &joint->parts[0]);
    fl_joint_let_go(joint);
}

static void send_to_all(fl_aggregate *all, fl_joint_kind kind,
                        const fl_msg *msg, fl_reply reply)
{
    fl_joint *joint = fl_joint_new(all, kind, msg, reply, all->count);

    if (joint == NULL || fl_buf_append(&joint->text, msg->text) != FL_OK) {
        if (joint != NULL)
            fl_joint_free(joint);
        fl_joint_refuse(reply, msg->id, FL_RPC_INTERNAL_ERROR, "out of memory");
        return;
    }
    for (size_t i = 0; i < all->count; i++)
        joint->parts[i].leg = i;
    if (kind != FL_JOINT_ANY && joint->method != FL_METHOD_LISTEN) {
        fl_timer_start(&joint->timer, PATIENCE_MS);
        fl_joint_excuse(joint);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (all->legs[i] != NULL) {
            fl_leg_deliver(all->legs[i], msg, &joint->parts[i]);
        } else {
            joint->parts[i].ended = true;
            joint->waiting--;
        }
    }
    fl_joint_let_go(joint);
}

/* With the name of the server taken off the token, which is in the text. */
static void send_stripped(fl_aggregate *all, size_t leg, const fl_msg *msg,
                          fl_span token, fl_reply reply)
{
    size_t before = (size_t)(token.ptr - msg->text.ptr) + 1;
    size_t prefix = strlen(all->legs[leg]->route->prefix);
    fl_msg_fault fault;
    fl_msg own;
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_buf_append(&text, (fl_span){msg->text.ptr, before}) == FL_OK &&
        fl_buf_append(&text, fl_span_from(msg->text, before + prefix)) ==
            FL_OK &&
        fl_msg_read(fl_buf_view(&text), &own, &fault) == FL_OK)
        send_to(all, leg, FL_JOINT_ONE, &own, reply);
    else
        fl_joint_refuse(reply, msg->id, FL_RPC_INTERNAL_ERROR, "out of memory");
    fl_buf_reset(&text);
}

static void send_by_name(fl_aggregate *all, const fl_msg *msg, fl_span token,
                         fl_reply reply)
{
    fl_span name = fl_json_type_of(token) == FL_JSON_STRING
                       ? (fl_span){token.ptr + 1, token.len - 2}
                       : (fl_span){0};

    for (size_t i = 0; i < all->count; i++)
        if (all->legs[i] != NULL &&
            fl_span_starts(name, fl_span_of(all->legs[i]->route->prefix))) {
            send_stripped(all, i, msg, token, reply);
            return;
        }
    fl_joint_refuse(
        reply, msg->id, FL_RPC_INVALID_PARAMS,
        fl_method_of(msg) == FL_METHOD_TOOLS_CALL
            ? "Unknown tool: names here begin with that of a server"
            : "Unknown name: names here begin with that of a server");
}

/* The leg that has this resource, as far as anybody knows; or as many as there
 * are. */
static size_t find_owner(const fl_aggregate *all, const fl_msg *msg)
{
    uintptr_t number = 0;
    size_t i = 0;
    fl_buf uri;

    fl_buf_init(&uri, URI_MAX);
    if (fl_json_string_copy(msg->inner.uri, &uri) == FL_OK)
        number = (uintptr_t)fl_map_get(&all->gateway->uris, fl_buf_view(&uri));
    fl_buf_reset(&uri);
    while (i < all->count &&
           (all->legs[i] == NULL || all->legs[i]->route->number != number))
        i++;
    return i;
}

/* Many servers say yes to a subscription, whatever it is to: one that nobody
 * has listed is placed with all who do, for who was first need not have it. And
 * it is taken off everywhere, for it may have been listed since. */
static void send_by_uri(fl_aggregate *all, const fl_msg *msg, fl_method method,
                        fl_reply reply)
{
    size_t owner = find_owner(all, msg);

    if (owner < all->count && method != FL_METHOD_UNSUBSCRIBE)
        send_to(all, owner, FL_JOINT_ONE, msg, reply);
    else if (method == FL_METHOD_RESOURCES_READ)
        send_to_all(all, FL_JOINT_ANY, msg, reply);
    else
        send_to_all(all, FL_JOINT_ALL, msg, reply);
}

static void send_list(fl_aggregate *all, const fl_msg *msg, fl_reply reply)
{
    if (fl_json_get(msg->params, FL_SPAN("cursor")).len > 0)
        fl_joint_refuse(
            reply, msg->id, FL_RPC_INVALID_PARAMS,
            "Invalid cursor: lists of all servers come in one piece");
    else
        send_to_all(all, FL_JOINT_LIST, msg, reply);
}

static void send_completion(fl_aggregate *all, const fl_msg *msg,
                            fl_reply reply)
{
    fl_span ref = fl_json_get(msg->params, FL_SPAN("ref"));
    fl_span name = fl_json_get(ref, FL_SPAN("name"));

    if (name.len > 0)
        send_by_name(all, msg, name, reply);
    else
        send_to_all(all, FL_JOINT_ANY, msg, reply);
}

static void answer_ping(const fl_msg *msg, fl_reply reply)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), msg->id,
                       FL_SPAN(",\"result\":{}}")};

    reply.link->stats.pings++;
    fl_reply_end(reply, parts, 3);
}

static void route(fl_aggregate *all, const fl_msg *msg, fl_method method,
                  fl_reply reply)
{
    bool named =
        method == FL_METHOD_TOOLS_CALL || method == FL_METHOD_PROMPTS_GET;
    bool located = method == FL_METHOD_RESOURCES_READ ||
                   method == FL_METHOD_SUBSCRIBE ||
                   method == FL_METHOD_UNSUBSCRIBE;

    if (method == FL_METHOD_PING && !msg->inner.claim.present)
        answer_ping(msg, reply);
    else if (named)
        send_by_name(all, msg, msg->inner.name, reply);
    else if (located)
        send_by_uri(all, msg, method, reply);
    else if (fl_merge_key(method).len > 0)
        send_list(all, msg, reply);
    else if (method == FL_METHOD_COMPLETE)
        send_completion(all, msg, reply);
    else if (method == FL_METHOD_INITIALIZE || method == FL_METHOD_DISCOVER)
        send_to_all(all, FL_JOINT_HELLO, msg, reply);
    else if (method == FL_METHOD_SET_LEVEL || method == FL_METHOD_LISTEN)
        send_to_all(all, FL_JOINT_ALL, msg, reply);
    else
        send_to_all(all, FL_JOINT_ANY, msg, reply);
}

/* What an envelope says beside the message is said once, and looked at once:
 * here. */
static bool judge(const fl_aggregate *all, const fl_msg *msg, fl_reply reply)
{
    const fl_revision *revision;
    fl_ladder_fault fault;

    if ((all->traits & FL_LINK_CHANNEL) != 0 || !msg->inner.claim.present)
        return true;
    if (fl_ladder_judge(reply, true, msg, &revision, &fault) &&
        fl_ladder_judge_name(reply, true, msg, &fault))
        return true;
    fl_buf *out = fl_loop_scratch(reply.link->loop);
    fl_status rc =
        fl_rpc_error_write(out, msg->id, fault.code, fl_span_of(fault.text),
                           fl_buf_view(&fault.data));
    fl_span whole = fl_buf_view(out);
    if (rc == FL_OK)
        fl_reply_end_error(reply, fault.code, &whole, 1);
    else
        fl_link_close(reply.link);
    fl_buf_reset(&fault.data);
    return false;
}

void fl_joint_begin(fl_aggregate *all, const fl_msg *msg, fl_reply reply)
{
    if (msg->kind == FL_MSG_BATCH)
        fl_joint_refuse(reply, (fl_span){0}, FL_RPC_INVALID_REQUEST,
                        "batches are for one server: /servers/NAME/mcp");
    else if (judge(all, msg, reply))
        route(all, msg, fl_method_of(msg), reply);
}
