/*
 * last_words.c - the last lines that a child wrote to its stderr.
 *
 * One text of whole lines: the newest is appended, the oldest are cut off. It
 * holds 4 KiB, so moving it costs less than anything cleverer would.
 */
#include "transport/last_words.h"

#include "base/log_mask.h"
#include "base/span.h"

_Static_assert((int)FL_LOG_VALUE < (int)FL_LAST_WORDS_BYTES, "a line fits");

void fl_last_words_init(fl_last_words *words)
{
    fl_buf_init(&words->text, FL_LAST_WORDS_BYTES);
    words->lines = 0;
}

void fl_last_words_deinit(fl_last_words *words)
{
    fl_buf_reset(&words->text);
    words->lines = 0;
}

/* The first line of `text`, without its end; there is one. */
static fl_span first_of(fl_span text)
{
    return (fl_span){text.ptr, fl_span_find(text, '\n')};
}

static void forget_oldest(fl_last_words *words)
{
    fl_span line = first_of(fl_buf_view(&words->text));

    fl_buf_consume(&words->text, line.len + 1);
    words->lines--;
}

void fl_last_words_add(fl_last_words *words, fl_span line)
{
    char shown[FL_LOG_VALUE + 1];
    fl_span masked = fl_log_mask(line, NULL, shown);

    for (size_t i = 0; i < masked.len; i++)
        if (shown[i] == '\n') /* a line is one line */
            shown[i] = ' ';
    shown[masked.len] = '\n';
    while (words->lines > 0 && (words->lines == FL_LAST_WORDS_LINES ||
                                fl_buf_room(&words->text) <= masked.len))
        forget_oldest(words);
    if (fl_buf_append(&words->text, (fl_span){shown, masked.len + 1}) == FL_OK)
        words->lines++;
}

fl_span fl_last_words_latest(const fl_last_words *words)
{
    fl_span text = fl_buf_view(&words->text);
    fl_span line = {0};

    while (text.len > 0) {
        line = first_of(text);
        text = fl_span_from(text, line.len + 1);
    }
    return line;
}

fl_span fl_last_words_view(const fl_last_words *words)
{
    return fl_buf_view(&words->text);
}
