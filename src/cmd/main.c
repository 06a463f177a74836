/*
 * main.c - the command: which sub-command it is, and nothing else.
 *
 * Started through a link that has another program's name, it is that one.
 */
#include "base/span.h"
#include "base/status.h"
#include "cmd/bench.h"
#include "cmd/call.h"
#include "cmd/complain.h"
#include "cmd/demo.h"
#include "cmd/doctor.h"
#include "cmd/exits.h"
#include "cmd/face_run.h"
#include "cmd/help.h"
#include "cmd/matrix.h"
#include "cmd/memory.h"
#include "cmd/ps.h"
#include "cmd/serve.h"
#include "cmd/suggest.h"

#include <fairlead/version.h>

#include <stdio.h>
#include <string.h>

static int refuse(const char *word)
{
    static const char *const known[] = {
        "demo",         "call",      "serve",      "connect",
        "ps",           "doctor",    "matrix",     "bench",
        "supergateway", "mcp-proxy", "mcp-remote", "--help",
        "--version",    NULL};
    const char *near = fl_suggest_nearest(fl_span_of(word), known);
    fl_error error;

    fl_error_set(&error, FL_E_INVALID, "unknown %s '%s'%s%s%s",
                 word[0] == '-' ? "option" : "command", word,
                 near != NULL ? "; did you mean " : "",
                 near != NULL ? near : "", near != NULL ? "?" : "");
    return fl_complain_usage(NULL, &error);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    fl_memory_tune();
    if (argc > 0 && fl_face_is_known(argv[0]))
        return fl_face_run(argv[0], argv + 1);
    if (fl_face_is_known(word))
        return fl_face_run(word, argv + 2);
    if (strcmp(word, "serve") == 0)
        return fl_serve_command(argv + 2);
    if (strcmp(word, "connect") == 0)
        return fl_connect_command(argv + 2);
    if (strcmp(word, "demo") == 0)
        return fl_demo(argv + 2);
    if (strcmp(word, "doctor") == 0)
        return fl_doctor_command(argv + 2);
    if (strcmp(word, "bench") == 0)
        return fl_bench_command(argv + 2);
    if (strcmp(word, "matrix") == 0)
        return fl_matrix_command(argv + 2);
    if (strcmp(word, "call") == 0)
        return fl_call_command(argv + 2);
    if (strcmp(word, "ps") == 0)
        return fl_ps_command(argv + 2);
    if (strcmp(word, "--version") == 0) {
        printf("fairlead %s\n", fl_version());
        return FL_EXIT_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        fl_help(stdout);
        return FL_EXIT_OK;
    }
    if (argc < 2) {
        fl_help(stderr);
        return FL_EXIT_LOCAL;
    }
    return refuse(word);
}
