/*
 * flags.c - a command line taken apart by a table.
 *
 * Words are moved to the front of argv as they are found, so that nothing is
 * copied and nothing allocated. Values are checked here for what they are (a
 * number, one of a few names); whether a number makes sense is checked by the
 * library, which knows the limits and says them.
 */
#include "cmd/flags.h"

#include "base/span.h"
#include "base/status.h"
#include "cmd/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 128 };

static const double MAX_SECONDS = 86400; /* a day: the library's limit too */

static const fl_flag *find(const fl_flag *flags, fl_span name)
{
    for (; flags->name != NULL; flags++)
        if (fl_span_equal(fl_span_of(flags->name), name))
            return flags;
    return NULL;
}

static fl_status refuse_unknown(const fl_flag *flags, fl_span name,
                                fl_error *error)
{
    const char *names[NAMES_MAX + 1] = {NULL};

    for (size_t i = 0; i < NAMES_MAX && flags[i].name != NULL; i++)
        names[i] = flags[i].name;
    const char *near = fl_suggest_nearest(name, names);
    return fl_error_set(error, FL_E_INVALID, "unknown option '%.*s'%s%s%s",
                        (int)name.len, name.ptr,
                        near != NULL ? "; did you mean " : "",
                        near != NULL ? near : "", near != NULL ? "?" : "");
}

static fl_status refuse_value(const fl_flag *flag, const char *value,
                              const char *want, fl_error *error)
{
    return fl_error_set(error, FL_E_INVALID, "option %s: '%s' is not %s",
                        flag->name, value, want);
}

/* Digits only: strtoull alone would take "-1" and " 7" as well. */
static bool read_digits(const char *text, uint64_t *number, const char **end)
{
    char *stop;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

static fl_status take_count(const fl_flag *flag, const char *value,
                            fl_error *error)
{
    const char *end;
    uint64_t number;

    if (!read_digits(value, &number, &end) || *end != '\0' || number < 1 ||
        number > INT32_MAX)
        return refuse_value(flag, value, "a number of 1 or more", error);
    *(unsigned *)flag->into = (unsigned)number;
    return FL_OK;
}

/* How far a suffix shifts: 0 for none, -1 for one we do not know. */
static int shift_of(const char *suffix)
{
    static const char units[] = "KMG";

    if (*suffix == '\0')
        return 0;
    char unit = (char)(*suffix & ~0x20); /* in upper case */
    const char *at = unit != '\0' ? strchr(units, unit) : NULL;
    if (at == NULL || suffix[1] != '\0')
        return -1;
    return 10 * (int)(at - units + 1);
}

static fl_status take_bytes(const fl_flag *flag, const char *value,
                            fl_error *error)
{
    const char *end;
    uint64_t number;

    if (read_digits(value, &number, &end) && number > 0) {
        int shift = shift_of(end);
        if (shift >= 0 && number <= SIZE_MAX >> shift) {
            *(size_t *)flag->into = (size_t)number << shift;
            return FL_OK;
        }
    }
    return refuse_value(flag, value, "a size such as 65536, 512K or 16M",
                        error);
}

static fl_status take_seconds(const fl_flag *flag, const char *value,
                              fl_error *error)
{
    char *end;
    double seconds = strtod(value, &end);

    /* the first test also keeps out "nan", " 1" and "-1" */
    if (*value < '0' || *value > '9' || *end != '\0' || !(seconds >= 0.001) ||
        !(seconds <= MAX_SECONDS))
        return refuse_value(flag, value, "a time in seconds, 0.001 to 86400",
                            error);
    *(uint64_t *)flag->into = (uint64_t)(seconds * 1000 + 0.5);
    return FL_OK;
}

static fl_status take_choice(const fl_flag *flag, const char *value,
                             fl_error *error)
{
    char want[128] = "one of";
    size_t at = strlen(want);

    for (unsigned i = 0; flag->choices[i] != NULL; i++) {
        if (strcmp(flag->choices[i], value) == 0) {
            *(unsigned *)flag->into = i + 1;
            return FL_OK;
        }
        if (at < sizeof want) /* the names are ours, and few */
            at += (size_t)snprintf(want + at, sizeof want - at, " %s",
                                   flag->choices[i]);
    }
    return refuse_value(flag, value, want, error);
}

static fl_status take_item(const fl_flag *flag, const char *value,
                           fl_error *error)
{
    fl_flag_list *list = flag->into;

    if (list->count == FL_FLAG_LIST_MAX)
        return fl_error_set(error, FL_E_LIMIT,
                            "option %s: given more than %d times", flag->name,
                            FL_FLAG_LIST_MAX);
    list->items[list->count++] = value;
    return FL_OK;
}

static fl_status take_value(const fl_flag *flag, const char *value,
                            fl_error *error)
{
    switch (flag->kind) {
    case FL_FLAG_COUNT:
        return take_count(flag, value, error);
    case FL_FLAG_BYTES:
        return take_bytes(flag, value, error);
    case FL_FLAG_SECONDS:
        return take_seconds(flag, value, error);
    case FL_FLAG_CHOICE:
        return take_choice(flag, value, error);
    case FL_FLAG_LIST:
        return take_item(flag, value, error);
    case FL_FLAG_TEXT:
    case FL_FLAG_SWITCH:
        break;
    }
    *(const char **)flag->into = value;
    return FL_OK;
}

/* One flag at `*at`, which moves to the last argument that belongs to it. */
static fl_status take_flag(const fl_flag *flags, char ***at, fl_error *error)
{
    const char *argument = **at;
    fl_span name = {argument, strcspn(argument, "=")};
    const char *value =
        argument[name.len] == '=' ? argument + name.len + 1 : NULL;
    const fl_flag *flag = find(flags, name);

    if (flag == NULL)
        return refuse_unknown(flags, name, error);
    if (flag->kind == FL_FLAG_SWITCH) {
        if (value != NULL)
            return fl_error_set(error, FL_E_INVALID, "option %s takes no value",
                                flag->name);
        *(bool *)flag->into = true;
        return FL_OK;
    }
    if (value == NULL) {
        value = (*at)[1];
        if (value == NULL || strcmp(value, "--") == 0)
            return fl_error_set(error, FL_E_INVALID, "option %s needs a value",
                                flag->name);
        ++*at;
    }
    return take_value(flag, value, error);
}

/* A lone dash is a word: it stands for stdin. */
static bool is_flag(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

fl_status fl_flags_parse(const fl_flag *flags, char **argv, fl_words *words,
                         fl_error *error)
{
    *words = (fl_words){.word = argv};
    for (char **at = argv; *at != NULL; at++) {
        if (strcmp(*at, "--") == 0) {
            words->rest = at + 1;
            break;
        }
        if (!is_flag(*at)) {
            words->word[words->count++] = *at;
            continue;
        }
        fl_status rc = take_flag(flags, &at, error);
        if (rc != FL_OK)
            return rc;
    }
    return FL_OK;
}
