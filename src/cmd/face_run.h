/*
 * face_run.h - fairlead, started as another program.
 */
#ifndef FL_CMD_FACE_RUN_H
#define FL_CMD_FACE_RUN_H

#include "cmd/face.h"

#include <stdio.h>

/* Is there a program of this name to be? A path's last part counts. */
bool fl_face_is_known(const char *name);

/* Runs as that one and returns the exit status. */
int fl_face_run(const char *name, char **argv);

/* What --show prints: a command to paste, secrets left for the reader to fill
 * in. */
FL_MUST_USE fl_status fl_face_show(const fl_face *face, FILE *to);
void fl_face_help(const fl_face_program *program, FILE *to);

#endif
