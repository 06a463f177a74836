/*
 * http2_head.c - header fields as they come off HPACK, made into an fl_head.
 *
 * Fields come one by one, and how many there will be is not known before. So
 * their bytes are laid end to end in one growing text, and of each field only
 * the lengths are kept; the pointers are set once, when the text has stopped
 * moving. The size that counts is RFC 9113's (6.5.2): name, value and 32 for
 * each, so that many tiny fields are no way around the limit.
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
    PSEUDO_MAX = 6,
    KEPT_TEXT = 1024,
    BOMB_FACTOR = 16, /* times max_head: no mistake, an attack */
};

static void fault(fl_http2_stream *stream, unsigned status, const char *what)
{
    if (stream->bad != 0)
        return;
    stream->bad = (uint16_t)status;
    stream->what = what;
}

/* A client has a next one soon, or is gone. */
static bool keeps_room(const fl_http2_stream *stream)
{
    return fl_http2_of(stream)->client && stream->text.cap <= KEPT_TEXT &&
           stream->cap <= FIRST_FIELDS;
}

void fl_http2_head_drop(fl_http2_stream *stream)
{
    if (keeps_room(stream)) {
        fl_buf_clear(&stream->text);
    } else {
        fl_buf_reset(&stream->text);
        fl_mem_free(stream->fields);
        stream->fields = NULL;
        stream->cap = 0;
    }
    stream->pseudo = stream->count = 0;
    stream->head = (fl_head){0};
}

static bool make_room(fl_http2_stream *stream)
{
    if (stream->count < stream->cap)
        return true;
    uint16_t cap = stream->cap > 0 ? (uint16_t)(stream->cap * 2) : FIRST_FIELDS;
    fl_field *grown = fl_mem_realloc(stream->fields, cap * sizeof *grown);
    if (grown == NULL)
        return false;
    stream->fields = grown;
    stream->cap = cap;
    return true;
}

/* Keeps the lengths; a name we know needs no copy. */
static fl_status keep(fl_http2_stream *stream, fl_span name, fl_span value,
                      fl_field_id id)
{
    fl_status rc = make_room(stream) ? FL_OK : FL_E_NOMEM;

    if (rc == FL_OK && id == FL_FIELD_OTHER)
        rc = fl_buf_append(&stream->text, name);
    if (rc == FL_OK)
        rc = fl_buf_append(&stream->text, value);
    if (rc == FL_OK)
        stream->fields[stream->count++] =
            (fl_field){{NULL, name.len}, {NULL, value.len}, id};
    return rc;
}

static fl_status add_pseudo(fl_http2_stream *stream, fl_span name,
                            fl_span value)
{
    if (fl_span_equal(name, FL_SPAN(":method")))
        stream->is_head = fl_span_equal(value, FL_SPAN("HEAD"));
    if (fl_span_equal(name, FL_SPAN(":path")) &&
        value.len > stream->base.http->limits.max_target)
        fault(stream, 414, "the request target is too long");
    if (stream->bad != 0 || stream->pseudo != stream->count ||
        stream->pseudo == PSEUDO_MAX)
        return FL_OK;

    fl_status rc = keep(stream, name, value, FL_FIELD_OTHER);
    if (rc == FL_OK)
        stream->pseudo++;
    return rc;
}

static fl_status add_field(fl_http2_stream *stream, fl_span name, fl_span value)
{
    fl_field_id id = fl_field_find(name);
    size_t index = (size_t)(stream->count - stream->pseudo);

    if (index >= stream->base.http->limits.max_fields)
        fault(stream, 431, "too many header fields");
    if (stream->head.at[id] != 0 && fl_field_is_single(id))
        fault(stream, 400, "a header field that may occur once occurs twice");
    if (stream->bad != 0)
        return FL_OK;

    fl_status rc = keep(stream, name, value, id);
    if (rc == FL_OK && id != FL_FIELD_OTHER && stream->head.at[id] == 0)
        stream->head.at[id] = (uint8_t)(index + 1);
    return rc;
}

fl_status fl_http2_head_add(fl_http2_stream *stream, fl_span name,
                            fl_span value)
{
    fl_http2 *h = fl_http2_of(stream);
    size_t max = h->base.limits.max_head;

    stream->list_size += name.len + value.len + FIELD_OVERHEAD;
    if (stream->list_size / BOMB_FACTOR > max)
        h->doom = NGHTTP2_ENHANCE_YOUR_CALM;
    if (stream->announced) /* trailers */
        return FL_OK;
    if (stream->list_size > max)
        fault(stream, 431, "the header fields are too large");
    return name.len > 0 && name.ptr[0] == ':' ? add_pseudo(stream, name, value)
                                              : add_field(stream, name, value);
}

/* Now that the text stands still. An empty value is there all the same: its
 * pointer is not NULL. */
static void set_pointers(fl_http2_stream *stream)
{
    fl_span text = fl_buf_view(&stream->text);
    const char *at = text.ptr != NULL ? text.ptr : "";

    for (uint16_t i = 0; i < stream->count; i++) {
        fl_field *field = &stream->fields[i];
        if (field->id != FL_FIELD_OTHER) {
            field->name = fl_field_name(field->id);
        } else {
            field->name.ptr = at;
            at += field->name.len;
        }
        field->value.ptr = at;
        at += field->value.len;
    }
}

static uint64_t number(fl_span digits)
{
    uint64_t n = 0;

    for (size_t i = 0; i < digits.len; i++)
        n = n * 10 + (unsigned char)(digits.ptr[i] - '0');
    return n;
}

static void sort_pseudo(fl_http2_stream *stream)
{
    fl_head *head = &stream->head;

    for (uint16_t i = 0; i < stream->pseudo; i++) {
        fl_span name = stream->fields[i].name, value = stream->fields[i].value;
        if (fl_span_equal(name, FL_SPAN(":method")))
            head->method = value;
        else if (fl_span_equal(name, FL_SPAN(":path")))
            head->target = value;
        else if (fl_span_equal(name, FL_SPAN(":authority")))
            head->authority = value;
        else if (fl_span_equal(name, FL_SPAN(":protocol")))
            head->protocol = value;
        else if (fl_span_equal(name, FL_SPAN(":status")))
            head->status = (unsigned)number(value);
    }
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
        set_pointers(stream);
        sort_pseudo(stream);
        head->version = 20;
        head->has_body = has_body;
        head->fields = stream->fields + stream->pseudo;
        head->count = (size_t)(stream->count - stream->pseudo);
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
