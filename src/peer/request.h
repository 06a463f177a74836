/*
 * request.h - the requests of a client that have no answer yet.
 *
 * Each is found by its id, in a list by age, and ends exactly once: by its
 * answer, its timeout, its cancellation, or the end of the connection. What
 * it looks like on the wire depends on the server's era, which is not known
 * when it is made: so it keeps method and params, and becomes a message when
 * it is sent.
 */
#ifndef FL_PEER_REQUEST_H
#define FL_PEER_REQUEST_H

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "io/timer.h"

#include <fairlead/client.h>

typedef struct fl_request fl_request;
typedef struct fl_requests fl_requests;

struct fl_request {
    fl_list node;
    fl_requests *owner;
    uint64_t id;
    char token[24];         /* the id as it is on the wire */
    const char *capability; /* needed of the server; or NULL */
    fl_buf text;            /* the method, then its params, if any */
    size_t method_len;
    fl_timer timer;
    uint64_t started_ms;
    fl_request_options options; /* defaults filled in */
    fl_answer_fn *on_answer;
    void *user;
    bool own;         /* the client's, to open or to listen: never waits */
    bool sent;        /* and not taken back */
    bool claims;      /* says which revision it is of, as modern ones do */
    bool taken_back;  /* it was sent and did not run; once is enough */
    unsigned sent_in; /* which agreement of the client's */
    fl_status ending; /* not FL_OK: the timer ends it with this */
};

enum { FL_REQUEST_PARTS = 16 };

typedef struct fl_requests_events {
    /* Nobody waits for it any more (timeout): tell the server. */
    void (*on_abandoned)(fl_requests *requests, fl_request *request);
} fl_requests_events;

/* Owned by whoever embeds it. */
struct fl_requests {
    fl_client *client;
    fl_loop *loop;
    const fl_requests_events *events;
    fl_list list; /* all of them, oldest first */
    fl_map by_token;
    uint64_t last_id;
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

fl_request *fl_requests_find(const fl_requests *requests, fl_span token);

/* The method, as it was given. */
fl_span fl_request_method(const fl_request *request);

/* The message, in parts to be sent one after the other. `claim` is raw members
 * for its _meta, or empty. Borrows from both. */
size_t fl_request_compose(const fl_request *request, fl_span claim,
                          fl_span parts[FL_REQUEST_PARTS]);

/* It left. Unless it may have to be sent again, its text goes. */
void fl_request_left(fl_request *request, bool keep_text);

/* Removes it, and tells nobody. */
void fl_request_drop(fl_request *request);

/* Removes it, calls on_answer, frees it. The client may be closing, not gone,
 * on return. */
void fl_request_end(fl_request *request, const fl_answer *answer);

/* The same for one that failed here. */
void fl_request_fail(fl_request *request, fl_status status, fl_span text);

/* Ends it with `status`, later. */
void fl_request_fail_later(fl_request *request, fl_status status);

/* Progress came: the timeout starts anew, up to the limit in all. */
void fl_request_touch(fl_request *request);

/* Fails all, or only those that have been sent. */
void fl_requests_fail(fl_requests *requests, bool sent_only, fl_status status,
                      fl_span text);

#endif
