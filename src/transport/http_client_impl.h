/*
 * http_client_impl.h - the inside of an HTTP client link.
 *
 *   http_client.c          the link: its life, sending, closing
 *   http_client_setup.c    from an address and options to a link
 *   http_client_fields.c   what a request's head says
 *   http_client_post.c     one message on its way
 *   http_client_answer.c   what its sender gets to hear
 *   http_client_session.c  what initialize agreed on, and its standing stream
 *   http_client_sse.c      the transport of 2024-11-05, where there is no other
 */
#ifndef FL_TRANSPORT_HTTP_CLIENT_IMPL_H
#define FL_TRANSPORT_HTTP_CLIENT_IMPL_H

#include "rpc/fragments.h"
#include "rpc/mirrors.h"
#include "rpc/revision.h"
#include "transport/backoff.h"
#include "transport/credentials.h"
#include "transport/http_client.h"
#include "transport/http_flight.h"
#include "transport/http_proxy.h"

enum {
    FL_HTTP_SESSION_MAX = 1024,
    FL_HTTP_ENDPOINT_MS = 5000, /* HTTP+SSE: until the first event */
};

typedef struct fl_http_client fl_http_client;
typedef struct fl_post fl_post;

typedef enum fl_http_mode {
    FL_HTTP_STREAMABLE, /* every message is a POST with its own answer */
    FL_HTTP_FALLING,    /* that was refused: is there a 2024 server? */
    FL_HTTP_CHANNEL,    /* answers come on one stream */
} fl_http_mode;

/* One message of ours on its way; or the DELETE of a session. */
struct fl_post {
    fl_list node; /* in client->posts, held or spares */
    fl_http_client *client;
    fl_flight flight;
    fl_badge badge;
    fl_fragments fragments;
    fl_buf text;
    fl_msg msg;       /* in text; FL_MSG_INVALID for a DELETE */
    fl_span id;       /* in text; empty: nobody waits for an answer */
    unsigned session; /* the number of the one it belongs to; 0: none */
    fl_timer again;   /* before its stream is asked for once more */
    fl_backoff patience;
    bool initialize;
    bool modern;
    bool answered;
    bool resuming;
    bool on_channel;  /* the answer comes on another stream */
    char *minted;     /* a session's name, from the head */
    unsigned refusal; /* the status that made us look for a 2024 server */
    fl_buf refusal_text;
    fl_error blame; /* for an answer of our own; FL_OK: it is the server's */
    bool unsent;    /* with it: the server cannot have seen the request */
};

struct fl_http_client {
    fl_link link;
    fl_address address;
    fl_http_site site;
    fl_proxy proxy;
    fl_tls *tls;
    fl_auth *auth;         /* NULL: none, or not ours any more */
    fl_fields fields;      /* with every request */
    fl_fields post_fields; /* with every POST: those, and what it always says */
    fl_buf authority;
    fl_buf target;
    size_t max_message;
    bool reconnects;
    fl_backoff outage; /* between sessions */
    fl_timer life;     /* opening, coming back, closing */
    fl_list posts;
    fl_list spares; /* posts that ended, clean */
    unsigned spare_count;
    fl_span about; /* while a message is delivered: whose stream it came by */
    const fl_error *blame; /* ... and why it is one of our own, or NULL */
    fl_list held;          /* behind `gate` */
    fl_post *gate;         /* notifications/initialized, until it has arrived */
    bool refused;
    fl_error why; /* of the end */

    char *session; /* the server's name for it, or NULL */
    unsigned session_number;
    const fl_revision *revision; /* agreed on by initialize, or NULL */
    fl_mirrors mirrors;
    fl_flight standing;
    fl_badge standing_badge;
    fl_timer standing_timer;
    fl_backoff standing_wait;
    bool has_standing;

    fl_http_mode mode;
    fl_flight channel;
    fl_badge channel_badge;
    bool has_channel;
    fl_buf endpoint;
    fl_post *first; /* an initialize that waits for a channel, in no list */
    fl_timer deadline;
};

/* The revision's name, or NULL: there is none agreed on. */
static inline const char *fl_http_client_speaks(const fl_http_client *client)
{
    return client->revision != NULL ? client->revision->name : NULL;
}

/* Where nobody is told what is wrong with it. */
FL_MUST_USE static inline fl_status fl_http_read(fl_span text, fl_msg *msg)
{
    fl_msg_fault fault;

    return fl_msg_read(text, msg, &fault);
}

/* http_client.c */
void fl_http_client_deliver(fl_http_client *client, const fl_msg *msg);
void fl_http_client_fail(fl_http_client *client, const fl_error *why);
/* The conversation is lost; another one begins, soon. If it was forgotten by a
 * server that is there, what is under way will be answered. */
void fl_http_client_down(fl_http_client *client, const fl_error *why,
                         bool forgotten);
/* A post has ended: those that waited for it, or for room, may go on. */
void fl_http_client_settle(fl_http_client *client);
void fl_http_client_on_room(void *user);
void fl_http_client_on_gone(void *user);
void fl_http_client_begin(fl_http_client *client);
/* Its timers, before anything else. */
void fl_http_client_init(fl_http_client *client);
/* on_open comes from a fresh stack. */
void fl_http_client_start(fl_http_client *client);

/* http_client_fields.c: a request's own fields. */
enum { FL_HTTP_FIELDS_ROOM = 40 };
typedef struct fl_http_head {
    fl_field fields[FL_HTTP_FIELDS_ROOM];
    size_t count;
    fl_buf text; /* what values were made in */
    fl_auth_fields shown;
} fl_http_head;
FL_MUST_USE fl_status fl_http_head_message(fl_http_head *head,
                                           const fl_http_client *client,
                                           const fl_post *post,
                                           const fl_msg *msg);
/* Of a GET; a `last_id` that is empty, or cannot be said, is left out. */
void fl_http_head_listen(fl_http_head *head, const fl_http_client *client,
                         fl_span last_id);
void fl_http_head_plain(fl_http_head *head, const fl_http_client *client);
/* The last of it: who asks. */
FL_MUST_USE fl_status fl_http_head_show(fl_http_head *head, fl_badge *badge,
                                        fl_span method, fl_span target);
void fl_http_head_deinit(fl_http_head *head);

/* http_client_post.c */
/* What is to be sent. Without parts: nothing, and it has no message. */
typedef struct fl_post_text {
    const fl_span *parts;
    size_t count;
    const fl_relay
        *relay; /* whose parts they are; NULL: nobody has read them */
} fl_post_text;
/* FL_E_BAD_MESSAGE: it is none. */
FL_MUST_USE fl_status fl_post_new(fl_http_client *client,
                                  const fl_post_text *text, fl_post **out);
FL_MUST_USE fl_status fl_post_start(fl_post *post, bool urgent);
void fl_post_free(fl_post *post);
void fl_post_free_spares(fl_http_client *client);

/* http_client_answer.c: the last of a post. All but the first two of these end
 * in its being gone, and others' going on. */
bool fl_post_is_answer(const fl_post *post, const fl_msg *msg);
/* What an answer settles for all that follows. */
void fl_post_note_answer(fl_post *post, const fl_msg *msg);
/* With this message for its sender, or NULL: none. */
void fl_post_end(fl_post *post, const fl_msg *msg);
/* With an error of our own; `why` NULL: the status says it all. */
void fl_post_fail(fl_post *post, unsigned status, const fl_error *why);
/* With what a response of status 2xx says. */
void fl_post_end_with_body(fl_post *post, const fl_flight_outcome *outcome);
/* Ends the post with what the server said, if that is a JSON-RPC error, or
 * with an error of our own. */
void fl_post_refuse(fl_post *post, const fl_flight_outcome *outcome);

/* http_client_session.c */
void fl_http_client_session_init(fl_http_client *client);
void fl_http_client_session_deinit(fl_http_client *client);
void fl_http_client_session_begin(fl_http_client *client, char *taken_name,
                                  const fl_revision *revision);
void fl_http_client_session_forget(fl_http_client *client);
void fl_http_client_session_listen(fl_http_client *client);
FL_MUST_USE fl_status fl_http_client_session_delete(fl_http_client *client);
/* A 404 to something that named the session. */
void fl_http_client_session_lost(fl_http_client *client);

/* http_client_sse.c */
void fl_http_channel_init(fl_http_client *client);
void fl_http_channel_deinit(fl_http_client *client);
void fl_http_channel_open(fl_http_client *client);
void fl_http_channel_close(fl_http_client *client);
/* Whether what was said to `post` is what old servers say to initialize. */
bool fl_http_channel_should_fall(const fl_post *post,
                                 const fl_flight_outcome *outcome);
/* Keeps `post`, an initialize that was refused, for a channel. */
void fl_http_channel_fall(fl_post *post, const fl_flight_outcome *outcome);

#endif
