/*
 * tools.c - the tools of a server, and how each revision lists them.
 */
#include "server/tools.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "server/mirror.h"
#include "json/nav.h"

#include <string.h>

static void write_output(fl_json_writer *writer, const fl_tools_entry *tool,
                         const fl_revision *revision)
{
    fl_span schema = fl_span_of(tool->tool.output_schema);
    bool any = fl_revision_has(revision, FL_HAS_STRUCTURED_ANY);

    if (schema.len == 0 ||
        (tool->output_form == FL_TOOLS_OUTPUT_HIDDEN && !any))
        return;
    fl_json_key(writer, "outputSchema");
    if (any || tool->output_form == FL_TOOLS_OUTPUT_OBJECT) {
        fl_json_raw(writer, schema);
        return;
    }
    fl_json_object(writer);
    fl_catalog_write_text(writer, "type", "object");
    fl_json_key(writer, "properties");
    fl_json_object(writer);
    fl_json_key(writer, "result");
    fl_json_raw(writer, schema);
    fl_json_object_end(writer);
    fl_catalog_write_json(writer, "required", "[\"result\"]");
    fl_json_object_end(writer);
}

static fl_tools_output judge_output(const char *schema)
{
    fl_span text = fl_span_of(schema);

    if (schema == NULL || fl_json_string_is(fl_json_get(text, FL_SPAN("type")),
                                            FL_SPAN("object")))
        return FL_TOOLS_OUTPUT_OBJECT;
    /* too much is hidden rather than too little: a description may name one */
    return strstr(schema, "Ref\"") != NULL || strstr(schema, "$ref") != NULL
               ? FL_TOOLS_OUTPUT_HIDDEN
               : FL_TOOLS_OUTPUT_WRAPPED;
}

static void write_tool(fl_json_writer *writer, const fl_entry *entry,
                       const fl_revision *revision)
{
    const fl_tool *tool = &((const fl_tools_entry *)entry)->tool;

    fl_json_object(writer);
    fl_catalog_write_text(writer, "name", tool->name);
    if (fl_revision_has(revision, FL_HAS_TITLE))
        fl_catalog_write_text(writer, "title", tool->title);
    fl_catalog_write_text(writer, "description", tool->description);
    fl_catalog_write_json(writer, "inputSchema",
                          tool->input_schema != NULL ? tool->input_schema
                                                     : "{\"type\":\"object\"}");
    if (fl_revision_has(revision, FL_HAS_STRUCTURED_CONTENT))
        write_output(writer, (const fl_tools_entry *)entry, revision);
    if (fl_revision_has(revision, FL_HAS_TOOL_ANNOTATIONS))
        fl_catalog_write_json(writer, "annotations", tool->annotations);
    if (fl_revision_has(revision, FL_HAS_ICONS))
        fl_catalog_write_json(writer, "icons", tool->icons);
    if (fl_revision_has(revision, FL_HAS_TASKS) && tool->task != FL_TASK_NEVER)
        fl_catalog_write_json(writer, "execution",
                              tool->task == FL_TASK_MUST
                                  ? "{\"taskSupport\":\"required\"}"
                                  : "{\"taskSupport\":\"optional\"}");
    if (fl_revision_has(revision, FL_HAS_TITLE)) /* _meta came with titles */
        fl_catalog_write_json(writer, "_meta", tool->meta);
    fl_json_object_end(writer);
}

const fl_catalog_kind fl_tools_kind = {.member = "tools", .write = write_tool};

static void free_tool(fl_entry *entry)
{
    fl_tools_entry *tool = (fl_tools_entry *)entry;

    fl_schema_free(tool->input);
    fl_schema_free(tool->output);
    fl_mem_free(tool);
}

/* The tool and all its texts in one block. */
static fl_tools_entry *copy(const fl_tool *tool)
{
    const char *texts[] = {tool->name,          tool->title,
                           tool->description,   tool->input_schema,
                           tool->output_schema, tool->annotations,
                           tool->icons,         tool->meta};
    fl_tools_entry *made =
        fl_catalog_copy(sizeof *made, texts, sizeof texts / sizeof *texts);

    if (made == NULL)
        return NULL;
    made->tool = (fl_tool){
        .name = texts[0],
        .title = texts[1],
        .description = texts[2],
        .input_schema = texts[3],
        .output_schema = texts[4],
        .annotations = texts[5],
        .icons = texts[6],
        .meta = texts[7],
        .task = tool->task,
        .call = tool->call,
        .user = tool->user,
    };
    made->entry = (fl_entry){
        .key = made->tool.name,
        .run = tool->call,
        .user = tool->user,
        .refs = 1,
        .free = free_tool,
    };
    return made;
}

/* What is wrong with what does not need a compiler, or NULL. */
static const char *find_fault(const fl_tool *tool)
{
    if (tool->name == NULL || tool->name[0] == '\0')
        return "it has no name";
    if (tool->call == NULL)
        return "it has no handler";
    if (!fl_catalog_is_json(tool->input_schema, '{'))
        return "input_schema is not a JSON object";
    if (!fl_catalog_is_json(tool->output_schema, '{'))
        return "output_schema is not a JSON object";
    if (!fl_catalog_is_json(tool->annotations, '{'))
        return "annotations is not a JSON object";
    if (!fl_catalog_is_json(tool->icons, '['))
        return "icons is not a JSON array";
    if (!fl_catalog_is_json(tool->meta, '{'))
        return "meta is not a JSON object";
    return NULL;
}

static fl_status compile(const char *what, const char *text, fl_schema **out,
                         fl_error *error)
{
    fl_error why;

    *out = NULL;
    if (text == NULL)
        return FL_OK;
    fl_status rc = fl_schema_compile(fl_span_of(text), NULL, out, &why);
    if (rc == FL_OK || rc == FL_E_NOMEM)
        return rc;
    return fl_error_set(error, FL_E_INVALID, "%s: %.200s", what, why.text);
}

/* Arguments are an object in every revision, and many clients drop a list with
 * a tool that says otherwise. */
static fl_status check_root(const char *schema, fl_error *error)
{
    fl_span type = fl_json_get(fl_span_of(schema), FL_SPAN("type"));

    if (schema == NULL || fl_json_string_is(type, FL_SPAN("object")))
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "input_schema: must have \"type\": \"object\" at its "
                        "root");
}

static fl_status learn(fl_tools_entry *made, fl_error *error)
{
    const fl_tool *tool = &made->tool;
    fl_status rc =
        fl_annotations_scan(fl_span_of(tool->input_schema), &made->mirrored);

    made->output_form = judge_output(tool->output_schema);
    if (rc == FL_E_INVALID)
        return fl_error_set(error, rc,
                            "input_schema: x-mcp-header is where or how it "
                            "may not be");
    if (rc == FL_OK)
        rc = compile("input_schema", tool->input_schema, &made->input, error);
    if (rc == FL_OK)
        rc = check_root(tool->input_schema, error);
    if (rc == FL_OK)
        rc =
            compile("output_schema", tool->output_schema, &made->output, error);
    return rc;
}

fl_status fl_tools_add(fl_catalog *tools, const fl_tool *tool, fl_error *error)
{
    const char *fault = find_fault(tool);

    if (fault != NULL)
        return fl_error_set(error, FL_E_INVALID, "%s", fault);
    fl_tools_entry *made = copy(tool);
    if (made == NULL)
        return FL_E_NOMEM;
    fl_status rc = learn(made, error);
    if (rc == FL_OK)
        rc = fl_catalog_add(tools, &made->entry);
    if (rc != FL_OK)
        fl_entry_unref(&made->entry);
    return rc;
}

fl_status fl_tools_check_input(const fl_tools_entry *tool,
                               const fl_params *params, fl_schema_fault *fault)
{
    if (tool->input == NULL)
        return FL_OK;
    if (params->arguments.len == 0)
        return fl_schema_check(tool->input, FL_SPAN("{}"), fault);
    return fl_schema_check_along(tool->input, params->arguments, &params->cuts,
                                 fault);
}

fl_status fl_tools_check_output(const fl_tools_entry *tool, fl_span structured,
                                fl_schema_fault *fault)
{
    if (tool->output == NULL || structured.len == 0)
        return FL_OK;
    return fl_schema_check(tool->output, structured, fault);
}
