/*
 * headers.h - the headers a person wants sent, from the command line or a file.
 */
#ifndef FL_CMD_HEADERS_H
#define FL_CMD_HEADERS_H

#include "cmd/flags.h"

/* The flags fill in the first three. */
typedef struct fl_headers {
    fl_flag_list list; /* "Name: value" each */
    const char *file;  /* more of them, one a line; NULL: none */
    fl_flag_list env;  /* NAME=VARIABLE: its value is in the environment */
    char *text;        /* of the file; `list` borrows from it */
    size_t text_len;
    char *made[FL_FLAG_LIST_MAX]; /* of `env`; `list` borrows them, too */
    size_t made_count;
} fl_headers;

/*
 * Checks those given and adds the file's to the list. `url` is where they are
 * to go; NULL: to a child, which gets none. FL_E_INVALID: `error` names the
 * option or the line, and what is wrong with it, but no value.
 */
FL_MUST_USE fl_status fl_headers_take(fl_headers *headers, const char *url,
                                      fl_error *error);
/* Whether --http2 says something of a server at `url`; NULL: of a child, of
 * which it does not. FL_E_INVALID: so `error` says. */
FL_MUST_USE fl_status fl_headers_check_http2(const char *url, fl_error *error);
void fl_headers_deinit(fl_headers *headers);

#endif
