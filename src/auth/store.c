/*
 * store.c - a record in a file that nobody else can read.
 *
 * What is checked is the descriptor, not the name: between a look at a name
 * and its opening another file can be put there. A symbolic link is not
 * followed. A file is replaced, never changed: whoever reads it, or a power
 * cut, finds the old one or the new one whole.
 *
 * The files are small and on a local disk; they are read once and written when
 * a token changes, so this does wait for them.
 */
#include "auth/store.h"

#include "auth/text.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static fl_status from_errno(int code)
{
    return code == ENOENT                    ? FL_E_NOT_FOUND
           : code == EACCES || code == EPERM ? FL_E_DENIED
           : code == ELOOP                   ? FL_E_DENIED
           : code == ENOMEM                  ? FL_E_NOMEM
                                             : FL_E_IO;
}

static fl_status complain(fl_error *error, const char *path, const char *what,
                          int code)
{
    return fl_error_set(error, from_errno(code), "token store '%s': %s: %s",
                        path, what, strerrordesc_np(code));
}

static fl_status check(int fd, const char *path, fl_error *error)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return complain(error, path, "cannot be looked at", errno);
    if (!S_ISREG(info.st_mode))
        return fl_error_set(error, FL_E_DENIED,
                            "token store '%s' is no regular file", path);
    if (info.st_uid != geteuid())
        return fl_error_set(error, FL_E_DENIED,
                            "token store '%s' belongs to somebody else", path);
    if ((info.st_mode & 077) != 0)
        return fl_error_set(error, FL_E_DENIED,
                            "token store '%s' is open to others (mode %03o): "
                            "chmod 600 it, and have its tokens replaced, for "
                            "they may have been read",
                            path, (unsigned)info.st_mode & 0777);
    if (info.st_size > FL_RECORD_MAX)
        return fl_error_set(error, FL_E_TOO_BIG,
                            "token store '%s' is larger than any of ours",
                            path);
    return FL_OK;
}

static fl_status read_all(int fd, const char *path, fl_buf *text,
                          fl_error *error)
{
    for (;;) {
        char *to = fl_buf_reserve(text, 4096);
        if (to == NULL)
            return fl_error_set(error, FL_E_NOMEM, "out of memory");
        ssize_t n = read(fd, to, 4096);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return complain(error, path, "cannot be read", errno);
        if (n == 0)
            return FL_OK;
        fl_buf_commit(text, (size_t)n);
    }
}

fl_status fl_store_load(const char *path, fl_record *record, fl_error *error)
{
    fl_buf text;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return complain(error, path, "cannot be opened", errno);
    fl_buf_init(&text, FL_RECORD_MAX + 8192);
    fl_status rc = check(fd, path, error);
    if (rc == FL_OK)
        rc = read_all(fd, path, &text, error);
    if (rc == FL_OK) {
        rc = fl_record_read(record, fl_buf_view(&text));
        if (rc != FL_OK)
            fl_error_set(error, rc,
                         "token store '%s' is not one of ours; move it away",
                         path);
    }
    fl_text_wipe(&text);
    close(fd);
    return rc;
}

static int write_all(int fd, fl_span text)
{
    size_t done = 0;

    while (done < text.len) {
        ssize_t n = write(fd, text.ptr + done, text.len - done);
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) == 0 ? 0 : errno;
}

/* `beside` gets the name of a file that was not there before. */
static int create(const char *path, char beside[PATH_MAX])
{
    uint32_t random;

    if (fl_random_bytes(&random, sizeof random) != FL_OK)
        return -1;
    int n = snprintf(beside, PATH_MAX, "%s.%08x", path, random);
    if (n < 0 || n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                0600);
}

static fl_status replace(const char *path, fl_span text, fl_error *error)
{
    char beside[PATH_MAX];
    int fd = create(path, beside);

    if (fd < 0)
        return complain(error, path, "cannot be written", errno);
    int failed = write_all(fd, text);
    if (close(fd) != 0 && failed == 0)
        failed = errno;
    if (failed == 0 && rename(beside, path) != 0)
        failed = errno;
    if (failed == 0)
        return FL_OK;
    unlink(beside);
    return complain(error, path, "cannot be written", failed);
}

fl_status fl_store_save(const char *path, const fl_record *record,
                        fl_error *error)
{
    fl_buf text;

    fl_buf_init(&text, FL_RECORD_MAX);
    fl_status rc = fl_record_write(record, &text);
    if (rc == FL_OK)
        rc = replace(path, fl_buf_view(&text), error);
    else
        fl_error_set(error, rc, "token store '%s': %s", path,
                     fl_status_text(rc));
    fl_text_wipe(&text);
    return rc;
}
