/*
 * msg.h - the JSON-RPC 2.0 envelope, read without a copy.
 *
 * An fl_msg is a view: it borrows the text it was read from and says what the
 * message is and where its parts lie. One pass over the bytes validates JSON
 * and UTF-8 and finds the parts; nothing is allocated. Ids stay raw tokens:
 * "1" is not 1, a number may have any width, and both are echoed byte for
 * byte. Swapping an id is a splice of three slices, not a re-serialisation.
 */
#ifndef FL_RPC_MSG_H
#define FL_RPC_MSG_H

#include "rpc/params.h"

typedef enum fl_msg_kind {
    FL_MSG_INVALID,
    FL_MSG_REQUEST,
    FL_MSG_NOTIFICATION,
    FL_MSG_RESULT, /* a response that succeeded */
    FL_MSG_ERROR,  /* a response that failed */
    FL_MSG_BATCH,  /* an array: revision 2025-03-26 alone has these */
} fl_msg_kind;

/* Raw slices of the text; an absent member is an empty span. */
typedef struct fl_msg {
    fl_msg_kind kind;
    fl_span text;   /* without white space around it */
    fl_span id;     /* the token, quotes included */
    fl_span method; /* without its quotes, escapes not undone */
    fl_span params;
    fl_span result;
    fl_span error;
    fl_params inner; /* of params, in a request or notification */
} fl_msg;

/* Why a text is no message, in the words of the answer to its sender. */
typedef struct fl_msg_fault {
    int code;         /* -32700 or -32600 */
    const char *what; /* static text: "not valid JSON", "id must be ..." */
    size_t at;        /* offset of the offending byte, for -32700 */
} fl_msg_fault;

/*
 * FL_OK, or what fl_json_scan() says (code -32700), or FL_E_BAD_MESSAGE
 * (-32600): jsonrpc other than "2.0", an id that is not a string or a number
 * (null is allowed in an error response only), a method that is no string,
 * params that are neither object nor array, both or neither of result and
 * error, an error without an integer code and a string message, an empty
 * batch, or one of these members given twice.
 *
 * On failure kind is FL_MSG_INVALID, and `id` is still set if one was found
 * that an answer can carry; `result` and `error` too, for a bad response must
 * be told from a bad request: it is not answered. Members of other names pass
 * untouched. The elements of a batch are not looked at: walk them and read
 * each.
 */
FL_MUST_USE fl_status fl_msg_read(fl_span text, fl_msg *msg,
                                  fl_msg_fault *fault);

/* Compares what the method means; escapes are undone if there are any. */
bool fl_msg_method_is(const fl_msg *msg, fl_span method);

/* The message with another id, as three slices to send one after the other.
 * `id` is a raw token, and the message must have one. */
void fl_msg_splice_id(const fl_msg *msg, fl_span id, fl_span parts[3]);

/* The same with its progress token replaced, too, if it has one: up to
 * FL_MSG_RENUMBERED slices, and how many. */
enum { FL_MSG_RENUMBERED = 5 };
size_t fl_msg_renumber(const fl_msg *msg, fl_span id,
                       fl_span parts[FL_MSG_RENUMBERED]);

/* The view of those slices when they lie one after the other at `text`: what
 * reading them would find, without reading them. */
void fl_msg_renumbered(const fl_msg *msg, fl_span id, const char *text,
                       fl_msg *view);

/* Copies the text to `room`, which has msg->text.len bytes, and the view of it:
 * the copy borrows from there. */
void fl_msg_copy(const fl_msg *msg, char *room, fl_msg *copy);

/* Two raw id tokens name the same request: same type, same meaning. Numbers
 * are compared as text, strings with escapes undone. */
bool fl_msg_id_equal(fl_span a, fl_span b);

#endif
