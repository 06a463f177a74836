/*
 * method_prompts.c - prompts/get.
 *
 * A handler need not look whether an argument is there that it has said to
 * require: a request without it does not come as far.
 */
#include "base/span.h"
#include "rpc/error.h"
#include "server/call.h"
#include "server/methods.h"
#include "server/prompts.h"
#include "server/server.h"

#include "json/nav.h"
#include <stdio.h>

enum { FAULT_MAX = 192 };

bool fl_methods_are_strings(fl_span object)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, object);
    while (fl_json_walk_next(&walk, &member))
        if (fl_json_type_of(member.value) != FL_JSON_STRING)
            return false;
    return object.len == 0 || fl_json_type_of(object) == FL_JSON_OBJECT;
}

/* The first argument that is required and missing, or NULL. */
static const char *find_missing(const fl_prompt *prompt, fl_span arguments)
{
    for (size_t i = 0; i < prompt->argument_count; i++) {
        fl_span name = fl_span_of(prompt->arguments[i].name);
        if (prompt->arguments[i].required &&
            fl_json_get(arguments, name).len == 0)
            return prompt->arguments[i].name;
    }
    return NULL;
}

static void refuse_missing(const fl_return *to, const fl_msg *msg,
                           const char *name)
{
    char text[FAULT_MAX];

    snprintf(text, sizeof text, "argument \"%.128s\" is missing", name);
    fl_methods_refuse(to, msg, text);
}

void fl_method_prompts_get(const fl_return *to, const fl_msg *msg)
{
    const fl_params *params = &msg->inner;

    if (!fl_methods_admit(to, msg))
        return;
    if (fl_json_type_of(params->name) != FL_JSON_STRING) {
        fl_methods_refuse(to, msg, "params.name must be a string");
        return;
    }
    if (!fl_methods_are_strings(params->arguments)) {
        fl_methods_refuse(to, msg,
                          "params.arguments must be an object of strings");
        return;
    }
    fl_prompts_entry *prompt = (fl_prompts_entry *)fl_catalog_find_token(
        &to->session->server->catalogs[FL_LIST_PROMPTS], params->name);
    if (prompt == NULL) {
        fl_return_refuse(to, msg->id, FL_RPC_INVALID_PARAMS, "unknown prompt",
                         "name", params->name);
        return;
    }
    const char *missing = find_missing(&prompt->prompt, params->arguments);
    if (missing != NULL) {
        refuse_missing(to, msg, missing);
        return;
    }
    fl_call call;
    fl_call_init(&call, &(fl_call_start){.to = to,
                                         .msg = msg,
                                         .kind = FL_CALL_PROMPT,
                                         .entry = &prompt->entry});
    fl_call_run(&call);
}
