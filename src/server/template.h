/*
 * template.h - URI templates (RFC 6570), read backwards: given a URI, what
 * stood for the variables?
 *
 * What can be told apart going backwards is understood: literals, {var},
 * {+var} and {#var} (which may hold slashes), {/var} and {.var}, {?a,b} and
 * {&a,b} in any order, and * on path segments. Anything else is refused when
 * the template is made, not misread when it is used.
 *
 * Where two readings remain, the variable further left has more: of {a}-{b}
 * and "1-2-3", a is "1-2". What has a sign of its own ({/var}, {.var}, {?var},
 * {&var}, {#var}) may be left out; nothing else is ever empty but the value of
 * a parameter.
 */
#ifndef FL_SERVER_TEMPLATE_H
#define FL_SERVER_TEMPLATE_H

#include "base/buf.h"

typedef struct fl_template fl_template;

enum { FL_TEMPLATE_VARIABLES = 32, FL_TEMPLATE_BYTES = 8192 };

/* FL_E_INVALID: not a template, or one that cannot be read backwards; `error`
 * says where. FL_E_TOO_BIG: over the limits above. */
FL_MUST_USE fl_status fl_template_new(fl_span text, fl_template **out,
                                      fl_error *error);
void fl_template_free(fl_template *template);

/* Whether there is a variable of this name. */
bool fl_template_has(const fl_template *template, fl_span name);
/* The same for a raw JSON string, by its meaning. */
bool fl_template_has_token(const fl_template *template, fl_span token);

/*
 * FL_OK: `uri` fits, and {"name":"value",...}, percent-encoding undone, was
 * appended to `arguments`; a value that is no UTF-8, or has a NUL, does not
 * fit, nor one segment among several that has a slash; nor does a URI of more
 * than FL_TEMPLATE_BYTES. FL_E_NOT_FOUND: it does not. FL_E_NOMEM.
 */
FL_MUST_USE fl_status fl_template_match(const fl_template *template,
                                        fl_span uri, fl_buf *arguments);

#endif
