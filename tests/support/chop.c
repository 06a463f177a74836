/*
 * chop.c - a parser must not care how the bytes were cut.
 *
 * Notes and pieces come from past the ration, so that a test may starve the
 * reader without starving us.
 */
#include "support/chop.h"

#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct chop_notes {
    char *text;
    size_t len;
    size_t cap;
};

static char *make_room(chop_notes *notes, size_t size)
{
    if (notes->len + size + 1 > notes->cap) {
        notes->cap = 2 * (notes->len + size + 1);
        notes->text = ration_raw_realloc(notes->text, notes->cap);
        assert_non_null(notes->text);
    }
    return notes->text + notes->len;
}

void chop_note_bytes(chop_notes *notes, fl_span bytes)
{
    char *at = make_room(notes, bytes.len);

    if (bytes.len > 0)
        memcpy(at, bytes.ptr, bytes.len);
    notes->len += bytes.len;
    notes->text[notes->len] = '\0';
}

void chop_note(chop_notes *notes, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert_in_range(len, 0, sizeof text - 1);
    chop_note_bytes(notes, (fl_span){text, (size_t)len});
}

static void feed(const chop_reader *reader, void *user, fl_span piece,
                 chop_notes *notes)
{
    char *copy = ration_raw_realloc(NULL, piece.len);

    assert_non_null(copy);
    memcpy(copy, piece.ptr, piece.len);
    reader->piece(user, (fl_span){copy, piece.len}, notes);
    ration_raw_free(copy);
}

static void run(const chop_reader *reader, void *user, fl_span bytes,
                size_t first, size_t step, chop_notes *notes)
{
    notes->len = 0;
    chop_note_bytes(notes, (fl_span){0});
    if (reader->start != NULL)
        reader->start(user);
    for (size_t at = 0; at < bytes.len;) {
        size_t size = at == 0 && first > 0 ? first : step;
        if (size > bytes.len - at)
            size = bytes.len - at;
        feed(reader, user, (fl_span){bytes.ptr + at, size}, notes);
        at += size;
    }
    if (reader->end != NULL)
        reader->end(user, notes);
}

const char *chop_run(const chop_reader *reader, void *user, fl_span bytes,
                     size_t first, size_t step)
{
    static chop_notes notes;

    run(reader, user, bytes, first, step, &notes);
    return notes.text;
}

static void compare(const char *want, const char *got, size_t first,
                    size_t step)
{
    if (strcmp(want, got) != 0)
        fail_msg("cut at %zu, then every %zu\n  want %s\n  got  %s", first,
                 step, want, got);
}

void chop(const chop_reader *reader, void *user, fl_span bytes,
          const char *want)
{
    static chop_notes whole;
    size_t all = bytes.len + 1;

    run(reader, user, bytes, 0, all, &whole);
    if (want != NULL)
        compare(want, whole.text, 0, all);
    for (size_t first = 1; first < bytes.len; first++)
        compare(whole.text, chop_run(reader, user, bytes, first, all), first,
                all);
    compare(whole.text, chop_run(reader, user, bytes, 0, 1), 0, 1);
}
