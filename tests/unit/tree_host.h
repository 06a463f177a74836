/*
 * tree_host.h - a directory of the test's own, and what can be put into it.
 */
#ifndef TESTS_UNIT_TREE_HOST_H
#define TESTS_UNIT_TREE_HOST_H

#include "io/below.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

typedef struct tree {
    char top[64];   /* has `root` in it, and what lies beside that */
    char root[128]; /* what is served */
} tree;

static inline const char *tree_at(const tree *t, const char *path)
{
    static char whole[8192];

    snprintf(whole, sizeof whole, "%s/%s", t->root, path);
    return whole;
}

static inline void tree_folder(const tree *t, const char *path)
{
    assert_int_equal(mkdir(tree_at(t, path), 0755), 0);
}

static inline void tree_bytes(const tree *t, const char *path,
                              const char *bytes, size_t len)
{
    int fd =
        open(tree_at(t, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

static inline void tree_file(const tree *t, const char *path, const char *text)
{
    tree_bytes(t, path, text, strlen(text));
}

static inline void tree_link(const tree *t, const char *path, const char *to)
{
    assert_int_equal(symlink(to, tree_at(t, path)), 0);
}

/* Renames, in the place of what was there. */
static inline void tree_move(const tree *t, const char *from, const char *to)
{
    int root = open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(renameat(root, from, root, to), 0);
    close(root);
}

/* A size without contents. */
static inline void tree_sparse(const tree *t, const char *path, off_t size)
{
    tree_file(t, path, "");
    assert_int_equal(truncate(tree_at(t, path), size), 0);
}

static inline void tree_begin(tree *t)
{
    snprintf(t->top, sizeof t->top, "/tmp/fairlead-tree-XXXXXX");
    assert_non_null(mkdtemp(t->top));
    snprintf(t->root, sizeof t->root, "%s/root", t->top);
    assert_int_equal(mkdir(t->root, 0755), 0);
    tree_file(t, "../secret", "the secret");
}

static inline int tree_forget(const char *path, const struct stat *info,
                              int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline void tree_end(const tree *t)
{
    assert_int_equal(nftw(t->top, tree_forget, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* Whether the system can confine links: where it cannot (valgrind has no
 * openat2), none is followed. */
static inline bool tree_can_follow(const tree *t)
{
    int root = open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
    fl_status rc = fl_below_open(root, "dir/fine.txt", FL_BELOW_FOLLOW, &fd);

    fl_below_close(&fd);
    close(root);
    struct open_how how = {.flags = O_PATH};
    long known = syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);
    if (known < 0) {
        assert_int_equal(rc, FL_E_NOT_FOUND);
        print_message("SKIPPED: following links: no openat2() here\n");
        return false;
    }
    close((int)known);
    return true;
}

/* Links, fifos and names of every kind that is no good. */
static inline void tree_make_hostile(const tree *t)
{
    tree_folder(t, "dir");
    tree_folder(t, "dir/deep");
    tree_file(t, "dir/deep/in.txt", "inside");
    tree_link(t, "up", "..");
    tree_link(t, "out", "../secret");
    tree_link(t, "absolute", t->top);
    tree_link(t, "dir/out", "../../secret");
    tree_link(t, "dir/here", "deep");
    tree_link(t, "dir/fine.txt", "deep/in.txt");
    tree_link(t, "dangling", "nowhere");
    tree_link(t, "ring", "ring");
    tree_link(t, "loop", ".");
    tree_link(t, "magic", "/proc/self/root");
    assert_int_equal(mkfifo(tree_at(t, "fifo"), 0644), 0);
    tree_file(t, ".hidden", "hidden");
    tree_folder(t, ".git");
    tree_file(t, ".git/config", "hidden, too");
}

#endif
