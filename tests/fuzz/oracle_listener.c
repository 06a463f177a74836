/*
 * oracle_listener.c - a client or a server of nghttp2's, hearing what ours
 * says.
 *
 * It has the settings and windows of the input, whose frames are not its own.
 * Nor are the requests in it, so a client makes some that get the same answers,
 * on the same streams. A server need not answer: what a client says does not
 * depend on that. What either says goes nowhere.
 */
#include "oracle.h"

#include "base/span.h"

static int on_fault(nghttp2_session *session, const nghttp2_frame *frame,
                    int error, void *user)
{
    (void)session;
    (void)frame;
    (void)error;
    require(((oracle_listener *)user)->lost);
    return 0;
}

/* All was said on it; but a server that does not answer keeps the stream, and
 * settings may make its window too large. */
static bool is_said(nghttp2_session *session, const nghttp2_frame *frame)
{
    return frame->rst_stream.error_code == NGHTTP2_FLOW_CONTROL_ERROR &&
           nghttp2_session_get_stream_remote_close(session,
                                                   frame->hd.stream_id) == 1;
}

/* It resets what it is told to with CANCEL: any other reason is a complaint. */
static int on_send(nghttp2_session *session, const nghttp2_frame *frame,
                   void *user)
{
    bool complains = (frame->hd.type == NGHTTP2_GOAWAY &&
                      frame->goaway.error_code != NGHTTP2_NO_ERROR) ||
                     (frame->hd.type == NGHTTP2_RST_STREAM &&
                      frame->rst_stream.error_code != NGHTTP2_CANCEL &&
                      !is_said(session, frame));

    require(!complains || ((oracle_listener *)user)->lost);
    return 0;
}

static int on_heard(nghttp2_session *session, const nghttp2_frame *frame,
                    void *user)
{
    oracle_listener *listener = user;

    (void)session;
    if (frame->hd.type == NGHTTP2_SETTINGS)
        listener->settings -= (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
        require(listener->reset_count < MESSAGES_MAX);
        listener->resets[listener->reset_count++] =
            (uint32_t)frame->hd.stream_id;
    }
    return 0;
}

bool oracle_listener_lost(const oracle_listener *listener, uint32_t id)
{
    size_t i = 0;

    while (i < listener->reset_count && listener->resets[i] != id)
        i++;
    return i < listener->reset_count;
}

void oracle_listener_ask(oracle_listener *listener, uint32_t id, bool is_head)
{
    static uint8_t names[][8] = {":method", ":scheme", ":path"};
    static uint8_t values[][8] = {"GET", "http", "/", "HEAD"};
    const nghttp2_nv head[] = {
        {names[0], values[is_head ? 3 : 0], 7, is_head ? 4 : 3, 0},
        {names[1], values[1], 7, 4, 0},
        {names[2], values[2], 5, 1, 0},
    };

    listener->newest = id;
    require(nghttp2_session_set_next_stream_id(listener->session,
                                               (int32_t)id) == 0);
    require(nghttp2_submit_request(listener->session, NULL, head, 3, NULL,
                                   NULL) == (int32_t)id);
    oracle_flush(listener->session);
    listener->lost |=
        nghttp2_session_find_stream(listener->session, (int32_t)id) == NULL;
}

/* Streams that ours has reset at first sight. */
static void ask_refused(oracle_listener *listener, fl_span said)
{
    while (said.len >= FL_HTTP2_HEAD) {
        fl_http2_frame frame = fl_http2_get_head(said.ptr);
        if (frame.type == FL_HTTP2_RST_STREAM &&
            frame.stream > listener->newest)
            oracle_listener_ask(listener, frame.stream, false);
        require(said.len >= FL_HTTP2_HEAD + frame.length);
        said = fl_span_from(said, FL_HTTP2_HEAD + frame.length);
    }
    require(said.len == 0);
}

/* Those that what we say depends on. */
static void copy_settings(oracle_listener *listener, fl_span payload)
{
    nghttp2_settings_entry list[FL_HTTP2_FRAME_MAX / 6 + 1];
    size_t count = 0;

    for (; payload.len >= 6; payload = fl_span_from(payload, 6)) {
        uint32_t id = fl_http2_get32(payload.ptr) >> 16;
        uint32_t value = fl_http2_get32(payload.ptr + 2);
        if (id == FL_HTTP2_HEADER_TABLE_SIZE ||
            id == FL_HTTP2_INITIAL_WINDOW_SIZE || id == FL_HTTP2_MAX_FRAME_SIZE)
            list[count++] = (nghttp2_settings_entry){(int32_t)id, value};
    }
    listener->settings +=
        nghttp2_submit_settings(listener->session, NGHTTP2_FLAG_NONE, list,
                                count) == 0;
}

void oracle_listener_open(oracle_listener *listener, bool is_server,
                          fl_span settings)
{
    nghttp2_session_callbacks *calls;
    nghttp2_option *option = oracle_options();

    listener->is_server = is_server;
    /* or settings could make the window of one too large */
    nghttp2_option_set_no_closed_streams(option, 1);
    require(nghttp2_session_callbacks_new(&calls) == 0);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(calls,
                                                                 on_fault);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_heard);
    nghttp2_session_callbacks_set_on_frame_send_callback(calls, on_send);
    require((is_server ? nghttp2_session_server_new2
                       : nghttp2_session_client_new2)(&listener->session, calls,
                                                      listener, option) == 0);
    nghttp2_session_callbacks_del(calls);
    nghttp2_option_del(option);
    copy_settings(listener, settings);
    oracle_flush(listener->session);
}

void oracle_listener_send(oracle_listener *listener,
                          const fl_http2_frame *frame, fl_span payload)
{
    int32_t id = (int32_t)frame->stream;

    if (frame->type == FL_HTTP2_SETTINGS && (frame->flags & FL_HTTP2_ACK) == 0)
        copy_settings(listener, payload);
    else if (frame->type == FL_HTTP2_RST_STREAM)
        (void)nghttp2_submit_rst_stream(listener->session, NGHTTP2_FLAG_NONE,
                                        id, NGHTTP2_CANCEL);
    else if (frame->type == FL_HTTP2_WINDOW_UPDATE && payload.len == 4)
        (void)nghttp2_submit_window_update(
            listener->session, NGHTTP2_FLAG_NONE, id,
            (int32_t)fl_http2_get31(payload.ptr));
    oracle_flush(listener->session);
}

void oracle_listener_hear(oracle_listener *listener, fl_span said)
{
    if (!listener->is_server)
        ask_refused(listener, said);
    require(listener->lost || nghttp2_session_mem_recv(
                                  listener->session, (const uint8_t *)said.ptr,
                                  said.len) == (ssize_t)said.len);
    oracle_flush(listener->session);
}
