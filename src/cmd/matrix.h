/*
 * matrix.h - "fairlead matrix": what each client and server pair gets.
 */
#ifndef FL_CMD_MATRIX_H
#define FL_CMD_MATRIX_H

int fl_matrix_command(char **argv);

#endif
