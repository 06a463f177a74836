/*
 * server.h - the inside of an fl_server, for the files of this room only.
 */
#ifndef FL_SERVER_SERVER_H
#define FL_SERVER_SERVER_H

#include "base/list.h"
#include "io/seal.h"
#include "io/timer.h"
#include "server/catalog.h"
#include "server/introductions.h"
#include "server/offers.h"
#include "server/tasks.h"
#include "transport/link.h"
#include "json/write.h"

#include <fairlead/server.h>

typedef enum fl_server_closing {
    FL_SERVER_OPEN,
    FL_SERVER_DOORS, /* shut; calls in flight are being answered */
    FL_SERVER_LINKS, /* being closed */
} fl_server_closing;

enum { FL_SERVER_CATALOGS = FL_LIST_PROMPTS + 1 };

struct fl_server {
    fl_catalog catalogs[FL_SERVER_CATALOGS]; /* by fl_list_kind */
    fl_list mounts;                          /* directories of files: files.c */
    struct fl_skills *skills;                /* or NULL: skills.c */
    size_t page_size;
    fl_era era; /* that is served; FL_ERA_AUTO: both */
    uint64_t input_timeout_ms;
    fl_error error;  /* of the latest that could not be added */
    fl_seal_key key; /* of what clients carry for us */
    bool has_key;    /* otherwise it is made when it is needed */
    fl_buf identity; /* {"name":...,"version":...} */
    fl_buf opening;  /* of results of the modern era: session.h */
    fl_buf hellos[FL_CATALOG_LISTS]; /* what InitializeResult says to all of a
                                        revision, or DiscoverResult */
    char *instructions;              /* or NULL */
    fl_list doors;                   /* listeners, open or closing */
    fl_list sessions;
    fl_introductions introductions; /* of the clients that are here */
    fl_jobs jobs;
    size_t task_tools; /* tools whose calls may be tasks */
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

/* Says who it is; once. What it made is freed with the server, failed or not.
 */
FL_MUST_USE fl_status fl_server_name(fl_server *server, const char *name,
                                     const char *version);

/* What there is now; a session goes by what there was when it was opened. */
unsigned fl_server_offers(const fl_server *server);

/* What we say of ourselves is not true any more. */
void fl_server_forget_hello(fl_server *server);

/* A resource of ours goes, and nobody is told yet; harmless if it is not
 * there. */
void fl_server_unlist(fl_server *server, fl_span uri);

/* A session's link has gone. */
void fl_server_left(fl_server *server);

/* A deferred call has been answered: perhaps it was the last we wait for. */
void fl_server_answered(fl_server *server);

/* `"capabilities":{...},"serverInfo":{...}` and so on, for initialize. */
FL_MUST_USE fl_status fl_server_hello(fl_server *server,
                                      const fl_revision *revision,
                                      fl_span *hello);

/* The object server/discover is answered with. */
FL_MUST_USE fl_status fl_server_discovery(fl_server *server,
                                          const fl_revision *revision,
                                          fl_span *discovery);

/* The revisions a claim can name, as a list. Legacy ones it cannot. */
void fl_server_write_versions(fl_json_writer *writer);

#endif
