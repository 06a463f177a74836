/*
 * auth_impl.h - the inside of an fl_auth.
 *
 *   auth.c         made, freed, and what the program says to it
 *   show.c         how the transport sees it: what requests carry, and what
 *                  becomes of those that were refused
 *   flow.c         one authorization under way: how it begins, how it ends
 *   flow_discover.c  finding out whom to ask for a token
 *   flow_client.c  who we are there, and asking the user
 *   flow_token.c   having a token made
 *
 * The rest of the room is pure: it knows forms, documents and tokens, and no
 * loop.
 */
#ifndef FL_AUTH_AUTH_IMPL_H
#define FL_AUTH_AUTH_IMPL_H

#include "auth/callback.h"
#include "auth/challenge.h"
#include "auth/code.h"
#include "auth/metadata.h"
#include "auth/record.h"
#include "auth/text.h"
#include "io/signer.h"
#include "io/timer.h"
#include "transport/credentials.h"
#include "transport/http_fetch.h"

enum {
    FL_AUTH_URL_MAX = 16 * 1024,
    FL_AUTH_SCOPES_MAX = 8 * 1024,
    FL_AUTH_SPENT_MAX = 3, /* authorizations in a row that led to nothing */
};

typedef enum fl_flow_reason {
    FL_FLOW_NONE,    /* nothing is under way */
    FL_FLOW_REFUSED, /* 401 */
    FL_FLOW_WIDEN,   /* 403: more scope is wanted */
    FL_FLOW_RENEW,   /* the token is about to run out */
    FL_FLOW_HOOK,    /* the program has its own way */
} fl_flow_reason;

/* What the program, or the user's browser, had to say. */
typedef enum fl_flow_reply {
    FL_REPLY_NONE,
    FL_REPLY_REDIRECTED,
    FL_REPLY_TOKEN,
    FL_REPLY_DENIED,
} fl_flow_reply;

/* One authorization under way; zero when there is none. */
typedef struct fl_flow {
    fl_flow_reason reason;
    fl_challenge challenge;
    fl_prm prm;
    fl_as as;
    unsigned place; /* which of the places for a document is being asked */
    bool legacy;    /* no resource metadata: 2025-03-26 */
    fl_code code;
    char *scope;    /* to ask for; NULL: none */
    char *wanted;   /* the same, but for what the token itself needs */
    char *redirect; /* where the user comes back to */
    char *granted;  /* the code, or the assertion an identity provider gave */
    bool asking;    /* the user, or the program, is at work */
    bool refreshing;
    bool exchanging;
    bool had_nonce; /* one more try for a nonce has been made */
    fl_fetch *fetch;
    fl_callback *callback;
    fl_flow_reply reply;
    char *said;
} fl_flow;

typedef struct fl_auth_setup {
    fl_auth_grant grant;
    fl_auth_dpop dpop;
    uint64_t timeout_ms;
    bool allow_plaintext;
    fl_auth_hooks hooks;
    char *client_name, *client_id, *client_secret, *issuer, *metadata_url;
    char *redirect_uri, *scope, *assertion, *store_file;
    char *idp_endpoint, *idp_client_id, *idp_client_secret, *idp_token;
} fl_auth_setup;

typedef struct fl_authorizer {
    fl_auth auth;
    unsigned refs;
    unsigned links;
    fl_auth_setup setup;
    fl_signer *key; /* for private_key_jwt; or NULL */

    /* From the first link on. */
    fl_loop *loop;
    char *server; /* its URL */
    char *origin;
    fl_fetch_plain plain;
    bool no_proxy;
    fl_tls *tls;
    char revision[16]; /* spoken with the server; "": not known */

    fl_record record;
    char *asked;     /* every scope that a token was asked for with */
    unsigned serial; /* counts tokens; 0: there was none yet */
    unsigned spent;  /* authorizations since a token was last accepted */
    bool use_dpop;
    fl_signer *dpop;
    char *nonce_here, *nonce_there; /* of the server; of who gives tokens */
    fl_error failed;                /* the last one, as long as it stands */
    uint64_t failed_until;
    uint64_t renew_after; /* nobody was there to renew it */

    fl_list waits;
    fl_timer kick;     /* takes the next step from a fresh stack */
    fl_timer deadline; /* for the user */
    fl_flow flow;
} fl_authorizer;

static inline fl_authorizer *fl_authorizer_of(fl_auth *auth)
{
    return (fl_authorizer *)auth;
}

/* auth.c */
void fl_authorizer_ref(fl_authorizer *a);
void fl_authorizer_unref(fl_authorizer *a);
/* To where it is to be kept; what fails is logged. */
void fl_authorizer_save(fl_authorizer *a);

/* show.c */
extern const fl_auth_ops fl_authorizer_ops;

/* flow.c */
void fl_flow_init(fl_authorizer *a);
/* Steps come later, never from within. `challenge` is taken; NULL: none. */
void fl_flow_begin(fl_authorizer *a, fl_flow_reason reason,
                   fl_challenge *challenge);
static inline bool fl_flow_is_open(const fl_authorizer *a)
{
    return a->flow.reason != FL_FLOW_NONE;
}
/* The end: those who wait are told. `why` NULL: it went well. */
void fl_flow_end(fl_authorizer *a, const fl_error *why);
void fl_flow_fail(fl_authorizer *a, fl_status status, const char *format, ...)
    FL_PRINTF(3, 4);
/* Without a word to anybody. */
void fl_flow_abort(fl_authorizer *a);
/* What was said meanwhile is heard soon. */
void fl_flow_tell(fl_authorizer *a, fl_flow_reply reply, fl_span text);
/* A GET or POST by this flow, with what all of them have in common filled in;
 * a failure to start ends the flow. */
void fl_flow_fetch(fl_authorizer *a, fl_fetch_request *request,
                   fl_fetch_fn *fn);

/* flow_discover.c */
void fl_flow_discover(fl_authorizer *a);

/* flow_client.c: the authorization server is known. */
void fl_flow_identify(fl_authorizer *a);
/* The user came back to this URL. */
void fl_flow_redirected(fl_authorizer *a, fl_span url);

/* flow_token.c */
/* A refresh token is worth a try first. */
void fl_flow_refresh(fl_authorizer *a);
/* By the grant that was set up; a code is in flow.granted. */
void fl_flow_get_token(fl_authorizer *a);
/* There is a key for proofs. */
FL_MUST_USE fl_status fl_flow_have_dpop(fl_authorizer *a);

#endif
