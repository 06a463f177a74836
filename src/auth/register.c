/*
 * register.c - who the client is at an authorization server.
 *
 * We are a program on somebody's machine: a secret that every copy of it has
 * is none, so "none" is asked for where it is offered. But some servers know
 * no public clients; then a secret is taken, kept like the tokens are, and
 * shown in the way the server says.
 */
#include "auth/register.h"

#include "auth/text.h"
#include "base/span.h"
#include "base/status.h"
#include "json/nav.h"
#include "json/write.h"

static bool offers(const fl_as *as, fl_client_method method)
{
    return (as->methods & 1u << method) != 0;
}

fl_client_method fl_register_method(const fl_as *as, bool has_secret,
                                    bool has_key)
{
    if (has_key && (as->methods == 0 || offers(as, FL_METHOD_JWT)))
        return FL_METHOD_JWT;
    if (!has_secret)
        return has_key ? FL_METHOD_UNKNOWN : FL_METHOD_NONE;
    /* RFC 8414 2: who does not say it means basic */
    if (as->methods == 0 || offers(as, FL_METHOD_BASIC))
        return FL_METHOD_BASIC;
    return offers(as, FL_METHOD_POST) ? FL_METHOD_POST : FL_METHOD_BASIC;
}

fl_client_method fl_register_wish(const fl_as *as)
{
    if (as->methods == 0 || offers(as, FL_METHOD_NONE))
        return FL_METHOD_NONE;
    if (offers(as, FL_METHOD_BASIC))
        return FL_METHOD_BASIC;
    return offers(as, FL_METHOD_POST) ? FL_METHOD_POST : FL_METHOD_NONE;
}

/* OpenID's two kinds: a page of a site, or a program that is called back on
 * loopback or by a scheme of its own. */
static const char *kind_of(fl_span redirect_uri)
{
    return fl_span_starts(redirect_uri, FL_SPAN("https://")) ? "web" : "native";
}

fl_status fl_register_write(const fl_register_ask *ask, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "client_name");
    fl_json_text(&writer, ask->name);
    fl_json_key(&writer, "application_type");
    fl_json_string(&writer, kind_of(ask->redirect_uri));
    fl_json_key(&writer, "redirect_uris");
    fl_json_array(&writer);
    fl_json_text(&writer, ask->redirect_uri);
    fl_json_array_end(&writer);
    fl_json_key(&writer, "grant_types");
    fl_json_array(&writer);
    fl_json_string(&writer, "authorization_code");
    fl_json_string(&writer, "refresh_token");
    fl_json_array_end(&writer);
    fl_json_key(&writer, "response_types");
    fl_json_array(&writer);
    fl_json_string(&writer, "code");
    fl_json_array_end(&writer);
    fl_json_key(&writer, "token_endpoint_auth_method");
    fl_json_string(&writer, fl_client_method_name(ask->method));
    if (ask->scope.ptr != NULL) {
        fl_json_key(&writer, "scope");
        fl_json_text(&writer, ask->scope);
    }
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* What it says, or else what fits what it gave. */
static fl_client_method method_given(const fl_as *as, const fl_record *record)
{
    const char *said = record->text[FL_RECORD_METHOD];

    return said != NULL
               ? fl_method_find(fl_span_of(said))
               : fl_register_method(
                     as, record->text[FL_RECORD_CLIENT_SECRET] != NULL, false);
}

static fl_status judge(const fl_as *as, fl_record *record, fl_error *error)
{
    fl_client_method method = method_given(as, record);
    bool has_secret = record->text[FL_RECORD_CLIENT_SECRET] != NULL;

    if (fl_record_get(record, FL_RECORD_CLIENT_ID).len == 0)
        return fl_error_set(error, FL_E_REMOTE,
                            "%.100s registered us without a client_id",
                            as->issuer);
    if (method == FL_METHOD_UNKNOWN || method == FL_METHOD_JWT ||
        (method != FL_METHOD_NONE && !has_secret))
        return fl_error_set(error, FL_E_REMOTE,
                            "%.100s registered us for a client authentication "
                            "that is not possible; set client_id",
                            as->issuer);
    return fl_record_set(record, FL_RECORD_METHOD,
                         fl_span_of(fl_client_method_name(method)));
}

fl_status fl_register_read(fl_span json, const fl_as *as, fl_record *record,
                           fl_error *error)
{
    static const fl_record_slot slots[] = {
        FL_RECORD_CLIENT_ID, FL_RECORD_CLIENT_SECRET, FL_RECORD_METHOD};
    static const char *const keys[] = {"client_id", "client_secret",
                                       "token_endpoint_auth_method"};
    fl_json_top top;
    fl_status rc = FL_OK;

    if (fl_json_scan(json, 32, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT)
        return fl_error_set(error, FL_E_REMOTE,
                            "%.100s answered a registration with what is no "
                            "JSON object",
                            as->issuer);
    for (size_t i = 0; i < 3 && rc == FL_OK; i++) {
        fl_text_drop(&record->text[slots[i]]);
        rc = fl_member_text(top.value, keys[i], &record->text[slots[i]]);
    }
    if (rc != FL_OK)
        return fl_error_set(error, rc, "out of memory");
    return judge(as, record, error);
}
