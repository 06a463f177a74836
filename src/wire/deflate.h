/*
 * deflate.h - gzip and deflate in both directions, with a bound on what comes
 * out.
 *
 * Inflating stops at `max` bytes in all, and when a byte of input makes more
 * than FL_INFLATE_RATIO bytes of output past the first 64 KiB: a bomb costs us
 * no more than that.
 */
#ifndef FL_WIRE_DEFLATE_H
#define FL_WIRE_DEFLATE_H

#include "base/buf.h"

enum {
    FL_INFLATE_RATIO = 1024,
    FL_INFLATE_SIZE = 48 * 1024, /* bytes that one takes, about */
};

typedef struct fl_inflate fl_inflate;
typedef struct fl_deflate fl_deflate;

typedef enum fl_coding {
    FL_CODING_IDENTITY,
    FL_CODING_GZIP,    /* "gzip", "x-gzip" */
    FL_CODING_DEFLATE, /* zlib's format, as RFC 9110 8.4.1.2 has it */
    FL_CODING_RAW,     /* without any header: permessage-deflate */
    FL_CODING_UNKNOWN,
} fl_coding;

/* What a Content-Encoding names; empty is identity; a list is unknown. */
fl_coding fl_coding_find(fl_span name);

/* The best one that an Accept-Encoding takes of gzip and identity. */
fl_coding fl_coding_choose(fl_span accept_encoding);

/* NULL when there is no memory. `max` bounds the output in all. */
FL_MUST_USE fl_inflate *fl_inflate_new(fl_coding coding, size_t max);
void fl_inflate_free(fl_inflate *unpacker);

/*
 * Appends what `in` unpacks to. FL_OK: more may follow. FL_END: the packed
 * stream is whole (bytes after it: FL_E_INVALID). FL_E_TOO_BIG: past the bound.
 * FL_E_INVALID: not what it says it is. FL_E_NOMEM. A failure is final.
 */
FL_MUST_USE fl_status fl_inflate_feed(fl_inflate *unpacker, fl_span in,
                                      fl_buf *out);

/* `window_bits` 9 to 15, or 0 for 15: how much memory a stream may take. */
FL_MUST_USE fl_deflate *fl_deflate_new(fl_coding coding, int window_bits);
void fl_deflate_free(fl_deflate *packer);

typedef enum fl_deflate_how {
    FL_DEFLATE_MORE,  /* may keep bytes back */
    FL_DEFLATE_FLUSH, /* everything so far can be unpacked */
    FL_DEFLATE_END,
} fl_deflate_how;

/* Appends what the parts pack to. */
FL_MUST_USE fl_status fl_deflate_feed(fl_deflate *packer, const fl_span *parts,
                                      size_t count, fl_deflate_how how,
                                      fl_buf *out);

#endif
