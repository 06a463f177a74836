/*
 * credentials.h - how a client shows that it may, as the transports see it.
 *
 * An fl_auth puts fields into requests, and is told what was said to them. A
 * request that was refused for want of authorization did not run, so it can be
 * sent again: it waits until the fl_auth says that it is worth while. Where
 * tokens come from is no business of this room (src/auth knows).
 *
 * One fl_auth is for one server: what it holds is shown to nobody else.
 */
#ifndef FL_TRANSPORT_CREDENTIALS_H
#define FL_TRANSPORT_CREDENTIALS_H

#include "base/list.h"
#include "wire/http.h"

#include <fairlead/auth.h>
#include <fairlead/loop.h>
#include <fairlead/options.h>

/* Somebody who waits, embedded in him; in no list when he does not. */
typedef struct fl_auth_wait {
    fl_list node;
    /* Once: `why` NULL, go on; otherwise it was in vain. Always later. */
    void (*fn)(void *user, const fl_error *why);
    void *user;
} fl_auth_wait;

/* The fields of one request. Values lie in `text`. */
typedef struct fl_auth_fields {
    fl_field fields[2];
    size_t count;
    fl_buf text;
    unsigned serial; /* of the token that was shown; 0: none */
} fl_auth_fields;

/* What a server said to a request that it did not let in. */
typedef struct fl_auth_refusal {
    unsigned status;      /* 401, 403 */
    fl_span challenge;    /* WWW-Authenticate, all of it */
    unsigned serial;      /* of the token it was shown */
    unsigned tries;       /* how often this request was sent */
    const char *revision; /* spoken on the link; NULL: not known yet */
} fl_auth_refusal;

typedef struct fl_auth_ops {
    /* A link is going to use it, for requests to `url`. FL_E_INVALID: it is
     * another server's. */
    fl_status (*attach)(fl_auth *auth, fl_loop *loop, fl_span url,
                        const fl_options *options, fl_error *error);
    void (*detach)(fl_auth *auth);

    /* Whether anything should be sent now. FL_AGAIN: later, `wait` is told. */
    fl_status (*ready)(fl_auth *auth, fl_auth_wait *wait);

    /* Writes the fields of a request; fl_auth_fields_deinit() them. */
    fl_status (*sign)(fl_auth *auth, fl_span method, fl_span target,
                      fl_auth_fields *out);

    /* Whether somebody on this side is being asked, and takes his time. NULL:
     * never. */
    bool (*is_asking)(const fl_auth *auth);

    /* The head of each response to such a request. */
    void (*heard)(fl_auth *auth, const fl_head *head);

    /* FL_OK: send it again. FL_AGAIN: when `wait` is told to. Below zero: it
     * will not be let in; FL_E_UNSUPPORTED: this is no matter of credentials,
     * take the answer as it is. */
    fl_status (*refused)(fl_auth *auth, const fl_auth_refusal *refusal,
                         fl_auth_wait *wait, fl_error *why);
} fl_auth_ops;

/* The common part, first in whatever implements it. */
struct fl_auth {
    const fl_auth_ops *ops;
};

/* What one request shows, try after try, and what was said to it. Embedded in
 * whoever makes the request; without an fl_auth it is in nobody's way. */
typedef struct fl_badge {
    fl_auth *auth; /* NULL: none */
    fl_auth_wait wait;
    fl_buf challenge; /* WWW-Authenticate, of the last response */
    unsigned serial;
    unsigned tries;
} fl_badge;

void fl_badge_init(fl_badge *badge, fl_auth *auth,
                   void (*fn)(void *user, const fl_error *why), void *user);
void fl_badge_deinit(fl_badge *badge);
/* Nothing is waited for any more. */
void fl_badge_rest(fl_badge *badge);

/* As the operations of the same name. */
FL_MUST_USE fl_status fl_badge_ready(fl_badge *badge);
FL_MUST_USE fl_status fl_badge_sign(fl_badge *badge, fl_span method,
                                    fl_span target, fl_auth_fields *out);
void fl_badge_heard(fl_badge *badge, const fl_head *head);
FL_MUST_USE fl_status fl_badge_refused(fl_badge *badge, unsigned status,
                                       const char *revision, fl_error *why);

void fl_auth_fields_init(fl_auth_fields *fields);
/* Wiped. */
void fl_auth_fields_deinit(fl_auth_fields *fields);

#endif
