/*
 * flow_client.c - who we are at an authorization server, and asking the user.
 *
 * The order of MCP "Client Registration": an identity that was set up, a
 * document that describes us, one that we were given here before, and only
 * then a new registration. An identity is never carried to another server:
 * the record is of one issuer, and was emptied when that changed.
 *
 * Where the user comes back to is decided first, for it is part of who we are:
 * who was registered with one port should come back on that port.
 */
#include "auth/auth_impl.h"

#include "auth/register.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"

#include <string.h>

#define ANY_PORT "http://127.0.0.1/callback"

enum { QUESTION_MAX = 8 * FL_AUTH_URL_MAX };

static void fail_memory(fl_authorizer *a)
{
    fl_flow_fail(a, FL_E_NOMEM, "out of memory");
}

/* Who came to our door is not the user until what he brings says so. */
static bool on_visit(void *user, fl_span target)
{
    fl_authorizer *a = user;
    fl_error why;
    char *code;

    if (!a->flow.asking || a->flow.reply != FL_REPLY_NONE)
        return false;
    fl_status rc =
        fl_code_read(&a->flow.code, &a->flow.as, target, &code, &why);
    fl_text_drop(&code);
    if (fl_code_is_answered(&a->flow.code, target))
        fl_flow_tell(a, FL_REPLY_REDIRECTED, target);
    return rc == FL_OK;
}

static fl_status open_door(fl_authorizer *a, const char *uri, fl_error *why)
{
    fl_status rc =
        fl_callback_open(a->loop, uri, on_visit, a, &a->flow.callback, why);

    if (rc != FL_OK)
        return rc;
    rc = fl_text_set(&a->flow.redirect,
                     fl_span_of(fl_callback_uri(a->flow.callback)));
    return rc == FL_OK ? rc : fl_error_set(why, rc, "out of memory");
}

/* Where the user is to come back to. */
static fl_status find_redirect(fl_authorizer *a, fl_error *why)
{
    const char *set = a->setup.redirect_uri;
    const char *known = a->record.text[FL_RECORD_REDIRECT];

    if (a->setup.hooks.authorize != NULL)
        return fl_text_set(&a->flow.redirect, fl_span_of(set)) == FL_OK
                   ? FL_OK
                   : fl_error_set(why, FL_E_NOMEM, "out of memory");
    if (set != NULL)
        return open_door(a, set, why);
    if (known != NULL && open_door(a, known, why) == FL_OK)
        return FL_OK;
    return open_door(a, ANY_PORT, why);
}

/* The scopes to ask for: what the server wants now, and what it wanted before;
 * without any word of its, what was set up, or what it has. */
static fl_status choose_scope(fl_authorizer *a)
{
    const fl_flow *flow = &a->flow;
    const char *wanted = flow->challenge.scope != NULL ? flow->challenge.scope
                         : a->setup.scope != NULL      ? a->setup.scope
                                                       : flow->prm.scopes;
    bool offline = a->setup.grant == FL_AUTH_CODE &&
                   fl_scopes_include(fl_span_of(flow->as.scopes),
                                     FL_SPAN("offline_access"));
    fl_buf all;

    fl_buf_init(&all, FL_AUTH_SCOPES_MAX);
    fl_status rc = fl_scopes_add(&all, fl_span_of(a->asked));
    if (rc == FL_OK)
        rc = fl_scopes_add(&all, fl_span_of(wanted));
    if (rc == FL_OK)
        rc = fl_text_set(&a->flow.wanted, fl_buf_view(&all));
    if (rc == FL_OK && offline)
        rc = fl_scopes_add(&all, FL_SPAN("offline_access"));
    if (rc == FL_OK)
        rc = fl_text_set(&a->flow.scope, fl_buf_view(&all));
    fl_buf_reset(&all);
    return rc;
}

static fl_status make_url(fl_authorizer *a, fl_buf *url)
{
    fl_buf jkt;

    fl_buf_init(&jkt, 64);
    fl_status rc = fl_code_begin(&a->flow.code);
    if (rc == FL_OK && a->use_dpop)
        rc = fl_flow_have_dpop(a);
    if (rc == FL_OK && a->use_dpop)
        rc = fl_signer_thumbprint(a->dpop, &jkt);
    if (rc == FL_OK)
        rc = fl_code_url(
            &a->flow.code,
            &(fl_code_ask){
                .endpoint = fl_span_of(a->flow.as.authorize),
                .client_id = fl_record_get(&a->record, FL_RECORD_CLIENT_ID),
                .redirect_uri = fl_span_of(a->flow.redirect),
                .scope = fl_span_of(a->flow.scope),
                .resource = fl_record_get(&a->record, FL_RECORD_RESOURCE),
                .dpop_jkt = fl_buf_view(&jkt),
            },
            url);
    if (rc == FL_OK)
        rc = fl_buf_append(url, (fl_span){"", 1});
    fl_buf_reset(&jkt);
    return rc;
}

static void show_user(fl_authorizer *a, const char *url)
{
    const fl_auth_hooks *hooks = &a->setup.hooks;

    fl_log_say(fl_loop_log(a->loop), FL_LOG_INFO, "the user is asked",
               fl_log_text("server", fl_span_of(a->server)),
               fl_log_text("issuer", fl_span_of(a->flow.as.issuer)));
    a->flow.asking = true;
    fl_timer_start(&a->deadline, a->setup.timeout_ms);
    if (hooks->authorize != NULL)
        hooks->authorize(&a->auth, url, hooks->user);
    else
        hooks->open_url(&a->auth, url, hooks->user);
}

static void ask_user(fl_authorizer *a)
{
    const fl_as *as = &a->flow.as;
    fl_error why;
    fl_buf url;

    if (as->authorize == NULL) {
        fl_flow_fail(a, FL_E_REMOTE,
                     "the metadata of %.100s have no authorization_endpoint",
                     as->issuer);
        return;
    }
    if (fl_fetch_check(fl_span_of(as->authorize), a->plain, &why) != FL_OK) {
        fl_flow_end(a, &why);
        return;
    }
    fl_buf_init(&url, QUESTION_MAX);
    fl_status rc = make_url(a, &url);
    if (rc == FL_OK)
        show_user(a, fl_buf_view(&url).ptr);
    else
        fl_flow_fail(a, rc, "%s", fl_status_text(rc));
    fl_text_wipe(&url);
}

void fl_flow_redirected(fl_authorizer *a, fl_span url)
{
    fl_error why;

    fl_timer_stop(&a->deadline);
    a->flow.asking = false;
    if (fl_code_read(&a->flow.code, &a->flow.as, url, &a->flow.granted, &why) !=
        FL_OK) {
        fl_flow_end(a, &why);
        return;
    }
    fl_callback_close(a->flow.callback);
    a->flow.callback = NULL;
    fl_flow_get_token(a);
}

static void proceed(fl_authorizer *a)
{
    if (a->setup.grant == FL_AUTH_CODE)
        ask_user(a);
    else
        fl_flow_get_token(a);
}

static void on_registered(void *user, const fl_fetch_answer *answer)
{
    fl_authorizer *a = user;
    fl_error why;

    a->flow.fetch = NULL;
    if (answer->why != NULL) {
        fl_flow_fail(a, answer->why->status, "registration: %.150s",
                     answer->why->text);
        return;
    }
    if (answer->status / 100 != 2) {
        fl_flow_fail(a, FL_E_REMOTE,
                     "%.100s does not register us (HTTP %u): register by hand "
                     "and set client_id",
                     a->flow.as.issuer, answer->status);
        return;
    }
    if (fl_register_read(answer->body, &a->flow.as, &a->record, &why) !=
        FL_OK) {
        fl_flow_end(a, &why);
        return;
    }
    /* only now: until then it goes with who we were before */
    if (fl_record_set(&a->record, FL_RECORD_REDIRECT,
                      fl_span_of(a->flow.redirect)) != FL_OK) {
        fail_memory(a);
        return;
    }
    fl_authorizer_save(a);
    proceed(a);
}

static void register_us(fl_authorizer *a)
{
    const fl_field type =
        FL_FIELD_SET(CONTENT_TYPE, FL_SPAN("application/json"));
    fl_buf body;

    fl_buf_init(&body, FL_AUTH_URL_MAX);
    fl_status rc = fl_register_write(
        &(fl_register_ask){
            .name = fl_span_of(a->setup.client_name),
            .redirect_uri = fl_span_of(a->flow.redirect),
            .scope = fl_span_of(a->flow.scope),
            .method = fl_register_wish(&a->flow.as),
        },
        &body);
    if (rc == FL_OK)
        fl_flow_fetch(
            a,
            &(fl_fetch_request){.method = FL_SPAN("POST"),
                                .url = fl_span_of(a->flow.as.registration),
                                .fields = &type,
                                .count = 1,
                                .body = fl_buf_view(&body)},
            on_registered);
    else
        fail_memory(a);
    fl_buf_reset(&body);
}

static fl_status be(fl_authorizer *a, const char *id, const char *secret,
                    fl_client_method method)
{
    fl_record *record = &a->record;
    fl_status rc = fl_record_set(record, FL_RECORD_CLIENT_ID, fl_span_of(id));

    if (rc == FL_OK)
        rc = fl_record_set(record, FL_RECORD_CLIENT_SECRET, fl_span_of(secret));
    if (rc == FL_OK)
        rc = fl_record_set(record, FL_RECORD_METHOD,
                           fl_span_of(fl_client_method_name(method)));
    return rc;
}

static void be_configured(fl_authorizer *a)
{
    const fl_auth_setup *setup = &a->setup;
    bool has_key = a->key != NULL;
    fl_client_method method =
        fl_register_method(&a->flow.as, setup->client_secret != NULL, has_key);

    if (method == FL_METHOD_UNKNOWN)
        fl_flow_fail(a, FL_E_UNSUPPORTED,
                     "%.100s does not take private_key_jwt; set client_secret",
                     a->flow.as.issuer);
    else if (be(a, setup->client_id, setup->client_secret, method) != FL_OK)
        fail_memory(a);
    else
        proceed(a);
}

static void be_described(fl_authorizer *a)
{
    fl_client_method method = fl_register_method(
        &a->flow.as, false,
        a->key != NULL && (a->flow.as.methods & 1u << FL_METHOD_JWT) != 0);

    if (be(a, a->setup.metadata_url, NULL, method) == FL_OK)
        proceed(a);
    else
        fail_memory(a);
}

/* Registered here before, and to be called back where it is said now. */
static bool is_known(const fl_authorizer *a)
{
    const char *where = a->record.text[FL_RECORD_REDIRECT];

    return a->record.text[FL_RECORD_CLIENT_ID] != NULL && where != NULL &&
           a->flow.redirect != NULL && strcmp(where, a->flow.redirect) == 0;
}

static bool pkce_is_missing(const fl_authorizer *a)
{
    const fl_as *as = &a->flow.as;

    return a->setup.grant == FL_AUTH_CODE && !as->pkce && !as->guessed &&
           !(a->flow.legacy && !as->says_pkce);
}

void fl_flow_identify(fl_authorizer *a)
{
    fl_error why;

    if (pkce_is_missing(a)) {
        fl_flow_fail(a, FL_E_UNSUPPORTED,
                     "%.100s does not support PKCE with S256, without which "
                     "codes can be stolen: not asked",
                     a->flow.as.issuer);
        return;
    }
    if (choose_scope(a) != FL_OK) {
        fail_memory(a);
        return;
    }
    if (a->setup.grant == FL_AUTH_CODE && find_redirect(a, &why) != FL_OK)
        fl_flow_end(a, &why);
    else if (a->setup.client_id != NULL)
        be_configured(a);
    else if (a->setup.metadata_url != NULL && a->flow.as.cimd)
        be_described(a);
    else if (a->setup.grant == FL_AUTH_JWT_BEARER || is_known(a))
        proceed(a);
    else if (a->flow.as.registration != NULL && a->setup.grant == FL_AUTH_CODE)
        register_us(a);
    else
        fl_flow_fail(a, FL_E_INVALID,
                     "%.100s does not register programs by itself: register "
                     "there, and set client_id%s",
                     a->flow.as.issuer,
                     a->setup.grant == FL_AUTH_CODE
                         ? ""
                         : " and client_secret or private_key_pem");
}
