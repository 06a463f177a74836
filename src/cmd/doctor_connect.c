/*
 * doctor_connect.c - is there anybody at the address, and is it the right one?
 *
 * A connection is made and, if the scheme says so, TLS on it; then it is
 * closed. If the certificate is not believed another connection is made that
 * believes anything, says nothing, and shows what is wrong with it.
 */
#include "cmd/exam.h"

#include "base/span.h"
#include "io/connect.h"
#include "io/tls_facts.h"
#include "transport/http_proxy.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    DAY = 86400,
    SOON_DAYS = 14,
    SLOW_MS = 1000,
    TUNNEL_MAX = 8 * 1024,
    ADVICE = FL_EXAM_URL + 256,
};

typedef struct knock {
    fl_stream *stream;
    fl_error why;
    fl_tls_facts facts;
    uint64_t took_ms;
    bool open, has_facts;
    bool done, closed;
} knock;

static void on_open(void *user)
{
    knock *at = user;

    at->open = at->done = true;
    at->has_facts = fl_tls_facts_read(at->stream, &at->facts);
}

static void on_data(void *user, fl_span bytes)
{
    (void)user;
    (void)bytes;
}

static void on_end(void *user, const fl_error *error)
{
    knock *at = user;

    if (!at->done)
        at->why = *error;
    at->done = true;
}

static void on_closed(void *user)
{
    knock *at = user;

    at->closed = true;
}

static const fl_stream_events events = {.on_open = on_open,
                                        .on_data = on_data,
                                        .on_end = on_end,
                                        .on_closed = on_closed};

static void make(knock *at, fl_exam *exam, const fl_connect_options *options)
{
    uint64_t began = fl_exam_clock();

    *at = (knock){0};
    fl_status rc = fl_connect(exam->loop, options, &at->stream);
    if (rc != FL_OK) {
        at->why.status = rc;
        return;
    }
    rc = fl_stream_start(at->stream, &events, at);
    if (rc == FL_OK)
        on_open(at);
    fl_exam_wait(exam, &at->done, exam->step_ms + 1000);
    at->took_ms = fl_exam_clock() - began;
    fl_stream_close(at->stream);
    fl_exam_wait_closed(exam, &at->closed);
}

static void advise_unreached(const fl_exam *exam, fl_status status,
                             char out[ADVICE])
{
    const fl_address *address = &exam->address;

    if (status == FL_E_REFUSED)
        snprintf(out, ADVICE,
                 "Is the server running, and does it listen on that port? A "
                 "server in a container has to listen on 0.0.0.0 and have "
                 "its port published.");
    else if (status == FL_E_TIMEOUT)
        snprintf(out, ADVICE,
                 "A firewall drops what is not answered at all: check it, and "
                 "the address. --timeout SECONDS waits longer.");
    else if (status == FL_E_NOT_FOUND && fl_address_socket(address) != NULL)
        snprintf(out, ADVICE,
                 "Is the server running, and is its socket "
                 "there?");
    else
        snprintf(out, ADVICE,
                 "Check how the name is spelt, the network, and the name "
                 "server: 'getent hosts %s'.",
                 address->host);
}

static void report_unreached(const fl_exam *exam, const knock *at)
{
    char advice[ADVICE];
    bool name = strstr(at->why.text, "cannot find host") != NULL ||
                strstr(at->why.text, "host not found") != NULL;

    advise_unreached(exam, name ? FL_E_UNREACHABLE : at->why.status, advice);
    fl_chart_find(exam->chart, FL_CHART_FAULT,
                  name ? "connection.name" : "connection.open", advice, "%s",
                  at->why.text);
}

/* The reason in OpenSSL's words, what to do about it in ours. */
static const struct reason {
    const char *said;
    const char *check;
    const char *advice;
} reasons[] = {
    {"has expired", "tls.expired",
     "Renew the certificate, and have the server load it."},
    {"not yet valid", "tls.early", "Check the clocks, here and there."},
    {"mismatch", "tls.name",
     "Use a name the certificate is for, or have one made for this name; "
     "--tls-server-name NAME expects another."},
    {"self-signed", "tls.unknown",
     "If it is yours, trust it with --tls-ca FILE; a host needs the same "
     "(NODE_EXTRA_CA_CERTS, SSL_CERT_FILE)."},
    {"self signed", "tls.unknown",
     "If it is yours, trust it with --tls-ca FILE; a host needs the same "
     "(NODE_EXTRA_CA_CERTS, SSL_CERT_FILE)."},
    {"issuer", "tls.unknown",
     "Have the server send its whole chain, or trust its CA with --tls-ca "
     "FILE; a host needs the same (NODE_EXTRA_CA_CERTS, SSL_CERT_FILE)."},
    {"wrong version number", "tls.plain",
     "It does not speak TLS there: use the scheme without it (http://, ws://, "
     "tcp://), or the port that has it."},
    {"certificate required", "tls.client",
     "It wants to see a certificate: --tls-cert FILE and --tls-key FILE."},
    {"", "tls.handshake",
     "Does it speak TLS 1.2 or 1.3 there? 'openssl s_client -connect "
     "HOST:PORT' shows more."},
};

static void report_tls_failure(const fl_exam *exam, const fl_error *why)
{
    const struct reason *one = reasons;

    while (strstr(why->text, one->said) == NULL)
        one++;
    fl_chart_find(exam->chart, FL_CHART_FAULT, one->check, one->advice, "%s",
                  why->text);
}

static void put_date(int64_t seconds, char out[32])
{
    time_t when = (time_t)seconds;
    struct tm parts;

    if (gmtime_r(&when, &parts) == NULL ||
        strftime(out, 32, "%Y-%m-%d", &parts) == 0)
        snprintf(out, 32, "?");
}

/* What an unbelieved certificate says of itself. */
static void report_stranger(const fl_exam *exam, const fl_tls_facts *facts)
{
    char names[FL_CHART_QUOTE], issuer[FL_CHART_QUOTE], date[32];

    put_date(facts->expires, date);
    fl_chart_find(
        exam->chart, FL_CHART_NOTE, "tls.certificate",
        "Compare it with the one you expect.",
        "the certificate is for %s, until %s, by %s",
        fl_chart_quote(
            fl_span_of(facts->names[0] != '\0' ? facts->names : facts->subject),
            names),
        date,
        facts->self_signed ? "itself"
                           : fl_chart_quote(fl_span_of(facts->issuer), issuer));
}

static void report_expiry(const fl_exam *exam, const fl_tls_facts *facts)
{
    int64_t days = (facts->expires - (int64_t)time(NULL)) / DAY;
    char date[32];

    put_date(facts->expires, date);
    if (exam->line->options.tls.insecure_skip_verify)
        fl_chart_find(exam->chart, FL_CHART_WARNING, "tls.verified",
                      "Leave --insecure-skip-verify out, and trust the right "
                      "one with --tls-ca FILE.",
                      "%s, but the certificate was not verified",
                      facts->version);
    else
        fl_chart_ok(exam->chart, "tls.verified",
                    "%s, and the certificate is believed", facts->version);
    if (days < 0)
        fl_chart_find(exam->chart, FL_CHART_FAULT, "tls.expired",
                      "Renew the certificate, and have the server load it.",
                      "the certificate expired on %s", date);
    else if (days < SOON_DAYS)
        fl_chart_find(exam->chart, FL_CHART_WARNING, "tls.expiry",
                      "Renew it, and see why that was not done by itself.",
                      "the certificate expires in %lld day%s, on %s",
                      (long long)days, days == 1 ? "" : "s", date);
    else
        fl_chart_ok(exam->chart, "tls.expiry",
                    "the certificate is good for %lld days, until %s",
                    (long long)days, date);
}

static void show_stranger(fl_exam *exam, const fl_connect_options *options)
{
    fl_connect_options believing = *options;
    fl_error error;
    knock at;

    if (fl_tls_new_client(&(fl_tls_options){.insecure_skip_verify = true},
                          &believing.tls, &error) != FL_OK)
        return;
    make(&at, exam, &believing);
    if (at.has_facts)
        report_stranger(exam, &at.facts);
    fl_tls_unref(believing.tls);
}

static bool report(fl_exam *exam, const fl_connect_options *options,
                   const knock *at)
{
    if (!at->open && at->why.status == FL_E_TLS) {
        report_tls_failure(exam, &at->why);
        if (strstr(at->why.text, "verify failed") != NULL)
            show_stranger(exam, options);
        return false;
    }
    if (!at->open) {
        report_unreached(exam, at);
        return false;
    }
    if (at->took_ms >= SLOW_MS)
        fl_chart_find(exam->chart, FL_CHART_NOTE, "connection.open",
                      "An address that does not answer may be tried first: "
                      "compare 127.0.0.1 with localhost, IPv4 with IPv6.",
                      "connecting took %.1f s", (double)at->took_ms / 1e3);
    else
        fl_chart_ok(exam->chart, "connection.open", "connects, in %u ms",
                    (unsigned)at->took_ms);
    if (at->has_facts)
        report_expiry(exam, &at->facts);
    return true;
}

static bool find_way(fl_exam *exam, fl_proxy *proxy)
{
    const fl_address *address = &exam->address;
    fl_proxy_env env = fl_proxy_env_read();
    fl_error error;

    *proxy = (fl_proxy){0};
    if (fl_address_socket(address) != NULL ||
        (!fl_exam_is_http(exam) && !fl_address_is_websocket(address)))
        return true;
    if (fl_proxy_choose(&env, fl_address_is_tls(address), address->host,
                        address->port, proxy, &error) != FL_OK) {
        fl_chart_find(exam->chart, FL_CHART_FAULT, "connection.proxy",
                      "See to HTTPS_PROXY, http_proxy and ALL_PROXY.", "%s",
                      error.text);
        return false;
    }
    if (proxy->used)
        fl_chart_find(exam->chart, FL_CHART_NOTE, "connection.proxy",
                      "NO_PROXY=HOST goes without it.",
                      "the way leads through the proxy %s:%u", proxy->host,
                      proxy->port);
    return true;
}

static bool knock_at(fl_exam *exam, const fl_proxy *proxy, const char *tunnel)
{
    const fl_address *address = &exam->address;
    const char *expected = exam->line->options.tls.server_name;
    fl_connect_options options = {
        .host = proxy->used ? proxy->host : fl_address_host(address),
        .port = proxy->used ? proxy->port : address->port,
        .path = fl_address_socket(address),
        .tls = fl_address_is_tls(address) ? exam->tls : NULL,
        .server_name = expected != NULL ? expected : address->host,
        .tunnel = tunnel,
        .limits.open_timeout_ms = exam->step_ms,
    };
    knock at;

    make(&at, exam, &options);
    return report(exam, &options, &at);
}

bool fl_exam_connection(fl_exam *exam)
{
    const fl_address *address = &exam->address;
    fl_proxy proxy;
    fl_buf tunnel;
    bool reached = false;

    fl_chart_group(exam->chart, "connection");
    fl_buf_init(&tunnel, TUNNEL_MAX);
    if (find_way(exam, &proxy) &&
        (!proxy.used || !fl_address_is_tls(address) ||
         fl_proxy_write_connect(&proxy, address->host, address->port,
                                &tunnel) == FL_OK))
        reached = knock_at(exam, &proxy, fl_buf_view(&tunnel).ptr);
    fl_proxy_deinit(&proxy);
    fl_buf_reset(&tunnel);
    exam->chart->unreachable = !reached;
    return reached;
}
