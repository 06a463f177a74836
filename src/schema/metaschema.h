/*
 * metaschema.h - the schemas of schemas, which nobody has to bring along.
 *
 * The table is made of the files in meta/ when the library is built.
 */
#ifndef FL_SCHEMA_METASCHEMA_H
#define FL_SCHEMA_METASCHEMA_H

#include <fairlead/types.h>

typedef struct fl_metaschema {
    const char *uri; /* NULL: the end of the table */
    const unsigned char *text;
    size_t len;
} fl_metaschema;

extern const fl_metaschema fl_metaschemas[];

/* The document of that URI; empty if it is none of these. */
fl_span fl_metaschema_find(fl_span uri);

#endif
