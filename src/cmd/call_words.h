/*
 * call_words.h - arguments that are text whatever they look like: those of
 * prompts and of completion (MCP has no others there).
 */
#ifndef FL_CMD_CALL_WORDS_H
#define FL_CMD_CALL_WORDS_H

#include "cmd/call_line.h"

/* key=value... into line->arguments, each value a string. */
FL_MUST_USE fl_status fl_call_words_texts(const fl_words *words,
                                          fl_call_line *line, fl_error *error);

/* The same; but the first is the one to complete, into line->argument and
 * line->value. There is one. */
FL_MUST_USE fl_status fl_call_words_completion(const fl_words *words,
                                               fl_call_line *line,
                                               fl_error *error);

#endif
