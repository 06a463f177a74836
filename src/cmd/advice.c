/*
 * advice.c - what to do next when a server could not be talked to.
 *
 * A table: what went wrong, for a server that is somewhere and for one that
 * is a child of ours, and how the program exits. Another: what a server wants
 * of its client (error -32021), and which option gives it that: none, if the
 * revision that was agreed on has no word for it.
 */
#include "cmd/advice.h"

#include "base/span.h"
#include "json/nav.h"

#include <stddef.h>
#include <string.h>

static const struct row {
    fl_status status;
    fl_exit exit;
    const char *remote;
    const char *child;
} rows[] = {
    {FL_E_REFUSED, FL_EXIT_CONNECTION,
     "Is the server running, and on that port? 'fairlead demo' starts one to "
     "try.",
     NULL},
    {FL_E_NOT_FOUND, FL_EXIT_CONNECTION,
     "Is the server running, and is the address spelt right?",
     "Is it installed, and is its directory in PATH?"},
    {FL_E_UNREACHABLE, FL_EXIT_CONNECTION,
     "Check the host name, and the network.", NULL},
    {FL_E_TLS, FL_EXIT_CONNECTION,
     "--tls-ca FILE names whom to trust, --tls-server-name NAME the name to "
     "expect.",
     NULL},
    {FL_E_DENIED, FL_EXIT_CONNECTION,
     "May this user use that address? To a server that asks who it is: --auth "
     "code, or --header-file FILE.",
     "May this user run it?"},
    {FL_E_TIMEOUT, FL_EXIT_TIMEOUT, "--timeout SECONDS gives it more time.",
     "--timeout SECONDS gives it more time; does it speak MCP on stdio?"},
    {FL_E_CHILD, FL_EXIT_CONNECTION, NULL,
     "Run it by itself, or use --log-level info to see what it says."},
    {FL_END, FL_EXIT_CONNECTION, "The server closed the connection.",
     "Does it speak MCP on stdio? --log-level info shows what it says."},
    {FL_E_INVALID, FL_EXIT_LOCAL, NULL, NULL},
    {FL_E_UNSUPPORTED, FL_EXIT_LOCAL, NULL, NULL},
    {FL_E_NOMEM, FL_EXIT_LOCAL, NULL, NULL},
    {FL_E_REMOTE, FL_EXIT_REMOTE, NULL, NULL},
    {FL_E_CANCELLED, FL_EXIT_REMOTE, NULL, NULL}, /* not by us: call.c */
};

static const struct row *find(fl_status status)
{
    static const struct row other = {FL_OK, FL_EXIT_CONNECTION, NULL, NULL};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return &rows[i];
    return &other;
}

const char *fl_advice_for(fl_status status, bool is_child)
{
    const struct row *row = find(status);

    return is_child ? row->child : row->remote;
}

static const struct wish {
    const char *capability;
    const char *mode;  /* a member of it; NULL: any */
    const char *since; /* the first revision that has it; NULL: all have */
    const char *advice;
    const char *before; /* what to say of an older revision */
} wishes[] = {
    {"elicitation", "url", "2025-11-25",
     "It sends the user to a page: call it from a terminal, or with --decline.",
     "It sends the user to a page, and this revision has no way to: --revision "
     "2025-11-25 or later has."},
    {"elicitation", NULL, "2025-06-18",
     "It asks the user something: call it from a terminal, or with "
     "--answer FIELD=VALUE, --accept-defaults or --decline.",
     "It asks the user something, and this revision has no way to: --revision "
     "2025-06-18 or later has."},
    {"roots", NULL, NULL, "--root DIR says what it may work on.", NULL},
    {"sampling", NULL, NULL,
     "It asks a language model something, and there is none here.", NULL},
    {"extensions", NULL, NULL, "--task lets it make a task of the call.", NULL},
};

static bool is_wished(const struct wish *wish, fl_span wanted)
{
    fl_span capability = fl_json_get(wanted, fl_span_of(wish->capability));

    return capability.len > 0 &&
           (wish->mode == NULL ||
            fl_json_get(capability, fl_span_of(wish->mode)).len > 0);
}

const char *fl_advice_for_error(fl_span error, const char *revision)
{
    fl_span data = fl_json_get(error, FL_SPAN("data"));
    fl_span wanted = fl_json_get(data, FL_SPAN("requiredCapabilities"));

    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        const struct wish *wish = &wishes[i];
        if (!is_wished(wish, wanted))
            continue;
        /* revisions are dates, and in order as text */
        bool lacks = wish->since != NULL && revision[0] != '\0' &&
                     strcmp(revision, wish->since) < 0;
        return lacks ? wish->before : wish->advice;
    }
    return NULL;
}

fl_exit fl_advice_exit(fl_status status)
{
    return find(status)->exit;
}
