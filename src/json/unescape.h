/*
 * unescape.h - what the inside of a JSON string means.
 *
 * `raw` is always the text between the quotes, escapes and all.
 */
#ifndef FL_JSON_UNESCAPE_H
#define FL_JSON_UNESCAPE_H

#include "base/buf.h"

/* Does it mean `text`? A lone surrogate means U+FFFD. */
bool fl_json_unescape_is(fl_span raw, fl_span text);

/* Appends its meaning. After a failure part of it may have been added. */
FL_MUST_USE fl_status fl_json_unescape(fl_span raw, fl_buf *out);

#endif
