/*
 * dotenv.c - the variables of an env file.
 *
 * There is no one definition of these files. This is what all readers of them
 * agree on; a value is one line, and nothing in it is expanded.
 */
#include "config/dotenv.h"

#include "base/span.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static fl_span trim(fl_span text)
{
    while (text.len > 0 && is_blank(text.ptr[0]))
        text = fl_span_from(text, 1);
    while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static fl_span next_line(fl_span *text)
{
    fl_span line = {text->ptr, fl_span_find(*text, '\n')};

    *text = fl_span_from(*text, line.len < text->len ? line.len + 1 : line.len);
    return trim(line);
}

static bool is_name(fl_span name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9') &&
            (i == 0 || (c != '.' && c != '-')))
            return false;
    }
    return name.len > 0;
}

/* Nothing but a remark may follow the closing quote. */
static bool is_rest(fl_span rest)
{
    rest = trim(rest);
    return rest.len == 0 || rest.ptr[0] == '#';
}

static fl_status read_quoted(fl_span raw, fl_buf *value)
{
    char quote = raw.ptr[0];
    fl_status rc = FL_OK;
    size_t i = 1;

    for (; rc == FL_OK && i < raw.len && raw.ptr[i] != quote; i++) {
        char c = raw.ptr[i];
        if (quote == '"' && c == '\\' && i + 1 < raw.len) {
            c = raw.ptr[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
        rc = fl_buf_append(value, (fl_span){&c, 1});
    }
    if (rc != FL_OK)
        return rc;
    return i < raw.len && is_rest(fl_span_from(raw, i + 1)) ? FL_OK
                                                            : FL_E_INVALID;
}

static fl_status read_value(fl_span raw, fl_buf *value)
{
    if (raw.len > 0 && (raw.ptr[0] == '"' || raw.ptr[0] == '\''))
        return read_quoted(raw, value);
    for (size_t i = 0; i < raw.len; i++)
        if (raw.ptr[i] == '#' && (i == 0 || is_blank(raw.ptr[i - 1])))
            raw.len = i;
    return fl_buf_append(value, trim(raw));
}

fl_status fl_dotenv_next(fl_span *text, size_t *line, fl_span *name,
                         fl_buf *value)
{
    *name = (fl_span){0};
    fl_buf_clear(value);
    while (text->len > 0) {
        fl_span rest = next_line(text);
        ++*line;
        if (rest.len == 0 || rest.ptr[0] == '#')
            continue;
        if (fl_span_starts(rest, FL_SPAN("export ")))
            rest = trim(fl_span_from(rest, 7));
        size_t equals = fl_span_find(rest, '=');
        *name = trim((fl_span){rest.ptr, equals});
        if (equals == rest.len || !is_name(*name) ||
            fl_span_find(rest, '\0') < rest.len)
            return FL_E_INVALID;
        return read_value(trim(fl_span_from(rest, equals + 1)), value);
    }
    return FL_END;
}
