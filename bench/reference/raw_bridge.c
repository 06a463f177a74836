/*
 * raw_bridge.c - the least that puts a stdio server behind HTTP.
 *
 *     raw_bridge [--greet] PORT COMMAND...
 *
 * The yardstick for the gateway. It looks for the end of a request's head, for
 * Content-Length and for the first id in the body, puts a number in its place
 * and writes the line to its one child; what comes back gets the id again and
 * a head. A connection has one request under way, so its descriptor is the
 * number. Nothing is validated, nobody is told apart, no session is kept: a
 * child that wants to be greeted is greeted once, before anybody asks.
 *
 * All lines of one turn go to the child in one write.
 */
#include "client.h"
#include "raw.h"
#include "raw_post.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS_MAX = 65536, ID_MAX = 48, LINE_SLACK = 64 };

typedef struct asked {
    size_t size;
    char id[ID_MAX];
} asked;

static asked clients[CLIENTS_MAX]; /* by descriptor */
static route child;
static char lines[RAW_HELD_MAX]; /* for the child */
static size_t lines_size;
static char answer[RAW_HELD_MAX];

static void flush(void)
{
    if (!raw_write(child.out, lines, lines_size))
        die("write to the server");
    lines_size = 0;
}

static bool remember(int fd, raw_text id)
{
    if (fd >= CLIENTS_MAX || id.size > ID_MAX)
        return false;
    memcpy(clients[fd].id, id.bytes, id.size);
    clients[fd].size = id.size;
    return true;
}

static raw_text after(raw_text whole, raw_text part)
{
    const char *from = part.bytes + part.size;

    return (raw_text){from, whole.size - (size_t)(from - whole.bytes)};
}

/* The line as it is, or with the number in place of its id. */
static void pass_on(int fd, raw_text body, const raw_text *id)
{
    if (lines_size + body.size + LINE_SLACK > sizeof lines)
        flush();
    char *at = lines + lines_size;
    if (id != NULL) {
        at = raw_put(at,
                     (raw_text){body.bytes, (size_t)(id->bytes - body.bytes)});
        at = raw_put_number(at, (size_t)fd);
        at = raw_put(at, after(body, *id));
    } else {
        at = raw_put(at, body);
    }
    *at++ = '\n';
    lines_size = (size_t)(at - lines);
}

static bool take(int fd, const char *request, raw_text body)
{
    const raw_text none =
        RAW_TEXT("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
    const raw_text no =
        RAW_TEXT("HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n");
    raw_text id;

    if (request[0] != 'P')
        return raw_write(fd, no.bytes, no.size);
    if (body.size + LINE_SLACK > sizeof lines)
        return false;
    if (raw_find_id(body, &id)) {
        pass_on(fd, body, &id);
        return remember(fd, id);
    }
    pass_on(fd, body, NULL);
    return raw_write(fd, none.bytes, none.size);
}

static bool serve(int fd, const char *bytes, size_t size, raw_held *part)
{
    raw_text body;

    if (part->size == 0 && raw_request_size(bytes, size, &body) == size)
        return take(fd, bytes, body);
    if (!raw_hold(part, bytes, size))
        return false;
    if (raw_request_size(part->bytes, part->size, &body) == 0)
        return true;
    bool taken = take(fd, part->bytes, body);
    raw_forget(part);
    return taken;
}

/* A client that has left is written to in vain. */
static void give_back(raw_text line)
{
    raw_text number;

    if (!raw_find_id(line, &number))
        return;
    size_t fd = strtoul(number.bytes, NULL, 10);
    errno = 0;
    if (fd >= CLIENTS_MAX || line.size + RAW_HEAD_MAX + ID_MAX > sizeof answer)
        die("an answer to nobody, or too long");
    raw_text id = {clients[fd].id, clients[fd].size};
    char *at =
        answer + raw_write_head(answer, line.size - number.size + id.size);
    at = raw_put(at,
                 (raw_text){line.bytes, (size_t)(number.bytes - line.bytes)});
    at = raw_put(at, id);
    at = raw_put(at, after(line, number));
    (void)raw_write((int)fd, answer, (size_t)(at - answer));
}

static size_t give_all_back(const char *bytes, size_t size)
{
    const char *line = bytes, *end = bytes + size, *newline;

    while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        give_back((raw_text){line, (size_t)(newline - line)});
        line = newline + 1;
    }
    return (size_t)(end - line);
}

/* Only the start of the last line is ever held. */
static bool hear(int fd, const char *bytes, size_t size, raw_held *part)
{
    (void)fd;
    if (part->size == 0) {
        size_t left = give_all_back(bytes, size);
        return left == 0 || raw_hold(part, bytes + size - left, left);
    }
    if (!raw_hold(part, bytes, size))
        return false;
    size_t left = give_all_back(part->bytes, part->size);
    memmove(part->bytes, part->bytes + part->size - left, left);
    part->size = left;
    if (left == 0)
        raw_forget(part);
    return true;
}

int main(int argc, char **argv)
{
    bool greeted = argc > 1 && strcmp(argv[1], "--greet") == 0;
    pid_t pid;

    argc -= greeted;
    argv += greeted;
    errno = 0;
    if (argc < 3)
        die("usage: raw_bridge [--greet] PORT COMMAND...");
    child = spawn(argv + 2, -1, &pid);
    if (greeted && !greet(child))
        die("the server did not answer initialize");
    make_nonblocking(child.in);
    raw_run_with(&(raw_program){
        .port = (uint16_t)number_of("PORT", argv[1], 1),
        .serve = serve,
        .other = child.in,
        .hear = hear,
        .after = flush,
    });
}
