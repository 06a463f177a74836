/*
 * levels.c - the levels of a log, by name.
 */
#include "server/levels.h"

#include "base/span.h"
#include "json/nav.h"
#include "json/write.h"

#include <stdio.h>

static const char *const names[] = {
    "debug", "info",     "notice", "warning",
    "error", "critical", "alert",  "emergency",
};

enum { LEVELS = sizeof names / sizeof *names, TEXT_MAX = 8192 };

const char *fl_levels_name(fl_level level)
{
    return (unsigned)level < LEVELS ? names[level] : NULL;
}

fl_status fl_levels_read(fl_span token, fl_level *level)
{
    for (unsigned i = 0; i < LEVELS; i++)
        if (fl_json_string_is(token, fl_span_of(names[i]))) {
            *level = (fl_level)i;
            return FL_OK;
        }
    return FL_E_INVALID;
}

static void begin(fl_json_writer *writer, fl_buf *out, fl_level level,
                  const char *logger)
{
    fl_json_writer_init(writer, out);
    fl_json_object(writer);
    fl_json_key(writer, "level");
    fl_json_string(writer, fl_levels_name(level));
    if (logger != NULL) {
        fl_json_key(writer, "logger");
        fl_json_string(writer, logger);
    }
    fl_json_key(writer, "data");
}

fl_status fl_levels_write(fl_buf *out, fl_level level, const char *logger,
                          fl_span data)
{
    fl_json_writer writer;

    begin(&writer, out, level, logger);
    fl_json_raw(&writer, data);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

fl_status fl_levels_format(fl_buf *out, fl_level level, const char *logger,
                           const char *format, va_list args)
{
    char text[TEXT_MAX];
    fl_json_writer writer;

    vsnprintf(text, sizeof text, format, args);
    begin(&writer, out, level, logger);
    fl_json_string(&writer, text);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}
