/*
 * oauth.c - who we are to a server that asks, under "oauth".
 *
 *     "oauth": true
 *     "oauth": {"clientId": "me", "callbackPort": 9696}
 *
 * Hosts that log in have such an object to say as whom, with some keys of
 * their own; what of it is not known here is told, and does no harm. Being
 * there is enough to mean that we should log in. "grant" and "store" are ours.
 */
#include "config/oauth.h"

#include "base/span.h"
#include "config/expand.h"
#include "config/pick.h"
#include "json/nav.h"

#include <string.h>
#include <strings.h>

enum {
    ENABLED,
    GRANT,
    CLIENT_ID,
    CLIENT_SECRET,
    SCOPE,
    SCOPES,
    REDIRECT_URI,
    CALLBACK_PORT,
    METADATA_URL,
    STORE,
    KEYS
};

static const char *const names[] = {
    "enabled", "grant",       "clientId",     "clientSecret",      "scope",
    "scopes",  "redirectUri", "callbackPort", "clientMetadataUrl", "store",
    NULL,
};

/* Several become one, with spaces between them. */
static void join(fl_reader *reader, const char **items, size_t count,
                 const char **out)
{
    fl_status rc = FL_OK;

    fl_buf_clear(&reader->real);
    for (size_t i = 0; i < count && rc == FL_OK; i++)
        rc = fl_buf_printf(&reader->real, "%s%s", i > 0 ? " " : "", items[i]);
    if (rc == FL_OK)
        rc = fl_keep_text(&reader->config->keep, fl_buf_view(&reader->real),
                          out);
    fl_reader_try(reader, rc);
}

static void read_scopes(fl_reader *reader, fl_span value, fl_config_text *out)
{
    fl_config_list list = {0};

    if (value.len == 0)
        return;
    fl_pick_texts(reader, value, &list);
    if (list.count == 0)
        return;
    join(reader, list.items, list.count, &out->text);
    join(reader, list.shown, list.count, &out->shown);
}

/* Where the user comes back to, as Claude Code has it. */
static void read_port(fl_reader *reader, fl_span value, fl_config_text *out)
{
    uint32_t port = 0;

    if (!fl_pick_number(reader, value, 1, UINT16_MAX, &port))
        return;
    fl_buf_clear(&reader->real);
    if (fl_reader_try(reader,
                      fl_buf_printf(&reader->real,
                                    "http://localhost:%u/callback", port)) &&
        fl_reader_try(reader,
                      fl_keep_text(&reader->config->keep,
                                   fl_buf_view(&reader->real), &out->text)))
        out->shown = out->text;
}

/* As a file that is read: from where the configuration is, "~/" is home. */
static void read_store(fl_reader *reader, fl_span value, fl_config_text *out)
{
    fl_config_text said;

    if (!fl_pick_text(reader, value, &said))
        return;
    if (said.text[0] == '\0') {
        fl_reader_error(reader, value.ptr, "it must not be empty");
        return;
    }
    fl_buf_clear(&reader->real);
    if (!fl_expand_path(reader, fl_span_of(said.text), &reader->real))
        return;
    fl_span path = fl_buf_view(&reader->real);
    path.len--; /* there is a NUL behind it */
    if (fl_reader_try(reader,
                      fl_keep_text(&reader->config->keep, path, &out->text)))
        out->shown = said.shown;
}

static void read_grant(fl_reader *reader, fl_span value, fl_config_login *login)
{
    static const char *const words[] = {"code", "client-credentials", NULL};
    size_t which;

    if (fl_pick_word(reader, value, words, &which))
        login->grant = FL_CONFIG_GRANT_CODE + (fl_config_grant)which;
}

static bool is_empty(fl_config_text text)
{
    return text.text == NULL || text.text[0] == '\0';
}

static void refuse_empty(fl_reader *reader, fl_span value, fl_config_text text)
{
    if (value.len > 0 && text.text != NULL && is_empty(text))
        fl_reader_error(reader, value.ptr, "it must not be empty");
}

static bool begins(fl_config_text text, const char *front)
{
    return strncmp(text.text, front, strlen(front)) == 0;
}

/* Where nobody but us listens. */
static bool comes_back(fl_config_text uri)
{
    return begins(uri, "http://127.0.0.1:") || begins(uri, "http://[::1]:") ||
           begins(uri, "http://localhost:");
}

/* What would be found out when somebody has to log in, and then by others. */
static void check(fl_reader *reader, const fl_span *values,
                  const fl_config_login *login)
{
    refuse_empty(reader, values[CLIENT_ID], login->client_id);
    refuse_empty(reader, values[CLIENT_SECRET], login->client_secret);
    if (login->grant == FL_CONFIG_GRANT_CLIENT &&
        (values[CLIENT_ID].len == 0 || values[CLIENT_SECRET].len == 0))
        fl_reader_error(reader, values[GRANT].ptr,
                        "it needs a \"clientId\" and a \"clientSecret\"");
    else if (values[CLIENT_SECRET].len > 0 && values[CLIENT_ID].len == 0)
        fl_reader_error(reader, values[CLIENT_SECRET].ptr,
                        "it needs a \"clientId\"");
    if (values[SCOPE].len > 0 && values[SCOPES].len > 0)
        fl_reader_error(reader, values[SCOPE].ptr,
                        "there is \"scopes\" as well");
    if (values[REDIRECT_URI].len > 0 && values[CALLBACK_PORT].len > 0)
        fl_reader_error(reader, values[CALLBACK_PORT].ptr,
                        "there is \"redirectUri\" as well");
    if (!is_empty(login->redirect_uri) && !comes_back(login->redirect_uri))
        fl_reader_error(reader, values[REDIRECT_URI].ptr,
                        "it must be http://127.0.0.1:PORT/PATH, or localhost, "
                        "where we wait for the user");
    if (!is_empty(login->metadata_url) &&
        !begins(login->metadata_url, "https://"))
        fl_reader_error(reader, values[METADATA_URL].ptr,
                        "it must begin with https://");
}

static void read_object(fl_reader *reader, fl_span value,
                        fl_config_login *login)
{
    fl_span values[KEYS];
    bool enabled = true;

    if (!fl_pick_find(reader, value, names, values, FL_PICK_WARN))
        return;
    login->grant = FL_CONFIG_GRANT_CODE;
    read_grant(reader, values[GRANT], login);
    fl_pick_text(reader, values[CLIENT_ID], &login->client_id);
    fl_pick_text(reader, values[CLIENT_SECRET], &login->client_secret);
    read_scopes(reader, values[SCOPE], &login->scope);
    read_scopes(reader, values[SCOPES], &login->scope);
    read_port(reader, values[CALLBACK_PORT], &login->redirect_uri);
    fl_pick_text(reader, values[REDIRECT_URI], &login->redirect_uri);
    fl_pick_text(reader, values[METADATA_URL], &login->metadata_url);
    read_store(reader, values[STORE], &login->store);
    fl_pick_bool(reader, values[ENABLED], &enabled);
    if (!enabled)
        login->grant = FL_CONFIG_GRANT_NONE;
    else if (!reader->disabled)
        check(reader, values, login);
}

bool fl_config_shows_token(const fl_config_server *server)
{
    for (size_t i = 0; i < server->headers.count; i++)
        if (strncasecmp(server->headers.items[i], "authorization:", 14) == 0)
            return true;
    return false;
}

static bool is_web(const fl_config_server *server)
{
    return (server->kind == FL_CONFIG_AUTO || server->kind == FL_CONFIG_HTTP ||
            server->kind == FL_CONFIG_SSE) &&
           (server->url.text == NULL ||
            !fl_span_starts(fl_span_of(server->url.text), FL_SPAN("unix:")));
}

void fl_oauth_read(fl_reader *reader, fl_span value, fl_config_server *server)
{
    fl_config_login *login = &server->login;
    fl_json_type type = fl_json_type_of(value);
    bool wanted = false;

    if (value.len == 0)
        return;
    if (type == FL_JSON_TRUE || type == FL_JSON_FALSE) {
        fl_pick_bool(reader, value, &wanted);
        login->grant = wanted ? FL_CONFIG_GRANT_CODE : FL_CONFIG_GRANT_NONE;
    } else {
        read_object(reader, value, login);
    }
    if (login->grant <= FL_CONFIG_GRANT_NONE || reader->disabled)
        return;
    if (!is_web(server))
        fl_reader_error(reader, value.ptr,
                        "only a server at http:// or https:// asks who we are");
    else if (fl_config_shows_token(server))
        fl_reader_error(reader, value.ptr,
                        "not together with a header Authorization");
}
