/*
 * http1_head.h - the head of an HTTP/1.1 message, read strictly (RFC 9112).
 *
 * What two readers of one message could understand in two ways is refused, not
 * repaired: that difference is what request smuggling lives on. Pure: no
 * allocation but fl_http1_head_keep(), no upcalls. The caller pulls:
 *
 *     fl_http1_mark mark = {0};
 *     rc = fl_http1_head_read(&message, &mark, kind, limits, bytes);
 */
#ifndef FL_WIRE_HTTP1_HEAD_H
#define FL_WIRE_HTTP1_HEAD_H

#include "wire/http.h"

typedef enum fl_http1_kind {
    FL_HTTP1_REQUEST,
    FL_HTTP1_RESPONSE
} fl_http1_kind;

enum { FL_HTTP1_METHOD_MAX = 32 };

/* What is wrong, and the status to say so with. The text is static. */
typedef struct fl_http1_fault {
    unsigned status;
    const char *what;
} fl_http1_fault;

/* How far a head that comes in pieces has been read; zeroes to begin with. */
typedef struct fl_http1_mark {
    size_t line;    /* where the line in hand starts */
    unsigned count; /* of fields before it */
    bool begun;     /* the start line has been read */
} fl_http1_mark;

/* Large: for the stack, and not to be zeroed. */
typedef struct fl_http1_message {
    fl_head head;    /* borrows from the bytes; `fields` is the array below */
    size_t size;     /* of its text, the empty line included */
    bool chunked;    /* the body is */
    bool keep_alive; /* the sender is ready for more on this connection */
    bool expects;    /* "100-continue" */
    bool twice;      /* a field that may occur once did not */
    fl_http1_fault fault;
    fl_field fields[FL_HTTP_FIELDS_MAX];
} fl_http1_message;

/*
 * Reads a head from the start of `bytes`, which holds all of it that has come.
 *
 * FL_OK             It is whole; `message` is filled.
 * FL_AGAIN          Call again with the same bytes, wherever they have moved
 *                   to, and more after them: lines are not read twice.
 * FL_E_BAD_MESSAGE  See message->fault.
 *
 * How the bytes were cut makes no difference to the verdict, nor does what is
 * recalled of heads before (limits->recall).
 */
FL_MUST_USE fl_status fl_http1_head_read(fl_http1_message *message,
                                         fl_http1_mark *mark,
                                         fl_http1_kind kind,
                                         const fl_http_limits *limits,
                                         fl_span bytes);

/* Notes where to find the field at `index`, which has been read. */
void fl_http1_head_note(fl_http1_message *message, unsigned index);

/* A head with its fields and text in one block of its own. */
typedef struct fl_http1_kept {
    size_t size;
    fl_head head;
    fl_field fields[];
} fl_http1_kept;

/* `text` is what `message` was read from. NULL: no memory. fl_mem_free() it. */
FL_MUST_USE fl_http1_kept *fl_http1_head_keep(const fl_http1_message *message,
                                              fl_span text);

#endif
