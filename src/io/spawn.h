/*
 * spawn.h - pipes to a child, and a keeper that is ready to start it.
 *
 * For child.c only.
 */
#ifndef FL_IO_SPAWN_H
#define FL_IO_SPAWN_H

#include "io/child.h"
#include "io/keeper.h"

/* Our ends. Whoever takes a descriptor leaves -1 behind. */
typedef struct fl_spawned {
    pid_t keeper;
    int stdio[3]; /* its stdin, to write; its stdout and stderr, to read */
    int status;   /* records of keeper.h */
    int lifeline; /* a socket; words of keeper.h */
    int pidfd;    /* the keeper's; -1 where there is none to be had */
} fl_spawned;

/* Forks a keeper that waits for FL_KEEPER_GO. On failure nothing is left. */
FL_MUST_USE fl_status fl_spawn_keeper(const fl_child_options *options,
                                      fl_spawned *spawned, fl_error *error);

/* Before GO only: has the keeper exit, reaps it and closes what is left. */
void fl_spawn_undo(fl_spawned *spawned);

/* What an FL_KEEPER_FAILED means, for people; `cwd` may be NULL. */
void fl_spawn_explain(fl_error *error, const fl_keeper_record *record,
                      const char *program, const char *cwd);

/* Closes `*fd`, if there is one, and leaves -1 behind. */
void fl_spawn_close(int *fd);

#endif
