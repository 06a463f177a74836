/*
 * client.h - an MCP client: one server, any address, asynchronous.
 *
 * Requests made before the session is ready, or during an outage, wait for it
 * (until their timeout). What was in flight when a connection broke fails: it
 * may have had effects, and fairlead does not do things twice.
 *
 * Servers are of two eras: those that are opened by initialize, and those that
 * are told with each request what they need to know. A client finds out which
 * one it talks to, and what is said here holds for both.
 */
#ifndef FAIRLEAD_CLIENT_H
#define FAIRLEAD_CLIENT_H

#include <fairlead/loop.h>
#include <fairlead/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_client fl_client;

typedef enum fl_era {
    FL_ERA_AUTO,   /* find out, by server/discover */
    FL_ERA_LEGACY, /* up to 2025-11-25: opened by initialize */
    FL_ERA_MODERN, /* 2026-07-28 and later */
} fl_era;

typedef struct fl_client_events {
    /* A revision is agreed on; again after each reconnect. May be NULL. */
    void (*on_ready)(fl_client *client, void *user);

    /* A notification that is not about a request of ours. May be NULL. If it
     * is not, a modern server that tells of changes in its lists is asked to:
     * of itself it says nothing. */
    void (*on_notification)(fl_client *client, fl_span method, fl_span params,
                            void *user);

    /* Exactly once, always later; then the client is gone. `why` says FL_OK
     * after fl_client_close(). May be NULL. */
    void (*on_closed)(fl_client *client, const fl_error *why, void *user);
} fl_client_events;

typedef struct fl_client_options {
    const char *name;            /* shown to the server; "fairlead" */
    const char *version;         /* fairlead's own */
    const char *revision;        /* the newest to offer; "2026-07-28" */
    fl_era era;                  /* of the server, for who knows it */
    uint64_t request_timeout_ms; /* default for requests; 60000 */
    fl_options connection;
} fl_client_options;

/*
 * `url` is an address, or NULL to run options->connection.child. `events` is
 * copied; NULL: nobody listens. FL_E_INVALID
 * and the like come at once, with `error` filled; all else through on_closed.
 */
FL_API FL_MUST_USE fl_status fl_client_open(fl_loop *loop, const char *url,
                                            const fl_client_options *options,
                                            const fl_client_events *events,
                                            void *user, fl_client **out,
                                            fl_error *error);

/* Fails what is in flight with FL_E_CLOSED, closes, then on_closed. */
FL_API void fl_client_close(fl_client *client);

/* Known once ready: "2025-11-25", and raw JSON of what the server said. Before
 * that: "", FL_ERA_AUTO, and nothing. */
FL_API const char *fl_client_revision(const fl_client *client);
FL_API fl_era fl_client_era(const fl_client *client);
FL_API fl_span fl_client_server_info(const fl_client *client);
FL_API fl_span fl_client_capabilities(const fl_client *client);
FL_API fl_span fl_client_instructions(const fl_client *client);

/* How a request ended. Spans are good for the callback only. */
typedef struct fl_answer {
    fl_status status; /* FL_OK; FL_E_REMOTE: the server said no; FL_E_TIMEOUT,
                         FL_E_CLOSED, FL_E_CANCELLED: it did not say. Over
                         HTTP also what went wrong with this request alone:
                         FL_E_REFUSED, FL_E_RESET, FL_E_TLS... */
    fl_span result;   /* JSON, with FL_OK */
    int code;         /* of the JSON-RPC error, with FL_E_REMOTE */
    fl_span error;    /* the whole error object, JSON, with FL_E_REMOTE */
    fl_span text;     /* for people: why it failed */
} fl_answer;

typedef struct fl_request_options {
    uint64_t timeout_ms;   /* without an answer or progress */
    uint64_t max_total_ms; /* in all, progress or not; 10 times that */
    void (*on_progress)(fl_client *client, double progress, double total,
                        fl_span message, void *user); /* total 0: unknown */
} fl_request_options;

typedef void fl_answer_fn(fl_client *client, const fl_answer *answer,
                          void *user);

/*
 * `params` is JSON, an object, or empty. `on_answer` comes exactly once,
 * always later. `id`, if wanted, is for fl_client_cancel(). FL_BUSY: too many
 * in flight or waiting; nothing was sent. FL_E_UNSUPPORTED: the server has
 * not declared the capability this method belongs to, or its revision has no
 * such method any more (ping).
 */
FL_API FL_MUST_USE fl_status
fl_client_request(fl_client *client, const char *method, fl_span params,
                  const fl_request_options *options, fl_answer_fn *on_answer,
                  void *user, uint64_t *id);

/* tools/call; `arguments` is a JSON object, or empty. */
FL_API FL_MUST_USE fl_status
fl_client_call_tool(fl_client *client, fl_span name, fl_span arguments,
                    const fl_request_options *options, fl_answer_fn *on_answer,
                    void *user, uint64_t *id);

/* Tells the server not to bother; the answer is FL_E_CANCELLED, later.
 * FL_E_NOT_FOUND: it has ended already. */
FL_API fl_status fl_client_cancel(fl_client *client, uint64_t id,
                                  const char *reason);

FL_API FL_MUST_USE fl_status fl_client_notify(fl_client *client,
                                              const char *method,
                                              fl_span params);

#ifdef __cplusplus
}
#endif

#endif
