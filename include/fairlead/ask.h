/*
 * ask.h - what a server asks of its client: a model's words, an answer of the
 * user's, the folders he works in.
 *
 * Each question comes to a handler as an fl_ask, which is answered exactly
 * once, at once or later:
 *
 *     static void elicit(fl_client *client, fl_ask *ask, void *user)
 *     {
 *         fl_ask_accept(ask, fl_text("{\"sure\":true}"));
 *     }
 *
 * A client declares what it has handlers for, and nothing else gets to them.
 * Legacy servers send requests of their own; modern ones put their questions
 * into a result, and the client repeats its request with the answers. Nobody
 * who answers has to know which.
 */
#ifndef FAIRLEAD_ASK_H
#define FAIRLEAD_ASK_H

#include <fairlead/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_client fl_client;
typedef struct fl_ask fl_ask;

/* `user` is the client's. The ask lives until it is answered, even if the
 * client is gone by then. */
typedef void fl_ask_fn(fl_client *client, fl_ask *ask, void *user);

typedef struct fl_client_handlers {
    fl_ask_fn *sample;     /* sampling/createMessage */
    fl_ask_fn *elicit;     /* elicitation/create: a form */
    fl_ask_fn *elicit_url; /* elicitation/create: a page to be visited */
    fl_ask_fn *roots;      /* roots/list; see also fl_client_set_roots() */
    bool sample_tools;     /* sample() heeds `tools` and `toolChoice` */
    bool sample_context;   /* ... and `includeContext` */
} fl_client_handlers;

/* "elicitation/create", and what came with it: raw JSON, or empty. Like all
 * spans of an ask good until it is answered. */
FL_API fl_span fl_ask_method(const fl_ask *ask);
FL_API fl_span fl_ask_params(const fl_ask *ask);

/* Of an elicitation: what to tell the user (text), what a form wants (raw
 * JSON), where to send him (text). Empty when there is none. */
FL_API fl_span fl_ask_message(const fl_ask *ask);
FL_API fl_span fl_ask_schema(const fl_ask *ask);
FL_API fl_span fl_ask_url(const fl_ask *ask);

/*
 * The answers. FL_OK, and the ask is gone; or FL_E_INVALID, it is still there,
 * and wants another one: `result` and `content` are JSON objects, and only an
 * elicitation can be accepted, declined or cancelled. An answer that nobody
 * waits for any more (fl_ask_cancelled()) goes nowhere, and is FL_OK.
 * FL_E_NOMEM is not final either.
 */
FL_API FL_MUST_USE fl_status fl_ask_reply(fl_ask *ask, fl_span result);

/* What `content` lacks and the form has a default for is filled in. Empty for
 * a page that the user agrees to visit. */
FL_API FL_MUST_USE fl_status fl_ask_accept(fl_ask *ask, fl_span content);
/* FL_E_NOT_FOUND: something is required and has no default; not answered. */
FL_API FL_MUST_USE fl_status fl_ask_accept_defaults(fl_ask *ask);

/* The user said no; the user did not say. */
FL_API FL_MUST_USE fl_status fl_ask_decline(fl_ask *ask);
FL_API FL_MUST_USE fl_status fl_ask_cancel(fl_ask *ask);

/*
 * It cannot be answered; always succeeds. A modern server can be told of an
 * elicitation only that it was cancelled, and of the others nothing: then the
 * request that it was about fails with FL_E_CANCELLED and this text.
 */
FL_API void fl_ask_error(fl_ask *ask, int code, const char *text);

/*
 * An ask that nobody waits for any more (the server took it back, the request
 * it was about ended, the link or the client has gone) still has to be
 * answered, but soon: `on_cancel`, if set, says so. Its client may be NULL.
 */
FL_API bool fl_ask_cancelled(const fl_ask *ask);
FL_API void fl_ask_on_cancel(fl_ask *ask, fl_ask_fn *on_cancel, void *user);

#ifdef __cplusplus
}
#endif

#endif
