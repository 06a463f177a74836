/*
 * face_mcp_remote.c - "fairlead mcp-remote".
 *
 * A server at a URL, for a host that only starts commands; with a login in a
 * browser if the server asks for one. Headers may have ${VARIABLE} in them,
 * because there are hosts that cannot hand over an argument with a blank.
 *
 * The login is kept where mcp-remote keeps its own, but in a file of another
 * name and form: everybody logs in once more after changing over.
 */
#include "cmd/face_parts.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "base/span.h"
#include "base/status.h"
#include "cmd/slurp.h"
#include "json/nav.h"

#include <string.h>
#include <strings.h>

enum { FILE_MAX = 64 * 1024, VALUE_MAX = 64 * 1024 };

static const fl_face_row rows[] = {
    {.name = "--header",
     .kind = FL_FACE_VALUE,
     .ours = "--header",
     .secret = true},
    {.name = "--header-file",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_PASS,
     .ours = "--header-file"},
    {.name = "--transport",
     .kind = FL_FACE_VALUE,
     .ours = "URL",
     .why = "sse-only is sse+URL; else it is found out"},
    {.name = "--protocol",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_WORD,
     .ours = "--era",
     .why = "legacy and auto",
     .words = "legacy=legacy auto=auto"},
    {.name = "--allow-http", .deed = FL_FACE_PASS, .ours = "--allow-http"},
    {.name = "--host", .kind = FL_FACE_VALUE, .ours = "--redirect-uri"},
    {.name = "--callback-path",
     .kind = FL_FACE_VALUE,
     .ours = "--redirect-uri"},
    {.name = "--auth-success-url",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "after the login there is a page that says so"},
    {.name = "--auth-timeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_PASS,
     .ours = "--auth-timeout"},
    {.name = "--resource",
     .kind = FL_FACE_VALUE,
     .ours = "--auth-store",
     .why = "tells logins apart; the token is asked for the server's own URL"},
    {.name = "--disable-resource-parameter",
     .deed = FL_FACE_NEVER,
     .why = "tokens are always asked for one server by its URL (RFC 8707); "
            "get one elsewhere and give it with --header"},
    {.name = "--authorize-param",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_NEVER,
     .why = "nothing can be added to what is asked; scopes go into "
            "--static-oauth-client-metadata '{\"scope\":\"...\"}'"},
    {.name = "--static-oauth-client-metadata",
     .kind = FL_FACE_VALUE,
     .ours = "--scope"},
    {.name = "--static-oauth-client-info",
     .kind = FL_FACE_VALUE,
     .ours = "--client-id --client-secret-env",
     .secret = true},
    {.name = "--client-metadata-url",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_PASS,
     .ours = "--client-metadata-url"},
    {.name = "--client-credentials", .ours = "--auth client-credentials"},
    {.name = "--token-endpoint",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "the server says where tokens are to be had"},
    {.name = "--device-code",
     .deed = FL_FACE_NEVER,
     .why = "there is no login by a code that is typed in; leave it out, and "
            "open the page that is printed in a browser on this machine"},
    {.name = "--use-id-token",
     .deed = FL_FACE_NEVER,
     .why = "an ID token is not meant for servers; get one elsewhere and give "
            "it with --header"},
    {.name = "--disable-cookies",
     .deed = FL_FACE_MEANT,
     .why = "no cookies are kept"},
    {.name = "--ignore-tool",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_PASS,
     .ours = "--hide-tool"},
    {.name = "--connect-timeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "connecting has a limit of its own, and is tried again"},
    {.name = "--headers-timeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_PASS,
     .ours = "--timeout"},
    {.name = "--body-timeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "an answer may take as long as there is progress"},
    {.name = "--keep-alive",
     .deed = FL_FACE_MEANT,
     .why = "connections are kept, and dead ones found"},
    {.name = "--ping-interval",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "dead connections are found without pings"},
    {.name = "--ipv4",
     .deed = FL_FACE_IDLE,
     .why = "all addresses of a name are tried"},
    {.name = "--enable-proxy",
     .deed = FL_FACE_MEANT,
     .why = "HTTPS_PROXY and the like are heeded"},
    {.name = "--debug", .ours = "--log-level debug"},
    {.name = "--silent", .ours = "--log-level off"},
    {0},
};

/* The value of ${NAME} at `text`, whose length becomes `len`. */
static fl_status look_up(const fl_face *face, fl_span text, size_t *len,
                         const char **value, fl_error *error)
{
    size_t end = fl_span_find(text, '}');
    fl_span name = end > 2 && end < text.len ? (fl_span){text.ptr + 2, end - 2}
                                             : (fl_span){0};

    *len = end + 1;
    *value = NULL;
    if (name.len > 0)
        *value = fl_face_getenv(face->environment, name);
    if (*value != NULL)
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        name.len > 0
                            ? "option --header: the environment has no '%.*s'"
                            : "option --header: a ${ without a name and }%.*s",
                        (int)name.len, name.len > 0 ? name.ptr : "");
}

/* `line` with its ${VARIABLE}s filled in. */
static fl_status fill_in(const fl_face *face, fl_span line, fl_buf *out,
                         fl_error *error)
{
    fl_status rc = FL_OK;

    while (line.len > 0 && rc == FL_OK) {
        size_t dollar = fl_span_find(line, '$'), len = dollar;
        fl_span part = {line.ptr, dollar};
        if (dollar == 0 && fl_span_starts(line, FL_SPAN("${"))) {
            const char *value;
            rc = look_up(face, line, &len, &value, error);
            part = fl_span_of(value);
        } else if (dollar == 0) {
            part.len = len = 1;
        }
        if (rc == FL_OK && fl_buf_append(out, part) != FL_OK)
            rc = fl_error_set(error, FL_E_NOMEM,
                              "option --header: too long, or out of memory");
        if (rc == FL_OK)
            line = fl_span_from(line, len);
    }
    return rc;
}

static fl_status put_header(fl_face *face, const char *given, fl_error *error)
{
    fl_buf line;

    fl_buf_init(&line, VALUE_MAX);
    fl_status rc = fill_in(face, fl_span_of(given), &line, error);
    if (rc == FL_OK && fl_buf_append(&line, (fl_span){"", 1}) != FL_OK)
        rc = fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (rc == FL_OK)
        rc = fl_face_header_line(face, "--header", fl_buf_view(&line).ptr,
                                 strstr(given, "${") != NULL, error);
    if (line.ptr != NULL)
        fl_mem_wipe(line.ptr, line.cap);
    fl_buf_reset(&line);
    return rc;
}

static bool has_credentials(const fl_face *face)
{
    const fl_face_said *said = NULL;

    if (fl_face_next(face, "--header-file", NULL) != NULL)
        return true;
    while ((said = fl_face_next(face, "--header", said)) != NULL)
        if (strncasecmp(said->value, "authorization", 13) == 0)
            return true;
    return false;
}

/* The text of member `key` in JSON, or in a file of it, "@FILE"; empty if it
 * has none. */
static fl_status read_member(const char *option, const char *given, fl_span key,
                             fl_buf *out, fl_error *error)
{
    fl_json_top top;
    fl_buf text;

    fl_buf_init(&text, FILE_MAX);
    fl_status rc = given[0] == '@' ? fl_slurp(given + 1, &text, error)
                                   : fl_buf_append(&text, fl_span_of(given));
    if (rc != FL_OK && given[0] != '@')
        rc = fl_error_set(error, rc, "option %s: %s", option,
                          fl_status_text(rc));
    if (rc == FL_OK &&
        (fl_json_scan(fl_buf_view(&text), 0, &top, NULL) != FL_OK ||
         top.type != FL_JSON_OBJECT))
        rc = fl_error_set(error, FL_E_INVALID,
                          "option %s: want a JSON object, or @FILE with one",
                          option);
    if (rc == FL_OK) {
        fl_span value = fl_json_get(top.value, key);
        if (fl_json_type_of(value) == FL_JSON_STRING)
            rc = fl_json_string_copy(value, out);
        if (rc != FL_OK)
            fl_error_set(error, rc, "option %s: %s", option,
                         fl_status_text(rc));
    }
    if (text.ptr != NULL)
        fl_mem_wipe(text.ptr, text.cap);
    fl_buf_reset(&text);
    return rc;
}

/* Puts what member `key` of `option` says, if it was given and has it: as our
 * flag or, if it is a secret, as a variable. `found` may be NULL. */
static fl_status put_member(fl_face *face, const char *option, const char *key,
                            const char *ours, bool *found, fl_error *error)
{
    const char *given = fl_face_value(face, option, NULL);
    fl_buf value;

    if (given == NULL)
        return FL_OK;
    fl_buf_init(&value, VALUE_MAX);
    fl_status rc = read_member(option, given, fl_span_of(key), &value, error);
    bool some = rc == FL_OK && fl_buf_len(&value) > 0;
    if (some && fl_buf_append(&value, (fl_span){"", 1}) != FL_OK)
        rc = fl_error_set(error, FL_E_NOMEM, "out of memory");
    else if (some && strcmp(key, "client_secret") == 0)
        fl_face_secret(face, ours, "", "FAIRLEAD_CLIENT_SECRET",
                       fl_buf_view(&value).ptr);
    else if (some)
        fl_face_put(face, ours, fl_buf_view(&value).ptr);
    if (found != NULL)
        *found = some;
    if (value.ptr != NULL)
        fl_mem_wipe(value.ptr, value.cap);
    fl_buf_reset(&value);
    return rc;
}

/* Where the browser comes back to; the library has a place of its own. */
static fl_status put_redirect(fl_face *face, fl_error *error)
{
    bool pinned = face->words.count > 1;
    const char *port = pinned ? face->words.items[1] : "0";
    const char *host = fl_face_value(face, "--host", "localhost");
    const char *path =
        fl_face_value(face, "--callback-path", "/oauth/callback");

    if (port[strspn(port, "0123456789")] != '\0' || strlen(port) > 5)
        return fl_error_set(error, FL_E_INVALID,
                            "'%s' is not a port to come back to after a login",
                            port);
    if (path[0] != '/')
        return fl_error_set(error, FL_E_INVALID,
                            "option --callback-path: '%s' does not begin with "
                            "a slash",
                            path);
    if (pinned || fl_face_next(face, "--host", NULL) != NULL ||
        fl_face_next(face, "--callback-path", NULL) != NULL)
        fl_face_putf(face, "--redirect-uri", "http://%s:%s%s", host, port,
                     path);
    return FL_OK;
}

/* One file for each server and --resource, as there is one folder there. */
static void put_store(fl_face *face, const char *url)
{
    static const uint64_t seed[2] = {0}; /* it is a name, not a defence */
    fl_span variable = FL_SPAN("MCP_REMOTE_CONFIG_DIR");
    const char *folder = fl_face_getenv(face->environment, variable);
    const char *home = fl_face_getenv(face->environment, FL_SPAN("HOME"));
    const char *resource = fl_face_value(face, "--resource", "");
    uint64_t hash = fl_siphash(seed, fl_span_of(url)) ^
                    (fl_siphash(seed, fl_span_of(resource)) << 1);

    if (folder != NULL && *folder != '\0')
        fl_face_putf(face, "--auth-store", "%s/fairlead-%016llx", folder,
                     (unsigned long long)hash);
    else if (home != NULL && *home != '\0')
        fl_face_putf(face, "--auth-store", "%s/.mcp-auth/fairlead-%016llx",
                     home, (unsigned long long)hash);
    else
        fl_face_warn(face, "the login is not kept: neither HOME nor "
                           "MCP_REMOTE_CONFIG_DIR is set");
}

static fl_status put_login(fl_face *face, const char *url, fl_error *error)
{
    static const char info[] = "--static-oauth-client-info";
    bool itself = fl_face_is_on(face, "--client-credentials");
    bool id = false, secret = false;

    fl_face_put(face, "--auth", itself ? "client-credentials" : "code");
    fl_status rc =
        put_member(face, info, "client_id", "--client-id", &id, error);
    if (rc == FL_OK)
        rc = put_member(face, info, "client_secret", "--client-secret-env",
                        &secret, error);
    if (rc == FL_OK)
        rc = put_member(face, "--static-oauth-client-metadata", "scope",
                        "--scope", NULL, error);
    if (rc == FL_OK && itself && !(id && secret))
        rc = fl_error_set(error, FL_E_INVALID,
                          "option --client-credentials: they are client_id and "
                          "client_secret in --static-oauth-client-info");
    if (rc == FL_OK && !itself)
        rc = put_redirect(face, error);
    put_store(face, url);
    return rc;
}

static fl_status choose_transport(const fl_face *face, bool *sse,
                                  fl_error *error)
{
    static const char *const known[] = {"http-first", "sse-first", "http-only",
                                        "sse-only", NULL};
    const char *given = fl_face_value(face, "--transport", known[0]);
    size_t i = 0;

    *sse = strcmp(given, "sse-only") == 0;
    while (known[i] != NULL && strcmp(known[i], given) != 0)
        i++;
    if (known[i] != NULL)
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "option --transport: '%s' is not one of http-first, "
                        "sse-first, http-only and sse-only",
                        given);
}

static fl_status compose(fl_face *face, fl_error *error)
{
    const fl_face_said *said = NULL;
    bool sse = false;

    if (face->words.count < 1 || face->words.count > 2)
        return fl_error_set(error, FL_E_INVALID,
                            "want the URL of a server, and perhaps a port to "
                            "come back to after a login");
    const char *url = face->words.items[0];
    fl_status rc = choose_transport(face, &sse, error);
    face->connect = true;
    if (fl_face_is_plain(url) && !fl_face_is_on(face, "--allow-http"))
        return fl_error_set(error, FL_E_INVALID,
                            "http:// to another machine can be read by all on "
                            "the way; if that is fine, add --allow-http");
    while (rc == FL_OK && (said = fl_face_next(face, "--header", said)) != NULL)
        rc = put_header(face, said->value, error);
    if (rc == FL_OK && !has_credentials(face))
        rc = put_login(face, url, error);
    if (fl_face_is_on(face, "--debug"))
        fl_face_debug(face);
    else if (fl_face_is_on(face, "--silent"))
        fl_face_put(face, "--log-level", "off");
    return rc == FL_OK ? fl_face_server(face, url, sse, error) : rc;
}

const fl_face_program fl_face_mcp_remote = {
    .name = "mcp-remote",
    .usage = "URL [PORT] [FLAG]...",
    .examples =
        "  fairlead mcp-remote https://example.org/mcp\n"
        "  fairlead mcp-remote https://example.org/mcp \\\n"
        "                      --header 'Authorization: Bearer ${TOKEN}'\n",
    .notes =
        "Logins of mcp-remote itself are not taken over: it asks once more.\n"
        "It keeps its own beside them, in ~/.mcp-auth or "
        "MCP_REMOTE_CONFIG_DIR.\n",
    .rows = rows,
    .compose = compose,
};
