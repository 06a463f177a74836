/*
 * demo_hello.h - what the demo says when it starts.
 *
 * People at a terminal get commands to paste; machines get one log line for
 * each listener, with the port that was bound.
 */
#ifndef FL_CMD_DEMO_HELLO_H
#define FL_CMD_DEMO_HELLO_H

#include "base/log.h"
#include "cmd/door.h"
#include "cmd/term.h"

typedef struct fl_demo_hello {
    fl_log *log;
    fl_term term;
    bool for_people;
    bool silent;
    const fl_door_settings *settings;
    bool begun; /* the first address has been shown, and all there is to try */
} fl_demo_hello;

fl_demo_hello fl_demo_hello_new(fl_log *log, const fl_door_settings *settings);

/* One more address; `port` is what was bound, for those that have one. */
void fl_demo_hello_add(fl_demo_hello *hello, const char *url, uint16_t port);

/* All is up. */
void fl_demo_hello_done(const fl_demo_hello *hello);

#endif
