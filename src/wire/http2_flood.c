/*
 * http2_flood.c - what a peer may do how often.
 *
 * HTTP/2 has many things that cost a peer nothing and us something. Frames that
 * carry nothing (PING, SETTINGS, PRIORITY, empty DATA, types nobody knows) and
 * requests that come to nothing are counted per second, and each useful frame
 * or finished request makes up for one of them: a busy proxy may cancel its
 * share, a flood may not; and there is an end to what can be made up for. It
 * does not matter who resets: a peer that makes us
 * reset its requests, by breaking a rule on each, is counted like one that does
 * it itself. WINDOW_UPDATE is free as far as we have sent what it is about.
 */
#include "wire/http2_impl.h"

enum {
    DRIBBLE = 256,
    READ_AT_ONCE = 1024,
    TOO_MUCH = 20, /* times a limit, whatever is done beside it */
};

/* One more; past `max` in one second the connection is doomed. */
static void count(fl_http2 *h, fl_http2_tally *tally, unsigned max)
{
    uint64_t second = fl_clock_now(&h->clock) / 1000;

    if (second != h->second) {
        h->second = second;
        h->resets = h->control = (fl_http2_tally){0};
    }
    tally->all++;
    if (++tally->open > max || tally->all > (uint64_t)TOO_MUCH * max)
        fl_http2_doom(h, FL_HTTP2_ENHANCE_YOUR_CALM);
}

/* Padding is nothing, and one byte of padded DATA says how much of that there
 * is. */
static bool may_carry(const fl_http2_frame *frame)
{
    bool padded = (frame->flags & FL_HTTP2_PADDED) != 0;

    switch (frame->type) {
    case FL_HTTP2_DATA:
        return (frame->length > 0 && !padded) ||
               (frame->flags & FL_HTTP2_END_STREAM) != 0;
    case FL_HTTP2_HEADERS:
    case FL_HTTP2_CONTINUATION:
        return true;
    default:
        return false;
    }
}

/* What comes for a stream that has gone is nothing to anybody. It may have
 * crossed with its end: then it is no crime, either. */
static bool is_for_nobody(fl_http2 *h, const fl_http2_frame *frame)
{
    return !fl_http2_is_idle(h, frame->stream) &&
           fl_http2_find(h, frame->stream) == NULL;
}

static void make_up(fl_http2_tally *tally)
{
    tally->open -= tally->open > 0;
}

/* A window is opened for what has gone through it. */
static bool is_owed(fl_http2 *h, const fl_http2_frame *frame)
{
    if (frame->type != FL_HTTP2_WINDOW_UPDATE || h->updates == 0)
        return false;
    h->updates--;
    return true;
}

/* A RST_STREAM is counted when its stream closes, if there is one. */
static bool is_control(fl_http2 *h, const fl_http2_frame *frame)
{
    if (frame->type == FL_HTTP2_RST_STREAM)
        return fl_http2_find(h, frame->stream) == NULL;
    return !is_owed(h, frame);
}

/* Padded DATA is looked at when it is known what it carries. */
static bool is_undecided(const fl_http2_frame *frame)
{
    return frame->type == FL_HTTP2_DATA && frame->length > 0;
}

void fl_http2_count_frame(fl_http2 *h, const fl_http2_frame *frame)
{
    if (may_carry(frame) && is_for_nobody(h, frame))
        return;
    if (may_carry(frame))
        make_up(&h->control);
    else if (!is_undecided(frame) && is_control(h, frame))
        count(h, &h->control, h->base.limits->max_control);
}

void fl_http2_count_padding(fl_http2 *h, const fl_http2_frame *frame)
{
    if (!may_carry(frame))
        count(h, &h->control, h->base.limits->max_control);
}

/* Both sides have had their say. */
void fl_http2_count_end(fl_http2 *h)
{
    make_up(&h->resets);
}

/* What code it was done with is the peer's choice, and tells nothing. */
void fl_http2_count_reset(const fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);

    if (!h->client && !stream->ours)
        count(h, &h->resets, h->base.limits->max_resets);
}

void fl_http2_count_refusal(fl_http2 *h)
{
    count(h, &h->resets, h->base.limits->max_resets);
}

/*
 * Each frame of ours may be worth two updates, of its stream's window and of
 * the connection's, and a large one is perhaps read in pieces. One that is
 * small because the window was is worth nothing: that is what a peer would do
 * that dribbles updates to be sent a body byte by byte.
 */
void fl_http2_count_sent(const fl_http2_stream *stream, size_t len)
{
    bool is_cut = fl_http2_unsent(stream) > 0;

    if (len > 0 && (!is_cut || len >= DRIBBLE))
        fl_http2_of(stream)->updates += 2 + 2 * (len / READ_AT_ONCE);
}
