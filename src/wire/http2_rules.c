/*
 * http2_rules.c - what a field of HTTP/2 is, and whether it may be there.
 */
#include "wire/http2_rules.h"

#include "base/span.h"
#include "wire/bytes.h"
#include "wire/http1_rules.h"

/* More digits than any length that fits. */
enum { LENGTH_DIGITS = 18 };

static bool find_pseudo(fl_span name, uint8_t *kind)
{
    static const char *const names[] = {
        [FL_PSEUDO_AUTHORITY - FL_FIELD_COUNT] = ":authority",
        [FL_PSEUDO_METHOD - FL_FIELD_COUNT] = ":method",
        [FL_PSEUDO_PATH - FL_FIELD_COUNT] = ":path",
        [FL_PSEUDO_PROTOCOL - FL_FIELD_COUNT] = ":protocol",
        [FL_PSEUDO_SCHEME - FL_FIELD_COUNT] = ":scheme",
        [FL_PSEUDO_STATUS - FL_FIELD_COUNT] = ":status",
    };

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (fl_span_equal(name, fl_span_of(names[i]))) {
            *kind = (uint8_t)(FL_FIELD_COUNT + i);
            return true;
        }
    return false;
}

static bool has_capitals(fl_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] >= 'A' && name.ptr[i] <= 'Z')
            return true;
    return false;
}

/* What HTTP/1.1 says about a connection has no place here (8.2.2). */
static bool is_of_connection(fl_field_id id)
{
    return id == FL_FIELD_CONNECTION || id == FL_FIELD_KEEP_ALIVE ||
           id == FL_FIELD_PROXY_CONNECTION ||
           id == FL_FIELD_TRANSFER_ENCODING || id == FL_FIELD_UPGRADE;
}

bool fl_http2_name_ok(fl_span name, uint8_t *kind)
{
    *kind = FL_FIELD_OTHER;
    if (name.len > 0 && name.ptr[0] == ':')
        return find_pseudo(name, kind);
    fl_field_id id = fl_field_find(name);
    *kind = (uint8_t)id;
    return fl_field_name_ok(name) && !has_capitals(name) &&
           !is_of_connection(id);
}

static bool is_number(fl_span value)
{
    size_t n = 0;

    while (n < value.len && fl_bytes_is_digit(value.ptr[n]))
        n++;
    return n == value.len && n > 0 && n <= LENGTH_DIGITS;
}

/* RFC 3986 3.1 */
static bool is_scheme(fl_span value)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = fl_bytes_lower(value.ptr[i]);
        bool letter = c >= 'a' && c <= 'z';
        if (!letter && (i == 0 || (!fl_bytes_is_digit(c) && c != '+' &&
                                   c != '-' && c != '.')))
            return false;
    }
    return value.len > 0;
}

/* 101 is of HTTP/1.1 alone (8.6). */
static bool is_status(fl_span value)
{
    return value.len == 3 && is_number(value) && value.ptr[0] != '0' &&
           !fl_span_equal(value, FL_SPAN("101"));
}

static bool is_visible(fl_span value)
{
    return value.len > 0 &&
           fl_bytes_until_hidden(value.ptr, value.len) == value.len;
}

bool fl_http2_value_ok(uint8_t kind, fl_span value)
{
    switch (kind) {
    case FL_PSEUDO_AUTHORITY:
        return fl_http1_rules_authority(value);
    case FL_PSEUDO_METHOD:
    case FL_PSEUDO_PROTOCOL:
        return fl_field_name_ok(value);
    case FL_PSEUDO_PATH:
        return is_visible(value);
    case FL_PSEUDO_SCHEME:
        return is_scheme(value);
    case FL_PSEUDO_STATUS:
        return is_status(value);
    case FL_FIELD_CONTENT_LENGTH:
        return is_number(value);
    case FL_FIELD_TE:
        return fl_field_name_equal(value, FL_SPAN("trailers"));
    default:
        return fl_field_value_ok(value);
    }
}
