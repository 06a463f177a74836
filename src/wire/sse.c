/*
 * sse.c - Server-Sent Events, both directions (WHATWG HTML 9.2).
 *
 * wire/lines cuts the stream, which is most of the work; what is left is to
 * gather fields until a blank line. The last event ID is kept twice: what the
 * event in hand says, and what counts. A blank line swaps the two, so it can
 * not run out of memory, and an event that is cut off has changed nothing.
 *
 * A stream with no event begun holds no memory but its last event ID.
 */
#include "wire/sse.h"

#include "base/span.h"

#include <inttypes.h>

#define MARK "\xEF\xBB\xBF"

/* What may stand before the longest value there can be. */
enum { LINE_SLACK = sizeof MARK "data: " - 1 };

static void init_lines(fl_sse *sse)
{
    fl_lines_init(&sse->lines, FL_LINES_ANY, sse->max + LINE_SLACK);
}

void fl_sse_init(fl_sse *sse, size_t max)
{
    *sse = (fl_sse){.max = max, .retry_ms = UINT64_MAX};
    init_lines(sse);
    fl_buf_init(&sse->type, max);
    fl_buf_init(&sse->data, max + 1); /* each line of it has an LF */
    fl_buf_init(&sse->id, max);
    fl_buf_init(&sse->last_id, max);
}

/* Nothing is in hand any more, and no memory is held for it. */
static void clear(fl_sse *sse)
{
    fl_buf_reset(&sse->type);
    fl_buf_reset(&sse->data);
    fl_buf_reset(&sse->id);
    sse->has_id = sse->given = sse->dropping = false;
}

void fl_sse_deinit(fl_sse *sse)
{
    clear(sse);
    fl_buf_reset(&sse->last_id);
    fl_lines_deinit(&sse->lines);
    *sse = (fl_sse){0};
}

void fl_sse_restart(fl_sse *sse)
{
    clear(sse);
    fl_lines_deinit(&sse->lines);
    init_lines(sse);
    sse->begun = false;
}

static void end_event(fl_sse *sse)
{
    fl_buf_truncate(&sse->type, 0);
    fl_buf_truncate(&sse->data, 0);
    sse->given = sse->dropping = false;
}

/* Between two reads an idle stream keeps nothing. */
static void rest(fl_sse *sse)
{
    fl_lines_rest(&sse->lines);
    if (fl_buf_len(&sse->type) == 0 && fl_buf_len(&sse->data) == 0 &&
        !sse->has_id && !sse->dropping)
        clear(sse);
}

static fl_status set(fl_buf *buf, fl_span value)
{
    fl_buf_truncate(buf, 0);
    return fl_buf_append(buf, value);
}

static fl_status set_id(fl_sse *sse, fl_span value)
{
    if (fl_span_find(value, '\0') < value.len)
        return FL_OK;
    fl_status rc = set(&sse->id, value);
    sse->has_id = rc == FL_OK;
    return rc;
}

static fl_status add_data(fl_sse *sse, fl_span value)
{
    fl_status rc = fl_buf_append(&sse->data, value);

    return rc == FL_OK ? fl_buf_append(&sse->data, FL_SPAN("\n")) : rc;
}

/* Digits and nothing else, or the field is ignored. What no clock can count
 * is as long as can be. */
static void set_retry(fl_sse *sse, fl_span value)
{
    const uint64_t most = UINT64_MAX - 1;
    uint64_t ms = 0;

    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return;
        uint64_t digit = (uint64_t)(value.ptr[i] - '0');
        ms = ms > (most - digit) / 10 ? most : ms * 10 + digit;
    }
    if (value.len > 0)
        sse->retry_ms = ms;
}

/* A comment is a field without a name, and so no field of ours. */
static fl_status take_field(fl_sse *sse, fl_span line)
{
    size_t colon = fl_span_find(line, ':');
    fl_span name = {line.ptr, colon}, value = {0};

    if (colon < line.len)
        value = fl_span_from(line, colon + 1);
    if (value.len > 0 && value.ptr[0] == ' ')
        value = fl_span_from(value, 1);

    if (fl_span_equal(name, FL_SPAN("data")))
        return sse->dropping ? FL_OK : add_data(sse, value);
    if (fl_span_equal(name, FL_SPAN("event")))
        return sse->dropping ? FL_OK : set(&sse->type, value);
    if (fl_span_equal(name, FL_SPAN("id")))
        return set_id(sse, value);
    if (fl_span_equal(name, FL_SPAN("retry")))
        set_retry(sse, value);
    return FL_OK;
}

static void commit_id(fl_sse *sse)
{
    if (!sse->has_id)
        return;
    fl_buf old = sse->last_id;
    sse->last_id = sse->id;
    sse->id = old;
    sse->has_id = false;
}

/* At a blank line: says whether there is an event to hand out. */
static bool dispatch(fl_sse *sse, fl_sse_event *event)
{
    commit_id(sse);
    if (fl_buf_len(&sse->data) == 0) {
        end_event(sse);
        return false;
    }
    event->type = fl_buf_len(&sse->type) > 0 ? fl_buf_view(&sse->type)
                                             : FL_SPAN("message");
    event->data = fl_buf_view(&sse->data);
    event->data.len--; /* the LF of its last line */
    event->id = fl_buf_view(&sse->last_id);
    sse->given = true;
    return true;
}

/* Lets go of what there is of the event; only its id still counts. */
static fl_status drop(fl_sse *sse, fl_status why)
{
    fl_buf_reset(&sse->type);
    fl_buf_reset(&sse->data);
    sse->dropping = true;
    return why;
}

fl_status fl_sse_next(fl_sse *sse, fl_span *in, fl_sse_event *event)
{
    fl_status rc;
    fl_span line;

    *event = (fl_sse_event){0};
    if (sse->given)
        end_event(sse);
    while ((rc = fl_lines_next(&sse->lines, in, &line)) != FL_AGAIN) {
        if (!sse->begun && fl_span_starts(line, FL_SPAN(MARK)))
            line = fl_span_from(line, sizeof MARK - 1);
        sse->begun = true;
        if (rc == FL_OK && line.len > 0)
            rc = take_field(sse, line);
        else if (rc == FL_OK && dispatch(sse, event))
            return FL_OK;
        if (rc != FL_OK && !sse->dropping)
            return drop(sse, rc);
    }
    rest(sse);
    return FL_AGAIN;
}

static bool is_one_line(fl_span text)
{
    return fl_lines_find_end(text) == text.len;
}

static fl_status append_field(fl_buf *out, const char *name, fl_span value)
{
    fl_status rc = fl_buf_append(out, fl_span_of(name));

    if (rc == FL_OK)
        rc = fl_buf_append(out, value);
    return rc == FL_OK ? fl_buf_append(out, FL_SPAN("\n")) : rc;
}

static fl_status append_fields(fl_buf *out, const fl_sse_out *fields)
{
    fl_status rc = FL_OK;

    if (fields->id.len > 0)
        rc = append_field(out, "id: ", fields->id);
    if (rc == FL_OK && fields->event.len > 0)
        rc = append_field(out, "event: ", fields->event);
    if (rc == FL_OK && fields->retry_ms > 0)
        rc = fl_buf_printf(out, "retry: %" PRIu64 "\n", fields->retry_ms);
    return rc;
}

/* One part. A CRLF is one line end even if it is in two parts. */
static fl_status append_part(fl_buf *out, fl_span part, bool *after_cr)
{
    fl_status rc = FL_OK;

    while (rc == FL_OK && part.len > 0) {
        if (*after_cr && part.ptr[0] == '\n') {
            part = fl_span_from(part, 1);
            *after_cr = false;
            continue;
        }
        size_t n = fl_lines_find_end(part);
        rc = fl_buf_append(out, (fl_span){part.ptr, n});
        *after_cr = n < part.len && part.ptr[n] == '\r';
        if (rc == FL_OK && n < part.len)
            rc = fl_buf_append(out, FL_SPAN("\ndata: "));
        part = fl_span_from(part, n < part.len ? n + 1 : n);
    }
    return rc;
}

static fl_status append_data(fl_buf *out, const fl_span *parts, size_t count)
{
    bool after_cr = false;

    if (fl_span_total(parts, count) == 0)
        return fl_buf_append(out, FL_SPAN("data:\n\n"));
    fl_status rc = fl_buf_append(out, FL_SPAN("data: "));
    for (size_t i = 0; rc == FL_OK && i < count; i++)
        rc = append_part(out, parts[i], &after_cr);
    return rc == FL_OK ? fl_buf_append(out, FL_SPAN("\n\n")) : rc;
}

fl_status fl_sse_write(fl_buf *out, const fl_sse_out *fields,
                       const fl_span *parts, size_t count)
{
    size_t before = fl_buf_len(out);

    if (!is_one_line(fields->id) || !is_one_line(fields->event) ||
        fl_span_find(fields->id, '\0') < fields->id.len ||
        fl_span_find(fields->event, '\0') < fields->event.len)
        return FL_E_INVALID;
    fl_status rc = append_fields(out, fields);
    if (rc == FL_OK)
        rc = append_data(out, parts, count);
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}

fl_status fl_sse_write_comment(fl_buf *out, fl_span text)
{
    size_t before = fl_buf_len(out);

    if (!is_one_line(text))
        return FL_E_INVALID;
    fl_status rc = append_field(out, ": ", text);
    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("\n"));
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}
