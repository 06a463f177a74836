/*
 * face.c - the command lines of other programs, understood.
 *
 * The order of what comes out: first what compose() puts together, then the
 * flags that have a counterpart each, in the order they were said, and the
 * server last.
 */
#include "cmd/face.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "cmd/face_parts.h"
#include "cmd/face_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const fl_face_said *fl_face_next(const fl_face *face, const char *name,
                                 const fl_face_said *after)
{
    if (face->said_count == 0)
        return NULL;
    const fl_face_said *end = face->said + face->said_count;
    for (const fl_face_said *at = after != NULL ? after + 1 : face->said;
         at < end; at++)
        if (strcmp(at->row->name, name) == 0)
            return at;
    return NULL;
}

static const fl_face_said *last_of(const fl_face *face, const char *name)
{
    const fl_face_said *last = NULL, *at = NULL;

    while ((at = fl_face_next(face, name, at)) != NULL)
        last = at;
    return last;
}

const char *fl_face_value(const fl_face *face, const char *name,
                          const char *otherwise)
{
    const fl_face_said *said = last_of(face, name);

    return said != NULL && said->value != NULL ? said->value : otherwise;
}

bool fl_face_is_on(const fl_face *face, const char *name)
{
    const fl_face_said *said = last_of(face, name);

    return said != NULL && !said->off;
}

const char *fl_face_getenv(char *const *environment, fl_span name)
{
    for (; environment != NULL && *environment != NULL; environment++)
        if (strncmp(*environment, name.ptr, name.len) == 0 &&
            (*environment)[name.len] == '=')
            return *environment + name.len + 1;
    return NULL;
}

void fl_face_put(fl_face *face, const char *flag, const char *value)
{
    fl_texts_add(&face->argv, flag);
    if (value != NULL)
        fl_texts_add(&face->argv, value);
}

/* However long: a value that was cut would be another value. */
static void FL_PRINTF(2, 0)
    add_formatted(fl_texts *list, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = len >= 0 ? fl_mem_alloc((size_t)len + 1) : NULL;
    if (text == NULL) {
        list->failed = true;
        return;
    }
    vsnprintf(text, (size_t)len + 1, format, args);
    fl_texts_add(list, text);
    fl_mem_free(text);
}

void fl_face_putf(fl_face *face, const char *flag, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fl_texts_add(&face->argv, flag);
    add_formatted(&face->argv, format, args);
    va_end(args);
}

void fl_face_warn(fl_face *face, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_formatted(&face->warnings, format, args);
    va_end(args);
}

/* "none=off" in "debug=debug none=off" for "none". */
static fl_status put_word(fl_face *face, const fl_face_said *said,
                          fl_error *error)
{
    const fl_face_row *row = said->row;
    size_t len = strlen(said->value);

    for (const char *at = row->words; *at != '\0'; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (len > 0 && size > len && strncmp(at, said->value, len) == 0 &&
            at[len] == '=') {
            fl_texts_add(&face->argv, row->ours);
            fl_texts_add_span(&face->argv,
                              (fl_span){at + len + 1, size - len - 1});
            return FL_OK;
        }
        at += size;
    }
    return fl_error_set(error, FL_E_INVALID, "option %s: '%s' is not one of %s",
                        row->name, said->value, row->why);
}

static fl_status put_said(fl_face *face, const fl_face_said *said,
                          fl_error *error)
{
    const fl_face_row *row = said->row;

    if (row->front && face->connect) {
        fl_face_warn(face,
                     "%s has no meaning for a server at a URL that is "
                     "served over stdio",
                     row->name);
        return FL_OK;
    }
    switch (row->deed) {
    case FL_FACE_PASS:
        if (row->kind == FL_FACE_LIST && said->value == NULL)
            return fl_error_set(error, FL_E_INVALID, "option %s needs a value",
                                row->name);
        if (!said->off)
            fl_face_put(face, row->ours, said->value);
        break;
    case FL_FACE_MILLIS:
        return fl_face_millis(face, row->name, row->ours, said->value, error);
    case FL_FACE_WORD:
        return put_word(face, said, error);
    case FL_FACE_IDLE:
        fl_face_warn(face, "%s has no meaning here: %s", row->name, row->why);
        break;
    case FL_FACE_NEVER:
        if (!said->off)
            return fl_error_set(error, FL_E_INVALID, "option %s: %s", row->name,
                                row->why);
        break;
    case FL_FACE_ASKED:
    case FL_FACE_MEANT:
        break;
    }
    return FL_OK;
}

static fl_status translate(fl_face *face, fl_error *error)
{
    fl_status rc = face->program->compose(face, error);

    for (size_t i = 0; i < face->said_count && rc == FL_OK; i++)
        rc = put_said(face, &face->said[i], error);
    fl_texts_move(&face->argv, &face->target);
    return rc;
}

fl_status fl_face_translate(const fl_face_program *program, char *const *argv,
                            char *const *environment, fl_face *face,
                            fl_error *error)
{
    *face = (fl_face){.program = program, .environment = environment};
    fl_status rc = fl_face_read(face, argv, error);

    if (rc != FL_OK || face->help || face->version)
        return rc;
    rc = translate(face, error);
    if (face->failed || face->argv.failed || face->secrets.failed ||
        face->warnings.failed)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    return rc;
}

void fl_face_deinit(fl_face *face)
{
    fl_mem_free(face->said);
    fl_texts_deinit(&face->words);
    fl_texts_deinit(&face->argv);
    fl_texts_deinit(&face->target);
    fl_texts_deinit(&face->secrets);
    fl_texts_deinit(&face->warnings);
    *face = (fl_face){0};
}
