/*
 * code.c - asking a user, and hearing what he said.
 *
 * Whoever answers must know our `state`, and say by whom he was sent (`iss`,
 * if he says it or has promised to): compared letter by letter, before
 * anything else in the answer is believed, an error message included. Only
 * then is the code a code.
 */
#include "auth/code.h"

#include "auth/text.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "base/status.h"
#include "io/digest.h"

#include <string.h>

enum { SECRET_BYTES = 32, VALUE_MAX = 8 * 1024, URL_MAX = 64 * 1024 };

static fl_status make_secret(char out[FL_CODE_SECRET])
{
    char bytes[SECRET_BYTES];
    fl_buf text;

    fl_buf_init(&text, FL_CODE_SECRET);
    fl_status rc = fl_random_bytes(bytes, sizeof bytes);
    if (rc == FL_OK)
        rc = fl_base64url_encode((fl_span){bytes, sizeof bytes}, &text);
    fl_span made = fl_buf_view(&text);
    if (rc == FL_OK && made.ptr != NULL) {
        memcpy(out, made.ptr, FL_CODE_SECRET - 1);
        out[FL_CODE_SECRET - 1] = '\0';
    }
    fl_mem_wipe(bytes, sizeof bytes);
    fl_text_wipe(&text);
    return rc;
}

fl_status fl_code_begin(fl_code *code)
{
    fl_status rc = make_secret(code->verifier);

    return rc == FL_OK ? make_secret(code->state) : rc;
}

void fl_code_end(fl_code *code)
{
    fl_mem_wipe(code, sizeof *code);
}

static fl_status add_challenge(const fl_code *code, fl_buf *form)
{
    unsigned char digest[FL_SHA256];
    fl_buf text;

    fl_buf_init(&text, FL_CODE_SECRET);
    fl_status rc = fl_sha256(fl_span_of(code->verifier), digest);
    if (rc == FL_OK)
        rc = fl_base64url_encode((fl_span){(const char *)digest, sizeof digest},
                                 &text);
    if (rc == FL_OK)
        rc = fl_form_add(form, "code_challenge", fl_buf_view(&text));
    fl_buf_reset(&text);
    return rc == FL_OK
               ? fl_form_add(form, "code_challenge_method", FL_SPAN("S256"))
               : rc;
}

fl_status fl_code_url(const fl_code *code, const fl_code_ask *ask, fl_buf *out)
{
    const struct {
        const char *name;
        fl_span value;
    } pairs[] = {
        {"response_type", FL_SPAN("code")},
        {"client_id", ask->client_id},
        {"redirect_uri", ask->redirect_uri},
        {"state", fl_span_of(code->state)},
        {"scope", ask->scope},
        {"resource", ask->resource},
        {"dpop_jkt", ask->dpop_jkt},
    };
    bool has_query = fl_span_find(ask->endpoint, '?') < ask->endpoint.len;
    fl_status rc = FL_OK;
    fl_buf form;

    fl_buf_init(&form, URL_MAX);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && rc == FL_OK; i++)
        rc = fl_form_add(&form, pairs[i].name, pairs[i].value);
    if (rc == FL_OK)
        rc = add_challenge(code, &form);
    if (rc == FL_OK)
        rc = fl_buf_append(out, ask->endpoint);
    if (rc == FL_OK)
        rc = fl_buf_append(out, has_query ? FL_SPAN("&") : FL_SPAN("?"));
    if (rc == FL_OK)
        rc = fl_buf_append(out, fl_buf_view(&form));
    fl_text_wipe(&form);
    return rc;
}

static fl_span query_of(fl_span url)
{
    fl_span query = fl_span_from(url, fl_span_find(url, '?'));

    if (query.len > 0)
        query = fl_span_from(query, 1);
    query.len = fl_span_find(query, '#');
    return query;
}

static fl_status refuse(fl_error *error, const char *what)
{
    return fl_error_set(error, FL_E_DENIED, "%s", what);
}

static fl_status check_state(const fl_code *code, fl_span query, fl_buf *value,
                             fl_error *error)
{
    size_t len = FL_CODE_SECRET - 1;

    fl_buf_clear(value);
    fl_status rc = fl_form_get(query, "state", value);
    if (rc == FL_E_NOMEM)
        return fl_error_set(error, rc, "out of memory");
    fl_span got = fl_buf_view(value);
    if (rc == FL_OK && got.len == len &&
        fl_digest_same((const unsigned char *)got.ptr,
                       (const unsigned char *)code->state, len))
        return FL_OK;
    return refuse(error, "the authorization response is not the answer to our "
                         "request (state): it was not used");
}

/* RFC 9207 2.4. */
static fl_status check_issuer(const fl_as *as, fl_span query, fl_buf *value,
                              fl_error *error)
{
    fl_buf_clear(value);
    fl_status rc = fl_form_get(query, "iss", value);
    if (rc == FL_E_NOMEM)
        return fl_error_set(error, rc, "out of memory");
    if (rc == FL_E_NOT_FOUND)
        return as->says_iss
                   ? refuse(error, "the authorization response does not say "
                                   "whose it is (iss), although its server "
                                   "promised to: it was not used")
                   : FL_OK;
    if (rc == FL_OK &&
        fl_span_equal(fl_buf_view(value), fl_span_of(as->issuer)))
        return FL_OK;
    return refuse(error, "the authorization response is of another server "
                         "(iss) than was asked: it was not used");
}

/* A refusal in the server's words; only text that may be shown. */
static fl_status read_error(fl_span query, fl_buf *value, fl_error *error)
{
    char code[64] = "";

    fl_buf_clear(value);
    fl_status rc = fl_form_get(query, "error", value);
    if (rc == FL_E_NOT_FOUND)
        return FL_OK;
    if (rc == FL_E_NOMEM)
        return fl_error_set(error, rc, "out of memory");
    fl_span said = fl_buf_view(value);
    if (said.len > 0)
        memcpy(code, said.ptr,
               said.len < sizeof code ? said.len : sizeof code - 1);
    fl_buf_clear(value);
    if (fl_form_get(query, "error_description", value) == FL_OK &&
        fl_buf_len(value) > 0)
        return fl_error_set(
            error, FL_E_DENIED, "the authorization server said no: %s (%.*s)",
            code, (int)(fl_buf_len(value) < 120 ? fl_buf_len(value) : 120),
            fl_buf_view(value).ptr);
    return fl_error_set(error, FL_E_DENIED,
                        "the authorization server said no: %s", code);
}

static fl_status read_code(fl_span query, fl_buf *value, char **out,
                           fl_error *error)
{
    fl_buf_clear(value);
    fl_status rc = fl_form_get(query, "code", value);
    if (rc == FL_OK && fl_buf_len(value) > 0)
        rc = fl_text_set(out, fl_buf_view(value));
    else if (rc != FL_E_NOMEM)
        return refuse(error, "the authorization response has no code");
    return rc == FL_OK ? rc : fl_error_set(error, rc, "out of memory");
}

bool fl_code_is_answered(const fl_code *code, fl_span redirected)
{
    fl_buf value;

    fl_buf_init(&value, VALUE_MAX);
    fl_status rc = check_state(code, query_of(redirected), &value, NULL);
    fl_text_wipe(&value);
    return rc == FL_OK;
}

fl_status fl_code_read(const fl_code *code, const fl_as *as, fl_span redirected,
                       char **out, fl_error *error)
{
    fl_span query = query_of(redirected);
    fl_buf value;

    *out = NULL;
    fl_buf_init(&value, VALUE_MAX);
    fl_status rc = check_state(code, query, &value, error);
    if (rc == FL_OK)
        rc = check_issuer(as, query, &value, error);
    if (rc == FL_OK)
        rc = read_error(query, &value, error);
    if (rc == FL_OK)
        rc = read_code(query, &value, out, error);
    fl_text_wipe(&value);
    return rc;
}
