/*
 * main.c - conformance-server: everything the MCP conformance suite looks
 * for in a server, on any transport.
 *
 *     conformance-server --listen URL... [--skills FOLDER]
 *                        [--era both|legacy|modern] [--page-size N]
 *
 *     conformance-server --listen http://localhost:3000/mcp
 *     conformance-server --listen stdio:
 *
 * It is written as any server would be: with the public headers, one family of
 * tools, resources or prompts to a file. The first tool that is listed takes
 * no arguments, which one scenario relies on.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { URLS_MAX = 16 };

struct settings {
    const char *urls[URLS_MAX + 1];
    size_t count;
    const char *skills;
    fl_era era;
    size_t page_size;
};

static bool read_era(fl_era *era, const char *word)
{
    static const char *const words[] = {
        [FL_ERA_AUTO] = "both",
        [FL_ERA_LEGACY] = "legacy",
        [FL_ERA_MODERN] = "modern",
    };

    for (int i = FL_ERA_AUTO; i <= FL_ERA_MODERN; i++)
        if (strcmp(word, words[i]) == 0) {
            *era = (fl_era)i;
            return true;
        }
    return false;
}

static fl_status add_all(fl_server *server, const struct settings *settings)
{
    static fl_status (*const families[])(fl_server *) = {
        add_content_tools, add_schema_tools, add_stream_tools, add_asking_tools,
        add_round_tools,   add_task_tools,   add_resources,    add_prompts,
    };
    fl_status rc = FL_OK;

    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (rc == FL_OK)
            rc = families[i](server);
    if (rc == FL_OK && settings->skills != NULL)
        rc = add_skills(server, settings->skills);
    return rc;
}

static bool listen_on(struct settings *settings, const char *url)
{
    if (settings->count == URLS_MAX)
        return false;
    settings->urls[settings->count++] = url;
    return true;
}

/* Each --listen may be followed by several addresses. */
static bool parse(struct settings *settings, char **argv)
{
    while (*argv != NULL) {
        const char *flag = *argv++;
        if (*argv == NULL)
            return false;
        if (strcmp(flag, "--listen") == 0) {
            while (*argv != NULL && **argv != '-')
                if (!listen_on(settings, *argv++))
                    return false;
        } else if (strcmp(flag, "--skills") == 0) {
            settings->skills = *argv++;
        } else if (strcmp(flag, "--era") == 0) {
            if (!read_era(&settings->era, *argv++))
                return false;
        } else if (strcmp(flag, "--page-size") == 0) {
            settings->page_size = strtoul(*argv++, NULL, 10);
        } else {
            return false;
        }
    }
    return settings->count > 0;
}

int main(int argc, char **argv)
{
    struct settings settings = {.count = 0};

    (void)argc;
    if (!parse(&settings, argv + 1)) {
        fputs("usage: conformance-server --listen URL... [--skills FOLDER] "
              "[--era both|legacy|modern] [--page-size N]\n",
              stderr);
        return 2;
    }
    fl_server *server = fl_server_new("fairlead-conformance-server", "1.0.0");
    fl_status rc = server == NULL ? FL_E_NOMEM : add_all(server, &settings);
    if (rc != FL_OK) {
        fprintf(stderr, "conformance-server: %s\n", fl_status_text(rc));
        fl_server_free(server);
        return 1;
    }
    fl_server_set_era(server, settings.era);
    fl_server_set_page_size(server, settings.page_size);
    return fl_server_run(server, settings.urls);
}
