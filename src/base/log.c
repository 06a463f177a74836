/*
 * log.c - structured log lines that cannot leak a secret or block the loop.
 *
 * A line is put together in a buffer of fixed size inside the log, so writing
 * one allocates nothing and cannot fail for want of memory. A field that does
 * not fit is left out whole and counted: a machine can read every line.
 *
 * Text that came from a peer may try to look like another line, or to talk to
 * the terminal. So both formats share one way of escaping: that of JSON, for
 * control characters, and also for the Unicode ones that end lines or turn
 * the direction of text; what is not UTF-8 becomes U+FFFD.
 */
#include "base/log.h"

#include "base/clock.h"
#include "base/log_mask.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 4096, /* what a pipe takes whole: PIPE_BUF on Linux */
    CLOSING_ROOM = 64,     /* for the count of fields left out, and the end */
    NAME_SHOWN = 64,
};

struct fl_log {
    fl_log_level level;
    int fd;
    bool json;
    bool colour;
    bool is_socket;
    bool owns_fd;
    uint64_t dropped; /* lines lost since the last one that went out */
    size_t sent;      /* of `line`; less than `len` after a short write */
    size_t len;
    char line[LINE_MAX_BYTES];
    char redact[]; /* folded names as fl_log_is_secret() wants them */
};

static size_t measure_names(const char *const *names)
{
    size_t size = 1;

    for (; names != NULL && *names != NULL; names++)
        size += strnlen(*names, FL_LOG_NAME - 1) + 1;
    return size;
}

static void copy_names(char *to, const char *const *names)
{
    for (; names != NULL && *names != NULL; names++) {
        char folded[FL_LOG_NAME];
        fl_log_fold(fl_span_of(*names), folded);
        if (*folded == '\0')
            continue; /* an empty name would end the list */
        size_t size = strlen(folded) + 1;
        memcpy(to, folded, size);
        to += size;
    }
    *to = '\0';
}

static bool is_socket(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

/*
 * A terminal polls writable as soon as it has any room at all, and writing a
 * line that is longer then waits for someone to read. O_NONBLOCK would help,
 * but it belongs to the open file that we share with our parent and children;
 * so the terminal is opened once more for us alone.
 */
static void open_terminal(fl_log *log)
{
    char path[64];
    int fd = -1;

    if (ttyname_r(log->fd, path, sizeof path) == 0)
        fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    log->owns_fd = fd >= 0;
    if (log->owns_fd)
        log->fd = fd;
}

fl_log *fl_log_new(const fl_log_options *options)
{
    const fl_log_options given =
        options != NULL ? *options : (fl_log_options){0};
    fl_log *log = fl_mem_zalloc(sizeof *log + measure_names(given.redact));

    if (log == NULL)
        return NULL;
    log->level = given.level == FL_LOG_DEFAULT ? FL_LOG_INFO : given.level;
    log->fd = given.fd != 0 ? given.fd : STDERR_FILENO;
    bool terminal = isatty(log->fd) == 1;
    log->json = given.format == FL_LOG_JSON ||
                (given.format == FL_LOG_AUTO && !terminal);
    log->colour = !log->json && terminal && getenv("NO_COLOR") == NULL;
    log->is_socket = is_socket(log->fd);
    if (terminal)
        open_terminal(log);
    copy_names(log->redact, given.redact);
    return log;
}

void fl_log_free(fl_log *log)
{
    if (log != NULL && log->owns_fd)
        close(log->fd);
    fl_mem_free(log);
}

bool fl_log_wants(const fl_log *log, fl_log_level level)
{
    if (level == FL_LOG_DEFAULT)
        level = FL_LOG_INFO;
    return log != NULL && level >= log->level && level < FL_LOG_OFF;
}

/* Adds bytes if they fit; a line that has overflowed once takes no more until
 * it is rolled back. */
typedef struct draft {
    fl_log *log;
    bool full;
} draft;

static void put(draft *to, fl_span bytes)
{
    fl_log *log = to->log;

    to->full = to->full || bytes.len > LINE_MAX_BYTES - CLOSING_ROOM - log->len;
    if (to->full)
        return;
    memcpy(log->line + log->len, bytes.ptr, bytes.len);
    log->len += bytes.len;
}

FL_PRINTF(2, 3) static void put_format(draft *to, const char *format, ...)
{
    char text[64];
    va_list args;

    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len > 0 && (size_t)len < sizeof text)
        put(to, (fl_span){text, (size_t)len});
}

/* The character at the front of `text`, which is not empty, and its length;
 * U+FFFD for a byte that begins none. */
static uint32_t decode(fl_span text, size_t *len)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    fl_span front = {text.ptr, text.len < 4 ? text.len : 4};

    *len = 1;
    if (fl_utf8_valid_prefix(front) == 0)
        return 0xfffd;
    if (at[0] < 0x80)
        return at[0];
    *len = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t code = at[0] & (0x7fu >> *len);
    for (size_t i = 1; i < *len; i++)
        code = code << 6 | (at[i] & 0x3fu);
    return code;
}

/* Control characters, line and paragraph ends, changes of direction. */
static bool is_hidden(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
           (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

static void put_escaped(draft *to, fl_span text)
{
    while (text.len > 0) {
        size_t len;
        uint32_t code = decode(text, &len);
        char bytes[4];
        if (code == '"' || code == '\\')
            put_format(to, "\\%c", (char)code);
        else if (code == '\n')
            put(to, FL_SPAN("\\n"));
        else if (is_hidden(code))
            put_format(to, "\\u%04x", (unsigned)code);
        else
            put(to, (fl_span){bytes, fl_utf8_encode(code, bytes)});
        text = fl_span_from(text, len);
    }
}

static void put_masked(draft *to, fl_span text)
{
    char shown[FL_LOG_VALUE];

    put_escaped(to, fl_log_mask(text, to->log->redact, shown));
}

static void put_name(draft *to, const char *name)
{
    const char *quote = to->log->json ? "\"" : "";

    put_format(to, "%s%s", to->log->json ? "," : " ", quote);
    put_escaped(to, (fl_span){name, strnlen(name, NAME_SHOWN)});
    put_format(to, "%s%s", quote, to->log->json ? ":" : "=");
}

static void put_field(draft *to, const fl_log_field *field)
{
    put_name(to, field->name);
    if (fl_log_is_secret(fl_span_of(field->name), to->log->redact)) {
        put(to, FL_SPAN("\"" FL_LOG_MASKED "\""));
    } else if (field->is_number) {
        put_format(to, "%lld", (long long)field->number);
    } else {
        put(to, FL_SPAN("\""));
        put_masked(to, field->text);
        put(to, FL_SPAN("\""));
    }
}

static void put_head(draft *to, fl_log_level level, fl_span message)
{
    static const struct {
        const char *text, *json, *colour;
    } levels[] = {
        [FL_LOG_DEBUG] = {"DEBUG", "debug", "\x1b[2m"},
        [FL_LOG_INFO] = {"INFO ", "info", "\x1b[32m"},
        [FL_LOG_WARN] = {"WARN ", "warn", "\x1b[33m"},
        [FL_LOG_ERROR] = {"ERROR", "error", "\x1b[31m"},
    };
    char stamp[FL_CLOCK_STAMP];

    fl_clock_stamp(stamp);
    if (to->log->json) {
        put_format(to, "{\"time\":\"%s\",\"level\":\"%s\"", stamp,
                   levels[level].json);
        put(to, FL_SPAN(",\"message\":\""));
        put_masked(to, message);
        put(to, FL_SPAN("\""));
        return;
    }
    /* on a terminal the day is known and the year too */
    put_format(to, "%.12s %s%s%s ", stamp + sizeof "2026-07-28",
               to->log->colour ? levels[level].colour : "", levels[level].text,
               to->log->colour ? "\x1b[0m" : "");
    put_masked(to, message);
}

/* Room for this was kept, so it goes past put(). */
static void close_line(fl_log *log, size_t omitted)
{
    char end[CLOSING_ROOM] = "";
    int len = 0;

    if (omitted > 0)
        len =
            snprintf(end, sizeof end,
                     log->json ? ",\"omitted\":%zu" : " omitted=%zu", omitted);
    memcpy(log->line + log->len, end, (size_t)len);
    log->len += (size_t)len;
    if (log->json)
        log->line[log->len++] = '}';
    log->line[log->len++] = '\n';
}

static void compose(fl_log *log, fl_log_level level, const char *message,
                    const fl_log_field *fields)
{
    draft to = {.log = log};
    size_t omitted = 0;

    log->len = log->sent = 0;
    put_head(&to, level, fl_span_of(message));
    if (!log->json && (log->dropped > 0 || (fields && fields->name)))
        put(&to, FL_SPAN(" "));
    if (log->dropped > 0) {
        put_name(&to, "dropped");
        put_format(&to, "%llu", (unsigned long long)log->dropped);
    }
    for (; fields != NULL && fields->name != NULL; fields++) {
        size_t before = log->len;
        put_field(&to, fields);
        if (to.full) {
            log->len = before;
            to.full = false;
            omitted++;
        }
    }
    close_line(log, omitted);
}

/* A peer that hung up polls writable too, and writing to it would raise
 * SIGPIPE in a process that is not ours. */
static bool is_ready(int fd)
{
    struct pollfd ask = {.fd = fd, .events = POLLOUT};

    return poll(&ask, 1, 0) == 1 && ask.revents == POLLOUT;
}

/* Sends what is left of the line; says whether all of it is out. */
static bool flush(fl_log *log)
{
    size_t left = log->len - log->sent;

    if (left == 0)
        return true;
    if (!is_ready(log->fd))
        return false;
    const char *from = log->line + log->sent;
    ssize_t n = log->is_socket
                    ? send(log->fd, from, left, MSG_DONTWAIT | MSG_NOSIGNAL)
                    : write(log->fd, from, left);
    log->sent += n > 0 ? (size_t)n : 0;
    return log->sent == log->len;
}

void fl_log_write(fl_log *log, fl_log_level level, const char *message,
                  const fl_log_field *fields)
{
    if (!fl_log_wants(log, level))
        return;
    if (!flush(log)) { /* the rest of a line that went out in part */
        log->dropped++;
        return;
    }

    compose(log, level == FL_LOG_DEFAULT ? FL_LOG_INFO : level, message,
            fields);
    if (flush(log) || log->sent > 0) {
        log->dropped = 0;
        return;
    }
    log->dropped++;
    log->len = 0;
}
