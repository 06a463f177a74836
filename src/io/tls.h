/*
 * tls.h - a TLS configuration, shared by the streams of a listener or client.
 *
 * TLS 1.2 and later, verification on unless switched off by name. Files are
 * read once, here, so that a missing key is an error before anything starts.
 */
#ifndef FL_IO_TLS_H
#define FL_IO_TLS_H

#include <fairlead/types.h>

typedef struct fl_tls fl_tls;

typedef struct fl_tls_options {
    const char *cert_file;     /* PEM chain; required for a server */
    const char *key_file;      /* PEM key; required with cert_file */
    const char *ca_file;       /* PEM; NULL: the system's store (client) */
    bool require_client_cert;  /* server: mTLS; needs ca_file */
    bool insecure_skip_verify; /* client: accept any certificate */
    const char *const *alpn;   /* NULL-terminated, most wanted first; or NULL */
} fl_tls_options;

/* `error` names the option, the file and what OpenSSL said. */
FL_MUST_USE fl_status fl_tls_new_server(const fl_tls_options *options,
                                        fl_tls **out, fl_error *error);
FL_MUST_USE fl_status fl_tls_new_client(const fl_tls_options *options,
                                        fl_tls **out, fl_error *error);

/* Shared: each listener and stream takes one more. */
fl_tls *fl_tls_ref(fl_tls *tls);
void fl_tls_unref(fl_tls *tls);

#endif
