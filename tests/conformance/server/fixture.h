/*
 * fixture.h - what the families of the conformance server share.
 *
 * Each family of tools, resources or prompts is a file that ends in a table
 * and a function that adds what is in it. The names in the tables, and the
 * words of the answers, are those that the conformance suite looks for.
 */
#ifndef CONFORMANCE_FIXTURE_H
#define CONFORMANCE_FIXTURE_H

#include <fairlead/fairlead.h>

/* JSON as it is written, and a literal as a span. */
#define JSON(...) #__VA_ARGS__
#define TEXT(literal) ((fl_span){"" literal, sizeof(literal) - 1})

/* For "%.*s". */
#define SHOW(span) (int)(span).len, (span).ptr

/* Adds them all, each with the server for its user. */
FL_MUST_USE fl_status add_tools(fl_server *server, const fl_tool *tools,
                                size_t count);
#define ADD_TOOLS(server, tools)                                               \
    add_tools(server, tools, sizeof(tools) / sizeof *(tools))

/* Completes with the words, NULL-terminated, that begin as the client has. */
void complete_from(fl_call *call, const char *const *words);

/* The text of a string in what the client has answered, for "%s"; empty if it
 * is none. */
typedef struct answer_text {
    char text[256];
} answer_text;
answer_text text_of(fl_span object, const char *key);

/* The families. */
FL_MUST_USE fl_status add_content_tools(fl_server *server);
FL_MUST_USE fl_status add_schema_tools(fl_server *server);
FL_MUST_USE fl_status add_stream_tools(fl_server *server);
FL_MUST_USE fl_status add_asking_tools(fl_server *server);
FL_MUST_USE fl_status add_round_tools(fl_server *server);
FL_MUST_USE fl_status add_task_tools(fl_server *server);
FL_MUST_USE fl_status add_resources(fl_server *server);
FL_MUST_USE fl_status add_prompts(fl_server *server);
FL_MUST_USE fl_status add_skills(fl_server *server, const char *folder);

/* media.c: one red pixel, and a moment of silence. */
extern const fl_span red_pixel_png;
extern const fl_span silence_wav;

/* pace.c: takes a deferred call through its steps, the first at once, the
 * others `ms` apart, until one of them has answered it and says so (true).
 * Does nothing without a call, as when it could not be deferred. */
typedef bool step_fn(fl_call *call, unsigned step);
void pace(fl_call *call, uint64_t ms, step_fn *step);

#endif
