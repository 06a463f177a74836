/*
 * shell_words.h - a command written as one text, cut into its words.
 */
#ifndef FL_CMD_SHELL_WORDS_H
#define FL_CMD_SHELL_WORDS_H

#include "cmd/texts.h"

/*
 * Cuts as a POSIX shell does (XCU 2.2: backslash, '...', "..."; blanks
 * between words; # begins a comment), but runs none: what only a shell could
 * do ($VAR, `...`, pipes, && and ;, redirections, ~) is FL_E_INVALID, and
 * `error` says to put it into a script. Globs are taken as they stand. So is a
 * quote without its end. No word at all is FL_E_INVALID too.
 */
FL_MUST_USE fl_status fl_shell_words(const char *text, fl_texts *words,
                                     fl_error *error);

/* `word` written so that a shell, and the above, read it back as it is; freed
 * with fl_mem_free(). NULL: no memory. */
FL_MUST_USE char *fl_shell_quote(const char *word);

#endif
