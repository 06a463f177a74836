/*
 * check.c - is this value what the schema asks for?
 *
 * A node is applied to a raw slice: first what is cheap (the type, the values
 * allowed), then the rules of its kind, then other schemas on the same value,
 * and what is left over last. Recursion follows the schema into the instance
 * and is bounded by max_depth; time is bounded by steps; memory is the stack.
 *
 * Marks, the record of what was evaluated, exist only below a schema that asks
 * for what was not: everybody else passes NULL and pays nothing.
 */
#include "schema/check.h"

#include "base/span.h"
#include "schema/quick.h"
#include "json/nav.h"

#include <stdio.h>

enum {
    SCRATCH_KEPT = 64 * 1024,
    STEPS_PER_BYTE = 64,
    STEPS_AT_LEAST = 64 * 1024,
};

static unsigned char type_of(fl_span value)
{
    static const unsigned char types[] = {
        [FL_JSON_NONE] = 0,
        [FL_JSON_OBJECT] = FL_TYPE_OBJECT,
        [FL_JSON_ARRAY] = FL_TYPE_ARRAY,
        [FL_JSON_STRING] = FL_TYPE_STRING,
        [FL_JSON_NUMBER] = FL_TYPE_NUMBER,
        [FL_JSON_TRUE] = FL_TYPE_BOOLEAN,
        [FL_JSON_FALSE] = FL_TYPE_BOOLEAN,
        [FL_JSON_NULL] = FL_TYPE_NULL,
    };

    return types[fl_json_type_of(value)];
}

static const char *type_name(unsigned type)
{
    switch (type) {
    case FL_TYPE_NULL:
        return "null";
    case FL_TYPE_BOOLEAN:
        return "boolean";
    case FL_TYPE_OBJECT:
        return "object";
    case FL_TYPE_ARRAY:
        return "array";
    case FL_TYPE_STRING:
        return "string";
    case FL_TYPE_INTEGER:
        return "integer";
    default:
        return "number";
    }
}

static fl_status fail_type(fl_check *check, unsigned wanted, unsigned type)
{
    char list[96] = ""; /* room for all seven */
    size_t len = 0;

    for (unsigned bit = 1; bit <= FL_TYPE_INTEGER; bit <<= 1)
        if ((wanted & bit) != 0)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%s",
                                    len > 0 ? " or " : "", type_name(bit));
    return fl_check_fail(check, "type", "must be %s, not %s", list,
                         type == FL_TYPE_NUMBER && wanted == FL_TYPE_INTEGER
                             ? "a fraction"
                             : type_name(type));
}

static fl_status check_type(fl_check *check, unsigned wanted, unsigned type,
                            fl_span value)
{
    if ((wanted & type) != 0)
        return FL_OK;
    if (type == FL_TYPE_NUMBER && (wanted & FL_TYPE_INTEGER) != 0) {
        fl_numeral number = fl_numeral_read(value);
        if (fl_numeral_is_whole(&number))
            return FL_OK;
    }
    return fail_type(check, wanted, type);
}

static fl_status check_set(fl_check *check, const fl_value_set *set,
                           fl_span value)
{
    fl_status rc = fl_value_find(&check->work, set, value);

    if (rc != FL_END)
        return rc == FL_E_LIMIT ? fl_check_limit(check) : rc;
    return fl_check_fail(check, set->keyword, "must be %s%.*s%s",
                         set->keyword[0] == 'c' ? "" : "one of ",
                         fl_check_shown(set->source), set->source.ptr,
                         set->source.len > 80 ? "..." : "");
}

/* The rules of the value's own kind. */
static fl_status check_kind(fl_check *check, const fl_node *node, unsigned type,
                            fl_span value, fl_marks *marks)
{
    if (type == FL_TYPE_OBJECT && node->object != NULL)
        return fl_check_object(check, node->object, value, marks);
    if (type == FL_TYPE_ARRAY && node->array != NULL)
        return fl_check_array(check, node->array, value, marks);
    if (type == FL_TYPE_STRING && node->string != NULL)
        return fl_check_string(check, node->string, value);
    if (type == FL_TYPE_NUMBER && node->number != NULL)
        return fl_check_number(check, node, value);
    return FL_OK;
}

static fl_status check_rules(fl_check *check, const fl_node *node,
                             fl_span value, fl_marks *marks)
{
    unsigned char type = type_of(value);
    fl_status rc = FL_OK;

    if (node->types != 0)
        rc = check_type(check, node->types, type, value);
    if (rc == FL_OK && node->allowed != NULL)
        rc = check_set(check, node->allowed, value);
    if (rc == FL_OK && node->constant != NULL)
        rc = check_set(check, node->constant, value);
    if (rc == FL_OK)
        rc = check_kind(check, node, type, value, marks);
    if (rc == FL_OK && node->applies != NULL)
        rc = fl_check_applies(check, node, value, marks);
    return rc;
}

/* What is to become of what is left over, if this schema cares. */
static const fl_node *unevaluated_of(const fl_node *node, unsigned type,
                                     const char **keyword)
{
    if (type == FL_TYPE_OBJECT && node->object != NULL) {
        *keyword = "unevaluatedProperties";
        return node->object->unevaluated;
    }
    if (type == FL_TYPE_ARRAY && node->array != NULL) {
        *keyword = "unevaluatedItems";
        return node->array->unevaluated;
    }
    return NULL;
}

static size_t count_members(fl_span value)
{
    fl_json_walk walk;
    fl_json_member member;
    size_t count = 0;

    fl_json_walk_init(&walk, value);
    while (fl_json_walk_next(&walk, &member))
        count++;
    return count;
}

/* A schema that cares for what is left over keeps a record of its own: what
 * its neighbours evaluated is none of its business. */
static fl_status check_and_rest(fl_check *check, const fl_node *node,
                                const fl_node *rest, const char *keyword,
                                fl_span value, fl_marks *outer)
{
    fl_marks marks;

    size_t count = count_members(value);
    if (!fl_work_spend(&check->work, value.len + count * FL_STEP_BYTES))
        return fl_check_limit(check);
    fl_status rc = fl_marks_init(&marks, count);
    if (rc != FL_OK)
        return rc;
    rc = check_rules(check, node, value, &marks);
    if (rc == FL_OK)
        rc = fl_check_unevaluated(check, rest, keyword, value, &marks);
    if (rc == FL_OK && outer != NULL)
        fl_marks_add(outer, &marks);
    fl_marks_deinit(&marks);
    return rc;
}

static fl_status check_here(fl_check *check, const fl_node *node, fl_span value,
                            fl_marks *marks)
{
    const char *keyword = NULL;
    const fl_node *rest = unevaluated_of(node, type_of(value), &keyword);

    return rest == NULL
               ? check_rules(check, node, value, marks)
               : check_and_rest(check, node, rest, keyword, value, marks);
}

fl_status fl_check_node(fl_check *check, const fl_node *node, fl_span value,
                        fl_marks *marks)
{
    const fl_scope *outer = check->scope;
    fl_scope scope = {outer, node->resource};

    if (node->verdict == FL_VERDICT_TRUE)
        return FL_OK;
    if (node->verdict == FL_VERDICT_FALSE)
        return fl_check_fail(check, check->keyword, "nothing is allowed here");
    if (check->depth == 0 || !fl_work_spend(&check->work, 0))
        return fl_check_limit(check);
    if (outer == NULL || outer->resource != node->resource)
        check->scope = &scope;
    check->depth--;
    fl_status rc = check_here(check, node, value, marks);
    check->depth++;
    check->scope = outer;
    return rc;
}

fl_status fl_check_inside(fl_check *check, const fl_node *node, fl_span value,
                          fl_path step)
{
    if (node->verdict == FL_VERDICT_TRUE)
        return FL_OK;
    step.parent = check->path;
    check->path = &step;
    fl_status rc = fl_check_node(check, node, value, NULL);
    check->path = step.parent;
    return rc;
}

static fl_span trim(fl_span text)
{
    for (; text.len > 0 && (unsigned char)text.ptr[0] <= ' '; text.len--)
        text.ptr++;
    while (text.len > 0 && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    return text;
}

/* A small instance is worth little work: what takes more is the doing of the
 * schema, or of whoever chose the two. */
static uint64_t steps_for(const fl_schema *schema, fl_span instance)
{
    uint64_t most = schema->max_steps;

    if (most <= STEPS_AT_LEAST ||
        instance.len >= (most - STEPS_AT_LEAST) / STEPS_PER_BYTE)
        return most;
    return STEPS_AT_LEAST + (uint64_t)instance.len * STEPS_PER_BYTE;
}

static fl_status check_long(const fl_schema *schema, fl_span instance,
                            fl_schema_fault *fault)
{
    fl_check check = {
        .work = {schema, steps_for(schema, instance)},
        .depth = schema->max_depth,
        .keyword = "false",
        .fault = fault,
    };

    fl_status rc = fl_check_node(&check, schema->root, instance, NULL);
    if (rc == FL_E_LIMIT && fault != NULL && fault->text[0] == '\0')
        return fl_check_limit(&check);
    if (fl_buf_len(&schema->scratch->text) > SCRATCH_KEPT)
        fl_buf_reset(&schema->scratch->text);
    return rc;
}

fl_status fl_schema_check_along(const fl_schema *schema, fl_span instance,
                                const fl_json_cuts *cuts,
                                fl_schema_fault *fault)
{
    fl_span value = trim(instance);

    if (fault != NULL) {
        fault->path[0] = fault->text[0] = '\0';
        fault->keyword = "";
    }
    if (value.len > 0 && value.len <= schema->quick &&
        fl_quick_check(schema, value, value.ptr == instance.ptr ? cuts : NULL))
        return FL_OK;
    return check_long(schema, value, fault);
}

fl_status fl_schema_check(const fl_schema *schema, fl_span instance,
                          fl_schema_fault *fault)
{
    return fl_schema_check_along(schema, instance, NULL, fault);
}
