/*
 * face_lines.h - one command line in, another out, both written as one text.
 *
 * What goes in is cut by our own word splitter; what comes out is read from
 * what --show prints. Both are tested for themselves.
 */
#ifndef TESTS_UNIT_FACE_LINES_H
#define TESTS_UNIT_FACE_LINES_H

#include "base/mem.h"
#include "cmd/face.h"
#include "cmd/face_run.h"
#include "cmd/shell_words.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct line_case {
    const char *in;
    const char *out;
};

/* A command line and what became of it. */
struct outcome {
    fl_texts argv;
    fl_face face;
    fl_status rc;
    fl_error error;
};

static char *empty_environment[] = {NULL};

static void wear_in(struct outcome *got, const fl_face_program *program,
                    const char *line, char **environment)
{
    char text[2048];

    *got = (struct outcome){0};
    snprintf(text, sizeof text, "program %s", line);
    assert_int_equal(fl_shell_words(text, &got->argv, NULL), FL_OK);
    got->rc = fl_face_translate(program, got->argv.items + 1, environment,
                                &got->face, &got->error);
}

static void wear(struct outcome *got, const fl_face_program *program,
                 const char *line)
{
    wear_in(got, program, line, empty_environment);
}

static void take_off(struct outcome *got)
{
    fl_face_deinit(&got->face);
    fl_texts_deinit(&got->argv);
}

/* What --show prints, less the line's end. */
static void show(const struct outcome *got, char *text, size_t size)
{
    FILE *file = fmemopen(text, size, "w");

    assert_non_null(file);
    assert_int_equal(fl_face_show(&got->face, file), FL_OK);
    fclose(file);
    text[strcspn(text, "\n")] = '\0';
}

static void expect_in(const fl_face_program *program, const char *in,
                      char **environment, const char *out)
{
    struct outcome got;
    char text[4096];

    wear_in(&got, program, in, environment);
    if (got.rc != FL_OK)
        fail_msg("%s: %s", in, got.error.text);
    show(&got, text, sizeof text);
    assert_string_equal(text, out);
    take_off(&got);
}

static void expect(const fl_face_program *program, const char *in,
                   const char *out)
{
    expect_in(program, in, empty_environment, out);
}

static void expect_all(const fl_face_program *program,
                       const struct line_case *cases)
{
    for (; cases->in != NULL; cases++)
        expect(program, cases->in, cases->out);
}

static void refuse(const fl_face_program *program, const char *in,
                   const char *why)
{
    struct outcome got;

    wear(&got, program, in);
    assert_int_equal(got.rc, FL_E_INVALID);
    if (strstr(got.error.text, why) == NULL)
        fail_msg("%s: '%s' is not in '%s'", in, why, got.error.text);
    take_off(&got);
}

static bool is_warned(const fl_face *face, const char *of)
{
    for (size_t i = 0; i < face->warnings.count; i++)
        if (strstr(face->warnings.items[i], of) != NULL)
            return true;
    return false;
}

static void expect_warning(const fl_face_program *program, const char *in,
                           const char *of)
{
    struct outcome got;

    wear(&got, program, in);
    assert_int_equal(got.rc, FL_OK);
    if (!is_warned(&got.face, of))
        fail_msg("%s: nothing warns of '%s'", in, of);
    take_off(&got);
}

static bool has_argument(const fl_face *face, const char *argument)
{
    for (size_t i = 0; i < face->argv.count; i++)
        if (strcmp(face->argv.items[i], argument) == 0)
            return true;
    return false;
}

static const char *some_value(const fl_face_row *row)
{
    if (row->kind == FL_FACE_SWITCH || row->kind == FL_FACE_MAYBE)
        return "";
    if (row->kind == FL_FACE_PAIR)
        return "one two";
    return row->deed == FL_FACE_MILLIS ? "2000" : "1";
}

/* Each flag of the table by itself, on the line `rest`: whatever the table
 * says of it happens. Those compose() asks for are left to other tests. */
static void expect_table_kept(const fl_face_program *program, const char *rest)
{
    size_t tried = 0;

    for (const fl_face_row *row = program->rows; row->name != NULL; row++) {
        struct outcome got;
        char line[512], word[64];
        const char *value = some_value(row);
        if (row->deed == FL_FACE_ASKED)
            continue;
        if (row->deed == FL_FACE_WORD) {
            snprintf(word, sizeof word, "%.*s", (int)strcspn(row->words, "="),
                     row->words);
            value = word;
        }
        snprintf(line, sizeof line, "%s %s %s", row->name, value, rest);
        if (row->kind == FL_FACE_LIST)
            snprintf(line, sizeof line, "%s=%s %s", row->name, value, rest);
        wear(&got, program, line);
        assert_int_equal(got.rc,
                         row->deed == FL_FACE_NEVER ? FL_E_INVALID : FL_OK);
        if (row->deed == FL_FACE_NEVER)
            assert_non_null(strstr(got.error.text, row->name));
        else if (row->deed == FL_FACE_IDLE)
            assert_true(is_warned(&got.face, row->name));
        else if (row->deed != FL_FACE_MEANT)
            assert_true(has_argument(&got.face, row->ours));
        take_off(&got);
        tried++;
    }
    assert_true(tried > 0);
}

struct scarce {
    const fl_face_program *program;
    fl_texts argv;
};

static inline void translate_scarcely(void *user)
{
    struct scarce *scarce = user;
    fl_face face;
    fl_error error;
    fl_status rc = fl_face_translate(scarce->program, scarce->argv.items + 1,
                                     empty_environment, &face, &error);

    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    fl_face_deinit(&face);
}

/* With each allocation refused in turn. */
static void expect_survival(const fl_face_program *program, const char *line)
{
    struct scarce scarce = {.program = program};
    char text[512];

    snprintf(text, sizeof text, "program %s", line);
    assert_int_equal(fl_shell_words(text, &scarce.argv, NULL), FL_OK);
    assert_true(ration_each(translate_scarcely, &scarce) > 10);
    fl_texts_deinit(&scarce.argv);
}

#endif
