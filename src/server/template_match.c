/*
 * template_match.c - what stood for the variables of a template?
 *
 * There may be many ways to lay the parts of a template over a URI, and trying
 * them one after the other takes forever on a URI made for it. So it is done
 * in two passes. The first goes over the parts from the last to the first and
 * notes, for every place in the URI, whether the rest of the parts can be laid
 * from there: one row of bits per part, each made from the row after it in one
 * sweep. The second goes from the first to the last and gives each part the
 * most it can have, which the rows say without trying. Time and memory are
 * the parts times the bytes, whatever the URI.
 */
#include "server/template_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/utf8.h"
#include "json/write.h"

#include <assert.h>

struct matcher {
    const fl_template *template;
    fl_span uri;
    unsigned char *rows; /* one per part, and one for the end */
    size_t stride;
    fl_buf text; /* a value, decoded */
    fl_json_writer writer;
};

static bool can(const struct matcher *matcher, size_t part, size_t at)
{
    return (matcher->rows[part * matcher->stride + at / 8] >> at % 8 & 1) != 0;
}

static void note(struct matcher *matcher, size_t part, size_t at)
{
    matcher->rows[part * matcher->stride + at / 8] |=
        (unsigned char)(1 << at % 8);
}

static bool holds(const fl_template_part *part, char byte)
{
    return (fl_template_bit(byte) & part->ends) == 0;
}

/* A value does not end in the middle of a percent code, whatever its digits
 * are: they are no letters of a literal. */
static bool cuts_code(const struct matcher *matcher, size_t at)
{
    const char *uri = matcher->uri.ptr;

    return at < matcher->uri.len &&
           ((at >= 1 && uri[at - 1] == '%') || (at >= 2 && uri[at - 2] == '%'));
}

/* Whether a value may end there, and the next part begin. */
static bool may_end(const struct matcher *matcher, size_t part, size_t at)
{
    return can(matcher, part + 1, at) && !cuts_code(matcher, at);
}

static void lay_literal(struct matcher *matcher, size_t index)
{
    fl_span text = matcher->template->parts[index].text;

    for (size_t at = 0; at + text.len <= matcher->uri.len; at++)
        if (can(matcher, index + 1, at + text.len) &&
            fl_span_starts(fl_span_from(matcher->uri, at), text))
            note(matcher, index, at);
}

/* From the end, so that `run` is known: whether a value that begins at the
 * place before may end somewhere that the next part can go on from. */
static void lay_place(struct matcher *matcher, size_t index)
{
    const fl_template_part *part = &matcher->template->parts[index];
    const char *uri = matcher->uri.ptr;
    bool run = false;

    for (size_t at = matcher->uri.len + 1; at-- > 0;) {
        bool end = at == matcher->uri.len;
        bool whole = part->begins != '\0' && !end && uri[at] == part->begins &&
                     run; /* of the byte after this one */
        run = !end && holds(part, uri[at]) &&
              (run || may_end(matcher, index, at + 1));
        if (part->begins == '\0' ? run : whole || can(matcher, index + 1, at))
            note(matcher, index, at);
    }
}

static void lay_all(struct matcher *matcher)
{
    const fl_template *template = matcher->template;

    note(matcher, template->count, matcher->uri.len);
    for (size_t i = template->count; i-- > 0;)
        if (template->parts[i].kind == FL_TEMPLATE_LITERAL)
            lay_literal(matcher, i);
        else
            lay_place(matcher, i);
}

/* The most that a place which begins at `at` can have; empty if nothing. */
static fl_span longest(const struct matcher *matcher, size_t index, size_t at)
{
    const fl_template_part *part = &matcher->template->parts[index];
    fl_span uri = matcher->uri;
    size_t best = at;

    for (size_t end = at; end < uri.len && holds(part, uri.ptr[end]);)
        if (may_end(matcher, index, ++end))
            best = end;
    return (fl_span){uri.ptr + at, best - at};
}

static unsigned hex(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* One percent code; in one of several segments it is no slash. */
static fl_status decode_code(struct matcher *matcher, fl_span code, bool many)
{
    if (code.len < 3 || !fl_template_is_hex(code.ptr[1]) ||
        !fl_template_is_hex(code.ptr[2]))
        return FL_E_NOT_FOUND;
    char byte = (char)(hex(code.ptr[1]) << 4 | hex(code.ptr[2]));
    if (many && byte == '/')
        return FL_E_NOT_FOUND;
    return fl_buf_append(&matcher->text, (fl_span){&byte, 1});
}

static fl_status decode(struct matcher *matcher, fl_span raw, bool many)
{
    fl_status rc = FL_OK;

    fl_buf_clear(&matcher->text);
    while (rc == FL_OK && raw.len > 0) {
        size_t plain = fl_span_find(raw, '%');
        rc = fl_buf_append(&matcher->text, (fl_span){raw.ptr, plain});
        raw = fl_span_from(raw, plain);
        if (rc != FL_OK || raw.len == 0)
            break;
        rc = decode_code(matcher, raw, many);
        if (rc == FL_OK)
            raw = fl_span_from(raw, 3);
    }
    if (rc != FL_OK)
        return rc;
    fl_span text = fl_buf_view(&matcher->text);
    return fl_utf8_valid(text) && fl_span_find(text, '\0') == text.len
               ? FL_OK
               : FL_E_NOT_FOUND;
}

static fl_status write_value(struct matcher *matcher, size_t name, fl_span raw,
                             bool many)
{
    fl_status rc = decode(matcher, raw, many);

    if (rc != FL_OK)
        return rc;
    fl_json_key(&matcher->writer, matcher->template->names[name].ptr);
    fl_json_text(&matcher->writer, fl_buf_view(&matcher->text));
    return FL_OK;
}

/* Which of the part's variables a parameter is; past the last if none. */
static size_t find_name(const struct matcher *matcher,
                        const fl_template_part *part, fl_span name)
{
    size_t at = part->first;

    while (at < part->first + part->names &&
           !fl_span_equal(matcher->template->names[at], name))
        at++;
    return at;
}

/* In any order, each at most once, and none that we do not know. */
static fl_status write_query(struct matcher *matcher,
                             const fl_template_part *part, fl_span query)
{
    uint64_t seen = 0;
    bool more = true;
    fl_status rc = FL_OK;

    static_assert(FL_TEMPLATE_VARIABLES <= 64, "each has a bit");
    while (rc == FL_OK && more) {
        size_t len = fl_span_find(query, '&');
        fl_span pair = {query.ptr, len};
        size_t equals = fl_span_find(pair, '=');
        size_t name = find_name(matcher, part, (fl_span){pair.ptr, equals});
        more = len < query.len;
        if (equals == len || name == part->first + part->names ||
            (seen >> name & 1) != 0)
            return FL_E_NOT_FOUND;
        seen |= (uint64_t)1 << name;
        rc = write_value(matcher, name, fl_span_from(pair, equals + 1), false);
        query = fl_span_from(query, more ? len + 1 : len);
    }
    return rc;
}

/* The place at *at, which moves behind it. */
static fl_status write_place(struct matcher *matcher, size_t index, size_t *at)
{
    const fl_template_part *part = &matcher->template->parts[index];
    size_t from = *at;

    if (part->begins != '\0') {
        if (from == matcher->uri.len || matcher->uri.ptr[from] != part->begins)
            return FL_OK; /* left out */
        from++;
    }
    fl_span raw = longest(matcher, index, from);
    if (raw.len == 0)
        return FL_OK; /* likewise: the byte is the next part's */
    *at = from + raw.len;
    return part->kind == FL_TEMPLATE_QUERY
               ? write_query(matcher, part, raw)
               : write_value(matcher, part->first, raw, part->many);
}

static fl_status write_all(struct matcher *matcher, fl_buf *arguments)
{
    const fl_template *template = matcher->template;
    size_t at = 0;
    fl_status rc = FL_OK;

    fl_json_writer_init(&matcher->writer, arguments);
    fl_json_object(&matcher->writer);
    for (size_t i = 0; i < template->count && rc == FL_OK; i++)
        if (template->parts[i].kind == FL_TEMPLATE_LITERAL)
            at += template->parts[i].text.len;
        else
            rc = write_place(matcher, i, &at);
    fl_json_object_end(&matcher->writer);
    fl_status written = fl_json_writer_end(&matcher->writer);
    return rc != FL_OK ? rc : written;
}

/* Most are told by how they begin. */
static bool is_possible(const fl_template *template, fl_span uri)
{
    return uri.len <= FL_TEMPLATE_BYTES &&
           (template->parts[0].kind != FL_TEMPLATE_LITERAL ||
            fl_span_starts(uri, template->parts[0].text));
}

fl_status fl_template_match(const fl_template *template, fl_span uri,
                            fl_buf *arguments)
{
    size_t before = fl_buf_len(arguments);
    struct matcher matcher = {
        .template = template,
        .uri = uri,
        .stride = uri.len / 8 + 1,
    };

    if (!is_possible(template, uri))
        return FL_E_NOT_FOUND;
    matcher.rows = fl_mem_zalloc((template->count + 1) * matcher.stride);
    if (matcher.rows == NULL)
        return FL_E_NOMEM;
    fl_buf_init(&matcher.text, FL_TEMPLATE_BYTES);
    lay_all(&matcher);
    fl_status rc =
        can(&matcher, 0, 0) ? write_all(&matcher, arguments) : FL_E_NOT_FOUND;
    if (rc != FL_OK)
        fl_buf_truncate(arguments, before);
    fl_buf_reset(&matcher.text);
    fl_mem_free(matcher.rows);
    return rc;
}
