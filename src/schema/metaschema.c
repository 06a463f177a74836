/*
 * metaschema.c - the schemas of schemas by their URIs.
 */
#include "schema/metaschema.h"

#include "base/span.h"

fl_span fl_metaschema_find(fl_span uri)
{
    const fl_metaschema *known = fl_metaschemas;

    while (known->uri != NULL && !fl_span_equal(uri, fl_span_of(known->uri)))
        known++;
    return known->uri != NULL ? (fl_span){(const char *)known->text, known->len}
                              : (fl_span){0};
}
