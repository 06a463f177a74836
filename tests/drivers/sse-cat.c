/*
 * sse-cat.c - sse-cat URL: our SSE client by the WHATWG rules, one JSON object
 * per event: {"event","data","id"}.
 *
 * A stream that ends or breaks is asked for again, after the time the server
 * wanted (3000 ms), with the last event's id. A 204 ends it well (exit 0);
 * any other status than 200, or another type than text/event-stream, ends it
 * badly (exit 1).
 */
#include "base/span.h"
#include "io/loop.h"
#include "io/tls.h"
#include "transport/http_flight.h"
#include "json/write.h"

#include <stdio.h>
#include <string.h>

enum {
    EVENT_MAX = 16 * 1024 * 1024,
    RETRY_MS = 3000,
    USAGE = 2,
};

static struct cat {
    fl_loop *loop;
    fl_http_site site;
    fl_flight flight;
    fl_timer again;
    fl_buf line;
    fl_span target;
    int code;
    bool gone;
} cat;

static void leave(int code)
{
    cat.code = code;
    fl_flight_deinit(&cat.flight);
    fl_http_pool_close(cat.site.pool);
}

static void wait(void)
{
    uint64_t asked = cat.flight.sse.retry_ms;

    fl_timer_start(&cat.again, asked != UINT64_MAX ? asked : RETRY_MS);
}

static void ask(fl_timer *timer)
{
    fl_span last = fl_buf_view(&cat.flight.sse.last_id);
    bool may_say = last.len > 0 && fl_field_value_ok(last);
    const fl_field fields[] = {
        FL_FIELD_SET(ACCEPT, FL_SPAN("text/event-stream")),
        FL_FIELD_SET(CACHE_CONTROL, FL_SPAN("no-cache")),
        FL_FIELD_SET(LAST_EVENT_ID, last),
    };

    (void)timer;
    if (fl_flight_start(&cat.flight,
                        &(fl_flight_request){.method = FL_SPAN("GET"),
                                             .target = cat.target,
                                             .fields = fields,
                                             .count = may_say ? 3 : 2,
                                             .urgent = true}) != FL_OK)
        wait();
}

static void on_event(fl_flight *flight, const fl_sse_event *event)
{
    fl_json_writer writer;

    (void)flight;
    fl_buf_truncate(&cat.line, 0);
    fl_json_writer_init(&writer, &cat.line);
    fl_json_object(&writer);
    fl_json_key(&writer, "event");
    fl_json_text(&writer, event->type);
    fl_json_key(&writer, "data");
    fl_json_text(&writer, event->data);
    fl_json_key(&writer, "id");
    fl_json_text(&writer, event->id);
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) != FL_OK)
        return;
    fl_span line = fl_buf_view(&cat.line);
    fwrite(line.ptr, 1, line.len, stdout);
    fputc('\n', stdout);
    fflush(stdout);
}

static void on_done(fl_flight *flight, const fl_flight_outcome *outcome)
{
    (void)flight;
    if (outcome->streamed || outcome->status == 0) {
        wait();
        return;
    }
    if (outcome->status != 204)
        fprintf(stderr, "sse-cat: HTTP %u%s%s\n", outcome->status,
                outcome->why != NULL ? ", " : "",
                outcome->why != NULL ? outcome->why->text : "");
    leave(outcome->status == 204 ? 0 : 1);
}

static const fl_flight_events events = {
    .on_event = on_event,
    .on_done = on_done,
};

static void on_room(void *user)
{
    (void)user;
}

static void on_gone(void *user)
{
    (void)user;
    cat.gone = true;
}

static fl_status open_pool(const char *host, fl_tls *tls)
{
    return fl_http_pool_new(
        cat.loop,
        &(fl_http_pool_options){
            .connect = {.host = host, .port = cat.site.url.port, .tls = tls},
            .version = tls != NULL ? 0 : 11,
            .keep = 1,
            .overflow = 1,
            .on_room = on_room,
            .on_gone = on_gone,
        },
        &cat.site.pool);
}

static void run(void)
{
    fl_timer_init(&cat.again, cat.loop, ask);
    fl_flight_init(&cat.flight, &cat.site, &events);
    cat.flight.follows_all = true;
    ask(NULL);
    while (!cat.gone)
        fl_loop_run(cat.loop);
    fl_http_pool_free(cat.site.pool);
    fl_buf_reset(&cat.line);
}

int main(int argc, char **argv)
{
    static const char *const alpn[] = {"h2", "http/1.1", NULL};
    char authority[512], target[4096], host[256];
    fl_fields none = {0};
    fl_tls *tls = NULL;
    fl_error error;
    fl_url url;

    if (argc != 2 || fl_url_parse(fl_span_of(argv[1]), &url) != FL_OK) {
        fprintf(stderr, "usage: sse-cat http[s]://HOST[:PORT][/PATH]\n");
        return USAGE;
    }
    if (strncmp(argv[1], "https:", 6) == 0 &&
        fl_tls_new_client(&(fl_tls_options){.alpn = alpn}, &tls, &error) !=
            FL_OK) {
        fprintf(stderr, "sse-cat: %s\n", error.text);
        return USAGE;
    }
    snprintf(host, sizeof host, "%.*s", (int)url.host.len, url.host.ptr);
    snprintf(authority, sizeof authority, "%s%s%s:%u", url.is_ipv6 ? "[" : "",
             host, url.is_ipv6 ? "]" : "", url.port);
    snprintf(target, sizeof target, "%.*s%s%.*s",
             (int)(url.path.len > 0 ? url.path.len : 1),
             url.path.len > 0 ? url.path.ptr : "/",
             url.query.len > 0 ? "?" : "", (int)url.query.len,
             url.query.len > 0 ? url.query.ptr : "");
    cat = (struct cat){.loop = fl_loop_new(), .target = fl_span_of(target)};
    cat.site = (fl_http_site){.loop = cat.loop,
                              .url = url,
                              .authority = fl_span_of(authority),
                              .fields = &none,
                              .max_body = EVENT_MAX};
    fl_buf_init(&cat.line, 4 * (size_t)EVENT_MAX);
    if (cat.loop == NULL || open_pool(host, tls) != FL_OK)
        return USAGE;
    run();
    fl_loop_free(cat.loop);
    fl_tls_unref(tls);
    return cat.code;
}
