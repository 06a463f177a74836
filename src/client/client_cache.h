/*
 * client_cache.h - results of a modern server, kept while they are fresh.
 *
 * MCP 2026-07-28, "Caching": a result says for how long it may be used again
 * for the same method and params. What was changed meanwhile is dropped when
 * the server tells of it. All of it belongs to one client, which asks for one
 * user, so that it does not matter whether others may have it, too.
 */
#ifndef FL_CLIENT_CLIENT_CACHE_H
#define FL_CLIENT_CLIENT_CACHE_H

#include "client/request.h"

/* Owned by whoever embeds it. Fields are private to client_cache.c. */
typedef struct fl_client_cache {
    fl_loop *loop;
    fl_map by_key;
    fl_list list; /* the one used last is last */
    size_t bytes, max_bytes;
    size_t max_entries;
    bool off;
    uint64_t changes; /* how often something was dropped because it changed */
} fl_client_cache;

/* Allocates nothing. */
void fl_client_cache_init(fl_client_cache *cache, fl_loop *loop,
                          const fl_client_options *options);
void fl_client_cache_deinit(fl_client_cache *cache);

/* Whether the result is known, and will be the request's (fl_request_know());
 * if not, the request remembers what was known of changes. */
bool fl_client_cache_answers(fl_client_cache *cache, fl_request *request);

/* Keeps a result, if it may be kept and there is room. */
void fl_client_cache_keep(fl_client_cache *cache, const fl_request *request,
                          fl_span result);

/* What the server says has changed: all results of the methods that begin with
 * this; those of one resource (text). */
void fl_client_cache_drop(fl_client_cache *cache, fl_span methods);
void fl_client_cache_drop_resource(fl_client_cache *cache, fl_span uri);
void fl_client_cache_clear(fl_client_cache *cache);

#endif
