/*
 * check_array.c - rules for arrays, in one walk over the elements.
 */
#include "schema/check.h"
#include "json/nav.h"

static fl_status check_element(fl_check *check, const fl_array_rules *rules,
                               fl_span value, size_t index, fl_marks *marks)
{
    bool in_prefix = index < rules->prefix_count;
    const fl_node *node = in_prefix ? rules->prefix[index] : rules->items;

    if (node == NULL)
        return FL_OK;
    if (marks != NULL)
        fl_marks_set(marks, index);
    check->keyword = in_prefix ? rules->prefix_name : rules->items_name;
    return fl_check_inside(check, node, value, (fl_path){.index = index});
}

/* A trial: does this element count for `contains`? */
static fl_status check_contained(fl_check *check, const fl_array_rules *rules,
                                 const fl_json_member *element, size_t index,
                                 fl_marks *marks, size_t *found)
{
    check->quiet++;
    fl_status rc = fl_check_inside(check, rules->contains, element->value,
                                   (fl_path){.index = index});
    check->quiet--;
    if (rc == FL_E_INVALID)
        return FL_OK;
    if (rc == FL_OK) {
        ++*found;
        if (marks != NULL && rules->contains_marks)
            fl_marks_set(marks, index);
    }
    return rc;
}

static fl_status check_counts(fl_check *check, const fl_array_rules *rules,
                              size_t count, size_t found)
{
    if (count < rules->min)
        return fl_check_fail(check, "minItems",
                             "must have at least %zu elements", rules->min);
    if (count > rules->max)
        return fl_check_fail(check, "maxItems",
                             "must have at most %zu elements", rules->max);
    if (rules->contains == NULL)
        return FL_OK;
    if (found < rules->min_contains)
        return fl_check_fail(
            check, rules->min_contains == 1 ? "contains" : "minContains",
            "must have at least %zu elements of a kind, has %zu",
            rules->min_contains, found);
    if (found > rules->max_contains)
        return fl_check_fail(check, "maxContains",
                             "must have at most %zu elements of a kind, has "
                             "%zu",
                             rules->max_contains, found);
    return FL_OK;
}

static fl_status check_unique(fl_check *check, fl_span value)
{
    size_t same[2];
    fl_status rc = fl_value_unique(&check->work, value, same);

    if (rc == FL_END)
        return fl_check_fail(check, "uniqueItems",
                             "elements %zu and %zu must not be the same",
                             same[0], same[1]);
    return rc == FL_E_LIMIT ? fl_check_limit(check) : rc;
}

fl_status fl_check_array(fl_check *check, const fl_array_rules *rules,
                         fl_span value, fl_marks *marks)
{
    fl_json_walk walk;
    fl_json_member element;
    size_t index = 0, found = 0;

    if (!fl_work_spend(&check->work, value.len))
        return fl_check_limit(check);
    fl_json_walk_init(&walk, value);
    for (; fl_json_walk_next(&walk, &element); index++) {
        if (!fl_work_spend(&check->work, 0))
            return fl_check_limit(check);
        fl_status rc = check_element(check, rules, element.value, index, marks);
        if (rc == FL_OK && rules->contains != NULL)
            rc = check_contained(check, rules, &element, index, marks, &found);
        if (rc != FL_OK)
            return rc;
    }
    fl_status rc = check_counts(check, rules, index, found);
    return rc == FL_OK && rules->unique ? check_unique(check, value) : rc;
}

fl_status fl_check_unevaluated(fl_check *check, const fl_node *node,
                               const char *keyword, fl_span value,
                               fl_marks *marks)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = FL_OK;

    if (!fl_work_spend(&check->work, value.len))
        return fl_check_limit(check);
    fl_json_walk_init(&walk, value);
    for (size_t i = 0; rc == FL_OK && fl_json_walk_next(&walk, &member); i++) {
        if (!fl_work_spend(&check->work, 0))
            return fl_check_limit(check);
        if (fl_marks_has(marks, i))
            continue;
        fl_marks_set(marks, i);
        check->keyword = keyword;
        rc = fl_check_inside(check, node, member.value,
                             (fl_path){.key = member.key, .index = i});
    }
    return rc;
}
