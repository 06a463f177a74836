/*
 * ws.c - the frames of a WebSocket: bytes in, messages out.
 *
 * A frame is read in two steps, its head and its payload, and a message is
 * the payloads of one frame or more. Each step works on what there is of it:
 * a head that lies whole in the input is read where it lies, and a message of
 * one frame that does is unmasked in one go. Only what was cut is collected,
 * the head in `head`, the payload in `gathered`, a control frame, which may
 * come between the frames of a message, in `control`. What a busy server gets,
 * short text in one frame, has a way of its own in fl_ws_next(), which knows
 * no rule but "is it that?".
 *
 * Text that comes in pieces is checked piece by piece, so that the first
 * impossible byte ends it. Of a packed message nothing can be said before it
 * is whole; then it is unpacked into a second buffer, which takes the place
 * of the first.
 */
#include "wire/ws.h"

#include "base/span.h"
#include "wire/ws_rules.h"

#include <assert.h>

fl_status fl_ws_init(fl_ws *ws, const fl_ws_settings *settings,
                     const fl_ws_agreed *agreed, fl_pool *pool)
{
    *ws = (fl_ws){
        .settings = settings,
        .pool = pool,
        .packing = agreed != NULL && agreed->on,
    };
    fl_buf_init(&ws->gathered, settings->max_message);
    assert(!ws->packing || settings->packs != NULL);
    return ws->packing ? fl_ws_unpack_new(agreed, &ws->unpack) : FL_OK;
}

/* The last message is done with; its memory waits for the next one. */
static void drop(fl_ws *ws)
{
    fl_buf_clear(&ws->gathered);
    ws->lent = false;
}

void fl_ws_rest(fl_ws *ws)
{
    if (ws->lent || ws->finished)
        drop(ws);
    if (fl_buf_len(&ws->gathered) == 0)
        fl_pool_return(ws->pool, &ws->gathered);
}

void fl_ws_deinit(fl_ws *ws)
{
    drop(ws);
    if (ws->pool != NULL)
        fl_pool_return(ws->pool, &ws->gathered);
    fl_ws_unpack_free(ws->unpack);
    *ws = (fl_ws){0};
}

static bool is_between_messages(const fl_ws *ws)
{
    return ws->kind == 0 && !ws->in_payload && ws->head_len == 0;
}

bool fl_ws_in_message(const fl_ws *ws)
{
    return !ws->finished && !is_between_messages(ws);
}

size_t fl_ws_memory(const fl_ws *ws)
{
    return ws->gathered.cap + fl_ws_unpack_memory(ws->unpack);
}

static fl_status status_of(const fl_ws *ws)
{
    switch (ws->fault.code) {
    case 0:
        return FL_END;
    case FL_WS_TOO_BIG:
        return FL_E_TOO_BIG;
    case FL_WS_INTERNAL:
        return FL_E_NOMEM;
    default:
        return FL_E_BAD_MESSAGE;
    }
}

static const char out_of_memory[] = "out of memory";
static const char not_text[] = "text is not UTF-8";

/* Cold: what breaks the rules is not worth a fast path. */
__attribute__((cold, noinline)) static fl_status fail(fl_ws *ws, uint16_t code,
                                                      const char *what)
{
    ws->finished = true;
    ws->fault.code = code;
    ws->fault.what = what;
    return status_of(ws);
}

static fl_span take_front(fl_span *in, size_t n)
{
    fl_span front = {in->ptr, n};

    *in = fl_span_from(*in, n);
    return front;
}

static fl_status judge(fl_ws *ws, unsigned first, unsigned second)
{
    const char *what = fl_ws_judge_head(ws, first, second);

    if (what != NULL)
        return fail(ws, FL_WS_PROTOCOL_ERROR, what);
    if ((first & FL_WS_BITS_OPCODE) == FL_WS_BINARY &&
        ws->settings->refuse_binary)
        return fail(ws, FL_WS_UNSUPPORTED, "binary messages are not taken");
    return FL_OK;
}

/* A whole head, whose first two bytes have been judged. */
static fl_status enter(fl_ws *ws, const unsigned char *head, size_t size)
{
    unsigned opcode = head[0] & FL_WS_BITS_OPCODE;
    uint64_t length;
    const char *what = fl_ws_read_length(head, &length);

    if (what != NULL)
        return fail(ws, FL_WS_PROTOCOL_ERROR, what);
    if (length > ws->settings->max_message - fl_buf_len(&ws->gathered) &&
        opcode < FL_WS_BIT_CONTROL)
        return fail(ws, FL_WS_TOO_BIG, "a message is longer than the limit");
    if (!ws->settings->client)
        memcpy(ws->key, head + size - FL_WS_MASK_KEY, FL_WS_MASK_KEY);
    ws->opcode = (uint8_t)opcode;
    ws->final = (head[0] & FL_WS_BIT_FIN) != 0;
    ws->left = length;
    ws->phase = 0;
    ws->head_len = 0;
    ws->control_len = 0;
    ws->in_payload = true;
    if (opcode == FL_WS_TEXT || opcode == FL_WS_BINARY) {
        ws->kind = (uint8_t)opcode;
        ws->packed = (head[0] & FL_WS_BIT_RSV1) != 0;
    }
    return FL_OK;
}

/* A head that was cut. */
static fl_status collect_head(fl_ws *ws, fl_span *in)
{
    unsigned char *head = ws->head;
    fl_status rc = FL_OK;

    while (rc == FL_OK && in->len > 0) {
        head[ws->head_len++] = (unsigned char)take_front(in, 1).ptr[0];
        if (ws->head_len == 2)
            rc = judge(ws, head[0], head[1]);
        if (rc == FL_OK && ws->head_len > 1 &&
            ws->head_len == fl_ws_head_size(head[1]))
            return enter(ws, head, ws->head_len);
    }
    return rc == FL_OK ? FL_AGAIN : rc;
}

static fl_status take_head(fl_ws *ws, fl_span *in)
{
    const unsigned char *at = (const unsigned char *)in->ptr;

    if (ws->head_len > 0 || in->len < 2 || in->len < fl_ws_head_size(at[1]))
        return collect_head(ws, in);

    fl_status rc = judge(ws, at[0], at[1]);
    if (rc != FL_OK)
        return rc;
    size_t size = fl_ws_head_size(at[1]);
    take_front(in, size);
    return enter(ws, at, size);
}

/* Copies payload to where it is kept, and takes the mask off. */
static void unmask(fl_ws *ws, char *to, fl_span piece)
{
    if (!ws->settings->client)
        fl_ws_mask(to, piece.ptr, piece.len, ws->key, ws->phase);
    else if (piece.len > 0)
        memcpy(to, piece.ptr, piece.len);
    ws->phase = (uint8_t)((ws->phase + piece.len) & 3);
    ws->left -= piece.len;
}

/* What there is of the payload in hand. */
static fl_span take_payload(const fl_ws *ws, fl_span *in)
{
    return take_front(in, ws->left < in->len ? (size_t)ws->left : in->len);
}

static fl_status unpack(fl_ws *ws, fl_span *bytes)
{
    size_t max = ws->settings->max_message;
    fl_buf out;

    fl_buf_init(&out, max);
    fl_pool_lend(ws->pool, &out);
    fl_status rc = fl_ws_unpack_message(ws->settings->packs, ws->unpack, *bytes,
                                        max, &out);
    drop(ws);
    fl_pool_return(ws->pool, &ws->gathered);
    ws->gathered = out;
    ws->lent = true;
    *bytes = fl_buf_view(&ws->gathered);
    if (rc == FL_E_TOO_BIG)
        return fail(ws, FL_WS_TOO_BIG, "unpacked, a message passes the limit");
    if (rc == FL_E_NOMEM)
        return fail(ws, FL_WS_INTERNAL, out_of_memory);
    if (rc != FL_OK)
        return fail(ws, FL_WS_BAD_DATA, "a message cannot be unpacked");
    return FL_OK;
}

/* Text may end here; if so, the next one finds a clean state. */
static fl_status end_text(fl_ws *ws)
{
    return fl_utf8_whole(&ws->utf8)
               ? FL_OK
               : fail(ws, FL_WS_BAD_DATA, "text ends within a character");
}

/* Text that came in one piece. */
static fl_status check_text(fl_ws *ws, fl_ws_message *message)
{
    if (ws->settings->text_unchecked)
        return FL_OK;
    if (!fl_utf8_next(&ws->utf8, message->bytes))
        return fail(ws, FL_WS_BAD_DATA, not_text);
    message->checked = true;
    return end_text(ws);
}

/* A whole message; `checked`: text that came in pieces has been. */
static fl_status deliver(fl_ws *ws, fl_span bytes, bool checked,
                         fl_ws_message *message)
{
    fl_status rc = FL_OK;

    *message = (fl_ws_message){
        .kind = (fl_ws_kind)ws->kind, .bytes = bytes, .checked = checked};
    ws->in_payload = false;
    ws->kind = 0;
    if (ws->packed)
        rc = unpack(ws, &message->bytes);
    if (rc == FL_OK && message->kind == FL_WS_TEXT && !checked)
        rc = check_text(ws, message);
    return rc;
}

/* Keeps a piece of payload that is there, and points it to where that is. */
static fl_status keep(fl_ws *ws, fl_span *piece)
{
    if (piece->len == 0)
        return FL_OK;
    fl_pool_lend(ws->pool, &ws->gathered);
    char *to = fl_buf_reserve(&ws->gathered, piece->len);
    if (to == NULL)
        return fail(ws, FL_WS_INTERNAL, out_of_memory);
    unmask(ws, to, *piece);
    fl_buf_commit(&ws->gathered, piece->len);
    piece->ptr = to;
    return FL_OK;
}

/* A message in one frame, all of which is there. */
static fl_status take_whole(fl_ws *ws, fl_span *in, fl_ws_message *message)
{
    fl_span bytes = take_payload(ws, in);

    if (!ws->settings->client) {
        fl_status rc = keep(ws, &bytes);
        if (rc != FL_OK)
            return rc;
        ws->lent = true;
    }
    return deliver(ws, bytes, false, message);
}

/* A piece of a message. */
static fl_status gather(fl_ws *ws, fl_span *in, fl_ws_message *message)
{
    bool check = ws->kind == FL_WS_TEXT && !ws->packed;
    fl_span piece = take_payload(ws, in);
    fl_status rc = keep(ws, &piece);

    if (rc != FL_OK)
        return rc;
    if (check && !fl_utf8_next(&ws->utf8, piece))
        return fail(ws, FL_WS_BAD_DATA, not_text);
    if (ws->left > 0)
        return FL_AGAIN;
    ws->in_payload = false;
    if (!ws->final)
        return FL_AGAIN;
    ws->lent = true;
    rc = check ? end_text(ws) : FL_OK;
    return rc == FL_OK ? deliver(ws, fl_buf_view(&ws->gathered), check, message)
                       : rc;
}

static fl_status take_data(fl_ws *ws, fl_span *in, fl_ws_message *message)
{
    bool alone = ws->final && ws->opcode != FL_WS_MORE;

    return alone && ws->left <= in->len && fl_buf_len(&ws->gathered) == 0
               ? take_whole(ws, in, message)
               : gather(ws, in, message);
}

/* RFC 6455 5.5.1: nothing, or a code and perhaps a reason. */
static fl_status take_close(fl_ws *ws, fl_ws_message *message)
{
    const char *what = fl_ws_read_code(message->bytes, &message->code);

    if (what != NULL)
        return fail(ws, FL_WS_PROTOCOL_ERROR, what);
    if (message->bytes.len > 0)
        message->bytes = fl_span_from(message->bytes, 2);
    if (!fl_utf8_valid(message->bytes))
        return fail(ws, FL_WS_BAD_DATA, "the reason of a close is not UTF-8");
    ws->finished = true;
    return FL_OK;
}

static fl_status take_control(fl_ws *ws, fl_span *in, fl_ws_message *message)
{
    char *control = (char *)ws->control;
    fl_span piece = take_payload(ws, in);

    unmask(ws, control + ws->control_len, piece);
    ws->control_len = (uint8_t)(ws->control_len + piece.len);
    if (ws->left > 0)
        return FL_AGAIN;
    ws->in_payload = false;
    *message = (fl_ws_message){.kind = (fl_ws_kind)ws->opcode,
                               .bytes = {control, ws->control_len}};
    return ws->opcode == FL_WS_CLOSE ? take_close(ws, message) : FL_OK;
}

/* The long way: whatever comes, in whatever pieces. */
__attribute__((noinline)) static fl_status read_on(fl_ws *ws, fl_span *in,
                                                   fl_ws_message *message)
{
    fl_status rc;

    *message = (fl_ws_message){0};
    if (ws->finished)
        return status_of(ws);
    do {
        rc = ws->in_payload ? FL_OK : take_head(ws, in);
        if (rc == FL_OK)
            rc = ws->opcode < FL_WS_BIT_CONTROL ? take_data(ws, in, message)
                                                : take_control(ws, in, message);
    } while (rc == FL_AGAIN && in->len > 0);
    return rc;
}

fl_status fl_ws_next(fl_ws *ws, fl_span *in, fl_ws_message *message)
{
    const fl_ws_settings *settings = ws->settings;
    size_t head, len;

    if (ws->lent)
        drop(ws);
    if (ws->finished || !is_between_messages(ws) ||
        (head = fl_ws_spot_plain(settings, *in, &len)) == 0)
        return read_on(ws, in, message);

    const char *at = in->ptr;
    *in = (fl_span){at + head + len, in->len - head - len};
    fl_pool_lend(ws->pool, &ws->gathered);
    char *to = fl_buf_reserve(&ws->gathered, len);
    *message = (fl_ws_message){.kind = FL_WS_TEXT, .bytes = {to, len}};
    if (to == NULL)
        return fail(ws, FL_WS_INTERNAL, out_of_memory);
    fl_ws_mask(to, at + head, len,
               (const unsigned char *)at + head - FL_WS_MASK_KEY, 0);
    fl_buf_commit(&ws->gathered, len);
    ws->lent = true;
    return check_text(ws, message);
}
