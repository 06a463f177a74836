/*
 * http_answer.c - reads one HTTP/1.1 response in a buffer.
 *
 * Only what a load generator meets: a length or chunks, and of the fields
 * those that say which. The lines of the head are walked, not searched, and
 * all but a few are known to be of no interest by their first letter.
 */
#include "http_answer.h"

#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { STATUS_AT = 9, STATUS_LINE = 12, CHUNK_LINE_MAX = 64 };

static const char version[] = "HTTP/1.1 ";

static _Noreturn void refuse(const char *what)
{
    errno = 0;
    die("%s", what);
}

/* The value of a field of this name, blanks before it skipped; or NULL. */
static const char *value_of(const char *line, size_t size, const char *name)
{
    size_t length = strlen(name);

    if (size <= length || line[length] != ':' ||
        strncasecmp(line, name, length) != 0)
        return NULL;
    for (line += length + 1; *line == ' '; line++)
        continue;
    return line;
}

static void read_field(const char *line, size_t size, http_answer *answer)
{
    const char *value;

    switch (line[0] | 0x20) {
    case 'c':
        if ((value = value_of(line, size, "content-length")) != NULL)
            answer->body_size = strtoul(value, NULL, 10);
        break;
    case 't':
        if ((value = value_of(line, size, "transfer-encoding")) != NULL)
            answer->chunked = strncasecmp(value, "chunked", 7) == 0;
        break;
    case 'm':
        if ((value = value_of(line, size, "mcp-session-id")) != NULL) {
            answer->session = value;
            answer->session_size = size - (size_t)(value - line);
        }
        break;
    default:
        break;
    }
}

static void read_status(const char *bytes, http_answer *answer)
{
    if (memcmp(bytes, version, sizeof version - 1) != 0)
        refuse("the server does not speak HTTP/1.1");
    answer->status = (unsigned)strtoul(bytes + STATUS_AT, NULL, 10);
}

bool http_head_read(const char *bytes, size_t size, http_answer *answer)
{
    const char *line = bytes, *end = bytes + size, *newline;

    *answer = (http_answer){0};
    while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        size_t length = (size_t)(newline - line);
        if (length > 0 && line[length - 1] == '\r')
            length--;
        if (length == 0) {
            answer->head_size = (size_t)(newline + 1 - bytes);
            return true;
        }
        if (line != bytes)
            read_field(line, length, answer);
        else if (length >= STATUS_LINE)
            read_status(bytes, answer);
        else
            refuse("the server does not speak HTTP/1.1");
        line = newline + 1;
    }
    return false;
}

/* The size of one chunk's line; 0: it is not whole. */
static size_t chunk_line(const char *at, const char *end, size_t *data)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    if (newline == NULL && end - at > CHUNK_LINE_MAX)
        refuse("the server sends chunks that are none");
    *data = newline != NULL ? strtoul(at, NULL, 16) : 0;
    return newline != NULL ? (size_t)(newline + 1 - at) : 0;
}

/* Walks the chunks, and if `join` is set moves their data together. The size
 * of all of them, or 0. */
static size_t walk(char *body, const char *end, http_answer *answer, bool join)
{
    char *at = body, *to = body;
    size_t line, data;

    while ((line = chunk_line(at, end, &data)) > 0) {
        at += line;
        if ((size_t)(end - at) < data + 2)
            return 0;
        if (join)
            memmove(to, at, data);
        to += data;
        at += data + 2;
        if (data == 0) {
            answer->body_size = (size_t)(to - body);
            return (size_t)(at - body);
        }
    }
    return 0;
}

size_t http_answer_read(char *bytes, size_t size, http_answer *answer)
{
    if (!http_head_read(bytes, size, answer))
        return 0;
    answer->body = bytes + answer->head_size;
    if (!answer->chunked) {
        size_t whole = answer->head_size + answer->body_size;
        return whole <= size ? whole : 0;
    }
    size_t chunks = walk(answer->body, bytes + size, answer, false);
    if (chunks == 0)
        return 0;
    walk(answer->body, bytes + size, answer, true);
    return answer->head_size + chunks;
}
