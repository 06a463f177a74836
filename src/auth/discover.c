/*
 * discover.c - where metadata are to be found, and which of them to believe.
 *
 * MCP 2025-11-25 and 2026-07-28, "Authorization Server Discovery". The order
 * matters: asking for the root's document when there is one for the path would
 * find another tenant's.
 */
#include "auth/discover.h"

#include "auth/text.h"
#include "base/span.h"
#include "base/status.h"
#include "wire/url.h"

#define PRM "/.well-known/oauth-protected-resource"
#define OAUTH "/.well-known/oauth-authorization-server"
#define OPENID "/.well-known/openid-configuration"

enum { URL_MAX = 8 * 1024 };

static bool is_web(const fl_url *url)
{
    return (url->scheme.len == 5 &&
            fl_span_equal(url->scheme, FL_SPAN("https"))) ||
           fl_span_equal(url->scheme, FL_SPAN("http"));
}

static fl_status parse(fl_span text, fl_url *url)
{
    return fl_url_parse(text, url) == FL_OK && is_web(url) ? FL_OK
                                                           : FL_E_INVALID;
}

static fl_status write_origin(const fl_url *url, fl_buf *out)
{
    fl_status rc = fl_buf_append(out, url->scheme);

    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("://"));
    return rc == FL_OK ? fl_url_write_authority(url, out) : rc;
}

fl_status fl_discover_origin(fl_span text, fl_buf *out)
{
    fl_url url;
    fl_status rc = parse(text, &url);

    return rc == FL_OK ? write_origin(&url, out) : rc;
}

/* The path without the slash at its end; empty for the root. */
static fl_span path_of(const fl_url *url)
{
    fl_span path = url->path;

    while (path.len > 0 && path.ptr[path.len - 1] == '/')
        path.len--;
    return path;
}

/* scheme://authority, then these two. */
static fl_status compose(const fl_url *url, fl_span first, fl_span second,
                         fl_buf *out)
{
    fl_status rc = write_origin(url, out);

    if (rc == FL_OK)
        rc = fl_buf_append(out, first);
    return rc == FL_OK ? fl_buf_append(out, second) : rc;
}

fl_status fl_discover_prm(fl_span server, unsigned step, fl_buf *out)
{
    fl_url url;
    fl_status rc = parse(server, &url);

    if (rc != FL_OK)
        return rc;
    fl_span path = path_of(&url);
    if (path.len == 0)
        step++; /* the server is at the root */
    if (step > 1)
        return FL_END;
    return compose(&url, FL_SPAN(PRM), step == 0 ? path : (fl_span){0}, out);
}

fl_status fl_discover_as(fl_span issuer, unsigned step, fl_buf *out)
{
    fl_url url;
    fl_status rc = parse(issuer, &url);

    /* RFC 8414 2: an issuer has neither query nor fragment */
    if (rc != FL_OK || fl_span_find(issuer, '?') < issuer.len ||
        fl_span_find(issuer, '#') < issuer.len)
        return FL_E_INVALID;
    fl_span path = path_of(&url);
    switch (step) {
    case 0:
        return compose(&url, FL_SPAN(OAUTH), path, out);
    case 1:
        return compose(&url, FL_SPAN(OPENID), path, out);
    case 2:
        if (path.len > 0)
            return compose(&url, path, FL_SPAN(OPENID), out);
        return FL_END;
    default:
        return FL_END;
    }
}

bool fl_discover_resource_fits(fl_span resource, fl_span server)
{
    fl_url of, to;

    if (parse(resource, &of) != FL_OK || parse(server, &to) != FL_OK ||
        fl_span_find(resource, '#') < resource.len ||
        !fl_url_same_origin(&of, &to))
        return false;
    fl_span prefix = path_of(&of);
    return fl_span_starts(to.path, prefix) &&
           (to.path.len == prefix.len || prefix.len == 0 ||
            to.path.ptr[prefix.len] == '/');
}

bool fl_discover_is_root(fl_span issuer, fl_span origin)
{
    if (issuer.len > 0 && issuer.ptr[issuer.len - 1] == '/')
        issuer.len--;
    return fl_span_equal(issuer, origin);
}

fl_status fl_discover_check_as(const fl_as *as, fl_span issuer, fl_error *error)
{
    fl_span said = fl_span_of(as->issuer);

    if (fl_span_equal(said, issuer))
        return FL_OK;
    return fl_error_set(error, FL_E_DENIED,
                        "the metadata of authorization server %.*s name "
                        "another issuer (%.80s): they are not used",
                        (int)(issuer.len < 100 ? issuer.len : 100), issuer.ptr,
                        as->issuer != NULL ? as->issuer : "none at all");
}

static fl_status guess(fl_span origin, const char *path, char **slot)
{
    fl_buf text;

    fl_buf_init(&text, URL_MAX);
    fl_status rc = fl_buf_append(&text, origin);
    if (rc == FL_OK)
        rc = fl_buf_append(&text, fl_span_of(path));
    if (rc == FL_OK)
        rc = fl_text_set(slot, fl_buf_view(&text));
    fl_buf_reset(&text);
    return rc;
}

fl_status fl_discover_guess(fl_span server, fl_as *out)
{
    fl_buf origin;

    *out = (fl_as){.guessed = true};
    fl_buf_init(&origin, URL_MAX);
    fl_status rc = fl_discover_origin(server, &origin);
    fl_span base = fl_buf_view(&origin);
    if (rc == FL_OK)
        rc = guess(base, "", &out->issuer);
    if (rc == FL_OK)
        rc = guess(base, "/authorize", &out->authorize);
    if (rc == FL_OK)
        rc = guess(base, "/token", &out->token);
    if (rc == FL_OK)
        rc = guess(base, "/register", &out->registration);
    fl_buf_reset(&origin);
    if (rc != FL_OK)
        fl_as_deinit(out);
    return rc;
}
