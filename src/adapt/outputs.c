/*
 * outputs.c - which tools of a server promise a structured result that is no
 * object.
 *
 * Few do, and only they are kept. The map is keyed by what a name means; one
 * that is asked for with escapes in it, which is legal and rare, is compared
 * with them all.
 */
#include "adapt/outputs.h"

#include "base/buf.h"
#include "base/span.h"
#include "json/nav.h"
#include "json/unescape.h"

void fl_outputs_init(fl_outputs *outputs, size_t max)
{
    fl_map_init(&outputs->tools, max);
}

void fl_outputs_deinit(fl_outputs *outputs)
{
    fl_map_deinit(&outputs->tools);
}

/* Takes the next string, without its quotes, off a JSON text. */
static bool take_string(fl_span *text, fl_span *string)
{
    size_t from = fl_span_find(*text, '"') + 1, to = from;

    if (from > text->len)
        return false;
    while (to < text->len && text->ptr[to] != '"')
        to += text->ptr[to] == '\\' ? 2 : 1;
    to = to < text->len ? to : text->len;
    *string = (fl_span){text->ptr + from, to - from};
    *text = fl_span_from(*text, to < text->len ? to + 1 : to);
    return true;
}

/*
 * Anywhere in it: a place that a reference leads to is found from the root,
 * and the root would be another. Too much is called a reference rather than
 * too little: a property or a text may have such a name.
 */
static bool has_reference(fl_span schema)
{
    fl_span string;

    while (take_string(&schema, &string))
        if (fl_json_unescape_is(string, FL_SPAN("$ref")) ||
            fl_json_unescape_is(string, FL_SPAN("$dynamicRef")) ||
            fl_json_unescape_is(string, FL_SPAN("$recursiveRef")))
            return true;
    return false;
}

fl_output fl_output_judge(fl_span schema)
{
    fl_json_type type = fl_json_type_of(schema);
    bool is_schema =
        type == FL_JSON_OBJECT || type == FL_JSON_TRUE || type == FL_JSON_FALSE;

    if (type == FL_JSON_NONE)
        return FL_OUTPUT_UNKNOWN;
    if (fl_json_string_is(fl_json_get(schema, FL_SPAN("type")),
                          FL_SPAN("object")))
        return FL_OUTPUT_OBJECT;
    return !is_schema || has_reference(schema) ? FL_OUTPUT_HIDDEN
                                               : FL_OUTPUT_WRAPPED;
}

static fl_status remember(fl_outputs *outputs, fl_span name, fl_output form)
{
    (void)fl_map_remove(&outputs->tools, name);
    if (form != FL_OUTPUT_WRAPPED && form != FL_OUTPUT_HIDDEN)
        return FL_OK;
    return fl_map_add(&outputs->tools, name, fl_map_number(form));
}

static fl_status learn_tool(fl_outputs *outputs, fl_span tool)
{
    fl_span name = fl_json_get(tool, FL_SPAN("name"));
    fl_output form =
        fl_output_judge(fl_json_get(tool, FL_SPAN("outputSchema")));
    fl_buf meaning;

    if (fl_json_type_of(name) != FL_JSON_STRING)
        return FL_OK;
    fl_span inside = {name.ptr + 1, name.len - 2};
    if (fl_span_find(inside, '\\') == inside.len)
        return remember(outputs, inside, form);
    fl_buf_init(&meaning, name.len);
    fl_status rc = fl_json_string_copy(name, &meaning);
    if (rc == FL_OK)
        rc = remember(outputs, fl_buf_view(&meaning), form);
    fl_buf_reset(&meaning);
    return rc;
}

/* One that cannot be remembered does not keep us from the others. */
fl_status fl_outputs_learn(fl_outputs *outputs, fl_span result)
{
    fl_span tools = fl_json_get(result, FL_SPAN("tools"));
    fl_status first = FL_OK;
    fl_json_walk walk;
    fl_json_member tool;

    if (fl_json_type_of(tools) != FL_JSON_ARRAY)
        return FL_OK;
    fl_json_walk_init(&walk, tools);
    while (fl_json_walk_next(&walk, &tool)) {
        fl_status rc = learn_tool(outputs, tool.value);
        if (first == FL_OK)
            first = rc;
    }
    return first;
}

static fl_output find_escaped(const fl_outputs *outputs, fl_span inside)
{
    size_t at = 0;
    fl_span key;
    void *value;

    while (fl_map_next(&outputs->tools, &at, &key, &value))
        if (fl_json_unescape_is(inside, key))
            return (fl_output)(uintptr_t)value;
    return FL_OUTPUT_UNKNOWN;
}

fl_output fl_outputs_find(const fl_outputs *outputs, fl_span name)
{
    if (fl_json_type_of(name) != FL_JSON_STRING || name.len < 2)
        return FL_OUTPUT_UNKNOWN;
    fl_span inside = {name.ptr + 1, name.len - 2};
    if (fl_span_find(inside, '\\') < inside.len)
        return find_escaped(outputs, inside);
    return (fl_output)(uintptr_t)fl_map_get(&outputs->tools, inside);
}
