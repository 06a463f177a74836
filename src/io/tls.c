/*
 * tls.c - a TLS configuration.
 *
 * Everything is read and checked here, before anything starts. What is not an
 * option: TLS 1.2 and later only, no renegotiation, no compression, no session
 * cache on the server (tickets carry the state, and idle memory is dear).
 */
#include "io/tls.h"

#include "base/mem.h"
#include "base/status.h"
#include "io/tls_impl.h"
#include "io/uv_status.h"

#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

void fl_tls_reason(char *out, size_t size)
{
    unsigned long code = ERR_get_error();
    const char *reason = ERR_reason_error_string(code);

    if (ERR_SYSTEM_ERROR(code))
        snprintf(out, size, "%s", fl_uv_text(-ERR_GET_REASON(code)));
    else
        snprintf(out, size, "%s", reason != NULL ? reason : "unknown error");
    ERR_clear_error();
}

static fl_status refuse(fl_error *error, const char *option, const char *file)
{
    char reason[128];

    fl_tls_reason(reason, sizeof reason);
    return fl_error_set(error, FL_E_TLS, "%s %s: %s", option, file, reason);
}

/* A key that wants a pass phrase must not make OpenSSL ask the terminal. */
static int no_phrase(char *buf, int size, int is_write, void *user)
{
    (void)is_write;
    (void)user;
    if (size > 0)
        buf[0] = '\0';
    return -1;
}

static fl_status load_identity(SSL_CTX *context, const fl_tls_options *options,
                               fl_error *error)
{
    const char *cert = options->cert_file, *key = options->key_file;

    if ((cert == NULL) != (key == NULL))
        return fl_error_set(error, FL_E_INVALID,
                            "cert_file and key_file go together: %s is not set",
                            cert == NULL ? "cert_file" : "key_file");
    if (cert == NULL)
        return FL_OK;
    if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
        return refuse(error, "cert_file", cert);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return refuse(error, "key_file", key);
    if (SSL_CTX_check_private_key(context) != 1)
        return refuse(error, "key_file", key);
    return FL_OK;
}

/* Whom we believe. */
static fl_status load_trust(SSL_CTX *context, const fl_tls_options *options,
                            bool is_server, fl_error *error)
{
    const char *file = options->ca_file;

    if (file == NULL)
        return is_server || SSL_CTX_set_default_verify_paths(context) == 1
                   ? FL_OK
                   : refuse(error, "ca_file", "(the system's)");
    if (SSL_CTX_load_verify_file(context, file) != 1)
        return refuse(error, "ca_file", file);
    if (!is_server)
        return FL_OK;
    /* tells clients with several certificates which one to show */
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(file);
    if (names == NULL)
        return refuse(error, "ca_file", file);
    SSL_CTX_set_client_CA_list(context, names);
    return FL_OK;
}

static int verify_mode(const fl_tls_options *options, bool is_server)
{
    if (!is_server)
        return options->insecure_skip_verify ? SSL_VERIFY_NONE
                                             : SSL_VERIFY_PEER;
    if (options->require_client_cert)
        return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    return options->ca_file != NULL ? SSL_VERIFY_PEER : SSL_VERIFY_NONE;
}

static int choose_alpn(SSL *ssl, const unsigned char **out,
                       unsigned char *out_len, const unsigned char *theirs,
                       unsigned theirs_len, void *user)
{
    const fl_tls *tls = user;
    unsigned char *chosen;

    (void)ssl;
    if (SSL_select_next_proto(&chosen, out_len, tls->alpn, tls->alpn_len,
                              theirs, theirs_len) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL; /* RFC 7301 3.2 */
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* Writes the list as ALPN wants it: each name behind its length. */
static fl_status pack_alpn(fl_tls *tls, const char *const *names,
                           fl_error *error)
{
    size_t size = 0;

    for (size_t i = 0; names[i] != NULL; i++) {
        size_t len = strlen(names[i]);
        if (len == 0 || len > 255)
            return fl_error_set(error, FL_E_INVALID,
                                "alpn: a name has 1 to 255 bytes, not %zu",
                                len);
        size += len + 1;
    }
    tls->alpn = fl_mem_alloc(size + 1);
    if (tls->alpn == NULL)
        return fl_error_set(error, FL_E_NOMEM, "%s",
                            fl_status_text(FL_E_NOMEM));
    for (size_t i = 0; names[i] != NULL; i++) {
        size_t len = strlen(names[i]);
        tls->alpn[tls->alpn_len] = (unsigned char)len;
        memcpy(tls->alpn + tls->alpn_len + 1, names[i], len);
        tls->alpn_len += (unsigned)len + 1;
    }
    return FL_OK;
}

static fl_status set_alpn(fl_tls *tls, const char *const *names,
                          fl_error *error)
{
    if (names == NULL || names[0] == NULL)
        return FL_OK;
    fl_status rc = pack_alpn(tls, names, error);
    if (rc < 0)
        return rc;
    if (tls->is_server)
        SSL_CTX_set_alpn_select_cb(tls->context, choose_alpn, tls);
    else if (SSL_CTX_set_alpn_protos(tls->context, tls->alpn, tls->alpn_len) !=
             0)
        return fl_error_set(error, FL_E_NOMEM, "%s",
                            fl_status_text(FL_E_NOMEM));
    return FL_OK;
}

static void set_rules(fl_tls *tls, const fl_tls_options *options)
{
    static const unsigned char id[] = "fairlead";
    SSL_CTX *context = tls->context;

    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    /* of TLS 1.2 what RFC 9113 appendix A leaves: forward secret, and AEAD */
    SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_options(context,
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_id_context(context, id, sizeof id - 1);
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_default_passwd_cb(context, no_phrase);
    SSL_CTX_set_verify(context, verify_mode(options, tls->is_server), NULL);
}

static fl_status configure(fl_tls *tls, const fl_tls_options *options,
                           fl_error *error)
{
    set_rules(tls, options);
    fl_status rc = load_identity(tls->context, options, error);
    if (rc == FL_OK)
        rc = load_trust(tls->context, options, tls->is_server, error);
    return rc == FL_OK ? set_alpn(tls, options->alpn, error) : rc;
}

static fl_status make(const fl_tls_options *options, bool is_server,
                      fl_tls **out, fl_error *error)
{
    fl_tls *tls = fl_mem_zalloc(sizeof *tls);
    fl_status rc = FL_E_NOMEM;

    *out = NULL;
    ERR_clear_error();
    if (tls != NULL) {
        atomic_init(&tls->refs, 1);
        tls->is_server = is_server;
        tls->context =
            SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
        tls->bio = fl_tls_bio_method();
    }
    if (tls == NULL || tls->context == NULL || tls->bio == NULL)
        fl_error_set(error, rc, "%s", fl_status_text(rc));
    else
        rc = configure(tls, options, error);
    ERR_clear_error();
    if (rc < 0) {
        fl_tls_unref(tls);
        return rc;
    }
    *out = tls;
    return FL_OK;
}

fl_status fl_tls_new_server(const fl_tls_options *options, fl_tls **out,
                            fl_error *error)
{
    *out = NULL;
    if (options->cert_file == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "cert_file is not set: a TLS server needs one");
    if (options->require_client_cert && options->ca_file == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "ca_file is not set: require_client_cert needs it "
                            "to verify clients");
    return make(options, true, out, error);
}

fl_status fl_tls_new_client(const fl_tls_options *options, fl_tls **out,
                            fl_error *error)
{
    return make(options, false, out, error);
}

fl_tls *fl_tls_ref(fl_tls *tls)
{
    atomic_fetch_add(&tls->refs, 1);
    return tls;
}

void fl_tls_unref(fl_tls *tls)
{
    if (tls == NULL || atomic_fetch_sub(&tls->refs, 1) > 1)
        return;
    SSL_CTX_free(tls->context);
    BIO_meth_free(tls->bio);
    fl_mem_free(tls->alpn);
    fl_mem_free(tls);
}
