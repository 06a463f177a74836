/*
 * load_options.h - what the load generator is asked to do.
 */
#ifndef BENCH_LOAD_OPTIONS_H
#define BENCH_LOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct load_options {
    /* One of these is set. */
    const char *tcp;  /* HOST:PORT */
    const char *http; /* the same; the path is /mcp */
    const char *ws;   /* the same */
    char *const *command;

    size_t connections, inflight, size;
    unsigned addresses; /* to connect from; 0: the kernel chooses */
    uint64_t duration_ns, warmup_ns;
    uint64_t warmup_cpu_ns; /* of the server's processor time; 0: any */
    uint64_t messages;      /* instead of a duration, if `counted` */
    bool counted, init;
    bool modern, fixed; /* HTTP only, as is: */
    const char *save;   /* where to put an answer */
    int cpu, server_cpu;
    pid_t server; /* 0: nobody knows */
    const char *alloc_file;
} load_options;

/* Ends the program when it makes no sense. */
load_options load_options_parse(int argc, char **argv);

#endif
