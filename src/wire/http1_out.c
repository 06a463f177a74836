/*
 * http1_out.c - what we say in HTTP/1.1: heads and framed bodies.
 *
 * The lines of a head that are made for this one message are rendered on the
 * stack; a status line that we know, fields prepared before and the body are
 * lent as they are. So an answer is a handful of spans and one write, and
 * only an uncommonly large head or many parts cost an allocation.
 */
#include "wire/http1_out.h"

#include "base/mem.h"
#include "base/span.h"

enum {
    TEXT_ROOM = 1024,
    PARTS_ROOM = 16,
    HEAD_PARTS = 5,
    DIGITS_MAX = 20,
    FRAMING_ROOM = 128, /* framing and connection lines and the last one */
};

/* Room for the lines, and for the parts: on the stack if it suffices. */
typedef struct page {
    char *text, *at;
    fl_span *parts;
    size_t count;
    char text_room[TEXT_ROOM];
    fl_span parts_room[PARTS_ROOM];
} page;

static fl_status page_init(page *p, size_t text, size_t parts)
{
    p->text = text <= TEXT_ROOM ? p->text_room : fl_mem_alloc(text);
    p->parts = parts <= PARTS_ROOM ? p->parts_room
                                   : fl_mem_alloc(parts * sizeof *p->parts);
    p->at = p->text;
    p->count = 0;
    return p->text != NULL && p->parts != NULL ? FL_OK : FL_E_NOMEM;
}

static void page_deinit(page *p)
{
    if (p->text != p->text_room)
        fl_mem_free(p->text);
    if (p->parts != p->parts_room)
        fl_mem_free(p->parts);
}

static void put(page *p, fl_span text)
{
    if (text.len > 0)
        memcpy(p->at, text.ptr, text.len);
    p->at += text.len;
}

static void put_number(page *p, uint64_t value, unsigned base)
{
    char digits[DIGITS_MAX];
    size_t n = sizeof digits;

    do {
        digits[--n] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value > 0);
    put(p, (fl_span){digits + n, sizeof digits - n});
}

static void put_line(page *p, fl_span name, fl_span value)
{
    put(p, name);
    put(p, FL_SPAN(": "));
    put(p, value);
    put(p, FL_SPAN("\r\n"));
}

static void lend(page *p, fl_span part)
{
    if (part.len > 0)
        p->parts[p->count++] = part;
}

/* "HTTP/1.1 200 OK" and its line end; empty if it has to be made. */
static fl_span status_line(unsigned status)
{
    switch (status) {
#define LINE(code, text)                                                       \
    case code:                                                                 \
        return FL_SPAN("HTTP/1.1 " #code " " text "\r\n");
        FL_HTTP_REASON_MAP(LINE)
#undef LINE
    default:
        return (fl_span){0};
    }
}

static void put_status_line(page *p, unsigned status)
{
    fl_span line = status_line(status);

    lend(p, line);
    if (line.len > 0)
        return;
    put(p, FL_SPAN("HTTP/1.1 "));
    put_number(p, status, 10);
    put(p, FL_SPAN(" Unknown\r\n"));
}

static void put_request_line(page *p, const fl_heading *heading)
{
    put(p, heading->method);
    put(p, FL_SPAN(" "));
    put(p, heading->target);
    put(p, FL_SPAN(" HTTP/1.1\r\n"));
    put_line(p, FL_SPAN("host"), heading->authority);
}

static void put_framing(page *p, const fl_heading *heading,
                        const fl_http1_start *start)
{
    if (start->framing == FL_HTTP1_CHUNKED)
        put(p, FL_SPAN("transfer-encoding: chunked\r\n"));
    if (start->length && heading->length >= 0) {
        put(p, FL_SPAN("content-length: "));
        put_number(p, (uint64_t)heading->length, 10);
        put(p, FL_SPAN("\r\n"));
    }
    if (start->connection.len > 0)
        put_line(p, FL_SPAN("connection"), start->connection);
    put(p, FL_SPAN("\r\n"));
}

static size_t text_size(const fl_heading *heading)
{
    size_t size = FRAMING_ROOM + heading->method.len + heading->target.len +
                  heading->authority.len;

    for (size_t i = 0; i < heading->count; i++)
        size += heading->fields[i].name.len + heading->fields[i].value.len + 4;
    return size;
}

/* What was put since `from`, then what was prepared. */
static char *lend_set(page *p, char *from, const fl_fields *set)
{
    if (set == NULL || set->count == 0)
        return from;
    lend(p, (fl_span){from, (size_t)(p->at - from)});
    lend(p, fl_buf_view(&set->text));
    return p->at;
}

static void compose(page *p, const fl_heading *heading,
                    const fl_http1_start *start)
{
    char *rest = p->text;

    if (start->request)
        put_request_line(p, heading);
    else
        put_status_line(p, heading->status);
    rest = lend_set(p, rest, heading->common);
    rest = lend_set(p, rest, heading->own);
    for (size_t i = 0; i < heading->count; i++)
        put_line(p, heading->fields[i].name, heading->fields[i].value);
    put_framing(p, heading, start);
    lend(p, (fl_span){rest, (size_t)(p->at - rest)});
}

static fl_http1_out begun(const fl_heading *heading,
                          const fl_http1_start *start, bool whole)
{
    bool sized = start->framing == FL_HTTP1_SIZED && !whole;

    return (fl_http1_out){
        .framing = start->framing,
        .begun = true,
        .left = sized ? (uint64_t)heading->length : 0,
    };
}

fl_status fl_http1_out_head(fl_http1_out *out, fl_http *http,
                            const fl_heading *heading,
                            const fl_http1_start *start, const fl_span *parts,
                            size_t count)
{
    page p;
    fl_http1_out before = *out;
    bool bare = start->framing == FL_HTTP1_BODILESS;
    fl_status rc = page_init(&p, text_size(heading), count + HEAD_PARTS);

    if (rc == FL_OK) {
        compose(&p, heading, start);
        for (size_t i = 0; i < count && !bare; i++)
            lend(&p, parts[i]);
        *out = begun(heading, start, count > 0);
        rc = http->events->write(http->user, p.parts, p.count, true);
        if (rc != FL_OK)
            *out = before;
    }
    page_deinit(&p);
    return rc;
}

static fl_status write_chunk(fl_http *http, const fl_span *parts, size_t count,
                             bool urgent)
{
    page p;
    fl_status rc = page_init(&p, FRAMING_ROOM, count + 2);

    if (rc == FL_OK) {
        put_number(&p, fl_span_total(parts, count), 16);
        put(&p, FL_SPAN("\r\n"));
        lend(&p, (fl_span){p.text, (size_t)(p.at - p.text)});
        for (size_t i = 0; i < count; i++)
            lend(&p, parts[i]);
        lend(&p, FL_SPAN("\r\n"));
        rc = http->events->write(http->user, p.parts, p.count, urgent);
    }
    page_deinit(&p);
    return rc;
}

fl_status fl_http1_out_body(fl_http1_out *out, fl_http *http,
                            const fl_span *parts, size_t count, bool urgent)
{
    size_t size = fl_span_total(parts, count);

    if (!out->begun)
        return FL_E_STATE;
    if (size == 0 || out->framing == FL_HTTP1_BODILESS)
        return FL_OK;
    if (out->framing == FL_HTTP1_CHUNKED)
        return write_chunk(http, parts, count, urgent);
    if (out->framing == FL_HTTP1_RAW)
        return http->events->write(http->user, parts, count, urgent);
    if (size > out->left)
        return FL_E_INVALID;

    /* taken off before: after a write the connection may be gone */
    out->left -= size;
    fl_status rc = http->events->write(http->user, parts, count, urgent);
    if (rc != FL_OK)
        out->left += size;
    return rc;
}

fl_status fl_http1_out_end(fl_http1_out *out, fl_http *http)
{
    const fl_span last = FL_SPAN("0\r\n\r\n");

    if (!out->begun || out->left > 0)
        return FL_E_STATE;
    return out->framing == FL_HTTP1_CHUNKED
               ? http->events->write(http->user, &last, 1, true)
               : FL_OK;
}
