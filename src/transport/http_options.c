/*
 * http_options.c - the options only HTTP has, checked before anything starts.
 */
#include "transport/http_options.h"

#include "base/span.h"
#include "base/status.h"
#include "guard/origin.h"
#include "wire/field.h"

#include <string.h>

/* A path that can stand in a request as it is. */
static bool path_ok(const char *path)
{
    return path[0] == '/' &&
           strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789-._~!$&'()*+,;=:@/") == strlen(path);
}

static fl_status check_path(const char *option, const char *path,
                            fl_error *error)
{
    if (path_ok(path))
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "option %s: '%s' is no path; want one like /mcp",
                        option, path);
}

static fl_status check_lists(const fl_http_settings *http, fl_error *error)
{
    const char *const *at;

    for (at = http->allow_origins; at != NULL && *at != NULL; at++)
        if (!fl_origin_valid_origin(*at))
            return fl_error_set(error, FL_E_INVALID,
                                "option http.allow_origins: '%s' is no origin; "
                                "want https://app.example.org, "
                                "http://localhost:3000, null or *",
                                *at);
    for (at = http->allow_hosts; at != NULL && *at != NULL; at++)
        if (!fl_origin_valid_host(*at))
            return fl_error_set(error, FL_E_INVALID,
                                "option http.allow_hosts: '%s' is no host; "
                                "want example.org, example.org:8080 or *",
                                *at);
    return FL_OK;
}

fl_status fl_http_options_for_server(const fl_address *address,
                                     fl_http_settings *http, fl_error *error)
{
    const char *path = address->target[0] != '\0' ? address->target : "/mcp";

    if (http->sse_path == NULL)
        http->sse_path = "/sse";
    if (http->messages_path == NULL)
        http->messages_path = "/messages";
    fl_status rc = check_path("the address's path", path, error);
    if (rc == FL_OK)
        rc = check_path("http.sse_path", http->sse_path, error);
    if (rc == FL_OK)
        rc = check_path("http.messages_path", http->messages_path, error);
    if (rc == FL_OK && (strcmp(http->sse_path, http->messages_path) == 0 ||
                        strcmp(path, http->messages_path) == 0))
        rc = fl_error_set(error, FL_E_INVALID,
                          "option http.messages_path: '%s' is taken; clients "
                          "post there and nowhere else",
                          http->messages_path);
    return rc == FL_OK ? check_lists(http, error) : rc;
}

/* Those are ours to set, and a second one would contradict the first. */
static bool is_ours(fl_span name)
{
    static const fl_field_id ours[] = {
        FL_FIELD_ACCEPT,           FL_FIELD_ACCEPT_ENCODING,
        FL_FIELD_CONNECTION,       FL_FIELD_CONTENT_ENCODING,
        FL_FIELD_CONTENT_LENGTH,   FL_FIELD_CONTENT_TYPE,
        FL_FIELD_EXPECT,           FL_FIELD_HOST,
        FL_FIELD_KEEP_ALIVE,       FL_FIELD_LAST_EVENT_ID,
        FL_FIELD_MCP_METHOD,       FL_FIELD_MCP_NAME,
        FL_FIELD_MCP_SESSION_ID,   FL_FIELD_MCP_PROTOCOL_VERSION,
        FL_FIELD_PROXY_CONNECTION, FL_FIELD_TE,
        FL_FIELD_TRAILER,          FL_FIELD_TRANSFER_ENCODING,
        FL_FIELD_UPGRADE,
    };
    fl_field_id id = fl_field_find(name);

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (ours[i] == id)
            return true;
    return false;
}

bool fl_http_options_split(const char *header, fl_span *name, fl_span *value)
{
    fl_span text = fl_span_of(header);
    size_t colon = fl_span_find(text, ':');

    *name = (fl_span){text.ptr, colon};
    *value = (fl_span){0};
    if (colon == text.len)
        return false;
    *value = fl_span_from(text, colon + 1);
    while (value->len > 0 && (value->ptr[0] == ' ' || value->ptr[0] == '\t'))
        *value = fl_span_from(*value, 1);
    while (value->len > 0 && (value->ptr[value->len - 1] == ' ' ||
                              value->ptr[value->len - 1] == '\t'))
        value->len--;
    return fl_field_name_ok(*name) && fl_field_value_ok(*value);
}

/* The value is not repeated: it may be a secret. */
fl_status fl_http_options_for_client(const fl_address *address,
                                     const fl_http_settings *http,
                                     fl_error *error)
{
    fl_span name, value;
    const char *const *at;

    for (at = http->headers; at != NULL && *at != NULL; at++) {
        if (!fl_http_options_split(*at, &name, &value))
            return fl_error_set(error, FL_E_INVALID,
                                "option http.headers: want \"Name: value\"; "
                                "number %zu is not fit to be sent",
                                (size_t)(at - http->headers) + 1);
        if (is_ours(name))
            return fl_error_set(error, FL_E_INVALID,
                                "option http.headers: %.*s is fairlead's to "
                                "send",
                                (int)name.len, name.ptr);
    }
    if (http->http1_only && http->http2_only)
        return fl_error_set(error, FL_E_INVALID,
                            "option http.http2_only: set together with "
                            "http.http1_only");
    if (!fl_address_is_tls(address) && !fl_address_is_local(address) &&
        !http->allow_plaintext)
        return fl_error_set(error, FL_E_DENIED,
                            "address: http:// to %s would send everything in "
                            "the clear; use https://, or set "
                            "http.allow_plaintext",
                            address->host);
    return FL_OK;
}
