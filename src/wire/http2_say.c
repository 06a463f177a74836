/*
 * http2_say.c - what we say: requests, responses, bodies.
 *
 * A heading becomes nghttp2's list of names and values here. What an HTTP/1.1
 * connection may say about itself has no place in HTTP/2 (RFC 9113 8.2.2): the
 * two such fields that http.c lets a heading have are left out. Credentials are
 * marked never to enter a compression table, neither ours nor that of a proxy
 * further on (RFC 7541 7.1.3).
 *
 * So is what is new on each message: in a table it would be no use to anybody,
 * and push out what repeats. One in FLEETING_EVERY enters it all the same, for
 * its name: the others refer to that.
 *
 * Every function here leaves the codec at its end, which may free it: nothing
 * is touched after fl_http2_leave().
 */
#include "wire/http2_impl.h"

#include "base/span.h"

enum {
    PSEUDO_ROOM = 5, /* four, and content-length */
    NV_MAX = 2 * FL_HTTP_FIELDS_MAX + PSEUDO_ROOM,
    NV_OVERHEAD = 12,           /* what nghttp2 reckons per field, at most */
    BLOCK_MAX = 64 * 1024 - 64, /* what it sends at most, in all */
    HEAD_ABOUT = 64,            /* bytes of a head that is like the last one */
    FLEETING_EVERY = 64,        /* heads */
};

typedef struct nv_list {
    nghttp2_nv nv[NV_MAX];
    size_t count;
    size_t size;
    bool indexes; /* what is fleeting, too */
    char status[3];
    char length[20]; /* as long as 2^64 */
} nv_list;

/* Not by an initializer, which would clear ten kilobytes each time. */
static void begin(nv_list *list, fl_http2 *h)
{
    list->count = list->size = 0;
    list->indexes = h->heads++ % FLEETING_EVERY == 0;
}

/* nghttp2 knows no const here, but it writes to none of it. */
static uint8_t *bytes_of(fl_span span)
{
    const union {
        const char *ours;
        uint8_t *theirs;
    } bytes = {span.ptr != NULL ? span.ptr : ""};

    return bytes.theirs;
}

static void add(nv_list *list, fl_span name, fl_span value, uint8_t flags)
{
    list->size += name.len + value.len + NV_OVERHEAD;
    list->nv[list->count++] = (nghttp2_nv){
        .name = bytes_of(name),
        .namelen = name.len,
        .value = bytes_of(value),
        .valuelen = value.len,
        .flags = flags,
    };
}

/* Of a name that is there for ever. */
static void add_known(nv_list *list, fl_span name, fl_span value, uint8_t flags)
{
    add(list, name, value, flags | NGHTTP2_NV_FLAG_NO_COPY_NAME);
}

static void add_pseudo(nv_list *list, fl_span name, fl_span value)
{
    add_known(list, name, value, NGHTTP2_NV_FLAG_NONE);
}

static bool is_left_out(fl_field_id id)
{
    return id == FL_FIELD_UPGRADE || id == FL_FIELD_TE;
}

static bool is_secret(fl_field_id id)
{
    return id == FL_FIELD_AUTHORIZATION || id == FL_FIELD_X_API_KEY ||
           id == FL_FIELD_COOKIE;
}

static bool is_fleeting(fl_field_id id)
{
    return id == FL_FIELD_X_REQUEST_ID || id == FL_FIELD_TRACEPARENT ||
           id == FL_FIELD_LAST_EVENT_ID;
}

static void add_field(nv_list *list, const fl_field *field, fl_field_id id)
{
    bool unindexed = is_secret(id) || (is_fleeting(id) && !list->indexes);
    uint8_t flags = unindexed ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;

    if (id == FL_FIELD_OTHER)
        add(list, field->name, field->value, flags);
    else if (!is_left_out(id))
        add_known(list, fl_field_name(id), field->value, flags);
}

/* Of those each knows what it is. */
static void add_set(nv_list *list, const fl_fields *set)
{
    for (size_t i = 0; set != NULL && i < set->count; i++)
        add_field(list, &set->fields[i], set->fields[i].id);
}

static size_t count_of(const fl_fields *set)
{
    return set != NULL ? set->count : 0;
}

static fl_status add_heading(nv_list *list, const fl_heading *heading)
{
    const fl_field *fields = heading->fields;
    size_t count =
        heading->count + count_of(heading->common) + count_of(heading->own);

    if (count > NV_MAX - PSEUDO_ROOM)
        return FL_E_LIMIT;
    add_set(list, heading->common);
    add_set(list, heading->own);
    for (size_t i = 0; i < heading->count; i++)
        add_field(list, &fields[i],
                  fields[i].id != FL_FIELD_OTHER
                      ? fields[i].id
                      : fl_field_find(fields[i].name));
    return list->size <= BLOCK_MAX ? FL_OK : FL_E_TOO_BIG;
}

/* In decimal, at the end of `room`. */
static fl_span spell(char *room, size_t size, uint64_t number)
{
    size_t at = size;

    do {
        room[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return (fl_span){room + at, size - at};
}

static void add_length(nv_list *list, int64_t length)
{
    add_pseudo(list, fl_field_name(FL_FIELD_CONTENT_LENGTH),
               spell(list->length, sizeof list->length, (uint64_t)length));
}

static void add_status(nv_list *list, unsigned status)
{
    add_pseudo(list, FL_SPAN(":status"),
               spell(list->status, sizeof list->status, status));
}

static fl_status status_of(int rc)
{
    if (rc >= 0)
        return FL_OK;
    return rc == NGHTTP2_ERR_NOMEM ? FL_E_NOMEM : FL_E_STATE;
}

/* A stream whose loss is noted but not told yet, or of a dead connection. */
static bool is_gone(const fl_http2_stream *stream)
{
    return stream->lost || fl_http2_of(stream)->broken;
}

static void note_length(fl_http2_stream *stream, int64_t length)
{
    stream->sized = length >= 0;
    stream->left = length >= 0 ? (uint64_t)length : 0;
}

static fl_status submit_request(fl_http2_stream *stream,
                                const fl_heading *heading)
{
    nghttp2_data_provider body = {{.ptr = stream}, fl_http2_read};
    nv_list list;

    begin(&list, fl_http2_of(stream));
    add_pseudo(&list, FL_SPAN(":method"), heading->method);
    if (fl_span_equal(heading->method, FL_SPAN("CONNECT"))) {
        add_pseudo(&list, FL_SPAN(":authority"), heading->target);
    } else {
        add_pseudo(&list, FL_SPAN(":scheme"), heading->scheme);
        add_pseudo(&list, FL_SPAN(":authority"), heading->authority);
        add_pseudo(&list, FL_SPAN(":path"), heading->target);
    }
    if (heading->length > 0)
        add_length(&list, heading->length);

    fl_status rc = add_heading(&list, heading);
    if (rc != FL_OK)
        return rc;
    stream->bodiless = heading->length == 0;
    stream->finished = stream->bodiless || stream->lent.len > 0;
    note_length(stream, stream->lent.len > 0 ? 0 : heading->length);
    stream->id = nghttp2_submit_request(
        fl_http2_of(stream)->session, NULL, list.nv, list.count,
        stream->bodiless ? NULL : &body, stream);
    return status_of(stream->id);
}

static bool takes_requests(const fl_http2 *h)
{
    return !h->broken && !h->ended && h->doom == 0 &&
           nghttp2_session_check_request_allowed(h->session) != 0;
}

static bool has_room(const fl_http2 *h)
{
    return h->running <
           nghttp2_session_get_remote_settings(
               h->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

bool fl_http2_available(const fl_http *http)
{
    const fl_http2 *h = (const fl_http2 *)(const void *)http;

    return h->client && takes_requests(h) && has_room(h);
}

fl_status fl_http2_ask(fl_http *http, const fl_heading *heading, fl_span body,
                       void *exchange_user, fl_exchange **out)
{
    fl_http2 *h = (fl_http2 *)(void *)http;

    *out = NULL;
    if (!h->client || !takes_requests(h))
        return FL_E_STATE;
    if (!has_room(h))
        return FL_BUSY;
    fl_http2_stream *stream = fl_http2_stream_new(h);
    if (stream == NULL)
        return FL_E_NOMEM;
    stream->base.user = exchange_user;
    stream->lent = body;
    h->gathered += body.len + HEAD_ABOUT;
    fl_http2_enter(h);
    fl_status rc = submit_request(stream, heading);
    if (rc == FL_OK) {
        stream->owned = true;
        h->open++;
        *out = &stream->base;
    } else {
        fl_http2_stream_free(stream);
    }
    fl_http2_leave(h, false);
    return rc;
}

fl_status fl_http2_request(fl_http *http, const fl_heading *heading,
                           void *exchange_user, fl_exchange **out)
{
    return fl_http2_ask(http, heading, (fl_span){0}, exchange_user, out);
}

static bool has_no_body(const fl_http2_stream *stream, unsigned status)
{
    return stream->is_head || status == 204 || status == 304;
}

static fl_status submit_response(fl_http2_stream *stream,
                                 const fl_heading *heading)
{
    nghttp2_data_provider body = {{.ptr = stream}, fl_http2_read};
    bool bodiless =
        has_no_body(stream, heading->status) || heading->length == 0;
    nv_list list;

    begin(&list, fl_http2_of(stream));
    add_status(&list, heading->status);
    if (heading->length >= 0 && heading->status != 204 &&
        heading->status != 304)
        add_length(&list, heading->length);

    fl_status rc = add_heading(&list, heading);
    if (rc == FL_OK)
        rc = status_of(nghttp2_submit_response(fl_http2_of(stream)->session,
                                               stream->id, list.nv, list.count,
                                               bodiless ? NULL : &body));
    if (rc != FL_OK)
        return rc;
    stream->responded = true;
    stream->bodiless = bodiless;
    note_length(stream, heading->length);
    if (heading->close && !stream->bad)
        stream->base.http->ops->shut(stream->base.http);
    return FL_OK;
}

fl_status fl_http2_respond(fl_exchange *exchange, const fl_heading *heading)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);

    if (h->client || stream->responded || heading->status < 200)
        return FL_E_STATE; /* there is no 101 in HTTP/2 */
    if (is_gone(stream))
        return FL_E_RESET;
    fl_http2_enter(h);
    fl_status rc = submit_response(stream, heading);
    fl_http2_leave(h, false);
    return rc;
}

static fl_status append(fl_http2_stream *stream, const fl_span *parts,
                        size_t count)
{
    size_t before = fl_buf_len(&stream->out);
    fl_status rc = FL_OK;

    for (size_t i = 0; i < count && rc == FL_OK; i++)
        rc = fl_buf_append(&stream->out, parts[i]);
    if (rc != FL_OK)
        fl_buf_truncate(&stream->out, before);
    return rc;
}

static void resume(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);

    if (!stream->deferred || stream->closed || h->broken)
        return;
    stream->deferred = false;
    if (nghttp2_session_resume_data(h->session, stream->id) ==
        NGHTTP2_ERR_NOMEM)
        h->doom = NGHTTP2_INTERNAL_ERROR;
}

fl_status fl_http2_send(fl_exchange *exchange, const fl_span *parts,
                        size_t count, bool urgent)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);
    size_t total = fl_span_total(parts, count);

    if (stream->finished || (!h->client && !stream->responded))
        return FL_E_STATE;
    if (is_gone(stream))
        return FL_E_RESET;
    if (stream->sized && total > stream->left)
        return FL_E_TOO_BIG;
    if (!urgent && fl_buf_len(&stream->out) >= h->base.limits->high_water) {
        fl_http2_drain_at(exchange, h->base.limits->high_water / 2);
        return FL_BUSY;
    }
    fl_status rc = stream->bodiless ? FL_OK : append(stream, parts, count);
    if (rc != FL_OK)
        return rc;
    stream->left -= stream->sized ? total : 0;
    fl_http2_enter(h);
    resume(stream);
    fl_http2_leave(h, false);
    return FL_OK;
}

static void break_off(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);

    stream->ours = true;
    fl_buf_reset(&stream->out);
    fl_http2_give_back(stream);
    if (!stream->closed && !h->broken &&
        nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, stream->id,
                                  h->client ? NGHTTP2_CANCEL
                                            : NGHTTP2_INTERNAL_ERROR) != 0)
        h->doom = NGHTTP2_INTERNAL_ERROR;
}

/* Less than was promised, or no response at all, is no message. */
static bool is_short(const fl_http2_stream *stream)
{
    if (!fl_http2_of(stream)->client && !stream->responded)
        return true;
    return stream->sized && stream->left > 0 && !stream->bodiless;
}

void fl_http2_finish(fl_exchange *exchange)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);

    fl_http2_enter(h);
    if (is_short(stream)) {
        break_off(stream);
        if (h->client)
            fl_http2_stream_lose(stream, NGHTTP2_CANCEL);
    } else {
        stream->finished = true;
        resume(stream);
    }
    if (!h->client)
        fl_http2_stream_release(stream);
    fl_http2_leave(h, false);
}

fl_status fl_http2_answer(fl_exchange *exchange, const fl_heading *heading,
                          const fl_span *parts, size_t count)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);

    if (h->client || stream->responded || heading->status < 200)
        return FL_E_STATE;
    if (is_gone(stream))
        return FL_E_RESET;
    fl_status rc = has_no_body(stream, heading->status)
                       ? FL_OK
                       : append(stream, parts, count);
    if (rc != FL_OK)
        return rc;
    fl_http2_enter(h);
    rc = submit_response(stream, heading);
    if (rc == FL_OK) {
        stream->finished = true;
        stream->left = 0;
        fl_http2_stream_release(stream);
    } else {
        fl_buf_reset(&stream->out);
    }
    fl_http2_leave(h, false);
    return rc;
}

void fl_http2_reset(fl_exchange *exchange)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);

    fl_http2_enter(h);
    break_off(stream);
    fl_http2_stream_release(stream);
    fl_http2_leave(h, false);
}
