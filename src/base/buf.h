/*
 * buf.h - the one growable thing: bytes with a maximum.
 *
 * A buffer is born with the most it may ever hold, so that no peer can make
 * us grow without bound. Reading takes from the front by moving an offset;
 * the bytes are moved down only when room is needed at the end.
 */
#ifndef FL_BASE_BUF_H
#define FL_BASE_BUF_H

#include <fairlead/types.h>

#include <stdarg.h>

/* Owned by whoever embeds it. Fields are private to buf.c and pool.c. */
typedef struct fl_buf {
    char *ptr;
    size_t start; /* of the bytes not yet consumed */
    size_t end;
    size_t cap;
    size_t max;
} fl_buf;

/* Allocates nothing. `max` bounds the bytes held at one time. */
void fl_buf_init(fl_buf *buf, size_t max);

/* Frees the memory; the maximum stays, so the buffer can be used again. */
void fl_buf_reset(fl_buf *buf);

/* What is held; good until the next call that changes the buffer. */
static inline fl_span fl_buf_view(const fl_buf *buf)
{
    return buf->ptr != NULL
               ? (fl_span){buf->ptr + buf->start, buf->end - buf->start}
               : (fl_span){0};
}

static inline size_t fl_buf_len(const fl_buf *buf)
{
    return buf->end - buf->start;
}

/* How many bytes more it may hold. */
static inline size_t fl_buf_room(const fl_buf *buf)
{
    return buf->max - fl_buf_len(buf);
}

/* FL_E_TOO_BIG or FL_E_NOMEM: nothing was added. */
FL_MUST_USE fl_status fl_buf_append(fl_buf *buf, fl_span bytes);

/* One after the other; likewise all of them or nothing. */
FL_MUST_USE fl_status fl_buf_append_all(fl_buf *buf, const fl_span *parts,
                                        size_t count);

/*
 * Makes room for `size` more bytes and returns where to write them, or NULL
 * when that would pass the maximum or there is no memory. Nothing counts as
 * held until fl_buf_commit().
 */
FL_MUST_USE char *fl_buf_reserve(fl_buf *buf, size_t size);
void fl_buf_commit(fl_buf *buf, size_t size);

/* Drops `n` bytes from the front, or from the end. */
void fl_buf_consume(fl_buf *buf, size_t n);
void fl_buf_truncate(fl_buf *buf, size_t len);

/* Drops all of it; the memory stays. */
static inline void fl_buf_clear(fl_buf *buf)
{
    buf->start = buf->end = 0;
}

/* Formatted text at the end. */
FL_MUST_USE fl_status fl_buf_printf(fl_buf *buf, const char *format, ...)
    FL_PRINTF(2, 3);
FL_MUST_USE fl_status fl_buf_vprintf(fl_buf *buf, const char *format,
                                     va_list args) FL_PRINTF(2, 0);

#endif
