/*
 * http_flight.h - one HTTP request, from the first try to the end of its
 * response.
 *
 * A flight knows HTTP and nothing of MCP: it tries once more what cannot have
 * run, follows redirects that stay at home, unpacks, and tells event streams
 * from other bodies. When it is over it may be started again: an event stream
 * that broke goes on with what it had in its parser.
 */
#ifndef FL_TRANSPORT_HTTP_FLIGHT_H
#define FL_TRANSPORT_HTTP_FLIGHT_H

#include "transport/http_pool.h"
#include "wire/deflate.h"
#include "wire/sse.h"
#include "wire/url.h"

typedef struct fl_flight fl_flight;

/* Whom to ask, for all flights of a client. Kept. */
typedef struct fl_http_site {
    fl_loop *loop;
    fl_http_pool *pool;
    fl_url url;              /* scheme, host and port count */
    fl_span authority;       /* for Host */
    const fl_fields *fields; /* with every request */
    size_t max_body;         /* of a response, and of one event */
    uint64_t retry_ms;       /* before a second try to connect; 0: no such */
    bool absolute;           /* a proxy is asked, with whole URLs */
} fl_http_site;

typedef struct fl_flight_outcome {
    unsigned status;     /* of the response; 0: there was none */
    bool streamed;       /* it was an event stream: `body` is empty */
    fl_span body;        /* good for this call only */
    const fl_error *why; /* what went wrong, or NULL */
    bool unsent;         /* ... before the server could have seen any of it */
} fl_flight_outcome;

typedef struct fl_flight_events {
    /* The final response's. May be NULL. */
    void (*on_head)(fl_flight *flight, const fl_head *head);
    void (*on_event)(fl_flight *flight, const fl_sse_event *event);
    /* Once for each start. It may be started again from here. */
    void (*on_done)(fl_flight *flight, const fl_flight_outcome *outcome);
} fl_flight_events;

typedef struct fl_flight_request {
    fl_span method;          /* kept */
    fl_span target;          /* copied, as are the fields */
    const fl_fields *common; /* kept: instead of the site's; or NULL */
    const fl_field *fields;
    size_t count;
    fl_span body; /* borrowed until it is over */
    bool urgent;  /* never FL_BUSY */
} fl_flight_request;

/* Embedded in its owner. It may be given up from any of its events. All but
 * sse.last_id, sse.retry_ms and `wait_s` is private to http_flight.c. */
struct fl_flight {
    fl_http_call call;
    const fl_http_site *site;
    const fl_flight_events *events;
    fl_buf target; /* as it goes into the request */
    fl_fields fields;
    fl_sse sse;
    fl_buf text; /* of the response */
    fl_inflate *inflate;
    fl_timer timer;
    uint64_t wait_s; /* Retry-After, in seconds; 0: none */
    unsigned status;
    unsigned redirects;
    fl_error trouble; /* found while the response came in */
    bool is_stream;
    bool is_moved;   /* another try is due when this response has ended */
    bool is_lasting; /* only the peer's end of it is waited for */
    bool has_events; /* the parser of these has been used */
    bool retried;
    bool unsent;      /* it was lost, and nothing of it was sent */
    bool follows_all; /* 301 to 303, too: for a GET of an event stream */
    bool *gone;       /* set when it is given up under our feet */
};

void fl_flight_init(fl_flight *flight, const fl_http_site *site,
                    const fl_flight_events *events);
/* Breaks off what is under way. What is left is as new, but for small buffers,
 * which are used again; secrets are wiped. */
void fl_flight_rest(fl_flight *flight);
/* The same, and nothing is left. */
void fl_flight_deinit(fl_flight *flight);

/* FL_OK, FL_BUSY, FL_E_NOMEM, FL_E_INVALID: a field that may not be sent. No
 * event comes from within. */
FL_MUST_USE fl_status fl_flight_start(fl_flight *flight,
                                      const fl_flight_request *request);

/* All that was wanted has come: it may go on for so long, then it is done. */
void fl_flight_linger(fl_flight *flight, uint64_t ms);

#endif
