/*
 * client.h - the inside of an fl_client, for the files of this room only.
 */
#ifndef FL_PEER_CLIENT_H
#define FL_PEER_CLIENT_H

#include "peer/request.h"
#include "rpc/revision.h"
#include "transport/link.h"

#include <fairlead/client.h>

typedef enum fl_client_state {
    FL_CLIENT_OPENING,
    FL_CLIENT_INITIALIZING,
    FL_CLIENT_READY,
    FL_CLIENT_CLOSING
} fl_client_state;

struct fl_client {
    fl_link *link;
    fl_loop *loop;
    fl_client_events events;
    void *user;
    fl_requests requests;
    fl_client_state state;
    uint64_t timeout_ms;
    size_t max_requests; /* initialize, which may not wait, aside */
    size_t opening;      /* 1 while it is under way */
    char *name;
    char *version;
    const fl_revision *offered;
    const fl_revision *revision; /* agreed on; NULL until ready */
    fl_buf said;                 /* the server's InitializeResult */
    fl_error complaint;          /* what the server said about no request, for
                                    the case that it hangs up next */
    fl_error why;                /* why we close it; FL_OK: we were told to */
};

/* The link's on_message: answers, progress, notifications, requests. */
void fl_client_hear(fl_link *link, const fl_msg *msg, fl_reply reply);

#endif
