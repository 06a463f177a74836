/*
 * msg.c - the JSON-RPC 2.0 envelope, read without a copy.
 *
 * Every message that passes through fairlead comes by here, so the way of a
 * good one is short: one scan, which notes the members as it validates, then
 * one look at each key, told apart by length before any byte is compared.
 * Everything rare (keys written with escapes, more members than the scan
 * notes, messages that are no messages) has a longer way of its own.
 *
 * Strictness is a matter of safety. Two programs that read the same bytes and
 * see different messages can be played against each other, so an envelope is
 * refused when it could be read in two ways: a member given twice, also when
 * one of the two is spelled "\u0069d", or a request that is a response too.
 *
 * The trick: a slice without its quotes still has them on either side in the
 * text it borrows from. Widening it by one byte each way makes it a JSON
 * string again, for which json/nav.h has every verb we need.
 */
#include "rpc/msg.h"

#include "base/span.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/scan.h"

#include <assert.h>
#include <string.h>

enum { FL_MSG_SLICES = 18 }; /* beside the text itself */

enum slot {
    JSONRPC,
    ID,
    METHOD,
    PARAMS,
    RESULT,
    ERROR,
    SLOTS, /* and any other member */
};

static const fl_span slot_names[SLOTS] = {
    [JSONRPC] = {"jsonrpc", 7}, [ID] = {"id", 2},
    [METHOD] = {"method", 6},   [PARAMS] = {"params", 6},
    [RESULT] = {"result", 6},   [ERROR] = {"error", 5},
};

static const char *const slot_twice[SLOTS] = {
    [JSONRPC] = "\"jsonrpc\" is given twice",
    [ID] = "\"id\" is given twice",
    [METHOD] = "\"method\" is given twice",
    [PARAMS] = "\"params\" is given twice",
    [RESULT] = "\"result\" is given twice",
    [ERROR] = "\"error\" is given twice",
};

/* The members that matter, as they came. No JSON value is zero bytes long, so
 * an empty span is an absent member. */
struct envelope {
    fl_span part[SLOTS];
    const char *twice; /* the first complaint about a repeated member */
    bool id_twice;
};

static fl_span widen(fl_span inside_quotes)
{
    return (fl_span){inside_quotes.ptr - 1, inside_quotes.len + 2};
}

static bool has_escape(fl_span string)
{
    return fl_span_find(string, '\\') < string.len;
}

/* None of our names holds a character with a short escape, so the shortest
 * odd spelling is "\u0069d", and the longest is every letter of "jsonrpc". */
__attribute__((noinline)) static enum slot slot_of_escaped(fl_span key)
{
    enum { SHORTEST = 7, LONGEST = 6 * 7 };

    if (key.len < SHORTEST || key.len > LONGEST || !has_escape(key))
        return SLOTS;
    for (enum slot name = JSONRPC; name < SLOTS; name++)
        if (fl_json_string_is(widen(key), slot_names[name]))
            return name;
    return SLOTS;
}

/* Lengths are constants in each comparison, which makes it a load or two. */
static enum slot slot_of(fl_span key)
{
    const char *name = key.ptr;

    switch (key.len) {
    case 2:
        return memcmp(name, "id", 2) == 0 ? ID : SLOTS;
    case 5:
        return memcmp(name, "error", 5) == 0 ? ERROR : SLOTS;
    case 6:
        return memcmp(name, "method", 6) == 0   ? METHOD
               : memcmp(name, "params", 6) == 0 ? PARAMS
               : memcmp(name, "result", 6) == 0 ? RESULT
                                                : SLOTS;
    case 7:
        if (memcmp(name, "jsonrpc", 7) == 0)
            return JSONRPC;
        break; /* seven bytes are also the shortest spelling with an escape */
    default:
        break;
    }
    return slot_of_escaped(key);
}

static inline void note(struct envelope *envelope, const fl_json_member *member)
{
    enum slot slot = slot_of(member->key);

    if (slot == SLOTS)
        return;
    if (envelope->part[slot].len > 0) {
        envelope->id_twice |= slot == ID;
        if (envelope->twice == NULL)
            envelope->twice = slot_twice[slot];
    }
    envelope->part[slot] = member->value;
}

/* Of an object with more members than the scan has noted. */
__attribute__((noinline)) static void note_walking(struct envelope *envelope,
                                                   fl_span object)
{
    fl_json_member member;
    fl_json_walk walk;

    fl_json_walk_init(&walk, object);
    while (fl_json_walk_next(&walk, &member))
        note(envelope, &member);
}

static void note_all(struct envelope *envelope, const fl_json_top *top)
{
    if (top->count > FL_JSON_MEMBERS)
        note_walking(envelope, top->value);
    else
        for (size_t i = 0; i < top->count; i++)
            note(envelope, &top->members[i]);
}

static bool is_version(fl_span value)
{
    return fl_span_equal(value, FL_SPAN("\"2.0\"")) ||
           fl_json_string_is(value, FL_SPAN("2.0"));
}

static bool is_id(fl_span value)
{
    char first = value.len > 0 ? value.ptr[0] : '\0';

    return first == '"' || first == '-' || (first >= '0' && first <= '9');
}

/* The judges return what is wrong, or NULL. */
static const char *judge_call(const struct envelope *envelope,
                              fl_msg_kind *kind)
{
    fl_json_type params = fl_json_type_of(envelope->part[PARAMS]);
    fl_span id = envelope->part[ID];

    if (envelope->part[RESULT].len > 0 || envelope->part[ERROR].len > 0)
        return "message has a method and also a result or an error";
    if (id.len > 0 && !is_id(id))
        return fl_json_type_of(id) == FL_JSON_NULL
                   ? "\"id\" of a request must not be null"
                   : "\"id\" must be a string or a number";
    if (fl_json_type_of(envelope->part[METHOD]) != FL_JSON_STRING)
        return "\"method\" must be a string";
    if (params != FL_JSON_NONE && params != FL_JSON_OBJECT &&
        params != FL_JSON_ARRAY)
        return "\"params\" must be an object or an array";
    *kind = id.len > 0 ? FL_MSG_REQUEST : FL_MSG_NOTIFICATION;
    return NULL;
}

static const char *judge_error(fl_span id, fl_span error)
{
    int64_t code;

    /* JSON-RPC 2.0, 5: the id is null when the request's could not be read;
     * MCP from 2025-11-25 on leaves it out instead. */
    if (id.len > 0 && fl_json_type_of(id) != FL_JSON_NULL && !is_id(id))
        return "\"id\" must be a string, a number or null";
    if (fl_json_type_of(error) != FL_JSON_OBJECT)
        return "\"error\" must be an object";
    if (fl_json_int64(fl_json_get(error, FL_SPAN("code")), &code) != FL_OK)
        return "\"code\" of the error must be an integer";
    if (fl_json_type_of(fl_json_get(error, FL_SPAN("message"))) !=
        FL_JSON_STRING)
        return "\"message\" of the error must be a string";
    return NULL;
}

static const char *judge_result(fl_span id)
{
    if (id.len == 0)
        return "a result must have an \"id\"";
    if (fl_json_type_of(id) == FL_JSON_NULL)
        return "\"id\" of a result must not be null";
    return is_id(id) ? NULL : "\"id\" must be a string or a number";
}

static const char *judge(const struct envelope *envelope, fl_msg_kind *kind)
{
    bool has_result = envelope->part[RESULT].len > 0;
    bool has_error = envelope->part[ERROR].len > 0;

    if (envelope->twice != NULL)
        return envelope->twice;
    if (!is_version(envelope->part[JSONRPC]))
        return "\"jsonrpc\" must be \"2.0\"";
    if (envelope->part[METHOD].len > 0)
        return judge_call(envelope, kind);
    if (has_result && has_error)
        return "message has both a result and an error";
    if (!has_result && !has_error)
        return "message has no method, no result and no error";
    *kind = has_result ? FL_MSG_RESULT : FL_MSG_ERROR;
    return has_result ? judge_result(envelope->part[ID])
                      : judge_error(envelope->part[ID], envelope->part[ERROR]);
}

static fl_status refuse(fl_msg *msg, fl_msg_fault *fault, const char *what)
{
    msg->kind = FL_MSG_INVALID;
    *fault = (fl_msg_fault){.code = FL_RPC_INVALID_REQUEST, .what = what};
    return FL_E_BAD_MESSAGE;
}

static fl_status read_object(const fl_json_top *top, fl_msg *msg,
                             fl_msg_fault *fault)
{
    struct envelope envelope = {0};

    note_all(&envelope, top);
    fl_span id = envelope.part[ID];
    msg->result = envelope.part[RESULT];
    msg->error = envelope.part[ERROR];
    msg->id = id; /* which in an error may be null */

    const char *what = judge(&envelope, &msg->kind);
    if (what != NULL) {
        if (!is_id(id) || envelope.id_twice)
            msg->id = (fl_span){0};
        return refuse(msg, fault, what);
    }
    fl_span method = envelope.part[METHOD];
    msg->params = envelope.part[PARAMS];
    if (method.len > 0) {
        msg->method = (fl_span){method.ptr + 1, method.len - 2};
        fl_params_read(top, msg->params, &msg->inner);
    }
    return FL_OK;
}

fl_status fl_msg_read(fl_span text, fl_msg *msg, fl_msg_fault *fault)
{
    fl_json_top top;
    size_t at = 0;

    *msg = (fl_msg){0};
    *fault = (fl_msg_fault){0};
    fl_status rc = fl_json_scan(text, 0, &top, &at);
    if (rc != FL_OK) {
        *fault = (fl_msg_fault){FL_RPC_PARSE_ERROR, fl_status_text(rc), at};
        return rc;
    }
    msg->text = top.value;
    if (top.type == FL_JSON_OBJECT)
        return read_object(&top, msg, fault);
    if (top.type != FL_JSON_ARRAY)
        return refuse(msg, fault, "message must be an object");
    if (top.count == 0)
        return refuse(msg, fault, "batch is empty");
    msg->kind = FL_MSG_BATCH;
    return FL_OK;
}

bool fl_msg_method_is(const fl_msg *msg, fl_span method)
{
    /* An escape is longer than what it means, so only a longer spelling can
     * hold one, and a shorter one is never the same. */
    if (msg->method.len > method.len)
        return has_escape(msg->method) &&
               fl_json_string_is(widen(msg->method), method);
    return fl_span_same_name(msg->method, method) && !has_escape(method);
}

void fl_msg_splice_id(const fl_msg *msg, fl_span id, fl_span parts[3])
{
    assert(msg->id.len > 0);
    size_t before = (size_t)(msg->id.ptr - msg->text.ptr);

    parts[0] = (fl_span){msg->text.ptr, before};
    parts[1] = id;
    parts[2] = fl_span_from(msg->text, before + msg->id.len);
}

/* The two tokens that are replaced, in the order of the text; the second is
 * empty if there is no progress token. */
static void find_tokens(const fl_msg *msg, fl_span tokens[2])
{
    fl_span id = msg->id, progress = msg->inner.progress_token;
    bool swapped = progress.len > 0 && progress.ptr < id.ptr;

    assert(id.len > 0);
    tokens[0] = swapped ? progress : id;
    tokens[1] = swapped ? id : progress;
}

size_t fl_msg_renumber(const fl_msg *msg, fl_span id,
                       fl_span parts[FL_MSG_RENUMBERED])
{
    const char *at = msg->text.ptr, *end = at + msg->text.len;
    fl_span tokens[2];
    size_t n = 0;

    find_tokens(msg, tokens);
    for (size_t i = 0; i < 2 && tokens[i].len > 0; i++) {
        parts[n++] = (fl_span){at, (size_t)(tokens[i].ptr - at)};
        parts[n++] = id;
        at = tokens[i].ptr + tokens[i].len;
    }
    parts[n++] = (fl_span){at, (size_t)(end - at)};
    return n;
}

/* One escape off the front of `rest`, as the UTF-16 code unit it stands for.
 * Text that was not validated may be cut short; then it ends here. */
static uint32_t take_escape(fl_span *rest)
{
    static const char short_names[] = "bfnrt", means[] = "\b\f\n\r\t";
    char name = rest->len > 1 ? rest->ptr[1] : '\0';
    uint32_t unit = 0;

    if (name != 'u' || rest->len < 6) {
        const char *at = name != '\0' ? strchr(short_names, name) : NULL;
        *rest = fl_span_from(*rest, rest->len > 1 ? 2 : rest->len);
        return (unsigned char)(at != NULL ? means[at - short_names] : name);
    }
    for (size_t i = 2; i < 6; i++) {
        uint32_t digit = (unsigned char)rest->ptr[i];
        unit = unit << 4 | ((digit <= '9' ? digit : digit + 9) & 0xf);
    }
    *rest = fl_span_from(*rest, 6);
    return unit;
}

static bool is_surrogate(uint32_t unit, uint32_t first)
{
    return unit >= first && unit < first + 0x400;
}

/* One character off the front, whether it is spelled out or escaped. Half a
 * pair of surrogates is grammatical JSON and stands for itself. */
static uint32_t take_character(fl_span *rest)
{
    unsigned char lead = (unsigned char)rest->ptr[0];

    if (lead != '\\') {
        size_t more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        uint32_t point = more == 0 ? lead : lead & (0x3fu >> more);
        *rest = fl_span_from(*rest, 1);
        for (; more > 0 && rest->len > 0; more--) {
            point = point << 6 | ((unsigned char)rest->ptr[0] & 0x3fu);
            *rest = fl_span_from(*rest, 1);
        }
        return point;
    }
    uint32_t high = take_escape(rest);
    if (is_surrogate(high, 0xd800) && fl_span_starts(*rest, FL_SPAN("\\u"))) {
        fl_span ahead = *rest;
        uint32_t low = take_escape(&ahead);
        if (is_surrogate(low, 0xdc00)) {
            *rest = ahead;
            return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return high;
}

static bool means_same(fl_span a, fl_span b)
{
    while (a.len > 0 && b.len > 0)
        if (take_character(&a) != take_character(&b))
            return false;
    return a.len == 0 && b.len == 0;
}

bool fl_msg_id_equal(fl_span a, fl_span b)
{
    if (fl_span_equal(a, b))
        return a.len > 0;
    if (fl_json_type_of(a) != FL_JSON_STRING ||
        fl_json_type_of(b) != FL_JSON_STRING)
        return false;
    return (has_escape(a) || has_escape(b)) && means_same(a, b);
}

/* Every slice that a view has: nothing in it but these borrows. */
static void list_slices(fl_msg *msg, fl_span *slices[])
{
    fl_params *inner = &msg->inner;
    fl_claim *claim = &inner->claim;
    fl_span *all[FL_MSG_SLICES] = {
        &msg->id,
        &msg->method,
        &msg->params,
        &msg->result,
        &msg->error,
        &inner->name,
        &inner->uri,
        &inner->task_id,
        &inner->task,
        &inner->input_responses,
        &inner->request_state,
        &inner->arguments,
        &inner->meta,
        &inner->progress_token,
        &claim->version,
        &claim->client_capabilities,
        &claim->client_info,
        &claim->log_level,
    };

    for (size_t i = 0; i < FL_MSG_SLICES; i++)
        slices[i] = all[i];
}

/* How far `at`, a place in the old text that is not inside a token, has moved
 * by the tokens that end before it. */
static ptrdiff_t shift_at(const char *at, const fl_span tokens[2], size_t len)
{
    ptrdiff_t shift = 0;

    for (size_t i = 0; i < 2 && tokens[i].len > 0; i++)
        if (at >= tokens[i].ptr + tokens[i].len)
            shift += (ptrdiff_t)len - (ptrdiff_t)tokens[i].len;
    return shift;
}

void fl_msg_renumbered(const fl_msg *msg, fl_span id, const char *text,
                       fl_msg *view)
{
    const char *old = msg->text.ptr;
    fl_span *slices[FL_MSG_SLICES];
    fl_span tokens[2];

    find_tokens(msg, tokens);
    *view = *msg;
    list_slices(view, slices);
    for (size_t i = 0; i < FL_MSG_SLICES; i++) {
        const char *from = slices[i]->ptr;
        if (from == NULL)
            continue;
        const char *to = from + slices[i]->len;
        ptrdiff_t before = shift_at(from, tokens, id.len);
        ptrdiff_t after = shift_at(to, tokens, id.len);
        slices[i]->ptr = text + (from - old) + before;
        slices[i]->len = (size_t)(to - from + after - before);
    }
    view->text.ptr = text;
    view->text.len += (size_t)shift_at(old + msg->text.len, tokens, id.len);
}

void fl_msg_copy(const fl_msg *msg, char *room, fl_msg *copy)
{
    fl_span *slices[FL_MSG_SLICES];

    *copy = *msg;
    if (msg->text.len > 0)
        memcpy(room, msg->text.ptr, msg->text.len);
    copy->text.ptr = room;
    list_slices(copy, slices);
    for (size_t i = 0; i < FL_MSG_SLICES; i++)
        if (slices[i]->ptr != NULL)
            slices[i]->ptr = room + (slices[i]->ptr - msg->text.ptr);
}
