/*
 * auth.h - a client's authorization at servers that ask for it (OAuth 2.1).
 *
 *     fl_auth *auth;
 *     fl_auth_new(&(fl_auth_options){.client_name = "My program",
 *                                    .hooks = {.open_url = show_browser}},
 *                 &auth, &error);
 *     fl_client_options options = {.connection.http.auth = auth};
 *
 * Nothing happens until a server says 401. Then its metadata is read, the
 * program is registered if need be, the user is asked, and the request that
 * was refused is sent again, with a token. What the token needs later on
 * (being renewed, being widened) is done in the same way. One fl_auth is for
 * one server; several clients of the same URL may share it.
 *
 * Everything happens on the loop of the client that uses it. Hooks are called
 * from there, and may call back at once or at any time later.
 */
#ifndef FAIRLEAD_AUTH_H
#define FAIRLEAD_AUTH_H

#include <fairlead/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_auth fl_auth;

/* How a token is come by. */
typedef enum fl_auth_grant {
    FL_AUTH_CODE,               /* a user says yes, in a browser */
    FL_AUTH_CLIENT_CREDENTIALS, /* the program is known itself: client_id, and
                                   client_secret or private_key_pem */
    FL_AUTH_JWT_BEARER,         /* somebody vouches for it: assertion */
    FL_AUTH_ENTERPRISE,         /* the organisation's identity provider does,
                                   for one who is logged in there: idp */
} fl_auth_grant;

/* Tokens that only the holder of a key can use (RFC 9449). */
typedef enum fl_auth_dpop {
    FL_AUTH_DPOP_AUTO, /* when the server asks for it */
    FL_AUTH_DPOP_ON,
    FL_AUTH_DPOP_OFF,
} fl_auth_dpop;

typedef struct fl_auth_idp {
    const char *token_endpoint;
    const char *client_id;
    const char *client_secret; /* or NULL */
    const char *id_token;
} fl_auth_idp;

typedef struct fl_auth_hooks {
    /* Show this page to the user. Where he comes back to is a small server of
     * ours, on loopback, that waits for him. */
    void (*open_url)(fl_auth *auth, const char *url, void *user);

    /* In place of that: lead the user through `url`, and say where he came
     * back to, with fl_auth_redirected(), or fl_auth_deny(). Needs
     * redirect_uri. */
    void (*authorize)(fl_auth *auth, const char *url, void *user);

    /* In place of all of it: say which token to use, with fl_auth_set_token(),
     * or fl_auth_deny(). `refused`: the one before was not good, or not good
     * enough. */
    void (*token)(fl_auth *auth, bool refused, void *user);

    /* Where to keep what must outlive the program. `load` is called once, and
     * answers with fl_auth_restore() from within, if there is anything.
     * `record` is text; it holds secrets. */
    void (*load)(fl_auth *auth, void *user);
    void (*save)(fl_auth *auth, fl_span record, void *user);

    void *user;
} fl_auth_hooks;

/* Strings are copied. */
typedef struct fl_auth_options {
    fl_auth_grant grant;
    const char *client_name; /* shown to the user; "fairlead" */

    /* Who the program is, where it is known already; bound to `issuer`, or to
     * the first authorization server it is used at. */
    const char *client_id;
    const char *client_secret;
    const char *issuer;
    const char *private_key_pem; /* for private_key_jwt */
    const char *algorithm;       /* ES256, RS256, EdDSA; what suits the key */

    /* Where it describes itself: an https:// URL that serves as client_id at
     * servers which support that. Without either it is registered. */
    const char *client_metadata_url;

    const char *redirect_uri; /* "http://127.0.0.1:<free port>/callback" */
    const char *scope;        /* where the server does not say what it wants */
    const char *assertion;    /* FL_AUTH_JWT_BEARER: the JWT */
    fl_auth_idp idp;          /* FL_AUTH_ENTERPRISE */
    fl_auth_dpop dpop;

    const char *store_file; /* kept there, readable by its owner alone; NULL:
                               forgotten when the program ends */
    uint64_t timeout_ms;    /* for the user to say yes; 300000 */
    bool allow_plaintext;   /* http:// to other than loopback: for tests */

    fl_auth_hooks hooks;
} fl_auth_options;

/* FL_E_INVALID names the option. A store that others could read is
 * FL_E_DENIED. */
FL_API FL_MUST_USE fl_status fl_auth_new(const fl_auth_options *options,
                                         fl_auth **out, fl_error *error);

/* It lives on until the last client that uses it has gone. NULL is fine. */
FL_API void fl_auth_free(fl_auth *auth);

/* Where the user came back to: the redirect URI with what was added to it. */
FL_API void fl_auth_redirected(fl_auth *auth, const char *url);
/* The token to use: what hooks.token was asked for. */
FL_API void fl_auth_set_token(fl_auth *auth, const char *token);
/* No: the requests that wait fail with this reason. */
FL_API void fl_auth_deny(fl_auth *auth, const char *reason);
/* What hooks.save was given once; from within hooks.load. */
FL_API FL_MUST_USE fl_status fl_auth_restore(fl_auth *auth, fl_span record);

/* Forgets the tokens, in the store, too: the user will be asked anew. */
FL_API fl_status fl_auth_forget(fl_auth *auth);

#ifdef __cplusplus
}
#endif

#endif
