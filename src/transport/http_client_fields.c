/*
 * http_client_fields.c - what a request's head says.
 *
 * What goes with every request is prepared once, when the link is made, and
 * custom fields are in that set; they may not speak for us, so that a
 * configuration file cannot break the protocol by naming Content-Length.
 *
 * Of revision 2026-07-28 a request names its method and its object in the
 * head, for those who route without reading bodies ("Streamable HTTP, Request
 * Metadata"). Names are free text, fields are not: what cannot stand there
 * goes as =?base64?...?=.
 */
#include "transport/http_client_impl.h"

#include "base/base64.h"
#include "base/span.h"
#include "base/status.h"
#include "rpc/extract.h"
#include "transport/http_options.h"
#include "wire/bytes.h"

enum { MADE_MAX = 64 * 1024 };

static const fl_span sentinel = {"=?base64?", 9}, sentinel_end = {"?=", 2};

static void start(fl_http_head *head)
{
    head->count = 0;
    fl_buf_init(&head->text, MADE_MAX);
    fl_auth_fields_init(&head->shown);
}

void fl_http_head_deinit(fl_http_head *head)
{
    fl_buf_reset(&head->text);
    fl_auth_fields_deinit(&head->shown);
}

static void add(fl_http_head *head, fl_field_id id, fl_span value)
{
    head->fields[head->count++] = (fl_field){fl_field_name(id), value, id};
}

static bool ends_with(fl_span text, fl_span end)
{
    return text.len >= end.len &&
           memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0;
}

/* Visible ASCII and spaces within, and nothing that looks encoded. */
static bool is_plain(fl_span text)
{
    if (text.ptr == NULL || text.len == 0)
        return true;
    for (size_t i = fl_bytes_until_hidden(text.ptr, text.len); i < text.len;
         i++)
        if (text.ptr[i] < ' ' || text.ptr[i] > '~')
            return false;
    if (text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ')
        return false;
    return !(fl_span_starts(text, sentinel) && ends_with(text, sentinel_end));
}

/* Replaces what lies in `text` from `at` on by its encoding. */
static fl_status encode_from(fl_buf *text, size_t at)
{
    fl_span plain = fl_span_from(fl_buf_view(text), at);
    fl_buf made;

    fl_buf_init(&made, 2 * plain.len + 64);
    fl_status rc = fl_buf_append(&made, sentinel);
    if (rc == FL_OK)
        rc = fl_base64_encode(plain, &made);
    if (rc == FL_OK)
        rc = fl_buf_append(&made, sentinel_end);
    fl_buf_truncate(text, at);
    if (rc == FL_OK)
        rc = fl_buf_append(text, fl_buf_view(&made));
    fl_buf_reset(&made);
    return rc;
}

/* A value. Most stand in the message as they are to be sent, and are lent from
 * there. Others are made, and lie in the head's text; the view of those comes
 * last, for the buffer may move while it grows. */
typedef struct made {
    const char *lent; /* or NULL */
    size_t at, len;
} made;

/* What was appended from `at` on is a value, unless it cannot be one as it
 * is. */
static fl_status seal(fl_http_head *head, size_t at, made *out)
{
    fl_status rc = FL_OK;

    if (!is_plain(fl_span_from(fl_buf_view(&head->text), at)))
        rc = encode_from(&head->text, at);
    *out = (made){.at = at, .len = fl_buf_len(&head->text) - at};
    return rc;
}

/* `text` is what stands between the quotes of a string. */
static fl_status make(fl_http_head *head, fl_span text, made *out)
{
    size_t at = fl_buf_len(&head->text);

    if (text.len > 0 && fl_span_find(text, '\\') == text.len &&
        is_plain(text)) {
        *out = (made){.lent = text.ptr, .len = text.len};
        return FL_OK;
    }
    fl_status rc = fl_extract_meaning(text, &head->text);
    return rc == FL_OK ? seal(head, at, out) : rc;
}

static fl_span view_of(const fl_http_head *head, made value)
{
    fl_span text = FL_SPAN("");

    if (value.lent != NULL)
        return (fl_span){value.lent, value.len};
    if (value.len > 0)
        text = fl_span_from(fl_buf_view(&head->text), value.at);
    text.len = value.len;
    return text;
}

static void add_made(fl_http_head *head, fl_field_id id, made value)
{
    add(head, id, view_of(head, value));
}

/* HTTP/2 has names in lower case, and so do we everywhere. */
static void lower_ascii(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            text[i] = (char)(text[i] + ('a' - 'A'));
}

/* The arguments that are repeated, until all is made and nothing moves. */
enum { PARAMS_MAX = FL_HTTP_FIELDS_ROOM - 8 };
struct params {
    fl_http_head *head;
    size_t count;
    made name[PARAMS_MAX], value[PARAMS_MAX];
};

static fl_status make_param(void *user, fl_span name, fl_span text)
{
    struct params *params = user;
    fl_buf *out = &params->head->text;
    size_t at = fl_buf_len(out);

    if (!fl_field_name_ok(name) || params->count == PARAMS_MAX)
        return FL_OK; /* annotated wrongly: the server will say so */
    fl_status rc = fl_buf_append(out, FL_SPAN("mcp-param-"));
    if (rc == FL_OK)
        rc = fl_buf_append(out, name);
    if (rc != FL_OK)
        return rc;
    params->name[params->count] = (made){.at = at, .len = fl_buf_len(out) - at};
    lower_ascii(out->ptr + out->start + at, fl_buf_len(out) - at);
    at = fl_buf_len(out);
    rc = fl_buf_append(out, text);
    return rc == FL_OK ? seal(params->head, at, &params->value[params->count++])
                       : rc;
}

static fl_status add_modern(fl_http_head *head, const fl_http_client *client,
                            const fl_msg *msg, const fl_claim *claim)
{
    struct params params;
    fl_span name = fl_extract_object(msg);
    made version = {0}, method = {0}, object = {0};
    fl_status rc = make(head, fl_extract_inside(claim->version), &version);

    params.head = head; /* the rest of it is large */
    params.count = 0;
    if (rc == FL_OK)
        rc = make(head, msg->method, &method);
    if (rc == FL_OK)
        rc = make(head, fl_extract_inside(name), &object);
    if (rc == FL_OK)
        rc = fl_mirrors_each(&client->mirrors, msg, make_param, &params);
    if (rc != FL_OK)
        return rc;
    add_made(head, FL_FIELD_MCP_PROTOCOL_VERSION, version);
    add_made(head, FL_FIELD_MCP_METHOD, method);
    if (name.len > 0)
        add_made(head, FL_FIELD_MCP_NAME, object);
    for (size_t i = 0; i < params.count; i++) {
        fl_span value = view_of(head, params.value[i]);
        head->fields[head->count++] =
            (fl_field){view_of(head, params.name[i]), value, FL_FIELD_OTHER};
    }
    return FL_OK;
}

static void add_session(fl_http_head *head, const fl_http_client *client)
{
    if (client->session != NULL)
        add(head, FL_FIELD_MCP_SESSION_ID, fl_span_of(client->session));
    if (client->revision != NULL &&
        fl_revision_has(client->revision, FL_HAS_VERSION_HEADER))
        add(head, FL_FIELD_MCP_PROTOCOL_VERSION,
            fl_span_of(client->revision->name));
}

fl_status fl_http_head_message(fl_http_head *head, const fl_http_client *client,
                               const fl_post *post, const fl_msg *msg)
{
    const fl_claim *claim = &msg->inner.claim;

    start(head);
    if (claim->present)
        return add_modern(head, client, msg, claim);
    if (!post->initialize && !post->on_channel)
        add_session(head, client);
    return FL_OK;
}

void fl_http_head_listen(fl_http_head *head, const fl_http_client *client,
                         fl_span last_id)
{
    start(head);
    add(head, FL_FIELD_ACCEPT, FL_SPAN("text/event-stream"));
    add(head, FL_FIELD_CACHE_CONTROL, FL_SPAN("no-cache"));
    add_session(head, client);
    if (last_id.len > 0 && fl_field_value_ok(last_id))
        add(head, FL_FIELD_LAST_EVENT_ID, last_id);
}

void fl_http_head_plain(fl_http_head *head, const fl_http_client *client)
{
    start(head);
    add_session(head, client);
}

fl_status fl_http_head_show(fl_http_head *head, fl_badge *badge, fl_span method,
                            fl_span target)
{
    fl_status rc = fl_badge_sign(badge, method, target, &head->shown);

    for (size_t i = 0; i < head->shown.count && rc == FL_OK; i++)
        head->fields[head->count++] = head->shown.fields[i];
    return rc;
}

static void lower(fl_field *field, char *to)
{
    memcpy(to, field->name.ptr, field->name.len);
    lower_ascii(to, field->name.len);
    field->name.ptr = to;
}

fl_status fl_http_fields_custom(const char *const *headers, fl_field *fields,
                                size_t room, size_t *count, fl_buf *names,
                                fl_error *error)
{
    size_t before = *count, total = 1;

    for (const char *const *at = headers; at != NULL && *at != NULL; at++)
        total += strlen(*at);
    fl_buf_init(names, total);
    char *to = fl_buf_reserve(names, total);
    if (to == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    for (; headers != NULL && *headers != NULL; headers++) {
        if (*count == room)
            return fl_error_set(error, FL_E_INVALID,
                                "option http.headers: more than %zu",
                                room - before);
        fl_field *field = &fields[*count];
        fl_status rc = fl_http_options_header(*headers, "option http.headers",
                                              field, error);
        if (rc != FL_OK)
            return rc;
        lower(field, to);
        to += field->name.len;
        ++*count;
    }
    return FL_OK;
}
