/*
 * http2_in.c - the peer's bytes, cut into frames.
 *
 * A frame that lies whole in what was read is not copied; of one that does not
 * only its payload is gathered, and of DATA not even that: bodies are passed
 * on as they come. A frame must be where it may be (RFC 9113 3.4, 4.3, 6.10)
 * and have a length that it may have before anybody looks into it, and what it
 * costs to have been sent it is counted even earlier (http2_flood.c).
 */
#include "wire/http2_impl.h"

#include "base/span.h"

/* What a frame of some type is about. */
typedef enum about {
    A_STREAM,
    THE_CONNECTION,
    EITHER,
} about;

typedef struct frame_kind {
    void (*take)(fl_http2 *h, const fl_http2_frame *frame, fl_span payload);
    about about;
    uint32_t least; /* bytes of payload, */
    uint32_t most;  /* and at most */
} frame_kind;

/* Priorities are nothing to us (RFC 9113 5.3.2), nor what nobody knows. */
static void ignore(fl_http2 *h, const fl_http2_frame *frame, fl_span payload)
{
    (void)h;
    (void)frame;
    (void)payload;
}

/* A client cannot push, and ours has said that it takes no such thing. */
static void refuse(fl_http2 *h, const fl_http2_frame *frame, fl_span payload)
{
    (void)frame;
    (void)payload;
    fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
}

enum { ANY = FL_HTTP2_FRAME_MAX };

static const frame_kind kinds[FL_HTTP2_TYPES] = {
    [FL_HTTP2_DATA] = {ignore, A_STREAM, 0, ANY},
    [FL_HTTP2_HEADERS] = {fl_http2_on_headers, A_STREAM, 0, ANY},
    [FL_HTTP2_PRIORITY] = {ignore, A_STREAM, 5, 5},
    [FL_HTTP2_RST_STREAM] = {fl_http2_on_reset, A_STREAM, 4, 4},
    [FL_HTTP2_SETTINGS] = {fl_http2_on_settings, THE_CONNECTION, 0, ANY},
    [FL_HTTP2_PUSH_PROMISE] = {refuse, A_STREAM, 0, ANY},
    [FL_HTTP2_PING] = {fl_http2_on_ping, THE_CONNECTION, 8, 8},
    [FL_HTTP2_GOAWAY] = {fl_http2_on_goaway, THE_CONNECTION, 8, ANY},
    [FL_HTTP2_WINDOW_UPDATE] = {fl_http2_on_update, EITHER, 4, 4},
    [FL_HTTP2_CONTINUATION] = {fl_http2_on_continuation, A_STREAM, 0, ANY},
};

static const frame_kind unknown = {ignore, EITHER, 0, ANY};

static const frame_kind *kind_of(const fl_http2_frame *frame)
{
    return frame->type < FL_HTTP2_TYPES ? &kinds[frame->type] : &unknown;
}

static bool is_misplaced(const fl_http2_frame *frame)
{
    about wanted = kind_of(frame)->about;

    return wanted != EITHER && (wanted == A_STREAM) != (frame->stream != 0);
}

/* Nothing comes between the parts of a head, and SETTINGS come first. */
static bool is_out_of_turn(const fl_http2_place *place,
                           const fl_http2_frame *frame)
{
    bool continues = frame->type == FL_HTTP2_CONTINUATION;

    if (!place->greeted)
        return frame->type != FL_HTTP2_SETTINGS ||
               (frame->flags & FL_HTTP2_ACK) != 0;
    if (place->in_block)
        return !continues || frame->stream != place->block_stream;
    return continues;
}

static bool has_wrong_length(const fl_http2_frame *frame)
{
    const frame_kind *kind = kind_of(frame);

    return frame->length < kind->least || frame->length > kind->most;
}

/*
 * A stream is forgotten when it closes. What comes for it afterwards may have
 * crossed with a RST_STREAM of ours; while we have sent none, it cannot have
 * (RFC 9113 5.1).
 */
static bool comes_too_late(fl_http2 *h, const fl_http2_frame *frame)
{
    if (h->client || h->stopped ||
        (frame->type != FL_HTTP2_DATA && frame->type != FL_HTTP2_HEADERS))
        return false;
    return frame->stream <= h->newest &&
           fl_http2_find(h, frame->stream) == NULL;
}

static void begin_frame(fl_http2 *h, const char *head)
{
    fl_http2_place *place = &h->place;
    fl_http2_frame *frame = &place->frame;

    *frame = fl_http2_get_head(head);
    place->in_frame = true;
    place->in_body = false;
    place->left = frame->length;
    place->padding = 0;
    if (is_out_of_turn(place, frame) || is_misplaced(frame))
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
    else if (has_wrong_length(frame))
        fl_http2_doom(h, FL_HTTP2_FRAME_SIZE_ERROR);
    else if (comes_too_late(h, frame))
        fl_http2_doom(h, FL_HTTP2_STREAM_CLOSED);
    else
        fl_http2_count_frame(h, frame);
    if (frame->type == FL_HTTP2_DATA && fl_http2_is_alive(h))
        fl_http2_on_data(h, frame);
}

/* The head of a frame; says how many bytes it took. */
static size_t take_head(fl_http2 *h, fl_span bytes)
{
    fl_http2_place *place = &h->place;

    if (place->have == 0 && bytes.len >= FL_HTTP2_HEAD) {
        begin_frame(h, bytes.ptr);
        return FL_HTTP2_HEAD;
    }
    size_t wanted = FL_HTTP2_HEAD - place->have;
    size_t n = bytes.len < wanted ? bytes.len : wanted;
    memcpy(place->head + place->have, bytes.ptr, n);
    place->have = (uint8_t)(place->have + n);
    if (n == wanted) {
        place->have = 0;
        begin_frame(h, place->head);
    }
    return n;
}

/* The first byte of padded DATA says how much of its end is padding. */
static size_t take_pad_length(fl_http2 *h, fl_span bytes)
{
    fl_http2_place *place = &h->place;
    uint32_t padding = (unsigned char)bytes.ptr[0];

    place->in_body = true;
    place->left--;
    if (padding > place->left) {
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
        return 1;
    }
    place->left -= padding;
    place->padding = padding;
    if (place->left == 0) /* it carries nothing but that */
        fl_http2_count_padding(h, &place->frame);
    fl_http2_refund(h, fl_http2_find(h, place->frame.stream), 1 + padding);
    return 1;
}

static size_t take_data(fl_http2 *h, fl_span bytes)
{
    fl_http2_place *place = &h->place;
    const fl_http2_frame frame = place->frame;
    bool padded = (frame.flags & FL_HTTP2_PADDED) != 0;

    if (padded && !place->in_body)
        return take_pad_length(h, bytes);
    size_t n = bytes.len < place->left ? bytes.len : place->left;
    place->left -= (uint32_t)n;
    if (n > 0) {
        fl_http2_on_body(h, &frame, (fl_span){bytes.ptr, n});
        return n;
    }
    n = bytes.len < place->padding ? bytes.len : place->padding;
    place->padding -= (uint32_t)n;
    return n;
}

static bool has_left(const fl_http2_place *place)
{
    return place->left + place->padding > 0;
}

/* All of it has come. */
static void end_data(fl_http2 *h)
{
    const fl_http2_frame frame = h->place.frame;

    h->place.in_frame = false;
    fl_http2_on_data_end(h, &frame);
}

static void end_frame(fl_http2 *h, fl_span payload)
{
    const fl_http2_frame frame = h->place.frame;

    h->place.in_frame = false;
    h->place.greeted = true; /* the first frame belongs to the greeting */
    kind_of(&frame)->take(h, &frame, payload);
    fl_buf_reset(&h->in);
}

static size_t take_payload(fl_http2 *h, fl_span bytes)
{
    fl_http2_place *place = &h->place;
    size_t n = bytes.len < place->left ? bytes.len : place->left;
    fl_span part = {bytes.ptr, n};

    place->left -= (uint32_t)n;
    if (place->left == 0 && fl_buf_len(&h->in) == 0)
        end_frame(h, part);
    else if (n > 0 && fl_buf_append(&h->in, part) != FL_OK)
        fl_http2_doom(h, FL_HTTP2_INTERNAL_ERROR);
    else if (place->left == 0)
        end_frame(h, fl_buf_view(&h->in));
    return n;
}

static size_t take_preface(fl_http2 *h, fl_span bytes)
{
    static const char preface[] = FL_HTTP2_PREFACE_TEXT;
    size_t wanted = FL_HTTP2_PREFACE - h->place.preface;
    size_t n = bytes.len < wanted ? bytes.len : wanted;

    if (memcmp(bytes.ptr, preface + h->place.preface, n) != 0)
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
    h->place.preface = (uint8_t)(h->place.preface + n);
    return n;
}

/* A server's first frame is SETTINGS (RFC 9113 3.4). What begins otherwise is
 * another protocol, most likely an error in HTTP/1.1. */
static bool is_foreign(const fl_http2 *h, fl_span first)
{
    enum { TYPE = 3 };

    return h->client && !h->place.greeted && !h->place.in_frame &&
           h->place.have == 0 && first.len > TYPE &&
           first.ptr[TYPE] != FL_HTTP2_SETTINGS;
}

static size_t take_some(fl_http2 *h, fl_span bytes)
{
    if (!h->client && h->place.preface < FL_HTTP2_PREFACE)
        return take_preface(h, bytes);
    if (!h->place.in_frame)
        return take_head(h, bytes);
    return h->place.frame.type == FL_HTTP2_DATA ? take_data(h, bytes)
                                                : take_payload(h, bytes);
}

/* What has nothing left to come is over, though no byte says so. */
static void end_empty(fl_http2 *h)
{
    const fl_http2_place *place = &h->place;

    if (!place->in_frame || has_left(place) || !fl_http2_is_alive(h))
        return;
    if (place->frame.type != FL_HTTP2_DATA)
        end_frame(h, (fl_span){0});
    else if ((place->frame.flags & FL_HTTP2_PADDED) != 0 && !place->in_body)
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR); /* it has no first byte */
    else
        end_data(h);
}

void fl_http2_take(fl_http2 *h, fl_span bytes)
{
    if (is_foreign(h, bytes)) {
        fl_http2_doom(h, FL_HTTP2_HTTP_1_1_REQUIRED);
        return;
    }
    while (bytes.len > 0 && fl_http2_is_alive(h)) {
        bytes = fl_span_from(bytes, take_some(h, bytes));
        end_empty(h);
        /* who lost an exchange is to know before the next one begins */
        if (!fl_list_empty(&h->news))
            (void)fl_http2_tell(h);
    }
}

static bool is_of_head(const fl_http2_frame *frame)
{
    return frame->type == FL_HTTP2_HEADERS ||
           frame->type == FL_HTTP2_CONTINUATION;
}

bool fl_http2_in_head(const fl_http2 *h)
{
    const fl_http2_place *place = &h->place;

    if (!place->greeted)
        return place->preface > 0;
    return place->in_block || (place->in_frame && is_of_head(&place->frame));
}
