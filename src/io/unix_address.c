/*
 * unix_address.c - the address of a Unix socket.
 *
 * libuv cuts a path that is too long and uses what is left, which is some
 * other path; and its version here knows no abstract addresses. So the address
 * is made by hand, for both sides.
 */
#include "io/unix_address.h"

#include "base/status.h"

#include <stddef.h>
#include <string.h>

fl_status fl_unix_address(const char *path, struct sockaddr_un *out,
                          socklen_t *len, fl_error *error)
{
    size_t max = sizeof out->sun_path - 1, size = strlen(path);

    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    *len = 0;
    if (size == 0 || (path[0] == '@' && size == 1))
        return fl_error_set(error, FL_E_INVALID, "a Unix socket needs a path");
    if (size > max)
        return fl_error_set(error, FL_E_INVALID,
                            "Unix socket path has %zu bytes, more than the %zu "
                            "an address can hold: %s",
                            size, max, path);
    memcpy(out->sun_path, path, size);
    if (path[0] == '@')
        out->sun_path[0] = '\0';
    /* an abstract name is as long as its length says; a path ends in a NUL */
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size +
                       (path[0] != '@'));
    return FL_OK;
}
