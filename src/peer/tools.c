/*
 * tools.c - the tools of a server, and how each revision lists them.
 *
 * Lists are asked for often and change seldom, so the whole result is made
 * once per revision and kept until a tool is added.
 */
#include "peer/tools.h"

#include "base/mem.h"
#include "base/span.h"
#include "peer/cache.h"
#include "peer/mirror.h"
#include "json/scan.h"
#include "json/write.h"

#include <string.h>

enum { LIST_MAX = 64 * 1024 * 1024 };

void fl_tools_init(fl_tools *tools)
{
    *tools = (fl_tools){0};
    fl_map_init(&tools->by_name, FL_TOOLS_MAX);
    for (size_t i = 0; i < FL_TOOLS_LISTS; i++)
        fl_buf_init(&tools->lists[i], LIST_MAX);
}

static void forget_lists(fl_tools *tools)
{
    for (size_t i = 0; i < FL_TOOLS_LISTS; i++)
        fl_buf_reset(&tools->lists[i]);
}

void fl_tools_deinit(fl_tools *tools)
{
    for (size_t i = 0; i < tools->count; i++)
        fl_mem_free(tools->tools[i]);
    fl_mem_free(tools->tools);
    fl_map_deinit(&tools->by_name);
    forget_lists(tools);
    *tools = (fl_tools){0};
}

static bool is_object(const char *json)
{
    fl_json_top top;

    return json == NULL ||
           (fl_json_scan(fl_span_of(json), 0, &top, NULL) == FL_OK &&
            top.type == FL_JSON_OBJECT);
}

/* The tool and all its texts in one block. */
static fl_tools_entry *copy(const fl_tool *tool)
{
    const char *texts[] = {tool->name,          tool->title,
                           tool->description,   tool->input_schema,
                           tool->output_schema, tool->annotations};
    enum { TEXTS = sizeof texts / sizeof *texts };
    size_t size = sizeof(fl_tools_entry);

    for (size_t i = 0; i < TEXTS; i++)
        size += texts[i] != NULL ? strlen(texts[i]) + 1 : 0;
    fl_tools_entry *made = fl_mem_alloc(size);
    if (made == NULL)
        return NULL;
    char *at = (char *)(made + 1);
    for (size_t i = 0; i < TEXTS; i++) {
        if (texts[i] == NULL)
            continue;
        size_t len = strlen(texts[i]) + 1;
        memcpy(at, texts[i], len);
        texts[i] = at;
        at += len;
    }
    made->tool = (fl_tool){
        .name = texts[0],
        .title = texts[1],
        .description = texts[2],
        .input_schema = texts[3],
        .output_schema = texts[4],
        .annotations = texts[5],
        .call = tool->call,
        .user = tool->user,
    };
    return made;
}

static fl_status grow(fl_tools *tools)
{
    if (tools->count < tools->cap)
        return FL_OK;
    size_t cap = tools->cap > 0 ? tools->cap * 2 : 8;
    fl_tools_entry **grown = fl_mem_realloc(tools->tools, cap * sizeof(void *));
    if (grown == NULL)
        return FL_E_NOMEM;
    tools->tools = grown;
    tools->cap = cap;
    return FL_OK;
}

fl_status fl_tools_add(fl_tools *tools, const fl_tool *tool)
{
    if (tool->name == NULL || tool->name[0] == '\0' || tool->call == NULL ||
        !is_object(tool->input_schema) || !is_object(tool->output_schema) ||
        !is_object(tool->annotations))
        return FL_E_INVALID;
    bool mirrored;
    fl_status rc = fl_mirror_scan(fl_span_of(tool->input_schema), &mirrored);
    if (rc == FL_OK)
        rc = grow(tools);
    if (rc != FL_OK)
        return rc;
    fl_tools_entry *made = copy(tool);
    if (made == NULL)
        return FL_E_NOMEM;
    made->mirrored = mirrored;
    rc = fl_map_add(&tools->by_name, fl_span_of(made->tool.name), made);
    if (rc != FL_OK) {
        fl_mem_free(made);
        return rc;
    }
    tools->tools[tools->count++] = made;
    forget_lists(tools);
    return FL_OK;
}

const fl_tools_entry *fl_tools_find(fl_tools *tools, fl_span name)
{
    if (tools->last != NULL &&
        fl_span_equal(fl_span_of(tools->last->tool.name), name))
        return tools->last;
    const fl_tools_entry *found = fl_map_get(&tools->by_name, name);
    if (found != NULL)
        tools->last = found;
    return found;
}

static void write_json(fl_json_writer *writer, const char *key,
                       const char *json)
{
    if (json == NULL)
        return;
    fl_json_key(writer, key);
    fl_json_raw(writer, fl_span_of(json));
}

static void write_text(fl_json_writer *writer, const char *key,
                       const char *text)
{
    if (text == NULL)
        return;
    fl_json_key(writer, key);
    fl_json_string(writer, text);
}

static void write_tool(fl_json_writer *writer, const fl_tool *tool,
                       const fl_revision *revision)
{
    fl_json_object(writer);
    write_text(writer, "name", tool->name);
    if (fl_revision_has(revision, FL_HAS_TITLE))
        write_text(writer, "title", tool->title);
    write_text(writer, "description", tool->description);
    write_json(writer, "inputSchema",
               tool->input_schema != NULL ? tool->input_schema
                                          : "{\"type\":\"object\"}");
    if (fl_revision_has(revision, FL_HAS_STRUCTURED_CONTENT))
        write_json(writer, "outputSchema", tool->output_schema);
    if (fl_revision_has(revision, FL_HAS_TOOL_ANNOTATIONS))
        write_json(writer, "annotations", tool->annotations);
    fl_json_object_end(writer);
}

fl_status fl_tools_list(fl_tools *tools, const fl_revision *revision,
                        fl_span *result)
{
    fl_buf *list = &tools->lists[revision->id];
    fl_status rc = FL_OK;

    if (fl_buf_len(list) == 0) {
        fl_json_writer writer;
        fl_json_writer_init(&writer, list);
        fl_json_object(&writer);
        fl_json_key(&writer, "tools");
        fl_json_array(&writer);
        for (size_t i = 0; i < tools->count; i++)
            write_tool(&writer, &tools->tools[i]->tool, revision);
        fl_json_array_end(&writer);
        if (fl_revision_has(revision, FL_HAS_DISCOVER))
            fl_cache_write_hints(&writer);
        fl_json_object_end(&writer);
        rc = fl_json_writer_end(&writer);
        if (rc != FL_OK)
            fl_buf_reset(list);
    }
    *result = fl_buf_view(list);
    return rc;
}
