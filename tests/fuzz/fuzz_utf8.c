/*
 * fuzz_utf8.c - the validator against a decoder that takes the long way: it
 * works out each code point and asks whether its shortest form was used.
 */
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Length of the character at the front, or 0. */
static size_t decode(const uint8_t *at, size_t len)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = at[0] < 0x80   ? 1
               : at[0] < 0xc0 ? 0
               : at[0] < 0xe0 ? 2
               : at[0] < 0xf0 ? 3
               : at[0] < 0xf8 ? 4
                              : 0;

    if (n <= 1 || n > len)
        return n <= 1 ? n : 0;
    uint32_t code = at[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (at[i] < 0x80 || at[i] > 0xbf)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    bool scalar = code < 0xd800 || (code > 0xdfff && code <= 0x10ffff);
    return scalar && code >= least[n] ? n : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t want = 0, n;
    char *copy = malloc(size > 0 ? size : 1); /* exact, for ASan */

    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    while (want < size && (n = decode(data + want, size - want)) > 0)
        want += n;
    fl_span text = {copy, size};
    if (fl_utf8_valid_prefix(text) != want)
        abort();
    if (fl_utf8_valid(text) != (want == size))
        abort();
    free(copy);
    return 0;
}
