/*
 * door.c - what a command that serves can be told about its addresses.
 *
 * The same words mean the same for every command that listens, so their table
 * is here, once.
 */
#include "cmd/door.h"

#include "base/span.h"
#include "transport/address.h"

#include <stdio.h>
#include <string.h>

/* In the order of fl_log_level and fl_log_format, counted from 1. */
static const char *const levels[] = {"debug", "info", "warn",
                                     "error", "off",  NULL};
static const char *const formats[] = {"text", "json", "auto", NULL};

size_t fl_door_flags(fl_door_settings *to, fl_flag *flags)
{
    fl_options *options = &to->options;
    const fl_flag rows[] = {
        {"--listen", FL_FLAG_LIST, &to->listen, NULL},
        {"--max-message", FL_FLAG_BYTES, &options->max_message, NULL},
        {"--max-connections", FL_FLAG_COUNT, &options->max_connections, NULL},
        {"--idle-timeout", FL_FLAG_SECONDS, &options->idle_timeout_ms, NULL},
        {"--tls-cert", FL_FLAG_TEXT, &options->tls.cert_file, NULL},
        {"--tls-key", FL_FLAG_TEXT, &options->tls.key_file, NULL},
        {"--tls-ca", FL_FLAG_TEXT, &options->tls.ca_file, NULL},
        {"--require-client-cert", FL_FLAG_SWITCH,
         &options->tls.require_client_cert, NULL},
        {"--allow", FL_FLAG_LIST, &to->allow, NULL},
        {"--deny", FL_FLAG_LIST, &to->deny, NULL},
        {"--allow-origin", FL_FLAG_LIST, &to->origins, NULL},
        {"--allow-host", FL_FLAG_LIST, &to->hosts, NULL},
        {"--allow-header", FL_FLAG_LIST, &to->send, NULL},
        {"--expose-header", FL_FLAG_LIST, &to->read, NULL},
        {"--base-url", FL_FLAG_TEXT, &options->http.base_url, NULL},
        {"--stateless", FL_FLAG_SWITCH, &options->http.stateless, NULL},
        {"--sse-path", FL_FLAG_TEXT, &options->http.sse_path, NULL},
        {"--message-path", FL_FLAG_TEXT, &options->http.messages_path, NULL},
        {"--health", FL_FLAG_TEXT, &options->http.health_path, NULL},
        {"--no-sse", FL_FLAG_SWITCH, &options->http.no_sse, NULL},
        {"--no-ws", FL_FLAG_SWITCH, &options->ws.off, NULL},
        {"--ping-interval", FL_FLAG_SECONDS, &options->ws.ping_ms, NULL},
        {"--max-sessions", FL_FLAG_COUNT, &options->http.max_sessions, NULL},
        {"--session-timeout", FL_FLAG_SECONDS, &options->http.session_idle_ms,
         NULL},
        {"--head-timeout", FL_FLAG_SECONDS, &options->http.head_timeout_ms,
         NULL},
        {"--body-timeout", FL_FLAG_SECONDS, &options->http.body_timeout_ms,
         NULL},
        {"--insecure-no-auth", FL_FLAG_SWITCH, &options->allow_public, NULL},
        {"--log-level", FL_FLAG_CHOICE, &to->log_level, levels},
        {"--log-format", FL_FLAG_CHOICE, &to->log_format, formats},
        {"--quiet", FL_FLAG_SWITCH, &to->quiet, NULL},
        {"--help", FL_FLAG_SWITCH, &to->help, NULL},
        {"-h", FL_FLAG_SWITCH, &to->help, NULL},
    };

    _Static_assert(sizeof rows / sizeof *rows <= FL_DOOR_FLAGS, "room");
    memcpy(flags, rows, sizeof rows);
    return sizeof rows / sizeof *rows;
}

void fl_door_settle(fl_door_settings *to)
{
    if (to->log_format > FL_LOG_JSON)
        to->log_format = FL_LOG_AUTO;
    if (to->allow.count > 0)
        to->options.allow_addresses = to->allow.items;
    if (to->deny.count > 0)
        to->options.deny_addresses = to->deny.items;
    if (to->origins.count > 0)
        to->options.http.allow_origins = to->origins.items;
    if (to->hosts.count > 0)
        to->options.http.allow_hosts = to->hosts.items;
    if (to->send.count > 0)
        to->options.http.allow_headers = to->send.items;
    if (to->read.count > 0)
        to->options.http.expose_headers = to->read.items;
}

fl_log *fl_door_log(const fl_door_settings *settings)
{
    fl_log_level level = settings->log_level;

    if (settings->quiet && level == FL_LOG_DEFAULT)
        level = FL_LOG_WARN;
    return fl_log_new(&(fl_log_options){
        .level = level,
        .format = settings->log_format,
    });
}

static bool is_http(const fl_address *address)
{
    return strstr(address->scheme, "http") != NULL;
}

static bool is_ws(const char *url)
{
    return strncmp(url, "ws", 2) == 0;
}

void fl_door_describe(const char *url, uint16_t port, char out[FL_DOOR_URL])
{
    fl_address address;

    if (fl_address_parse(url, &address, NULL) != FL_OK ||
        address.host[0] == '\0') {
        snprintf(out, FL_DOOR_URL, "%s", url);
        return;
    }
    bool six = strchr(address.host, ':') != NULL;
    bool is_sse = strncmp(url, "sse", 3) == 0;
    const char *path = address.target;
    if (is_ws(url) && path[0] == '\0')
        path = "/";
    else if (path[0] == '\0')
        path = is_http(&address) ? is_sse ? "/sse" : "/mcp" : "";
    if (fl_address_socket(&address) != NULL)
        snprintf(out, FL_DOOR_URL, "%sunix:%s#%s", is_sse ? "sse+" : "",
                 address.path, path);
    else
        snprintf(out, FL_DOOR_URL, "%s://%s%s%s:%u%s", address.scheme,
                 six ? "[" : "", address.host, six ? "]" : "", port, path);
}

void fl_door_describe_ws(const fl_door_settings *settings, const char *shown,
                         char out[FL_DOOR_URL])
{
    out[0] = '\0';
    if (!settings->options.ws.off && strncmp(shown, "http", 4) == 0)
        snprintf(out, FL_DOOR_URL, "ws%s", shown + strlen("http"));
}

void fl_door_announce(fl_log *log, const char *url, const char *ws)
{
    if (ws[0] == '\0')
        fl_log_say(log, FL_LOG_INFO, "listening",
                   fl_log_text("url", fl_span_of(url)));
    else
        fl_log_say(log, FL_LOG_INFO, "listening",
                   fl_log_text("url", fl_span_of(url)),
                   fl_log_text("websocket", fl_span_of(ws)));
}
