/*
 * program.c - which files the name of a program may mean.
 *
 * The search itself must happen after fork(), in the child's directory and
 * with the child's rights, where nothing can be allocated. So every path it
 * could come by is written down here, before: pointers first, then the text,
 * in one block.
 */
#include "io/program.h"

#include "base/mem.h"

#include <string.h>

static const char *find_path(const char *const *envp)
{
    for (; envp != NULL && *envp != NULL; envp++)
        if (strncmp(*envp, "PATH=", 5) == 0)
            return *envp + 5;
    return "/bin:/usr/bin";
}

static size_t count_directories(const char *path)
{
    size_t count = 1;

    for (; *path != '\0'; path++)
        count += *path == ':';
    return count;
}

/* Writes "directory/name" and returns where the next text goes. */
static char *join(char *at, fl_span directory, fl_span name)
{
    if (directory.len == 0)
        directory = (fl_span){".", 1};
    memcpy(at, directory.ptr, directory.len);
    at += directory.len;
    *at++ = '/';
    memcpy(at, name.ptr, name.len + 1);
    return at + name.len + 1;
}

static char **list_one(fl_span name)
{
    char **files = fl_mem_alloc(2 * sizeof *files + name.len + 1);

    if (files == NULL)
        return NULL;
    files[0] = (char *)(files + 2);
    files[1] = NULL;
    memcpy(files[0], name.ptr, name.len + 1);
    return files;
}

char **fl_program_files(const char *name, const char *const *envp)
{
    fl_span word = {name, strlen(name)};
    const char *path = find_path(envp);
    size_t count = count_directories(path);
    size_t text = strlen(path) + count * (word.len + 3); /* "." "/" NUL */

    if (word.len == 0 || memchr(name, '/', word.len) != NULL)
        return list_one(word);

    char **files = fl_mem_alloc((count + 1) * sizeof *files + text);
    if (files == NULL)
        return NULL;
    char *at = (char *)(files + count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t len = strcspn(path, ":");
        files[i] = at;
        at = join(at, (fl_span){path, len}, word);
        path += len + 1;
    }
    files[count] = NULL;
    return files;
}
