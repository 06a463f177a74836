/*
 * face_choose.c - which program a name and its flags mean.
 *
 * Only mcp-proxy needs the flags: npm and Python have one each. A flag that
 * one of them alone knows decides, and so does a URL in place of the command,
 * which only Python's takes. Nothing else is looked at, so that what the
 * command after them is called never matters.
 */
#include "cmd/face_parts.h"

#include "base/span.h"
#include "base/status.h"

#include <string.h>

struct votes {
    const char *npm; /* the flag that spoke for it, or NULL */
    const char *python;
    const char *word; /* the first that is no flag */
};

/* How many arguments behind this one belong to it. */
static size_t values_of(const fl_face_row *row, const char *argument)
{
    if (strchr(argument, '=') != NULL)
        return 0;
    return row->kind == FL_FACE_PAIR ? 2 : row->kind == FL_FACE_VALUE ? 1 : 0;
}

static size_t count_flag(struct votes *votes, const char *argument)
{
    fl_span name = {argument, strcspn(argument, "=")};
    bool off;
    const fl_face_row *npm = fl_face_find(fl_face_mcp_proxy.rows, name, &off);
    const fl_face_row *python =
        fl_face_find(fl_face_mcp_proxy_py.rows, name, &off);

    if (npm != NULL && python == NULL)
        votes->npm = argument;
    if (python != NULL && npm == NULL)
        votes->python = argument;
    return npm != NULL      ? values_of(npm, argument)
           : python != NULL ? values_of(python, argument)
                            : 0;
}

static struct votes count(char *const *argv)
{
    struct votes votes = {0};

    for (; *argv != NULL && strcmp(*argv, "--") != 0; argv++) {
        if ((*argv)[0] != '-') {
            votes.word = votes.word != NULL ? votes.word : *argv;
            continue;
        }
        for (size_t skip = count_flag(&votes, *argv);
             skip > 0 && argv[1] != NULL; skip--)
            argv++;
    }
    if (votes.word == NULL && *argv != NULL)
        votes.word = argv[1];
    return votes;
}

static fl_status choose_proxy(char *const *argv, char *const *environment,
                              const fl_face_program **program, fl_error *error)
{
    struct votes votes = count(argv);
    const char *word = votes.word;

    if (word == NULL)
        word = fl_face_getenv(environment, FL_SPAN("SSE_URL"));
    bool url = word != NULL && fl_face_is_url(word);
    *program = votes.python != NULL || (url && votes.npm == NULL)
                   ? &fl_face_mcp_proxy_py
                   : &fl_face_mcp_proxy;
    if (votes.npm != NULL && votes.python != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "two programs are named mcp-proxy: %.60s is a flag "
                            "of npm's, %.60s of Python's",
                            votes.npm, votes.python);
    if (votes.npm != NULL && url)
        return fl_error_set(error, FL_E_INVALID,
                            "two programs are named mcp-proxy: %.60s is a flag "
                            "of npm's, which takes a command, not a URL",
                            votes.npm);
    return FL_OK;
}

fl_status fl_face_choose(const char *name, char *const *argv,
                         char *const *environment,
                         const fl_face_program **program, fl_error *error)
{
    *program = NULL;
    if (strcmp(name, "supergateway") == 0)
        *program = &fl_face_supergateway;
    else if (strcmp(name, "mcp-remote") == 0)
        *program = &fl_face_mcp_remote;
    else if (strcmp(name, "mcp-proxy") == 0)
        return choose_proxy(argv, environment, program, error);
    return FL_OK;
}
