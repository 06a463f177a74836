/*
 * log.h - structured log lines that cannot leak a secret or block the loop.
 *
 * A line is a message and named fields. On a terminal it is text for people,
 * otherwise one JSON object per line for machines. Redaction is not left to
 * the caller: a field whose name means a secret (authorization, token, key,
 * password, cookie, session...) shows as "[redacted]", credentials inside any
 * value (Bearer tokens, user:password@ and token= in URLs) are masked, and
 * long values are cut.
 *
 * Writing never waits. A line is at most 4096 bytes and goes out only if the
 * descriptor can take it at once (a pipe that polls writable takes PIPE_BUF);
 * what could not be written is counted, and told by the next line that can.
 */
#ifndef FL_BASE_LOG_H
#define FL_BASE_LOG_H

#include <fairlead/types.h>

typedef enum fl_log_level {
    FL_LOG_DEFAULT, /* zero in options: means info */
    FL_LOG_DEBUG,
    FL_LOG_INFO,
    FL_LOG_WARN,
    FL_LOG_ERROR,
    FL_LOG_OFF,
} fl_log_level;

typedef enum fl_log_format {
    FL_LOG_AUTO, /* text if the descriptor is a terminal, else JSON */
    FL_LOG_TEXT,
    FL_LOG_JSON,
} fl_log_format;

typedef struct fl_log fl_log;

typedef struct fl_log_options {
    fl_log_level level;
    fl_log_format format;
    int fd;                    /* 0 means stderr */
    const char *const *redact; /* more secret field names, NULL-terminated;
                                  copied */
} fl_log_options;

/* One named value. Make it with the functions below. */
typedef struct fl_log_field {
    const char *name;
    fl_span text;
    int64_t number;
    bool is_number;
} fl_log_field;

FL_MUST_USE fl_log *fl_log_new(const fl_log_options *options);
void fl_log_free(fl_log *log);

/* NULL as `log` is allowed everywhere and writes nothing. */
bool fl_log_wants(const fl_log *log, fl_log_level level);

/* `fields` ends with a field whose name is NULL; NULL means none. */
void fl_log_write(fl_log *log, fl_log_level level, const char *message,
                  const fl_log_field *fields);

static inline fl_log_field fl_log_text(const char *name, fl_span text)
{
    return (fl_log_field){.name = name, .text = text};
}

static inline fl_log_field fl_log_int(const char *name, int64_t number)
{
    return (fl_log_field){.name = name, .number = number, .is_number = true};
}

/* fl_log_say(log, FL_LOG_WARN, "line too long", fl_log_int("limit", n)); */
#define fl_log_say(log, level, message, ...)                                   \
    fl_log_write(log, level, message, (const fl_log_field[]){__VA_ARGS__, {0}})

#endif
