/*
 * spawn.c - pipes to a child, and a keeper that is ready to start it.
 *
 * Our host may have threads, signal handlers and descriptors of all kinds; a
 * fork inherits them all. So every descriptor is close-on-exec from its birth,
 * and all signals are blocked around the fork, lest a handler of the host's
 * runs in the keeper before that has put them away. It is _Fork(), not fork(),
 * for the same reason: handlers that others gave to pthread_atfork() are not
 * for the keeper. (libuv's opens a pipe, and aborts when there is none left.)
 */
#include "io/spawn.h"

#include "base/mem.h"
#include "base/status.h"
#include "io/program.h"
#include "io/uv_status.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The ends that are not ours. */
typedef struct far_ends {
    int stdio[3];
    int status;
    int lifeline;
} far_ends;

void fl_spawn_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_theirs(far_ends *theirs)
{
    for (int i = 0; i < 3; i++)
        fl_spawn_close(&theirs->stdio[i]);
    fl_spawn_close(&theirs->status);
    fl_spawn_close(&theirs->lifeline);
}

static void close_ours(fl_spawned *ours)
{
    for (int i = 0; i < 3; i++)
        fl_spawn_close(&ours->stdio[i]);
    fl_spawn_close(&ours->status);
    fl_spawn_close(&ours->lifeline);
    fl_spawn_close(&ours->pidfd);
}

/* Our host may run without a stdin. Its number is not for our pipes: the
 * child's own stdio goes there. */
static int lift(int *fd)
{
    if (*fd > 2)
        return 0;
    int higher = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    int rc = higher < 0 ? -errno : 0;
    fl_spawn_close(fd);
    *fd = higher;
    return rc;
}

static int lift_both(const int fds[2], int *first, int *second)
{
    *first = fds[0];
    *second = fds[1];
    int rc = lift(first);
    return rc != 0 ? rc : lift(second);
}

static int open_pipe(int *reader, int *writer)
{
    int fds[2];

    return pipe2(fds, O_CLOEXEC) == 0 ? lift_both(fds, reader, writer) : -errno;
}

/* A socket, since a word to a dead keeper must not raise SIGPIPE. */
static int open_lifeline(int *one, int *other)
{
    int fds[2];

    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0
               ? lift_both(fds, one, other)
               : -errno;
}

static int open_all(fl_spawned *ours, far_ends *theirs)
{
    int rc = open_pipe(&theirs->stdio[0], &ours->stdio[0]);

    if (rc == 0)
        rc = open_pipe(&ours->stdio[1], &theirs->stdio[1]);
    if (rc == 0)
        rc = open_pipe(&ours->stdio[2], &theirs->stdio[2]);
    if (rc == 0)
        rc = open_pipe(&ours->status, &theirs->status);
    return rc == 0 ? open_lifeline(&ours->lifeline, &theirs->lifeline) : rc;
}

/* execve() does not write to them; its type is older than const. */
static char *const *unconst(const char *const *strings)
{
    union {
        const char *const *in;
        char *const *out;
    } both = {.in = strings};

    return both.out;
}

static fl_keeper_plan make_plan(const fl_child_options *options,
                                const far_ends *theirs, int lifeline,
                                char *const *files)
{
    static const char *const nothing[] = {NULL};

    return (fl_keeper_plan){
        .argv = unconst(options->argv),
        .envp = unconst(options->envp != NULL ? options->envp : nothing),
        .files = files,
        .cwd = options->cwd,
        .set_uid = options->set_uid,
        .set_gid = options->set_gid,
        .uid = options->uid,
        .gid = options->gid,
        .max_memory_bytes = options->max_memory_bytes,
        .max_cpu_seconds = options->max_cpu_seconds,
        .max_files = options->max_files,
        .stdio = {theirs->stdio[0], theirs->stdio[1], theirs->stdio[2]},
        .lifeline = theirs->lifeline,
        .host_lifeline = lifeline,
        .status = theirs->status,
        .kin_file = FL_KEEPER_KIN_FILE,
    };
}

/* The keeper's pid, or a negated errno. */
static pid_t fork_keeper(const fl_keeper_plan *plan)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = _Fork();
    if (pid == 0)
        fl_keeper_run(plan);
    if (pid < 0)
        pid = -errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

static int spawn(const fl_child_options *options, char *const *files,
                 fl_spawned *ours)
{
    far_ends theirs = {{-1, -1, -1}, -1, -1};
    int rc = open_all(ours, &theirs);

    if (rc == 0) {
        fl_keeper_plan plan =
            make_plan(options, &theirs, ours->lifeline, files);
        pid_t pid = fork_keeper(&plan);
        rc = pid < 0 ? pid : 0;
        ours->keeper = pid < 0 ? 0 : pid;
    }
    if (rc == 0) {
        ours->pidfd = (int)syscall(SYS_pidfd_open, ours->keeper, 0);
        lift(&ours->pidfd); /* if that fails, or there was none: -1 */
    }
    close_theirs(&theirs);
    return rc;
}

fl_status fl_spawn_keeper(const fl_child_options *options, fl_spawned *spawned,
                          fl_error *error)
{
    const char *program = options->argv[0];
    char **files = fl_program_files(program, options->envp);

    *spawned = (fl_spawned){0, {-1, -1, -1}, -1, -1, -1};
    int rc = files != NULL ? spawn(options, files, spawned) : -ENOMEM;
    fl_mem_free(files);
    if (rc == 0)
        return FL_OK;
    close_ours(spawned);
    return fl_error_set(error,
                        rc == -EAGAIN ? FL_E_LIMIT : fl_status_from_uv(rc),
                        "cannot start '%.100s': %s", program, fl_uv_text(rc));
}

void fl_spawn_undo(fl_spawned *spawned)
{
    close_ours(spawned); /* its lifeline, for one */
    while (waitpid(spawned->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
    spawned->keeper = 0;
}
