/*
 * discover.h - where metadata are to be found, and which of them to believe.
 *
 * Pure: it says what to ask for next, and judges what came.
 */
#ifndef FL_AUTH_DISCOVER_H
#define FL_AUTH_DISCOVER_H

#include "auth/metadata.h"
#include "base/buf.h"

/*
 * Appends the place to look next: `step` counts from 0, and FL_END says that
 * there is no such place any more. FL_E_INVALID: what it starts from is no
 * http(s) URL fit for it.
 */
/* A protected resource's: under the path of the server, then at its root. */
FL_MUST_USE fl_status fl_discover_prm(fl_span server, unsigned step,
                                      fl_buf *url);
/* An authorization server's: as RFC 8414 has it, as OpenID has it, with the
 * issuer's path inserted and then appended. */
FL_MUST_USE fl_status fl_discover_as(fl_span issuer, unsigned step,
                                     fl_buf *url);

/* Appends scheme, host and port of a URL. */
FL_MUST_USE fl_status fl_discover_origin(fl_span url, fl_buf *out);

/* Whether a token for `resource` may be shown to `server`: it is of the same
 * origin, and its path is that of the server or leads to it. */
bool fl_discover_resource_fits(fl_span resource, fl_span server);

/* Whether an issuer is this origin, with or without the slash of its root. */
bool fl_discover_is_root(fl_span issuer, fl_span origin);

/* Metadata are of the issuer they were asked for: letter by letter, nothing
 * is evened out (RFC 8414 3.3). FL_E_DENIED. */
FL_MUST_USE fl_status fl_discover_check_as(const fl_as *as, fl_span issuer,
                                           fl_error *error);

/* MCP 2025-03-26: a server without any metadata has these endpoints. */
FL_MUST_USE fl_status fl_discover_guess(fl_span server, fl_as *out);

#endif
