/*
 * tls_impl.h - the inside of a TLS configuration, for the files of this room.
 */
#ifndef FL_IO_TLS_IMPL_H
#define FL_IO_TLS_IMPL_H

#include "io/tls.h"

#include <openssl/ssl.h>
#include <stdatomic.h>

struct fl_tls {
    atomic_size_t refs; /* the loops of several threads may share one */
    SSL_CTX *context;
    BIO_METHOD *bio; /* how a connection reads and writes, see tls_stream.c */
    bool is_server;
    unsigned char *alpn; /* the wanted protocols as ALPN lists them */
    unsigned alpn_len;
};

struct fl_tls_layer;

/* OpenSSL's side of a stream's layer; NULL for a plain one. */
SSL *fl_tls_layer_ssl(const struct fl_tls_layer *layer);

/* Makes that method; NULL when there is no memory. */
FL_MUST_USE BIO_METHOD *fl_tls_bio_method(void);

/* What went wrong first by OpenSSL's account, which is emptied. */
void fl_tls_reason(char *out, size_t size);

#endif
