/*
 * keyword_object.c - keywords that speak of objects.
 *
 * A property is one entry, whichever keywords name it: properties, required
 * or a dependency. So a check that comes by a member looks it up once.
 */
#include "schema/keywords.h"
#include "schema/property.h"
#include "json/nav.h"

/* NULL: there is no room. */
static fl_object_rules *rules_of(const fl_site *site)
{
    fl_node *node = site->node;

    if (node->object != NULL)
        return node->object;
    node->object = fl_site_take(site, 1, sizeof *node->object);
    if (node->object != NULL)
        node->object->max = SIZE_MAX;
    return node->object;
}

static fl_status add_property(const fl_site *site, fl_span quoted,
                              fl_property **out)
{
    fl_span name;
    fl_status rc = fl_site_string(site, quoted, &name);

    if (rc != FL_OK)
        return rc;
    rc = fl_property_add(site->compiler->schema, site->node->object, name, out);
    return rc == FL_OK ? rc : fl_site_no_room(site);
}

/* A key with its quotes: the string that it is. */
static fl_span quoted(fl_span key)
{
    return (fl_span){key.ptr - 1, key.len + 2};
}

typedef fl_status take_member(const fl_site *site,
                              const fl_json_member *member);

/* Hands every member of the keyword's value on. */
static fl_status for_each(const fl_site *site, take_member *take)
{
    fl_json_walk walk;
    fl_json_member member;

    if (rules_of(site) == NULL)
        return fl_site_no_room(site);
    if (fl_json_type_of(site->value) != FL_JSON_OBJECT)
        return fl_site_fail(site, FL_E_INVALID, "must be an object");
    fl_status rc = fl_compile_spend(site->compiler, site->value.len);
    fl_json_walk_init(&walk, site->value);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member))
        rc = take(site, &member);
    return rc;
}

static fl_status take_property(const fl_site *site,
                               const fl_json_member *member)
{
    fl_property *property;
    fl_node *node;
    fl_status rc = fl_compile_schema(site, member->value, &node);

    if (rc == FL_OK)
        rc = add_property(site, quoted(member->key), &property);
    if (rc != FL_OK)
        return rc;
    property->node = node;
    return fl_resolve_note(site, member->key, node);
}

fl_status fl_keyword_properties(const fl_site *site)
{
    return for_each(site, take_property);
}

static fl_status take_pattern(const fl_site *site, const fl_json_member *member)
{
    fl_object_rules *rules = site->node->object;
    fl_pattern_rule *rule = fl_site_take(site, 1, sizeof *rule);
    fl_span text;

    if (rule == NULL)
        return fl_site_no_room(site);
    fl_status rc = fl_site_string(site, quoted(member->key), &text);
    if (rc == FL_OK)
        rc = fl_keyword_compile_pattern(site, text, &rule->pattern);
    if (rc == FL_OK)
        rc = fl_compile_schema(site, member->value, &rule->node);
    rule->next = rules->patterns;
    rules->patterns = rule;
    return rc;
}

fl_status fl_keyword_pattern_properties(const fl_site *site)
{
    return for_each(site, take_pattern);
}

fl_status fl_keyword_additional_properties(const fl_site *site)
{
    fl_object_rules *rules = rules_of(site);

    return rules != NULL
               ? fl_compile_schema(site, site->value, &rules->additional)
               : fl_site_no_room(site);
}

fl_status fl_keyword_unevaluated_properties(const fl_site *site)
{
    fl_object_rules *rules = rules_of(site);

    return rules != NULL
               ? fl_compile_schema(site, site->value, &rules->unevaluated)
               : fl_site_no_room(site);
}

fl_status fl_keyword_property_names(const fl_site *site)
{
    fl_object_rules *rules = rules_of(site);

    return rules != NULL ? fl_compile_schema(site, site->value, &rules->names)
                         : fl_site_no_room(site);
}

fl_status fl_keyword_min_properties(const fl_site *site)
{
    fl_object_rules *rules = rules_of(site);

    return rules != NULL ? fl_site_count(site, &rules->min)
                         : fl_site_no_room(site);
}

fl_status fl_keyword_max_properties(const fl_site *site)
{
    fl_object_rules *rules = rules_of(site);

    return rules != NULL ? fl_site_count(site, &rules->max)
                         : fl_site_no_room(site);
}

fl_status fl_keyword_required(const fl_site *site)
{
    fl_object_rules *rules = rules_of(site);
    fl_property *property = NULL;
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = FL_OK;

    if (rules == NULL)
        return fl_site_no_room(site);
    if (fl_json_type_of(site->value) != FL_JSON_ARRAY)
        return fl_site_fail(site, FL_E_INVALID, "must be a list of names");
    fl_json_walk_init(&walk, site->value);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member)) {
        rc = add_property(site, member.value, &property);
        if (rc == FL_OK)
            property->required = rules->has_required = true;
    }
    return rc;
}

static fl_status add_dependent(const fl_site *site, fl_span key,
                               fl_dependent like)
{
    fl_object_rules *rules = site->node->object;
    fl_dependent *dependent = fl_site_take(site, 1, sizeof *dependent);
    fl_property *property;

    if (dependent == NULL)
        return fl_site_no_room(site);
    fl_status rc = add_property(site, quoted(key), &property);
    if (rc != FL_OK)
        return rc;
    *dependent = like;
    dependent->keyword = site->keyword;
    dependent->next = property->dependents;
    property->dependents = dependent;
    rules->has_dependents = true;
    return FL_OK;
}

static fl_status take_dependent_schema(const fl_site *site,
                                       const fl_json_member *member)
{
    fl_dependent dependent = {.next = NULL};
    fl_status rc = fl_compile_schema(site, member->value, &dependent.node);

    return rc == FL_OK ? add_dependent(site, member->key, dependent) : rc;
}

static fl_status take_dependent_names(const fl_site *site,
                                      const fl_json_member *member)
{
    fl_object_rules *rules = site->node->object;
    fl_property *needed;
    fl_json_walk walk;
    fl_json_member name;
    fl_status rc = FL_OK;

    if (fl_json_type_of(member->value) != FL_JSON_ARRAY)
        return fl_site_fail(site, FL_E_INVALID, "must be lists of names");
    fl_json_walk_init(&walk, member->value);
    while (rc == FL_OK && fl_json_walk_next(&walk, &name)) {
        rc = add_property(site, name.value, &needed);
        if (rc != FL_OK)
            return rc;
        size_t number = (size_t)(needed - rules->properties);
        rc = add_dependent(site, member->key,
                           (fl_dependent){.required = number});
    }
    return rc;
}

static fl_status take_dependency(const fl_site *site,
                                 const fl_json_member *member)
{
    return fl_json_type_of(member->value) == FL_JSON_ARRAY
               ? take_dependent_names(site, member)
               : take_dependent_schema(site, member);
}

fl_status fl_keyword_dependencies(const fl_site *site)
{
    return for_each(site, take_dependency);
}

fl_status fl_keyword_dependent_required(const fl_site *site)
{
    return for_each(site, take_dependent_names);
}

fl_status fl_keyword_dependent_schemas(const fl_site *site)
{
    return for_each(site, take_dependent_schema);
}
