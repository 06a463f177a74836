/*
 * json-check.c - is this JSON? One text on stdin; 0 accepted, 1 refused.
 *
 * The interface of the parser comparisons that go with JSONTestSuite. At most
 * 16 MiB are read: a longer text is refused without being held.
 */
#include "base/buf.h"
#include "json/scan.h"

#include <stdio.h>
#include <unistd.h>

enum { LIMIT = 16 << 20, PIECE = 64 << 10 };

/* One byte past the limit tells a text that is too long from one that fits. */
static fl_status read_all(int fd, fl_buf *text)
{
    while (fl_buf_len(text) <= LIMIT) {
        size_t left = LIMIT + 1 - fl_buf_len(text);
        size_t size = left < PIECE ? left : PIECE;
        char *room = fl_buf_reserve(text, size);
        if (room == NULL)
            return FL_E_NOMEM;
        ssize_t got = read(fd, room, size);
        if (got < 0)
            return FL_E_IO;
        if (got == 0)
            return FL_OK;
        fl_buf_commit(text, (size_t)got);
    }
    return FL_E_TOO_BIG;
}

int main(void)
{
    fl_json_top top;
    fl_buf text;
    size_t at = 0;

    fl_buf_init(&text, LIMIT + 1);
    fl_status rc = read_all(STDIN_FILENO, &text);
    if (rc == FL_OK)
        rc = fl_json_scan(fl_buf_view(&text), 0, &top, &at);
    if (rc != FL_OK)
        fprintf(stderr, "%s, at byte %zu\n", fl_status_text(rc), at);
    fl_buf_reset(&text);
    return rc == FL_OK ? 0 : 1;
}
