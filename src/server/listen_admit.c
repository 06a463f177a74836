/*
 * listen_admit.c - whether a subscriptions/listen is let in: its id, how many
 * there are, how much it would have us remember, and what it wants to hear.
 */
#include "server/listen.h"

#include "base/span.h"
#include "rpc/error.h"
#include "server/methods.h"
#include "server/tasks.h"

#include "json/nav.h"
#include <stdio.h>

static bool refuse_busy(const fl_return *to, const fl_msg *msg, const char *why,
                        unsigned limit)
{
    char data[48];
    int n = snprintf(data, sizeof data, "{\"limit\":%u}", limit);

    fl_return_error(to, msg->id, FL_RPC_BUSY, fl_span_of(why),
                    (fl_span){data, (size_t)n});
    return false;
}

/* `kept` is what it will have us remember. */
static bool has_room(const fl_return *to, const fl_msg *msg, size_t kept)
{
    const fl_session *session = to->session;
    unsigned max = session->max_in_flight;

    if ((session->traits & FL_LINK_STATELESS) == 0 && max > FL_LISTEN_MAX)
        max = FL_LISTEN_MAX;
    if (session->listens != NULL && session->listens->count >= max)
        return refuse_busy(to, msg, "too many subscriptions", max);
    if (session->kept > 0 && session->kept + kept > FL_SESSION_KEPT_MAX)
        return refuse_busy(to, msg,
                           "the requests in flight are too large together",
                           FL_SESSION_KEPT_MAX);
    return true;
}

static bool may_hear(const fl_return *to, const fl_msg *msg, fl_span filter)
{
    const char *wrong = fl_listen_check(filter);

    if (wrong != NULL) {
        fl_methods_refuse(to, msg, wrong);
        return false;
    }
    if (fl_json_get(filter, FL_SPAN(FL_LISTEN_TASKS)).len == 0 ||
        fl_jobs_declared(msg->inner.claim.client_capabilities))
        return true;
    fl_return_error(to, msg->id, FL_RPC_MISSING_CAPABILITY, (fl_span){0},
                    fl_job_requirement());
    return false;
}

bool fl_listen_admit(const fl_return *to, const fl_msg *msg, fl_span filter)
{
    fl_span uris = fl_json_get(filter, FL_SPAN(FL_LISTEN_RESOURCES));

    return fl_methods_admit(to, msg) && has_room(to, msg, uris.len) &&
           may_hear(to, msg, filter);
}
