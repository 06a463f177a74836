/*
 * text.h - strings that may be secrets, and the two small languages in which
 * OAuth strings them together: scopes and forms.
 */
#ifndef FL_AUTH_TEXT_H
#define FL_AUTH_TEXT_H

#include "base/buf.h"

/* Puts a copy of `text` into the slot; {NULL, 0} empties it. What was there is
 * wiped. FL_E_NOMEM: the slot is empty. */
FL_MUST_USE fl_status fl_text_set(char **slot, fl_span text);
/* Wipes it and leaves NULL. */
void fl_text_drop(char **slot);
/* The same for a buffer. */
void fl_text_wipe(fl_buf *buf);

/* Scopes: words with a space between each two. Appends those of `more` that
 * `all` has not yet; what cannot be a scope (RFC 6749 3.3) is left out. */
FL_MUST_USE fl_status fl_scopes_add(fl_buf *all, fl_span more);
/* Whether `all` has every one of `some`. */
bool fl_scopes_include(fl_span all, fl_span some);

/* Appends "name=value" for a form or a query, with "&" before it if it is not
 * the first. Without a value, {NULL, 0}, nothing at all. */
FL_MUST_USE fl_status fl_form_add(fl_buf *form, const char *name,
                                  fl_span value);
/* Appends `text` as it is written in forms. */
FL_MUST_USE fl_status fl_form_encode(fl_span text, fl_buf *out);
/* The value of `name` in a query, decoded into `out`. FL_E_NOT_FOUND;
 * FL_E_INVALID: it is there twice, or is not decodable. */
FL_MUST_USE fl_status fl_form_get(fl_span query, const char *name, fl_buf *out);

#endif
