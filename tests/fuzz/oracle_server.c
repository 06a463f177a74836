/*
 * oracle_server.c - a server of nghttp2's, as the judge of what we take.
 *
 * Its limits are out of the way, for ours are others, and a flood is no matter
 * of opinion. Each request is summed up as our own are: fields in their order,
 * the pseudo fields by themselves, and a Host in place of an :authority.
 */
#include "oracle.h"

#include "base/span.h"
#include "wire/http2_window.h"

#include <string.h>

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

static part part_of(fl_span name)
{
    return fl_span_equal(name, FL_SPAN(":method"))      ? METHOD
           : fl_span_equal(name, FL_SPAN(":path"))      ? PATH
           : fl_span_equal(name, FL_SPAN(":authority")) ? AUTHORITY
           : fl_span_equal(name, FL_SPAN(":protocol"))  ? PROTOCOL
                                                        : FIELDS;
}

static void add_field(request *r, fl_span name, fl_span value)
{
    part which = part_of(name);

    if (which != FIELDS) {
        request_add(r, which, value);
        r->has_authority |= which == AUTHORITY;
        r->is_head |= which == METHOD && fl_span_equal(value, FL_SPAN("HEAD"));
        return;
    }
    if (fl_span_equal(name, FL_SPAN(":scheme")))
        return; /* which we do not tell */
    request_add(r, FIELDS, name);
    request_add(r, FIELDS, value);
    if (!r->has_authority && fl_span_equal(name, FL_SPAN("host")))
        request_add(r, AUTHORITY, value);
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame,
                    void *user)
{
    oracle_server *server = user;

    (void)session;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        (void)view_begin(&server->seen, (uint32_t)frame->hd.stream_id);
    return 0;
}

static int on_field(nghttp2_session *session, const nghttp2_frame *frame,
                    const uint8_t *name, size_t name_len, const uint8_t *value,
                    size_t value_len, uint8_t flags, void *user)
{
    oracle_server *server = user;

    (void)session;
    (void)flags;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        add_field(view_find(&server->seen, (uint32_t)frame->hd.stream_id),
                  (fl_span){(const char *)name, name_len},
                  (fl_span){(const char *)value, value_len});
    return 0;
}

static int on_body(nghttp2_session *session, uint8_t flags, int32_t id,
                   const uint8_t *bytes, size_t len, void *user)
{
    oracle_server *server = user;

    (void)session;
    (void)flags;
    request_mix(view_find(&server->seen, (uint32_t)id), BODY,
                (fl_span){(const char *)bytes, len});
    return 0;
}

static ssize_t give_body(nghttp2_session *session, int32_t id, uint8_t *to,
                         size_t room, uint32_t *flags,
                         nghttp2_data_source *source, void *user)
{
    size_t *given = source->ptr, left = sizeof BODY_TEXT - 1 - *given;

    (void)session;
    (void)id;
    (void)user;
    room = room < left ? room : left;
    memcpy(to, &BODY_TEXT[*given], room);
    *given += room;
    if (room == left)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)room;
}

static void answer(const oracle_server *server, request *r)
{
    static uint8_t name[] = ":status", value[] = "200";
    const nghttp2_nv status = {name, value, sizeof name - 1, sizeof value - 1,
                               NGHTTP2_NV_FLAG_NONE};
    nghttp2_data_provider provider = {{.ptr = &r->given}, give_body};
    bool bare = (server->how & WITH_BODY) == 0 || r->is_head;

    require(nghttp2_submit_response(server->session, (int32_t)r->id, &status, 1,
                                    bare ? NULL : &provider) == 0);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame,
                    void *user)
{
    oracle_server *server = user;
    bool is_part =
        frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;

    (void)session;
    if (!is_part || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0)
        return 0;
    request *r = view_find(&server->seen, (uint32_t)frame->hd.stream_id);
    r->whole = true;
    if (is_answered(server->how, r->id))
        answer(server, r);
    return 0;
}

static int on_farewell(nghttp2_session *session, const nghttp2_frame *frame,
                       void *user)
{
    (void)session;
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != 0)
        ((oracle_server *)user)->over = true;
    return 0;
}

/* As ours. No input is long enough to meet a window. */
static void settle(const oracle_server *server, const fl_http_limits *limits)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, FL_HTTP2_STREAM_ROOM},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)limits->max_head},
        {FL_HTTP2_NO_RFC7540_PRIORITIES, 1},
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits->max_streams},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
    };

    require(nghttp2_submit_settings(server->session, NGHTTP2_FLAG_NONE,
                                    settings,
                                    limits->take_connect ? 5 : 4) == 0);
    require(nghttp2_session_set_local_window_size(
                server->session, NGHTTP2_FLAG_NONE, 0, FL_HTTP2_ROOM) == 0);
    oracle_flush(server->session);
}

void oracle_server_open(oracle_server *server, const fl_http_limits *limits)
{
    nghttp2_session_callbacks *calls;
    nghttp2_option *option = oracle_options();

    require(nghttp2_session_callbacks_new(&calls) == 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(calls, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(calls, on_field);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_body);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(calls, on_farewell);
    require(nghttp2_session_server_new2(&server->session, calls, server,
                                        option) == 0);
    nghttp2_session_callbacks_del(calls);
    nghttp2_option_del(option);
    settle(server, limits);
}

void oracle_server_feed(oracle_server *server, fl_span bytes)
{
    ssize_t n = nghttp2_session_mem_recv(server->session,
                                         (const uint8_t *)bytes.ptr, bytes.len);

    oracle_flush(server->session);
    server->over |= n != (ssize_t)bytes.len;
}
