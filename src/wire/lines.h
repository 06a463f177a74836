/*
 * lines.h - cut a stream of bytes into lines.
 *
 * stdio and TCP carry one JSON-RPC message per line, and SSE is made of
 * lines, so three transports share this one cutter. It does no I/O, makes no
 * upcalls and keeps no pointer to the caller's bytes. The caller pulls:
 *
 *     fl_span in = {data, nread}, line;
 *     while ((rc = fl_lines_next(&lines, &in, &line)) != FL_AGAIN)
 *         if (rc == FL_OK) take_message(line); else report(rc);
 *     fl_lines_rest(&lines);
 *
 * Blank lines come out like any other: to SSE they mean something, to the
 * message transports they do not. Whether a line is text is not asked here
 * either; whoever reads it asks on the way.
 */
#ifndef FL_WIRE_LINES_H
#define FL_WIRE_LINES_H

#include <fairlead/types.h>

typedef enum fl_lines_ends {
    FL_LINES_LF,  /* LF or CRLF; a lone CR is a byte like any other */
    FL_LINES_ANY, /* LF, CRLF or CR: messages, and the SSE grammar */
} fl_lines_ends;

/* Owned by whoever embeds it. Fields are private to lines.c. */
typedef struct fl_lines {
    char *buf; /* the start of a line whose end has not come yet */
    size_t len;
    size_t cap;
    size_t max;
    fl_lines_ends ends;
    bool eat_lf;   /* the last line ended in CR; an LF now belongs to it */
    bool skipping; /* the line in hand was given up; drop it to its end */
} fl_lines;

/* Allocates nothing. `max` bounds a line without its terminator. */
void fl_lines_init(fl_lines *lines, fl_lines_ends ends, size_t max);

/* Frees what `lines` holds and leaves it zeroed. */
void fl_lines_deinit(fl_lines *lines);

/*
 * Takes the next line off the front of `in`, which moves past it.
 *
 * FL_OK          `line` is whole, without its terminator. It borrows from `in`
 *                or from `lines`: use it before the next call and before the
 *                bytes behind `in` go.
 * FL_AGAIN       `in` is used up; call again with the bytes that follow it.
 * FL_E_TOO_BIG   The line is lost, and `line` is empty.
 * FL_E_NOMEM     Likewise.
 *
 * A failure is told once and costs one line: the next call carries on after
 * it, so one bad message does not end a stream that many callers share.
 */
FL_MUST_USE fl_status fl_lines_next(fl_lines *lines, fl_span *in,
                                    fl_span *line);

/* At end of stream: the unterminated rest as for _next, or FL_END if none. */
FL_MUST_USE fl_status fl_lines_finish(fl_lines *lines, fl_span *line);

/*
 * Between two reads, when no `line` is in use any more: gives the memory back
 * unless it holds the start of a line, so that an idle stream holds none.
 */
void fl_lines_rest(fl_lines *lines);

/* The start of a line whose end has not come yet; good until the next call.
 * Empty if there is none, or it was given up. */
fl_span fl_lines_held(const fl_lines *lines);

/* How many bytes come before the first LF or CR; in.len if there is none. */
size_t fl_lines_find_end(fl_span in);

#endif
