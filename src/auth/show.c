/*
 * show.c - how the transport sees an fl_auth.
 *
 * Whether a refused request is worth another try is decided here, and what
 * holds it back from trying for ever: a request is sent so many times, so many
 * authorizations may lead to nothing, a scope that was asked for once is not
 * asked for again, and a failure stands for a while.
 */
#include "auth/auth_impl.h"

#include "auth/discover.h"
#include "auth/jwt.h"
#include "auth/token.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"

#include <stdio.h>
#include <string.h>

enum { TRIES_MAX = 5 };

static fl_status no_memory(fl_error *error)
{
    return fl_error_set(error, FL_E_NOMEM, "out of memory");
}

static fl_status make_tls(fl_authorizer *a, const fl_options *options,
                          fl_error *error)
{
    static const char *const alpn[] = {"http/1.1", NULL};

    return fl_tls_new_client(
        &(fl_tls_options){
            .ca_file = options->tls.ca_file,
            .insecure_skip_verify = options->tls.insecure_skip_verify,
            .alpn = alpn,
        },
        &a->tls, error);
}

/* A server far away has no business to make us ask on this machine. */
static fl_fetch_plain plain_for(const fl_authorizer *a, fl_span url)
{
    if (a->setup.allow_plaintext)
        return FL_FETCH_ANY;
    return fl_span_starts(url, FL_SPAN("http://")) &&
                   fl_fetch_check(url, FL_FETCH_LOOPBACK, NULL) == FL_OK
               ? FL_FETCH_LOOPBACK
               : FL_FETCH_SECURE;
}

static fl_status name_server(fl_authorizer *a, fl_span url, fl_error *error)
{
    fl_buf origin;

    fl_buf_init(&origin, FL_AUTH_URL_MAX);
    fl_status rc = fl_discover_origin(url, &origin);
    if (rc == FL_OK)
        rc = fl_text_set(&a->origin, fl_buf_view(&origin));
    if (rc == FL_OK)
        rc = fl_text_set(&a->server, url);
    fl_buf_reset(&origin);
    return rc == FL_OK ? rc : fl_error_set(error, rc, "%s", fl_status_text(rc));
}

/* What was kept must be this server's. */
static fl_status check_record(fl_authorizer *a, fl_span url, fl_error *error)
{
    fl_span of = fl_record_get(&a->record, FL_RECORD_SERVER);

    if (of.ptr != NULL && !fl_span_equal(of, url))
        return fl_error_set(error, FL_E_INVALID,
                            "the stored tokens are for %.100s and will not be "
                            "shown to another server: use another store",
                            of.ptr);
    return fl_record_set(&a->record, FL_RECORD_SERVER, url) == FL_OK
               ? FL_OK
               : no_memory(error);
}

/* A token may be there without anything having been asked for it. */
static fl_status check_way(const fl_authorizer *a, fl_span url, fl_error *error)
{
    return fl_fetch_check(
        url, a->setup.allow_plaintext ? FL_FETCH_ANY : FL_FETCH_LOOPBACK,
        error);
}

static fl_status settle_in(fl_authorizer *a, fl_loop *loop, fl_span url,
                           const fl_options *options, fl_error *error)
{
    a->loop = loop;
    a->no_proxy = options->http.no_proxy;
    a->plain = plain_for(a, url);
    fl_flow_init(a);
    fl_status rc = check_way(a, url, error);
    if (rc == FL_OK)
        rc = name_server(a, url, error);
    if (rc == FL_OK && a->setup.hooks.load != NULL)
        a->setup.hooks.load(&a->auth, a->setup.hooks.user);
    if (rc == FL_OK)
        rc = check_record(a, url, error);
    if (rc == FL_OK && a->tls == NULL)
        rc = make_tls(a, options, error);
    if (rc == FL_OK && a->record.text[FL_RECORD_ACCESS] != NULL)
        a->serial = 1;
    if (rc == FL_OK &&
        fl_text_set(&a->asked, fl_record_get(&a->record, FL_RECORD_SCOPE)) !=
            FL_OK)
        rc = no_memory(error);
    if (rc != FL_OK)
        fl_text_drop(&a->server);
    return rc;
}

static fl_status attach(fl_auth *auth, fl_loop *loop, fl_span url,
                        const fl_options *options, fl_error *error)
{
    fl_authorizer *a = fl_authorizer_of(auth);
    fl_status rc = FL_OK;

    if (a->server == NULL)
        rc = settle_in(a, loop, url, options, error);
    else if (!fl_span_equal(fl_span_of(a->server), url))
        rc = fl_error_set(error, FL_E_INVALID,
                          "option http.auth: it is for %.150s; make another "
                          "one for another server",
                          a->server);
    else if (a->links > 0 && a->loop != loop)
        rc = fl_error_set(error, FL_E_INVALID,
                          "option http.auth: it is in use on another loop");
    else if (a->links == 0) {
        a->loop = loop;
        fl_flow_init(a);
    }
    if (rc != FL_OK)
        return rc;
    a->links++;
    fl_authorizer_ref(a);
    return FL_OK;
}

static void detach(fl_auth *auth)
{
    fl_authorizer *a = fl_authorizer_of(auth);

    if (--a->links == 0)
        fl_flow_abort(a);
    fl_authorizer_unref(a);
}

static fl_status park(fl_authorizer *a, fl_auth_wait *wait)
{
    fl_list_remove(&wait->node);
    fl_list_append(&a->waits, &wait->node);
    return FL_AGAIN;
}

static bool has_token(const fl_authorizer *a)
{
    return a->record.text[FL_RECORD_ACCESS] != NULL;
}

static fl_status ready(fl_auth *auth, fl_auth_wait *wait)
{
    fl_authorizer *a = fl_authorizer_of(auth);
    bool stale = fl_token_is_stale(&a->record, fl_clock_unix());

    if (fl_flow_is_open(a)) /* the old one does for who is not refused */
        return a->flow.reason == FL_FLOW_WIDEN && has_token(a) && !stale
                   ? FL_OK
                   : park(a, wait);
    if (a->setup.hooks.token != NULL && a->serial == 0 &&
        fl_loop_now(a->loop) >= a->failed_until) {
        fl_flow_begin(a, FL_FLOW_HOOK, NULL);
        return park(a, wait);
    }
    if (has_token(a) && stale && a->record.text[FL_RECORD_REFRESH] != NULL &&
        a->record.text[FL_RECORD_ENDPOINT] != NULL &&
        fl_loop_now(a->loop) >= a->renew_after) {
        fl_flow_begin(a, FL_FLOW_RENEW, NULL);
        return park(a, wait);
    }
    return FL_OK;
}

static fl_status add_proof(fl_authorizer *a, fl_span method, fl_span target,
                           fl_span token, fl_auth_fields *out)
{
    fl_buf url;

    fl_buf_init(&url, FL_AUTH_URL_MAX);
    fl_status rc = fl_buf_append(&url, fl_span_of(a->origin));
    if (rc == FL_OK)
        rc = fl_buf_append(&url, target);
    if (rc == FL_OK)
        rc = fl_dpop_proof(a->dpop,
                           &(fl_dpop_use){.method = method,
                                          .url = fl_buf_view(&url),
                                          .token = token,
                                          .nonce = fl_span_of(a->nonce_here)},
                           fl_clock_unix(), &out->text);
    fl_buf_reset(&url);
    return rc;
}

static fl_status sign(fl_auth *auth, fl_span method, fl_span target,
                      fl_auth_fields *out)
{
    fl_authorizer *a = fl_authorizer_of(auth);
    fl_span token = fl_record_get(&a->record, FL_RECORD_ACCESS);
    const char *type = a->record.text[FL_RECORD_TYPE];
    bool bound = type != NULL && strcmp(type, "DPoP") == 0;

    fl_auth_fields_init(out);
    if (token.ptr == NULL)
        return FL_OK;
    fl_status rc = bound ? fl_flow_have_dpop(a) : FL_OK;
    if (rc == FL_OK)
        rc = fl_buf_printf(&out->text, "%s %s", bound ? "DPoP" : "Bearer",
                           token.ptr);
    size_t end = fl_buf_len(&out->text);
    if (rc == FL_OK && bound)
        rc = add_proof(a, method, target, token, out);
    if (rc != FL_OK) {
        fl_auth_fields_deinit(out);
        return rc;
    }
    fl_span all = fl_buf_view(&out->text);
    out->fields[out->count++] =
        FL_FIELD_SET(AUTHORIZATION, ((fl_span){all.ptr, end}));
    if (bound)
        out->fields[out->count++] =
            (fl_field){FL_SPAN("dpop"), fl_span_from(all, end), FL_FIELD_OTHER};
    out->serial = a->serial;
    return FL_OK;
}

static bool is_asking(const fl_auth *auth)
{
    return ((const fl_authorizer *)auth)->flow.asking;
}

static void heard(fl_auth *auth, const fl_head *head)
{
    fl_authorizer *a = fl_authorizer_of(auth);
    fl_span nonce = fl_head_find(head, FL_SPAN("dpop-nonce"));

    if (head->status / 100 == 2 && has_token(a))
        a->spent = 0;
    if (nonce.len > 0 && fl_text_set(&a->nonce_here, nonce) != FL_OK)
        return; /* the server will ask for it again */
}

static fl_status give_up(fl_authorizer *a, const fl_auth_refusal *refusal,
                         const fl_challenge *challenge, fl_error *why)
{
    const char *scope = challenge->scope;

    if (fl_loop_now(a->loop) < a->failed_until) {
        *why = a->failed;
        return why->status;
    }
    if (refusal->tries >= TRIES_MAX || a->spent >= FL_AUTH_SPENT_MAX)
        return fl_error_set(
            why, FL_E_DENIED,
            "HTTP %u: the server refuses every token we got "
            "for it%s%.100s",
            refusal->status, challenge->description != NULL ? ": " : "",
            challenge->description != NULL ? challenge->description : "");
    if (refusal->status != 403 || a->setup.hooks.token != NULL)
        return FL_OK;
    if (scope == NULL || *scope == '\0')
        return fl_error_set(why, FL_E_DENIED,
                            "HTTP 403: the token does not allow this, and the "
                            "server does not say which scope would");
    if (fl_scopes_include(fl_span_of(a->asked), fl_span_of(scope)))
        return fl_error_set(why, FL_E_DENIED,
                            "HTTP 403: this needs scope '%.100s', which was "
                            "asked for and not granted",
                            scope);
    return FL_OK;
}

static void note_revision(fl_authorizer *a, const char *revision)
{
    if (revision != NULL)
        snprintf(a->revision, sizeof a->revision, "%s", revision);
}

/* Takes the challenge, whatever it decides. */
static fl_status decide(fl_authorizer *a, const fl_auth_refusal *refusal,
                        fl_challenge *challenge, fl_auth_wait *wait,
                        fl_error *why)
{
    bool widen = refusal->status == 403;

    if (widen && !fl_challenge_error_is(challenge, "insufficient_scope"))
        return FL_E_UNSUPPORTED;
    if (fl_challenge_error_is(challenge, "use_dpop_nonce") &&
        a->nonce_here != NULL && refusal->tries < TRIES_MAX)
        return FL_OK;
    if (fl_flow_is_open(a))
        return park(a, wait);
    if (has_token(a) && refusal->serial != a->serial &&
        refusal->tries < TRIES_MAX)
        return FL_OK; /* there is a newer one than it was shown */
    fl_status rc = give_up(a, refusal, challenge, why);
    if (rc != FL_OK)
        return rc;
    note_revision(a, refusal->revision);
    fl_flow_begin(a,
                  a->setup.hooks.token != NULL ? FL_FLOW_HOOK
                  : widen                      ? FL_FLOW_WIDEN
                                               : FL_FLOW_REFUSED,
                  challenge);
    return park(a, wait);
}

static fl_status refused(fl_auth *auth, const fl_auth_refusal *refusal,
                         fl_auth_wait *wait, fl_error *why)
{
    fl_challenge challenge;

    if (refusal->status != 401 && refusal->status != 403)
        return FL_E_UNSUPPORTED;
    if (fl_challenge_read(refusal->challenge, &challenge) != FL_OK)
        return no_memory(why);
    fl_status rc =
        decide(fl_authorizer_of(auth), refusal, &challenge, wait, why);
    fl_challenge_deinit(&challenge);
    return rc;
}

const fl_auth_ops fl_authorizer_ops = {
    .attach = attach,
    .detach = detach,
    .ready = ready,
    .sign = sign,
    .is_asking = is_asking,
    .heard = heard,
    .refused = refused,
};
