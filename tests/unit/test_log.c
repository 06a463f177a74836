/*
 * test_log.c - log lines: right in both formats, harmless whatever a peer
 * says, and never in the way.
 */
#include "base/log.h"

#include "base/span.h"
#include "base/utf8.h"
#include "support/ration.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROOM = 1 << 20 };

static char got[ROOM];

/* A log into a pipe, and the end to read it from. */
typedef struct rig {
    fl_log *log;
    int read_end;
    int write_end;
} rig;

static rig set_up_redacting(fl_log_format format, const char *const *redact)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    fl_log_options options = {
        .format = format, .fd = ends[1], .redact = redact};
    rig r = {fl_log_new(&options), ends[0], ends[1]};
    assert_non_null(r.log);
    return r;
}

static rig set_up(fl_log_format format)
{
    return set_up_redacting(format, NULL);
}

static void tear_down(rig *r)
{
    fl_log_free(r->log);
    close(r->read_end);
    close(r->write_end);
}

/* All that can be read at once. */
static const char *read_all(int fd)
{
    size_t len = 0;
    struct pollfd ask = {.fd = fd, .events = POLLIN};

    while (poll(&ask, 1, 0) == 1 && (ask.revents & POLLIN) != 0) {
        ssize_t n = read(fd, got + len, sizeof got - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    got[len] = '\0';
    return got;
}

/* A terminal hands bytes on in its own time: reads until `mark` has come and
 * the line it stands in is whole. */
static const char *read_terminal(int fd, const char *mark)
{
    struct pollfd ask = {.fd = fd, .events = POLLIN};
    const char *at = NULL;
    size_t len = 0;

    while (at == NULL || strchr(at, '\n') == NULL) {
        assert_int_equal(poll(&ask, 1, 10000), 1);
        ssize_t n = read(fd, got + len, sizeof got - 1 - len);
        assert_true(n > 0);
        len += (size_t)n;
        got[len] = '\0';
        at = strstr(got, mark);
    }
    return got;
}

/* Without the time, which stands first and has a fixed width. */
static const char *skip_time(const char *line)
{
    int h, m, s, ms;

    assert_int_equal(sscanf(line, "%2d:%2d:%2d.%3d ", &h, &m, &s, &ms), 4);
    return line + sizeof "12:00:00.123";
}

static const char *read_text(int fd)
{
    return skip_time(read_all(fd));
}

static const char *read_json(int fd)
{
    const char *line = read_all(fd);
    static const char head[] = "{\"time\":\"2026-07-28T12:00:00.123Z\",";

    assert_memory_equal(line, "{\"time\":\"", 9);
    assert_memory_equal(line + sizeof head - 4, "Z\",", 3);
    return line + sizeof head - 1;
}

static void test_log_text_is_for_people(void **state)
{
    rig r = set_up(FL_LOG_TEXT);

    (void)state;
    fl_log_say(r.log, FL_LOG_WARN, "line too long",
               fl_log_int("limit", 16777216),
               fl_log_text("peer", FL_SPAN("127.0.0.1:5")));
    assert_string_equal(
        read_text(r.read_end),
        "WARN  line too long  limit=16777216 peer=\"127.0.0.1:5\"\n");
    fl_log_write(r.log, FL_LOG_INFO, "ready", NULL);
    assert_string_equal(read_text(r.read_end), "INFO  ready\n");
    fl_log_write(r.log, FL_LOG_ERROR, "bad", (const fl_log_field[]){{0}});
    assert_string_equal(read_text(r.read_end), "ERROR bad\n");
    tear_down(&r);
}

static void test_log_json_is_one_object_per_line(void **state)
{
    rig r = set_up(FL_LOG_JSON);

    (void)state;
    fl_log_say(r.log, FL_LOG_WARN, "line too long", fl_log_int("limit", -1),
               fl_log_text("peer", FL_SPAN("a\"b")),
               fl_log_text("none", (fl_span){0}));
    assert_string_equal(read_json(r.read_end),
                        "\"level\":\"warn\",\"message\":\"line too long\","
                        "\"limit\":-1,\"peer\":\"a\\\"b\",\"none\":\"\"}\n");
    fl_log_write(r.log, FL_LOG_DEFAULT, "ready", NULL);
    assert_string_equal(read_json(r.read_end),
                        "\"level\":\"info\",\"message\":\"ready\"}\n");
    tear_down(&r);
}

static void test_log_numbers_are_whole(void **state)
{
    rig r = set_up(FL_LOG_JSON);

    (void)state;
    fl_log_say(r.log, FL_LOG_INFO, "n", fl_log_int("a", INT64_MIN),
               fl_log_int("b", INT64_MAX));
    assert_non_null(strstr(read_json(r.read_end),
                           "\"a\":-9223372036854775808,"
                           "\"b\":9223372036854775807}"));
    tear_down(&r);
}

static void test_log_auto_on_a_pipe_is_json(void **state)
{
    rig r = set_up(FL_LOG_AUTO);

    (void)state;
    fl_log_write(r.log, FL_LOG_INFO, "ready", NULL);
    assert_string_equal(read_json(r.read_end),
                        "\"level\":\"info\",\"message\":\"ready\"}\n");
    tear_down(&r);
}

/* A terminal without \n to \r\n, so that we read what was written. */
static rig set_up_terminal(fl_log_format format)
{
    int leader, follower;

    assert_int_equal(openpty(&leader, &follower, NULL, NULL, NULL), 0);
    fl_log_options options = {.format = format, .fd = follower};
    rig r = {fl_log_new(&options), leader, follower};
    assert_non_null(r.log);
    return r;
}

static void test_log_colours_on_a_terminal_only(void **state)
{
    char *kept = getenv("NO_COLOR");

    (void)state;
    assert_null(kept);
    rig r = set_up_terminal(FL_LOG_AUTO);
    fl_log_write(r.log, FL_LOG_WARN, "careful", NULL);
    assert_string_equal(skip_time(read_terminal(r.read_end, "careful")),
                        "\x1b[33mWARN \x1b[0m careful\r\n");
    tear_down(&r);

    r = set_up_terminal(FL_LOG_JSON);
    fl_log_write(r.log, FL_LOG_WARN, "careful", NULL);
    assert_null(strchr(read_terminal(r.read_end, "careful"), '\x1b'));
    tear_down(&r);

    r = set_up(FL_LOG_TEXT);
    fl_log_write(r.log, FL_LOG_WARN, "careful", NULL);
    assert_string_equal(read_text(r.read_end), "WARN  careful\n");
    tear_down(&r);
}

static void test_log_no_color_is_obeyed(void **state)
{
    (void)state;
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    rig r = set_up_terminal(FL_LOG_AUTO);
    fl_log_write(r.log, FL_LOG_ERROR, "bad", NULL);
    assert_string_equal(skip_time(read_terminal(r.read_end, "bad")),
                        "ERROR bad\r\n");
    tear_down(&r);
    unsetenv("NO_COLOR");
}

static void test_log_level_decides(void **state)
{
    (void)state;
    for (int level = FL_LOG_DEFAULT; level <= FL_LOG_OFF; level++) {
        fl_log_options options = {.level = (fl_log_level)level, .fd = 99};
        fl_log *log = fl_log_new(&options);
        int least = level == FL_LOG_DEFAULT ? FL_LOG_INFO : level;
        assert_non_null(log);
        for (int line = FL_LOG_DEBUG; line <= FL_LOG_OFF; line++)
            assert_int_equal(fl_log_wants(log, (fl_log_level)line),
                             line >= least && line < FL_LOG_OFF);
        assert_int_equal(fl_log_wants(log, FL_LOG_DEFAULT),
                         fl_log_wants(log, FL_LOG_INFO));
        fl_log_free(log);
    }
}

static void test_log_below_its_level_writes_nothing(void **state)
{
    rig r = set_up(FL_LOG_JSON);

    (void)state;
    fl_log_write(r.log, FL_LOG_DEBUG, "detail", NULL);
    fl_log_write(r.log, FL_LOG_OFF, "never", NULL);
    assert_string_equal(read_all(r.read_end), "");
    tear_down(&r);
}

static void test_log_null_writes_nothing(void **state)
{
    (void)state;
    assert_false(fl_log_wants(NULL, FL_LOG_ERROR));
    fl_log_write(NULL, FL_LOG_ERROR, "x", NULL);
    fl_log_free(NULL);
}

static void test_log_without_options_goes_to_stderr(void **state)
{
    int ends[2], kept = dup(STDERR_FILENO);

    (void)state;
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    fl_log *log = fl_log_new(NULL);
    fl_log_write(log, FL_LOG_INFO, "here", NULL);
    dup2(kept, STDERR_FILENO);
    assert_non_null(strstr(read_all(ends[0]), "here"));
    fl_log_free(log);
    close(kept);
    close(ends[0]);
    close(ends[1]);
}

static void test_log_secret_fields_are_redacted(void **state)
{
    static const char *const more[] = {"Tenant-Key", "", "_", NULL};
    rig r = set_up_redacting(FL_LOG_TEXT, more);

    (void)state;
    fl_log_say(r.log, FL_LOG_INFO, "m",
               fl_log_text("Authorization", FL_SPAN("Bearer abc")),
               fl_log_int("password", 1234),
               fl_log_text("tenant_key", FL_SPAN("abc")),
               fl_log_text("url", FL_SPAN("http://u:p@h/?token=abc")),
               fl_log_text("key", FL_SPAN("open")));
    assert_string_equal(
        read_text(r.read_end),
        "INFO  m  Authorization=\"[redacted]\" password=\"[redacted]\" "
        "tenant_key=\"[redacted]\" url=\"http://[redacted]@h/?token="
        "[redacted]\" key=\"open\"\n");
    tear_down(&r);
}

static void test_log_message_is_masked_too(void **state)
{
    rig r = set_up(FL_LOG_TEXT);

    (void)state;
    fl_log_write(r.log, FL_LOG_INFO, "GET /?token=abc", NULL);
    assert_string_equal(read_text(r.read_end),
                        "INFO  GET /?token=[redacted]\n");
    tear_down(&r);
}

static void test_log_peer_cannot_forge_lines_or_escapes(void **state)
{
    static const fl_log_format formats[] = {FL_LOG_TEXT, FL_LOG_JSON};
    char all[256];

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    for (size_t f = 0; f < 2; f++) {
        rig r = set_up(formats[f]);
        fl_log_say(r.log, FL_LOG_INFO, "a\nb\x1b[2J",
                   fl_log_text("v", (fl_span){all, sizeof all}),
                   fl_log_text("n\n\"m", FL_SPAN("x")));
        const char *line = read_all(r.read_end);
        assert_true(fl_utf8_valid(fl_span_of(line)));
        for (size_t i = 0; line[i] != '\0'; i++)
            if (line[i + 1] != '\0')
                assert_true((unsigned char)line[i] >= 0x20 && line[i] != 0x7f);
        assert_int_equal(line[strlen(line) - 1], '\n');
        tear_down(&r);
    }
}

static void test_log_escapes_as_json_does(void **state)
{
    rig r = set_up(FL_LOG_JSON);

    (void)state;
    fl_log_say(
        r.log, FL_LOG_INFO, "m",
        fl_log_text("v", FL_SPAN("\"\\\n\r\t\0\x1b\x7f|\xc2\x9b|\xc2\xa0|"
                                 "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae"
                                 "\xe2\x80\xaf|\xe2\x81\xa5\xe2\x81\xa6"
                                 "\xe2\x81\xa9\xe2\x81\xaa|\xff|"
                                 "\xf0\x9f\x98\x80\xe2\x82")));
    assert_string_equal(
        read_json(r.read_end),
        "\"level\":\"info\",\"message\":\"m\",\"v\":\"\\\"\\\\\\n\\u000d\\u0009"
        "\\u0000\\u001b\\u007f|\\u009b|\xc2\xa0|\xe2\x80\xa7\\u2028\\u202e"
        "\xe2\x80\xaf|\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa|\xef\xbf\xbd|"
        "\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\"}\n");
    tear_down(&r);
}

static void test_log_long_values_and_names_are_cut(void **state)
{
    rig r = set_up(FL_LOG_TEXT);
    char value[600], name[100], want[800];

    (void)state;
    memset(value, 'v', sizeof value);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    fl_log_say(r.log, FL_LOG_INFO, "m",
               fl_log_text(name, (fl_span){value, sizeof value}));
    snprintf(want, sizeof want, "INFO  m  %.64s=\"%.512s…(+88 bytes)\"\n", name,
             value);
    assert_string_equal(read_text(r.read_end), want);
    tear_down(&r);
}

static void test_log_line_is_at_most_4096_bytes_and_stays_whole(void **state)
{
    static const fl_log_format formats[] = {FL_LOG_TEXT, FL_LOG_JSON};
    char worst[600], message[600];

    (void)state;
    memset(worst, '\x01', sizeof worst); /* six bytes each when escaped */
    memset(message, '\x01', sizeof message);
    message[sizeof message - 1] = '\0';
    for (size_t f = 0; f < 2; f++) {
        rig r = set_up(formats[f]);
        fl_span value = {worst, sizeof worst};
        fl_log_say(r.log, FL_LOG_INFO, message, fl_log_text("a", value),
                   fl_log_text("b", value), fl_log_int("c", 7));
        const char *line = read_all(r.read_end);
        size_t len = strlen(line);
        assert_in_range(len, 3000, 4096);
        assert_int_equal(line[len - 1], '\n');
        assert_null(strstr(line, "a=\""));
        assert_non_null(strstr(line, f == 0 ? " c=7 omitted=2\n"
                                            : ",\"c\":7,\"omitted\":2}\n"));
        tear_down(&r);
    }
}

static void test_log_field_that_just_fits_is_kept(void **state)
{
    char text[512];
    bool kept = false, omitted = false;

    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t last = 0; last <= sizeof text; last++) {
        rig r = set_up(FL_LOG_JSON);
        fl_log_field fields[9] = {{0}};
        for (size_t i = 0; i < 7; i++)
            fields[i] = fl_log_text("f", (fl_span){text, sizeof text});
        fields[7] = fl_log_text("last", (fl_span){text, last});
        fl_log_write(r.log, FL_LOG_INFO, "m", fields);
        const char *line = read_all(r.read_end);
        bool has = strstr(line, "\"last\"") != NULL;
        assert_int_equal(has, strstr(line, "\"omitted\":1}") == NULL);
        assert_true(strlen(line) <= 4096);
        assert_false(omitted && has); /* once too long, always too long */
        kept = kept || has;
        omitted = omitted || !has;
        tear_down(&r);
    }
    assert_true(kept && omitted);
}

static void fill_pipe(int fd)
{
    char block[4096];
    int flags = fcntl(fd, F_GETFL);

    memset(block, '.', sizeof block);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, block, sizeof block) > 0)
        continue;
    fcntl(fd, F_SETFL, flags);
}

static void test_log_full_pipe_drops_and_tells(void **state)
{
    rig r = set_up(FL_LOG_TEXT);

    (void)state;
    fill_pipe(r.write_end); /* and a blocking one: writing would hang */
    for (int i = 0; i < 3; i++)
        fl_log_write(r.log, FL_LOG_INFO, "lost", NULL);
    assert_null(strstr(read_all(r.read_end), "lost"));
    fl_log_say(r.log, FL_LOG_INFO, "back", fl_log_int("n", 1));
    assert_string_equal(read_text(r.read_end), "INFO  back  dropped=3 n=1\n");
    fl_log_write(r.log, FL_LOG_INFO, "again", NULL);
    assert_string_equal(read_text(r.read_end), "INFO  again\n");
    tear_down(&r);
}

static void test_log_dropped_lines_are_told_in_json(void **state)
{
    rig r = set_up(FL_LOG_JSON);

    (void)state;
    fill_pipe(r.write_end);
    fl_log_write(r.log, FL_LOG_INFO, "lost", NULL);
    read_all(r.read_end);
    fl_log_write(r.log, FL_LOG_INFO, "back", NULL);
    assert_string_equal(
        read_json(r.read_end),
        "\"level\":\"info\",\"message\":\"back\",\"dropped\":1}\n");
    tear_down(&r);
}

static void test_log_reader_gone_raises_no_signal(void **state)
{
    rig r = set_up(FL_LOG_TEXT);
    int pair[2];

    (void)state;
    signal(SIGPIPE, SIG_DFL); /* it would end this program */
    close(r.read_end);
    fl_log_write(r.log, FL_LOG_INFO, "nobody reads this", NULL);
    r.read_end = dup(r.write_end);
    tear_down(&r);

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    fl_log_options options = {.fd = pair[1]};
    fl_log *log = fl_log_new(&options);
    close(pair[0]);
    fl_log_write(log, FL_LOG_INFO, "nor this", NULL);
    fl_log_free(log);
    close(pair[1]);
}

static void test_log_bad_descriptor_is_survived(void **state)
{
    fl_log_options options = {.fd = 999};
    fl_log *log = fl_log_new(&options);

    (void)state;
    assert_non_null(log);
    fl_log_write(log, FL_LOG_INFO, "x", NULL);
    fl_log_write(log, FL_LOG_INFO, "y", NULL);
    fl_log_free(log);
}

/* Seven values as long as they get, and one of `size` bytes. */
static void write_long_line(fl_log *log, size_t size)
{
    char text[512];
    fl_log_field fields[9] = {{0}};

    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < 7; i++)
        fields[i] = fl_log_text("f", (fl_span){text, sizeof text});
    fields[7] = fl_log_text("last", (fl_span){text, size});
    fl_log_write(log, FL_LOG_INFO, "m", fields);
}

/* Lines that do not start where the one before ended. */
static size_t count_torn(const char *text)
{
    size_t torn = 0;

    for (const char *at = strstr(text, "{\"time\""); at != NULL;
         at = strstr(at + 1, "{\"time\""))
        torn += at > text && at[-1] != '\n';
    return torn;
}

/* What all lines together say was dropped. */
static size_t sum_dropped(const char *text)
{
    static const char name[] = "\"dropped\":";
    size_t sum = 0;

    for (const char *at = strstr(text, name); at != NULL;
         at = strstr(at + 1, name))
        sum += strtoul(at + sizeof name - 1, NULL, 10);
    return sum;
}

/* Adds to what `got` holds until nothing has come for a while. */
static void drain_terminal(int fd)
{
    struct pollfd ask = {.fd = fd, .events = POLLIN};
    size_t len = strlen(got);

    while (poll(&ask, 1, 100) == 1) {
        ssize_t n = read(fd, got + len, sizeof got - 1 - len);
        assert_true(n > 0);
        len += (size_t)n;
        got[len] = '\0';
    }
}

/* The terminal is a blocking one, and nobody reads: to wait for room would
 * hang this test. What it takes, and when, is the kernel's affair; but once a
 * last line has come through, what was told is what is missing. */
static void test_log_full_terminal_is_not_waited_for(void **state)
{
    enum { LINES = 100, TRIES = 50 };
    rig r = set_up_terminal(FL_LOG_JSON);
    struct termios raw;
    char mark[32] = "not yet";
    size_t written = LINES, lines = 0;

    (void)state;
    assert_int_equal(tcgetattr(r.write_end, &raw), 0);
    cfmakeraw(&raw); /* so that we read what was written */
    assert_int_equal(tcsetattr(r.write_end, TCSANOW, &raw), 0);
    for (int i = 0; i < LINES; i++)
        write_long_line(r.log, 240);
    got[0] = '\0';
    for (; strstr(got, mark) == NULL; written++) {
        assert_in_range(written, LINES, LINES + TRIES);
        drain_terminal(r.read_end);
        fl_log_say(r.log, FL_LOG_INFO, "after",
                   fl_log_int("n", (int64_t)written));
        snprintf(mark, sizeof mark, "\"n\":%zu}\n", written);
        drain_terminal(r.read_end);
    }
    tear_down(&r);

    assert_int_equal(count_torn(got), 0);
    for (const char *at = got; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_in_range(sum_dropped(got), 1, LINES);
    assert_int_equal(lines + sum_dropped(got), written);
}

static void limit_file_size(rlim_t size)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A file may grow to its limit and no further, so a write across the limit is
 * short, by a known amount, on every kernel. */
static void test_log_line_taken_in_part_is_finished_first(void **state)
{
    enum { PART = 50 };
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    fl_log_options options = {.format = FL_LOG_JSON, .fd = fileno(file)};
    fl_log *log = fl_log_new(&options);
    assert_non_null(log);
    signal(SIGXFSZ, SIG_IGN);
    limit_file_size(PART);
    fl_log_write(log, FL_LOG_INFO, "first", NULL);
    fl_log_write(log, FL_LOG_INFO, "lost", NULL);
    fl_log_write(log, FL_LOG_INFO, "lost too", NULL);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(pread(fileno(file), got, ROOM - 1, 0), PART);

    fl_log_write(log, FL_LOG_INFO, "second", NULL);
    ssize_t len = pread(fileno(file), got, ROOM - 1, 0);
    assert_in_range(len, PART + 1, ROOM - 1);
    got[len] = '\0';
    assert_int_equal(count_torn(got), 0);
    assert_null(strstr(got, "lost"));
    assert_non_null(strstr(got, "\"message\":\"first\"}\n{\"time\""));
    assert_non_null(strstr(got, "\"message\":\"second\",\"dropped\":2}\n"));
    fl_log_free(log);
    fclose(file);
}

static void test_log_leaves_the_flags_of_its_terminal_alone(void **state)
{
    rig r = set_up_terminal(FL_LOG_AUTO);

    (void)state;
    fl_log_write(r.log, FL_LOG_INFO, "x", NULL);
    assert_int_equal(fcntl(r.write_end, F_GETFL) & O_NONBLOCK, 0);
    tear_down(&r);
}

static void test_log_on_a_socket_writes_whole_lines(void **state)
{
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    fl_log_options options = {.format = FL_LOG_JSON, .fd = pair[1]};
    fl_log *log = fl_log_new(&options);
    assert_non_null(log);
    for (int i = 0; i < 1000; i++) /* nobody reads: it must not wait */
        write_long_line(log, 0);
    assert_int_equal(count_torn(read_all(pair[0])), 0);
    fl_log_write(log, FL_LOG_INFO, "after", NULL);
    assert_non_null(strstr(read_all(pair[0]), "\"dropped\":"));
    fl_log_free(log);
    close(pair[0]);
    close(pair[1]);
}

static void make_rationed(void *user)
{
    static const char *const more[] = {"tenant", NULL};
    fl_log_options options = {.fd = 99, .redact = more};
    fl_log *log = fl_log_new(&options);

    (void)user;
    assert_int_equal(log == NULL, ration_refused());
    fl_log_free(log);
}

static void test_log_is_one_allocation_and_lines_are_none(void **state)
{
    rig r = set_up(FL_LOG_JSON);

    (void)state;
    assert_int_equal(ration_each(make_rationed, NULL), 2);
    ration_reset();
    fl_log_say(r.log, FL_LOG_INFO, "m", fl_log_int("n", 1));
    assert_int_equal(ration_count(), 0);
    tear_down(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_text_is_for_people),
        cmocka_unit_test(test_log_json_is_one_object_per_line),
        cmocka_unit_test(test_log_numbers_are_whole),
        cmocka_unit_test(test_log_auto_on_a_pipe_is_json),
        cmocka_unit_test(test_log_colours_on_a_terminal_only),
        cmocka_unit_test(test_log_no_color_is_obeyed),
        cmocka_unit_test(test_log_level_decides),
        cmocka_unit_test(test_log_below_its_level_writes_nothing),
        cmocka_unit_test(test_log_null_writes_nothing),
        cmocka_unit_test(test_log_without_options_goes_to_stderr),
        cmocka_unit_test(test_log_secret_fields_are_redacted),
        cmocka_unit_test(test_log_message_is_masked_too),
        cmocka_unit_test(test_log_peer_cannot_forge_lines_or_escapes),
        cmocka_unit_test(test_log_escapes_as_json_does),
        cmocka_unit_test(test_log_long_values_and_names_are_cut),
        cmocka_unit_test(test_log_line_is_at_most_4096_bytes_and_stays_whole),
        cmocka_unit_test(test_log_field_that_just_fits_is_kept),
        cmocka_unit_test(test_log_full_pipe_drops_and_tells),
        cmocka_unit_test(test_log_dropped_lines_are_told_in_json),
        cmocka_unit_test(test_log_reader_gone_raises_no_signal),
        cmocka_unit_test(test_log_bad_descriptor_is_survived),
        cmocka_unit_test(test_log_full_terminal_is_not_waited_for),
        cmocka_unit_test(test_log_line_taken_in_part_is_finished_first),
        cmocka_unit_test(test_log_leaves_the_flags_of_its_terminal_alone),
        cmocka_unit_test(test_log_on_a_socket_writes_whole_lines),
        cmocka_unit_test(test_log_is_one_allocation_and_lines_are_none),
    };

    unsetenv("NO_COLOR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
