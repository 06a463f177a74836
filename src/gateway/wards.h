/*
 * wards.h - tasks at a legacy server, whose modern clients ask for them.
 *
 * A modern client asks for the state of a task and is told, with it, what came
 * of it or what the server wants to know. A legacy server tells that in other
 * ways: by tasks/result, and by questions. What it told is kept here, for the
 * next time that the client asks.
 */
#ifndef FL_GATEWAY_WARDS_H
#define FL_GATEWAY_WARDS_H

#include "gateway/questions.h"

enum { FL_WARDS_MAX = 1024 };

typedef struct fl_ward fl_ward;

typedef struct fl_wards {
    fl_back *back;
    fl_list list; /* oldest first */
    unsigned count;
} fl_wards;

void fl_wards_init(fl_wards *wards, fl_back *back);
void fl_wards_deinit(fl_wards *wards);
/* The server forgets what it asked. */
void fl_wards_down(fl_wards *wards);

/* The server has made `task`, an object, of the errand's call. False: it
 * cannot be kept. */
bool fl_wards_add(fl_errand *errand, fl_span task);

/* tasks/get, tasks/cancel or tasks/update. True: it has been answered. */
bool fl_wards_take(fl_errand *errand, const fl_msg *msg);
/* What the server says to that. True: it has been answered, or waits. */
bool fl_wards_answer(fl_errand *errand, const fl_msg *msg);

/* A question that names a task. True: it is one of these, and taken. */
bool fl_wards_hear(fl_wards *wards, fl_span task, const fl_msg *msg,
                   fl_reply reply);
bool fl_wards_withdraw(fl_wards *wards, fl_span id);

#endif
