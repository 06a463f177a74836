/*
 * adapt_task.c - what is said of tasks.
 *
 * 2025-11-25 has tasks in its core; in 2026-07-28 they are an extension, with
 * the unit in the names of two members, what came of a task told with its
 * state, and a created one told as a result of its own type. Turning one into
 * the other is a matter of names, but for what only the server knows: a result
 * that is to be told with the state has to be asked for.
 */
#include "adapt/adapt_impl.h"

static const struct {
    const char *legacy;
    const char *modern;
} names[] = {{"ttl", "ttlMs"}, {"pollInterval", "pollIntervalMs"}};

enum { NAMES = sizeof names / sizeof *names };

static bool has(fl_span object, const char *name)
{
    return fl_json_get(object, fl_span_of(name)).len > 0;
}

/* Told with the state by a modern server; a legacy client asks for it. */
static bool is_payload(const fl_json_member *member)
{
    return fl_edit_named(member, "result") || fl_edit_named(member, "error") ||
           fl_edit_named(member, "inputRequests");
}

/* To the modern era a tool that failed has completed. */
static bool has_failed(fl_span task)
{
    fl_span result = fl_json_get(task, FL_SPAN("result"));

    return fl_json_type_of(fl_json_get(result, FL_SPAN("isError"))) ==
           FL_JSON_TRUE;
}

/* All at once: a member may be there a thousand times. */
void fl_adapt_task_look(const fl_adapt *adapt, fl_span text,
                        fl_adapt_task *task)
{
    *task = (fl_adapt_task){.adapt = adapt, .failed = has_failed(text)};
    for (size_t i = 0; i < NAMES; i++)
        task->both[i] =
            has(text, names[i].legacy) && has(text, names[i].modern);
    task->lasts = has(text, names[0].legacy) || has(text, names[0].modern);
}

/* The one of the names that is to be another; NAMES: it is none of them. */
static size_t find_name(bool upward, const fl_json_member *member)
{
    size_t i = 0;

    while (i < NAMES &&
           !fl_edit_named(member, upward ? names[i].legacy : names[i].modern))
        i++;
    return i;
}

bool fl_adapt_task_member(const fl_adapt_task *task, fl_edit_walk *walk,
                          const fl_json_member *member)
{
    bool upward = fl_adapt_is_upward(task->adapt);
    size_t name = find_name(upward, member);

    if (name < NAMES ? task->both[name] : !upward && is_payload(member)) {
        fl_edit_drop(walk);
    } else if (name < NAMES) {
        fl_edit_rename(walk->edit, member,
                       upward ? names[name].modern : names[name].legacy);
    } else if (!upward && task->failed && fl_edit_named(member, "status") &&
               fl_json_string_is(member->value, FL_SPAN("completed"))) {
        fl_edit_replace(walk->edit, member->value, FL_SPAN("\"failed\""));
    } else {
        return false;
    }
    return true;
}

void fl_adapt_task_end(const fl_adapt_task *task, fl_edit_walk *walk)
{
    if (fl_adapt_is_downward(task->adapt) && !task->lasts)
        fl_edit_add_raw(walk, "ttl", FL_SPAN("null"));
}

bool fl_adapt_task_made(const fl_adapt *adapt, fl_span result)
{
    if (adapt->method != FL_METHOD_TOOLS_CALL)
        return false;
    if (fl_adapt_is_upward(adapt))
        return fl_json_type_of(fl_json_get(result, FL_SPAN("task"))) ==
               FL_JSON_OBJECT;
    return fl_adapt_is_downward(adapt) &&
           fl_json_string_is(fl_json_get(result, FL_SPAN("resultType")),
                             FL_SPAN("task"));
}

/* What is the result's, and not for a task in it to say. */
static bool is_outside(const fl_json_member *member)
{
    return fl_edit_named(member, "_meta") || fl_edit_named(member, "task") ||
           fl_edit_named(member, "resultType");
}

static bool has_fields(fl_span task)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, task);
    while (fl_json_walk_next(&walk, &member))
        if (!is_outside(&member))
            return true;
    return false;
}

/* From the quote of the name to the bracket; and the bracket that closes. */
void fl_adapt_task_lift(const fl_adapt *adapt, fl_edit_walk *walk,
                        const fl_json_member *member)
{
    fl_span text = member->value;
    const char *begin = member->key.ptr - 1, *inside = text.ptr + 1;
    fl_edit *edit = walk->edit;
    fl_adapt_task task;
    fl_edit_walk inner;
    fl_json_member field;

    if (!has_fields(text)) {
        fl_edit_drop(walk);
        return;
    }
    fl_edit_cut(edit, (fl_span){begin, (size_t)(inside - begin)});
    fl_adapt_task_look(adapt, text, &task);
    fl_edit_open(&inner, edit, text);
    while (fl_edit_next(&inner, &field))
        if (is_outside(&field))
            fl_edit_drop(&inner);
        else
            (void)fl_adapt_task_member(&task, &inner, &field);
    fl_edit_cut(edit, (fl_span){text.ptr + text.len - 1, 1});
}

static void lower_members(const fl_adapt *adapt, fl_edit *edit, fl_span result)
{
    fl_adapt_task task;
    fl_edit_walk walk;
    fl_json_member member;

    fl_adapt_task_look(adapt, result, &task);
    fl_edit_open(&walk, edit, result);
    while (fl_edit_next(&walk, &member))
        if (is_outside(&member))
            fl_edit_drop(&walk);
        else
            (void)fl_adapt_task_member(&task, &walk, &member);
    fl_adapt_task_end(&task, &walk);
}

/* What of _meta is the client's. */
static void lower_meta(fl_edit *edit, fl_span meta)
{
    fl_edit_walk walk;
    fl_json_member member;

    fl_edit_init(edit, meta, edit->out);
    fl_edit_open(&walk, edit, meta);
    while (fl_edit_next(&walk, &member))
        if (fl_edit_named(&member, FL_META_SERVER))
            fl_edit_drop(&walk);
}

/* The whole becomes a member of itself: two edits, one after the other. */
fl_status fl_adapt_task_lower(const fl_adapt *adapt, fl_span result,
                              fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_span meta = fl_json_get(result, FL_SPAN("_meta"));
    fl_status rc = fl_buf_append(out, FL_SPAN("{\"task\":"));
    fl_edit edit;

    if (rc == FL_OK) {
        fl_edit_init(&edit, result, out);
        lower_members(adapt, &edit, result);
        rc = fl_edit_end(&edit);
    }
    if (rc == FL_OK && fl_json_type_of(meta) == FL_JSON_OBJECT) {
        rc = fl_buf_append(out, FL_SPAN(",\"_meta\":"));
        lower_meta(&edit, meta);
        fl_status said = rc == FL_OK ? fl_edit_end(&edit) : rc;
        rc = said == FL_END ? fl_buf_append(out, meta) : said;
    }
    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("}"));
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}
