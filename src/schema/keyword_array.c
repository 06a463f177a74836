/*
 * keyword_array.c - keywords that speak of arrays.
 *
 * Until 2019-09 `items` was also a list, with `additionalItems` for the rest;
 * 2020-12 calls these prefixItems and items. Here they are the same two things
 * under whichever name.
 */
#include "schema/keywords.h"
#include "json/nav.h"

/* NULL: there is no room. */
static fl_array_rules *rules_of(const fl_site *site)
{
    fl_node *node = site->node;

    if (node->array != NULL)
        return node->array;
    node->array = fl_site_take(site, 1, sizeof *node->array);
    if (node->array != NULL)
        *node->array = (fl_array_rules){
            .max = SIZE_MAX,
            .min_contains = 1,
            .max_contains = SIZE_MAX,
            .contains_marks = node->resource->draft == FL_DRAFT_2020,
            .prefix_name = "prefixItems",
            .items_name = "items",
        };
    return node->array;
}

fl_status fl_keyword_items(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);

    if (rules == NULL)
        return fl_site_no_room(site);
    if (site->node->resource->draft == FL_DRAFT_2020 ||
        fl_json_type_of(site->value) != FL_JSON_ARRAY)
        return fl_compile_schema(site, site->value, &rules->items);
    rules->prefix_name = "items";
    rules->items_name = "additionalItems";
    return fl_compile_schemas(site, &rules->prefix, &rules->prefix_count);
}

fl_status fl_keyword_prefix_items(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);

    return rules != NULL
               ? fl_compile_schemas(site, &rules->prefix, &rules->prefix_count)
               : fl_site_no_room(site);
}

fl_status fl_keyword_additional_items(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);

    return rules != NULL ? fl_compile_schema(site, site->value, &rules->rest)
                         : fl_site_no_room(site);
}

/* additionalItems means something only beside a list. */
fl_status fl_array_finish(const fl_site *site)
{
    fl_array_rules *rules = site->node->array;

    if (rules->rest != NULL && rules->prefix != NULL)
        rules->items = rules->rest;
    return FL_OK;
}

fl_status fl_keyword_contains(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);

    return rules != NULL
               ? fl_compile_schema(site, site->value, &rules->contains)
               : fl_site_no_room(site);
}

fl_status fl_keyword_unevaluated_items(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);

    return rules != NULL
               ? fl_compile_schema(site, site->value, &rules->unevaluated)
               : fl_site_no_room(site);
}

fl_status fl_keyword_min_contains(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);

    return rules != NULL ? fl_site_count(site, &rules->min_contains)
                         : fl_site_no_room(site);
}

fl_status fl_keyword_max_contains(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);

    return rules != NULL ? fl_site_count(site, &rules->max_contains)
                         : fl_site_no_room(site);
}

fl_status fl_keyword_min_items(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);

    return rules != NULL ? fl_site_count(site, &rules->min)
                         : fl_site_no_room(site);
}

fl_status fl_keyword_max_items(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);

    return rules != NULL ? fl_site_count(site, &rules->max)
                         : fl_site_no_room(site);
}

fl_status fl_keyword_unique_items(const fl_site *site)
{
    fl_array_rules *rules = rules_of(site);
    fl_json_type type = fl_json_type_of(site->value);

    if (rules == NULL)
        return fl_site_no_room(site);
    if (type != FL_JSON_TRUE && type != FL_JSON_FALSE)
        return fl_site_fail(site, FL_E_INVALID, "must be true or false");
    rules->unique = type == FL_JSON_TRUE;
    return FL_OK;
}
