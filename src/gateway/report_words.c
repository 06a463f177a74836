/*
 * report_words.c - texts of others: what may be shown of them, and how much.
 *
 * A command line is shown with what looks like a secret masked, as the log
 * would; so is an address, and without its query. Many a service has the key
 * to it in the path of its URL, where nothing tells it from a name but its
 * length: long parts of a path are masked.
 */
#include "base/log_mask.h"
#include "base/span.h"
#include "gateway/report.h"
#include "transport/transport.h"

#include <string.h>

enum {
    COMMAND_MAX = 256,
    URL_MAX = 512,
    PART_MAX = 20, /* a longer part of a path may be a key */
};

/* At most `max` bytes of it, and no half of a character. */
static fl_span cut(fl_span text, size_t max)
{
    if (text.len <= max)
        return text;
    while (max > 0 && ((unsigned char)text.ptr[max] & 0xc0) == 0x80)
        max--;
    return (fl_span){text.ptr, max};
}

static void write_text(fl_report *report, fl_span text)
{
    if (text.len > 0)
        fl_json_text(&report->writer, text);
    else
        fl_json_null(&report->writer);
}

void fl_report_text(fl_report *report, const char *key, fl_span text,
                    size_t max)
{
    char masked[FL_LOG_VALUE];

    fl_json_key(&report->writer, key);
    write_text(report, cut(fl_log_mask(text, NULL, masked), max));
}

/* A text that is being put together: what has no room is cut, and what follows
 * is left out. */
typedef struct draft {
    char text[URL_MAX];
    size_t len;
    bool full;
} draft;

static void put(draft *to, fl_span text)
{
    fl_span fits = cut(text, sizeof to->text - to->len);

    if (to->full || fits.len == 0)
        return;
    memcpy(to->text + to->len, fits.ptr, fits.len);
    to->len += fits.len;
    to->full = fits.len < text.len;
}

static fl_span view(const draft *from)
{
    return (fl_span){from->text, from->len};
}

/* "--token" is followed by one. */
static bool announces(const char *argument)
{
    return argument[0] == '-' && strchr(argument, '=') == NULL &&
           fl_log_is_secret(fl_span_of(argument), NULL);
}

/* A URL as an argument has its query taken away, as any other. */
static void put_argument(draft *to, const char *argument)
{
    char masked[FL_LOG_VALUE];
    fl_span text = fl_span_of(argument);
    const char *query = strstr(argument, "://");

    if (query != NULL && (query = strchr(query, '?')) != NULL)
        text.len = (size_t)(query - argument);
    put(to, fl_log_mask(text, NULL, masked));
    if (query != NULL)
        put(to, FL_SPAN("?" FL_LOG_MASKED));
}

void fl_report_command(fl_report *report, const char *const *argv)
{
    draft line = {.len = 0};

    for (size_t i = 0; argv[i] != NULL && !line.full; i++) {
        if (i > 0)
            put(&line, FL_SPAN(" "));
        if (i > 0 && announces(argv[i - 1]))
            put(&line, FL_SPAN(FL_LOG_MASKED));
        else
            put_argument(&line, argv[i]);
    }
    fl_json_key(&report->writer, "command");
    write_text(report, cut(view(&line), COMMAND_MAX));
}

/* "/a/b?c" without its query; parts that may be keys are masked. */
static void put_path(draft *to, const char *target)
{
    fl_span rest = {target, strcspn(target, "?#")};

    while (rest.len > 0) {
        put(to, FL_SPAN("/"));
        rest = fl_span_from(rest, 1);
        size_t len = fl_span_find(rest, '/');
        put(to,
            len > PART_MAX ? FL_SPAN(FL_LOG_MASKED) : (fl_span){rest.ptr, len});
        rest = fl_span_from(rest, len);
    }
}

static void put_port(draft *to, unsigned port)
{
    char digits[8];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + port % 10);
        port /= 10;
    } while (port > 0);
    put(to, FL_SPAN(":"));
    put(to, (fl_span){digits + at, sizeof digits - at});
}

static void put_host(draft *to, const fl_address *address, uint16_t port)
{
    bool six = strchr(address->host, ':') != NULL;

    put(to, FL_SPAN("//"));
    put(to, six ? FL_SPAN("[") : FL_SPAN(""));
    put(to, fl_span_of(address->host));
    put(to, six ? FL_SPAN("]") : FL_SPAN(""));
    if (port != 0 || address->has_port)
        put_port(to, port != 0 ? port : address->port);
}

void fl_report_url(fl_report *report, const char *key, const char *url,
                   uint16_t port)
{
    draft shown = {.len = 0};
    fl_address address;

    if (fl_address_parse(url, &address, NULL) == FL_OK) {
        bool is_socket = fl_address_socket(&address) != NULL;
        put(&shown, (fl_span){url, strcspn(url, ":") + 1});
        if (fl_address_host(&address) != NULL)
            put_host(&shown, &address, port);
        put(&shown, fl_span_of(address.path));
        put(&shown,
            is_socket && address.host[0] != '\0' ? FL_SPAN("#") : FL_SPAN(""));
        put_path(&shown, address.target);
    }
    if (key != NULL)
        fl_json_key(&report->writer, key);
    write_text(report, view(&shown));
}
