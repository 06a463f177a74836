/*
 * paths.h - paths of files, as parts of URIs.
 */
#ifndef FL_SERVER_PATHS_H
#define FL_SERVER_PATHS_H

#include "base/buf.h"

/* Appends a path, percent-encoded: all but slashes and what RFC 3986 2.3 calls
 * unreserved. */
FL_MUST_USE fl_status fl_paths_encode(fl_span path, fl_buf *out);

/*
 * Appends the path that this part of a URI means. FL_E_INVALID: it means none:
 * a percent sign without two digits, a query or a fragment, an encoded slash
 * or NUL (no file has either in its name), or bytes that are not UTF-8.
 */
FL_MUST_USE fl_status fl_paths_decode(fl_span text, fl_buf *out);

#endif
