/*
 * fuzz_lines.c - the cutter against a splitter too simple to be wrong.
 *
 * The first bytes of the input choose the mode, the limit and how the rest is
 * chopped. Both sides keep a running digest of what they saw.
 */
#include "base/span.h"
#include "wire/lines.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KIND_LINE = 1, KIND_REST = 2, KIND_TOO_BIG = 3 };

/* FNV-1a over kinds, lengths and bytes. */
static void digest(uint64_t *sum, int kind, fl_span line)
{
    *sum = (*sum ^ (unsigned)kind) * 0x100000001b3u;
    *sum = (*sum ^ line.len) * 0x100000001b3u;
    for (size_t i = 0; i < line.len; i++)
        *sum = (*sum ^ (unsigned char)line.ptr[i]) * 0x100000001b3u;
}

static void take(uint64_t *sum, fl_status rc, int kind, fl_span line)
{
    if (rc != FL_OK && rc != FL_E_TOO_BIG && rc != FL_E_NOMEM)
        abort();
    digest(sum, rc == FL_OK ? kind : KIND_TOO_BIG, line);
}

static void feed(fl_lines *lines, fl_span piece, uint64_t *sum)
{
    char *copy = malloc(piece.len); /* exact, so ASan sees any overrun */
    fl_span in = {copy, piece.len}, line;
    fl_status rc;

    if (copy == NULL)
        abort();
    memcpy(copy, piece.ptr, piece.len);
    while ((rc = fl_lines_next(lines, &in, &line)) != FL_AGAIN)
        take(sum, rc, KIND_LINE, line);
    if (in.len != 0)
        abort();
    fl_lines_rest(lines);
    free(copy);
}

static uint64_t cut(fl_lines_ends ends, size_t max, fl_span text, unsigned chop)
{
    uint64_t sum = 0;
    fl_lines lines;
    fl_span line;

    fl_lines_init(&lines, ends, max);
    while (text.len > 0) {
        chop = chop * 1103515245u + 12345u;
        size_t n = 1 + (chop >> 16) % (chop >> 31 ? 4 : 60);
        n = n < text.len ? n : text.len;
        feed(&lines, (fl_span){text.ptr, n}, &sum);
        if (lines.cap > max + 1)
            abort();
        text = fl_span_from(text, n);
    }
    fl_status rc = fl_lines_finish(&lines, &line);
    if (rc != FL_END)
        take(&sum, rc, KIND_REST, line);
    fl_lines_deinit(&lines);
    return sum;
}

static uint64_t split(fl_lines_ends ends, size_t max, fl_span text)
{
    uint64_t sum = 0;
    size_t from = 0;

    for (size_t i = 0; i <= text.len; i++) {
        bool any = ends == FL_LINES_ANY, ended = i < text.len;
        char byte = ended ? text.ptr[i] : '\n';
        if (byte != '\n' && !(any && byte == '\r'))
            continue;
        if (!ended && i == from)
            break;
        fl_span line = {text.ptr + from, i - from};
        if (!any && line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (line.len > max)
            digest(&sum, KIND_TOO_BIG, (fl_span){0});
        else
            digest(&sum, ended ? KIND_LINE : KIND_REST, line);
        if (any && byte == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n')
            i++;
        from = i + 1;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;

    fl_lines_ends ends = data[0] % 2 == 0 ? FL_LINES_LF : FL_LINES_ANY;
    size_t max = 1 + data[1] + (data[0] & 2 ? 600u : 0u);
    unsigned chop = data[2] * 256u + data[3];
    fl_span text = {(const char *)data + 4, size - 4};

    if (cut(ends, max, text, chop) != split(ends, max, text))
        abort();
    return 0;
}
