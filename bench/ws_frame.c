/*
 * ws_frame.c - the frames of a WebSocket as a load generator meets them.
 */
#include "ws_frame.h"

#include "client.h"

#include <errno.h>
#include <string.h>

enum { FINAL = 0x80, MASKED = 0x80, OPCODE = 0x0f, LENGTH = 0x7f };
enum { SHORT_MAX = 125, IN_TWO_BYTES = 126, IN_EIGHT_BYTES = 127 };

const unsigned char ws_key[WS_KEY_SIZE] = {0x9d, 0x37, 0x5a, 0xe1};

static uint64_t read_number(const char *bytes, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

static void write_number(char *out, size_t size, uint64_t number)
{
    for (size_t i = size; i > 0; i--, number >>= 8)
        out[i - 1] = (char)(number & 0xff);
}

/* How many bytes of length come after the second byte. */
static size_t length_size(unsigned second)
{
    if ((second & LENGTH) == IN_EIGHT_BYTES)
        return 8;
    return (second & LENGTH) == IN_TWO_BYTES ? 2 : 0;
}

static void check(unsigned first, unsigned second)
{
    errno = 0;
    if ((first & (unsigned)~OPCODE) != FINAL || (first & OPCODE) == 0)
        die("the server sends frames that are not a message each");
    if ((second & MASKED) != 0)
        die("the server masks");
}

size_t ws_frame_read(const char *bytes, size_t size, ws_frame *frame)
{
    if (size < 2)
        return 0;
    unsigned first = (unsigned char)bytes[0], second = (unsigned char)bytes[1];
    size_t more = length_size(second);
    check(first, second);
    if (size < 2 + more)
        return 0;
    uint64_t length =
        more > 0 ? read_number(bytes + 2, more) : (second & LENGTH);
    *frame = (ws_frame){first & OPCODE, bytes + 2 + more, (size_t)length};
    return length <= size - 2 - more ? 2 + more + (size_t)length : 0;
}

static size_t write_head(char *out, unsigned opcode, size_t size)
{
    size_t more = size <= SHORT_MAX ? 0 : size <= UINT16_MAX ? 2 : 8;
    unsigned second = more == 0   ? (unsigned)size
                      : more == 2 ? IN_TWO_BYTES
                                  : IN_EIGHT_BYTES;

    out[0] = (char)(FINAL | opcode);
    out[1] = (char)(MASKED | second);
    write_number(out + 2, more, size);
    memcpy(out + 2 + more, ws_key, WS_KEY_SIZE);
    return 2 + more + WS_KEY_SIZE;
}

size_t ws_frame_write(char *out, unsigned opcode, const char *payload,
                      size_t size)
{
    size_t head = write_head(out, opcode, size);

    if (size > 0)
        memcpy(out + head, payload, size);
    ws_mask(out + head, size, 0);
    return head + size;
}

void ws_mask(char *bytes, size_t size, size_t at)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(bytes[i] ^ ws_key[(at + i) % WS_KEY_SIZE]);
}
