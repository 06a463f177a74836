/*
 * http_proxy.c - which proxy leads to a server.
 *
 * Pure but for fl_proxy_env_read(). A proxy is spoken to in the clear: with
 * TLS behind it, that shows it a host name and nothing else.
 */
#include "transport/http_proxy.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "guard/addresses.h"
#include "io/inet.h"
#include "wire/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    DEFAULT_PORT = 1080, /* curl's */
    SECRET_MAX = 1024,
    BASIC_MAX = 2 * SECRET_MAX, /* in base64, and its scheme */
};

static const char *first_set(const char *const names[])
{
    for (; *names != NULL; names++) {
        const char *value = getenv(*names);
        if (value != NULL && *value != '\0')
            return value;
    }
    return NULL;
}

fl_proxy_env fl_proxy_env_read(void)
{
    static const char *const http[] = {"http_proxy", "all_proxy", "ALL_PROXY",
                                       NULL};
    static const char *const https[] = {"https_proxy", "HTTPS_PROXY",
                                        "all_proxy", "ALL_PROXY", NULL};
    static const char *const no[] = {"no_proxy", "NO_PROXY", NULL};

    return (fl_proxy_env){first_set(http), first_set(https), first_set(no)};
}

/* "example.org" and ".example.org" mean the name and all below it. */
static bool is_below(fl_span host, fl_span domain)
{
    if (domain.len > 0 && domain.ptr[0] == '.')
        domain = fl_span_from(domain, 1);
    if (domain.len == 0 || host.len < domain.len)
        return false;
    size_t more = host.len - domain.len;
    return strncasecmp(host.ptr + more, domain.ptr, domain.len) == 0 &&
           (more == 0 || host.ptr[more - 1] == '.');
}

static bool in_network(const char *host, fl_span entry)
{
    char network[64];
    fl_addresses *list;

    if (entry.len >= sizeof network || !fl_addresses_valid(host))
        return false;
    memcpy(network, entry.ptr, entry.len);
    network[entry.len] = '\0';
    if (!fl_addresses_valid(network) ||
        fl_addresses_new((const char *const[]){network, NULL}, NULL, &list) !=
            FL_OK)
        return false;
    bool is_in = fl_addresses_allowed(list, host);
    fl_addresses_free(list);
    return is_in;
}

/* Takes ":PORT" or the brackets of an IPv6 address off an entry. */
static bool split_port(fl_span *entry, unsigned *port)
{
    fl_span text = *entry;
    size_t end = fl_span_find(text, text.ptr[0] == '[' ? ']' : ':');

    *port = 0;
    if (end == text.len)
        return true;
    if (text.ptr[0] == '[') {
        *entry = (fl_span){text.ptr + 1, end - 1};
        end++;
    } else if (fl_span_find(fl_span_from(text, end + 1), ':') <
               text.len - end - 1) {
        return true; /* an IPv6 address without brackets */
    } else {
        entry->len = end;
    }
    if (end < text.len)
        *port = (unsigned)strtoul(text.ptr + end + 1, NULL, 10);
    return entry->len > 0;
}

static bool entry_covers(fl_span entry, const char *host, uint16_t port)
{
    unsigned only = 0;

    if (fl_span_equal(entry, FL_SPAN("*")))
        return true;
    if (!split_port(&entry, &only) || (only != 0 && only != port))
        return false;
    return is_below(fl_span_of(host), entry) || in_network(host, entry);
}

bool fl_proxy_excepts(const char *no, const char *host, uint16_t port)
{
    while (no != NULL && *no != '\0') {
        size_t len = strcspn(no, ", \t");
        if (len > 0 && entry_covers((fl_span){no, len}, host, port))
            return true;
        no += len + strspn(no + len, ", \t");
    }
    return false;
}

static bool is_loopback(const char *host)
{
    size_t len = strlen(host);

    return is_below((fl_span){host, len}, FL_SPAN("localhost")) ||
           in_network(host, FL_SPAN("127.0.0.0/8")) ||
           in_network(host, FL_SPAN("::1"));
}

static fl_status write_basic(fl_span userinfo, fl_buf *secret, fl_buf *out)
{
    fl_status rc = fl_url_decode(userinfo, secret);

    if (rc == FL_OK &&
        fl_span_find(fl_buf_view(secret), ':') == fl_buf_len(secret))
        rc = fl_buf_append(secret, FL_SPAN(":"));
    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("Basic "));
    if (rc == FL_OK)
        rc = fl_base64_encode(fl_buf_view(secret), out);
    return rc;
}

/* "user:password", percent-encoded, as the field has it. */
static fl_status take_credentials(fl_span userinfo, char **out)
{
    fl_buf secret, text;

    fl_buf_init(&secret, SECRET_MAX);
    fl_buf_init(&text, BASIC_MAX);
    fl_status rc = write_basic(userinfo, &secret, &text);
    if (rc == FL_OK) {
        *out = fl_mem_string(fl_buf_view(&text));
        rc = *out != NULL ? FL_OK : FL_E_NOMEM;
    }
    if (secret.ptr != NULL)
        fl_mem_wipe(secret.ptr, secret.cap);
    if (text.ptr != NULL)
        fl_mem_wipe(text.ptr, text.cap);
    fl_buf_reset(&secret);
    fl_buf_reset(&text);
    return rc;
}

/* "[scheme://][user[:password]@]host[:port][/]" */
static fl_status take_apart(fl_span text, fl_proxy *proxy)
{
    const char *slashes = memmem(text.ptr, text.len, "://", 3);
    bool is_ipv6;
    fl_span host;

    if (slashes != NULL) {
        if (strncasecmp(text.ptr, "http://", 7) != 0)
            return FL_E_UNSUPPORTED;
        text = fl_span_from(text, (size_t)(slashes - text.ptr) + 3);
    }
    text.len = fl_span_find(text, '/');
    const char *at = text.len > 0 ? memrchr(text.ptr, '@', text.len) : NULL;
    if (at != NULL) {
        fl_span userinfo = {text.ptr, (size_t)(at - text.ptr)};
        fl_status rc = take_credentials(userinfo, &proxy->authorization);
        if (rc != FL_OK)
            return rc;
        text = fl_span_from(text, userinfo.len + 1);
    }
    fl_status rc = fl_url_parse_authority(text, &host, &proxy->port, &is_ipv6);
    if (rc != FL_OK || host.len >= sizeof proxy->host)
        return FL_E_INVALID;
    memcpy(proxy->host, host.ptr, host.len);
    proxy->host[host.len] = '\0';
    if (proxy->port == 0)
        proxy->port = DEFAULT_PORT;
    return FL_OK;
}

fl_status fl_proxy_choose(const fl_proxy_env *env, bool tls, const char *host,
                          uint16_t port, fl_proxy *proxy, fl_error *error)
{
    const char *url = tls ? env->https : env->http;

    *proxy = (fl_proxy){0};
    if (url == NULL || is_loopback(host) ||
        fl_proxy_excepts(env->no, host, port))
        return FL_OK;
    fl_status rc = take_apart(fl_span_of(url), proxy);
    proxy->used = rc == FL_OK;
    if (rc == FL_OK)
        return FL_OK;
    fl_proxy_deinit(proxy);
    if (rc == FL_E_NOMEM)
        return fl_error_set(error, rc, "out of memory");
    return fl_error_set(error, FL_E_INVALID,
                        "%s: %s; want http://HOST:PORT, or set http.no_proxy",
                        tls ? "https_proxy" : "http_proxy",
                        rc == FL_E_UNSUPPORTED ? "not an http:// proxy"
                                               : "not the URL of a proxy");
}

void fl_proxy_deinit(fl_proxy *proxy)
{
    if (proxy->authorization != NULL)
        fl_mem_wipe(proxy->authorization, strlen(proxy->authorization));
    fl_mem_free(proxy->authorization);
    *proxy = (fl_proxy){0};
}

fl_status fl_proxy_write_connect(const fl_proxy *proxy, const char *host,
                                 uint16_t port, fl_buf *out)
{
    char to[272];

    fl_inet_join(host, port, to, sizeof to);
    fl_status rc = fl_buf_printf(
        out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", to, to,
        proxy->authorization != NULL ? "Proxy-Authorization: " : "",
        proxy->authorization != NULL ? proxy->authorization : "",
        proxy->authorization != NULL ? "\r\n" : "");
    return rc == FL_OK ? fl_buf_append(out, (fl_span){"", 1}) : rc;
}
