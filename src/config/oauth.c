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
#include "config/pick.h"
#include "json/nav.h"

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

static void read_grant(fl_reader *reader, fl_span value, fl_config_login *login)
{
    static const char *const words[] = {"code", "client-credentials", NULL};
    size_t which;

    if (fl_pick_word(reader, value, words, &which))
        login->grant = FL_CONFIG_GRANT_CODE + (fl_config_grant)which;
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
    fl_pick_text(reader, values[STORE], &login->store);
    fl_pick_bool(reader, values[ENABLED], &enabled);
    if (!enabled)
        login->grant = FL_CONFIG_GRANT_NONE;
    if (login->grant == FL_CONFIG_GRANT_CLIENT &&
        (login->client_id.text == NULL || login->client_secret.text == NULL))
        fl_reader_error(reader, values[GRANT].ptr,
                        "it needs a \"clientId\" and a \"clientSecret\"");
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
    if (login->grant <= FL_CONFIG_GRANT_NONE)
        return;
    if (!is_web(server))
        fl_reader_error(reader, value.ptr,
                        "only a server at http:// or https:// asks who we are");
    else if (fl_config_shows_token(server))
        fl_reader_error(reader, value.ptr,
                        "not together with a header Authorization");
}
