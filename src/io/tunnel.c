/*
 * tunnel.c - a way through an HTTP proxy (RFC 9110 9.3.6).
 *
 * The one piece of HTTP in this room, and as little of it as will do: a head
 * that was made elsewhere is sent, and the answer is read up to its empty line
 * for nothing but its status. A 2xx has no body, so that what follows belongs
 * to the server behind the proxy; there must be nothing, for the client speaks
 * first in TLS, and in HTTP.
 *
 * The request goes out past the stream's buffer, in which the bytes of the
 * stream's owner may be waiting. It is the first thing on a new connection:
 * the system takes it whole, or something is very wrong.
 */
#include "io/tunnel.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/uv_status.h"

#include <string.h>

enum { ANSWER_MAX = 16 * 1024 };

struct fl_tunnel {
    fl_buf answer;
    char request[];
};

fl_status fl_tunnel_add(fl_stream *stream, const char *request)
{
    size_t size = strlen(request) + 1;
    fl_tunnel *tunnel = fl_mem_zalloc(sizeof *tunnel + size);

    if (tunnel == NULL)
        return FL_E_NOMEM;
    memcpy(tunnel->request, request, size);
    fl_buf_init(&tunnel->answer, ANSWER_MAX);
    stream->tunnel = tunnel;
    return FL_OK;
}

void fl_tunnel_free(fl_tunnel *tunnel)
{
    if (tunnel == NULL)
        return;
    fl_buf_reset(&tunnel->answer);
    fl_mem_wipe(tunnel->request, strlen(tunnel->request)); /* credentials */
    fl_mem_free(tunnel);
}

static void refuse(fl_stream *stream, fl_status status, const char *what)
{
    fl_error error;

    fl_error_set(&error, status, "proxy: %s", what);
    fl_stream_break(stream, &error);
}

void fl_tunnel_begin(fl_stream *stream)
{
    fl_span request = fl_span_of(stream->tunnel->request);
    ssize_t taken = fl_stream_give(stream, request);

    if (taken < 0)
        fl_stream_fail(stream, "proxy: write", (int)taken);
    else if ((size_t)taken < request.len)
        refuse(stream, FL_E_IO, "it does not take our request");
}

/* Where the head in `text` ends, empty line included; 0: not yet. */
static size_t head_end(fl_span text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.ptr[i] != '\n')
            continue;
        if (text.ptr[i + 1] == '\n')
            return i + 2;
        if (text.ptr[i + 1] == '\r' && i + 2 < text.len &&
            text.ptr[i + 2] == '\n')
            return i + 3;
    }
    return 0;
}

/* "HTTP/1.1 200 ..." */
static bool says_yes(fl_span head)
{
    return head.len > 12 && fl_span_starts(head, FL_SPAN("HTTP/1.")) &&
           head.ptr[8] == ' ' && head.ptr[9] == '2';
}

static void judge(fl_stream *stream, fl_span head)
{
    size_t line = fl_span_find(head, '\r');
    fl_error error;

    if (fl_span_find(head, '\n') < line)
        line = fl_span_find(head, '\n');
    if (!fl_span_starts(head, FL_SPAN("HTTP/1."))) {
        refuse(stream, FL_E_IO, "its answer is not HTTP");
        return;
    }
    fl_error_set(&error, FL_E_REFUSED, "proxy: it answered '%.*s'",
                 (int)(line < 120 ? line : 120), head.ptr);
    fl_stream_break(stream, &error);
}

static void open_up(fl_stream *stream)
{
    fl_tunnel_free(stream->tunnel);
    stream->tunnel = NULL;
    fl_stream_arrived(stream);
}

void fl_tunnel_feed(fl_stream *stream, fl_span raw)
{
    fl_buf *answer = &stream->tunnel->answer;
    fl_status rc = fl_buf_append(answer, raw);

    if (rc != FL_OK) {
        refuse(stream, rc, "its answer is too long");
        return;
    }
    fl_span text = fl_buf_view(answer);
    size_t end = head_end(text);
    if (end == 0)
        return;
    if (!says_yes(text))
        judge(stream, text);
    else if (end < text.len)
        refuse(stream, FL_E_IO, "it speaks before the server does");
    else
        open_up(stream);
}

void fl_tunnel_at_eof(fl_stream *stream)
{
    refuse(stream, FL_E_CLOSED, "it closed the connection");
}

size_t fl_tunnel_memory(const fl_tunnel *tunnel)
{
    return tunnel != NULL ? sizeof *tunnel + strlen(tunnel->request) + 1 +
                                tunnel->answer.cap
                          : 0;
}
