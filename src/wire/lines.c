/*
 * lines.c - cut a stream of bytes into lines.
 *
 * A line that lies whole inside one read is handed out in place: no copy, no
 * allocation. Only a line that straddles reads is gathered in lines->buf, and
 * only its new bytes are searched, so every byte is looked at once however
 * finely the peer chops them. The buffer is held to `max` before it grows.
 *
 * A long line's buffer is not kept for the next one. It cannot go while the
 * line is borrowed, so it goes at the call after, or at fl_lines_rest().
 */
#include "wire/lines.h"

#include "base/mem.h"
#include "base/span.h"

#include <assert.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { FIRST_ALLOC = 512, KEEP_ALLOC = 4096 };

static_assert(sizeof(fl_lines) <= 56, "every link has one: keep it small");

void fl_lines_init(fl_lines *lines, fl_lines_ends ends, size_t max)
{
    assert(max > 0 && max < SIZE_MAX / 4); /* so doubling cannot wrap */
    *lines = (fl_lines){.ends = ends, .max = max};
}

static void drop_buffer(fl_lines *lines)
{
    fl_mem_free(lines->buf);
    lines->buf = NULL;
    lines->len = lines->cap = 0;
}

void fl_lines_deinit(fl_lines *lines)
{
    drop_buffer(lines);
    *lines = (fl_lines){0};
}

#ifdef __SSE2__
static inline unsigned ends_in(__m128i bytes)
{
    __m128i lf = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
    __m128i cr = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r'));

    return (unsigned)_mm_movemask_epi8(_mm_or_si128(lf, cr));
}

/* No byte of the two is as small as a CR, or smaller: there is no end. */
static inline bool is_inner(__m128i low, __m128i high)
{
    __m128i least = _mm_min_epu8(low, high);
    __m128i small = _mm_min_epu8(least, _mm_set1_epi8('\r'));

    return _mm_movemask_epi8(_mm_cmpeq_epi8(least, small)) == 0;
}
#endif

/* memchr() looks for one byte only, and two passes would cost twice: here 32
 * bytes are held against all that is no larger than CR, and only those with a
 * hit (a tab is one) against LF and CR. (64 to a branch was tried and is no
 * faster on lines of 300 bytes.) */
size_t fl_lines_find_end(fl_span in)
{
    size_t n = 0;
#ifdef __SSE2__
    for (; in.len - n >= 2 * sizeof(__m128i); n += 2 * sizeof(__m128i)) {
        const __m128i *at = (const __m128i *)(const void *)(in.ptr + n);
        __m128i low = _mm_loadu_si128(at), high = _mm_loadu_si128(at + 1);
        if (is_inner(low, high))
            continue;
        unsigned ends = ends_in(low) | ends_in(high) << 16;
        if (ends != 0)
            return n + (size_t)__builtin_ctz(ends);
    }
    for (; in.len - n >= sizeof(__m128i); n += sizeof(__m128i)) {
        const __m128i *at = (const __m128i *)(const void *)(in.ptr + n);
        unsigned ends = ends_in(_mm_loadu_si128(at));
        if (ends != 0)
            return n + (size_t)__builtin_ctz(ends);
    }
#endif
    while (n < in.len && in.ptr[n] != '\n' && in.ptr[n] != '\r')
        n++;
    return n;
}

/* How many bytes of `in` come before a line end; in.len if none is there. */
static size_t find_end(fl_lines_ends ends, fl_span in)
{
    return ends == FL_LINES_LF ? fl_span_find(in, '\n') : fl_lines_find_end(in);
}

static fl_span take_front(fl_span *in, size_t n)
{
    fl_span front = {in->ptr, n};

    *in = fl_span_from(*in, n);
    return front;
}

/* Takes what `in` has of the current line; says whether its end was there. */
static bool cut(fl_lines *lines, fl_span *in, fl_span *part)
{
    /* A CR ends its line at once: to wait and see whether an LF follows would
     * hold a message back until the next one comes. */
    if (lines->eat_lf && in->len > 0) {
        lines->eat_lf = false;
        if (in->ptr[0] == '\n')
            take_front(in, 1);
    }
    *part = take_front(in, find_end(lines->ends, *in));
    if (in->len == 0)
        return false;
    lines->eat_lf = take_front(in, 1).ptr[0] == '\r';
    return true;
}

/* Doubles, but never past what a line may need. */
static fl_status grow(fl_lines *lines, size_t need, size_t most)
{
    size_t cap = lines->cap > 0 ? lines->cap : FIRST_ALLOC;

    while (cap < need)
        cap *= 2;
    if (cap > most)
        cap = most;
    char *buf = fl_mem_realloc(lines->buf, cap);
    if (buf == NULL)
        return FL_E_NOMEM;
    lines->buf = buf;
    lines->cap = cap;
    return FL_OK;
}

static fl_status gather(fl_lines *lines, fl_span part)
{
    size_t need = lines->len + part.len;
    /* one over may yet be the CR of a CRLF */
    size_t most = lines->max + (lines->ends == FL_LINES_LF ? 1 : 0);

    if (need > most)
        return FL_E_TOO_BIG;
    if (need > lines->cap) {
        fl_status rc = grow(lines, need, most);
        if (rc != FL_OK)
            return rc;
    }
    if (part.len > 0)
        memcpy(lines->buf + lines->len, part.ptr, part.len);
    lines->len = need;
    return FL_OK;
}

/* Forgets the gathered bytes but leaves them in place, for `line` to borrow. */
static fl_span release(fl_lines *lines)
{
    fl_span held = {lines->buf, lines->len};

    lines->len = 0;
    return held;
}

static fl_status deliver(const fl_lines *lines, fl_span got, fl_span *line)
{
    if (lines->ends == FL_LINES_LF && got.len > 0 &&
        got.ptr[got.len - 1] == '\r')
        got.len--;
    if (got.len > lines->max)
        return FL_E_TOO_BIG;
    *line = got;
    return FL_OK;
}

fl_status fl_lines_next(fl_lines *lines, fl_span *in, fl_span *line)
{
    if (lines->len == 0 && lines->cap > KEEP_ALLOC)
        drop_buffer(lines);

    fl_span part;
    bool ended = cut(lines, in, &part);

    *line = (fl_span){0};
    if (lines->skipping && ended) {
        lines->skipping = false;
        ended = cut(lines, in, &part);
    }
    if (lines->skipping)
        return FL_AGAIN;
    if (ended && lines->len == 0)
        return deliver(lines, part, line);

    fl_status rc = gather(lines, part);
    if (rc < 0) {
        drop_buffer(lines);
        lines->skipping = !ended;
        return rc;
    }
    return ended ? deliver(lines, release(lines), line) : FL_AGAIN;
}

fl_status fl_lines_finish(fl_lines *lines, fl_span *line)
{
    fl_span rest = release(lines);

    *line = (fl_span){0};
    lines->skipping = false;
    return rest.len > 0 ? deliver(lines, rest, line) : FL_END;
}

fl_span fl_lines_held(const fl_lines *lines)
{
    return (fl_span){lines->buf, lines->len};
}

void fl_lines_rest(fl_lines *lines)
{
    if (lines->len == 0)
        drop_buffer(lines);
}
