/*
 * hpack_static.c - the fields that every table begins with (RFC 7541 appendix
 * A), judged as http2_rules.c would: tests/unit/test_hpack.c holds the two
 * against each other.
 */
#include "wire/hpack_impl.h"

#include "wire/http2_rules.h"

#define TEXT(literal)                                                          \
    {                                                                          \
        "" literal, sizeof(literal) - 1                                        \
    }
#define ROW(what, n, v)                                                        \
    {                                                                          \
        .name = TEXT(n), .value = TEXT(v), .kind = (what)                      \
    }
/* Good for its name: it may not be empty. */
#define EMPTY(what, n)                                                         \
    {                                                                          \
        .name = TEXT(n), .value = TEXT(""), .kind = (what), .bad_value = true  \
    }
/* Of HTTP/1.1. */
#define STRAY(what, n)                                                         \
    {                                                                          \
        .name = TEXT(n), .value = TEXT(""), .kind = (what), .bad_name = true   \
    }

const fl_hpack_entry fl_hpack_static[FL_HPACK_STATIC] = {
    EMPTY(FL_PSEUDO_AUTHORITY, ":authority"),
    ROW(FL_PSEUDO_METHOD, ":method", "GET"),
    ROW(FL_PSEUDO_METHOD, ":method", "POST"),
    ROW(FL_PSEUDO_PATH, ":path", "/"),
    ROW(FL_PSEUDO_PATH, ":path", "/index.html"),
    ROW(FL_PSEUDO_SCHEME, ":scheme", "http"),
    ROW(FL_PSEUDO_SCHEME, ":scheme", "https"),
    ROW(FL_PSEUDO_STATUS, ":status", "200"),
    ROW(FL_PSEUDO_STATUS, ":status", "204"),
    ROW(FL_PSEUDO_STATUS, ":status", "206"),
    ROW(FL_PSEUDO_STATUS, ":status", "304"),
    ROW(FL_PSEUDO_STATUS, ":status", "400"),
    ROW(FL_PSEUDO_STATUS, ":status", "404"),
    ROW(FL_PSEUDO_STATUS, ":status", "500"),
    ROW(FL_FIELD_OTHER, "accept-charset", ""),
    ROW(FL_FIELD_ACCEPT_ENCODING, "accept-encoding", "gzip, deflate"),
    ROW(FL_FIELD_OTHER, "accept-language", ""),
    ROW(FL_FIELD_OTHER, "accept-ranges", ""),
    ROW(FL_FIELD_ACCEPT, "accept", ""),
    ROW(FL_FIELD_OTHER, "access-control-allow-origin", ""),
    ROW(FL_FIELD_OTHER, "age", ""),
    ROW(FL_FIELD_ALLOW, "allow", ""),
    ROW(FL_FIELD_AUTHORIZATION, "authorization", ""),
    ROW(FL_FIELD_CACHE_CONTROL, "cache-control", ""),
    ROW(FL_FIELD_OTHER, "content-disposition", ""),
    ROW(FL_FIELD_CONTENT_ENCODING, "content-encoding", ""),
    ROW(FL_FIELD_OTHER, "content-language", ""),
    EMPTY(FL_FIELD_CONTENT_LENGTH, "content-length"),
    ROW(FL_FIELD_OTHER, "content-location", ""),
    ROW(FL_FIELD_OTHER, "content-range", ""),
    ROW(FL_FIELD_CONTENT_TYPE, "content-type", ""),
    ROW(FL_FIELD_COOKIE, "cookie", ""),
    ROW(FL_FIELD_DATE, "date", ""),
    ROW(FL_FIELD_OTHER, "etag", ""),
    ROW(FL_FIELD_EXPECT, "expect", ""),
    ROW(FL_FIELD_OTHER, "expires", ""),
    ROW(FL_FIELD_OTHER, "from", ""),
    ROW(FL_FIELD_HOST, "host", ""),
    ROW(FL_FIELD_OTHER, "if-match", ""),
    ROW(FL_FIELD_OTHER, "if-modified-since", ""),
    ROW(FL_FIELD_OTHER, "if-none-match", ""),
    ROW(FL_FIELD_OTHER, "if-range", ""),
    ROW(FL_FIELD_OTHER, "if-unmodified-since", ""),
    ROW(FL_FIELD_OTHER, "last-modified", ""),
    ROW(FL_FIELD_OTHER, "link", ""),
    ROW(FL_FIELD_LOCATION, "location", ""),
    ROW(FL_FIELD_OTHER, "max-forwards", ""),
    ROW(FL_FIELD_OTHER, "proxy-authenticate", ""),
    ROW(FL_FIELD_OTHER, "proxy-authorization", ""),
    ROW(FL_FIELD_OTHER, "range", ""),
    ROW(FL_FIELD_OTHER, "referer", ""),
    ROW(FL_FIELD_OTHER, "refresh", ""),
    ROW(FL_FIELD_RETRY_AFTER, "retry-after", ""),
    ROW(FL_FIELD_OTHER, "server", ""),
    ROW(FL_FIELD_OTHER, "set-cookie", ""),
    ROW(FL_FIELD_STRICT_TRANSPORT_SECURITY, "strict-transport-security", ""),
    STRAY(FL_FIELD_TRANSFER_ENCODING, "transfer-encoding"),
    ROW(FL_FIELD_USER_AGENT, "user-agent", ""),
    ROW(FL_FIELD_OTHER, "vary", ""),
    ROW(FL_FIELD_OTHER, "via", ""),
    ROW(FL_FIELD_WWW_AUTHENTICATE, "www-authenticate", ""),
};
