/*
 * core.c - scenarios about the life of a session, and about tools.
 */
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int run_initialize(struct talk *talk)
{
    talk_list(talk, FL_LIST_TOOLS);
    return talk->status != FL_OK;
}

int run_tools_call(struct talk *talk)
{
    talk_list(talk, FL_LIST_TOOLS);
    talk_call(talk, TEXT("add_numbers"), TEXT(JSON({"a":2,"b":3})));
    return talk->status != FL_OK;
}

int run_elicitation_defaults(struct talk *talk)
{
    talk_list(talk, FL_LIST_TOOLS);
    talk_call(talk, TEXT("test_client_elicitation_defaults"), TEXT("{}"));
    return talk->status != FL_OK;
}

/* The server hangs up, and the library goes back for the answer. */
int run_reconnection(struct talk *talk)
{
    talk_list(talk, FL_LIST_TOOLS);
    talk_call(talk, TEXT("test_reconnection"), TEXT("{}"));
    return talk->status != FL_OK;
}

/* Sends a schema back as it came, byte for byte. */
int run_schema_echo(struct talk *talk)
{
    fl_span tools = fl_raw_get(talk_list(talk, FL_LIST_TOOLS), "tools");
    fl_span tool, schema = {"", 0};

    for (size_t i = 0; (tool = fl_raw_at(tools, i)).len > 0; i++)
        if (fl_raw_is(fl_raw_get(tool, "name"), "json_schema_2020_12_tool"))
            schema = fl_raw_get(tool, "inputSchema");
    size_t size = schema.len + 16;
    char *arguments = malloc(size);
    if (schema.len == 0 || arguments == NULL) {
        free(arguments);
        return 1;
    }
    int len = snprintf(arguments, size, "{\"schema\":%.*s}", SHOW(schema));
    talk_call(talk, TEXT("json_schema_echo"),
              (fl_span){arguments, (size_t)len});
    free(arguments);
    return talk->status != FL_OK;
}

int run_metadata(struct talk *talk)
{
    talk_ask(talk, "server/discover", TEXT("{}"));
    talk_list(talk, FL_LIST_TOOLS);
    return talk->status != FL_OK;
}
