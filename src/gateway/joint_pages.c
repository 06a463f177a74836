/*
 * joint_pages.c - the pages of a list that is asked of all servers.
 *
 * Whoever lists does it in pages of his own; the client gets all of them as
 * one, for few clients turn pages. The next is not asked for while a front is
 * at the one before, but a moment later.
 */
#include "gateway/joint.h"

#include "base/span.h"
#include "gateway/merge.h"
#include "rpc/error.h"
#include "json/nav.h"

enum { TEXT_MAX = 64 * 1024 * 1024, PAGES_MAX = 100 };

static fl_status keep_page(fl_part *part, fl_span result)
{
    fl_span list = fl_json_get(result, fl_merge_key(part->joint->method));
    fl_span cursor = fl_json_get(result, FL_SPAN("nextCursor"));
    fl_json_walk walk;
    fl_json_member item;
    fl_status rc = FL_OK;

    fl_json_walk_init(&walk, list);
    while (rc == FL_OK && fl_json_walk_next(&walk, &item)) {
        if (fl_buf_len(&part->items) > 0)
            rc = fl_buf_append(&part->items, FL_SPAN(","));
        if (rc == FL_OK)
            rc = fl_buf_append(&part->items, item.value);
    }
    fl_buf_clear(&part->cursor);
    if (rc == FL_OK && fl_json_type_of(cursor) == FL_JSON_STRING &&
        ++part->pages < PAGES_MAX)
        rc = fl_buf_append(&part->cursor, cursor);
    return rc;
}

/* A list that is not whole is none. */
static void drop(fl_part *part)
{
    fl_buf_reset(&part->text);
    fl_buf_reset(&part->items);
    fl_buf_reset(&part->cursor);
}

bool fl_part_turn(fl_part *part, fl_span text)
{
    fl_msg_fault fault;
    fl_msg msg;

    if (part->joint->answered || fl_msg_read(text, &msg, &fault) != FL_OK ||
        msg.kind != FL_MSG_RESULT)
        return false;
    if (keep_page(part, msg.result) != FL_OK) {
        drop(part);
        return false;
    }
    if (fl_buf_len(&part->cursor) == 0)
        return false;
    fl_timer_start(&part->joint->all->pager, 0);
    return true;
}

/* The request once more, with the cursor first among its params. */
static fl_status write_page(const fl_joint *joint, fl_span cursor, fl_buf *out)
{
    fl_msg_fault fault;
    fl_msg msg;
    fl_json_walk walk;
    fl_json_member member;

    fl_status rc = fl_msg_read(fl_buf_view(&joint->text), &msg, &fault);
    if (rc != FL_OK)
        return rc;
    fl_json_walk_init(&walk, msg.params);
    bool empty = !fl_json_walk_next(&walk, &member);
    fl_span rest =
        msg.params.len > 0 ? fl_span_from(msg.params, 1) : FL_SPAN("}");
    return fl_buf_printf(out,
                         "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"method\":\"%.*s\","
                         "\"params\":{\"cursor\":%.*s%s%.*s}",
                         (int)msg.id.len, msg.id.ptr, (int)msg.method.len,
                         msg.method.ptr, (int)cursor.len, cursor.ptr,
                         empty ? "" : ",", (int)rest.len, rest.ptr);
}

static void ask_page(fl_part *part)
{
    fl_leg *leg = part->joint->all->legs[part->leg];
    fl_msg_fault fault;
    fl_msg msg;
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    fl_status rc = write_page(part->joint, fl_buf_view(&part->cursor), &text);
    fl_buf_clear(&part->cursor);
    if (rc == FL_OK && leg != NULL &&
        fl_msg_read(fl_buf_view(&text), &msg, &fault) == FL_OK)
        fl_leg_deliver(leg, &msg, part);
    else
        fl_part_end(part, FL_RPC_INTERNAL_ERROR, NULL, 0);
    fl_buf_reset(&text);
}

static fl_part *find_turning(const fl_aggregate *all)
{
    for (fl_list *node = all->joints.next; node != &all->joints;
         node = node->next) {
        fl_joint *joint = FL_LIST_ENTRY(node, fl_joint, node);
        for (size_t i = 0; i < joint->count; i++)
            if (fl_buf_len(&joint->parts[i].cursor) > 0)
                return &joint->parts[i];
    }
    return NULL;
}

void fl_joints_turn(fl_aggregate *all)
{
    fl_part *part;

    while ((part = find_turning(all)) != NULL)
        ask_page(part);
}
