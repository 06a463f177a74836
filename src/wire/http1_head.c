/*
 * http1_head.c - the head of an HTTP/1.1 message, read strictly.
 *
 * A line is read where it lies. Every reading function goes from left to right
 * and tells the first thing that is wrong or missing, so its verdict on a
 * beginning stays its verdict when more comes: that is why it makes no
 * difference how the peer cut the bytes. A head that comes in pieces is read
 * line by line, and the mark remembers how far that has got; when the last
 * line is there the whole is read once more, to fill in the fields, which by
 * then do not move any more.
 *
 * What can only be judged when all fields are known (is there one Host? one
 * length?) is in http1_rules.c; what need not be read again because the head
 * before began with the same bytes, in http1_recall.c.
 */
#include "wire/http1_head.h"

#include "base/mem.h"
#include "base/span.h"
#include "wire/bytes.h"
#include "wire/http1_recall.h"
#include "wire/http1_rules.h"

enum { VERSION_SIZE = 8 };

/* Where we are, and up to where we may read. */
typedef struct cursor {
    const char *at;
    const char *end;
    fl_http1_fault *fault;
} cursor;

static size_t left(const cursor *c)
{
    return (size_t)(c->end - c->at);
}

static fl_status refuse(cursor *c, unsigned status, const char *what)
{
    *c->fault = (fl_http1_fault){status, what};
    return FL_E_BAD_MESSAGE;
}

/* Steps over a CRLF; `what` is wrong when something else stands there. */
static fl_status end_line(cursor *c, const char *what)
{
    if (left(c) == 0)
        return FL_AGAIN;
    if (c->at[0] == '\n')
        return refuse(c, 400, "a line ends in LF without CR");
    if (c->at[0] != '\r')
        return refuse(c, 400, what);
    if (left(c) == 1)
        return FL_AGAIN;
    if (c->at[1] != '\n')
        return refuse(c, 400, "CR without LF");
    c->at += 2;
    return FL_OK;
}

static fl_status read_method(cursor *c, fl_head *head)
{
    size_t n = 0;

    while (n < left(c) && fl_bytes_is_token(c->at[n]))
        if (++n > FL_HTTP1_METHOD_MAX)
            return refuse(c, 501, "method too long");
    if (n == left(c))
        return FL_AGAIN;
    if (n == 0 || c->at[n] != ' ')
        return refuse(c, 400, "malformed method");
    head->method = (fl_span){c->at, n};
    c->at += n + 1;
    return FL_OK;
}

static fl_status read_target(cursor *c, fl_head *head, size_t max)
{
    size_t n = fl_bytes_until_hidden(c->at, left(c));

    if (n > max)
        return refuse(c, 414, "target too long");
    if (n == left(c))
        return FL_AGAIN;
    if (n == 0 || c->at[n] != ' ')
        return refuse(c, 400, "malformed target");
    head->target = (fl_span){c->at, n};
    c->at += n + 1;
    return FL_OK;
}

/* A byte at a time, so that what is wrong is told before the rest comes. */
static fl_status check_version(cursor *c)
{
    static const char form[] = "HTTP/0.0"; /* a zero stands for any digit */

    for (size_t i = 0; i < VERSION_SIZE; i++) {
        if (i == left(c))
            return FL_AGAIN;
        if (form[i] == '0' ? !fl_bytes_is_digit(c->at[i]) : c->at[i] != form[i])
            return refuse(c, 400, "malformed version");
    }
    return c->at[5] == '1' && c->at[7] <= '1'
               ? FL_OK
               : refuse(c, 505, "version is neither HTTP/1.0 nor HTTP/1.1");
}

static fl_status read_version(cursor *c, fl_head *head)
{
    bool usual =
        left(c) >= VERSION_SIZE && memcmp(c->at, "HTTP/1.1", VERSION_SIZE) == 0;
    fl_status rc = usual ? FL_OK : check_version(c);

    if (rc != FL_OK)
        return rc;
    head->version = c->at[7] == '1' ? 11 : 10;
    c->at += VERSION_SIZE;
    return FL_OK;
}

/* RFC 9112 2.2: one empty line before a request may be overlooked. */
static fl_status skip_empty_line(cursor *c)
{
    return left(c) > 0 && c->at[0] == '\r' ? end_line(c, NULL) : FL_OK;
}

static fl_status read_request_line(cursor *c, fl_head *head, size_t max_target)
{
    fl_status rc = skip_empty_line(c);

    if (rc == FL_OK)
        rc = read_method(c, head);
    if (rc == FL_OK)
        rc = read_target(c, head, max_target);
    if (rc == FL_OK)
        rc = read_version(c, head);
    if (rc == FL_OK)
        rc = end_line(c, "something after the version");
    return rc;
}

static fl_status read_code(cursor *c, fl_head *head)
{
    unsigned code = 0;

    for (size_t i = 0; i < 4; i++) {
        if (i == left(c))
            return FL_AGAIN;
        if (i == 0 ? c->at[i] != ' ' : !fl_bytes_is_digit(c->at[i]))
            return refuse(c, 502, "malformed status");
        code = i == 0 ? 0 : code * 10 + (unsigned)(c->at[i] - '0');
    }
    if (code < 100)
        return refuse(c, 502, "malformed status");
    head->status = code;
    c->at += 4;
    return FL_OK;
}

/* The space before a reason that is not there is often left out, too. */
static fl_status read_reason(cursor *c)
{
    if (left(c) > 0 && c->at[0] != '\r' && c->at[0] != ' ')
        return refuse(c, 502, "malformed status");
    c->at += fl_bytes_until_control(c->at, left(c));
    return end_line(c, "control character in the reason");
}

static fl_status read_status_line(cursor *c, fl_head *head)
{
    fl_status rc = read_version(c, head);

    if (rc == FL_OK)
        rc = read_code(c, head);
    if (rc == FL_OK)
        rc = read_reason(c);
    return rc;
}

/* Tells what is wrong with a name that is none of ours, if anything. */
static fl_status check_name(cursor *c, size_t len)
{
    size_t n = 0;

    while (n < len && fl_bytes_is_token(c->at[n]))
        n++;
    if (n == left(c))
        return FL_AGAIN;
    if (n == len && n > 0)
        return FL_OK;
    if (n == 0 && fl_bytes_is_blank(c->at[0]))
        return refuse(c, 400, "folded line");
    if (n > 0 && fl_bytes_is_blank(c->at[n]))
        return refuse(c, 400, "white space before a colon");
    return refuse(c, 400,
                  n == len ? "field without a name" : "malformed field name");
}

/* The names we know are well formed, so only the others are looked at. */
static fl_status read_name(cursor *c, fl_field *field)
{
    size_t n = fl_bytes_until(':', c->at, left(c));

    field->name = (fl_span){c->at, n};
    field->id = n < left(c) ? fl_field_find(field->name) : FL_FIELD_OTHER;
    fl_status rc = field->id != FL_FIELD_OTHER ? FL_OK : check_name(c, n);
    if (rc == FL_OK)
        c->at += n + 1;
    return rc;
}

static fl_status read_value(cursor *c, fl_field *field)
{
    while (left(c) > 0 && fl_bytes_is_blank(c->at[0]))
        c->at++;

    const char *start = c->at;
    c->at += fl_bytes_until_control(start, left(c));
    const char *end = c->at;
    while (end > start && fl_bytes_is_blank(end[-1]))
        end--;
    field->value = (fl_span){start, (size_t)(end - start)};
    return end_line(c, "control character in a field");
}

static fl_status read_field(cursor *c, fl_field *field)
{
    fl_status rc = read_name(c, field);
    return rc == FL_OK ? read_value(c, field) : rc;
}

/* Nearly every field is written in one way: a name, a colon, a space, a value,
 * and all of it is there. Reads such a one and returns where the next starts;
 * NULL is no verdict, only that it takes a closer look. */
static const char *glance_field(const char *at, const char *end,
                                fl_field *field)
{
    size_t n = fl_bytes_until(':', at, (size_t)(end - at));

    if ((size_t)(end - at) - n < 4)
        return NULL;
    field->name = (fl_span){at, n};
    field->id = fl_field_find(field->name);
    if (field->id == FL_FIELD_OTHER && !fl_field_name_ok(field->name))
        return NULL;

    const char *value = at + n + 1 + (at[n + 1] == ' ' ? 1 : 0);
    n = fl_bytes_until_control(value, (size_t)(end - value));
    if ((size_t)(end - value) - n < 2 || value[n] != '\r' ||
        value[n + 1] != '\n')
        return NULL;
    if (n > 0 &&
        (fl_bytes_is_blank(value[0]) || fl_bytes_is_blank(value[n - 1])))
        return NULL;
    field->value = (fl_span){value, n};
    return value + n + 2;
}

void fl_http1_head_note(fl_http1_message *message, unsigned index)
{
    fl_field_id id = message->fields[index].id;
    uint8_t *at = &message->head.at[id];

    if (id == FL_FIELD_OTHER)
        return;
    if (*at == 0)
        *at = (uint8_t)(index + 1);
    else if (fl_field_is_single(id) || id == FL_FIELD_TRANSFER_ENCODING)
        message->twice = true;
}

static fl_status read_start(fl_http1_message *m, cursor *c, fl_http1_kind kind,
                            const fl_http_limits *limits)
{
    return kind == FL_HTTP1_REQUEST
               ? read_request_line(c, &m->head, limits->max_target)
               : read_status_line(c, &m->head);
}

/* As many of them as there are in a row, up to `max`. */
static unsigned glance_fields(fl_http1_message *m, cursor *c, unsigned count,
                              unsigned max)
{
    const char *at = c->at, *end = c->end;

    while (count < max && at < end && *at != '\r') {
        const char *next = glance_field(at, end, &m->fields[count]);
        if (next == NULL)
            break;
        fl_http1_head_note(m, count);
        count++;
        at = next;
    }
    c->at = at;
    return count;
}

/* All fields that are there, from the mark on. FL_OK: and the empty line. */
static fl_status read_fields(fl_http1_message *m, fl_http1_mark *mark,
                             cursor *c, unsigned max)
{
    const char *start = c->at - mark->line;

    for (;;) {
        mark->count = glance_fields(m, c, mark->count, max);
        mark->line = (size_t)(c->at - start);
        if (left(c) > 0 && (c->at[0] == '\r' || c->at[0] == '\n'))
            return end_line(c, NULL);
        unsigned index = mark->count < max ? mark->count : 0;
        fl_status rc = read_field(c, &m->fields[index]);
        if (rc != FL_OK)
            return rc;
        if (mark->count == max)
            return refuse(c, 431, "too many fields");
        fl_http1_head_note(m, index);
        mark->count++;
        mark->line = (size_t)(c->at - start);
    }
}

static fl_status read_lines(fl_http1_message *m, fl_http1_mark *mark, cursor *c,
                            fl_http1_kind kind, const fl_http_limits *limits)
{
    const char *start = c->at;

    c->at += mark->line;
    if (!mark->begun) {
        fl_status rc = read_start(m, c, kind, limits);
        if (rc != FL_OK)
            return rc;
        mark->begun = true;
        mark->line = (size_t)(c->at - start);
    }
    fl_status rc = read_fields(m, mark, c, limits->max_fields);
    m->size = (size_t)(c->at - start);
    return rc;
}

static fl_status judge(fl_http1_message *m, fl_http1_kind kind)
{
    return kind == FL_HTTP1_REQUEST ? fl_http1_rules_request(m)
                                    : fl_http1_rules_response(m);
}

fl_status fl_http1_head_read(fl_http1_message *message, fl_http1_mark *mark,
                             fl_http1_kind kind, const fl_http_limits *limits,
                             fl_span bytes)
{
    fl_http_recall *recall = kind == FL_HTTP1_REQUEST ? limits->recall : NULL;
    bool resumed = mark->begun, full = bytes.len >= limits->max_head;
    cursor c = {bytes.ptr, bytes.ptr, &message->fault};

    if (bytes.len == 0)
        return FL_AGAIN;
    c.end += full ? limits->max_head : bytes.len;
    message->head = (fl_head){.fields = message->fields};
    message->twice = false;
    if (recall != NULL && !resumed)
        fl_http1_recall_use(limits, (fl_span){c.at, left(&c)}, message, mark);
    unsigned known = mark->count;
    fl_status rc = read_lines(message, mark, &c, kind, limits);
    if (rc == FL_AGAIN && full)
        return mark->begun ? refuse(&c, 431, "head too large")
                           : refuse(&c, 414, "start line too long");
    if (rc != FL_OK)
        return rc;
    if (resumed) {
        *mark = (fl_http1_mark){0};
        return fl_http1_head_read(message, mark, kind, limits, bytes);
    }
    message->head.count = mark->count;
    rc = judge(message, kind);
    if (rc == FL_OK && recall != NULL && known < mark->count)
        fl_http1_recall_learn(recall, bytes, message, known);
    return rc;
}

fl_http1_kept *fl_http1_head_keep(const fl_http1_message *message, fl_span text)
{
    const fl_head *head = &message->head;
    size_t size =
        sizeof(fl_http1_kept) + head->count * sizeof(fl_field) + text.len;
    fl_http1_kept *kept = fl_mem_alloc(size);

    if (kept == NULL)
        return NULL;
    char *copy = (char *)(kept->fields + head->count);
    memcpy(copy, text.ptr, text.len);
    kept->size = size;
    kept->head = *head;
    kept->head.method = fl_span_moved(head->method, text.ptr, copy);
    kept->head.target = fl_span_moved(head->target, text.ptr, copy);
    kept->head.authority = fl_span_moved(head->authority, text.ptr, copy);
    kept->head.fields = kept->fields;
    for (size_t i = 0; i < head->count; i++)
        kept->fields[i] = fl_field_moved(&head->fields[i], text.ptr, copy);
    return kept;
}
