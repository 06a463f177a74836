/*
 * test_tls.c - TLS over real sockets: who gets through, who does not, and what
 * each side is told.
 *
 * The certificates are made anew for every run, in a directory of their own.
 */
#include "io/acceptor.h"
#include "io/connect.h"
#include "io/tls.h"
#include "io/tls_facts.h"
#include "io_probe.h"
#include "support/ration.h"

#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>

static char dir[] = "/tmp/fairlead-tls-XXXXXX";

static const char *file(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static FILE *create(const char *name)
{
    FILE *out = fopen(file(name), "w");

    assert_non_null(out);
    return out;
}

static void extend(X509 *certificate, int kind, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, kind, value);

    assert_non_null(extension);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

typedef struct identity {
    X509 *certificate;
    EVP_PKEY *key;
} identity;

/* Makes <name>.crt and <name>.key, signed by `issuer` or by itself. `san` NULL
 * makes an authority; `days` below zero one that has expired. */
static identity issue(const char *name, const char *san, const identity *issuer,
                      int days)
{
    identity made = {X509_new(), EVP_EC_gen("P-256")};
    X509_NAME *subject = X509_get_subject_name(made.certificate);
    static long serial;
    char path[64];

    X509_set_version(made.certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made.certificate), -86400L * 30);
    X509_gmtime_adj(X509_getm_notAfter(made.certificate), 86400L * days);
    X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8,
                               (const unsigned char *)"Fairlead, Test", -1, -1,
                               0);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_pubkey(made.certificate, made.key);
    if (issuer == NULL)
        issuer = &made;
    X509_set_issuer_name(made.certificate,
                         X509_get_subject_name(issuer->certificate));
    if (san != NULL)
        extend(made.certificate, NID_subject_alt_name, san);
    else
        extend(made.certificate, NID_basic_constraints, "critical,CA:TRUE");
    assert_true(X509_sign(made.certificate, issuer->key, EVP_sha256()) > 0);

    snprintf(path, sizeof path, "%s.crt", name);
    FILE *out = create(path);
    PEM_write_X509(out, made.certificate);
    fclose(out);
    snprintf(path, sizeof path, "%s.key", name);
    out = create(path);
    PEM_write_PrivateKey(out, made.key, NULL, NULL, 0, NULL, NULL);
    fclose(out);
    return made;
}

static void forget(identity who)
{
    X509_free(who.certificate);
    EVP_PKEY_free(who.key);
}

static int make_files(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    identity ca = issue("ca", NULL, NULL, 10);
    forget(issue("server", "DNS:localhost,IP:127.0.0.1", &ca, 10));
    forget(issue("expired", "DNS:localhost,IP:127.0.0.1", &ca, -1));
    forget(issue("client", "DNS:client.test", &ca, 10));
    forget(issue("other", NULL, NULL, 10));
    FILE *out = create("locked.key");
    PEM_write_PrivateKey(out, ca.key, EVP_aes_128_cbc(),
                         (const unsigned char *)"secret", 6, NULL, NULL);
    fclose(out);
    forget(ca);
    return 0;
}

static int remove_files(void **state)
{
    static const char *const names[] = {
        "ca.crt",      "ca.key",      "server.crt", "server.key",
        "expired.crt", "expired.key", "client.crt", "client.key",
        "other.crt",   "other.key",   "locked.key"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(file(names[i]));
    return rmdir(dir);
}

/* A listener, whoever came to it, and a client. */
typedef struct scene {
    fl_loop *loop;
    uint64_t now;
    fl_acceptor *acceptor;
    probe server, client;
    fl_tls *server_tls, *client_tls;
} scene;

static void on_accept(void *user, fl_stream *stream, const char *address)
{
    scene *s = user;

    (void)address;
    s->server.stream = stream;
    assert_int_equal(probe_start(&s->server), FL_AGAIN);
}

static const fl_acceptor_events events = {.on_accept = on_accept};

static fl_tls *must(fl_status rc, fl_tls *const *tls, const fl_error *error)
{
    if (rc != FL_OK)
        fail_msg("%s", error->text);
    return *tls;
}

static fl_tls_options server_options(void)
{
    return (fl_tls_options){.cert_file = file("server.crt"),
                            .key_file = file("server.key")};
}

static void scene_listen(scene *s, const fl_tls_options *options)
{
    fl_error error;
    fl_tls *tls;

    *s = (scene){.loop = io_loop()};
    s->server_tls =
        must(fl_tls_new_server(options, &tls, &error), &tls, &error);
    assert_int_equal(
        fl_acceptor_open(
            s->loop,
            &(fl_acceptor_options){.host = "127.0.0.1", .tls = s->server_tls},
            &events, s, &s->acceptor, &error),
        FL_OK);
}

static void scene_connect(scene *s, const fl_tls_options *options,
                          const char *name)
{
    fl_error error;
    fl_tls *tls;

    s->client_tls =
        must(fl_tls_new_client(options, &tls, &error), &tls, &error);
    assert_int_equal(
        fl_connect(s->loop,
                   &(fl_connect_options){.host = "127.0.0.1",
                                         .port = fl_acceptor_port(s->acceptor),
                                         .tls = s->client_tls,
                                         .server_name = name},
                   &s->client.stream),
        FL_OK);
    assert_int_equal(probe_start(&s->client), FL_AGAIN);
}

static void scene_end(scene *s)
{
    probe *probes[2];
    size_t count = 0;

    fl_acceptor_close(s->acceptor);
    if (s->server.stream != NULL || s->server.closes > 0)
        probes[count++] = &s->server;
    if (s->client.stream != NULL || s->client.closes > 0)
        probes[count++] = &s->client;
    fl_tls_unref(s->server_tls); /* streams have their own */
    fl_tls_unref(s->client_tls);
    io_end(s->loop, probes, count);
}

static void test_tls_carries_bytes_both_ways(void **state)
{
    fl_tls_options options = server_options();
    scene s;
    char subject[128];

    (void)state;
    scene_listen(&s, &options);
    s.server.is_echo = true;
    scene_connect(&s, &(fl_tls_options){.ca_file = file("ca.crt")}, NULL);
    assert_int_equal(probe_say(&s.client, "early"), FL_OK);
    io_until(s.loop, s.client.received == 5);
    assert_string_equal(s.client.head, "early");
    assert_int_equal(s.client.opens, 1);
    assert_int_equal(s.server.opens, 1);
    assert_true(
        fl_stream_peer_subject(s.client.stream, subject, sizeof subject));
    assert_string_equal(subject, "CN=server,O=Fairlead\\, Test");
    assert_false(fl_stream_peer_subject(s.client.stream, subject, 4));
    assert_false(
        fl_stream_peer_subject(s.server.stream, subject, sizeof subject));
    assert_int_equal(fl_stream_alpn(s.client.stream).len, 0);
    assert_true(fl_stream_memory(s.server.stream) < 20000);
    scene_end(&s);
}

static void test_tls_carries_megabytes_both_ways_unharmed(void **state)
{
    enum { SIZE = 5 * 1024 * 1024 };
    fl_tls_options options = server_options();
    static char bytes[SIZE];
    scene s;

    (void)state;
    srand(5);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)rand();
    scene_listen(&s, &options);
    scene_connect(&s, &(fl_tls_options){.ca_file = file("ca.crt")},
                  "localhost");
    io_until(s.loop, s.server.opens == 1);
    fl_span all = {bytes, SIZE};
    assert_int_equal(fl_stream_write(s.client.stream, &all, 1), FL_OK);
    assert_int_equal(fl_stream_write(s.server.stream, &all, 1), FL_OK);
    io_until(s.loop, s.server.received == SIZE && s.client.received == SIZE);
    assert_int_equal(s.server.sum, probe_sum(0, all));
    assert_int_equal(s.client.sum, probe_sum(0, all));
    io_until(s.loop, s.client.drains == 1 && s.server.drains == 1);
    scene_end(&s);
}

static void test_tls_finish_is_an_orderly_end(void **state)
{
    fl_tls_options options = server_options();
    scene s;

    (void)state;
    scene_listen(&s, &options);
    scene_connect(&s, &(fl_tls_options){.ca_file = file("ca.crt")}, NULL);
    assert_int_equal(probe_say(&s.client, "ask"), FL_OK);
    fl_stream_finish(s.client.stream);
    io_until(s.loop, s.server.ends == 1);
    assert_int_equal(s.server.error.status, FL_END);
    assert_string_equal(s.server.head, "ask");
    assert_int_equal(probe_say(&s.server, "answer"), FL_OK);
    fl_stream_close_after_flush(s.server.stream, 5000);
    io_until(s.loop, s.client.ends == 1 && s.server.closes == 1);
    assert_int_equal(s.client.error.status, FL_END);
    assert_string_equal(s.client.head, "answer");
    scene_end(&s);
}

static void test_tls_cut_off_is_not_an_end(void **state)
{
    fl_tls_options options = server_options();
    scene s;

    (void)state;
    scene_listen(&s, &options);
    scene_connect(&s, &(fl_tls_options){.ca_file = file("ca.crt")}, NULL);
    io_until(s.loop, s.server.opens == 1 && s.client.opens == 1);
    io_some_turns(s.loop);
    fl_stream_close(s.client.stream);
    io_until(s.loop, s.server.ends == 1);
    assert_int_equal(s.server.error.status, FL_E_RESET);
    scene_end(&s);
}

static void test_tls_pauses_in_the_middle_of_a_read(void **state)
{
    fl_tls_options options = server_options();
    scene s;

    (void)state;
    scene_listen(&s, &options);
    s.server.pauses = true;
    scene_connect(&s, &(fl_tls_options){.ca_file = file("ca.crt")}, NULL);
    static char bytes[100000]; /* several records */
    fl_span all = {bytes, sizeof bytes};
    assert_int_equal(fl_stream_write(s.client.stream, &all, 1), FL_OK);
    for (int reads = 1; s.server.received < sizeof bytes; reads++) {
        io_until(s.loop, s.server.reads == reads);
        io_some_turns(s.loop);
        assert_int_equal(s.server.reads, reads);
        fl_stream_pause(s.server.stream, false);
    }
    assert_int_equal(s.server.sum, probe_sum(0, all));
    scene_end(&s);
}

static void test_tls_may_be_closed_in_each_callback(void **state)
{
    fl_tls_options options = server_options();

    (void)state;
    for (probe_close where = PROBE_ON_OPEN; where <= PROBE_ON_END; where++) {
        scene s;
        scene_listen(&s, &options);
        s.server.close_in = where;
        scene_connect(&s, &(fl_tls_options){.ca_file = file("ca.crt")}, NULL);
        assert_int_equal(probe_say(&s.client, "hello"), FL_OK);
        fl_stream_finish(s.client.stream);
        io_until(s.loop, s.server.closes == 1);
        assert_int_equal(s.server.ends, where == PROBE_ON_END);
        scene_end(&s);
    }
}

/* The client must not get through, and be told `text`. */
static void refuse_server(const fl_tls_options *server,
                          const fl_tls_options *client, const char *name,
                          const char *text)
{
    scene s;

    scene_listen(&s, server);
    scene_connect(&s, client, name);
    assert_int_equal(probe_say(&s.client, "secret"), FL_OK);
    io_until(s.loop, s.client.ends == 1);
    assert_int_equal(s.client.opens, 0);
    assert_int_equal(s.client.error.status, FL_E_TLS);
    assert_string_equal(s.client.error.text, text);
    io_until(s.loop, s.server.ends == 1); /* it got the alert */
    assert_int_equal(s.server.error.status, FL_E_TLS);
    assert_int_equal(s.server.received, 0);
    scene_end(&s);
}

static void test_tls_client_refuses_whom_it_cannot_verify(void **state)
{
    fl_tls_options server = server_options();
    fl_tls_options client = {.ca_file = file("other.crt")};

    (void)state;
    refuse_server(&server, &client, NULL,
                  "TLS handshake failed: certificate verify failed: unable to "
                  "get local issuer certificate");
    client.ca_file = file("ca.crt");
    refuse_server(&server, &client, "example.org",
                  "TLS handshake failed: certificate verify failed: hostname "
                  "mismatch");
    refuse_server(&server, &client, "127.0.0.2",
                  "TLS handshake failed: certificate verify failed: IP address "
                  "mismatch");
    server.cert_file = file("expired.crt");
    server.key_file = file("expired.key");
    refuse_server(&server, &client, NULL,
                  "TLS handshake failed: certificate verify failed: "
                  "certificate has expired");
    server.cert_file = file("other.crt");
    server.key_file = file("other.key");
    refuse_server(&server, &client, NULL,
                  "TLS handshake failed: certificate verify failed: "
                  "self-signed certificate");
}

static void test_tls_client_skips_verification_only_when_told(void **state)
{
    fl_tls_options server = {.cert_file = file("other.crt"),
                             .key_file = file("other.key")};
    scene s;
    char subject[128];

    (void)state;
    scene_listen(&s, &server);
    scene_connect(&s, &(fl_tls_options){.insecure_skip_verify = true}, NULL);
    io_until(s.loop, s.client.opens == 1);
    assert_false(fl_stream_peer_subject(s.client.stream, subject,
                                        sizeof subject)); /* not verified */
    scene_end(&s);
}

static void test_tls_tells_what_was_shown_verified_or_not(void **state)
{
    fl_tls_options server = server_options();
    fl_tls_facts facts;
    scene s;

    (void)state;
    scene_listen(&s, &server);
    scene_connect(&s, &(fl_tls_options){.insecure_skip_verify = true}, NULL);
    io_until(s.loop, s.client.opens == 1 && s.server.opens == 1);
    assert_true(fl_tls_facts_read(s.client.stream, &facts));
    assert_string_equal(facts.subject, "CN=server,O=Fairlead\\, Test");
    assert_string_equal(facts.version, "TLSv1.3");
    assert_true(facts.starts > 0 && facts.expires > facts.starts);
    assert_non_null(strstr(facts.names, "localhost"));
    assert_false(facts.self_signed);
    assert_false(fl_tls_facts_read(s.server.stream, &facts));
    scene_end(&s);
}

static void test_tls_server_knows_its_client(void **state)
{
    fl_tls_options server = server_options();
    scene s;
    char subject[128];

    (void)state;
    server.require_client_cert = true;
    server.ca_file = file("ca.crt");
    scene_listen(&s, &server);
    scene_connect(&s,
                  &(fl_tls_options){.ca_file = file("ca.crt"),
                                    .cert_file = file("client.crt"),
                                    .key_file = file("client.key")},
                  NULL);
    io_until(s.loop, s.server.opens == 1 && s.client.opens == 1);
    assert_true(
        fl_stream_peer_subject(s.server.stream, subject, sizeof subject));
    assert_string_equal(subject, "CN=client,O=Fairlead\\, Test");
    scene_end(&s);
}

/* The server must not let this client in. */
static void refuse_client(const fl_tls_options *client, const char *text)
{
    fl_tls_options server = server_options();
    scene s;

    server.require_client_cert = true;
    server.ca_file = file("ca.crt");
    scene_listen(&s, &server);
    scene_connect(&s, client, NULL);
    assert_int_equal(probe_say(&s.client, "let me in"), FL_OK);
    io_until(s.loop, s.server.ends == 1 && s.client.ends == 1);
    assert_int_equal(s.server.opens, 0);
    assert_int_equal(s.server.received, 0);
    assert_int_equal(s.server.error.status, FL_E_TLS);
    assert_string_equal(s.server.error.text, text);
    assert_true(s.client.error.status < 0);
    scene_end(&s);
}

static void test_tls_server_refuses_clients_it_does_not_know(void **state)
{
    fl_tls_options client = {.ca_file = file("ca.crt")};

    (void)state;
    refuse_client(&client, "TLS handshake failed: peer did not return a "
                           "certificate");
    client.cert_file = file("other.crt");
    client.key_file = file("other.key");
    refuse_client(&client, "TLS handshake failed: certificate verify failed: "
                           "self-signed certificate");
}

static void test_tls_agrees_on_a_protocol(void **state)
{
    static const char *const ours[] = {"h2", "http/1.1", NULL};
    static const char *const theirs[] = {"spdy/1", "http/1.1", "h2", NULL};
    static const char *const strange[] = {"spdy/1", NULL};
    fl_tls_options server = server_options();
    fl_tls_options client = {.ca_file = file("ca.crt"), .alpn = theirs};
    scene s;

    (void)state;
    server.alpn = ours;
    scene_listen(&s, &server);
    scene_connect(&s, &client, NULL);
    io_until(s.loop, s.server.opens == 1 && s.client.opens == 1);
    fl_span chosen = fl_stream_alpn(s.server.stream);
    assert_int_equal(chosen.len, 2); /* the server's favourite */
    assert_memory_equal(chosen.ptr, "h2", 2);
    chosen = fl_stream_alpn(s.client.stream);
    assert_memory_equal(chosen.ptr, "h2", 2);
    scene_end(&s);

    client.alpn = strange;
    scene_listen(&s, &server);
    scene_connect(&s, &client, NULL);
    io_until(s.loop, s.server.ends == 1 && s.client.ends == 1);
    assert_non_null(
        strstr(s.client.error.text, "alert no application protocol"));
    scene_end(&s);
}

static int dial(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static void test_tls_port_hangs_up_on_a_plain_client_at_once(void **state)
{
    fl_tls_options options = server_options();
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1}\n";
    char got;
    scene s;

    (void)state;
    scene_listen(&s, &options);
    s.server.close_in = PROBE_ON_END;
    int fd = dial(fl_acceptor_port(s.acceptor));
    assert_int_equal(write(fd, request, sizeof request - 1),
                     sizeof request - 1);
    io_until(s.loop, s.server.closes == 1);
    assert_int_equal(s.server.error.status, FL_E_TLS);
    assert_string_equal(s.server.error.text,
                        "TLS handshake failed: wrong version number");
    /* OpenSSL has no alert for what is no TLS at all, but it is over */
    assert_int_equal(recv(fd, &got, 1, 0), 0);
    close(fd);
    scene_end(&s);
}

static void test_tls_client_tells_of_a_plain_server(void **state)
{
    fl_loop *loop = io_loop();
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    probe a = {0};
    fl_error error;
    fl_tls *tls;

    (void)state;
    assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    getsockname(listener, (struct sockaddr *)&at, &len);
    must(fl_tls_new_client(&(fl_tls_options){.ca_file = file("ca.crt")}, &tls,
                           &error),
         &tls, &error);
    assert_int_equal(
        fl_connect(loop,
                   &(fl_connect_options){.host = "127.0.0.1",
                                         .port = ntohs(at.sin_port),
                                         .tls = tls},
                   &a.stream),
        FL_OK);
    assert_int_equal(probe_start(&a), FL_AGAIN);
    io_some_turns(loop);
    int fd = accept(listener, NULL, NULL);
    assert_int_equal(write(fd, "SSH-2.0-x\r\n", 11), 11);
    io_until(loop, a.ends == 1);
    assert_int_equal(a.error.status, FL_E_TLS);
    fl_tls_unref(tls);
    io_end(loop, (probe *[]){&a}, 1);
    close(fd);
    close(listener);
}

static void test_tls_handshake_that_stops_times_out(void **state)
{
    fl_tls_options options = server_options();
    fl_error error;
    fl_tls *tls;
    scene s = {.now = 50};

    (void)state;
    s.loop = io_driven_loop(&s.now);
    s.server_tls =
        must(fl_tls_new_server(&options, &tls, &error), &tls, &error);
    fl_acceptor_options listen_on = {.host = "127.0.0.1",
                                     .tls = s.server_tls,
                                     .limits.open_timeout_ms = 300};
    assert_int_equal(
        fl_acceptor_open(s.loop, &listen_on, &events, &s, &s.acceptor, &error),
        FL_OK);
    int fd = dial(fl_acceptor_port(s.acceptor));
    io_until(s.loop, s.server.stream != NULL);
    s.now = 349;
    io_some_turns(s.loop);
    assert_int_equal(s.server.ends, 0);
    s.now = 350;
    io_some_turns(s.loop);
    assert_int_equal(s.server.ends, 1);
    assert_int_equal(s.server.error.status, FL_E_TIMEOUT);
    assert_non_null(strstr(s.server.error.text, "TLS handshake with 127.0.0."));
    scene_end(&s);
    close(fd);
}

static void test_tls_handshake_cut_off_says_so(void **state)
{
    fl_tls_options options = server_options();
    scene s;

    (void)state;
    scene_listen(&s, &options);
    close(dial(fl_acceptor_port(s.acceptor)));
    io_until(s.loop, s.server.ends == 1);
    assert_int_equal(s.server.error.status, FL_E_TLS);
    assert_string_equal(s.server.error.text,
                        "connection closed during the TLS handshake");
    scene_end(&s);
}

static void test_tls_old_versions_are_refused(void **state)
{
    fl_tls_options options = server_options();
    scene s;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    (void)state;
    scene_listen(&s, &options);
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
    SSL_CTX_set_security_level(context, 0);
    SSL *ssl = SSL_new(context);
    int fd = dial(fl_acceptor_port(s.acceptor));
    SSL_set_fd(ssl, fd);
    /* the client waits for an answer, so its first words are sent by hand */
    SSL_set_connect_state(ssl);
    BIO_set_nbio(SSL_get_wbio(ssl), 1);
    struct timeval soon = {.tv_usec = 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    assert_int_equal(SSL_do_handshake(ssl), -1);
    io_until(s.loop, s.server.ends == 1);
    assert_int_equal(s.server.opens, 0);
    assert_non_null(strstr(s.server.error.text, "unsupported protocol"));
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(fd);
    scene_end(&s);
}

/* Everything of ours that allocates; memory may be refused at any point. */
static void meet_once(void *user)
{
    fl_loop *loop = fl_loop_new();
    fl_acceptor_options options = {.host = "127.0.0.1"};
    scene s = {.loop = loop, .server.close_in = PROBE_ON_END};
    fl_tls *const *tls = user;

    if (loop == NULL)
        return;
    options.tls = tls[0];
    if (fl_acceptor_open(loop, &options, &events, &s, &s.acceptor, NULL) ==
        FL_OK) {
        fl_connect_options to = {.host = "127.0.0.1",
                                 .port = fl_acceptor_port(s.acceptor),
                                 .tls = tls[1]};
        if (fl_connect(loop, &to, &s.client.stream) == FL_OK) {
            assert_int_equal(probe_start(&s.client), FL_AGAIN);
            (void)!probe_say(&s.client, "hello");
            io_until(loop, s.server.received == 5 || s.client.ends > 0 ||
                               (s.client.opens > 0 &&
                                fl_stream_pending(s.client.stream) == 0 &&
                                ration_refused()));
            fl_stream_close(s.client.stream);
        }
        if (s.server.stream != NULL)
            fl_stream_close(s.server.stream);
        fl_acceptor_close(s.acceptor);
    }
    fl_loop_run(loop);
    fl_loop_free(loop);
}

static void test_tls_without_memory_leaks_nothing(void **state)
{
    fl_tls_options options = server_options();
    fl_error error;
    fl_tls *tls[2];

    (void)state;
    must(fl_tls_new_server(&options, &tls[0], &error), &tls[0], &error);
    must(fl_tls_new_client(&(fl_tls_options){.ca_file = file("ca.crt")},
                           &tls[1], &error),
         &tls[1], &error);
    assert_true(ration_each(meet_once, tls) >= 10);
    fl_tls_unref(tls[0]);
    fl_tls_unref(tls[1]);
}

static void refuse_options(fl_status rc, fl_status want, const fl_tls *tls,
                           const fl_error *error, const char *text)
{
    assert_int_equal(rc, want);
    assert_null(tls);
    if (strstr(error->text, text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, error->text);
}

static void test_tls_options_are_checked_before_anything_starts(void **state)
{
    fl_error error;
    fl_tls *tls;
    fl_status rc;

    (void)state;
    rc = fl_tls_new_server(&(fl_tls_options){0}, &tls, &error);
    refuse_options(rc, FL_E_INVALID, tls, &error, "cert_file is not set");
    fl_tls_options options = {.cert_file = file("server.crt")};
    rc = fl_tls_new_server(&options, &tls, &error);
    refuse_options(rc, FL_E_INVALID, tls, &error, "key_file is not set");
    options.key_file = file("missing.key");
    rc = fl_tls_new_server(&options, &tls, &error);
    refuse_options(rc, FL_E_TLS, tls, &error,
                   "missing.key: no such file or directory");
    options.key_file = file("other.key");
    rc = fl_tls_new_server(&options, &tls, &error);
    refuse_options(rc, FL_E_TLS, tls, &error, "key values mismatch");
    options.key_file = file("locked.key"); /* and nobody is asked */
    rc = fl_tls_new_server(&options, &tls, &error);
    refuse_options(rc, FL_E_TLS, tls, &error, "locked.key: ");
    options = server_options();
    options.require_client_cert = true;
    rc = fl_tls_new_server(&options, &tls, &error);
    refuse_options(rc, FL_E_INVALID, tls, &error, "ca_file is not set");
    options.ca_file = file("server.key"); /* holds no certificate */
    rc = fl_tls_new_server(&options, &tls, &error);
    refuse_options(rc, FL_E_TLS, tls, &error, "ca_file ");
    static const char *const empty[] = {"h2", "", NULL};
    rc = fl_tls_new_client(&(fl_tls_options){.alpn = empty}, &tls, &error);
    refuse_options(rc, FL_E_INVALID, tls, &error, "alpn: ");
    assert_int_equal(fl_tls_new_server(&options, &tls, NULL), FL_E_TLS);
    fl_tls_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls_carries_bytes_both_ways),
        cmocka_unit_test(test_tls_carries_megabytes_both_ways_unharmed),
        cmocka_unit_test(test_tls_finish_is_an_orderly_end),
        cmocka_unit_test(test_tls_cut_off_is_not_an_end),
        cmocka_unit_test(test_tls_pauses_in_the_middle_of_a_read),
        cmocka_unit_test(test_tls_may_be_closed_in_each_callback),
        cmocka_unit_test(test_tls_client_refuses_whom_it_cannot_verify),
        cmocka_unit_test(test_tls_tells_what_was_shown_verified_or_not),
        cmocka_unit_test(test_tls_client_skips_verification_only_when_told),
        cmocka_unit_test(test_tls_server_knows_its_client),
        cmocka_unit_test(test_tls_server_refuses_clients_it_does_not_know),
        cmocka_unit_test(test_tls_agrees_on_a_protocol),
        cmocka_unit_test(test_tls_port_hangs_up_on_a_plain_client_at_once),
        cmocka_unit_test(test_tls_client_tells_of_a_plain_server),
        cmocka_unit_test(test_tls_handshake_that_stops_times_out),
        cmocka_unit_test(test_tls_handshake_cut_off_says_so),
        cmocka_unit_test(test_tls_old_versions_are_refused),
        cmocka_unit_test(test_tls_without_memory_leaks_nothing),
        cmocka_unit_test(test_tls_options_are_checked_before_anything_starts),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
