/*
 * face_read.c - what was said on another program's command line.
 *
 * Arguments are read as the option parsers of Node.js (yargs) and Python
 * (argparse) do, where these agree: flags may stand among the words, a value
 * follows or comes after "=", what follows "--" is the command's own. A camel's
 * hump may be written as a dash. Where they would guess, there is an error: a
 * flag nobody knows is more often a typing mistake than part of a command, and
 * for that there is "--".
 */
#include "cmd/face_read.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "cmd/suggest.h"

#include <stdio.h>
#include <string.h>

enum { NAMES = 96, VARIABLE = 128, SAID_FIRST = 16 };

static const fl_face_row common[] = {
    {.name = "--help", .also = "-h", .ours = "--help"},
    {.name = "--version", .ours = "--version"},
    {.name = "--show", .why = "print the command line of fairlead it means"},
    {0},
};

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* "--logLevel" is written "--log-level", too. */
static bool is_named(const char *name, fl_span text)
{
    size_t at = 0;

    for (; *name != '\0'; name++, at++) {
        if (at < text.len && text.ptr[at] == *name)
            continue;
        if (!is_upper(*name) || at + 1 >= text.len || text.ptr[at] != '-' ||
            text.ptr[at + 1] != *name + ('a' - 'A'))
            return false;
        at++;
    }
    return at == text.len;
}

static const fl_face_row *find_plain(const fl_face_row *rows, fl_span name)
{
    for (; rows->name != NULL; rows++)
        if (is_named(rows->name, name) ||
            (rows->also != NULL && fl_span_equal(fl_span_of(rows->also), name)))
            return rows;
    return NULL;
}

/* Those of --no-FLAG whose name is a flag of its own come first. */
const fl_face_row *fl_face_find(const fl_face_row *rows, fl_span name,
                                bool *off)
{
    const fl_face_row *row = find_plain(rows, name);
    char yes[VARIABLE];

    *off = false;
    if (row == NULL && fl_span_starts(name, FL_SPAN("--no-")) &&
        name.len < sizeof yes) {
        int len = snprintf(yes, sizeof yes, "--%.*s", (int)name.len - 5,
                           name.ptr + 5);
        row = find_plain(rows, (fl_span){yes, (size_t)len});
        if (row != NULL && row->kind != FL_FACE_SWITCH)
            row = NULL;
        *off = row != NULL;
    }
    return row;
}

static void say(fl_face *face, fl_face_said said)
{
    if (face->said_count == face->said_room) {
        size_t room = face->said_room > 0 ? face->said_room * 2 : SAID_FIRST;
        void *grown = fl_mem_realloc(face->said, room * sizeof *face->said);
        if (grown == NULL) {
            face->failed = true;
            return;
        }
        face->said = grown;
        face->said_room = room;
    }
    face->said[face->said_count++] = said;
}

static fl_status refuse_unknown(const fl_face *face, fl_span name,
                                fl_error *error)
{
    const char *names[NAMES + 1] = {NULL};
    const fl_face_row *rows = face->program->rows;

    for (size_t i = 0; i < NAMES && rows[i].name != NULL; i++)
        names[i] = rows[i].name;
    const char *near = fl_suggest_nearest(name, names);
    return fl_error_set(
        error, FL_E_INVALID, "unknown option '%.*s'%s%s%s%s", (int)name.len,
        name.ptr, near != NULL ? "; did you mean " : "",
        near != NULL ? near : "", near != NULL ? "?" : "",
        face->words.count > 0 ? "; if it is the command's, put -- before that"
                              : "");
}

static fl_status refuse_missing(const fl_face_row *row, const char *what,
                                fl_error *error)
{
    return fl_error_set(error, FL_E_INVALID, "option %s needs %s", row->name,
                        what);
}

static bool is_flag(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

static bool is_value(const char *argument)
{
    return argument != NULL && strcmp(argument, "--") != 0;
}

/* yargs takes a "true" or "false" that follows; no server is named so. */
static fl_status take_switch(fl_face *face, fl_face_said said, char *value,
                             char *const **at, fl_error *error)
{
    if (value == NULL && (*at)[1] != NULL &&
        (strcmp((*at)[1], "true") == 0 || strcmp((*at)[1], "false") == 0))
        value = *++*at;
    if (value != NULL && strcmp(value, "true") != 0 &&
        strcmp(value, "false") != 0)
        return fl_error_set(error, FL_E_INVALID,
                            "option %s: '%s' is not true or false",
                            said.row->name, value);
    if (value != NULL && strcmp(value, "false") == 0)
        said.off = !said.off;
    say(face, said);
    return FL_OK;
}

static void take_list(fl_face *face, fl_face_said said, char *const **at)
{
    size_t before = face->said_count;

    while ((*at)[1] != NULL && !is_flag((*at)[1])) {
        said.value = *++*at;
        say(face, said);
    }
    if (face->said_count == before)
        say(face, said);
}

static fl_status take_pair(fl_face *face, fl_face_said said, char *const **at,
                           fl_error *error)
{
    if (said.value != NULL || !is_value((*at)[1]) || !is_value((*at)[2]))
        return refuse_missing(said.row, "two values behind it", error);
    said.value = *++*at;
    said.second = *++*at;
    say(face, said);
    return FL_OK;
}

static fl_status take_values(fl_face *face, fl_face_said said, char *const **at,
                             fl_error *error)
{
    if (said.row->kind == FL_FACE_PAIR)
        return take_pair(face, said, at, error);
    if (said.value == NULL && said.row->kind == FL_FACE_LIST) {
        take_list(face, said, at);
        return FL_OK;
    }
    if (said.value == NULL && (said.row->kind == FL_FACE_VALUE
                                   ? is_value((*at)[1])
                                   : (*at)[1] != NULL && !is_flag((*at)[1])))
        said.value = *++*at;
    if (said.value == NULL && said.row->kind == FL_FACE_VALUE)
        return refuse_missing(said.row, "a value", error);
    say(face, said);
    return FL_OK;
}

static bool take_common(fl_face *face, fl_span name)
{
    const fl_face_row *row = find_plain(common, name);

    if (row == NULL)
        return false;
    face->help = face->help || row == &common[0];
    face->version = face->version || row == &common[1];
    face->show = face->show || row == &common[2];
    return true;
}

/* One flag at `*at`, which moves to the last argument that belongs to it. */
static fl_status take_flag(fl_face *face, char *const **at, fl_error *error)
{
    char *argument = **at;
    fl_span name = {argument, strcspn(argument, "=")};
    char *value = argument[name.len] == '=' ? argument + name.len + 1 : NULL;
    fl_face_said said = {.value = value};

    if (value == NULL && take_common(face, name))
        return FL_OK;
    said.row = fl_face_find(face->program->rows, name, &said.off);
    if (said.row == NULL)
        return refuse_unknown(face, name, error);
    if (said.row->kind != FL_FACE_SWITCH)
        return take_values(face, said, at, error);
    said.value = NULL;
    return take_switch(face, said, value, at, error);
}

static fl_status read_line(fl_face *face, char *const *argv, fl_error *error)
{
    fl_status rc = FL_OK;

    for (char *const *at = argv; *at != NULL && rc == FL_OK; at++) {
        if (strcmp(*at, "--") == 0) {
            while (*++at != NULL)
                fl_texts_add(&face->words, *at);
            break;
        }
        if (is_flag(*at))
            rc = take_flag(face, &at, error);
        else
            fl_texts_add(&face->words, *at);
    }
    return rc;
}

/* "--sslCert" is PREFIX_SSL_CERT. */
static fl_span variable_of(fl_span prefix, const char *flag,
                           char name[VARIABLE])
{
    size_t len = prefix.len;

    memcpy(name, prefix.ptr, len);
    for (flag += 2; *flag != '\0' && len + 2 < VARIABLE; flag++) {
        if (is_upper(*flag))
            name[len++] = '_';
        name[len++] =
            *flag >= 'a' && *flag <= 'z' ? (char)(*flag - ('a' - 'A')) : *flag;
    }
    return (fl_span){name, len};
}

/* What the command line says goes first. */
static void read_environment(fl_face *face)
{
    const fl_face_program *program = face->program;
    char name[VARIABLE];

    for (const fl_face_row *row = program->rows;
         program->prefix != NULL && row->name != NULL; row++) {
        fl_span variable =
            variable_of(fl_span_of(program->prefix), row->name, name);
        size_t i = 0;
        char *const *all = face->environment;
        while (all != NULL && all[i] != NULL &&
               fl_face_getenv((char *const[]){all[i], NULL}, variable) == NULL)
            i++;
        if (all == NULL || all[i] == NULL ||
            fl_face_next(face, row->name, NULL) != NULL)
            continue;
        char *value = all[i] + variable.len + 1;
        say(face,
            (fl_face_said){
                .row = row,
                .value = row->kind == FL_FACE_SWITCH ? NULL : value,
                .off = strcmp(value, "false") == 0 || strcmp(value, "0") == 0,
            });
    }
}

fl_status fl_face_read(fl_face *face, char *const *argv, fl_error *error)
{
    fl_status rc = read_line(face, argv, error);

    if (face->help || face->version)
        return FL_OK;
    if (rc == FL_OK)
        read_environment(face);
    if (rc == FL_OK && (face->failed || face->words.failed))
        rc = fl_error_set(error, FL_E_NOMEM, "out of memory");
    return rc;
}
