/*
 * claim.c - what a request of the modern era says about itself.
 *
 * Every request of every era passes through here, and most of those there are
 * today make no claim. So a word that every claim has in it is looked for
 * first, as bytes, anywhere in params: no hit, no claim. Only a hit is worth
 * finding one's way to params._meta, for the same bytes may as well be in an
 * argument.
 */
#include "rpc/claim.h"

#include "base/span.h"
#include "json/nav.h"

#include <string.h>

#define WORD "modelcontextprotocol"
#define PREFIX "io." WORD "/"

static bool takes_part(const fl_msg *msg)
{
    return msg->kind == FL_MSG_REQUEST || msg->kind == FL_MSG_NOTIFICATION;
}

static bool mentions(fl_span text, fl_span name)
{
    return text.len >= name.len &&
           memmem(text.ptr, text.len, name.ptr, name.len) != NULL;
}

/* Where the value of this key of _meta goes; NULL if it is not ours. */
static fl_span *place_of(fl_claim *claim, fl_span key)
{
    /* as a string again, quotes and all, to be compared by its meaning */
    fl_span name = {key.ptr - 1, key.len + 2};

    if (!mentions(key, FL_SPAN(WORD)))
        return NULL;
    if (fl_json_string_is(name, FL_SPAN(PREFIX "protocolVersion")))
        return &claim->version;
    if (fl_json_string_is(name, FL_SPAN(PREFIX "clientCapabilities")))
        return &claim->client_capabilities;
    if (fl_json_string_is(name, FL_SPAN(PREFIX "clientInfo")))
        return &claim->client_info;
    if (fl_json_string_is(name, FL_SPAN(PREFIX "logLevel")))
        return &claim->log_level;
    return NULL;
}

void fl_claim_read_meta(fl_span meta, fl_claim *claim)
{
    fl_json_walk walk;
    fl_json_member member;

    *claim = (fl_claim){0};
    if (!mentions(meta, FL_SPAN(WORD)) ||
        fl_json_type_of(meta) != FL_JSON_OBJECT)
        return;
    fl_json_walk_init(&walk, meta);
    while (fl_json_walk_next(&walk, &member)) {
        fl_span *place = place_of(claim, member.key);
        if (place != NULL)
            *place = member.value;
    }
    if (claim->version.len > 0)
        claim->present = true;
    else
        *claim = (fl_claim){0};
}

void fl_claim_read(const fl_msg *msg, fl_claim *claim)
{
    *claim = (fl_claim){0};
    if (takes_part(msg) && mentions(msg->params, FL_SPAN(WORD)))
        fl_claim_read_meta(fl_json_get(msg->params, FL_SPAN("_meta")), claim);
}
