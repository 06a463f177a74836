/*
 * face_read.h - what was said on another program's command line.
 */
#ifndef FL_CMD_FACE_READ_H
#define FL_CMD_FACE_READ_H

#include "cmd/face.h"

/* Fills in what was said, by `argv` and by the environment. */
FL_MUST_USE fl_status fl_face_read(fl_face *face, char *const *argv,
                                   fl_error *error);

#endif
