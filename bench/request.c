/*
 * request.c - the message the load is made of, and the check of its answers.
 *
 * The load generator has as many processors as the server: one. So it does
 * per message what cannot be left out and no more: eight digits read at the
 * place the last answer had them, and a search for the text only where the
 * length of an answer is a new one.
 */
#include "request.h"

#include "client.h"
#include "ws_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 8 };

static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":";
static const char middle[] = ",\"method\":\"tools/call\",\"params\":{"
                             "\"name\":\"echo\",\"arguments\":{\"text\":\"";
static const char id_key[] = "\"id\":";

static const char *const tails[] = {
    [REQUEST_LINE] = "\"}}}\n",
    [REQUEST_PLAIN] = "\"}}}",
    [REQUEST_MODERN] =
        "\"},\"_meta\":{"
        "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientInfo\":"
        "{\"name\":\"bench\",\"version\":\"1\"},"
        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
    [REQUEST_FRAME] = "\"}}}",
};

void *must_have(void *block)
{
    if (block == NULL)
        die("memory");
    return block;
}

/* The text stays where it can be read. */
static void put_in_frame(bench_request *request)
{
    char *frame = must_have(malloc(WS_HEAD_MAX + request->size));
    size_t size = ws_frame_write(frame, WS_TEXT, request->bytes, request->size);

    request->head = size - request->size;
    request->id_at += request->head;
    request->plain = request->bytes;
    request->bytes = frame;
    request->size = size;
}

void request_init(bench_request *request, size_t size, request_form form)
{
    size_t text_at = sizeof head - 1 + ID_DIGITS + sizeof middle - 1;
    size_t least = text_at + 1 + strlen(tails[REQUEST_LINE]);
    size_t tail = strlen(tails[form]);

    errno = 0;
    if (size < least)
        die("a request takes at least %zu bytes", least);
    *request = (bench_request){0};
    request->text_size = size - least + 1;
    request->size = text_at + request->text_size + tail;
    request->id_at = sizeof head - 1;
    request->bytes = must_have(malloc(request->size));
    request->text = request->bytes + text_at;
    memset(request->bytes, 'x', request->size);
    memcpy(request->bytes, head, sizeof head - 1);
    memcpy(request->bytes + text_at - sizeof middle + 1, middle,
           sizeof middle - 1);
    memcpy(request->bytes + request->size - tail, tails[form], tail);
    request_write_id(request->bytes + request->id_at, FIRST_ID);
    if (form == REQUEST_FRAME)
        put_in_frame(request);
}

void request_deinit(bench_request *request)
{
    free(request->bytes);
    free(request->plain);
    *request = (bench_request){0};
}

void request_write_id(char *at, uint64_t id)
{
    for (int i = ID_DIGITS - 1; i >= 0; i--, id /= 10)
        at[i] = (char)('0' + id % 10);
}

void request_set_id(const bench_request *request, char *copy, uint64_t id)
{
    request_write_id(copy + request->id_at, id);
    if (request->head > 0)
        ws_mask(copy + request->id_at, ID_DIGITS,
                request->id_at - request->head);
}

/* 0, which is no id of ours, when these are not eight digits. */
static uint64_t read_id(const char *at)
{
    uint64_t id = 0;

    for (int i = 0; i < ID_DIGITS; i++) {
        unsigned digit = (unsigned)(at[i] - '0');
        if (digit > 9)
            return 0;
        id = id * 10 + digit;
    }
    return id;
}

uint64_t answer_id(bench_check *check, const char *answer, size_t size)
{
    size_t key = sizeof id_key - 1;

    if (check->id_at + ID_DIGITS > size || check->id_at < key ||
        memcmp(answer + check->id_at - key, id_key, key) != 0) {
        const char *found = memmem(answer, size, id_key, key);
        if (found == NULL)
            return 0;
        check->id_at = (size_t)(found - answer) + key;
    }
    return check->id_at + ID_DIGITS <= size ? read_id(answer + check->id_at)
                                            : 0;
}

bool answer_repeats(bench_check *check, const bench_request *request,
                    const char *answer, size_t size)
{
    if (size == check->size)
        return true;
    if (memmem(answer, size, request->text, request->text_size) == NULL)
        return false;
    check->size = size;
    return true;
}
