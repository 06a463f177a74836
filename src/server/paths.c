/*
 * paths.c - paths of files, as parts of URIs.
 *
 * Decoding is done once, and one name at a time in spirit: what an escape
 * stands for is part of a name, never a separator, so "..%2f.." is a name that
 * no file can have and "%252e" is the name "%2e".
 */
#include "server/paths.h"

#include "base/span.h"
#include "base/utf8.h"

static bool is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' ||
           byte == '_' || byte == '~' || byte == '/';
}

fl_status fl_paths_encode(fl_span path, fl_buf *out)
{
    static const char digits[] = "0123456789ABCDEF";
    fl_status rc = FL_OK;

    for (size_t i = 0; i < path.len && rc == FL_OK; i++) {
        unsigned char byte = (unsigned char)path.ptr[i];
        char code[] = {'%', digits[byte >> 4], digits[byte & 15]};
        rc = is_plain(path.ptr[i])
                 ? fl_buf_append(out, (fl_span){path.ptr + i, 1})
                 : fl_buf_append(out, (fl_span){code, sizeof code});
    }
    return rc;
}

static int digit_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* What the escape at the front of `text` stands for; -1 when it is none. */
static int unescape(fl_span text)
{
    int high = text.len > 2 ? digit_of(text.ptr[1]) : -1;
    int low = high >= 0 ? digit_of(text.ptr[2]) : -1;

    return low >= 0 ? high * 16 + low : -1;
}

/* The next byte of the path; -1 when there can be none. */
static int take(fl_span *text)
{
    char byte = text->ptr[0];
    int code = (unsigned char)byte;
    bool coded = byte == '%';

    if (coded) {
        code = unescape(*text);
        if (code == 0 || code == '/')
            return -1;
    } else if (byte == '?' || byte == '#' || code < ' ') {
        return -1;
    }
    if (code >= 0)
        *text = fl_span_from(*text, coded ? 3 : 1);
    return code;
}

fl_status fl_paths_decode(fl_span text, fl_buf *out)
{
    size_t before = fl_buf_len(out);

    while (text.len > 0) {
        int code = take(&text);
        char byte = (char)code;
        if (code < 0)
            return FL_E_INVALID;
        fl_status rc = fl_buf_append(out, (fl_span){&byte, 1});
        if (rc != FL_OK)
            return rc == FL_E_NOMEM ? rc : FL_E_INVALID;
    }
    return fl_utf8_valid(fl_span_from(fl_buf_view(out), before)) ? FL_OK
                                                                 : FL_E_INVALID;
}
