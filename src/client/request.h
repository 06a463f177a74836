/*
 * request.h - the requests of a client that have no answer yet.
 *
 * Each is found by its id, in a list by age, and ends exactly once: by its
 * answer, its timeout, its cancellation, or the end of the connection. What
 * it looks like on the wire depends on the server's era, which is not known
 * when it is made: so it keeps method and params, and becomes a message when
 * it is sent.
 *
 * It may take more than one message until it ends: the next page of a list, the
 * same again with input the server wanted, a look at how its task stands. Each
 * has an id of its own; the request has that of its first one.
 */
#ifndef FL_CLIENT_REQUEST_H
#define FL_CLIENT_REQUEST_H

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "io/timer.h"
#include "transport/link.h"

#include <fairlead/client.h>

typedef struct fl_request fl_request;
typedef struct fl_requests fl_requests;
typedef struct fl_pages fl_pages;
typedef struct fl_round fl_round;
typedef struct fl_follow fl_follow;

/* What is made of its answer, or in place of one. */
typedef enum fl_request_kind {
    FL_REQUEST_PLAIN,
    FL_REQUEST_SUBSCRIBE,
    FL_REQUEST_UNSUBSCRIBE,
    FL_REQUEST_LEVEL, /* logging/setLevel */
} fl_request_kind;

/* What its timer is for. */
typedef enum fl_request_wait {
    FL_WAIT_ANSWER, /* the server's silence, and the limit in all */
    FL_WAIT_INPUT,  /* the limit in all: it is our side's turn */
    FL_WAIT_PAUSE,  /* the next message is due when it ends */
    FL_WAIT_END,    /* the answer is known, and comes later */
} fl_request_wait;

struct fl_request {
    fl_list node;
    fl_requests *owner;
    uint64_t id;    /* of its first message, and for fl_client_cancel() */
    char token[24]; /* the id of the one on the wire */
    fl_request_kind kind;
    const char *capability; /* needed of the server; or NULL */
    fl_buf text;            /* the method, then its params, if any */
    size_t method_len;
    fl_buf extra; /* members its params get when it is sent; or empty */
    fl_timer timer;
    uint64_t started_ms;
    fl_request_options options; /* defaults filled in */
    fl_answer_fn *on_answer;
    void *user;
    fl_request_wait wait;
    fl_pages *pages;     /* of a list; or NULL */
    fl_round *round;     /* input that is being gathered; or NULL */
    fl_follow *follow;   /* the task it has become; or NULL */
    unsigned rounds;     /* how often the server had questions */
    bool resumes;        /* carries input, or a state, of the server's */
    uint64_t pause_ms;   /* the last one, which grows */
    uint64_t cache_mark; /* what was known of changes when it was sent */
    bool own;            /* the client's, to open or to listen: never waits */
    bool sent;           /* and not taken back */
    bool held;           /* not to be sent until somebody lets go of it */
    bool keeps;          /* its text may be needed after it was sent */
    bool repeats;    /* it changes nothing: may be sent again after an outage */
    bool cached;     /* its answer is from the cache */
    bool claims;     /* says which revision it is of, as modern ones do */
    bool taken_back; /* it was sent and did not run; once is enough */
    unsigned batch;  /* a wish's: client_listen.c */
    unsigned sent_in; /* which agreement of the client's */
    fl_status ending; /* not FL_OK: the timer ends it with this */
    bool explained;   /* and why is in its text */
    bool spared;      /* its time ran out while it could not leave */
};

/* As many as a link takes at once. */
enum { FL_REQUEST_PARTS = FL_LINK_PARTS };

typedef struct fl_requests_events {
    /* Nobody waits for it any more (timeout): tell the server. */
    void (*on_abandoned)(fl_requests *requests, fl_request *request);
    /* Its pause is over. */
    void (*on_due)(fl_requests *requests, fl_request *request);
    /* It is known what it ends with: a result, in its text. */
    void (*on_known)(fl_requests *requests, fl_request *request);
    /* It goes: what hangs on it does so, too. */
    void (*on_dropped)(fl_requests *requests, fl_request *request);
    /* Whether none of them gets to the server, for somebody on our side is
     * asked first. */
    bool (*is_asking)(fl_requests *requests);
} fl_requests_events;

/* Owned by whoever embeds it. */
struct fl_requests {
    fl_client *client;
    fl_loop *loop;
    const fl_requests_events *events;
    fl_list list; /* all of them, oldest first */
    fl_map by_token;
    uint64_t last_id;
    size_t patience; /* reasons for which the server may be silent */
};

void fl_requests_init(fl_requests *requests, fl_client *client, fl_loop *loop,
                      size_t max, const fl_requests_events *events);
/* There must be none left. */
void fl_requests_deinit(fl_requests *requests);

/* A name that needs no escapes, as all method names do. */
bool fl_request_method_ok(const char *method);

/* FL_BUSY at the maximum, FL_E_NOMEM, FL_E_INVALID: params is no object. */
FL_MUST_USE fl_status fl_request_new(fl_requests *requests, const char *method,
                                     fl_span params,
                                     const fl_request_options *options,
                                     fl_request **out);

/* By the id on the wire; by that of the first message. */
fl_request *fl_requests_find(const fl_requests *requests, fl_span token);
fl_request *fl_requests_find_first(const fl_requests *requests, uint64_t id);

/* It gets a new id for its next message, and is not sent. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_request_renew(fl_request *request);

/* The same, with another method and other params from now on. */
FL_MUST_USE fl_status fl_request_become(fl_request *request, const char *method,
                                        fl_span params);

/* What its timer is for, from now on; `ms` is the length of a pause. */
void fl_request_await(fl_request *request, fl_request_wait wait, uint64_t ms);

/* Ends it with this result, later. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_request_know(fl_request *request, fl_span result);
/* That result, for on_known: the caller's from now on. */
fl_buf fl_request_take_known(fl_request *request);

/* Both as they were given. */
fl_span fl_request_method(const fl_request *request);
fl_span fl_request_params(const fl_request *request);

/* The message, in parts to be sent one after the other. `claim` is raw members
 * for its _meta, or empty. Borrows from both. */
size_t fl_request_compose(const fl_request *request, fl_span claim,
                          fl_span parts[FL_REQUEST_PARTS]);

/* It left. Unless it may be needed again, its text goes. */
void fl_request_left(fl_request *request, bool keep_text);

/* Removes it, and tells nobody. */
void fl_request_drop(fl_request *request);

/* Removes it, calls on_answer, frees it. The client may be closing, not gone,
 * on return. */
void fl_request_end(fl_request *request, const fl_answer *answer);

/* The same for one that failed here. */
void fl_request_fail(fl_request *request, fl_status status, fl_span text);

/* Ends it with `status`, later; and with this text. The first word counts. */
void fl_request_fail_later(fl_request *request, fl_status status);
void fl_request_explain_later(fl_request *request, fl_status status,
                              fl_span text);

/* Progress came: the timeout starts anew, up to the limit in all. */
void fl_request_touch(fl_request *request);

/* All that have been sent: as if they had just been. */
void fl_requests_touch(fl_requests *requests);

/* Fails all, or only those that have been sent. Those that may be repeated
 * count as not sent. */
void fl_requests_fail(fl_requests *requests, bool sent_only, fl_status status,
                      fl_span text);

#endif
