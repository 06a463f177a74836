/*
 * raw_post.c - HTTP and MCP as the reference programs see them.
 */
#include "raw_post.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char separator[] = "\r\n\r\n";

static size_t body_size(const char *head, const char *end)
{
    static const char name[] = "content-length:";

    for (const char *line = head; line < end;) {
        if ((line[0] | 0x20) == 'c' &&
            strncasecmp(line, name, sizeof name - 1) == 0)
            return strtoul(line + sizeof name - 1, NULL, 10);
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        line = newline != NULL ? newline + 1 : end;
    }
    return 0;
}

size_t raw_request_size(const char *bytes, size_t size, raw_text *body)
{
    const char *end = memmem(bytes, size, separator, sizeof separator - 1);

    if (end == NULL)
        return 0;
    *body = (raw_text){end + sizeof separator - 1, body_size(bytes, end)};
    size_t whole = (size_t)(body->bytes - bytes) + body->size;
    return whole <= size ? whole : 0;
}

size_t raw_write_head(char out[RAW_HEAD_MAX], size_t body)
{
    char *at = raw_put(out, RAW_TEXT("HTTP/1.1 200 OK\r\ncontent-type: "
                                     "application/json\r\ncontent-length: "));

    at = raw_put(raw_put_number(at, body), RAW_TEXT("\r\n\r\n"));
    return (size_t)(at - out);
}

static size_t id_size(const char *at, const char *end)
{
    const char *stop = at;

    while (stop < end && *stop != ',' && *stop != '}')
        stop++;
    return (size_t)(stop - at);
}

bool raw_find_id(raw_text message, raw_text *id)
{
    static const char key[] = "\"id\":";
    const char *found =
        memmem(message.bytes, message.size, key, sizeof key - 1);

    if (found == NULL)
        return false;
    id->bytes = found + sizeof key - 1;
    id->size = id_size(id->bytes, message.bytes + message.size);
    return true;
}

raw_text raw_find_text(raw_text message, raw_text key)
{
    const char *found =
        memmem(message.bytes, message.size, key.bytes, key.size);
    const char *end = message.bytes + message.size;

    if (found == NULL)
        return (raw_text){end, 0};
    found += key.size;
    const char *quote = memchr(found, '"', (size_t)(end - found));
    return (raw_text){found, quote != NULL ? (size_t)(quote - found) : 0};
}

char *raw_put(char *at, raw_text text)
{
    memcpy(at, text.bytes, text.size);
    return at + text.size;
}

char *raw_put_number(char *at, size_t number)
{
    char digits[20], *first = digits + sizeof digits;

    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return raw_put(at,
                   (raw_text){first, (size_t)(digits + sizeof digits - first)});
}
