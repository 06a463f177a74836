/*
 * tasks.h - tasks of legacy clients at modern servers.
 *
 * A client of 2025-11-25 asks for a task; a modern server makes one if it likes
 * to, and answers at once otherwise. So some of a client's tasks are the
 * server's, which we ask it about; the others are done already, and ours.
 *
 *   tasks.c        what a client has of them, and its tasks/...
 *   task_words.c   what is said of them
 *   task_drive.c   waiting for one
 */
#ifndef FL_GATEWAY_TASKS_H
#define FL_GATEWAY_TASKS_H

#include "gateway/rounds.h"

/* Owned by whoever embeds it. Fields are private to tasks.c. */
typedef struct fl_tasks {
    fl_list kept; /* oldest first */
    size_t count;
} fl_tasks;

void fl_tasks_init(fl_tasks *tasks);
void fl_tasks_deinit(fl_tasks *tasks);

/* Whether the server is to be told that its client knows of tasks. */
bool fl_tasks_are_declared(const fl_errand *errand);

/* A request of the client's, tasks/... True: it is taken care of. */
bool fl_tasks_take(fl_tasks *tasks, fl_errand *errand);

/* An answer of the server's. True: it is not the last word. */
bool fl_tasks_answer(fl_tasks *tasks, fl_errand *errand, const fl_msg *msg);

/* task_words.c: a Task, created and updated now; `id` and `ttl` are tokens. */
FL_MUST_USE fl_status fl_tasks_state(fl_span id, const char *status,
                                     fl_span ttl, fl_buf *out);
/* An object, again, with the task in its _meta. */
FL_MUST_USE fl_status fl_tasks_relate(fl_span object, fl_span task,
                                      fl_buf *out);

/* task_drive.c: the errand is answered by what comes of this task. */
void fl_tasks_drive(fl_errand *errand, fl_span task);
void fl_tasks_poll(fl_rounds *rounds);
void fl_tasks_update(fl_rounds *rounds);
/* Nobody waits for it: if its client knows nothing of it, it is cancelled. */
void fl_tasks_call_off(fl_rounds *rounds);
/* It will not be known what became of it. */
void fl_tasks_lose(fl_errand *errand, const fl_error *why);

#endif
