/*
 * watches.h - resources of a legacy server that modern clients listen to.
 *
 * A listen of a modern client names its resources once; a legacy server is
 * subscribed to each by a request of its own. Each is subscribed to once for
 * all who listen, and no more when the last of them has gone.
 */
#ifndef FL_GATEWAY_WATCHES_H
#define FL_GATEWAY_WATCHES_H

#include "gateway/back.h"

enum { FL_WATCHES_MAX = 4096, FL_WATCHES_PATIENCE_MS = 5000 };

typedef struct fl_watch fl_watch;

/* One who listens. Owned by whoever embeds it. */
typedef struct fl_watcher {
    fl_list node;
    fl_watch *watch; /* NULL: it was refused, or there is none yet */
    bool granted;
    bool due; /* it is to be told of a change, when there is room */
    void *user;
} fl_watcher;

/* A watcher's subscription has been granted, or refused. */
typedef void fl_watches_fn(void *user);

typedef struct fl_watches {
    fl_back *back;
    fl_map by_uri;
    fl_watches_fn *on_settled;
} fl_watches;

void fl_watches_init(fl_watches *watches, fl_back *back,
                     fl_watches_fn *on_settled);
void fl_watches_deinit(fl_watches *watches);

/* `uri` is a raw token, and copied. FL_OK: it is granted; FL_AGAIN: `user` of
 * `watcher` will be told. Below 0: it is refused. */
FL_MUST_USE fl_status fl_watches_join(fl_watches *watches, fl_watcher *watcher,
                                      fl_span uri);
/* Harmless when it has not joined. */
void fl_watches_leave(fl_watches *watches, fl_watcher *watcher);

/* The server was started again: all is asked for once more. */
void fl_watches_again(fl_watches *watches);

/* The raw token of what is watched. */
fl_span fl_watch_uri(const fl_watch *watch);

/* Whether a change of `uri` is one of what is watched: the same, or below it.
 */
bool fl_watch_covers(const fl_watch *watch, fl_span uri);

#endif
