/*
 * annotations.h - arguments that a tool's schema wants repeated in header
 * fields.
 *
 * A property of a tool's input schema may carry "x-mcp-header": "Region"; then
 * the field Mcp-Param-Region says what that argument says (MCP 2026-07-28,
 * "Streamable HTTP, Custom Headers from Tool Parameters"). A server must not
 * offer a tool that is annotated wrongly, and a client must not show it.
 */
#ifndef FL_RPC_ANNOTATIONS_H
#define FL_RPC_ANNOTATIONS_H

#include <fairlead/types.h>

enum { FL_ANNOTATIONS_NAME = 149 }; /* the longest */

/*
 * FL_OK and whether there are any; FL_E_INVALID for a schema that annotates
 * wrongly: a name that is empty, no token, too long or given twice (case does
 * not matter), a property that is not a string, an integer or a boolean, or
 * one that is not reached from the root by "properties" alone. `schema` is
 * valid JSON.
 */
FL_MUST_USE fl_status fl_annotations_scan(fl_span schema, bool *any);

#endif
