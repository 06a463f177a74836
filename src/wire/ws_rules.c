/*
 * ws_rules.c - the rules for heads and closes (RFC 6455 5.1, 5.2, 5.4, 5.5 and
 * 7.4; RFC 7692 6.1).
 *
 * The first two bytes of a head are judged as soon as they are there, before
 * its length, and before a byte of the frame is kept.
 */
#include "wire/ws_rules.h"

/* Bits that only an extension may set. */
static const char *judge_bits(const fl_ws *ws, unsigned first)
{
    if ((first & FL_WS_BITS_RESERVED) != 0)
        return "a reserved bit is set";
    if (!ws->packing)
        return "RSV1 is set, but no compression was agreed on";
    if ((first & FL_WS_BIT_CONTROL) != 0)
        return "a control frame says it is compressed";
    return (first & FL_WS_BITS_OPCODE) == FL_WS_MORE
               ? "a continuation says it is compressed; only a first frame may"
               : NULL;
}

static const char *judge_control(unsigned first, unsigned second)
{
    if ((first & FL_WS_BITS_OPCODE) > FL_WS_PONG)
        return "a control frame is of a reserved kind";
    if ((first & FL_WS_BIT_FIN) == 0)
        return "a control frame is fragmented";
    return (second & FL_WS_BITS_LENGTH) > FL_WS_CONTROL_MAX
               ? "a control frame is longer than 125 bytes"
               : NULL;
}

static const char *judge_data(const fl_ws *ws, unsigned first)
{
    unsigned opcode = first & FL_WS_BITS_OPCODE;

    if (opcode > FL_WS_BINARY)
        return "a data frame is of a reserved kind";
    if (opcode == FL_WS_MORE)
        return ws->kind == 0 ? "a continuation of no message" : NULL;
    return ws->kind != 0 ? "a message begins within another that has not ended"
                         : NULL;
}

const char *fl_ws_judge_head(const fl_ws *ws, unsigned first, unsigned second)
{
    bool masked = (second & FL_WS_BIT_MASKED) != 0;
    const char *what = NULL;

    if ((first & (FL_WS_BITS_RESERVED | FL_WS_BIT_RSV1)) != 0)
        what = judge_bits(ws, first);
    if (what == NULL)
        what = (first & FL_WS_BIT_CONTROL) != 0 ? judge_control(first, second)
                                                : judge_data(ws, first);
    if (what == NULL && masked == ws->settings->client)
        what = masked ? "a frame from a server is masked"
                      : "a frame from a client is not masked";
    return what;
}

static uint64_t read_number(const unsigned char *at, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | at[i];
    return number;
}

const char *fl_ws_read_length(const unsigned char *head, uint64_t *length)
{
    uint64_t least = FL_WS_LENGTH_16;

    *length = head[1] & FL_WS_BITS_LENGTH;
    if (*length < FL_WS_LENGTH_16)
        return NULL;
    if (*length == FL_WS_LENGTH_64) {
        least = UINT16_MAX + UINT64_C(1);
        *length = read_number(head + 2, 8);
    } else {
        *length = read_number(head + 2, 2);
    }
    if (*length > INT64_MAX)
        return "a length has its highest bit set";
    return *length < least ? "a length is not written in its shortest form"
                           : NULL;
}

const char *fl_ws_read_code(fl_span body, unsigned *code)
{
    *code = FL_WS_NO_CODE;
    if (body.len == 0)
        return NULL;
    if (body.len == 1)
        return "a close has half a code: one byte";
    *code = (unsigned)read_number((const unsigned char *)body.ptr, 2);
    return fl_ws_code_ok(*code) ? NULL
                                : "a close has a code that may not be sent";
}
