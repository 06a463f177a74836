/*
 * json_args.h - a tool's arguments, from what somebody typed.
 *
 *   a=2 b=true      a value that is JSON is taken as such...
 *   text=hello      ...and anything else is a string
 *   code:=007       always a string
 *   text=@notes.md  a string: what the file holds
 *   {"a":2}         or the whole object at once
 *   -               or the whole object from stdin
 */
#ifndef FL_CMD_JSON_ARGS_H
#define FL_CMD_JSON_ARGS_H

#include "base/buf.h"

enum { FL_JSON_ARGS_MAX = 16 * 1024 * 1024 };

/* Appends a JSON object to `json`; no words make an empty one. FL_E_INVALID:
 * `error` quotes the word and shows a right one. */
FL_MUST_USE fl_status fl_json_args(char *const *words, size_t count,
                                   fl_buf *json, fl_error *error);

#endif
