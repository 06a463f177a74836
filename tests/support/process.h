/*
 * process.h - what a test wants to know about processes and descriptors.
 */
#ifndef TESTS_SUPPORT_PROCESS_H
#define TESTS_SUPPORT_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* 'R', 'S', 'T' (stopped), 'Z'... as proc(5) has it; 0: not there. */
char process_state(pid_t pid);

/* Whether it is there and no zombie: who reaps orphans is not our affair. */
bool process_alive(pid_t pid);

/* Waits until it is not, for `ms` at most, stretched. */
bool process_gone_within(pid_t pid, int ms);

/* No child of ours is there, not even a zombie. */
bool process_has_no_children(void);

/* Open descriptors of ours, or of another process. */
int process_count_files(pid_t pid);

/*
 * A time after which a test gives up, or within which something must get
 * done: FL_SLOW times as long, if that is set. Valgrind needs it; what a test
 * demands in that time stays the same.
 */
int stretched(int time);

/* Running under Valgrind, which keeps limits of its own. */
bool process_in_valgrind(void);

/* Skips the running test and says why, so that the summary can. */
void skip_because(const char *why);

#endif
