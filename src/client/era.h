/*
 * era.h - what a server's answer to server/discover says about its era.
 *
 * Pure reading: an answer goes in, a sign comes out, and client_agree.c does
 * what follows from it.
 */
#ifndef FL_CLIENT_ERA_H
#define FL_CLIENT_ERA_H

#include "rpc/revision.h"

#include <fairlead/client.h>

typedef enum fl_sign {
    FL_SIGN_MODERN,      /* it speaks `revision`, and told about itself */
    FL_SIGN_MODERN_BARE, /* it is modern, but did not tell more */
    FL_SIGN_REPEAT,      /* it wants to be asked in `revision` */
    FL_SIGN_STRANGER,    /* it speaks `versions`, none of which we do */
    FL_SIGN_LEGACY,      /* open it by initialize */
    FL_SIGN_DENIED,      /* no sign of an era: HTTP does not let us in */
    FL_SIGN_UNAVAILABLE, /* no sign either: try again later */
} fl_sign;

typedef struct fl_reading {
    fl_sign sign;
    const fl_revision *revision;
    fl_span versions; /* raw JSON of what it said it speaks; or empty */
} fl_reading;

/* `answer` is a result or an error of the server's; `http` its status, where
 * it has one that matters, otherwise FL_HTTP_NONE. */
fl_reading fl_era_read(const fl_answer *answer, int http);

enum { FL_HTTP_NONE = -1 };

/*
 * The HTTP status behind an error that a transport made up for a response
 * that was no message: data.httpStatus. 0: there was no response at all.
 * FL_HTTP_NONE: the error is a message, and the server's own.
 */
int fl_era_http_status(fl_span error);

/* A refusal that a server of this era, spoken to in its own way, would have
 * put into words: perhaps it is not of this era. */
bool fl_era_is_doubt(int http);

/* Why we cannot speak with a server of these versions (raw JSON, an array);
 * `modern` and `legacy`, which may be NULL, are what we speak. */
void fl_era_explain(fl_error *why, fl_span versions, const fl_revision *modern,
                    const fl_revision *legacy);

#endif
