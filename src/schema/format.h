/*
 * format.h - what `format` asserts, if it is asked to.
 */
#ifndef FL_SCHEMA_FORMAT_H
#define FL_SCHEMA_FORMAT_H

#include <fairlead/types.h>

/* A format other than "regex", which is pattern.h's. */
typedef bool fl_format_test(fl_span text);

typedef struct fl_format {
    const char *name;
    fl_format_test *test; /* NULL: it is "regex" */
} fl_format;

/* NULL when the name is not known: such a format asserts nothing. */
const fl_format *fl_format_find(fl_span name);

/* RFC 3339; format_time.c */
bool fl_format_date(fl_span text);
bool fl_format_time(fl_span text);
bool fl_format_date_time(fl_span text);
bool fl_format_duration(fl_span text);

/* format_net.c */
bool fl_format_ipv4(fl_span text);
bool fl_format_ipv6(fl_span text);
bool fl_format_hostname(fl_span text);
bool fl_format_email(fl_span text);
bool fl_format_idn_email(fl_span text);

/* RFC 3986, 3987, 6570; format_uri.c */
bool fl_format_uri(fl_span text);
bool fl_format_uri_reference(fl_span text);
bool fl_format_iri(fl_span text);
bool fl_format_iri_reference(fl_span text);
bool fl_format_uri_template(fl_span text);

#endif
