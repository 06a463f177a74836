/*
 * metadata.c - what servers say about themselves, read.
 *
 * These documents come from whoever a server names, so nothing is taken for
 * granted: sizes are bounded before they get here, depth by the scan, lists by
 * our arrays. Strings with controls in them are no URLs and no scopes, and are
 * refused where they are used.
 */
#include "auth/metadata.h"

#include "auth/text.h"
#include "base/span.h"
#include "json/nav.h"

enum { TEXT_MAX = 16 * 1024, DEPTH_MAX = 32 };

static const char *const methods[] = {
    [FL_METHOD_NONE] = "none",
    [FL_METHOD_BASIC] = "client_secret_basic",
    [FL_METHOD_POST] = "client_secret_post",
    [FL_METHOD_JWT] = "private_key_jwt",
};

fl_client_method fl_method_find(fl_span name)
{
    for (int i = FL_METHOD_NONE; i <= FL_METHOD_JWT; i++)
        if (fl_span_equal(name, fl_span_of(methods[i])))
            return (fl_client_method)i;
    return FL_METHOD_UNKNOWN;
}

const char *fl_client_method_name(fl_client_method method)
{
    return methods[method];
}

/* The meaning of a JSON string in `text`; what is too long is as good as not
 * there, and so is one with a NUL, of which a C string would be the harmless
 * half. FL_E_NOMEM alone is a failure. */
static fl_status read_string(fl_span value, fl_buf *text)
{
    fl_buf_clear(text);
    fl_status rc = fl_json_string_copy(value, text);
    if (rc == FL_OK && fl_span_find(fl_buf_view(text), '\0') < fl_buf_len(text))
        return FL_E_NOT_FOUND;
    return rc == FL_E_TOO_BIG || rc == FL_E_INVALID ? FL_E_NOT_FOUND : rc;
}

fl_status fl_member_text(fl_span object, const char *key, char **slot)
{
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    fl_status rc = read_string(fl_json_get(object, fl_span_of(key)), &text);
    if (rc == FL_OK) {
        fl_span view = fl_buf_view(&text);
        rc = fl_text_set(slot, view.ptr != NULL ? view : FL_SPAN(""));
    }
    fl_text_wipe(&text);
    return rc == FL_E_NOT_FOUND ? FL_OK : rc;
}

static bool member_true(fl_span object, const char *key)
{
    return fl_json_type_of(fl_json_get(object, fl_span_of(key))) ==
           FL_JSON_TRUE;
}

static fl_span member_list(fl_span object, const char *key)
{
    fl_span value = fl_json_get(object, fl_span_of(key));

    return fl_json_type_of(value) == FL_JSON_ARRAY ? value : (fl_span){0};
}

static bool list_has(fl_span list, const char *wanted)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, list);
    while (fl_json_walk_next(&walk, &member))
        if (fl_json_string_is(member.value, fl_span_of(wanted)))
            return true;
    return false;
}

/* A list of scopes as OAuth writes them; an empty list is as good as none. */
static fl_status member_scopes(fl_span object, const char *key, char **slot)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = FL_OK;
    fl_buf all, word;

    fl_buf_init(&all, TEXT_MAX);
    fl_buf_init(&word, TEXT_MAX);
    fl_json_walk_init(&walk, member_list(object, key));
    while (rc == FL_OK && fl_json_walk_next(&walk, &member)) {
        rc = read_string(member.value, &word);
        if (rc == FL_OK)
            rc = fl_scopes_add(&all, fl_buf_view(&word));
        else if (rc == FL_E_NOT_FOUND)
            rc = FL_OK;
    }
    if (rc == FL_OK)
        rc = fl_text_set(slot, fl_buf_view(&all));
    fl_buf_reset(&all);
    fl_buf_reset(&word);
    return rc;
}

static fl_status read_issuers(fl_span object, fl_prm *out)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = FL_OK;
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    fl_json_walk_init(&walk, member_list(object, "authorization_servers"));
    while (rc == FL_OK && out->count < FL_PRM_ISSUERS &&
           fl_json_walk_next(&walk, &member)) {
        rc = read_string(member.value, &text);
        if (rc == FL_OK && fl_buf_len(&text) > 0)
            rc = fl_text_set(&out->issuers[out->count++], fl_buf_view(&text));
        else if (rc == FL_E_NOT_FOUND)
            rc = FL_OK;
    }
    fl_buf_reset(&text);
    return rc;
}

static fl_status scan(fl_span json, fl_json_top *top)
{
    return fl_json_scan(json, DEPTH_MAX, top, NULL) == FL_OK &&
                   top->type == FL_JSON_OBJECT
               ? FL_OK
               : FL_E_BAD_JSON;
}

fl_status fl_prm_read(fl_span json, fl_prm *out)
{
    fl_json_top top;
    fl_status rc = scan(json, &top);

    *out = (fl_prm){0};
    if (rc != FL_OK)
        return rc;
    out->dpop_required =
        member_true(top.value, "dpop_bound_access_tokens_required");
    rc = fl_member_text(top.value, "resource", &out->resource);
    if (rc == FL_OK)
        rc = read_issuers(top.value, out);
    if (rc == FL_OK)
        rc = member_scopes(top.value, "scopes_supported", &out->scopes);
    if (rc != FL_OK)
        fl_prm_deinit(out);
    return rc;
}

void fl_prm_deinit(fl_prm *prm)
{
    fl_text_drop(&prm->resource);
    for (size_t i = 0; i < prm->count; i++)
        fl_text_drop(&prm->issuers[i]);
    fl_text_drop(&prm->scopes);
    *prm = (fl_prm){0};
}

static unsigned read_methods(fl_span object)
{
    fl_span list = member_list(object, "token_endpoint_auth_methods_supported");
    unsigned found = 0;

    for (int i = FL_METHOD_NONE; i <= FL_METHOD_JWT; i++)
        if (list_has(list, methods[i]))
            found |= 1u << i;
    return found;
}

fl_status fl_as_read(fl_span json, fl_as *out)
{
    const struct {
        const char *key;
        char **slot;
    } texts[] = {
        {"issuer", &out->issuer},
        {"authorization_endpoint", &out->authorize},
        {"token_endpoint", &out->token},
        {"registration_endpoint", &out->registration},
    };
    fl_json_top top;
    fl_status rc = scan(json, &top);

    *out = (fl_as){0};
    if (rc != FL_OK)
        return rc;
    fl_span o = top.value;
    fl_span pkce = member_list(o, "code_challenge_methods_supported");
    out->methods = read_methods(o);
    out->cimd = member_true(o, "client_id_metadata_document_supported");
    out->says_iss =
        member_true(o, "authorization_response_iss_parameter_supported");
    out->says_pkce = pkce.len > 0;
    out->pkce = list_has(pkce, "S256");
    out->dpop =
        list_has(member_list(o, "dpop_signing_alg_values_supported"), "ES256");
    for (size_t i = 0; i < sizeof texts / sizeof *texts && rc == FL_OK; i++)
        rc = fl_member_text(o, texts[i].key, texts[i].slot);
    if (rc == FL_OK)
        rc = member_scopes(o, "scopes_supported", &out->scopes);
    if (rc != FL_OK)
        fl_as_deinit(out);
    return rc;
}

void fl_as_deinit(fl_as *as)
{
    fl_text_drop(&as->issuer);
    fl_text_drop(&as->authorize);
    fl_text_drop(&as->token);
    fl_text_drop(&as->registration);
    fl_text_drop(&as->scopes);
    *as = (fl_as){0};
}
