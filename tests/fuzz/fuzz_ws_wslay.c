/*
 * fuzz_ws_wslay.c - our reader of frames against wslay's.
 *
 * Both get the same bytes, in the role the first byte chooses and with the
 * limit the second does, and must make the same messages of them and come to
 * the same end, with the same code where wslay has one. Behind the input come
 * pings: wslay judges a head when it is whole and a byte of the payload is
 * there, we judge its first two bytes, and so what is wrong at the very end is
 * left out.
 *
 * Known to differ, and stepped over: wslay takes a close of one byte, does not
 * know the codes that were registered after RFC 6455 (1012 to 1014), has no
 * code for some bad heads, and of a close that has both a bad code and a bad
 * reason it sees the reason first, which it does not wait for to be whole. Its
 * limit is for control frames, too, so ours is no less than they may be.
 */
#include "base/span.h"
#include "wire/ws.h"

#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PINGS = 40 };

static void require(bool fact)
{
    if (!fact)
        abort();
}

/* What one of the two saw. */
typedef struct seen {
    uint64_t sum;
    unsigned messages;
    unsigned code; /* to close with; 0: there was no fault */
    bool bad;
    bool closed;
    bool beyond; /* something the other one does not know */
    bool either; /* there may be two reasons, and the other one sees either */
} seen;

static void digest(seen *s, unsigned kind, unsigned code, fl_span bytes)
{
    uint64_t numbers[3] = {kind, code, bytes.len};

    s->messages++;
    for (size_t i = 0; i < 3; i++)
        s->sum = (s->sum ^ numbers[i]) * 0x100000001b3u;
    for (size_t i = 0; i < bytes.len; i++)
        s->sum = (s->sum ^ (unsigned char)bytes.ptr[i]) * 0x100000001b3u;
}

static seen read_ours(fl_span in, bool client, size_t max)
{
    fl_ws_settings settings = {.client = client, .max_message = max};
    fl_ws_message m;
    fl_status rc;
    fl_pool pool;
    seen s = {0};
    fl_ws ws;

    fl_pool_init(&pool);
    require(fl_ws_init(&ws, &settings, NULL, &pool) == FL_OK);
    while ((rc = fl_ws_next(&ws, &in, &m)) == FL_OK) {
        unsigned code = m.code == FL_WS_NO_CODE ? 0 : m.code;
        digest(&s, m.kind, code, m.bytes);
        s.beyond = code >= 1012 && code <= 1014;
        s.closed = m.kind == FL_WS_CLOSE;
    }
    s.bad = rc < 0;
    s.code = s.bad ? ws.fault.code : 0;
    if (s.bad && strstr(ws.fault.what, "half a code") != NULL)
        s.beyond = true;
    if (s.bad && in.len <= FL_WS_HEAD_MAX)
        s.beyond = true;
    if (fl_ws_in_message(&ws) && ws.opcode == FL_WS_CLOSE)
        s.beyond = true;
    s.either = s.bad && strstr(ws.fault.what, "may not be sent") != NULL;
    fl_ws_deinit(&ws);
    fl_pool_deinit(&pool);
    return s;
}

/* The other side of wslay: where its bytes come from, and where they go. */
typedef struct wire {
    fl_span in;
    seen s;
} wire;

static ssize_t give(wslay_event_context_ptr ctx, uint8_t *buf, size_t len,
                    int flags, void *user)
{
    wire *w = user;
    size_t n = len < w->in.len ? len : w->in.len;

    (void)flags;
    if (n == 0) {
        wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(buf, w->in.ptr, n);
    w->in = fl_span_from(w->in, n);
    return (ssize_t)n;
}

static ssize_t swallow(wslay_event_context_ptr ctx, const uint8_t *data,
                       size_t len, int flags, void *user)
{
    (void)ctx;
    (void)data;
    (void)flags;
    (void)user;
    return (ssize_t)len;
}

static int make_mask(wslay_event_context_ptr ctx, uint8_t *buf, size_t len,
                     void *user)
{
    (void)ctx;
    (void)user;
    memset(buf, 7, len);
    return 0;
}

static void take(wslay_event_context_ptr ctx,
                 const struct wslay_event_on_msg_recv_arg *arg, void *user)
{
    fl_span bytes = {(const char *)arg->msg, arg->msg_length};
    wire *w = user;

    (void)ctx;
    if (arg->opcode == WSLAY_CONNECTION_CLOSE) {
        w->s.closed = true;
        bytes = bytes.len >= 2 ? fl_span_from(bytes, 2) : (fl_span){0};
    }
    digest(&w->s, arg->opcode, arg->status_code, bytes);
}

static seen read_theirs(fl_span in, bool client, size_t max)
{
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = give,
        .send_callback = swallow,
        .genmask_callback = make_mask,
        .on_msg_recv_callback = take,
    };
    wslay_event_context_ptr ctx;
    wire w = {.in = in};
    int rc = 0;

    require((client
                 ? wslay_event_context_client_init(&ctx, &callbacks, &w)
                 : wslay_event_context_server_init(&ctx, &callbacks, &w)) == 0);
    wslay_event_config_set_max_recv_msg_length(ctx, max);
    rc = wslay_event_recv(ctx);
    w.s.bad = rc != 0 || (!wslay_event_get_read_enabled(ctx) && !w.s.closed);
    if (w.s.bad && rc == 0 && wslay_event_send(ctx) == 0)
        w.s.code = wslay_event_get_status_code_sent(ctx);
    wslay_event_context_free(ctx);
    return w.s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char masked[] = "\x89\x81\x01\x02\x03\x04z";
    static const char plain[] = "\x89\x01z";

    if (size < 2)
        return 0;
    bool client = data[0] & 1;
    fl_span ping = client ? (fl_span){plain, 3} : (fl_span){masked, 7};
    size_t max = FL_WS_CONTROL_MAX + data[1] * 30u, len = size - 2;
    char *stream = malloc(len + PINGS * ping.len);

    require(stream != NULL);
    memcpy(stream, data + 2, len);
    for (size_t i = 0; i < PINGS; i++, len += ping.len)
        memcpy(stream + len, ping.ptr, ping.len);
    seen ours = read_ours((fl_span){stream, len}, client, max);
    if (!ours.beyond) {
        seen theirs = read_theirs((fl_span){stream, len}, client, max);
        require(ours.sum == theirs.sum && ours.messages == theirs.messages);
        require(ours.bad == theirs.bad && ours.closed == theirs.closed);
        require(theirs.code == 0 || ours.either || ours.code == theirs.code);
    }
    free(stream);
    return 0;
}
