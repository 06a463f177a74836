/*
 * login.c - how a command shows who it is to a server that asks.
 *
 * The page on which a user says yes is always printed, for the browser may be
 * on another machine; at a terminal it is opened, too. Secrets come from files,
 * for the list of processes is open to all.
 */
#include "cmd/login.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "cmd/slurp.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { SECRET_MAX = 64 * 1024 };

/* In the order of fl_auth_grant. */
const char *const fl_login_ways[] = {"code", "client-credentials", NULL};

static const char *first_option(const fl_login *login)
{
    const struct {
        bool given;
        const char *option;
    } options[] = {
        {login->client_id != NULL, "--client-id"},
        {login->secret_file != NULL, "--client-secret-file"},
        {login->secret_env != NULL, "--client-secret-env"},
        {login->redirect_uri != NULL, "--redirect-uri"},
        {login->metadata_url != NULL, "--client-metadata-url"},
        {login->timeout_ms != 0, "--auth-timeout"},
        {login->store != NULL, "--auth-store"},
        {login->scope != NULL, "--scope"},
    };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given)
            return options[i].option;
    return NULL;
}

bool fl_login_is_for(const char *url)
{
    return url != NULL && (strncasecmp(url, "http://", 7) == 0 ||
                           strncasecmp(url, "https://", 8) == 0 ||
                           strncasecmp(url, "sse+http", 8) == 0);
}

static fl_status read_variable(fl_login *login, fl_error *error)
{
    const char *value = getenv(login->secret_env);

    if (value == NULL || value[0] == '\0')
        return fl_error_set(error, FL_E_INVALID,
                            "option --client-secret-env: the variable %s is "
                            "not set",
                            login->secret_env);
    login->secret = fl_mem_string(fl_span_of(value));
    return login->secret != NULL
               ? FL_OK
               : fl_error_set(error, FL_E_NOMEM, "out of memory");
}

static fl_status read_secret(fl_login *login, fl_error *error)
{
    fl_buf text;

    if (login->secret_env != NULL)
        return read_variable(login, error);
    if (login->secret_file == NULL)
        return FL_OK;
    fl_buf_init(&text, SECRET_MAX);
    fl_status rc = fl_slurp(login->secret_file, &text, error);
    fl_span all = fl_buf_view(&text);
    while (all.len > 0 && strchr("\r\n", all.ptr[all.len - 1]) != NULL)
        all.len--;
    if (rc == FL_OK && (all.len == 0 || memchr(all.ptr, '\0', all.len) != NULL))
        rc = fl_error_set(error, FL_E_INVALID,
                          "option --client-secret-file: there is no secret in "
                          "'%s'",
                          login->secret_file);
    if (rc == FL_OK && (login->secret = fl_mem_string(all)) == NULL)
        rc = fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (text.ptr != NULL)
        fl_mem_wipe(text.ptr, text.cap);
    fl_buf_reset(&text);
    return rc;
}

fl_status fl_login_take_file(const fl_login *login, fl_error *error)
{
    fl_login rest = *login;

    rest.store = NULL;
    rest.timeout_ms = 0;
    const char *option = first_option(&rest);
    if (login->how == FL_AUTH_CLIENT_CREDENTIALS + 1)
        option = "--auth client-credentials";
    if (option == NULL)
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "option %s: it is about one server; say it in the "
                        "file, in \"oauth\" of the server it is for",
                        option);
}

fl_status fl_login_take(fl_login *login, const char *url, fl_error *error)
{
    const char *option = first_option(login);

    if (login->how == 0 && option != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "option %s: add --auth code (a user says yes, in a "
                            "browser) or --auth client-credentials",
                            option);
    if (login->how == 0)
        return FL_OK;
    if (!fl_login_is_for(url))
        return fl_error_set(error, FL_E_INVALID,
                            "option --auth: only servers at http(s):// ask who "
                            "it is");
    if (login->how == FL_AUTH_CLIENT_CREDENTIALS + 1 &&
        (login->client_id == NULL ||
         (login->secret_file == NULL && login->secret_env == NULL)))
        return fl_error_set(error, FL_E_INVALID,
                            "option --auth client-credentials: they are "
                            "--client-id ID and --client-secret-file FILE");
    return read_secret(login, error);
}

/* Whatever comes of it: the page was printed. */
static void open_browser(const char *url)
{
    char program[] = "xdg-open", *copy = fl_mem_string(fl_span_of(url));
    char *argv[] = {program, copy, NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;

    if (copy != NULL && posix_spawn_file_actions_init(&files) == 0) {
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            (void)posix_spawn_file_actions_addopen(&files, fd, "/dev/null",
                                                   O_RDWR, 0);
        (void)posix_spawnp(&pid, program, &files, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    fl_mem_free(copy);
}

void fl_login_show(const fl_term *term, const char *name, const char *url)
{
    fl_term_say(term, FL_TERM_PLAIN,
                "The server%s%s asks who you are. Say yes on this page, in a "
                "browser on this machine:\n",
                name != NULL ? " " : "", name != NULL ? name : "");
    fl_term_put(term, fl_span_of(url));
    fl_term_say(term, FL_TERM_PLAIN, "\n");
    fflush(term->file);
    if (term->is_tty)
        open_browser(url);
}

static void show_page(fl_auth *auth, const char *url, void *user)
{
    (void)auth;
    fl_login_show(user, NULL, url);
}

fl_status fl_login_open(const fl_login *login, fl_term *term, fl_auth **out,
                        fl_error *error)
{
    *out = NULL;
    if (login->how == 0)
        return FL_OK;
    return fl_auth_new(
        &(fl_auth_options){
            .grant = (fl_auth_grant)(login->how - 1),
            .client_id = login->client_id,
            .client_secret = login->secret,
            .scope = login->scope,
            .redirect_uri = login->redirect_uri,
            .client_metadata_url = login->metadata_url,
            .timeout_ms = login->timeout_ms,
            .store_file = login->store,
            .hooks = {.open_url = show_page, .user = term},
        },
        out, error);
}

void fl_login_deinit(fl_login *login)
{
    if (login->secret != NULL)
        fl_mem_wipe(login->secret, strlen(login->secret));
    fl_mem_free(login->secret);
    login->secret = NULL;
}
