/*
 * reader.h - what the files of this room share while a file is being read.
 *
 * A problem is told with a pointer into the text and nothing else. Line,
 * column and the path of keys that lead there are found from the pointer, and
 * only then: nobody has to carry a path along for the case that all is not
 * well.
 *
 * Memory that runs out is remembered in `status`, after which everything more
 * is in vain but harmless; functions that return bool say "go on".
 */
#ifndef FL_CONFIG_READER_H
#define FL_CONFIG_READER_H

#include "config/config.h"
#include "config/keep.h"

struct fl_config {
    fl_keep keep;  /* values */
    fl_keep notes; /* problems, which must find room when values do not */
    const char *file;
    fl_config_server *servers;
    size_t server_count;
    fl_config_problem problems[2 * FL_CONFIG_PROBLEMS];
    size_t problem_count, error_count, warning_count;
};

typedef struct fl_reader {
    fl_config *config;
    const fl_config_source *source;
    fl_span text;     /* comments blanked */
    fl_span root;     /* the outermost value, once it is known to be JSON */
    fl_span inputs;   /* VS Code's */
    bool bare_dollar; /* Gemini's $NAME is expanded */
    bool braces;      /* opencode's {env:NAME} is */
    bool disabled;    /* so is the server being read */
    fl_status status;
    fl_buf raw;         /* a string as the file has it, escapes undone */
    fl_buf real, shown; /* and what becomes of it */
    size_t counted, line, line_start; /* lines before `counted` */
} fl_reader;

/* Remembers a failure; true if it is none. */
bool fl_reader_try(fl_reader *reader, fl_status status);

/* `at` points into the text. What is told is copied, and must not hold the
 * value of a variable. */
void fl_reader_error(fl_reader *reader, const char *at, const char *format, ...)
    FL_PRINTF(3, 4);
void fl_reader_warn(fl_reader *reader, const char *at, const char *format, ...)
    FL_PRINTF(3, 4);

/* For what is needed only by a server that is not switched off: then a warning
 * will do, and true is returned. */
bool fl_reader_missing(fl_reader *reader, const char *at, const char *format,
                       ...) FL_PRINTF(3, 4);

/* The number of the line, from 1. */
size_t fl_reader_line(fl_reader *reader, const char *at);

#endif
