/*
 * raw_ws.c - the least a WebSocket server can do: unmask and give back.
 *
 *     raw_ws PORT
 *
 * The yardstick for WebSocket. It makes the accept value of the handshake,
 * and then sends the payload of every frame back in a frame of its own. Text
 * need not be text, lengths, bits and opcodes are believed, nothing is held:
 * of a frame that has come in part the part goes back at once. All that came
 * in one read leaves in one write.
 *
 * The trick is that an answer is never longer than what it answers, by the
 * key that it has not: so the output of one read has a place of known size,
 * and unmasking moves the bytes there in the same step.
 */
#include "client.h"
#include "raw.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

enum { KEY_SIZE = 4, HEAD_MAX = 14 };
enum { WS_KEY_TEXT = 24, ACCEPT_MAX = 29 };
enum { OPCODE = 0x0f, PING = 0x9, PONG = 0xa, LENGTH = 0x7f };

/* Lies in the raw_held of a connection whose handshake is done. */
typedef struct state {
    uint64_t left;           /* of the payload of the frame in hand */
    uint64_t key;            /* twice, turned to where the payload is */
    unsigned char head_size; /* of a head that is not whole */
    unsigned char head[HEAD_MAX];
} state;

/* Two registers of SSE2, or one of AVX2. */
typedef uint64_t wide __attribute__((vector_size(RAW_SLACK)));

static char output[RAW_READ_SIZE + HEAD_MAX + RAW_SLACK];

static uint64_t turn(uint64_t key, size_t by)
{
    unsigned bits = (unsigned)(by % KEY_SIZE) * 8;

    return bits == 0 ? key : key >> bits | key << (64 - bits);
}

/* In whole words, up to one too far: what it spoils is written next. */
static void unmask(char *to, const char *from, size_t size, uint64_t key)
{
    const wide keys = {key, key, key, key};
    wide word;

    for (size_t i = 0; i < size; i += sizeof word) {
        memcpy(&word, from + i, sizeof word);
        word ^= keys;
        memcpy(to + i, &word, sizeof word);
    }
}

static size_t head_size(const unsigned char *head)
{
    unsigned length = head[1] & LENGTH;

    return 2 + KEY_SIZE + (length < 126 ? 0 : length == 126 ? 2U : 8U);
}

/* The head of the answer, from a whole one; its size. */
static size_t answer_head(state *self, const unsigned char *head, char *to)
{
    size_t size = head_size(head) - KEY_SIZE;
    uint32_t key;

    memcpy(&key, head + size, KEY_SIZE);
    self->key = (uint64_t)key << 32 | key;
    self->left = head[1] & LENGTH;
    if (size > 2)
        self->left = 0;
    for (size_t i = 2; i < size; i++)
        self->left = self->left << 8 | head[i];
    memcpy(to, head, size);
    if ((head[0] & OPCODE) == PING)
        to[0] = (char)((head[0] & ~OPCODE) | PONG);
    to[1] = (char)(head[1] & LENGTH);
    return size;
}

/* One byte of a head that comes in pieces; true when it is whole. */
static bool gather(state *self, char byte)
{
    self->head[self->head_size++] = (unsigned char)byte;
    return self->head_size > 1 && self->head_size == head_size(self->head);
}

/* Takes a head, or what is there of one; the size of what is made of it. */
static size_t take_head(state *self, const char **bytes, const char *end,
                        char *to)
{
    bool whole = false;

    if (self->head_size == 0 && end - *bytes >= HEAD_MAX) {
        const unsigned char *head = (const unsigned char *)*bytes;
        *bytes += head_size(head);
        return answer_head(self, head, to);
    }
    while (!whole && *bytes < end)
        whole = gather(self, *(*bytes)++);
    if (!whole)
        return 0;
    self->head_size = 0;
    return answer_head(self, self->head, to);
}

static bool echo(int fd, const char *bytes, size_t size, state *self)
{
    const char *end = bytes + size;
    char *to = output;

    while (bytes < end) {
        if (self->left == 0)
            to += take_head(self, &bytes, end, to);
        size_t here = (size_t)(end - bytes);
        if (here > self->left)
            here = (size_t)self->left;
        unmask(to, bytes, here, self->key);
        self->left -= here;
        self->key = turn(self->key, here);
        bytes += here;
        to += here;
    }
    return raw_write(fd, output, (size_t)(to - output));
}

static void make_accept(const char *key, char accept[ACCEPT_MAX])
{
    static const char constant[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char text[WS_KEY_TEXT + sizeof constant], digest[20];

    memcpy(text, key, WS_KEY_TEXT);
    memcpy(text + WS_KEY_TEXT, constant, sizeof constant);
    SHA1(text, sizeof text - 1, digest);
    EVP_EncodeBlock((unsigned char *)accept, digest, sizeof digest);
}

/* A request that does not come in one piece is not waited for. */
static bool shake_hands(int fd, const char *bytes, size_t size, raw_held *part)
{
    static const char name[] = "Sec-WebSocket-Key: ";
    const char *key = memmem(bytes, size, name, sizeof name - 1);
    char answer[256], accept[ACCEPT_MAX];

    if (key == NULL || key + sizeof name - 1 + WS_KEY_TEXT > bytes + size)
        return false;
    make_accept(key + sizeof name - 1, accept);
    int n = snprintf(answer, sizeof answer,
                     "HTTP/1.1 101 Switching Protocols\r\n"
                     "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                     "Sec-WebSocket-Accept: %s\r\n\r\n",
                     accept);
    return raw_write(fd, answer, (size_t)n) &&
           raw_hold(part, (const char *)&(state){0}, sizeof(state));
}

static bool serve(int fd, const char *bytes, size_t size, raw_held *part)
{
    return part->size == 0 ? shake_hands(fd, bytes, size, part)
                           : echo(fd, bytes, size, (state *)part->bytes);
}

int main(int argc, char **argv)
{
    errno = 0;
    if (argc != 2)
        die("usage: raw_ws PORT");
    raw_run((uint16_t)number_of("PORT", argv[1], 1), serve);
}
