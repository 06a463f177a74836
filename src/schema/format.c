/*
 * format.c - the formats by name, and the small ones themselves.
 */
#include "schema/format.h"

#include "base/span.h"
#include "json/token.h"

static bool is_uuid(fl_span text)
{
    enum { LENGTH = 36 };

    if (text.len != LENGTH)
        return false;
    for (size_t i = 0; i < LENGTH; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.ptr[i] != '-' : !fl_json_is_hex(text.ptr[i]))
            return false;
    }
    return true;
}

/* RFC 6901 */
static bool is_json_pointer(fl_span text)
{
    if (text.len > 0 && text.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '~' &&
            (i + 1 == text.len ||
             (text.ptr[i + 1] != '0' && text.ptr[i + 1] != '1')))
            return false;
    return true;
}

static bool is_relative_json_pointer(fl_span text)
{
    size_t digits = 0;

    while (digits < text.len && fl_json_is_digit(text.ptr[digits]))
        digits++;
    if (digits == 0 || (digits > 1 && text.ptr[0] == '0'))
        return false;
    fl_span rest = fl_span_from(text, digits);
    return fl_span_equal(rest, FL_SPAN("#")) || is_json_pointer(rest);
}

const fl_format *fl_format_find(fl_span name)
{
    static const fl_format formats[] = {
        {"date", fl_format_date},
        {"date-time", fl_format_date_time},
        {"duration", fl_format_duration},
        {"email", fl_format_email},
        {"hostname", fl_format_hostname},
        {"idn-email", fl_format_idn_email},
        {"ipv4", fl_format_ipv4},
        {"ipv6", fl_format_ipv6},
        {"iri", fl_format_iri},
        {"iri-reference", fl_format_iri_reference},
        {"json-pointer", is_json_pointer},
        {"regex", NULL},
        {"relative-json-pointer", is_relative_json_pointer},
        {"time", fl_format_time},
        {"uri", fl_format_uri},
        {"uri-reference", fl_format_uri_reference},
        {"uri-template", fl_format_uri_template},
        {"uuid", is_uuid},
    };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (fl_span_equal(name, fl_span_of(formats[i].name)))
            return &formats[i];
    return NULL;
}
