/*
 * below.c - opening files below a directory, and nowhere else.
 *
 * Linux can promise it: openat2() with RESOLVE_BENEATH fails when any step of
 * the resolution would leave the root, whoever moves what meanwhile. Where it
 * is not to be had (a kernel before 5.6, a filter that does not know it) the
 * path is walked one name at a time with O_NOFOLLOW, which is as safe but
 * knows no links at all.
 */
#include "io/below.h"

#include "base/span.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RETRIES = 8 }; /* of a resolution that a rename ran into */

static fl_status status_of(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return FL_E_DENIED;
    case EMFILE:
    case ENFILE:
        return FL_E_LIMIT;
    case ENOMEM:
        return FL_E_NOMEM;
    case EIO:
    case ESTALE:
        return FL_E_IO;
    default: /* ENOENT, ENOTDIR, EXDEV, ELOOP, ENXIO, ENAMETOOLONG ... */
        return FL_E_NOT_FOUND;
    }
}

fl_status fl_below_root(const char *path, int *root)
{
    *root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *root >= 0 ? FL_OK : status_of(errno);
}

void fl_below_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool is_name(fl_span name, unsigned how)
{
    if (name.len == 0 || fl_span_find(name, '\0') < name.len ||
        fl_span_equal(name, FL_SPAN(".")) || fl_span_equal(name, FL_SPAN("..")))
        return false;
    return name.ptr[0] != '.' || (how & FL_BELOW_HIDDEN) != 0;
}

bool fl_below_is_path(fl_span path, unsigned how)
{
    if (path.len >= FL_BELOW_PATH_MAX)
        return false;
    for (;;) {
        size_t slash = fl_span_find(path, '/');
        if (!is_name((fl_span){path.ptr, slash}, how))
            return false;
        if (slash == path.len)
            return true;
        path = fl_span_from(path, slash + 1);
    }
}

static int flags_of(unsigned how)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

    return (how & FL_BELOW_DIRECTORY) != 0 ? flags | O_DIRECTORY : flags;
}

/* The kernel's promise; -1 with errno. */
static int open_beneath(int root, const char *path, unsigned how)
{
    struct open_how want = {
        .flags = (unsigned)flags_of(how),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    long fd = -1;

    if ((how & FL_BELOW_FOLLOW) == 0)
        want.resolve |= RESOLVE_NO_SYMLINKS;
    /* EAGAIN: it cannot be told whether a rename has led it out */
    for (int i = 0; i < RETRIES; i++) {
        fd = syscall(SYS_openat2, root, path, &want, sizeof want);
        if (fd >= 0 || errno != EAGAIN)
            break;
    }
    return (int)fd;
}

/* One name after the other; `path` is written to. -1 with errno. */
static int open_stepwise(int root, char *path, unsigned how)
{
    int dir = root, fd = -1;
    char *name = path;

    for (;;) {
        char *slash = strchr(name, '/');
        if (slash != NULL)
            *slash = '\0';
        fd = openat(dir, name,
                    slash == NULL
                        ? flags_of(how) | O_NOFOLLOW
                        : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        if (dir != root)
            close(dir);
        errno = error;
        if (fd < 0 || slash == NULL)
            return fd;
        dir = fd;
        name = slash + 1;
    }
}

/* A filter of system calls says EPERM of those that it does not know; a walk
 * by steps, should it be the file's, says so again. */
static bool is_missing(int error)
{
    return error == ENOSYS || error == EPERM || error == E2BIG;
}

fl_status fl_below_open(int root, const char *path, unsigned how, int *fd)
{
    char copy[FL_BELOW_PATH_MAX];
    fl_span text = fl_span_of(path);

    *fd = -1;
    if (!fl_below_is_path(text, how))
        return FL_E_NOT_FOUND;
    if ((how & FL_BELOW_STEPWISE) == 0) {
        *fd = open_beneath(root, path, how);
        if (*fd >= 0)
            return FL_OK;
        if (!is_missing(errno))
            return status_of(errno);
    }
    memcpy(copy, path, text.len + 1);
    *fd = open_stepwise(root, copy, how);
    return *fd >= 0 ? FL_OK : status_of(errno);
}
