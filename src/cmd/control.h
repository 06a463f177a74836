/*
 * control.h - the control socket of a gateway: who connects is told what the
 * gateway holds (gateway/report.h), one line of JSON, and is hung up on.
 */
#ifndef FL_CMD_CONTROL_H
#define FL_CMD_CONTROL_H

#include "base/log.h"

#include <fairlead/gateway.h>

typedef struct fl_control fl_control;

enum {
    FL_CONTROL_PEERS = 16,      /* at one time; more are hung up on */
    FL_CONTROL_FLUSH_MS = 2000, /* for a peer to take what it is told */
    FL_CONTROL_REUSED_MS = 100, /* for so long one report serves all who ask */
};

/*
 * `where` is a path, "none", or NULL: where "fairlead ps" looks. NULL: there is
 * none, and if it should be there the log says why not; a gateway works without
 * one. The gateway must outlive it.
 */
fl_control *fl_control_open(const fl_gateway *gateway, fl_loop *loop,
                            const char *where);

/* Removes the socket. Its memory goes later, on the loop. NULL is fine. */
void fl_control_close(fl_control *control);

#endif
