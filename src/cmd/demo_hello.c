/*
 * demo_hello.c - what the demo says when it starts.
 *
 * The commands it shows name the program as it was called, so that they work
 * when pasted, whether it is installed or was just built.
 */
#include "cmd/demo_hello.h"

#include <fairlead/version.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

fl_demo_hello fl_demo_hello_new(fl_log *log, const fl_door_settings *settings)
{
    fl_term term = fl_term_of(stderr);

    return (fl_demo_hello){
        .log = log,
        .term = term,
        .for_people = term.is_tty && settings->log_format != FL_LOG_JSON,
        .silent = settings->quiet,
        .settings = settings,
    };
}

static bool is_tls(const char *url)
{
    return strncmp(url, "tls:", 4) == 0 || strncmp(url, "wss:", 4) == 0 ||
           strstr(url, "https:") != NULL;
}

/* What a user of the common hosts pastes. */
static void show_hosts(const fl_term *term, const char *url)
{
    fl_term_say(term, FL_TERM_PLAIN,
                "    claude mcp add --transport http fairlead-demo %s\n"
                "    {\"mcpServers\": {\"fairlead-demo\": {\"type\": \"http\", "
                "\"url\": \"%s\"}}}\n",
                url, url);
}

/* All of them once; of further addresses it is enough to see that they work. */
static void show_commands(const fl_term *term, const char *url, bool all)
{
    static const char *const actions[] = {
        "tools",    "call add a=2 b=3",  "call slow steps=10",
        "call ask", "read demo://hello",
    };
    size_t count = all ? sizeof actions / sizeof *actions : 2;

    for (size_t i = 0; i < count; i++)
        fl_term_say(term, FL_TERM_PLAIN, "    %s call %s %s%s\n",
                    program_invocation_name, url, actions[i],
                    is_tls(url) ? " --tls-ca CA.pem" : "");
}

static void show_ws(const fl_term *term, const char *url)
{
    if (url[0] != '\0')
        fl_term_say(term, FL_TERM_PLAIN,
                    "    %s call %s tools%s\n"
                    "    new WebSocket(\"%s\", [\"mcp.v1\"])  // in a page\n",
                    program_invocation_name, url,
                    is_tls(url) ? " --tls-ca CA.pem" : "", url);
}

void fl_demo_hello_add(fl_demo_hello *hello, const char *url, uint16_t port)
{
    char shown[FL_DOOR_URL], ws[FL_DOOR_URL];

    if (hello->silent)
        return;
    fl_door_describe(url, port, shown);
    fl_door_describe_ws(hello->settings, shown, ws);
    if (!hello->for_people) {
        fl_door_announce(hello->log, shown, ws);
        return;
    }
    fl_term_say(&hello->term, FL_TERM_BOLD, "Serving on %s\n", shown);
    if (strcmp(url, "stdio:") == 0) {
        fl_term_say(&hello->term, FL_TERM_PLAIN,
                    "    one JSON-RPC message per line\n");
    } else {
        show_commands(&hello->term, shown, !hello->begun);
        hello->begun = true;
    }
    show_ws(&hello->term, ws);
    if (strncmp(url, "http", 4) == 0)
        show_hosts(&hello->term, shown);
}

void fl_demo_hello_done(const fl_demo_hello *hello)
{
    if (hello->silent || !hello->for_people)
        return;
    fl_term_say(&hello->term, FL_TERM_DIM,
                "fairlead %s. Ctrl-C ends it; 'fairlead demo --help' tells "
                "what else it can do.\n",
                fl_version());
}
