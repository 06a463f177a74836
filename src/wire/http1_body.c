/*
 * http1_body.c - where the body of an HTTP/1.1 message ends.
 *
 * What stands between the chunks is read a byte at a time by a small machine,
 * for it is short, and may be cut anywhere. The machine is stricter than the
 * RFC: no white space next to a chunk's size, at most sixteen digits, and
 * extensions are read by their grammar and counted, so that they can neither
 * hide a line end nor be most of what a peer sends. Trailers obey the rules
 * of fields, and are dropped.
 */
#include "wire/http1_body.h"

#include "base/span.h"
#include "wire/bytes.h"

enum { SIZE_DIGITS = 16 };

typedef enum state {
    DONE,
    BROKEN,
    LENGTH,
    ENDLESS,
    SIZE_FIRST, /* the first digit of a chunk's size must come */
    SIZE,
    EXT_NAME_FIRST,
    EXT_NAME,
    EXT_VALUE_FIRST,
    EXT_VALUE,
    EXT_QUOTED,
    EXT_ESCAPED,
    EXT_END, /* after a quoted value */
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    LINE, /* a trailer, or the empty line */
    NAME,
    VALUE,
    VALUE_LF,
    LAST_LF,
} state;

void fl_http1_body_none(fl_http1_body *body)
{
    *body = (fl_http1_body){.state = DONE};
}

void fl_http1_body_length(fl_http1_body *body, uint64_t length)
{
    *body =
        (fl_http1_body){.left = length, .state = length > 0 ? LENGTH : DONE};
}

void fl_http1_body_chunked(fl_http1_body *body, const fl_http_limits *limits)
{
    *body = (fl_http1_body){
        .state = SIZE_FIRST,
        .room = limits->max_head < UINT32_MAX ? (uint32_t)limits->max_head
                                              : UINT32_MAX,
        .fields = (uint16_t)limits->max_fields,
    };
}

void fl_http1_body_endless(fl_http1_body *body)
{
    *body = (fl_http1_body){.state = ENDLESS};
}

static state refuse(fl_http1_body *body, const char *what)
{
    body->what = what;
    return BROKEN;
}

static int hex_value(char byte)
{
    if (fl_bytes_is_digit(byte))
        return byte - '0';
    char small = (char)(byte | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/* After a size, or an extension: what may stand there. */
static state end_size(fl_http1_body *body, char byte, const char *what)
{
    if (byte == '\r')
        return SIZE_LF;
    return byte == ';' ? EXT_NAME_FIRST : refuse(body, what);
}

static state read_size(fl_http1_body *body, char byte)
{
    int digit = hex_value(byte);

    if (digit < 0 && body->state == SIZE) {
        body->line = 0;
        return end_size(body, byte, "malformed chunk size");
    }
    if (digit < 0 || body->line == SIZE_DIGITS)
        return refuse(body, "malformed chunk size");
    body->left = body->left << 4 | (unsigned)digit;
    body->line++;
    return SIZE;
}

static state read_ext_token(fl_http1_body *body, char byte)
{
    bool name = body->state == EXT_NAME_FIRST || body->state == EXT_NAME;
    bool first =
        body->state == EXT_NAME_FIRST || body->state == EXT_VALUE_FIRST;

    if (fl_bytes_is_token(byte))
        return name ? EXT_NAME : EXT_VALUE;
    if (first)
        return !name && byte == '"' ? EXT_QUOTED
                                    : refuse(body, "malformed chunk extension");
    if (name && byte == '=')
        return EXT_VALUE_FIRST;
    return end_size(body, byte, "malformed chunk extension");
}

static state read_ext_quoted(fl_http1_body *body, char byte)
{
    if (fl_bytes_is_control(byte))
        return refuse(body, "malformed chunk extension");
    if (body->state == EXT_ESCAPED)
        return EXT_QUOTED;
    if (byte == '\\')
        return EXT_ESCAPED;
    return byte == '"' ? EXT_END : EXT_QUOTED;
}

static state read_ext(fl_http1_body *body, char byte)
{
    if (++body->line > FL_HTTP1_EXT_MAX || ++body->ext > FL_HTTP1_EXT_TOTAL)
        return refuse(body, "chunk extensions too long");
    if (body->state == EXT_QUOTED || body->state == EXT_ESCAPED)
        return read_ext_quoted(body, byte);
    return body->state == EXT_END
               ? end_size(body, byte, "malformed chunk extension")
               : read_ext_token(body, byte);
}

/* The line of a chunk's size is over. */
static state begin_chunk(fl_http1_body *body)
{
    body->line = 0;
    return body->left > 0 ? DATA : LINE;
}

static state begin_size(fl_http1_body *body)
{
    body->line = 0;
    body->left = 0;
    return SIZE_FIRST;
}

static state expect(fl_http1_body *body, char byte, char wanted, state next)
{
    return byte == wanted ? next : refuse(body, "line end expected");
}

/* Trailers are dropped here, but somebody behind us might take one of these
 * at its word (RFC 9110 6.5.1). Names that do not fit are none of them. */
static bool is_forbidden(const fl_http1_body *body)
{
    fl_field_id id = body->name_len < sizeof body->name
                         ? fl_field_find((fl_span){body->name, body->name_len})
                         : FL_FIELD_OTHER;

    return fl_field_is_framing(id) || id == FL_FIELD_UPGRADE;
}

static state read_name(fl_http1_body *body, char byte)
{
    if (fl_bytes_is_token(byte)) {
        if (body->name_len < sizeof body->name)
            body->name[body->name_len++] = byte;
        return NAME;
    }
    if (body->state == NAME && byte == ':')
        return is_forbidden(body) ? refuse(body, "trailer that frames messages")
                                  : VALUE;
    return refuse(body, "malformed trailer");
}

static state begin_trailer(fl_http1_body *body, char byte)
{
    if (byte == '\r')
        return LAST_LF;
    if (body->fields-- == 0)
        return refuse(body, "too many trailers");
    body->name_len = 0;
    return read_name(body, byte);
}

static state read_trailer(fl_http1_body *body, char byte)
{
    if (body->room-- == 0)
        return refuse(body, "trailers too large");
    if (body->state == LINE)
        return begin_trailer(body, byte);
    if (body->state == NAME)
        return read_name(body, byte);
    if (body->state == VALUE_LF)
        return expect(body, byte, '\n', LINE);
    if (body->state == LAST_LF)
        return expect(body, byte, '\n', DONE);
    if (byte == '\r')
        return VALUE_LF;
    return fl_bytes_is_control(byte) ? refuse(body, "malformed trailer")
                                     : VALUE;
}

/* What comes after `byte`, which is no part of the data. */
static state step(fl_http1_body *body, char byte)
{
    switch ((state)body->state) {
    case SIZE_FIRST:
    case SIZE:
        return read_size(body, byte);
    case EXT_NAME_FIRST:
    case EXT_NAME:
    case EXT_VALUE_FIRST:
    case EXT_VALUE:
    case EXT_QUOTED:
    case EXT_ESCAPED:
    case EXT_END:
        return read_ext(body, byte);
    case SIZE_LF:
        return expect(body, byte, '\n', begin_chunk(body));
    case DATA_CR:
        return expect(body, byte, '\r', DATA_LF);
    case DATA_LF:
        return expect(body, byte, '\n', begin_size(body));
    case LINE:
    case NAME:
    case VALUE:
    case VALUE_LF:
    case LAST_LF:
        return read_trailer(body, byte);
    case DONE:
    case BROKEN:
    case LENGTH:
    case ENDLESS:
    case DATA:
        break;
    }
    return BROKEN;
}

static fl_span take_front(fl_span *in, size_t n)
{
    fl_span front = {in->ptr, n};

    *in = fl_span_from(*in, n);
    return front;
}

static fl_status take_data(fl_http1_body *body, fl_span *in, fl_span *piece)
{
    size_t n = body->left < in->len ? (size_t)body->left : in->len;

    if (body->state == ENDLESS) {
        *piece = take_front(in, in->len);
        return FL_OK;
    }
    *piece = take_front(in, n);
    body->left -= n;
    if (body->left == 0)
        body->state = body->state == LENGTH ? DONE : DATA_CR;
    return FL_OK;
}

fl_status fl_http1_body_next(fl_http1_body *body, fl_span *in, fl_span *piece)
{
    *piece = (fl_span){0};
    for (;;) {
        if (body->state == DONE)
            return FL_END;
        if (body->state == BROKEN)
            return FL_E_BAD_MESSAGE;
        if (in->len == 0)
            return FL_AGAIN;
        if (body->state == LENGTH || body->state == ENDLESS ||
            body->state == DATA)
            return take_data(body, in, piece);
        body->state = (uint8_t)step(body, take_front(in, 1).ptr[0]);
    }
}

bool fl_http1_body_within(const fl_http1_body *body, fl_span in)
{
    fl_http1_body copy = *body;
    fl_span piece;
    fl_status rc = FL_OK;

    if (copy.state == LENGTH)
        return copy.left <= in.len;
    while (rc == FL_OK)
        rc = fl_http1_body_next(&copy, &in, &piece);
    return rc != FL_AGAIN;
}

bool fl_http1_body_ends_soon(const fl_http1_body *body, uint64_t max)
{
    return body->state == DONE || (body->state == LENGTH && body->left <= max);
}

bool fl_http1_body_is_endless(const fl_http1_body *body)
{
    return body->state == ENDLESS;
}
