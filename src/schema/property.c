/*
 * property.c - the properties that a schema names, by name.
 *
 * Most schemas name a handful, and comparing lengths and bytes finds one of a
 * handful fastest. Beyond that a table of slots leads from a keyed hash to the
 * number of the property.
 */
#include "schema/property.h"

#include "base/siphash.h"
#include "base/span.h"

enum { FEW = 8 };

/* The slot where it is, or where it would be. */
static size_t find_slot(const fl_object_rules *rules, uint64_t hash,
                        fl_span name)
{
    size_t mask = rules->slot_count - 1, at = (size_t)hash & mask;

    for (; rules->slots[at] != 0; at = (at + 1) & mask) {
        const fl_property *property = &rules->properties[rules->slots[at] - 1];
        if (property->hash == hash && fl_span_equal(property->name, name))
            break;
    }
    return at;
}

fl_property *fl_property_find(const fl_schema *schema,
                              const fl_object_rules *rules, fl_span name)
{
    if (rules->slots != NULL) {
        uint64_t hash = fl_siphash(schema->seed, name);
        uint32_t found = rules->slots[find_slot(rules, hash, name)];
        return found != 0 ? &rules->properties[found - 1] : NULL;
    }
    for (size_t i = 0; i < rules->property_count; i++)
        if (fl_span_equal(rules->properties[i].name, name))
            return &rules->properties[i];
    return NULL;
}

/* Twice the room, and slots if there are more than a few. */
static fl_status grow(fl_schema *schema, fl_object_rules *rules)
{
    size_t cap = rules->property_cap > 0 ? rules->property_cap * 2 : FEW;
    fl_property *properties =
        fl_arena_array(&schema->arena, cap, sizeof *properties);

    if (properties == NULL)
        return FL_E_NOMEM;
    for (size_t i = 0; rules->properties != NULL && i < rules->property_count;
         i++)
        properties[i] = rules->properties[i];
    rules->properties = properties;
    rules->property_cap = cap;
    if (cap == FEW)
        return FL_OK;
    rules->slot_count = cap * 2;
    rules->slots =
        fl_arena_array(&schema->arena, rules->slot_count, sizeof *rules->slots);
    if (rules->slots == NULL)
        return FL_E_NOMEM;
    for (size_t i = 0; i < rules->property_count; i++) {
        const fl_property *p = &properties[i];
        rules->slots[find_slot(rules, p->hash, p->name)] = (uint32_t)i + 1;
    }
    return FL_OK;
}

fl_status fl_property_add(fl_schema *schema, fl_object_rules *rules,
                          fl_span name, fl_property **out)
{
    *out = fl_property_find(schema, rules, name);
    if (*out != NULL)
        return FL_OK;
    if (rules->property_count == rules->property_cap &&
        grow(schema, rules) != FL_OK)
        return FL_E_NOMEM;
    if (rules->properties == NULL)
        return FL_E_NOMEM;
    size_t number = rules->property_count++;
    uint64_t hash = fl_siphash(schema->seed, name);
    *out = &rules->properties[number];
    **out = (fl_property){.name = name, .hash = hash};
    if (rules->slots != NULL)
        rules->slots[find_slot(rules, hash, name)] = (uint32_t)number + 1;
    return FL_OK;
}
