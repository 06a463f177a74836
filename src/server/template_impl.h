/*
 * template_impl.h - the inside of a template, for template*.c only.
 */
#ifndef FL_SERVER_TEMPLATE_IMPL_H
#define FL_SERVER_TEMPLATE_IMPL_H

#include "server/template.h"

typedef enum fl_template_kind {
    FL_TEMPLATE_LITERAL,
    FL_TEMPLATE_VALUE, /* where one variable stood */
    FL_TEMPLATE_QUERY, /* where any of several did, each with its name */
} fl_template_kind;

typedef struct fl_template_part {
    fl_template_kind kind;
    char begins;   /* the byte before it; '\0': none. What has one may be
                      left out altogether, what has none is always there */
    bool many;     /* several segments in one */
    unsigned ends; /* bytes it does not hold: a set of fl_template_bit() */
    fl_span text;  /* a literal */
    size_t first, names; /* the variables, among the template's */
} fl_template_part;

struct fl_template {
    fl_template_part *parts;
    size_t count;
    fl_span *names; /* each with a NUL behind it */
    size_t variables;
};

/* The bytes that can end a value, each a bit; 0: it ends none. */
static inline unsigned fl_template_bit(char byte)
{
    switch (byte) {
    case '/':
        return 1 << 0;
    case '.':
        return 1 << 1;
    case '?':
        return 1 << 2;
    case '&':
        return 1 << 3;
    case '#':
        return 1 << 4;
    default:
        return 0;
    }
}

static inline bool fl_template_is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') ||
           (c >= 'a' && c <= 'f');
}

#endif
