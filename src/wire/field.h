/*
 * field.h - header fields: the ones we know by number, the rest by name.
 *
 * A field is classified once, when it is read; after that nobody compares
 * names. What we send is checked once, too: a set of fields that goes with
 * every answer is prepared, and then costs one copy.
 */
#ifndef FL_WIRE_FIELD_H
#define FL_WIRE_FIELD_H

#include "base/buf.h"

/* name, text, and whether it may occur only once */
#define FL_FIELD_MAP(X)                                                        \
    X(ACCEPT, "accept", false)                                                 \
    X(ACCEPT_ENCODING, "accept-encoding", false)                               \
    X(ACCESS_CONTROL_REQUEST_HEADERS, "access-control-request-headers", false) \
    X(ACCESS_CONTROL_REQUEST_METHOD, "access-control-request-method", true)    \
    X(ALLOW, "allow", false)                                                   \
    X(AUTHORIZATION, "authorization", true)                                    \
    X(CACHE_CONTROL, "cache-control", false)                                   \
    X(CONNECTION, "connection", false)                                         \
    X(CONTENT_ENCODING, "content-encoding", false)                             \
    X(CONTENT_LENGTH, "content-length", true)                                  \
    X(CONTENT_SECURITY_POLICY, "content-security-policy", false)               \
    X(CONTENT_TYPE, "content-type", true)                                      \
    X(COOKIE, "cookie", false)                                                 \
    X(DATE, "date", true)                                                      \
    X(EXPECT, "expect", true)                                                  \
    X(HOST, "host", true)                                                      \
    X(KEEP_ALIVE, "keep-alive", false)                                         \
    X(LAST_EVENT_ID, "last-event-id", true)                                    \
    X(LOCATION, "location", true)                                              \
    X(MCP_METHOD, "mcp-method", true)                                          \
    X(MCP_NAME, "mcp-name", true)                                              \
    X(MCP_PROTOCOL_VERSION, "mcp-protocol-version", true)                      \
    X(MCP_SESSION_ID, "mcp-session-id", true)                                  \
    X(ORIGIN, "origin", true)                                                  \
    X(PROXY_CONNECTION, "proxy-connection", false)                             \
    X(REFERRER_POLICY, "referrer-policy", false)                               \
    X(RETRY_AFTER, "retry-after", true)                                        \
    X(SEC_WEBSOCKET_EXTENSIONS, "sec-websocket-extensions", false)             \
    X(SEC_WEBSOCKET_KEY, "sec-websocket-key", true)                            \
    X(SEC_WEBSOCKET_PROTOCOL, "sec-websocket-protocol", false)                 \
    X(SEC_WEBSOCKET_VERSION, "sec-websocket-version", false)                   \
    X(STRICT_TRANSPORT_SECURITY, "strict-transport-security", false)           \
    X(TE, "te", false)                                                         \
    X(TRACEPARENT, "traceparent", true)                                        \
    X(TRAILER, "trailer", false)                                               \
    X(TRANSFER_ENCODING, "transfer-encoding", false)                           \
    X(UPGRADE, "upgrade", false)                                               \
    X(USER_AGENT, "user-agent", false)                                         \
    X(WWW_AUTHENTICATE, "www-authenticate", false)                             \
    X(X_API_KEY, "x-api-key", true)                                            \
    X(X_CONTENT_TYPE_OPTIONS, "x-content-type-options", false)                 \
    X(X_FRAME_OPTIONS, "x-frame-options", false)                               \
    X(X_REQUEST_ID, "x-request-id", true)

typedef enum fl_field_id {
    FL_FIELD_OTHER,
#define FL_FIELD_ENUM(name, text, single) FL_FIELD_##name,
    FL_FIELD_MAP(FL_FIELD_ENUM)
#undef FL_FIELD_ENUM
        FL_FIELD_COUNT
} fl_field_id;

/* Borrowed. As received the name may be in any case; as sent it is in lower
 * case, as HTTP/2 wants it. */
typedef struct fl_field {
    fl_span name;
    fl_span value;
    fl_field_id id;
} fl_field;

/* One whose text lies at `from`, as it is in its copy at `to`. */
fl_field fl_field_moved(const fl_field *field, const char *from,
                        const char *to);

/* What we send: FL_FIELD_SET(RETRY_AFTER, text). Only known names: others are
 * written out. */
#define FL_FIELD_SET(which, text)                                              \
    ((fl_field){fl_field_name(FL_FIELD_##which), (text), FL_FIELD_##which})

/* The id of a name in any case; FL_FIELD_OTHER when we do not know it. */
fl_field_id fl_field_find(fl_span name);
/* In lower case; "" for FL_FIELD_OTHER. */
fl_span fl_field_name(fl_field_id id);
bool fl_field_is_single(fl_field_id id);

/* Same name, whatever the case of ASCII letters. */
bool fl_field_name_equal(fl_span a, fl_span b);

/* RFC 9110 5.6.2 and 5.5: what may be sent, so that nothing can be injected:
 * a name is a token; a value has no controls but HTAB, and no white space at
 * its ends. obs-text (0x80 and up) may be in values. */
bool fl_field_name_ok(fl_span name);
bool fl_field_value_ok(fl_span value);

/* Says where a message ends, what becomes of its connection, or whom it is
 * for (Content-Length, Transfer-Encoding, Connection, Host...): that is the
 * codec's business alone, and a second opinion is how requests are smuggled. */
bool fl_field_is_framing(fl_field_id id);

/* Its name and value are right, the name is in lower case, and it is not
 * framing: it may be sent as it is. */
bool fl_field_may_send(const fl_field *field);

/*
 * A comma-separated list: takes the next element off the front of `list`,
 * without the white space around it; empty ones are skipped. Quoted strings
 * are kept whole. False at the end.
 */
bool fl_field_list_next(fl_span *list, fl_span *element);

/* Whether a list like Connection's has `token`, whatever the case. */
bool fl_field_list_has(fl_span list, fl_span token);

/* The media type of a Content-Type is `type` ("application/json"), parameters
 * aside, whatever the case. */
bool fl_field_media_is(fl_span value, fl_span type);

/*
 * The quality, in thousandths, at which an Accept or Accept-Encoding value
 * takes `wanted`: 0 if it does not. For a media type the ranges type/x and
 * x/x (with asterisks for x) count, the most specific wins (RFC 9110 12.5.1);
 * for a coding "*" does.
 */
unsigned fl_field_quality(fl_span list, fl_span wanted);

/* Fields that go with many messages, checked and rendered once. */
typedef struct fl_fields {
    fl_field *fields; /* name and value point into `text` */
    size_t count;
    size_t room; /* of `fields` */
    fl_buf text; /* "name: value\r\n" each, as HTTP/1.1 has them */
} fl_fields;

/* FL_E_INVALID: a name or value that may not be sent. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_fields_init(fl_fields *set, const fl_field *fields,
                                     size_t count);
void fl_fields_deinit(fl_fields *set);

/* The same for a set that is all zeroes, or has been cleared: then its memory
 * is used again. On failure it is empty. */
FL_MUST_USE fl_status fl_fields_fill(fl_fields *set, const fl_field *fields,
                                     size_t count);
static inline void fl_fields_clear(fl_fields *set)
{
    set->count = 0;
    fl_buf_clear(&set->text);
}

/* Gives one of them another value, of the same length and clean like it. */
void fl_fields_replace(fl_fields *set, size_t index, fl_span value);

#endif
