/*
 * fuzz_ws_handshake.c - whatever a peer writes into the fields of a handshake.
 *
 * The first byte chooses the policy and the version, the rest is lines of
 * "name: value", which become a head as the codec would make it; the last line
 * is tried as offers and as an answer, too. What a server answers, a client
 * that made that offer must take.
 */
#include "base/span.h"
#include "wire/ws_handshake.h"
#include "wire/ws_pack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 32, ANSWER_MAX = 4096 };

static void require(bool fact)
{
    if (!fact)
        abort();
}

typedef struct sheet {
    fl_head head;
    fl_field fields[LINES];
} sheet;

static void add(sheet *s, fl_span line)
{
    size_t colon = fl_span_find(line, ':');

    if (s->head.count == LINES || colon == line.len)
        return;
    fl_field *f = &s->fields[s->head.count++];
    f->name = (fl_span){line.ptr, colon};
    f->value = fl_span_from(line, colon + 1);
    while (f->value.len > 0 && f->value.ptr[0] == ' ')
        f->value = fl_span_from(f->value, 1);
    f->id = fl_field_find(f->name);
    if (s->head.at[f->id] == 0)
        s->head.at[f->id] = (uint8_t)s->head.count;
}

static void check_bounds(const fl_ws_agreed *agreed)
{
    if (!agreed->on)
        return;
    require(agreed->our_bits >= 9 && agreed->our_bits <= 15);
    require(agreed->peer_bits >= 9 && agreed->peer_bits <= 15);
}

/* What was agreed on can be worked with. */
static void try_packing(const fl_ws_agreed *agreed)
{
    fl_ws_packs *packs = fl_ws_packs_new();
    fl_ws_pack *pack;
    fl_ws_unpack *unpack;
    fl_span text = FL_SPAN("text, text, text");
    fl_buf out;

    fl_buf_init(&out, 1000);
    require(packs != NULL);
    require(fl_ws_pack_new(agreed, &pack) == FL_OK);
    require(fl_ws_unpack_new(agreed, &unpack) == FL_OK);
    require((pack != NULL) == agreed->our_takeover);
    require((unpack != NULL) == agreed->peer_takeover);
    require(fl_ws_pack_message(packs, pack, agreed, &text, 1, &out) == FL_OK);
    fl_ws_pack_free(pack);
    fl_ws_unpack_free(unpack);
    fl_ws_packs_free(packs);
    fl_buf_reset(&out);
}

static void try_offers(fl_span text, const fl_ws_policy *policy)
{
    fl_ws_agreed agreed, settled;
    const char *what;
    fl_buf answer;

    fl_buf_init(&answer, ANSWER_MAX);
    require(fl_ws_agree(text, policy, &agreed, &answer) == FL_OK);
    check_bounds(&agreed);
    require(agreed.on == (fl_buf_len(&answer) > 0));
    require(!agreed.on || !policy->off);
    require(policy->takeover ||
            (!agreed.our_takeover && !agreed.peer_takeover));
    if (agreed.on)
        try_packing(&agreed);

    fl_status rc = fl_ws_settle(text, policy, &settled, &what);
    require(rc == FL_OK || rc == FL_E_BAD_MESSAGE);
    require((rc == FL_OK) == (what == NULL));
    require(rc == FL_OK || !settled.on);
    check_bounds(&settled);
    fl_buf_reset(&answer);
}

/* Our own two sides, with any policies, understand each other. */
static void try_each_other(const fl_ws_policy *server,
                           const fl_ws_policy *client)
{
    fl_ws_agreed theirs, ours;
    const char *what;
    fl_buf answer;

    fl_buf_init(&answer, ANSWER_MAX);
    require(fl_ws_agree(fl_ws_offer(client), server, &theirs, &answer) ==
            FL_OK);
    require(fl_ws_settle(fl_buf_view(&answer), client, &ours, &what) == FL_OK);
    require(theirs.on == ours.on);
    require(theirs.on == (!server->off && !client->off));
    /* who unpacks with a context needs one who packs with no less */
    require(theirs.peer_takeover || !ours.our_takeover);
    require(ours.peer_takeover || !theirs.our_takeover);
    fl_buf_reset(&answer);
}

static void try_head(sheet *s)
{
    static const char *const known[] = {"mcp.v1", "mcp", NULL};
    const char *what;
    fl_buf joined;

    if (fl_ws_wanted(&s->head) && fl_ws_refused(&s->head, &what) == 0) {
        require(what == NULL);
        fl_span key = fl_head_get(&s->head, FL_FIELD_SEC_WEBSOCKET_KEY);
        char input[FL_WS_ACCEPT_INPUT];
        if (s->head.version < 20)
            fl_ws_accept_input(key, input);
    }
    fl_span chosen = fl_ws_choose_protocol(&s->head, known);
    require(chosen.ptr == NULL || chosen.ptr == known[0] ||
            chosen.ptr == known[1]);
    s->head.status = 101;
    if (fl_ws_check_response(&s->head, FL_SPAN("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
                             known, &chosen) != NULL)
        require(chosen.ptr == NULL);
    fl_buf_init(&joined, 1 << 20);
    require(fl_ws_join(&s->head, FL_FIELD_SEC_WEBSOCKET_EXTENSIONS, &joined) ==
            FL_OK);
    fl_buf_reset(&joined);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;

    unsigned how = data[0];
    fl_ws_policy policy = {.off = how & 1, .takeover = how & 2};
    fl_ws_policy other = {.off = how & 4, .takeover = how & 8};
    char *copy = malloc(size); /* exact, so ASan sees any overrun */
    require(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    fl_span rest = {copy, size - 1};
    sheet s = {
        .head = {.version = how & 16 ? 20 : 11,
                 .method = how & 16 ? FL_SPAN("CONNECT") : FL_SPAN("GET"),
                 .protocol = FL_SPAN("websocket")}};

    s.head.fields = s.fields;
    while (rest.len > 0) {
        size_t n = fl_span_find(rest, '\n');
        fl_span line = {rest.ptr, n};
        add(&s, line);
        try_offers(line, &policy);
        rest = fl_span_from(rest, n < rest.len ? n + 1 : n);
    }
    try_head(&s);
    try_each_other(&policy, &other);
    free(copy);
    return 0;
}
