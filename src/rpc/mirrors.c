/*
 * mirrors.c - which arguments of a tool call its client repeats.
 *
 * Few tools have annotations, so that most calls cost one look into an empty
 * map. Schemas are kept as they came and walked side by side with the
 * arguments: only along "properties", for elsewhere an annotation does not
 * count.
 */
#include "rpc/mirrors.h"

#include "base/mem.h"
#include "base/span.h"
#include "rpc/extract.h"
#include "json/nav.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    TOOLS_MAX = 4096,
    NAME_MAX_BYTES = 1024,
    BYTES_MAX = 8 * 1024 * 1024,
    VALUE_MAX = 64 * 1024,
    DEPTH_MAX = 32,
};

static const fl_span annotation = {"x-mcp-header", 12};

void fl_mirrors_init(fl_mirrors *mirrors)
{
    *mirrors = (fl_mirrors){0};
    fl_map_init(&mirrors->schemas, TOOLS_MAX);
}

void fl_mirrors_deinit(fl_mirrors *mirrors)
{
    size_t at = 0;
    fl_span key;
    void *schema;

    while (fl_map_next(&mirrors->schemas, &at, &key, &schema))
        fl_mem_free(schema);
    fl_map_deinit(&mirrors->schemas);
    *mirrors = (fl_mirrors){0};
}

static void forget(fl_mirrors *mirrors, fl_span name)
{
    char *schema = fl_map_remove(&mirrors->schemas, name);

    if (schema != NULL)
        mirrors->bytes -= strlen(schema);
    fl_mem_free(schema);
}

static void keep(fl_mirrors *mirrors, fl_span name, fl_span schema)
{
    if (memmem(schema.ptr, schema.len, annotation.ptr, annotation.len) ==
            NULL ||
        schema.len > BYTES_MAX - mirrors->bytes)
        return;
    char *copy = fl_mem_string(schema);
    if (copy == NULL)
        return;
    if (fl_map_add(&mirrors->schemas, name, copy) == FL_OK)
        mirrors->bytes += schema.len;
    else
        fl_mem_free(copy);
}

static void learn_tool(fl_mirrors *mirrors, fl_span tool)
{
    fl_span schema = fl_json_get(tool, FL_SPAN("inputSchema"));
    fl_buf name;

    fl_buf_init(&name, NAME_MAX_BYTES);
    if (fl_extract_text(fl_json_get(tool, FL_SPAN("name")), &name) == FL_OK) {
        forget(mirrors, fl_buf_view(&name));
        if (schema.len > 0)
            keep(mirrors, fl_buf_view(&name), schema);
    }
    fl_buf_reset(&name);
}

void fl_mirrors_learn(fl_mirrors *mirrors, const fl_msg *msg)
{
    fl_json_walk walk;
    fl_json_member tool;

    fl_json_walk_init(&walk, fl_json_get(msg->result, FL_SPAN("tools")));
    while (!walk.in_object && fl_json_walk_next(&walk, &tool))
        learn_tool(mirrors, tool.value);
}

/* One walk over a schema and the arguments beside it. */
struct round {
    fl_mirrors_fn *each;
    void *user;
    fl_buf text;
};

/* Nothing, null and what is no such value are left out. */
static fl_status tell(struct round *round, fl_span name, fl_span value)
{
    fl_json_type type = fl_json_type_of(value);
    fl_status rc = FL_OK;
    int64_t number;

    fl_buf_truncate(&round->text, 0);
    if (type == FL_JSON_STRING)
        rc = fl_extract_text(value, &round->text);
    else if (type == FL_JSON_TRUE || type == FL_JSON_FALSE)
        rc = fl_buf_append(&round->text, value);
    else if (fl_json_int64(value, &number) == FL_OK)
        rc = fl_buf_printf(&round->text, "%" PRId64, number);
    else
        return FL_OK;
    if (rc != FL_OK)
        return rc;
    name = (fl_span){name.ptr + 1, name.len - 2};
    return round->each(round->user, name, fl_buf_view(&round->text));
}

static fl_status walk_schema(struct round *round, fl_span schema,
                             fl_span arguments, unsigned depth)
{
    fl_json_walk walk;
    fl_json_member property;
    fl_status rc = FL_OK;

    fl_json_walk_init(&walk, fl_json_get(schema, FL_SPAN("properties")));
    while (rc == FL_OK && walk.in_object &&
           fl_json_walk_next(&walk, &property)) {
        fl_span value = fl_json_get(arguments, property.key);
        fl_span name = fl_json_get(property.value, annotation);
        if (value.len == 0)
            continue;
        if (fl_json_type_of(name) == FL_JSON_STRING)
            rc = tell(round, name, value);
        else if (fl_json_type_of(value) == FL_JSON_OBJECT && depth < DEPTH_MAX)
            rc = walk_schema(round, property.value, value, depth + 1);
    }
    return rc;
}

/* FL_E_NOMEM; a name that is too long is of no tool we know. */
static fl_status find(const fl_mirrors *mirrors, fl_span token, fl_span *schema)
{
    fl_buf name;

    *schema = (fl_span){0};
    if (fl_map_count(&mirrors->schemas) == 0)
        return FL_OK;
    fl_buf_init(&name, NAME_MAX_BYTES);
    fl_status rc = fl_extract_text(token, &name);
    if (rc == FL_OK)
        *schema = fl_span_of(fl_map_get(&mirrors->schemas, fl_buf_view(&name)));
    fl_buf_reset(&name);
    return rc == FL_E_TOO_BIG ? FL_OK : rc;
}

fl_span fl_mirrors_schema(const fl_mirrors *mirrors, fl_span name)
{
    fl_span schema;

    return find(mirrors, name, &schema) == FL_OK ? schema : (fl_span){0};
}

fl_status fl_mirrors_each(const fl_mirrors *mirrors, const fl_msg *call,
                          fl_mirrors_fn *each, void *user)
{
    struct round round = {.each = each, .user = user};
    fl_span schema;

    if (!fl_msg_method_is(call, FL_SPAN("tools/call")))
        return FL_OK;
    fl_status rc = find(mirrors, fl_extract_object(call), &schema);
    if (rc != FL_OK || schema.len == 0)
        return rc;
    fl_buf_init(&round.text, VALUE_MAX);
    rc = walk_schema(&round, schema, call->inner.arguments, 0);
    fl_buf_reset(&round.text);
    return rc;
}
