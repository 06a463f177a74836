/*
 * client_verdict.c - what a client remembers of its server's era, and when it
 * stops believing it.
 *
 * A legacy server is not probed again for a day; then it is, for it may have
 * been updated. A modern one is believed until it refuses what a modern one
 * would not: then the request that was refused waits, the server is probed
 * anew, and the request is sent once more. Only requests that are known not to
 * have run are: an HTTP status in place of an answer says so.
 *
 * On a channel an outage may mean another process, so that a modern server is
 * asked again who it is; but it is not taken for legacy because it is slow.
 */
#include "client/client.h"

#include "base/span.h"
#include "base/status.h"
#include "client/era.h"
#include "io/loop.h"
#include "rpc/error.h"

static const uint64_t LEGACY_LASTS_MS = UINT64_C(24) * 60 * 60 * 1000;

bool fl_client_verdict_skips(fl_client *client)
{
    fl_agreement *agreement = &client->agreement;
    uint64_t age = fl_loop_now(client->loop) - agreement->found_ms;

    if (agreement->verdict == FL_ERA_LEGACY && age >= LEGACY_LASTS_MS)
        agreement->verdict = FL_ERA_AUTO;
    return agreement->wanted == FL_ERA_LEGACY || agreement->without ||
           (agreement->wanted == FL_ERA_AUTO &&
            agreement->verdict == FL_ERA_LEGACY);
}

fl_verdict fl_client_verdict(const fl_client *client)
{
    const fl_agreement *agreement = &client->agreement;

    if (agreement->verdict == FL_ERA_AUTO)
        return (fl_verdict){0};
    return (fl_verdict){
        .era = agreement->verdict,
        .age_ms = fl_loop_now(client->loop) - agreement->found_ms,
    };
}

/* A server that was not probed does not want to be opened this way. */
bool fl_client_verdict_doubts(fl_client *client, int code)
{
    fl_agreement *agreement = &client->agreement;

    if (agreement->wanted != FL_ERA_AUTO || agreement->in != NULL ||
        agreement->doubted ||
        (code != FL_RPC_UNSUPPORTED_VERSION &&
         code != FL_RPC_METHOD_NOT_FOUND && code != FL_RPC_INVALID_PARAMS))
        return false;
    agreement->doubted = true;
    agreement->verdict = FL_ERA_AUTO;
    return true;
}

bool fl_client_verdict_lost(fl_client *client)
{
    fl_agreement *agreement = &client->agreement;

    /* whatever it said to the probe first, or to initialize after it */
    agreement->without = agreement->wanted == FL_ERA_AUTO && !client->streams &&
                         client->state == FL_CLIENT_AGREEING &&
                         agreement->in != NULL;
    return agreement->without;
}

bool fl_client_verdict_renews(fl_client *client, const fl_error *why)
{
    fl_agreement *agreement = &client->agreement;
    /* what could not even be started will not start the next time */
    bool left = why->status == FL_OK || why->status == FL_END ||
                why->status == FL_E_CHILD || why->status == FL_E_CLOSED ||
                why->status == FL_E_RESET || why->status == FL_E_IO;

    if (client->state == FL_CLIENT_CLOSING || agreement->renewed || !left ||
        !(agreement->without || fl_client_verdict_lost(client)))
        return false;
    fl_log_say(fl_loop_log(client->loop), FL_LOG_INFO,
               "the server did not bear server/discover; opening it again",
               fl_log_text("reason", fl_span_of(why->text)));
    fl_client_agree_stop(client);
    agreement->raced = false;
    agreement->renewed = agreement->without = true;
    client->state = FL_CLIENT_OPENING;
    return true;
}

void fl_client_doubt(fl_client *client)
{
    fl_agreement *agreement = &client->agreement;
    fl_error why;

    if (fl_client_is_modern(client))
        agreement->verdict = FL_ERA_AUTO;
    client->state = FL_CLIENT_OPENING;
    fl_client_listen_stop(client);
    fl_timer_start(&agreement->timer, 0); /* unless the link says so first */
    fl_error_set(&why, FL_E_CLOSED, "the server has forgotten the session");
    if (client->lane != NULL)
        client->lane->on_down(client->user, &why);
}

bool fl_client_take_back(fl_client *client, fl_request *request, fl_span error)
{
    fl_agreement *agreement = &client->agreement;
    int http = client->streams ? fl_era_http_status(error) : FL_HTTP_NONE;
    bool void_now = request->claims ? fl_era_is_doubt(http) : http == 404;

    if (!void_now || request->own || request->taken_back ||
        (request->claims && agreement->wanted == FL_ERA_MODERN))
        return false;
    request->taken_back = true;
    request->sent = false;
    if (client->state != FL_CLIENT_READY)
        return true;
    if (request->sent_in != agreement->made) { /* news of the one before */
        fl_client_send_waiting(client);
        return true;
    }
    fl_client_doubt(client);
    return true;
}
