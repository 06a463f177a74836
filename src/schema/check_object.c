/*
 * check_object.c - rules for objects, in one walk over the members.
 *
 * Members tend to come in the order in which the schema names them, so the
 * property after the one found last is tried first: one comparison finds
 * most. Which of the named properties were there is kept in marks, for
 * required and the dependencies.
 *
 * A key that comes twice is checked twice: whichever of the two a reader
 * takes, it was looked at.
 */
#include "base/span.h"
#include "schema/check.h"
#include "schema/property.h"
#include "json/nav.h"

typedef struct object_walk {
    const fl_object_rules *rules;
    fl_marks *marks; /* of the value's members, or NULL */
    fl_marks seen;   /* of the schema's properties */
    size_t guess;
    size_t index;
} object_walk;

static fl_status key_text(fl_check *check, fl_span key, fl_span *text)
{
    if (fl_span_find(key, '\\') == key.len) {
        *text = key;
        return FL_OK;
    }
    return fl_value_text(&check->work, (fl_span){key.ptr - 1, key.len + 2},
                         text);
}

static fl_property *find(fl_check *check, object_walk *w, fl_span name)
{
    const fl_object_rules *rules = w->rules;

    if (w->guess < rules->property_count &&
        fl_span_equal(rules->properties[w->guess].name, name))
        return &rules->properties[w->guess++];
    fl_property *found = fl_property_find(check->work.schema, rules, name);
    if (found != NULL)
        w->guess = (size_t)(found - rules->properties) + 1;
    return found;
}

static fl_status check_property(fl_check *check, object_walk *w,
                                const fl_json_member *member, bool *hit)
{
    fl_span name;
    fl_status rc = key_text(check, member->key, &name);

    if (rc != FL_OK)
        return rc;
    fl_property *property = find(check, w, name);
    if (property == NULL)
        return FL_OK;
    fl_marks_set(&w->seen, (size_t)(property - w->rules->properties));
    if (property->node == NULL)
        return FL_OK;
    *hit = true;
    check->keyword = "properties";
    return fl_check_inside(check, property->node, member->value,
                           (fl_path){.key = member->key});
}

static fl_status check_patterns(fl_check *check, const object_walk *w,
                                const fl_json_member *member, bool *hit)
{
    fl_patterns *patterns = &check->work.schema->scratch->patterns;
    const fl_pattern_rule *rule = w->rules->patterns;
    fl_status rc = FL_OK;

    for (; rc == FL_OK && rule != NULL; rule = rule->next) {
        fl_span name; /* anew each time: a check in between may use scratch */
        rc = key_text(check, member->key, &name);
        if (rc == FL_OK)
            rc = fl_pattern_match(patterns, rule->pattern, name,
                                  &check->work.steps);
        if (rc == FL_OK) {
            *hit = true;
            check->keyword = "patternProperties";
            rc = fl_check_inside(check, rule->node, member->value,
                                 (fl_path){.key = member->key});
        } else if (rc == FL_END) {
            rc = FL_OK;
        } else if (rc == FL_E_LIMIT) {
            return fl_check_limit(check);
        }
    }
    return rc;
}

static fl_status check_name(fl_check *check, const fl_node *node, fl_span key)
{
    check->keyword = "propertyNames";
    return fl_check_inside(check, node, (fl_span){key.ptr - 1, key.len + 2},
                           (fl_path){.key = key});
}

static fl_status check_member(fl_check *check, object_walk *w,
                              const fl_json_member *member)
{
    const fl_object_rules *rules = w->rules;
    fl_status rc = FL_OK;
    bool hit = false;

    if (!fl_work_spend(&check->work, 0))
        return fl_check_limit(check);
    if (rules->property_count > 0)
        rc = check_property(check, w, member, &hit);
    if (rc == FL_OK && rules->patterns != NULL)
        rc = check_patterns(check, w, member, &hit);
    if (rc == FL_OK && !hit && rules->additional != NULL) {
        hit = true;
        check->keyword = "additionalProperties";
        rc = fl_check_inside(check, rules->additional, member->value,
                             (fl_path){.key = member->key});
    }
    if (rc == FL_OK && rules->names != NULL)
        rc = check_name(check, rules->names, member->key);
    if (hit && w->marks != NULL)
        fl_marks_set(w->marks, w->index);
    return rc;
}

static fl_status fail_missing(fl_check *check, const char *keyword,
                              const fl_property *missing,
                              const fl_property *because)
{
    fl_span name = missing->name;

    if (because == NULL)
        return fl_check_fail(check, keyword, "must have the property \"%.*s\"",
                             fl_check_shown(name), name.ptr);
    return fl_check_fail(check, keyword,
                         "must have the property \"%.*s\" beside \"%.*s\"",
                         fl_check_shown(name), name.ptr,
                         fl_check_shown(because->name), because->name.ptr);
}

static fl_status check_dependents(fl_check *check, const object_walk *w,
                                  const fl_property *property, fl_span value)
{
    const fl_dependent *dependent = property->dependents;
    fl_status rc = FL_OK;

    for (; rc == FL_OK && dependent != NULL; dependent = dependent->next) {
        if (!fl_work_spend(&check->work, 0))
            return fl_check_limit(check);
        check->keyword = dependent->keyword;
        if (dependent->node != NULL)
            rc = fl_check_node(check, dependent->node, value, w->marks);
        else if (!fl_marks_has(&w->seen, dependent->required))
            rc = fail_missing(check, dependent->keyword,
                              &w->rules->properties[dependent->required],
                              property);
    }
    return rc;
}

static fl_status check_presence(fl_check *check, const object_walk *w,
                                fl_span value)
{
    const fl_object_rules *rules = w->rules;
    fl_status rc = FL_OK;

    if (!rules->has_required && !rules->has_dependents)
        return FL_OK;
    if (!fl_work_spend(&check->work, rules->property_count))
        return fl_check_limit(check);
    for (size_t i = 0; rc == FL_OK && i < rules->property_count; i++) {
        const fl_property *property = &rules->properties[i];
        if (!fl_marks_has(&w->seen, i))
            rc = property->required
                     ? fail_missing(check, "required", property, NULL)
                     : FL_OK;
        else if (property->dependents != NULL)
            rc = check_dependents(check, w, property, value);
    }
    return rc;
}

static fl_status check_counts(fl_check *check, const fl_object_rules *rules,
                              size_t count)
{
    if (count < rules->min)
        return fl_check_fail(check, "minProperties",
                             "must have at least %zu properties", rules->min);
    if (count > rules->max)
        return fl_check_fail(check, "maxProperties",
                             "must have at most %zu properties", rules->max);
    return FL_OK;
}

fl_status fl_check_object(fl_check *check, const fl_object_rules *rules,
                          fl_span value, fl_marks *marks)
{
    object_walk w = {.rules = rules, .marks = marks};
    fl_json_walk walk;
    fl_json_member member;

    if (!fl_work_spend(&check->work, value.len))
        return fl_check_limit(check);
    fl_status rc = fl_marks_init(&w.seen, rules->property_count);
    if (rc != FL_OK)
        return rc;
    fl_json_walk_init(&walk, value);
    for (; rc == FL_OK && fl_json_walk_next(&walk, &member); w.index++)
        rc = check_member(check, &w, &member);
    if (rc == FL_OK)
        rc = check_counts(check, rules, w.index);
    if (rc == FL_OK)
        rc = check_presence(check, &w, value);
    fl_marks_deinit(&w.seen);
    return rc;
}
