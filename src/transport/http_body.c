/*
 * http_body.c - the body of a request, from its first byte to its last.
 *
 * A body that comes in one piece is not copied. One that does not is gathered,
 * unpacked on the way if it is packed, and counts against the memory budget
 * as it comes: to say a length costs a client nothing, so it counts nothing. To
 * say that it is packed costs nothing, either: so what unpacks it is made, and
 * counted, with its first byte.
 */
#include "transport/http_server.h"

#include "base/span.h"
#include "rpc/error.h"

/* What the revision of the request calls a message too large. */
static int too_large_code(const fl_head *head)
{
    fl_span version = head != NULL
                          ? fl_head_get(head, FL_FIELD_MCP_PROTOCOL_VERSION)
                          : (fl_span){0};
    const fl_revision *revision = fl_revision_find(version);

    return revision == NULL || fl_revision_has(revision, FL_HAS_TOO_LARGE_CODE)
               ? FL_RPC_MESSAGE_TOO_LARGE
               : FL_RPC_INVALID_REQUEST;
}

void fl_http_refuse_size(fl_http_turn *turn)
{
    fl_http_refuse_limit(turn, 413,
                         too_large_code(fl_exchange_head(turn->exchange)),
                         "the message is longer than --max-message "
                         "(max_message) allows",
                         turn->hub->options.max_message);
}

static void refuse_budget(fl_http_turn *turn)
{
    fl_http_refuse_limit(turn, 503, FL_RPC_BUSY,
                         "the memory budget (http.memory_budget) is used up",
                         turn->hub->budget.max);
}

static bool take_budget(fl_http_turn *turn, size_t bytes)
{
    if (fl_budget_take(&turn->hub->budget, bytes, true)) {
        turn->asked->budgeted += bytes;
        return true;
    }
    refuse_budget(turn);
    return false;
}

void fl_http_body_begin(fl_http_turn *turn, const fl_head *head)
{
    turn->in_one = head->has_length && head->length > 0 &&
                   turn->asked->coding == FL_CODING_IDENTITY;
    if (!fl_budget_open(&turn->hub->budget))
        refuse_budget(turn);
}

static void refuse_packing(fl_http_turn *turn)
{
    fl_http_refuse_with(turn, 400, FL_RPC_PARSE_ERROR,
                        "the body is not what Content-Encoding says");
}

static fl_status unpack(const fl_http_hub *hub, fl_http_asked *asked,
                        fl_span bytes)
{
    if (asked->inflate == NULL)
        asked->inflate =
            fl_inflate_new(asked->coding, hub->options.max_message + 1);
    return asked->inflate != NULL
               ? fl_inflate_feed(asked->inflate, bytes, &asked->body)
               : FL_E_NOMEM;
}

/* False: it was refused, and the turn is gone. */
static bool gather(fl_http_turn *turn, fl_span bytes)
{
    fl_http_asked *asked = turn->asked;
    fl_status rc = asked->coding != FL_CODING_IDENTITY
                       ? unpack(turn->hub, asked, bytes)
                       : fl_buf_append(&asked->body, bytes);
    size_t held = fl_buf_len(&asked->body) +
                  (asked->inflate != NULL ? FL_INFLATE_SIZE : 0);

    turn->unpacked = rc == FL_END;
    if (rc >= 0)
        return held <= asked->budgeted ||
               take_budget(turn, held - asked->budgeted);
    if (rc == FL_E_TOO_BIG)
        fl_http_refuse_size(turn);
    else if (rc == FL_E_NOMEM)
        fl_http_refuse_with(turn, 503, FL_RPC_BUSY, "out of memory");
    else
        refuse_packing(turn);
    return false;
}

void fl_http_body_add(fl_http_turn *turn, fl_span bytes)
{
    const fl_head *head = fl_exchange_head(turn->exchange);

    if (turn->verb != FL_HTTP_POST)
        return; /* a body without a meaning */
    if (turn->in_one && head != NULL && bytes.len == head->length &&
        fl_exchange_is_ending(turn->exchange))
        turn->asked->whole = bytes;
    else if (bytes.len > 0)
        (void)gather(turn, bytes);
}

void fl_http_body_end(fl_http_turn *turn)
{
    const fl_head *head = fl_exchange_head(turn->exchange);
    const fl_http_asked *asked = turn->asked;
    fl_span body =
        asked->whole.len > 0 ? asked->whole : fl_buf_view(&asked->body);

    fl_timer_stop(&turn->timer);
    turn->phase = FL_HTTP_WAITING;
    if (!fl_http_keys_still(turn))
        return; /* its key was taken away meanwhile */
    if (asked->coding != FL_CODING_IDENTITY && !turn->unpacked) {
        refuse_packing(turn); /* the packed stream has no end */
        return;
    }
    switch ((fl_http_verb)turn->verb) {
    case FL_HTTP_POST:
        fl_http_post(turn, head, body);
        break;
    case FL_HTTP_GET:
        fl_http_get(turn, head);
        break;
    case FL_HTTP_DELETE:
        fl_http_delete(turn, head);
        break;
    }
}
