/*
 * property.h - the properties that a schema names, by name.
 */
#ifndef FL_SCHEMA_PROPERTY_H
#define FL_SCHEMA_PROPERTY_H

#include "schema/model.h"

/* NULL: it has no such property. */
fl_property *fl_property_find(const fl_schema *schema,
                              const fl_object_rules *rules, fl_span name);

/* Finds or adds one. FL_E_NOMEM: the arena has no room. A property may move
 * when another one is added. */
FL_MUST_USE fl_status fl_property_add(fl_schema *schema, fl_object_rules *rules,
                                      fl_span name, fl_property **out);

#endif
