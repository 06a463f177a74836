/*
 * tls_stream.c - the layer between a stream's bytes and its socket's.
 *
 * OpenSSL is given a BIO of ours. It reads ciphertext straight from the span
 * the loop lends, and writes ciphertext into a buffer that leaves like any
 * other output. So there are no memory BIOs, nothing is copied twice, and an
 * idle connection holds OpenSSL's own state and no buffer.
 *
 * Reading wants no lookahead: OpenSSL takes a record's header, then exactly
 * its body. When the owner pauses in the middle of a read, what OpenSSL has
 * not asked for yet is kept aside until the pause is over.
 *
 * Plaintext is gathered first and encrypted at the turn's end, in pieces, so
 * that small messages share a record and a slow peer's backlog is not held
 * twice.
 */
#include "io/tls_stream.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/inet.h"
#include "io/tls_impl.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

enum {
    PLAIN = 16 * 1024,   /* a record's most */
    PIECE = 64 * 1024,   /* encrypted at a time */
    OUT_MAX = 4 * PIECE, /* a piece, or a handshake's certificates */
    HELD_MAX = 2 * FL_LOOP_READ,
    OPENSSL_IDLE = 14 * 1024, /* what it holds per idle connection; measured */
};

struct fl_tls_layer {
    SSL *ssl;
    fl_tls *tls;
    fl_pool *pool;
    fl_span in;  /* ciphertext in hand */
    fl_buf held; /* ciphertext that came before a pause was seen */
    fl_buf out;  /* ciphertext to send */
    bool is_shaken;
    bool said_goodbye;
};

static int bio_read(BIO *bio, char *to, int size)
{
    fl_tls_layer *layer = BIO_get_data(bio);
    size_t n = layer->in.len < (size_t)size ? layer->in.len : (size_t)size;

    BIO_clear_retry_flags(bio);
    if (n == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(to, layer->in.ptr, n);
    layer->in = fl_span_from(layer->in, n);
    return (int)n;
}

static int bio_write(BIO *bio, const char *from, int size)
{
    fl_tls_layer *layer = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (layer->out.ptr == NULL)
        fl_pool_lend(layer->pool, &layer->out);
    return fl_buf_append(&layer->out, (fl_span){from, (size_t)size}) == FL_OK
               ? size
               : -1;
}

static long bio_control(BIO *bio, int command, long number, void *data)
{
    (void)bio;
    (void)number;
    (void)data;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD *fl_tls_bio_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "fairlead");

    if (method == NULL)
        return NULL;
    BIO_meth_set_read(method, bio_read);
    BIO_meth_set_write(method, bio_write);
    BIO_meth_set_ctrl(method, bio_control);
    return method;
}

SSL *fl_tls_layer_ssl(const fl_tls_layer *layer)
{
    return layer != NULL ? layer->ssl : NULL;
}

/* The certificate must be for `name`, be it a host or an address. */
static bool expect_name(SSL *ssl, const char *name)
{
    struct sockaddr_storage address;

    if (fl_inet_parse(name, 0, &address))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (SSL_set1_host(ssl, name) != 1)
        return false;
    /* What is longer is no host name, and no certificate will match it. */
    char sni[TLSEXT_MAXLEN_host_name + 1];
    int len = snprintf(sni, sizeof sni, "%s", name);
    return len >= (int)sizeof sni || SSL_set_tlsext_host_name(ssl, sni) == 1;
}

static bool set_up(fl_tls_layer *layer, const char *name)
{
    layer->ssl = SSL_new(layer->tls->context);
    BIO *bio = layer->ssl != NULL ? BIO_new(layer->tls->bio) : NULL;
    if (bio == NULL)
        return false;
    BIO_set_data(bio, layer);
    BIO_set_init(bio, 1);
    SSL_set_bio(layer->ssl, bio, bio);
    if (layer->tls->is_server)
        SSL_set_accept_state(layer->ssl);
    else
        SSL_set_connect_state(layer->ssl);
    return name == NULL || expect_name(layer->ssl, name);
}

fl_status fl_tls_layer_add(fl_stream *stream, fl_tls *tls, const char *name)
{
    fl_tls_layer *layer = fl_mem_zalloc(sizeof *layer);

    if (layer == NULL ||
        (fl_stream_loop(stream)->plain == NULL &&
         !(fl_stream_loop(stream)->plain = fl_mem_alloc(PLAIN)))) {
        fl_mem_free(layer);
        return FL_E_NOMEM;
    }
    layer->tls = fl_tls_ref(tls);
    layer->pool = &fl_stream_loop(stream)->pool;
    fl_buf_init(&layer->held, HELD_MAX);
    fl_buf_init(&layer->out, OUT_MAX);
    bool done = set_up(layer, name);
    ERR_clear_error();
    if (!done) {
        fl_tls_layer_free(layer);
        return FL_E_NOMEM;
    }
    stream->tls = layer;
    return FL_OK;
}

void fl_tls_layer_free(fl_tls_layer *layer)
{
    if (layer == NULL)
        return;
    SSL_free(layer->ssl);
    fl_tls_unref(layer->tls);
    fl_buf_reset(&layer->held);
    fl_buf_reset(&layer->out);
    fl_mem_free(layer);
}

/* Gets the alert out that tells the other side why; there is no later. */
static void send_alert(fl_stream *stream)
{
    fl_tls_layer *layer = stream->tls;

    if (stream->out.fd < 0 || stream->blocked || fl_buf_len(&layer->out) == 0)
        return;
    (void)!fl_stream_give(stream, fl_buf_view(&layer->out));
    fl_buf_truncate(&layer->out, 0);
}

static void break_with(fl_stream *stream, const char *doing)
{
    long verdict = SSL_get_verify_result(stream->tls->ssl);
    char reason[128];
    fl_error error;

    fl_tls_reason(reason, sizeof reason);
    if (verdict != X509_V_OK &&
        SSL_get_verify_mode(stream->tls->ssl) != SSL_VERIFY_NONE)
        fl_error_set(&error, FL_E_TLS, "%s: certificate verify failed: %s",
                     doing, X509_verify_cert_error_string(verdict));
    else
        fl_error_set(&error, FL_E_TLS, "%s: %s", doing, reason);
    send_alert(stream);
    fl_stream_break(stream, &error);
}

/* Whether the handshake is behind us and the stream still there. */
static bool shake(fl_stream *stream)
{
    fl_tls_layer *layer = stream->tls;

    ERR_clear_error();
    int rc = SSL_do_handshake(layer->ssl);
    if (rc == 1) {
        layer->is_shaken = true;
        fl_stream_opened(stream);
        return stream->state == FL_STREAM_OPEN;
    }
    if (SSL_get_error(layer->ssl, rc) != SSL_ERROR_WANT_READ)
        break_with(stream, "TLS handshake failed");
    return false;
}

/* Delivers what the ciphertext in hand hides, as far as it is wanted. */
static void open_records(fl_stream *stream)
{
    SSL *ssl = stream->tls->ssl;
    char *plain = fl_stream_loop(stream)->plain;

    while (stream->state == FL_STREAM_OPEN && !stream->ended &&
           (!stream->paused || stream->quiet)) {
        ERR_clear_error();
        int n = SSL_read(ssl, plain, PLAIN);
        if (n > 0) {
            fl_stream_deliver(stream, (fl_span){plain, (size_t)n});
            continue;
        }
        int error = SSL_get_error(ssl, n);
        if (error == SSL_ERROR_ZERO_RETURN)
            fl_stream_ended(stream);
        else if (error != SSL_ERROR_WANT_READ)
            break_with(stream, "TLS");
        else
            break;
    }
}

static void go_on(fl_stream *stream)
{
    if (stream->tls->is_shaken || shake(stream))
        open_records(stream);
    if (fl_stream_usable(stream) && fl_buf_len(&stream->tls->out) > 0)
        fl_stream_mark(stream);
}

void fl_tls_layer_begin(fl_stream *stream)
{
    go_on(stream);
}

static void hold(fl_stream *stream, fl_span rest)
{
    fl_tls_layer *layer = stream->tls;

    if (rest.len == 0 || !fl_stream_usable(stream) || stream->ended)
        return;
    if (layer->held.ptr == NULL)
        fl_pool_lend(layer->pool, &layer->held);
    fl_status rc = fl_buf_append(&layer->held, rest);
    if (rc < 0) {
        stream->late = (int8_t)rc;
        fl_stream_mark(stream);
    }
    fl_stream_update_reading(stream);
}

void fl_tls_layer_feed(fl_stream *stream, fl_span raw)
{
    fl_tls_layer *layer = stream->tls;

    if (fl_buf_len(&layer->held) > 0) { /* its turn comes first */
        hold(stream, raw);
        fl_stream_mark(stream);
        return;
    }
    layer->in = raw;
    go_on(stream);
    fl_span rest = layer->in;
    layer->in = (fl_span){0};
    hold(stream, rest);
}

void fl_tls_layer_resume(fl_stream *stream)
{
    fl_tls_layer *layer = stream->tls;

    if (fl_buf_len(&layer->held) == 0)
        return;
    layer->in = fl_buf_view(&layer->held);
    go_on(stream);
    fl_buf_consume(&layer->held, fl_buf_len(&layer->held) - layer->in.len);
    layer->in = (fl_span){0};
    if (fl_buf_len(&layer->held) == 0) {
        fl_pool_return(layer->pool, &layer->held);
        fl_stream_update_reading(stream);
    }
}

bool fl_tls_layer_holds(const fl_tls_layer *layer)
{
    return layer != NULL && fl_buf_len(&layer->held) > 0;
}

void fl_tls_layer_at_eof(fl_stream *stream)
{
    fl_error error;

    if (stream->tls->is_shaken)
        fl_error_set(&error, FL_E_RESET,
                     "connection cut off: TLS was not closed in order");
    else
        fl_error_set(&error, FL_E_TLS,
                     "connection closed during the TLS handshake");
    fl_stream_break(stream, &error);
}

/* Encrypts the front of what was gathered. */
static bool seal_piece(fl_stream *stream)
{
    fl_span bytes = fl_buf_view(&stream->out_buf);
    int n = bytes.len < PIECE ? (int)bytes.len : PIECE;

    /* our BIO takes everything or fails for good, so this is no loop */
    if (SSL_write(stream->tls->ssl, bytes.ptr, n) != n)
        return false;
    fl_buf_consume(&stream->out_buf, (size_t)n);
    if (fl_buf_len(&stream->out_buf) == 0)
        fl_pool_return(stream->tls->pool, &stream->out_buf);
    return true;
}

fl_buf *fl_tls_layer_seal(fl_stream *stream)
{
    fl_tls_layer *layer = stream->tls;

    if (!layer->is_shaken || stream->state != FL_STREAM_OPEN ||
        fl_buf_len(&layer->out) > 0)
        return &layer->out;
    ERR_clear_error();
    if (fl_buf_len(&stream->out_buf) > 0 && !seal_piece(stream)) {
        break_with(stream, "TLS write");
        return NULL;
    }
    if (stream->finishing && !layer->said_goodbye &&
        fl_buf_len(&stream->out_buf) == 0) {
        layer->said_goodbye = true;
        SSL_shutdown(layer->ssl);
        ERR_clear_error();
    }
    return &layer->out;
}

size_t fl_tls_layer_pending(const fl_tls_layer *layer)
{
    return layer != NULL ? fl_buf_len(&layer->out) : 0;
}

size_t fl_tls_layer_memory(const fl_tls_layer *layer)
{
    return layer != NULL
               ? sizeof *layer + layer->held.cap + layer->out.cap + OPENSSL_IDLE
               : 0;
}

static bool print_subject(X509 *certificate, char *out, size_t size)
{
    BIO *text = BIO_new(BIO_s_mem());
    char *bytes;
    bool fits = false;

    if (text == NULL)
        return false;
    if (X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0,
                           XN_FLAG_RFC2253) >= 0) {
        long len = BIO_get_mem_data(text, &bytes);
        fits = len > 0 && (size_t)len < size;
        if (fits) {
            memcpy(out, bytes, (size_t)len);
            out[len] = '\0';
        }
    }
    BIO_free(text);
    return fits;
}

bool fl_stream_peer_subject(const fl_stream *stream, char *out, size_t size)
{
    const fl_tls_layer *layer = stream->tls;

    if (size > 0)
        out[0] = '\0';
    if (layer == NULL || !layer->is_shaken ||
        SSL_get_verify_mode(layer->ssl) == SSL_VERIFY_NONE ||
        SSL_get_verify_result(layer->ssl) != X509_V_OK)
        return false;
    X509 *certificate = SSL_get1_peer_certificate(layer->ssl);
    bool done = certificate != NULL && print_subject(certificate, out, size);
    X509_free(certificate);
    ERR_clear_error();
    return done;
}

fl_span fl_stream_alpn(const fl_stream *stream)
{
    const unsigned char *name = NULL;
    unsigned len = 0;

    if (stream->tls != NULL)
        SSL_get0_alpn_selected(stream->tls->ssl, &name, &len);
    return (fl_span){(const char *)name, len};
}
