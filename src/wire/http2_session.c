/*
 * http2_session.c - an nghttp2 session that lives by our rules.
 *
 * Its memory comes through base/mem.h and is counted, and each block is in a
 * list, for one refusal is the end of the session: nghttp2 does not get out of
 * all of them unhurt, so from then on it is not called any more. It takes some
 * ten small blocks for a request, so a client keeps those given back: they stay
 * in that list, and besides are in a stack of their size. Windows
 * are opened by us as bodies are delivered, never by itself. The first frames,
 * our SETTINGS, are queued here and leave with the first call that writes.
 */
#include "wire/http2_impl.h"

#include "base/mem.h"

#include <stdalign.h>
#include <string.h>

enum {
    STREAM_WINDOW = 256 * 1024,
    CONNECTION_WINDOW = 1024 * 1024,
    CONTINUATIONS_MAX = 8,
    RESET_SECONDS = 10, /* for which nghttp2 lets max_resets pile up */
    HELD_MAX = 64 * 1024,
    SPARE_MAX = 256 * 1024, /* where requests follow each other */
    FIRST_UNKNOWN = NGHTTP2_CONTINUATION + 1, /* frame type */
};

typedef struct fl_http2_block {
    alignas(max_align_t) fl_list node;
    size_t size;                 /* with this header */
    struct fl_http2_block *next; /* among spare ones */
} block;

/* With the header. A server's connections are many, and mostly idle: for those
 * nothing is rounded, and nothing kept. */
static size_t size_for(const fl_http2 *h, size_t size)
{
    size_t total = sizeof(block) + size, step = FL_HTTP2_STEP;

    return h->client ? (total + step - 1) / step * step : total;
}

/* Where spare ones of this size are; NULL: such are not kept. */
static block **spare_for(fl_http2 *h, size_t size)
{
    size_t step = size / FL_HTTP2_STEP - 1;

    return h->client && step < FL_HTTP2_STEPS ? &h->spare_blocks[step] : NULL;
}

static void *keep(fl_http2 *h, block *fresh, size_t size)
{
    fresh->size = size;
    h->heap += size;
    fl_list_append(&h->blocks, &fresh->node);
    return fresh + 1;
}

static void unlink_block(fl_http2 *h, block *old)
{
    h->heap -= old->size;
    fl_list_remove(&old->node);
}

static block *take_spare(fl_http2 *h, size_t size)
{
    block **spare = spare_for(h, size);
    block *taken = spare != NULL ? *spare : NULL;

    if (taken == NULL)
        return NULL;
    *spare = taken->next;
    h->spare -= size;
    return taken;
}

static void *allocate(size_t size, void *user)
{
    fl_http2 *h = user;

    if (size <= SIZE_MAX / 2) {
        size_t total = size_for(h, size);
        block *fresh = take_spare(h, total);
        if (fresh != NULL)
            return fresh + 1;
        fresh = fl_mem_alloc(total);
        if (fresh != NULL)
            return keep(h, fresh, total);
    }
    h->exhausted = h->broken = true;
    return NULL;
}

static void *allocate_zeroed(size_t count, size_t size, void *user)
{
    size_t total =
        size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size;
    void *bytes = allocate(total, user);

    if (bytes != NULL)
        memset(bytes, 0, total);
    return bytes;
}

static void *resize(void *bytes, size_t size, void *user)
{
    fl_http2 *h = user;

    if (bytes == NULL)
        return allocate(size, user);
    block *old = (block *)bytes - 1, *grown = NULL;
    size_t before = old->size, total = 0;
    unlink_block(h, old);
    if (size <= SIZE_MAX / 2) {
        total = size_for(h, size);
        grown = fl_mem_realloc(old, total);
    }
    if (grown != NULL)
        return keep(h, grown, total);
    keep(h, old, before);
    h->exhausted = h->broken = true;
    return NULL;
}

static void release(void *bytes, void *user)
{
    fl_http2 *h = user;

    if (bytes == NULL)
        return;
    block *old = (block *)bytes - 1;
    block **spare = spare_for(h, old->size);
    if (spare == NULL || h->spare + old->size > SPARE_MAX) {
        unlink_block(h, old);
        fl_mem_free(old);
        return;
    }
    old->next = *spare;
    *spare = old;
    h->spare += old->size;
}

/* nghttp2 1.52 leaves a stream with a frame it has freed when memory runs out
 * as it queues a body, and frees that frame again here. So a session that has
 * been refused memory is not asked to clean up: we know its blocks. */
void fl_http2_session_close(fl_http2 *h)
{
    fl_list *node;

    if (!h->exhausted)
        nghttp2_session_del(h->session);
    h->session = NULL;
    while ((node = fl_list_take(&h->blocks)) != NULL)
        fl_mem_free(FL_LIST_ENTRY(node, block, node));
}

static void set_options(nghttp2_option *option, const fl_http_limits *limits)
{
    for (unsigned type = FIRST_UNKNOWN; type <= UINT8_MAX; type++)
        nghttp2_option_set_user_recv_extension_type(option, (uint8_t)type);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, limits->max_control);
    nghttp2_option_set_max_continuations(option, CONTINUATIONS_MAX);
    nghttp2_option_set_stream_reset_rate_limit(
        option, (uint64_t)RESET_SECONDS * limits->max_resets,
        limits->max_resets);
}

static int make_session(fl_http2 *h, const nghttp2_session_callbacks *callbacks,
                        const nghttp2_option *option)
{
    nghttp2_mem mem = {h, allocate, release, allocate_zeroed, resize};

    return h->client ? nghttp2_session_client_new3(&h->session, callbacks, h,
                                                   option, &mem)
                     : nghttp2_session_server_new3(&h->session, callbacks, h,
                                                   option, &mem);
}

static fl_status make(fl_http2 *h)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    fl_status rc = FL_E_NOMEM;

    if (nghttp2_session_callbacks_new(&callbacks) == 0 &&
        nghttp2_option_new(&option) == 0) {
        fl_http2_listen(callbacks);
        set_options(option, h->base.limits);
        if (make_session(h, callbacks, option) == 0)
            rc = FL_OK;
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return rc;
}

static uint32_t clamp(size_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static int greet(fl_http2 *h)
{
    const fl_http_limits *limits = h->base.limits;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, clamp(limits->max_head)},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        h->client
            ? (nghttp2_settings_entry){NGHTTP2_SETTINGS_ENABLE_PUSH, 0}
            : (nghttp2_settings_entry){NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                       limits->max_streams},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1}, /* if it is offered */
    };
    size_t count = sizeof settings / sizeof *settings;
    bool offered = !h->client && limits->take_connect;
    int rc = nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings,
                                     offered ? count : count - 1);

    return rc != 0 ? rc
                   : nghttp2_session_set_local_window_size(
                         h->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
}

fl_status fl_http2_session_open(fl_http2 *h)
{
    fl_buf_init(&h->held, HELD_MAX);
    fl_list_init(&h->blocks);
    fl_status rc = make(h);
    if (rc != FL_OK)
        return rc;
    return greet(h) == 0 ? FL_OK : FL_E_NOMEM;
}
