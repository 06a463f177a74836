/*
 * talk.h - one conversation with a server, one thing after the other.
 *
 * The library never waits, but a test client has nothing else to do: each
 * function here runs the loop until there is an answer.
 */
#ifndef CONFORMANCE_TALK_H
#define CONFORMANCE_TALK_H

#include <fairlead/fairlead.h>

/* JSON as it is written, and a literal as a span. */
#define JSON(...) #__VA_ARGS__
#define TEXT(literal) ((fl_span){"" literal, sizeof(literal) - 1})

/* For "%.*s". */
#define SHOW(span) (int)(span).len, (span).ptr

struct talk {
    const char *url;
    const char *revision; /* to be spoken */
    fl_span context;      /* what the suite tells of this scenario: JSON */
    const fl_client_handlers *handlers;
    fl_auth *auth;

    fl_loop *loop;
    fl_client *client; /* NULL: closed */
    fl_status status;  /* of the last answer */
    char *text;        /* its result, which is good until the next */
    bool waiting;
};

/* FL_OK, and the client has been made; it connects by and by. */
FL_MUST_USE fl_status talk_begin(struct talk *talk);
void talk_end(struct talk *talk);

/* The result, raw JSON, good until the next question. Empty: there is none,
 * and talk->status says why. */
fl_span talk_ask(struct talk *talk, const char *method, fl_span params);
fl_span talk_list(struct talk *talk, fl_list_kind kind);
fl_span talk_call(struct talk *talk, fl_span tool, fl_span arguments);
fl_span talk_read(struct talk *talk, fl_span uri);
fl_span talk_prompt(struct talk *talk, fl_span name);

/* What a string means, on the heap; NULL if it is none. */
char *text_of(fl_span object, const char *key);

/* The scenarios, by what they are about; 0 when all was as it should be. */
typedef int scenario_fn(struct talk *talk);
scenario_fn run_initialize;
scenario_fn run_tools_call;
scenario_fn run_elicitation_defaults;
scenario_fn run_reconnection;
scenario_fn run_schema_echo;
scenario_fn run_rounds;
scenario_fn run_metadata;
scenario_fn run_standard_headers;
scenario_fn run_custom_headers;
scenario_fn run_listed_tools;
scenario_fn run_skills_list;
scenario_fn run_skill;
scenario_fn run_authorized;

/* rounds.c: for questions of the server. */
extern const fl_client_handlers plain_handlers;
extern const fl_client_handlers round_handlers;

/* auth.c: who this client is, in a scenario of that name. NULL on failure. */
fl_auth *auth_for(const char *scenario, fl_span context);

/* browser.c: where a page sends its visitor on to; NULL if nowhere. On the
 * heap. */
char *visit(const char *url);

#endif
