/*
 * client_agree.c - which era and revision a server is of, found out.
 *
 *   PROBE    server/discover, in the newest revision      -> modern, or:
 *   INIT     initialize                                   -> legacy
 *   RACE     the probe found silence: both are asked
 *
 * Legacy servers take the probe, which they do not know, in all manners: they
 * answer with an error (then INIT), stay silent (RACE), or leave. One that
 * leaves is opened again, once, and asked without a probe. Where requests have
 * streams of their own an error may be HTTP's: being kept out or out of order
 * is no sign of an era, and the latter is waited for.
 *
 * In a race a server that knows both eras, and was slow to start, answers the
 * probe as a modern one and is then opened by initialize: from there on it
 * speaks as a legacy one. So a late answer to the probe counts only if
 * initialize is refused, or not answered.
 *
 * What is remembered of all this, and for how long, is client_verdict.c's.
 */
#include "client/client.h"

#include "base/span.h"
#include "base/status.h"
#include "client/client_steps.h"
#include "client/era.h"
#include "io/loop.h"

#include <stdio.h>

enum {
    SILENCE_MS = 2000,
    BACKOFF_FIRST_MS = 1000,
    BACKOFF_MAX_MS = 60000,
    SHOWN = 160, /* of what a peer said, in an error's text */
};

static void probe(fl_client *client, const fl_revision *revision);
static void initialize(fl_client *client, uint64_t timeout_ms);

static fl_error error_of(fl_status status, const char *what, fl_span detail)
{
    fl_error error;

    fl_error_set(&error, status, "%s%.*s", what,
                 (int)(detail.len < SHOWN ? detail.len : SHOWN),
                 detail.len > 0 ? detail.ptr : "");
    return error;
}

static void fail(fl_client *client, fl_status status, const char *what,
                 fl_span detail)
{
    fl_error why = error_of(status, what, detail);

    fl_client_give_up(client, &why);
}

void fl_client_agree_stop(fl_client *client)
{
    fl_timer_stop(&client->agreement.timer);
    fl_client_drop_own(client, &client->agreement.probe);
    fl_client_drop_own(client, &client->agreement.opener);
}

static void log_agreed(const fl_client *client, fl_era era)
{
    const char *label = client->target.options.label;
    fl_log_field revision =
        fl_log_text("revision", fl_span_of(client->revision->name));
    fl_log_field name = fl_log_text(
        "era", era == FL_ERA_MODERN ? FL_SPAN("modern") : FL_SPAN("legacy"));

    if (label != NULL)
        fl_log_say(fl_loop_log(client->loop), FL_LOG_INFO, "agreed",
                   fl_log_text("server", fl_span_of(label)), revision, name);
    else
        fl_log_say(fl_loop_log(client->loop), FL_LOG_INFO, "agreed", revision,
                   name);
}

/* Agreed. What the next agreement starts from is as if nothing had been. */
static void settle(fl_client *client, fl_era era)
{
    fl_agreement *agreement = &client->agreement;

    fl_client_agree_stop(client);
    if (agreement->verdict != era) {
        agreement->verdict = era;
        agreement->found_ms = fl_loop_now(client->loop);
    }
    agreement->made++;
    agreement->late = NULL;
    fl_buf_reset(&agreement->late_said);
    agreement->raced = agreement->without = agreement->renewed = false;
    agreement->doubted = agreement->repeated = false;
    fl_backoff_reset(&agreement->backoff);
    log_agreed(client, era);
    client->state = FL_CLIENT_READY;
    fl_client_cache_clear(&client->cache);
    fl_client_task_forget(client);
    fl_client_send_waiting(client);
    if (era == FL_ERA_MODERN)
        fl_client_listen(client);
    else
        fl_client_restore(client);
    if (client->events.on_ready != NULL)
        client->events.on_ready(client, client->user);
}

/* Not now: from the beginning, in a while. */
static void try_later(fl_client *client, const fl_error *why)
{
    fl_agreement *agreement = &client->agreement;
    uint64_t wait_ms;

    if (agreement->once ||
        fl_backoff_next(&agreement->backoff, &wait_ms) != FL_OK) {
        fl_client_give_up(client, why);
        return;
    }
    fl_log_say(fl_loop_log(client->loop), FL_LOG_INFO, "trying again",
               fl_log_text("reason", fl_span_of(why->text)),
               fl_log_int("wait_ms", (int64_t)wait_ms));
    fl_client_agree_stop(client);
    client->state = FL_CLIENT_OPENING;
    fl_timer_start(&agreement->timer, wait_ms);
}

/* HTTP's own words about a request that opens the conversation. */
static void judge_http(fl_client *client, fl_sign sign, const fl_answer *answer)
{
    const fl_error *blame = fl_link_blame(client->link);
    bool denied = sign == FL_SIGN_DENIED;
    int http = fl_era_http_status(answer->error);
    char what[64];

    snprintf(what, sizeof what, "the server %s: HTTP status %d, ",
             denied ? "does not let us in" : "is not available", http);
    fl_error why =
        error_of(denied ? FL_E_DENIED : FL_E_UNREACHABLE, what, answer->text);
    if (http == 0 && blame != NULL)
        why = *blame; /* it did not come to HTTP */
    /* what is not spoken there will not be in a while, either */
    if (denied || why.status == FL_E_UNSUPPORTED)
        fl_client_give_up(client, &why);
    else
        try_later(client, &why);
}

static void turn_away(fl_client *client, fl_span versions)
{
    const fl_agreement *agreement = &client->agreement;
    fl_error why;

    fl_era_explain(&why, versions, agreement->in,
                   agreement->wanted == FL_ERA_AUTO ? client->offered : NULL);
    fl_client_give_up(client, &why);
}

/* The probe says: legacy. Then that is what is tried, unless it has been. */
static void fall_back(fl_client *client, const fl_answer *answer,
                      fl_span versions)
{
    fl_agreement *agreement = &client->agreement;
    const fl_error *blame = fl_link_blame(client->link);

    agreement->verdict = FL_ERA_AUTO;
    if (agreement->wanted == FL_ERA_MODERN && versions.len > 0)
        turn_away(client, versions);
    else if (agreement->wanted == FL_ERA_MODERN && blame != NULL)
        fail(client, blame->status,
             "server/discover failed: ", fl_span_of(blame->text));
    else if (agreement->wanted == FL_ERA_MODERN)
        fail(client, FL_E_UNSUPPORTED,
             "the server does not speak 2026-07-28, only older revisions: ",
             answer->status == FL_OK ? FL_SPAN("it names none") : answer->text);
    else if (agreement->refusal.status != FL_OK)
        fl_client_give_up(client, &agreement->refusal);
    else if (agreement->opener == NULL)
        initialize(client, client->timeout_ms);
}

static void become_modern(fl_client *client, const fl_revision *revision,
                          fl_span result)
{
    fl_status rc = fl_client_keep_discovered(client, revision, result);

    if (rc != FL_OK)
        fail(client, rc, "", fl_span_of(fl_status_text(rc)));
    else
        settle(client, FL_ERA_MODERN);
}

/* It is modern, but may be about to become legacy. */
static void become_modern_later(fl_client *client, const fl_revision *revision,
                                fl_span result)
{
    fl_agreement *agreement = &client->agreement;

    fl_buf_reset(&agreement->late_said);
    fl_status rc = fl_buf_append(&agreement->late_said, result);
    if (rc != FL_OK) {
        fail(client, rc, "", fl_span_of(fl_status_text(rc)));
        return;
    }
    agreement->late = revision;
    fl_timer_start(&agreement->timer, SILENCE_MS);
}

static void become_modern_after_all(fl_client *client)
{
    fl_buf said = client->agreement.late_said;

    fl_buf_init(&client->agreement.late_said, said.max);
    become_modern(client, client->agreement.late, fl_buf_view(&said));
    fl_buf_reset(&said);
}

static void find_modern(fl_client *client, const fl_revision *revision,
                        fl_span result)
{
    if (client->agreement.opener != NULL)
        become_modern_later(client, revision, result);
    else
        become_modern(client, revision, result);
}

static void become_modern_unseen(fl_client *client, const fl_answer *answer)
{
    fl_log_say(fl_loop_log(client->loop), FL_LOG_WARN,
               "the server is modern but refused server/discover",
               fl_log_int("code", answer->code),
               fl_log_text("reason", answer->text));
    find_modern(client, client->agreement.in, (fl_span){0});
}

static void ask_in(fl_client *client, const fl_reading *reading)
{
    if (client->agreement.repeated) {
        turn_away(client, reading->versions);
        return;
    }
    client->agreement.repeated = true;
    probe(client, reading->revision);
}

static void judge(fl_client *client, const fl_answer *answer)
{
    int http = client->streams && answer->status != FL_OK
                   ? fl_era_http_status(answer->error)
                   : FL_HTTP_NONE;
    fl_reading reading = fl_era_read(answer, http);

    switch (reading.sign) {
    case FL_SIGN_MODERN:
        find_modern(client, reading.revision, answer->result);
        break;
    case FL_SIGN_MODERN_BARE:
        become_modern_unseen(client, answer);
        break;
    case FL_SIGN_REPEAT:
        ask_in(client, &reading);
        break;
    case FL_SIGN_STRANGER:
        turn_away(client, reading.versions);
        break;
    case FL_SIGN_LEGACY:
        fall_back(client, answer, reading.versions);
        break;
    case FL_SIGN_DENIED:
    case FL_SIGN_UNAVAILABLE:
        judge_http(client, reading.sign, answer);
        break;
    }
}

/* Nothing was answered. If the probe was too much for it, it may answer an
 * initialize that comes first: it gets one more chance. */
static void give_up_silence(fl_client *client, const char *what,
                            const fl_answer *answer)
{
    fl_agreement *agreement = &client->agreement;
    fl_error why = error_of(answer->status, what, answer->text);

    if (client->streams) {
        try_later(client, &why);
        return;
    }
    if (!agreement->raced || agreement->renewed) {
        fl_client_give_up(client, &why);
        return;
    }
    fl_client_agree_stop(client);
    agreement->without = true;
    client->state = FL_CLIENT_OPENING;
    fl_link_close(client->link);
}

static void on_discovered(fl_client *client, const fl_answer *answer,
                          void *user)
{
    fl_agreement *agreement = &client->agreement;

    (void)user;
    fl_client_own_ended(client, &agreement->probe);
    if (client->state != FL_CLIENT_AGREEING || answer->status == FL_E_CLOSED)
        return; /* the link tells the rest */
    fl_timer_stop(&agreement->timer);
    if (answer->status == FL_OK || answer->status == FL_E_REMOTE)
        judge(client, answer);
    else if (agreement->refusal.status != FL_OK)
        fl_client_give_up(client, &agreement->refusal);
    else if (agreement->opener == NULL)
        give_up_silence(client, "server/discover failed: ", answer);
}

static void probe(fl_client *client, const fl_revision *revision)
{
    fl_agreement *agreement = &client->agreement;

    if (client->link->state != FL_LINK_ACTIVE)
        return; /* it is on its way out, and will tell the rest */
    fl_status rc = fl_client_say_discover(client, revision, on_discovered);
    if (rc != FL_OK) {
        fail(client, rc,
             "cannot send server/discover: ", fl_span_of(fl_status_text(rc)));
        return;
    }
    bool races = agreement->wanted == FL_ERA_AUTO && !client->streams &&
                 agreement->verdict != FL_ERA_MODERN && !agreement->raced;
    if (races)
        fl_timer_start(&agreement->timer, client->timeout_ms / 2 < SILENCE_MS
                                              ? client->timeout_ms / 2
                                              : SILENCE_MS);
}

static const fl_revision *newest(void)
{
    return fl_revision_get(FL_REVISION_2026_07_28);
}

static void judge_refusal(fl_client *client, const fl_answer *answer)
{
    fl_agreement *agreement = &client->agreement;
    const fl_error *blame = fl_link_blame(client->link);
    int http =
        client->streams ? fl_era_http_status(answer->error) : FL_HTTP_NONE;
    fl_sign sign =
        http != FL_HTTP_NONE ? fl_era_read(answer, http).sign : FL_SIGN_LEGACY;

    if (sign == FL_SIGN_DENIED || sign == FL_SIGN_UNAVAILABLE) {
        judge_http(client, sign, answer);
    } else if (http == FL_HTTP_NONE &&
               fl_client_verdict_doubts(client, answer->code)) {
        probe(client, newest());
    } else {
        agreement->refusal =
            error_of(blame != NULL ? blame->status : answer->status,
                     "initialize failed: ", answer->text);
        if (agreement->probe == NULL)
            fl_client_give_up(client, &agreement->refusal);
    }
}

static void become_legacy(fl_client *client, fl_span result)
{
    fl_span note = FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":"
                           "\"notifications/initialized\"}");
    fl_error why;

    if (fl_client_keep_initialized(client, result, &why) != FL_OK)
        fl_client_give_up(client, &why);
    else if (fl_link_send(client->link, &note, 1) != FL_OK)
        fail(client, FL_E_CLOSED, "cannot finish initialize", (fl_span){0});
    else
        settle(client, FL_ERA_LEGACY);
}

static void on_initialized(fl_client *client, const fl_answer *answer,
                           void *user)
{
    (void)user;
    fl_client_own_ended(client, &client->agreement.opener);
    if (client->state != FL_CLIENT_AGREEING || answer->status == FL_E_CLOSED)
        return; /* the link tells the rest */
    if (answer->status == FL_OK)
        become_legacy(client, answer->result);
    else if (client->agreement.late != NULL)
        become_modern_after_all(client);
    else if (answer->status == FL_E_REMOTE)
        judge_refusal(client, answer);
    else if (client->agreement.probe == NULL)
        give_up_silence(client, "initialize failed: ", answer);
}

static void initialize(fl_client *client, uint64_t timeout_ms)
{
    if (client->link->state != FL_LINK_ACTIVE)
        return; /* it is on its way out, and will tell the rest */
    fl_status rc = fl_client_say_initialize(client, timeout_ms, on_initialized);
    if (rc != FL_OK)
        fail(client, rc,
             "cannot send initialize: ", fl_span_of(fl_status_text(rc)));
}

/* Silence after a probe, or time for another try. */
static void on_timer(fl_timer *timer)
{
    fl_client *client = FL_LIST_ENTRY(timer, fl_client, agreement.timer);
    fl_agreement *agreement = &client->agreement;

    if (client->state == FL_CLIENT_AGREEING && agreement->late != NULL) {
        become_modern_after_all(client);
    } else if (client->state == FL_CLIENT_AGREEING &&
               agreement->probe != NULL) {
        uint64_t spent =
            fl_loop_now(client->loop) - agreement->probe->started_ms;
        agreement->raced = true;
        initialize(client,
                   client->timeout_ms > spent ? client->timeout_ms - spent : 1);
    } else if (client->state == FL_CLIENT_OPENING &&
               client->link->state == FL_LINK_ACTIVE) {
        fl_client_agree(client);
    }
}

void fl_client_agree_init(fl_client *client, const fl_client_options *options)
{
    const fl_options *connection = &options->connection;

    client->agreement = (fl_agreement){
        .wanted = options->era,
        .verdict = options->verdict.era,
        .found_ms = fl_loop_now(client->loop) - options->verdict.age_ms,
        .once = connection->no_reconnect,
        .backoff =
            {
                .first_ms = connection->reconnect_first_ms > 0
                                ? connection->reconnect_first_ms
                                : BACKOFF_FIRST_MS,
                .max_ms = connection->reconnect_max_ms > 0
                              ? connection->reconnect_max_ms
                              : BACKOFF_MAX_MS,
                .attempts = connection->reconnect_attempts,
            },
    };
    fl_buf_init(&client->agreement.late_said, FL_CLIENT_SAID_MAX);
    fl_timer_init(&client->agreement.timer, client->loop, on_timer);
}

void fl_client_agree(fl_client *client)
{
    fl_agreement *agreement = &client->agreement;

    fl_client_agree_stop(client);
    client->state = FL_CLIENT_AGREEING;
    agreement->in = agreement->late = NULL;
    agreement->raced = agreement->repeated = false;
    agreement->refusal.status = FL_OK;
    if (fl_client_verdict_skips(client)) {
        initialize(client, client->timeout_ms);
    } else if (client->streams && fl_client_is_modern(client) &&
               agreement->verdict == FL_ERA_MODERN) {
        settle(client, FL_ERA_MODERN); /* no state of ours was there to lose */
    } else {
        probe(client, newest());
    }
}
