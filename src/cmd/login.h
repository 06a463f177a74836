/*
 * login.h - how a command shows who it is to a server that asks.
 */
#ifndef FL_CMD_LOGIN_H
#define FL_CMD_LOGIN_H

#include "cmd/term.h"

#include <fairlead/auth.h>

/* The texts are the command line's. */
typedef struct fl_login {
    unsigned how; /* which of fl_login_ways, counted from 1; 0: not at all */
    const char *client_id;
    const char *secret_file;
    const char *secret_env; /* a variable; or NULL */
    const char *store;
    const char *scope;
    const char *redirect_uri;
    const char *metadata_url;
    uint64_t timeout_ms;
    char *secret; /* what the file holds */
} fl_login;

/* NULL-terminated. */
extern const char *const fl_login_ways[];

/* Whether all of it goes together, for this server. Reads the secret.
 * FL_E_INVALID names the option. */
FL_MUST_USE fl_status fl_login_take(fl_login *login, const char *url,
                                    fl_error *error);

/* `*out` is NULL if there was no option for it. Whom to ask is said on `term`,
 * which must outlive it. */
FL_MUST_USE fl_status fl_login_open(const fl_login *login, fl_term *term,
                                    fl_auth **out, fl_error *error);

void fl_login_deinit(fl_login *login);

/* Whether a server at this address could ask who we are. */
bool fl_login_is_for(const char *url);

/* Whether it goes with the servers of a file, of which each may say more. */
FL_MUST_USE fl_status fl_login_take_file(const fl_login *login,
                                         fl_error *error);

/* Asks the user to say yes on a page. `name` is the server's, or NULL. */
void fl_login_show(const fl_term *term, const char *name, const char *url);

#endif
