/*
 * adapt_tools.c - lists of tools, and structured results.
 *
 * What a schema of a tool's output becomes and what becomes of the output
 * itself must be the same decision: a client holds one against the other. It
 * is made by fl_output_judge() when the list passes, and remembered.
 */
#include "adapt/adapt_impl.h"

/* Clients that know structured results, but only objects. */
static bool wants_objects(const fl_adapt *adapt)
{
    return fl_adapt_lacks(adapt, FL_HAS_STRUCTURED_ANY) &&
           fl_revision_has(adapt->to, FL_HAS_STRUCTURED_CONTENT);
}

static bool has_tasks(const fl_revision *revision)
{
    return fl_revision_has(revision, FL_HAS_TASKS);
}

bool fl_adapt_has_tools(const fl_adapt *adapt)
{
    return adapt->from->legacy != adapt->to->legacy ||
           has_tasks(adapt->from) != has_tasks(adapt->to);
}

/* Booleans are schemas, too, but not before 2026-07-28. */
static fl_span plain_schema(fl_span schema)
{
    fl_json_type type = fl_json_type_of(schema);

    return type == FL_JSON_TRUE    ? FL_SPAN("{}")
           : type == FL_JSON_FALSE ? FL_SPAN("{\"not\":{}}")
                                   : schema;
}

static void edit_properties(fl_edit *edit, fl_span properties)
{
    fl_edit_walk walk;
    fl_json_member member;

    if (fl_json_type_of(properties) != FL_JSON_OBJECT)
        return;
    fl_edit_open(&walk, edit, properties);
    while (fl_edit_next(&walk, &member))
        fl_edit_set(edit, member.value, plain_schema(member.value));
}

static void edit_schema(fl_edit *edit, fl_span schema)
{
    fl_edit_walk walk;
    fl_json_member member;

    if (fl_json_type_of(schema) != FL_JSON_OBJECT)
        return;
    fl_edit_open(&walk, edit, schema);
    while (fl_edit_next(&walk, &member))
        if (fl_edit_named(&member, "properties"))
            edit_properties(edit, member.value);
}

static void edit_output_schema(fl_edit_walk *tool, fl_span schema)
{
    fl_edit *edit = tool->edit;
    fl_output form = fl_output_judge(schema);

    if (form == FL_OUTPUT_HIDDEN) {
        fl_edit_drop(tool);
    } else if (form == FL_OUTPUT_WRAPPED) {
        fl_edit_replace(
            edit, schema,
            FL_SPAN("{\"type\":\"object\",\"properties\":{\"result\":"));
        fl_edit_put(edit, plain_schema(schema));
        fl_edit_put(edit, FL_SPAN("},\"required\":[\"result\"]}"));
    } else {
        edit_schema(edit, schema);
    }
}

/* Who says it and who hears it must mean the same by it. */
static bool keeps_execution(const fl_adapt *adapt)
{
    return adapt->to->legacy && has_tasks(adapt->from) == has_tasks(adapt->to);
}

static void edit_tool_member(const fl_adapt *adapt, fl_edit_walk *tool,
                             const fl_json_member *member)
{
    bool downward = fl_adapt_is_downward(adapt);

    if (fl_edit_named(member, "execution")) {
        if (!keeps_execution(adapt))
            fl_edit_drop(tool);
    } else if (fl_edit_named(member, "outputSchema")) {
        if (wants_objects(adapt))
            edit_output_schema(tool, member->value);
    } else if (downward && fl_edit_named(member, "inputSchema")) {
        edit_schema(tool->edit, member->value);
    }
}

/* Any tool of a server that makes tasks may become one: it decides. */
static bool offers_tasks(const fl_adapt *adapt)
{
    return adapt->tasks && fl_adapt_is_downward(adapt) && has_tasks(adapt->to);
}

static bool is_offered(fl_span tool)
{
    fl_span execution = fl_json_get(tool, FL_SPAN("execution"));

    return fl_json_string_is(fl_json_get(execution, FL_SPAN("taskSupport")),
                             FL_SPAN("optional"));
}

static void edit_tool(const fl_adapt *adapt, fl_edit *edit, fl_span tool)
{
    bool offer = offers_tasks(adapt), offered = offer && is_offered(tool);
    fl_edit_walk walk;
    fl_json_member member;

    if (fl_json_type_of(tool) != FL_JSON_OBJECT)
        return;
    fl_edit_open(&walk, edit, tool);
    while (fl_edit_next(&walk, &member))
        if (!offered || !fl_edit_named(&member, "execution"))
            edit_tool_member(adapt, &walk, &member);
    if (offer && !offered)
        fl_edit_add_raw(&walk, "execution",
                        FL_SPAN("{\"taskSupport\":\"optional\"}"));
}

void fl_adapt_tools(const fl_adapt *adapt, fl_edit *edit, fl_span tools)
{
    fl_edit_walk walk;
    fl_json_member member;

    if (fl_json_type_of(tools) != FL_JSON_ARRAY)
        return;
    fl_edit_open(&walk, edit, tools);
    while (fl_edit_next(&walk, &member))
        edit_tool(adapt, edit, member.value);
}

/* Whether there is text to read; or, if `any`, anything at all. */
static bool has_part(fl_span content, bool any)
{
    fl_json_walk walk;
    fl_json_member part;

    fl_json_walk_init(&walk, content);
    while (fl_json_walk_next(&walk, &part))
        if (any || fl_json_string_is(fl_json_get(part.value, FL_SPAN("type")),
                                     FL_SPAN("text")))
            return true;
    return false;
}

void fl_adapt_judge_output(const fl_adapt *adapt, fl_span result,
                           fl_adapt_output *output)
{
    fl_span value = fl_json_get(result, FL_SPAN("structuredContent"));
    fl_span content = fl_json_get(result, FL_SPAN("content"));
    bool unread = fl_adapt_lacks(adapt, FL_HAS_STRUCTURED_CONTENT);

    *output = (fl_adapt_output){.value = value};
    if (value.len == 0)
        return;
    if (wants_objects(adapt)) {
        fl_output form = adapt->outputs != NULL
                             ? fl_outputs_find(adapt->outputs, adapt->object)
                             : FL_OUTPUT_UNKNOWN;
        output->hide = form == FL_OUTPUT_HIDDEN;
        output->wrap =
            !output->hide && (form == FL_OUTPUT_WRAPPED ||
                              fl_json_type_of(value) != FL_JSON_OBJECT);
    }
    output->tell =
        (unread || output->hide || output->wrap) && !has_part(content, unread);
}
