/*
 * http2_rules.h - what a field of HTTP/2 is, and whether it may be there.
 *
 * The rules of RFC 9113 8.2 and 8.3 that one field can break by itself. They
 * are what keeps a request from being smuggled, so they hold for every field;
 * yet an entry of a compression table is judged once, when it is made, however
 * often it is referred to.
 */
#ifndef FL_WIRE_HTTP2_RULES_H
#define FL_WIRE_HTTP2_RULES_H

#include "wire/field.h"

/* An fl_field_id, or which pseudo field it is. */
typedef enum fl_http2_kind {
    FL_PSEUDO_AUTHORITY = FL_FIELD_COUNT,
    FL_PSEUDO_METHOD,
    FL_PSEUDO_PATH,
    FL_PSEUDO_PROTOCOL, /* RFC 8441 */
    FL_PSEUDO_SCHEME,
    FL_PSEUDO_STATUS,
} fl_http2_kind;

static inline bool fl_http2_is_pseudo(uint8_t kind)
{
    return kind >= FL_FIELD_COUNT;
}

/* What a name stands for: its kind goes to *kind, FL_FIELD_OTHER if it is
 * unknown. False: no message of HTTP/2 may have such a field. */
bool fl_http2_name_ok(fl_span name, uint8_t *kind);

/* Whether a field of this kind may have this value. */
bool fl_http2_value_ok(uint8_t kind, fl_span value);

#endif
