/*
 * flow_discover.c - finding out whom to ask for a token.
 *
 *   resource metadata -> which authorization server -> its metadata
 *
 * Nothing is trusted for having been fetched: a resource must be the server's
 * own, metadata must be of the issuer that was named, and endpoints must be
 * such that a secret can be sent there.
 *
 * MCP 2025-03-26 had no resource metadata: a server without them is its own
 * authorization server, with metadata at its root or none at all.
 */
#include "auth/auth_impl.h"

#include "auth/discover.h"
#include "base/span.h"
#include "base/status.h"

#include <string.h>

static void ask_prm(fl_authorizer *a);
static void ask_as(fl_authorizer *a);

static void get(fl_authorizer *a, fl_span url, fl_fetch_fn *fn)
{
    fl_flow_fetch(a, &(fl_fetch_request){.method = FL_SPAN("GET"), .url = url},
                  fn);
}

/* Nobody there at all: that is no answer of any kind. */
static bool is_lost(fl_authorizer *a, const fl_fetch_answer *answer,
                    const char *what)
{
    a->flow.fetch = NULL;
    if (answer->why == NULL)
        return false;
    fl_flow_fail(a, answer->why->status, "%s: %.150s", what, answer->why->text);
    return true;
}

static bool wants_dpop(const fl_authorizer *a)
{
    if (a->setup.dpop != FL_AUTH_DPOP_AUTO)
        return a->setup.dpop == FL_AUTH_DPOP_ON;
    return a->flow.challenge.dpop || a->flow.prm.dpop_required;
}

static bool lists(const fl_prm *prm, const char *issuer)
{
    for (size_t i = 0; i < prm->count; i++)
        if (issuer != NULL && strcmp(prm->issuers[i], issuer) == 0)
            return true;
    return false;
}

/* Which authorization server: the one our credentials are for, the one we
 * know, or the first. NULL: none will do. */
static const char *choose_issuer(fl_authorizer *a)
{
    const fl_prm *prm = &a->flow.prm;
    const char *known = a->record.text[FL_RECORD_ISSUER];

    if (a->setup.issuer != NULL)
        return lists(prm, a->setup.issuer) ? a->setup.issuer : NULL;
    return lists(prm, known) ? known : prm->issuers[0];
}

/* Who was registered by hand was registered at one server. */
static bool is_ours(fl_authorizer *a, fl_span issuer)
{
    fl_span known = fl_record_get(&a->record, FL_RECORD_ISSUER);
    const char *bound = a->setup.issuer != NULL ? a->setup.issuer : known.ptr;

    return a->setup.client_id == NULL || bound == NULL ||
           fl_span_equal(fl_span_of(bound), issuer);
}

static void go_on(fl_authorizer *a)
{
    const fl_as *as = &a->flow.as;
    fl_error why;

    if (as->token == NULL || *as->token == '\0') {
        fl_flow_fail(a, FL_E_REMOTE,
                     "the metadata of %.100s have no token_endpoint",
                     as->issuer);
        return;
    }
    if (!is_ours(a, fl_span_of(as->issuer))) {
        fl_flow_fail(a, FL_E_DENIED,
                     "client_id is not of authorization server %.100s, which "
                     "the server now names: register there and set it anew",
                     as->issuer);
        return;
    }
    if (fl_fetch_check(fl_span_of(as->token), a->plain, &why) != FL_OK) {
        fl_flow_end(a, &why);
        return;
    }
    a->use_dpop = wants_dpop(a);
    if (fl_record_bind(&a->record, fl_span_of(as->issuer)) != FL_OK ||
        fl_record_set(&a->record, FL_RECORD_ENDPOINT, fl_span_of(as->token)) !=
            FL_OK ||
        fl_record_set(&a->record, FL_RECORD_RESOURCE,
                      fl_span_of(a->flow.prm.resource)) != FL_OK) {
        fl_flow_fail(a, FL_E_NOMEM, "out of memory");
        return;
    }
    if (a->flow.reason == FL_FLOW_REFUSED &&
        a->record.text[FL_RECORD_REFRESH] != NULL)
        fl_flow_refresh(a);
    else
        fl_flow_identify(a);
}

static fl_span issuer_of(const fl_authorizer *a)
{
    return fl_span_of(a->flow.legacy ? a->origin : a->flow.as.issuer);
}

/* The metadata that were asked for, or the next place to look. */
static void on_as(void *user, const fl_fetch_answer *answer)
{
    fl_authorizer *a = user;
    fl_as found;
    fl_error why;

    if (is_lost(a, answer, "the authorization server's metadata"))
        return;
    fl_status rc = answer->status == 200 ? fl_as_read(answer->body, &found)
                                         : FL_E_BAD_JSON;
    if (rc == FL_E_NOMEM) {
        fl_flow_fail(a, rc, "out of memory");
        return;
    }
    if (rc != FL_OK) {
        a->flow.place++;
        ask_as(a);
        return;
    }
    if (a->flow.legacy && found.issuer == NULL)
        rc = fl_text_set(&found.issuer, issuer_of(a));
    else if (!a->flow.legacy ||
             !fl_discover_is_root(fl_span_of(found.issuer), issuer_of(a)))
        rc = fl_discover_check_as(&found, issuer_of(a), &why);
    if (rc == FL_E_NOMEM)
        fl_error_set(&why, rc, "out of memory");
    fl_as_deinit(rc == FL_OK ? &a->flow.as : &found);
    if (rc != FL_OK) {
        fl_flow_end(a, &why);
        return;
    }
    a->flow.as = found;
    go_on(a);
}

static void guess_as(fl_authorizer *a)
{
    fl_as guessed;

    if (fl_discover_guess(fl_span_of(a->server), &guessed) != FL_OK) {
        fl_flow_fail(a, FL_E_NOMEM, "out of memory");
        return;
    }
    fl_as_deinit(&a->flow.as);
    a->flow.as = guessed;
    go_on(a);
}

static void ask_as(fl_authorizer *a)
{
    fl_span issuer = issuer_of(a);
    fl_buf url;

    fl_buf_init(&url, FL_AUTH_URL_MAX);
    fl_status rc = fl_discover_as(issuer, a->flow.place, &url);
    if (rc == FL_OK)
        get(a, fl_buf_view(&url), on_as);
    else if (rc == FL_END && a->flow.legacy)
        guess_as(a);
    else if (rc == FL_END)
        fl_flow_fail(a, FL_E_NOT_FOUND,
                     "authorization server %.100s publishes no metadata",
                     issuer.ptr);
    else
        fl_flow_fail(a, rc, "'%.100s' cannot be an authorization server: %s",
                     issuer.ptr, fl_status_text(rc));
    fl_buf_reset(&url);
}

/* Judges the resource, and goes to the authorization server it names. */
static void use_prm(fl_authorizer *a)
{
    fl_prm *prm = &a->flow.prm;
    const char *issuer = choose_issuer(a);

    if (prm->resource == NULL ||
        !fl_discover_resource_fits(fl_span_of(prm->resource),
                                   fl_span_of(a->server))) {
        fl_flow_fail(a, FL_E_DENIED,
                     "the server's metadata are of another resource (%.80s) "
                     "than %.80s: no token is asked for",
                     prm->resource != NULL ? prm->resource : "none", a->server);
        return;
    }
    if (issuer == NULL && prm->count > 0) {
        fl_flow_fail(a, FL_E_DENIED,
                     "the server does not accept tokens of %.100s, which our "
                     "client_id is of",
                     a->setup.issuer);
        return;
    }
    if (issuer == NULL) {
        fl_flow_fail(a, FL_E_REMOTE,
                     "the server's metadata name no authorization server");
        return;
    }
    if (fl_text_set(&a->flow.as.issuer, fl_span_of(issuer)) != FL_OK) {
        fl_flow_fail(a, FL_E_NOMEM, "out of memory");
        return;
    }
    a->flow.place = 0;
    ask_as(a);
}

static void fall_back(fl_authorizer *a)
{
    a->flow.legacy = true;
    a->flow.place = 0;
    if (fl_text_set(&a->flow.prm.resource, fl_span_of(a->server)) != FL_OK)
        fl_flow_fail(a, FL_E_NOMEM, "out of memory");
    else
        ask_as(a);
}

static void on_prm(void *user, const fl_fetch_answer *answer)
{
    fl_authorizer *a = user;

    if (is_lost(a, answer, "the server's resource metadata"))
        return;
    fl_status rc = answer->status == 200
                       ? fl_prm_read(answer->body, &a->flow.prm)
                       : FL_E_BAD_JSON;
    if (rc == FL_OK) {
        use_prm(a);
    } else if (rc == FL_E_NOMEM) {
        fl_flow_fail(a, rc, "out of memory");
    } else if (a->flow.challenge.metadata != NULL) {
        fl_flow_fail(a, FL_E_REMOTE,
                     "the resource metadata at %.120s cannot be had: HTTP %u%s",
                     a->flow.challenge.metadata, answer->status,
                     answer->status == 200 ? ", but no JSON object" : "");
    } else {
        a->flow.place++;
        ask_prm(a);
    }
}

static void ask_prm(fl_authorizer *a)
{
    const char *named = a->flow.challenge.metadata;
    fl_buf url;

    if (named != NULL) {
        get(a, fl_span_of(named), on_prm);
        return;
    }
    fl_buf_init(&url, FL_AUTH_URL_MAX);
    fl_status rc = fl_discover_prm(fl_span_of(a->server), a->flow.place, &url);
    if (rc == FL_OK)
        get(a, fl_buf_view(&url), on_prm);
    else if (rc == FL_END)
        fall_back(a);
    else
        fl_flow_fail(a, rc, "%s", fl_status_text(rc));
    fl_buf_reset(&url);
}

void fl_flow_discover(fl_authorizer *a)
{
    ask_prm(a);
}
