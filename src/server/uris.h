/*
 * uris.h - a set of URIs that somebody wants to hear about, and which of them
 * a word is owed for.
 *
 * However often something changes while there is no room to say so, one word
 * is owed. The set is bounded, keeps its order, and holds no memory while it
 * is empty.
 */
#ifndef FL_SERVER_URIS_H
#define FL_SERVER_URIS_H

#include "base/list.h"
#include "base/map.h"
#include "json/write.h"

/* Owned by whoever embeds it. Fields are private to uris.c. */
typedef struct fl_uris {
    fl_map by_text;
    fl_list all;
    size_t owed;
} fl_uris;

void fl_uris_init(fl_uris *uris, size_t max);
void fl_uris_deinit(fl_uris *uris);

static inline size_t fl_uris_count(const fl_uris *uris)
{
    return fl_map_count(&uris->by_text);
}

/* Twice is once. FL_E_LIMIT, FL_E_NOMEM. */
FL_MUST_USE fl_status fl_uris_add(fl_uris *uris, fl_span text);

/* Harmless when it is not there. */
void fl_uris_remove(fl_uris *uris, fl_span text);

/* From now on a word is owed for it, if it is there. */
void fl_uris_owe(fl_uris *uris, fl_span text);

/* Says what is owed, in order. `say` is told a URI as a JSON string, good for
 * the call only; false: there is no room now, and it stays owed, as do the
 * rest. `scratch` is written over. */
typedef bool fl_uris_say(void *user, fl_span token);
void fl_uris_pay(fl_uris *uris, fl_buf *scratch, fl_uris_say *say, void *user);

/* All of them, as an array of strings. */
void fl_uris_write(const fl_uris *uris, fl_json_writer *writer);

#endif
