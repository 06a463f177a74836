/*
 * merge.c - the answers of several servers, made one.
 *
 * The first result is the pattern: what is neither list nor greeting is as it
 * says. Capabilities are those that anybody has.
 */
#include "gateway/merge.h"

#include "base/span.h"
#include "io/loop.h"
#include "json/nav.h"
#include "json/write.h"

#include <fairlead/version.h>

#include <string.h>

enum { TEXT_MAX = 16 * 1024 * 1024, DEPTH = 4, URI_MAX = 8192 };

fl_span fl_merge_key(fl_method method)
{
    if (method == FL_METHOD_TOOLS_LIST)
        return FL_SPAN("tools");
    if (method == FL_METHOD_PROMPTS_LIST)
        return FL_SPAN("prompts");
    if (method == FL_METHOD_RESOURCES_LIST)
        return FL_SPAN("resources");
    return method == FL_METHOD_TEMPLATES_LIST ? FL_SPAN("resourceTemplates")
                                              : (fl_span){0};
}

bool fl_merge_result(const fl_part *part, fl_span *result)
{
    fl_msg_fault fault;
    fl_msg msg;

    if (fl_buf_len(&part->text) == 0 ||
        fl_msg_read(fl_buf_view(&part->text), &msg, &fault) != FL_OK ||
        msg.kind != FL_MSG_RESULT)
        return false;
    *result = msg.result;
    return true;
}

/* What either has. Of two that are no objects, the one that says yes. */
static void unite(fl_json_writer *writer, fl_span a, fl_span b, int depth)
{
    fl_json_walk walk;
    fl_json_member member;

    if (fl_json_type_of(a) != FL_JSON_OBJECT ||
        fl_json_type_of(b) != FL_JSON_OBJECT || depth == 0) {
        fl_json_raw(writer, fl_json_type_of(b) == FL_JSON_TRUE ? b : a);
        return;
    }
    fl_json_object(writer);
    fl_json_walk_init(&walk, a);
    while (fl_json_walk_next(&walk, &member)) {
        fl_span other = fl_json_get(b, member.key);
        fl_json_raw_key(writer, member.key);
        if (other.len > 0)
            unite(writer, member.value, other, depth - 1);
        else
            fl_json_raw(writer, member.value);
    }
    fl_json_walk_init(&walk, b);
    while (fl_json_walk_next(&walk, &member)) {
        if (fl_json_get(a, member.key).len > 0)
            continue;
        fl_json_raw_key(writer, member.key);
        fl_json_raw(writer, member.value);
    }
    fl_json_object_end(writer);
}

static fl_status add_capabilities(fl_span more, fl_buf *sum)
{
    fl_json_writer writer;
    fl_buf next;

    if (fl_json_type_of(more) != FL_JSON_OBJECT)
        return FL_OK;
    fl_buf_init(&next, TEXT_MAX);
    fl_json_writer_init(&writer, &next);
    unite(&writer, fl_buf_view(sum), more, DEPTH);
    fl_status rc = fl_json_writer_end(&writer);
    fl_buf_clear(sum);
    if (rc == FL_OK)
        rc = fl_buf_append(sum, fl_buf_view(&next));
    fl_buf_reset(&next);
    return rc;
}

/* As they came, an empty line between two. The last quote is added at the end.
 */
static fl_status add_instructions(fl_span more, fl_buf *sum)
{
    fl_status rc = FL_OK;

    if (fl_json_type_of(more) != FL_JSON_STRING || more.len < 3)
        return rc;
    rc = fl_buf_append(sum,
                       fl_buf_len(sum) > 0 ? FL_SPAN("\\n\\n") : FL_SPAN("\""));
    return rc == FL_OK
               ? fl_buf_append(sum, (fl_span){more.ptr + 1, more.len - 2})
               : rc;
}

static void write_identity(fl_json_writer *writer)
{
    fl_json_object(writer);
    fl_json_key(writer, "name");
    fl_json_string(writer, "fairlead");
    fl_json_key(writer, "version");
    fl_json_string(writer, fl_version());
    fl_json_object_end(writer);
}

static void write_hello(fl_json_writer *writer, fl_span pattern,
                        fl_span capabilities, fl_span instructions)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_object(writer);
    fl_json_walk_init(&walk, pattern);
    while (fl_json_walk_next(&walk, &member)) {
        if (fl_span_equal(member.key, FL_SPAN("instructions")))
            continue;
        fl_json_raw_key(writer, member.key);
        if (fl_span_equal(member.key, FL_SPAN("capabilities"))) {
            fl_json_raw(writer, capabilities);
        } else if (fl_span_equal(member.key, FL_SPAN("serverInfo"))) {
            write_identity(writer);
        } else if (fl_span_equal(member.key, FL_SPAN("_meta"))) {
            fl_json_object(writer);
            fl_json_key(writer, "io.modelcontextprotocol/serverInfo");
            write_identity(writer);
            fl_json_object_end(writer);
        } else {
            fl_json_raw(writer, member.value);
        }
    }
    if (instructions.len > 0) {
        fl_json_key(writer, "instructions");
        fl_json_raw(writer, instructions);
    }
    fl_json_object_end(writer);
}

fl_status fl_merge_hello(const fl_joint *joint, fl_buf *out)
{
    fl_buf capabilities, instructions;
    fl_span pattern = {0}, result;
    fl_json_writer writer;

    fl_buf_init(&capabilities, TEXT_MAX);
    fl_buf_init(&instructions, TEXT_MAX);
    fl_status rc = fl_buf_append(&capabilities, FL_SPAN("{}"));
    for (size_t i = 0; i < joint->count && rc == FL_OK; i++) {
        if (!fl_merge_result(&joint->parts[i], &result))
            continue;
        if (pattern.len == 0)
            pattern = result;
        rc = add_capabilities(fl_json_get(result, FL_SPAN("capabilities")),
                              &capabilities);
        if (rc == FL_OK)
            rc = add_instructions(fl_json_get(result, FL_SPAN("instructions")),
                                  &instructions);
    }
    if (rc == FL_OK && fl_buf_len(&instructions) > 0)
        rc = fl_buf_append(&instructions, FL_SPAN("\""));
    if (rc == FL_OK && pattern.len == 0)
        rc = FL_E_STATE;
    if (rc == FL_OK) {
        fl_json_writer_init(&writer, out);
        write_hello(&writer, pattern, fl_buf_view(&capabilities),
                    fl_buf_view(&instructions));
        rc = fl_json_writer_end(&writer);
    }
    fl_buf_reset(&capabilities);
    fl_buf_reset(&instructions);
    return rc;
}

/* The first server that lists it has it. */
static bool is_others(const fl_aggregate *all, const fl_route *route,
                      fl_span uri)
{
    void *number = fl_map_number(route->number);
    bool others = false;
    fl_buf text;

    fl_buf_init(&text, URI_MAX);
    if (fl_json_string_copy(uri, &text) == FL_OK &&
        fl_map_add(&all->gateway->uris, fl_buf_view(&text), number) ==
            FL_E_IN_USE)
        others = fl_map_get(&all->gateway->uris, fl_buf_view(&text)) != number;
    if (others)
        fl_log_say(fl_loop_log(all->link->loop), FL_LOG_DEBUG,
                   "two servers have a resource: the first is taken",
                   fl_log_text("uri", fl_buf_view(&text)),
                   fl_log_text("left out", fl_span_of(route->name)));
    fl_buf_reset(&text);
    return others;
}

/* With the prefix behind the quote of its name. */
static fl_status write_item(fl_json_writer *writer, fl_span item,
                            const char *prefix, fl_buf *room)
{
    fl_span name = fl_json_get(item, FL_SPAN("name"));

    if (prefix == NULL || fl_json_type_of(name) != FL_JSON_STRING) {
        fl_json_raw(writer, item);
        return FL_OK;
    }
    size_t before = (size_t)(name.ptr - item.ptr) + 1;
    fl_buf_clear(room);
    fl_status rc = fl_buf_append(room, (fl_span){item.ptr, before});
    if (rc == FL_OK)
        rc = fl_buf_append(room, fl_span_of(prefix));
    if (rc == FL_OK)
        rc = fl_buf_append(room, fl_span_from(item, before));
    fl_json_raw(writer, fl_buf_view(room));
    return rc;
}

static fl_status write_items(fl_json_writer *writer, const fl_joint *joint,
                             const fl_part *part, fl_buf *room)
{
    const fl_leg *leg = joint->all->legs[part->leg];
    bool named = joint->method == FL_METHOD_TOOLS_LIST ||
                 joint->method == FL_METHOD_PROMPTS_LIST;
    fl_json_walk walk;
    fl_json_member item;
    fl_buf array;

    if (leg == NULL)
        return FL_OK;
    fl_buf_init(&array, 4 * TEXT_MAX + 2);
    fl_status rc = fl_buf_append(&array, FL_SPAN("["));
    if (rc == FL_OK)
        rc = fl_buf_append(&array, fl_buf_view(&part->items));
    if (rc == FL_OK)
        rc = fl_buf_append(&array, FL_SPAN("]"));
    fl_json_walk_init(&walk, rc == FL_OK ? fl_buf_view(&array) : (fl_span){0});
    while (rc == FL_OK && fl_json_walk_next(&walk, &item))
        if (joint->method != FL_METHOD_RESOURCES_LIST ||
            !is_others(joint->all, leg->route,
                       fl_json_get(item.value, FL_SPAN("uri"))))
            rc = write_item(writer, item.value,
                            named ? leg->route->prefix : NULL, room);
    fl_buf_reset(&array);
    return rc;
}

static fl_status write_list(fl_json_writer *writer, const fl_joint *joint,
                            fl_span pattern)
{
    fl_span key = fl_merge_key(joint->method), result;
    fl_status rc = FL_OK;
    fl_json_walk walk;
    fl_json_member member;
    fl_buf room;

    fl_json_object(writer);
    fl_json_walk_init(&walk, pattern);
    while (fl_json_walk_next(&walk, &member)) {
        if (fl_span_equal(member.key, key) ||
            fl_span_equal(member.key, FL_SPAN("nextCursor")))
            continue;
        fl_json_raw_key(writer, member.key);
        fl_json_raw(writer, member.value);
    }
    fl_json_raw_key(writer, key);
    fl_json_array(writer);
    fl_buf_init(&room, (size_t)4 * TEXT_MAX);
    for (size_t i = 0; i < joint->count && rc == FL_OK; i++)
        if (fl_merge_result(&joint->parts[i], &result))
            rc = write_items(writer, joint, &joint->parts[i], &room);
    fl_buf_reset(&room);
    fl_json_array_end(writer);
    fl_json_object_end(writer);
    return rc;
}

fl_status fl_merge_list(const fl_joint *joint, fl_buf *out)
{
    fl_span pattern = {0};
    fl_json_writer writer;

    for (size_t i = 0; i < joint->count && pattern.len == 0; i++)
        if (!fl_merge_result(&joint->parts[i], &pattern))
            pattern = (fl_span){0};
    if (pattern.len == 0)
        return FL_E_STATE;
    fl_json_writer_init(&writer, out);
    fl_status rc = write_list(&writer, joint, pattern);
    fl_status end = fl_json_writer_end(&writer);
    return rc == FL_OK ? end : rc;
}
