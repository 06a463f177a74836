/*
 * check_apply.c - other schemas on the same value.
 *
 * anyOf, oneOf, not and if are trials: a schema that fails there is no fault.
 * Its marks are thrown away, so each trial has marks of its own; and where
 * marks are wanted anyOf tries every branch, for each may evaluate something.
 */
#include "base/span.h"
#include "schema/check.h"

static fl_status try_node(fl_check *check, const fl_node *node, fl_span value,
                          fl_marks *marks)
{
    fl_marks own;

    check->quiet++;
    if (marks == NULL) {
        fl_status rc = fl_check_node(check, node, value, NULL);
        check->quiet--;
        return rc;
    }
    fl_status rc = fl_marks_init(&own, marks->words * 64);
    if (rc == FL_OK) {
        rc = fl_check_node(check, node, value, &own);
        if (rc == FL_OK)
            fl_marks_add(marks, &own);
        fl_marks_deinit(&own);
    }
    check->quiet--;
    return rc;
}

/* The anchor of that name in the outermost resource we came through. */
static const fl_node *find_dynamic(fl_check *check, const fl_apply *apply)
{
    const fl_node *found = apply->nodes[0];

    for (const fl_scope *s = check->scope; s != NULL; s = s->parent) {
        const fl_dynamic_anchor *anchor = s->resource->dynamic;
        if (!fl_work_spend(&check->work, 0))
            return NULL;
        for (; anchor != NULL; anchor = anchor->next) {
            if (!fl_work_spend(&check->work, 0))
                return NULL;
            if (fl_span_equal(anchor->name, apply->name))
                found = anchor->node;
        }
    }
    return found;
}

static fl_status apply_ref(fl_check *check, const fl_apply *apply,
                           fl_span value, fl_marks *marks)
{
    const fl_node *node = apply->kind == FL_APPLY_REF
                              ? apply->nodes[0]
                              : find_dynamic(check, apply);

    check->keyword = apply->keyword;
    return node != NULL ? fl_check_node(check, node, value, marks)
                        : fl_check_limit(check);
}

static fl_status apply_all(fl_check *check, const fl_apply *apply,
                           fl_span value, fl_marks *marks)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; rc == FL_OK && i < apply->count; i++) {
        check->keyword = apply->keyword;
        rc = fl_check_node(check, apply->nodes[i], value, marks);
    }
    return rc;
}

static fl_status apply_any(fl_check *check, const fl_apply *apply,
                           fl_span value, fl_marks *marks)
{
    bool found = false;

    for (size_t i = 0; i < apply->count && (!found || marks != NULL); i++) {
        fl_status rc = try_node(check, apply->nodes[i], value, marks);
        if (rc != FL_OK && rc != FL_E_INVALID)
            return rc;
        found |= rc == FL_OK;
    }
    return found ? FL_OK
                 : fl_check_fail(check, apply->keyword,
                                 "must match one of %zu schemas, matches none",
                                 apply->count);
}

static fl_status apply_one(fl_check *check, const fl_apply *apply,
                           fl_span value, fl_marks *marks)
{
    size_t found = 0, which = 0;

    for (size_t i = 0; i < apply->count; i++) {
        fl_status rc = try_node(check, apply->nodes[i], value, marks);
        if (rc != FL_OK && rc != FL_E_INVALID)
            return rc;
        if (rc == FL_OK && found++ > 0)
            return fl_check_fail(check, apply->keyword,
                                 "must match one schema, matches %zu and %zu",
                                 which, i);
        if (rc == FL_OK)
            which = i;
    }
    return found == 1
               ? FL_OK
               : fl_check_fail(check, apply->keyword,
                               "must match one of %zu schemas, matches none",
                               apply->count);
}

static fl_status apply_not(fl_check *check, const fl_apply *apply,
                           fl_span value)
{
    fl_status rc = try_node(check, apply->nodes[0], value, NULL);

    if (rc == FL_OK)
        return fl_check_fail(check, apply->keyword,
                             "must not match the schema");
    return rc == FL_E_INVALID ? FL_OK : rc;
}

static fl_status apply_if(fl_check *check, const fl_apply *apply, fl_span value,
                          fl_marks *marks)
{
    if (apply->nodes[1] == NULL && apply->nodes[2] == NULL && marks == NULL)
        return FL_OK;
    fl_status rc = try_node(check, apply->nodes[0], value, marks);
    const fl_node *next = apply->nodes[rc == FL_OK ? 1 : 2];

    if (rc != FL_OK && rc != FL_E_INVALID)
        return rc;
    check->keyword = rc == FL_OK ? "then" : "else";
    return next != NULL ? fl_check_node(check, next, value, marks) : FL_OK;
}

static fl_status apply_one_kind(fl_check *check, const fl_apply *apply,
                                fl_span value, fl_marks *marks)
{
    switch (apply->kind) {
    case FL_APPLY_REF:
    case FL_APPLY_DYNAMIC_REF:
        return apply_ref(check, apply, value, marks);
    case FL_APPLY_ALL:
        return apply_all(check, apply, value, marks);
    case FL_APPLY_ANY:
        return apply_any(check, apply, value, marks);
    case FL_APPLY_ONE:
        return apply_one(check, apply, value, marks);
    case FL_APPLY_NOT:
        return apply_not(check, apply, value);
    case FL_APPLY_IF:
        return apply_if(check, apply, value, marks);
    }
    return FL_OK;
}

fl_status fl_check_applies(fl_check *check, const fl_node *node, fl_span value,
                           fl_marks *marks)
{
    fl_status rc = FL_OK;

    for (const fl_apply *a = node->applies; rc == FL_OK && a != NULL;
         a = a->next)
        rc = apply_one_kind(check, a, value, marks);
    return rc;
}
