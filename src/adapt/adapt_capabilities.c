/*
 * adapt_capabilities.c - what either side says that it can do.
 *
 * Most capabilities are the same in every revision, and what is unknown passes.
 * Tasks are told in three ways: not at all, as a member of their own in
 * 2025-11-25, or as an extension in 2026-07-28. A server that completes could
 * not say so in 2024-11-05.
 */
#include "adapt/adapt_impl.h"

#define TASKS                                                                  \
    "{\"cancel\":{},\"list\":{},\"requests\":{\"tools\":{\"call\":{}}}}"

static bool has(fl_span object, const char *name)
{
    return fl_json_get(object, fl_span_of(name)).len > 0;
}

/* A server that makes a task of a call, if it is asked to. */
static bool makes_tasks(fl_span capabilities)
{
    fl_span tasks = fl_json_get(capabilities, FL_SPAN("tasks"));
    fl_span requests = fl_json_get(tasks, FL_SPAN("requests"));

    return has(fl_json_get(requests, FL_SPAN("tools")), "call");
}

static bool has_extension(fl_span capabilities)
{
    return has(fl_json_get(capabilities, FL_SPAN("extensions")), FL_META_TASKS);
}

/* Of one era `tasks` stays if both ends have the word; of two never. */
static bool keeps_tasks(const fl_adapt *adapt)
{
    return fl_revision_has(adapt->from, FL_HAS_TASKS) ==
               fl_revision_has(adapt->to, FL_HAS_TASKS) &&
           adapt->from->legacy == adapt->to->legacy;
}

/* Extensions, with that of tasks as it is wanted. */
static void edit_extensions(const fl_adapt *adapt, fl_edit_walk *walk,
                            const fl_json_member *member, bool tasks)
{
    if (fl_json_type_of(member->value) != FL_JSON_OBJECT ||
        adapt->from->legacy == adapt->to->legacy)
        return;
    if (!tasks)
        fl_edit_drop_inside(walk, member, FL_META_TASKS);
    else if (!has(member->value, FL_META_TASKS))
        fl_edit_set_inside(walk->edit, member->value, FL_META_TASKS,
                           FL_SPAN("{}"));
}

static void add_extension(fl_edit_walk *walk)
{
    fl_edit_add_raw(walk, "extensions", FL_SPAN("{\"" FL_META_TASKS "\":{}}"));
}

/* Completion came before its capability did. */
static bool completes(const fl_adapt *adapt, fl_span capabilities)
{
    return !fl_revision_has(adapt->from, FL_HAS_COMPLETIONS) &&
           fl_revision_has(adapt->to, FL_HAS_COMPLETIONS) &&
           !has(capabilities, "completions") &&
           (has(capabilities, "prompts") || has(capabilities, "resources"));
}

static void edit_server_member(const fl_adapt *adapt, fl_edit_walk *walk,
                               const fl_json_member *member, bool tasks)
{
    bool drop = (fl_edit_named(member, "completions") &&
                 fl_adapt_lacks(adapt, FL_HAS_COMPLETIONS)) ||
                (fl_edit_named(member, "tasks") && !keeps_tasks(adapt));

    if (drop)
        fl_edit_drop(walk);
    else if (fl_edit_named(member, "extensions"))
        edit_extensions(adapt, walk, member, tasks);
}

void fl_adapt_server_capabilities(const fl_adapt *adapt, fl_edit *edit,
                                  fl_span capabilities)
{
    bool raised =
        fl_adapt_is_upward(adapt) && adapt->tasks && makes_tasks(capabilities);
    bool lowered = fl_adapt_is_downward(adapt) && adapt->tasks &&
                   fl_revision_has(adapt->to, FL_HAS_TASKS) &&
                   has_extension(capabilities);
    fl_edit_walk walk;
    fl_json_member member;

    fl_edit_open(&walk, edit, capabilities);
    while (fl_edit_next(&walk, &member))
        edit_server_member(adapt, &walk, &member, raised);
    if (completes(adapt, capabilities))
        fl_edit_add_raw(&walk, "completions", FL_SPAN("{}"));
    if (lowered)
        fl_edit_add_raw(&walk, "tasks", FL_SPAN(TASKS));
    if (raised && !has(capabilities, "extensions"))
        add_extension(&walk);
}

/* A modern client cannot tell that its roots have changed; but whoever holds
 * a session for it can, having asked it again. */
static void edit_roots(const fl_adapt *adapt, fl_edit_walk *walk,
                       const fl_json_member *roots)
{
    fl_edit_walk inner;
    fl_json_member member;

    if (fl_json_type_of(roots->value) != FL_JSON_OBJECT)
        return;
    if (fl_adapt_is_downward(adapt)) {
        fl_edit_set_inside(walk->edit, roots->value, "listChanged",
                           FL_SPAN("true"));
    } else if (fl_adapt_is_upward(adapt)) {
        fl_edit_open(&inner, walk->edit, roots->value);
        while (fl_edit_next(&inner, &member))
            if (fl_edit_named(&member, "listChanged"))
                fl_edit_drop(&inner);
    }
}

fl_status fl_adapt_client_capabilities(const fl_adapt *adapt,
                                       fl_span capabilities, fl_buf *out)
{
    bool tell = adapt->tasks && fl_adapt_is_upward(adapt);
    fl_edit edit;
    fl_edit_walk walk;
    fl_json_member member;

    if (fl_adapt_is_same(adapt) ||
        fl_json_type_of(capabilities) != FL_JSON_OBJECT)
        return FL_END;
    fl_edit_init(&edit, capabilities, out);
    fl_edit_open(&walk, &edit, capabilities);
    while (fl_edit_next(&walk, &member)) {
        if (fl_edit_named(&member, "tasks") && !keeps_tasks(adapt))
            fl_edit_drop(&walk);
        else if (fl_edit_named(&member, "roots"))
            edit_roots(adapt, &walk, &member);
        else if (fl_edit_named(&member, "extensions"))
            edit_extensions(adapt, &walk, &member, tell);
    }
    if (tell && !has(capabilities, "extensions"))
        add_extension(&walk);
    return fl_edit_end(&edit);
}
