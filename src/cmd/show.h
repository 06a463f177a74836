/*
 * show.h - what a server said, printed: for people, or as it is.
 */
#ifndef FL_CMD_SHOW_H
#define FL_CMD_SHOW_H

#include "cmd/exits.h"
#include "cmd/term.h"

#include <fairlead/client.h>

typedef struct fl_show {
    fl_term out;
    fl_term err;
    bool json; /* as it is, on stdout, errors too */
} fl_show;

fl_show fl_show_new(bool json);

/* A CallToolResult; FL_EXIT_TOOL when it says isError. */
FL_MUST_USE fl_exit fl_show_result(const fl_show *show, fl_span result);

/* A JSON array of tools. */
void fl_show_tools(const fl_show *show, fl_span tools);

/* A JSON array of resources, templates or prompts. `member` is where it was in
 * the result, `key` what they are asked for by: "uri", "uriTemplate", "name".
 */
void fl_show_list(const fl_show *show, const char *member, fl_span list,
                  const char *key);

/* The result of resources/read; FL_EXIT_REMOTE when there is something in it
 * that cannot be shown. */
FL_MUST_USE fl_exit fl_show_contents(const fl_show *show, fl_span result);

/* The results of prompts/get and completion/complete. */
void fl_show_prompt(const fl_show *show, fl_span result);
void fl_show_completion(const fl_show *show, fl_span result);

/* A line of the server's log, on stderr. */
void fl_show_log(const fl_show *show, fl_span level, fl_span logger,
                 fl_span data);

void fl_show_info(const fl_show *show, const fl_client *client);

void fl_show_pong(const fl_show *show, double ms);

/* Something failed. `detail` is the server's error object, or empty. */
void fl_show_failure(const fl_show *show, fl_status status, fl_span text,
                     fl_span detail);

/* Whether all that was shown on stdout got there. */
bool fl_show_end(const fl_show *show);

#endif
