/*
 * buf.c - bytes with a maximum.
 *
 * Growth doubles, from 256 bytes up to the maximum, and never past it (a
 * formatted text's NUL excepted). What is large and comes at once gets just the
 * room it takes: most often it is all there will be, and a third of a long
 * answer that waits would be room for nothing, which no budget counts. When the
 * free room at the end is too small
 * but consumed bytes lie in front, the rest is moved down first: a queue that
 * is filled and drained in turn stays in the same memory.
 */
#include "base/buf.h"

#include "base/mem.h"
#include "base/span.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_ALLOC = 256, LARGE = 64 * 1024 };

void fl_buf_init(fl_buf *buf, size_t max)
{
    assert(max > 0 && max < SIZE_MAX / 4); /* so doubling cannot wrap */
    *buf = (fl_buf){.max = max};
}

void fl_buf_reset(fl_buf *buf)
{
    fl_mem_free(buf->ptr);
    *buf = (fl_buf){.max = buf->max};
}

static void move_down(fl_buf *buf)
{
    if (buf->start == 0)
        return;
    memmove(buf->ptr, buf->ptr + buf->start, buf->end - buf->start);
    buf->end -= buf->start;
    buf->start = 0;
}

/* What is held never passes the maximum. */
static bool fits(const fl_buf *buf, size_t size)
{
    return size <= buf->max - fl_buf_len(buf);
}

static size_t next_size(size_t cap, size_t wanted)
{
    cap = cap > 0 ? 2 * cap : FIRST_ALLOC;
    while (cap < wanted && cap < LARGE)
        cap *= 2;
    return cap < wanted ? wanted : cap;
}

__attribute__((noinline)) static fl_status grow(fl_buf *buf, size_t size)
{
    size_t held = fl_buf_len(buf);

    if (buf->ptr != NULL) {
        move_down(buf);
        if (size <= buf->cap - buf->end)
            return FL_OK;
    }

    size_t cap = next_size(buf->cap, held + size);
    if (cap > buf->max)
        cap = held + size > buf->max ? held + size : buf->max;
    char *grown = fl_mem_realloc(buf->ptr, cap);
    if (grown == NULL)
        return FL_E_NOMEM;
    buf->ptr = grown;
    buf->cap = cap;
    return FL_OK;
}

/* Room for `size` more bytes, which fit, or fit but for a closing NUL. Mostly
 * it is there, and then this is one comparison. */
static inline fl_status make_room(fl_buf *buf, size_t size)
{
    if (buf->ptr != NULL && size <= buf->cap - buf->end)
        return FL_OK;
    return grow(buf, size);
}

fl_status fl_buf_append(fl_buf *buf, fl_span bytes)
{
    if (bytes.len == 0)
        return FL_OK;
    if (!fits(buf, bytes.len))
        return FL_E_TOO_BIG;

    fl_status rc = make_room(buf, bytes.len);
    if (rc == FL_OK) {
        memcpy(buf->ptr + buf->end, bytes.ptr, bytes.len);
        buf->end += bytes.len;
    }
    return rc;
}

fl_status fl_buf_append_all(fl_buf *buf, const fl_span *parts, size_t count)
{
    size_t total = fl_span_total(parts, count);

    if (total == 0)
        return FL_OK;
    if (!fits(buf, total))
        return FL_E_TOO_BIG;

    fl_status rc = make_room(buf, total);
    for (size_t i = 0; i < count && rc == FL_OK; i++) {
        if (parts[i].len > 0)
            memcpy(buf->ptr + buf->end, parts[i].ptr, parts[i].len);
        buf->end += parts[i].len;
    }
    return rc;
}

char *fl_buf_reserve(fl_buf *buf, size_t size)
{
    if (!fits(buf, size) || make_room(buf, size) != FL_OK)
        return NULL;
    return buf->ptr + buf->end;
}

void fl_buf_commit(fl_buf *buf, size_t size)
{
    assert(size <= buf->cap - buf->end);
    buf->end += size;
}

void fl_buf_consume(fl_buf *buf, size_t n)
{
    assert(n <= fl_buf_len(buf));
    buf->start += n;
    if (buf->start == buf->end)
        buf->start = buf->end = 0;
}

void fl_buf_truncate(fl_buf *buf, size_t len)
{
    assert(len <= fl_buf_len(buf));
    buf->end = buf->start + len;
}

fl_status fl_buf_vprintf(fl_buf *buf, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int wanted = vsnprintf(NULL, 0, format, args);
    fl_status rc = wanted < 0 ? FL_E_INVALID : FL_OK;
    size_t len = wanted < 0 ? 0 : (size_t)wanted;
    if (rc == FL_OK && !fits(buf, len))
        rc = FL_E_TOO_BIG;
    if (rc == FL_OK)
        rc = make_room(buf, len + 1); /* vsnprintf wants its NUL */
    if (rc == FL_OK) {
        vsnprintf(buf->ptr + buf->end, len + 1, format, again);
        buf->end += len;
    }
    va_end(again);
    return rc;
}

fl_status fl_buf_printf(fl_buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fl_status rc = fl_buf_vprintf(buf, format, args);
    va_end(args);
    return rc;
}
