/*
 * adapt_form.c - forms, for clients of 2025-06-18.
 *
 * A choice with titles is {"oneOf":[{"const":...,"title":...}]} from
 * 2025-11-25 on; before that it was {"enum":[...],"enumNames":[...]}, which
 * the schema of 2025-06-18 has and its text forgot. A choice of several has no
 * older form.
 */
#include "adapt/adapt_impl.h"

static fl_span get_string(fl_span object, fl_span key)
{
    fl_span value = fl_json_get(object, key);

    return fl_json_type_of(value) == FL_JSON_STRING ? value : (fl_span){0};
}

/* Whether each of them is a string that may be chosen. */
static bool are_choices(fl_span choices)
{
    fl_json_walk walk;
    fl_json_member choice;

    if (fl_json_type_of(choices) != FL_JSON_ARRAY)
        return false;
    fl_json_walk_init(&walk, choices);
    while (fl_json_walk_next(&walk, &choice))
        if (get_string(choice.value, FL_SPAN("const")).len == 0)
            return false;
    return true;
}

static void put_choices(fl_edit *edit, fl_span choices, bool titles)
{
    fl_json_writer writer;
    fl_json_walk walk;
    fl_json_member choice;

    fl_json_writer_init(&writer, edit->out);
    fl_json_array(&writer);
    fl_json_walk_init(&walk, choices);
    while (fl_json_walk_next(&walk, &choice)) {
        fl_span title = get_string(choice.value, FL_SPAN("title"));
        fl_span value = get_string(choice.value, FL_SPAN("const"));
        fl_json_raw(&writer, titles && title.len > 0 ? title : value);
    }
    fl_json_array_end(&writer);
    fl_edit_note(edit, fl_json_writer_end(&writer));
}

/* By the last one of that name, which is the one that counts. */
static bool has_titles(fl_span property)
{
    return are_choices(fl_json_get(property, FL_SPAN("oneOf"))) &&
           fl_json_get(property, FL_SPAN("enum")).len == 0 &&
           fl_json_get(property, FL_SPAN("enumNames")).len == 0;
}

static bool is_bool(fl_span value)
{
    fl_json_type type = fl_json_type_of(value);

    return type == FL_JSON_TRUE || type == FL_JSON_FALSE;
}

static void edit_property(fl_edit *edit, fl_span property)
{
    fl_span choices = fl_json_get(property, FL_SPAN("oneOf"));
    bool titled = has_titles(property);
    fl_edit_walk walk;
    fl_json_member member;

    if (fl_json_string_is(fl_json_get(property, FL_SPAN("type")),
                          FL_SPAN("array")))
        fl_edit_note(edit, FL_E_UNSUPPORTED);
    if (fl_json_type_of(property) != FL_JSON_OBJECT)
        return;
    fl_edit_open(&walk, edit, property);
    while (fl_edit_next(&walk, &member))
        if ((titled && fl_edit_named(&member, "oneOf")) ||
            (fl_edit_named(&member, "default") && !is_bool(member.value)))
            fl_edit_drop(&walk);
    if (titled) {
        fl_edit_add(&walk, "enum");
        put_choices(edit, choices, false);
        fl_edit_add(&walk, "enumNames");
        put_choices(edit, choices, true);
    }
}

void fl_adapt_form(fl_edit *edit, fl_span schema)
{
    fl_json_walk walk, inner;
    fl_json_member member, property;

    if (fl_json_type_of(schema) != FL_JSON_OBJECT)
        return;
    fl_json_walk_init(&walk, schema);
    while (fl_json_walk_next(&walk, &member)) {
        if (!fl_edit_named(&member, "properties") ||
            fl_json_type_of(member.value) != FL_JSON_OBJECT)
            continue;
        fl_json_walk_init(&inner, member.value);
        while (fl_json_walk_next(&inner, &property))
            edit_property(edit, property.value);
    }
}
