/*
 * http_hub.c - what the connections and sessions of one HTTP listener share.
 *
 * Everything that is the same for all answers is made once, here: the header
 * fields that go with each, rendered. The date is one of them, and is put
 * right in its place once a second.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "transport/http_options.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    RATE_KEYS = 4096, /* addresses remembered */
    CALLERS_MAX = 1000000,
    ENDPOINTS_MAX = 4096,
    DATE_SIZE = 30, /* "Mon, 16 Nov 2026 08:00:00 GMT" and a NUL */
};

#define FIELD(name, value)                                                     \
    {                                                                          \
        {(name), sizeof(name) - 1}, {(value), sizeof(value) - 1},              \
            FL_FIELD_OTHER                                                     \
    }

/* H7: nobody shall sniff, frame, script or remember what we say. */
static const fl_field common[] = {
    FIELD("x-content-type-options", "nosniff"),
    FIELD("x-frame-options", "DENY"),
    FIELD("content-security-policy",
          "default-src 'none'; frame-ancestors 'none'"),
    FIELD("referrer-policy", "no-referrer"),
};

enum { COMMON = sizeof common / sizeof *common, FIELDS_ROOM = COMMON + 5 };

/* The common ones, what is particular, HSTS where there is TLS, and last the
 * date. */
static fl_status prepare(fl_fields *set, const fl_field *more, size_t count,
                         bool tls)
{
    static const fl_field hsts =
        FIELD("strict-transport-security", "max-age=31536000");
    static const fl_field date = FIELD("date", "Thu, 01 Jan 1970 00:00:00 GMT");
    fl_field all[FIELDS_ROOM];

    memcpy(all, more, count * sizeof *more);
    memcpy(all + count, common, sizeof common);
    count += COMMON;
    if (tls)
        all[count++] = hsts;
    all[count++] = date;
    return fl_fields_init(set, all, count);
}

static fl_status prepare_all(fl_http_hub *hub)
{
    static const fl_field json[] = {
        FIELD("content-type", "application/json"),
        FIELD("cache-control", "no-store"),
    };
    static const fl_field empty[] = {FIELD("cache-control", "no-store")};
    /* A proxy that gathers or packs events delays them. */
    static const fl_field stream[] = {
        FIELD("content-type", "text/event-stream"),
        FIELD("cache-control", "no-cache, no-transform"),
        FIELD("x-accel-buffering", "no"),
    };
    fl_status rc = prepare(&hub->json_fields, json, 2, hub->tls);

    if (rc == FL_OK)
        rc = prepare(&hub->empty_fields, empty, 1, hub->tls);
    if (rc == FL_OK)
        rc = prepare(&hub->stream_fields, stream, 3, hub->tls);
    return rc;
}

static void free_callers(fl_http_hub *hub)
{
    size_t at = 0;
    fl_span key;
    void *caller;

    while (fl_map_next(&hub->callers, &at, &key, &caller))
        fl_mem_free(caller);
    fl_map_deinit(&hub->callers);
}

fl_http_hub *fl_http_hub_ref(fl_http_hub *hub)
{
    hub->refs++;
    return hub;
}

void fl_http_hub_unref(fl_http_hub *hub)
{
    fl_list *node;

    if (hub == NULL || --hub->refs > 0)
        return;
    while ((node = fl_list_take(&hub->spare)) != NULL)
        fl_http_turn_discard(FL_LIST_ENTRY(node, fl_http_turn, node));
    free_callers(hub);
    fl_index_deinit(&hub->sessions);
    fl_fields_deinit(&hub->json_fields);
    fl_fields_deinit(&hub->empty_fields);
    fl_fields_deinit(&hub->stream_fields);
    fl_buf_reset(&hub->text);
    fl_origin_free(hub->origin);
    fl_addresses_free(hub->addresses);
    fl_rate_free(hub->rate);
    fl_http_keys_end(hub);
    fl_events_free(hub->events);
    fl_http_recall_free(hub->limits.recall);
    fl_mem_free(hub->path);
    fl_mem_free(hub->sse_path);
    fl_mem_free(hub->messages_path);
    fl_mem_free(hub->socket_path);
    fl_mem_free(hub->health_path);
    fl_mem_free(hub->base_url);
    fl_mem_free(hub->may_send);
    fl_mem_free(hub->may_read);
    fl_map_deinit(&hub->endpoints);
    fl_ws_packs_free(hub->sockets.frames.packs);
    fl_mem_free(hub);
}

static fl_status name_paths(fl_http_hub *hub, const fl_address *address)
{
    const fl_http_settings *http = &hub->options.http;
    const char *path = fl_http_options_path(address);

    hub->sockets_only = fl_address_is_websocket(address);
    hub->serve_mcp =
        !hub->sockets_only && strncmp(address->scheme, "sse+", 4) != 0;
    hub->path = fl_mem_string(fl_span_of(path));
    /* sse+http://HOST/path: the path is that of the stream */
    hub->sse_path = fl_mem_string(fl_span_of(
        hub->serve_mcp || address->target[0] == '\0' ? http->sse_path
                                                     : address->target));
    hub->messages_path = fl_mem_string(fl_span_of(http->messages_path));
    if (http->health_path != NULL)
        hub->health_path = fl_mem_string(fl_span_of(http->health_path));
    return hub->path != NULL && hub->sse_path != NULL &&
                   hub->messages_path != NULL &&
                   (http->health_path == NULL || hub->health_path != NULL)
               ? FL_OK
               : FL_E_NOMEM;
}

/* A path may come behind it as it is. */
static fl_status name_base(fl_http_hub *hub)
{
    fl_span base = fl_span_of(hub->options.http.base_url);

    if (base.len == 0)
        return FL_OK;
    while (base.ptr[base.len - 1] == '/')
        base.len--;
    hub->base_url = fl_mem_string(base);
    return hub->base_url != NULL ? FL_OK : FL_E_NOMEM;
}

static fl_status make_guards(fl_http_hub *hub, const fl_address *address)
{
    const fl_options *options = &hub->options;
    fl_status rc =
        fl_origin_new(options->http.allow_origins, options->http.allow_hosts,
                      fl_address_is_local(address), &hub->origin);

    if (rc == FL_OK &&
        (options->allow_addresses != NULL || options->deny_addresses != NULL))
        rc = fl_addresses_new(options->allow_addresses, options->deny_addresses,
                              &hub->addresses);
    if (rc == FL_OK && options->max_per_second > 0) {
        hub->rate = fl_rate_new(options->max_per_second,
                                options->max_per_second, RATE_KEYS);
        rc = hub->rate != NULL ? FL_OK : FL_E_NOMEM;
    }
    return rc;
}

static fl_status make_store(fl_http_hub *hub)
{
    const fl_http_settings *http = &hub->options.http;
    unsigned char random[4];

    hub->events = fl_events_new_memory(&(fl_events_limits){
        .max_events = http->event_max,
        .max_bytes = http->event_bytes,
        .max_age_ms = http->event_age_ms,
    });
    hub->limits.recall = fl_http_recall_new();
    fl_status rc = fl_random_bytes(random, sizeof random);
    snprintf(hub->tag, sizeof hub->tag, "%02x%02x%02x%02x", random[0],
             random[1], random[2], random[3]);
    return hub->events != NULL && hub->limits.recall != NULL ? rc : FL_E_NOMEM;
}

static fl_span id_of(const void *session)
{
    const fl_link *link = session;

    return link->transport == &fl_http_session_transport
               ? fl_http_id(((const fl_http_session *)session)->id)
               : fl_http_sse_id(link);
}

static void fill(fl_http_hub *hub, fl_loop *loop, const fl_address *address,
                 const fl_options *options)
{
    *hub = (fl_http_hub){
        .loop = loop,
        .refs = 1,
        .options = *options,
        .tls = fl_address_is_tls(address),
        .limits = fl_http_limits_fill(&(fl_http_limits){
            .max_head = options->http.max_head,
            .max_fields = options->http.max_fields,
            .max_streams = options->http.max_streams,
            .high_water = options->high_water,
            .max_message = options->max_message,
        }),
    };
    fl_budget_init(&hub->budget, options->http.memory_budget);
    fl_index_init(&hub->sessions, options->http.max_sessions, id_of);
    fl_map_init(&hub->callers, CALLERS_MAX);
    fl_map_init(&hub->endpoints, ENDPOINTS_MAX);
    fl_list_init(&hub->by_use);
    fl_list_init(&hub->conns);
    fl_list_init(&hub->yielded);
    fl_list_init(&hub->spare);
    fl_buf_init(&hub->text, 2 * options->max_message + 4096);
}

/* What the options point to was the caller's, and good for his call only. */
static void forget_borrowed(fl_options *options)
{
    options->allow_addresses = options->deny_addresses = NULL;
    options->tls = (fl_tls_settings){0};
    options->child = (fl_child_settings){0};
    options->http.sse_path = options->http.messages_path = NULL;
    options->http.allow_origins = options->http.allow_hosts = NULL;
    options->http.health_path = NULL;
    options->http.headers = NULL;
    options->http.allow_headers = options->http.expose_headers = NULL;
    options->http.base_url = NULL;
    options->http.keys = NULL;
    options->ws.path = NULL;
}

fl_status fl_http_hub_new(fl_loop *loop, const fl_address *address,
                          const fl_options *options, fl_http_hub **out,
                          fl_error *error)
{
    fl_http_hub *hub = fl_mem_alloc(sizeof *hub);
    fl_status rc = FL_E_NOMEM;

    *out = NULL;
    if (hub == NULL)
        return fl_error_set(error, rc, "%s", fl_status_text(rc));
    fill(hub, loop, address, options);
    rc = name_paths(hub, address);
    if (rc == FL_OK)
        rc = name_base(hub);
    if (rc == FL_OK)
        rc = fl_http_door_prepare(hub);
    if (rc == FL_OK)
        rc = fl_ws_server_prepare(hub);
    if (rc == FL_OK)
        rc = make_guards(hub, address);
    if (rc == FL_OK)
        rc = make_store(hub);
    if (rc == FL_OK)
        rc = prepare_all(hub);
    if (rc != FL_OK) {
        fl_http_hub_unref(hub);
        return fl_error_set(error, rc, "%s", fl_status_text(rc));
    }
    fl_http_keys_begin(hub, options->http.keys);
    forget_borrowed(&hub->options);
    *out = hub;
    return FL_OK;
}

/* RFC 9110 5.6.7, in English whatever the locale. */
static void write_date(char out[DATE_SIZE], time_t now)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm tm;

    gmtime_r(&now, &tm);
    snprintf(out, DATE_SIZE, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT",
             days + (size_t)tm.tm_wday * 3, (unsigned)tm.tm_mday % 100,
             months + (size_t)tm.tm_mon * 3,
             (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)tm.tm_hour % 100,
             (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
}

/* The date is the last of them. */
static void set_date(fl_fields *set, fl_span date)
{
    fl_fields_replace(set, set->count - 1, date);
}

void fl_http_hub_tick(fl_http_hub *hub)
{
    uint64_t second = fl_loop_now(hub->loop) / 1000 + 1;
    char date[DATE_SIZE];

    if (second == hub->second)
        return;
    hub->second = second;
    write_date(date, time(NULL));
    set_date(&hub->json_fields, fl_span_of(date));
    set_date(&hub->empty_fields, fl_span_of(date));
    set_date(&hub->stream_fields, fl_span_of(date));
}

fl_status fl_http_hub_join(fl_http_hub *hub, const fl_span *parts, size_t count,
                           fl_span *whole)
{
    fl_buf_truncate(&hub->text, 0);
    fl_status rc = fl_buf_append_all(&hub->text, parts, count);
    *whole = fl_buf_view(&hub->text);
    return rc;
}

fl_status fl_http_hub_mint(char id[FL_HTTP_ID])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char random[FL_HTTP_ID];
    fl_status rc = fl_random_bytes(random, sizeof random);

    for (size_t i = 0; rc == FL_OK && i < sizeof random; i++)
        id[i] = letters[random[i] % 64];
    return rc;
}

fl_http_caller *fl_http_hub_caller(fl_http_hub *hub, const char *address)
{
    char owner[FL_ADDRESSES_OWNER];
    fl_span key = fl_addresses_owner(address, owner);
    fl_http_caller *caller = fl_map_get(&hub->callers, key);

    if (caller != NULL)
        return caller;
    caller = fl_mem_zalloc(sizeof *caller);
    if (caller == NULL)
        return NULL;
    caller->hub = hub;
    snprintf(caller->name, sizeof caller->name, "%s", address);
    if (fl_map_add(&hub->callers, key, caller) != FL_OK) {
        fl_mem_free(caller);
        return NULL;
    }
    return caller;
}

void fl_http_hub_let_go(fl_http_hub *hub, fl_http_caller *caller)
{
    char owner[FL_ADDRESSES_OWNER];

    if (caller->connections > 0 || caller->sessions > 0 || caller->named > 0)
        return;
    fl_map_remove(&hub->callers, fl_addresses_owner(caller->name, owner));
    fl_mem_free(caller);
}
