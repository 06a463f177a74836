/*
 * watches.c - resources of a legacy server that modern clients listen to.
 *
 *   ASKED -> GRANTED
 *     |         |
 *     +---------+--> gone: refused, too slow, or nobody listens any more
 *
 * A server that goes away forgets what it granted; it is asked again when it
 * is back, and a client that was granted something is not told otherwise.
 */
#include "gateway/watches.h"

#include "base/mem.h"
#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "gateway/standing.h"
#include "io/loop.h"
#include "json/write.h"

enum { PARAMS_MAX = 1024 * 1024 };

struct fl_watch {
    fl_watches *watches;
    fl_list watchers;
    fl_errand *asked; /* our request, or NULL */
    bool granted;
    fl_timer timer;
    fl_span uri; /* behind the struct */
};

void fl_watches_init(fl_watches *watches, fl_back *back,
                     fl_watches_fn *on_settled)
{
    watches->back = back;
    watches->on_settled = on_settled;
    fl_map_init(&watches->by_uri, FL_WATCHES_MAX);
}

/* By now nobody listens: whoever did has left. */
void fl_watches_deinit(fl_watches *watches)
{
    fl_map_deinit(&watches->by_uri);
}

fl_span fl_watch_uri(const fl_watch *watch)
{
    return watch->uri;
}

bool fl_watch_covers(const fl_watch *watch, fl_span uri)
{
    fl_span own = {watch->uri.ptr, watch->uri.len - 1}; /* no closing quote */

    if (fl_span_equal(watch->uri, uri))
        return true;
    return fl_span_starts(uri, own) && own.len > 1 && uri.len > own.len + 1 &&
           (own.ptr[own.len - 1] == '/' || uri.ptr[own.len] == '/');
}

static void watch_free(fl_watch *watch)
{
    fl_timer_stop(&watch->timer);
    fl_map_remove(&watch->watches->by_uri, watch->uri);
    if (watch->asked != NULL)
        fl_back_unask(watch->asked);
    fl_mem_free(watch);
}

static void settle(fl_watch *watch, fl_watcher *watcher, bool granted)
{
    watcher->granted = granted;
    if (!granted) {
        fl_list_remove(&watcher->node);
        watcher->watch = NULL;
    }
    watch->watches->on_settled(watcher->user);
}

/* Each of them is told; who was granted it before has been. */
static void refuse(fl_watch *watch)
{
    fl_list *node = watch->watchers.next, *next;

    for (; node != &watch->watchers; node = next) {
        fl_watcher *watcher = FL_LIST_ENTRY(node, fl_watcher, node);
        next = node->next;
        if (!watcher->granted)
            settle(watch, watcher, false);
    }
    if (fl_list_empty(&watch->watchers))
        watch_free(watch);
}

static void grant(fl_watch *watch)
{
    watch->granted = true;
    for (fl_list *node = watch->watchers.next; node != &watch->watchers;
         node = node->next) {
        fl_watcher *watcher = FL_LIST_ENTRY(node, fl_watcher, node);
        if (!watcher->granted)
            settle(watch, watcher, true);
    }
}

static void on_timer(fl_timer *timer)
{
    fl_watch *watch = FL_LIST_ENTRY(timer, fl_watch, timer);
    fl_errand *asked = watch->asked;

    watch->asked = NULL;
    if (asked != NULL)
        fl_back_unask(asked);
    refuse(watch);
}

static void on_answer(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_watch *watch = user;

    watch->asked = NULL;
    if (why != NULL) /* the server has gone; its time is up all the same */
        return;
    fl_timer_stop(&watch->timer);
    if (msg->kind == FL_MSG_RESULT)
        grant(watch);
    else
        refuse(watch);
}

static void on_left(void *user, const fl_msg *msg, const fl_error *why)
{
    (void)user; /* whatever it says, nobody listens */
    (void)msg;
    (void)why;
}

static fl_status ask(fl_back *back, fl_method method, fl_span uri,
                     fl_watch *watch)
{
    fl_json_writer writer;
    fl_buf params;

    fl_buf_init(&params, PARAMS_MAX);
    fl_json_writer_init(&writer, &params);
    fl_json_object(&writer);
    fl_json_key(&writer, "uri");
    fl_json_raw(&writer, uri);
    fl_json_object_end(&writer);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc == FL_OK)
        rc = fl_back_ask(back, method, fl_buf_view(&params),
                         watch != NULL ? on_answer : on_left, watch,
                         watch != NULL ? &watch->asked : NULL);
    fl_buf_reset(&params);
    return rc;
}

static fl_watch *watch_new(fl_watches *watches, fl_span uri)
{
    fl_watch *watch = fl_mem_zalloc(sizeof *watch + uri.len);

    if (watch == NULL)
        return NULL;
    memcpy(watch + 1, uri.ptr, uri.len);
    watch->uri = (fl_span){(char *)(watch + 1), uri.len};
    watch->watches = watches;
    fl_list_init(&watch->watchers);
    fl_timer_init(&watch->timer, watches->back->route->gateway->loop, on_timer);
    if (fl_map_add(&watches->by_uri, watch->uri, watch) == FL_OK)
        return watch;
    fl_mem_free(watch);
    return NULL;
}

fl_status fl_watches_join(fl_watches *watches, fl_watcher *watcher, fl_span uri)
{
    fl_watch *watch = fl_map_get(&watches->by_uri, uri);

    fl_list_init(&watcher->node);
    if (watch == NULL) {
        watch = watch_new(watches, uri);
        if (watch == NULL)
            return FL_E_NOMEM;
        fl_status rc = ask(watches->back, FL_METHOD_SUBSCRIBE, uri, watch);
        if (rc != FL_OK) {
            watch_free(watch);
            return rc < 0 ? rc : FL_E_LIMIT; /* the server does not read */
        }
        fl_timer_start(&watch->timer, FL_WATCHES_PATIENCE_MS);
    }
    watcher->watch = watch;
    watcher->granted = watch->granted;
    fl_list_append(&watch->watchers, &watcher->node);
    return watch->granted ? FL_OK : FL_AGAIN;
}

void fl_watches_leave(fl_watches *watches, fl_watcher *watcher)
{
    fl_watch *watch = watcher->watch;

    if (watch == NULL)
        return;
    fl_list_remove(&watcher->node);
    watcher->watch = NULL;
    if (!fl_list_empty(&watch->watchers))
        return;
    if (watch->granted && fl_back_is_ready(watches->back) &&
        !fl_standing_watches(watches->back, watch->uri) &&
        ask(watches->back, FL_METHOD_UNSUBSCRIBE, watch->uri, NULL) != FL_OK)
        fl_log_say(fl_loop_log(watches->back->route->gateway->loop),
                   FL_LOG_WARN, "a subscription could not be given back",
                   fl_log_text("uri", watch->uri));
    watch_free(watch);
}

void fl_watches_again(fl_watches *watches)
{
    size_t at = 0;
    fl_span uri;
    void *value;

    while (fl_map_next(&watches->by_uri, &at, &uri, &value)) {
        fl_watch *watch = value;
        if (watch->asked == NULL &&
            ask(watches->back, FL_METHOD_SUBSCRIBE, uri, watch) != FL_OK)
            fl_log_say(fl_loop_log(watches->back->route->gateway->loop),
                       FL_LOG_WARN, "a subscription could not be renewed",
                       fl_log_text("uri", uri));
    }
}
