/*
 * socket.c - the table rows of TCP (with TLS) and Unix sockets.
 *
 * Both are the same lines over the same streams; the io room knows the
 * difference, and the peer's certificate is the one thing only TLS can tell.
 */
#include "transport/socket.h"

#include "base/buf.h"
#include "base/span.h"
#include "transport/line_link.h"

#include <string.h>

static fl_status operate(fl_link *link, const char *operation, fl_buf *answer)
{
    const fl_line_link *line = (const fl_line_link *)link;
    char subject[512];

    if (strcmp(operation, "peer-subject") != 0)
        return FL_E_UNSUPPORTED;
    if (line->stream == NULL ||
        !fl_stream_peer_subject(line->stream, subject, sizeof subject))
        return FL_E_NOT_FOUND;
    return fl_buf_append(answer, fl_span_of(subject));
}

#define SOCKET_ROW(kind, scheme_list, shape, more_traits)                      \
    {                                                                          \
        .name = (kind), .schemes = (scheme_list), .address = (shape),          \
        .traits = FL_LINK_CHANNEL | FL_LINK_RECONNECTS | (more_traits),        \
        .listen = fl_socket_listen, .connect = fl_socket_connect,              \
        .close_listener = fl_socket_close_listener, .send = fl_line_link_send, \
        .answer = fl_line_link_answer, .close = fl_line_link_close,            \
        .free = fl_line_link_free, .info = fl_line_link_info,                  \
        .operate = operate, .released = fl_line_link_released,                 \
    }

static const char *const tcp_schemes[] = {"tcp", "tls", NULL};
static const char *const unix_schemes[] = {"unix", NULL};

extern const fl_transport fl_transport_tcp, fl_transport_unix;

const fl_transport fl_transport_tcp =
    SOCKET_ROW("tcp", tcp_schemes, FL_ADDRESS_HOST, FL_LINK_NETWORK);
const fl_transport fl_transport_unix =
    SOCKET_ROW("unix", unix_schemes, FL_ADDRESS_PATH, 0);

const fl_transport *fl_socket_transport(const fl_address *address)
{
    return strcmp(address->scheme, "unix") == 0 ? &fl_transport_unix
                                                : &fl_transport_tcp;
}
