/*
 * methods.h - the methods a server knows, and what leads to them.
 */
#ifndef FL_SERVER_METHODS_H
#define FL_SERVER_METHODS_H

#include "server/session.h"

/* Answers a request, now or later, or refuses it. */
void fl_methods_request(const fl_return *to, const fl_msg *msg);

/* Heeds a notification; one that is unknown or out of place is ignored. */
void fl_methods_notify(const fl_return *to, const fl_msg *msg);

/* Answers a request of one method, now or later. All is borrowed. */
typedef void fl_method_fn(const fl_return *to, const fl_msg *msg);

/* method_open.c */
fl_method_fn fl_method_initialize;
fl_method_fn fl_method_discover;
/* method_lists.c */
fl_method_fn fl_method_tools_list;
fl_method_fn fl_method_resources_list;
fl_method_fn fl_method_templates_list;
fl_method_fn fl_method_prompts_list;
/* method_tools.c, method_resources.c, method_prompts.c, method_complete.c */
fl_method_fn fl_method_tools_call;
fl_method_fn fl_method_resources_read;
fl_method_fn fl_method_prompts_get;
fl_method_fn fl_method_complete;
fl_method_fn fl_method_subscribe; /* watch.c */
fl_method_fn fl_method_unsubscribe;
fl_method_fn fl_method_set_level; /* method_open.c */
fl_method_fn fl_method_listen;    /* listen.c */
fl_method_fn fl_method_tasks_get; /* method_tasks.c */
fl_method_fn fl_method_tasks_cancel;
fl_method_fn fl_method_tasks_update;
fl_method_fn fl_method_tasks_result;
fl_method_fn fl_method_tasks_list;
fl_method_fn fl_method_skills_list; /* method_skills.c */
fl_method_fn fl_method_skills_get;
fl_method_fn fl_method_directory_read;

/* What a request may use: a session has what it was told at initialize; a
 * request that knows of no other has what there is. */
unsigned fl_methods_offers(const fl_return *to);

/* Its params will not do: -32602, in these words. */
void fl_methods_refuse(const fl_return *to, const fl_msg *msg,
                       const char *what);

/* What params.uri means; `text` holds it if it had escapes. False: it is no
 * string, or means too much, and the request has been answered. */
FL_MUST_USE bool fl_methods_uri(const fl_return *to, const fl_msg *msg,
                                fl_buf *text, fl_span *uri);

/* There is no resource of params.uri; or, if `why` says so, no memory. */
void fl_methods_no_resource(const fl_return *to, const fl_msg *msg,
                            fl_status why);

/* Nothing at all, or an object whose members are all strings. */
bool fl_methods_are_strings(fl_span object);

/* May a request that will stay open be taken on? Answers it if not. */
bool fl_methods_admit(const fl_return *to, const fl_msg *msg);

/* {"supported":[...]} with the revisions a claim can name, and `requested` if
 * it is not empty: a token of the message, repeated as it came. */
FL_MUST_USE fl_status fl_methods_write_supported(fl_buf *out,
                                                 fl_span requested);

#endif
