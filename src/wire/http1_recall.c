/*
 * http1_recall.c - how the last head began, for the next that begins like it.
 */
#include "wire/http1_recall.h"

#include "base/mem.h"
#include "base/span.h"

#include <assert.h>

fl_http_recall *fl_http_recall_new(void)
{
    return fl_mem_zalloc(sizeof(fl_http_recall));
}

void fl_http_recall_free(fl_http_recall *recall)
{
    fl_mem_free(recall);
}

#define BIT(name) ((uint64_t)1 << FL_FIELD_##name)

static_assert(FL_FIELD_COUNT <= 64, "one bit for each");

/* Said alike by all clients of a kind, and no secret of any. */
static const uint64_t public_fields =
    BIT(ACCEPT) | BIT(ACCEPT_ENCODING) | BIT(CONNECTION) | BIT(CONTENT_LENGTH) |
    BIT(CONTENT_TYPE) | BIT(HOST) | BIT(MCP_METHOD) | BIT(MCP_NAME) |
    BIT(MCP_PROTOCOL_VERSION) | BIT(USER_AGENT);

/* The URI of a resource may be one, and may come in an envelope of Base64. */
static bool is_public(const fl_field *field)
{
    if (field->id == FL_FIELD_MCP_NAME)
        return fl_span_find(field->value, ':') == field->value.len &&
               !fl_span_starts(field->value, FL_SPAN("=?"));
    return (public_fields >> field->id & 1) != 0;
}

/* How many bytes two texts begin with alike. */
static size_t common_length(const char *a, const char *b, size_t len)
{
    size_t n = 0;

    if (memcmp(a, b, len) == 0)
        return len;
    while (len - n >= 8 && fl_span_differ8(a + n, b + n) == 0)
        n += 8;
    while (n < len && a[n] == b[n])
        n++;
    return n;
}

static size_t place_of(const fl_http_recall *recall, fl_span part)
{
    return (size_t)(part.ptr - recall->text);
}

/* Where the line of a field starts, or behind the last. */
static size_t line_start(const fl_http_recall *recall, unsigned index)
{
    return index < recall->count ? place_of(recall, recall->fields[index].name)
                                 : recall->size;
}

void fl_http1_recall_use(const fl_http_limits *limits, fl_span bytes,
                         fl_http1_message *message, fl_http1_mark *mark)
{
    const fl_http_recall *recall = limits->recall;
    fl_head *head = &message->head;
    size_t most = bytes.len < recall->size ? bytes.len : recall->size;
    size_t same = common_length(bytes.ptr, recall->text, most);
    unsigned count =
        recall->count < limits->max_fields ? recall->count : limits->max_fields;

    while (count > 0 && line_start(recall, count) > same)
        count--;
    if (same == 0 || line_start(recall, count) > same ||
        recall->target.len > limits->max_target)
        return;
    head->version = recall->version;
    head->method = fl_span_moved(recall->method, recall->text, bytes.ptr);
    head->target = fl_span_moved(recall->target, recall->text, bytes.ptr);
    for (unsigned i = 0; i < count; i++) {
        message->fields[i] =
            fl_field_moved(&recall->fields[i], recall->text, bytes.ptr);
        fl_http1_head_note(message, i);
    }
    *mark = (fl_http1_mark){line_start(recall, count), count, true};
}

/* As many fields at the start as may be kept. */
static unsigned count_public(const fl_head *head)
{
    unsigned n = 0;

    while (n < head->count && n < FL_HTTP1_RECALL_FIELDS &&
           is_public(&head->fields[n]))
        n++;
    return n;
}

/* Where the text ends whose last field is the one before `count`. */
static size_t text_size(const fl_http1_message *message, const char *start,
                        unsigned count)
{
    const fl_head *head = &message->head;

    return count < head->count ? (size_t)(head->fields[count].name.ptr - start)
                               : message->size - 2; /* without the empty line */
}

/* A target that is not as it was written has been reduced from another; one
 * with a query may name a session. */
static bool may_keep(const fl_head *head)
{
    return head->target.ptr == head->method.ptr + head->method.len + 1 &&
           fl_span_find(head->target, '?') == head->target.len;
}

void fl_http1_recall_learn(fl_http_recall *recall, fl_span bytes,
                           const fl_http1_message *message, unsigned used)
{
    const fl_head *head = &message->head;
    unsigned count = count_public(head);
    size_t size = text_size(message, bytes.ptr, count);

    if (count <= used + 1 || size > sizeof recall->text || !may_keep(head))
        return;
    memcpy(recall->text, bytes.ptr, size);
    recall->size = size;
    recall->version = head->version;
    recall->method = fl_span_moved(head->method, bytes.ptr, recall->text);
    recall->target = fl_span_moved(head->target, bytes.ptr, recall->text);
    recall->count = count;
    for (unsigned i = 0; i < count; i++)
        recall->fields[i] =
            fl_field_moved(&head->fields[i], bytes.ptr, recall->text);
}
