/*
 * complain.c - saying on stderr what went wrong, and what to do about it.
 *
 * Texts quote what servers and users wrote, so they go through the terminal's
 * filter like everything else that was not written here.
 */
#include "cmd/complain.h"

#include "base/span.h"
#include "cmd/exits.h"
#include "cmd/term.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT = 1024 };

void fl_complain(const char *command, const char *format, ...)
{
    fl_term term = fl_term_of(stderr);
    char text[TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fl_term_say(&term, FL_TERM_RED, "fairlead%s%s:", command != NULL ? " " : "",
                command != NULL ? command : "");
    fputc(' ', stderr);
    fl_term_put(&term, fl_span_of(text));
    fputc('\n', stderr);
}

int fl_complain_usage(const char *command, const fl_error *error)
{
    fl_complain(command, "%s", error->text);
    fprintf(stderr, "Try 'fairlead%s%s --help'.\n", command != NULL ? " " : "",
            command != NULL ? command : "");
    return FL_EXIT_LOCAL;
}
