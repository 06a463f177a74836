/*
 * ps_ask.h - asks gateways what they hold, by their control sockets.
 */
#ifndef FL_CMD_PS_ASK_H
#define FL_CMD_PS_ASK_H

#include "base/buf.h"
#include "cmd/control_place.h"

typedef struct fl_ps_gateway {
    pid_t pid; /* 0: a socket was named, not a process */
    char path[FL_CONTROL_PATH];
    bool wanted;  /* by name: it is to be there */
    fl_buf said;  /* its report, JSON that was checked; or empty, */
    fl_error why; /* for this reason */
} fl_ps_gateway;

/* All zeroes is an empty list. */
typedef struct fl_ps_list {
    fl_ps_gateway *items;
    size_t count, room;
} fl_ps_list;

/* FL_E_NOMEM. */
FL_MUST_USE fl_status fl_ps_list_add(fl_ps_list *list,
                                     const fl_ps_gateway *gateway);
/* By pid. */
void fl_ps_list_sort(fl_ps_list *list);
void fl_ps_list_deinit(fl_ps_list *list);

/* Asks all of them, each for `timeout_ms` at most, and returns when the last
 * has answered or not. Runs a loop of its own. FL_E_NOMEM: none was asked. */
FL_MUST_USE fl_status fl_ps_ask(fl_ps_list *list, uint64_t timeout_ms);

#endif
