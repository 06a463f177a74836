/*
 * control_place.h - where the control sockets of a user's gateways are.
 *
 *   $XDG_RUNTIME_DIR/fairlead/PID.sock   if there is such a directory of his
 *   /tmp/fairlead-UID/PID.sock           else
 *
 * A folder counts only if it is nobody else's: a directory, no link to one, of
 * this user, that others can neither read nor write. Whatever else is there by
 * that name was put there by somebody who wants to be taken for us.
 */
#ifndef FL_CMD_CONTROL_PLACE_H
#define FL_CMD_CONTROL_PLACE_H

#include <fairlead/types.h>

#include <sys/types.h>

enum {
    FL_CONTROL_PATH = 108, /* as much as an address of a Unix socket has */
    FL_CONTROL_PLACES = 2,
    FL_CONTROL_SOCKETS = 4096, /* looked at in a folder */
};

/* The first place or the second; a gateway uses the first there is. False:
 * there is none of this number. */
bool fl_control_place(unsigned number, char folder[FL_CONTROL_PATH]);

/* FL_E_NOT_FOUND: it is not there; FL_E_DENIED: it is not ours. */
FL_MUST_USE fl_status fl_control_check(const char *folder, fl_error *error);

/* The same, and makes it if it is not there. */
FL_MUST_USE fl_status fl_control_make(const char *folder, fl_error *error);

/* FL_E_TOO_BIG: that is no path for a socket. */
FL_MUST_USE fl_status fl_control_path(const char *folder, pid_t pid,
                                      char path[FL_CONTROL_PATH]);

/* Calls `found` with the pid of each socket in a folder that was checked. */
void fl_control_each(const char *folder, void (*found)(void *user, pid_t pid),
                     void *user);

/* Removes the socket of a gateway that has died; one that lives keeps it. */
void fl_control_sweep(const char *folder, pid_t pid);
void fl_control_sweep_all(const char *folder);

#endif
