/*
 * oracle_client.c - a client of nghttp2's, as the judge of what ours takes.
 *
 * It makes the requests that ours makes, and does as ours when a response is
 * whole before its own request is: the rest is cancelled. Of several heads the
 * first that is not interim counts; those before it are forgotten, what comes
 * after it are trailers.
 */
#include "oracle.h"

#include "base/span.h"

#include <assert.h>
#include <string.h>

question question_of(unsigned how, uint32_t id)
{
    return (question)((how + id / 2) % QUESTIONS);
}

fl_span method_of(question what)
{
    return what == GET    ? FL_SPAN("GET")
           : what == HEAD ? FL_SPAN("HEAD")
                          : FL_SPAN("POST");
}

static_assert(FL_FIELD_COUNT <= 64, "each has a bit");

/* What is wrong with a field for us alone: one too many, or too long a list;
 * one that should be there once; a length or a status that is no number of its
 * kind. */
static void look_closer(const oracle_judge *judge, message *m, fl_span name,
                        fl_span value)
{
    enum { OVERHEAD = 32, LENGTH_DIGITS = 18 };
    fl_field_id id = fl_field_find(name);
    uint64_t bit = (uint64_t)1 << id;

    m->list_size += name.len + value.len + OVERHEAD;
    m->field_count += name.ptr[0] != ':';
    m->is_odd |= m->list_size > judge->limits->max_head ||
                 m->field_count > judge->limits->max_fields ||
                 (fl_field_is_single(id) && (m->kinds & bit) != 0) ||
                 (id == FL_FIELD_CONTENT_LENGTH && value.len > LENGTH_DIGITS) ||
                 (name.ptr[0] == ':' && value.ptr[0] == '0');
    m->kinds |= bit;
}

/* nghttp2 leaves it out, and takes the rest. */
static int on_bad_field(nghttp2_session *session, const nghttp2_frame *frame,
                        const uint8_t *name, size_t name_len,
                        const uint8_t *value, size_t value_len, uint8_t flags,
                        void *user)
{
    (void)session;
    (void)frame;
    (void)name;
    (void)name_len;
    (void)value;
    (void)value_len;
    (void)flags;
    ((oracle_judge *)user)->reading->is_odd = true;
    return 0;
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame,
                    void *user)
{
    oracle_judge *judge = user;
    message *m = view_find(&judge->seen, (uint32_t)frame->hd.stream_id);

    (void)session;
    judge->reading = m;
    m->in_trailers = m->status >= 200;
    m->kinds = m->field_count = 0;
    if (!m->in_trailers)
        m->sums[STATUS] = m->sums[FIELDS] = 0;
    return 0;
}

static int on_field(nghttp2_session *session, const nghttp2_frame *frame,
                    const uint8_t *name, size_t name_len, const uint8_t *value,
                    size_t value_len, uint8_t flags, void *user)
{
    message *m = ((oracle_judge *)user)->reading;
    const fl_span key = {(const char *)name, name_len};
    const fl_span text = {(const char *)value, value_len};

    (void)session;
    (void)frame;
    (void)flags;
    look_closer(user, m, key, text);
    if (m->in_trailers) {
        oracle_judge_trailer(m, key);
    } else if (fl_span_equal(key, FL_SPAN(":status"))) {
        m->status = (unsigned)strtoul(text.ptr, NULL, 10);
        message_add(m, STATUS, text);
    } else {
        message_add(m, FIELDS, key);
        message_add(m, FIELDS, text);
    }
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame,
                    void *user)
{
    oracle_judge *judge = user;
    int32_t id = frame->hd.stream_id;
    bool is_part =
        frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;

    if (!is_part)
        return 0;
    message *m = view_find(&judge->seen, (uint32_t)id);
    /* an empty part of a body that may not have begun */
    m->is_odd |= frame->hd.type == NGHTTP2_DATA && m->status < 200;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0)
        return 0;
    m->whole = true;
    if (nghttp2_session_get_stream_local_close(session, id) == 0)
        require(nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id,
                                          NGHTTP2_CANCEL) == 0);
    return 0;
}

void oracle_client_open(oracle_judge *judge, const fl_http_limits *limits)
{
    const nghttp2_settings_entry no_push = {NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
    nghttp2_session_callbacks *calls = oracle_judge_callbacks();
    nghttp2_option *option = oracle_options();

    nghttp2_session_callbacks_set_on_begin_headers_callback(calls, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(calls, on_field);
    nghttp2_session_callbacks_set_on_invalid_header_callback(calls,
                                                             on_bad_field);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
    judge->limits = limits;
    require(nghttp2_session_client_new2(&judge->session, calls, judge,
                                        option) == 0);
    nghttp2_session_callbacks_del(calls);
    nghttp2_option_del(option);
    oracle_settle(judge->session, limits, &no_push, 1);
}

bool oracle_client_ask(oracle_judge *judge)
{
    static uint8_t names[][8] = {":method", ":scheme", ":path"};
    static uint8_t values[][8] = {"http", "/"};
    message *m = view_begin(&judge->seen, 2 * (uint32_t)judge->seen.count + 1);
    question what = question_of(judge->how, m->id);
    uint8_t method[8] = {0};
    size_t length = method_of(what).len;
    const nghttp2_nv head[] = {
        {names[0], method, 7, length, 0},
        {names[1], values[0], 7, 4, 0},
        {names[2], values[1], 5, 1, 0},
    };
    nghttp2_data_provider provider = oracle_body(m);

    memcpy(method, method_of(what).ptr, length);
    m->is_endless = what == ENDLESS;
    int32_t id = nghttp2_submit_request(
        judge->session, NULL, head, 3,
        what == GET || what == HEAD ? NULL : &provider, NULL);
    oracle_flush(judge->session);
    return id == (int32_t)m->id &&
           nghttp2_session_find_stream(judge->session, id) != NULL;
}
