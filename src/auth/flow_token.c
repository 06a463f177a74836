/*
 * flow_token.c - having a token made.
 *
 * One request, whatever the grant: a form, who we are, and a proof if tokens
 * are bound to a key. An authorization server that wants a nonce in the proof
 * says so and is asked once more, with the same form. An identity provider,
 * where one vouches for us, is asked in the same way, just before.
 *
 * A refresh that fails is no failure: there are other ways to a token.
 */
#include "auth/auth_impl.h"

#include "auth/jwt.h"
#include "auth/token.h"
#include "base/clock.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"

#include <string.h>

enum { FORM_MAX = 256 * 1024, NONCE = 0, RENEW_LATER_MS = 30000 };

static void ask(fl_authorizer *a);

fl_status fl_flow_have_dpop(fl_authorizer *a)
{
    fl_span kept = fl_record_get(&a->record, FL_RECORD_KEY);
    fl_status rc;
    fl_buf pem;

    if (a->dpop != NULL)
        return FL_OK;
    if (kept.ptr != NULL &&
        fl_signer_from_pem(kept, NULL, &a->dpop, NULL) == FL_OK)
        return FL_OK;
    rc = fl_signer_generate(&a->dpop);
    fl_buf_init(&pem, FORM_MAX);
    if (rc == FL_OK)
        rc = fl_signer_pem(a->dpop, &pem);
    if (rc == FL_OK)
        rc = fl_record_set(&a->record, FL_RECORD_KEY, fl_buf_view(&pem));
    fl_text_wipe(&pem);
    return rc;
}

static fl_span endpoint_of(const fl_authorizer *a)
{
    return a->flow.exchanging ? fl_span_of(a->setup.idp_endpoint)
                              : fl_record_get(&a->record, FL_RECORD_ENDPOINT);
}

static fl_status write_form(const fl_authorizer *a, fl_buf *form)
{
    const fl_flow *flow = &a->flow;
    fl_span resource = fl_record_get(&a->record, FL_RECORD_RESOURCE);
    fl_span scope = fl_span_of(flow->scope);

    if (flow->refreshing)
        return fl_token_form_refresh(
            fl_record_get(&a->record, FL_RECORD_REFRESH), resource, form);
    if (flow->exchanging)
        return fl_token_form_exchange(
            fl_span_of(a->setup.idp_token),
            fl_record_get(&a->record, FL_RECORD_ISSUER), scope, resource, form);
    switch (a->setup.grant) {
    case FL_AUTH_CODE:
        return fl_token_form_code(fl_span_of(flow->granted),
                                  fl_span_of(flow->code.verifier),
                                  fl_span_of(flow->redirect), resource, form);
    case FL_AUTH_CLIENT_CREDENTIALS:
        return fl_token_form_client(scope, resource, form);
    case FL_AUTH_JWT_BEARER:
        return fl_token_form_assertion(fl_span_of(a->setup.assertion), scope,
                                       resource, form);
    case FL_AUTH_ENTERPRISE:
        return fl_token_form_assertion(fl_span_of(flow->granted), scope,
                                       (fl_span){0}, form);
    }
    return FL_E_INVALID;
}

static fl_status add_client(const fl_authorizer *a, fl_buf *form, fl_buf *basic)
{
    const fl_record *record = &a->record;
    fl_token_client us = {
        .id = fl_record_get(record, FL_RECORD_CLIENT_ID),
        .secret = fl_record_get(record, FL_RECORD_CLIENT_SECRET),
        .method = fl_method_find(fl_record_get(record, FL_RECORD_METHOD)),
        .key = a->key,
        .audience = fl_record_get(record, FL_RECORD_ISSUER),
    };

    if (a->flow.exchanging)
        us = (fl_token_client){
            .id = fl_span_of(a->setup.idp_client_id),
            .secret = fl_span_of(a->setup.idp_client_secret),
            .method = a->setup.idp_client_secret != NULL ? FL_METHOD_BASIC
                                                         : FL_METHOD_NONE,
        };
    if (us.method == FL_METHOD_JWT && us.key == NULL)
        return FL_E_INVALID;
    return fl_token_identify(&us, fl_clock_unix(), form, basic);
}

static fl_status add_proof(fl_authorizer *a, fl_buf *proof)
{
    if (!a->use_dpop || a->flow.exchanging)
        return FL_OK;
    fl_status rc = fl_flow_have_dpop(a);
    return rc == FL_OK ? fl_dpop_proof(a->dpop,
                                       &(fl_dpop_use){
                                           .method = FL_SPAN("POST"),
                                           .url = endpoint_of(a),
                                           .nonce = fl_span_of(a->nonce_there)},
                                       fl_clock_unix(), proof)
                       : rc;
}

/* Only what led to a token counts as asked for: an outage on the way must not
 * keep us from asking again. */
static void note_asked(fl_authorizer *a)
{
    if (a->flow.wanted == NULL)
        return;
    fl_text_drop(&a->asked);
    a->asked = a->flow.wanted;
    a->flow.wanted = NULL;
}

static void succeed(fl_authorizer *a)
{
    note_asked(a);
    a->serial++;
    a->spent++;
    fl_log_say(
        fl_loop_log(a->loop), FL_LOG_INFO, "authorized",
        fl_log_text("server", fl_span_of(a->server)),
        fl_log_text("issuer", fl_record_get(&a->record, FL_RECORD_ISSUER)),
        fl_log_text("scope", fl_record_get(&a->record, FL_RECORD_SCOPE)));
    fl_authorizer_save(a);
    fl_flow_end(a, NULL);
}

/* Nobody there, or not now: the refresh token may be as good as ever. */
static bool is_outage(const fl_fetch_answer *answer)
{
    return answer->why != NULL || answer->status >= 500 ||
           answer->status == 429;
}

/* What we have is used for as long as the server takes it. */
static void renew_later(fl_authorizer *a)
{
    a->renew_after = fl_loop_now(a->loop) + RENEW_LATER_MS;
    fl_flow_end(a, NULL);
}

/* Requests that are sent without a token will be refused, and then begin
 * anew. */
static void refresh_failed(fl_authorizer *a)
{
    a->flow.refreshing = false;
    a->flow.had_nonce = false;
    fl_record_drop_tokens(&a->record);
    fl_authorizer_save(a);
    if (a->flow.reason == FL_FLOW_RENEW)
        fl_flow_end(a, NULL);
    else
        fl_flow_identify(a);
}

/* Who wants proofs and gets a token for whoever holds it does not want that
 * (RFC 9449 5). */
static fl_status check_bound(fl_authorizer *a, fl_error *why)
{
    if (a->setup.dpop != FL_AUTH_DPOP_ON ||
        fl_span_equal(fl_record_get(&a->record, FL_RECORD_TYPE),
                      FL_SPAN("DPoP")))
        return FL_OK;
    fl_record_drop_tokens(&a->record);
    return fl_error_set(why, FL_E_DENIED,
                        "the authorization server's token is not bound to our "
                        "key, as it was to be (DPoP): it is not used");
}

static void take(fl_authorizer *a, fl_span body)
{
    fl_error why;
    fl_status rc;

    if (a->flow.exchanging) {
        rc = fl_token_read_exchange(body, &a->flow.granted, &why);
        a->flow.exchanging = false;
        if (rc == FL_OK)
            ask(a);
        else
            fl_flow_end(a, &why);
        return;
    }
    fl_span asked = a->flow.refreshing
                        ? fl_record_get(&a->record, FL_RECORD_SCOPE)
                        : fl_span_of(a->flow.scope);
    if (!a->flow.refreshing)
        fl_record_drop_tokens(&a->record);
    rc = fl_token_read(body, asked, fl_clock_unix(), &a->record, &why);
    if (rc == FL_OK)
        rc = check_bound(a, &why);
    if (rc == FL_OK)
        succeed(a);
    else if (a->flow.refreshing)
        refresh_failed(a);
    else
        fl_flow_end(a, &why);
}

static bool wants_nonce(fl_authorizer *a, const fl_fetch_answer *answer,
                        const char *code)
{
    if (answer->value[NONCE].len > 0 &&
        fl_text_set(&a->nonce_there, answer->value[NONCE]) != FL_OK)
        return false;
    if (a->flow.had_nonce || answer->value[NONCE].len == 0 ||
        strcmp(code, "use_dpop_nonce") != 0)
        return false;
    a->flow.had_nonce = true;
    return true;
}

/* A registration does not last for ever: the next one is a new one. */
static void forget_client(fl_authorizer *a, const char *code)
{
    if (strcmp(code, "invalid_client") != 0 || a->flow.exchanging ||
        a->setup.client_id != NULL)
        return;
    fl_text_drop(&a->record.text[FL_RECORD_CLIENT_ID]);
    fl_text_drop(&a->record.text[FL_RECORD_CLIENT_SECRET]);
    fl_text_drop(&a->record.text[FL_RECORD_METHOD]);
    fl_text_drop(&a->record.text[FL_RECORD_REDIRECT]);
    fl_authorizer_save(a);
}

static void on_token(void *user, const fl_fetch_answer *answer)
{
    fl_authorizer *a = user;
    char code[FL_TOKEN_ERROR] = "";
    const char *who = a->flow.exchanging ? "the identity provider"
                                         : "the authorization server";

    a->flow.fetch = NULL;
    if (answer->why == NULL && answer->status / 100 != 2)
        fl_token_read_error(answer->body, code);
    forget_client(a, code);
    if (answer->why == NULL && wants_nonce(a, answer, code))
        ask(a);
    else if (answer->why == NULL && answer->status / 100 == 2)
        take(a, answer->body);
    else if (a->flow.refreshing && !is_outage(answer))
        refresh_failed(a);
    else if (a->flow.reason == FL_FLOW_RENEW)
        renew_later(a);
    else if (answer->why != NULL)
        fl_flow_fail(a, answer->why->status, "%s gives no token: %.150s", who,
                     answer->why->text);
    else
        fl_flow_fail(a, FL_E_DENIED, "%s gives no token: HTTP %u%s%s", who,
                     answer->status, code[0] != '\0' ? ", " : "", code);
}

/* Everything that a request says beside its form. */
static void send(fl_authorizer *a, fl_span form, fl_span basic, fl_span proof)
{
    fl_field fields[3];
    size_t count = 0;

    fields[count++] = FL_FIELD_SET(
        CONTENT_TYPE, FL_SPAN("application/x-www-form-urlencoded"));
    if (basic.len > 0)
        fields[count++] = FL_FIELD_SET(AUTHORIZATION, basic);
    if (proof.len > 0)
        fields[count++] = (fl_field){FL_SPAN("dpop"), proof, FL_FIELD_OTHER};
    fl_flow_fetch(a,
                  &(fl_fetch_request){.method = FL_SPAN("POST"),
                                      .url = endpoint_of(a),
                                      .fields = fields,
                                      .count = count,
                                      .body = form,
                                      .want = {[NONCE] = "dpop-nonce"}},
                  on_token);
}

static void ask(fl_authorizer *a)
{
    fl_buf form, basic, proof;

    fl_buf_init(&form, FORM_MAX);
    fl_buf_init(&basic, FORM_MAX);
    fl_buf_init(&proof, FORM_MAX);
    fl_status rc = write_form(a, &form);
    if (rc == FL_OK)
        rc = add_client(a, &form, &basic);
    if (rc == FL_OK)
        rc = add_proof(a, &proof);
    if (rc == FL_OK)
        send(a, fl_buf_view(&form), fl_buf_view(&basic), fl_buf_view(&proof));
    else
        fl_flow_fail(a, rc, "the token request: %s", fl_status_text(rc));
    fl_text_wipe(&form);
    fl_text_wipe(&basic);
    fl_text_wipe(&proof);
}

void fl_flow_refresh(fl_authorizer *a)
{
    const char *type = a->record.text[FL_RECORD_TYPE];

    if (type != NULL && strcmp(type, "DPoP") == 0)
        a->use_dpop = true; /* the refresh token is bound to the key, too */
    a->flow.refreshing = true;
    ask(a);
}

void fl_flow_get_token(fl_authorizer *a)
{
    a->flow.exchanging = a->setup.grant == FL_AUTH_ENTERPRISE;
    ask(a);
}
