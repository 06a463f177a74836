/*
 * auth.c - scenarios about authorization: who this client is, and a user that
 * says yes.
 *
 * Once the library has been told who we are, all that is left to do is to use
 * the server.
 */
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the context may have; any of it may be NULL. */
struct identity {
    char *client_id, *client_secret, *issuer, *key, *algorithm;
    char *jwt, *idp_client, *idp_token, *idp_endpoint;
};

static struct identity read_identity(fl_span context)
{
    return (struct identity){
        .client_id = text_of(context, "client_id"),
        .client_secret = text_of(context, "client_secret"),
        .issuer = text_of(context, "issuer"),
        .key = text_of(context, "private_key_pem"),
        .algorithm = text_of(context, "signing_algorithm"),
        .jwt = text_of(context, "valid_jwt"),
        .idp_client = text_of(context, "idp_client_id"),
        .idp_token = text_of(context, "idp_id_token"),
        .idp_endpoint = text_of(context, "idp_token_endpoint"),
    };
}

static void free_identity(struct identity *who)
{
    free(who->client_id);
    free(who->client_secret);
    free(who->issuer);
    free(who->key);
    free(who->algorithm);
    free(who->jwt);
    free(who->idp_client);
    free(who->idp_token);
    free(who->idp_endpoint);
}

static fl_auth_grant grant_of(const char *scenario, const struct identity *who)
{
    if (strncmp(scenario, "auth/client-credentials", 23) == 0)
        return FL_AUTH_CLIENT_CREDENTIALS;
    if (who->jwt != NULL)
        return FL_AUTH_JWT_BEARER;
    return who->idp_token != NULL ? FL_AUTH_ENTERPRISE : FL_AUTH_CODE;
}

static void authorize(fl_auth *auth, const char *url, void *user)
{
    char *to = visit(url);

    (void)user;
    if (to != NULL)
        fl_auth_redirected(auth, to);
    else
        fl_auth_deny(auth, "the page led nowhere");
    free(to);
}

fl_auth *auth_for(const char *scenario, fl_span context)
{
    struct identity who = read_identity(context);
    fl_auth_options options = {
        .grant = grant_of(scenario, &who),
        .client_name = "fairlead conformance client",
        .client_id = who.client_id,
        .client_secret = who.client_secret,
        .issuer = who.issuer,
        .private_key_pem = who.key,
        .algorithm = who.algorithm,
        .client_metadata_url =
            "https://conformance-test.local/client-metadata.json",
        .redirect_uri = "http://localhost:3000/callback",
        .assertion = who.jwt,
        .idp = {.token_endpoint = who.idp_endpoint,
                .client_id = who.idp_client,
                .id_token = who.idp_token},
        .hooks = {.authorize = authorize},
    };
    fl_error error;
    fl_auth *auth = NULL;

    if (fl_auth_new(&options, &auth, &error) != FL_OK)
        fprintf(stderr, "%s\n", error.text);
    free_identity(&who);
    return auth;
}

int run_authorized(struct talk *talk)
{
    talk_list(talk, FL_LIST_TOOLS);
    if (talk->status == FL_OK)
        talk_call(talk, TEXT("test-tool"), TEXT("{}"));
    return talk->status != FL_OK;
}
