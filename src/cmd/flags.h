/*
 * flags.h - a command line taken apart by a table.
 *
 * Each sub-command describes its flags as rows: a name, what kind of value it
 * takes and where that goes. Both "--name value" and "--name=value" are
 * understood, a repeated flag of kind LIST adds to its list, and whatever is
 * no flag is a word. After "--" nothing is looked at any more.
 */
#ifndef FL_CMD_FLAGS_H
#define FL_CMD_FLAGS_H

#include <fairlead/types.h>

typedef enum fl_flag_kind {
    FL_FLAG_SWITCH,  /* bool; takes no value */
    FL_FLAG_TEXT,    /* const char * */
    FL_FLAG_LIST,    /* fl_flag_list */
    FL_FLAG_COUNT,   /* unsigned, 1 or more */
    FL_FLAG_BYTES,   /* size_t; K, M and G mean 1024 and its powers */
    FL_FLAG_SECONDS, /* uint64_t milliseconds; 1.5 is fine, 0 is not */
    FL_FLAG_CHOICE,  /* unsigned: which of `choices`, counted from 1 */
} fl_flag_kind;

enum { FL_FLAG_LIST_MAX = 64 };

/* NULL-terminated, as the library wants its lists. */
typedef struct fl_flag_list {
    const char *items[FL_FLAG_LIST_MAX + 1];
    size_t count;
} fl_flag_list;

typedef struct fl_flag {
    const char *name; /* with its dashes; NULL ends a table */
    fl_flag_kind kind;
    void *into;
    const char *const *choices; /* NULL-terminated; for FL_FLAG_CHOICE */
} fl_flag;

typedef struct fl_words {
    char **word; /* argv itself, put together anew */
    size_t count;
    char **rest; /* what came after "--", NULL-terminated; NULL: no "--" */
} fl_words;

/*
 * Takes the flags out of `argv` (NULL-terminated, without the program's name)
 * and leaves the words. FL_E_INVALID: `error` names the argument, what would
 * be right, and the flag that was perhaps meant.
 */
FL_MUST_USE fl_status fl_flags_parse(const fl_flag *flags, char **argv,
                                     fl_words *words, fl_error *error);

#endif
