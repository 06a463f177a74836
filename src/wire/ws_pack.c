/*
 * ws_pack.c - messages packed and unpacked (RFC 7692 7.2).
 *
 * A packed message is a DEFLATE stream flushed to a byte, less the four bytes
 * 00 00 FF FF that every such flush ends with. A message goes through zlib in
 * one call, so a packer without context can serve another socket right after.
 *
 * Unpacking keeps a block on the stack between zlib and the buffer: the bound
 * is looked at before a byte is kept. The four bytes are put back in a call
 * of their own: if the message was whole, that call ends exactly between two
 * blocks of the stream, and zlib says so; if it was cut or went astray, it
 * does not, and nothing that follows is built on sand.
 */
#include "wire/ws_pack.h"

#include "base/span.h"
#include "wire/zlib_stream.h"

#include <assert.h>

enum {
    BLOCK = 8192,
    LEAST_BITS = 9,    /* zlib packs raw streams with no smaller window */
    AT_BOUNDARY = 128, /* no bits left, not the last: zlib.h, inflate() */
};

#define TAIL FL_SPAN("\x00\x00\xff\xff")

struct fl_ws_pack {
    z_stream z;
    size_t held;
};

struct fl_ws_unpack {
    z_stream z;
    size_t held;
};

struct fl_ws_packs {
    fl_ws_pack *pack[MAX_WBITS + 1]; /* by window; NULL until asked for */
    fl_ws_unpack *unpack;
};

static fl_ws_pack *make_pack(int bits)
{
    fl_ws_pack *pack = fl_mem_zalloc(sizeof *pack);

    assert(bits >= LEAST_BITS && bits <= MAX_WBITS);
    if (pack == NULL)
        return NULL;
    pack->held = sizeof *pack;
    pack->z = fl_zlib_stream(&pack->held);
    if (deflateInit2(&pack->z, Z_BEST_SPEED, Z_DEFLATED, -bits,
                     fl_zlib_memory_level(bits), Z_DEFAULT_STRATEGY) != Z_OK) {
        fl_mem_free(pack);
        return NULL;
    }
    return pack;
}

void fl_ws_pack_free(fl_ws_pack *pack)
{
    if (pack == NULL)
        return;
    deflateEnd(&pack->z);
    fl_mem_free(pack);
}

static fl_ws_unpack *make_unpack(int bits)
{
    fl_ws_unpack *unpack = fl_mem_zalloc(sizeof *unpack);

    if (unpack == NULL)
        return NULL;
    unpack->held = sizeof *unpack;
    unpack->z = fl_zlib_stream(&unpack->held);
    if (inflateInit2(&unpack->z, -bits) != Z_OK) {
        fl_mem_free(unpack);
        return NULL;
    }
    return unpack;
}

void fl_ws_unpack_free(fl_ws_unpack *unpack)
{
    if (unpack == NULL)
        return;
    inflateEnd(&unpack->z);
    fl_mem_free(unpack);
}

fl_ws_packs *fl_ws_packs_new(void)
{
    return fl_mem_zalloc(sizeof(fl_ws_packs));
}

void fl_ws_packs_free(fl_ws_packs *packs)
{
    if (packs == NULL)
        return;
    for (size_t i = 0; i <= MAX_WBITS; i++)
        fl_ws_pack_free(packs->pack[i]);
    fl_ws_unpack_free(packs->unpack);
    fl_mem_free(packs);
}

fl_status fl_ws_pack_new(const fl_ws_agreed *agreed, fl_ws_pack **out)
{
    *out = NULL;
    if (!agreed->on || !agreed->our_takeover)
        return FL_OK;
    *out = make_pack(agreed->our_bits);
    return *out != NULL ? FL_OK : FL_E_NOMEM;
}

fl_status fl_ws_unpack_new(const fl_ws_agreed *agreed, fl_ws_unpack **out)
{
    *out = NULL;
    if (!agreed->on || !agreed->peer_takeover)
        return FL_OK;
    *out = make_unpack(agreed->peer_bits);
    return *out != NULL ? FL_OK : FL_E_NOMEM;
}

size_t fl_ws_pack_memory(const fl_ws_pack *pack)
{
    return pack != NULL ? pack->held : 0;
}

size_t fl_ws_unpack_memory(const fl_ws_unpack *unpack)
{
    return unpack != NULL ? unpack->held : 0;
}

/* All that zlib has ready. Packing into memory fails for no reason of its own,
 * and "nothing to do" is none. */
static fl_status drain_pack(z_stream *z, int flush, fl_buf *out)
{
    unsigned char block[BLOCK];
    fl_status rc;

    do {
        z->next_out = block;
        z->avail_out = sizeof block;
        int code = deflate(z, flush);
        assert(code == Z_OK || code == Z_BUF_ERROR);
        size_t made = sizeof block - z->avail_out;
        rc = fl_buf_append(out, (fl_span){(const char *)block, made});
    } while (rc == FL_OK && z->avail_out == 0);
    return rc;
}

static fl_status pack_part(z_stream *z, fl_span part, fl_buf *out)
{
    fl_status rc = FL_OK;

    while (rc == FL_OK && part.len > 0) {
        fl_zlib_offer(z, part);
        size_t offered = z->avail_in;
        rc = drain_pack(z, Z_NO_FLUSH, out);
        part = fl_span_from(part, offered - z->avail_in);
    }
    return rc;
}

static fl_status pack_parts(z_stream *z, const fl_span *parts, size_t count,
                            fl_buf *out)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; rc == FL_OK && i < count; i++)
        rc = pack_part(z, parts[i], out);
    fl_zlib_offer(z, FL_SPAN(""));
    return rc == FL_OK ? drain_pack(z, Z_SYNC_FLUSH, out) : rc;
}

/* The owner's packer for this window, as new. */
static fl_ws_pack *share_pack(fl_ws_packs *packs, int bits)
{
    if (packs->pack[bits] == NULL)
        packs->pack[bits] = make_pack(bits);
    else
        deflateReset(&packs->pack[bits]->z);
    return packs->pack[bits];
}

fl_status fl_ws_pack_message(fl_ws_packs *packs, fl_ws_pack *own,
                             const fl_ws_agreed *agreed, const fl_span *parts,
                             size_t count, fl_buf *out)
{
    if (fl_span_total(parts, count) == 0) /* RFC 7692 7.2.3.6 */
        return fl_buf_append(out, FL_SPAN("\x00"));

    fl_ws_pack *pack = own != NULL ? own : share_pack(packs, agreed->our_bits);
    if (pack == NULL)
        return FL_E_NOMEM;
    size_t before = fl_buf_len(out);
    fl_status rc = pack_parts(&pack->z, parts, count, out);
    if (rc != FL_OK) {
        /* What the peer never gets must not be referred to. */
        deflateReset(&pack->z);
        fl_buf_truncate(out, before);
        return rc;
    }
    fl_buf_truncate(out, fl_buf_len(out) - TAIL.len);
    return FL_OK;
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
    default:
        return FL_E_BAD_MESSAGE;
    }
}

/* One block of output at most. */
static fl_status unpack_block(z_stream *z, size_t *max, fl_buf *out)
{
    unsigned char block[BLOCK];

    z->next_out = block;
    z->avail_out = sizeof block;
    fl_status rc = status_of(inflate(z, Z_SYNC_FLUSH));
    size_t made = sizeof block - z->avail_out;
    if (rc < 0)
        return rc;
    if (made > *max)
        return FL_E_TOO_BIG;
    *max -= made;
    fl_status kept = fl_buf_append(out, (fl_span){(const char *)block, made});
    return kept == FL_OK ? rc : kept;
}

/* All of `in`. A last block is not the last of the message: what follows it is
 * a stream of its own (RFC 7692 7.2.3.4). `whole`: it ends between blocks. */
static fl_status unpack_part(z_stream *z, fl_span in, size_t *max, fl_buf *out,
                             bool *whole)
{
    fl_status rc = FL_OK;

    do {
        fl_zlib_offer(z, in);
        size_t offered = z->avail_in;
        rc = unpack_block(z, max, out);
        in = fl_span_from(in, offered - z->avail_in);
        *whole = rc == FL_END || z->data_type == AT_BOUNDARY;
        /* what was said may still be referred to, so the window is kept; and
         * without a copy, for a message may be full of last blocks */
        if (rc == FL_END && inflateResetKeep(z) == Z_OK)
            rc = FL_OK;
    } while (rc == FL_OK && (in.len > 0 || z->avail_out == 0));
    return rc;
}

static fl_ws_unpack *share_unpack(fl_ws_packs *packs)
{
    if (packs->unpack == NULL)
        packs->unpack = make_unpack(MAX_WBITS);
    else
        inflateReset(&packs->unpack->z);
    return packs->unpack;
}

fl_status fl_ws_unpack_message(fl_ws_packs *packs, fl_ws_unpack *own,
                               fl_span in, size_t max, fl_buf *out)
{
    if (in.len == 0) /* not even a block: some send nothing for nothing */
        return FL_OK;

    fl_ws_unpack *unpack = own != NULL ? own : share_unpack(packs);
    if (unpack == NULL)
        return FL_E_NOMEM;
    size_t before = fl_buf_len(out);
    bool whole = false;
    fl_status rc = unpack_part(&unpack->z, in, &max, out, &whole);
    if (rc == FL_OK)
        rc = unpack_part(&unpack->z, TAIL, &max, out, &whole);
    if (rc == FL_OK && !whole)
        rc = FL_E_BAD_MESSAGE;
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}
