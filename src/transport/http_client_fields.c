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
#include "rpc/claim.h"
#include "rpc/extract.h"

enum { MADE_MAX = 64 * 1024 };

static const fl_span sentinel = {"=?base64?", 9}, sentinel_end = {"?=", 2};

static void start(fl_http_head *head)
{
    head->count = 0;
    fl_buf_init(&head->text, MADE_MAX);
}

void fl_http_head_deinit(fl_http_head *head)
{
    fl_buf_reset(&head->text);
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
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < ' ' || text.ptr[i] > '~')
            return false;
    if (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' '))
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

/* What a value was made to lies here; the view comes last, for the buffer
 * may move while it grows. */
typedef struct made {
    size_t at, len;
} made;

/* What was appended from `at` on is a value, unless it cannot be one as it
 * is. */
static fl_status seal(fl_http_head *head, size_t at, made *out)
{
    fl_status rc = FL_OK;

    if (!is_plain(fl_span_from(fl_buf_view(&head->text), at)))
        rc = encode_from(&head->text, at);
    *out = (made){at, fl_buf_len(&head->text) - at};
    return rc;
}

static fl_status make(fl_http_head *head, fl_span token, made *out)
{
    size_t at = fl_buf_len(&head->text);
    fl_status rc = fl_extract_text(token, &head->text);

    return rc == FL_OK ? seal(head, at, out) : rc;
}

static fl_status make_method(fl_http_head *head, const fl_msg *msg, made *out)
{
    size_t at = fl_buf_len(&head->text);
    fl_status rc = fl_extract_method(msg, &head->text);

    return rc == FL_OK ? seal(head, at, out) : rc;
}

static fl_span view_of(const fl_http_head *head, made value)
{
    fl_span all = fl_buf_view(&head->text);
    fl_span text = value.len > 0 ? fl_span_from(all, value.at) : FL_SPAN("");

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
    params->name[params->count] = (made){at, fl_buf_len(out) - at};
    lower_ascii(out->ptr + out->start + at, fl_buf_len(out) - at);
    at = fl_buf_len(out);
    rc = fl_buf_append(out, text);
    return rc == FL_OK ? seal(params->head, at, &params->value[params->count++])
                       : rc;
}

static fl_status add_modern(fl_http_head *head, const fl_http_client *client,
                            const fl_msg *msg, const fl_claim *claim)
{
    struct params params = {.head = head};
    fl_span name = fl_extract_object(msg);
    made version = {0}, method = {0}, object = {0};
    fl_status rc = make(head, claim->version, &version);

    if (rc == FL_OK)
        rc = make_method(head, msg, &method);
    if (rc == FL_OK)
        rc = make(head, name, &object);
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
    fl_claim claim;

    start(head);
    add(head, FL_FIELD_CONTENT_TYPE, FL_SPAN("application/json"));
    add(head, FL_FIELD_ACCEPT, FL_SPAN("application/json, text/event-stream"));
    fl_claim_read(msg, &claim);
    if (claim.present)
        return add_modern(head, client, msg, &claim);
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

/* Ours, or the codec's; a proxy's business; or they change what a body is. */
static bool is_reserved(const fl_field *field)
{
    static const bool ours[FL_FIELD_COUNT] = {
        [FL_FIELD_ACCEPT] = true,
        [FL_FIELD_ACCEPT_ENCODING] = true,
        [FL_FIELD_CONNECTION] = true,
        [FL_FIELD_CONTENT_ENCODING] = true,
        [FL_FIELD_CONTENT_LENGTH] = true,
        [FL_FIELD_CONTENT_TYPE] = true,
        [FL_FIELD_EXPECT] = true,
        [FL_FIELD_HOST] = true,
        [FL_FIELD_KEEP_ALIVE] = true,
        [FL_FIELD_LAST_EVENT_ID] = true,
        [FL_FIELD_MCP_METHOD] = true,
        [FL_FIELD_MCP_NAME] = true,
        [FL_FIELD_MCP_PROTOCOL_VERSION] = true,
        [FL_FIELD_MCP_SESSION_ID] = true,
        [FL_FIELD_PROXY_CONNECTION] = true,
        [FL_FIELD_TE] = true,
        [FL_FIELD_TRAILER] = true,
        [FL_FIELD_TRANSFER_ENCODING] = true,
        [FL_FIELD_UPGRADE] = true,
        [FL_FIELD_USER_AGENT] = true,
    };

    return ours[field->id] ||
           fl_field_name_equal(field->name, FL_SPAN("proxy-authorization"));
}

static fl_span trim(fl_span text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = fl_span_from(text, 1);
    while (text.len > 0 && strchr(" \t", text.ptr[text.len - 1]) != NULL)
        text.len--;
    return text;
}

/* No value in any text: it is a secret more often than not. */
static fl_status read_custom(fl_span text, size_t number, fl_field *field,
                             fl_error *error)
{
    size_t colon = fl_span_find(text, ':');

    field->name = (fl_span){text.ptr, colon};
    if (colon == text.len || !fl_field_name_ok(field->name))
        return fl_error_set(error, FL_E_INVALID,
                            "option http.headers: number %zu is not "
                            "'Name: value'",
                            number);
    field->value = trim(fl_span_from(text, colon + 1));
    field->id = fl_field_find(field->name);
    if (!fl_field_value_ok(field->value))
        return fl_error_set(error, FL_E_INVALID,
                            "option http.headers: the value of '%.*s' has "
                            "characters that may not be sent",
                            (int)colon, text.ptr);
    if (is_reserved(field))
        return fl_error_set(error, FL_E_INVALID,
                            "option http.headers: '%.*s' is set by the "
                            "transport itself",
                            (int)colon, text.ptr);
    return FL_OK;
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
    size_t number = 0, total = 1;

    for (const char *const *at = headers; at != NULL && *at != NULL; at++)
        total += strlen(*at);
    fl_buf_init(names, total);
    char *to = fl_buf_reserve(names, total);
    if (to == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    for (; headers != NULL && *headers != NULL; headers++) {
        if (*count == room)
            return fl_error_set(error, FL_E_INVALID,
                                "option http.headers: more than %zu", number);
        fl_field *field = &fields[*count];
        fl_status rc =
            read_custom(fl_span_of(*headers), ++number, field, error);
        if (rc != FL_OK)
            return rc;
        lower(field, to);
        to += field->name.len;
        ++*count;
    }
    return FL_OK;
}
