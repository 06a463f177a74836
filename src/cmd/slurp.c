/*
 * slurp.c - a file, or stdin, read whole.
 *
 * Reading blocks, which is right here: it happens before there is a loop, and
 * nothing can be done until the whole is there.
 */
#include "cmd/slurp.h"

#include "base/mem.h"
#include "base/status.h"
#include "io/uv_status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 64 * 1024 };

static fl_status read_all(int fd, const char *name, fl_buf *into,
                          fl_error *error)
{
    char piece[PIECE];
    fl_status rc = FL_OK;
    ssize_t n;

    while (rc == FL_OK && (n = read(fd, piece, sizeof piece)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            rc = fl_error_set(error, FL_E_IO, "cannot read %s: %s", name,
                              fl_uv_text(-errno));
            break;
        }
        rc = fl_buf_append(into, (fl_span){piece, (size_t)n});
        if (rc != FL_OK)
            fl_error_set(error, rc, "%s: %s (%zu bytes)", name,
                         fl_status_text(rc), into->max);
    }
    fl_mem_wipe(piece, sizeof piece); /* it may have been keys */
    return rc;
}

bool fl_slurp_is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

fl_status fl_slurp(const char *path, fl_buf *into, fl_error *error)
{
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "stdin", into, error);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fl_error_set(error, FL_E_NOT_FOUND, "cannot open '%s': %s", path,
                            fl_uv_text(-errno));
    fl_status rc = read_all(fd, path, into, error);
    close(fd);
    return rc;
}
