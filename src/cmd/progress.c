/*
 * progress.c - how far a call is: a bar on a terminal, lines elsewhere.
 *
 * Drawing is apart from showing, so that it can be tested without a terminal.
 * A server may say anything: done beyond the total, numbers that are none,
 * messages with line ends. Bar and line are one line all the same.
 */
#include "cmd/progress.h"

#include "base/span.h"

#include <assert.h>
#include <math.h>

enum { BAR = 20, LINE_MAX = 4096 };

/* How many of BAR marks; whatever the server says, 0 to BAR. */
static int marks(double done, double total)
{
    double part = done / total * BAR;

    if (!(part > 0)) /* a NaN too */
        return 0;
    return part < BAR ? (int)part : BAR;
}

/* What `total` is when the server does not say. */
static bool is_unknown(double total)
{
    return !(total > 0) || !isfinite(total);
}

static fl_status count(fl_buf *out, double done, double total)
{
    return is_unknown(total) ? fl_buf_printf(out, "%.6g", done)
                             : fl_buf_printf(out, "%.6g/%.6g", done, total);
}

static fl_status draw_bar(fl_buf *out, double done, double total)
{
    static const char full[] = "####################";
    static const char empty[] = "--------------------";

    static_assert(sizeof full == BAR + 1 && sizeof empty == BAR + 1,
                  "as long as the bar");
    int n = marks(done, total);
    fl_status rc = is_unknown(total) ? FL_OK
                                     : fl_buf_printf(out, "[%.*s%.*s] ", n,
                                                     full, BAR - n, empty);
    return rc == FL_OK ? count(out, done, total) : rc;
}

/* As many letters of `text` as fit, without the line ends and tabs that
 * fl_term_spell() leaves. */
static fl_status append_cut(fl_buf *out, fl_span text, size_t columns)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; i < text.len && rc == FL_OK; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if ((byte & 0xc0) != 0x80 && columns-- == 0)
            break;
        rc = byte < 0x20 ? fl_buf_append(out, FL_SPAN(" "))
                         : fl_buf_append(out, (fl_span){text.ptr + i, 1});
    }
    return rc;
}

/* At most `max` bytes, whole letters only: spelt out they fit the buffer, and
 * no line is as wide. */
static fl_span shorten(fl_span text, size_t max)
{
    if (text.len <= max)
        return text;
    while (max > 0 && ((unsigned char)text.ptr[max] & 0xc0) == 0x80)
        max--;
    return (fl_span){text.ptr, max};
}

/* `text` holds what comes before the message. */
static fl_status finish(fl_buf *out, fl_buf *text, fl_span message,
                        size_t columns)
{
    fl_status rc = message.len > 0 ? fl_buf_append(text, FL_SPAN(" ")) : FL_OK;

    if (rc == FL_OK)
        rc = fl_term_spell(text, shorten(message, LINE_MAX / 8));
    return rc == FL_OK ? append_cut(out, fl_buf_view(text), columns) : rc;
}

fl_status fl_progress_draw(fl_buf *out, double done, double total,
                           fl_span message, size_t columns)
{
    fl_buf text;

    fl_buf_init(&text, LINE_MAX);
    fl_status rc = draw_bar(&text, done, total);
    if (rc == FL_OK)
        rc = finish(out, &text, message, columns);
    fl_buf_reset(&text);
    return rc;
}

fl_status fl_progress_line(fl_buf *out, double done, double total,
                           fl_span message)
{
    fl_buf text;

    fl_buf_init(&text, LINE_MAX);
    fl_status rc = fl_buf_append(&text, FL_SPAN("progress: "));
    if (rc == FL_OK)
        rc = count(&text, done, total);
    if (rc == FL_OK)
        rc = finish(out, &text, message, SIZE_MAX);
    fl_buf_reset(&text);
    return rc;
}

static void print_line(const fl_progress *progress, double done, double total,
                       fl_span message)
{
    fl_buf line;

    fl_buf_init(&line, LINE_MAX);
    if (fl_progress_line(&line, done, total, message) == FL_OK) {
        fl_span text = fl_buf_view(&line);
        fprintf(progress->term.file, "%.*s\n", (int)text.len, text.ptr);
        fflush(progress->term.file);
    }
    fl_buf_reset(&line);
}

void fl_progress_show(fl_progress *progress, double done, double total,
                      fl_span message)
{
    fl_buf line;

    if (!progress->term.is_tty) {
        if (progress->lines)
            print_line(progress, done, total, message);
        return;
    }
    fl_buf_init(&line, LINE_MAX);
    /* the last column stays free: a full line would wrap */
    if (fl_progress_draw(&line, done, total, message,
                         fl_term_columns(&progress->term) - 1) == FL_OK) {
        fl_span text = fl_buf_view(&line);
        fprintf(progress->term.file, "\r%.*s\x1b[K", (int)text.len, text.ptr);
        fflush(progress->term.file);
        progress->shown = true;
    }
    fl_buf_reset(&line);
}

void fl_progress_clear(fl_progress *progress)
{
    if (!progress->shown)
        return;
    fputs("\r\x1b[K", progress->term.file);
    fflush(progress->term.file);
    progress->shown = false;
}
