/*
 * http_proxy.h - which proxy leads to a server, by the variables everybody
 * sets.
 *
 * The rules are curl's: https_proxy, HTTPS_PROXY, http_proxy in lower case
 * only (HTTP_PROXY is what a CGI program gets from a header "Proxy:", so that
 * a stranger could set it), all_proxy and ALL_PROXY for both, no_proxy and
 * NO_PROXY for exceptions. One rule more: loopback is never behind a proxy.
 */
#ifndef FL_TRANSPORT_HTTP_PROXY_H
#define FL_TRANSPORT_HTTP_PROXY_H

#include "base/buf.h"

/* The variables' values, borrowed; NULL when not set. */
typedef struct fl_proxy_env {
    const char *http;
    const char *https;
    const char *no;
} fl_proxy_env;

typedef struct fl_proxy {
    bool used;
    char host[254];
    uint16_t port;
    char *authorization; /* "Basic ..."; or NULL */
} fl_proxy;

/* As they are now in the environment of this process. */
fl_proxy_env fl_proxy_env_read(void);

/* FL_E_INVALID when the variable names a proxy we cannot use; the text quotes
 * nothing of it, for a password may be in it. */
FL_MUST_USE fl_status fl_proxy_choose(const fl_proxy_env *env, bool tls,
                                      const char *host, uint16_t port,
                                      fl_proxy *proxy, fl_error *error);
void fl_proxy_deinit(fl_proxy *proxy);

/* Whether `host` is an exception by the list in `no`. */
bool fl_proxy_excepts(const char *no, const char *host, uint16_t port);

/* Appends the head that asks for the way to HOST:PORT, and a NUL. */
FL_MUST_USE fl_status fl_proxy_write_connect(const fl_proxy *proxy,
                                             const char *host, uint16_t port,
                                             fl_buf *out);

#endif
