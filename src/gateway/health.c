/*
 * health.c - whether a server is worth asking.
 */
#include "gateway/health.h"

#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"

#include <inttypes.h>
#include <stdio.h>

/* A fl_error's text, and ours around it. */
enum { TEXT = sizeof(((fl_error *)0)->text) + 160 };

static uint64_t now_of(const fl_replica *replica)
{
    const fl_loop *loop = replica->route->gateway->loop;

    return loop != NULL ? fl_loop_now(loop) : 0; /* before it listens */
}

static void say(const fl_replica *replica, fl_log_level level, const char *what)
{
    fl_log_say(fl_loop_log(replica->route->gateway->loop), level, what,
               fl_log_text("server", fl_span_of(replica->route->name)),
               fl_log_text("replica", fl_span_of(replica->label)),
               fl_log_text("reason", fl_span_of(replica->health.why.text)));
}

bool fl_health_would(const fl_replica *replica, uint64_t *wait_ms)
{
    return fl_breaker_would(&replica->health.breaker, now_of(replica), wait_ms);
}

/* A command is not probed: it is as good as others once it may be tried
 * again. */
static bool is_forgiven(const fl_replica *replica)
{
    return fl_replica_is_child(replica) &&
           now_of(replica) - replica->health.failed_ms >=
               fl_replica_backoff_first(replica);
}

fl_standing_kind fl_health_of(const fl_replica *replica)
{
    const fl_health *health = &replica->health;
    uint64_t wait_ms;

    if (!fl_health_would(replica, &wait_ms))
        return FL_STANDS_BADLY;
    if (health->breaker.state != FL_BREAKER_CLOSED)
        return FL_STANDS_DOUBTED;
    return health->doubted && !is_forgiven(replica) ? FL_STANDS_DOUBTED
                                                    : FL_STANDS_WELL;
}

/* The one that will be asked first; NULL: one may be asked now. */
static const fl_replica *find_next(const fl_route *route, uint64_t *wait_ms)
{
    const fl_replica *first = NULL;
    uint64_t wait;

    *wait_ms = UINT64_MAX;
    for (fl_list *node = route->replicas.next; node != &route->replicas;
         node = node->next) {
        const fl_replica *replica = FL_LIST_ENTRY(node, fl_replica, node);
        if (fl_health_would(replica, &wait))
            return NULL;
        if (wait < *wait_ms) {
            *wait_ms = wait;
            first = replica;
        }
    }
    return first;
}

bool fl_health_has_hope(const fl_route *route)
{
    uint64_t wait_ms;

    return find_next(route, &wait_ms) == NULL;
}

/* Who has a child of his own that is there needs nobody's leave. */
static bool is_served(const fl_asker *asker)
{
    const fl_front *front = asker->front;

    return front != NULL && front->back != NULL && fl_back_stands(front->back);
}

bool fl_health_admits(const fl_route *route, const fl_asker *asker, fl_span id)
{
    uint64_t wait_ms;
    const fl_replica *next = find_next(route, &wait_ms);
    fl_asker told = *asker;
    char text[TEXT], data[64];

    if (next == NULL || is_served(asker))
        return true;
    uint64_t seconds = (wait_ms + 999) / 1000;
    snprintf(text, sizeof text,
             "Upstream unavailable: it failed %u times in a row, last with: "
             "%s; try again in %" PRIu64 " s",
             next->health.breaker.failures, next->health.why.text, seconds);
    int n =
        snprintf(data, sizeof data, "{\"retryAfter\":%" PRIu64 "}", seconds);
    told.retry_s = (unsigned)seconds;
    fl_asker_refuse(&told, id, FL_RPC_BUSY, fl_span_of(text),
                    (fl_span){data, (size_t)n});
    return false;
}

/* What is wrong with one request says nothing about the next. */
static bool is_its_own(fl_status status)
{
    return status == FL_E_TOO_BIG || status == FL_E_DENIED ||
           status == FL_E_NOMEM || status == FL_BUSY;
}

static void count(fl_replica *replica)
{
    fl_health *health = &replica->health;
    fl_breaker_state before = health->breaker.state;

    fl_breaker_fail(&health->breaker, now_of(replica));
    if (before == FL_BREAKER_OPEN || health->breaker.state != FL_BREAKER_OPEN)
        return;
    say(replica, FL_LOG_ERROR,
        "the server fails again and again; it is left alone for a while");
    fl_route_desert(replica);
}

static void note(fl_replica *replica, const fl_error *why)
{
    fl_health *health = &replica->health;

    health->why = *why;
    health->failures++;
    health->failed_ms = now_of(replica);
}

void fl_health_failed(fl_replica *replica, const fl_error *why)
{
    if (is_its_own(why->status))
        return;
    note(replica, why);
    count(replica);
    fl_probe_doubts(replica);
}

void fl_health_lost(fl_replica *replica, const fl_error *why)
{
    note(replica, why);
    replica->health.doubted = true;
    if (!is_its_own(why->status))
        count(replica);
    fl_probe_doubts(replica);
}

void fl_health_lost_one(fl_replica *replica, const fl_error *why)
{
    note(replica, why);
    replica->health.doubted = true;
    fl_probe_doubts(replica);
}

void fl_health_answered(fl_replica *replica)
{
    fl_health *health = &replica->health;
    bool news = health->breaker.state != FL_BREAKER_CLOSED || health->doubted;

    health->answers++;
    health->heard_ms = now_of(replica);
    if (health->breaker.state != FL_BREAKER_CLOSED)
        say(replica, FL_LOG_INFO, "the server answers again");
    fl_breaker_succeed(&health->breaker);
    health->doubted = false;
    if (news)
        fl_probe_rests(replica);
}

void fl_health_tried(fl_replica *replica)
{
    fl_breaker *breaker = &replica->health.breaker;
    uint64_t wait_ms;

    if (breaker->state != FL_BREAKER_CLOSED)
        (void)fl_breaker_allow(breaker, now_of(replica), &wait_ms);
}

void fl_health_opened(fl_replica *replica)
{
    fl_health *health = &replica->health;

    health->heard_ms = now_of(replica);
    if (health->breaker.state == FL_BREAKER_HALF) {
        fl_health_answered(replica);
        return;
    }
    fl_breaker_relent(&health->breaker);
    if (!health->doubted)
        return;
    health->doubted = false;
    fl_probe_rests(replica);
}

static unsigned length(const fl_list *list)
{
    unsigned n = 0;

    for (const fl_list *node = list->next; node != list; node = node->next)
        n++;
    return n;
}

static const char *state_of(const fl_replica *replica)
{
    static const char *const open[] = {"up", "down", "trial"};
    const fl_health *health = &replica->health;

    if (replica->leaving)
        return "leaving";
    if (health->breaker.state == FL_BREAKER_CLOSED && health->doubted)
        return "doubted";
    return open[health->breaker.state];
}

static fl_health_report describe(const fl_replica *replica)
{
    const fl_route *route = replica->route;
    const fl_health *health = &replica->health;
    fl_health_report report = {
        .replica = replica->label,
        .state = state_of(replica),
        .why = health->why.text,
        .weight = replica->standby           ? 0
                  : replica->turn.weight > 0 ? replica->turn.weight
                                             : 1,
        .answers = health->answers,
        .failures = health->failures,
        .heard_ms = health->heard_ms,
    };

    (void)fl_health_would(replica, &report.retry_ms);
    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next) {
        const fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        if (back->replica != replica)
            continue;
        report.conversations++;
        report.waiting += length(&back->waiting);
        report.in_flight += length(&back->sent);
    }
    return report;
}

size_t fl_route_health(const fl_route *route, fl_health_report *out,
                       size_t room)
{
    const fl_list *lists[] = {&route->replicas, &route->gone};
    size_t count = 0;

    for (size_t i = 0; i < 2; i++)
        for (fl_list *node = lists[i]->next; node != lists[i];
             node = node->next, count++)
            if (count < room)
                out[count] = describe(FL_LIST_ENTRY(node, fl_replica, node));
    return count;
}
