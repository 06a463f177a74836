/*
 * taskers.h - which tools of a legacy server can be called as tasks only.
 *
 * 2025-11-25 says so in the list of tools; in 2026-07-28 it is the server that
 * decides, and the list does not say. So we have to know the list before a
 * call is sent: from what has passed by, or by asking for it.
 */
#ifndef FL_GATEWAY_TASKERS_H
#define FL_GATEWAY_TASKERS_H

#include "gateway/back.h"

enum { FL_TASKERS_MAX = 10000, FL_TASKERS_PAGES = 100 };

typedef struct fl_taskers {
    fl_map required; /* names, raw tokens */
    bool known;
    unsigned pages;   /* read so far */
    fl_errand *asked; /* for the next one, or NULL */
} fl_taskers;

void fl_taskers_init(fl_taskers *taskers);
void fl_taskers_deinit(fl_taskers *taskers);

/* A list of tools on its way to a client. */
void fl_taskers_learn(fl_errand *errand, const fl_msg *msg);
/* It is not what it was. */
void fl_taskers_forget(fl_back *back);

/* A call on its way out: it is marked as one that has to be a task. True: that
 * is not known yet, and it is held. */
bool fl_taskers_hold(fl_errand *errand);

/* Its client knows what to do with a task. */
bool fl_taskers_is_told(const fl_errand *errand);

#endif
