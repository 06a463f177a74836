/*
 * proc.c - how much memory a process has, with all that it has started.
 *
 * The system lists the children of each thread, so a family is found from its
 * head down, without looking at every process there is. The head is not the
 * child but its keeper, who inherits whoever loses his parent: those are what
 * one looks for when memory is gone and the child is small.
 *
 * A file in /proc waits for no disk, and how many are opened is bounded, so
 * this may be done between two turns of a loop.
 */
#include "io/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 64, STAT_SIZE = 1024, LIST_SIZE = 4096, QUEUE = 256 };

/* Those whose children are still to be found. Who comes when it is full is
 * left out, with his. */
typedef struct family {
    pid_t queue[QUEUE];
    unsigned count;
    unsigned *looks;
} family;

/* What there is of a short file, with a NUL; empty if there is none. */
static size_t slurp(const char *path, unsigned *looks, char *text, size_t size)
{
    ssize_t n = -1;

    text[0] = '\0';
    if (*looks == 0)
        return 0;
    --*looks;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, size - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* "12 (a name) S 11 ...": the name may have anything in it, so counting begins
 * behind it. The parent is the 4th field, the resident pages are the 24th. */
static bool look_at(pid_t pid, unsigned *looks, pid_t *parent, uint64_t *bytes)
{
    char path[PATH_SIZE], text[STAT_SIZE];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (slurp(path, looks, text, sizeof text) == 0)
        return false;
    const char *at = strrchr(text, ')');
    int64_t pages = 0;
    *parent = 0;
    for (int field = 3; at != NULL && field <= 24; field++) {
        at = strchr(at + 1, ' ');
        if (at != NULL && field == 4)
            *parent = (pid_t)strtol(at, NULL, 10);
        if (at != NULL && field == 24)
            pages = strtoll(at, NULL, 10);
    }
    *bytes = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    return at != NULL;
}

static void add(family *all, pid_t pid)
{
    if (all->count < QUEUE)
        all->queue[all->count++] = pid;
}

/* The list is "12 34 56 ". One that does not fit is cut behind a number. */
static void add_listed(family *all, const char *path)
{
    char text[LIST_SIZE];
    char *at = text, *end;

    slurp(path, all->looks, text, sizeof text);
    for (; strchr(at, ' ') != NULL; at = end + 1) {
        long pid = strtol(at, &end, 10);
        if (pid <= 0 || *end != ' ')
            return;
        add(all, (pid_t)pid);
    }
}

/* Any of its threads may have started some. */
static void add_children(family *all, pid_t pid)
{
    char path[PATH_SIZE];
    struct dirent *entry;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = *all->looks > 0 ? opendir(path) : NULL;
    if (threads == NULL)
        return;
    --*all->looks;
    while (*all->looks > 0 && (entry = readdir(threads)) != NULL) {
        long thread = strtol(entry->d_name, NULL, 10);
        if (thread <= 0)
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%ld/children", (int)pid,
                 thread);
        add_listed(all, path);
    }
    closedir(threads);
}

/* Where the family begins: at the child's parent, if that is ours to count. */
static void add_head(family *all, pid_t pid, pid_t keeper)
{
    pid_t parent;
    uint64_t bytes;

    if (keeper > 1 && keeper != getpid() &&
        look_at(keeper, all->looks, &parent, &bytes) && parent == getpid())
        add_children(all, keeper);
    if (all->count == 0)
        add(all, pid);
}

bool fl_proc_measure(pid_t pid, unsigned *looks, fl_proc_use *use)
{
    family all = {.looks = looks};
    uint64_t bytes;
    pid_t parent;

    *use = (fl_proc_use){0};
    if (pid <= 0 || !look_at(pid, looks, &parent, &use->resident))
        return false;
    use->family = use->resident;
    use->processes = 1;
    add_head(&all, pid, parent);
    for (unsigned i = 0; i < all.count; i++) {
        pid_t one = all.queue[i];
        if (one != pid && look_at(one, looks, &parent, &bytes)) {
            use->family += bytes;
            use->processes++;
        }
        add_children(&all, one);
    }
    return true;
}
