/*
 * client.h - what every bench client does before it can measure: reach the
 * server, greet it, choose a processor, read the clocks.
 *
 * These are programs, not a library: what cannot be done ends them with a
 * message, so no call below returns a failure unless it says so.
 */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A way to a server. A socket has the same descriptor twice. */
typedef struct route {
    int in;
    int out;
} route;

/* Prints the message (and errno's text, if there is one) and exits with 1. */
_Noreturn void die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* A whole number not below `least`, or death with the option's name. */
uint64_t number_of(const char *option, const char *text, uint64_t least);

/* Runs this process on one processor; below zero means anywhere. */
void pin_to(int cpu);

/* `address` is HOST:PORT with a numeric IPv4 host. Nagle's delay is off. */
route connect_to(const char *address);

/* The same from 127.0.0.`neighbour`; 0: from wherever the kernel likes. */
route connect_from(const char *address, unsigned neighbour);

/* As many descriptors as this process may have. */
void raise_file_limit(void);

/* Starts `argv` on `cpu` with pipes for its stdin and stdout. */
route spawn(char *const argv[], int cpu, pid_t *pid);

/*
 * initialize, its answer, notifications/initialized. False when the server
 * closed the connection or did not answer within thirty seconds.
 */
bool greet(route server);

void make_nonblocking(int fd);

/* Nanoseconds on the monotonic clock. */
uint64_t now_ns(void);

/* Nanoseconds of processor time a process has used; 0 when it is gone. */
uint64_t cpu_ns(pid_t pid);

#endif
