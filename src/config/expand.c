/*
 * expand.c - variables, files and inputs named inside a value.
 *
 * Two texts are written side by side. What stands in the file goes to both; of
 * a reference the value goes to one and the reference itself to the other. So
 * what is shown cannot have a secret in it that came from outside, and needs
 * no rule about which they are.
 */
#include "config/expand.h"

#include "base/span.h"
#include "json/nav.h"

#include <string.h>

enum { NAME = 256 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How many bytes at the front of `text` are a variable's name. */
static size_t name_length(fl_span text)
{
    size_t len = 0;

    while (len < text.len &&
           (is_letter(text.ptr[len]) || (len > 0 && is_digit(text.ptr[len]))))
        len++;
    return len;
}

static bool cut_front(fl_span *text, fl_span front)
{
    if (!fl_span_starts(*text, front))
        return false;
    *text = fl_span_from(*text, front.len);
    return true;
}

static const char *look_up(fl_reader *reader, fl_span name)
{
    char copy[NAME];

    if (name.len >= sizeof copy || reader->source->variable == NULL)
        return NULL;
    memcpy(copy, name.ptr, name.len);
    copy[name.len] = '\0';
    return reader->source->variable(reader->source->user, copy);
}

/* A value may be too long: that is told here, as everybody would have to. */
static bool add(fl_reader *reader, const char *at, fl_buf *out, fl_span text)
{
    fl_status rc = fl_buf_append(out, text);

    if (rc == FL_E_TOO_BIG) {
        fl_reader_error(reader, at, "it is longer than %d bytes",
                        FL_CONFIG_VALUE);
        return false;
    }
    return fl_reader_try(reader, rc);
}

static bool put_variable(fl_reader *reader, const char *at, fl_span name,
                         const fl_span *otherwise)
{
    const char *value = look_up(reader, name);

    if (otherwise != NULL && (value == NULL || *value == '\0'))
        return add(reader, at, &reader->real, *otherwise);
    if (value != NULL)
        return add(reader, at, &reader->real, fl_span_of(value));
    return fl_reader_missing(
        reader, at,
        "the variable %.*s is not set; set it, or give a default: "
        "${%.*s:-...}",
        (int)name.len, name.ptr, (int)name.len, name.ptr);
}

/* NAME or NAME:-default. */
static bool put_reference(fl_reader *reader, const char *at, fl_span inside)
{
    fl_span name = {inside.ptr, name_length(inside)};
    fl_span rest = fl_span_from(inside, name.len);

    if (name.len == 0 || name.len >= NAME ||
        (rest.len > 0 && !fl_span_starts(rest, FL_SPAN(":-")))) {
        fl_reader_error(reader, at,
                        "${%.*s} names no variable; to mean these characters, "
                        "write $${%.*s}",
                        (int)(inside.len < 64 ? inside.len : 64), inside.ptr,
                        (int)(inside.len < 64 ? inside.len : 64), inside.ptr);
        return false;
    }
    if (rest.len == 0)
        return put_variable(reader, at, name, NULL);
    rest = fl_span_from(rest, 2);
    return put_variable(reader, at, name, &rest);
}

bool fl_expand_path(fl_reader *reader, fl_span path, fl_buf *out)
{
    const char *file = reader->config->file;
    const char *slash = strrchr(file, '/');
    fl_span front = {0};

    if (fl_span_starts(path, FL_SPAN("~/"))) {
        front = fl_span_of(look_up(reader, FL_SPAN("HOME")));
        path = fl_span_from(path, front.len > 0 ? 1 : 0);
    } else if (!fl_span_starts(path, FL_SPAN("/")) && slash != NULL) {
        front = (fl_span){file, (size_t)(slash - file) + 1};
    }
    return fl_reader_try(reader, fl_buf_append(out, front)) &&
           fl_reader_try(reader, fl_buf_append(out, path)) &&
           fl_reader_try(reader, fl_buf_append(out, (fl_span){"", 1}));
}

fl_status fl_expand_read(fl_reader *reader, fl_span path, fl_buf *out)
{
    fl_buf name;
    fl_status rc = FL_E_UNSUPPORTED;

    fl_buf_init(&name, (size_t)FL_CONFIG_VALUE * 2);
    if (!fl_expand_path(reader, path, &name))
        rc = FL_E_NOMEM;
    else if (reader->source->read != NULL)
        rc = reader->source->read(reader->source->user, fl_buf_view(&name).ptr,
                                  out);
    fl_buf_reset(&name);
    return rc;
}

/* Secrets are often kept with a line's end behind them, and meant without. */
static fl_span trim_end(fl_span text)
{
    while (text.len > 0 &&
           (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    return text;
}

static bool put_file(fl_reader *reader, const char *at, fl_span path)
{
    fl_buf content;
    bool fine = false;

    fl_buf_init(&content, FL_CONFIG_VALUE);
    fl_status rc = fl_expand_read(reader, path, &content);
    fl_span text = trim_end(fl_buf_view(&content));
    if (rc == FL_E_NOMEM)
        fl_reader_try(reader, rc);
    else if (rc != FL_OK)
        fine = fl_reader_missing(reader, at, "the file %.*s cannot be read: %s",
                                 (int)(path.len < 256 ? path.len : 256),
                                 path.ptr, fl_status_text(rc));
    else if (fl_span_find(text, '\0') < text.len)
        fl_reader_error(reader, at, "the file %.*s has a NUL in it",
                        (int)(path.len < 256 ? path.len : 256), path.ptr);
    else
        fine = add(reader, at, &reader->real, text);
    fl_buf_reset(&content);
    return fine;
}

/* FAIRLEAD_INPUT_ and the id in capitals, anything odd in it a '_'. */
static void input_variable(fl_span id, char name[NAME])
{
    static const char front[] = "FAIRLEAD_INPUT_";
    size_t len = sizeof front - 1;

    memcpy(name, front, len);
    for (size_t i = 0; i < id.len && len < NAME - 1; i++) {
        char c = id.ptr[i];
        if (c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        name[len++] = is_letter(c) || is_digit(c) ? c : '_';
    }
    name[len] = '\0';
}

/* The "default" of the input with this id; empty if there is none. */
static fl_span input_default(const fl_reader *reader, fl_span id)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, reader->inputs);
    while (!walk.in_object && fl_json_walk_next(&walk, &member)) {
        fl_span its_id = fl_json_get(member.value, FL_SPAN("id"));
        fl_span value = fl_json_get(member.value, FL_SPAN("default"));
        if (fl_json_string_is(its_id, id) &&
            fl_json_type_of(value) == FL_JSON_STRING)
            return value;
    }
    return (fl_span){0};
}

static bool put_input(fl_reader *reader, const char *at, fl_span id)
{
    char name[NAME];

    input_variable(id, name);
    const char *value = look_up(reader, fl_span_of(name));
    fl_span otherwise = input_default(reader, id);
    if (value != NULL)
        return add(reader, at, &reader->real, fl_span_of(value));
    if (otherwise.len > 0)
        return fl_reader_try(reader,
                             fl_json_string_copy(otherwise, &reader->real));
    return fl_reader_missing(
        reader, at,
        "nobody can be asked for the input %.*s here; set the "
        "variable %s, or give the input a default",
        (int)(id.len < 64 ? id.len : 64), id.ptr, name);
}

static bool put_workspace(fl_reader *reader, const char *at, bool last_name)
{
    const char *path = look_up(reader, FL_SPAN("FAIRLEAD_WORKSPACE"));
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    if (path == NULL)
        return fl_reader_missing(reader, at,
                                 "there is no workspace here; set the variable "
                                 "FAIRLEAD_WORKSPACE to its directory");
    return add(reader, at, &reader->real,
               fl_span_of(last_name && slash != NULL ? slash + 1 : path));
}

/* What stands between ${ and }. */
static bool put_inside(fl_reader *reader, const char *at, fl_span inside)
{
    if (fl_span_equal(inside, FL_SPAN("workspaceFolder")))
        return put_workspace(reader, at, false);
    if (fl_span_equal(inside, FL_SPAN("workspaceFolderBasename")))
        return put_workspace(reader, at, true);
    if (fl_span_equal(inside, FL_SPAN("userHome")))
        return put_variable(reader, at, FL_SPAN("HOME"), NULL);
    if (fl_span_equal(inside, FL_SPAN("pathSeparator")) ||
        fl_span_equal(inside, FL_SPAN("/")))
        return add(reader, at, &reader->real, FL_SPAN("/"));
    if (cut_front(&inside, FL_SPAN("input:")))
        return put_input(reader, at, inside);
    if (cut_front(&inside, FL_SPAN("file:")))
        return put_file(reader, at, inside);
    cut_front(&inside, FL_SPAN("env:"));
    return put_reference(reader, at, inside);
}

/* A reference at the front of `text`: its length, or 0 if there is none. */
static size_t reference_length(const fl_reader *reader, fl_span text)
{
    bool braced = fl_span_starts(text, FL_SPAN("${")) ||
                  (reader->braces && (fl_span_starts(text, FL_SPAN("{env:")) ||
                                      fl_span_starts(text, FL_SPAN("{file:"))));

    if (braced)
        return fl_span_find(text, '}') + 1; /* one too many: no end */
    if (reader->bare_dollar && text.ptr[0] == '$') {
        size_t len = name_length(fl_span_from(text, 1));
        return len > 0 ? len + 1 : 0;
    }
    return 0;
}

static bool put_one(fl_reader *reader, const char *at, fl_span reference)
{
    fl_span inside = fl_span_from(reference, 1);

    if (reference.ptr[0] == '$' && inside.ptr[0] != '{')
        return put_variable(reader, at, inside, NULL);
    if (reference.ptr[0] == '$')
        inside = fl_span_from(inside, 1);
    inside.len--; /* the closing brace */
    return put_inside(reader, at, inside);
}

static bool put_literal(fl_reader *reader, const char *at, fl_span text)
{
    return add(reader, at, &reader->real, text) &&
           add(reader, at, &reader->shown, text);
}

/* A dollar doubled before what would be a reference stands for itself, and
 * takes the brace with it, or opencode's would begin there. */
static size_t escape_length(const fl_reader *reader, fl_span text)
{
    if (text.len < 2 || text.ptr[0] != '$' || text.ptr[1] != '$' ||
        reference_length(reader, fl_span_from(text, 1)) == 0)
        return 0;
    return text.ptr[2] == '{' ? 3 : 2;
}

/* How many bytes at the front are surely no reference; at least one. */
static size_t literal_length(fl_span text)
{
    size_t len = 1;

    while (len < text.len && text.ptr[len] != '$' && text.ptr[len] != '{')
        len++;
    return len;
}

/* Takes the next piece off `text`. */
static bool put_next(fl_reader *reader, const char *at, fl_span *text)
{
    fl_span rest = *text;
    size_t escape = escape_length(reader, rest);
    size_t reference = escape > 0 ? 0 : reference_length(reader, rest);

    if (reference > rest.len) {
        fl_reader_error(reader, at,
                        "%.*s has no }; to mean these characters, double the $",
                        (int)(rest.len < 32 ? rest.len : 32), rest.ptr);
        return false;
    }
    if (escape > 0) {
        *text = fl_span_from(rest, escape);
        return put_literal(reader, at, (fl_span){rest.ptr + 1, escape - 1});
    }
    if (reference == 0) {
        *text = fl_span_from(rest, literal_length(rest));
        rest.len -= text->len;
        return put_literal(reader, at, rest);
    }
    *text = fl_span_from(rest, reference);
    rest.len = reference;
    return put_one(reader, at, rest) && add(reader, at, &reader->shown, rest);
}

bool fl_expand(fl_reader *reader, const char *at, fl_span text)
{
    bool fine = true;

    while (fine && text.len > 0)
        fine = put_next(reader, at, &text);
    return fine;
}
