/*
 * help.h - the help texts.
 */
#ifndef FL_CMD_HELP_H
#define FL_CMD_HELP_H

#include <stdio.h>

void fl_help(FILE *to);
void fl_help_demo(FILE *to);
void fl_help_call(FILE *to);
void fl_help_serve(FILE *to);
void fl_help_ps(FILE *to);
void fl_help_bench(FILE *to);
void fl_help_doctor(FILE *to);
void fl_help_matrix(FILE *to);

#endif
