/*
 * doctor.h - "fairlead doctor": what is wrong with a server, and what to do.
 */
#ifndef FL_CMD_DOCTOR_H
#define FL_CMD_DOCTOR_H

int fl_doctor_command(char **argv);

#endif
