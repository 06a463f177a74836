/*
 * questions.h - what a legacy server wants to know, and waits for.
 *
 * Each is a request of the server's, under an id that only it knows. A modern
 * client sees them as inputRequests, by keys of ours, and comes back with
 * inputResponses some time later. No question stays open for ever: it is
 * answered, taken back, or refused.
 */
#ifndef FL_GATEWAY_QUESTIONS_H
#define FL_GATEWAY_QUESTIONS_H

#include "gateway/back.h"
#include "json/write.h"

enum { FL_QUESTIONS_MAX = 64, FL_QUESTIONS_TEXT = 64 * 1024 * 1024 };

typedef struct fl_question {
    fl_list node;
    fl_reply reply; /* to the server; its link is NULL: the question is ours */
    fl_method method;
    fl_span key;    /* without quotes; behind the struct */
    bool asked;     /* the client knows of it */
    fl_span id;     /* the server's; behind the struct */
    fl_span params; /* in the client's words; likewise, or empty */
} fl_question;

/* Owned by whoever embeds it. */
typedef struct fl_questions {
    fl_back *back;
    fl_list list; /* oldest first */
    unsigned count;
    unsigned keys; /* given out */
} fl_questions;

void fl_questions_init(fl_questions *questions, fl_back *back);
/* Refuses what is open. */
void fl_questions_deinit(fl_questions *questions);

/* One more, for a client of this revision; all is copied. `reply` without a
 * link: it is our own. FL_E_LIMIT, FL_E_NOMEM, FL_E_UNSUPPORTED. */
FL_MUST_USE fl_status fl_questions_add(fl_questions *questions,
                                       const fl_revision *revision,
                                       fl_method method, const fl_msg *msg,
                                       fl_reply reply);
FL_MUST_USE fl_status fl_questions_add_own(fl_questions *questions,
                                           const fl_revision *revision,
                                           fl_method method, fl_span params);

/* The server takes it back. True: it was one of these. */
bool fl_questions_withdraw(fl_questions *questions, fl_span id);

/* Writes {"k1":{"method":...,"params":...},...}: the client knows of them. */
void fl_questions_write(fl_questions *questions, fl_json_writer *writer);

/* Gives the server the answers, those of a client of this revision. How many
 * that the client knew of are still open. */
size_t fl_questions_give(fl_questions *questions, const fl_revision *revision,
                         fl_span answers);

/* What a client declared. 0: it can be asked that; or the code to refuse with.
 */
int fl_question_judge(fl_span capabilities, fl_method method, fl_span params);

#endif
