/*
 * tools.h - the tools of a server, and how each revision lists them.
 */
#ifndef FL_SERVER_TOOLS_H
#define FL_SERVER_TOOLS_H

#include "rpc/params.h"
#include "schema/schema.h"
#include "server/catalog.h"

#include <fairlead/server.h>

/* Up to 2025-11-25 a tool's structured content is an object, and so must its
 * output schema say; from 2026-07-28 on it may be anything. */
typedef enum fl_tools_output {
    FL_TOOLS_OUTPUT_OBJECT,  /* the same in every revision; or no schema */
    FL_TOOLS_OUTPUT_WRAPPED, /* older ones get {"result": ...} */
    FL_TOOLS_OUTPUT_HIDDEN,  /* older ones get text: a schema with references
                                would point elsewhere were it wrapped */
} fl_tools_output;

/* A tool, copied, and what was found out about it. */
typedef struct fl_tools_entry {
    fl_entry entry;
    fl_tool tool;
    fl_schema *input;  /* NULL: any object */
    fl_schema *output; /* NULL: anything */
    fl_tools_output output_form;
    bool mirrored; /* arguments of it are repeated in header fields */
} fl_tools_entry;

extern const fl_catalog_kind fl_tools_kind;

/* As fl_server_add_tool(); `error` says what is wrong. */
FL_MUST_USE fl_status fl_tools_add(fl_catalog *tools, const fl_tool *tool,
                                   fl_error *error);

/* FL_E_INVALID: `fault` says in what way these are no arguments for it, or
 * this no structured content of it. */
FL_MUST_USE fl_status fl_tools_check_input(const fl_tools_entry *tool,
                                           const fl_params *params,
                                           fl_schema_fault *fault);
FL_MUST_USE fl_status fl_tools_check_output(const fl_tools_entry *tool,
                                            fl_span structured,
                                            fl_schema_fault *fault);

#endif
