/*
 * http_mini.h - a small HTTP server on our own codec, for what a plain socket
 * cannot play: TLS and HTTP/2.
 *
 * It answers each POST with a result for its id, at once or when told to.
 */
#ifndef TESTS_UNIT_HTTP_MINI_H
#define TESTS_UNIT_HTTP_MINI_H

#include "http_rig.h"
#include "io/acceptor.h"
#include "io/tls.h"
#include "wire/http.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

enum { MINI_GUESTS = 40, MINI_ASKED = 64 };

typedef struct mini_guest {
    fl_stream *stream;
    fl_http *http;
    bool over;
} mini_guest;

static struct mini {
    fl_acceptor *acceptor;
    fl_tls *tls;
    uint16_t port;
    unsigned version; /* without TLS; 0: 11 */
    bool waits;       /* answers only when mini_answer_all() is called */
    int guests;       /* that have come */
    int asked;        /* requests that have come whole */
    int lost;
    int closed;
    unsigned last_version;
    char authority[128], target[256];
    mini_guest guest[MINI_GUESTS];
    fl_exchange *open[MINI_ASKED];
    int opened;
    char body[MINI_ASKED][512];
} mini;

static inline fl_status mini_write(void *user, const fl_span *parts,
                                   size_t count, bool urgent)
{
    mini_guest *guest = user;

    (void)urgent;
    return guest->stream != NULL
               ? fl_stream_write_urgent(guest->stream, parts, count)
               : FL_E_CLOSED;
}

static inline void mini_on_head(fl_exchange *exchange, const fl_head *head,
                                void *user)
{
    (void)user;
    assert_true(mini.opened < MINI_ASKED);
    fl_exchange_set_user(exchange, mini.body[mini.opened]);
    mini.body[mini.opened][0] = '\0';
    mini.open[mini.opened++] = exchange;
    mini.last_version = head->version;
    snprintf(mini.authority, sizeof mini.authority, "%.*s",
             (int)head->authority.len, head->authority.ptr);
    snprintf(mini.target, sizeof mini.target, "%.*s", (int)head->target.len,
             head->target.ptr);
}

static inline void mini_on_body(fl_exchange *exchange, fl_span bytes,
                                void *user)
{
    char *body = fl_exchange_user(exchange);
    size_t len = strlen(body);

    (void)user;
    snprintf(body + len, sizeof mini.body[0] - len, "%.*s", (int)bytes.len,
             bytes.ptr);
}

static inline void mini_answer(int n)
{
    fl_exchange *exchange = mini.open[n];
    fl_field type = FL_FIELD_SET(CONTENT_TYPE, FL_SPAN("application/json"));
    fl_msg_fault fault;
    fl_msg msg;

    if (exchange == NULL)
        return;
    mini.open[n] = NULL;
    assert_int_equal(fl_msg_read(fl_span_of(mini.body[n]), &msg, &fault),
                     FL_OK);
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), msg.id,
                       FL_SPAN(",\"result\":{}}")};
    assert_int_equal(
        fl_exchange_answer(
            exchange, &(fl_heading){.status = 200, .fields = &type, .count = 1},
            parts, 3),
        FL_OK);
}

static inline void mini_answer_all(void)
{
    mini.waits = false;
    for (int i = 0; i < mini.opened; i++)
        mini_answer(i);
}

static inline int mini_find(const fl_exchange *exchange)
{
    for (int i = 0; i < mini.opened; i++)
        if (mini.open[i] == exchange)
            return i;
    return -1;
}

static inline void mini_on_end(fl_exchange *exchange, void *user)
{
    (void)user;
    mini.asked++;
    if (!mini.waits)
        mini_answer(mini_find(exchange));
}

static inline void mini_on_lost(fl_exchange *exchange, const fl_error *why,
                                void *user)
{
    (void)why;
    (void)user;
    mini.open[mini_find(exchange)] = NULL;
    mini.lost++;
}

static inline void mini_on_over(void *user)
{
    mini_guest *guest = user;

    fl_stream_close_after_flush(guest->stream, 100);
}

static const fl_http_events mini_http_events = {
    .write = mini_write,
    .on_head = mini_on_head,
    .on_body = mini_on_body,
    .on_end = mini_on_end,
    .on_lost = mini_on_lost,
    .on_over = mini_on_over,
};

static inline void mini_on_open(void *user)
{
    mini_guest *guest = user;
    unsigned version = mini.version != 0 ? mini.version : 11;

    if (fl_span_equal(fl_stream_alpn(guest->stream), FL_SPAN("h2")))
        version = 20;
    assert_int_equal(fl_http_new(&(fl_http_options){.version = version,
                                                    .events = &mini_http_events,
                                                    .user = guest},
                                 &guest->http),
                     FL_OK);
}

static inline void mini_on_data(void *user, fl_span bytes)
{
    fl_http_feed(((mini_guest *)user)->http, bytes);
}

static inline void mini_on_stream_end(void *user, const fl_error *why)
{
    mini_guest *guest = user;

    if (guest->http != NULL)
        fl_http_lose(guest->http, why);
    fl_stream_close(guest->stream);
}

static inline void mini_on_closed(void *user)
{
    mini_guest *guest = user;

    fl_http_free(guest->http);
    guest->http = NULL;
    guest->stream = NULL;
    mini.closed++;
}

static const fl_stream_events mini_stream_events = {
    .on_open = mini_on_open,
    .on_data = mini_on_data,
    .on_end = mini_on_stream_end,
    .on_closed = mini_on_closed,
};

static inline void mini_on_accept(void *user, fl_stream *stream,
                                  const char *address)
{
    mini_guest *guest = &mini.guest[mini.guests];

    (void)user;
    (void)address;
    assert_true(mini.guests < MINI_GUESTS);
    mini.guests++;
    *guest = (mini_guest){.stream = stream};
    if (fl_stream_start(stream, &mini_stream_events, guest) == FL_OK)
        mini_on_open(guest);
}

static const fl_acceptor_events mini_events = {.on_accept = mini_on_accept};

/* A certificate that is its own authority, for 127.0.0.1 and server.test. */
static char mini_cert[64], mini_key[64];

static inline int mini_make_files(void **state)
{
    static char dir[] = "/tmp/fairlead-http-XXXXXX";
    X509 *made = X509_new();
    EVP_PKEY *key = EVP_EC_gen("P-256");
    static const struct {
        int nid;
        const char *value;
    } more[] = {{NID_subject_alt_name, "IP:127.0.0.1,DNS:server.test"},
                {NID_basic_constraints, "critical,CA:TRUE"}};

    (void)state;
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(mini_cert, sizeof mini_cert, "%s/crt", dir);
    snprintf(mini_key, sizeof mini_key, "%s/key", dir);
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600L * 24);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                               (const unsigned char *)"mini", -1, -1, 0);
    X509_set_issuer_name(made, X509_get_subject_name(made));
    X509_set_pubkey(made, key);
    for (size_t i = 0; i < 2; i++) {
        X509_EXTENSION *extension =
            X509V3_EXT_conf_nid(NULL, NULL, more[i].nid, more[i].value);
        X509_add_ext(made, extension, -1);
        X509_EXTENSION_free(extension);
    }
    X509_sign(made, key, EVP_sha256());
    FILE *out = fopen(mini_cert, "w");
    PEM_write_X509(out, made);
    fclose(out);
    out = fopen(mini_key, "w");
    PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL);
    fclose(out);
    X509_free(made);
    EVP_PKEY_free(key);
    return 0;
}

static inline int mini_remove_files(void **state)
{
    (void)state;
    unlink(mini_cert);
    unlink(mini_key);
    *strrchr(mini_cert, '/') = '\0';
    return rmdir(mini_cert);
}

static inline void mini_begin(const char *const *alpn, unsigned version)
{
    fl_error error;

    at = (rig){.loop = io_loop(), .listener = -1};
    mini = (struct mini){.version = version};
    if (alpn != NULL)
        assert_int_equal(
            fl_tls_new_server(&(fl_tls_options){.cert_file = mini_cert,
                                                .key_file = mini_key,
                                                .alpn = alpn},
                              &mini.tls, &error),
            FL_OK);
    assert_int_equal(
        fl_acceptor_open(
            at.loop,
            &(fl_acceptor_options){.host = "127.0.0.1", .tls = mini.tls},
            &mini_events, NULL, &mini.acceptor, &error),
        FL_OK);
    mini.port = fl_acceptor_port(mini.acceptor);
    at.port = mini.port;
    at.scheme = alpn != NULL ? "https" : "http";
}

static inline void mini_end(void)
{
    fl_link_close(at.link);
    io_until(at.loop, at.closed == 1);
    fl_link_unref(at.link);
    for (int i = 0; i < mini.guests; i++)
        if (mini.guest[i].stream != NULL)
            fl_stream_close(mini.guest[i].stream);
    fl_acceptor_close(mini.acceptor);
    io_until(at.loop, mini.closed == mini.guests);
    fl_tls_unref(mini.tls);
    for (int i = 0; i < 20; i++)
        fl_loop_step(at.loop);
    fl_loop_free(at.loop);
}

#endif
