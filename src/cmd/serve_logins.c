/*
 * serve_logins.c - who the gateway is to the servers of a file that ask.
 */
#include "cmd/serve_logins.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/digest.h"
#include "transport/address.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { STORE_MAX = 4096, KEY_MAX = 64 * 1024, MARK = 8 };

typedef struct entry {
    fl_list node;
    fl_logins *logins;
    fl_auth *auth;
    char *name; /* of the server */
    char *key;  /* all that makes it what it is; secrets, too */
} entry;

void fl_logins_init(fl_logins *logins, const fl_login *line)
{
    *logins = (fl_logins){.line = line, .term = fl_term_of(stderr)};
    fl_list_init(&logins->all);
}

static void free_entry(entry *old)
{
    fl_auth_free(old->auth);
    if (old->key != NULL)
        fl_mem_wipe(old->key, strlen(old->key));
    fl_mem_free(old->key);
    fl_mem_free(old->name);
    fl_mem_free(old);
}

void fl_logins_deinit(fl_logins *logins)
{
    fl_list *node;

    if (logins->line == NULL)
        return;
    while ((node = fl_list_take(&logins->all)) != NULL)
        free_entry(FL_LIST_ENTRY(node, entry, node));
}

/* Tokens do not go where everybody on the way could read them. */
static bool is_private(const char *url)
{
    fl_address address;

    return fl_address_parse(url, &address, NULL) == FL_OK &&
           (fl_address_is_tls(&address) || fl_address_is_local(&address));
}

/* A place that cannot ask, or is shown a token of its own, is not logged in
 * at. What the command line says is for those that say nothing themselves. */
static fl_config_grant grant_of(const fl_logins *logins,
                                const fl_config_server *server,
                                const fl_config_server *place)
{
    const char *url = place->url.text;
    fl_config_grant grant = server->login.grant;

    if (!fl_login_is_for(url) || fl_config_shows_token(place))
        return FL_CONFIG_GRANT_NONE;
    if (grant == FL_CONFIG_GRANT_UNSAID &&
        logins->line->how == FL_AUTH_CODE + 1 && is_private(url))
        grant = FL_CONFIG_GRANT_CODE;
    return grant;
}

static fl_status make_folder(const char *path, fl_error *error)
{
    struct stat info;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return fl_error_set(error, FL_E_IO,
                            "option --auth-store: cannot make '%s': %s", path,
                            strerrordesc_np(errno));
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "option --auth-store: with a file of servers it names "
                        "a folder, and '%s' is none",
                        path);
}

/* What makes the file of one place another than that of any other. */
static fl_status append_mark(const char *url, fl_buf *out)
{
    unsigned char digest[FL_SHA256];
    fl_status rc = fl_sha256(fl_span_of(url), digest);

    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("+"));
    for (size_t i = 0; i < MARK && rc == FL_OK; i++)
        rc = fl_buf_printf(out, "%02x", digest[i]);
    return rc;
}

/* The file for its tokens, if there is to be one. A store is one URL's: with
 * another URL the server has another file, and so has each replica. */
static fl_status write_store(const fl_logins *logins,
                             const fl_config_server *server, size_t i,
                             const fl_config_server *place, fl_buf *out,
                             fl_error *error)
{
    const char *own = server->login.store.text, *folder = logins->line->store;
    fl_status rc = FL_OK;

    if (own == NULL && folder == NULL)
        return FL_OK;
    if (own == NULL)
        rc = make_folder(folder, error);
    if (rc != FL_OK)
        return rc;
    rc = own != NULL ? fl_buf_append(out, fl_span_of(own))
                     : fl_buf_printf(out, "%s/%s", folder, server->name);
    if (rc == FL_OK && (own == NULL || i > 0))
        rc = append_mark(place->url.text, out);
    if (rc == FL_OK)
        rc = fl_buf_append(out, (fl_span){"", 1});
    return rc == FL_OK
               ? FL_OK
               : fl_error_set(error, rc, "the path of its token store: %s",
                              fl_status_text(rc));
}

static const char *or_none(const char *text)
{
    return text != NULL ? text : "";
}

static fl_status write_key(const fl_config_server *server,
                           fl_config_grant grant, const char *url,
                           const char *store, fl_buf *out)
{
    const fl_config_login *login = &server->login;
    fl_status rc = fl_buf_printf(
        out, "%s\n%d\n%s\n%s\n%s\n%s\n%s\n%s\n%s", server->name, (int)grant,
        url, or_none(login->client_id.text), or_none(login->client_secret.text),
        or_none(login->scope.text), or_none(login->redirect_uri.text),
        or_none(login->metadata_url.text), or_none(store));

    return rc == FL_OK ? fl_buf_append(out, (fl_span){"", 1}) : rc;
}

static entry *find(const fl_logins *logins, fl_span key)
{
    for (fl_list *node = logins->all.next; node != &logins->all;
         node = node->next) {
        entry *at = FL_LIST_ENTRY(node, entry, node);
        if (fl_span_equal(fl_span_of(at->key), key))
            return at;
    }
    return NULL;
}

static void show_page(fl_auth *auth, const char *url, void *user)
{
    const entry *at = user;

    (void)auth;
    fl_login_show(&at->logins->term, at->name, url);
}

static fl_status open_auth(entry *fresh, const fl_config_login *login,
                           fl_config_grant grant, const char *store,
                           fl_error *error)
{
    return fl_auth_new(
        &(fl_auth_options){
            .grant = grant == FL_CONFIG_GRANT_CLIENT
                         ? FL_AUTH_CLIENT_CREDENTIALS
                         : FL_AUTH_CODE,
            .client_id = login->client_id.text,
            .client_secret = login->client_secret.text,
            .scope = login->scope.text,
            .redirect_uri = login->redirect_uri.text,
            .client_metadata_url = login->metadata_url.text,
            .timeout_ms = fresh->logins->line->timeout_ms,
            .store_file = store,
            .hooks = {.open_url = show_page, .user = fresh},
        },
        &fresh->auth, error);
}

static fl_status make(fl_logins *logins, const fl_config_server *server,
                      fl_config_grant grant, const char *key, const char *store,
                      fl_auth **out, fl_error *error)
{
    entry *fresh = fl_mem_zalloc(sizeof *fresh);

    if (fresh == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    fresh->logins = logins;
    fresh->name = fl_mem_string(fl_span_of(server->name));
    fresh->key = fl_mem_string(fl_span_of(key));
    fl_status rc = fresh->name != NULL && fresh->key != NULL
                       ? open_auth(fresh, &server->login, grant, store, error)
                       : fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (rc != FL_OK) {
        free_entry(fresh);
        return rc;
    }
    fl_list_append(&logins->all, &fresh->node);
    *out = fresh->auth;
    return FL_OK;
}

fl_status fl_logins_find(fl_logins *logins, const fl_config_server *server,
                         size_t i, const fl_config_server *place, fl_auth **out,
                         fl_error *error)
{
    fl_config_grant grant = grant_of(logins, server, place);
    fl_buf store, key;

    *out = NULL;
    if (grant <= FL_CONFIG_GRANT_NONE)
        return FL_OK;
    fl_buf_init(&store, STORE_MAX);
    fl_buf_init(&key, KEY_MAX);
    fl_status rc = write_store(logins, server, i, place, &store, error);
    const char *path = fl_buf_view(&store).ptr;
    if (rc == FL_OK) {
        rc = write_key(server, grant, place->url.text, path, &key);
        if (rc != FL_OK)
            fl_error_set(error, rc, "its login: %s", fl_status_text(rc));
    }
    entry *known =
        rc == FL_OK ? find(logins, fl_span_of(fl_buf_view(&key).ptr)) : NULL;
    if (known != NULL)
        *out = known->auth;
    else if (rc == FL_OK)
        rc = make(logins, server, grant, fl_buf_view(&key).ptr, path, out,
                  error);
    if (key.ptr != NULL)
        fl_mem_wipe(key.ptr, key.cap);
    fl_buf_reset(&key);
    fl_buf_reset(&store);
    return rc;
}
