/*
 * whose.h - whose it is what a server says and does not say to whom: its log,
 * and its last words on stderr.
 *
 * On a conversation that several clients share, a message of the log is given
 * to a client only if it can be nobody else's: the transport says which call it
 * is about; or that client alone has requests under way, and no other's has
 * ended just now, for a log may trail its call; or nothing is under way, and
 * that client alone is there. All else is withheld, and counted.
 *
 * A client is a conversation or a connection. Modern requests over HTTP know
 * of no other and may come by many connections, or by a proxy's with those of
 * many: while they are under way each is a client of its own. Of what has ended
 * over HTTP, requests or sessions, all of one user's that followed each other
 * are one client's; those that ran side by side are not.
 */
#ifndef FL_GATEWAY_WHOSE_H
#define FL_GATEWAY_WHOSE_H

#include "gateway/errand.h"

enum {
    FL_WHOSE_TRAIL_MS = 2000,  /* what a log may come after its answer */
    FL_WHOSE_STRAY_MS = 60000, /* ... after nobody wants an answer any more */
};

/* Somebody whose requests may still be told of in the log: a client, or over
 * HTTP a user, whose sessions and connections follow each other. */
typedef struct fl_trail {
    uint64_t client; /* 0: nobody */
    uint64_t until_ms;
    uint64_t ended_ms; /* when the last of them did, */
    uint64_t newest;   /* and the newest request that there was then */
    uint64_t front;    /* whose they are all, by its number; 0: several's */
} fl_trail;

/* What a back remembers of those who have used it. */
typedef struct fl_users {
    fl_trail trails[2]; /* the longest, and the longest but for that client */
    uint64_t only;      /* the user who has asked this server something; 0:
                           nobody has */
    bool many;          /* ... several have */
    bool several;       /* clients have, of one user or of many */
    uint64_t newest;    /* request that was sent, by its number */
    uint64_t client;    /* the last of them */
    uint64_t front;     /* one of them, by its number, */
    uint64_t user;      /* and who that is */
} fl_users;

typedef struct fl_whose {
    fl_front *front;   /* NULL: nobody's, as far as we can tell */
    fl_errand *errand; /* a request of that client's, or NULL */
} fl_whose;

/* An errand has been sent; nobody waits for it any more; it goes. */
void fl_whose_sent(fl_errand *errand);
void fl_whose_stray(fl_errand *errand);
void fl_whose_ended(fl_errand *errand);
/* Another server is there, whom nobody has asked anything. */
void fl_whose_begins(fl_users *users);

/* Whose the message of the log is that is being heard. */
fl_whose fl_whose_log(fl_back *back);
/* It was nobody's. */
void fl_whose_withhold(const fl_back *back);

/* Whether the client of this errand may see what the server wrote to stderr:
 * nobody else has asked that server anything. */
bool fl_whose_words(const fl_errand *errand);
/* What it said last is cut off a reason that others are told, too. */
void fl_whose_hush(fl_error *why);

#endif
