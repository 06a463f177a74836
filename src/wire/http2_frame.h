/*
 * http2_frame.h - the words of HTTP/2 (RFC 9113 6, 7 and 11), and the nine
 * bytes that every frame begins with.
 */
#ifndef FL_WIRE_HTTP2_FRAME_H
#define FL_WIRE_HTTP2_FRAME_H

#include <fairlead/types.h>

/* What a client says first (3.4). */
#define FL_HTTP2_PREFACE_TEXT "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

enum {
    FL_HTTP2_PREFACE = sizeof FL_HTTP2_PREFACE_TEXT - 1,
    FL_HTTP2_HEAD = 9,
    FL_HTTP2_FRAME_MAX = 16384, /* payload, unless a peer takes more */
    FL_HTTP2_WINDOW = 65535,    /* that everything begins with */
};

/* Numbers have 31 bits at most: of streams, windows and sizes. */
#define FL_HTTP2_MAX 0x7fffffff

typedef enum fl_http2_type {
    FL_HTTP2_DATA,
    FL_HTTP2_HEADERS,
    FL_HTTP2_PRIORITY,
    FL_HTTP2_RST_STREAM,
    FL_HTTP2_SETTINGS,
    FL_HTTP2_PUSH_PROMISE,
    FL_HTTP2_PING,
    FL_HTTP2_GOAWAY,
    FL_HTTP2_WINDOW_UPDATE,
    FL_HTTP2_CONTINUATION,
    FL_HTTP2_TYPES, /* how many there are */
} fl_http2_type;

enum {
    FL_HTTP2_ACK = 0x01,        /* SETTINGS, PING */
    FL_HTTP2_END_STREAM = 0x01, /* DATA, HEADERS */
    FL_HTTP2_END_HEADERS = 0x04,
    FL_HTTP2_PADDED = 0x08,
    FL_HTTP2_PRIORITIZED = 0x20,
};

typedef enum fl_http2_setting {
    FL_HTTP2_HEADER_TABLE_SIZE = 1,
    FL_HTTP2_ENABLE_PUSH = 2,
    FL_HTTP2_MAX_CONCURRENT_STREAMS = 3,
    FL_HTTP2_INITIAL_WINDOW_SIZE = 4,
    FL_HTTP2_MAX_FRAME_SIZE = 5,
    FL_HTTP2_MAX_HEADER_LIST_SIZE = 6,
    FL_HTTP2_ENABLE_CONNECT_PROTOCOL = 8, /* RFC 8441 */
    FL_HTTP2_NO_RFC7540_PRIORITIES = 9,   /* RFC 9218 */
} fl_http2_setting;

#define FL_HTTP2_ERROR_MAP(X)                                                  \
    X(NO_ERROR, 0)                                                             \
    X(PROTOCOL_ERROR, 1)                                                       \
    X(INTERNAL_ERROR, 2)                                                       \
    X(FLOW_CONTROL_ERROR, 3)                                                   \
    X(SETTINGS_TIMEOUT, 4)                                                     \
    X(STREAM_CLOSED, 5)                                                        \
    X(FRAME_SIZE_ERROR, 6)                                                     \
    X(REFUSED_STREAM, 7)                                                       \
    X(CANCEL, 8)                                                               \
    X(COMPRESSION_ERROR, 9)                                                    \
    X(CONNECT_ERROR, 10)                                                       \
    X(ENHANCE_YOUR_CALM, 11)                                                   \
    X(INADEQUATE_SECURITY, 12)                                                 \
    X(HTTP_1_1_REQUIRED, 13)

typedef enum fl_http2_error {
#define FL_HTTP2_ERROR_ENUM(name, code) FL_HTTP2_##name = (code),
    FL_HTTP2_ERROR_MAP(FL_HTTP2_ERROR_ENUM)
#undef FL_HTTP2_ERROR_ENUM
} fl_http2_error;

typedef struct fl_http2_frame {
    uint32_t length; /* of the payload */
    uint32_t stream;
    uint8_t type; /* perhaps none that we know */
    uint8_t flags;
} fl_http2_frame;

static inline uint32_t fl_http2_get32(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;

    return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 |
           (uint32_t)byte[2] << 8 | byte[3];
}

static inline char *fl_http2_put32(char *to, uint32_t number)
{
    to[0] = (char)(number >> 24);
    to[1] = (char)(number >> 16);
    to[2] = (char)(number >> 8);
    to[3] = (char)number;
    return to + 4;
}

/* A reserved bit is nobody's business (4.1). */
static inline uint32_t fl_http2_get31(const char *at)
{
    return fl_http2_get32(at) & FL_HTTP2_MAX;
}

static inline fl_http2_frame fl_http2_get_head(const char *at)
{
    return (fl_http2_frame){
        .length = fl_http2_get32(at) >> 8,
        .type = (uint8_t)at[3],
        .flags = (uint8_t)at[4],
        .stream = fl_http2_get31(at + 5),
    };
}

static inline char *fl_http2_put_head(char *to, size_t length,
                                      fl_http2_type type, unsigned flags,
                                      uint32_t stream)
{
    to = fl_http2_put32(to, (uint32_t)length << 8 | (uint32_t)type);
    *to++ = (char)flags;
    return fl_http2_put32(to, stream);
}

#endif
