/*
 * raw_mcp.c - the least an MCP server can do: echo, in valid answers.
 *
 *     raw_mcp --stdio [--modern]        lines on stdin and stdout
 *     raw_mcp --http PORT [--modern]    POST on 127.0.0.1, kept alive
 *
 * What stands behind a gateway while the gateway is measured. It searches for
 * the method, the id and the text and looks at nothing else; answers to one
 * read leave in one write. With --modern it speaks 2026-07-28, and otherwise
 * 2025-11-25; it refuses what opens the other era.
 */
#include "client.h"
#include "raw.h"
#include "raw_post.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* An answer is a text and not much more. */
enum { ANSWER_SLACK = 1024, OUT_MAX = RAW_HELD_MAX };

#define INFO "{\"name\":\"raw-mcp\",\"version\":\"1\"}"
#define TOOL                                                                   \
    "{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\","                 \
    "\"properties\":{\"text\":{\"type\":\"string\"}}}}"
#define COMPLETE                                                               \
    "\"resultType\":\"complete\",\"_meta\":{"                                  \
    "\"io.modelcontextprotocol/serverInfo\":" INFO "},"

typedef struct answer_form {
    const char *method;
    const char *legacy, *modern; /* what the result is; NULL: no such method */
} answer_form;

static const answer_form forms[] = {
    {"initialize",
     "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
     "\"serverInfo\":" INFO,
     NULL},
    {"server/discover", NULL,
     COMPLETE "\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":"
              "{\"tools\":{}},\"ttlMs\":60000,\"cacheScope\":\"private\""},
    {"tools/list", "\"tools\":[" TOOL "]",
     COMPLETE "\"tools\":[" TOOL
              "],\"ttlMs\":60000,\"cacheScope\":\"private\""},
    {"ping", "", NULL},
};

static bool modern;
static char out[OUT_MAX];

static bool is(raw_text text, const char *name)
{
    return text.size == strlen(name) &&
           memcmp(text.bytes, name, text.size) == 0;
}

static const char *result_of(raw_text method)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (is(method, forms[i].method))
            return modern ? forms[i].modern : forms[i].legacy;
    return NULL;
}

static char *put_echo(char *at, raw_text message)
{
    at = raw_put(at, RAW_TEXT(",\"result\":{"));
    if (modern)
        at = raw_put(at, RAW_TEXT(COMPLETE));
    at = raw_put(at, RAW_TEXT("\"content\":[{\"type\":\"text\",\"text\":\""));
    at = raw_put(at, raw_find_text(message, RAW_TEXT("\"text\":\"")));
    return raw_put(at, RAW_TEXT("\"}]}}"));
}

static char *put_other(char *at, raw_text method)
{
    const char *result = result_of(method);

    if (result == NULL)
        return raw_put(at, RAW_TEXT(",\"error\":{\"code\":-32601,"
                                    "\"message\":\"no such method\"}}"));
    at = raw_put(at, RAW_TEXT(",\"result\":{"));
    at = raw_put(at, (raw_text){result, strlen(result)});
    return raw_put(at, RAW_TEXT("}}"));
}

/* Where the answer to a message ends: at its start, if it wants none. */
static char *put_answer(char *at, raw_text message)
{
    raw_text id, method = raw_find_text(message, RAW_TEXT("\"method\":\""));

    if (!raw_find_id(message, &id))
        return at;
    at = raw_put(at, RAW_TEXT("{\"jsonrpc\":\"2.0\",\"id\":"));
    at = raw_put(at, id);
    return is(method, "tools/call") ? put_echo(at, message)
                                    : put_other(at, method);
}

static bool has_room(const char *at, size_t more)
{
    return more + ANSWER_SLACK <= (size_t)(out + sizeof out - at);
}

/* Answers all whole lines; how many bytes they had, or -1. */
static long answer_lines(int fd, const char *bytes, size_t size)
{
    const char *line = bytes, *end = bytes + size, *newline;
    char *at = out;

    while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        raw_text message = {line, (size_t)(newline - line)};
        if (!has_room(at, message.size)) {
            if (!raw_write(fd, out, (size_t)(at - out)))
                return -1;
            at = out;
        }
        char *after = put_answer(at, message);
        if (after > at)
            *after++ = '\n';
        at = after;
        line = newline + 1;
    }
    return raw_write(fd, out, (size_t)(at - out)) ? line - bytes : -1;
}

static int run_stdio(void)
{
    static char buffer[RAW_HELD_MAX / 2];
    size_t held = 0;
    ssize_t n;

    while ((n = read(STDIN_FILENO, buffer + held, sizeof buffer - held)) > 0) {
        held += (size_t)n;
        long taken = answer_lines(STDOUT_FILENO, buffer, held);
        if (taken < 0 || (taken == 0 && held == sizeof buffer))
            return 1;
        held -= (size_t)taken;
        memmove(buffer, buffer + taken, held);
    }
    return n < 0;
}

/* What is no POST opens a stream, or ends a session: we have neither. */
static bool answer_post(int fd, const char *request, raw_text body)
{
    const raw_text none =
        RAW_TEXT("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
    const raw_text no =
        RAW_TEXT("HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n");
    char *start = out + RAW_HEAD_MAX, head[RAW_HEAD_MAX];

    if (request[0] != 'P')
        return raw_write(fd, no.bytes, no.size);
    if (!has_room(start, body.size))
        return false;
    size_t size = (size_t)(put_answer(start, body) - start);
    if (size == 0)
        return raw_write(fd, none.bytes, none.size);
    size_t above = raw_write_head(head, size);
    memcpy(start - above, head, above);
    return raw_write(fd, start - above, above + size);
}

/* Requests come in one piece and one at a time, or this is not their server. */
static bool serve(int fd, const char *bytes, size_t size, raw_held *part)
{
    raw_text body;

    if (part->size == 0 && raw_request_size(bytes, size, &body) == size)
        return answer_post(fd, bytes, body);
    if (!raw_hold(part, bytes, size))
        return false;
    if (raw_request_size(part->bytes, part->size, &body) == 0)
        return true;
    bool sent = answer_post(fd, part->bytes, body);
    raw_forget(part);
    return sent;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[argc - 1], "--modern") == 0) {
        modern = true;
        argc--;
    }
    if (argc == 2 && strcmp(argv[1], "--stdio") == 0)
        return run_stdio();
    if (argc == 3 && strcmp(argv[1], "--http") == 0)
        raw_run((uint16_t)number_of("--http", argv[2], 1), serve);
    errno = 0;
    die("usage: raw_mcp --stdio | --http PORT [--modern]");
}
