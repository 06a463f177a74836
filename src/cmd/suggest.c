/*
 * suggest.c - what somebody who mistyped perhaps meant.
 *
 * Nearness is the number of letters to insert, delete or replace
 * (Levenshtein's distance), computed one row at a time. A guess is made when
 * no more than a third of the letters would change: further away it is noise.
 */
#include "cmd/suggest.h"

#include "base/span.h"

enum { LONGEST = 40 };

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* Both are at most LONGEST bytes. */
static size_t distance(fl_span a, fl_span b)
{
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t change = diagonal + (a.ptr[i - 1] != b.ptr[j - 1] ? 1 : 0);
            diagonal = row[j];
            row[j] = smallest(row[j] + 1, row[j - 1] + 1, change);
        }
    }
    return row[b.len];
}

const char *fl_suggest_nearest(fl_span word, const char *const *names)
{
    const char *nearest = NULL;
    size_t best = word.len / 3 + 1; /* and so at least one may be wrong */

    if (word.len > LONGEST)
        return NULL;
    for (; *names != NULL; names++) {
        fl_span name = fl_span_of(*names);
        size_t far = name.len <= LONGEST ? distance(word, name) : LONGEST;
        if (far <= best && far < name.len) {
            best = far > 0 ? far - 1 : 0; /* only a nearer one replaces it */
            nearest = *names;
        }
        if (far == 0)
            break;
    }
    return nearest;
}
