/*
 * http1_rules.c - what a head must be as a whole, once its lines are read.
 *
 * The rules of RFC 9112 on length, host and target, each with one reading: a
 * message that states its length twice, or its host in two ways, is refused
 * even where the RFC would let us choose.
 */
#include "wire/http1_rules.h"

#include "base/span.h"
#include "wire/bytes.h"

static fl_status refuse(fl_http1_message *m, unsigned status, const char *what)
{
    m->fault = (fl_http1_fault){status, what};
    return FL_E_BAD_MESSAGE;
}

/* Digits only, and no more than an int64_t holds: somewhere on the way the
 * number will meet one. */
static bool read_length(fl_span text, uint64_t *length)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (!fl_bytes_is_digit(text.ptr[i]))
            return false;
        unsigned digit = (unsigned)(text.ptr[i] - '0');
        if (sum > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *length = sum;
    return text.len > 0;
}

/* A list of codings that is well formed is one we do not have; "chunked" twice
 * or before another coding, or anything that is no token, is malformed. */
static fl_status judge_codings(fl_http1_message *m, fl_span list)
{
    fl_span coding;
    bool chunked = false, any = false;

    if (list.len > 0 && (list.ptr[0] == ',' || list.ptr[list.len - 1] == ','))
        return refuse(m, 400, "malformed Transfer-Encoding");
    while (fl_field_list_next(&list, &coding)) {
        if (chunked || !fl_field_name_ok(coding))
            return refuse(m, 400, "malformed Transfer-Encoding");
        chunked = fl_field_name_equal(coding, FL_SPAN("chunked"));
        any = true;
    }
    return any ? refuse(m, 501, "unknown Transfer-Encoding")
               : refuse(m, 400, "malformed Transfer-Encoding");
}

static fl_status judge_transfer(fl_http1_message *m)
{
    fl_span coding = fl_head_get(&m->head, FL_FIELD_TRANSFER_ENCODING);

    if (fl_head_has(&m->head, FL_FIELD_CONTENT_LENGTH))
        return refuse(m, 400, "Content-Length with Transfer-Encoding");
    if (m->head.version < 11)
        return refuse(m, 400, "Transfer-Encoding in HTTP/1.0");
    if (!fl_field_name_equal(coding, FL_SPAN("chunked")))
        return judge_codings(m, coding);
    m->chunked = m->head.has_body = true;
    return FL_OK;
}

/* How the body is framed, as far as its fields say. */
static fl_status judge_framing(fl_http1_message *m)
{
    fl_head *head = &m->head;

    m->chunked = false;
    if (m->twice)
        return refuse(m, 400, "a field that may occur only once is repeated");
    if (fl_head_has(head, FL_FIELD_TRANSFER_ENCODING))
        return judge_transfer(m);
    if (!fl_head_has(head, FL_FIELD_CONTENT_LENGTH))
        return FL_OK;
    if (!read_length(fl_head_get(head, FL_FIELD_CONTENT_LENGTH), &head->length))
        return refuse(m, 400, "malformed Content-Length");
    head->has_length = true;
    head->has_body = head->length > 0;
    return FL_OK;
}

static bool judge_keep_alive(const fl_head *head)
{
    if (!fl_head_has(head, FL_FIELD_CONNECTION))
        return head->version == 11;
    return !fl_head_lists(head, FL_FIELD_CONNECTION, FL_SPAN("close")) &&
           (head->version == 11 ||
            fl_head_lists(head, FL_FIELD_CONNECTION, FL_SPAN("keep-alive")));
}

static bool is_hex(char byte)
{
    return fl_bytes_is_digit(byte) ||
           (fl_bytes_lower(byte) >= 'a' && fl_bytes_lower(byte) <= 'f');
}

/* unreserved, sub-delims */
static bool is_host_byte(char byte)
{
    static const uint64_t table[4] = {
        0x2bff7fd200000000, /* !$&'()*+,-.;= and digits */
        0x47fffffe87fffffe, /* letters and _~ */
    };
    unsigned c = (unsigned char)byte;

    return (table[c / 64] >> c % 64 & 1) != 0;
}

/* How much of `text` is a host name or an IPv4 address. */
static size_t name_length(fl_span text)
{
    size_t n = 0;

    for (;;) {
        while (n < text.len && is_host_byte(text.ptr[n]))
            n++;
        if (n == text.len || text.ptr[n] != '%')
            return n;
        if (text.len - n < 3 || !is_hex(text.ptr[n + 1]) ||
            !is_hex(text.ptr[n + 2]))
            return 0;
        n += 3;
    }
}

/* The same of an address in brackets. */
static size_t bracket_length(fl_span text)
{
    size_t n = 1;

    for (; n < text.len && text.ptr[n] != ']'; n++)
        if (!is_hex(text.ptr[n]) && text.ptr[n] != ':' && text.ptr[n] != '.')
            return 0;
    return n > 2 && n < text.len ? n + 1 : 0;
}

static size_t host_length(fl_span text)
{
    return text.len > 0 && text.ptr[0] == '[' ? bracket_length(text)
                                              : name_length(text);
}

bool fl_http1_rules_authority(fl_span text)
{
    size_t n = host_length(text);
    unsigned port = 0;

    if (n == 0 || (n < text.len && text.ptr[n] != ':'))
        return false;
    for (size_t i = n + 1; i < text.len; i++) {
        unsigned digit = (unsigned)(text.ptr[i] - '0');
        port = port * 10 + digit;
        if (digit > 9 || port > UINT16_MAX)
            return false;
    }
    return true;
}

/* The host that the fields name: in HTTP/1.1 there must be one. */
static fl_status judge_host(fl_http1_message *m)
{
    fl_head *head = &m->head;

    if (!fl_head_has(head, FL_FIELD_HOST))
        return head->version == 10 ? FL_OK
                                   : refuse(m, 400, "no Host in HTTP/1.1");
    head->authority = fl_head_get(head, FL_FIELD_HOST);
    return fl_http1_rules_authority(head->authority)
               ? FL_OK
               : refuse(m, 400, "malformed Host");
}

/* The length of "http://" or "https://" at the front of a target, or 0. */
static size_t scheme_length(fl_span target)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < 2; i++) {
        fl_span scheme = fl_span_of(schemes[i]);
        if (target.len > scheme.len &&
            fl_field_name_equal((fl_span){target.ptr, scheme.len}, scheme))
            return scheme.len;
    }
    return 0;
}

/* RFC 9112 3.2.2. An empty path means "/", and there is one to point at in
 * the "//" of the target itself. */
static fl_status reduce_target(fl_http1_message *m, size_t scheme)
{
    fl_head *head = &m->head;
    fl_span rest = fl_span_from(head->target, scheme);
    size_t n = 0;

    while (n < rest.len && rest.ptr[n] != '/' && rest.ptr[n] != '?')
        n++;
    fl_span authority = {rest.ptr, n};
    if ((n < rest.len && rest.ptr[n] == '?') ||
        !fl_http1_rules_authority(authority))
        return refuse(m, 400, "malformed target");
    if (head->authority.len > 0 &&
        !fl_field_name_equal(head->authority, authority))
        return refuse(m, 400, "Host differs from the target");
    head->authority = authority;
    head->target =
        n < rest.len ? fl_span_from(rest, n) : (fl_span){rest.ptr - 1, 1};
    return FL_OK;
}

static fl_status judge_target(fl_http1_message *m)
{
    fl_head *head = &m->head;
    fl_span target = head->target;

    if (fl_span_equal(head->method, FL_SPAN("CONNECT")))
        return refuse(m, 501, "CONNECT is not served");
    if (fl_bytes_until('#', target.ptr, target.len) < target.len)
        return refuse(m, 400, "fragment in the target");
    if (target.ptr[0] == '/')
        return FL_OK;
    if (fl_span_equal(target, FL_SPAN("*")))
        return fl_span_equal(head->method, FL_SPAN("OPTIONS"))
                   ? FL_OK
                   : refuse(m, 400, "malformed target");
    size_t scheme = scheme_length(target);
    return scheme > 0 ? reduce_target(m, scheme)
                      : refuse(m, 400, "malformed target");
}

/* RFC 9110 10.1.1: HTTP/1.0 does not know of it. */
static fl_status judge_expect(fl_http1_message *m)
{
    m->expects = false;
    if (!fl_head_has(&m->head, FL_FIELD_EXPECT))
        return FL_OK;
    if (!fl_field_name_equal(fl_head_get(&m->head, FL_FIELD_EXPECT),
                             FL_SPAN("100-continue")))
        return refuse(m, 417, "unknown expectation");
    m->expects = m->head.version == 11;
    return FL_OK;
}

fl_status fl_http1_rules_request(fl_http1_message *message)
{
    fl_status rc = judge_framing(message);

    if (rc == FL_OK)
        rc = judge_host(message);
    if (rc == FL_OK)
        rc = judge_target(message);
    if (rc == FL_OK)
        rc = judge_expect(message);
    message->keep_alive = rc == FL_OK && judge_keep_alive(&message->head);
    return rc;
}

fl_status fl_http1_rules_response(fl_http1_message *message)
{
    fl_status rc = judge_framing(message);

    message->expects = false;
    message->keep_alive = rc == FL_OK && judge_keep_alive(&message->head);
    return rc;
}
