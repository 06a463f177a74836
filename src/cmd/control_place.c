/*
 * control_place.c - where the control sockets of a user's gateways are.
 *
 * A socket is stale when nobody listens on it and there is no process of its
 * number. Neither is enough: a gateway that has just bound its socket does not
 * listen yet, and a number may be another program's by now. Who was killed and
 * had his number taken is swept when that one ends, too; until then nobody
 * minds his socket.
 */
#include "cmd/control_place.h"

#include "base/status.h"
#include "io/unix_address.h"
#include "io/uv_status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".sock"

enum { FOLDER_MODE = 0700, OTHERS = 0077 };

/* Of whoever we are: after su or sudo the variable may be somebody else's. */
static bool find_runtime(char folder[FL_CONTROL_PATH])
{
    const char *root = getenv("XDG_RUNTIME_DIR");
    struct stat info;
    char path[FL_CONTROL_PATH];

    if (root == NULL || root[0] != '/' || stat(root, &info) != 0 ||
        !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
        return false;
    int len = snprintf(folder, FL_CONTROL_PATH, "%s/fairlead", root);
    return len < FL_CONTROL_PATH &&
           fl_control_path(folder, getpid(), path) == FL_OK;
}

bool fl_control_place(unsigned number, char folder[FL_CONTROL_PATH])
{
    bool has_runtime = find_runtime(folder);

    if (number == 0 && has_runtime)
        return true;
    snprintf(folder, FL_CONTROL_PATH, "/tmp/fairlead-%u", (unsigned)geteuid());
    return number == (has_runtime ? 1 : 0);
}

static fl_status refuse(const char *folder, const char *why, const char *what,
                        fl_error *error)
{
    return fl_error_set(error, FL_E_DENIED, "%s %s; %s", folder, why, what);
}

fl_status fl_control_check(const char *folder, fl_error *error)
{
    struct stat info;

    if (lstat(folder, &info) != 0)
        return fl_error_set(error, fl_status_from_uv(-errno), "%s: %s", folder,
                            fl_uv_text(-errno));
    if (!S_ISDIR(info.st_mode))
        return refuse(folder, "is no directory", "remove it", error);
    if (info.st_uid != geteuid())
        return refuse(folder, "is another user's",
                      "set XDG_RUNTIME_DIR to a directory of your own", error);
    if ((info.st_mode & OTHERS) != 0)
        return refuse(folder, "is open to other users", "chmod 700 it", error);
    return FL_OK;
}

fl_status fl_control_make(const char *folder, fl_error *error)
{
    if (mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST)
        return fl_error_set(error, fl_status_from_uv(-errno),
                            "cannot make %s: %s", folder, fl_uv_text(-errno));
    return fl_control_check(folder, error);
}

fl_status fl_control_path(const char *folder, pid_t pid,
                          char path[FL_CONTROL_PATH])
{
    int len = snprintf(path, FL_CONTROL_PATH, "%s/%d" SUFFIX, folder, (int)pid);

    return len < FL_CONTROL_PATH ? FL_OK : FL_E_TOO_BIG;
}

/* 0: it is no name of ours. */
static pid_t pid_of(const char *name)
{
    char *end;
    long pid = name[0] >= '1' && name[0] <= '9' ? strtol(name, &end, 10) : 0;

    return pid > 0 && pid <= 0x7fffffff && strcmp(end, SUFFIX) == 0 ? (pid_t)pid
                                                                    : 0;
}

void fl_control_each(const char *folder, void (*found)(void *user, pid_t pid),
                     void *user)
{
    DIR *all = opendir(folder);
    struct dirent *entry;

    for (int i = 0; all != NULL && i < FL_CONTROL_SOCKETS; i++) {
        if ((entry = readdir(all)) == NULL)
            break;
        pid_t pid = pid_of(entry->d_name);
        if (pid > 0)
            found(user, pid);
    }
    if (all != NULL)
        closedir(all);
}

/* Asks without waiting: a backlog that is full is somebody's. What is no socket
 * refuses, too, but is none of ours. */
static bool is_refused(const char *path)
{
    struct sockaddr_un address;
    struct stat info;
    socklen_t len;

    if (lstat(path, &info) != 0 || !S_ISSOCK(info.st_mode) ||
        fl_unix_address(path, &address, &len, NULL) != FL_OK)
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool refused = connect(fd, (struct sockaddr *)&address, len) != 0 &&
                   errno == ECONNREFUSED;
    close(fd);
    return refused;
}

/* In this order: whoever gets the number from here on will not have bound
 * anything when the file goes. */
void fl_control_sweep(const char *folder, pid_t pid)
{
    char path[FL_CONTROL_PATH];

    if (fl_control_path(folder, pid, path) == FL_OK && is_refused(path) &&
        kill(pid, 0) != 0 && errno == ESRCH)
        unlink(path);
}

static void sweep_one(void *user, pid_t pid)
{
    fl_control_sweep(user, pid);
}

void fl_control_sweep_all(const char *folder)
{
    char copy[FL_CONTROL_PATH];

    snprintf(copy, sizeof copy, "%s", folder);
    fl_control_each(folder, sweep_one, copy);
}
