/*
 * http2_head.c - header fields as they come off HPACK, made into an fl_head.
 *
 * Entries are counted, so nothing is copied: a stream holds on to what its head
 * points to until it forgets the head. What a field can break of the rules by
 * itself was found out when its entry was made; here is what several can break
 * together (RFC 9113 8.3). The size that is limited is RFC 9113's (6.5.2):
 * name, value and 32 for each, so that many tiny fields are no way around it.
 * What waits is the memory that they take.
 *
 * A head that is wrong is read to its end all the same, for HPACK must stay in
 * step, but nothing of it is kept.
 */
#include "wire/http2_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "wire/hpack_impl.h"

enum {
    PSEUDO_MAX = 5,   /* in one head */
    BOMB_FACTOR = 16, /* times max_head: no mistake, an attack */
};

/* Bits of stream->pseudo. */
#define PSEUDO(name) (1U << (FL_PSEUDO_##name - FL_FIELD_COUNT))

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
        fl_hpack_drop(&fl_http2_of(stream)->reader, stream->held[i]);
    stream->held_count = 0;
}

/* Of streams that are used again, unless it has grown out of the ordinary. */
static bool keeps_room(const fl_http2_stream *stream)
{
    return stream->cap <= FL_HTTP2_FIELDS;
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
    fl_http2_of(stream)->waiting -= stream->head_size;
    stream->head_size = 0;
    stream->count = 0;
    stream->pseudo = 0;
    stream->head = (fl_head){0};
}

/* For one more field, and always for the pseudo fields. */
static bool make_room(fl_http2_stream *stream)
{
    if (stream->count < stream->cap)
        return true;
    uint16_t cap =
        stream->cap > 0 ? (uint16_t)(stream->cap * 2) : FL_HTTP2_FIELDS;
    fl_field *fields = fl_mem_realloc(stream->fields, cap * sizeof *fields);
    if (fields == NULL)
        return false;
    stream->fields = fields;
    const fl_hpack_entry **held = fl_mem_realloc(
        stream->held, ((size_t)cap + PSEUDO_MAX) * sizeof(void *));
    if (held == NULL)
        return false;
    stream->held = held;
    stream->cap = cap;
    return true;
}

static uint64_t number(fl_span digits)
{
    uint64_t n = 0;

    for (size_t i = 0; i < digits.len; i++)
        n = n * 10 + (unsigned char)(digits.ptr[i] - '0');
    return n;
}

static void keep_pseudo(fl_http2_stream *stream, const fl_hpack_entry *entry)
{
    fl_head *head = &stream->head;
    fl_span value = entry->value;

    switch (entry->kind) {
    case FL_PSEUDO_AUTHORITY:
        head->authority = value;
        break;
    case FL_PSEUDO_METHOD:
        head->method = value;
        stream->is_head = fl_span_equal(value, FL_SPAN("HEAD"));
        break;
    case FL_PSEUDO_PATH:
        head->target = value;
        if (value.len > stream->base.http->limits->max_target)
            fault(stream, 414, "the request target is too long");
        break;
    case FL_PSEUDO_PROTOCOL:
        head->protocol = value;
        break;
    case FL_PSEUDO_STATUS:
        head->status = (unsigned)number(value);
        break;
    default: /* :scheme is nothing to us */
        break;
    }
}

/* Each once, before all fields, and in the message it belongs to. */
static void add_pseudo(fl_http2_stream *stream, const fl_hpack_entry *entry)
{
    unsigned bit = 1U << (entry->kind - FL_FIELD_COUNT);
    bool of_response = entry->kind == FL_PSEUDO_STATUS;

    if (stream->count > 0 || (stream->pseudo & bit) != 0 ||
        of_response != fl_http2_of(stream)->client)
        stream->malformed = true;
    else
        keep_pseudo(stream, entry);
    stream->pseudo |= (uint8_t)bit;
}

static void keep_field(fl_http2_stream *stream, const fl_hpack_entry *entry)
{
    stream->fields[stream->count++] = (fl_field){
        .name = entry->name,
        .value = entry->value,
        .id = (fl_field_id)entry->kind,
    };
    if (entry->kind != FL_FIELD_OTHER && stream->head.at[entry->kind] == 0)
        stream->head.at[entry->kind] = (uint8_t)stream->count;
}

static void add_field(fl_http2_stream *stream, const fl_hpack_entry *entry)
{
    fl_field_id id = (fl_field_id)entry->kind;
    bool again = stream->head.at[id] != 0;

    if (again && id == FL_FIELD_CONTENT_LENGTH)
        stream->malformed = true;
    else if (again && fl_field_is_single(id))
        fault(stream, 400, "a header field that may occur once occurs twice");
    if (stream->count >= stream->base.http->limits->max_fields)
        fault(stream, 431, "too many header fields");
    else
        keep_field(stream, entry);
}

/* The list of fields has become longer by so much. */
static void measure(fl_http2_stream *stream, size_t more)
{
    size_t max = stream->base.http->limits->max_head;

    stream->list_size += more;
    if (stream->list_size <= max)
        return;
    if (!stream->announced)
        fault(stream, 431, "the header fields are too large");
    if (stream->list_size / BOMB_FACTOR > max)
        fl_http2_doom(fl_http2_of(stream), FL_HTTP2_ENHANCE_YOUR_CALM);
}

/* Of an entry that a head holds, its place in the head included. A table may
 * hold it as well, but may let go of it any time. */
static size_t weigh(const fl_hpack_entry *entry)
{
    size_t text = entry->self != NULL ? sizeof *entry + entry->room : 0;

    return text + FL_HTTP2_FIELD_ROOM;
}

/* Trailers are not kept, and have no pseudo fields (RFC 9113 8.1). */
bool fl_http2_head_add(fl_http2_stream *stream, const fl_hpack_entry *entry)
{
    bool pseudo = fl_http2_is_pseudo(entry->kind);

    measure(stream, fl_hpack_size(entry->name, entry->value));
    if (entry->bad_name || entry->bad_value || (pseudo && stream->announced))
        stream->malformed = true;
    if (stream->malformed || stream->bad != 0 || stream->announced) {
        fl_hpack_drop(&fl_http2_of(stream)->reader, entry);
        return true;
    }
    if (!make_room(stream)) {
        fl_hpack_drop(&fl_http2_of(stream)->reader, entry);
        return false;
    }
    stream->held[stream->held_count++] = entry;
    stream->head_size += weigh(entry);
    fl_http2_of(stream)->waiting += weigh(entry);
    if (pseudo)
        add_pseudo(stream, entry);
    else
        add_field(stream, entry);
    return true;
}

static bool is_target(const fl_head *head)
{
    if (fl_span_equal(head->target, FL_SPAN("*")))
        return fl_span_equal(head->method, FL_SPAN("OPTIONS"));
    return head->target.len > 0 && head->target.ptr[0] == '/';
}

/* The pseudo fields that a request must have (RFC 9113 8.3.1 and 8.5, RFC 8441
 * 4), and no others. A Host does for an :authority. */
static bool has_pseudo(const fl_http2_stream *stream)
{
    const fl_head *head = &stream->head;
    unsigned whole = PSEUDO(METHOD) | PSEUDO(SCHEME) | PSEUDO(PATH);
    unsigned has = stream->pseudo;

    if (fl_span_equal(head->method, FL_SPAN("CONNECT"))) {
        unsigned tunnel = PSEUDO(METHOD) | PSEUDO(AUTHORITY);
        unsigned extended = whole | PSEUDO(AUTHORITY) | PSEUDO(PROTOCOL);
        return has == tunnel ||
               (has == extended && stream->base.http->limits->take_connect);
    }
    return has == (whole | PSEUDO(AUTHORITY)) ||
           (has == whole && fl_head_has(head, FL_FIELD_HOST));
}

/* Whom it is for, which is said in one way or in two. */
static void check_authority(fl_http2_stream *stream)
{
    fl_head *head = &stream->head;
    fl_span host = fl_head_get(head, FL_FIELD_HOST);

    if (head->authority.len == 0) {
        head->authority = host;
        if (!fl_http2_value_ok(FL_PSEUDO_AUTHORITY, host))
            fault(stream, 400, "malformed Host");
    } else if (host.ptr != NULL &&
               !fl_field_name_equal(host, head->authority)) {
        fault(stream, 400, "Host and :authority are not the same");
    }
}

static void check_request(fl_http2_stream *stream)
{
    const fl_head *head = &stream->head;

    if (!has_pseudo(stream))
        stream->malformed = true;
    else if (fl_span_equal(head->method, FL_SPAN("CONNECT")) &&
             head->protocol.len == 0)
        fault(stream, 405, "CONNECT is not served here");
    else if (!is_target(head))
        fault(stream, 400, "a request target that is no path");
    else
        check_authority(stream);
}

/* There is a status; and 1xx and 204 have no body, and may not say that they
 * have one (RFC 9110 8.6). */
static bool is_response(const fl_http2_stream *stream)
{
    const fl_head *head = &stream->head;
    bool bare = head->status / 100 == 1 || head->status == 204;

    return stream->pseudo != 0 && !(bare && head->length > 0);
}

void fl_http2_head_finish(fl_http2_stream *stream, bool has_body)
{
    fl_head *head = &stream->head;

    if (stream->bad == 0 && !stream->malformed) {
        head->version = 20;
        head->has_body = has_body;
        head->fields = stream->fields;
        head->count = stream->count;
        head->has_length = fl_head_has(head, FL_FIELD_CONTENT_LENGTH);
        head->length = number(fl_head_get(head, FL_FIELD_CONTENT_LENGTH));
        if (!fl_http2_of(stream)->client)
            check_request(stream);
        else if (!is_response(stream))
            stream->malformed = true;
    }
    if (stream->bad != 0 || stream->malformed)
        fl_http2_head_drop(stream);
}
