/*
 * method_complete.c - completion/complete: what could an argument of a prompt,
 * or a variable of a template, go on with?
 *
 * Whoever offers no completions for something that is there has none to
 * suggest, which is an answer; only what is not there is refused.
 */
#include "base/span.h"
#include "rpc/error.h"
#include "server/call.h"
#include "server/methods.h"
#include "server/prompts.h"
#include "server/resources.h"
#include "server/server.h"

#include "json/nav.h"

/* Raw tokens of the request. */
typedef struct question {
    fl_span type, name, uri; /* of ref */
    fl_span argument, value;
    fl_span context; /* the arguments that are filled in already */
} question;

static bool is_string(fl_span token)
{
    return fl_json_type_of(token) == FL_JSON_STRING;
}

static void read_question(const fl_return *to, const fl_msg *msg,
                          question *asked)
{
    fl_span ref = fl_json_get(msg->params, FL_SPAN("ref"));
    fl_span argument = fl_json_get(msg->params, FL_SPAN("argument"));
    fl_span context = fl_json_get(msg->params, FL_SPAN("context"));

    *asked = (question){
        .type = fl_json_get(ref, FL_SPAN("type")),
        .name = fl_json_get(ref, FL_SPAN("name")),
        .uri = fl_json_get(ref, FL_SPAN("uri")),
        .argument = fl_json_get(argument, FL_SPAN("name")),
        .value = fl_json_get(argument, FL_SPAN("value")),
    };
    if (fl_revision_has(to->revision, FL_HAS_TITLE)) /* they came together */
        asked->context = fl_json_get(context, FL_SPAN("arguments"));
}

/* Why it will not do, or NULL. */
static const char *check_question(const question *asked)
{
    if (!is_string(asked->argument) || !is_string(asked->value))
        return "params.argument must have a name and a value, both strings";
    if (!fl_methods_are_strings(asked->context))
        return "params.context.arguments must be an object of strings";
    if (fl_json_string_is(asked->type, FL_SPAN("ref/prompt")))
        return is_string(asked->name) ? NULL
                                      : "params.ref.name must be a string";
    if (fl_json_string_is(asked->type, FL_SPAN("ref/resource")))
        return is_string(asked->uri) ? NULL : "params.ref.uri must be a string";
    return "params.ref.type must be ref/prompt or ref/resource";
}

static void refuse(const fl_return *to, const fl_msg *msg, const char *what,
                   const char *key, fl_span token)
{
    fl_return_refuse(to, msg->id, FL_RPC_INVALID_PARAMS, what, key, token);
}

/* What the argument belongs to; NULL: refused, and said so. */
static fl_entry *find_entry(const fl_return *to, const fl_msg *msg,
                            const question *asked)
{
    fl_catalog *catalogs = to->session->server->catalogs;
    bool prompt = fl_json_string_is(asked->type, FL_SPAN("ref/prompt"));
    fl_entry *found =
        prompt
            ? fl_catalog_find_token(&catalogs[FL_LIST_PROMPTS], asked->name)
            : fl_catalog_find_token(&catalogs[FL_LIST_TEMPLATES], asked->uri);

    if (found == NULL) {
        if (prompt)
            refuse(to, msg, "unknown prompt", "name", asked->name);
        else
            refuse(to, msg, "unknown resource template", "uri", asked->uri);
        return NULL;
    }
    bool known =
        prompt ? fl_prompts_argument(&((fl_prompts_entry *)found)->prompt,
                                     asked->argument) != NULL
               : fl_template_has_token(((fl_resources_entry *)found)->template,
                                       asked->argument);
    if (!known)
        refuse(to, msg, "unknown argument", "argument", asked->argument);
    return known ? found : NULL;
}

void fl_method_complete(const fl_return *to, const fl_msg *msg)
{
    question asked;
    fl_call call;

    if (!fl_methods_admit(to, msg))
        return;
    read_question(to, msg, &asked);
    const char *wrong = check_question(&asked);
    if (wrong != NULL) {
        fl_methods_refuse(to, msg, wrong);
        return;
    }
    fl_entry *found = find_entry(to, msg, &asked);
    if (found == NULL)
        return;
    if (found->complete == NULL) {
        fl_return_result(to, msg->id,
                         FL_SPAN("{\"completion\":{\"values\":[],\"total\":0,"
                                 "\"hasMore\":false}}"));
        return;
    }
    fl_call_init(&call, &(fl_call_start){.to = to,
                                         .msg = msg,
                                         .kind = FL_CALL_COMPLETION,
                                         .entry = found,
                                         .run = found->complete});
    if (fl_call_keep_arguments(&call, asked.context))
        fl_call_run(&call);
}

static fl_span argument_text(fl_call *call, fl_span key)
{
    fl_span argument = fl_json_get(call->msg->params, FL_SPAN("argument"));
    fl_span text = call->kind == FL_CALL_COMPLETION
                       ? fl_call_meaning(call, fl_json_get(argument, key))
                       : (fl_span){0};

    return text.ptr != NULL ? text : (fl_span){"", 0};
}

fl_span fl_call_completing(fl_call *call)
{
    return argument_text(call, FL_SPAN("name"));
}

fl_span fl_call_prefix(fl_call *call)
{
    return argument_text(call, FL_SPAN("value"));
}
