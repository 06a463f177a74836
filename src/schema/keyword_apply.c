/*
 * keyword_apply.c - keywords that apply schemas to the same value, and those
 * that only hold schemas for others to refer to.
 */
#include "schema/keywords.h"
#include "json/nav.h"

/* NULL: there is no room. */
static fl_apply *add_apply(const fl_site *site, fl_apply_kind kind,
                           size_t count)
{
    fl_apply *apply = fl_site_take(site, 1, sizeof *apply);

    if (apply == NULL)
        return NULL;
    *apply = (fl_apply){.kind = kind, .keyword = site->keyword, .count = count};
    apply->nodes = fl_site_take(site, count, sizeof(fl_node *));
    if (apply->nodes == NULL)
        return NULL;
    *site->node->last = apply;
    site->node->last = &apply->next;
    return apply;
}

static fl_status take_ref(const fl_site *site, fl_apply_kind kind)
{
    fl_compiler *c = site->compiler;
    fl_apply *apply = add_apply(site, kind, 1);
    fl_compile_ref *ref = fl_site_take(site, 1, sizeof *ref);

    if (apply == NULL || ref == NULL)
        return fl_site_no_room(site);
    *ref = (fl_compile_ref){.next = c->refs,
                            .node = site->node,
                            .document = site->document,
                            .apply = apply};
    c->refs = ref;
    return fl_site_string(site, site->value, &ref->text);
}

fl_status fl_keyword_ref(const fl_site *site)
{
    return take_ref(site, FL_APPLY_REF);
}

fl_status fl_keyword_dynamic_ref(const fl_site *site)
{
    return take_ref(site, FL_APPLY_DYNAMIC_REF);
}

fl_status fl_keyword_definitions(const fl_site *site)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_node *node;
    fl_status rc = fl_compile_spend(site->compiler, site->value.len);

    if (fl_json_type_of(site->value) != FL_JSON_OBJECT)
        return fl_site_fail(site, FL_E_INVALID, "must be an object");
    fl_json_walk_init(&walk, site->value);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member)) {
        rc = fl_compile_schema(site, member.value, &node);
        if (rc == FL_OK)
            rc = fl_resolve_note(site, member.key, node);
    }
    return rc;
}

static fl_status take_list(const fl_site *site, fl_apply_kind kind)
{
    fl_apply *apply = add_apply(site, kind, 0);

    if (apply == NULL)
        return fl_site_no_room(site);
    fl_status rc = fl_compile_schemas(site, &apply->nodes, &apply->count);
    if (rc == FL_OK && apply->count == 0)
        return fl_site_fail(site, FL_E_INVALID, "must not be empty");
    return rc;
}

fl_status fl_keyword_all_of(const fl_site *site)
{
    return take_list(site, FL_APPLY_ALL);
}

fl_status fl_keyword_any_of(const fl_site *site)
{
    return take_list(site, FL_APPLY_ANY);
}

fl_status fl_keyword_one_of(const fl_site *site)
{
    return take_list(site, FL_APPLY_ONE);
}

fl_status fl_keyword_not(const fl_site *site)
{
    fl_apply *apply = add_apply(site, FL_APPLY_NOT, 1);

    return apply != NULL
               ? fl_compile_schema(site, site->value, &apply->nodes[0])
               : fl_site_no_room(site);
}

enum { IF, THEN, ELSE, BRANCHES };

fl_status fl_keyword_if(const fl_site *site)
{
    return fl_compile_schema(site, site->value, &site->node->branch[IF]);
}

fl_status fl_keyword_then(const fl_site *site)
{
    return fl_compile_schema(site, site->value, &site->node->branch[THEN]);
}

fl_status fl_keyword_else(const fl_site *site)
{
    return fl_compile_schema(site, site->value, &site->node->branch[ELSE]);
}

/* then and else mean something only beside an if. */
fl_status fl_branch_finish(const fl_site *site)
{
    fl_site here = *site;

    if (site->node->branch[IF] == NULL)
        return FL_OK;
    here.keyword = "if";
    fl_apply *apply = add_apply(&here, FL_APPLY_IF, BRANCHES);
    if (apply == NULL)
        return fl_site_no_room(site);
    for (size_t i = 0; i < BRANCHES; i++)
        apply->nodes[i] = site->node->branch[i];
    return FL_OK;
}
