/*
 * serve.h - "fairlead serve" and "fairlead connect": the gateway.
 */
#ifndef FL_CMD_SERVE_H
#define FL_CMD_SERVE_H

/* Both run until they are told to end; they return an fl_exit. */
int fl_serve_command(char **argv);
int fl_connect_command(char **argv);

#endif
