/*
 * joint.c - one request of a client to all servers, and what becomes of the
 * answers.
 *
 * A joint lives until the last of its parts has ended, for the fronts behind
 * the legs point to them; its answer may have been given long before. Whoever
 * walks its parts holds it meanwhile, as one more that is waited for.
 */
#include "gateway/joint.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/merge.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"

enum {
    TEXT_MAX = 64 * 1024 * 1024,
    URI_MAX = 8192,
};

static void on_timer(fl_timer *timer);

void fl_joint_refuse(fl_reply reply, fl_span id, int code, const char *text)
{
    fl_buf *out = fl_loop_scratch(reply.link->loop);
    fl_status rc =
        fl_rpc_error_write(out, id, code, fl_span_of(text), (fl_span){0});
    fl_span whole = fl_buf_view(out);

    if (rc == FL_OK)
        rc = fl_reply_end_error(reply, code, &whole, 1);
    if (rc == FL_E_NOMEM || rc == FL_E_TOO_BIG)
        fl_link_close(reply.link);
}

fl_joint *fl_joint_new(fl_aggregate *all, fl_joint_kind kind, const fl_msg *msg,
                       fl_reply reply, size_t count)
{
    fl_joint *joint =
        fl_mem_zalloc(sizeof *joint + count * sizeof *joint->parts);

    if (joint == NULL)
        return NULL;
    joint->all = all;
    joint->reply = reply;
    joint->kind = kind;
    joint->method = fl_method_of(msg);
    joint->count = count;
    joint->waiting = 1 + (unsigned)count;
    fl_buf_init(&joint->text, TEXT_MAX);
    fl_timer_init(&joint->timer, all->link->loop, on_timer);
    for (size_t i = 0; i < count; i++) {
        joint->parts[i].joint = joint;
        fl_buf_init(&joint->parts[i].text, TEXT_MAX);
        fl_buf_init(&joint->parts[i].items, TEXT_MAX);
        fl_buf_init(&joint->parts[i].cursor, TEXT_MAX);
    }
    fl_list_append(&all->joints, &joint->node);
    fl_link_hold(all->link);
    return joint;
}

void fl_joint_free(fl_joint *joint)
{
    fl_timer_stop(&joint->timer);
    fl_list_remove(&joint->node);
    if (joint->all->link != NULL)
        fl_link_release(joint->all->link);
    for (size_t i = 0; i < joint->count; i++) {
        fl_buf_reset(&joint->parts[i].text);
        fl_buf_reset(&joint->parts[i].items);
        fl_buf_reset(&joint->parts[i].cursor);
    }
    fl_buf_reset(&joint->text);
    fl_mem_free(joint);
}

static fl_span id_of(const fl_joint *joint)
{
    fl_msg_fault fault;
    fl_msg msg;

    return fl_msg_read(fl_buf_view(&joint->text), &msg, &fault) == FL_OK
               ? msg.id
               : (fl_span){0};
}

/* The first part that says yes; or the first that says anything. */
static const fl_part *choose(const fl_joint *joint)
{
    const fl_part *said = NULL;
    fl_span result;

    for (size_t i = 0; i < joint->count; i++) {
        const fl_part *part = &joint->parts[i];
        if (fl_merge_result(part, &result))
            return part;
        if (said == NULL && fl_buf_len(&part->text) > 0)
            said = part;
    }
    return said;
}

static void answer_with(fl_joint *joint, const fl_part *part)
{
    fl_span whole = part != NULL ? fl_buf_view(&part->text) : (fl_span){0};

    if (whole.len > 0)
        fl_reply_end_error(joint->reply, part->code, &whole, 1);
    else if (joint->abandoned)
        fl_reply_end(joint->reply, NULL, 0);
    else
        fl_joint_refuse(joint->reply, id_of(joint), FL_RPC_INTERNAL_ERROR,
                        "none of the servers has answered in time");
}

static void answer_merged(fl_joint *joint)
{
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    fl_status rc = joint->kind == FL_JOINT_HELLO ? fl_merge_hello(joint, &out)
                                                 : fl_merge_list(joint, &out);
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), id_of(joint),
                       FL_SPAN(",\"result\":"), fl_buf_view(&out),
                       FL_SPAN("}")};
    if (rc == FL_OK)
        rc = fl_reply_end(joint->reply, parts, 5);
    if (rc == FL_E_STATE)
        answer_with(joint, choose(joint));
    else if (rc != FL_OK && rc != FL_BUSY)
        fl_joint_refuse(joint->reply, id_of(joint), FL_RPC_INTERNAL_ERROR,
                        "the answers of all servers together are too large");
    fl_buf_reset(&out);
}

static void finish(fl_joint *joint)
{
    joint->answered = true;
    if (joint->method == FL_METHOD_INITIALIZE)
        joint->all->greeted = true;
    if (joint->kind == FL_JOINT_HELLO || joint->kind == FL_JOINT_LIST)
        answer_merged(joint);
    else
        answer_with(joint, choose(joint));
}

static bool was_missed(const fl_route *route)
{
    for (fl_list *node = route->replicas.next; node != &route->replicas;
         node = node->next)
        if (FL_LIST_ENTRY(node, fl_replica, node)->health.heard_ms >
            route->missed_ms)
            return false;
    return route->missed_ms > 0;
}

/* If all of them were, they are waited for: there is nobody else. */
void fl_joint_excuse(fl_joint *joint)
{
    fl_leg *const *legs = joint->all->legs;
    size_t there = 0, missed = 0;

    for (size_t i = 0; i < joint->count; i++) {
        there += legs[joint->parts[i].leg] != NULL;
        missed += legs[joint->parts[i].leg] != NULL &&
                  was_missed(legs[joint->parts[i].leg]->route);
    }
    for (size_t i = 0; i < joint->count && missed < there; i++)
        joint->parts[i].late = legs[joint->parts[i].leg] != NULL &&
                               was_missed(legs[joint->parts[i].leg]->route);
}

static unsigned count_late(const fl_joint *joint)
{
    unsigned n = 0;

    for (size_t i = 0; i < joint->count; i++)
        n += joint->parts[i].late && !joint->parts[i].ended;
    return n;
}

void fl_joint_let_go(fl_joint *joint)
{
    if (--joint->waiting > count_late(joint))
        return;
    if (!joint->answered)
        finish(joint);
    if (joint->waiting == 0)
        fl_joint_free(joint);
}

/* Nobody wants the rest. */
static void call_off(fl_joint *joint)
{
    joint->waiting++;
    for (size_t i = 0; i < joint->count; i++) {
        fl_part *part = &joint->parts[i];
        fl_leg *leg = joint->all->legs[part->leg];
        if (!part->ended && leg != NULL)
            leg->link.events->on_abandoned(&leg->link,
                                           (fl_reply){&leg->link, part});
    }
    fl_joint_let_go(joint);
}

/* Who has not answered holds nobody up again before he is heard of. */
static void miss(const fl_joint *joint)
{
    fl_loop *loop = joint->all->link->loop;

    for (size_t i = 0; i < joint->count; i++) {
        const fl_leg *leg = joint->all->legs[joint->parts[i].leg];
        if (joint->parts[i].ended || leg == NULL)
            continue;
        leg->route->missed_ms = fl_loop_now(loop);
        fl_log_say(fl_loop_log(loop), FL_LOG_WARN,
                   "a server is slow: its part is left out",
                   fl_log_text("server", fl_span_of(leg->route->name)),
                   fl_log_text("method", fl_method_name(joint->method)));
    }
}

/* A conversation may yet be opened, with those who are slow. */
static void on_timer(fl_timer *timer)
{
    fl_joint *joint = FL_LIST_ENTRY(timer, fl_joint, timer);

    joint->waiting++;
    if (!joint->answered) {
        miss(joint);
        finish(joint);
    }
    if (joint->method != FL_METHOD_INITIALIZE)
        call_off(joint);
    fl_joint_let_go(joint);
}

static void log_failure(const fl_part *part)
{
    const fl_joint *joint = part->joint;
    const fl_leg *leg = joint->all->legs[part->leg];

    if (leg != NULL && part->code != 0 &&
        (joint->kind == FL_JOINT_HELLO || joint->kind == FL_JOINT_LIST) &&
        part->code != FL_RPC_METHOD_NOT_FOUND)
        fl_log_say(fl_loop_log(joint->all->link->loop), FL_LOG_WARN,
                   "a server failed: its part is left out",
                   fl_log_text("server", fl_span_of(leg->route->name)),
                   fl_log_text("method", fl_method_name(joint->method)));
}

/* It has come after all: its conversation is open, and its lists are news. */
static void welcome_late(const fl_part *part)
{
    fl_aggregate *all = part->joint->all;
    fl_leg *leg = all->legs[part->leg];
    fl_msg_fault fault;
    fl_msg msg;

    if (leg == NULL || fl_msg_read(FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":"
                                           "\"notifications/initialized\"}"),
                                   &msg, &fault) != FL_OK)
        return;
    fl_leg_deliver(leg, &msg, NULL);
    fl_aggregate_tell(all, FL_SPAN("tools"));
}

/* An answer that came after the client's was given. */
static void hear_late(const fl_part *part)
{
    const fl_joint *joint = part->joint;
    fl_method method = joint->method;

    if (method == FL_METHOD_INITIALIZE)
        welcome_late(part);
    else if (part->late && joint->kind == FL_JOINT_LIST)
        fl_aggregate_tell(joint->all, method == FL_METHOD_TEMPLATES_LIST
                                          ? FL_SPAN("resources")
                                          : fl_merge_key(method));
}

static fl_status end_only(fl_part *part, int code, const fl_span *parts,
                          size_t count)
{
    fl_joint *joint = part->joint;
    fl_status rc = fl_reply_end_error(joint->reply, code, parts, count);

    if (rc == FL_E_TOO_BIG)
        return rc;
    part->ended = joint->answered = true;
    fl_joint_let_go(joint);
    return rc;
}

/* Whoever has it is asked first from now on. */
static void learn(const fl_joint *joint, const fl_part *part)
{
    const fl_leg *leg = joint->all->legs[part->leg];
    fl_msg_fault fault;
    fl_msg msg;
    fl_buf uri;

    if (leg == NULL || joint->method != FL_METHOD_RESOURCES_READ ||
        fl_msg_read(fl_buf_view(&joint->text), &msg, &fault) != FL_OK)
        return;
    fl_buf_init(&uri, URI_MAX);
    if (fl_json_string_copy(msg.inner.uri, &uri) == FL_OK &&
        fl_map_add(&joint->all->gateway->uris, fl_buf_view(&uri),
                   fl_map_number(leg->route->number)) != FL_OK)
        fl_log_say(fl_loop_log(joint->all->link->loop), FL_LOG_DEBUG,
                   "a resource's server is not remembered",
                   fl_log_text("server", fl_span_of(leg->route->name)));
    fl_buf_reset(&uri);
}

fl_status fl_part_end(fl_part *part, int code, const fl_span *parts,
                      size_t count)
{
    fl_joint *joint = part->joint;
    bool first = fl_buf_len(&part->text) == 0;
    fl_buf page;

    if (joint->kind == FL_JOINT_ONE)
        return end_only(part, code, parts, count);
    fl_buf_init(&page, TEXT_MAX);
    fl_status rc = fl_buf_append_all(&page, parts, count);
    if (first && rc == FL_OK)
        rc = fl_buf_append(&part->text, fl_buf_view(&page));
    if (first)
        part->code = code;
    bool more = rc == FL_OK && joint->kind == FL_JOINT_LIST && count > 0 &&
                fl_part_turn(part, fl_buf_view(&page));
    fl_buf_reset(&page);
    if (more)
        return FL_OK;
    part->ended = true;
    log_failure(part);
    if (joint->answered && code == 0 && count > 0)
        hear_late(part);
    if (joint->kind == FL_JOINT_ANY && !joint->answered && code == 0 &&
        count > 0) {
        finish(joint);
        learn(joint, part);
        call_off(joint);
    }
    fl_joint_let_go(joint);
    return FL_OK;
}

void fl_joints_abandon(fl_aggregate *all, const void *stream)
{
    fl_list *node = all->joints.next;

    while (node != &all->joints) {
        fl_joint *joint = FL_LIST_ENTRY(node, fl_joint, node);
        if (joint->reply.stream != stream || joint->abandoned) {
            node = node->next;
            continue;
        }
        joint->abandoned = true;
        call_off(joint);
        node = all->joints.next; /* who knows which of them are left */
    }
}

/* The front has gone, and has said nothing. */
void fl_joints_lose(fl_aggregate *all, size_t leg)
{
    for (fl_list *node = all->joints.next; node != &all->joints;) {
        fl_joint *joint = FL_LIST_ENTRY(node, fl_joint, node);
        node = node->next;
        joint->waiting++;
        for (size_t i = 0; i < joint->count; i++)
            if (joint->parts[i].leg == leg && !joint->parts[i].ended) {
                joint->parts[i].ended = true;
                joint->waiting--;
            }
        fl_joint_let_go(joint);
    }
}

void fl_joints_free(fl_aggregate *all)
{
    while (!fl_list_empty(&all->joints))
        fl_joint_free(FL_LIST_ENTRY(all->joints.next, fl_joint, node));
}
