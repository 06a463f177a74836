/*
 * main.c - conformance-client: what the MCP conformance suite asks of a client.
 *
 *     MCP_CONFORMANCE_SCENARIO=tools_call conformance-client URL
 *
 * The suite starts a server for each scenario, and then this with its URL. The
 * environment says which scenario it is, which revision is to be spoken
 * (MCP_CONFORMANCE_PROTOCOL_VERSION; 2025-11-25), and what else there is to
 * know (MCP_CONFORMANCE_CONTEXT, JSON). Leaves with 0 when all went well.
 */
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scenario {
    const char *name; /* or how it begins, if that is followed by a star */
    scenario_fn *run;
    const fl_client_handlers *handlers;
};

static const struct scenario scenarios[] = {
    {"initialize", run_initialize, NULL},
    {"tools_call", run_tools_call, NULL},
    {"elicitation-sep1034-client-defaults", run_elicitation_defaults,
     &plain_handlers},
    {"sse-retry", run_reconnection, NULL},
    {"request-metadata", run_metadata, &plain_handlers},
    {"sep-2322-client-request-state", run_rounds, &round_handlers},
    {"json-schema-ref-no-deref", run_initialize, NULL},
    {"json-schema-2020-12-preservation", run_schema_echo, NULL},
    {"http-standard-headers", run_standard_headers, NULL},
    {"http-custom-headers", run_custom_headers, NULL},
    {"http-invalid-tool-headers", run_listed_tools, NULL},
    {"sep-2640-client-no-prefetch", run_skills_list, NULL},
    {"sep-2640-client-verify-*", run_skill, NULL},
    {"auth/*", run_authorized, NULL},
};

static const struct scenario *find(const char *name)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const char *pattern = scenarios[i].name, *star = strchr(pattern, '*');
        if (star != NULL ? strncmp(name, pattern, (size_t)(star - pattern)) == 0
                         : strcmp(name, pattern) == 0)
            return &scenarios[i];
    }
    return NULL;
}

static const char *told(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value != NULL ? value : otherwise;
}

int main(int argc, char **argv)
{
    const char *name = told("MCP_CONFORMANCE_SCENARIO", "initialize");
    const char *context = told("MCP_CONFORMANCE_CONTEXT", "{}");
    const struct scenario *scenario = find(name);

    if (argc != 2 || scenario == NULL) {
        fprintf(stderr, "usage: conformance-client URL (scenario: %s)\n", name);
        return 2;
    }
    struct talk talk = {
        .url = argv[1],
        .revision = told("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25"),
        .context = {context, strlen(context)},
        .handlers = scenario->handlers,
    };
    bool authorized = strncmp(name, "auth/", 5) == 0;
    if (authorized)
        talk.auth = auth_for(name, talk.context);
    int code = 1;
    if ((talk.auth != NULL || !authorized) && talk_begin(&talk) == FL_OK)
        code = scenario->run(&talk);
    talk_end(&talk);
    return code;
}
