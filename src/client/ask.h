/*
 * ask.h - the inside of an fl_ask: one question of the server's.
 *
 *   ask.c            what it is, and how it is answered
 *   client_asked.c   how it comes from a legacy server, and which ones may
 *   client_rounds.c  the same for a modern one
 *
 * It belongs to whoever answers it. As long as somebody waits for the answer
 * it is in its client's list, too.
 */
#ifndef FL_CLIENT_ASK_H
#define FL_CLIENT_ASK_H

#include "client/request.h"

typedef enum fl_ask_kind {
    FL_ASK_UNKNOWN,
    FL_ASK_SAMPLE,
    FL_ASK_FORM,
    FL_ASK_URL,
    FL_ASK_ROOTS,
} fl_ask_kind;

struct fl_ask {
    fl_list node;
    fl_client *client;   /* NULL: nobody waits any more */
    fl_request *request; /* which it is input for; NULL: a legacy server's */
    fl_ask_kind kind;
    bool shown;   /* the handler has it */
    fl_buf text;  /* name, method, params */
    size_t named; /* the raw token of its id, or of its key among the inputs */
    size_t method_len;
    fl_buf message;
    fl_buf url;
    fl_ask_fn *on_cancel;
    void *user;
};

/* What a client has been asked. */
typedef struct fl_asked {
    fl_list list;
    size_t count, max;
} fl_asked;

/* It is last in the client's list, and not shown yet. FL_E_NOMEM. `params` is
 * valid JSON. */
typedef struct fl_question {
    fl_ask_kind kind;
    fl_span name, method, params;
} fl_question;

FL_MUST_USE fl_status fl_ask_new(fl_client *client, fl_request *request,
                                 const fl_question *question);

/* Calls the handler. */
void fl_ask_show(fl_ask *ask);

/* Nobody waits for it any more. */
void fl_ask_withdraw(fl_ask *ask);

static inline fl_span fl_ask_name(const fl_ask *ask)
{
    return (fl_span){fl_buf_view(&ask->text).ptr, ask->named};
}

#endif
