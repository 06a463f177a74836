/*
 * call.h - the inside of an fl_call, for the files of this room only.
 *
 *   call.c            its life: run, answered, deferred, cancelled
 *   call_arguments.c  what came with it
 *   call_client.c     who sent it, and what that one can do
 *   call_content.c    an answer in parts: content.h
 *   call_ask.c        asking the client back
 *   call_log.c        progress and log on the way
 *   task_call.c       becoming a task
 *   task_tell.c       what becomes of that
 */
#ifndef FL_SERVER_CALL_H
#define FL_SERVER_CALL_H

#include "server/catalog.h"
#include "server/session.h"

#include <fairlead/server.h>

typedef struct fl_call_string fl_call_string;
typedef struct fl_content fl_content; /* call_content.c */
typedef struct fl_asking fl_asking;   /* call_ask.c */
typedef struct fl_job fl_job;         /* tasks.h */

typedef enum fl_call_kind {
    FL_CALL_TOOL,
    FL_CALL_READ,
    FL_CALL_PROMPT,
    FL_CALL_COMPLETION,
} fl_call_kind;

struct fl_call {
    fl_return to;
    fl_call_kind kind;
    const fl_msg *msg; /* the link's, until deferred; then a copy behind it */
    fl_span arguments; /* in the message, or kept with the call */
    fl_entry *entry;   /* what it is about; a reference is held */
    fl_call_fn *run;   /* the entry's handler that answers it */
    fl_call_string *strings; /* what had to be made of the message */
    fl_content *content;     /* what was added so far, or NULL */
    fl_asking *asking;       /* questions and answers, or NULL */
    fl_job *job;             /* whose result this will be, or NULL */
    fl_job *awaits;          /* whose result it waits for, or NULL */
    size_t kept;             /* bytes of the message and of what the client
                                answered, if deferred */
    fl_list node;            /* among the session's, if deferred */
    fl_call_fn *on_cancel;
    void *cancel_user;
    bool deferred;
    bool running; /* once more, having been deferred: freed when it is done */
    bool parked;  /* in that run the handler said that it answers later */
    bool ended;
    bool cancelled;
    bool replied;  /* its reply has ended: what the handler says goes nowhere */
    bool detached; /* answered by a task: it holds no link */
    bool starved;  /* there was no memory for its answer */
    fl_span fault; /* what is wrong with it, as far as is known; or empty */
};

/* Memory that goes with the call; NULL when there is none, or the call has
 * ended. */
FL_MUST_USE fl_buf *fl_call_keep(fl_call *call);
/* What was kept goes. */
void fl_call_free_strings(fl_call *call);

/* Its arguments are these, and not those of the message; a copy of them goes
 * with it. False: there is no memory, and the call has been answered. */
FL_MUST_USE bool fl_call_keep_arguments(fl_call *call, fl_span arguments);

/* The meaning of a raw string, good as long as fl_call_text() is. {NULL, 0}
 * when it is no string, or there is no memory. */
fl_span fl_call_meaning(fl_call *call, fl_span token);

/* Has the call fail, in the end, with what is wrong; the first fault counts.
 * Of the code of an invalid request unless the call is faultless otherwise. */
void fl_call_blame(fl_call *call, fl_span fault);

/* Asked to be told of progress: a raw token, or empty. */
fl_span fl_call_progress_token(const fl_call *call);

/* What the client has said of itself: raw JSON, with this request or with its
 * initialize. */
fl_span fl_call_capabilities(const fl_call *call);

/* How a call begins. All is borrowed; `arguments` may be kept with it. */
typedef struct fl_call_start {
    const fl_return *to;
    const fl_msg *msg;
    fl_call_kind kind;
    fl_entry *entry;
    fl_call_fn *run; /* NULL: the entry's */
} fl_call_start;

void fl_call_init(fl_call *call, const fl_call_start *start);

/* Runs the handler. It is answered, or deferred, on return, and `call`, which
 * need not outlive this, is used up. */
void fl_call_run(fl_call *call);

/* Runs a deferred call's handler once more. */
void fl_call_rerun(fl_call *call);

/* The answer: `result` is the inside of a whole result, JSON. */
void fl_call_end_result(fl_call *call, fl_span result);
void fl_call_end_error(fl_call *call, int code, fl_span message, fl_span data);
/* `parts` is the whole response; none: there is none. */
void fl_call_end_whole(fl_call *call, const fl_span *parts, size_t count);
/* With what call->fault says. */
void fl_call_end_fault(fl_call *call);

/* The client cancelled it, or went: the handler is told. `call` may have been
 * answered, and so be gone, on return. */
void fl_call_cancel(fl_call *call);

/* call_content.c: gone, or moved to the heap with the call it belongs to. */
void fl_content_free(fl_content *content);
/* The tool failed, and what was added before is the model's to read, too. */
void fl_content_fail(fl_call *call, fl_span text);

/* task_call.c: whether this call could be answered by a task. */
bool fl_jobs_possible(const fl_call *call);

/* call_ask.c */
void fl_asking_free(fl_asking *asking);
/* What the request brings of answers and state. False: refused, and said so.
 */
FL_MUST_USE bool fl_asking_begin(fl_call *call);
/* The handler has said what it wants to know, and not yet asked. */
bool fl_asking_is_open(const fl_call *call);
/* It has asked, and knew the answers already: it is to be run again, now. */
bool fl_asking_is_answered(fl_call *call);
/* It has asked, and is to be run again when the client has answered. */
bool fl_asking_is_waiting(const fl_call *call);
/* A response to a question of ours; ignored if it is to none. */
void fl_asking_hear(fl_session *session, const fl_msg *msg);
/* There is room again for questions that have not left. */
void fl_asking_resume(fl_session *session);
/* The client will say no more: what it was asked is settled without it. */
void fl_asking_give_up(fl_session *session);
/* Nobody will answer: cancels what was asked for this call. */
void fl_asking_cancel(fl_call *call);
/* For tasks: the object inputRequests, with what is not answered yet. */
FL_MUST_USE fl_status fl_asking_write(const fl_call *call, fl_buf *out);
/* The object inputResponses of the client: keys that were not asked for, and
 * answers that are not as they have to be, are ignored. True: that was the
 * last, and the handler may be run again. */
FL_MUST_USE bool fl_asking_take(fl_call *call, fl_span responses);
/* Sends what is not answered yet as requests of ours (legacy), on this reply;
 * `task`, if not empty, is the id of the task they are about. The handler is
 * run again when the last one is answered. Sent on one reply they may be sent
 * again on another, for the first may have gone; without a link they wait for
 * that. FL_E_STATE, FL_E_LIMIT, FL_E_NOMEM. */
FL_MUST_USE fl_status fl_asking_send(fl_call *call, fl_reply reply,
                                     fl_span task);

/* task_tell.c: a call that is a task has asked, or its questions are answered
 * and it goes on. */
void fl_job_asks(fl_call *call);
void fl_job_goes_on(fl_call *call);
/* Its result, which is kept for who asks for it: JSON, an object; or error. */
void fl_job_result(fl_call *call, fl_span result);
void fl_job_error(fl_call *call, int code, fl_span message, fl_span data);

/* Whether a gateway of ours stands between us and the client: rpc/carry.h. */
bool fl_call_is_carried(const fl_call *call);

#endif
