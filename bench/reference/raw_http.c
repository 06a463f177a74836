/*
 * raw_http.c - the least an HTTP server can do: say the same to everybody.
 *
 *     raw_http PORT FILE
 *
 * The yardstick for HTTP. It looks for the end of the head and in it for
 * Content-Length, skips the body and answers with what is in the file, byte
 * for byte. Nothing is validated. What bench/run puts into the file is an
 * answer of fairlead's to the same request, as it was recorded or with only
 * the fields that nobody can do without: between the two lies the price of
 * the fields on the wire, and behind the first the price of the work.
 */
#include "client.h"
#include "raw.h"
#include "raw_post.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MAX = 1 << 24 };

static char answer[ANSWER_MAX]; /* the whole of it */
static size_t answer_size;

static void load(const char *path)
{
    FILE *file = fopen(path, "re");

    if (file == NULL)
        die("%s", path);
    answer_size = fread(answer, 1, sizeof answer, file);
    fclose(file);
    errno = 0;
    if (answer_size == 0 || answer_size == sizeof answer)
        die("%s: 1 to %d bytes are wanted", path, ANSWER_MAX - 1);
}

/* Answers each whole request; what is left of the bytes, or -1. */
static long answer_all(int fd, const char *bytes, size_t size)
{
    raw_text body;
    size_t whole;

    while (size > 0 && (whole = raw_request_size(bytes, size, &body)) > 0) {
        if (!raw_write(fd, answer, answer_size))
            return -1;
        bytes += whole;
        size -= whole;
    }
    return (long)size;
}

static bool serve(int fd, const char *bytes, size_t size, raw_held *part)
{
    if (part->size == 0) {
        long left = answer_all(fd, bytes, size);
        return left >= 0 &&
               (left == 0 ||
                raw_hold(part, bytes + size - (size_t)left, (size_t)left));
    }
    if (!raw_hold(part, bytes, size))
        return false;
    long left = answer_all(fd, part->bytes, part->size);
    if (left < 0)
        return false;
    memmove(part->bytes, part->bytes + part->size - (size_t)left, (size_t)left);
    part->size = (size_t)left;
    if (left == 0)
        raw_forget(part);
    return true;
}

int main(int argc, char **argv)
{
    errno = 0;
    if (argc != 3)
        die("usage: raw_http PORT FILE");
    load(argv[2]);
    raw_run((uint16_t)number_of("PORT", argv[1], 1), serve);
}
