/*
 * unix_address.h - the address of a Unix socket.
 */
#ifndef FL_IO_UNIX_ADDRESS_H
#define FL_IO_UNIX_ADDRESS_H

#include <fairlead/types.h>

#include <sys/socket.h>
#include <sys/un.h>

/* A path, or "@name" for an abstract address. FL_E_INVALID when it is empty
 * or longer than an address can hold: the kernel's limit is 107 bytes. */
FL_MUST_USE fl_status fl_unix_address(const char *path, struct sockaddr_un *out,
                                      socklen_t *len, fl_error *error);

#endif
