/*
 * child.h - a child process that cannot get lost.
 *
 * Bridges leak children: they kill the child and forget its children, or they
 * die themselves and leave both behind. So between us and the child stands a
 * keeper, a small fork of ours that does nothing but this: it is the parent of
 * the child and, as subreaper, of every descendant whose parent dies; it holds
 * one end of a pipe, the lifeline, whose other end only we hold. When we ask,
 * or when the lifeline breaks because we died in any way, SIGKILL included, it
 * ends the child's process group and every descendant it has adopted, reaps
 * them all, and goes.
 *
 *   us --lifeline--> keeper --group, PDEATHSIG--> child --> its children
 *
 * One way out is left: who kills the keeper itself (SIGKILL) ends the child and
 * its group with it, but not descendants that had left the group.
 *
 * The child's stdin and stdout are real pipes joined in one fl_stream. No
 * shell is involved, ever. SIGCHLD is left to the host program: the keeper is
 * watched through a pidfd.
 */
#ifndef FL_IO_CHILD_H
#define FL_IO_CHILD_H

#include "io/stream.h"

#include <sys/types.h>

typedef struct fl_child fl_child;

typedef struct fl_child_options {
    const char *const *argv; /* argv[0] is looked up in the child's PATH */
    const char *const *envp; /* the whole environment, NULL-terminated */
    const char *cwd;         /* NULL: ours */
    bool set_uid, set_gid;   /* drop to these; supplementary groups go too */
    uid_t uid;
    gid_t gid;
    uint64_t max_memory_bytes; /* RLIMIT_AS; 0: as ours */
    uint64_t max_cpu_seconds;  /* RLIMIT_CPU */
    uint64_t max_files;        /* RLIMIT_NOFILE */
    uint64_t stop_grace_ms;    /* stdin closed, wait, TERM; default 2000 */
    uint64_t kill_grace_ms;    /* TERM, wait, KILL; default 2000 */
    fl_stream_limits limits;
} fl_child_options;

typedef struct fl_child_exit {
    fl_error failure; /* status FL_OK unless it could not be started at all:
                         then which step failed, and why */
    int code;         /* exit code, when signal is 0 */
    int signal;
    bool told;     /* by a signal of ours, so that how it ended is no news */
    unsigned left; /* processes that it left running when it ended by itself */
} fl_child_exit;

typedef struct fl_child_events {
    /* A piece of what it wrote to stderr; not lines. */
    void (*on_stderr)(void *user, fl_span bytes);

    /* It is gone, its descendants too, all reaped. Comes once, also after
     * fl_child_stop(); output it wrote before may still follow on the
     * stream. Comes before on_closed. */
    void (*on_exit)(void *user, const fl_child_exit *how);

    /* Comes once, always later, when process, pipes and timers are gone. The
     * stream is not the child's to close: it has its own on_closed. */
    void (*on_closed)(void *user);
} fl_child_events;

/* The stream is the caller's: start it, close it. */
FL_MUST_USE fl_status fl_child_spawn(fl_loop *loop,
                                     const fl_child_options *options,
                                     const fl_child_events *events, void *user,
                                     fl_child **out, fl_stream **stream,
                                     fl_error *error);

/* The child's pid, for logs; 0 until it is known. */
pid_t fl_child_pid(const fl_child *child);

/*
 * Ends it the way MCP asks (lifecycle, Shutdown, stdio): the caller has
 * closed the stream, so stdin is at its end; wait stop_grace; SIGTERM to the
 * group; wait kill_grace; SIGKILL to everything. on_exit and on_closed follow.
 * If it has exited already only on_closed follows. Harmless twice.
 */
void fl_child_stop(fl_child *child);

#endif
