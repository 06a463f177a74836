/*
 * status.c - names and texts of the status table, and fl_error.
 */
#include "base/status.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *fl_status_name(fl_status status)
{
    switch (status) {
#define STATUS_NAME(name, code, text)                                          \
    case FL_##name:                                                            \
        return #name;
        FL_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
    }
    return "UNKNOWN";
}

const char *fl_status_text(fl_status status)
{
    switch (status) {
#define STATUS_TEXT(name, code, text)                                          \
    case FL_##name:                                                            \
        return text;
        FL_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

/* A lone 0x9b is as good an escape code to some terminals as U+009B is. */
static bool is_control(const char *at)
{
    unsigned char byte = (unsigned char)at[0];

    return byte < 0x20 || byte == 0x7f ||
           (byte == 0xc2 && (unsigned char)at[1] < 0xa0);
}

/* Control characters and what is not UTF-8, such as a sequence that the end of
 * the buffer cut in two, become question marks. */
static void clean(char *text)
{
    size_t len = strlen(text);
    size_t bad;

    while ((bad = fl_utf8_valid_prefix((fl_span){text, len})) < len)
        text[bad] = '?';
    for (char *at = text; *at != '\0'; at++)
        if (is_control(at)) {
            if ((unsigned char)*at >= 0x80)
                *at++ = '?'; /* U+0080 to U+009F take two bytes */
            *at = '?';
        }
}

fl_status fl_error_set(fl_error *error, fl_status status, const char *format,
                       ...)
{
    if (error == NULL)
        return status;

    /* by way of a copy, for the arguments may quote the old error->text */
    fl_error fresh = {.status = status};
    va_list args;
    va_start(args, format);
    vsnprintf(fresh.text, sizeof fresh.text, format, args);
    va_end(args);
    clean(fresh.text);
    *error = fresh;
    return status;
}
