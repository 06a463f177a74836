/*
 * proc.h - how much memory a process has, with all that it has started.
 */
#ifndef FL_IO_PROC_H
#define FL_IO_PROC_H

#include <fairlead/types.h>

#include <sys/types.h>

/* Pages that processes share are counted for each of them. */
typedef struct fl_proc_use {
    uint64_t resident;  /* bytes of the process itself */
    uint64_t family;    /* bytes of it and its descendants */
    unsigned processes; /* how many these are */
} fl_proc_use;

/*
 * Looks at a child that a keeper of ours has started, and at all that came of
 * it, those it has left behind included. Every file opened in /proc is taken
 * off `*looks`; at 0 what was found until then is all. False: there is no such
 * process.
 */
bool fl_proc_measure(pid_t pid, unsigned *looks, fl_proc_use *use);

#endif
