/*
 * report.c - what a gateway holds, as JSON: the gateway, and each server.
 *
 * Nothing is kept for it that the gateway would not need anyway, but for two
 * counts: how often a child was started again, and what went over links that
 * have gone since. All else is looked up when somebody asks.
 */
#include "gateway/report.h"

#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "transport/transport.h"
#include "json/nav.h"

#include <fairlead/version.h>

#include <unistd.h>

enum {
    TEXT_MAX = 64,
    ERROR_MAX = 256,
    CAPABILITIES_MAX = 16,
    SAID_MAX = 16 * 1024 * 1024,
};

bool fl_report_fits(fl_report *report)
{
    bool fits = fl_buf_len(report->out) <= FL_REPORT_MAX - FL_REPORT_ITEM;

    report->omitted += !fits;
    return fits;
}

void fl_report_number(fl_report *report, const char *key, uint64_t number)
{
    fl_json_key(&report->writer, key);
    fl_json_integer(&report->writer,
                    number < INT64_MAX ? (int64_t)number : INT64_MAX);
}

static void write_word(fl_report *report, const char *key, const char *word)
{
    fl_json_key(&report->writer, key);
    if (word != NULL)
        fl_json_string(&report->writer, word);
    else
        fl_json_null(&report->writer);
}

static void add_stats(fl_link_stats *to, const fl_link_stats *from)
{
    to->messages_in += from->messages_in;
    to->messages_out += from->messages_out;
    to->bytes_in += from->bytes_in;
    to->bytes_out += from->bytes_out;
    to->errors += from->errors;
}

void fl_report_keep(fl_back *back)
{
    const fl_link *link = back->lane != NULL ? fl_lane_link(back->lane) : NULL;

    if (link != NULL)
        add_stats(&back->route->past, &link->stats);
}

/* What one may walk over the backs of a route for. */
typedef struct tally {
    fl_link_stats stats;
    size_t parked;
    bool ready, down, any;
    const fl_revision *revision;
} tally;

static tally look_over(const fl_route *route)
{
    tally sum = {.stats = route->past};

    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next) {
        const fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        const fl_link *link =
            back->lane != NULL ? fl_lane_link(back->lane) : NULL;
        if (link != NULL)
            add_stats(&sum.stats, &link->stats);
        for (fl_list *at = back->parked.next; at != &back->parked;
             at = at->next)
            sum.parked++;
        sum.any = sum.any || !back->closing;
        sum.ready = sum.ready || (fl_back_is_ready(back) && !back->closing);
        sum.down = sum.down || (link == NULL && !back->closing);
        if (back->revision != NULL)
            sum.revision = back->revision;
    }
    return sum;
}

static const char *state_of(const fl_route *route, const tally *sum)
{
    if (!fl_route_is_open(route))
        return "ending";
    if (!fl_health_has_hope(route))
        return "unavailable";
    if (sum->ready)
        return "ready";
    if (sum->down)
        return "restarting";
    return sum->any ? "starting" : "idle";
}

/* Of several places, the one that was named first. */
static const fl_replica *first_of(const fl_route *route)
{
    return FL_LIST_ENTRY(route->replicas.next, fl_replica, node);
}

/* The child's command, or the address. */
static void write_target(fl_report *report, const fl_target *target)
{
    const char *url = target->url;
    const fl_transport *transport = NULL;
    fl_address address;

    if (url == NULL) {
        write_word(report, "kind", "stdio");
        fl_report_command(report, target->options.child.argv);
        return;
    }
    if (fl_address_parse(url, &address, NULL) == FL_OK)
        transport = fl_transport_find(fl_span_of(address.scheme));
    write_word(report, "kind", transport != NULL ? transport->name : NULL);
    fl_report_url(report, "url", url, 0);
}

/* What it says of itself, now or the last time it was there. */
static fl_span said_of(const fl_route *route)
{
    for (unsigned id = FL_REVISION_2026_07_28; id > FL_REVISION_UNKNOWN; id--) {
        const fl_hello *hello =
            fl_hellos_find(&route->hellos, fl_revision_get((fl_revision_id)id));
        if (hello != NULL)
            return fl_buf_view(&hello->said);
    }
    return (fl_span){0};
}

static void write_said(fl_report *report, const char *key, fl_span value)
{
    fl_buf text;

    fl_buf_init(&text, SAID_MAX);
    fl_status rc = fl_json_string_copy(value, &text);
    fl_report_text(report, key, rc == FL_OK ? fl_buf_view(&text) : (fl_span){0},
                   TEXT_MAX);
    fl_buf_reset(&text);
}

/* A modern server has its name in _meta. */
static fl_span info_of(fl_span said)
{
    fl_span info = fl_json_get(said, FL_SPAN("serverInfo"));

    return info.len > 0
               ? info
               : fl_json_get(fl_json_get(said, FL_SPAN("_meta")),
                             FL_SPAN("io.modelcontextprotocol/serverInfo"));
}

/* Who it is, and what it can do: names alone, and not too many. */
static void write_hello(fl_report *report, const fl_route *route)
{
    fl_json_writer *to = &report->writer;
    fl_span said = said_of(route), info = info_of(said);
    fl_json_member one;
    fl_json_walk walk;

    fl_json_key(to, "info");
    fl_json_object(to);
    write_said(report, "name", fl_json_get(info, FL_SPAN("name")));
    write_said(report, "version", fl_json_get(info, FL_SPAN("version")));
    fl_json_object_end(to);
    fl_json_key(to, "capabilities");
    fl_json_array(to);
    fl_json_walk_init(&walk, fl_json_get(said, FL_SPAN("capabilities")));
    for (unsigned n = 0;
         n < CAPABILITIES_MAX && fl_json_walk_next(&walk, &one);) {
        if (one.key.len == 0 || one.key.len > TEXT_MAX ||
            !fl_json_is_plain(one.key))
            continue;
        fl_json_text(to, one.key);
        n++;
    }
    fl_json_array_end(to);
}

static void write_health(fl_report *report, const fl_route *route)
{
    static const char *const states[] = {
        [FL_BREAKER_CLOSED] = "closed",
        [FL_BREAKER_OPEN] = "open",
        [FL_BREAKER_HALF] = "half-open",
    };
    const fl_health *health = &first_of(route)->health;
    const fl_breaker *breaker = &health->breaker;
    uint64_t until = breaker->since_ms + breaker->pause_ms;
    bool open = breaker->state == FL_BREAKER_OPEN;

    fl_json_key(&report->writer, "health");
    fl_json_object(&report->writer);
    write_word(report, "breaker", states[breaker->state]);
    fl_report_number(report, "failures", breaker->failed);
    if (open)
        fl_report_number(report, "retry_ms",
                         until > report->now_ms ? until - report->now_ms : 0);
    fl_report_text(report, "error", fl_span_of(health->why.text), ERROR_MAX);
    fl_json_object_end(&report->writer);
}

void fl_report_place(fl_report *report, const char *label)
{
    fl_address address;

    if (fl_address_parse(label, &address, NULL) == FL_OK)
        fl_report_url(report, "replica", label, 0);
    else
        fl_report_text(report, "replica", fl_span_of(label), ERROR_MAX);
}

static void write_replica(fl_report *report, const fl_health_report *replica)
{
    fl_json_object(&report->writer);
    fl_report_place(report, replica->replica);
    write_word(report, "state", replica->state);
    fl_report_number(report, "weight", replica->weight);
    fl_report_number(report, "in_flight", replica->in_flight);
    fl_report_number(report, "answers", replica->answers);
    fl_report_number(report, "failures", replica->failures);
    fl_report_number(report, "retry_ms", replica->retry_ms);
    fl_report_text(report, "error", fl_span_of(replica->why), ERROR_MAX);
    fl_json_object_end(&report->writer);
}

/* Only of a server that runs in several places. */
static void write_replicas(fl_report *report, const fl_route *route)
{
    fl_health_report all[FL_REPLICAS];

    if (route->replica_count < 2)
        return;
    size_t count = fl_route_health(route, all, FL_REPLICAS);
    fl_json_key(&report->writer, "replicas");
    fl_json_array(&report->writer);
    for (size_t i = 0; i < count && i < FL_REPLICAS; i++)
        if (fl_report_fits(report))
            write_replica(report, &all[i]);
    fl_json_array_end(&report->writer);
}

/* What stays open only to tell of changes is not counted. */
static size_t count_errands(const fl_front *front)
{
    size_t n = 0;

    for (fl_list *node = front->errands.next; node != &front->errands;
         node = node->next)
        n += FL_LIST_ENTRY(node, fl_errand, by_front)->method !=
             FL_METHOD_LISTEN;
    return n;
}

static void write_clients(fl_report *report, const fl_route *route,
                          size_t parked)
{
    size_t clients = 0, sessions = 0, waiting = parked;

    for (fl_list *node = route->fronts.next; node != &route->fronts;
         node = node->next) {
        const fl_front *front = FL_LIST_ENTRY(node, fl_front, node);
        clients++;
        sessions +=
            front->state == FL_FRONT_OPENED || front->state == FL_FRONT_READY;
        waiting += count_errands(front);
    }
    fl_report_number(report, "clients", clients);
    fl_report_number(report, "sessions", sessions);
    fl_report_number(report, "in_flight", waiting);
}

static void write_stats(fl_report *report, const fl_route *route,
                        const fl_link_stats *stats)
{
    fl_json_key(&report->writer, "statistics");
    fl_json_object(&report->writer);
    fl_report_number(report, "messages_in", stats->messages_in);
    fl_report_number(report, "messages_out", stats->messages_out);
    fl_report_number(report, "bytes_in", stats->bytes_in);
    fl_report_number(report, "bytes_out", stats->bytes_out);
    fl_report_number(report, "errors", stats->errors);
    fl_report_number(report, "logs_withheld", route->withheld);
    fl_report_number(report, "notifications_lost", route->unread);
    fl_json_object_end(&report->writer);
}

static void write_server(fl_report *report, const fl_route *route)
{
    static const char *const modes[] = {"auto", "shared", "session", "request"};
    static const char *const eras[] = {NULL, "legacy", "modern"};
    tally sum = look_over(route);

    fl_json_object(&report->writer);
    fl_report_text(report, "name", fl_span_of(route->name), TEXT_MAX);
    fl_json_key(&report->writer, "named");
    fl_json_bool(&report->writer, route->named);
    write_target(report, &first_of(route)->target);
    write_word(report, "state", state_of(route, &sum));
    write_word(report, "era", eras[first_of(route)->verdict.era]);
    write_word(report, "revision",
               sum.revision != NULL ? sum.revision->name : NULL);
    write_word(report, "mode", modes[route->upstream.child]);
    write_hello(report, route);
    write_health(report, route);
    write_replicas(report, route);
    write_clients(report, route, sum.parked);
    fl_report_number(report, "restarts", route->restarts);
    write_stats(report, route, &sum.stats);
    fl_report_children(report, route);
    fl_json_object_end(&report->writer);
}

static void write_servers(fl_report *report, const fl_list *routes)
{
    for (fl_list *node = routes->next; node != routes; node = node->next)
        if (fl_report_fits(report))
            write_server(report, FL_LIST_ENTRY(node, fl_route, node));
}

static void write_doors(fl_report *report, const fl_gateway *gateway)
{
    fl_json_key(&report->writer, "listen");
    fl_json_array(&report->writer);
    for (fl_list *node = gateway->doors.next; node != &gateway->doors;
         node = node->next) {
        const fl_gateway_door *door =
            FL_LIST_ENTRY(node, fl_gateway_door, node);
        if (fl_report_fits(report))
            fl_report_url(report, NULL, door->url, door->listener->port);
    }
    fl_json_array_end(&report->writer);
}

fl_status fl_gateway_report(const fl_gateway *gateway, fl_buf *out)
{
    fl_report report = {
        .out = out,
        .looks = FL_REPORT_LOOKS,
        .now_ms = gateway->loop != NULL ? fl_loop_now(gateway->loop) : 0,
    };
    bool open = gateway->closing == FL_GATEWAY_OPEN;

    fl_json_writer_init(&report.writer, out);
    fl_json_object(&report.writer);
    fl_report_number(&report, "pid", (uint64_t)getpid());
    write_word(&report, "version", FL_VERSION);
    write_word(&report, "state", open ? "open" : "ending");
    fl_report_number(&report, "uptime_ms", report.now_ms - gateway->opened_ms);
    write_doors(&report, gateway);
    fl_report_number(&report, "clients", gateway->fronts);
    fl_json_key(&report.writer, "servers");
    fl_json_array(&report.writer);
    write_servers(&report, &gateway->routes);
    write_servers(&report, &gateway->leaving);
    fl_json_array_end(&report.writer);
    fl_report_number(&report, "omitted", report.omitted);
    fl_json_object_end(&report.writer);
    return fl_json_writer_end(&report.writer);
}
