/*
 * quick.c - the short way for schemas that only say which types there are.
 *
 * Nearly every tool takes an object of a few named members, each of a type,
 * some of them required; and nearly every call of it is right. For such a
 * schema, and arrays and objects of such inside of it, validity needs no
 * record of where we are, of what was evaluated, or of what is left to spend:
 * one walk over the instance, a type and a bit for each member.
 *
 * There is no second opinion here. The short way says yes, and nothing else:
 * at the first doubt (a type that does not fit, an escape in a key, a number
 * that may or may not be whole) the long way decides, and finds the words for
 * what is wrong. So this file can only ever be wrong by saying yes, which is
 * why a test and a fuzzer compare the two.
 *
 * Limits hold as they do on the long way. A schema that nests deeper than is
 * allowed is no candidate, and an instance for which the steps might not
 * suffice does not come by here: see fl_quick_plan().
 */
#include "schema/quick.h"

#include "base/span.h"
#include "schema/property.h"
#include "json/walk.h"

enum {
    MOST_NESTING = 32,    /* of schemas, so of our calls */
    MOST_PROPERTIES = 64, /* of one object: a bit each */
    STEPS_PER_BYTE = 8,
    STEPS_AT_LEAST = 16,
};

static bool plan(fl_node *node, unsigned depth);

static bool plan_array(const fl_array_rules *rules, unsigned depth)
{
    return rules->prefix_count == 0 && rules->contains == NULL &&
           rules->unevaluated == NULL && rules->min == 0 &&
           rules->max == SIZE_MAX && !rules->unique &&
           (rules->items == NULL || plan(rules->items, depth));
}

static bool plan_object(fl_object_rules *rules, unsigned depth)
{
    if (rules->property_count > MOST_PROPERTIES || rules->has_dependents ||
        rules->patterns != NULL || rules->names != NULL ||
        rules->unevaluated != NULL || rules->min > 0 || rules->max < SIZE_MAX)
        return false;
    for (size_t i = 0; i < rules->property_count; i++) {
        const fl_property *property = &rules->properties[i];
        /* then a raw key that is like a name means it */
        if (fl_span_find(property->name, '\\') < property->name.len)
            return false;
        if (property->node != NULL && !plan(property->node, depth))
            return false;
        rules->required |= (uint64_t)property->required << i;
    }
    return rules->additional == NULL || plan(rules->additional, depth);
}

/* Without references, which are among `applies`, nodes are a tree. */
static bool plan(fl_node *node, unsigned depth)
{
    if (node->verdict != FL_VERDICT_RULES)
        return true;
    return depth > 0 && node->allowed == NULL && node->constant == NULL &&
           node->number == NULL && node->string == NULL &&
           node->applies == NULL &&
           (node->array == NULL || plan_array(node->array, depth - 1)) &&
           (node->object == NULL || plan_object(node->object, depth - 1));
}

/*
 * An instance that is not too long for the steps there are, at STEPS_PER_BYTE,
 * is one on which the long way does not run out of them either: an element of
 * one byte and its comma is two steps, itself and its schema. An object is
 * four more: schema, walk, and its properties, 64 at most, looked through for
 * those required. The walks of MOST_NESTING levels look through each byte for
 * half a step.
 */
size_t fl_quick_plan(const fl_schema *schema, fl_node *root)
{
    unsigned depth = schema->max_depth;
    uint64_t steps = schema->max_steps;

    if (steps <= STEPS_AT_LEAST ||
        !plan(root, depth < MOST_NESTING ? depth : MOST_NESTING))
        return 0;
    return (size_t)((steps - STEPS_AT_LEAST) / STEPS_PER_BYTE);
}

/* An integer may also be written 1.0 or 1e2: that is for the long way. */
static unsigned types_of_number(fl_span value)
{
    for (size_t i = value.ptr[0] == '-'; i < value.len; i++)
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return FL_TYPE_NUMBER;
    return FL_TYPE_NUMBER | FL_TYPE_INTEGER;
}

/* All that the value is; 0 if there is none. */
static unsigned types_of(fl_span value)
{
    switch (fl_json_type_of(value)) {
    case FL_JSON_OBJECT:
        return FL_TYPE_OBJECT;
    case FL_JSON_ARRAY:
        return FL_TYPE_ARRAY;
    case FL_JSON_STRING:
        return FL_TYPE_STRING;
    case FL_JSON_NUMBER:
        return types_of_number(value);
    case FL_JSON_TRUE:
    case FL_JSON_FALSE:
        return FL_TYPE_BOOLEAN;
    case FL_JSON_NULL:
        return FL_TYPE_NULL;
    case FL_JSON_NONE:
        break;
    }
    return 0;
}

static bool fits_inside(const fl_schema *schema, const fl_node *node,
                        fl_span value, const fl_json_cuts *cuts);

/* Of a value that has nothing inside the type is all there is to know. */
static inline bool fits(const fl_schema *schema, const fl_node *node,
                        fl_span value, const fl_json_cuts *cuts)
{
    unsigned types = types_of(value);

    if (node->verdict != FL_VERDICT_RULES)
        return node->verdict == FL_VERDICT_TRUE;
    if (node->types != 0 && (node->types & types) == 0)
        return false;
    return (types & (FL_TYPE_OBJECT | FL_TYPE_ARRAY)) == 0 ||
           fits_inside(schema, node, value, cuts);
}

static bool fits_array(const fl_schema *schema, const fl_node *items,
                       fl_span value, const fl_json_cuts *cuts)
{
    fl_json_walk walk;
    fl_json_member element;

    if (items == NULL)
        return true;
    fl_json_walk_along(&walk, value, cuts);
    while (fl_json_walk_step(&walk, &element))
        if (!fits(schema, items, element.value, NULL))
            return false;
    return true;
}

/* `*number` is where to look first, and where it was found. */
static bool find(const fl_schema *schema, const fl_object_rules *rules,
                 fl_span key, size_t *number)
{
    if (*number < rules->property_count &&
        fl_span_same_name(rules->properties[*number].name, key))
        return true;
    const fl_property *found = fl_property_find(schema, rules, key);
    if (found != NULL)
        *number = (size_t)(found - rules->properties);
    return found != NULL;
}

static bool fits_object(const fl_schema *schema, const fl_object_rules *rules,
                        fl_span value, const fl_json_cuts *cuts)
{
    fl_json_walk walk;
    fl_json_member member;
    uint64_t seen = 0;
    size_t next = 0;

    fl_json_walk_along(&walk, value, cuts);
    while (fl_json_walk_step(&walk, &member)) {
        const fl_node *node = NULL;
        if (find(schema, rules, member.key, &next)) {
            seen |= (uint64_t)1 << next;
            node = rules->properties[next++].node;
        } else if (fl_span_find(member.key, '\\') < member.key.len) {
            return false; /* it may be one of the properties after all */
        }
        if (node == NULL)
            node = rules->additional;
        if (node != NULL && !fits(schema, node, member.value, NULL))
            return false;
    }
    return (rules->required & ~seen) == 0;
}

static bool fits_inside(const fl_schema *schema, const fl_node *node,
                        fl_span value, const fl_json_cuts *cuts)
{
    if (value.ptr[0] == '{')
        return node->object == NULL ||
               fits_object(schema, node->object, value, cuts);
    return node->array == NULL ||
           fits_array(schema, node->array->items, value, cuts);
}

bool fl_quick_check(const fl_schema *schema, fl_span instance,
                    const fl_json_cuts *cuts)
{
    return fits(schema, schema->root, instance, cuts);
}
