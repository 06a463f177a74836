/*
 * ps.h - "fairlead ps": the gateways of this user, and their children.
 */
#ifndef FL_CMD_PS_H
#define FL_CMD_PS_H

/* `argv` is NULL-terminated and begins after the command; how to exit. */
int fl_ps_command(char **argv);

#endif
