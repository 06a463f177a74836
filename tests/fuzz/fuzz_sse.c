/*
 * fuzz_sse.c - events do not depend on how the bytes were cut, and what is
 * written is what is read.
 *
 * The first two bytes choose the limit and how the rest is chopped; the rest
 * is a stream. It is read whole and in pieces, and both keep a digest of what
 * they saw. Each event is also written out and read again by a fresh parser.
 */
#include "base/span.h"
#include "wire/sse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact)
        abort();
}

/* FNV-1a over lengths and bytes. */
static void digest(uint64_t *sum, fl_span part)
{
    *sum = (*sum ^ part.len) * 0x100000001b3u;
    for (size_t i = 0; i < part.len; i++)
        *sum = (*sum ^ (unsigned char)part.ptr[i]) * 0x100000001b3u;
}

static void check_round_trip(const fl_sse_event *event)
{
    const fl_sse_out fields = {event->id, event->type, 7};
    fl_span parts[2] = {event->data, {0}};
    fl_sse again;
    fl_sse_event back;
    fl_buf out;

    parts[0].len /= 2;
    parts[1] = fl_span_from(event->data, parts[0].len);
    fl_buf_init(&out, 1 << 22);
    fl_status rc = fl_sse_write(&out, &fields, parts, 2);
    /* a type may hold a NUL when it is read, not when it is written */
    bool bad = fl_span_find(event->type, '\0') < event->type.len;
    require(rc == (bad ? FL_E_INVALID : FL_OK));
    if (!bad) {
        fl_span in = fl_buf_view(&out);
        fl_sse_init(&again, 1 << 20);
        require(fl_sse_next(&again, &in, &back) == FL_OK && in.len == 0);
        require(fl_span_equal(back.type, event->type));
        require(fl_span_equal(back.data, event->data));
        require(fl_span_equal(back.id, event->id));
        require(again.retry_ms == 7);
        fl_sse_deinit(&again);
    }
    fl_buf_reset(&out);
}

static void take(uint64_t *sum, fl_status rc, const fl_sse_event *event,
                 size_t max)
{
    if (rc != FL_OK) {
        require(rc == FL_E_TOO_BIG && event->data.len == 0);
        digest(sum, FL_SPAN("too big"));
        return;
    }
    require(event->data.len <= max && event->type.len > 0);
    digest(sum, event->type);
    digest(sum, event->data);
    digest(sum, event->id);
    check_round_trip(event);
}

static void feed(fl_sse *sse, fl_span piece, size_t max, uint64_t *sum)
{
    char *copy = malloc(piece.len); /* exact, so ASan sees any overrun */
    fl_span in = {copy, piece.len};
    fl_sse_event event;
    fl_status rc;

    require(copy != NULL);
    memcpy(copy, piece.ptr, piece.len);
    while ((rc = fl_sse_next(sse, &in, &event)) != FL_AGAIN)
        take(sum, rc, &event, max);
    require(in.len == 0);
    free(copy);
}

/* `chop` 0: whole. */
static uint64_t read_all(fl_span text, size_t max, unsigned chop)
{
    uint64_t sum = 0;
    fl_sse sse;

    fl_sse_init(&sse, max);
    while (text.len > 0) {
        chop = chop != 0 ? chop * 1103515245u + 12345u : 0;
        size_t n = chop != 0 ? 1 + (chop >> 16) % 20 : text.len;
        n = n < text.len ? n : text.len;
        feed(&sse, (fl_span){text.ptr, n}, max, &sum);
        text = fl_span_from(text, n);
    }
    digest(&sum, fl_buf_view(&sse.last_id));
    sum ^= sse.retry_ms;
    fl_sse_deinit(&sse);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;

    size_t max = 1 + data[0] * (size_t)data[0];
    fl_span text = {(const char *)data + 2, size - 2};
    uint64_t whole = read_all(text, max, 0);

    require(read_all(text, max, data[1] + 1u) == whole);
    require(read_all(text, max, 0x10000u + data[1]) == whole);
    return 0;
}
