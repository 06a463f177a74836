/*
 * adapt.h - what is said in one revision, said in another.
 *
 * A gateway hears a server of one revision and speaks to a client of another.
 * Everything here is about the words alone: text goes in, text comes out, and
 * nothing is remembered but what adapt/outputs.h keeps of a server's tools.
 * Members we do not know pass as they are; numbers keep their spelling.
 *
 *   adapt_result.c     results, on their way to the client
 *   adapt_content.c    ... the parts in them
 *   adapt_tools.c      ... lists of tools, and structured results
 *   adapt_error.c      errors, likewise
 *   adapt_request.c    requests, on their way to the server
 *   adapt_question.c   what a server asks, and what its client answers
 *   adapt_form.c       ... the forms among that
 *   adapt_notice.c     notifications, on their way to the client
 *   adapt_task.c       what is said of tasks
 *   adapt_hello.c      what either says of itself
 *   adapt_capabilities.c   ... and of what it can do
 *   outputs.c          which tools promise what no object is
 *   edit.c             how a text is said again with some of it changed
 *
 * All of them answer FL_OK, and have appended what to say to `out`; FL_END,
 * when it is to be said as it came and nothing was appended; FL_E_NOMEM or
 * FL_E_TOO_BIG. What is asked for is valid JSON (rpc/msg.h has read it), but
 * may be of any shape: what is not as it should be passes as it is.
 */
#ifndef FL_ADAPT_ADAPT_H
#define FL_ADAPT_ADAPT_H

#include "adapt/outputs.h"
#include "base/buf.h"
#include "rpc/method.h"
#include "rpc/revision.h"

typedef struct fl_adapt {
    const fl_revision *from;   /* of who says it */
    const fl_revision *to;     /* of who is to hear it */
    fl_method method;          /* of the request it is about */
    fl_span object;            /* the token of the name or URI that is about, or
                                  empty */
    fl_span server_info;       /* JSON: who the server is; or empty */
    const fl_outputs *outputs; /* of the server's tools; or NULL */
    bool tasks; /* tasks are carried from era to era; else they are hidden */
} fl_adapt;

/* `result` is the object that answers adapt->method. What a modern server
 * wants to know first (input_required) is not for a legacy client's ears. */
FL_MUST_USE fl_status fl_adapt_result(const fl_adapt *adapt, fl_span result,
                                      fl_buf *out);

/* `error` is the error object; `code` is what its code becomes. */
FL_MUST_USE fl_status fl_adapt_error(const fl_adapt *adapt, fl_span error,
                                     fl_buf *out, int *code);

/*
 * The params of a client's request, in the words of the server's era. `token`
 * replaces the progress token, if there is one. Toward the modern era `claim`
 * is the raw members that its _meta gets; toward the legacy one what the claim
 * said is dropped, and so are inputResponses and requestState. `params` may be
 * empty; so may be what is appended.
 */
typedef struct fl_adapt_params {
    fl_span params;
    fl_span token;   /* raw; empty: it stays */
    fl_span claim;   /* members without braces, or empty */
    fl_span members; /* likewise, that params gets: task; inputResponses and
                        requestState. Those it has of these three go. */
} fl_adapt_params;
FL_MUST_USE fl_status fl_adapt_request(const fl_adapt *adapt,
                                       const fl_adapt_params *request,
                                       fl_buf *out);

/*
 * The params of what a server asks (adapt->method: sampling, elicitation,
 * roots), for a client of adapt->to. elicitationId and task are dropped where
 * the client's era has none; adapt->object is the token of the elicitationId
 * that a modern server's lacks. FL_E_UNSUPPORTED: the client's revision has no
 * way to be asked that (multi-select before 2025-11-25).
 */
FL_MUST_USE fl_status fl_adapt_question(const fl_adapt *adapt, fl_span params,
                                        fl_buf *out);

/* The client's result to that; from is the client's revision. */
FL_MUST_USE fl_status fl_adapt_answer(const fl_adapt *adapt, fl_span result,
                                      fl_buf *out);

/* A notification's params on the way to the client (progress.message before
 * 2025-03-26 and the like); adapt->method is the notification's. adapt->object
 * is the token that the client knows it by, and replaces progressToken,
 * requestId, or for modern clients subscriptionId; empty: what is there stays,
 * but for a subscriptionId that a legacy client has no use for. */
FL_MUST_USE fl_status fl_adapt_notice(const fl_adapt *adapt, fl_span params,
                                      fl_buf *out);

/*
 * What a server said of itself (InitializeResult or DiscoverResult), as the
 * result of initialize in adapt->to (legacy), or of server/discover (modern).
 * `name` is who it is if it does not say.
 */
FL_MUST_USE fl_status fl_adapt_server_hello(const fl_adapt *adapt,
                                            fl_span hello, fl_span name,
                                            fl_buf *out);

/* A client's capabilities, an object, as adapt->to has them. adapt->tasks: a
 * modern server is told that its client has them. */
FL_MUST_USE fl_status fl_adapt_client_capabilities(const fl_adapt *adapt,
                                                   fl_span capabilities,
                                                   fl_buf *out);

#endif
