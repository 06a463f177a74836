/*
 * claim.c - what a request of the modern era says about itself.
 *
 * All keys of a claim begin alike, and their ends are of different lengths. So
 * a key in its usual spelling is found by two comparisons. In an odd one the
 * longest word, at least, must be as it is: what makes a request modern
 * should be there for everybody to see.
 */
#include "rpc/claim.h"

#include "base/span.h"
#include "json/nav.h"

#include <string.h>

#define WORD "modelcontextprotocol"
#define PREFIX "io." WORD "/"

static bool mentions(fl_span text, fl_span name)
{
    return text.len >= name.len &&
           memmem(text.ptr, text.len, name.ptr, name.len) != NULL;
}

static fl_span *place_of(fl_claim *claim, fl_span name)
{
    if (fl_span_equal(name, FL_SPAN("protocolVersion")))
        return &claim->version;
    if (fl_span_equal(name, FL_SPAN("clientCapabilities")))
        return &claim->client_capabilities;
    if (fl_span_equal(name, FL_SPAN("clientInfo")))
        return &claim->client_info;
    if (fl_span_equal(name, FL_SPAN("logLevel")))
        return &claim->log_level;
    return NULL;
}

static fl_span *place_of_escaped(fl_claim *claim, fl_span key)
{
    /* as a string again, quotes and all, to be compared by its meaning */
    fl_span name = {key.ptr - 1, key.len + 2};

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

bool fl_claim_note(fl_claim *claim, const fl_json_member *member)
{
    fl_span key = member->key, prefix = FL_SPAN(PREFIX), *place = NULL;

    if (fl_span_starts(key, prefix))
        place = place_of(claim, fl_span_from(key, prefix.len));
    if (place == NULL && key.len > prefix.len &&
        fl_span_find(key, '\\') < key.len && mentions(key, FL_SPAN(WORD)))
        place = place_of_escaped(claim, key);
    if (place != NULL)
        *place = member->value;
    return place != NULL;
}

void fl_claim_end(fl_claim *claim)
{
    claim->present = claim->version.len > 0;
    if (!claim->present)
        *claim = (fl_claim){0};
}
