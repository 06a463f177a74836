/*
 * fuzz_deflate.c - no packed bytes may upset the unpacker or pass its bounds,
 * and what is packed comes back.
 *
 * The first byte chooses the coding and what is done. Unpacking is run whole
 * and byte by byte, which must end alike; packing goes through a window of any
 * size and back.
 */
#include "base/span.h"
#include "wire/deflate.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 1 << 20, FREE_OF_RATIO = 64 * 1024 };

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_bounds(const fl_buf *out, size_t eaten, size_t max)
{
    size_t made = fl_buf_len(out);

    require(made <= max);
    require(made <= FREE_OF_RATIO ||
            made - FREE_OF_RATIO <= eaten * FL_INFLATE_RATIO);
}

static fl_status unpack(fl_coding coding, fl_span in, size_t step, size_t max,
                        fl_buf *out)
{
    fl_inflate *unpacker = fl_inflate_new(coding, max);
    fl_status rc = FL_OK;
    size_t eaten = 0;

    require(unpacker != NULL);
    while (rc >= 0 && eaten < in.len) {
        size_t n = in.len - eaten < step ? in.len - eaten : step;
        rc = fl_inflate_feed(unpacker, (fl_span){in.ptr + eaten, n}, out);
        eaten += n;
        check_bounds(out, eaten, max);
    }
    require(rc <= FL_END && rc != FL_AGAIN && rc != FL_E_NOMEM);
    if (rc < 0)
        require(fl_inflate_feed(unpacker, (fl_span){0}, out) == rc);
    fl_inflate_free(unpacker);
    return rc;
}

static void check_unpack(fl_coding coding, fl_span in, size_t max)
{
    fl_buf whole, bytes;

    fl_buf_init(&whole, MAX);
    fl_buf_init(&bytes, MAX);
    fl_status a = unpack(coding, in, in.len, max, &whole);
    fl_status b = unpack(coding, in, 1, max, &bytes);
    /* which bound is met first depends on what is eaten at one time */
    require((a < 0) == (b < 0));
    if (a >= 0)
        require(a == b &&
                fl_span_equal(fl_buf_view(&whole), fl_buf_view(&bytes)));
    fl_buf_reset(&whole);
    fl_buf_reset(&bytes);
}

static void check_pack(fl_coding coding, int bits, fl_span text)
{
    fl_deflate *packer = fl_deflate_new(coding, bits);
    fl_span parts[2] = {text, text};
    fl_buf packed, out;

    require(packer != NULL);
    fl_buf_init(&packed, MAX);
    fl_buf_init(&out, MAX);
    parts[0].len /= 2;
    parts[1] = fl_span_from(text, parts[0].len);
    require(fl_deflate_feed(packer, parts, 1, FL_DEFLATE_FLUSH, &packed) ==
            FL_OK);
    require(fl_deflate_feed(packer, parts + 1, 1, FL_DEFLATE_END, &packed) ==
            FL_OK);
    require(unpack(coding, fl_buf_view(&packed), 100, MAX, &out) == FL_END);
    require(fl_span_equal(fl_buf_view(&out), text));
    fl_deflate_free(packer);
    fl_buf_reset(&packed);
    fl_buf_reset(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fl_coding codings[] = {FL_CODING_GZIP, FL_CODING_DEFLATE,
                                        FL_CODING_RAW};

    if (size < 2)
        return 0;
    fl_coding coding = codings[data[0] % 3];
    fl_span rest = {(const char *)data + 2, size - 2};

    (void)fl_coding_choose(rest);
    (void)fl_coding_find(rest);
    if (data[0] / 3 % 2 == 0)
        check_unpack(coding, rest, 1u + data[1] * 1000u);
    else
        check_pack(coding, 9 + data[1] % 7, rest);
    return 0;
}
