/*
 * oracle_server.c - a server of nghttp2's, as the judge of what ours takes.
 *
 * Fields are summed up in their order, the pseudo fields by themselves, and a
 * Host in place of an :authority.
 */
#include "oracle.h"

#include "base/span.h"

bool is_answered(unsigned how, uint32_t id)
{
    return (how & SLOW) == 0 || id / 2 % 4 != 3;
}

static part part_of(fl_span name)
{
    return fl_span_equal(name, FL_SPAN(":method"))      ? METHOD
           : fl_span_equal(name, FL_SPAN(":path"))      ? PATH
           : fl_span_equal(name, FL_SPAN(":authority")) ? AUTHORITY
           : fl_span_equal(name, FL_SPAN(":protocol"))  ? PROTOCOL
                                                        : FIELDS;
}

static void add_field(message *m, fl_span name, fl_span value)
{
    part which = part_of(name);

    if (which != FIELDS) {
        message_add(m, which, value);
        m->has_authority |= which == AUTHORITY;
        m->is_head |= which == METHOD && fl_span_equal(value, FL_SPAN("HEAD"));
        return;
    }
    if (fl_span_equal(name, FL_SPAN(":scheme")))
        return; /* which we do not tell */
    message_add(m, FIELDS, name);
    message_add(m, FIELDS, value);
    if (!m->has_authority && fl_span_equal(name, FL_SPAN("host")))
        message_add(m, AUTHORITY, value);
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame,
                    void *user)
{
    oracle_judge *judge = user;
    uint32_t id = (uint32_t)frame->hd.stream_id;

    (void)session;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        judge->reading = view_begin(&judge->seen, id);
    else
        judge->reading = view_find(&judge->seen, id);
    judge->reading->in_trailers = frame->headers.cat != NGHTTP2_HCAT_REQUEST;
    return 0;
}

static int on_field(nghttp2_session *session, const nghttp2_frame *frame,
                    const uint8_t *name, size_t name_len, const uint8_t *value,
                    size_t value_len, uint8_t flags, void *user)
{
    message *m = ((oracle_judge *)user)->reading;
    const fl_span key = {(const char *)name, name_len};

    (void)session;
    (void)frame;
    (void)flags;
    if (m->in_trailers)
        oracle_judge_trailer(m, key);
    else
        add_field(m, key, (fl_span){(const char *)value, value_len});
    return 0;
}

static void answer(const oracle_judge *judge, message *m)
{
    static uint8_t name[] = ":status", value[] = "200";
    const nghttp2_nv status = {name, value, sizeof name - 1, sizeof value - 1,
                               NGHTTP2_NV_FLAG_NONE};
    nghttp2_data_provider provider = oracle_body(m);
    bool bare = (judge->how & WITH_BODY) == 0 || m->is_head;

    require(nghttp2_submit_response(judge->session, (int32_t)m->id, &status, 1,
                                    bare ? NULL : &provider) == 0);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame,
                    void *user)
{
    oracle_judge *judge = user;
    bool is_part =
        frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;

    (void)session;
    if (!is_part || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0)
        return 0;
    message *m = view_find(&judge->seen, (uint32_t)frame->hd.stream_id);
    m->whole = true;
    if (is_answered(judge->how, m->id))
        answer(judge, m);
    return 0;
}

void oracle_server_open(oracle_judge *judge, const fl_http_limits *limits)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits->max_streams},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
    };
    nghttp2_session_callbacks *calls = oracle_judge_callbacks();
    nghttp2_option *option = oracle_options();

    nghttp2_session_callbacks_set_on_begin_headers_callback(calls, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(calls, on_field);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
    require(nghttp2_session_server_new2(&judge->session, calls, judge,
                                        option) == 0);
    nghttp2_session_callbacks_del(calls);
    nghttp2_option_del(option);
    oracle_settle(judge->session, limits, settings,
                  limits->take_connect ? 2 : 1);
}
