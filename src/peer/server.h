/*
 * server.h - the inside of an fl_server, for the files of this room only.
 */
#ifndef FL_PEER_SERVER_H
#define FL_PEER_SERVER_H

#include "base/list.h"
#include "io/timer.h"
#include "peer/tools.h"
#include "transport/link.h"
#include "json/write.h"

typedef enum fl_server_closing {
    FL_SERVER_OPEN,
    FL_SERVER_DOORS, /* shut; calls in flight are being answered */
    FL_SERVER_LINKS, /* being closed */
} fl_server_closing;

struct fl_server {
    fl_tools tools;
    fl_buf identity;    /* {"name":...,"version":...} */
    fl_buf opening;     /* of results of the modern era: session.h */
    fl_buf hello;       /* what InitializeResult says to all */
    fl_buf discovery;   /* DiscoverResult, but for its stamp */
    char *instructions; /* or NULL */
    fl_list doors;      /* listeners, open or closing */
    fl_list sessions;
    size_t links;
    uint16_t port;
    fl_task *on_idle;
    void *idle_user;
    fl_loop *loop; /* NULL until it listens */
    fl_server_closing closing;
    fl_timer timer; /* the next step of closing */
    fl_task *on_closed;
    void *closed_user;
};

/* A session's link has gone. */
void fl_server_left(fl_server *server);

/* A deferred call has been answered: perhaps it was the last we wait for. */
void fl_server_answered(fl_server *server);

/* `"capabilities":{...},"serverInfo":{...}` and so on, for initialize. */
FL_MUST_USE fl_status fl_server_hello(fl_server *server, fl_span *hello);

/* The object server/discover is answered with. */
FL_MUST_USE fl_status fl_server_discovery(fl_server *server,
                                          fl_span *discovery);

/* The revisions a claim can name, as a list. Legacy ones it cannot. */
void fl_server_write_versions(fl_json_writer *writer);

#endif
