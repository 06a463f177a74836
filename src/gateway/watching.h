/*
 * watching.h - what a legacy client is told of without asking, by a modern
 * server.
 *
 * A legacy client subscribes to resources one by one, and hears of changed
 * lists without a word. A modern server tells of either only on a listen, and
 * what a listen is about is said when it is opened. So there are two for each
 * client: one for its lists, and one for its resources, which is replaced by
 * another whenever it subscribes to one more, or one less.
 */
#ifndef FL_GATEWAY_WATCHING_H
#define FL_GATEWAY_WATCHING_H

#include "gateway/back.h"

typedef struct fl_watch fl_watch;

/* Owned by whoever embeds it. Fields are private to watching.c. */
typedef struct fl_watching {
    fl_front *front;
    bool lists;      /* else resources */
    bool hopeless;   /* the server has no such thing */
    fl_watch *open;  /* acknowledged, or NULL */
    fl_watch *next;  /* not yet, or NULL */
    fl_list waiting; /* subscribe and unsubscribe, for the one after */
    fl_list asked;   /* those that `next` is for */
    fl_timer timer;  /* to the next listen */
    fl_backoff backoff;
} fl_watching;

void fl_watching_init(fl_watching *watching, fl_front *front, bool lists);
void fl_watching_deinit(fl_watching *watching);

/* resources/subscribe or unsubscribe; it is answered in time, or now. */
void fl_watching_takes(fl_watching *watching, fl_errand *errand);

/* The server is ready, again perhaps. */
void fl_watching_resume(fl_watching *watching);

/* watch_words.c: whether there is anything to listen for, and whether the
 * server lets resources be subscribed to at all. */
bool fl_watching_is_wanted(const fl_watching *watching);
bool fl_watching_is_offered(const fl_watching *watching);
/* The params of a listen for that. */
FL_MUST_USE fl_status fl_watching_write(const fl_watching *watching,
                                        fl_buf *out);
/* Whether a URI is among those that were acknowledged. */
bool fl_watching_is_granted(fl_span granted, fl_span uri);
/* A resource was updated: without the name of a subscription that the client
 * knows nothing of. */
void fl_watching_tell(fl_front *front, const fl_msg *msg);

#endif
