/*
 * server.h - an MCP server: tools, and the addresses they are served on.
 *
 * A handler gets an fl_call and answers it exactly once, at once or later:
 *
 *     static void add(fl_call *call, void *user)
 *     {
 *         (void)user;
 *         fl_call_replyf(call, "%g", fl_call_number(call, "a") +
 *                                        fl_call_number(call, "b"));
 *     }
 *
 * An argument that is missing or of the wrong type need not be checked for:
 * whoever asks for it marks the call, and the answer becomes an error that
 * names the argument. A handler that answers later calls fl_call_defer().
 */
#ifndef FAIRLEAD_SERVER_H
#define FAIRLEAD_SERVER_H

#include <fairlead/loop.h>
#include <fairlead/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_server fl_server;
typedef struct fl_call fl_call;
typedef void fl_tool_fn(fl_call *call, void *user);

typedef struct fl_tool {
    const char *name;
    const char *title;         /* optional; shown from 2025-06-18 on */
    const char *description;   /* optional */
    const char *input_schema;  /* JSON; NULL: any object */
    const char *output_schema; /* JSON, optional; from 2025-06-18 on */
    const char *annotations;   /* JSON, optional; from 2025-03-26 on */
    fl_tool_fn *call;
    void *user;
} fl_tool;

/* NULL when there is no memory. Name and version are shown to clients. */
FL_API FL_MUST_USE fl_server *fl_server_new(const char *name,
                                            const char *version);

/* All its listeners and links must be closed: see fl_server_close(). */
FL_API void fl_server_free(fl_server *server);

/* Text shown to the model; optional. */
FL_API FL_MUST_USE fl_status fl_server_set_instructions(fl_server *server,
                                                        const char *text);

/*
 * Copies everything but `user`. FL_E_INVALID: no name, no handler, a schema
 * that is not a JSON object, or an input schema that has x-mcp-header where or
 * how it may not be (a property that is a string, an integer or a boolean, and
 * a name no other has); FL_E_IN_USE: the name is taken.
 */
FL_API FL_MUST_USE fl_status fl_server_add_tool(fl_server *server,
                                                const fl_tool *tool);

/*
 * Listens on the addresses, NULL-terminated, until SIGINT or SIGTERM, or, if
 * "stdio:" is one of them, until the last link has gone; finishes what is in
 * flight and returns an exit code for main: 0, or 1 after saying on stderr
 * what was wrong. Frees the server.
 */
FL_API int fl_server_run(fl_server *server, const char *const *urls);

/* The parts of fl_server_run(), for a program with a loop of its own. */
FL_API FL_MUST_USE fl_status fl_server_listen(fl_server *server, fl_loop *loop,
                                              const char *url,
                                              const fl_options *options,
                                              fl_error *error);

/* The port of the latest tcp:// or tls:// listener, for port 0. */
FL_API uint16_t fl_server_port(const fl_server *server);

/* How many links are open. */
FL_API size_t fl_server_links(const fl_server *server);

/* Calls `done` when the last link has gone, whoever closed it. One at a time;
 * how a program that serves stdio learns that its client has left. */
FL_API void fl_server_on_idle(fl_server *server, fl_task *done, void *user);

/*
 * Stops listening, gives calls in flight `grace_ms` to be answered, fails the
 * rest with an error, closes every link, then calls `done`: always later,
 * except for a server that never listened. While it is closing a second call
 * does nothing. All doors are on one loop.
 */
FL_API void fl_server_close(fl_server *server, uint64_t grace_ms, fl_task *done,
                            void *user);

/* Arguments. Text borrows from the call, and is good until it is answered or
 * deferred (ask again after that); raw is JSON ("" if absent). */
FL_API fl_span fl_call_arguments(const fl_call *call);
FL_API bool fl_call_has(const fl_call *call, const char *key);
FL_API fl_span fl_call_raw(const fl_call *call, const char *key);
FL_API fl_span fl_call_text(fl_call *call, const char *key);
FL_API double fl_call_number(fl_call *call, const char *key);
FL_API int64_t fl_call_integer(fl_call *call, const char *key);
FL_API bool fl_call_bool(fl_call *call, const char *key);

/* Answers. Each ends the call; the call must not be used after. */
FL_API void fl_call_reply_text(fl_call *call, fl_span text);
FL_API void fl_call_replyf(fl_call *call, const char *format, ...)
    FL_PRINTF(2, 3);
/* `result` is a whole CallToolResult, as JSON. */
FL_API void fl_call_reply_json(fl_call *call, fl_span result);
/* The tool failed: the model reads why (isError). */
FL_API void fl_call_fail(fl_call *call, const char *format, ...)
    FL_PRINTF(2, 3);
/* The call was wrong: a JSON-RPC error. */
FL_API void fl_call_error(fl_call *call, int code, const char *format, ...)
    FL_PRINTF(3, 4);

/*
 * To answer later: returns the call to go on with, which lives until it is
 * answered; `call` itself is used up. NULL when there is no memory: then it
 * has been answered with an error already.
 */
FL_API FL_MUST_USE fl_call *fl_call_defer(fl_call *call);

/* Tells how far it is, if the client asked to be told and the call did not
 * come in a batch; `total` 0: unknown. */
FL_API void fl_call_progress(fl_call *call, double progress, double total,
                             const char *message);

/*
 * A deferred call the client cancelled, or whose link went, still has to be
 * answered (the answer goes nowhere) but soon: `on_cancel`, if set, says so.
 */
FL_API bool fl_call_cancelled(const fl_call *call);
FL_API void fl_call_on_cancel(fl_call *call, fl_tool_fn *on_cancel, void *user);

/* The loop this call lives on: for fl_loop_after() and friends. */
FL_API fl_loop *fl_call_loop(const fl_call *call);

#ifdef __cplusplus
}
#endif

#endif
