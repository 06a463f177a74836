/*
 * format_time.c - dates, times and durations of RFC 3339.
 *
 * A leap second is one only if it is the last of a day in UTC, which takes
 * the offset to know.
 */
#include "base/span.h"
#include "schema/format.h"
#include "json/token.h"

/* `count` digits off the front; -1 if they are not there. */
static int take_digits(fl_span *text, size_t count)
{
    int value = 0;

    if (text->len < count)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (!fl_json_is_digit(text->ptr[i]))
            return -1;
        value = value * 10 + (text->ptr[i] - '0');
    }
    *text = fl_span_from(*text, count);
    return value;
}

static bool take_byte(fl_span *text, const char *any_of)
{
    if (text->len == 0 || text->ptr[0] == '\0' ||
        strchr(any_of, text->ptr[0]) == NULL)
        return false;
    *text = fl_span_from(*text, 1);
    return true;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (leap && month == 2);
}

static bool take_date(fl_span *text)
{
    int year = take_digits(text, 4);
    int month = take_byte(text, "-") ? take_digits(text, 2) : -1;
    int day = take_byte(text, "-") ? take_digits(text, 2) : -1;

    return year >= 0 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days_of(year, month);
}

static bool take_fraction(fl_span *text)
{
    if (!take_byte(text, "."))
        return true;
    if (take_digits(text, 1) < 0)
        return false;
    while (take_digits(text, 1) >= 0)
        ;
    return true;
}

/* Z or +hh:mm, in minutes. */
static bool take_offset(fl_span *text, int *minutes)
{
    *minutes = 0;
    if (take_byte(text, "Zz"))
        return true;
    int sign = text->len > 0 && text->ptr[0] == '-' ? -1 : 1;
    if (!take_byte(text, "+-"))
        return false;
    int hour = take_digits(text, 2);
    int minute = take_byte(text, ":") ? take_digits(text, 2) : -1;
    *minutes = sign * (hour * 60 + minute);
    return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59;
}

static bool take_time(fl_span *text)
{
    enum { DAY = 24 * 60 };
    int hour = take_digits(text, 2), offset;
    int minute = take_byte(text, ":") ? take_digits(text, 2) : -1;
    int second = take_byte(text, ":") ? take_digits(text, 2) : -1;

    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 60 || !take_fraction(text) || !take_offset(text, &offset))
        return false;
    int utc = (hour * 60 + minute - offset + 2 * DAY) % DAY;
    return second < 60 || utc == DAY - 1;
}

bool fl_format_date(fl_span text)
{
    return take_date(&text) && text.len == 0;
}

bool fl_format_time(fl_span text)
{
    return take_time(&text) && text.len == 0;
}

bool fl_format_date_time(fl_span text)
{
    return take_date(&text) && take_byte(&text, "Tt") && take_time(&text) &&
           text.len == 0;
}

/* Numbers with these units, which follow each other without a gap; at least
 * one of them. */
static bool take_units(fl_span *text, const char *units)
{
    const char *next = NULL;

    while (text->len > 0 && fl_json_is_digit(text->ptr[0])) {
        while (take_digits(text, 1) >= 0)
            ;
        const char *unit = text->len > 0 && text->ptr[0] != '\0'
                               ? strchr(units, text->ptr[0])
                               : NULL;
        if (unit == NULL || (next != NULL && unit != next))
            return false;
        *text = fl_span_from(*text, 1);
        next = unit + 1;
        if (*next == '\0')
            return true;
    }
    return next != NULL;
}

/* RFC 3339, appendix A: weeks alone, or a date, a time or both. */
bool fl_format_duration(fl_span text)
{
    if (!take_byte(&text, "P"))
        return false;
    fl_span weeks = text;
    if (take_units(&weeks, "W") && weeks.len == 0)
        return true;
    if (text.len > 0 && text.ptr[0] != 'T' && !take_units(&text, "YMD"))
        return false;
    if (take_byte(&text, "T"))
        return take_units(&text, "HMS") && text.len == 0;
    return text.len == 0 && weeks.len > 0;
}
