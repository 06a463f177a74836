/*
 * tree.c - what there is below a directory.
 *
 * Each directory is opened from the descriptor of the one it is in, without
 * following links, so that a walk cannot be led out of its root, nor in a
 * ring. It is bounded in depth and in how many names it looks at.
 */
#include "io/tree.h"

#include "base/span.h"
#include "base/utf8.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct walk {
    int root;
    unsigned how;
    fl_tree_fn *visit;
    void *user;
    fl_tree_skips *skips;
    size_t looks;
    unsigned depth;
    size_t len; /* of the path of the directory we are in */
    char path[FL_BELOW_PATH_MAX];
} walk;

/* Adds a name to the path; what it was before is its length. */
static bool enter(walk *w, const char *name)
{
    size_t room = sizeof w->path - w->len;
    int n =
        snprintf(w->path + w->len, room, "%s%s", w->len > 0 ? "/" : "", name);

    if (n < 0 || (size_t)n >= room) {
        w->path[w->len] = '\0';
        return false;
    }
    w->len += (size_t)n;
    return true;
}

static void leave(walk *w, size_t len)
{
    w->len = len;
    w->path[len] = '\0';
}

static fl_status walk_into(walk *w, int fd);

static fl_status tell(walk *w, const struct stat *info)
{
    fl_tree_entry entry = {
        .path = w->path,
        .is_directory = S_ISDIR(info->st_mode),
        .size = S_ISREG(info->st_mode) ? (uint64_t)info->st_size : 0,
        .modified =
            (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec,
    };

    return w->visit(w->user, &entry);
}

static fl_status visit_directory(walk *w, int parent, const char *name,
                                 const struct stat *info)
{
    int fd = -1;

    if (w->depth < FL_TREE_DEPTH)
        fd = openat(parent, name,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        w->skips->unlisted++;
        return FL_OK;
    }
    fl_status rc = tell(w, info);
    if (rc != FL_OK) {
        close(fd);
        return rc;
    }
    w->depth++;
    rc = walk_into(w, fd);
    w->depth--;
    return rc;
}

/* The file a link leads to, if it stays below the root. */
static fl_status visit_link(walk *w)
{
    struct stat info;
    int fd = -1;
    fl_status rc = FL_OK;

    if ((w->how & FL_BELOW_FOLLOW) != 0 &&
        fl_below_open(w->root, w->path, w->how, &fd) == FL_OK &&
        fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        rc = tell(w, &info);
    else
        w->skips->unlisted++;
    fl_below_close(&fd);
    return rc;
}

static fl_status visit_name(walk *w, int parent, const char *name)
{
    struct stat info;

    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return FL_OK; /* it has gone meanwhile */
    if (S_ISREG(info.st_mode))
        return tell(w, &info);
    if (S_ISDIR(info.st_mode))
        return visit_directory(w, parent, name, &info);
    if (S_ISLNK(info.st_mode))
        return visit_link(w);
    w->skips->unlisted++;
    return FL_OK;
}

static fl_status look_at(walk *w, int parent, const char *name)
{
    size_t before = w->len;
    fl_status rc = FL_OK;

    if (!fl_utf8_valid(fl_span_of(name))) {
        w->skips->unnamed++;
        return FL_OK;
    }
    if (!enter(w, name)) {
        w->skips->unlisted++;
        return FL_OK;
    }
    rc = visit_name(w, parent, name);
    leave(w, before);
    return rc;
}

static bool is_wanted(const walk *w, const char *name)
{
    return fl_below_is_path(fl_span_of(name), w->how);
}

/* Takes the descriptor over. */
static fl_status walk_into(walk *w, int fd)
{
    DIR *dir = fdopendir(fd);
    struct dirent *item;
    fl_status rc = FL_OK;

    if (dir == NULL) {
        close(fd);
        return FL_E_NOMEM;
    }
    while (rc == FL_OK && !w->skips->cut && (item = readdir(dir)) != NULL) {
        if (!is_wanted(w, item->d_name))
            continue;
        if (w->looks++ == FL_TREE_LOOKS)
            w->skips->cut = true;
        else
            rc = look_at(w, fd, item->d_name);
    }
    closedir(dir);
    return rc;
}

fl_status fl_tree_walk(int root, unsigned how, fl_tree_fn *visit, void *user,
                       fl_tree_skips *skips)
{
    walk w = {.root = root,
              .how = how & ~(unsigned)FL_BELOW_DIRECTORY,
              .visit = visit,
              .user = user,
              .skips = skips};

    *skips = (fl_tree_skips){0};
    /* one of its own, for a directory remembers how far it was read */
    int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? walk_into(&w, fd) : FL_E_DENIED;
}
