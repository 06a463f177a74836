/*
 * http2_place.c - where among the peer's frames its bytes have stopped.
 *
 * Time is the owner's business, so it must know what is being waited for: a
 * head that was begun and does not end is waited for less long than the next
 * request. nghttp2 does not tell: it says when a frame begins, but not that a
 * header block it dropped has ended, or that half a frame is all there is. So
 * the lengths are counted here, and of frames only their nine bytes are looked
 * at (RFC 9113 4.1). Whether they make sense is for nghttp2 to say.
 */
#include "wire/http2_impl.h"

#include "base/span.h"

#include <string.h>

enum { PREFACE = 24, LENGTH = 3, TYPE = 3, FLAGS = 4 };

static bool is_of_head(const fl_http2_place *place)
{
    return place->head[TYPE] == NGHTTP2_HEADERS ||
           place->head[TYPE] == NGHTTP2_CONTINUATION;
}

void fl_http2_place_init(fl_http2_place *place)
{
    *place = (fl_http2_place){.left = PREFACE};
}

/* A frame's payload has come, to the last byte. */
static void end_frame(fl_http2_place *place)
{
    if (place->have == 0)
        return; /* it was the preface */
    place->have = 0;
    place->greeted = true; /* the first frame belongs to the greeting */
    if (is_of_head(place) &&
        (place->head[FLAGS] & NGHTTP2_FLAG_END_HEADERS) != 0)
        place->in_block = false;
}

static void begin_frame(fl_http2_place *place)
{
    for (size_t i = 0; i < LENGTH; i++)
        place->left = place->left << 8 | place->head[i];
    if (is_of_head(place))
        place->in_block = true;
}

/* Takes some of it, at least a byte. */
static size_t take(fl_http2_place *place, fl_span bytes)
{
    size_t n = bytes.len < place->left ? bytes.len : place->left;

    if (n > 0) {
        place->left -= n;
    } else {
        size_t wanted = sizeof place->head - place->have;
        n = bytes.len < wanted ? bytes.len : wanted;
        memcpy(place->head + place->have, bytes.ptr, n);
        place->have = (uint8_t)(place->have + n);
        if (n < wanted)
            return n;
        begin_frame(place);
    }
    if (place->left == 0)
        end_frame(place);
    return n;
}

void fl_http2_place_feed(fl_http2_place *place, fl_span bytes)
{
    place->begun = place->begun || bytes.len > 0;
    while (bytes.len > 0)
        bytes = fl_span_from(bytes, take(place, bytes));
}

bool fl_http2_place_in_head(const fl_http2_place *place)
{
    return place->in_block || (place->begun && !place->greeted);
}
