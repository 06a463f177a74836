/*
 * mirrors.h - which arguments of a tool call its client repeats in header
 * fields.
 *
 * A property of a tool's input schema may carry "x-mcp-header": "Region"; then
 * the field Mcp-Param-Region repeats that argument (MCP 2026-07-28,
 * "Streamable HTTP, Custom Headers from Tool Parameters"). A client learns of
 * it from tools/list; this is its memory.
 */
#ifndef FL_RPC_MIRRORS_H
#define FL_RPC_MIRRORS_H

#include "base/map.h"
#include "rpc/msg.h"

/* Owned by whoever embeds it. Fields are private to mirrors.c. */
typedef struct fl_mirrors {
    fl_map schemas; /* by the tool's name; only those with annotations */
    size_t bytes;
} fl_mirrors;

/* Allocates nothing. */
void fl_mirrors_init(fl_mirrors *mirrors);
void fl_mirrors_deinit(fl_mirrors *mirrors);

/* An answer to tools/list: what it says of a tool replaces what was known.
 * What there is no memory or room for is not known. */
void fl_mirrors_learn(fl_mirrors *mirrors, const fl_msg *msg);

/* The input schema of the tool of this name (a token), if it has annotations;
 * empty otherwise. Good until the next call of fl_mirrors_learn(). */
fl_span fl_mirrors_schema(const fl_mirrors *mirrors, fl_span name);

/* `name` as it is annotated, a token; `text` what the argument means: its
 * UTF-8, a whole number in decimal, "true" or "false". For this call only. */
typedef fl_status fl_mirrors_fn(void *user, fl_span name, fl_span text);

/* Tells of each argument of a tools/call that is to be repeated, until one
 * says anything but FL_OK. FL_E_NOMEM. Others than tools/call have none. */
FL_MUST_USE fl_status fl_mirrors_each(const fl_mirrors *mirrors,
                                      const fl_msg *call, fl_mirrors_fn *each,
                                      void *user);

#endif
