/*
 * launch.c - what a child does between fork() and being somebody else.
 *
 * The order matters. The directory is entered and limits are set with our
 * rights, then the rights are dropped; the parent-death signal comes after,
 * since changing the user clears it. Nothing of our host's passes exec(): its
 * descriptors are all marked, whether or not it had thought of that.
 *
 * The files to try come ready made, because execvp() allocates, may run a
 * shell, and would search our PATH and not the child's.
 */
#include "io/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where close_range() is missing (Linux before 5.9, or 5.11 for the flag), this
 * many descriptors are gone through one by one. */
enum { MOST_FILES = 65536 };

#ifdef SYS_setresuid32 /* where the plain name still means 16 bits */
enum {
    SET_GROUPS = SYS_setgroups32,
    SET_GID = SYS_setresgid32,
    SET_UID = SYS_setresuid32,
};
#else
enum {
    SET_GROUPS = SYS_setgroups,
    SET_GID = SYS_setresgid,
    SET_UID = SYS_setresuid,
};
#endif

void fl_launch_reset_signals(void)
{
    struct sigaction normal = {.sa_handler = SIG_DFL};

    for (int signal = 1; signal < NSIG; signal++)
        if (signal != SIGKILL && signal != SIGSTOP)
            sigaction(signal, &normal, NULL);
}

void fl_launch_close(unsigned first, unsigned last)
{
    if (first > last || close_range(first, last, 0) == 0)
        return;
    for (unsigned fd = first; fd <= last && fd < MOST_FILES; fd++)
        close((int)fd);
}

static void mark_inherited(void)
{
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    for (int fd = 3; fd < MOST_FILES; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static bool join_stdio(const int stdio[3])
{
    for (int fd = 0; fd < 3; fd++)
        if (dup2(stdio[fd], fd) < 0)
            return false;
    mark_inherited();
    return true;
}

static bool limit(__rlimit_resource_t resource, uint64_t most)
{
    struct rlimit both = {.rlim_cur = (rlim_t)most, .rlim_max = (rlim_t)most};

    return most == 0 || setrlimit(resource, &both) == 0;
}

/* Groups first: without the user's rights one cannot give up the rest. These
 * are the bare system calls, for those of the library also want to change the
 * ids of the host's other threads, which did not come along. */
static bool drop_ids(const fl_keeper_plan *plan)
{
    uid_t uid = plan->uid;
    gid_t gid = plan->gid;

    if (!plan->set_uid && !plan->set_gid)
        return true;
    if (syscall(SET_GROUPS, plan->set_gid ? 1 : 0, &gid) != 0)
        return false;
    if (plan->set_gid && syscall(SET_GID, gid, gid, gid) != 0)
        return false;
    return !plan->set_uid || syscall(SET_UID, uid, uid, uid) == 0;
}

/* The keeper may have died before the signal was asked for: nobody is going
 * to send it then. */
static void die_with(pid_t keeper)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(127);
}

/* As execvp(): what is not there is passed over, what is there but may not be
 * run is remembered, and any other failure is final. */
static void execute(const fl_keeper_plan *plan)
{
    bool denied = false;

    errno = ENOENT;
    for (char *const *file = plan->files; *file != NULL; file++) {
        execve(*file, plan->argv, plan->envp);
        if (errno == EACCES)
            denied = true;
        else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE &&
                 errno != ENODEV && errno != ETIMEDOUT)
            return;
    }
    if (denied)
        errno = EACCES;
}

fl_keeper_step fl_launch(const fl_keeper_plan *plan, pid_t keeper)
{
    sigset_t none;

    setpgid(0, 0);
    if (!join_stdio(plan->stdio))
        return FL_KEEPER_STDIO;
    if (plan->cwd != NULL && chdir(plan->cwd) != 0)
        return FL_KEEPER_CWD;
    if (!limit(RLIMIT_AS, plan->max_memory_bytes))
        return FL_KEEPER_MEMORY;
    if (!limit(RLIMIT_CPU, plan->max_cpu_seconds))
        return FL_KEEPER_CPU;
    if (!limit(RLIMIT_NOFILE, plan->max_files))
        return FL_KEEPER_FILES;
    if (!drop_ids(plan))
        return FL_KEEPER_IDS;
    die_with(keeper);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    execute(plan);
    return FL_KEEPER_EXEC;
}
