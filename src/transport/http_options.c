/*
 * http_options.c - the options only HTTP has, checked before anything starts.
 */
#include "transport/http_options.h"

#include "base/span.h"
#include "base/status.h"
#include "guard/origin.h"
#include "wire/url.h"

#include <stdio.h>
#include <string.h>

/* A path that can stand in a request as it is. */
static bool path_ok(const char *path)
{
    return path[0] == '/' &&
           strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789-._~!$&'()*+,;=:@/") == strlen(path);
}

fl_status fl_http_options_check_path(const char *option, const char *path,
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

static fl_status check_names(const char *option, const char *const *names,
                             fl_error *error)
{
    for (; names != NULL && *names != NULL; names++)
        if (!fl_field_name_ok(fl_span_of(*names)))
            return fl_error_set(error, FL_E_INVALID,
                                "option %s: '%s' is no header's name; want "
                                "one like X-Team",
                                option, *names);
    return FL_OK;
}

static bool base_ok(fl_span text)
{
    fl_url url;

    return fl_url_parse(text, &url) == FL_OK &&
           (fl_field_name_equal(url.scheme, FL_SPAN("http")) ||
            fl_field_name_equal(url.scheme, FL_SPAN("https"))) &&
           fl_span_find(text, '?') == text.len &&
           fl_span_find(text, '#') == text.len;
}

static fl_status check_told(const fl_http_settings *http, fl_error *error)
{
    fl_status rc =
        check_names("http.allow_headers", http->allow_headers, error);

    if (rc == FL_OK)
        rc = check_names("http.expose_headers", http->expose_headers, error);
    if (rc == FL_OK && http->base_url != NULL &&
        !base_ok(fl_span_of(http->base_url)))
        rc = fl_error_set(error, FL_E_INVALID,
                          "option http.base_url: '%s' is no such URL; want "
                          "one like https://example.org/gate",
                          http->base_url);
    return rc;
}

const char *fl_http_options_path(const fl_address *address)
{
    if (address->target[0] != '\0')
        return address->target;
    return fl_address_is_websocket(address) ? "/" : "/mcp";
}

fl_status fl_http_options_for_server(const fl_address *address,
                                     fl_http_settings *http, fl_error *error)
{
    const char *path = fl_http_options_path(address);

    if (http->sse_path == NULL)
        http->sse_path = "/sse";
    if (http->messages_path == NULL)
        http->messages_path = "/messages";
    fl_status rc =
        fl_http_options_check_path("the address's path", path, error);
    if (rc == FL_OK)
        rc = fl_http_options_check_path("http.sse_path", http->sse_path, error);
    if (rc == FL_OK)
        rc = fl_http_options_check_path("http.messages_path",
                                        http->messages_path, error);
    if (rc == FL_OK && http->health_path != NULL)
        rc = fl_http_options_check_path("http.health_path", http->health_path,
                                        error);
    if (rc == FL_OK && !fl_address_is_websocket(address) &&
        (strcmp(http->sse_path, http->messages_path) == 0 ||
         strcmp(path, http->messages_path) == 0))
        rc = fl_error_set(error, FL_E_INVALID,
                          "option http.messages_path: '%s' is taken; clients "
                          "post there and nowhere else",
                          http->messages_path);
    if (rc == FL_OK)
        rc = check_lists(http, error);
    return rc == FL_OK ? check_told(http, error) : rc;
}

/* Ours, or the codec's; a proxy's business; or they change what a body is. A
 * second one would contradict the first. */
static bool is_reserved(const fl_field *field)
{
    static const bool ours[FL_FIELD_COUNT] = {
        [FL_FIELD_ACCEPT] = true,
        [FL_FIELD_ACCEPT_ENCODING] = true,
        [FL_FIELD_CONNECTION] = true,
        [FL_FIELD_CONTENT_ENCODING] = true,
        [FL_FIELD_CONTENT_LENGTH] = true,
        [FL_FIELD_CONTENT_TYPE] = true,
        [FL_FIELD_EXPECT] = true,
        [FL_FIELD_HOST] = true,
        [FL_FIELD_KEEP_ALIVE] = true,
        [FL_FIELD_LAST_EVENT_ID] = true,
        [FL_FIELD_MCP_METHOD] = true,
        [FL_FIELD_MCP_NAME] = true,
        [FL_FIELD_MCP_PROTOCOL_VERSION] = true,
        [FL_FIELD_MCP_SESSION_ID] = true,
        [FL_FIELD_PROXY_CONNECTION] = true,
        [FL_FIELD_SEC_WEBSOCKET_EXTENSIONS] = true,
        [FL_FIELD_SEC_WEBSOCKET_KEY] = true,
        [FL_FIELD_SEC_WEBSOCKET_PROTOCOL] = true,
        [FL_FIELD_SEC_WEBSOCKET_VERSION] = true,
        [FL_FIELD_TE] = true,
        [FL_FIELD_TRAILER] = true,
        [FL_FIELD_TRANSFER_ENCODING] = true,
        [FL_FIELD_UPGRADE] = true,
        [FL_FIELD_USER_AGENT] = true,
    };

    return ours[field->id] ||
           fl_field_name_equal(field->name, FL_SPAN("proxy-authorization"));
}

static fl_span trim(fl_span text)
{
    while (text.len > 0 && strchr(" \t", text.ptr[0]) != NULL)
        text = fl_span_from(text, 1);
    while (text.len > 0 && strchr(" \t", text.ptr[text.len - 1]) != NULL)
        text.len--;
    return text;
}

static fl_status check_name(fl_span name, const char *where, fl_error *error)
{
    if (name.len == 0)
        return fl_error_set(error, FL_E_INVALID,
                            "%s: there is no name before the colon", where);
    for (size_t i = 0; i < name.len; i++) {
        unsigned char byte = (unsigned char)name.ptr[i];
        if (fl_field_name_ok((fl_span){name.ptr + i, 1}))
            continue;
        if (byte > ' ' && byte <= '~')
            return fl_error_set(error, FL_E_INVALID,
                                "%s: '%c' may not stand in a header's name",
                                where, byte);
        return fl_error_set(error, FL_E_INVALID,
                            "%s: %s may not stand in a header's name", where,
                            byte == ' ' ? "a space" : "such a byte");
    }
    return FL_OK;
}

/* No value in any text, nor what may have been meant for one: it is a secret
 * more often than not. */
fl_status fl_http_options_header(const char *header, const char *where,
                                 fl_field *field, fl_error *error)
{
    fl_span text = fl_span_of(header);
    size_t colon = fl_span_find(text, ':');

    *field = (fl_field){.name = {text.ptr, colon}};
    if (colon == text.len)
        return fl_error_set(error, FL_E_INVALID,
                            "%s: there is no colon in it; want 'Name: value'",
                            where);
    fl_status rc = check_name(field->name, where, error);
    if (rc != FL_OK)
        return rc;
    field->value = trim(fl_span_from(text, colon + 1));
    field->id = fl_field_find(field->name);
    if (!fl_field_value_ok(field->value))
        return fl_error_set(error, FL_E_INVALID,
                            "%s: the value of '%.*s' has a control character "
                            "in it, which may not be sent",
                            where, (int)colon, text.ptr);
    if (is_reserved(field))
        return fl_error_set(error, FL_E_INVALID,
                            "%s: '%.*s' is set by fairlead itself", where,
                            (int)colon, text.ptr);
    return FL_OK;
}

static fl_status check_headers(const char *const *headers, fl_error *error)
{
    fl_status rc = FL_OK;
    fl_field field;
    char where[64];

    for (size_t i = 0; headers != NULL && headers[i] != NULL && rc == FL_OK;
         i++) {
        snprintf(where, sizeof where, "option http.headers, number %zu", i + 1);
        rc = fl_http_options_header(headers[i], where, &field, error);
    }
    return rc;
}

fl_status fl_http_options_for_client(const fl_address *address,
                                     const fl_http_settings *http,
                                     fl_error *error)
{
    fl_status rc = check_headers(http->headers, error);

    if (rc != FL_OK)
        return rc;
    if (http->http1_only && http->http2_only)
        return fl_error_set(error, FL_E_INVALID,
                            "option http.http2_only: set together with "
                            "http.http1_only");
    if (!fl_address_is_tls(address) && !fl_address_is_local(address) &&
        !http->allow_plaintext)
        return fl_error_set(error, FL_E_INVALID,
                            "address: %s:// to %s would send everything in "
                            "the clear; use %s://, or allow it with "
                            "--allow-http (http.allow_plaintext)",
                            address->scheme, address->host,
                            fl_address_is_websocket(address) ? "wss" : "https");
    return FL_OK;
}
