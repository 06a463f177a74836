/*
 * listening.c - subscriptions/listen of modern clients, for legacy servers.
 *
 * What a client has no room for is owed to it: a bit for each list, and one for
 * each resource. So however much changes, little is kept, and nothing is lost
 * but how often.
 */
#include "gateway/listening.h"

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/legacy.h"
#include "gateway/route.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/write.h"

#define SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

enum { TEXT_MAX = 16 * 1024 * 1024 };

static const struct {
    const char *wish;       /* as the client says it */
    const char *capability; /* as the server does */
    fl_method notice;
} lists[] = {
    {"toolsListChanged", "tools", FL_METHOD_TOOLS_CHANGED},
    {"promptsListChanged", "prompts", FL_METHOD_PROMPTS_CHANGED},
    {"resourcesListChanged", "resources", FL_METHOD_RESOURCES_CHANGED},
};

enum { LISTS = sizeof lists / sizeof *lists };

struct fl_listening {
    fl_list node; /* among those of its server */
    fl_errand *errand;
    unsigned wanted; /* lists, a bit each, and granted */
    unsigned due;    /* to be told of */
    bool wants_uris; /* it said so, of one or none */
    bool acknowledged;
    size_t pending; /* resources the server has not settled yet, and us */
    size_t count;
    fl_watcher uris[];
};

static fl_watches *watches_of(const fl_listening *listening)
{
    return &listening->errand->back->legacy->watches;
}

/* {"jsonrpc":"2.0","method":...,"params":...} */
static fl_status tell(const fl_listening *listening, fl_method method,
                      fl_span params)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\""),
        fl_method_name(method),
        FL_SPAN("\",\"params\":"),
        params,
        FL_SPAN("}"),
    };

    return fl_errand_tell(listening->errand, parts, 5);
}

static void write_tag(fl_json_writer *writer, fl_span id)
{
    fl_json_key(writer, "_meta");
    fl_json_object(writer);
    fl_json_key(writer, SUBSCRIPTION);
    fl_json_raw(writer, id);
    fl_json_object_end(writer);
}

static void write_uris(const fl_listening *listening, fl_json_writer *writer)
{
    fl_json_key(writer, "resourceSubscriptions");
    fl_json_array(writer);
    for (size_t i = 0; i < listening->count; i++)
        if (listening->uris[i].granted)
            fl_json_raw(writer, fl_watch_uri(listening->uris[i].watch));
    fl_json_array_end(writer);
}

static fl_status write_granted(const fl_listening *listening, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    write_tag(&writer, listening->errand->id);
    fl_json_key(&writer, "notifications");
    fl_json_object(&writer);
    for (unsigned i = 0; i < LISTS; i++)
        if ((listening->wanted & 1U << i) != 0) {
            fl_json_key(&writer, lists[i].wish);
            fl_json_bool(&writer, true);
        }
    if (listening->wants_uris)
        write_uris(listening, &writer);
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* {"uri":...,"_meta":...}, the uri if there is one. */
static fl_status tell_plain(const fl_listening *listening, fl_method method,
                            fl_span uri)
{
    fl_json_writer writer;
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    fl_json_writer_init(&writer, &out);
    fl_json_object(&writer);
    if (uri.len > 0) {
        fl_json_key(&writer, "uri");
        fl_json_raw(&writer, uri);
    }
    write_tag(&writer, listening->errand->id);
    fl_json_object_end(&writer);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc == FL_OK)
        rc = tell(listening, method, fl_buf_view(&out));
    fl_buf_reset(&out);
    return rc;
}

static bool acknowledge(fl_listening *listening)
{
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    fl_status rc = write_granted(listening, &out);
    if (rc == FL_OK)
        rc = tell(listening, FL_METHOD_ACKNOWLEDGED, fl_buf_view(&out));
    fl_buf_reset(&out);
    listening->acknowledged = rc == FL_OK;
    return listening->acknowledged;
}

/* What it is owed, as far as there is room. */
static void pay(fl_listening *listening)
{
    if (listening->pending > 0 ||
        (!listening->acknowledged && !acknowledge(listening)))
        return;
    for (unsigned i = 0; i < LISTS; i++)
        if ((listening->due & 1U << i) != 0 &&
            tell_plain(listening, lists[i].notice, (fl_span){0}) != FL_BUSY)
            listening->due &= ~(1U << i);
    for (size_t i = 0; i < listening->count; i++) {
        fl_watcher *one = &listening->uris[i];
        if (one->due && one->watch != NULL &&
            tell_plain(listening, FL_METHOD_RESOURCE_UPDATED,
                       fl_watch_uri(one->watch)) != FL_BUSY)
            one->due = false;
    }
}

void fl_listening_settled(void *user)
{
    fl_listening *listening = user;

    listening->pending--;
    pay(listening);
}

static bool is_true(fl_span object, const char *name)
{
    return fl_json_type_of(fl_json_get(object, fl_span_of(name))) ==
           FL_JSON_TRUE;
}

static bool has_joined(const fl_listening *listening, fl_span uri)
{
    for (size_t i = 0; i < listening->count; i++)
        if (listening->uris[i].watch != NULL &&
            fl_span_equal(fl_watch_uri(listening->uris[i].watch), uri))
            return true;
    return false;
}

static void join(fl_listening *listening, fl_span uri)
{
    if (fl_json_type_of(uri) != FL_JSON_STRING || has_joined(listening, uri))
        return;
    fl_watcher *one = &listening->uris[listening->count++];
    one->user = listening;
    if (fl_watches_join(watches_of(listening), one, uri) == FL_AGAIN)
        listening->pending++;
}

static void join_all(fl_listening *listening, fl_span uris, size_t room)
{
    fl_json_walk walk;
    fl_json_member uri;

    if (!fl_legacy_has(listening->errand->back, "resources", "subscribe"))
        return;
    fl_json_walk_init(&walk, uris);
    while (listening->count < room && fl_json_walk_next(&walk, &uri))
        join(listening, uri.value);
}

static size_t count(fl_span array)
{
    fl_json_walk walk;
    fl_json_member element;
    size_t n = 0;

    fl_json_walk_init(&walk, array);
    while (n < FL_LISTENING_URIS && fl_json_walk_next(&walk, &element))
        n++;
    return n;
}

static fl_listening *listening_new(fl_errand *errand, size_t room)
{
    fl_legacy *legacy = fl_legacy_of(errand->back);
    fl_listening *listening =
        legacy != NULL
            ? fl_mem_zalloc(sizeof *listening + room * sizeof *listening->uris)
            : NULL;

    if (listening == NULL)
        return NULL;
    listening->errand = errand;
    errand->listening = listening;
    errand->state = FL_ERRAND_SENT;
    fl_list_remove(&errand->by_back); /* no time runs for it */
    fl_list_append(&legacy->listens, &listening->node);
    return listening;
}

void fl_listening_open(fl_errand *errand, const fl_msg *msg)
{
    fl_span wanted = fl_json_get(msg->params, FL_SPAN("notifications"));
    fl_span uris = fl_json_get(wanted, FL_SPAN("resourceSubscriptions"));
    bool listed = fl_json_type_of(uris) == FL_JSON_ARRAY;
    size_t room = listed ? count(uris) : 0;

    if (fl_json_type_of(wanted) != FL_JSON_OBJECT) {
        fl_errand_fail(errand, FL_RPC_INVALID_PARAMS,
                       FL_SPAN("params.notifications must be an object"),
                       (fl_span){0});
        return;
    }
    fl_listening *listening = listening_new(errand, room);
    if (listening == NULL) {
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"),
                       (fl_span){0});
        return;
    }
    for (unsigned i = 0; i < LISTS; i++)
        if (is_true(wanted, lists[i].wish) &&
            fl_legacy_has(errand->back, lists[i].capability, "listChanged"))
            listening->wanted |= 1U << i;
    listening->wants_uris = listed;
    listening->pending = 1; /* so that it is not done before we are */
    join_all(listening, uris, room);
    fl_listening_settled(listening);
}

void fl_listening_free(fl_listening *listening)
{
    fl_watches *watches = watches_of(listening);

    fl_list_remove(&listening->node);
    for (size_t i = 0; i < listening->count; i++)
        fl_watches_leave(watches, &listening->uris[i]);
    fl_mem_free(listening);
}

/* In the server's own words, if there is room. */
static bool pass_on(const fl_listening *listening, const fl_msg *msg,
                    fl_method method)
{
    const fl_errand *errand = listening->errand;
    fl_adapt adapt = {
        .from = fl_back_speaks(errand->back),
        .to = errand->asker.revision,
        .method = method,
        .object = errand->id,
    };
    fl_buf out;

    if (listening->pending > 0 || !listening->acknowledged)
        return false;
    fl_buf_init(&out, TEXT_MAX);
    bool told = fl_adapt_notice(&adapt, msg->params, &out) == FL_OK &&
                tell(listening, method, fl_buf_view(&out)) == FL_OK;
    fl_buf_reset(&out);
    return told;
}

static void hear_updated(fl_listening *listening, const fl_msg *msg)
{
    bool told = false;

    for (size_t i = 0; i < listening->count; i++) {
        fl_watcher *one = &listening->uris[i];
        if (one->watch == NULL || !fl_watch_covers(one->watch, msg->inner.uri))
            continue;
        if (!told && !pass_on(listening, msg, FL_METHOD_RESOURCE_UPDATED))
            one->due = true;
        told = true;
    }
}

static void hear_changed(fl_listening *listening, const fl_msg *msg,
                         fl_method method)
{
    for (unsigned i = 0; i < LISTS; i++)
        if (lists[i].notice == method && (listening->wanted & 1U << i) != 0 &&
            !pass_on(listening, msg, method))
            listening->due |= 1U << i;
}

void fl_listening_hear(fl_back *back, const fl_msg *msg, fl_method method)
{
    fl_list *listens = &back->legacy->listens;

    for (fl_list *node = listens->next; node != listens; node = node->next) {
        fl_listening *listening = FL_LIST_ENTRY(node, fl_listening, node);
        if (method == FL_METHOD_RESOURCE_UPDATED)
            hear_updated(listening, msg);
        else
            hear_changed(listening, msg, method);
    }
}

void fl_listening_catch_up(const fl_front *front)
{
    for (fl_list *node = front->errands.next; node != &front->errands;
         node = node->next) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_front);
        if (errand->listening != NULL)
            pay(errand->listening);
    }
}

void fl_listening_renew(fl_back *back)
{
    fl_list *listens = &back->legacy->listens;

    fl_watches_again(&back->legacy->watches);
    for (fl_list *node = listens->next; node != listens; node = node->next) {
        fl_listening *listening = FL_LIST_ENTRY(node, fl_listening, node);
        listening->due = listening->wanted;
        for (size_t i = 0; i < listening->count; i++)
            listening->uris[i].due = listening->uris[i].granted;
        pay(listening);
    }
}

void fl_listening_end_all(fl_back *back)
{
    fl_list *listens = &back->legacy->listens;

    while (!fl_list_empty(listens))
        fl_listening_end(
            FL_LIST_ENTRY(listens->next, fl_listening, node)->errand);
}
