/*
 * cache.h - for how long, and for whom, a result may be kept.
 *
 * MCP 2026-07-28, "Caching": every list and every discovery says so. Ours
 * change when the program adds a tool, which few do once they run. They are
 * the same for all who may ask; but who may ask is the door's business, so
 * nobody is told to hand them on.
 */
#ifndef FL_SERVER_CACHE_H
#define FL_SERVER_CACHE_H

#include "json/write.h"

enum { FL_CACHE_TTL_MS = 60000 };

/* The members ttlMs and cacheScope. */
static inline void fl_cache_write_hints(fl_json_writer *writer)
{
    fl_json_key(writer, "ttlMs");
    fl_json_integer(writer, FL_CACHE_TTL_MS);
    fl_json_key(writer, "cacheScope");
    fl_json_string(writer, "private");
}

#endif
