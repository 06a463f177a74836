/*
 * block_check.h - JSON grammar in the bits of a word.
 *
 * The second third of the template that block_strings.h begins. What is left
 * outside of strings is tokens and white space, and the grammar is nearly
 * local: what may follow a token depends on its kind, except that commas,
 * colons and elements must suit the bracket they are in. So:
 *
 *  - "The token after" is a shift by one, rolled over white space by an
 *    addition whose carry runs through the run of ones (roll). The same
 *    carry takes what is known of a string from its opening quote to its
 *    closing one.
 *  - After a comma or a colon there must be a value; after an opening bracket
 *    a value or a closing one; after a value anything else. A colon must come
 *    after a string that began an element.
 *  - In an object every element must be a string that ends at a colon; in an
 *    array there must be no colon. These two masks are held against the type
 *    of the current bracket, one stretch between brackets at a time: the
 *    only loop over tokens is the one over brackets.
 *  - Numbers and literals are looked at one by one where they begin.
 *
 * No branch depends on where a string or a comma lies, which is what makes a
 * mispredicted branch rare in texts never seen before. The text's last byte
 * must be ASCII that is no part of a number or literal; the rare text for
 * which that does not hold (a bare number) is the plain kernel's.
 */

enum { TOP = 2 }; /* a type of container, beside array (0) and object (1) */

/* Carried from block to block: bit 0 speaks of the next block's byte 0. */
typedef struct token_state {
    uint64_t value;   /* a value must come */
    uint64_t element; /* what comes is an element of the container */
    uint64_t ended;   /* a value ended */
    uint64_t key;     /* a string that could be a key ended */
    uint64_t is_key;  /* the string in progress is such a one */
    uint64_t scalar;  /* the last byte belonged to a number or literal */
} token_state;

typedef struct nest_state {
    unsigned depth;
    unsigned max_depth;
    unsigned char type[FL_JSON_MAX_DEPTH + 1];
} nest_state;

/* What the brackets' loop needs to know of a block. */
typedef struct tokens {
    token_masks is;
    uint64_t scalar;   /* numbers and literals */
    uint64_t scalars;  /* where they begin */
    uint64_t wrong[3]; /* by type of container */
} tokens;

/* Bits of `from` inside a run of ones of `run` come out behind its end. */
KERNEL uint64_t roll(uint64_t from, uint64_t run, uint64_t *carry)
{
    uint64_t sum;
    bool over = __builtin_add_overflow(from & run, run, &sum);

    *carry |= over;
    return (sum | from) & ~run;
}

/* The first bytes after `from` that are not white space. */
KERNEL uint64_t after(uint64_t from, uint64_t space, uint64_t *carry)
{
    uint64_t next = from << 1 | *carry;

    *carry = from >> 63;
    return roll(next, space, carry);
}

/* Where numbers and literals begin; the bytes after them go to `ended`. */
KERNEL uint64_t scalar_starts(token_state *t, uint64_t scalar, uint64_t *ended)
{
    uint64_t behind = scalar << 1 | t->scalar;

    t->scalar = scalar >> 63;
    *ended = behind & ~scalar;
    return scalar & ~behind;
}

/* Holds neighbours against each other; returns the tokens out of place. */
KERNEL uint64_t pair_up(token_state *t, uint64_t quotes, uint64_t inside,
                        uint64_t space, uint64_t beyond, tokens *out)
{
    uint64_t begin = quotes & inside, end = quotes & ~inside;
    uint64_t outside = ~(inside | end | beyond), ended, over = 0;
    /* cppcheck-suppress ctuuninitvar; check_block() has set all of out->is */
    uint64_t open = out->is.open &= outside, shut = out->is.shut &= outside;
    uint64_t colon = out->is.colon &= outside;
    uint64_t comma = out->is.comma &= outside;

    out->scalar = outside & ~(space | open | shut | colon | comma);
    out->scalars = scalar_starts(t, out->scalar, &ended);
    ended |= (end | shut) << 1 | t->ended;
    t->ended = (end | shut) >> 63;
    ended = roll(ended, space, &t->ended);
    t->ended |= (ended & beyond) != 0;

    uint64_t value = after(comma | colon, space, &t->value);
    uint64_t element = after(comma | open, space, &t->element);
    uint64_t keys = roll((element & begin) | t->is_key, inside, &over);
    uint64_t key = after(keys, space, &t->key);
    t->is_key = over;

    uint64_t values = begin | out->scalars | open;
    out->wrong[0] = colon;
    out->wrong[1] = (element & ~(begin | shut)) | (key & ~colon);
    out->wrong[TOP] = comma | colon;
    uint64_t wrong = (value & ~values) | (element & ~(values | shut)) |
                     (ended & ~(comma | colon | shut)) | (colon & ~key);
    return wrong & ~beyond;
}

KERNEL void note(fl_json_level *marks, uint64_t bits, size_t base)
{
    size_t n = marks->count;

    marks->count += (size_t)__builtin_popcountll(bits);
    for (; bits != 0 && n < FL_JSON_MARKS; bits &= bits - 1)
        marks->at[n++] = base + (size_t)__builtin_ctzll(bits);
}

/* Opens and closes the brackets of a block, minding what lies between. */
KERNEL bool nest(nest_state *n, const tokens *t, const char *text, size_t base,
                 fl_json_marks *marks)
{
    uint64_t brackets = t->is.open | t->is.shut, rest = ~(uint64_t)0;
    uint64_t delimiters = t->is.comma | t->is.colon | t->is.shut, wrong = 0;
    unsigned depth = n->depth;

    for (; brackets != 0; brackets &= rest) {
        uint64_t upto = brackets ^ (brackets - 1), part = upto & rest;
        unsigned char byte = (unsigned char)text[__builtin_ctzll(brackets)];
        unsigned char curly = byte >> 5 & 1;
        rest = ~upto;
        wrong |= t->wrong[n->type[depth]] & part;
        if (depth - 1 < FL_JSON_LEVELS)
            note(&marks->level[depth - 1], delimiters & part, base);
        if ((t->is.open & part) == 0) {
            if (n->type[depth--] != curly)
                return false;
        } else if (depth == n->max_depth) {
            return false;
        } else {
            n->type[++depth] = curly;
        }
    }
    if (depth - 1 < FL_JSON_LEVELS)
        note(&marks->level[depth - 1], delimiters & rest, base);
    n->depth = depth;
    return (wrong | (t->wrong[n->type[depth]] & rest)) == 0;
}

/*
 * A scalar of `len` bytes, eight at most, in the low bytes of `word`: true for
 * integers and literals, which most are; false means look again. To a digit
 * less '0' one can add 0x76 without reaching the top bit.
 */
KERNEL bool is_common(uint64_t word, unsigned len)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t mask = ~(uint64_t)0 >> (64 - 8 * len), digits = word ^ ones * '0';
    uint64_t wrong = (digits | (digits + ones * 0x76)) & ones * 0x80 & mask;

    if (wrong == 0)
        return len == 1 || (word & 0xff) != '0';
    word &= mask; /* true, null, false; a NUL behind them is no less wrong */
    return (len == 4 && (word == 0x65757274 || word == 0x6c6c756e)) ||
           (len == 5 && word == 0x65736c6166);
}

KERNEL bool check_scalar(const char *at, const char *end)
{
    return fl_json_take_scalar(&at, end) && at < end && fl_json_is_end(*at);
}

/* Eight bytes from `at`, zeroes behind the end; the text has eight at least. */
KERNEL uint64_t word_at(const char *at, const char *end)
{
    uint64_t word;

    if (end - at >= 8) {
        memcpy(&word, at, sizeof word);
        return word;
    }
    memcpy(&word, end - 8, sizeof word);
    return word >> 8 * (8 - (end - at));
}

KERNEL bool check_scalars(fl_span text, size_t base, const tokens *t)
{
    const char *end = text.ptr + text.len;

    for (uint64_t starts = t->scalars; starts != 0; starts &= starts - 1) {
        int place = __builtin_ctzll(starts);
        const char *token = text.ptr + base + place;
        uint64_t behind = ~t->scalar >> place;
        unsigned len = behind != 0 ? (unsigned)__builtin_ctzll(behind) : BLOCK;
        if (len <= 8 && text.len >= 8 && is_common(word_at(token, end), len))
            continue;
        if (!check_scalar(token, end))
            return false;
    }
    return true;
}

typedef struct checker {
    fl_span text;
    fl_json_marks *marks;
    string_state strings;
    token_state tokens;
    nest_state *nest;
    utf8 utf8;
} checker;

KERNEL bool check_utf8(utf8 *u, const window *w, fl_span text, size_t base)
{
    vectors v = w->before > 0 ? load_padded(text, base) : w->v;

    return utf8_take(u, v, text, base);
}

/* One block, `base` bytes into the text; false if it cannot be right. */
KERNEL bool check_block(checker *c, const constants *k, const window *w,
                        size_t base)
{
    uint64_t quotes, inside;
    uint64_t wrong =
        take_strings(&c->strings, strings_in(k, w), w, &quotes, &inside);
    tokens found;

    if (!is_ascii(&c->utf8, w->v) && !check_utf8(&c->utf8, w, c->text, base))
        return false;
    if (~inside == 0 && quotes == 0)
        return wrong == 0;
    found.is = tokens_in(k, w);
    uint64_t space = found.is.space & ~inside, beyond = w->beyond;
    wrong |= space == 0
                 ? pair_up(&c->tokens, quotes, inside, 0, beyond, &found)
                 : pair_up(&c->tokens, quotes, inside, space, beyond, &found);
    if (wrong != 0)
        return false;
    return check_scalars(c->text, base, &found) &&
           nest(c->nest, &found, c->text.ptr + base, base, c->marks);
}

KERNEL bool check_blocks(fl_span text, unsigned max_depth, fl_json_marks *marks)
{
    const constants k = constants_make();
    nest_state nest;
    checker c; /* set field by field: to clear it whole costs a tenth */
    size_t base = 0;

    for (size_t i = 0; i < FL_JSON_LEVELS; i++)
        marks->level[i].count = 0;
    if (text.len == 0 || (!fl_json_is_end(text.ptr[text.len - 1]) &&
                          text.ptr[text.len - 1] != '"'))
        return false;
    c.text = text;
    c.marks = marks;
    c.nest = &nest;
    c.strings = (string_state){0};
    c.tokens = (token_state){.value = 1};
    c.utf8 = (utf8){0};
    nest.depth = 0;
    nest.max_depth = max_depth;
    nest.type[0] = TOP;
    for (; text.len - base >= BLOCK; base += BLOCK) {
        window w = {.v = load(text.ptr + base)};
        bool skip = c.strings.inside && !(c.strings.escaped | c.strings.hex) &&
                    quiet(&k, &c.utf8, w.v);
        if (!skip && !check_block(&c, &k, &w, base))
            return false;
    }
    if (base < text.len) {
        window w = load_tail(text, base);
        if (!check_block(&c, &k, &w, base))
            return false;
    }
    /* a string left open, like anything else unfinished, has not ended */
    return nest.depth == 0 && c.tokens.ended != 0;
}
