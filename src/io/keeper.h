/*
 * keeper.h - the process that stands between us and a child.
 *
 * All of this runs between fork() and exec(), perhaps in the fork of a program
 * with many threads, whose locks may be held and have nobody to free them. So
 * it makes system calls and nothing else: no heap, no stdio, no locale.
 * Whatever takes thought (which files to try, which environment) is made
 * before, as a plan.
 */
#ifndef FL_IO_KEEPER_H
#define FL_IO_KEEPER_H

#include <fairlead/types.h>

#include <sys/types.h>

/* Where the launch of the child can fail. */
typedef enum fl_keeper_step {
    FL_KEEPER_FORK,
    FL_KEEPER_STDIO,
    FL_KEEPER_CWD,
    FL_KEEPER_MEMORY,
    FL_KEEPER_CPU,
    FL_KEEPER_FILES,
    FL_KEEPER_IDS,
    FL_KEEPER_EXEC,
} fl_keeper_step;

/* Every pointer is borrowed, every descriptor at least 3. A limit of 0 means
 * as ours. */
typedef struct fl_keeper_plan {
    char *const *argv;
    char *const *envp;
    char *const *files; /* to try to execute, in order; NULL-terminated */
    const char *cwd;    /* NULL: ours */
    bool set_uid, set_gid;
    uid_t uid;
    gid_t gid;
    uint64_t max_memory_bytes;
    uint64_t max_cpu_seconds;
    uint64_t max_files;
    int stdio[3];         /* the child's ends */
    int lifeline;         /* the keeper's end */
    int host_lifeline;    /* ours, which the fork must let go of */
    int status;           /* likewise, to write records to */
    const char *kin_file; /* lists our children: FL_KEEPER_KIN_FILE */
} fl_keeper_plan;

#define FL_KEEPER_KIN_FILE "/proc/thread-self/children"

/*
 * What may be written to the lifeline; nothing starts before GO. Its end means
 * that we are dead: then all are asked to end, and half a second later killed.
 */
enum {
    FL_KEEPER_GO = 'G',
    FL_KEEPER_TERM = 'T', /* SIGTERM to the child's group */
    FL_KEEPER_KILL = 'K', /* SIGKILL to the child and every descendant */
};

typedef enum fl_keeper_news {
    FL_KEEPER_STARTED = 1, /* value: the child's pid */
    FL_KEEPER_FAILED,      /* step, value: errno; ENDED may follow */
    FL_KEEPER_LEFT,        /* value: how many it left running; not said for
                              none, nor when they were told to end */
    FL_KEEPER_ENDED,       /* value: as from waitpid(); all are reaped */
} fl_keeper_news;

/* Read from the status pipe, always whole: it is far below PIPE_BUF. */
typedef struct fl_keeper_record {
    int32_t news; /* fl_keeper_news */
    int32_t step; /* fl_keeper_step */
    int32_t value;
} fl_keeper_record;

/* To be called in a fresh _Fork() with all signals blocked. */
_Noreturn void fl_keeper_run(const fl_keeper_plan *plan);

#endif
