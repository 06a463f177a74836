/*
 * data.c - test vectors that lie outside the source tree.
 */
#include "support/data.h"

#include "base/span.h"
#include "support/ration.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

const char *data_directory(void)
{
    const char *named = getenv("FAIRLEAD_DATA");

    return named != NULL && *named != '\0' ? named : DATA_DEFAULT;
}

static void make_path(char path[4096], const char *name)
{
    int len = snprintf(path, 4096, "%s/%s", data_directory(), name);

    assert_in_range(len, 1, 4095);
}

/* On stderr, for stdout is the TAP stream. */
static void skip_loudly(const char *path)
{
    fprintf(stderr,
            "SKIPPED: %s is not there; set FAIRLEAD_DATA to the directory of "
            "test vectors\n",
            path);
    skip();
}

static bool load(const char *path, fl_span *file)
{
    struct stat info;
    FILE *in = fopen(path, "rb");

    *file = (fl_span){0};
    if (in == NULL)
        return false;
    assert_int_equal(fstat(fileno(in), &info), 0);
    size_t size = (size_t)info.st_size;
    char *bytes = ration_raw_realloc(NULL, size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size, in), size);
    fclose(in);
    *file = (fl_span){bytes, size};
    return true;
}

fl_span data_load(const char *name)
{
    char path[4096];
    fl_span file;

    make_path(path, name);
    if (!load(path, &file))
        skip_loudly(path);
    return file;
}

void data_free(fl_span file)
{
    union {
        const char *borrowed;
        char *owned;
    } bytes = {file.ptr};

    ration_raw_free(bytes.owned);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

size_t data_each(const char *directory,
                 void (*visit)(void *user, const char *name, fl_span file),
                 void *user)
{
    char path[4096], inside[4096];
    struct dirent **entries;
    size_t visited = 0;

    make_path(path, directory);
    int count = scandir(path, &entries, is_visible, alphasort);
    if (count < 0)
        skip_loudly(path);
    for (int i = 0; i < count; i++) {
        fl_span file;
        int len =
            snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        struct stat info;
        assert_in_range(len, 1, sizeof inside - 1);
        if (stat(inside, &info) == 0 && S_ISREG(info.st_mode) &&
            load(inside, &file)) {
            visit(user, entries[i]->d_name, file);
            data_free(file);
            visited++;
        }
        ration_raw_free(entries[i]);
    }
    if (count >= 0)
        ration_raw_free(entries);
    return visited;
}

bool data_next_object(fl_span *rest, fl_span *object)
{
    /* The innermost braces: an opening one that no other follows sooner than
     * a closing one. */
    size_t open = fl_span_find(*rest, '{');

    for (size_t at = open; at < rest->len; at++) {
        if (rest->ptr[at] == '{')
            open = at;
        if (rest->ptr[at] == '}') {
            *object = (fl_span){rest->ptr + open, at + 1 - open};
            *rest = fl_span_from(*rest, at + 1);
            return true;
        }
    }
    *object = (fl_span){0};
    return false;
}

fl_span data_member(fl_span object, const char *name)
{
    char quoted[64];
    int len = snprintf(quoted, sizeof quoted, "\"%s\"", name);

    assert_in_range(len, 3, sizeof quoted - 1);
    const char *at = memmem(object.ptr, object.len, quoted, (size_t)len);
    if (at == NULL)
        return (fl_span){0};

    fl_span rest = fl_span_from(object, (size_t)(at - object.ptr + len));
    while (rest.len > 0 && strchr(": \t", rest.ptr[0]) != NULL)
        rest = fl_span_from(rest, 1);
    if (rest.len > 0 && rest.ptr[0] == '"') {
        rest = fl_span_from(rest, 1);
        return (fl_span){rest.ptr, fl_span_find(rest, '"')};
    }
    size_t size = 0;
    while (size < rest.len && strchr(",}\r\n ", rest.ptr[size]) == NULL)
        size++;
    return (fl_span){rest.ptr, size};
}

size_t data_unhex(fl_span hex, char *out, size_t size)
{
    size_t count = hex.len / 2;

    assert_int_equal(hex.len % 2, 0);
    assert_in_range(count, 0, size);
    for (size_t i = 0; i < count; i++) {
        char digits[3] = {hex.ptr[2 * i], hex.ptr[2 * i + 1], '\0'};
        char *end;
        out[i] = (char)strtoul(digits, &end, 16);
        assert_ptr_equal(end, digits + 2);
    }
    return count;
}
