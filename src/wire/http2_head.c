/*
 * http2_head.c - header fields as they come off HPACK, made into an fl_head.
 *
 * nghttp2 counts who needs the bytes of a name or value: they lie in its
 * tables, or came just now. So nothing is copied: a stream holds on to what
 * its head points to, until it forgets the head. A name we know is a constant
 * and need not be held. The size that counts is RFC 9113's (6.5.2): name, value
 * and 32 for each, so that many tiny fields are no way around the limit.
 *
 * A head that is wrong is read to its end all the same, for HPACK must stay in
 * step, but nothing of it is kept.
 */
#include "wire/http2_impl.h"

#include "base/mem.h"
#include "base/span.h"

enum {
    FIRST_FIELDS = 16,
    FIELD_OVERHEAD = 32,
    BOMB_FACTOR = 16, /* times max_head: no mistake, an attack */
};

static void fault(fl_http2_stream *stream, unsigned status, const char *what)
{
    if (stream->bad != 0)
        return;
    stream->bad = (uint16_t)status;
    stream->what = what;
}

static void let_go(fl_http2_stream *stream)
{
    for (unsigned i = 0; i < stream->held_count; i++)
        nghttp2_rcbuf_decref(stream->held[i]);
    stream->held_count = 0;
}

/* A client has a next one soon, or is gone. */
static bool keeps_room(const fl_http2_stream *stream)
{
    return fl_http2_of(stream)->client && stream->cap <= FIRST_FIELDS;
}

void fl_http2_head_drop(fl_http2_stream *stream)
{
    let_go(stream);
    if (!keeps_room(stream)) {
        fl_mem_free(stream->fields);
        fl_mem_free(stream->held);
        stream->fields = NULL;
        stream->held = NULL;
        stream->cap = 0;
    }
    stream->count = 0;
    stream->head = (fl_head){0};
}

/* For a field with its name, and for those that are none: FL_HTTP2_PSEUDO. */
static bool make_room(fl_http2_stream *stream)
{
    if (stream->count < stream->cap)
        return true;
    uint16_t cap = stream->cap > 0 ? (uint16_t)(stream->cap * 2) : FIRST_FIELDS;
    fl_field *fields = fl_mem_realloc(stream->fields, cap * sizeof *fields);
    if (fields == NULL)
        return false;
    stream->fields = fields;
    nghttp2_rcbuf **held = fl_mem_realloc(
        stream->held, (2 * (size_t)cap + FL_HTTP2_PSEUDO) * sizeof(void *));
    if (held == NULL)
        return false;
    stream->held = held;
    stream->cap = cap;
    return true;
}

static void hold(fl_http2_stream *stream, nghttp2_rcbuf *bytes)
{
    nghttp2_rcbuf_incref(bytes);
    stream->held[stream->held_count++] = bytes;
}

static fl_span span_of(nghttp2_rcbuf *bytes)
{
    nghttp2_vec vec = nghttp2_rcbuf_get_buf(bytes);

    return (fl_span){(const char *)vec.base, vec.len};
}

static uint64_t number(fl_span digits)
{
    uint64_t n = 0;

    for (size_t i = 0; i < digits.len; i++)
        n = n * 10 + (unsigned char)(digits.ptr[i] - '0');
    return n;
}

/* Where the value of a pseudo field goes, those aside that are no text. */
static fl_span *place_of(fl_head *head, fl_span name)
{
    if (fl_span_equal(name, FL_SPAN(":method")))
        return &head->method;
    if (fl_span_equal(name, FL_SPAN(":path")))
        return &head->target;
    if (fl_span_equal(name, FL_SPAN(":authority")))
        return &head->authority;
    return fl_span_equal(name, FL_SPAN(":protocol")) ? &head->protocol : NULL;
}

/* nghttp2 has seen to it that each comes once, and before all fields. */
static fl_status add_pseudo(fl_http2_stream *stream, fl_span name,
                            nghttp2_rcbuf *bytes)
{
    fl_head *head = &stream->head;
    fl_span *place = place_of(head, name), value = span_of(bytes);

    if (place == &head->method)
        stream->is_head = fl_span_equal(value, FL_SPAN("HEAD"));
    else if (place == &head->target &&
             value.len > stream->base.http->limits->max_target)
        fault(stream, 414, "the request target is too long");
    else if (fl_span_equal(name, FL_SPAN(":status")))
        head->status = (unsigned)number(value);
    if (place == NULL || place->ptr != NULL || stream->bad != 0)
        return FL_OK;
    if (!make_room(stream))
        return FL_E_NOMEM;
    *place = value;
    hold(stream, bytes);
    return FL_OK;
}

static void keep(fl_http2_stream *stream, fl_field_id id, nghttp2_rcbuf *name,
                 nghttp2_rcbuf *value)
{
    fl_field *field = &stream->fields[stream->count++];

    field->id = id;
    field->value = span_of(value);
    hold(stream, value);
    if (id == FL_FIELD_OTHER) {
        field->name = span_of(name);
        hold(stream, name);
        return;
    }
    field->name = fl_field_name(id);
    if (stream->head.at[id] == 0)
        stream->head.at[id] = (uint8_t)stream->count;
}

static fl_status add_field(fl_http2_stream *stream, nghttp2_rcbuf *name,
                           nghttp2_rcbuf *value)
{
    fl_field_id id = fl_field_find(span_of(name));

    if (stream->count >= stream->base.http->limits->max_fields)
        fault(stream, 431, "too many header fields");
    if (stream->head.at[id] != 0 && fl_field_is_single(id))
        fault(stream, 400, "a header field that may occur once occurs twice");
    if (stream->bad != 0)
        return FL_OK;
    if (!make_room(stream))
        return FL_E_NOMEM;
    keep(stream, id, name, value);
    return FL_OK;
}

fl_status fl_http2_head_add(fl_http2_stream *stream, nghttp2_rcbuf *name,
                            nghttp2_rcbuf *value)
{
    fl_http2 *h = fl_http2_of(stream);
    size_t max = h->base.limits->max_head;
    fl_span word = span_of(name);

    stream->list_size += word.len + span_of(value).len + FIELD_OVERHEAD;
    if (stream->list_size / BOMB_FACTOR > max)
        h->doom = NGHTTP2_ENHANCE_YOUR_CALM;
    if (stream->announced) /* trailers */
        return FL_OK;
    if (stream->list_size > max)
        fault(stream, 431, "the header fields are too large");
    return word.len > 0 && word.ptr[0] == ':' ? add_pseudo(stream, word, value)
                                              : add_field(stream, name, value);
}

static bool is_target(const fl_head *head)
{
    if (fl_span_equal(head->target, FL_SPAN("*")))
        return fl_span_equal(head->method, FL_SPAN("OPTIONS"));
    return head->target.len > 0 && head->target.ptr[0] == '/';
}

/* What nghttp2 leaves to us of RFC 9113 8.3.1. */
static void check_request(fl_http2_stream *stream)
{
    fl_head *head = &stream->head;
    fl_span host = fl_head_get(head, FL_FIELD_HOST);

    if (fl_span_equal(head->method, FL_SPAN("CONNECT")) &&
        head->protocol.len == 0)
        fault(stream, 405, "CONNECT is not served here");
    else if (!is_target(head))
        fault(stream, 400, "a request target that is no path");
    if (head->authority.len == 0)
        head->authority = host;
    else if (host.ptr != NULL && !fl_field_name_equal(host, head->authority))
        fault(stream, 400, "Host and :authority are not the same");
}

void fl_http2_head_finish(fl_http2_stream *stream, bool has_body)
{
    fl_head *head = &stream->head;

    if (stream->bad == 0) {
        head->version = 20;
        head->has_body = has_body;
        head->fields = stream->fields;
        head->count = stream->count;
        head->has_length = fl_head_has(head, FL_FIELD_CONTENT_LENGTH);
        head->length = number(fl_head_get(head, FL_FIELD_CONTENT_LENGTH));
        if (!fl_http2_of(stream)->client)
            check_request(stream);
        else if (head->status < 100 || head->status > 999)
            fault(stream, 502, "a status that is none");
    }
    if (stream->bad != 0)
        fl_http2_head_drop(stream);
}
