/*
 * call_client.c - who sent a call, and what that one can do.
 *
 * A modern request says so itself; of a legacy one the session knows it, from
 * its initialize.
 */
#include "server/call.h"

#include "base/span.h"
#include "rpc/carry.h"
#include "json/nav.h"

static fl_span told(const fl_call *call, fl_span claimed, fl_span key)
{
    if (!call->to.revision->legacy)
        return claimed;
    return fl_json_get(fl_introduction_text(call->to.session->client), key);
}

fl_span fl_call_capabilities(const fl_call *call)
{
    return told(call, call->msg->inner.claim.client_capabilities,
                FL_SPAN("capabilities"));
}

fl_span fl_call_client_info(const fl_call *call)
{
    return told(call, call->msg->inner.claim.client_info,
                FL_SPAN("clientInfo"));
}

const char *fl_call_revision(const fl_call *call)
{
    return call->to.revision->name;
}

static bool has(fl_span object, const char *key)
{
    return fl_json_type_of(fl_json_get(object, fl_span_of(key))) ==
           FL_JSON_OBJECT;
}

/* An empty object is how 2025-06-18 said what is now called form. */
static bool can_elicit(const fl_call *call, const char *mode)
{
    fl_span all = fl_call_capabilities(call);
    fl_span elicitation = fl_json_get(all, FL_SPAN("elicitation"));

    if (!has(all, "elicitation") ||
        !fl_revision_has(call->to.revision, FL_HAS_ELICITATION))
        return false;
    if (mode[0] == 'u')
        return has(elicitation, "url") &&
               fl_revision_has(call->to.revision, FL_HAS_URL_ELICITATION);
    return has(elicitation, "form") || !has(elicitation, "url");
}

bool fl_call_is_carried(const fl_call *call)
{
    return has(fl_json_get(fl_call_capabilities(call), FL_SPAN("experimental")),
               FL_CARRY);
}

bool fl_call_client_can(const fl_call *call, fl_ability what)
{
    fl_span all = fl_call_capabilities(call);

    switch (what) {
    case FL_CAN_ELICIT_FORM:
        return can_elicit(call, "form");
    case FL_CAN_ELICIT_URL:
        return can_elicit(call, "url");
    case FL_CAN_SAMPLE:
        return has(all, "sampling");
    case FL_CAN_SAMPLE_WITH_TOOLS:
        return has(fl_json_get(all, FL_SPAN("sampling")), "tools");
    case FL_CAN_LIST_ROOTS:
        return has(all, "roots");
    case FL_CAN_HOLD_TASKS:
        return fl_jobs_possible(call);
    }
    return false;
}
