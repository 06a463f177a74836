/*
 * files_host.h - a server whose resources are files of a tree, and a client.
 */
#ifndef TESTS_UNIT_FILES_HOST_H
#define TESTS_UNIT_FILES_HOST_H

#include "modern.h"
#include "server_host.h"
#include "tree_host.h"

typedef struct files_host {
    server_host host;
    tree tree;
} files_host;

#define READ(id, uri)                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"resources/read\",\"params\":{\"uri\":\"" uri "\"}}"

static inline void files_begin(files_host *f)
{
    host_begin_bare(&f->host);
    tree_begin(&f->tree);
}

/* Listens, and the client says hello. */
static inline void files_open(files_host *f, const char *revision)
{
    host_listen(&f->host, NULL);
    host_greet(&f->host.peer, revision);
}

static inline void files_end(files_host *f)
{
    host_end(&f->host);
    tree_end(&f->tree);
}

/* What a legacy client is told of this URI, up to its end. */
static inline const char *files_ask(files_host *f, const char *uri)
{
    char line[8192];

    snprintf(line, sizeof line, READ("1", "%s"), uri);
    raw_say(&f->host.peer, line);
    return raw_hear(&f->host.peer);
}

static inline void files_finds(files_host *f, const char *uri, const char *type,
                               const char *member)
{
    char line[8192];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"contents\":[{"
             "\"uri\":\"%s\",\"mimeType\":\"%s\",%s}]}}",
             uri, type, member);
    assert_string_equal(files_ask(f, uri), line);
}

static inline void files_misses(files_host *f, const char *uri)
{
    char line[8192];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32002,"
             "\"message\":\"resource not found\",\"data\":{\"uri\":\"%s\"}}}",
             uri);
    assert_string_equal(files_ask(f, uri), line);
}

#endif
