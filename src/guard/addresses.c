/*
 * addresses.c - who may connect.
 *
 * An IPv4 address in IPv6 clothes ("::ffff:10.0.0.1", as a socket that serves
 * both families reports it) is undressed as soon as it is read, so that a
 * rule for 10.0.0.0/8 cannot be walked around by coming over IPv6. After that
 * the two families never meet: "::/0" is all of IPv6 and none of IPv4.
 *
 * Text that is no address is refused: what cannot be judged may not come in.
 */
#include "guard/addresses.h"

#include "base/mem.h"
#include "base/span.h"

#include <arpa/inet.h>

enum { V4_BITS = 32, V6_BITS = 128, MAPPED_BITS = V6_BITS - V4_BITS };

struct network {
    unsigned char bytes[V6_BITS / 8];
    unsigned family_bits; /* 32 or 128 */
    unsigned prefix;
};

struct fl_addresses {
    bool closed;  /* there is an allow list: all others are refused */
    size_t allow; /* so many of the networks are allowed, the rest denied */
    size_t count;
    struct network networks[];
};

static void undress(struct network *network)
{
    static const unsigned char mapped[MAPPED_BITS / 8] = {[10] = 0xff, 0xff};

    if (network->family_bits != V6_BITS || network->prefix < MAPPED_BITS ||
        memcmp(network->bytes, mapped, sizeof mapped) != 0)
        return;
    memmove(network->bytes, network->bytes + sizeof mapped, V4_BITS / 8);
    network->family_bits = V4_BITS;
    network->prefix -= MAPPED_BITS;
}

/* Decimal, at most `most`, without needless zeroes. */
static bool parse_prefix(fl_span text, unsigned most, unsigned *prefix)
{
    unsigned value = 0;

    if (text.len == 0 || text.len > 3 || (text.len > 1 && *text.ptr == '0'))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *prefix = value;
    return value <= most;
}

/* The address alone, as a network that holds nobody else. */
static bool parse_address(fl_span text, struct network *out)
{
    char copy[INET6_ADDRSTRLEN];

    *out = (struct network){0};
    if (text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    out->family_bits = memchr(copy, ':', text.len) ? V6_BITS : V4_BITS;
    out->prefix = out->family_bits;
    return inet_pton(out->family_bits == V4_BITS ? AF_INET : AF_INET6, copy,
                     out->bytes) == 1;
}

static bool parse_network(const char *given, struct network *out)
{
    fl_span text = fl_span_of(given);
    size_t slash = fl_span_find(text, '/');

    if (text.len == 0 || !parse_address((fl_span){text.ptr, slash}, out))
        return false;
    if (slash < text.len && !parse_prefix(fl_span_from(text, slash + 1),
                                          out->family_bits, &out->prefix))
        return false;
    undress(out);
    return true;
}

bool fl_addresses_valid(const char *given)
{
    struct network parsed;

    return parse_network(given, &parsed);
}

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list != NULL && list[n] != NULL)
        n++;
    return n;
}

static fl_status add(fl_addresses *addresses, const char *const *list)
{
    for (; list != NULL && *list != NULL; list++)
        if (!parse_network(*list, &addresses->networks[addresses->count++]))
            return FL_E_INVALID;
    return FL_OK;
}

fl_status fl_addresses_new(const char *const *allow, const char *const *deny,
                           fl_addresses **out)
{
    size_t n = count(allow) + count(deny);
    fl_addresses *addresses =
        fl_mem_zalloc(sizeof *addresses + n * sizeof *addresses->networks);

    *out = NULL;
    if (addresses == NULL)
        return FL_E_NOMEM;
    addresses->closed = allow != NULL;
    addresses->allow = count(allow);
    fl_status rc = add(addresses, allow);
    if (rc == FL_OK)
        rc = add(addresses, deny);
    if (rc != FL_OK) {
        fl_addresses_free(addresses);
        return rc;
    }
    *out = addresses;
    return FL_OK;
}

void fl_addresses_free(fl_addresses *addresses)
{
    fl_mem_free(addresses);
}

/* Bits past the prefix count on neither side: 10.1.2.3/8 is 10.0.0.0/8. */
static bool holds(const struct network *network, const struct network *peer)
{
    size_t whole = network->prefix / 8;
    unsigned rest = network->prefix % 8;

    if (network->family_bits != peer->family_bits ||
        memcmp(network->bytes, peer->bytes, whole) != 0)
        return false;
    return rest == 0 ||
           (network->bytes[whole] ^ peer->bytes[whole]) >> (8 - rest) == 0;
}

static bool any_holds(const struct network *networks, size_t n,
                      const struct network *peer)
{
    for (size_t i = 0; i < n; i++)
        if (holds(&networks[i], peer))
            return true;
    return false;
}

bool fl_addresses_allowed(const fl_addresses *addresses, const char *address)
{
    const struct network *denied = addresses->networks + addresses->allow;
    size_t denied_count = addresses->count - addresses->allow;
    fl_span text = fl_span_of(address);
    struct network peer;

    if (text.len == 0)
        return true;
    text.len = fl_span_find(text, '%'); /* which interface is no matter */
    if (!parse_address(text, &peer))
        return false;
    undress(&peer);
    if (any_holds(denied, denied_count, &peer))
        return false;
    return !addresses->closed ||
           any_holds(addresses->networks, addresses->allow, &peer);
}

fl_span fl_addresses_owner(const char *address, char owner[FL_ADDRESSES_OWNER])
{
    enum { V4 = 4, NETWORK = 8 };
    struct in6_addr v6;

    if (inet_pton(AF_INET, address, owner) == 1)
        return (fl_span){owner, V4};
    if (inet_pton(AF_INET6, address, &v6) != 1)
        return fl_span_of(address);
    bool mapped = IN6_IS_ADDR_V4MAPPED(&v6);
    size_t len = mapped ? V4 : NETWORK;
    memcpy(owner, mapped ? v6.s6_addr + sizeof v6 - V4 : v6.s6_addr, len);
    return (fl_span){owner, len};
}
