/*
 * table.c - the list of transports.
 *
 * A sixth transport is one file and one ROW here.
 */
#include "transport/transport.h"

#include "base/span.h"

#define TRANSPORTS(ROW)                                                        \
    ROW(stdio)                                                                 \
    ROW(tcp)                                                                   \
    ROW(unix)                                                                  \
    ROW(http)                                                                  \
    ROW(sse)                                                                   \
    ROW(ws)

#define DECLARE(name) extern const fl_transport fl_transport_##name;
TRANSPORTS(DECLARE)

#define LIST(name) &fl_transport_##name,
static const fl_transport *const table[] = {TRANSPORTS(LIST) NULL};

const fl_transport *const *fl_transport_table(void)
{
    return table;
}

const fl_transport *fl_transport_find(fl_span scheme)
{
    for (const fl_transport *const *row = table; *row != NULL; row++)
        for (const char *const *name = (*row)->schemes; *name != NULL; name++)
            if (fl_span_equal(scheme, fl_span_of(*name)))
                return *row;
    return NULL;
}
