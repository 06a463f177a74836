/*
 * adapt_result.c - results, on their way to the client.
 *
 * One walk over the members of the result. Those of its frame (resultType,
 * what is said of caching, who the server is) come and go with the era; those
 * inside are looked into only if the two revisions say them differently.
 */
#include "adapt/adapt_impl.h"

typedef struct frame {
    bool type;
    bool ttl;
    bool scope;
    bool meta;
    bool content;
} frame;

typedef struct passage {
    const fl_adapt *adapt;
    fl_span result;
    bool made_task;
    bool parts; /* there may be some to be told otherwise */
    fl_adapt_output output;
    fl_adapt_task task;
    frame seen;
} passage;

static bool is_cacheable(const passage *job)
{
    return fl_method_is(job->adapt->method, FL_METHOD_CACHEABLE);
}

static bool is_task_state(fl_method method)
{
    return method == FL_METHOD_TASKS_GET || method == FL_METHOD_TASKS_CANCEL;
}

/* A legacy server cannot mean anything else by it; a task is one already. */
static bool is_good_type(const passage *job, fl_span type)
{
    return fl_json_string_is(type, FL_SPAN("complete")) ||
           (job->adapt->method == FL_METHOD_TOOLS_CALL &&
            fl_json_string_is(type, FL_SPAN("task")));
}

static fl_span good_type(const passage *job)
{
    return job->made_task ? FL_SPAN("\"task\"") : FL_SPAN("\"complete\"");
}

/* A list of a legacy server may differ from session to session. */
static bool raise_member(passage *job, fl_edit *edit,
                         const fl_json_member *member)
{
    fl_span info = job->adapt->server_info;

    if (fl_edit_named(member, "resultType")) {
        if (job->made_task || !is_good_type(job, member->value))
            fl_edit_set(edit, member->value, good_type(job));
        return job->seen.type = true;
    }
    if (is_cacheable(job) && fl_edit_named(member, "ttlMs")) {
        fl_edit_set(edit, member->value, FL_SPAN("0"));
        return job->seen.ttl = true;
    }
    if (is_cacheable(job) && fl_edit_named(member, "cacheScope")) {
        fl_edit_set(edit, member->value, FL_SPAN("\"private\""));
        return job->seen.scope = true;
    }
    if (!fl_edit_named(member, "_meta"))
        return false;
    if (info.len > 0 && fl_json_type_of(member->value) == FL_JSON_OBJECT &&
        fl_json_get(member->value, FL_SPAN(FL_META_SERVER)).len == 0)
        fl_edit_set_inside(edit, member->value, FL_META_SERVER, info);
    return job->seen.meta = true;
}

static void raise_rest(const passage *job, fl_edit_walk *walk)
{
    if (!job->seen.type)
        fl_edit_add_raw(walk, "resultType", good_type(job));
    if (is_cacheable(job) && !job->seen.ttl)
        fl_edit_add_raw(walk, "ttlMs", FL_SPAN("0"));
    if (is_cacheable(job) && !job->seen.scope)
        fl_edit_add_raw(walk, "cacheScope", FL_SPAN("\"private\""));
    if (job->adapt->server_info.len > 0 && !job->seen.meta) {
        fl_edit_add_raw(walk, "_meta", FL_SPAN("{\"" FL_META_SERVER "\":"));
        fl_edit_put(walk->edit, job->adapt->server_info);
        fl_edit_put(walk->edit, FL_SPAN("}"));
    }
}

static bool lower_member(const passage *job, fl_edit_walk *walk,
                         const fl_json_member *member)
{
    bool caching =
        !is_task_state(job->adapt->method) &&
        (fl_edit_named(member, "ttlMs") || fl_edit_named(member, "cacheScope"));

    if (caching || fl_edit_named(member, "resultType")) {
        fl_edit_drop(walk);
        return true;
    }
    if (!fl_edit_named(member, "_meta"))
        return false;
    fl_edit_drop_inside(walk, member, FL_META_SERVER);
    return true;
}

static bool edit_frame(passage *job, fl_edit_walk *walk,
                       const fl_json_member *member)
{
    if (fl_adapt_is_upward(job->adapt))
        return raise_member(job, walk->edit, member);
    return fl_adapt_is_downward(job->adapt) && lower_member(job, walk, member);
}

static void edit_content(passage *job, fl_edit *edit, fl_span content)
{
    fl_edit_walk walk;
    fl_json_member part;

    job->seen.content = true;
    if (fl_json_type_of(content) != FL_JSON_ARRAY)
        return;
    fl_edit_open(&walk, edit, content);
    while (fl_edit_next(&walk, &part))
        if (job->parts)
            fl_adapt_part(job->adapt, edit, part.value);
    if (job->output.tell) {
        fl_edit_add_element(&walk);
        fl_adapt_put_text_part(edit, job->output.value);
    }
}

static void edit_structured(const passage *job, fl_edit_walk *walk,
                            fl_span value)
{
    if (job->output.hide) {
        fl_edit_drop(walk);
    } else if (job->output.wrap) {
        fl_edit_replace(walk->edit, value, FL_SPAN("{\"result\":"));
        fl_edit_put(walk->edit, value);
        fl_edit_put(walk->edit, FL_SPAN("}"));
    }
}

static void edit_call(passage *job, fl_edit_walk *walk,
                      const fl_json_member *member)
{
    if (fl_edit_named(member, "content"))
        edit_content(job, walk->edit, member->value);
    else if (fl_edit_named(member, "structuredContent"))
        edit_structured(job, walk, member->value);
    else if (job->made_task && fl_edit_named(member, "task") &&
             fl_json_type_of(member->value) == FL_JSON_OBJECT)
        fl_adapt_task_lift(job->adapt, walk, member);
}

static void edit_messages(const passage *job, fl_edit *edit, fl_span messages)
{
    fl_json_walk walk, inner;
    fl_json_member message, member;

    if (!job->parts || fl_json_type_of(messages) != FL_JSON_ARRAY)
        return;
    fl_json_walk_init(&walk, messages);
    while (fl_json_walk_next(&walk, &message)) {
        if (fl_json_type_of(message.value) != FL_JSON_OBJECT)
            continue;
        fl_json_walk_init(&inner, message.value);
        while (fl_json_walk_next(&inner, &member))
            if (fl_edit_named(&member, "content"))
                fl_adapt_part(job->adapt, edit, member.value);
    }
}

static void edit_inside(passage *job, fl_edit_walk *walk,
                        const fl_json_member *member)
{
    fl_method method = job->adapt->method;

    if (method == FL_METHOD_TOOLS_CALL || method == FL_METHOD_TASKS_RESULT)
        edit_call(job, walk, member);
    else if (method == FL_METHOD_PROMPTS_GET &&
             fl_edit_named(member, "messages"))
        edit_messages(job, walk->edit, member->value);
    else if (method == FL_METHOD_TOOLS_LIST && fl_edit_named(member, "tools"))
        fl_adapt_tools(job->adapt, walk->edit, member->value);
    else if (is_task_state(method) &&
             job->adapt->from->legacy != job->adapt->to->legacy)
        (void)fl_adapt_task_member(&job->task, walk, member);
}

static void edit_result(passage *job, fl_edit *edit)
{
    fl_edit_walk walk;
    fl_json_member member;

    fl_edit_open(&walk, edit, job->result);
    while (fl_edit_next(&walk, &member)) {
        if (edit_frame(job, &walk, &member))
            continue;
        if (job->adapt->method == FL_METHOD_TASKS_CANCEL &&
            fl_adapt_is_upward(job->adapt))
            fl_edit_drop(&walk); /* it is acknowledged, and that is all */
        else
            edit_inside(job, &walk, &member);
    }
    if (job->output.tell && !job->seen.content) {
        fl_edit_add_raw(&walk, "content", FL_SPAN("["));
        fl_adapt_put_text_part(edit, job->output.value);
        fl_edit_put(edit, FL_SPAN("]"));
    }
    if (fl_adapt_is_upward(job->adapt))
        raise_rest(job, &walk);
    else if (is_task_state(job->adapt->method))
        fl_adapt_task_end(&job->task, &walk);
}

/* Between legacy revisions few results have anything to look for. */
static bool is_worth_a_look(const fl_adapt *adapt)
{
    fl_method method = adapt->method;

    if (adapt->from->legacy != adapt->to->legacy)
        return true;
    if (method == FL_METHOD_TOOLS_LIST)
        return fl_adapt_has_tools(adapt);
    return (method == FL_METHOD_TOOLS_CALL || method == FL_METHOD_PROMPTS_GET ||
            method == FL_METHOD_TASKS_RESULT) &&
           fl_adapt_has_parts(adapt);
}

fl_status fl_adapt_result(const fl_adapt *adapt, fl_span result, fl_buf *out)
{
    passage job = {.adapt = adapt, .result = result};
    fl_edit edit;

    if (fl_adapt_is_same(adapt) || !is_worth_a_look(adapt) ||
        fl_json_type_of(result) != FL_JSON_OBJECT)
        return FL_END;
    job.made_task = fl_adapt_task_made(adapt, result);
    if (job.made_task && fl_adapt_is_downward(adapt))
        return fl_adapt_task_lower(adapt, result, out);
    job.parts = fl_adapt_has_parts(adapt);
    if (adapt->method == FL_METHOD_TOOLS_CALL ||
        adapt->method == FL_METHOD_TASKS_RESULT)
        fl_adapt_judge_output(adapt, result, &job.output);
    if (is_task_state(adapt->method))
        fl_adapt_task_look(adapt, result, &job.task);
    fl_edit_init(&edit, result, out);
    edit_result(&job, &edit);
    return fl_edit_end(&edit);
}
