/*
 * call.h - one request of a client, in the hands of the handler that answers
 * it: a tool called, a resource read, a prompt wanted, a word completed.
 *
 * A handler answers its call exactly once, at once or later:
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
 *
 * The same handler serves every revision of the protocol. What a revision does
 * not have is left out of an answer, or put in words it has.
 */
#ifndef FAIRLEAD_CALL_H
#define FAIRLEAD_CALL_H

#include <fairlead/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_call fl_call;
typedef void fl_call_fn(fl_call *call, void *user);
struct fl_resource;

/*
 * Arguments: of a tool or a prompt; of a resource behind a template, what
 * stood in the places of its variables; of a completion, what has been filled
 * in already. Text borrows from the call, and is good until it is answered or
 * deferred (ask again after that); raw is JSON ("" if absent).
 */
FL_API fl_span fl_call_arguments(const fl_call *call);
FL_API bool fl_call_has(const fl_call *call, const char *key);
FL_API fl_span fl_call_raw(const fl_call *call, const char *key);
FL_API fl_span fl_call_text(fl_call *call, const char *key);
FL_API double fl_call_number(fl_call *call, const char *key);
FL_API int64_t fl_call_integer(fl_call *call, const char *key);
FL_API bool fl_call_bool(fl_call *call, const char *key);

/* What is to be read, as the client wrote it; "" if nothing is. */
FL_API fl_span fl_call_uri(fl_call *call);

/* A completion: the argument to be completed, and what it begins with. */
FL_API fl_span fl_call_completing(fl_call *call);
FL_API fl_span fl_call_prefix(fl_call *call);

/* The request's _meta, the revision it is of, and who sent it: raw JSON. */
FL_API fl_span fl_call_meta(const fl_call *call, const char *key);
FL_API const char *fl_call_revision(const fl_call *call);
FL_API fl_span fl_call_client_info(const fl_call *call);

/* What the client has said that it can do. */
typedef enum fl_ability {
    FL_CAN_ELICIT_FORM,
    FL_CAN_ELICIT_URL,
    FL_CAN_SAMPLE,
    FL_CAN_SAMPLE_WITH_TOOLS,
    FL_CAN_LIST_ROOTS,
    FL_CAN_HOLD_TASKS, /* this request may be answered by a task */
} fl_ability;
FL_API bool fl_call_client_can(const fl_call *call, fl_ability what);

/* Answers. Each ends the call; the call must not be used after. */
FL_API void fl_call_reply_text(fl_call *call, fl_span text);
FL_API void fl_call_replyf(fl_call *call, const char *format, ...)
    FL_PRINTF(2, 3);
/* `result` is the whole result, as JSON. */
FL_API void fl_call_reply_json(fl_call *call, fl_span result);
/* The tool failed: the model reads why (isError). Of other calls, the client
 * does: a JSON-RPC error. */
FL_API void fl_call_fail(fl_call *call, const char *format, ...)
    FL_PRINTF(2, 3);
/* The call was wrong: a JSON-RPC error. */
FL_API void fl_call_error(fl_call *call, int code, const char *format, ...)
    FL_PRINTF(3, 4);
/* There is no resource of this URI. */
FL_API void fl_call_not_found(fl_call *call);

/*
 * An answer in parts: each of these adds one, and fl_call_finish() sends them.
 * A tool's become content blocks; a prompt's, messages of the role last named
 * (the user, at first); a resource's, its contents. What goes wrong on the way
 * is told instead of the answer.
 */
typedef enum fl_role { FL_ROLE_USER, FL_ROLE_ASSISTANT } fl_role;
FL_API void fl_call_role(fl_call *call, fl_role role);
FL_API void fl_call_add_text(fl_call *call, fl_span text);
FL_API void fl_call_addf(fl_call *call, const char *format, ...)
    FL_PRINTF(2, 3);
/* Bytes as they are; they travel as Base64. */
FL_API void fl_call_add_image(fl_call *call, fl_span bytes,
                              const char *mime_type);
FL_API void fl_call_add_audio(fl_call *call, fl_span bytes,
                              const char *mime_type);
/* A resource, whole: text, or bytes. When a resource is being read, NULL for
 * the URI means that one, and NULL for the type the one it was added with. */
FL_API void fl_call_add_document(fl_call *call, const char *uri,
                                 const char *mime_type, fl_span text);
FL_API void fl_call_add_blob(fl_call *call, const char *uri,
                             const char *mime_type, fl_span bytes);
/* A resource by name only: uri and name, and what else is set of it. */
FL_API void fl_call_add_link(fl_call *call, const struct fl_resource *resource);
/* A content block as JSON; of a resource, an element of its contents. */
FL_API void fl_call_add_json(fl_call *call, fl_span block);
/* structuredContent of a tool: JSON that its output schema allows. A client
 * gets it as text, too, if nothing else was added. */
FL_API void fl_call_set_structured(fl_call *call, fl_span json);
/* A member of the result's _meta. */
FL_API void fl_call_set_meta(fl_call *call, const char *key, fl_span json);
/* A value to complete with; those past the hundredth are only counted. */
FL_API void fl_call_suggest(fl_call *call, fl_span value);
/* How long a resource's contents may be kept, and by anyone (`shared`)? */
FL_API void fl_call_set_cache(fl_call *call, uint64_t ttl_ms, bool shared);
/* Sends what was added; the call must not be used after. */
FL_API void fl_call_finish(fl_call *call);

/*
 * To answer later: returns the call to go on with, which lives until it is
 * answered; `call` itself is used up. NULL when there is no memory: then it
 * has been answered with an error already.
 */
FL_API FL_MUST_USE fl_call *fl_call_defer(fl_call *call);

/*
 * The same for what takes long: the client, if it can, gets a task to ask
 * about, and need not keep a connection. `ttl_ms`, if not 0, is how long the
 * result is kept for it. A client that cannot waits, as after fl_call_defer().
 */
FL_API FL_MUST_USE fl_call *fl_call_as_task(fl_call *call, uint64_t ttl_ms);
/* A line about how the task is doing, for who asks. */
FL_API void fl_call_task_status(fl_call *call, const char *message);

/* Tells how far it is, if the client asked to be told and the call did not
 * come in a batch; `total` 0: unknown. */
FL_API void fl_call_progress(fl_call *call, double progress, double total,
                             const char *message);

typedef enum fl_level {
    FL_LEVEL_DEBUG,
    FL_LEVEL_INFO,
    FL_LEVEL_NOTICE,
    FL_LEVEL_WARNING,
    FL_LEVEL_ERROR,
    FL_LEVEL_CRITICAL,
    FL_LEVEL_ALERT,
    FL_LEVEL_EMERGENCY,
} fl_level;

/* A word to the client's log, if it wants words of this level. `logger` is who
 * speaks; may be NULL. */
FL_API void fl_call_logf(fl_call *call, fl_level level, const char *logger,
                         const char *format, ...) FL_PRINTF(4, 5);
/* `data` that is not JSON is not said. */
FL_API void fl_call_log_json(fl_call *call, fl_level level, const char *logger,
                             fl_span data);

/*
 * Asking the client back. A handler says what it wants to know, under keys of
 * its choice, and ends this run with fl_call_ask(); when the client has
 * answered, the handler is run again, from its beginning, and finds what it
 * has asked for:
 *
 *     fl_span form;
 *     switch (fl_call_input(call, "name", &form)) {
 *     case FL_INPUT_NONE:
 *         fl_call_want_form(call, "name", "Who are you?", schema);
 *         fl_call_ask(call);
 *         return;
 *     case FL_INPUT_ACCEPTED: ...
 *
 * In the legacy revisions these are requests of ours and the call waits; in
 * the modern ones the client comes back with a new request, and what was
 * answered in earlier rounds travels with it, sealed. A handler cannot tell,
 * and must not keep anything between its runs but its state.
 *
 * To want what the client cannot do ends the call with an error that says so:
 * see fl_call_client_can(). Not for completions.
 */
typedef enum fl_input {
    FL_INPUT_NONE,     /* not answered yet, or not as it had to be */
    FL_INPUT_ACCEPTED, /* the content: of a form an object; of a URL nothing;
                          otherwise the whole result. Raw JSON */
    FL_INPUT_DECLINED,
    FL_INPUT_CANCELLED,
    FL_INPUT_FAILED, /* the content: a JSON-RPC error. Legacy only */
} fl_input;
FL_API fl_input fl_call_input(const fl_call *call, const char *key,
                              fl_span *content);
FL_API void fl_call_want_form(fl_call *call, const char *key,
                              const char *message, const char *schema);
FL_API void fl_call_want_url(fl_call *call, const char *key,
                             const char *message, const char *url);
/* `params` of sampling/createMessage, a JSON object. */
FL_API void fl_call_want_sample(fl_call *call, const char *key, fl_span params);
/* What roots/list answers. */
FL_API void fl_call_want_roots(fl_call *call, const char *key);
/* Asks all that was wanted, and ends this run. */
FL_API void fl_call_ask(fl_call *call);

/* What a handler wants to know in its next run: bytes that the client carries
 * but can neither read nor change. "" in the first run. */
FL_API fl_span fl_call_state(const fl_call *call);
FL_API void fl_call_set_state(fl_call *call, fl_span state);

/*
 * A deferred call the client cancelled, or whose link went, still has to be
 * answered (the answer goes nowhere) but soon: `on_cancel`, if set, says so.
 */
FL_API bool fl_call_cancelled(const fl_call *call);
FL_API void fl_call_on_cancel(fl_call *call, fl_call_fn *on_cancel, void *user);

/* Lets the connection go that the answer was to be sent on; the client comes
 * back for it `retry_ms` later. Where the revision and the transport have no
 * way to, and for a call that is not deferred, nothing happens. */
FL_API void fl_call_hang_up(fl_call *call, uint64_t retry_ms);

/* The loop this call lives on: for fl_loop_after() and friends. */
FL_API fl_loop *fl_call_loop(const fl_call *call);

#ifdef __cplusplus
}
#endif

#endif
