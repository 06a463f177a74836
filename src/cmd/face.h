/*
 * face.h - the command lines of other programs, understood.
 *
 * A face is what a program people use today looks like from outside: its
 * flags, their defaults, its way to name a server. Putting one on is nothing
 * but a translation, from its list of arguments to one of "fairlead serve" or
 * "fairlead connect". So it is tested without a gateway, and can be shown to
 * those who want to move over (--show).
 *
 * Each program is a table of its flags, which knows what becomes of every one
 * of them, and a function that puts together what hangs together.
 */
#ifndef FL_CMD_FACE_H
#define FL_CMD_FACE_H

#include "cmd/texts.h"

/* How much of the command line a flag takes. */
typedef enum fl_face_kind {
    FL_FACE_SWITCH, /* nothing; --no-FLAG and --FLAG=false turn it off */
    FL_FACE_VALUE,  /* a value, behind it or after "=" */
    FL_FACE_MAYBE,  /* a value, or none */
    FL_FACE_PAIR,   /* two of them */
    FL_FACE_LIST,   /* all up to the next flag, perhaps none */
} fl_face_kind;

/* What becomes of it. */
typedef enum fl_face_deed {
    FL_FACE_ASKED,  /* the program's compose() asks for it */
    FL_FACE_PASS,   /* `ours`, with the same value */
    FL_FACE_MILLIS, /* `ours`, in seconds */
    FL_FACE_WORD,   /* `ours`, with what `words` has for the value */
    FL_FACE_MEANT,  /* nothing: it is so anyway */
    FL_FACE_IDLE,   /* nothing, and a warning, which says why */
    FL_FACE_NEVER,  /* an error, which says what to do instead */
} fl_face_deed;

typedef struct fl_face_row {
    const char *name; /* "--logLevel", --log-level too; NULL ends a table */
    const char *also; /* a short one, or NULL */
    fl_face_kind kind;
    fl_face_deed deed;
    const char *ours;  /* for the help, if not for more; or NULL */
    const char *why;   /* for the help and warnings; or NULL */
    const char *words; /* FL_FACE_WORD: "theirs=ours theirs=ours" */
    bool secret;       /* its value is nobody's business */
    bool front;        /* only where there is an address to serve on */
} fl_face_row;

typedef struct fl_face fl_face;

typedef struct fl_face_program {
    const char *name;
    const char *usage;
    const char *examples;
    const char *notes;  /* what is different here */
    const char *prefix; /* of environment variables that are flags; or NULL */
    const fl_face_row *rows;
    fl_status (*compose)(fl_face *face, fl_error *error);
} fl_face_program;

typedef struct fl_face_said {
    const fl_face_row *row;
    char *value;  /* NULL: none */
    char *second; /* of a pair */
    bool off;     /* a switch that was turned off */
} fl_face_said;

struct fl_face {
    /* What was said. Borrows from argv and the environment. */
    const fl_face_program *program;
    char *const *environment;
    fl_face_said *said;
    size_t said_count, said_room;
    fl_texts words; /* what is no flag */
    bool help, version, show;

    /* What comes of it. */
    bool connect;      /* for "fairlead connect", not "serve" */
    fl_texts argv;     /* its arguments */
    fl_texts target;   /* their end, while they are put together */
    fl_texts secrets;  /* "NAME=value", to set in the environment before */
    fl_texts warnings; /* a sentence each */
    bool failed;       /* no memory */
};

extern const fl_face_program fl_face_supergateway;
extern const fl_face_program fl_face_mcp_proxy;    /* npm's */
extern const fl_face_program fl_face_mcp_proxy_py; /* Python's */
extern const fl_face_program fl_face_mcp_remote;

/*
 * Which program goes by this name; NULL if none does. Two are named mcp-proxy:
 * the flags tell. FL_E_INVALID: some are of the one and some of the other.
 */
FL_MUST_USE fl_status fl_face_choose(const char *name, char *const *argv,
                                     char *const *environment,
                                     const fl_face_program **program,
                                     fl_error *error);

/*
 * Translates `argv` (without the program's name). Whatever this says,
 * fl_face_deinit() is called after it. FL_E_INVALID names the flag and what to
 * do. With help, version or show set nothing is to be run; with the first two
 * nothing was translated.
 */
FL_MUST_USE fl_status fl_face_translate(const fl_face_program *program,
                                        char *const *argv,
                                        char *const *environment, fl_face *face,
                                        fl_error *error);
void fl_face_deinit(fl_face *face);

/* The row of this flag, or NULL; `off` says that it was --no-FLAG. */
const fl_face_row *fl_face_find(const fl_face_row *rows, fl_span name,
                                bool *off);

/* For compose(): the last value given, or `otherwise`; whether a switch is on;
 * and one after the other, from NULL on. */
const char *fl_face_value(const fl_face *face, const char *name,
                          const char *otherwise);
bool fl_face_is_on(const fl_face *face, const char *name);
const fl_face_said *fl_face_next(const fl_face *face, const char *name,
                                 const fl_face_said *after);
const char *fl_face_getenv(char *const *environment, fl_span name);

/* A flag of ours, with its value unless that is NULL. */
void fl_face_put(fl_face *face, const char *flag, const char *value);
void fl_face_putf(fl_face *face, const char *flag, const char *format, ...)
    FL_PRINTF(3, 4);
void fl_face_warn(fl_face *face, const char *format, ...) FL_PRINTF(2, 3);

#endif
