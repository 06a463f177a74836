/*
 * ask_seal.c - requestState: what a client carries from one round of a call to
 * the next.
 *
 * Nothing of a modern call stays with us while the client thinks: the retry
 * may come to another process, or never. So the state says all that is known
 * (earlier answers, the handler's own bytes) and all that is needed to judge
 * the answers to come (their keys, kinds and schemas). It is sealed, for the
 * client must neither read nor change it, and bound to the request it was given
 * for: the method, what it is about, its revision, and its arguments byte by
 * byte, which a client that repeats its request writes as it did before.
 *
 * It is good until it expires, and until then as often as it comes: a client
 * whose answer was lost on the way sends the same request again, and the
 * protocol lets it (MCP 2026-07-28, "Multi Round-Trip Requests"). A handler
 * that must do something once only has to see to that itself.
 */
#include "server/asking.h"

#include "base/base64.h"
#include "base/span.h"
#include "io/loop.h"
#include "io/seal.h"
#include "server/server.h"
#include "json/nav.h"

enum {
    VERSION = 1, /* of the layout below: processes may share a key */
    BOUND_MAX = 64 * 1024 * 1024,
    PLAIN_MAX = FL_ASKING_SEALED / 4 * 3 - FL_SEAL_EXTRA,
};

/* Numbers are written with the highest byte first. */
static fl_status put_number(fl_buf *out, uint64_t number, size_t bytes)
{
    char text[8];

    for (size_t i = bytes; i-- > 0; number >>= 8)
        text[i] = (char)(number & 0xff);
    return fl_buf_append(out, (fl_span){text, bytes});
}

static fl_status put_text(fl_buf *out, fl_span text)
{
    fl_status rc = put_number(out, text.len, 4);

    return rc == FL_OK ? fl_buf_append(out, text) : rc;
}

/* What is left to read; `bad` once something was not there. */
struct reader {
    fl_span rest;
    bool bad;
};

static fl_span get_bytes(struct reader *from, size_t len)
{
    fl_span bytes = {from->rest.ptr, len};

    if (from->bad || len > from->rest.len) {
        from->bad = true;
        return (fl_span){0};
    }
    from->rest = fl_span_from(from->rest, len);
    return bytes;
}

static uint64_t get_number(struct reader *from, size_t bytes)
{
    fl_span text = get_bytes(from, bytes);
    uint64_t number = 0;

    for (size_t i = 0; i < text.len; i++)
        number = number << 8 | (unsigned char)text.ptr[i];
    return number;
}

static fl_span get_text(struct reader *from)
{
    return get_bytes(from, (size_t)get_number(from, 4));
}

/* What the state is bound to. The last place is kept for who the client has
 * proved to be. */
static fl_status write_bound(const fl_call *call, fl_buf *out)
{
    const fl_params *params = &call->msg->inner;
    const fl_span parts[] = {
        FL_SPAN("fairlead requestState"),
        call->msg->method,
        fl_span_of(call->entry->key),
        call->kind == FL_CALL_READ ? params->uri : (fl_span){0},
        params->arguments,
        fl_span_of(call->to.revision->name),
        (fl_span){0},
    };
    fl_status rc = FL_OK;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && rc == FL_OK; i++)
        rc = put_text(out, parts[i]);
    return rc;
}

static fl_status write_knowns(const fl_asking *asking, fl_buf *out)
{
    fl_status rc = FL_OK;

    for (fl_list *node = asking->knowns.next;
         node != &asking->knowns && rc == FL_OK; node = node->next) {
        const fl_known *known = FL_LIST_ENTRY(node, fl_known, node);
        rc = put_number(out, 1, 1);
        if (rc == FL_OK)
            rc = put_number(out, known->input, 1);
        if (rc == FL_OK)
            rc = put_text(out, known->key);
        if (rc == FL_OK)
            rc = put_text(out, known->content);
    }
    return rc == FL_OK ? put_number(out, 0, 1) : rc;
}

static fl_status write_wants(const fl_asking *asking, fl_buf *out)
{
    fl_status rc = FL_OK;

    for (fl_list *node = asking->wants.next;
         node != &asking->wants && rc == FL_OK; node = node->next) {
        const fl_want *want = FL_LIST_ENTRY(node, fl_want, node);
        if (want->answered)
            continue;
        rc = put_number(out, 1, 1);
        if (rc == FL_OK)
            rc = put_number(out, want->kind, 1);
        if (rc == FL_OK)
            rc = put_text(out, want->key);
        if (rc == FL_OK)
            rc = put_text(out, want->schema);
    }
    return rc == FL_OK ? put_number(out, 0, 1) : rc;
}

static fl_status write_plain(const fl_call *call, fl_buf *out)
{
    const fl_asking *asking = call->asking;
    uint64_t expiry = fl_loop_unix(fl_call_loop(call)) +
                      call->to.session->server->input_timeout_ms;
    fl_status rc = put_number(out, VERSION, 1);

    if (rc == FL_OK)
        rc = put_number(out, expiry, 8);
    if (rc == FL_OK)
        rc = put_number(out, asking->rounds, 1);
    if (rc == FL_OK)
        rc = put_text(out, fl_buf_view(&asking->state));
    if (rc == FL_OK)
        rc = write_knowns(asking, out);
    return rc == FL_OK ? write_wants(asking, out) : rc;
}

static fl_status read_knowns(struct reader *from, fl_asking *asking)
{
    fl_status rc = FL_OK;

    while (rc == FL_OK && get_number(from, 1) == 1) {
        fl_input input = (fl_input)get_number(from, 1);
        fl_span key = get_text(from);
        fl_span content = get_text(from);
        if (!from->bad)
            rc = fl_asking_learn(asking, key, input, content);
    }
    return rc;
}

static fl_status read_wants(struct reader *from, fl_asking *asking)
{
    fl_status rc = FL_OK;

    while (rc == FL_OK && get_number(from, 1) == 1) {
        fl_want_kind kind = (fl_want_kind)get_number(from, 1);
        fl_span key = get_text(from);
        fl_span schema = get_text(from);
        if (!from->bad)
            rc = fl_asking_want(asking, kind, key, (fl_span){0}, schema);
    }
    return rc;
}

static fl_status read_plain(fl_call *call, fl_span plain)
{
    struct reader from = {.rest = plain};
    fl_asking *asking = fl_asking_of(call);

    if (asking == NULL)
        return FL_E_NOMEM;
    if (get_number(&from, 1) != VERSION)
        return FL_E_DENIED;
    if (get_number(&from, 8) < fl_loop_unix(fl_call_loop(call)))
        return FL_E_TIMEOUT;
    asking->rounds = (unsigned)get_number(&from, 1);
    fl_status rc = fl_buf_append(&asking->state, get_text(&from));
    if (rc == FL_OK)
        rc = read_knowns(&from, asking);
    if (rc == FL_OK)
        rc = read_wants(&from, asking);
    return rc == FL_OK && from.bad ? FL_E_DENIED : rc;
}

/* Random, and made when it is first needed, unless it was set. */
static fl_status find_key(fl_server *server, const fl_seal_key **key)
{
    fl_status rc = server->has_key ? FL_OK : fl_seal_key_make(&server->key);

    server->has_key = rc == FL_OK;
    *key = &server->key;
    return rc;
}

fl_status fl_asking_seal(const fl_call *call, fl_buf *out)
{
    fl_buf plain, bound, sealed;
    const fl_seal_key *key;

    fl_buf_init(&plain, PLAIN_MAX);
    fl_buf_init(&bound, BOUND_MAX);
    fl_buf_init(&sealed, PLAIN_MAX + FL_SEAL_EXTRA);
    fl_status rc = find_key(call->to.session->server, &key);
    if (rc == FL_OK)
        rc = write_plain(call, &plain);
    if (rc == FL_OK)
        rc = write_bound(call, &bound);
    if (rc == FL_OK)
        rc = fl_seal(key, fl_buf_view(&plain), fl_buf_view(&bound), &sealed);
    if (rc == FL_OK)
        rc = fl_base64url_encode(fl_buf_view(&sealed), out);
    fl_buf_reset(&plain);
    fl_buf_reset(&bound);
    fl_buf_reset(&sealed);
    return rc;
}

static fl_status open_sealed(const fl_call *call, fl_span text, fl_buf *plain)
{
    fl_buf sealed, bound;
    const fl_seal_key *key;

    fl_buf_init(&sealed, FL_ASKING_SEALED);
    fl_buf_init(&bound, BOUND_MAX);
    fl_status rc = find_key(call->to.session->server, &key);
    if (rc == FL_OK)
        rc = fl_base64url_decode(text, &sealed);
    if (rc == FL_OK)
        rc = write_bound(call, &bound);
    if (rc == FL_OK)
        rc =
            fl_seal_open(key, fl_buf_view(&sealed), fl_buf_view(&bound), plain);
    fl_buf_reset(&sealed);
    fl_buf_reset(&bound);
    return rc == FL_OK || rc == FL_E_NOMEM ? rc : FL_E_DENIED;
}

fl_status fl_asking_unseal(fl_call *call, fl_span text)
{
    fl_buf plain;

    if (text.len > FL_ASKING_SEALED)
        return FL_E_DENIED;
    fl_buf_init(&plain, FL_ASKING_SEALED);
    fl_status rc = open_sealed(call, text, &plain);
    if (rc == FL_OK)
        rc = read_plain(call, fl_buf_view(&plain));
    fl_buf_reset(&plain);
    return rc;
}
