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

#include <fairlead/ask.h>
#include <fairlead/loop.h>
#include <fairlead/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Any of them may be NULL. Spans are good for the call only. */
typedef struct fl_client_events {
    /* A revision is agreed on; again after each reconnect. */
    void (*on_ready)(fl_client *client, void *user);

    /* One of the server's lists is not what it was. If this or
     * on_notification is set, a modern server that tells of such changes is
     * asked to: of itself it says nothing. */
    void (*on_list_changed)(fl_client *client, fl_list_kind kind, void *user);

    /* A resource that was subscribed to, or a part of it, changed. */
    void (*on_resource_updated)(fl_client *client, fl_span uri, void *user);

    /* The server's log: see fl_client_set_log_level(). `logger` is text or
     * empty, `data` raw JSON. */
    void (*on_log)(fl_client *client, fl_span level, fl_span logger,
                   fl_span data, void *user);

    /* A notification that is not about a request of ours, and not for one of
     * the above that is set. `params` is raw JSON. */
    void (*on_notification)(fl_client *client, fl_span method, fl_span params,
                            void *user);

    /* Exactly once, always later; then the client is gone. `why` says FL_OK
     * after fl_client_close(). */
    void (*on_closed)(fl_client *client, const fl_error *why, void *user);
} fl_client_events;

/* What was found out about a server, for the next client of it. */
typedef struct fl_verdict {
    fl_era era;      /* FL_ERA_AUTO: nothing */
    uint64_t age_ms; /* since then */
} fl_verdict;

typedef struct fl_client_options {
    const char *name;            /* shown to the server; "fairlead" */
    const char *version;         /* fairlead's own */
    const char *revision;        /* the newest to offer; "2026-07-28" */
    fl_era era;                  /* of the server, for who knows it */
    fl_verdict verdict;          /* for who knew it: fl_client_verdict() */
    uint64_t request_timeout_ms; /* default for requests; 60000 */

    const fl_client_handlers *handlers; /* of what the server asks; copied */
    unsigned max_asks;        /* questions not answered yet; 64. A server that
                                 asks for more is told that we are busy */
    const char *extensions;   /* capabilities to declare: a JSON object */
    const char *experimental; /* likewise */
    bool tasks; /* declare that requests may become tasks (2026-07-28); see
                   fl_request_options */

    bool no_cache;          /* ask each time, whatever the server says */
    unsigned cache_entries; /* results kept while they are fresh; 256 */
    size_t cache_bytes;     /* 4 MiB */

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

/*
 * Era and age of what is known of the server, to be kept and given to the next
 * client of the same address and credentials (options.verdict): it then need
 * not find out. That a server is modern holds until it shows otherwise, that
 * it is legacy holds for a day.
 */
FL_API fl_verdict fl_client_verdict(const fl_client *client);

/* How a request ended. Spans are good for the callback only. */
typedef struct fl_answer {
    fl_status status; /* FL_OK; FL_E_REMOTE: the server said no; FL_E_TIMEOUT,
                         FL_E_CLOSED, FL_E_CANCELLED: it did not say.
                         FL_E_BAD_MESSAGE: what it said makes no sense;
                         FL_E_UNSUPPORTED: it wants what we have not declared;
                         FL_E_LIMIT: it does not come to an end. Over HTTP also
                         what went wrong with this request alone:
                         FL_E_REFUSED, FL_E_RESET, FL_E_TLS... */
    fl_span result;   /* JSON, with FL_OK */
    int code;         /* of the JSON-RPC error, with FL_E_REMOTE */
    fl_span error;    /* the whole error object, JSON, with FL_E_REMOTE */
    fl_span text;     /* for people: why it failed */
} fl_answer;

/*
 * Before it answers, a server may ask for input (<fairlead/ask.h>), as often as
 * ten times. The time that our side takes for it, or to be authorized
 * (<fairlead/auth.h>), is not the server's silence, but counts for the limit in
 * all.
 */
typedef struct fl_request_options {
    uint64_t timeout_ms;   /* without an answer or progress */
    uint64_t max_total_ms; /* in all, progress or not; 10 times that. With
                              `task`: no limit */
    void (*on_progress)(fl_client *client, double progress, double total,
                        fl_span message, void *user); /* total 0: unknown */
    bool fresh;                                       /* not from the cache */

    /*
     * The server may answer tools/call with a task and do the work in its own
     * time; the client asks for it now and then, and the answer comes when it
     * is done. 2026-07-28: needs options.tasks, and the server chooses.
     * 2025-11-25: if the server says that it can, and so did the tool when
     * the tools were listed. Others: no effect.
     */
    bool task;
    uint64_t task_ttl_ms; /* for how long it is to be kept; 2025-11-25 only */
    /* It did. With `id` one can come back for it: fl_client_task_await() */
    void (*on_task)(fl_client *client, fl_span id, void *user);
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

/*
 * One of the server's lists, all its pages: the result has the one member that
 * the list has in each of them ("tools", "resources", "resourceTemplates",
 * "prompts"). FL_E_LIMIT: more than 1000 pages or 64 MiB, FL_E_BAD_MESSAGE:
 * one of them is no list, or leads back to one before.
 */
FL_API FL_MUST_USE fl_status fl_client_list(fl_client *client,
                                            fl_list_kind kind,
                                            const fl_request_options *options,
                                            fl_answer_fn *on_answer, void *user,
                                            uint64_t *id);

/* One page, as it is. `cursor` is text, from nextCursor of the page before, or
 * empty for the first. */
FL_API FL_MUST_USE fl_status
fl_client_list_page(fl_client *client, fl_list_kind kind, fl_span cursor,
                    const fl_request_options *options, fl_answer_fn *on_answer,
                    void *user, uint64_t *id);

/* resources/read. */
FL_API FL_MUST_USE fl_status fl_client_read(fl_client *client, fl_span uri,
                                            const fl_request_options *options,
                                            fl_answer_fn *on_answer, void *user,
                                            uint64_t *id);

/* prompts/get; `arguments` is a JSON object whose values are strings, or
 * empty. */
FL_API FL_MUST_USE fl_status
fl_client_get_prompt(fl_client *client, fl_span name, fl_span arguments,
                     const fl_request_options *options, fl_answer_fn *on_answer,
                     void *user, uint64_t *id);

/* completion/complete: how an argument may go on. */
typedef struct fl_completion {
    fl_span prompt;   /* the prompt's name, or else: */
    fl_span resource; /* the template's URI */
    fl_span argument; /* its name */
    fl_span value;    /* so far */
    fl_span context;  /* the other arguments, a JSON object, or empty; from
                         2025-06-18 on */
} fl_completion;

FL_API FL_MUST_USE fl_status
fl_client_complete(fl_client *client, const fl_completion *of,
                   const fl_request_options *options, fl_answer_fn *on_answer,
                   void *user, uint64_t *id);

/*
 * To be told, or no more, when a resource changes (on_resource_updated). It
 * holds over reconnects, and twice is once. A modern server that does not
 * agree to it: FL_E_UNSUPPORTED, in the answer. FL_E_LIMIT: more than 1024.
 */
FL_API FL_MUST_USE fl_status fl_client_subscribe(
    fl_client *client, fl_span uri, const fl_request_options *options,
    fl_answer_fn *on_answer, void *user, uint64_t *id);
FL_API FL_MUST_USE fl_status fl_client_unsubscribe(
    fl_client *client, fl_span uri, const fl_request_options *options,
    fl_answer_fn *on_answer, void *user, uint64_t *id);

/* How much of the server's log to get: "debug", "info", "notice", "warning",
 * "error", "critical", "alert" or "emergency". FL_E_INVALID: none of these. A
 * modern server is told with each request from now on, and only if it is. */
FL_API FL_MUST_USE fl_status fl_client_set_log_level(
    fl_client *client, const char *level, const fl_request_options *options,
    fl_answer_fn *on_answer, void *user, uint64_t *id);

/* Legacy servers only. */
FL_API FL_MUST_USE fl_status fl_client_ping(fl_client *client,
                                            const fl_request_options *options,
                                            fl_answer_fn *on_answer, void *user,
                                            uint64_t *id);

/* The folders or files that the server may work on. */
typedef struct fl_root {
    fl_span uri;  /* file://... */
    fl_span name; /* for people; may be empty */
} fl_root;

/*
 * What roots/list is answered with, unless there is a handler for it. To have
 * roots at all, say so (none will do) before the client is ready: right after
 * fl_client_open(). FL_E_STATE: that was not done. A legacy server is told
 * that they have changed.
 */
FL_API FL_MUST_USE fl_status fl_client_set_roots(fl_client *client,
                                                 const fl_root *roots,
                                                 size_t count);

/* A task as it stands (tasks/get); tasks/cancel; tasks/list, which 2025-11-25
 * alone has: one page. `cursor` is text, or empty. */
FL_API FL_MUST_USE fl_status fl_client_task_get(
    fl_client *client, fl_span task, const fl_request_options *options,
    fl_answer_fn *on_answer, void *user, uint64_t *id);
FL_API FL_MUST_USE fl_status fl_client_task_cancel(
    fl_client *client, fl_span task, const fl_request_options *options,
    fl_answer_fn *on_answer, void *user, uint64_t *id);
FL_API FL_MUST_USE fl_status fl_client_task_list(
    fl_client *client, fl_span cursor, const fl_request_options *options,
    fl_answer_fn *on_answer, void *user, uint64_t *id);

/* Comes back for a task: the answer is that of the request it was made by, as
 * if it had never been a task. */
FL_API FL_MUST_USE fl_status fl_client_task_await(
    fl_client *client, fl_span task, const fl_request_options *options,
    fl_answer_fn *on_answer, void *user, uint64_t *id);

/* Forgets all results that are kept: who asks is another one now. */
FL_API void fl_client_drop_cache(fl_client *client);

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
