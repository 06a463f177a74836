/*
 * ws_agree.c - what two sides agree on about packing (RFC 7692 7.1).
 *
 * An offer and an answer are read alike: a name, then parameters, each known,
 * each once, each with a value that it may have. What is read is a small
 * struct; what it means depends on who reads it.
 *
 * A window of 8 bits (256 bytes) is legal, but zlib makes no raw stream with
 * one. A client that asks us for it gets no packing by that offer, for 9 would
 * be more than it can unpack. A peer that says it will itself use 8 is
 * welcome: what needs a small window unpacks with a larger one.
 */
#include "wire/ws_pack.h"

#include "base/span.h"
#include "wire/bytes.h"
#include "wire/field.h"

enum {
    RFC_LEAST_BITS = 8,
    OUR_LEAST_BITS = 9,
    MOST_BITS = 15,
    NOT_GIVEN = 0,
    NO_VALUE = 1, /* client_max_window_bits of an offer may have none */
};

#define NAME "permessage-deflate"

/* The parameters of one extension. */
typedef struct terms {
    bool server_no_takeover;
    bool client_no_takeover;
    uint8_t server_bits;
    uint8_t client_bits;
} terms;

/* Takes a run of token characters off the front. */
static fl_span take_token(fl_span *text)
{
    size_t n = 0;

    while (n < text->len && fl_bytes_is_token(text->ptr[n]))
        n++;
    fl_span token = {text->ptr, n};
    *text = fl_span_from(*text, n);
    return token;
}

/* Takes a quoted string (RFC 9110 5.6.4), unescaped into `out`, which holds
 * all that could be right; longer ones are wrong anyway. */
static bool take_quoted(fl_span *text, char *out, size_t room, fl_span *value)
{
    size_t n = 0, at = 1;

    for (; at < text->len && text->ptr[at] != '"'; at++) {
        if (text->ptr[at] == '\\' && at + 1 < text->len)
            at++;
        if (n == room || !fl_bytes_is_token(text->ptr[at]))
            return false;
        out[n++] = text->ptr[at];
    }
    if (at >= text->len)
        return false;
    *text = fl_span_from(*text, at + 1);
    *value = (fl_span){out, n};
    return n > 0;
}

static void skip_blanks(fl_span *text)
{
    while (text->len > 0 && fl_bytes_is_blank(text->ptr[0]))
        *text = fl_span_from(*text, 1);
}

static bool take_byte(fl_span *text, char byte)
{
    skip_blanks(text);
    if (text->len == 0 || text->ptr[0] != byte)
        return false;
    *text = fl_span_from(*text, 1);
    skip_blanks(text);
    return true;
}

/* A number from 8 to 15 without leading zeroes; 0 when it is none. */
static uint8_t read_bits(fl_span value)
{
    unsigned number = 0;

    if (value.len == 0 || value.len > 2 || value.ptr[0] == '0')
        return 0;
    for (size_t i = 0; i < value.len; i++) {
        if (!fl_bytes_is_digit(value.ptr[i]))
            return 0;
        number = number * 10 + (unsigned)(value.ptr[i] - '0');
    }
    return number >= RFC_LEAST_BITS && number <= MOST_BITS ? (uint8_t)number
                                                           : 0;
}

static bool set_flag(bool *flag, fl_span value)
{
    bool first = !*flag;

    *flag = true;
    return first && value.ptr == NULL;
}

static bool set_bits(uint8_t *bits, fl_span value, bool value_needed)
{
    bool first = *bits == NOT_GIVEN;

    if (value.ptr == NULL)
        *bits = value_needed ? NOT_GIVEN : NO_VALUE;
    else
        *bits = read_bits(value);
    return first && *bits != NOT_GIVEN;
}

/* `value` is {NULL, 0} when there is none. False: unknown, twice, or with a
 * value it may not have. */
static bool set_term(terms *got, fl_span name, fl_span value, bool offer)
{
    if (fl_field_name_equal(name, FL_SPAN("server_no_context_takeover")))
        return set_flag(&got->server_no_takeover, value);
    if (fl_field_name_equal(name, FL_SPAN("client_no_context_takeover")))
        return set_flag(&got->client_no_takeover, value);
    if (fl_field_name_equal(name, FL_SPAN("server_max_window_bits")))
        return set_bits(&got->server_bits, value, true);
    if (fl_field_name_equal(name, FL_SPAN("client_max_window_bits")))
        return set_bits(&got->client_bits, value, !offer);
    return false;
}

static bool read_terms(fl_span text, bool offer, terms *got)
{
    *got = (terms){0};
    while (take_byte(&text, ';')) {
        char unescaped[2];
        fl_span name = take_token(&text), value = {0};
        if (take_byte(&text, '=')) {
            bool quoted = text.len > 0 && text.ptr[0] == '"';
            if (!quoted)
                value = take_token(&text);
            else if (!take_quoted(&text, unescaped, sizeof unescaped, &value))
                return false;
            if (value.len == 0)
                return false;
        }
        if (!set_term(got, name, value, offer))
            return false;
    }
    skip_blanks(&text);
    return text.len == 0;
}

static uint8_t window(uint8_t bits)
{
    if (bits == NOT_GIVEN || bits == NO_VALUE)
        return MOST_BITS;
    return bits < OUR_LEAST_BITS ? OUR_LEAST_BITS : bits;
}

/* An extension of this name; `text` is left with its parameters. */
static bool is_ours(fl_span *text)
{
    return fl_field_name_equal(take_token(text), FL_SPAN(NAME));
}

static fl_status write_answer(const terms *offer, const fl_ws_agreed *agreed,
                              fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_status rc = fl_buf_printf(
        out, NAME "%s%s",
        agreed->our_takeover ? "" : "; server_no_context_takeover",
        agreed->peer_takeover ? "" : "; client_no_context_takeover");

    if (rc == FL_OK && offer->server_bits != NOT_GIVEN)
        rc = fl_buf_printf(out, "; server_max_window_bits=%u",
                           (unsigned)offer->server_bits);
    if (rc == FL_OK && offer->client_bits >= RFC_LEAST_BITS)
        rc = fl_buf_printf(out, "; client_max_window_bits=%u",
                           (unsigned)offer->client_bits);
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}

fl_status fl_ws_agree(fl_span offers, const fl_ws_policy *policy,
                      fl_ws_agreed *agreed, fl_buf *answer)
{
    fl_span element;
    terms offer;

    *agreed = (fl_ws_agreed){0};
    while (!policy->off && fl_field_list_next(&offers, &element)) {
        if (!is_ours(&element) || !read_terms(element, true, &offer) ||
            offer.server_bits == RFC_LEAST_BITS)
            continue;
        *agreed = (fl_ws_agreed){
            .on = true,
            .our_takeover = policy->takeover && !offer.server_no_takeover,
            .peer_takeover = policy->takeover && !offer.client_no_takeover,
            .our_bits = window(offer.server_bits),
            .peer_bits = window(offer.client_bits),
        };
        fl_status rc = write_answer(&offer, agreed, answer);
        if (rc != FL_OK)
            *agreed = (fl_ws_agreed){0};
        return rc;
    }
    return FL_OK;
}

fl_span fl_ws_offer(const fl_ws_policy *policy)
{
    if (policy->off)
        return FL_SPAN("");
    return policy->takeover ? FL_SPAN(NAME "; client_max_window_bits")
                            : FL_SPAN(NAME "; client_no_context_takeover"
                                           "; server_no_context_takeover"
                                           "; client_max_window_bits");
}

/* What is wrong with the one extension of an answer; NULL: nothing. */
static const char *judge(fl_span element, const fl_ws_policy *policy,
                         terms *got)
{
    if (policy->off || !is_ours(&element))
        return "the server chose an extension that was not offered";
    if (!read_terms(element, false, got))
        return "the server's answer about compression has a parameter that is "
               "unknown, given twice or has a wrong value";
    if (got->client_bits == RFC_LEAST_BITS)
        return "the server wants a window of 8 bits, which cannot be made";
    if (!policy->takeover && !got->server_no_takeover)
        return "the server does not promise to forget its context after every "
               "message, as was asked";
    return NULL;
}

fl_status fl_ws_settle(fl_span answer, const fl_ws_policy *policy,
                       fl_ws_agreed *agreed, const char **what)
{
    fl_span element, second;
    terms got;

    *agreed = (fl_ws_agreed){0};
    *what = NULL;
    if (!fl_field_list_next(&answer, &element))
        return FL_OK;
    *what = judge(element, policy, &got);
    if (*what == NULL && fl_field_list_next(&answer, &second))
        *what = "the server chose more than one extension";
    if (*what != NULL)
        return FL_E_BAD_MESSAGE;
    *agreed = (fl_ws_agreed){
        .on = true,
        .our_takeover = policy->takeover && !got.client_no_takeover,
        .peer_takeover = !got.server_no_takeover,
        .our_bits = window(got.client_bits),
        .peer_bits = window(got.server_bits),
    };
    return FL_OK;
}
