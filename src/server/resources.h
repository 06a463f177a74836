/*
 * resources.h - the resources and resource templates of a server, and how each
 * revision lists them.
 */
#ifndef FL_SERVER_RESOURCES_H
#define FL_SERVER_RESOURCES_H

#include "server/catalog.h"
#include "server/template.h"

#include <fairlead/server.h>

/* A resource or a template, copied. */
typedef struct fl_resources_entry {
    fl_entry entry;
    fl_resource resource;
    fl_template *template; /* NULL: a resource */
} fl_resources_entry;

extern const fl_catalog_kind fl_resources_kind;
extern const fl_catalog_kind fl_templates_kind;

/* As fl_server_add_resource() and fl_server_add_template(); `error`, which may
 * be NULL, says what is wrong. */
FL_MUST_USE fl_status fl_resources_add(fl_catalog *resources,
                                       const fl_resource *resource,
                                       fl_error *error);
FL_MUST_USE fl_status fl_templates_add(fl_catalog *templates,
                                       const fl_resource *resource,
                                       fl_error *error);

/* The first template that `uri` (its meaning) could have been made from; what
 * stood for its variables is appended to `arguments`, a JSON object.
 * FL_E_NOT_FOUND, FL_E_NOMEM: *found is NULL. */
FL_MUST_USE fl_status fl_templates_match(const fl_catalog *templates,
                                         fl_span uri, fl_buf *arguments,
                                         fl_resources_entry **found);

/* What is read under `uri`: the resource that has it, or else the first
 * template that fits, as above. `catalogs` are a server's, by fl_list_kind. */
FL_MUST_USE fl_status fl_resources_find(fl_catalog *catalogs, fl_span uri,
                                        fl_buf *arguments,
                                        fl_resources_entry **found);

/* Bytes of a URI in which there are escapes, and of arguments made from one. */
enum {
    FL_RESOURCES_URI_MAX = FL_TEMPLATE_BYTES,
    FL_RESOURCES_ARGUMENTS_MAX = 8 * FL_TEMPLATE_BYTES,
};

#endif
