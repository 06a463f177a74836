/*
 * client_steps.h - requests that take more than one message, for the files of
 * the client only.
 *
 *   client_steps.c   which answers are not the end of their request
 *   client_pages.c   ... but one page of a list
 *   client_rounds.c  ... or questions, in 2026-07-28
 *   client_tasks.c   ... or a task
 *   client_tools.c   and tools that are not to be shown
 */
#ifndef FL_CLIENT_CLIENT_STEPS_H
#define FL_CLIENT_CLIENT_STEPS_H

#include "client/request.h"

/*
 * An answer of the server's, or from the cache. True: it was not the last
 * word, and the request goes on. False: it was, and `answer`, which may have
 * changed, is how the request ends; texts made for it are in `text`.
 */
bool fl_client_step(fl_client *client, fl_request *request, fl_answer *answer,
                    fl_buf *text);
/* The error object of a JSON-RPC response, as an answer. */
fl_answer fl_client_refusal(fl_span error, fl_buf *text);
/* The same for a failure of our own finding. */
fl_answer fl_client_blunder(fl_status status, fl_buf *text, const char *format,
                            ...) FL_PRINTF(3, 4);

/* The answer to tools/list without what must not be shown; it may then be in
 * `text`. */
void fl_client_sift_tools(fl_client *client, const fl_request *request,
                          fl_answer *answer, fl_buf *text);

/* Pages. `step` functions are as fl_client_step(). NULL: no such list. */
const char *fl_client_list_method(fl_list_kind kind);
FL_MUST_USE fl_status fl_pages_new(fl_list_kind kind, fl_pages **out);
void fl_pages_free(fl_pages *pages);
bool fl_client_step_page(fl_client *client, fl_request *request,
                         fl_answer *answer, fl_buf *text);

/* Input for a request or a task of ours. `inputs` may be empty. When all is
 * gathered, fl_client_gathered() is called. */
bool fl_client_step_round(fl_client *client, fl_request *request,
                          fl_answer *answer, fl_buf *text);
FL_MUST_USE fl_status fl_client_gather(fl_client *client, fl_request *request,
                                       fl_span inputs, fl_span skip,
                                       fl_buf *text);
void fl_round_free(fl_round *round);
FL_MUST_USE fl_status fl_round_add(fl_round *round, fl_span key,
                                   fl_span result);
/* The members of inputResponses, without the braces around them. */
fl_span fl_round_members(const fl_round *round);
/* The request goes: whoever is asked for it is told. */
void fl_client_round_drop(fl_client *client, fl_request *request);
void fl_client_round_answered(fl_client *client, fl_request *request);
void fl_client_round_refused(fl_client *client, fl_request *request,
                             const char *text);

/* Tasks. */
bool fl_client_step_task(fl_client *client, fl_request *request,
                         fl_answer *answer, fl_buf *text);
bool fl_client_begin_task(fl_client *client, fl_request *request, fl_span task,
                          fl_answer *answer, fl_buf *text);
void fl_client_task_gathered(fl_client *client, fl_request *request);
void fl_client_task_due(fl_client *client, fl_request *request);
void fl_client_task_stop(fl_client *client, const fl_request *request);
/* Before a request to a legacy server: asks for a task, if it may. */
FL_MUST_USE fl_status fl_client_task_offer(const fl_client *client,
                                           fl_request *request);
void fl_client_task_learn(fl_client *client, fl_span tools);
void fl_client_task_forget(fl_client *client);
FL_MUST_USE fl_status fl_follow_new(fl_span token, fl_follow **out);
void fl_follow_free(fl_follow *follow);

#endif
