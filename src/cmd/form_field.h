/*
 * form_field.h - one field of a form that a server sent: what it wants, and
 * whether that is what was typed.
 */
#ifndef FL_CMD_FORM_FIELD_H
#define FL_CMD_FORM_FIELD_H

#include "cmd/term.h"
#include "json/nav.h"

/* What is asked for, up to where the answer is typed. */
void fl_form_field_show(const fl_term *to, const fl_json_member *field,
                        bool required);

/*
 * Appends what was typed, as JSON of the kind the field is of.
 *
 * FL_E_INVALID  the field's schema does not allow it; `why` says what it does
 * FL_E_NOMEM, FL_E_TOO_BIG
 */
FL_MUST_USE fl_status fl_form_field_read(const fl_json_member *field,
                                         const char *line, fl_buf *value,
                                         fl_error *why);

/* The words for either, large and small. */
bool fl_form_is_yes(const char *line);
bool fl_form_is_no(const char *line);

#endif
