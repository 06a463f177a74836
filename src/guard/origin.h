/*
 * origin.h - from which pages, and under which host names, we may be used (H7).
 *
 * A browser sends Origin; a page of a stranger whose name was made to point at
 * us (DNS rebinding) sends a Host that is not ours. Without lists: a server
 * bound to loopback takes loopback names only (localhost, *.localhost,
 * 127.0.0.0/8, [::1]), both as Host and as Origin's host, any port. One bound
 * elsewhere takes any Host, and as Origin only its own (same host and port as
 * Host), by address, or by a name that is listed: any other name may have been
 * made to point here.
 */
#ifndef FL_GUARD_ORIGIN_H
#define FL_GUARD_ORIGIN_H

#include <fairlead/types.h>

typedef struct fl_origin fl_origin;

typedef enum fl_origin_verdict {
    FL_ORIGIN_OK,
    FL_ORIGIN_BAD_HOST,
    FL_ORIGIN_BAD_ORIGIN,
} fl_origin_verdict;

/* An origin is "https://app.example.org", "null" or "*"; a host is
 * "example.org", "example.org:8080" or "*". In place of a first label or of a
 * port there may be an asterisk. */
bool fl_origin_valid_origin(const char *pattern);
bool fl_origin_valid_host(const char *pattern);

/* NULL-terminated lists, either may be NULL; both add to what is taken without
 * them, except that with `hosts` a public server takes no other Host.
 * FL_E_INVALID, FL_E_NOMEM. */
FL_MUST_USE fl_status fl_origin_new(const char *const *origins,
                                    const char *const *hosts, bool loopback,
                                    fl_origin **out);
void fl_origin_free(fl_origin *guard);

/* `authority` is the Host field; empty is a bad host. `origin` is empty when
 * there was none. Almost all requests repeat what the one before had: equal
 * text is decided by comparison with the last good pair. */
fl_origin_verdict fl_origin_check(fl_origin *guard, fl_span authority,
                                  fl_span origin);

#endif
