/*
 * oracle.c - bytes for both, and what both have made of them.
 *
 * A judge's limits are out of the way, for ours are others, and a flood is no
 * matter of opinion. Each message is summed up as our own are.
 *
 * There is one field that nghttp2 makes more of than we do: a Content-Length
 * where it means nothing. In trailers it goes by it, though they do not say how
 * a message is framed (RFC 9110 6.5.1); of interim responses it takes none, not
 * even one of 0, and of a 204 none but that, in one digit. Who sends such a
 * thing should not; we read past it.
 */
#include "oracle.h"

#include "base/span.h"
#include "wire/http2_window.h"

#include <string.h>

void message_mix(message *m, part which, fl_span bytes)
{
    uint64_t *sum = &m->sums[which];

    for (size_t i = 0; i < bytes.len; i++)
        *sum = (*sum ^ (unsigned char)bytes.ptr[i]) * 0x100000001b3u;
}

void message_add(message *m, part which, fl_span bytes)
{
    m->sums[which] += 1 + bytes.len;
    message_mix(m, which, bytes);
}

message *view_find(view *v, uint32_t id)
{
    for (size_t i = v->count; i > 0; i--)
        if (v->list[i - 1].id == id)
            return &v->list[i - 1];
    return NULL;
}

message *view_begin(view *v, uint32_t id)
{
    require(v->count < MESSAGES_MAX && view_find(v, id) == NULL);
    message *m = &v->list[v->count++];
    *m = (message){.id = id, .sums[BODY] = 1};
    return m;
}

void view_compare(const view *one, view *other)
{
    for (size_t i = 0; i < one->count; i++) {
        const message *m = &one->list[i];
        const message *same = view_find(other, m->id);
        if (!m->whole || m->is_odd || (same != NULL && same->is_excused))
            continue;
        require(same != NULL && same->whole);
        require(memcmp(m->sums, same->sums, sizeof m->sums) == 0);
    }
}

fl_span first_frame(fl_span bytes)
{
    if (bytes.len >= FL_HTTP2_HEAD) {
        size_t n = FL_HTTP2_HEAD + (fl_http2_get32(bytes.ptr) >> 8);
        bytes.len = bytes.len < n ? bytes.len : n;
    }
    return bytes;
}

void feed_ours(fl_http *http, fl_span bytes, size_t step)
{
    while (bytes.len > 0) {
        size_t n = bytes.len < step ? bytes.len : step;
        char *copy = malloc(n); /* exact, so ASan sees any overrun */
        require(copy != NULL);
        memcpy(copy, bytes.ptr, n);
        fl_http_feed(http, (fl_span){copy, n});
        free(copy);
        bytes = fl_span_from(bytes, n);
    }
}

size_t piece_of(unsigned how)
{
    return (how & 0x80) != 0 ? 1 + (how >> 5 & 3) * 7 : SIZE_MAX;
}

/* RFC 7540 5.3.1 forbade it, RFC 9113 knows no dependencies any more. */
static bool depends_on_itself(const fl_http2_frame *frame, fl_span payload)
{
    bool has = frame->type == FL_HTTP2_PRIORITY;

    if (frame->type == FL_HTTP2_HEADERS) {
        has = (frame->flags & FL_HTTP2_PRIORITIZED) != 0;
        if ((frame->flags & FL_HTTP2_PADDED) != 0)
            payload = fl_span_from(payload, payload.len > 0);
    }
    return has && payload.len >= 4 &&
           fl_http2_get31(payload.ptr) == frame->stream;
}

bool is_forgiven(const fl_http2_frame *frame, fl_span payload)
{
    /* An ACK that nobody waits for: no rule forbids it. */
    if (frame->type == FL_HTTP2_SETTINGS && (frame->flags & FL_HTTP2_ACK) != 0)
        return true;
    return depends_on_itself(frame, payload);
}

void oracle_flush(nghttp2_session *session)
{
    const uint8_t *bytes;

    while (nghttp2_session_mem_send(session, &bytes) > 0)
        ;
}

nghttp2_option *oracle_options(void)
{
    nghttp2_option *option;

    require(nghttp2_option_new(&option) == 0);
    nghttp2_option_set_max_settings(option, PLENTY);
    nghttp2_option_set_max_outbound_ack(option, PLENTY);
    nghttp2_option_set_stream_reset_rate_limit(option, PLENTY, PLENTY);
    nghttp2_option_set_no_auto_window_update(option, 1);
    return option;
}

/* No input is long enough to meet a window. */
void oracle_settle(nghttp2_session *session, const fl_http_limits *limits,
                   const nghttp2_settings_entry *more, size_t count)
{
    nghttp2_settings_entry settings[8] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, FL_HTTP2_STREAM_ROOM},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)limits->max_head},
        {FL_HTTP2_NO_RFC7540_PRIORITIES, 1},
    };

    for (size_t i = 0; i < count; i++)
        settings[3 + i] = more[i];
    require(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings,
                                    3 + count) == 0);
    require(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0,
                                                  FL_HTTP2_ROOM) == 0);
    oracle_flush(session);
}

static ssize_t give_body(nghttp2_session *session, int32_t id, uint8_t *to,
                         size_t room, uint32_t *flags,
                         nghttp2_data_source *source, void *user)
{
    message *m = source->ptr;
    size_t left = sizeof BODY_TEXT - 1 - m->given;

    (void)session;
    (void)id;
    (void)user;
    if (left == 0 && m->is_endless)
        return NGHTTP2_ERR_DEFERRED;
    room = room < left ? room : left;
    memcpy(to, &BODY_TEXT[m->given], room);
    m->given += room;
    if (room == left && !m->is_endless)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)room;
}

nghttp2_data_provider oracle_body(message *m)
{
    return (nghttp2_data_provider){{.ptr = m}, give_body};
}

static int on_body(nghttp2_session *session, uint8_t flags, int32_t id,
                   const uint8_t *bytes, size_t len, void *user)
{
    oracle_judge *judge = user;

    (void)session;
    (void)flags;
    message_mix(view_find(&judge->seen, (uint32_t)id), BODY,
                (fl_span){(const char *)bytes, len});
    return 0;
}

static int on_farewell(nghttp2_session *session, const nghttp2_frame *frame,
                       void *user)
{
    (void)session;
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != 0)
        ((oracle_judge *)user)->over = true;
    return 0;
}

void oracle_judge_trailer(message *m, fl_span name)
{
    if (fl_span_equal(name, FL_SPAN("content-length")))
        m->is_excused = true;
}

/* A field that nghttp2 will not have is named here only. */
static int on_complaint(nghttp2_session *session, int error, const char *text,
                        size_t len, void *user)
{
    static const char field[] = "name: [content-length], value: [";
    message *m = ((oracle_judge *)user)->reading;
    const char *at = strstr(text, field);

    (void)session;
    (void)error;
    (void)len;
    if (m == NULL || at == NULL)
        return 0;
    at += sizeof field - 1;
    bool is_zero = strcmp(at + strspn(at, "0"), "]") == 0;
    bool is_bare = m->status / 100 == 1 || m->status == 204;
    m->is_excused |= m->in_trailers || (is_bare && is_zero);
    return 0;
}

nghttp2_session_callbacks *oracle_judge_callbacks(void)
{
    nghttp2_session_callbacks *calls;

    require(nghttp2_session_callbacks_new(&calls) == 0);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_body);
    nghttp2_session_callbacks_set_on_frame_send_callback(calls, on_farewell);
    nghttp2_session_callbacks_set_error_callback2(calls, on_complaint);
    return calls;
}

void oracle_judge_feed(oracle_judge *judge, fl_span bytes)
{
    ssize_t n = nghttp2_session_mem_recv(judge->session,
                                         (const uint8_t *)bytes.ptr, bytes.len);

    oracle_flush(judge->session);
    judge->over |= n != (ssize_t)bytes.len;
}
