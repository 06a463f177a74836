/*
 * keywords.c - which keyword is whose.
 *
 * A table in the order of the names: the drafts that have the keyword, the
 * vocabulary it belongs to, and who takes it. What is not in it is no keyword
 * and is passed over, as the specification wants.
 */
#include "schema/keywords.h"

#include "base/span.h"

#include <stdlib.h>

enum {
    D07 = FL_DRAFT_07,
    D19 = FL_DRAFT_2019,
    D20 = FL_DRAFT_2020,
    ALL = FL_DRAFT_ALL,
    CORE = FL_VOCABULARY_CORE,
    APPLY = FL_VOCABULARY_APPLICATOR,
    REST = FL_VOCABULARY_UNEVALUATED,
    VALID = FL_VOCABULARY_VALIDATION,
    FORMAT = FL_VOCABULARY_FORMAT,
};

typedef struct keyword {
    const char *name;
    unsigned drafts, vocabulary;
    fl_keyword_handler *handler;
} keyword;

static const keyword table[] = {
    {"$anchor", D19 | D20, CORE, fl_keyword_anchor},
    {"$defs", D19 | D20, CORE, fl_keyword_definitions},
    {"$dynamicAnchor", D20, CORE, fl_keyword_dynamic_anchor},
    {"$dynamicRef", D20, CORE, fl_keyword_dynamic_ref},
    {"$recursiveAnchor", D19, CORE, fl_keyword_recursive_anchor},
    {"$recursiveRef", D19, CORE, fl_keyword_dynamic_ref},
    {"$ref", ALL, CORE, fl_keyword_ref},
    {"additionalItems", D07 | D19, APPLY, fl_keyword_additional_items},
    {"additionalProperties", ALL, APPLY, fl_keyword_additional_properties},
    {"allOf", ALL, APPLY, fl_keyword_all_of},
    {"anyOf", ALL, APPLY, fl_keyword_any_of},
    {"const", ALL, VALID, fl_keyword_const},
    {"contains", ALL, APPLY, fl_keyword_contains},
    {"definitions", ALL, CORE, fl_keyword_definitions},
    {"dependencies", ALL, APPLY, fl_keyword_dependencies},
    {"dependentRequired", D19 | D20, VALID, fl_keyword_dependent_required},
    {"dependentSchemas", D19 | D20, APPLY, fl_keyword_dependent_schemas},
    {"else", ALL, APPLY, fl_keyword_else},
    {"enum", ALL, VALID, fl_keyword_enum},
    {"exclusiveMaximum", ALL, VALID, fl_keyword_exclusive_maximum},
    {"exclusiveMinimum", ALL, VALID, fl_keyword_exclusive_minimum},
    {"format", ALL, FORMAT, fl_keyword_format},
    {"if", ALL, APPLY, fl_keyword_if},
    {"items", ALL, APPLY, fl_keyword_items},
    {"maxContains", D19 | D20, VALID, fl_keyword_max_contains},
    {"maxItems", ALL, VALID, fl_keyword_max_items},
    {"maxLength", ALL, VALID, fl_keyword_max_length},
    {"maxProperties", ALL, VALID, fl_keyword_max_properties},
    {"maximum", ALL, VALID, fl_keyword_maximum},
    {"minContains", D19 | D20, VALID, fl_keyword_min_contains},
    {"minItems", ALL, VALID, fl_keyword_min_items},
    {"minLength", ALL, VALID, fl_keyword_min_length},
    {"minProperties", ALL, VALID, fl_keyword_min_properties},
    {"minimum", ALL, VALID, fl_keyword_minimum},
    {"multipleOf", ALL, VALID, fl_keyword_multiple_of},
    {"not", ALL, APPLY, fl_keyword_not},
    {"oneOf", ALL, APPLY, fl_keyword_one_of},
    {"pattern", ALL, VALID, fl_keyword_pattern},
    {"patternProperties", ALL, APPLY, fl_keyword_pattern_properties},
    {"prefixItems", D20, APPLY, fl_keyword_prefix_items},
    {"properties", ALL, APPLY, fl_keyword_properties},
    {"propertyNames", ALL, APPLY, fl_keyword_property_names},
    {"required", ALL, VALID, fl_keyword_required},
    {"then", ALL, APPLY, fl_keyword_then},
    {"type", ALL, VALID, fl_keyword_type},
    {"unevaluatedItems", D19 | D20, REST, fl_keyword_unevaluated_items},
    {"unevaluatedProperties", D19 | D20, REST,
     fl_keyword_unevaluated_properties},
    {"uniqueItems", ALL, VALID, fl_keyword_unique_items},
};

static int compare(const void *name, const void *row)
{
    const fl_span *wanted = name;
    const char *have = ((const keyword *)row)->name;
    int order = strncmp(wanted->ptr, have, wanted->len);

    return order != 0 ? order : have[wanted->len] == '\0' ? 0 : -1;
}

fl_keyword_handler *fl_keyword_find(fl_span name, const fl_resource *resource,
                                    const char **keyword_name)
{
    enum { LONGEST = 32 };

    if (name.len == 0 || name.len > LONGEST ||
        fl_span_find(name, '\0') < name.len)
        return NULL;
    const keyword *found = bsearch(&name, table, sizeof table / sizeof *table,
                                   sizeof *table, compare);
    if (found == NULL || (found->drafts & resource->draft) == 0 ||
        (found->vocabulary & resource->vocabulary) == 0)
        return NULL;
    *keyword_name = found->name;
    return found->handler;
}
