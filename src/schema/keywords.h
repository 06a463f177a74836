/*
 * keywords.h - those who take keywords; see keywords.c for who takes which.
 */
#ifndef FL_SCHEMA_KEYWORDS_H
#define FL_SCHEMA_KEYWORDS_H

#include "schema/compile.h"

/* keyword_value.c */
fl_keyword_handler fl_keyword_type, fl_keyword_enum, fl_keyword_const;
fl_keyword_handler fl_keyword_minimum, fl_keyword_maximum,
    fl_keyword_exclusive_minimum, fl_keyword_exclusive_maximum,
    fl_keyword_multiple_of;
fl_keyword_handler fl_keyword_min_length, fl_keyword_max_length,
    fl_keyword_pattern, fl_keyword_format;

/* keyword_array.c */
fl_keyword_handler fl_keyword_items, fl_keyword_prefix_items,
    fl_keyword_additional_items, fl_keyword_contains, fl_keyword_min_contains,
    fl_keyword_max_contains, fl_keyword_min_items, fl_keyword_max_items,
    fl_keyword_unique_items, fl_keyword_unevaluated_items;

/* keyword_object.c */
fl_keyword_handler fl_keyword_properties, fl_keyword_pattern_properties,
    fl_keyword_additional_properties, fl_keyword_property_names,
    fl_keyword_required, fl_keyword_min_properties, fl_keyword_max_properties,
    fl_keyword_dependencies, fl_keyword_dependent_required,
    fl_keyword_dependent_schemas, fl_keyword_unevaluated_properties;

/* keyword_apply.c */
fl_keyword_handler fl_keyword_ref, fl_keyword_dynamic_ref,
    fl_keyword_definitions, fl_keyword_all_of, fl_keyword_any_of,
    fl_keyword_one_of, fl_keyword_not, fl_keyword_if, fl_keyword_then,
    fl_keyword_else;

/* A pattern, compiled or refused. */
FL_MUST_USE fl_status fl_keyword_compile_pattern(const fl_site *site,
                                                 fl_span text,
                                                 const fl_pattern **out);

#endif
