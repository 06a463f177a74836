/*
 * text.c - strings that may be secrets, scopes, and forms.
 *
 * Any of these strings may be a token, so all of them are wiped when they go:
 * to tell which are and which are not would be the mistake.
 */
#include "auth/text.h"

#include "base/mem.h"
#include "base/span.h"

void fl_text_drop(char **slot)
{
    if (*slot != NULL)
        fl_mem_wipe(*slot, strlen(*slot));
    fl_mem_free(*slot);
    *slot = NULL;
}

fl_status fl_text_set(char **slot, fl_span text)
{
    char *copy = text.ptr != NULL ? fl_mem_string(text) : NULL;

    fl_text_drop(slot);
    *slot = copy;
    return copy != NULL || text.ptr == NULL ? FL_OK : FL_E_NOMEM;
}

void fl_text_wipe(fl_buf *buf)
{
    if (buf->ptr != NULL)
        fl_mem_wipe(buf->ptr, buf->cap);
    fl_buf_reset(buf);
}

static bool next_word(fl_span *rest, fl_span *word)
{
    while (rest->len > 0 && rest->ptr[0] == ' ')
        *rest = fl_span_from(*rest, 1);
    word->ptr = rest->ptr;
    word->len = fl_span_find(*rest, ' ');
    *rest = fl_span_from(*rest, word->len);
    return word->len > 0;
}

/* RFC 6749 3.3: visible ASCII without quotes and backslashes. */
static bool is_scope(fl_span word)
{
    for (size_t i = 0; i < word.len; i++) {
        char byte = word.ptr[i];
        if (byte <= ' ' || byte > '~' || byte == '"' || byte == '\\')
            return false;
    }
    return word.len > 0;
}

static bool has_word(fl_span all, fl_span wanted)
{
    fl_span word;

    while (next_word(&all, &word))
        if (fl_span_equal(word, wanted))
            return true;
    return false;
}

fl_status fl_scopes_add(fl_buf *all, fl_span more)
{
    fl_status rc = FL_OK;
    fl_span word;

    while (rc == FL_OK && next_word(&more, &word)) {
        if (!is_scope(word) || has_word(fl_buf_view(all), word))
            continue;
        if (fl_buf_len(all) > 0)
            rc = fl_buf_append(all, FL_SPAN(" "));
        if (rc == FL_OK)
            rc = fl_buf_append(all, word);
    }
    return rc;
}

bool fl_scopes_include(fl_span all, fl_span some)
{
    fl_span word;

    while (next_word(&some, &word))
        if (!has_word(all, word))
            return false;
    return true;
}

static bool is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' ||
           byte == '_' || byte == '~';
}

/* A space is "%20": right in forms, and in queries, too. */
fl_status fl_form_encode(fl_span text, fl_buf *out)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; i < text.len && rc == FL_OK; i++)
        rc = is_plain(text.ptr[i])
                 ? fl_buf_append(out, (fl_span){text.ptr + i, 1})
                 : fl_buf_printf(out, "%%%02X", (unsigned char)text.ptr[i]);
    return rc;
}

fl_status fl_form_add(fl_buf *form, const char *name, fl_span value)
{
    if (value.ptr == NULL)
        return FL_OK;
    fl_status rc =
        fl_buf_printf(form, "%s%s=", fl_buf_len(form) > 0 ? "&" : "", name);
    return rc == FL_OK ? fl_form_encode(value, form) : rc;
}

static int hex_value(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static fl_status decode(fl_span text, fl_buf *out)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; i < text.len && rc == FL_OK; i++) {
        char byte = text.ptr[i];
        if (byte == '+') {
            byte = ' ';
        } else if (byte == '%') {
            bool whole = text.len - i > 2;
            int high = whole ? hex_value(text.ptr[i + 1]) : -1;
            int low = whole ? hex_value(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return FL_E_INVALID;
            byte = (char)(high << 4 | low);
            i += 2;
        }
        rc = fl_buf_append(out, (fl_span){&byte, 1});
    }
    return rc;
}

fl_status fl_form_get(fl_span query, const char *name, fl_buf *out)
{
    fl_status rc = FL_E_NOT_FOUND;
    size_t before = fl_buf_len(out);

    while (query.len > 0) {
        fl_span pair = {query.ptr, fl_span_find(query, '&')};
        size_t at = fl_span_find(pair, '=');
        query = fl_span_from(query, pair.len + (pair.len < query.len));
        if (!fl_span_equal((fl_span){pair.ptr, at}, fl_span_of(name)))
            continue;
        if (rc != FL_E_NOT_FOUND) {
            fl_buf_truncate(out, before);
            return FL_E_INVALID;
        }
        rc = decode(fl_span_from(pair, at + (at < pair.len)), out);
    }
    if (rc < 0)
        fl_buf_truncate(out, before);
    return rc;
}
