/*
 * addresses.h - who may connect: allow and deny lists of networks.
 *
 * Pure: text in, a decision out. "::ffff:10.0.0.1" is 10.0.0.1.
 */
#ifndef FL_GUARD_ADDRESSES_H
#define FL_GUARD_ADDRESSES_H

#include <fairlead/types.h>

typedef struct fl_addresses fl_addresses;

/* "192.0.2.1", "10.0.0.0/8", "::1", "fd00::/8"; no host names. */
bool fl_addresses_valid(const char *network);

/* NULL-terminated lists, either may be NULL; entries must be valid, others
 * are FL_E_INVALID. */
FL_MUST_USE fl_status fl_addresses_new(const char *const *allow,
                                       const char *const *deny,
                                       fl_addresses **out);
void fl_addresses_free(fl_addresses *addresses);

/* Denied is refused; if there is an allow list, all others are too. Without
 * lists everybody may. An empty address (a Unix socket) may always. */
bool fl_addresses_allowed(const fl_addresses *addresses, const char *address);

/*
 * Whose address it is, as a key for counting: an IPv4 address whole, of an
 * IPv6 address the first 64 bits, for one customer has all that come after.
 * Text that is no address is its own key. Borrows from `owner` or `address`.
 */
enum { FL_ADDRESSES_OWNER = 16 };
fl_span fl_addresses_owner(const char *address, char owner[FL_ADDRESSES_OWNER]);

#endif
