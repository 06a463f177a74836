/*
 * headers.c - scenarios about what is repeated in header fields, which is
 * something the library does and a program need not know of.
 */
#include "talk.h"

#include <stdlib.h>
#include <string.h>

/* The first of a list, by the member that names it. */
static char *first_of(struct talk *talk, fl_list_kind kind, const char *list,
                      const char *key)
{
    return text_of(fl_raw_at(fl_raw_get(talk_list(talk, kind), list), 0), key);
}

int run_standard_headers(struct talk *talk)
{
    char *tool = first_of(talk, FL_LIST_TOOLS, "tools", "name");
    if (tool != NULL)
        talk_call(talk, (fl_span){tool, strlen(tool)}, TEXT("{}"));
    char *uri = first_of(talk, FL_LIST_RESOURCES, "resources", "uri");
    if (uri != NULL)
        talk_read(talk, (fl_span){uri, strlen(uri)});
    char *prompt = first_of(talk, FL_LIST_PROMPTS, "prompts", "name");
    if (prompt != NULL)
        talk_prompt(talk, (fl_span){prompt, strlen(prompt)});
    free(tool);
    free(uri);
    free(prompt);
    return talk->status != FL_OK;
}

/* The calls are in the context. */
int run_custom_headers(struct talk *talk)
{
    fl_span call, calls = fl_raw_get(talk->context, "toolCalls");

    talk_list(talk, FL_LIST_TOOLS);
    for (size_t i = 0; (call = fl_raw_at(calls, i)).len > 0; i++) {
        char *name = text_of(call, "name");
        if (name == NULL)
            return 1;
        talk_call(talk, (fl_span){name, strlen(name)},
                  fl_raw_get(call, "arguments"));
        free(name);
    }
    return talk->status != FL_OK;
}

/* Calls all the tools there are: those with annotations that are not allowed
 * are not among them. */
int run_listed_tools(struct talk *talk)
{
    fl_span tools = fl_raw_get(talk_list(talk, FL_LIST_TOOLS), "tools");
    fl_span tool;
    char *list = strndup(tools.ptr, tools.len);

    tools.ptr = list; /* for the answers to come */
    for (size_t i = 0; (tool = fl_raw_at(tools, i)).len > 0; i++) {
        char *name = text_of(tool, "name");
        if (name != NULL)
            talk_call(talk, (fl_span){name, strlen(name)},
                      TEXT(JSON({"region":"us-west1"})));
        free(name);
    }
    free(list);
    return talk->status != FL_OK;
}
