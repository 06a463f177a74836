/*
 * deflate.c - gzip and deflate in both directions.
 *
 * Output goes through a small block on the stack, so that the bounds are
 * looked at before a byte of it is kept: a bomb is found out after one block
 * too many, not after all of it lies in memory. All memory of zlib's comes
 * through base/mem, and how much is settled when a stream is made.
 *
 * Exactly one packed stream is taken. That a gzip file may go on with another
 * member (RFC 1952 2.2) is true of files; in a message, bytes after the end
 * are either a mistake or somebody's way past a check.
 */
#include "wire/deflate.h"

#include "base/mem.h"
#include "base/span.h"
#include "wire/zlib_stream.h"

#include <assert.h>

enum {
    BLOCK = 8192,
    FREE_OF_RATIO = 64 * 1024,
    MOST_BITS = 15,
    LEAST_BITS = 9,
    GZIP_WRAP = 16, /* added to the window bits: zlib.h, deflateInit2() */
};

struct fl_inflate {
    z_stream z;
    uint64_t made;
    uint64_t eaten;
    size_t max;
    fl_status state; /* FL_OK while there may be more */
};

struct fl_deflate {
    z_stream z;
    fl_status state;
};

static int window_of(fl_coding coding, int bits)
{
    if (coding == FL_CODING_GZIP)
        return bits + GZIP_WRAP;
    return coding == FL_CODING_RAW ? -bits : bits;
}

static bool is_packed(fl_coding coding)
{
    return coding == FL_CODING_GZIP || coding == FL_CODING_DEFLATE ||
           coding == FL_CODING_RAW;
}

static fl_status status_of(int code)
{
    switch (code) {
    case Z_OK:
    case Z_BUF_ERROR: /* nothing to do until there is more */
        return FL_OK;
    case Z_STREAM_END:
        return FL_END;
    case Z_MEM_ERROR:
        return FL_E_NOMEM;
    default: /* broken, or in need of a dictionary nobody agreed on */
        return FL_E_INVALID;
    }
}

fl_inflate *fl_inflate_new(fl_coding coding, size_t max)
{
    assert(is_packed(coding));
    fl_inflate *unpacker = fl_mem_zalloc(sizeof *unpacker);

    if (unpacker == NULL)
        return NULL;
    unpacker->z = fl_zlib_stream(NULL);
    unpacker->max = max;
    if (inflateInit2(&unpacker->z, window_of(coding, MOST_BITS)) != Z_OK) {
        fl_mem_free(unpacker);
        return NULL;
    }
    return unpacker;
}

void fl_inflate_free(fl_inflate *unpacker)
{
    if (unpacker == NULL)
        return;
    inflateEnd(&unpacker->z);
    fl_mem_free(unpacker);
}

static bool is_within_bounds(const fl_inflate *unpacker)
{
    if (unpacker->made > unpacker->max)
        return false;
    return unpacker->made <= FREE_OF_RATIO ||
           unpacker->made - FREE_OF_RATIO <= unpacker->eaten * FL_INFLATE_RATIO;
}

/* One block of output at most; zlib has no more ready if it is not full. */
static fl_status unpack_block(fl_inflate *unpacker, fl_buf *out, bool *full)
{
    unsigned char block[BLOCK];
    z_stream *z = &unpacker->z;
    size_t offered = z->avail_in;

    z->next_out = block;
    z->avail_out = sizeof block;
    fl_status rc = status_of(inflate(z, Z_NO_FLUSH));
    size_t made = sizeof block - z->avail_out;
    *full = z->avail_out == 0;
    unpacker->made += made;
    unpacker->eaten += offered - z->avail_in;
    if (rc < 0)
        return rc;
    if (!is_within_bounds(unpacker))
        return FL_E_TOO_BIG;
    fl_status kept = fl_buf_append(out, (fl_span){(const char *)block, made});
    return kept == FL_OK ? rc : kept;
}

static fl_status unpack(fl_inflate *unpacker, fl_span in, fl_buf *out)
{
    fl_status rc = FL_OK;
    bool full = false;

    while (rc == FL_OK && (full || in.len > 0)) {
        fl_zlib_offer(&unpacker->z, in);
        size_t offered = unpacker->z.avail_in;
        rc = unpack_block(unpacker, out, &full);
        in = fl_span_from(in, offered - unpacker->z.avail_in);
    }
    return rc == FL_END && in.len > 0 ? FL_E_INVALID : rc;
}

fl_status fl_inflate_feed(fl_inflate *unpacker, fl_span in, fl_buf *out)
{
    if (unpacker->state == FL_END && in.len > 0)
        unpacker->state = FL_E_INVALID;
    if (unpacker->state == FL_OK)
        unpacker->state = unpack(unpacker, in, out);
    return unpacker->state;
}

fl_deflate *fl_deflate_new(fl_coding coding, int window_bits)
{
    int bits = window_bits == 0 ? MOST_BITS : window_bits;

    assert(is_packed(coding) && bits >= LEAST_BITS && bits <= MOST_BITS);
    fl_deflate *packer = fl_mem_zalloc(sizeof *packer);
    if (packer == NULL)
        return NULL;
    packer->z = fl_zlib_stream(NULL);
    if (deflateInit2(&packer->z, Z_BEST_SPEED, Z_DEFLATED,
                     window_of(coding, bits), fl_zlib_memory_level(bits),
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        fl_mem_free(packer);
        return NULL;
    }
    return packer;
}

void fl_deflate_free(fl_deflate *packer)
{
    if (packer == NULL)
        return;
    deflateEnd(&packer->z);
    fl_mem_free(packer);
}

/* Packs what was offered, and goes on while zlib fills whole blocks. */
static fl_status pack(z_stream *z, int flush, fl_buf *out)
{
    unsigned char block[BLOCK];
    fl_status rc;

    do {
        z->next_out = block;
        z->avail_out = sizeof block;
        rc = status_of(deflate(z, flush));
        size_t made = sizeof block - z->avail_out;
        if (rc >= 0) {
            fl_span bytes = {(const char *)block, made};
            fl_status kept = fl_buf_append(out, bytes);
            rc = kept == FL_OK ? rc : kept;
        }
    } while (rc == FL_OK && z->avail_out == 0);
    return rc;
}

static fl_status pack_part(fl_deflate *packer, fl_span part, fl_buf *out)
{
    fl_status rc = FL_OK;

    while (rc == FL_OK && part.len > 0) {
        fl_zlib_offer(&packer->z, part);
        size_t offered = packer->z.avail_in;
        rc = pack(&packer->z, Z_NO_FLUSH, out);
        part = fl_span_from(part, offered - packer->z.avail_in);
    }
    return rc;
}

/* A call too many is told from a failure: after the end comes nothing. */
static fl_status finish(fl_deflate *packer, fl_deflate_how how, fl_buf *out)
{
    fl_zlib_offer(&packer->z, FL_SPAN(""));
    if (how == FL_DEFLATE_MORE)
        return FL_OK;
    if (how == FL_DEFLATE_FLUSH)
        return pack(&packer->z, Z_SYNC_FLUSH, out);
    fl_status rc = pack(&packer->z, Z_FINISH, out);
    if (rc == FL_END)
        packer->state = FL_E_STATE;
    return rc == FL_END ? FL_OK : rc;
}

fl_status fl_deflate_feed(fl_deflate *packer, const fl_span *parts,
                          size_t count, fl_deflate_how how, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_status rc = packer->state;

    for (size_t i = 0; rc == FL_OK && i < count; i++)
        rc = pack_part(packer, parts[i], out);
    if (rc == FL_OK)
        rc = finish(packer, how, out);
    if (rc != FL_OK) {
        packer->state = rc;
        fl_buf_truncate(out, before);
    }
    return rc;
}
