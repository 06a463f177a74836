/*
 * introductions.h - what clients say of themselves at initialize, kept once
 * for all that say the same, by a server as by the gateway.
 *
 * A server's clients are many, and of few makes: ten thousand of one make say
 * ten thousand times the same few hundred bytes. Who says something new is
 * remembered in a table; who says what is there already shares it. When the
 * last that shares it has gone, it goes.
 *
 * Sharing is a saving and never a condition: whatever keeps a text out of the
 * table (it is full, there is no memory for it) gives its client one of its
 * own.
 */
#ifndef FL_SERVER_INTRODUCTIONS_H
#define FL_SERVER_INTRODUCTIONS_H

#include "base/map.h"

enum {
    FL_INTRODUCTION_MAX = 16 * 1024 * 1024, /* bytes of one */
    FL_INTRODUCTIONS_SHARED = 1024,         /* different ones in the table */
};

typedef struct fl_introduction fl_introduction;

/* Owned by whoever embeds it. Fields are private to introductions.c. */
typedef struct fl_introductions {
    fl_map by_digest;
    uint64_t seed[2]; /* of the digests, once `seeded` */
    bool seeded;
} fl_introductions;

/* Allocates nothing. */
void fl_introductions_init(fl_introductions *all);

/* Those that somebody still has stay with them. */
void fl_introductions_deinit(fl_introductions *all);

/* The text, which is copied if it is new, to be let go of by who asked for it.
 * FL_E_TOO_BIG or FL_E_NOMEM: `out` is NULL. */
FL_MUST_USE fl_status fl_introductions_take(fl_introductions *all, fl_span text,
                                            fl_introduction **out);

/* Good until it is let go of; {NULL, 0} for NULL. */
fl_span fl_introduction_text(const fl_introduction *introduction);

/* Harmless with NULL. */
void fl_introduction_release(fl_introduction *introduction);

#endif
