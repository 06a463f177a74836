/*
 * reader.c - telling what is wrong in a file, and where.
 */
#include "config/reader.h"

#include "base/span.h"
#include "json/nav.h"

#include <stdarg.h>
#include <stdio.h>

enum { PATH = 256, TEXT = 512 };

bool fl_reader_try(fl_reader *reader, fl_status status)
{
    if (status != FL_OK && reader->status == FL_OK)
        reader->status = status;
    return status == FL_OK;
}

/* Problems come nearly in the order of the text, so counting goes on where it
 * stopped; who goes back counts anew. CRLF is one end, and so is CR alone. */
static void count_lines(fl_reader *reader, size_t offset)
{
    fl_span text = reader->text;

    if (reader->line == 0 || offset < reader->line_start) {
        reader->counted = reader->line_start = 0;
        reader->line = 1;
    }
    for (; reader->counted < offset; reader->counted++) {
        size_t at = reader->counted;
        bool pair = at + 1 < text.len && text.ptr[at + 1] == '\n';
        if (text.ptr[at] == '\n' || (text.ptr[at] == '\r' && !pair)) {
            reader->line++;
            reader->line_start = at + 1;
        }
    }
}

size_t fl_reader_line(fl_reader *reader, const char *at)
{
    count_lines(reader, (size_t)(at - reader->text.ptr));
    return reader->line;
}

/* Characters, not bytes: an editor counts them so. */
static size_t find_column(const fl_reader *reader, size_t offset)
{
    size_t column = 1;

    for (size_t i = reader->line_start; i < offset; i++)
        if (((unsigned char)reader->text.ptr[i] & 0xC0) != 0x80)
            column++;
    return column;
}

/* The member of `container` that `at` lies in, from its key on. */
static bool find_member(fl_span container, const char *at, fl_json_walk *walk,
                        fl_json_member *member, size_t *index)
{
    fl_json_walk_init(walk, container);
    for (*index = 0; fl_json_walk_next(walk, member); ++*index) {
        const char *from =
            walk->in_object ? member->key.ptr - 1 : member->value.ptr;
        if (at >= from && at < member->value.ptr + member->value.len)
            return true;
    }
    return false;
}

static void find_path(const fl_reader *reader, const char *at, char path[PATH])
{
    fl_json_walk walk;
    fl_json_member member = {.value = reader->root};
    size_t index, len = 0;

    path[0] = '\0';
    while (len < PATH && at >= member.value.ptr &&
           find_member(member.value, at, &walk, &member, &index)) {
        char *end = path + len;
        int added =
            walk.in_object
                ? snprintf(end, PATH - len, "%s%.*s", len > 0 ? "." : "",
                           (int)member.key.len, member.key.ptr)
                : snprintf(end, PATH - len, "[%zu]", index);
        len += added > 0 ? (size_t)added : 0;
    }
}

/* It may quote the file, and end up on a terminal. */
static void clean(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* In the order of the text; where it is the same, in the order of telling. */
static void insert(fl_config *config, const fl_config_problem *problem)
{
    size_t i = config->problem_count++;

    for (; i > 0; i--) {
        const fl_config_problem *before = &config->problems[i - 1];
        if (before->line < problem->line || (before->line == problem->line &&
                                             before->column <= problem->column))
            break;
        config->problems[i] = *before;
    }
    config->problems[i] = *problem;
}

static void tell(fl_reader *reader, bool is_error, const char *at, char *text)
{
    fl_config *config = reader->config;
    size_t *count = is_error ? &config->error_count : &config->warning_count;
    size_t offset = (size_t)(at - reader->text.ptr);
    char path[PATH];

    if (++*count > FL_CONFIG_PROBLEMS)
        return;
    count_lines(reader, offset);
    find_path(reader, at, path);
    clean(text);
    fl_config_problem problem = {
        .is_error = is_error,
        .line = reader->line,
        .column = find_column(reader, offset),
    };
    if (fl_reader_try(reader, fl_keep_text(&config->notes, fl_span_of(path),
                                           &problem.path)) &&
        fl_reader_try(reader, fl_keep_text(&config->notes, fl_span_of(text),
                                           &problem.text)))
        insert(config, &problem);
}

void fl_reader_error(fl_reader *reader, const char *at, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tell(reader, true, at, text);
}

void fl_reader_warn(fl_reader *reader, const char *at, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tell(reader, false, at, text);
}

bool fl_reader_missing(fl_reader *reader, const char *at, const char *format,
                       ...)
{
    char text[TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tell(reader, !reader->disabled, at, text);
    return reader->disabled;
}
