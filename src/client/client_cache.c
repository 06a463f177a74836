/*
 * client_cache.c - results of a modern server, kept while they are fresh.
 *
 * The key is the method and the params as they were written, so that two ways
 * to write the same thing are two entries: that costs a question, never a wrong
 * answer. A request with a _meta of its own, or with input the server wanted,
 * is asked each time.
 *
 * A change may be told of while its list is on the way. What was sent before
 * it, and comes after, is given to who asked, but not kept.
 */
#include "client/client_cache.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "json/nav.h"

#include <string.h>

enum {
    ENTRIES = 256,
    BYTES = 4 * 1024 * 1024,
    ROOM_MAX = 64 * 1024 * 1024,
};

typedef struct entry {
    fl_list node;
    uint64_t until_ms;
    size_t key_len;
    size_t method_len;
    fl_span result;
    char text[]; /* the key, then the result */
} entry;

static size_t size_of(const entry *at)
{
    return sizeof *at + at->key_len + at->result.len;
}

void fl_client_cache_init(fl_client_cache *cache, fl_loop *loop,
                          const fl_client_options *options)
{
    *cache = (fl_client_cache){
        .loop = loop,
        .max_bytes = options->cache_bytes > 0 ? options->cache_bytes : BYTES,
        .max_entries =
            options->cache_entries > 0 ? options->cache_entries : ENTRIES,
        .off = options->no_cache,
    };
    fl_list_init(&cache->list);
    fl_map_init(&cache->by_key, cache->max_entries);
}

static void drop(fl_client_cache *cache, entry *at)
{
    fl_map_remove(&cache->by_key, (fl_span){at->text, at->key_len});
    fl_list_remove(&at->node);
    cache->bytes -= size_of(at);
    fl_mem_free(at);
}

void fl_client_cache_clear(fl_client_cache *cache)
{
    while (!fl_list_empty(&cache->list))
        drop(cache, FL_LIST_ENTRY(cache->list.next, entry, node));
    cache->changes++;
}

void fl_client_cache_deinit(fl_client_cache *cache)
{
    fl_client_cache_clear(cache);
    fl_map_deinit(&cache->by_key);
}

/* The methods whose results say how long they are good for. */
static bool is_cacheable(fl_span method)
{
    static const char *const methods[] = {
        "server/discover",          "tools/list",     "prompts/list",
        "resources/list",           "resources/read", "skills/list",
        "resources/templates/list",
    };

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (fl_span_equal(method, fl_span_of(methods[i])))
            return true;
    return false;
}

static bool may_use(const fl_client_cache *cache, const fl_request *request)
{
    static const char *const without[] = {"_meta", "inputResponses",
                                          "requestState"};

    /* what is not kept for the cache has no text by now */
    if (cache->off || !request->claims || request->own || request->resumes ||
        !is_cacheable(fl_request_method(request)))
        return false;
    fl_span params = fl_request_params(request);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (fl_json_get(params, fl_span_of(without[i])).len > 0)
            return false;
    return true;
}

bool fl_client_cache_answers(fl_client_cache *cache, fl_request *request)
{
    request->cache_mark = cache->changes;
    request->cached = false; /* the page before this one may have been */
    if (!may_use(cache, request))
        return false;
    request->keeps = true; /* its text is the key */
    entry *known = fl_map_get(&cache->by_key, fl_buf_view(&request->text));
    if (known == NULL || request->options.fresh)
        return false;
    if (fl_loop_now(cache->loop) >= known->until_ms) {
        drop(cache, known);
        return false;
    }
    if (fl_request_know(request, known->result) != FL_OK)
        return false;
    request->cached = true;
    fl_list_remove(&known->node);
    fl_list_append(&cache->list, &known->node);
    return true;
}

static uint64_t time_to_live(fl_span result)
{
    int64_t ms;

    if (fl_json_int64(fl_json_get(result, FL_SPAN("ttlMs")), &ms) != FL_OK ||
        ms <= 0)
        return 0;
    return (uint64_t)ms;
}

/* The oldest go until there is room for one more of this size. */
static void make_room(fl_client_cache *cache, size_t size)
{
    while (!fl_list_empty(&cache->list) &&
           (cache->bytes + size > cache->max_bytes ||
            fl_map_count(&cache->by_key) >= cache->max_entries))
        drop(cache, FL_LIST_ENTRY(cache->list.next, entry, node));
}

static entry *make(const fl_request *request, fl_span result)
{
    fl_span key = fl_buf_view(&request->text);
    entry *made = fl_mem_alloc(sizeof *made + key.len + result.len);

    if (made == NULL)
        return NULL;
    made->key_len = key.len;
    made->method_len = request->method_len;
    if (key.len > 0)
        memcpy(made->text, key.ptr, key.len);
    if (result.len > 0)
        memcpy(made->text + key.len, result.ptr, result.len);
    made->result = (fl_span){made->text + key.len, result.len};
    return made;
}

void fl_client_cache_keep(fl_client_cache *cache, const fl_request *request,
                          fl_span result)
{
    uint64_t ttl = time_to_live(result);
    uint64_t now = fl_loop_now(cache->loop);

    if (ttl == 0 || request->cached || request->cache_mark != cache->changes ||
        !may_use(cache, request))
        return;
    fl_span key = fl_buf_view(&request->text);
    entry *old = fl_map_get(&cache->by_key, key);
    if (old != NULL)
        drop(cache, old);
    if (result.len > ROOM_MAX ||
        sizeof *old + key.len + result.len > cache->max_bytes)
        return;
    make_room(cache, sizeof *old + key.len + result.len);
    entry *made = make(request, result);
    if (made == NULL)
        return;
    made->until_ms = ttl < UINT64_MAX - now ? now + ttl : UINT64_MAX;
    if (fl_map_add(&cache->by_key, key, made) != FL_OK) {
        fl_mem_free(made);
        return;
    }
    fl_list_append(&cache->list, &made->node);
    cache->bytes += size_of(made);
}

void fl_client_cache_drop(fl_client_cache *cache, fl_span methods)
{
    fl_list *node = cache->list.next;

    cache->changes++;
    while (node != &cache->list) {
        entry *at = FL_LIST_ENTRY(node, entry, node);
        node = node->next;
        if (fl_span_starts((fl_span){at->text, at->method_len}, methods))
            drop(cache, at);
    }
}

static bool is_of(const entry *at, fl_span uri)
{
    fl_span method = {at->text, at->method_len};
    fl_span params = {at->text + at->method_len, at->key_len - at->method_len};

    return fl_span_equal(method, FL_SPAN("resources/read")) &&
           fl_json_string_is(fl_json_get(params, FL_SPAN("uri")), uri);
}

void fl_client_cache_drop_resource(fl_client_cache *cache, fl_span uri)
{
    fl_list *node = cache->list.next;

    cache->changes++;
    while (node != &cache->list) {
        entry *at = FL_LIST_ENTRY(node, entry, node);
        node = node->next;
        if (is_of(at, uri))
            drop(cache, at);
    }
}
