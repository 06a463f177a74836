/*
 * prompts.h - the prompts of a server, and how each revision lists them.
 */
#ifndef FL_SERVER_PROMPTS_H
#define FL_SERVER_PROMPTS_H

#include "server/catalog.h"

#include <fairlead/server.h>

enum { FL_PROMPTS_ARGUMENTS = 256 }; /* of one prompt */

typedef struct fl_prompts_entry {
    fl_entry entry;
    fl_prompt prompt; /* copied, its arguments too */
} fl_prompts_entry;

extern const fl_catalog_kind fl_prompts_kind;

/* As fl_server_add_prompt(); `error` says what is wrong. */
FL_MUST_USE fl_status fl_prompts_add(fl_catalog *prompts,
                                     const fl_prompt *prompt, fl_error *error);

/* The argument that a raw JSON string names, or NULL. */
const fl_prompt_argument *fl_prompts_argument(const fl_prompt *prompt,
                                              fl_span token);

#endif
