/*
 * doctor_tools.c - what can be wrong with a tool before it is called.
 *
 * A list may be long and have the same flaw all over, so flaws are counted,
 * and each is told once, with an example.
 */
#include "cmd/doctor_protocol.h"

#include "base/span.h"
#include "schema/schema.h"

#include <stdio.h>
#include <string.h>

enum {
    NAME_MAX_LENGTH = 128, /* 2025-11-25, Tools, Tool Names */
    NAME_HANDY = 60,       /* what hosts that add a prefix leave of their 64 */
};

void fl_flaw_note(fl_flaw *flaw, fl_span what)
{
    if (flaw->count++ == 0)
        fl_chart_quote(what, flaw->example);
}

static bool is_name_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' ||
           letter == '.';
}

static void look_at_name(fl_tool_flaws *flaws, fl_span name)
{
    if (fl_json_type_of(name) != FL_JSON_STRING || name.len <= 2) {
        fl_flaw_note(&flaws->unnamed, name.len > 0 ? name : FL_SPAN("none"));
        return;
    }
    bool fits = name.len - 2 <= NAME_MAX_LENGTH;
    for (size_t i = 1; i + 1 < name.len; i++)
        fits = fits && is_name_letter(name.ptr[i]);
    if (!fits)
        fl_flaw_note(&flaws->odd_name, name);
    else if (name.len - 2 > NAME_HANDY)
        fl_flaw_note(&flaws->long_name, name);
}

static bool compiles(fl_span schema, char why[FL_CHART_QUOTE])
{
    fl_schema *compiled = NULL;
    fl_error error;
    fl_status rc = fl_schema_compile(schema, NULL, &compiled, &error);

    fl_schema_free(compiled);
    if (rc != FL_OK && why[0] == '\0')
        fl_chart_quote(fl_span_of(error.text), why);
    return rc == FL_OK;
}

static bool is_of_objects(fl_span schema)
{
    return fl_json_string_is(fl_json_get(schema, FL_SPAN("type")),
                             FL_SPAN("object"));
}

void fl_exam_tool(fl_tool_flaws *flaws, fl_span tool, bool modern)
{
    fl_span name = fl_json_get(tool, FL_SPAN("name"));
    fl_span input = fl_json_get(tool, FL_SPAN("inputSchema"));
    fl_span output = fl_json_get(tool, FL_SPAN("outputSchema"));

    look_at_name(flaws, name);
    if (fl_json_get(tool, FL_SPAN("description")).len <= 2)
        fl_flaw_note(&flaws->undescribed, name);
    if (fl_json_type_of(input) != FL_JSON_OBJECT)
        fl_flaw_note(&flaws->no_schema, name);
    else if (!compiles(input, flaws->why))
        fl_flaw_note(&flaws->bad_schema, name);
    else if (!is_of_objects(input))
        fl_flaw_note(&flaws->not_object, name);
    if (output.len == 0)
        return;
    if (fl_json_type_of(output) != FL_JSON_OBJECT ||
        (!modern && !is_of_objects(output)) || !compiles(output, flaws->why))
        fl_flaw_note(&flaws->bad_output, name);
}

void fl_exam_tool_report(fl_exam *exam, const fl_tool_flaws *flaws,
                         size_t count)
{
    const struct row {
        const fl_flaw *flaw;
        fl_chart_level level;
        const char *check, *what, *advice;
    } rows[] = {
        {&flaws->unnamed, FL_CHART_FAULT, "tools.name", "without a name",
         "A name is text, and not empty: it is what the tool is called by."},
        {&flaws->odd_name, FL_CHART_WARNING, "tools.name",
         "with a name that not every host takes",
         "Use 1 to 128 of the letters A-Z, a-z, 0-9, _, - and the dot."},
        {&flaws->long_name, FL_CHART_NOTE, "tools.name",
         "with a name of more than 60 letters",
         "Models take 64 at most, and hosts put a prefix before it: shorten "
         "it."},
        {&flaws->undescribed, FL_CHART_NOTE, "tools.description",
         "without a description",
         "Say what it does and when to use it: that is all a model goes by."},
        {&flaws->no_schema, FL_CHART_FAULT, "tools.schema",
         "without an inputSchema",
         "Give each tool one, {\"type\": \"object\"} if it takes nothing: "
         "many clients drop the whole list otherwise."},
        {&flaws->bad_schema, FL_CHART_FAULT, "tools.schema",
         "with an inputSchema that is no JSON Schema",
         "Mend the schema at the place that is named."},
        {&flaws->not_object, FL_CHART_FAULT, "tools.schema",
         "with an inputSchema that is not of type object",
         "\"type\": \"object\" is required at its root."},
        {&flaws->bad_output, FL_CHART_WARNING, "tools.output",
         "with an outputSchema that is no schema of an object",
         "Mend it, or leave it out: results are checked against it."},
    };
    bool fine = true;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        bool why = row->flaw == &flaws->bad_schema && flaws->why[0] != '\0';
        if (row->flaw->count == 0)
            continue;
        fine = fine && row->level <= FL_CHART_NOTE;
        fl_chart_find(exam->chart, row->level, row->check, row->advice,
                      "%u tool%s %s: %s%s%s", row->flaw->count,
                      row->flaw->count == 1 ? "" : "s", row->what,
                      row->flaw->example, why ? ": " : "",
                      why ? flaws->why : "");
    }
    if (fine && count > 0)
        fl_chart_ok(exam->chart, "tools.schema",
                    "all schemas are valid, all names are fit to use");
}
