/*
 * asking.h - what a call asks of its client, for the files of this room only.
 *
 *   asking.c         the thing itself
 *   call_ask.c       what handlers say and see of it; the modern era
 *   ask_wants.c      what is asked for, in the words of the protocol
 *   ask_judge.c      whether an answer is as it has to be
 *   ask_seal.c       what the client carries from one round to the next
 *   ask_questions.c  requests of ours, and their answers: the legacy era
 *
 * A handler is run from its beginning in every round. What makes the rounds
 * one call is all in here: what it wants to know in this run, what it knows
 * from the earlier ones, and a few bytes of its own.
 */
#ifndef FL_SERVER_ASKING_H
#define FL_SERVER_ASKING_H

#include "base/buf.h"
#include "io/timer.h"
#include "server/call.h"

enum {
    FL_ASKING_WANTS = 32,          /* in one run */
    FL_ASKING_ROUNDS = 10,         /* of one call */
    FL_ASKING_OPEN = 1024,         /* questions of one session */
    FL_ASKING_SEALED = 256 * 1024, /* bytes of requestState */
    FL_ASKING_STATE = 128 * 1024,  /* of the handler's own */
};

typedef enum fl_want_kind {
    FL_WANT_FORM,
    FL_WANT_URL,
    FL_WANT_SAMPLE,
    FL_WANT_ROOTS,
} fl_want_kind;

/* One thing a handler wants to know. The texts lie behind it. */
typedef struct fl_want {
    fl_list node;   /* among its call's */
    fl_list listed; /* among its session's questions, while it is one */
    fl_asking *asking;
    uint64_t id; /* of our request; legacy */
    fl_want_kind kind;
    bool sent;
    bool answered;
    fl_span key;
    fl_span params; /* JSON, an object; empty: it was asked in another round */
    fl_span schema; /* of a form; JSON */
} fl_want;

/* One thing it has been told. */
typedef struct fl_known {
    fl_list node;
    fl_input input;
    fl_span key;
    fl_span content;
} fl_known;

struct fl_asking {
    fl_call *call;     /* set while it waits */
    fl_list wants;     /* of this run */
    unsigned count;    /* how many they are */
    fl_list knowns;    /* of all runs */
    fl_buf state;      /* the handler's */
    unsigned rounds;   /* begun */
    unsigned missing;  /* abilities wanted and not declared: a bit each */
    const char *fault; /* why nothing can be asked, or NULL */
    int code;          /* of that */
    bool waiting;      /* for the client; no handler is at work */
    bool at_hand;      /* all was answered as soon as it was asked for */
    fl_status sending; /* below 0: why a question did not leave */
    fl_reply reply;    /* that questions leave by; may have no link */
    fl_buf task;       /* they are about, or empty */
    fl_timer timer;    /* how long we wait */
};

/* The call's, made if there is none yet; NULL when there is no memory, or the
 * call has ended. */
fl_asking *fl_asking_of(fl_call *call);

/* Adds what is wanted; all is copied. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_asking_want(fl_asking *asking, fl_want_kind kind,
                                     fl_span key, fl_span params,
                                     fl_span schema);
fl_want *fl_asking_find(const fl_asking *asking, fl_span key);
/* They are asked for no more. */
void fl_asking_drop(fl_asking *asking);

/* What is known under this key is this; copied. FL_E_LIMIT: with all else that
 * is kept for the session it would be too much. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_asking_learn(fl_asking *asking, fl_span key,
                                      fl_input input, fl_span content);
const fl_known *fl_asking_known(const fl_asking *asking, fl_span key);

/* ask_wants.c */
const char *fl_want_method(fl_want_kind kind);
/* Appends {"elicitation":{"url":{}}} and so on: what the client would have to
 * have declared. */
FL_MUST_USE fl_status fl_asking_write_missing(const fl_call *call, fl_buf *out);

/* ask_judge.c: what an answer says, and its content, which is borrowed from
 * it. FL_INPUT_NONE: it is not as it has to be. */
fl_input fl_asking_judge(const fl_want *want, fl_span result, fl_span *content);

/* ask_questions.c: asks by requests of ours; the call is used up. */
void fl_asking_question(fl_call *used_up);
/* Nobody answered in time, or could be asked. */
void fl_asking_expire(fl_asking *asking);

/* ask_seal.c: appends the text of requestState. FL_E_TOO_BIG, FL_E_NOMEM,
 * FL_E_IO. */
FL_MUST_USE fl_status fl_asking_seal(const fl_call *call, fl_buf *out);
/* Fills the call's asking with what was sealed: the wants it had, not answered.
 * FL_E_DENIED: it is not ours, or of another request; FL_E_TIMEOUT: it is too
 * old; FL_E_NOMEM. */
FL_MUST_USE fl_status fl_asking_unseal(fl_call *call, fl_span text);

#endif
