/*
 * introductions.c - equal texts, kept once.
 *
 * A map copies its keys, and a copy of each text would cost whom nobody shares
 * with twice. So the key is a digest of eight bytes, which lies in the map's
 * slot, and the text lies in the entry alone. Two texts with one digest are
 * not mistaken for each other: the second is not shared. The digest is keyed,
 * so that no peer can arrange that for another.
 */
#include "server/introductions.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/siphash.h"
#include "base/span.h"

#include <string.h>

struct fl_introduction {
    fl_introductions *home; /* whose table it is in; NULL: it is in none */
    uint64_t digest;
    size_t refs;
    size_t len;
    char text[];
};

void fl_introductions_init(fl_introductions *all)
{
    *all = (fl_introductions){0};
    fl_map_init(&all->by_digest, FL_INTRODUCTIONS_SHARED);
}

void fl_introductions_deinit(fl_introductions *all)
{
    size_t at = 0;
    fl_span key;
    void *value;

    while (fl_map_next(&all->by_digest, &at, &key, &value))
        ((fl_introduction *)value)->home = NULL;
    fl_map_deinit(&all->by_digest);
}

static fl_span key_of(const uint64_t *digest)
{
    return (fl_span){(const char *)digest, sizeof *digest};
}

static bool has_seed(fl_introductions *all)
{
    if (!all->seeded)
        all->seeded = fl_random_bytes(all->seed, sizeof all->seed) == FL_OK;
    return all->seeded;
}

static fl_introduction *make(fl_span text, uint64_t digest)
{
    fl_introduction *made = fl_mem_alloc(sizeof *made + text.len);

    if (made == NULL)
        return NULL;
    *made = (fl_introduction){.digest = digest, .refs = 1, .len = text.len};
    if (text.len > 0)
        memcpy(made->text, text.ptr, text.len);
    return made;
}

fl_status fl_introductions_take(fl_introductions *all, fl_span text,
                                fl_introduction **out)
{
    *out = NULL;
    if (text.len > FL_INTRODUCTION_MAX)
        return FL_E_TOO_BIG;

    bool seeded = has_seed(all);
    uint64_t digest = seeded ? fl_siphash(all->seed, text) : 0;
    fl_introduction *known = fl_map_get(&all->by_digest, key_of(&digest));
    if (known != NULL && fl_span_equal(fl_introduction_text(known), text)) {
        known->refs++;
        *out = known;
        return FL_OK;
    }
    fl_introduction *made = make(text, digest);
    if (made == NULL)
        return FL_E_NOMEM;
    if (seeded && fl_map_add(&all->by_digest, key_of(&digest), made) == FL_OK)
        made->home = all;
    *out = made;
    return FL_OK;
}

fl_span fl_introduction_text(const fl_introduction *introduction)
{
    return introduction != NULL
               ? (fl_span){introduction->text, introduction->len}
               : (fl_span){0};
}

void fl_introduction_release(fl_introduction *introduction)
{
    if (introduction == NULL || --introduction->refs > 0)
        return;
    if (introduction->home != NULL)
        fl_map_remove(&introduction->home->by_digest,
                      key_of(&introduction->digest));
    fl_mem_free(introduction);
}
