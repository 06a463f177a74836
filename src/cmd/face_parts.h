/*
 * face_parts.h - what the command lines of several programs have in common.
 */
#ifndef FL_CMD_FACE_PARTS_H
#define FL_CMD_FACE_PARTS_H

#include "cmd/face.h"

typedef struct fl_face_door {
    const char *scheme; /* "http" */
    const char *host;   /* NULL: not said; these programs take all then */
    const char *port;
    const char *path;  /* begins with a slash */
    bool asks;         /* clients must show a key or a certificate */
    bool private_host; /* the program itself has loopback as its default */
} fl_face_door;

/*
 * Puts --listen, and what is needed to be allowed to. An address open to all is
 * taken when it was named, with a warning; as a default nobody thought about
 * it becomes 127.0.0.1, with a warning that says how to have it otherwise.
 */
FL_MUST_USE fl_status fl_face_listen(fl_face *face, const fl_face_door *door,
                                     fl_error *error);

/*
 * A header for the server. One that is a secret, or looks like one, goes by
 * way of the environment, so that no list of arguments ever has it. `option` is
 * for errors, which never quote the value.
 */
FL_MUST_USE fl_status fl_face_header(fl_face *face, const char *option,
                                     fl_span name, fl_span value, bool secret,
                                     fl_error *error);

/* The same of "Name: value" or "Name:value". */
FL_MUST_USE fl_status fl_face_header_line(fl_face *face, const char *option,
                                          const char *line, bool secret,
                                          fl_error *error);

/* "Authorization: Bearer TOKEN". */
FL_MUST_USE fl_status fl_face_bearer(fl_face *face, const char *option,
                                     const char *token, fl_error *error);

/* Sets NAME=value before, and puts `flag` with the name; `lead` goes before
 * the name ("Authorization="). */
void fl_face_secret(fl_face *face, const char *flag, const char *lead,
                    const char *name, const char *value);

/* The server behind: one at a URL, by HTTP+SSE alone if `sse`... */
FL_MUST_USE fl_status fl_face_server(fl_face *face, const char *url, bool sse,
                                     fl_error *error);
/* ... or a command, whose words are taken. */
void fl_face_command(fl_face *face, fl_texts *words);

/* Whatever level is said besides. Comes before the server. */
void fl_face_debug(fl_face *face);

/* Milliseconds as the seconds our flags want: no more than a day, and never
 * 0, which was none. FL_E_INVALID names `option`. */
FL_MUST_USE fl_status fl_face_millis(fl_face *face, const char *option,
                                     const char *ours, const char *value,
                                     fl_error *error);

bool fl_face_is_url(const char *text);
/* http:// to another machine, where everybody on the way can read along. */
bool fl_face_is_plain(const char *url);
bool fl_face_is_loopback(fl_span host);

#endif
