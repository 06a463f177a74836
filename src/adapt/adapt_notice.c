/*
 * adapt_notice.c - notifications, on their way to the client.
 *
 * What a notification is about is named by a token: the client's own, which
 * is not the one that the server was given. So there is something to replace
 * even where both ends speak the same revision.
 */
#include "adapt/adapt_impl.h"

/* The member of params that the token stands in; NULL: _meta has it. */
static const char *token_name(fl_method method)
{
    return method == FL_METHOD_PROGRESS    ? "progressToken"
           : method == FL_METHOD_CANCELLED ? "requestId"
                                           : NULL;
}

static bool is_of_listen(fl_method method)
{
    return method == FL_METHOD_TOOLS_CHANGED ||
           method == FL_METHOD_PROMPTS_CHANGED ||
           method == FL_METHOD_RESOURCES_CHANGED ||
           method == FL_METHOD_RESOURCE_UPDATED ||
           method == FL_METHOD_TASK_TOLD || method == FL_METHOD_TASK_STATUS ||
           method == FL_METHOD_ACKNOWLEDGED;
}

static bool is_of_task(const fl_adapt *adapt)
{
    return adapt->from->legacy != adapt->to->legacy &&
           (adapt->method == FL_METHOD_TASK_TOLD ||
            adapt->method == FL_METHOD_TASK_STATUS);
}

/* Whether a modern client's listen is to be named. */
static bool is_tagged(const fl_adapt *adapt)
{
    return adapt->object.len > 0 && !adapt->to->legacy &&
           is_of_listen(adapt->method);
}

static void edit_meta(const fl_adapt *adapt, fl_edit_walk *walk,
                      const fl_json_member *meta)
{
    bool object = fl_json_type_of(meta->value) == FL_JSON_OBJECT;

    if (object && is_tagged(adapt))
        fl_edit_set_inside(walk->edit, meta->value, FL_META_SUBSCRIPTION,
                           adapt->object);
    else if (object && fl_adapt_is_downward(adapt))
        fl_edit_drop_inside(walk, meta, FL_META_SUBSCRIPTION);
}

static void edit_member(const fl_adapt_task *task, fl_edit_walk *walk,
                        const fl_json_member *member)
{
    const fl_adapt *adapt = task->adapt;
    const char *token = token_name(adapt->method);

    if (fl_edit_named(member, "_meta"))
        edit_meta(adapt, walk, member);
    else if (token != NULL && adapt->object.len > 0 &&
             fl_edit_named(member, token))
        fl_edit_set(walk->edit, member->value, adapt->object);
    else if (adapt->method == FL_METHOD_PROGRESS &&
             fl_adapt_lacks(adapt, FL_HAS_PROGRESS_MESSAGE) &&
             fl_edit_named(member, "message"))
        fl_edit_drop(walk);
    else if (is_of_task(adapt))
        (void)fl_adapt_task_member(task, walk, member);
}

static void add_tag(const fl_adapt *adapt, fl_edit_walk *walk)
{
    fl_edit_add_raw(walk, "_meta", FL_SPAN("{\"" FL_META_SUBSCRIPTION "\":"));
    fl_edit_put(walk->edit, adapt->object);
    fl_edit_put(walk->edit, FL_SPAN("}"));
}

fl_status fl_adapt_notice(const fl_adapt *adapt, fl_span params, fl_buf *out)
{
    bool tagged = is_tagged(adapt);
    fl_adapt_task task = {.adapt = adapt};
    fl_edit_walk walk;
    fl_json_member member;
    fl_edit edit;

    if (fl_adapt_is_same(adapt) && adapt->object.len == 0)
        return FL_END;
    if (params.len == 0 && tagged)
        params = FL_SPAN("{}");
    if (fl_json_type_of(params) != FL_JSON_OBJECT)
        return FL_END;
    if (is_of_task(adapt))
        fl_adapt_task_look(adapt, params, &task);
    fl_edit_init(&edit, params, out);
    fl_edit_open(&walk, &edit, params);
    while (fl_edit_next(&walk, &member))
        edit_member(&task, &walk, &member);
    if (tagged && fl_json_get(params, FL_SPAN("_meta")).len == 0)
        add_tag(adapt, &walk);
    if (is_of_task(adapt))
        fl_adapt_task_end(&task, &walk);
    return fl_edit_end(&edit);
}
