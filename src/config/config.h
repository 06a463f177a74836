/*
 * config.h - the servers that a configuration file of any host names.
 *
 * Hosts (Claude, Cursor, VS Code, Gemini and so on) keep the servers they
 * start or call in JSON files that are alike but not the same. All of them are
 * read into one list. docs/configuration.md has the shapes.
 *
 * Nothing here touches the system: variables and other files come through
 * callbacks. A file is read to its end whatever is wrong with it, and
 * everything that is wrong is told at once, each with its line and field.
 */
#ifndef FL_CONFIG_CONFIG_H
#define FL_CONFIG_CONFIG_H

#include "base/buf.h"

enum {
    FL_CONFIG_BYTES = 4 * 1024 * 1024, /* of the file */
    FL_CONFIG_SERVERS = 1024,
    FL_CONFIG_DEPTH = 64,          /* brackets in each other */
    FL_CONFIG_NAME = 64,           /* bytes of a server's name */
    FL_CONFIG_LIST = 1024,         /* arguments, variables, headers ... each */
    FL_CONFIG_VALUE = 1024 * 1024, /* bytes of a value or of another file */
    FL_CONFIG_KEPT = 64 * 1024 * 1024, /* bytes of all values together */
    FL_CONFIG_PROBLEMS = 20,           /* that are told, and as many warnings */
};

typedef struct fl_config fl_config;

/* Where variables and other files come from. */
typedef struct fl_config_source {
    /* NULL when it is not set. Good until the next call. */
    const char *(*variable)(void *user, const char *name);
    /* Appends a file, which must fit. `path` is absolute, or relative to where
     * the program runs if the configuration's own is. NULL: none is read. */
    fl_status (*read)(void *user, const char *path, fl_buf *out);
    void *user;
} fl_config_source;

typedef enum fl_config_kind {
    FL_CONFIG_AUTO,  /* Streamable HTTP, or else HTTP+SSE: to be found out */
    FL_CONFIG_CHILD, /* `argv` */
    FL_CONFIG_HTTP,
    FL_CONFIG_SSE, /* HTTP+SSE of 2024-11-05 */
    FL_CONFIG_WS,
    FL_CONFIG_TCP,  /* lines; also tls:// */
    FL_CONFIG_UNIX, /* lines; `url` is unix:/PATH */
} fl_config_kind;

typedef enum fl_config_child {
    FL_CONFIG_CHILD_AUTO,
    FL_CONFIG_CHILD_SHARED,
    FL_CONFIG_CHILD_SESSION,
    FL_CONFIG_CHILD_REQUEST,
} fl_config_child;

/*
 * `text` is the value, for use. `shown` is what may be shown of it: where a
 * variable or a file was named it is named still. Both are one pointer if there
 * was nothing of the kind, and NULL if the value was not given.
 */
typedef struct fl_config_text {
    const char *text;
    const char *shown;
} fl_config_text;

/* The same for many; a NULL follows the last. Both are NULL if there is none.
 */
typedef struct fl_config_list {
    const char **items;
    const char **shown;
    size_t count;
    size_t room; /* private */
} fl_config_list;

typedef struct fl_config_server fl_config_server;

typedef enum fl_config_grant {
    FL_CONFIG_GRANT_UNSAID,
    FL_CONFIG_GRANT_NONE,
    FL_CONFIG_GRANT_CODE,
    FL_CONFIG_GRANT_CLIENT,
} fl_config_grant;

/* As whom to log in, if it asks. */
typedef struct fl_config_login {
    fl_config_grant grant;
    fl_config_text client_id, client_secret;
    fl_config_text scope; /* several with spaces between them */
    fl_config_text redirect_uri;
    fl_config_text metadata_url;
    fl_config_text store; /* the file where tokens are kept */
} fl_config_login;

/* What is in the file about outages; 0: not given. */
typedef struct fl_config_outages {
    uint32_t connect_attempts;
    uint32_t connect_backoff_ms, connect_backoff_max_ms;
    uint32_t queue_max, queue_bytes, queue_ms;
    uint32_t health_ms; /* UINT32_MAX: never */
    uint32_t breaker_failures, breaker_pause_ms;
} fl_config_outages;

struct fl_config_server {
    const char *name; /* fit for the path of a URL */
    size_t line;
    fl_config_kind kind;
    bool disabled;       /* it is not to be started, and may lack variables */
    fl_config_list argv; /* the command first */
    fl_config_list env;  /* NAME=VALUE; each name once */
    fl_config_text cwd;
    fl_config_text url;
    fl_config_list headers; /* "Name: value" */
    fl_config_login login;
    fl_config_list include; /* globs of tools; none: all of them */
    fl_config_list exclude; /* and not these */
    const char *prefix;     /* of its tools' names; NULL: not given */
    bool http2;             /* without TLS, too: it is known to speak that */
    bool allow_http;        /* at http:// or ws:// on other machines, too */
    fl_config_child child;
    fl_era era;
    uint32_t timeout_ms; /* 0: not given */
    uint32_t weight;     /* 1 if not given; 0: it stands by */
    fl_config_outages outages;
    /* Where else it runs. Of each all counts that says how it is reached, and
     * its line, weight and era; and it may be disabled. */
    fl_config_server *replicas;
    size_t replica_count;
};

typedef struct fl_config_problem {
    bool is_error;       /* or a warning */
    size_t line, column; /* from 1; a column is a character */
    const char *path;    /* "mcpServers.github.env.TOKEN"; "" for the file */
    const char *text;
} fl_config_problem;

/*
 * Reads a whole file; `file` is its name, for messages and for what is given
 * relative to it.
 *
 * FL_OK         it can be used; there may be warnings
 * FL_E_INVALID  it cannot. `*out` has the problems all the same, and what
 *               could be read. `error` has the first
 * FL_E_NOMEM    `*out` is NULL
 */
FL_MUST_USE fl_status fl_config_read(fl_span text, const char *file,
                                     const fl_config_source *source,
                                     fl_config **out, fl_error *error);

/* Secrets are overwritten first. */
void fl_config_free(fl_config *config);

/* In the order of the file. */
const fl_config_server *fl_config_servers(const fl_config *config,
                                          size_t *count);
const fl_config_problem *fl_config_problems(const fl_config *config,
                                            size_t *count);
const char *fl_config_file(const fl_config *config);

/* Whether it is sent a header Authorization. */
bool fl_config_shows_token(const fl_config_server *server);

#endif
