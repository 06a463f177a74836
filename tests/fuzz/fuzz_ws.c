/*
 * fuzz_ws.c - frames may come cut anywhere, and the same must come of them.
 *
 * The first byte chooses the role and the settings, the second the limit; the
 * rest is what the peer sends. It is read whole, byte by byte and in pieces,
 * and every way must give the same messages and the same end. Each message is
 * then sent back by the other role, and must arrive as it was.
 */
#include "base/span.h"
#include "wire/ws.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    CLIENT = 1,
    PACKING = 2,
    TAKEOVER = 4,
    UNCHECKED = 8,
    TEXT_ONLY = 16,
    CONTEXT_MAX = 64 * 1024,
    BUFFER_MIN = 256,
};

static void require(bool fact)
{
    if (!fact)
        abort();
}

/* FNV-1a over what was seen. */
static void digest(uint64_t *sum, unsigned kind, unsigned code, fl_span bytes)
{
    uint64_t numbers[3] = {kind, code, bytes.len};

    for (size_t i = 0; i < 3; i++)
        *sum = (*sum ^ numbers[i]) * 0x100000001b3u;
    for (size_t i = 0; i < bytes.len; i++)
        *sum = (*sum ^ (unsigned char)bytes.ptr[i]) * 0x100000001b3u;
}

/* What a sender writes, the reader of the other side reads. */
static void send_back(const fl_ws_message *m, bool client)
{
    static const unsigned char key[4] = {0xa1, 0x02, 0x7f, 0xff};
    fl_ws_settings settings = {.client = !client, .max_message = 1 << 24};
    char *frame = malloc(FL_WS_HEAD_MAX + m->bytes.len);
    fl_pool pool;
    fl_ws ws;
    fl_ws_message got;

    require(frame != NULL);
    fl_pool_init(&pool);
    require(fl_ws_init(&ws, &settings, NULL, &pool) == FL_OK);
    size_t n =
        fl_ws_head(frame, m->kind, false, m->bytes.len, client ? key : NULL);
    if (m->bytes.len > 0)
        memcpy(frame + n, m->bytes.ptr, m->bytes.len);
    if (client)
        fl_ws_mask(frame + n, frame + n, m->bytes.len, key, 0);
    fl_span in = {frame, n + m->bytes.len};
    require(fl_ws_next(&ws, &in, &got) == FL_OK && in.len == 0);
    require(got.kind == m->kind && fl_span_equal(got.bytes, m->bytes));
    fl_ws_deinit(&ws);
    fl_pool_deinit(&pool);
    free(frame);
}

/* The control characters U+0080 to U+009F: two bytes, made one "?". */
static size_t count_long_controls(fl_span text)
{
    size_t count = 0;

    for (size_t i = 0; i + 1 < text.len; i++)
        count += (unsigned char)text.ptr[i] == 0xc2 &&
                 (unsigned char)text.ptr[i + 1] < 0xa0;
    return count;
}

static void send_close_back(const fl_ws_message *m)
{
    char body[FL_WS_CONTROL_MAX];
    size_t n = fl_ws_close_body(body, m->code, m->bytes);
    size_t less = count_long_controls(m->bytes);

    require(n == (m->code == FL_WS_NO_CODE ? 0 : 2 + m->bytes.len - less));
}

/* False: text that its owner would refuse. */
static bool take(const fl_ws *ws, const fl_ws_message *m, bool last,
                 uint64_t *sum)
{
    if (m->kind == FL_WS_TEXT) {
        require(m->checked || ws->settings->text_unchecked);
        if (!m->checked && !fl_utf8_valid(m->bytes))
            return false;
        require(fl_utf8_valid(m->bytes));
    }
    if (m->kind == FL_WS_TEXT || m->kind == FL_WS_BINARY)
        require(m->bytes.len <= ws->settings->max_message);
    else
        require(m->bytes.len <= FL_WS_CONTROL_MAX);
    require(m->kind != FL_WS_BINARY || !ws->settings->refuse_binary);
    digest(sum, m->kind, m->code, m->bytes);
    if (last && m->kind == FL_WS_CLOSE)
        send_close_back(m);
    else if (last)
        send_back(m, ws->settings->client);
    return true;
}

/* One piece; FL_AGAIN while there may be more. */
static fl_status feed(fl_ws *ws, fl_span piece, bool back, uint64_t *sum)
{
    char *copy = malloc(piece.len); /* exact, so ASan sees any overrun */
    fl_span in = {copy, piece.len};
    fl_ws_message m;
    fl_status rc;

    require(copy != NULL);
    memcpy(copy, piece.ptr, piece.len);
    while ((rc = fl_ws_next(ws, &in, &m)) == FL_OK)
        if (!take(ws, &m, back, sum)) {
            digest(sum, 0, FL_WS_BAD_DATA, (fl_span){0});
            free(copy);
            return FL_E_BAD_TEXT;
        }
    require(rc != FL_AGAIN || in.len == 0);
    if (rc < 0) {
        require(fl_ws_next(ws, &in, &m) == rc && ws->fault.what != NULL);
        digest(sum, 0, ws->fault.code, (fl_span){0});
        if (!ws->settings->text_unchecked)
            digest(sum, 0, 0, fl_span_of(ws->fault.what));
    }
    fl_ws_rest(ws);
    free(copy);
    return rc;
}

static uint64_t read_all(const fl_ws_settings *settings,
                         const fl_ws_agreed *agreed, fl_span stream,
                         unsigned step)
{
    size_t context = agreed != NULL ? CONTEXT_MAX : 0, fed = 0;
    fl_status rc = FL_AGAIN;
    unsigned chop = step;
    uint64_t sum = 0;
    fl_pool pool;
    fl_ws ws;

    fl_pool_init(&pool);
    require(fl_ws_init(&ws, settings, agreed, &pool) == FL_OK);
    while (rc == FL_AGAIN && stream.len > 0) {
        chop = chop * 1103515245u + 12345u;
        size_t n = step > 1 ? 1 + (chop >> 16) % 64 : 1;
        n = step > 0 && n < stream.len ? n : stream.len;
        rc = feed(&ws, (fl_span){stream.ptr, n}, step == 0, &sum);
        stream = fl_span_from(stream, n);
        fed += n;
        require(fl_ws_memory(&ws) <= settings->max_message + context);
        if (agreed == NULL) /* it grows with what came, not with promises */
            require(fl_ws_memory(&ws) <= 2 * fed + BUFFER_MIN);
    }
    digest(&sum, fl_ws_in_message(&ws) && rc == FL_AGAIN, 0, (fl_span){0});
    fl_ws_deinit(&ws);
    fl_pool_deinit(&pool);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;

    fl_ws_packs *packs = fl_ws_packs_new();
    unsigned how = data[0];
    fl_ws_agreed agreed = {.on = true,
                           .our_takeover = how & TAKEOVER,
                           .peer_takeover = how & TAKEOVER,
                           .our_bits = 15,
                           .peer_bits = 15};
    fl_ws_settings settings = {.client = how & CLIENT,
                               .max_message = 1u + data[1] * 300u,
                               .text_unchecked = how & UNCHECKED,
                               .refuse_binary = how & TEXT_ONLY,
                               .packs = packs};
    const fl_ws_agreed *packing = how & PACKING ? &agreed : NULL;
    fl_span stream = {(const char *)data + 2, size - 2};

    require(packs != NULL);
    uint64_t whole = read_all(&settings, packing, stream, 0);
    require(read_all(&settings, packing, stream, 1) == whole);
    require(read_all(&settings, packing, stream, 2 + how) == whole);
    fl_ws_packs_free(packs);
    return 0;
}
