/*
 * call.h - "fairlead call": one question to one server.
 */
#ifndef FL_CMD_CALL_H
#define FL_CMD_CALL_H

int fl_call_command(char **argv);

#endif
