/*
 * types.h - the words every other header speaks: status, error, span.
 *
 * A status is FL_OK, above zero ("not yet": nothing went wrong, but nothing
 * happened either) or below zero (failed). One table makes the enum, the names
 * and the texts, so that they cannot drift apart.
 */
#ifndef FAIRLEAD_TYPES_H
#define FAIRLEAD_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FL_API __attribute__((visibility("default")))
#define FL_MUST_USE __attribute__((warn_unused_result))
#define FL_PRINTF(text, first)                                                 \
    __attribute__((__format__(__printf__, text, first)))

#define FL_STATUS_MAP(X)                                                       \
    X(OK, 0, "success")                                                        \
    X(AGAIN, 1, "more input is needed")                                        \
    X(END, 2, "end of stream")                                                 \
    X(BUSY, 3, "output buffer is full, wait until it is writable")             \
    X(E_NOMEM, -1, "out of memory")                                            \
    X(E_TOO_BIG, -2, "larger than the limit")                                  \
    X(E_BAD_TEXT, -3, "not valid UTF-8")                                       \
    X(E_BAD_JSON, -4, "not valid JSON")                                        \
    X(E_TOO_DEEP, -5, "nested deeper than the limit")                          \
    X(E_BAD_MESSAGE, -6, "not a JSON-RPC message")                             \
    X(E_INVALID, -7, "invalid argument or option")                             \
    X(E_STATE, -8, "not possible in this state")                               \
    X(E_CLOSED, -9, "connection closed")                                       \
    X(E_TIMEOUT, -10, "timed out")                                             \
    X(E_REFUSED, -11, "connection refused")                                    \
    X(E_RESET, -12, "connection reset by peer")                                \
    X(E_UNREACHABLE, -13, "host not found or not reachable")                   \
    X(E_NOT_FOUND, -14, "not found")                                           \
    X(E_DENIED, -15, "permission denied")                                      \
    X(E_IN_USE, -16, "already in use")                                         \
    X(E_LIMIT, -17, "limit reached")                                           \
    X(E_IO, -18, "input/output error")                                         \
    X(E_TLS, -19, "TLS error")                                                 \
    X(E_CANCELLED, -20, "cancelled")                                           \
    X(E_UNSUPPORTED, -21, "not supported")                                     \
    X(E_CHILD, -22, "the child process failed or exited")                      \
    X(E_REMOTE, -23, "the peer answered with an error")

typedef enum fl_status {
#define FL_STATUS_ENUM(name, code, text) FL_##name = (code),
    FL_STATUS_MAP(FL_STATUS_ENUM)
#undef FL_STATUS_ENUM
} fl_status;

/* "E_NOMEM", for logs. Never NULL. */
FL_API const char *fl_status_name(fl_status status);

/* "out of memory", for people. Never NULL. */
FL_API const char *fl_status_text(fl_status status);

/*
 * What a set-up call says when it fails: which option, which value, what
 * would be right. Optional everywhere: pass NULL and keep the status alone.
 */
typedef struct fl_error {
    fl_status status;
    char text[256];
} fl_error;

/* Borrowed, read-only bytes; no NUL is implied. */
typedef struct fl_span {
    const char *ptr;
    size_t len;
} fl_span;

/* All of a string: fl_call_reply_text(call, fl_text("ahoy")). */
FL_API fl_span fl_text(const char *text);

/* What a server has lists of. */
typedef enum fl_list_kind {
    FL_LIST_TOOLS,
    FL_LIST_RESOURCES,
    FL_LIST_TEMPLATES,
    FL_LIST_PROMPTS,
} fl_list_kind;

/* The revisions of the protocol are of two kinds. */
typedef enum fl_era {
    FL_ERA_AUTO,   /* a client: find out, by server/discover; a server: both */
    FL_ERA_LEGACY, /* up to 2025-11-25: opened by initialize */
    FL_ERA_MODERN, /* 2026-07-28 and later: each request says what it needs */
} fl_era;

#ifdef __cplusplus
}
#endif

#endif
