/*
 * probe.c - finding out whether a server is there before somebody needs it.
 *
 * There is one timer for each replica: it runs to the next probe, or to the
 * end of the time of the one that is under way. Whose turn it is, is whoever
 * has been silent for longest.
 */
#include "gateway/probe.h"

#include "base/span.h"
#include "base/status.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"

#include <fairlead/version.h>

#include <stdio.h>

enum { INTERVAL_MS = 30000, PATIENCE_MS = 5000, PARAMS = 512 };

#define META "io.modelcontextprotocol/"
#define US "{\"name\":\"fairlead\",\"version\":\"" FL_VERSION "\"}"

static fl_loop *loop_of(const fl_replica *replica)
{
    return replica->route->gateway->loop;
}

/* Somebody wants even those to be looked after that nobody uses. */
static bool is_wanted(const fl_replica *replica)
{
    uint64_t said = replica->route->upstream.health_ms;

    return said > 0 && said != FL_NEVER;
}

static uint64_t interval_of(const fl_replica *replica)
{
    uint64_t said = replica->route->upstream.health_ms;

    if (said > 0)
        return said;
    return fl_replica_is_child(replica) ? FL_NEVER : INTERVAL_MS;
}

static bool is_doubted(const fl_replica *replica)
{
    return replica->health.doubted ||
           replica->health.breaker.state != FL_BREAKER_CLOSED;
}

/* Whether it is worth being opened for nobody. */
static bool may_open(const fl_replica *replica)
{
    bool others = replica->route->replica_count > 1;

    return !fl_replica_is_child(replica) &&
           (is_wanted(replica) || (others && is_doubted(replica)));
}

static bool is_busy(const fl_back *back)
{
    return !fl_list_empty(&back->sent) || !fl_list_empty(&back->waiting);
}

/* At an address all conversations are with one server: an idle one need not be
 * asked if that is heard of on another. */
static uint64_t silence_of(const fl_back *back)
{
    const fl_replica *replica = back->replica;
    uint64_t last = back->heard_ms;

    if (!fl_replica_is_child(replica) && !is_busy(back) &&
        replica->health.heard_ms > last)
        last = replica->health.heard_ms;
    if (back->asked_ms > last)
        last = back->asked_ms;
    return fl_loop_now(loop_of(replica)) - last;
}

/* It has asked a client, and it is for him to speak. */
static bool is_waiting(const fl_back *back)
{
    return !fl_list_empty(&back->parked) || !fl_list_empty(&back->questions);
}

/* One that nobody is on is not kept from its end by our questions. */
static bool may_ask(const fl_back *back)
{
    return back->leans > 0 && !back->closing && fl_back_is_ready(back) &&
           !is_waiting(back);
}

/* Whoever is to be asked next. NULL: nobody. */
static fl_back *find_silent(const fl_replica *replica)
{
    const fl_route *route = replica->route;
    fl_back *found = NULL;

    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next) {
        fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        if (back->replica == replica && may_ask(back) &&
            (found == NULL || silence_of(back) > silence_of(found)))
            found = back;
    }
    return found;
}

/* Until somebody will have been silent for the interval. */
static uint64_t due_in(const fl_replica *replica, uint64_t interval)
{
    const fl_back *back = find_silent(replica);
    uint64_t silent = back != NULL ? silence_of(back) : 0;

    return silent < interval ? interval - silent : 0;
}

/* Of whoever is asked next, or if nothing is open of the server. */
static uint64_t silence_at(const fl_replica *replica)
{
    const fl_back *back = find_silent(replica);

    return back != NULL
               ? silence_of(back)
               : fl_loop_now(loop_of(replica)) - replica->health.heard_ms;
}

static void schedule(fl_replica *replica)
{
    fl_probe *probe = &replica->health.probe;
    uint64_t interval = interval_of(replica);
    uint64_t wait_ms;

    if (!probe->open || (probe->hurried && is_doubted(replica)))
        return; /* many failures do not put it off */
    probe->hurried = is_doubted(replica) && may_open(replica) &&
                     fl_backoff_next(&probe->backoff, &wait_ms) == FL_OK;
    if (probe->hurried)
        fl_timer_start(&probe->timer, wait_ms);
    else if (interval != FL_NEVER)
        fl_timer_start(&probe->timer, due_in(replica, interval));
    else
        fl_timer_stop(&probe->timer);
}

static void complain(const fl_replica *replica, const fl_error *why)
{
    fl_log_say(fl_loop_log(loop_of(replica)), FL_LOG_WARN,
               "the server did not pass a health check",
               fl_log_text("server", fl_span_of(replica->route->name)),
               fl_log_text("replica", fl_span_of(replica->label)),
               fl_log_text("reason", fl_span_of(why->text)));
}

static void fail(fl_replica *replica, const fl_error *why)
{
    complain(replica, why);
    fl_health_lost(replica, why);
}

/* Its client has it at work, or it is a process that nobody else has. */
static bool is_its_own(const fl_back *back)
{
    return fl_back_is_private(back) &&
           (is_busy(back) || fl_replica_is_child(back->replica));
}

/* It was asked in vain. One to which that has happened so often that a breaker
 * would open is closed, whatever it has in flight, and opened anew. */
static void count_silence(fl_back *back, const fl_error *why)
{
    fl_replica *replica = back->replica;

    back->asked_ms = fl_loop_now(loop_of(replica));
    back->vain++;
    complain(replica, why);
    if (is_its_own(back)) {
        fl_health_lost_one(replica, why);
    } else {
        replica->health.mute = true;
        fl_health_lost(replica, why);
    }
    if (back->vain >= replica->route->upstream.breaker_failures)
        fl_back_move(back, why);
}

/* What the transport made up is no word of the server's. */
static void on_answered(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_replica *replica = user;
    fl_probe *probe = &replica->health.probe;
    fl_back *back = probe->back; /* it is there while there is a word */
    const fl_error *blame = msg != NULL && back->lane != NULL
                                ? fl_link_blame(fl_lane_link(back->lane))
                                : NULL;

    (void)why; /* the conversation has ended, and that was noted */
    probe->asked = NULL;
    if (blame != NULL) {
        back->asked_ms = fl_loop_now(loop_of(replica));
        fail(replica, blame);
    }
    schedule(replica);
}

static fl_status ask(fl_replica *replica, fl_back *back)
{
    fl_probe *probe = &replica->health.probe;
    char params[PARAMS] = "";
    int n = 0;

    probe->back = back;
    if (fl_back_is_modern(back))
        n = snprintf(params, sizeof params,
                     "{\"_meta\":{\"" META "protocolVersion\":\"%s\",\"" META
                     "clientInfo\":" US ",\"" META "clientCapabilities\":{}}}",
                     back->revision->name);
    fl_status rc = fl_back_ask(
        back, n > 0 ? FL_METHOD_DISCOVER : FL_METHOD_PING,
        (fl_span){params, (size_t)n}, on_answered, replica, &probe->asked);
    if (rc == FL_OK)
        probe->asked->standing = true; /* its time is ours to keep */
    return rc;
}

static void on_ready(void *user)
{
    fl_replica *replica = user;
    fl_probe *probe = &replica->health.probe;

    probe->up = true;
    replica->verdict = fl_client_verdict(probe->lane);
    replica->verdict_ms = fl_loop_now(loop_of(replica));
    fl_health_answered(replica);
    fl_client_close(probe->lane);
}

static void on_message(void *user, const fl_msg *msg, fl_reply reply)
{
    (void)user;
    (void)msg;
    (void)reply;
}

static void on_writable(void *user)
{
    (void)user;
}

static void on_down(void *user, const fl_error *why)
{
    fl_replica *replica = user;

    (void)why; /* it is told again at its end */
    fl_client_close(replica->health.probe.lane);
}

static void on_closed(void *user, const fl_error *why)
{
    fl_replica *replica = user;
    fl_probe *probe = &replica->health.probe;

    probe->lane = NULL;
    if (!probe->up)
        fail(replica, why);
    schedule(replica);
}

static const fl_lane_events lane_events = {
    .on_ready = on_ready,
    .on_message = on_message,
    .on_writable = on_writable,
    .on_down = on_down,
    .on_closed = on_closed,
};

static fl_status open_lane(fl_replica *replica)
{
    fl_probe *probe = &replica->health.probe;
    fl_client_options options = fl_replica_options(replica);
    fl_lane_hello hello = {
        .client_info = FL_SPAN(US),
        .capabilities = FL_SPAN("{}"),
        .modern_capabilities = FL_SPAN("{}"),
    };
    fl_error error;

    probe->up = false;
    probe->lane = fl_lane_open(loop_of(replica), replica->target.url, &options,
                               &hello, &lane_events, replica, &error);
    if (probe->lane != NULL)
        return FL_OK;
    fail(replica, &error);
    return error.status;
}

/* One that takes nothing in any more is not even to be asked. */
static fl_status ask_or_count(fl_replica *replica, fl_back *back)
{
    fl_status rc = ask(replica, back);
    fl_error why;

    if (rc == FL_OK)
        return rc;
    fl_error_set(&why, rc, "a health check cannot be sent: %s",
                 rc == FL_BUSY ? "the server does not read"
                               : fl_status_text(rc));
    if (rc == FL_BUSY)
        count_silence(back, &why);
    else
        back->asked_ms = fl_loop_now(loop_of(replica));
    return rc;
}

static void begin(fl_replica *replica)
{
    fl_probe *probe = &replica->health.probe;
    fl_back *silent = find_silent(replica);
    fl_status rc = FL_E_STATE;

    if (silent != NULL)
        rc = ask_or_count(replica, silent);
    else if (may_open(replica))
        rc = open_lane(replica);
    if (rc == FL_OK)
        fl_timer_start(&probe->timer, PATIENCE_MS);
    else
        schedule(replica);
}

static void drop(fl_probe *probe)
{
    fl_errand *asked = probe->asked;

    probe->asked = NULL;
    if (asked != NULL)
        fl_back_unask(asked);
    if (probe->lane != NULL)
        fl_lane_drop(probe->lane);
    probe->lane = NULL;
}

static void give_up(fl_replica *replica)
{
    fl_probe *probe = &replica->health.probe;
    fl_back *back = probe->asked != NULL ? probe->back : NULL;
    fl_error why;

    fl_error_set(&why, FL_E_TIMEOUT, "no answer to a health check within %d s",
                 PATIENCE_MS / 1000);
    drop(probe); /* who was the last to leave has not gone yet */
    if (back != NULL)
        count_silence(back, &why);
    else
        fail(replica, &why);
    schedule(replica);
}

static void on_timer(fl_timer *timer)
{
    fl_replica *replica = FL_LIST_ENTRY(timer, fl_replica, health.probe.timer);
    fl_probe *probe = &replica->health.probe;
    uint64_t interval = interval_of(replica);
    uint64_t silent = silence_at(replica);

    probe->hurried = false;
    if (probe->asked != NULL || (probe->lane != NULL && !probe->up))
        give_up(replica);
    else if (probe->lane != NULL)
        fl_timer_start(&probe->timer, PATIENCE_MS); /* it is being closed */
    else if (is_doubted(replica) || silent >= interval)
        begin(replica);
    else
        fl_timer_start(&probe->timer, interval - silent);
}

void fl_probe_open(fl_replica *replica)
{
    fl_probe *probe = &replica->health.probe;

    if (probe->open)
        return;
    fl_timer_init(&probe->timer, loop_of(replica), on_timer);
    probe->open = true;
    probe->backoff = (fl_backoff){
        .first_ms = fl_replica_backoff_first(replica),
        .max_ms = fl_replica_backoff_max(replica),
    };
    schedule(replica);
}

void fl_probe_close(fl_replica *replica)
{
    fl_probe *probe = &replica->health.probe;

    if (!probe->open)
        return;
    probe->open = probe->hurried = false;
    fl_timer_stop(&probe->timer);
    drop(probe);
}

void fl_probe_doubts(fl_replica *replica)
{
    const fl_probe *probe = &replica->health.probe;

    if (probe->asked == NULL && probe->lane == NULL)
        schedule(replica);
}

/* Who waits for a place to go to has one. */
void fl_probe_rests(fl_replica *replica)
{
    fl_probe *probe = &replica->health.probe;

    replica->health.mute = false;
    fl_backoff_reset(&probe->backoff);
    fl_probe_doubts(replica);
    fl_route_revive(replica->route);
}
