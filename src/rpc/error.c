/*
 * error.c - every error code we send, in one table.
 *
 * What the columns follow:
 *
 * HTTP, legacy revisions: a request that was understood is answered 200 and
 * carries the error in its body, which is what clients of those revisions
 * look at; a request that was not understood is refused with a 4xx. Overload
 * and size are told in the status too, for whoever stands in between.
 *
 * HTTP, 2026-07-28: 404 for an unknown method and 400 for what is wrong with
 * _meta, headers, capabilities and versions are its words ("Streamable HTTP,
 * Request Metadata"; "Base, _meta"). Where it names no status, the general one
 * of RFC 9110 is taken. The column is for requests that do not get as far as
 * their method: what a method finds wrong is an answer like any other, and
 * leaves with 200 (fl_return_error, in server/return.c). It forbids codes that
 * earlier revisions used (-32002, -32042) and advises against -32000 to -32019:
 * senders put a code of that revision in their place, and the column holds the
 * status that goes with it.
 *
 * WebSocket: an error answers one request and leaves the connection to all
 * the others on it. That includes a parse error, for frames keep their bounds
 * whatever is in them, and being busy: it is the request that was turned
 * away, and closing 1013 is for an endpoint that takes no connection at all.
 * Only a message too large ends the connection (RFC 6455 7.4.1, 1009): to
 * read past it would be to receive what was refused.
 */
#include "rpc/error.h"

#include "base/span.h"
#include "json/write.h"

static const fl_rpc_error table[] = {
    {FL_RPC_PARSE_ERROR, "parse_error", "Parse error", 400, 400, 0},
    {FL_RPC_INVALID_REQUEST, "invalid_request", "Invalid request", 400, 400, 0},
    {FL_RPC_METHOD_NOT_FOUND, "method_not_found", "Method not found", 200, 404,
     0},
    {FL_RPC_INVALID_PARAMS, "invalid_params", "Invalid params", 200, 400, 0},
    {FL_RPC_INTERNAL_ERROR, "internal_error", "Internal error", 200, 500, 0},
    {FL_RPC_CONNECTION_CLOSED, "connection_closed", "Connection closed", 200,
     502, 0},
    {FL_RPC_REQUEST_TIMEOUT, "request_timeout", "Request timed out", 200, 504,
     0},
    {FL_RPC_RESOURCE_NOT_FOUND, "resource_not_found", "Resource not found", 200,
     400, 0},
    {FL_RPC_BUSY, "busy", "Too many requests in flight, try again", 503, 503,
     0},
    {FL_RPC_MESSAGE_TOO_LARGE, "message_too_large", "Message too large", 413,
     413, 1009},
    {FL_RPC_HEADER_MISMATCH, "header_mismatch",
     "HTTP headers do not match the message", 400, 400, 0},
    {FL_RPC_MISSING_CAPABILITY, "missing_capability",
     "A required client capability was not declared", 400, 400, 0},
    {FL_RPC_UNSUPPORTED_VERSION, "unsupported_version",
     "Unsupported protocol version", 400, 400, 0},
    {FL_RPC_URL_ELICITATION_REQUIRED, "url_elicitation_required",
     "URL elicitation required", 200, 400, 0},
    {0},
};

const fl_rpc_error *fl_rpc_error_table(void)
{
    return table;
}

const fl_rpc_error *fl_rpc_error_find(int code)
{
    const fl_rpc_error *general = table;

    for (const fl_rpc_error *row = table; row->code != 0; row++) {
        if (row->code == code)
            return row;
        if (row->code == FL_RPC_INTERNAL_ERROR)
            general = row;
    }
    return general;
}

int fl_rpc_error_modern(int code)
{
    enum { RESERVED_LAST = -32099 };

    if (code == FL_RPC_RESOURCE_NOT_FOUND)
        return FL_RPC_INVALID_PARAMS;
    if (code == FL_RPC_MESSAGE_TOO_LARGE)
        return FL_RPC_INVALID_REQUEST;
    if (code == FL_RPC_BUSY)
        return FL_RPC_INTERNAL_ERROR;
    if (code < FL_RPC_UNSUPPORTED_VERSION && code >= RESERVED_LAST)
        return FL_RPC_INTERNAL_ERROR;
    return code;
}

static void write_error(fl_json_writer *writer, int code, fl_span message,
                        fl_span data)
{
    fl_json_object(writer);
    fl_json_key(writer, "code");
    fl_json_integer(writer, code);
    fl_json_key(writer, "message");
    fl_json_text(writer, message);
    if (data.len > 0) {
        fl_json_key(writer, "data");
        fl_json_raw(writer, data);
    }
    fl_json_object_end(writer);
}

fl_status fl_rpc_error_write(fl_buf *out, fl_span id, int code, fl_span message,
                             fl_span data)
{
    fl_json_writer writer;
    size_t before = fl_buf_len(out);

    if (message.len == 0)
        message = fl_span_of(fl_rpc_error_find(code)->message);
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "jsonrpc");
    fl_json_string(&writer, "2.0");
    fl_json_key(&writer, "id");
    fl_json_raw(&writer, id.len > 0 ? id : FL_SPAN("null"));
    fl_json_key(&writer, "error");
    write_error(&writer, code, message, data);
    fl_json_object_end(&writer);

    fl_status rc = fl_json_writer_end(&writer);
    if (rc != FL_OK) /* half an answer is worse than none */
        fl_buf_truncate(out, before);
    return rc;
}
