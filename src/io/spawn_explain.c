/*
 * spawn_explain.c - why a child could not be started, for people.
 *
 * The keeper has no memory to write sentences in; it sends the step and the
 * errno, and the sentence is made here. It names the one thing the reader can
 * change: the command, the directory, the limit.
 */
#include "base/status.h"
#include "io/spawn.h"
#include "io/uv_status.h"

#include <errno.h>
#include <string.h>

/* ENOEXEC is unknown to libuv; and that a PATH was searched is worth saying. */
static const char *exec_text(const char *program, int reason)
{
    if (reason == ENOEXEC)
        return "not in a format that can be run";
    if (reason == ENOENT && strchr(program, '/') == NULL)
        return "not found in PATH";
    return fl_uv_text(-reason);
}

static fl_status pick_status(int reason)
{
    fl_status status = fl_status_from_uv(-reason);

    if (reason == EAGAIN) /* of fork(): too many processes */
        return FL_E_LIMIT;
    return status == FL_E_IO ? FL_E_CHILD : status;
}

static const char *step_text(fl_keeper_step step)
{
    switch (step) {
    case FL_KEEPER_FORK:
        return "cannot start a process";
    case FL_KEEPER_STDIO:
        return "cannot pass on the pipes";
    case FL_KEEPER_CWD:
        return "cannot enter directory";
    case FL_KEEPER_MEMORY:
        return "cannot set limit on memory";
    case FL_KEEPER_CPU:
        return "cannot set limit on CPU time";
    case FL_KEEPER_FILES:
        return "cannot set limit on open files";
    case FL_KEEPER_IDS:
        return "cannot change user or group";
    case FL_KEEPER_EXEC:
        return "cannot run";
    }
    return "cannot start";
}

void fl_spawn_explain(fl_error *error, const fl_keeper_record *record,
                      const char *program, const char *cwd)
{
    fl_keeper_step step = (fl_keeper_step)record->step;
    const char *what = step_text(step);
    int reason = record->value;
    fl_status status = pick_status(reason);

    if (step == FL_KEEPER_EXEC)
        fl_error_set(error, status, "%s '%.100s': %s", what, program,
                     exec_text(program, reason));
    else if (step == FL_KEEPER_CWD && cwd != NULL)
        fl_error_set(error, status, "%s '%.100s': %s", what, cwd,
                     fl_uv_text(-reason));
    else
        fl_error_set(error, status, "%s: %s", what, fl_uv_text(-reason));
}
