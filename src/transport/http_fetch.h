/*
 * http_fetch.h - one HTTP exchange with any URL, for somebody who is no link.
 *
 * A document is fetched, a form is posted, and that is all: a connection of
 * its own, no redirect followed, a body that has a maximum, one time limit for
 * the whole of it. TLS is verified as the caller's fl_tls says, and the proxy
 * variables are heeded as the client heeds them.
 */
#ifndef FL_TRANSPORT_HTTP_FETCH_H
#define FL_TRANSPORT_HTTP_FETCH_H

#include "io/tls.h"
#include "wire/field.h"

#include <fairlead/loop.h>

typedef struct fl_fetch fl_fetch;

enum {
    FL_FETCH_WANTS = 4, /* fields of the answer one may ask for */
    FL_FETCH_URL = 8 * 1024,
};

typedef enum fl_fetch_plain {
    FL_FETCH_SECURE,   /* https:// alone */
    FL_FETCH_LOOPBACK, /* http:// to this very machine, too */
    FL_FETCH_ANY,      /* whatever it is */
} fl_fetch_plain;

typedef struct fl_fetch_request {
    fl_span method; /* GET or POST; kept */
    fl_span url;
    const fl_field *fields; /* names in lower case */
    size_t count;
    fl_span body;
    const char *want[FL_FETCH_WANTS]; /* names, in lower case; kept */
    fl_tls *tls;                      /* for https://; shared */
    fl_fetch_plain plain;
    bool no_proxy;
    size_t max_body;     /* 0: 256 KiB */
    uint64_t timeout_ms; /* 0: 30000 */
} fl_fetch_request;

/* Good for the call it comes with. */
typedef struct fl_fetch_answer {
    unsigned status; /* 0: there was no answer, and `why` says so */
    fl_span body;
    fl_span value[FL_FETCH_WANTS]; /* the first of each, {NULL, 0}: none */
    const fl_error *why;           /* what went wrong, or NULL */
} fl_fetch_answer;

typedef void fl_fetch_fn(void *user, const fl_fetch_answer *answer);

/*
 * Everything in `request` is copied, but for what is said to be kept. `fn`
 * comes exactly once, always later, unless it is cancelled; then the fetch is
 * gone. FL_E_INVALID: no URL. FL_E_DENIED: it would travel in the clear.
 */
FL_MUST_USE fl_status fl_fetch_start(fl_loop *loop,
                                     const fl_fetch_request *request,
                                     fl_fetch_fn *fn, void *user,
                                     fl_fetch **out, fl_error *error);

/* No call comes any more; the loop sees to the rest. NULL is fine. */
void fl_fetch_cancel(fl_fetch *fetch);

/* Whether a URL may be asked under `plain`; the error says why not. */
FL_MUST_USE fl_status fl_fetch_check(fl_span url, fl_fetch_plain plain,
                                     fl_error *error);

#endif
