/*
 * url.c - http and https URLs taken apart and put together (RFC 3986).
 *
 * Parsing moves a cursor over the text and borrows from it; each character is
 * looked at before it is accepted, so that what comes out can be put into a
 * request line or a Host field as it is. Everything lenient about URLs has
 * been somebody's way in: a user name that looks like a host, a backslash that
 * one program takes for a slash, a port with nothing in it. None of it is
 * taken here.
 */
#include "wire/url.h"

#include "base/span.h"

#include <arpa/inet.h>
#include <strings.h>

static bool is_alpha(char byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_unreserved(char byte)
{
    return is_alpha(byte) || is_digit(byte) || byte == '-' || byte == '.' ||
           byte == '_' || byte == '~';
}

static int hex_value(char byte)
{
    if (is_digit(byte))
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Takes the first `n` bytes off the front. */
static fl_span take(fl_span *text, size_t n)
{
    fl_span front = {text->ptr, n};

    *text = fl_span_from(*text, n);
    return front;
}

/* How many bytes come before the first of `stops`. */
static size_t find_any(fl_span text, const char *stops)
{
    size_t n = 0;

    while (n < text.len &&
           (text.ptr[n] == '\0' || strchr(stops, text.ptr[n]) == NULL))
        n++;
    return n;
}

/* Visible ASCII but for the backslash, and every % followed by two digits. */
static bool is_clean(fl_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte <= ' ' || byte >= 0x7f || byte == '\\')
            return false;
        if (byte == '%' &&
            (text.len - i < 3 || hex_value(text.ptr[i + 1]) < 0 ||
             hex_value(text.ptr[i + 2]) < 0))
            return false;
    }
    return true;
}

static bool is_scheme(fl_span text)
{
    if (text.len == 0 || !is_alpha(text.ptr[0]))
        return false;
    for (size_t i = 1; i < text.len; i++)
        if (!is_alpha(text.ptr[i]) && !is_digit(text.ptr[i]) &&
            text.ptr[i] != '+' && text.ptr[i] != '-' && text.ptr[i] != '.')
            return false;
    return true;
}

static bool is_same(fl_span a, fl_span b)
{
    return a.len == b.len &&
           (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

static uint16_t default_port(fl_span scheme)
{
    if (is_same(scheme, FL_SPAN("http")) || is_same(scheme, FL_SPAN("ws")))
        return 80;
    if (is_same(scheme, FL_SPAN("https")) || is_same(scheme, FL_SPAN("wss")))
        return 443;
    return 0;
}

static bool is_name(fl_span host)
{
    for (size_t i = 0; i < host.len; i++)
        if (!is_unreserved(host.ptr[i]) || host.ptr[i] == '~')
            return false;
    return host.len > 0;
}

static bool is_ipv6(fl_span host)
{
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (host.len == 0 || host.len >= sizeof copy ||
        fl_span_find(host, '\0') < host.len)
        return false;
    memcpy(copy, host.ptr, host.len);
    copy[host.len] = '\0';
    return inet_pton(AF_INET6, copy, &address) == 1;
}

/* 1 to 65535 in one spelling. */
static bool parse_port(fl_span text, uint16_t *port)
{
    unsigned value = 0;

    if (text.len == 0 || text.len > 5 || text.ptr[0] == '0')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.ptr[i]))
            return false;
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *port = (uint16_t)value;
    return value <= UINT16_MAX;
}

static bool parse_host(fl_span *text, fl_span *host, bool *bracketed)
{
    *bracketed = text->len > 0 && text->ptr[0] == '[';
    if (!*bracketed) {
        *host = take(text, fl_span_find(*text, ':'));
        return is_name(*host);
    }
    take(text, 1);
    *host = take(text, fl_span_find(*text, ']'));
    if (text->len == 0)
        return false;
    take(text, 1);
    return is_ipv6(*host);
}

fl_status fl_url_parse_authority(fl_span text, fl_span *host, uint16_t *port,
                                 bool *bracketed)
{
    *port = 0;
    bool good = parse_host(&text, host, bracketed);
    if (good && text.len > 0)
        good = text.ptr[0] == ':' && parse_port(fl_span_from(text, 1), port);
    if (good)
        return FL_OK;
    *host = (fl_span){0};
    *port = 0;
    *bracketed = false;
    return FL_E_INVALID;
}

/* What comes after an authority: path, "?" query, "#" fragment. */
static bool parse_rest(fl_span text, fl_url *url, bool *has_query)
{
    if (!is_clean(text))
        return false;
    text.len = fl_span_find(text, '#');
    *has_query = fl_span_find(text, '?') < text.len;
    fl_url_split_target(text, &url->path, &url->query);
    return true;
}

/* From "//" on; the scheme is known. */
static bool parse_hierarchy(fl_span text, fl_url *url)
{
    bool has_query;

    if (!fl_span_starts(text, FL_SPAN("//")))
        return false;
    text = fl_span_from(text, 2);
    fl_span authority = take(&text, find_any(text, "/?#"));
    if (fl_url_parse_authority(authority, &url->host, &url->port,
                               &url->is_ipv6) != FL_OK)
        return false;
    url->has_port = url->port != 0;
    if (!url->has_port)
        url->port = default_port(url->scheme);
    return parse_rest(text, url, &has_query);
}

fl_status fl_url_parse(fl_span text, fl_url *url)
{
    *url = (fl_url){0};
    url->scheme = take(&text, find_any(text, ":/?#"));
    if (text.len > 0 && text.ptr[0] == ':' && is_scheme(url->scheme) &&
        parse_hierarchy(fl_span_from(text, 1), url))
        return FL_OK;
    *url = (fl_url){0};
    return FL_E_INVALID;
}

bool fl_url_same_origin(const fl_url *a, const fl_url *b)
{
    return is_same(a->scheme, b->scheme) && is_same(a->host, b->host) &&
           a->is_ipv6 == b->is_ipv6 && a->port == b->port;
}

/* All or nothing: on failure `out` is as long as it was before. */
static fl_status settle(fl_buf *out, size_t before, fl_status rc)
{
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}

fl_status fl_url_write_authority(const fl_url *url, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_status rc =
        url->is_ipv6
            ? fl_buf_printf(out, "[%.*s]", (int)url->host.len, url->host.ptr)
            : fl_buf_append(out, url->host);

    if (rc == FL_OK && url->port != default_port(url->scheme))
        rc = fl_buf_printf(out, ":%u", (unsigned)url->port);
    return settle(out, before, rc);
}

/* Path segments go to the end of `out`; those from `mark` on are ours. */
static fl_status add_segment(fl_buf *out, size_t mark, fl_span segment,
                             bool last)
{
    if (fl_span_equal(segment, FL_SPAN(".")))
        return last ? fl_buf_append(out, FL_SPAN("/")) : FL_OK;
    if (fl_span_equal(segment, FL_SPAN(".."))) {
        fl_span held = fl_buf_view(out);
        while (held.len > mark && held.ptr[held.len - 1] != '/')
            held.len--;
        fl_buf_truncate(out, held.len > mark ? held.len - 1 : mark);
        return last ? fl_buf_append(out, FL_SPAN("/")) : FL_OK;
    }
    fl_status rc = fl_buf_append(out, FL_SPAN("/"));
    return rc == FL_OK ? fl_buf_append(out, segment) : rc;
}

/* All segments of `path`, whose first slash is gone. */
static fl_status add_segments(fl_buf *out, size_t mark, fl_span path, bool ends)
{
    fl_status rc;
    bool more;

    do {
        fl_span segment = take(&path, fl_span_find(path, '/'));
        more = path.len > 0;
        rc = add_segment(out, mark, segment, ends && !more);
        if (more)
            take(&path, 1);
    } while (rc == FL_OK && more);
    return rc;
}

/* Where a reference leads. If its path is relative, `folder` is what it is
 * relative to, without the last slash. */
static bool aim(const fl_url *base, fl_span reference, fl_url *target,
                fl_span *folder)
{
    size_t n = find_any(reference, ":/?#");
    bool has_query;

    *folder = (fl_span){0};
    if (n < reference.len && reference.ptr[n] == ':')
        return fl_url_parse(reference, target) == FL_OK;
    if (fl_span_starts(reference, FL_SPAN("//"))) {
        *target = (fl_url){.scheme = base->scheme};
        return parse_hierarchy(reference, target);
    }
    *target = *base;
    if (!parse_rest(reference, target, &has_query))
        return false;
    if (target->path.len == 0) {
        target->path = base->path;
        if (!has_query)
            target->query = base->query;
    } else if (target->path.ptr[0] != '/') {
        *folder = base->path;
        while (folder->len > 0 && folder->ptr[--folder->len] != '/')
            continue;
    }
    return true;
}

static fl_status add_path(fl_buf *out, fl_span folder, fl_span path)
{
    size_t mark = fl_buf_len(out);
    fl_status rc = FL_OK;

    if (folder.len > 0)
        rc = add_segments(out, mark, fl_span_from(folder, 1), false);
    if (rc != FL_OK || path.len == 0)
        return rc;
    if (path.ptr[0] == '/')
        take(&path, 1);
    return add_segments(out, mark, path, true);
}

fl_status fl_url_resolve(const fl_url *base, fl_span reference, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_url target;
    fl_span folder;

    if (!aim(base, reference, &target, &folder))
        return FL_E_INVALID;
    fl_status rc = fl_buf_printf(out, "%.*s://", (int)target.scheme.len,
                                 target.scheme.ptr);
    if (rc == FL_OK)
        rc = fl_url_write_authority(&target, out);
    if (rc == FL_OK)
        rc = add_path(out, folder, target.path);
    if (rc == FL_OK && target.query.len > 0)
        rc = fl_buf_append(out, FL_SPAN("?"));
    if (rc == FL_OK)
        rc = fl_buf_append(out, target.query);
    return settle(out, before, rc);
}

/* The byte that text[0] stands for, and how long its spelling is; 0 when it is
 * no good. */
static size_t decode_one(fl_span text, char *byte)
{
    *byte = text.ptr[0];
    if (*byte != '%')
        return *byte != '\0' ? 1 : 0;
    if (text.len < 3)
        return 0;
    int high = hex_value(text.ptr[1]), low = hex_value(text.ptr[2]);
    if (high < 0 || low < 0 || high + low == 0)
        return 0;
    *byte = (char)(high << 4 | low);
    return 3;
}

fl_status fl_url_decode(fl_span text, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_status rc = FL_OK;

    while (rc == FL_OK && text.len > 0) {
        char byte;
        size_t n = decode_one(text, &byte);
        rc = n > 0 ? fl_buf_append(out, (fl_span){&byte, 1}) : FL_E_INVALID;
        text = fl_span_from(text, n);
    }
    return settle(out, before, rc);
}

bool fl_url_query_get(fl_span query, fl_span name, fl_span *value)
{
    *value = (fl_span){0};
    while (query.len > 0) {
        fl_span pair = take(&query, fl_span_find(query, '&'));
        if (query.len > 0)
            take(&query, 1);
        if (pair.len > name.len && fl_span_starts(pair, name) &&
            pair.ptr[name.len] == '=') {
            *value = fl_span_from(pair, name.len + 1);
            return true;
        }
    }
    return false;
}

void fl_url_split_target(fl_span target, fl_span *path, fl_span *query)
{
    *path = take(&target, fl_span_find(target, '?'));
    *query = target.len > 0 ? fl_span_from(target, 1) : (fl_span){0};
}
