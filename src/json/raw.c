/*
 * raw.c - the public way to look into JSON: nav.h in plainer clothes.
 */
#include "base/buf.h"
#include "base/span.h"
#include "json/nav.h"

#include <fairlead/json.h>

fl_span fl_raw_get(fl_span object, const char *key)
{
    return fl_json_get(object, fl_span_of(key));
}

fl_span fl_raw_at(fl_span array, size_t index)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, array);
    while (!walk.in_object && fl_json_walk_next(&walk, &member))
        if (index-- == 0)
            return member.value;
    return (fl_span){"", 0};
}

bool fl_raw_is(fl_span value, const char *text)
{
    return fl_json_string_is(value, fl_span_of(text));
}

int64_t fl_raw_integer(fl_span value, int64_t otherwise)
{
    int64_t number;

    return fl_json_int64(value, &number) == FL_OK ? number : otherwise;
}

double fl_raw_number(fl_span value, double otherwise)
{
    double number;

    return fl_json_double(value, &number) == FL_OK ? number : otherwise;
}

bool fl_raw_bool(fl_span value, bool otherwise)
{
    if (fl_span_equal(value, FL_SPAN("true")))
        return true;
    return !fl_span_equal(value, FL_SPAN("false")) && otherwise;
}

size_t fl_raw_text(fl_span value, char *out, size_t size)
{
    fl_buf meaning;
    fl_span text = {0};

    /* no string means more bytes than it takes to write it */
    fl_buf_init(&meaning, value.len + 1);
    if (fl_json_string_copy(value, &meaning) == FL_OK)
        text = fl_buf_view(&meaning);
    if (size > 0) {
        size_t fits = text.len < size ? text.len : size - 1;
        if (fits > 0)
            memcpy(out, text.ptr, fits);
        out[fits] = '\0';
    }
    fl_buf_reset(&meaning);
    return text.len;
}
