/*
 * session.h - one client of a server, for the files of this room only.
 *
 *   FRESH -> OPENED (initialize answered) -> READY (initialized) -> OVER
 *
 * A session outlives its link while calls it deferred are not answered yet:
 * whoever answers them must find something to answer to.
 */
#ifndef FL_SERVER_SESSION_H
#define FL_SERVER_SESSION_H

#include "base/list.h"
#include "rpc/revision.h"
#include "server/batch.h"
#include "server/introductions.h"
#include "server/offers.h"
#include "transport/link.h"

#include <fairlead/call.h>

#include <assert.h>

typedef struct fl_session fl_session;
typedef struct fl_listens fl_listens;     /* listen.c */
typedef struct fl_watch fl_watch;         /* watch.c */
typedef struct fl_questions fl_questions; /* ask_questions.c */

/* What the messages of deferred calls may take, in bytes, and what their
 * clients have answered to them; one message is always let in. */
enum { FL_SESSION_KEPT_MAX = 32 * 1024 * 1024 };

typedef enum fl_session_state {
    FL_SESSION_FRESH,
    FL_SESSION_OPENED,
    FL_SESSION_READY,
    FL_SESSION_OVER,
} fl_session_state;

/* There is one for every link, and most links are idle: what few clients have
 * is allocated when they have it. */
struct fl_session {
    fl_list node;             /* among the server's */
    struct fl_server *server; /* NULL once the link has gone */
    fl_link *link;            /* NULL as soon as it is going */
    fl_loop *loop;
    const fl_revision *revision; /* NULL until initialize; on an open link the
                                    one there is without it */
    fl_introduction *client;     /* the params of its initialize, or NULL */
    fl_listens *listens;     /* subscriptions/listen, not ended yet, or NULL */
    fl_watch *watch;         /* resources it has subscribed to, or NULL */
    fl_questions *questions; /* to its client; NULL until there is one */
    fl_list calls;           /* deferred, in the order they came */
    size_t kept;             /* bytes of their messages and answers */
    unsigned deferred;       /* how many they are */
    unsigned max_in_flight;
    uint16_t jobs;     /* tasks it has: tasks.h */
    uint8_t state;     /* fl_session_state */
    uint8_t traits;    /* the link's */
    uint8_t offers;    /* declared at initialize */
    uint8_t changed;   /* offers whose list has changed, to be told of */
    uint8_t log_level; /* fl_level from which on its client wants to hear */
    bool ended;        /* its client will say no more */
};

static_assert(sizeof(struct fl_session) <= 120, "an idle session stays small");

/* Takes the link over. FL_E_NOMEM: the link is untouched. */
FL_MUST_USE fl_status fl_session_open(struct fl_server *server, fl_link *link,
                                      unsigned max_in_flight);

/* One without a link, and never with one: for calls that have left theirs. It
 * goes when its server is NULL and its last call is answered. NULL when there
 * is no memory. */
FL_MUST_USE fl_session *fl_session_new(struct fl_server *server, fl_loop *loop);

/* Tells whoever wants to know that a list has changed, now or when there is
 * room. */
void fl_session_changed(fl_session *session, fl_offer offer);

/* Whether a call is under way that somebody waits for: not a cancelled one. */
bool fl_session_is_busy(const fl_session *session);

/* The server is closing: every deferred call is answered with an error, and
 * every listen is ended. */
void fl_session_shut(fl_session *session);

/* Frees it once the link has gone and no call is left. */
void fl_session_settle(fl_session *session);

/* Where an answer goes: to the link, or into the batch it came in. */
typedef struct fl_return {
    fl_session *session;
    fl_reply reply;
    fl_batch *batch;             /* or NULL */
    const fl_revision *revision; /* of the request; NULL: of none */
    bool early; /* it does not get as far as its method: what is wrong with
                   it is the envelope's word, not the method's */
} fl_return;

/* The one way answers leave. `parts` is one whole response; an empty one is
 * no answer at all, but counts for the batch. One that is over the limit
 * becomes an error that says so, to `id`. */
void fl_return_send(const fl_return *to, fl_span id, const fl_span *parts,
                    size_t count);

/* `result` is an object without resultType and _meta: the revisions that have
 * these get them. */
void fl_return_result(const fl_return *to, fl_span id, fl_span result);

/* One that a tool made, which may have either. */
void fl_return_foreign_result(const fl_return *to, fl_span id, fl_span result);

/* What comes between the id and the first member of a result, in the revision
 * of the request. */
fl_span fl_return_opening(const fl_return *to);
/* The same up to the first byte of a text that is all its content. */
fl_span fl_return_opening_text(const fl_return *to);

/* What it is made of: its key; and in the modern era a type and a name tag,
 * the latter up to the server's identity. */
#define FL_RESULT ",\"result\":{"
#define FL_RESULT_TYPE "\"resultType\":\"complete\","
#define FL_RESULT_TEXT "\"content\":[{\"type\":\"text\",\"text\":\""
#define FL_RESULT_SERVER "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"

void fl_return_error(const fl_return *to, fl_span id, int code, fl_span message,
                     fl_span data);
/* An error whose data is {"<key>":<value>}; `value` is a token of the
 * message, so that it is repeated as it came. */
void fl_return_refuse(const fl_return *to, fl_span id, int code,
                      const char *message, const char *key, fl_span value);

#endif
