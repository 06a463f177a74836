/*
 * error.h - every error code we send, with its HTTP status and WebSocket
 * close code, in one table.
 *
 * Legacy revisions answer a request that was understood with HTTP 200 and the
 * error in the body; 2026-07-28 maps codes to statuses. A close code of 0
 * means that the error does not end a connection.
 */
#ifndef FL_RPC_ERROR_H
#define FL_RPC_ERROR_H

#include "base/buf.h"

enum {
    FL_RPC_PARSE_ERROR = -32700,
    FL_RPC_INVALID_REQUEST = -32600,
    FL_RPC_METHOD_NOT_FOUND = -32601,
    FL_RPC_INVALID_PARAMS = -32602,
    FL_RPC_INTERNAL_ERROR = -32603,
    FL_RPC_CONNECTION_CLOSED = -32000,  /* made locally: the link went */
    FL_RPC_REQUEST_TIMEOUT = -32001,    /* made locally, as the SDKs do */
    FL_RPC_RESOURCE_NOT_FOUND = -32002, /* legacy */
    FL_RPC_BUSY = -32010,               /* too much in flight, try again */
    FL_RPC_MESSAGE_TOO_LARGE = -32012,  /* legacy; -32600 in 2026-07-28 */
    FL_RPC_HEADER_MISMATCH = -32020,    /* 2026-07-28 from here on */
    FL_RPC_MISSING_CAPABILITY = -32021,
    FL_RPC_UNSUPPORTED_VERSION = -32022,
    FL_RPC_URL_ELICITATION_REQUIRED = -32042, /* 2025-11-25 */
};

typedef struct fl_rpc_error {
    int code;
    const char *name;    /* "message_too_large", for logs and metrics */
    const char *message; /* what the peer reads */
    uint16_t http_legacy;
    uint16_t http_modern;
    uint16_t close_code; /* RFC 6455 7.4 */
} fl_rpc_error;

/* The row of `code`; codes not in the table get that of -32603. */
const fl_rpc_error *fl_rpc_error_find(int code);

/* The code 2026-07-28 has for what legacy revisions say with `code`; most are
 * the same. What it reserves and does not define is an internal error. */
int fl_rpc_error_modern(int code);

/* The whole table, for documentation and tests; ends with code 0. */
const fl_rpc_error *fl_rpc_error_table(void);

/*
 * Appends an error response. `id` is a raw token, empty means null. `message`
 * empty means the table's. `data` is JSON, or empty for none. Texts are
 * escaped; nothing of the caller's memory or paths is added.
 */
FL_MUST_USE fl_status fl_rpc_error_write(fl_buf *out, fl_span id, int code,
                                         fl_span message, fl_span data);

#endif
