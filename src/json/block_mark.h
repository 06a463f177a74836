/*
 * block_mark.h - the delimiters of one level of nesting.
 *
 * The last third of the template that block_strings.h begins: kernel.h's
 * mark(). The same masks as for checking, held to nothing: inside inner
 * containers only brackets are looked at, outside of them delimiters too.
 */

typedef struct marker {
    size_t depth; /* below the level that is marked */
    size_t found, want;
    size_t *at;
} marker;

/* Goes through the tokens of a block; true when there is no need to go on. */
KERNEL bool mark_block(marker *m, token_masks is, uint64_t outside, size_t base)
{
    uint64_t open = is.open & outside, shut = is.shut & outside;
    uint64_t stops = (is.comma | is.colon) & outside;
    uint64_t events = open | shut | (m->depth == 0 ? stops : 0);

    while (events != 0) {
        uint64_t bit = events & -events;
        events ^= bit;
        if ((bit & open) != 0) {
            if (m->depth++ == 0)
                events &= ~stops;
        } else if (m->depth > 0) {
            if (--m->depth == 0)
                events |= stops & (-bit << 1);
        } else {
            m->at[m->found++] = base + (size_t)__builtin_ctzll(bit);
            if (m->found == m->want || (bit & shut) != 0)
                return true;
        }
    }
    return false;
}

KERNEL window load_window(fl_span text, size_t base)
{
    if (text.len - base < BLOCK)
        return load_tail(text, base);
    return (window){.v = load(text.ptr + base)};
}

KERNEL size_t mark_blocks(fl_span text, size_t from, size_t want, size_t *at)
{
    const constants k = constants_make();
    marker m = {.want = want};
    uint64_t in_string = 0, escaped = 0;

    m.at = at;
    for (size_t base = from; base < text.len; base += BLOCK) {
        window w = load_window(text, base);
        string_masks is = strings_in(&k, &w);
        if ((is.slash | escaped) != 0)
            is.quote &= ~escaped_bytes(is.slash, &escaped);
        uint64_t inside = parity(is.quote) ^ in_string;
        in_string = (uint64_t)((int64_t)inside >> 63);
        if (~inside != 0 && mark_block(&m, tokens_in(&k, &w), ~inside, base))
            break;
    }
    return m.found;
}
