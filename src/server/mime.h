/*
 * mime.h - what a file is, by its name.
 */
#ifndef FL_SERVER_MIME_H
#define FL_SERVER_MIME_H

#include <fairlead/types.h>

typedef struct fl_mime {
    const char *name; /* the extension, or the whole name of one without */
    const char *type; /* "text/markdown" */
    bool is_text;     /* to be sent as text, if it is UTF-8 */
} fl_mime;

/* NULL when it is not known. */
const fl_mime *fl_mime_of(fl_span path);

#endif
