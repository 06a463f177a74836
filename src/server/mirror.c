/*
 * mirror.c - arguments of a tool that a client repeats in header fields.
 *
 * Nothing is compiled: few tools have annotations, and a schema is short. For
 * each call that came with header fields it is walked side by side with the
 * arguments. That its annotations are in order was seen when the tool was
 * added (rpc/annotations.h).
 */
#include "server/mirror.h"

#include "base/base64.h"
#include "base/span.h"

#include "json/nav.h"
#include <stdio.h>

#define ANNOTATION "x-mcp-header"
#define FIELD "Mcp-Param-"

enum { KEY_MAX = 4096 };

static fl_span unquote(fl_span string)
{
    return (fl_span){string.ptr + 1, string.len - 2};
}

static void lower(char *to, fl_span from)
{
    for (size_t i = 0; i < from.len; i++) {
        bool capital = from.ptr[i] >= 'A' && from.ptr[i] <= 'Z';
        to[i] = (char)(capital ? from.ptr[i] | 0x20 : from.ptr[i]);
    }
    to[from.len] = '\0';
}

static fl_span read_field(fl_reply reply, const char *name)
{
    char key[FL_MIRROR_NAME];
    fl_span text = fl_span_of(name);

    lower(key, text);
    return fl_reply_field(reply, (fl_span){key, text.len});
}

static const char differs[] = "is not what the message says";

/* JavaScript's safe integers: beyond these, two that differ may look equal. */
static bool is_safe(int64_t number)
{
    const int64_t most = ((int64_t)1 << 53) - 1;

    return number >= -most && number <= most;
}

static const char *compare_numbers(fl_span text, fl_span token)
{
    int64_t sent, expected;

    if (fl_json_int64(token, &expected) != FL_OK)
        return fl_span_equal(text, token) ? NULL : differs;
    if (!is_safe(expected))
        return "is an integer beyond 2^53";
    return fl_json_int64(text, &sent) == FL_OK && sent == expected ? NULL
                                                                   : differs;
}

static const char *compare_text(fl_span text, fl_span token)
{
    switch (fl_json_type_of(token)) {
    case FL_JSON_STRING:
        return fl_json_string_is(token, text) ? NULL : differs;
    case FL_JSON_NUMBER:
        return compare_numbers(text, token);
    case FL_JSON_TRUE:
    case FL_JSON_FALSE:
        return fl_span_equal(text, token) ? NULL : differs;
    case FL_JSON_NONE:
    case FL_JSON_NULL:
        return "is there, but not in the message";
    case FL_JSON_OBJECT:
    case FL_JSON_ARRAY:
        break;
    }
    return differs;
}

/* Visible ASCII, spaces and tabs: all that a field may hold as it is. */
static bool is_plain(fl_span field)
{
    for (size_t i = 0; i < field.len; i++) {
        unsigned char c = (unsigned char)field.ptr[i];
        if (c != '\t' && (c < 0x20 || c > 0x7e))
            return false;
    }
    return true;
}

/* What is inside =?base64?...?=; false if there is no such envelope. */
static bool open_envelope(fl_span field, fl_span *inside)
{
    static const char front[] = "=?base64?", back[] = "?=";
    enum { FRONT = sizeof front - 1, BACK = sizeof back - 1 };

    if (field.len < FRONT + BACK || memcmp(field.ptr, front, FRONT) != 0 ||
        memcmp(field.ptr + field.len - BACK, back, BACK) != 0)
        return false;
    *inside = (fl_span){field.ptr + FRONT, field.len - FRONT - BACK};
    return true;
}

const char *fl_mirror_compare(fl_span field, fl_span token)
{
    fl_span inside;
    fl_buf text;

    if (!is_plain(field))
        return "has characters that a field may not have";
    if (!open_envelope(field, &inside))
        return compare_text(field, token);
    fl_buf_init(&text, field.len);
    const char *wrong = "is not Base64 inside its envelope";
    if (fl_base64_decode(inside, &text) == FL_OK)
        wrong = compare_text(fl_buf_view(&text), token);
    fl_buf_reset(&text);
    return wrong;
}

/* A client says nothing of what is absent or null (Server Behavior for Custom
 * Headers). Nor can it of a list or an object, which the tool will refuse. */
static bool is_silent(fl_span token)
{
    fl_json_type type = fl_json_type_of(token);

    return type == FL_JSON_NONE || type == FL_JSON_NULL ||
           type == FL_JSON_OBJECT || type == FL_JSON_ARRAY;
}

static bool check_one(fl_reply reply, fl_span name, fl_span token,
                      fl_mirror_fault *fault)
{
    *fault = (fl_mirror_fault){.name = fault->made, .expected = token};
    snprintf(fault->made, sizeof fault->made, FIELD "%.*s", (int)name.len,
             name.ptr);
    fault->sent = read_field(reply, fault->name);
    if (fault->sent.ptr != NULL)
        fault->what = fl_mirror_compare(fault->sent, token);
    else if (!is_silent(token))
        fault->what = "is missing";
    return fault->what == NULL;
}

/* By the meaning of a key as it is spelled in the schema. */
static fl_span find(fl_span object, fl_span key)
{
    fl_span value = {0};
    fl_buf text;

    if (fl_span_find(key, '\\') == key.len)
        return fl_json_get(object, key);
    fl_buf_init(&text, KEY_MAX);
    if (fl_json_string_copy((fl_span){key.ptr - 1, key.len + 2}, &text) ==
        FL_OK)
        value = fl_json_get(object, fl_buf_view(&text));
    fl_buf_reset(&text);
    return value;
}

bool fl_mirror_check(fl_span schema, fl_span arguments, fl_reply reply,
                     fl_mirror_fault *fault)
{
    fl_json_walk walk;
    fl_json_member property;

    fl_json_walk_init(&walk, fl_json_get(schema, FL_SPAN("properties")));
    while (fl_json_walk_next(&walk, &property)) {
        fl_span name = fl_json_get(property.value, FL_SPAN(ANNOTATION));
        fl_span value = find(arguments, property.key);
        if (name.len > 0 && !check_one(reply, unquote(name), value, fault))
            return false;
        if (!fl_mirror_check(property.value, value, reply, fault))
            return false;
    }
    return true;
}
