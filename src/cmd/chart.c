/*
 * chart.c - what was found out about a server, written down line by line.
 *
 * Texts quote servers, so they go through fl_chart_quote() where they are made
 * and through the terminal's filter where they are shown. On a terminal they
 * are folded at its edge, under themselves; anywhere else a finding is one
 * line and its advice another, for whoever searches in them.
 */
#include "cmd/chart.h"

#include "base/span.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

enum {
    TEXT_MAX = 4 * 1024 * 1024,
    LINE = 1024,
    INDENT = 11, /* where a finding's sentence begins */
    NARROWEST = 30,
    SHOWN = 160, /* bytes of a quotation */
};

static const struct look {
    const char *name;
    const char *many;
    fl_term_style style;
} looks[] = {
    [FL_CHART_OK] = {"ok", "ok", FL_TERM_GREEN},
    [FL_CHART_NOTE] = {"note", "notes", FL_TERM_BOLD},
    [FL_CHART_WARNING] = {"warning", "warnings", FL_TERM_YELLOW},
    [FL_CHART_FAULT] = {"fault", "faults", FL_TERM_RED},
};

void fl_chart_init(fl_chart *chart, bool json, const char *target)
{
    *chart = (fl_chart){
        .out = fl_term_of(stdout), .json = json, .target = target, .group = ""};
    fl_buf_init(&chart->text, TEXT_MAX);
    fl_json_writer_init(&chart->writer, &chart->text);
    fl_json_object(&chart->writer);
    fl_json_key(&chart->writer, "target");
    fl_json_string(&chart->writer, target);
    fl_json_key(&chart->writer, "findings");
    fl_json_array(&chart->writer);
}

void fl_chart_deinit(fl_chart *chart)
{
    fl_buf_reset(&chart->text);
}

void fl_chart_group(fl_chart *chart, const char *name)
{
    chart->group = name;
}

static void put_json(fl_chart *chart, fl_chart_level level, const char *check,
                     const char *text, const char *advice)
{
    const struct member {
        const char *key, *value;
    } members[] = {{"group", chart->group},
                   {"check", check},
                   {"verdict", looks[level].name},
                   {"text", text},
                   {"advice", advice}};

    fl_json_object(&chart->writer);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].value != NULL) {
            fl_json_key(&chart->writer, members[i].key);
            fl_json_string(&chart->writer, members[i].value);
        }
    fl_json_object_end(&chart->writer);
}

/* How much of `text` goes into one line of `room` columns. */
static size_t fold(fl_span text, size_t room)
{
    size_t cut = room;

    if (text.len <= room)
        return text.len;
    while (cut > 0 && text.ptr[cut] != ' ')
        cut--;
    if (cut > 0)
        return cut;
    for (cut = room; cut < text.len && text.ptr[cut] != ' '; cut++)
        continue; /* a word that is longer than the line */
    return cut;
}

static void put_folded(const fl_term *to, fl_span text, size_t indent)
{
    size_t columns = fl_term_columns(to);
    size_t room =
        columns > indent + NARROWEST ? columns - indent : (size_t)NARROWEST;

    if (!to->is_tty)
        room = text.len;
    for (;;) {
        size_t len = fold(text, room);
        fl_term_put(to, (fl_span){text.ptr, len});
        fputc('\n', to->file);
        text = fl_span_from(text, len);
        if (text.len == 0)
            return;
        text = fl_span_from(text, 1); /* the space it was folded at */
        fprintf(to->file, "%*s", (int)indent, "");
    }
}

static void put_lines(fl_chart *chart, fl_chart_level level, const char *text,
                      const char *advice)
{
    const fl_term *to = &chart->out;

    if (chart->shown == NULL) {
        fputs("Looking at ", to->file);
        fl_term_put(to, fl_span_of(chart->target));
        fputc('\n', to->file);
    }
    if (chart->shown != chart->group) {
        fputc('\n', to->file);
        fl_term_say(to, FL_TERM_BOLD, "%s\n", chart->group);
        chart->shown = chart->group;
    }
    fputs("  ", to->file);
    fl_term_say(to, looks[level].style, "%-9s", looks[level].name);
    put_folded(to, fl_span_of(text), INDENT);
    if (advice != NULL) {
        fprintf(to->file, "%*s-> ", INDENT, "");
        put_folded(to, fl_span_of(advice), INDENT + 3);
    }
    fflush(to->file);
}

static void add(fl_chart *chart, fl_chart_level level, const char *check,
                const char *advice, const char *text)
{
    chart->counts[level]++;
    if (chart->json)
        put_json(chart, level, check, text, advice);
    else
        put_lines(chart, level, text, advice);
}

void fl_chart_ok(fl_chart *chart, const char *check, const char *format, ...)
{
    char text[LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add(chart, FL_CHART_OK, check, NULL, text);
}

void fl_chart_find(fl_chart *chart, fl_chart_level level, const char *check,
                   const char *advice, const char *format, ...)
{
    char text[LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add(chart, level, check, advice, text);
}

static const char *verdict_of(const fl_chart *chart)
{
    if (chart->unreachable)
        return "unreachable";
    return chart->counts[FL_CHART_FAULT] > 0 ? "faults" : "healthy";
}

static bool end_json(fl_chart *chart)
{
    fl_json_writer *writer = &chart->writer;

    fl_json_array_end(writer);
    fl_json_key(writer, "counts");
    fl_json_object(writer);
    for (size_t i = 0; i < FL_CHART_LEVELS; i++) {
        fl_json_key(writer, looks[i].name);
        fl_json_integer(writer, chart->counts[i]);
    }
    fl_json_object_end(writer);
    fl_json_key(writer, "verdict");
    fl_json_string(writer, verdict_of(chart));
    fl_json_object_end(writer);
    if (fl_json_writer_end(writer) != FL_OK)
        return false;
    fl_span text = fl_buf_view(&chart->text);
    fwrite(text.ptr, 1, text.len, chart->out.file);
    fputc('\n', chart->out.file);
    return true;
}

static void end_lines(const fl_chart *chart)
{
    static const char *const words[] = {"Healthy", "Not healthy",
                                        "No server to look at"};
    bool faulty = chart->counts[FL_CHART_FAULT] > 0;
    unsigned which = chart->unreachable ? 2 : faulty ? 1 : 0;
    const fl_term *to = &chart->out;
    const char *before = ": ";

    fputc('\n', to->file);
    fl_term_say(to, which == 0 ? FL_TERM_GREEN : FL_TERM_RED, "%s",
                words[which]);
    for (size_t i = FL_CHART_LEVELS; i-- > 0;) {
        unsigned count = chart->counts[i];
        if (count == 0)
            continue;
        fprintf(to->file, "%s%u %s", before, count,
                count == 1 ? looks[i].name : looks[i].many);
        before = ", ";
    }
    fputs(".\n", to->file);
}

bool fl_chart_end(fl_chart *chart)
{
    bool written = true;

    if (chart->json)
        written = end_json(chart);
    else
        end_lines(chart);
    return fflush(chart->out.file) == 0 && !ferror(chart->out.file) && written;
}

/* Appends a character of `size` bytes, or if that is 0 how a byte is spelt;
 * false: there is no room. */
static bool put_character(char *out, size_t *len, const char *at, size_t size)
{
    size_t need = size > 0 ? size : 4;

    if (*len + need >= FL_CHART_QUOTE - 4)
        return false;
    if (size > 0)
        memcpy(out + *len, at, size);
    else
        snprintf(out + *len, 5, "\\x%02x", (unsigned char)*at);
    *len += need;
    return true;
}

/* The size of the character at the front, or 0 if that is none to be shown. */
static size_t character_size(fl_span text)
{
    unsigned char byte = (unsigned char)text.ptr[0];
    size_t size = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;

    if (byte < 0x80)
        return byte >= ' ' && byte < 0x7f ? 1 : 0;
    return size <= text.len && fl_utf8_valid((fl_span){text.ptr, size}) ? size
                                                                        : 0;
}

const char *fl_chart_quote(fl_span text, char out[FL_CHART_QUOTE])
{
    size_t len = 0, i = 0;
    size_t end = text.len < SHOWN ? text.len : SHOWN;

    while (i < end) { /* a character at a time, and none cut in two */
        size_t size = character_size(fl_span_from(text, i));
        if (!put_character(out, &len, text.ptr + i, size))
            break;
        i += size > 0 ? size : 1;
    }
    snprintf(out + len, FL_CHART_QUOTE - len, "%s", i < text.len ? "..." : "");
    return out;
}
