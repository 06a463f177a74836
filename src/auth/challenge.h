/*
 * challenge.h - what WWW-Authenticate asks for (RFC 9110 11.6.1).
 */
#ifndef FL_AUTH_CHALLENGE_H
#define FL_AUTH_CHALLENGE_H

#include <fairlead/types.h>

/* Of all challenges with a scheme we know, in one: a server that offers two
 * says the same with both. Slots are NULL when it does not say. */
typedef struct fl_challenge {
    bool bearer, dpop; /* which schemes are offered */
    char *metadata;    /* resource_metadata, a URL */
    char *scope;
    char *error;       /* "invalid_token", "insufficient_scope"... */
    char *description; /* for people; not to be trusted */
} fl_challenge;

/*
 * Reads the whole field; several of them are one with commas between. Other
 * schemes are passed over. What is broken ends the reading there, and what came
 * before it counts. FL_E_NOMEM.
 */
FL_MUST_USE fl_status fl_challenge_read(fl_span field, fl_challenge *out);
void fl_challenge_deinit(fl_challenge *challenge);

bool fl_challenge_error_is(const fl_challenge *challenge, const char *error);

#endif
