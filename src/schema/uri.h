/*
 * uri.h - where a reference leads: RFC 3986, section 5.
 */
#ifndef FL_SCHEMA_URI_H
#define FL_SCHEMA_URI_H

#include "base/buf.h"

/* What comes before the first '#', and what comes after it. */
fl_span fl_uri_without_fragment(fl_span uri);
fl_span fl_uri_fragment(fl_span uri);

/* Does it begin with a scheme? */
bool fl_uri_is_absolute(fl_span uri);

/* Appends what `reference` means where `base` is the base, fragment and all.
 * A base that is relative itself, or empty, gives a relative answer. */
FL_MUST_USE fl_status fl_uri_resolve(fl_span base, fl_span reference,
                                     fl_buf *out);

/* Appends `text` with its %XX undone; FL_E_INVALID if one is cut short. */
FL_MUST_USE fl_status fl_uri_decode(fl_span text, fl_buf *out);

#endif
