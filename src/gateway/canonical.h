/*
 * canonical.h - JSON in the one spelling by which two texts can be compared.
 *
 * What a client says twice it may say with other white space and its members
 * in another order: most languages' maps have none. Here members are sorted by
 * their names and white space is gone; strings and numbers stay as they are
 * spelled.
 */
#ifndef FL_GATEWAY_CANONICAL_H
#define FL_GATEWAY_CANONICAL_H

#include "base/buf.h"

/* Appends it. `json` is valid, or empty. Members of the outermost object that
 * `without` (names; ends with NULL; or NULL itself) has are left out.
 * FL_E_NOMEM, FL_E_TOO_BIG: what was appended is taken back. */
FL_MUST_USE fl_status fl_canonical_write(fl_span json,
                                         const char *const *without,
                                         fl_buf *out);

#endif
