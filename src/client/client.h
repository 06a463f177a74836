/*
 * client.h - the inside of an fl_client, for the files of this room only.
 *
 *   client.c         its life: opening, outages, the end
 *   client_ask.c     requests on their way out
 *   client_verbs.c   what can be asked for, by name
 *   client_hear.c    what comes in
 *   client_steps.c   answers that are not the end of their request
 *   client_pages.c   ... but one page of a list
 *   client_rounds.c  ... or questions, in 2026-07-28
 *   client_tasks.c   ... or a task
 *   client_tell.c    what the program is told of
 *   client_asked.c   what a legacy server asks
 *   client_offer.c   which capabilities are declared; roots
 *   client_cache.c   results kept while they are fresh
 *   client_wishes.c  which resources are subscribed to
 *   client_agree.c   finding out which era and revision the server is of
 *   client_verdict.c what is remembered of that, and for how long
 *   client_hello.c   the two ways to open, as messages
 *   client_listen.c  being told of changes by a modern server
 *   lane.c           all that for a gateway, which has its own requests
 */
#ifndef FL_CLIENT_CLIENT_H
#define FL_CLIENT_CLIENT_H

#include "client/ask.h"
#include "client/client_cache.h"
#include "client/lane.h"
#include "client/request.h"
#include "client/target.h"
#include "rpc/revision.h"
#include "transport/backoff.h"
#include "transport/link.h"
#include "json/write.h"

#include <fairlead/client.h>

typedef enum fl_client_state {
    FL_CLIENT_OPENING,  /* no link, or waiting to try again */
    FL_CLIENT_AGREEING, /* server/discover or initialize is under way */
    FL_CLIENT_READY,
    FL_CLIENT_CLOSING
} fl_client_state;

/* How client and server come to speak the same: client_agree.c's. */
typedef struct fl_agreement {
    fl_era wanted;           /* FL_ERA_AUTO: it is to be found out */
    fl_era verdict;          /* what it was found to be; FL_ERA_AUTO: unknown */
    uint64_t found_ms;       /* when */
    unsigned made;           /* how often it was agreed: which one this is */
    fl_request *probe;       /* server/discover under way, or NULL */
    fl_request *opener;      /* initialize under way, or NULL */
    const fl_revision *in;   /* the modern revision the probe was made in */
    const fl_revision *late; /* the probe found it, after initialize was sent */
    fl_buf late_said;        /* what it was answered with; may be empty */
    fl_timer timer;     /* the silence after a probe, or before a new try */
    fl_backoff backoff; /* of new tries */
    bool once;          /* one try only */
    fl_error refusal;   /* initialize failed, but the probe is still open */
    bool raced;         /* initialize followed a probe that found silence */
    bool without;       /* the probe was hung up on: go without, next time */
    bool renewed;       /* a new link was opened for that; one is enough */
    bool doubted;       /* initialize was refused, so there was a probe */
    bool repeated;      /* the probe was made again, in another revision */
} fl_agreement;

/* A modern server's changes: client_listen.c's. */
typedef struct fl_listening {
    fl_request *request; /* subscriptions/listen that was acknowledged */
    fl_request *next;    /* one that was not yet, and is to replace it */
    fl_timer timer;      /* before it is opened again */
    fl_backoff backoff;
    uint64_t since_ms;
    unsigned batch; /* how many were opened: which wishes this one has */
    bool stale;     /* there are newer wishes than those of `next` */
} fl_listening;

/* Resources that are subscribed to: client_wishes.c's. */
typedef struct fl_wishes {
    fl_list list;
    size_t count;
} fl_wishes;

/* What we declare, beside what the handlers say: client_offer.c's. */
typedef struct fl_offer {
    fl_buf extensions, experimental; /* JSON objects, or empty */
    fl_buf with_tasks; /* the extensions, as a modern server sees them */
    fl_buf foreign, foreign_modern; /* a lane's: all of what is declared */
    bool tasks;
    fl_buf roots; /* the answer to roots/list; empty: we have not said */
} fl_offer;

struct fl_client {
    fl_link *link;
    fl_loop *loop;
    fl_client_events events;
    const fl_lane_events *lane; /* NULL: it is none */
    void *user;
    fl_target target;
    fl_requests requests;
    fl_client_state state;
    uint64_t timeout_ms;
    size_t max_requests; /* our own, which may not wait, aside */
    size_t own;          /* how many of those there are */
    bool streams;        /* the link is no channel: each request has its own */
    fl_buf identity;     /* clientInfo, JSON */
    fl_buf claim;        /* the members of a modern request's _meta */
    const fl_revision *offered;  /* the newest legacy one */
    const fl_revision *revision; /* agreed on; NULL until ready */
    fl_buf said;        /* the server's DiscoverResult or InitializeResult */
    fl_error complaint; /* what the server said about no request, for the case
                           that it hangs up next */
    fl_error why;       /* why we close it; FL_OK: we were told to */
    fl_agreement agreement;
    fl_listening listening;
    fl_wishes wishes;
    fl_client_handlers handlers;
    fl_offer offer;
    fl_asked asked;
    fl_client_cache cache;
    fl_map task_tools;     /* of a legacy server: those that can be tasks */
    const char *log_level; /* NULL: not said */
};

/* Our own requests: a probe, initialize, two to listen; and one id more than
 * there are requests while one of them changes its own. */
enum { FL_CLIENT_SAID_MAX = 16 * 1024 * 1024, FL_CLIENT_OWN_MAX = 5 };

static inline bool fl_client_is_modern(const fl_client *client)
{
    return client->revision != NULL && !client->revision->legacy;
}

/* Ends the conversation because of something the server did. */
void fl_client_give_up(fl_client *client, const fl_error *why);

/* As if it had never been opened: nobody is told. */
void fl_client_abandon(fl_client *client);

extern const fl_requests_events fl_client_requests_events;

/* Sends what waits, as far as it may and the link takes it. */
void fl_client_send_waiting(fl_client *client);
/* Lets go of a request that was held, and sends it if it may. */
void fl_client_let_go(fl_client *client, fl_request *request);
/* Tells the server that nobody waits for it any more. */
void fl_client_call_off(fl_client *client, const fl_request *request,
                        const char *reason);
/* A modern server that would not say what it has may have anything. */
bool fl_client_server_has(const fl_client *client, const char *capability);

/* fl_client_request(), of a kind, with the pages of a list if it is to have all
 * of them, or with the task it is about. The latter two are taken. */
typedef struct fl_wanted {
    const char *method;
    fl_span params;
    fl_request_kind kind;
    fl_pages *pages;
    fl_follow *follow;
    const fl_request_options *options;
    fl_answer_fn *on_answer;
    void *user;
    uint64_t *id;
} fl_wanted;
FL_MUST_USE fl_status fl_client_want(fl_client *client,
                                     const fl_wanted *wanted);

/* A request of our own: it is sent now or not at all. */
typedef struct fl_own {
    const char *method;
    fl_span params;
    uint64_t timeout_ms;
    bool claims;
    fl_answer_fn *on_answer; /* calls fl_client_own_ended() first */
} fl_own;

FL_MUST_USE fl_status fl_client_ask_own(fl_client *client, const fl_own *own,
                                        fl_request **slot);
void fl_client_own_ended(fl_client *client, fl_request **slot);
/* Nobody waits for its answer any more; harmless when there is none. */
void fl_client_drop_own(fl_client *client, fl_request **slot);

/* A notification that is not about a request of ours. */
void fl_client_tell(fl_client *client, const fl_msg *msg);

/* What a legacy server asks, and takes back. */
void fl_client_asked_request(fl_client *client, const fl_msg *msg,
                             fl_reply reply);
bool fl_client_asked_cancelled(fl_client *client, const fl_msg *msg);
/* All questions of a legacy server, or all there are. */
void fl_client_asked_withdraw(fl_client *client, bool legacy_only);
/* Which kind a question is of, if we have declared it. Otherwise
 * FL_ASK_UNKNOWN, and the code of the error that it gets. */
fl_ask_kind fl_client_asked_kind(const fl_client *client, fl_span method,
                                 fl_span params, int *code);
/* Whether roots/list is answered from the list that was given. */
bool fl_client_has_roots(const fl_client *client);

FL_MUST_USE fl_status fl_client_offer_init(fl_client *client,
                                           const fl_client_options *options,
                                           fl_error *error);
void fl_client_offer_deinit(fl_client *client);
void fl_client_offer_write(const fl_client *client, const fl_revision *revision,
                           fl_json_writer *writer);

/* The wishes: what is subscribed to, or shall be. */
FL_MUST_USE fl_status fl_wish_add(fl_client *client, fl_span uri);
void fl_wish_drop(fl_client *client, fl_span uri);
void fl_wishes_drop_all(fl_client *client);
bool fl_wish_is_granted(const fl_client *client, fl_span uri);
void fl_wish_grant(fl_client *client, fl_span uri);
/* A server has agreed to this request of fl_client_subscribe() or its
 * opposite. */
void fl_wishes_note(fl_client *client, const fl_request *request);
/* As the elements of a JSON array. */
void fl_wishes_write(const fl_client *client, fl_json_writer *writer);
/* A legacy server that was opened anew has forgotten them, and the level of
 * the log. */
void fl_client_restore(fl_client *client);

/* The link's on_message: answers, progress, notifications, requests. */
void fl_client_hear(fl_link *link, const fl_msg *msg, fl_reply reply);

void fl_client_agree_init(fl_client *client, const fl_client_options *options);
/* The link is up: brings the client to READY, or ends it. */
void fl_client_agree(fl_client *client);
void fl_client_agree_stop(fl_client *client);

/* The members of a modern request's _meta, written anew. */
FL_MUST_USE fl_status fl_client_write_claim(fl_client *client,
                                            const fl_revision *revision);

/* Whether the next agreement goes without a probe. */
bool fl_client_verdict_skips(fl_client *client);
/* Whether an initialize refused with this code calls for a probe. */
bool fl_client_verdict_doubts(fl_client *client, int code);
/* The link was lost. Says whether it may be the probe that did it. */
bool fl_client_verdict_lost(fl_client *client);
/* Whether the link that just ended is to be replaced by a new one. */
bool fl_client_verdict_renews(fl_client *client, const fl_error *why);
/* The server does not know what was agreed any more, or never did. */
void fl_client_doubt(fl_client *client);
/* Whether this error means that the request has not run and that we have to
 * agree anew; then it waits for that. */
bool fl_client_take_back(fl_client *client, fl_request *request, fl_span error);

FL_MUST_USE fl_status fl_client_say_discover(fl_client *client,
                                             const fl_revision *revision,
                                             fl_answer_fn *on_answer);
FL_MUST_USE fl_status fl_client_say_initialize(fl_client *client,
                                               uint64_t timeout_ms,
                                               fl_answer_fn *on_answer);
/* What the server says of itself, kept and understood. */
FL_MUST_USE fl_status fl_client_keep_discovered(fl_client *client,
                                                const fl_revision *revision,
                                                fl_span result);
FL_MUST_USE fl_status fl_client_keep_initialized(fl_client *client,
                                                 fl_span result,
                                                 fl_error *error);

void fl_client_listen_init(fl_client *client);
/* Ready: asks to be told, if there is who wants to know and what to tell. */
void fl_client_listen(fl_client *client);
void fl_client_listen_stop(fl_client *client);
/* A modern server is to be told of a wish; the request is held until it is. */
void fl_client_listen_wish(fl_client *client, fl_request *request);
/* It goes before that. */
void fl_client_listen_unwish(fl_client *client, const fl_request *request);
/* Whether a notification was about a subscription, and is dealt with. */
bool fl_client_listen_takes(fl_client *client, const fl_msg *msg);

#endif
