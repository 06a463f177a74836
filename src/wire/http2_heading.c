/*
 * http2_heading.c - a heading, said as HEADERS frames.
 *
 * What an HTTP/1.1 connection may say about itself has no place in HTTP/2 (RFC
 * 9113 8.2.2): the two such fields that http.c lets a heading have are left
 * out. Credentials are marked never to enter a compression table, neither ours
 * nor that of a proxy further on (RFC 7541 7.1.3). And what is new on each
 * message enters none either: it would be of no use to anybody there, and push
 * out what repeats.
 */
#include "wire/http2_heading.h"

#include "base/mem.h"
#include "base/span.h"

enum {
    FIELDS_MAX = 2 * FL_HTTP_FIELDS_MAX,
    BLOCK_MAX = 64 * 1024 - 64, /* in all, however small it gets */
    NUMBER = 20,                /* digits, as many as 2^64 has */
};

static const uint8_t manners[FL_FIELD_COUNT] = {
    [FL_FIELD_AUTHORIZATION] = FL_HPACK_SECRET,
    [FL_FIELD_COOKIE] = FL_HPACK_SECRET,
    [FL_FIELD_X_API_KEY] = FL_HPACK_SECRET,
    [FL_FIELD_CONTENT_LENGTH] = FL_HPACK_FLEETING,
    [FL_FIELD_LAST_EVENT_ID] = FL_HPACK_FLEETING,
    [FL_FIELD_TRACEPARENT] = FL_HPACK_FLEETING,
    [FL_FIELD_X_REQUEST_ID] = FL_HPACK_FLEETING,
    [FL_FIELD_TE] = FL_HPACK_NOT_AT_ALL,
    [FL_FIELD_UPGRADE] = FL_HPACK_NOT_AT_ALL,
};

/* Those of the heading itself may not know what they are. */
static fl_field known(const fl_field *field)
{
    fl_field copy = *field;

    if (copy.id == FL_FIELD_OTHER)
        copy.id = fl_field_find(copy.name);
    return copy;
}

static size_t size_of(fl_span name, fl_span value)
{
    return name.len + value.len + FL_HPACK_FIELD;
}

static size_t size_of_all(const fl_field *fields, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        if (manners[known(&fields[i]).id] != FL_HPACK_NOT_AT_ALL)
            sum += size_of(fields[i].name, fields[i].value);
    return sum;
}

/* In decimal, at the end of `room`. */
static fl_span spell(char room[NUMBER], uint64_t number)
{
    size_t at = NUMBER;

    do {
        room[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return (fl_span){room + at, NUMBER - at};
}

/* What is no field of the heading's: pseudo fields, and a length. */
typedef struct extras {
    fl_field list[5];
    size_t count;
    char status[NUMBER], length[NUMBER];
} extras;

static void add(extras *all, unsigned kind, fl_span name, fl_span value)
{
    all->list[all->count++] = (fl_field){name, value, (fl_field_id)kind};
}

static void add_length(extras *all, int64_t length)
{
    add(all, FL_FIELD_CONTENT_LENGTH, fl_field_name(FL_FIELD_CONTENT_LENGTH),
        spell(all->length, (uint64_t)length));
}

static void add_request(extras *all, const fl_heading *heading)
{
    add(all, FL_PSEUDO_METHOD, FL_SPAN(":method"), heading->method);
    if (fl_span_equal(heading->method, FL_SPAN("CONNECT"))) {
        add(all, FL_PSEUDO_AUTHORITY, FL_SPAN(":authority"), heading->target);
    } else {
        add(all, FL_PSEUDO_SCHEME, FL_SPAN(":scheme"), heading->scheme);
        add(all, FL_PSEUDO_AUTHORITY, FL_SPAN(":authority"),
            heading->authority);
        add(all, FL_PSEUDO_PATH, FL_SPAN(":path"), heading->target);
    }
    if (heading->length > 0)
        add_length(all, heading->length);
}

static void add_response(extras *all, const fl_heading *heading)
{
    add(all, FL_PSEUDO_STATUS, FL_SPAN(":status"),
        spell(all->status, heading->status));
    if (heading->length >= 0 && heading->status != 204 &&
        heading->status != 304)
        add_length(all, heading->length);
}

static size_t count_of(const fl_fields *set)
{
    return set != NULL ? set->count : 0;
}

/* HTTP/1.1 has less between its fields. */
static size_t size_of_set(const fl_fields *set)
{
    return set != NULL ? fl_buf_len(&set->text) + set->count * FL_HPACK_FIELD
                       : 0;
}

/* The most that the block can take. */
static fl_status bound(const fl_heading *heading, const extras *all,
                       size_t *size)
{
    size_t count =
        heading->count + count_of(heading->common) + count_of(heading->own);

    *size = size_of_set(heading->common) + size_of_set(heading->own) +
            size_of_all(heading->fields, heading->count);
    for (size_t i = 0; i < all->count; i++)
        *size += size_of(all->list[i].name, all->list[i].value);
    if (count > FIELDS_MAX)
        return FL_E_LIMIT;
    return *size <= BLOCK_MAX ? FL_OK : FL_E_TOO_BIG;
}

static char *write_set(fl_hpack_writer *writer, char *to, const fl_fields *set)
{
    return set != NULL ? fl_hpack_write_all(writer, to, set->fields, set->count,
                                            manners)
                       : to;
}

static char *write_block(fl_hpack_writer *writer, char *to,
                         const fl_heading *heading, const extras *all)
{
    to = fl_hpack_begin(writer, to);
    to = fl_hpack_write_all(writer, to, all->list, all->count, manners);
    to = write_set(writer, to, heading->common);
    to = write_set(writer, to, heading->own);
    for (size_t i = 0; i < heading->count; i++) {
        fl_field field = known(&heading->fields[i]);
        to = fl_hpack_write_all(writer, to, &field, 1, manners);
    }
    return to;
}

/* A block that is too long for one frame: room is made between its pieces, from
 * the back, for the heads of CONTINUATION frames. */
static char *spread(char *frame, size_t block, size_t piece, uint32_t id,
                    unsigned flags)
{
    size_t last = (block - 1) / piece;
    char *end = frame + FL_HTTP2_HEAD + block + last * FL_HTTP2_HEAD;

    for (size_t i = last; i > 0; i--) {
        size_t length = i < last ? piece : block - last * piece;
        char *to = frame + i * (FL_HTTP2_HEAD + piece);
        memmove(to + FL_HTTP2_HEAD, frame + FL_HTTP2_HEAD + i * piece, length);
        (void)fl_http2_put_head(to, length, FL_HTTP2_CONTINUATION,
                                i == last ? FL_HTTP2_END_HEADERS : 0, id);
    }
    (void)fl_http2_put_head(frame, piece, FL_HTTP2_HEADERS, flags, id);
    return end;
}

static char *frame_block(const fl_http2_stream *stream, char *frame,
                         size_t block, size_t piece)
{
    unsigned flags = stream->bodiless ? FL_HTTP2_END_STREAM : 0;

    if (block > piece)
        return spread(frame, block, piece, stream->id, flags);
    (void)fl_http2_put_head(frame, block, FL_HTTP2_HEADERS,
                            flags | FL_HTTP2_END_HEADERS, stream->id);
    return frame + FL_HTTP2_HEAD + block;
}

fl_status fl_http2_heading_say(fl_http2_said *said,
                               const fl_http2_stream *stream,
                               const fl_heading *heading, size_t body)
{
    fl_http2 *h = fl_http2_of(stream);
    extras all;
    size_t size;

    all.count = 0;
    if (h->client)
        add_request(&all, heading);
    else
        add_response(&all, heading);
    fl_status rc = bound(heading, &all, &size);
    if (rc != FL_OK)
        return rc;
    /* for the block, its frames' heads, and that of DATA */
    size += FL_HPACK_BEGIN + (size / FL_HTTP2_FRAME_MAX + 2) * FL_HTTP2_HEAD;
    said->heap = size > sizeof said->stack ? fl_mem_alloc(size) : NULL;
    if (size > sizeof said->stack && said->heap == NULL)
        return FL_E_NOMEM;
    char *frame = said->heap != NULL ? said->heap : said->stack;
    char *block = frame + FL_HTTP2_HEAD;
    char *end = write_block(&h->writer, block, heading, &all);
    end = frame_block(stream, frame, (size_t)(end - block), h->to_frame);
    if (body > 0)
        end = fl_http2_put_head(end, body, FL_HTTP2_DATA, FL_HTTP2_END_STREAM,
                                stream->id);
    said->frames = (fl_span){frame, (size_t)(end - frame)};
    return FL_OK;
}

void fl_http2_heading_done(fl_http2_said *said)
{
    fl_mem_free(said->heap);
}
