/*
 * keys.h - which key a client shows, and whether it still is one.
 *
 * A key is known by a number that is never another's, also when keys come and
 * go, and in no other fl_keys: it stands for the user.
 */
#ifndef FL_GUARD_KEYS_H
#define FL_GUARD_KEYS_H

#include "base/list.h"

#include <fairlead/keys.h>

enum { FL_KEYS_MAX = 1024, FL_KEYS_TEXT = 512 };

fl_keys *fl_keys_ref(fl_keys *keys);

/* The number of a key, or 0 if it is none. Takes as long for every text of
 * that length. */
uint64_t fl_keys_find(const fl_keys *keys, fl_span text);

/* Whether the key of that number is still one. */
bool fl_keys_has(const fl_keys *keys, uint64_t number);

/* For people: the how many-th it was, counted from 1. */
static inline uint32_t fl_keys_ordinal(uint64_t number)
{
    return (uint32_t)number;
}

/* Why a text cannot be a key, beginning with `where`; never the text. */
FL_MUST_USE fl_status fl_keys_check(fl_span text, const char *where,
                                    fl_error *error);

/* Called after each change, until it is let go. */
typedef struct fl_keys_watch {
    fl_list node;
    void (*changed)(void *user);
    void *user;
} fl_keys_watch;
void fl_keys_watch_begin(fl_keys *keys, fl_keys_watch *watch);
void fl_keys_watch_end(fl_keys_watch *watch);

#endif
