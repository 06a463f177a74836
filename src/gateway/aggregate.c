/*
 * aggregate.c - a client that came to all servers at once: his link, and a leg
 * to each server.
 *
 * What a leg's front sends is the client's as it is, but for the ids of
 * questions: two servers may ask under the same one, so the leg's number is
 * put behind it, and taken off the answer.
 */
#include "gateway/aggregate.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/joint.h"
#include "io/loop.h"
#include "transport/transport.h"
#include "json/nav.h"

#include <string.h>

enum { TEXT_MAX = 64 * 1024 * 1024 };

void fl_leg_deliver(fl_leg *leg, const fl_msg *msg, void *stream)
{
    fl_link *link = &leg->link;

    link->stats.messages_in++;
    link->stats.bytes_in += msg->text.len;
    fl_link_ref(link);
    link->events->on_message(link, msg, (fl_reply){link, stream});
    fl_link_unref(link);
}

/* "g12" of the third leg is "g12@3". */
static fl_status tag(const fl_leg *leg, fl_span text, fl_span id, fl_buf *out)
{
    size_t before = (size_t)(id.ptr - text.ptr) + id.len - 1;
    fl_status rc = fl_buf_append(out, (fl_span){text.ptr, before});

    if (rc == FL_OK)
        rc = fl_buf_printf(out, "@%zu", leg->index + 1);
    return rc == FL_OK ? fl_buf_append(out, fl_span_from(text, before)) : rc;
}

/* The leg an answer is for, and its text as that one knows it. NULL: it is
 * for none. */
static fl_leg *untag(const fl_aggregate *all, const fl_msg *msg, fl_buf *out)
{
    size_t at = msg->id.len;

    while (at > 0 && msg->id.ptr[at - 1] != '@')
        at--;
    if (at < 3 || at + 2 > msg->id.len)
        return NULL;
    fl_span digits = {msg->id.ptr + at, msg->id.len - at - 1};
    uint64_t number = fl_numbers_read(digits);
    if (number == 0 || number > all->count)
        return NULL;
    size_t before = (size_t)(msg->id.ptr - msg->text.ptr) + at - 1;
    fl_span rest = fl_span_from(msg->text, before + 1 + digits.len);
    return fl_buf_append(out, (fl_span){msg->text.ptr, before}) == FL_OK &&
                   fl_buf_append(out, rest) == FL_OK
               ? all->legs[number - 1]
               : NULL;
}

static fl_status send_tagged(const fl_leg *leg, fl_reply to, fl_span text,
                             fl_span id)
{
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    fl_status rc = fl_json_type_of(id) == FL_JSON_STRING
                       ? tag(leg, text, id, &out)
                       : fl_buf_append(&out, text);
    fl_span whole = fl_buf_view(&out);
    if (rc == FL_OK)
        rc = to.stream != NULL ? fl_reply_send(to, &whole, 1)
                               : fl_link_send(to.link, &whole, 1);
    fl_buf_reset(&out);
    return rc;
}

static fl_status pass_on(fl_leg *leg, fl_part *part, fl_span text)
{
    bool over = part != NULL && part->joint->answered;
    fl_reply to = part != NULL && !over ? part->joint->reply
                                        : (fl_reply){leg->all->link, NULL};
    fl_msg_fault fault;
    fl_msg msg;

    if (over && !leg->all->greeted)
        return FL_E_STATE; /* there is no other way to him */
    if (fl_msg_read(text, &msg, &fault) != FL_OK)
        return FL_E_INVALID;
    fl_method method = fl_method_of(&msg);
    if (method == FL_METHOD_ACKNOWLEDGED && part != NULL) {
        if (part->joint->acknowledged)
            return FL_OK; /* he knows */
        part->joint->acknowledged = true;
    }
    if (msg.kind == FL_MSG_REQUEST)
        return send_tagged(leg, to, text, msg.id);
    if (method == FL_METHOD_CANCELLED)
        return send_tagged(leg, to, text,
                           fl_json_get(msg.params, FL_SPAN("requestId")));
    return to.stream != NULL ? fl_reply_send(to, &text, 1)
                             : fl_link_send(to.link, &text, 1);
}

static fl_status leg_send(fl_link *link, void *stream, const fl_span *parts,
                          size_t count)
{
    fl_leg *leg = (fl_leg *)link;
    fl_buf text;

    if (leg->all == NULL)
        return FL_E_STATE;
    fl_buf_init(&text, TEXT_MAX);
    fl_status rc = fl_buf_append_all(&text, parts, count);
    if (rc == FL_OK)
        rc = pass_on(leg, stream, fl_buf_view(&text));
    fl_buf_reset(&text);
    return rc;
}

static fl_status leg_answer(fl_link *link, void *stream, int code,
                            const fl_span *parts, size_t count)
{
    (void)link;
    return fl_part_end(stream, code, parts, count);
}

/* All it was at is lost before its front hears of the end, so that nothing is
 * said to it any more. */
static void end_leg(fl_leg *leg)
{
    fl_aggregate *all = leg->all;
    fl_error why;

    leg->all = NULL;
    fl_timer_stop(&leg->timer);
    all->legs[leg->index] = NULL;
    fl_error_set(&why, FL_END, "the client left");
    if (fl_link_move(&leg->link, FL_LINK_CLOSING) == FL_OK ||
        leg->link.state == FL_LINK_CLOSING)
        fl_link_ended(&leg->link, &why);
}

void fl_aggregate_tell(fl_aggregate *all, fl_span list)
{
    fl_span news[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"), list,
        FL_SPAN("/list_changed\"}")};

    if (all->greeted && fl_link_send(all->link, news, 3) != FL_OK)
        fl_log_say(fl_loop_log(all->link->loop), FL_LOG_DEBUG,
                   "a client does not read: a change of lists is lost",
                   fl_log_text("list", list));
}

/* The server was taken away, and with it what it had in the lists. */
static void on_leg_timer(fl_timer *timer)
{
    fl_leg *leg = FL_LIST_ENTRY(timer, fl_leg, timer);
    fl_aggregate *all = leg->all;
    size_t index = leg->index;

    end_leg(leg);
    if (all->gateway->closing == FL_GATEWAY_OPEN) {
        fl_aggregate_tell(all, FL_SPAN("tools"));
        fl_aggregate_tell(all, FL_SPAN("prompts"));
        fl_aggregate_tell(all, FL_SPAN("resources"));
    }
    fl_joints_lose(all, index);
}

static void leg_close(fl_link *link)
{
    fl_leg *leg = (fl_leg *)link;

    if (leg->all != NULL && fl_link_move(link, FL_LINK_CLOSING) == FL_OK)
        fl_timer_start(&leg->timer, 0);
}

static void leg_free(fl_link *link)
{
    fl_timer_stop(&((fl_leg *)link)->timer);
    fl_mem_free(link);
}

static void leg_info(const fl_link *link, fl_link_info *info)
{
    const fl_leg *leg = (const fl_leg *)link;
    fl_link_info own;

    if (leg->all == NULL)
        return;
    fl_link_get_info(leg->all->link, &own);
    info->traits = own.traits | FL_LINK_JUDGED;
    info->max_message = own.max_message;
    info->buffered = own.buffered;
    info->principal = own.principal;
    memcpy(info->peer, own.peer, sizeof info->peer);
}

static const fl_transport leg_transport = {
    .name = "leg",
    .send = leg_send,
    .answer = leg_answer,
    .close = leg_close,
    .free = leg_free,
    .info = leg_info,
};

bool fl_aggregate_is_leg(const fl_link *link)
{
    return link->transport == &leg_transport;
}

static void on_notice(fl_aggregate *all, const fl_msg *msg)
{
    if (fl_method_of(msg) == FL_METHOD_PROGRESS)
        return; /* its token may be of any of them */
    for (size_t i = 0; i < all->count; i++)
        if (all->legs[i] != NULL)
            fl_leg_deliver(all->legs[i], msg, NULL);
}

static void on_answer(fl_aggregate *all, const fl_msg *msg)
{
    fl_msg_fault fault;
    fl_msg own;
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    fl_leg *leg = untag(all, msg, &text);
    if (leg != NULL && fl_msg_read(fl_buf_view(&text), &own, &fault) == FL_OK)
        fl_leg_deliver(leg, &own, NULL);
    fl_buf_reset(&text);
}

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    fl_aggregate *all = link->user;

    if (msg->kind == FL_MSG_REQUEST || msg->kind == FL_MSG_BATCH)
        fl_joint_begin(all, msg, reply);
    else if (msg->kind == FL_MSG_NOTIFICATION)
        on_notice(all, msg);
    else
        on_answer(all, msg);
}

static void on_writable(fl_link *link)
{
    const fl_aggregate *all = link->user;

    for (size_t i = 0; i < all->count; i++)
        if (all->legs[i] != NULL)
            all->legs[i]->link.events->on_writable(&all->legs[i]->link);
}

static void on_abandoned(fl_link *link, fl_reply reply)
{
    fl_joints_abandon(link->user, reply.stream);
}

static void on_ended(fl_link *link)
{
    const fl_aggregate *all = link->user;

    for (size_t i = 0; i < all->count; i++)
        if (all->legs[i] != NULL)
            all->legs[i]->link.events->on_ended(&all->legs[i]->link);
}

static void on_closed(fl_link *link, const fl_error *why)
{
    fl_aggregate *all = link->user;
    fl_gateway *gateway = all->gateway;

    (void)why;
    for (size_t i = 0; i < all->count; i++)
        if (all->legs[i] != NULL)
            end_leg(all->legs[i]);
    all->link = NULL; /* nothing is to be released there any more */
    fl_joints_free(all);
    fl_timer_stop(&all->pager);
    fl_list_remove(&all->node);
    fl_mem_free(all);
    fl_gateway_left(gateway);
}

static const fl_link_events events = {
    .on_message = on_message,
    .on_writable = on_writable,
    .on_abandoned = on_abandoned,
    .on_ended = on_ended,
    .on_closed = on_closed,
};

static fl_status add_leg(fl_aggregate *all, fl_route *route,
                         unsigned max_in_flight)
{
    fl_leg *leg = fl_mem_zalloc(sizeof *leg);

    if (leg == NULL)
        return FL_E_NOMEM;
    fl_link_init(&leg->link, &leg_transport, all->link->loop, true);
    fl_timer_init(&leg->timer, all->link->loop, on_leg_timer);
    leg->all = all;
    leg->route = route;
    leg->index = all->count;
    fl_status rc = fl_link_move(&leg->link, FL_LINK_ACTIVE);
    if (rc == FL_OK)
        rc = fl_front_open(route, &leg->link, max_in_flight);
    if (rc != FL_OK) {
        fl_link_unref(&leg->link);
        return rc;
    }
    all->gateway->fronts++;
    all->legs[all->count++] = leg;
    return FL_OK;
}

static void on_pager(fl_timer *timer)
{
    fl_joints_turn(FL_LIST_ENTRY(timer, fl_aggregate, pager));
}

static fl_aggregate *make(fl_gateway *gateway, fl_link *link)
{
    size_t count = 0;

    for (fl_list *node = gateway->routes.next; node != &gateway->routes;
         node = node->next)
        count++;
    fl_aggregate *all = fl_mem_zalloc(sizeof *all + count * sizeof(fl_leg *));
    if (all == NULL)
        return NULL;
    all->gateway = gateway;
    all->link = link;
    fl_list_init(&all->joints);
    fl_timer_init(&all->pager, link->loop, on_pager);
    return all;
}

fl_status fl_aggregate_open(fl_gateway *gateway, fl_link *link,
                            unsigned max_in_flight)
{
    fl_aggregate *all = make(gateway, link);
    fl_link_info info;
    fl_status rc = all != NULL ? FL_OK : FL_E_NOMEM;

    for (fl_list *node = gateway->routes.next;
         node != &gateway->routes && rc == FL_OK; node = node->next)
        rc = add_leg(all, FL_LIST_ENTRY(node, fl_route, node), max_in_flight);
    if (rc != FL_OK) {
        for (size_t i = 0; all != NULL && i < all->count; i++)
            end_leg(all->legs[i]);
        fl_mem_free(all);
        return rc;
    }
    fl_link_get_info(link, &info);
    all->traits = info.traits;
    fl_list_append(&gateway->aggregates, &all->node);
    link->events = &events;
    link->user = all;
    return FL_OK;
}

void fl_aggregates_close(fl_gateway *gateway)
{
    for (fl_list *node = gateway->aggregates.next; node != &gateway->aggregates;
         node = node->next)
        fl_link_close(FL_LIST_ENTRY(node, fl_aggregate, node)->link);
}

/* The letter of a prefix that nobody has put together yet; 0 behind the last.
 */
static char letter(const fl_naming *of, size_t i)
{
    fl_span head = fl_span_of(of->prefix != NULL ? of->prefix : of->name);
    fl_span tail = of->prefix != NULL ? (fl_span){0} : FL_SPAN("__");

    if (i < head.len)
        return head.ptr[i];
    return i - head.len < tail.len ? tail.ptr[i - head.len] : '\0';
}

/* If one begins like the other, a name could be of either. */
fl_status fl_aggregate_compare(const fl_naming *one, const fl_naming *two,
                               fl_error *error)
{
    size_t i = 0;

    while (letter(one, i) != '\0' && letter(one, i) == letter(two, i))
        i++;
    if (letter(one, i) != '\0' && letter(two, i) != '\0')
        return FL_OK;
    return fl_error_set(
        error, FL_E_IN_USE,
        "tools of '%s' (%s%s...) and of '%s' (%s%s...) could have the same "
        "names; give one of them another prefix (fairlead.prefix)",
        one->name, one->prefix != NULL ? one->prefix : one->name,
        one->prefix != NULL ? "" : "__", two->name,
        two->prefix != NULL ? two->prefix : two->name,
        two->prefix != NULL ? "" : "__");
}

fl_status fl_aggregate_check(const fl_gateway *gateway, fl_error *error)
{
    const fl_list *end = &gateway->routes;
    fl_status rc = FL_OK;

    for (fl_list *a = end->next; a != end; a = a->next)
        for (fl_list *b = a->next; b != end && rc == FL_OK; b = b->next) {
            const fl_route *one = FL_LIST_ENTRY(a, fl_route, node);
            const fl_route *two = FL_LIST_ENTRY(b, fl_route, node);
            rc = fl_aggregate_compare(&(fl_naming){one->name, one->prefix},
                                      &(fl_naming){two->name, two->prefix},
                                      error);
        }
    return rc;
}
