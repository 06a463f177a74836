/*
 * token.c - asking for a token, and reading the answer.
 *
 * A token is renewed some time before it runs out, so that no request carries
 * one that dies on the way; of a short life a quarter is enough.
 */
#include "auth/token.h"

#include "auth/jwt.h"
#include "auth/text.h"
#include "base/base64.h"
#include "base/span.h"
#include "base/status.h"
#include "json/nav.h"

#include <strings.h>

#define JWT_BEARER "urn:ietf:params:oauth:grant-type:jwt-bearer"
#define EXCHANGE "urn:ietf:params:oauth:grant-type:token-exchange"
#define ID_JAG "urn:ietf:params:oauth:token-type:id-jag"
#define ID_TOKEN "urn:ietf:params:oauth:token-type:id_token"
#define ASSERTION "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

enum {
    TEXT_MAX = 64 * 1024,
    AHEAD_S = 60,
    LIFETIME_MAX = 10 * 365 * 24 * 3600,
};

/* RFC 6749 2.3.1: both halves are written as in forms. */
static fl_status write_basic(const fl_token_client *client, fl_buf *out)
{
    fl_buf pair;

    fl_buf_init(&pair, TEXT_MAX);
    fl_status rc = fl_form_encode(client->id, &pair);
    if (rc == FL_OK)
        rc = fl_buf_append(&pair, FL_SPAN(":"));
    if (rc == FL_OK)
        rc = fl_form_encode(client->secret, &pair);
    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("Basic "));
    if (rc == FL_OK)
        rc = fl_base64_encode(fl_buf_view(&pair), out);
    fl_text_wipe(&pair);
    return rc;
}

static fl_status add_assertion(const fl_token_client *client, int64_t now,
                               fl_buf *form)
{
    fl_buf jwt;

    fl_buf_init(&jwt, TEXT_MAX);
    fl_status rc =
        fl_jwt_assertion(client->key, client->id, client->audience, now, &jwt);
    if (rc == FL_OK)
        rc = fl_form_add(form, "client_assertion_type", FL_SPAN(ASSERTION));
    if (rc == FL_OK)
        rc = fl_form_add(form, "client_assertion", fl_buf_view(&jwt));
    fl_text_wipe(&jwt);
    return rc;
}

fl_status fl_token_identify(const fl_token_client *client, int64_t now,
                            fl_buf *form, fl_buf *basic)
{
    if (client->id.len == 0)
        return FL_OK;
    if (client->method == FL_METHOD_BASIC)
        return write_basic(client, basic);
    fl_status rc = fl_form_add(form, "client_id", client->id);
    if (rc == FL_OK && client->method == FL_METHOD_POST)
        rc = fl_form_add(form, "client_secret", client->secret);
    if (rc == FL_OK && client->method == FL_METHOD_JWT)
        rc = add_assertion(client, now, form);
    return rc;
}

typedef struct pair {
    const char *name;
    fl_span value;
} pair;

static fl_status add_all(fl_buf *form, const pair *pairs, size_t count)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; i < count && rc == FL_OK; i++)
        rc = fl_form_add(form, pairs[i].name, pairs[i].value);
    return rc;
}

fl_status fl_token_form_code(fl_span code, fl_span verifier,
                             fl_span redirect_uri, fl_span resource,
                             fl_buf *form)
{
    const pair pairs[] = {
        {"grant_type", FL_SPAN("authorization_code")},
        {"code", code},
        {"redirect_uri", redirect_uri},
        {"code_verifier", verifier},
        {"resource", resource},
    };

    return add_all(form, pairs, sizeof pairs / sizeof *pairs);
}

fl_status fl_token_form_refresh(fl_span token, fl_span resource, fl_buf *form)
{
    const pair pairs[] = {
        {"grant_type", FL_SPAN("refresh_token")},
        {"refresh_token", token},
        {"resource", resource},
    };

    return add_all(form, pairs, sizeof pairs / sizeof *pairs);
}

fl_status fl_token_form_client(fl_span scope, fl_span resource, fl_buf *form)
{
    const pair pairs[] = {
        {"grant_type", FL_SPAN("client_credentials")},
        {"scope", scope},
        {"resource", resource},
    };

    return add_all(form, pairs, sizeof pairs / sizeof *pairs);
}

fl_status fl_token_form_assertion(fl_span assertion, fl_span scope,
                                  fl_span resource, fl_buf *form)
{
    const pair pairs[] = {
        {"grant_type", FL_SPAN(JWT_BEARER)},
        {"assertion", assertion},
        {"scope", scope},
        {"resource", resource},
    };

    return add_all(form, pairs, sizeof pairs / sizeof *pairs);
}

fl_status fl_token_form_exchange(fl_span id_token, fl_span audience,
                                 fl_span scope, fl_span resource, fl_buf *form)
{
    const pair pairs[] = {
        {"grant_type", FL_SPAN(EXCHANGE)},
        {"requested_token_type", FL_SPAN(ID_JAG)},
        {"subject_token", id_token},
        {"subject_token_type", FL_SPAN(ID_TOKEN)},
        {"audience", audience},
        {"resource", resource},
        {"scope", scope},
    };

    return add_all(form, pairs, sizeof pairs / sizeof *pairs);
}

/* It goes into a header field: nothing else may come along. */
static bool is_showable(const char *token)
{
    if (token == NULL || *token == '\0')
        return false;
    for (; *token != '\0'; token++)
        if (*token < '!' || *token > '~')
            return false;
    return true;
}

static const char *type_of(const char *said)
{
    if (said == NULL || strcasecmp(said, "bearer") == 0)
        return "Bearer"; /* some leave it out */
    return strcasecmp(said, "dpop") == 0 ? "DPoP" : NULL;
}

static void note_lifetime(fl_span object, int64_t now, fl_record *fresh)
{
    int64_t seconds;

    if (fl_json_int64(fl_json_get(object, FL_SPAN("expires_in")), &seconds) !=
            FL_OK ||
        seconds <= 0 || seconds > LIFETIME_MAX)
        return;
    int64_t ahead = seconds / 4 < AHEAD_S ? seconds / 4 : AHEAD_S;
    fresh->expires = now + seconds;
    fresh->renew = fresh->expires - ahead;
}

/* Everything is read before anything is replaced. */
static fl_status read_into(fl_span object, fl_record *fresh)
{
    fl_status rc =
        fl_member_text(object, "access_token", &fresh->text[FL_RECORD_ACCESS]);

    if (rc == FL_OK)
        rc = fl_member_text(object, "refresh_token",
                            &fresh->text[FL_RECORD_REFRESH]);
    if (rc == FL_OK)
        rc = fl_member_text(object, "token_type", &fresh->text[FL_RECORD_TYPE]);
    if (rc == FL_OK)
        rc = fl_member_text(object, "scope", &fresh->text[FL_RECORD_SCOPE]);
    return rc;
}

static void move(fl_record *to, fl_record *from, fl_record_slot slot)
{
    if (from->text[slot] == NULL)
        return;
    fl_text_drop(&to->text[slot]);
    to->text[slot] = from->text[slot];
    from->text[slot] = NULL;
}

static fl_status adopt(fl_record *record, fl_record *fresh, fl_span asked)
{
    const char *type = type_of(fresh->text[FL_RECORD_TYPE]);
    fl_status rc = fl_record_set(fresh, FL_RECORD_TYPE, fl_span_of(type));

    if (rc == FL_OK && fresh->text[FL_RECORD_SCOPE] == NULL)
        rc = fl_record_set(fresh, FL_RECORD_SCOPE, asked);
    if (rc != FL_OK)
        return rc;
    move(record, fresh, FL_RECORD_ACCESS);
    move(record, fresh, FL_RECORD_REFRESH);
    move(record, fresh, FL_RECORD_TYPE);
    move(record, fresh, FL_RECORD_SCOPE);
    record->expires = fresh->expires;
    record->renew = fresh->renew;
    return FL_OK;
}

static fl_status open_object(fl_span json, fl_json_top *top, fl_error *error)
{
    if (fl_json_scan(json, 32, top, NULL) == FL_OK &&
        top->type == FL_JSON_OBJECT)
        return FL_OK;
    return fl_error_set(error, FL_E_REMOTE,
                        "the token endpoint's answer is no JSON object");
}

fl_status fl_token_read(fl_span json, fl_span asked, int64_t now,
                        fl_record *record, fl_error *error)
{
    fl_record fresh = {0};
    fl_json_top top;
    fl_status rc = open_object(json, &top, error);

    if (rc != FL_OK)
        return rc;
    rc = read_into(top.value, &fresh);
    note_lifetime(top.value, now, &fresh);
    if (rc == FL_OK && !is_showable(fresh.text[FL_RECORD_ACCESS]))
        rc = fl_error_set(error, FL_E_REMOTE,
                          "the token endpoint's answer has no access_token "
                          "that could be used");
    else if (rc == FL_OK && type_of(fresh.text[FL_RECORD_TYPE]) == NULL)
        rc = fl_error_set(error, FL_E_REMOTE,
                          "the token is of type '%.40s'; Bearer and DPoP are "
                          "known",
                          fresh.text[FL_RECORD_TYPE]);
    else if (rc == FL_OK)
        rc = adopt(record, &fresh, asked);
    if (rc == FL_E_NOMEM)
        fl_error_set(error, rc, "out of memory");
    fl_record_clear(&fresh);
    return rc;
}

fl_status fl_token_read_exchange(fl_span json, char **slot, fl_error *error)
{
    fl_json_top top;
    fl_status rc = open_object(json, &top, error);

    if (rc != FL_OK)
        return rc;
    fl_text_drop(slot);
    rc = fl_member_text(top.value, "access_token", slot);
    if (rc != FL_OK)
        return fl_error_set(error, rc, "out of memory");
    if (is_showable(*slot))
        return FL_OK;
    fl_text_drop(slot);
    return fl_error_set(error, FL_E_REMOTE,
                        "the identity provider's answer has no token");
}

void fl_token_read_error(fl_span json, char code[FL_TOKEN_ERROR])
{
    fl_json_top top;
    fl_buf text;

    code[0] = '\0';
    fl_buf_init(&text, FL_TOKEN_ERROR - 1);
    fl_status rc = fl_json_scan(json, 32, &top, NULL);
    if (rc == FL_OK)
        rc = fl_json_string_copy(fl_json_get(top.value, FL_SPAN("error")),
                                 &text);
    fl_span said = fl_buf_view(&text);
    if (rc == FL_OK && said.ptr != NULL) {
        memcpy(code, said.ptr, said.len);
        code[said.len] = '\0';
    }
    fl_buf_reset(&text);
}

bool fl_token_is_stale(const fl_record *record, int64_t now)
{
    return record->renew != 0 && now >= record->renew;
}
