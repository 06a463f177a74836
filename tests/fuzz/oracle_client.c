/*
 * oracle_client.c - a client of nghttp2's, as the judge of what we say.
 *
 * The requests in the input are not its own, so it makes some that get the same
 * answers: on the same streams, and with the same settings and windows. What it
 * says goes nowhere.
 */
#include "oracle.h"

#include "base/span.h"

static int on_fault(nghttp2_session *session, const nghttp2_frame *frame,
                    int error, void *user)
{
    (void)session;
    (void)frame;
    (void)error;
    require(((oracle_client *)user)->lost);
    return 0;
}

/* It resets what it is told to with CANCEL: any other reason is a complaint. */
static int on_send(nghttp2_session *session, const nghttp2_frame *frame,
                   void *user)
{
    bool complains = (frame->hd.type == NGHTTP2_GOAWAY &&
                      frame->goaway.error_code != NGHTTP2_NO_ERROR) ||
                     (frame->hd.type == NGHTTP2_RST_STREAM &&
                      frame->rst_stream.error_code != NGHTTP2_CANCEL);

    (void)session;
    require(!complains || ((oracle_client *)user)->lost);
    return 0;
}

static int on_heard(nghttp2_session *session, const nghttp2_frame *frame,
                    void *user)
{
    oracle_client *client = user;

    (void)session;
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
        require(client->reset_count < REQUESTS_MAX);
        client->resets[client->reset_count++] = (uint32_t)frame->hd.stream_id;
    }
    return 0;
}

bool oracle_client_lost(const oracle_client *client, uint32_t id)
{
    size_t i = 0;

    while (i < client->reset_count && client->resets[i] != id)
        i++;
    return i < client->reset_count;
}

void oracle_client_open(oracle_client *client)
{
    nghttp2_session_callbacks *calls;
    nghttp2_option *option = oracle_options();

    require(nghttp2_session_callbacks_new(&calls) == 0);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(calls,
                                                                 on_fault);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_heard);
    nghttp2_session_callbacks_set_on_frame_send_callback(calls, on_send);
    require(nghttp2_session_client_new2(&client->session, calls, client,
                                        option) == 0);
    nghttp2_session_callbacks_del(calls);
    nghttp2_option_del(option);
    require(nghttp2_submit_settings(client->session, NGHTTP2_FLAG_NONE, NULL,
                                    0) == 0);
    oracle_flush(client->session);
}

void oracle_client_ask(oracle_client *client, uint32_t id, bool is_head)
{
    static uint8_t names[][8] = {":method", ":scheme", ":path"};
    static uint8_t values[][8] = {"GET", "http", "/", "HEAD"};
    const nghttp2_nv head[] = {
        {names[0], values[is_head ? 3 : 0], 7, is_head ? 4 : 3, 0},
        {names[1], values[1], 7, 4, 0},
        {names[2], values[2], 5, 1, 0},
    };

    client->newest = id;
    require(nghttp2_session_set_next_stream_id(client->session, (int32_t)id) ==
            0);
    require(nghttp2_submit_request(client->session, NULL, head, 3, NULL,
                                   NULL) == (int32_t)id);
    oracle_flush(client->session);
    client->lost |=
        nghttp2_session_find_stream(client->session, (int32_t)id) == NULL;
}

/* Streams that ours has reset at first sight. */
static void ask_refused(oracle_client *client, fl_span said)
{
    while (said.len >= FL_HTTP2_HEAD) {
        fl_http2_frame frame = fl_http2_get_head(said.ptr);
        if (frame.type == FL_HTTP2_RST_STREAM && frame.stream > client->newest)
            oracle_client_ask(client, frame.stream, false);
        require(said.len >= FL_HTTP2_HEAD + frame.length);
        said = fl_span_from(said, FL_HTTP2_HEAD + frame.length);
    }
    require(said.len == 0);
}

/* Those that what we say depends on. */
static void copy_settings(const oracle_client *client, fl_span payload)
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
    (void)nghttp2_submit_settings(client->session, NGHTTP2_FLAG_NONE, list,
                                  count);
}

void oracle_client_send(const oracle_client *client,
                        const fl_http2_frame *frame, fl_span payload)
{
    int32_t id = (int32_t)frame->stream;

    if (frame->type == FL_HTTP2_SETTINGS && (frame->flags & FL_HTTP2_ACK) == 0)
        copy_settings(client, payload);
    else if (frame->type == FL_HTTP2_RST_STREAM)
        (void)nghttp2_submit_rst_stream(client->session, NGHTTP2_FLAG_NONE, id,
                                        NGHTTP2_CANCEL);
    else if (frame->type == FL_HTTP2_WINDOW_UPDATE && payload.len == 4)
        (void)nghttp2_submit_window_update(
            client->session, NGHTTP2_FLAG_NONE, id,
            (int32_t)fl_http2_get31(payload.ptr));
    oracle_flush(client->session);
}

void oracle_client_hear(oracle_client *client, fl_span said)
{
    ask_refused(client, said);
    require(client->lost ||
            nghttp2_session_mem_recv(client->session, (const uint8_t *)said.ptr,
                                     said.len) == (ssize_t)said.len);
    oracle_flush(client->session);
}
