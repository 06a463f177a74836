/*
 * ws_handshake.c - how an HTTP request becomes a WebSocket.
 *
 * Everything is looked at in all lines of a field: Connection and Upgrade are
 * lists, and a field that must come once is counted, since whoever came before
 * us may have looked at the other one.
 */
#include "wire/ws_handshake.h"

#include "base/base64.h"
#include "base/span.h"
#include "wire/bytes.h"

#include <assert.h>

enum { KEY_LEN = FL_WS_KEY - 1, KEY_PADDING = 2 };

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

static_assert(FL_WS_ACCEPT_INPUT == KEY_LEN + sizeof GUID - 1,
              "the key and the constant");

/* How many lines of this field there are. */
static size_t count_lines(const fl_head *head, fl_span name)
{
    size_t count = 0;

    for (size_t i = 0; i < head->count; i++)
        count += fl_field_name_equal(head->fields[i].name, name);
    return count;
}

static size_t count_known(const fl_head *head, fl_field_id id)
{
    return fl_head_has(head, id) ? count_lines(head, fl_field_name(id)) : 0;
}

static bool is_http2(const fl_head *head)
{
    return head->version >= 20;
}

bool fl_ws_wanted(const fl_head *head)
{
    if (is_http2(head))
        return fl_span_equal(head->method, FL_SPAN("CONNECT")) &&
               fl_field_name_equal(head->protocol, FL_SPAN("websocket"));
    /* RFC 9110 7.8: in HTTP/1.0 it means nothing */
    return head->version > 10 &&
           fl_head_lists(head, FL_FIELD_UPGRADE, FL_SPAN("websocket"));
}

static bool is_base64(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           fl_bytes_is_digit(byte) || byte == '+' || byte == '/';
}

/* 16 bytes in base64. What the bits left over are is nobody's business: the
 * key is a text to be sent back. */
static bool is_key(fl_span key)
{
    if (key.len != KEY_LEN)
        return false;
    for (size_t i = 0; i < KEY_LEN - KEY_PADDING; i++)
        if (!is_base64(key.ptr[i]))
            return false;
    return key.ptr[KEY_LEN - 2] == '=' && key.ptr[KEY_LEN - 1] == '=';
}

static unsigned refuse(unsigned status, const char *text, const char **what)
{
    *what = text;
    return status;
}

static unsigned check_version(const fl_head *head, const char **what)
{
    if (count_known(head, FL_FIELD_SEC_WEBSOCKET_VERSION) != 1)
        return refuse(400, "Sec-WebSocket-Version must be there once", what);
    if (!fl_span_equal(fl_head_get(head, FL_FIELD_SEC_WEBSOCKET_VERSION),
                       FL_SPAN("13")))
        return refuse(426, "Only version 13 of WebSocket is spoken here", what);
    return 0;
}

/* Versions come before keys: another version may have another kind of key. */
unsigned fl_ws_refused(const fl_head *head, const char **what)
{
    *what = NULL;
    if (is_http2(head)) /* RFC 8441 5: no key, no Connection, no Upgrade */
        return check_version(head, what);
    if (!fl_span_equal(head->method, FL_SPAN("GET")))
        return refuse(405, "A WebSocket is asked for with GET", what);
    if (!fl_head_lists(head, FL_FIELD_CONNECTION, FL_SPAN("upgrade")))
        return refuse(400, "Connection does not name Upgrade", what);
    if (head->has_body)
        return refuse(400, "A request for a WebSocket has no body", what);
    unsigned status = check_version(head, what);
    if (status != 0)
        return status;
    if (count_known(head, FL_FIELD_SEC_WEBSOCKET_KEY) != 1)
        return refuse(400, "Sec-WebSocket-Key must be there once", what);
    if (!is_key(fl_head_get(head, FL_FIELD_SEC_WEBSOCKET_KEY)))
        return refuse(400, "Sec-WebSocket-Key is not 16 bytes in base64", what);
    return 0;
}

void fl_ws_accept_input(fl_span key, char out[FL_WS_ACCEPT_INPUT])
{
    memcpy(out, key.ptr, KEY_LEN);
    memcpy(out + KEY_LEN, GUID, sizeof GUID - 1);
}

void fl_ws_accept_text(const unsigned char sha1[FL_WS_SHA1],
                       char out[FL_WS_ACCEPT])
{
    fl_base64_put((fl_span){(const char *)sha1, FL_WS_SHA1}, out);
    out[FL_WS_ACCEPT - 1] = '\0';
}

void fl_ws_key_text(const unsigned char random[16], char out[FL_WS_KEY])
{
    fl_base64_put((fl_span){(const char *)random, 16}, out);
    out[FL_WS_KEY - 1] = '\0';
}

/* Subprotocols are compared to the letter: RFC 6455 4.1 has them as strings
 * that somebody made up. */
static bool names_protocol(fl_span list, fl_span wanted)
{
    fl_span element;

    while (fl_field_list_next(&list, &element))
        if (fl_span_equal(element, wanted))
            return true;
    return false;
}

static bool offers_protocol(const fl_head *head, fl_span wanted)
{
    for (size_t i = 0; i < head->count; i++)
        if (head->fields[i].id == FL_FIELD_SEC_WEBSOCKET_PROTOCOL &&
            names_protocol(head->fields[i].value, wanted))
            return true;
    return false;
}

fl_span fl_ws_choose_protocol(const fl_head *head, const char *const *known)
{
    for (; *known != NULL; known++)
        if (offers_protocol(head, fl_span_of(*known)))
            return fl_span_of(*known);
    return (fl_span){0};
}

fl_status fl_ws_join(const fl_head *head, fl_field_id id, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_status rc = FL_OK;

    for (size_t i = 0; rc == FL_OK && i < head->count; i++) {
        if (head->fields[i].id != id)
            continue;
        if (fl_buf_len(out) > before)
            rc = fl_buf_append(out, FL_SPAN(", "));
        if (rc == FL_OK)
            rc = fl_buf_append(out, head->fields[i].value);
    }
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}

/* The one of `offered` that the server chose; false: none of them. */
static bool find_offered(fl_span chosen, const char *const *offered,
                         fl_span *protocol)
{
    for (; offered != NULL && *offered != NULL; offered++)
        if (fl_span_equal(chosen, fl_span_of(*offered))) {
            *protocol = fl_span_of(*offered);
            return true;
        }
    return false;
}

const char *fl_ws_check_response(const fl_head *head, fl_span accept,
                                 const char *const *offered, fl_span *protocol)
{
    fl_span name = FL_SPAN("sec-websocket-accept");
    size_t chosen = count_known(head, FL_FIELD_SEC_WEBSOCKET_PROTOCOL);

    *protocol = (fl_span){0};
    if (head->status != 101)
        return "the server did not switch protocols";
    if (!fl_head_lists(head, FL_FIELD_UPGRADE, FL_SPAN("websocket")))
        return "the server switched to something else than WebSocket";
    if (!fl_head_lists(head, FL_FIELD_CONNECTION, FL_SPAN("upgrade")))
        return "the server's Connection does not name Upgrade";
    if (count_lines(head, name) != 1 ||
        !fl_span_equal(fl_head_find(head, name), accept))
        return "the server's Sec-WebSocket-Accept does not match our key";
    if (chosen > 1)
        return "the server chose more than one subprotocol";
    if (chosen == 1 &&
        !find_offered(fl_head_get(head, FL_FIELD_SEC_WEBSOCKET_PROTOCOL),
                      offered, protocol))
        return "the server chose a subprotocol that was not offered";
    return NULL;
}
