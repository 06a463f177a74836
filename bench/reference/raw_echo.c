/*
 * raw_echo.c - the least a server can do: give back what it reads.
 *
 * This is the yardstick. It parses nothing, knows no protocol and keeps no
 * state beyond a line that has not ended, so what fairlead takes on top of it
 * is the price of the whole stack and nothing else.
 *
 *     raw_echo --tcp PORT    every connection, by epoll, on 127.0.0.1
 *     raw_echo --stdio       stdin to stdout
 *
 * A read that ends in a newline goes back in one write. One that does not is
 * held until its end has come: a line server may not answer half a line.
 */
#include "client.h"
#include "raw.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool echo(int fd, const char *bytes, size_t size, raw_held *part)
{
    bool whole = bytes[size - 1] == '\n';

    if (whole && part->size == 0)
        return raw_write(fd, bytes, size);
    if (!raw_hold(part, bytes, size))
        return false;
    if (!whole)
        return true;
    bool sent = raw_write(fd, part->bytes, part->size);
    raw_forget(part);
    return sent;
}

static int run_stdio(void)
{
    static char buffer[RAW_READ_SIZE];
    ssize_t n;

    while ((n = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        if (!raw_write(STDOUT_FILENO, buffer, (size_t)n))
            return 1;
    return n < 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--stdio") == 0)
        return run_stdio();
    if (argc == 3 && strcmp(argv[1], "--tcp") == 0)
        raw_run((uint16_t)number_of("--tcp", argv[2], 1), echo);
    errno = 0;
    die("usage: raw_echo --stdio | --tcp PORT");
}
