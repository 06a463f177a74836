/*
 * whereis.h - is there such a program?
 */
#ifndef FL_CMD_WHEREIS_H
#define FL_CMD_WHEREIS_H

#include <stdbool.h>

/* As a child finds it that runs in `cwd`, or here if that is NULL: by its path,
 * or in PATH if it has none. */
bool fl_whereis(const char *program, const char *cwd);

#endif
