/*
 * auth.c - an fl_auth made, freed, and what the program says to it.
 */
#include "auth/auth_impl.h"

#include "auth/store.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"

#include <fairlead/auth.h>

#include <string.h>

enum { TIMEOUT_MS = 300000 };

static fl_status refuse(fl_error *error, const char *what)
{
    return fl_error_set(error, FL_E_INVALID, "%s", what);
}

static bool is_https_document(const char *url)
{
    const char *host = strncmp(url, "https://", 8) == 0 ? url + 8 : NULL;
    const char *path = host != NULL ? strchr(host, '/') : NULL;

    return path != NULL && path > host && path[1] != '\0' &&
           strchr(url, '#') == NULL;
}

static fl_status check_grant(const fl_auth_options *o, fl_error *error)
{
    switch (o->grant) {
    case FL_AUTH_CODE:
        if (o->hooks.open_url == NULL && o->hooks.authorize == NULL &&
            o->hooks.token == NULL)
            return refuse(error, "option hooks: a user must be asked; set "
                                 "open_url or authorize, or take another "
                                 "grant");
        return FL_OK;
    case FL_AUTH_CLIENT_CREDENTIALS:
        if (o->client_id == NULL ||
            (o->client_secret == NULL && o->private_key_pem == NULL))
            return refuse(error, "option client_id: client credentials are "
                                 "it, and client_secret or private_key_pem");
        return FL_OK;
    case FL_AUTH_JWT_BEARER:
        if (o->assertion == NULL)
            return refuse(error, "option assertion: this grant needs it");
        return FL_OK;
    case FL_AUTH_ENTERPRISE:
        if (o->client_id == NULL || o->idp.token_endpoint == NULL ||
            o->idp.id_token == NULL)
            return refuse(error, "option idp: this grant needs client_id, and "
                                 "the identity provider's token_endpoint and "
                                 "id_token");
        return FL_OK;
    }
    return refuse(error, "option grant: there is no such grant");
}

static fl_status check(const fl_auth_options *o, fl_error *error)
{
    if (o->hooks.authorize != NULL && o->redirect_uri == NULL &&
        o->grant == FL_AUTH_CODE)
        return refuse(error, "option redirect_uri: the hook authorize needs "
                             "it, to know when the user has come back");
    if (o->client_metadata_url != NULL &&
        !is_https_document(o->client_metadata_url))
        return refuse(error, "option client_metadata_url: must be https:// "
                             "with a path, as in "
                             "https://example.org/client.json");
    if (o->client_secret != NULL && o->client_id == NULL)
        return refuse(error, "option client_secret: without client_id it is "
                             "nobody's");
    return check_grant(o, error);
}

static fl_status copy_texts(fl_auth_setup *to, const fl_auth_options *from)
{
    const struct {
        char **slot;
        const char *text;
    } texts[] = {
        {&to->client_name,
         from->client_name != NULL ? from->client_name : "fairlead"},
        {&to->client_id, from->client_id},
        {&to->client_secret, from->client_secret},
        {&to->issuer, from->issuer},
        {&to->metadata_url, from->client_metadata_url},
        {&to->redirect_uri, from->redirect_uri},
        {&to->scope, from->scope},
        {&to->assertion, from->assertion},
        {&to->store_file, from->store_file},
        {&to->idp_endpoint, from->idp.token_endpoint},
        {&to->idp_client_id, from->idp.client_id},
        {&to->idp_client_secret, from->idp.client_secret},
        {&to->idp_token, from->idp.id_token},
    };
    fl_status rc = FL_OK;

    for (size_t i = 0; i < sizeof texts / sizeof *texts && rc == FL_OK; i++)
        rc = fl_text_set(texts[i].slot, fl_span_of(texts[i].text));
    return rc;
}

static void free_texts(fl_auth_setup *setup)
{
    char **const slots[] = {
        &setup->client_name,  &setup->client_id,     &setup->client_secret,
        &setup->issuer,       &setup->metadata_url,  &setup->redirect_uri,
        &setup->scope,        &setup->assertion,     &setup->store_file,
        &setup->idp_endpoint, &setup->idp_client_id, &setup->idp_client_secret,
        &setup->idp_token,
    };

    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        fl_text_drop(slots[i]);
}

void fl_authorizer_ref(fl_authorizer *a)
{
    a->refs++;
}

void fl_authorizer_unref(fl_authorizer *a)
{
    if (--a->refs > 0)
        return;
    free_texts(&a->setup);
    fl_record_clear(&a->record);
    fl_signer_free(a->key);
    fl_signer_free(a->dpop);
    fl_text_drop(&a->server);
    fl_text_drop(&a->origin);
    fl_text_drop(&a->asked);
    fl_text_drop(&a->nonce_here);
    fl_text_drop(&a->nonce_there);
    if (a->tls != NULL)
        fl_tls_unref(a->tls);
    fl_mem_free(a);
}

static fl_status load(fl_authorizer *a, fl_error *error)
{
    if (a->setup.store_file == NULL)
        return FL_OK;
    fl_status rc = fl_store_load(a->setup.store_file, &a->record, error);
    return rc == FL_E_NOT_FOUND ? FL_OK : rc;
}

fl_status fl_auth_new(const fl_auth_options *options, fl_auth **out,
                      fl_error *error)
{
    fl_status rc = check(options, error);

    *out = NULL;
    if (rc != FL_OK)
        return rc;
    fl_authorizer *a = fl_mem_zalloc(sizeof *a);
    if (a == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    a->auth.ops = &fl_authorizer_ops;
    a->refs = 1;
    a->setup = (fl_auth_setup){
        .grant = options->grant,
        .dpop = options->dpop,
        .timeout_ms =
            options->timeout_ms > 0 ? options->timeout_ms : TIMEOUT_MS,
        .allow_plaintext = options->allow_plaintext,
        .hooks = options->hooks,
    };
    fl_list_init(&a->waits);
    rc = copy_texts(&a->setup, options);
    if (rc != FL_OK)
        fl_error_set(error, rc, "out of memory");
    if (rc == FL_OK && options->private_key_pem != NULL)
        rc = fl_signer_from_pem(fl_span_of(options->private_key_pem),
                                options->algorithm, &a->key, error);
    if (rc == FL_OK)
        rc = load(a, error);
    if (rc != FL_OK) {
        fl_authorizer_unref(a);
        return rc;
    }
    *out = &a->auth;
    return FL_OK;
}

void fl_auth_free(fl_auth *auth)
{
    if (auth != NULL)
        fl_authorizer_unref(fl_authorizer_of(auth));
}

static fl_status save(fl_authorizer *a, fl_error *why)
{
    const fl_auth_hooks *hooks = &a->setup.hooks;
    fl_status rc = FL_OK;
    fl_buf text;

    if (a->setup.store_file != NULL)
        rc = fl_store_save(a->setup.store_file, &a->record, why);
    if (hooks->save == NULL)
        return rc;
    fl_buf_init(&text, FL_RECORD_MAX);
    fl_status written = fl_record_write(&a->record, &text);
    if (written == FL_OK)
        hooks->save(&a->auth, fl_buf_view(&text), hooks->user);
    else
        fl_error_set(why, written, "%s", fl_status_text(written));
    fl_text_wipe(&text);
    return rc != FL_OK ? rc : written;
}

void fl_authorizer_save(fl_authorizer *a)
{
    fl_error why;

    if (save(a, &why) != FL_OK)
        fl_log_say(fl_loop_log(a->loop), FL_LOG_WARN,
                   "what was authorized could not be kept",
                   fl_log_text("reason", fl_span_of(why.text)));
}

void fl_auth_redirected(fl_auth *auth, const char *url)
{
    fl_authorizer *a = fl_authorizer_of(auth);

    if (a->flow.reason != FL_FLOW_HOOK)
        fl_flow_tell(a, FL_REPLY_REDIRECTED, fl_span_of(url));
}

void fl_auth_set_token(fl_auth *auth, const char *token)
{
    fl_authorizer *a = fl_authorizer_of(auth);

    if (a->flow.reason == FL_FLOW_HOOK)
        fl_flow_tell(a, FL_REPLY_TOKEN, fl_span_of(token));
}

void fl_auth_deny(fl_auth *auth, const char *reason)
{
    fl_flow_tell(fl_authorizer_of(auth), FL_REPLY_DENIED, fl_span_of(reason));
}

fl_status fl_auth_restore(fl_auth *auth, fl_span record)
{
    return fl_record_read(&fl_authorizer_of(auth)->record, record);
}

fl_status fl_auth_forget(fl_auth *auth)
{
    fl_authorizer *a = fl_authorizer_of(auth);
    fl_error why;

    fl_record_drop_tokens(&a->record);
    fl_text_drop(&a->asked);
    a->failed_until = 0;
    a->spent = 0;
    return save(a, &why);
}
