/*
 * term.c - writing for people: what a terminal may be shown.
 *
 * Text comes in as UTF-8 that was checked when its message was read. So only
 * three shapes need a look: bytes below 0x20 and 0x7f, the two-byte forms of
 * U+0080 to U+009F, which some terminals obey as they do ESC, and the
 * three-byte forms of the direction marks (Unicode, UAX 9).
 */
#include "cmd/term.h"

#include "base/span.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SPELT_MAX = 256 * 1024 * 1024 };

fl_term fl_term_of(FILE *file)
{
    const char *no_colour = getenv("NO_COLOR");
    bool is_tty = isatty(fileno(file)) == 1;

    return (fl_term){
        .file = file,
        .is_tty = is_tty,
        .colour = is_tty && (no_colour == NULL || *no_colour == '\0'),
    };
}

/* The code point and its length, if it is one that must be spelt out. */
static size_t find_control(fl_span text, unsigned *code)
{
    const unsigned char *at = (const unsigned char *)text.ptr;

    *code = at[0];
    if ((at[0] < 0x20 && at[0] != '\n' && at[0] != '\t') || at[0] == 0x7f)
        return 1;
    if (at[0] == 0xc2 && text.len > 1 && at[1] < 0xa0) {
        *code = at[1];
        return 2;
    }
    if (at[0] != 0xe2 || text.len < 3)
        return 0;
    *code = 0x2000u + ((at[1] & 0x3fu) << 6) + (at[2] & 0x3fu);
    bool turns = *code == 0x200e || *code == 0x200f ||
                 (*code >= 0x202a && *code <= 0x202e) ||
                 (*code >= 0x2066 && *code <= 0x2069);
    return turns ? 3 : 0;
}

/* How much of `text` can be shown as it is. */
static size_t count_plain(fl_span text)
{
    unsigned code;
    size_t n = 0;

    while (n < text.len && find_control(fl_span_from(text, n), &code) == 0)
        n++;
    return n;
}

fl_status fl_term_spell(fl_buf *out, fl_span text)
{
    fl_status rc = FL_OK;

    while (text.len > 0 && rc == FL_OK) {
        size_t plain = count_plain(text);
        rc = fl_buf_append(out, (fl_span){text.ptr, plain});
        text = fl_span_from(text, plain);
        if (text.len == 0 || rc != FL_OK)
            break;
        unsigned code;
        size_t len = find_control(text, &code);
        rc = fl_buf_printf(out, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
        text = fl_span_from(text, len);
    }
    return rc;
}

/* Without memory nothing is shown: better than showing it unspelt. */
static void put_spelt(FILE *file, fl_span text)
{
    fl_buf spelt;

    fl_buf_init(&spelt, SPELT_MAX);
    if (fl_term_spell(&spelt, text) == FL_OK) {
        fl_span view = fl_buf_view(&spelt);
        fwrite(view.ptr, 1, view.len, file);
    }
    fl_buf_reset(&spelt);
}

void fl_term_put(const fl_term *term, fl_span text)
{
    if (text.len == 0)
        return;
    if (term->is_tty)
        put_spelt(term->file, text);
    else
        fwrite(text.ptr, 1, text.len, term->file);
}

void fl_term_say(const fl_term *term, fl_term_style style, const char *format,
                 ...)
{
    static const char *const codes[] = {"",         "\x1b[1m",  "\x1b[2m",
                                        "\x1b[31m", "\x1b[32m", "\x1b[33m"};
    bool paint = term->colour && style != FL_TERM_PLAIN;
    va_list args;

    if (paint)
        fputs(codes[style], term->file);
    va_start(args, format);
    vfprintf(term->file, format, args);
    va_end(args);
    if (paint)
        fputs("\x1b[0m", term->file);
}

size_t fl_term_columns(const fl_term *term)
{
    struct winsize size;

    if (ioctl(fileno(term->file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}
