/*
 * mirror.h - arguments of a tool that a client repeats in header fields.
 *
 * A property of a tool's input schema may carry "x-mcp-header": "Region"; then
 * the field Mcp-Param-Region says what that argument says (MCP 2026-07-28,
 * "Streamable HTTP, Custom Headers from Tool Parameters").
 */
#ifndef FL_SERVER_MIRROR_H
#define FL_SERVER_MIRROR_H

#include "rpc/annotations.h"
#include "transport/link.h"

/* The longest name of a field, with its NUL. */
enum { FL_MIRROR_NAME = FL_ANNOTATIONS_NAME + sizeof "Mcp-Param-" };

/* A field that does not say what it should. */
typedef struct fl_mirror_fault {
    const char *name;          /* as people write it */
    const char *what;          /* "is missing" and the like; NULL: nothing */
    fl_span sent;              /* as it came; {NULL, 0}: it did not */
    fl_span expected;          /* the token in the message; may be empty */
    char made[FL_MIRROR_NAME]; /* where `name` is kept, if it was made */
} fl_mirror_fault;

/* Every field that mirrors an argument, against a scanned schema. False: the
 * first that is wrong is in `fault`. */
bool fl_mirror_check(fl_span schema, fl_span arguments, fl_reply reply,
                     fl_mirror_fault *fault);

/* What is wrong with a field that repeats `token`, or NULL. Base64 in its
 * envelope (=?base64?...?=) is undone, numbers are compared as numbers. */
const char *fl_mirror_compare(fl_span field, fl_span token);

#endif
