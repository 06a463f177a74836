/*
 * request.h - the requests of a client that have no answer yet.
 *
 * Each is found by its id, in a list by age, and ends exactly once: by its
 * answer, its timeout, its cancellation, or the end of the connection. Those
 * that could not be sent yet keep their text.
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
    fl_buf text;            /* not empty: still to be sent */
    fl_timer timer;
    uint64_t started_ms;
    fl_request_options options; /* defaults filled in */
    fl_answer_fn *on_answer;
    void *user;
    bool urgent;      /* initialize: does not wait for the session */
    fl_status ending; /* not FL_OK: the timer ends it with this */
};

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
