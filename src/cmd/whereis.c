/*
 * whereis.c - is there such a program?
 *
 * Asked before it is needed, so that a typing mistake is told to whoever made
 * it and not to the first client. The answer may be another a moment later:
 * nothing depends on it but a warning.
 */
#include "cmd/whereis.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 64 * 1024 };

/* In a folder, which may be empty: then here. */
static bool is_in(fl_span folder, const char *program)
{
    fl_buf text;

    fl_buf_init(&text, PATH_BYTES);
    (void)!fl_buf_printf(&text, "%.*s%s%s", (int)folder.len, folder.ptr,
                         folder.len > 0 ? "/" : "", program);
    char *path = fl_mem_string(fl_buf_view(&text));
    bool found = path != NULL && access(path, X_OK) == 0;
    fl_mem_free(path);
    fl_buf_reset(&text);
    return found;
}

static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    fl_span rest = fl_span_of(path != NULL ? path : "/usr/bin:/bin");

    for (;;) {
        size_t end = fl_span_find(rest, ':');
        if (is_in((fl_span){rest.ptr, end}, program))
            return true;
        if (end == rest.len)
            return false;
        rest = fl_span_from(rest, end + 1);
    }
}

bool fl_whereis(const char *program, const char *cwd)
{
    if (strchr(program, '/') == NULL)
        return is_in_path(program);
    bool here = cwd == NULL || program[0] == '/';

    return is_in(here ? FL_SPAN("") : fl_span_of(cwd), program);
}
