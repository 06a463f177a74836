/*
 * challenge.c - what WWW-Authenticate asks for.
 *
 * A comma may stand between two parameters and between two challenges, and a
 * challenge may have one long token in place of parameters: only what follows
 * a word tells what the word was. So a word is read, and what comes next
 * decides: "=" makes it a parameter's name, all else a scheme.
 */
#include "auth/challenge.h"

#include "auth/text.h"
#include "base/span.h"
#include "wire/field.h"

#include <strings.h>

enum { VALUE_MAX = 8 * 1024 };

static bool is_token(char byte)
{
    return fl_field_name_ok((fl_span){&byte, 1});
}

static bool is_token68(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' ||
           byte == '_' || byte == '~' || byte == '+' || byte == '/';
}

static bool at(const fl_span *rest, char byte)
{
    return rest->len > 0 && rest->ptr[0] == byte;
}

static void skip(fl_span *rest, const char *bytes)
{
    while (rest->len > 0 && rest->ptr[0] != '\0' &&
           strchr(bytes, rest->ptr[0]) != NULL)
        *rest = fl_span_from(*rest, 1);
}

static fl_span take_while(fl_span *rest, bool (*test)(char))
{
    size_t n = 0;

    while (n < rest->len && test(rest->ptr[n]))
        n++;
    fl_span front = {rest->ptr, n};
    *rest = fl_span_from(*rest, n);
    return front;
}

static fl_status take_quoted(fl_span *rest, fl_buf *value)
{
    fl_status rc = FL_OK;

    *rest = fl_span_from(*rest, 1);
    while (rest->len > 0 && !at(rest, '"') && rc == FL_OK) {
        if (at(rest, '\\') && rest->len > 1)
            *rest = fl_span_from(*rest, 1);
        rc = fl_buf_append(value, (fl_span){rest->ptr, 1});
        *rest = fl_span_from(*rest, 1);
    }
    if (rc == FL_OK && rest->len == 0)
        return FL_E_INVALID; /* it has no end */
    if (rc == FL_OK)
        *rest = fl_span_from(*rest, 1);
    return rc;
}

static fl_status take_value(fl_span *rest, fl_buf *value)
{
    skip(rest, " \t");
    if (at(rest, '"'))
        return take_quoted(rest, value);
    fl_span word = take_while(rest, is_token);
    return word.len > 0 ? fl_buf_append(value, word) : FL_E_INVALID;
}

/* The first to say it counts. */
static fl_status keep(char **slot, fl_span value)
{
    return *slot == NULL ? fl_text_set(slot, value) : FL_OK;
}

static bool named(fl_span name, const char *wanted)
{
    return fl_field_name_equal(name, fl_span_of(wanted));
}

static fl_status note(fl_challenge *out, fl_span name, fl_span value)
{
    if (value.ptr == NULL)
        value = FL_SPAN("");
    if (named(name, "resource_metadata"))
        return keep(&out->metadata, value);
    if (named(name, "scope"))
        return keep(&out->scope, value);
    if (named(name, "error"))
        return keep(&out->error, value);
    if (named(name, "error_description"))
        return keep(&out->description, value);
    return FL_OK;
}

/* Past one long token, if that is what follows the scheme. */
static void skip_token68(fl_span *rest)
{
    fl_span after = *rest;
    fl_span word = take_while(&after, is_token68);

    skip(&after, "=");
    if (word.len == 0)
        return;
    fl_span behind = after;
    skip(&behind, " \t");
    if (behind.len == 0 || at(&behind, ','))
        *rest = after;
}

/* True: a scheme that we know. */
static bool note_scheme(fl_challenge *out, fl_span word)
{
    bool bearer = named(word, "Bearer"), dpop = named(word, "DPoP");

    out->bearer = out->bearer || bearer;
    out->dpop = out->dpop || dpop;
    return bearer || dpop;
}

static fl_status read_parameter(fl_challenge *out, fl_span name, bool ours,
                                fl_span *rest, fl_buf *value)
{
    fl_buf_clear(value);
    *rest = fl_span_from(*rest, 1);
    fl_status rc = take_value(rest, value);
    return rc == FL_OK && ours ? note(out, name, fl_buf_view(value)) : rc;
}

fl_status fl_challenge_read(fl_span field, fl_challenge *out)
{
    bool ours = false;
    fl_status rc = FL_OK;
    fl_buf value;

    *out = (fl_challenge){0};
    fl_buf_init(&value, VALUE_MAX);
    for (;;) {
        skip(&field, " \t,");
        fl_span word = take_while(&field, is_token);
        if (word.len == 0)
            break;
        fl_span behind = field;
        skip(&behind, " \t");
        if (at(&behind, '=')) {
            field = behind;
            rc = read_parameter(out, word, ours, &field, &value);
            if (rc != FL_OK)
                break;
        } else {
            ours = note_scheme(out, word);
            field = behind;
            skip_token68(&field);
        }
    }
    fl_buf_reset(&value);
    if (rc == FL_E_NOMEM)
        fl_challenge_deinit(out);
    return rc == FL_E_NOMEM ? rc : FL_OK;
}

void fl_challenge_deinit(fl_challenge *challenge)
{
    fl_text_drop(&challenge->metadata);
    fl_text_drop(&challenge->scope);
    fl_text_drop(&challenge->error);
    fl_text_drop(&challenge->description);
    *challenge = (fl_challenge){0};
}

bool fl_challenge_error_is(const fl_challenge *challenge, const char *error)
{
    return challenge->error != NULL && strcmp(challenge->error, error) == 0;
}
