/*
 * origin.c - from which pages, and under which host names, we may be used.
 *
 * Nothing is guessed: what is not one Host (RFC 9110 7.2) is bad, and so is
 * what is not one Origin (RFC 6454 7), unless a lone asterisk takes just any.
 * The lists become rules once, in one block with the texts they borrow from.
 *
 * Almost all requests repeat what the one before had, so the last good pair is
 * kept as text, and equal text needs no second look.
 */
#include "guard/origin.h"

#include "guard/authority.h"

#include "base/mem.h"
#include "base/span.h"

#include <strings.h>

enum { PORT_HTTP = 80, PORT_HTTPS = 443, MEMO = 256 };

/* What a pattern stands for. In that of a host the scheme is empty. */
struct rule {
    fl_span scheme;
    fl_authority host;
    bool any;       /* "*" */
    bool null;      /* "null" */
    bool any_label; /* in front of the name */
    bool any_port;
};

/* Short enough to be kept; most are. */
struct memo {
    size_t len;
    char text[MEMO];
};

struct fl_origin {
    bool loopback;
    bool has_hosts;
    bool remembers; /* a good pair */
    struct memo last_authority;
    struct memo last_origin;
    size_t origin_count; /* so many of the rules are for origins */
    size_t count;
    struct rule rules[];
};

static bool is_same(fl_span a, fl_span b)
{
    return a.len == b.len &&
           (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

static bool is_scheme(fl_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i], lower = (char)(byte | 0x20);
        bool letter = lower >= 'a' && lower <= 'z';
        bool other = (byte >= '0' && byte <= '9') || byte == '+' ||
                     byte == '-' || byte == '.';
        if (!letter && (i == 0 || !other))
            return false;
    }
    return text.len > 0;
}

/* Takes "scheme://" off the front. */
static bool take_scheme(fl_span *text, fl_span *scheme)
{
    size_t n = fl_span_find(*text, ':');

    *scheme = (fl_span){text->ptr, n};
    if (!is_scheme(*scheme) ||
        !fl_span_starts(fl_span_from(*text, n), FL_SPAN("://")))
        return false;
    *text = fl_span_from(*text, n + 3);
    return true;
}

static uint16_t default_port(fl_span scheme)
{
    if (is_same(scheme, FL_SPAN("http")))
        return PORT_HTTP;
    return is_same(scheme, FL_SPAN("https")) ? PORT_HTTPS : 0;
}

static uint16_t port_of(const fl_authority *host, fl_span scheme)
{
    return host->port != 0 ? host->port : default_port(scheme);
}

/* HOST[:PORT] with asterisks. */
static bool parse_pattern(fl_span text, struct rule *rule)
{
    fl_span port;

    rule->any_label = fl_span_starts(text, FL_SPAN("*."));
    if (rule->any_label)
        text = fl_span_from(text, 2);
    if (!fl_authority_split(text, &rule->host, &port) ||
        (rule->any_label && rule->host.is_ipv6))
        return false;
    rule->any_port = fl_span_equal(port, FL_SPAN("*"));
    return port.len == 0 || rule->any_port ||
           fl_authority_parse_port(port, &rule->host.port);
}

static bool parse_host_rule(fl_span text, struct rule *rule)
{
    *rule = (struct rule){.any = fl_span_equal(text, FL_SPAN("*"))};
    return rule->any || parse_pattern(text, rule);
}

static bool parse_origin_rule(fl_span text, struct rule *rule)
{
    *rule = (struct rule){
        .any = fl_span_equal(text, FL_SPAN("*")),
        .null = fl_span_equal(text, FL_SPAN("null")),
    };
    return rule->any || rule->null ||
           (take_scheme(&text, &rule->scheme) && parse_pattern(text, rule));
}

bool fl_origin_valid_origin(const char *pattern)
{
    struct rule rule;

    return parse_origin_rule(fl_span_of(pattern), &rule);
}

bool fl_origin_valid_host(const char *pattern)
{
    struct rule rule;

    return parse_host_rule(fl_span_of(pattern), &rule);
}

static void measure(const char *const *list, size_t *count, size_t *bytes)
{
    for (; list != NULL && *list != NULL; list++) {
        ++*count;
        *bytes += strlen(*list);
    }
}

/* Rules borrow from `texts`, which moves on past what they need. */
static fl_status add(fl_origin *guard, const char *const *list,
                     bool (*parse)(fl_span, struct rule *), char **texts)
{
    for (; list != NULL && *list != NULL; list++) {
        fl_span text = {*texts, strlen(*list)};
        memcpy(*texts, *list, text.len);
        *texts += text.len;
        if (!parse(text, &guard->rules[guard->count++]))
            return FL_E_INVALID;
    }
    return FL_OK;
}

fl_status fl_origin_new(const char *const *origins, const char *const *hosts,
                        bool loopback, fl_origin **out)
{
    size_t count = 0, bytes = 0;

    *out = NULL;
    measure(origins, &count, &bytes);
    measure(hosts, &count, &bytes);
    fl_origin *guard =
        fl_mem_zalloc(sizeof *guard + count * sizeof *guard->rules + bytes);
    if (guard == NULL)
        return FL_E_NOMEM;
    guard->loopback = loopback;
    guard->has_hosts = hosts != NULL;
    char *texts = (char *)&guard->rules[count];
    fl_status rc = add(guard, origins, parse_origin_rule, &texts);
    guard->origin_count = guard->count;
    if (rc == FL_OK)
        rc = add(guard, hosts, parse_host_rule, &texts);
    if (rc != FL_OK) {
        fl_origin_free(guard);
        return rc;
    }
    *out = guard;
    return FL_OK;
}

void fl_origin_free(fl_origin *guard)
{
    fl_mem_free(guard);
}

/* "*.example.org" is any one label before ".example.org". */
static bool matches_name(const struct rule *rule, const fl_authority *host)
{
    fl_authority rest = *host;

    if (rule->any_label) {
        size_t dot = fl_span_find(host->name, '.');
        if (host->is_ipv6 || dot == host->name.len)
            return false;
        rest.name = fl_span_from(host->name, dot + 1);
    }
    return fl_authority_same_host(&rule->host, &rest);
}

/* A pattern without a port means the port one does not write. Which one that
 * is a Host does not say, so either will do. */
static bool matches_host(const struct rule *rule, const fl_authority *host)
{
    if (!matches_name(rule, host))
        return false;
    if (rule->any_port || rule->host.port == host->port)
        return true;
    return rule->host.port == 0 &&
           (host->port == PORT_HTTP || host->port == PORT_HTTPS);
}

static bool takes_host(const fl_origin *guard, const fl_authority *host)
{
    for (size_t i = guard->origin_count; i < guard->count; i++)
        if (guard->rules[i].any || matches_host(&guard->rules[i], host))
            return true;
    return guard->loopback ? fl_authority_is_loopback(host) : !guard->has_hosts;
}

static bool matches_origin(const struct rule *rule, fl_span scheme,
                           const fl_authority *host)
{
    return !rule->null && is_same(rule->scheme, scheme) &&
           matches_name(rule, host) &&
           (rule->any_port ||
            port_of(&rule->host, scheme) == port_of(host, scheme));
}

/* Without a list: a page of this machine's, or one of our own. */
static bool is_at_home(const fl_origin *guard, fl_span scheme,
                       const fl_authority *host, const fl_authority *ours)
{
    if (default_port(scheme) == 0)
        return false;
    if (guard->loopback)
        return fl_authority_is_loopback(host);
    /* A name that anybody may have made point here proves nothing; one that was
     * listed, or an address, cannot be rebound. */
    if (!guard->has_hosts && !fl_authority_is_address(host))
        return false;
    return fl_authority_same_host(host, ours) &&
           port_of(host, scheme) == port_of(ours, scheme);
}

static bool takes_origin(const fl_origin *guard, fl_span origin,
                         const fl_authority *ours)
{
    bool is_null = fl_span_equal(origin, FL_SPAN("null"));
    fl_span scheme;
    fl_authority host;

    for (size_t i = 0; i < guard->origin_count; i++)
        if (guard->rules[i].any || (guard->rules[i].null && is_null))
            return true;
    if (!take_scheme(&origin, &scheme) || !fl_authority_parse(origin, &host))
        return false;
    for (size_t i = 0; i < guard->origin_count; i++)
        if (matches_origin(&guard->rules[i], scheme, &host))
            return true;
    return is_at_home(guard, scheme, &host, ours);
}

static bool recalls(const struct memo *memo, fl_span text)
{
    return fl_span_equal((fl_span){memo->text, memo->len}, text);
}

static void remember(struct memo *memo, fl_span text)
{
    memo->len = text.len;
    if (text.len > 0)
        memcpy(memo->text, text.ptr, text.len);
}

fl_origin_verdict fl_origin_check(fl_origin *guard, fl_span authority,
                                  fl_span origin)
{
    fl_authority host;

    if (guard->remembers && recalls(&guard->last_authority, authority) &&
        recalls(&guard->last_origin, origin))
        return FL_ORIGIN_OK;
    if (!fl_authority_parse(authority, &host) || !takes_host(guard, &host))
        return FL_ORIGIN_BAD_HOST;
    if (origin.len > 0 && !takes_origin(guard, origin, &host))
        return FL_ORIGIN_BAD_ORIGIN;
    if (authority.len <= MEMO && origin.len <= MEMO) {
        remember(&guard->last_authority, authority);
        remember(&guard->last_origin, origin);
        guard->remembers = true;
    }
    return FL_ORIGIN_OK;
}
