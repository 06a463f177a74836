/*
 * uri.c - where a reference leads.
 *
 * A URI is cut into its five parts (RFC 3986, appendix B), the parts of the
 * base and of the reference are mixed by the table of section 5.2.2, and the
 * dots are taken out of the path. Nothing is checked and nothing normalised:
 * identifiers that are written alike are alike, others are not.
 */
#include "schema/uri.h"

#include "base/span.h"
#include "json/token.h"

typedef struct parts {
    fl_span scheme, authority, path, query, fragment; /* delimiters included */
} parts;

fl_span fl_uri_without_fragment(fl_span uri)
{
    return (fl_span){uri.ptr, fl_span_find(uri, '#')};
}

fl_span fl_uri_fragment(fl_span uri)
{
    size_t at = fl_span_find(uri, '#');

    return at < uri.len ? fl_span_from(uri, at + 1) : (fl_span){0};
}

static bool is_letter(char byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

/* How long "scheme:" is at the front; 0 if there is none. */
static size_t scheme_length(fl_span uri)
{
    for (size_t i = 0; i < uri.len; i++) {
        char byte = uri.ptr[i];
        if (byte == ':')
            return i > 0 ? i + 1 : 0;
        bool later =
            fl_json_is_digit(byte) || byte == '+' || byte == '-' || byte == '.';
        if (!is_letter(byte) && (i == 0 || !later))
            return 0;
    }
    return 0;
}

bool fl_uri_is_absolute(fl_span uri)
{
    return scheme_length(uri) > 0;
}

static fl_span cut(fl_span *rest, size_t n)
{
    fl_span front = {rest->ptr, n};

    *rest = fl_span_from(*rest, n);
    return front;
}

static size_t find_any(fl_span span, const char *bytes)
{
    size_t n = 0;

    while (n < span.len &&
           (span.ptr[n] == '\0' || strchr(bytes, span.ptr[n]) == NULL))
        n++;
    return n;
}

static parts split(fl_span uri)
{
    parts p = {0};

    p.scheme = cut(&uri, scheme_length(uri));
    if (fl_span_starts(uri, FL_SPAN("//")))
        p.authority = cut(&uri, 2 + find_any(fl_span_from(uri, 2), "/?#"));
    p.path = cut(&uri, find_any(uri, "?#"));
    p.query = cut(&uri, fl_span_find(uri, '#'));
    p.fragment = uri;
    return p;
}

/* Drops the last segment of what was written since `from`. */
static void drop_segment(fl_buf *out, size_t from)
{
    fl_span view = fl_buf_view(out);
    size_t len = view.len;

    while (len > from && view.ptr[len - 1] != '/')
        len--;
    fl_buf_truncate(out, len > from ? len - 1 : from);
}

/* RFC 3986, 5.2.4, with the path cut at its slashes. */
static fl_status append_path(fl_buf *out, fl_span path)
{
    size_t from = fl_buf_len(out);
    fl_status rc = FL_OK;
    bool first = true;

    while (path.len > 0 && rc == FL_OK) {
        bool slash = path.ptr[0] == '/';
        fl_span name = fl_span_from(path, slash);
        name.len = fl_span_find(name, '/');
        fl_span whole = cut(&path, slash + name.len);
        bool one = fl_span_equal(name, FL_SPAN("."));
        bool two = fl_span_equal(name, FL_SPAN(".."));
        if (two)
            drop_segment(out, from);
        if (!one && !two)
            rc = fl_buf_append(out, whole);
        else if (path.len == 0 && (slash || !first))
            rc = fl_buf_append(out, FL_SPAN("/"));
        first = false;
    }
    return rc;
}

/* The base's path up to its last slash, and then the reference's. */
static fl_status append_merged(fl_buf *out, const parts *base, fl_span path)
{
    fl_buf merged;
    size_t keep = base->path.len;

    fl_buf_init(&merged, base->path.len + path.len + 1);
    while (keep > 0 && base->path.ptr[keep - 1] != '/')
        keep--;
    fl_status rc = fl_buf_append(&merged, (fl_span){base->path.ptr, keep});
    if (rc == FL_OK && keep == 0 && base->authority.len > 0)
        rc = fl_buf_append(&merged, FL_SPAN("/"));
    if (rc == FL_OK)
        rc = fl_buf_append(&merged, path);
    if (rc == FL_OK)
        rc = append_path(out, fl_buf_view(&merged));
    fl_buf_reset(&merged);
    return rc;
}

static fl_status append_all(fl_buf *out, const fl_span *spans, size_t count)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; i < count && rc == FL_OK; i++)
        rc = fl_buf_append(out, spans[i]);
    return rc;
}

fl_status fl_uri_resolve(fl_span base, fl_span reference, fl_buf *out)
{
    parts b = split(base), r = split(reference);
    bool own_path = r.scheme.len > 0 || r.authority.len > 0;
    fl_span front[] = {
        r.scheme.len > 0 ? r.scheme : b.scheme,
        own_path ? r.authority : b.authority,
    };
    fl_status rc = append_all(out, front, 2);

    if (rc != FL_OK)
        return rc;
    if (own_path || (r.path.len > 0 && r.path.ptr[0] == '/'))
        rc = append_path(out, r.path);
    else if (r.path.len > 0)
        rc = append_merged(out, &b, r.path);
    else
        rc = fl_buf_append(out, b.path);
    if (rc != FL_OK)
        return rc;
    bool own_query = own_path || r.path.len > 0 || r.query.len > 0;
    fl_span back[] = {own_query ? r.query : b.query, r.fragment};
    return append_all(out, back, 2);
}

static unsigned hex_value(char digit)
{
    return fl_json_is_digit(digit) ? (unsigned)(digit - '0')
                                   : (unsigned)((digit | 0x20) - 'a') + 10;
}

fl_status fl_uri_decode(fl_span text, fl_buf *out)
{
    fl_status rc = FL_OK;

    while (text.len > 0 && rc == FL_OK) {
        rc = fl_buf_append(out, cut(&text, fl_span_find(text, '%')));
        if (rc != FL_OK || text.len == 0)
            break;
        if (text.len < 3 || !fl_json_is_hex(text.ptr[1]) ||
            !fl_json_is_hex(text.ptr[2]))
            return FL_E_INVALID;
        unsigned byte = hex_value(text.ptr[1]) << 4 | hex_value(text.ptr[2]);
        char value = (char)byte;
        rc = fl_buf_append(out, (fl_span){&value, 1});
        text = fl_span_from(text, 3);
    }
    return rc;
}
