/*
 * raw.h - the frame of the reference servers: a listener, epoll, and nothing
 * that could be left out.
 */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A read takes all that a socket's buffer can hold. */
enum { RAW_READ_SIZE = 1 << 18, RAW_HELD_MAX = 1 << 24, RAW_SLACK = 32 };

/* The start of a message whose end has not come. */
typedef struct raw_held {
    char *bytes;
    size_t size;
} raw_held;

/* False: the connection is to be closed. */
bool raw_hold(raw_held *part, const char *bytes, size_t size);
void raw_forget(raw_held *part);

/* Waits where it must: nobody else's answer is worth measuring meanwhile. */
bool raw_write(int fd, const char *bytes, size_t size);

/* `size` bytes were read, and RAW_SLACK more may be looked at. False: the
 * connection is to be closed. */
typedef bool raw_serve(int fd, const char *bytes, size_t size, raw_held *part);

/* Every connection to 127.0.0.1:`port`, for ever. */
_Noreturn void raw_run(uint16_t port, raw_serve *serve);

/* The same for a program that has somebody else to listen to. */
typedef struct raw_program {
    uint16_t port;
    raw_serve *serve;
    int other; /* a descriptor; the end of it is the program's. -1: none */
    raw_serve *hear;
    void (*after)(void); /* each turn; or NULL */
    /* A connection has come: one more descriptor to serve; one has gone. Both
     * or neither. */
    int (*came)(int fd);
    void (*gone)(int fd);
} raw_program;

_Noreturn void raw_run_with(const raw_program *program);

#endif
