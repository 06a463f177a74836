/*
 * http_end.c - one end of an HTTP/2 connection, for tests.
 *
 * Its own memory does not count as the codec's: a rationed codec should fail,
 * not the harness around it.
 */
#include "support/http_end.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { FRAME_HEAD = 9, RST_STREAM = 3, GOAWAY = 7, HEADERS = 1, SETTINGS = 4 };

static void append(http_end *end, fl_span bytes)
{
    if (bytes.len == 0)
        return;
    char *grown = ration_raw_realloc(end->out, end->out_len + bytes.len);
    assert_non_null(grown);
    memcpy(grown + end->out_len, bytes.ptr, bytes.len);
    end->out = grown;
    end->out_len += bytes.len;
}

static fl_status write_out(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    http_end *end = user;

    if (end->refuse < 0 || (end->refuse == FL_BUSY && !urgent))
        return end->refuse;
    end->writes++;
    end->urgent |= urgent;
    for (size_t i = 0; i < count; i++)
        append(end, parts[i]);
    return FL_OK;
}

static void tell(http_end *end, http_event event, fl_exchange *exchange)
{
    end->told[event]++;
    end->exchange = exchange;
    if (end->act != NULL)
        end->act(end, event, exchange);
}

static void note_span(chop_notes *notes, const char *before, fl_span span)
{
    chop_note(notes, "%s", before);
    chop_note_bytes(notes, span);
}

static void note_head(chop_notes *notes, const fl_head *head)
{
    if (head->status != 0)
        chop_note(notes, "(%u", head->status);
    else
        note_span(notes, "(", head->method);
    note_span(notes, " ", head->target);
    note_span(notes, " ", head->authority);
    for (size_t i = 0; i < head->count; i++) {
        note_span(notes, " ", head->fields[i].name);
        note_span(notes, "=", head->fields[i].value);
    }
    chop_note(notes, "%s)", head->has_body ? " +" : "");
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    http_end *end = user;

    assert_int_equal(head->version, 20);
    assert_ptr_equal(head, fl_exchange_head(exchange));
    end->status = head->status;
    if (end->notes != NULL)
        note_head(end->notes, head);
    tell(end, HTTP_HEAD, exchange);
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    http_end *end = user;

    end->body += bytes.len;
    if (end->notes != NULL)
        chop_note_bytes(end->notes, bytes);
    tell(end, HTTP_BODY, exchange);
}

static void on_end(fl_exchange *exchange, void *user)
{
    http_end *end = user;

    if (end->notes != NULL)
        chop_note(end->notes, ".");
    tell(end, HTTP_END, exchange);
}

static void on_bad(fl_exchange *exchange, unsigned status, const char *what,
                   void *user)
{
    http_end *end = user;

    assert_non_null(what);
    assert_null(fl_exchange_head(exchange));
    end->status = status;
    if (end->notes != NULL)
        chop_note(end->notes, "!%u", status);
    tell(end, HTTP_BAD, exchange);
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    http_end *end = user;

    end->lost = why->status;
    if (end->notes != NULL)
        chop_note(end->notes, "-%s-", fl_status_name(why->status));
    tell(end, HTTP_LOST, exchange);
}

static void on_writable(fl_exchange *exchange, void *user)
{
    tell(user, HTTP_WRITABLE, exchange);
}

static void on_over(void *user)
{
    http_end *end = user;

    if (end->notes != NULL)
        chop_note(end->notes, "|");
    tell(end, HTTP_OVER, NULL);
}

static const fl_http_events events = {
    .write = write_out,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_bad = on_bad,
    .on_lost = on_lost,
    .on_writable = on_writable,
    .on_over = on_over,
};

static uint64_t read_clock(void *user)
{
    return ((const http_end *)user)->now_ms;
}

bool http_end_open(http_end *end, bool client, const fl_http_limits *limits)
{
    fl_clock clock = {read_clock, end};
    fl_http_options options = {
        .version = 20,
        .client = client,
        .limits = &end->limits,
        .events = &events,
        .user = end,
        .clock = &clock,
    };

    end->limits = fl_http_limits_fill(limits);
    fl_status rc = fl_http_new(&options, &end->http);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    assert_true((rc == FL_OK) == (end->http != NULL));
    return rc == FL_OK;
}

void http_end_forget(http_end *end)
{
    ration_raw_free(end->out);
    end->out = NULL;
    end->out_len = 0;
}

void http_end_close(http_end *end)
{
    fl_http_free(end->http);
    end->http = NULL;
    http_end_forget(end);
}

bool http_end_deliver(http_end *from, http_end *to)
{
    char *bytes = from->out;
    fl_span span = {bytes, from->out_len};

    if (span.len == 0)
        return false;
    from->out = NULL;
    from->out_len = 0;
    if (to->http != NULL)
        fl_http_feed(to->http, span);
    ration_raw_free(bytes);
    return true;
}

void http_end_settle(http_end *a, http_end *b)
{
    bool moved = true;

    while (moved) {
        moved = http_end_deliver(a, b);
        moved |= http_end_deliver(b, a);
    }
}

static fl_exchange *request(http_end *end, const fl_heading *heading)
{
    fl_exchange *exchange = NULL;
    fl_status rc = fl_http_request(end->http, heading, NULL, &exchange);

    assert_true((rc == FL_OK) == (exchange != NULL));
    end->exchange = exchange;
    return exchange;
}

fl_exchange *http_end_get(http_end *end, const char *target)
{
    return request(end, &(fl_heading){.method = FL_SPAN("GET"),
                                      .target = fl_span_of(target),
                                      .scheme = FL_SPAN("http"),
                                      .authority = FL_SPAN("a.test")});
}

fl_exchange *http_end_post(http_end *end, int64_t length)
{
    return request(end, &(fl_heading){.method = FL_SPAN("POST"),
                                      .target = FL_SPAN("/mcp"),
                                      .scheme = FL_SPAN("http"),
                                      .authority = FL_SPAN("a.test"),
                                      .length = length});
}

void http_end_answer(fl_exchange *exchange, const char *text)
{
    fl_heading heading = {.status = 200};
    fl_span body = fl_span_of(text);

    if (fl_exchange_answer(exchange, &heading, &body, 1) != FL_OK)
        fl_exchange_reset(exchange);
}

void http_end_answer_all(http_end *end, http_event event, fl_exchange *exchange)
{
    (void)end;
    if (event == HTTP_END || event == HTTP_BAD)
        http_end_answer(exchange, "yes");
}

void http_end_preface(http_end *end)
{
    append(end, FL_SPAN("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    http_end_frame(end, SETTINGS, 0, 0, (fl_span){0});
}

void http_end_frame(http_end *end, unsigned type, unsigned flags,
                    uint32_t stream, fl_span payload)
{
    const unsigned char head[FRAME_HEAD] = {
        (unsigned char)(payload.len >> 16),
        (unsigned char)(payload.len >> 8),
        (unsigned char)payload.len,
        (unsigned char)type,
        (unsigned char)flags,
        (unsigned char)(stream >> 24),
        (unsigned char)(stream >> 16),
        (unsigned char)(stream >> 8),
        (unsigned char)stream,
    };

    append(end, (fl_span){(const char *)head, sizeof head});
    append(end, payload);
}

void http_end_raw_get(http_end *end, uint32_t stream, bool whole)
{
    /* :method GET, :scheme http, :path /, :authority a */
    http_end_frame(end, HEADERS, whole ? 5 : 4, stream,
                   FL_SPAN("\x82\x86\x84\x01\x01"
                           "a"));
}

static uint32_t number(const char *bytes, size_t count)
{
    uint32_t n = 0;

    for (size_t i = 0; i < count; i++)
        n = n << 8 | (unsigned char)bytes[i];
    return n;
}

static size_t walk(const http_end *end, unsigned type, int64_t *error)
{
    size_t found = 0, at = 0;

    while (end->out_len - at >= FRAME_HEAD) {
        const char *frame = end->out + at;
        if (number(frame + 3, 1) == type) {
            found++;
            *error = type == RST_STREAM ? number(frame + FRAME_HEAD, 4)
                     : type == GOAWAY   ? number(frame + FRAME_HEAD + 4, 4)
                                        : 0;
        }
        at += FRAME_HEAD + number(frame, 3);
    }
    assert_int_equal(at, end->out_len);
    return found;
}

size_t http_end_count(const http_end *end, unsigned type)
{
    int64_t error;

    return walk(end, type, &error);
}

int64_t http_end_error(const http_end *end, unsigned type)
{
    int64_t error = -1;

    (void)walk(end, type, &error);
    return error;
}
