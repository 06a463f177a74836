/*
 * front.h - one client of the gateway: a link, and what was said on it.
 *
 *   front.c         its messages, era by era; its end
 *   front_open.c    initialize, server/discover: what is said of the server
 *   front_tell.c    what changes, told to whom it concerns
 *
 * Requests of the modern era know of no other; a front is but their link. A
 * legacy conversation is opened by initialize and has a back of its own choice
 * from there on, its own or a shared one.
 */
#ifndef FL_GATEWAY_FRONT_H
#define FL_GATEWAY_FRONT_H

#include "base/map.h"
#include "gateway/errand.h"
#include "server/introductions.h"

#include <fairlead/call.h>

#include <assert.h>

typedef struct fl_route fl_route;

typedef enum fl_front_state {
    FL_FRONT_FRESH,
    FL_FRONT_OPENING, /* initialize waits for the server */
    FL_FRONT_OPENED,  /* ... was answered */
    FL_FRONT_READY,   /* ... and the client said so */
    FL_FRONT_OVER,
} fl_front_state;

/* Which back its latest modern request went to, and the key that it was found
 * by. */
typedef struct fl_recent {
    fl_back *back; /* or NULL */
    fl_buf key;
} fl_recent;

/* What a client has that was asked something, has subscribed to a resource, or
 * whose server is of the other era. */
typedef struct fl_front_more {
    fl_list questions;      /* of servers to its client, not answered yet */
    uint64_t last_question; /* its number */
    fl_introduction *claim; /* what a modern server is told of it, */
    fl_introduction *task_claim;   /* and if it is to know of tasks; or NULL */
    fl_map *watched;               /* URIs it has subscribed to, or NULL */
    struct fl_modern_cell *modern; /* to_modern.c's of it, or NULL */
} fl_front_more;

/* There is one for every client, and most clients are idle: what few of them
 * have is allocated when they have it, and what many of them say alike is kept
 * once (gateway->introductions). */
struct fl_front {
    fl_list node; /* among the route's */
    fl_route *route;
    uint64_t number; /* never another's, as its address may be */
    fl_link *link;   /* NULL once it has gone, and every reply with it */
    fl_list by_back; /* among those of its back */
    fl_back *back;   /* of its legacy conversation, or NULL */
    const fl_revision *revision; /* agreed on at initialize, or NULL */
    uint64_t principal;          /* the link's: the key it has shown, or 0 */
    fl_list errands;             /* oldest first */
    fl_introduction *params;     /* of its initialize, or NULL */
    fl_recent *recent;           /* or NULL */
    fl_front_more *more;         /* or NULL */
    unsigned in_flight;
    unsigned max_in_flight;
    unsigned changed;   /* lists it is to be told of: front_tell.c */
    uint8_t state;      /* fl_front_state */
    uint8_t traits;     /* the link's */
    uint8_t log_level;  /* fl_level it wants to hear from, */
    bool wants_log : 1; /* if it has said so */
    bool ended : 1; /* its client says no more, and so answers no question */
};

static_assert(sizeof(struct fl_front) <= 136, "an idle client stays small");

/* Takes the link over. FL_E_NOMEM: it is untouched. */
FL_MUST_USE fl_status fl_front_open(fl_route *route, fl_link *link,
                                    unsigned max_in_flight);

/* What few have, of this one. NULL: no memory. */
FL_MUST_USE fl_front_more *fl_front_get_more(fl_front *front);

/* front_open.c: initialize; and when its back can tell, the answer to it. */
void fl_front_initialize(const fl_asker *asker, const fl_msg *msg);
void fl_front_welcome(fl_errand *errand);
/* It was refused: the conversation has not begun. */
void fl_front_unwelcome(fl_front *front);
/* The answer to server/discover, in place of a legacy server. */
void fl_front_discover(fl_errand *errand);
/* Answers either from what the server said of itself earlier, while it is not
 * there. False: it is neither, or nothing is known. */
bool fl_front_recall(fl_errand *errand);

/* Its conversation is with this back from here on, until it leaves. */
FL_MUST_USE fl_status fl_front_join_back(fl_front *front, fl_error *why);
void fl_front_leave_back(fl_front *front);
/* If that has ended, it is with another. */
FL_MUST_USE fl_status fl_front_rejoin_back(fl_front *front, fl_error *why);

/* What a modern server is told of the client of a legacy conversation, in
 * _meta: an object. With `tasks`, that it knows of them. Empty: there is no
 * memory, or no conversation any more. */
fl_span fl_front_claim(fl_front *front, const fl_revision *revision,
                       bool tasks);
void fl_front_forget_claim(fl_front *front);

/* Its client's capability, as in "sampling", or {"elicitation","url"}. */
bool fl_front_can(const fl_front *front, fl_method method, fl_span params);

/* front_tell.c: tells it that a list changed, now or when there is room. */
void fl_front_changed(fl_front *front, fl_method notice);
/* There is room again. */
void fl_front_catch_up(fl_front *front);
/* One message that it can live without: it is lost when its client does not
 * read. */
void fl_front_say(fl_front *front, const fl_span *parts, size_t count);
/* What became of a notification to a client of this server's: if it was lost,
 * that is counted, and logged. */
void fl_front_missed(fl_route *route, fl_status rc);

/* Resources it has subscribed to. FL_E_LIMIT, FL_E_NOMEM. */
FL_MUST_USE fl_status fl_front_watch(fl_front *front, fl_span uri);
void fl_front_unwatch(fl_front *front, fl_span uri);
bool fl_front_watches(const fl_front *front, fl_span uri);
/* All of them, or NULL: it never had one. */
static inline const fl_map *fl_front_watched(const fl_front *front)
{
    return front->more != NULL ? front->more->watched : NULL;
}
void fl_front_forget_watched(fl_front *front);

/* What it listens to is over, and it is told so. */
void fl_front_end_listens(fl_front *front);

/* The gateway is closing: all it waits for is failed, and it is closed. */
void fl_front_shut(fl_front *front);

#endif
