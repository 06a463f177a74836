/*
 * url.h - http and https URLs taken apart and put together (RFC 3986).
 *
 * Strict: no user names, no white space, no controls, no backslash, nothing
 * above ASCII that is not percent-encoded. A fragment is parsed and dropped.
 */
#ifndef FL_WIRE_URL_H
#define FL_WIRE_URL_H

#include "base/buf.h"

/* Borrowed from the text. */
typedef struct fl_url {
    fl_span scheme; /* as written; compare without case */
    fl_span host;   /* without brackets; not empty */
    uint16_t port;  /* given, or the scheme's: 80, 443 */
    bool has_port;
    bool is_ipv6;  /* was in brackets */
    fl_span path;  /* starts with "/", or empty */
    fl_span query; /* without "?"; may be empty */
} fl_url;

/* Any scheme; `port` is 0 without one for schemes other than http, https, ws,
 * wss. FL_E_INVALID. */
FL_MUST_USE fl_status fl_url_parse(fl_span text, fl_url *url);

/* Host case-insensitively, ports with their defaults. */
bool fl_url_same_origin(const fl_url *a, const fl_url *b);

/* A Host header or :authority: HOST[:PORT]. `port` 0 when not given. */
FL_MUST_USE fl_status fl_url_parse_authority(fl_span text, fl_span *host,
                                             uint16_t *port, bool *is_ipv6);

/* Appends "host[:port]" for a Host field: the port is left out if it is the
 * scheme's own, IPv6 gets its brackets. */
FL_MUST_USE fl_status fl_url_write_authority(const fl_url *url, fl_buf *out);

/* Appends what `reference` means, seen from `base`: an absolute URL with dot
 * segments removed (RFC 3986 5.2). FL_E_INVALID. */
FL_MUST_USE fl_status fl_url_resolve(const fl_url *base, fl_span reference,
                                     fl_buf *out);

/* Undoes %XX; FL_E_INVALID on a broken one or on %00. */
FL_MUST_USE fl_status fl_url_decode(fl_span text, fl_buf *out);

/* The raw value of the first `name=` in a query; false when there is none. */
bool fl_url_query_get(fl_span query, fl_span name, fl_span *value);

/* Splits a request target at its "?". */
void fl_url_split_target(fl_span target, fl_span *path, fl_span *query);

#endif
