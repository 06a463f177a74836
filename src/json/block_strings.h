/*
 * block_strings.h - 64 bytes as bits, and which of them are inside strings.
 *
 * The first third of a template. Each vector kernel defines how 64 bytes
 * become bit masks and then includes block_strings.h, block_check.h and
 * block_mark.h, which turn masks into answers. (Functions in a file of their
 * own would have to be compiled for the oldest processor; a table of function
 * pointers would not be inlined.)
 *
 * Bit n of every mask speaks of byte n of the block. Quotes that are not
 * escaped make strings: the XOR of all quote bits up to a byte is 1 inside of
 * one. What a block must know of the one before it fits in three words.
 *
 * The includer defines KERNEL (storage, inlining, target) and:
 *     constants, constants_make()
 *     vectors, load()    64 bytes in registers
 *     parity()           bit n: XOR of bits 0 to n
 *     quiet()            no byte is special in a string, all are ASCII
 *     strings_of()       quotes, backslashes, controls
 *     tokens_of()        brackets, colons, commas, white space
 *     escapes_of()       bytes good after a backslash; u; hex digits
 *     utf8               a UTF-8 validator, with
 *     is_ascii()         it can do without this block
 *     utf8_take()        one block through it
 */

/* 64 bytes and what of them is the block: all, unless the text ends in it. */
typedef struct window {
    vectors v;
    unsigned before; /* bytes in front that belong to the block before */
    uint64_t beyond; /* bits of the block behind the end of the text */
} window;

/* The block at `base`, in which the text ends, filled up with spaces. */
KERNEL vectors load_padded(fl_span text, size_t base)
{
    char copy[BLOCK];

    memset(copy, ' ', BLOCK);
    memcpy(copy, text.ptr + base, text.len - base);
    return load(copy);
}

/*
 * The text's last block is looked at through its last 64 bytes, and the masks
 * are shifted down: to copy it first costs more than to check it, for the
 * processor has to wait until the copy is written before it can be loaded.
 */
KERNEL window load_tail(fl_span text, size_t base)
{
    size_t left = text.len - base;
    uint64_t beyond = ~(uint64_t)0 << left;

    if (text.len < BLOCK)
        return (window){.v = load_padded(text, base), .beyond = beyond};
    return (window){.v = load(text.ptr + text.len - BLOCK),
                    .before = (unsigned)(BLOCK - left),
                    .beyond = beyond};
}

KERNEL string_masks strings_in(const constants *k, const window *w)
{
    string_masks is = strings_of(k, w->v);

    is.quote >>= w->before;
    is.slash >>= w->before;
    is.control >>= w->before;
    return is;
}

KERNEL token_masks tokens_in(const constants *k, const window *w)
{
    token_masks is = tokens_of(k, w->v);

    is.open >>= w->before;
    is.shut >>= w->before;
    is.colon >>= w->before;
    is.comma >>= w->before;
    is.space >>= w->before;
    return is;
}

/* Carried from block to block: bit 0 speaks of the next block's byte 0. */
typedef struct string_state {
    uint64_t inside;  /* all ones or all zeroes */
    uint64_t escaped; /* the last byte was a backslash that counts */
    uint64_t hex;     /* bits 0 to 3: hex digits a \u still wants */
} string_state;

/*
 * Which bytes are escaped. In a run of backslashes every second one is: runs
 * that begin at an odd place are found by adding their first bit, which
 * pushes a one out behind the run; their pattern is then the other one.
 */
KERNEL uint64_t escaped_bytes(uint64_t slashes, uint64_t *carry)
{
    const uint64_t even = 0x5555555555555555u;

    slashes &= ~*carry;
    uint64_t behind = slashes << 1 | *carry;
    uint64_t odd_starts = slashes & ~even & ~behind, sum;
    *carry = __builtin_add_overflow(odd_starts, slashes, &sum);
    return (even ^ sum << 1) & behind;
}

/* Bytes that stand wrongly in an escape sequence, `hex` as string_state's. */
KERNEL uint64_t wrong_escapes(const window *w, uint64_t escaped, uint64_t *hex)
{
    escape_masks is = escapes_of(w->v);
    uint64_t u = is.u >> w->before & escaped;
    uint64_t digits = u << 1 | u << 2 | u << 3 | u << 4 | *hex;

    *hex = u >> 63 | u >> 62 | u >> 61 | u >> 60;
    return (escaped & ~(is.good >> w->before)) |
           (digits & ~(is.hex >> w->before));
}

/* The strings of a block: which bytes are inside, and which quotes count (an
 * escaped one does not). Returns what is wrong in them. */
KERNEL uint64_t take_strings(string_state *s, string_masks is, const window *w,
                             uint64_t *quotes, uint64_t *inside)
{
    uint64_t wrong = 0;

    *quotes = is.quote;
    if ((is.slash | s->escaped | s->hex) != 0) {
        uint64_t escaped = escaped_bytes(is.slash, &s->escaped);
        wrong = wrong_escapes(w, escaped, &s->hex);
        *quotes &= ~escaped;
    }
    *inside = parity(*quotes) ^ s->inside;
    s->inside = (uint64_t)((int64_t)*inside >> 63);
    return wrong | (is.control & *inside);
}
