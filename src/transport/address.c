/*
 * address.c - URLs taken apart, strictly.
 *
 * Only what the transports understand is accepted; user names, queries and
 * paths on socket addresses are refused rather than ignored, for whoever
 * wrote them meant something by them.
 */
#include "transport/address.h"

#include "base/span.h"
#include "base/status.h"
#include "transport/transport.h"
#include "wire/url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PORT_SHOWN = 20 };

static fl_status copy(char *to, size_t size, fl_span from)
{
    if (from.len >= size)
        return FL_E_TOO_BIG;
    memcpy(to, from.ptr, from.len);
    to[from.len] = '\0';
    return FL_OK;
}

static bool parse_port(fl_span text, uint16_t *port)
{
    unsigned value = 0;

    if (text.len == 0 || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *port = (uint16_t)value;
    return value <= UINT16_MAX;
}

/* "host:port" or "[v6]:port" into its two halves. */
static bool split_host(fl_span text, fl_span *host, fl_span *port)
{
    size_t end;

    if (text.len > 0 && text.ptr[0] == '[') {
        end = fl_span_find(text, ']');
        if (end == text.len)
            return false;
        *host = (fl_span){text.ptr + 1, end - 1};
        end++;
    } else {
        end = fl_span_find(text, ':');
        *host = (fl_span){text.ptr, end};
    }
    if (end >= text.len || text.ptr[end] != ':')
        return false;
    *port = fl_span_from(text, end + 1);
    return host->len > 0;
}

static bool plain_host(fl_span host)
{
    for (size_t i = 0; i < host.len; i++) {
        unsigned char c = (unsigned char)host.ptr[i];
        if (c <= ' ' || c >= 0x7f || strchr("/?#@%\\\"'<>", c) != NULL)
            return false;
    }
    return true;
}

static fl_status parse_socket(const char *url, fl_span rest,
                              fl_address *address, fl_error *error)
{
    fl_span host, port;

    if (fl_span_find(rest, '@') < rest.len) /* not repeated: a secret may be */
        return fl_error_set(error, FL_E_INVALID,
                            "address: a %s:// address has no user name or "
                            "password",
                            address->scheme);
    if (!fl_span_starts(rest, FL_SPAN("//")) ||
        !split_host(fl_span_from(rest, 2), &host, &port) || !plain_host(host) ||
        !parse_port(port, &address->port))
        return fl_error_set(error, FL_E_INVALID,
                            "address '%s': want %s://HOST:PORT, as in "
                            "%s://127.0.0.1:7332; a port is at most 65535",
                            url, address->scheme, address->scheme);
    address->has_port = true;
    if (copy(address->host, sizeof address->host, host) != FL_OK)
        return fl_error_set(error, FL_E_INVALID,
                            "address: the host is longer than %zu bytes",
                            sizeof address->host - 1);
    return FL_OK;
}

static fl_status parse_unix(const char *url, fl_span rest, fl_address *address,
                            fl_error *error)
{
    if (fl_span_starts(rest, FL_SPAN("//")))
        rest = fl_span_from(rest, 2);
    if (rest.len == 0)
        return fl_error_set(error, FL_E_INVALID,
                            "address '%s': want unix:/PATH or unix:@NAME", url);
    if (copy(address->path, sizeof address->path, rest) != FL_OK)
        return fl_error_set(error, FL_E_INVALID,
                            "address: the socket path is %zu bytes long, the "
                            "system allows %zu",
                            rest.len, sizeof address->path - 1);
    return FL_OK;
}

/* The path and query as they go into a request. */
static fl_status copy_target(const fl_url *url, fl_address *address)
{
    fl_span path = url->path;
    size_t len = path.len + (url->query.len > 0 ? 1 + url->query.len : 0);

    if (len >= sizeof address->target)
        return FL_E_TOO_BIG;
    if (path.len > 0)
        memcpy(address->target, path.ptr, path.len);
    if (url->query.len > 0) {
        address->target[path.len] = '?';
        memcpy(address->target + path.len + 1, url->query.ptr, url->query.len);
    }
    address->target[len] = '\0';
    return FL_OK;
}

/* Port 0 is nowhere to a URL, but to a listener it means any free one: takes
 * it out. */
static bool take_any_port(char *url, size_t len)
{
    char *host = strstr(url, "://");
    char *end = host != NULL ? host + 3 + strcspn(host + 3, "/?#") : NULL;

    if (end == NULL || end - host < 5 || memcmp(end - 2, ":0", 2) != 0)
        return false;
    memmove(end - 2, end, len - (size_t)(end - url) + 1);
    return true;
}

static fl_status fill_url(const fl_url *url, fl_address *address,
                          fl_error *error)
{
    address->port = url->port;
    address->has_port = url->has_port;
    if (copy(address->host, sizeof address->host, url->host) != FL_OK)
        return fl_error_set(error, FL_E_INVALID,
                            "address: the host is longer than %zu bytes",
                            sizeof address->host - 1);
    if (copy_target(url, address) != FL_OK)
        return fl_error_set(error, FL_E_INVALID,
                            "address: path and query are longer than %zu "
                            "bytes",
                            sizeof address->target - 1);
    return FL_OK;
}

static bool is_number(fl_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len > 0;
}

/* If the port of "host:port" is what is wrong, that is said. It is shown if it
 * is a number: anything else may be a secret that lost its way. */
static bool blame_port(fl_span text, fl_error *error)
{
    fl_span host, port;
    uint16_t number;

    if (!split_host(text, &host, &port) || !is_number(port) ||
        (parse_port(port, &number) && port.ptr[0] != '0'))
        return false;
    fl_error_set(error, FL_E_INVALID,
                 "address: there is no port %.*s; want one from 1 to 65535",
                 (int)(port.len < PORT_SHOWN ? port.len : PORT_SHOWN),
                 port.ptr);
    return true;
}

/* Without the URL in any text: a user name or a query may be a secret. */
static fl_status parse_url(fl_span text, fl_address *address, fl_error *error)
{
    char plain[sizeof address->host + sizeof address->target + 64];
    fl_span sse = FL_SPAN("sse+");
    fl_url url;

    if (fl_span_starts(text, sse))
        text = fl_span_from(text, sse.len);
    if (copy(plain, sizeof plain, text) != FL_OK)
        return fl_error_set(error, FL_E_INVALID,
                            "address: longer than %zu bytes", sizeof plain - 1);
    bool any_port = take_any_port(plain, text.len);
    size_t slashes = fl_span_find(text, ':') + 3;
    fl_span authority =
        slashes < text.len ? fl_span_from(text, slashes) : (fl_span){0};
    authority.len = fl_span_find(authority, '/');
    if (fl_span_find(authority, '@') < authority.len)
        return fl_error_set(error, FL_E_INVALID,
                            "address: a %s:// address has no user name or "
                            "password; send credentials with http.headers",
                            address->scheme);
    fl_status rc = fl_url_parse(fl_span_of(plain), &url);
    if (rc != FL_OK && blame_port(authority, error))
        return rc;
    if (rc != FL_OK)
        return fl_error_set(error, FL_E_INVALID,
                            "address: not a URL; want "
                            "%s://HOST[:PORT][/PATH], as in "
                            "%s://127.0.0.1:8080/mcp",
                            address->scheme, address->scheme);
    if (any_port) {
        url.port = 0;
        url.has_port = true;
    }
    return fill_url(&url, address, error);
}

/* As VS Code writes it: behind "#" is what a request asks for. That is not
 * quoted, for a query may be a secret. */
static fl_status parse_http_socket(const char *url, fl_span socket,
                                   fl_span target, fl_address *address,
                                   fl_error *error)
{
    bool is_sse = fl_span_starts(fl_span_of(url), FL_SPAN("sse+"));
    const char *front = is_sse ? "sse+http" : "http";
    char text[sizeof address->target + 64];

    if (socket.len == 0 || fl_span_equal(socket, FL_SPAN("//")) ||
        (target.len > 0 && target.ptr[0] != '/') ||
        fl_span_find(target, '#') < target.len)
        return fl_error_set(error, FL_E_INVALID,
                            "address: HTTP through a Unix socket is "
                            "%sunix:/PATH#/TARGET, as in "
                            "%sunix:/run/server.sock#/mcp",
                            is_sse ? "sse+" : "", is_sse ? "sse+" : "");
    if (target.len >= sizeof address->target)
        return fl_error_set(error, FL_E_INVALID,
                            "address: path and query are longer than %zu "
                            "bytes",
                            sizeof address->target - 1);
    fl_status rc = parse_unix(url, socket, address, error);
    if (rc != FL_OK)
        return rc;
    int len = snprintf(text, sizeof text, "%s://localhost%.*s", front,
                       (int)target.len, target.len > 0 ? target.ptr : "");
    snprintf(address->scheme, sizeof address->scheme, "%s", front);
    return parse_url((fl_span){text, (size_t)len}, address, error);
}

/* Lines, or HTTP. */
static fl_status parse_path(const char *url, fl_span rest, fl_address *address,
                            fl_error *error)
{
    size_t mark = fl_span_find(rest, '#');
    bool is_sse = strcmp(address->scheme, "sse+unix") == 0;

    if (mark < rest.len)
        return parse_http_socket(url, (fl_span){rest.ptr, mark},
                                 fl_span_from(rest, mark + 1), address, error);
    return is_sse ? parse_http_socket(url, rest, (fl_span){0}, address, error)
                  : parse_unix(url, rest, address, error);
}

static bool listed(const char *scheme, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(scheme, *list) == 0)
            return true;
    return false;
}

/* Why nothing here serves the scheme. */
static fl_status refuse_scheme(const char *url, const char *scheme,
                               fl_error *error)
{
    return fl_error_set(error, FL_E_INVALID,
                        "address '%s': unknown scheme '%s'; want stdio:, "
                        "tcp://, tls://, unix:, http://, https://, ws:// or "
                        "wss://",
                        url, scheme);
}

static fl_status parse_bare(const char *url, fl_span rest,
                            const fl_address *address, fl_error *error)
{
    if (rest.len == 0)
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "address '%s': nothing comes after %s:", url,
                        address->scheme);
}

fl_status fl_address_parse(const char *url, fl_address *address,
                           fl_error *error)
{
    fl_span text = fl_span_of(url);
    size_t colon = fl_span_find(text, ':');

    *address = (fl_address){0};
    if (colon == text.len || colon == 0 ||
        copy(address->scheme, sizeof address->scheme,
             (fl_span){text.ptr, colon}) != FL_OK)
        return fl_error_set(error, FL_E_INVALID,
                            "address '%s': want stdio:, tcp://HOST:PORT, "
                            "tls://HOST:PORT, unix:/PATH or "
                            "https://HOST/PATH",
                            url != NULL ? url : "");

    fl_span rest = fl_span_from(text, colon + 1);
    if (strcmp(address->scheme, "sse+unix") == 0)
        return parse_path(url, rest, address, error);
    const fl_transport *transport =
        fl_transport_find(fl_span_of(address->scheme));
    if (transport == NULL)
        return refuse_scheme(url, address->scheme, error);
    switch (transport->address) {
    case FL_ADDRESS_HOST:
        return parse_socket(url, rest, address, error);
    case FL_ADDRESS_PATH:
        return parse_path(url, rest, address, error);
    case FL_ADDRESS_URL:
        return parse_url(text, address, error);
    case FL_ADDRESS_BARE:
        break;
    }
    return parse_bare(url, rest, address, error);
}

bool fl_address_is_tls(const fl_address *address)
{
    static const char *const schemes[] = {"tls", "https", "sse+https", "wss",
                                          NULL};

    return listed(address->scheme, schemes);
}

bool fl_address_is_websocket(const fl_address *address)
{
    static const char *const schemes[] = {"ws", "wss", NULL};

    return listed(address->scheme, schemes);
}

bool fl_address_says_http(const char *url)
{
    static const char *const fronts[] = {
        "http:", "https:", "sse+http:", "sse+https:", "sse+unix:", NULL};

    for (const char *const *front = fronts; *front != NULL; front++)
        if (strncasecmp(url, *front, strlen(*front)) == 0)
            return true;
    return strncmp(url, "unix:", 5) == 0 && strchr(url, '#') != NULL;
}

bool fl_address_is_local(const fl_address *address)
{
    const char *host = address->host;

    return host[0] == '\0' || strcmp(host, "localhost") == 0 ||
           strcmp(host, "::1") == 0 ||
           (strncmp(host, "127.", 4) == 0 &&
            strspn(host, "0123456789.") == strlen(host));
}

const char *fl_address_socket(const fl_address *address)
{
    return address->path[0] != '\0' ? address->path : NULL;
}

const char *fl_address_host(const fl_address *address)
{
    return address->path[0] == '\0' && address->host[0] != '\0' ? address->host
                                                                : NULL;
}
