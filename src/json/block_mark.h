/*
 * block_mark.h - the delimiters of one level of nesting.
 *
 * The last third of the template that block_strings.h begins: kernel.h's
 * mark(). The same masks as for checking, held to nothing: inside inner
 * containers only brackets are looked at, outside of them delimiters too.
 */

KERNEL size_t mark_blocks(fl_span text, size_t from, size_t want, size_t *at)
{
    const constants made = constants_make(), *k = &made;
    uint64_t in_string = 0, carry = 0, depth = 0;
    size_t found = 0;

    for (size_t base = from; base < text.len; base += BLOCK) {
        window w = text.len - base >= BLOCK
                       ? (window){.v = load(text.ptr + base)}
                       : load_tail(text, base);
        string_masks is = strings_in(k, &w);
        if ((is.slash | carry) != 0)
            is.quote &= ~escaped_bytes(is.slash, &carry);
        uint64_t inside = parity(is.quote) ^ in_string;
        in_string = (uint64_t)((int64_t)inside >> 63);
        if (~inside == 0)
            continue;
        token_masks t = tokens_in(k, &w);
        uint64_t shut = t.shut & ~inside, open = t.open & ~inside;
        uint64_t stops = (t.comma | t.colon) & ~inside;
        uint64_t events = depth == 0 ? open | shut | stops : open | shut;
        while (events != 0) {
            uint64_t bit = events & -events;
            events ^= bit;
            if ((bit & open) != 0) {
                if (depth++ == 0)
                    events &= ~stops;
            } else if (depth > 0) {
                if (--depth == 0)
                    events |= stops & ~(bit | (bit - 1));
            } else {
                at[found++] = base + (size_t)__builtin_ctzll(bit);
                if (found == want || (bit & shut) != 0)
                    return found;
            }
        }
    }
    return found;
}
