/*
 * base64.h - RFC 4648 section 4, strict: padding required, no white space, no
 * bits left over. And section 5, for what goes into URLs and tokens: as strict,
 * but without padding.
 */
#ifndef FL_BASE_BASE64_H
#define FL_BASE_BASE64_H

#include "base/buf.h"

FL_MUST_USE fl_status fl_base64_encode(fl_span bytes, fl_buf *out);
/* Where there is room for four characters for every three bytes begun. */
void fl_base64_put(fl_span bytes, char *out);
/* FL_E_INVALID: nothing was appended. */
FL_MUST_USE fl_status fl_base64_decode(fl_span text, fl_buf *out);

FL_MUST_USE fl_status fl_base64url_encode(fl_span bytes, fl_buf *out);
/* FL_E_INVALID: nothing was appended. */
FL_MUST_USE fl_status fl_base64url_decode(fl_span text, fl_buf *out);

#endif
