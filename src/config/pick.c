/*
 * pick.c - the members of an object by name, and values of one type each.
 */
#include "config/pick.h"

#include "base/span.h"
#include "config/expand.h"
#include "json/nav.h"

#include <stdio.h>
#include <string.h>

enum { LISTED = 256 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* What is alike before the slip and after it leaves one letter at most, or
 * two that were swapped. */
static bool is_near(fl_span a, fl_span b)
{
    size_t most = a.len > b.len ? a.len : b.len;
    size_t least = a.len > b.len ? b.len : a.len;
    size_t front = 0, back = 0;

    while (front < least && lower(a.ptr[front]) == lower(b.ptr[front]))
        front++;
    while (back < least - front &&
           lower(a.ptr[a.len - 1 - back]) == lower(b.ptr[b.len - 1 - back]))
        back++;
    if (front + back + 1 >= most)
        return true;
    return a.len == b.len && front + back + 2 == most &&
           a.ptr[front] == b.ptr[front + 1] && a.ptr[front + 1] == b.ptr[front];
}

const char *fl_pick_meant(fl_span key, const char *const *names)
{
    for (; *names != NULL; names++)
        if (is_near(key, fl_span_of(*names)))
            return *names;
    return NULL;
}

/* Names for a message, with commas between them. */
static void join(const char *const *names, char list[LISTED])
{
    size_t len = 0;

    list[0] = '\0';
    for (size_t i = 0; names[i] != NULL && len < LISTED; i++) {
        int added = snprintf(list + len, LISTED - len, "%s%s",
                             i > 0 ? ", " : "", names[i]);
        len += added > 0 ? (size_t)added : 0;
    }
}

static void tell_unknown(fl_reader *reader, fl_span key,
                         const char *const *names, fl_pick_unknown unknown)
{
    const char *meant = fl_pick_meant(key, names);
    char list[LISTED];

    if (unknown == FL_PICK_WARN && meant != NULL)
        fl_reader_warn(reader, key.ptr - 1,
                       "it is not known here and has no effect; is \"%s\" "
                       "meant?",
                       meant);
    else if (unknown == FL_PICK_WARN)
        fl_reader_warn(reader, key.ptr - 1,
                       "it is not known here and has no effect");
    else if (meant != NULL)
        fl_reader_error(reader, key.ptr - 1,
                        "there is no such key; is \"%s\" meant?", meant);
    else {
        join(names, list);
        fl_reader_error(reader, key.ptr - 1,
                        "there is no such key; there are %s", list);
    }
}

/* Which of the names a key is, escapes and all; count if none. */
static size_t index_of(fl_span key, const char *const *names)
{
    fl_span quoted = {key.ptr - 1, key.len + 2};
    size_t i = 0;

    while (names[i] != NULL && !fl_json_string_is(quoted, fl_span_of(names[i])))
        i++;
    return i;
}

bool fl_pick_find(fl_reader *reader, fl_span object, const char *const *names,
                  fl_span *values, fl_pick_unknown unknown)
{
    fl_json_walk walk;
    fl_json_member member;

    for (size_t i = 0; names[i] != NULL; i++)
        values[i] = (fl_span){0};
    if (fl_json_type_of(object) != FL_JSON_OBJECT) {
        fl_reader_error(reader, object.ptr, "it must be an object");
        return false;
    }
    fl_json_walk_init(&walk, object);
    while (fl_json_walk_next(&walk, &member)) {
        size_t i = index_of(member.key, names);
        if (names[i] == NULL) {
            if (unknown != FL_PICK_IGNORE)
                tell_unknown(reader, member.key, names, unknown);
        } else if (values[i].len > 0) {
            fl_reader_error(reader, member.key.ptr - 1, "it is given twice");
        } else {
            values[i] = member.value;
        }
    }
    for (size_t i = 0; names[i] != NULL; i++)
        if (fl_json_type_of(values[i]) == FL_JSON_NULL)
            values[i] = (fl_span){0};
    return true;
}

bool fl_pick_bool(fl_reader *reader, fl_span value, bool *out)
{
    fl_json_type type = fl_json_type_of(value);

    if (type == FL_JSON_TRUE || type == FL_JSON_FALSE) {
        *out = type == FL_JSON_TRUE;
        return true;
    }
    if (type != FL_JSON_NONE)
        fl_reader_error(reader, value.ptr, "it must be true or false");
    return false;
}

bool fl_pick_number(fl_reader *reader, fl_span value, uint32_t least,
                    uint32_t most, uint32_t *out)
{
    int64_t number;

    if (value.len == 0)
        return false;
    if (fl_json_type_of(value) == FL_JSON_NUMBER &&
        fl_json_int64(value, &number) == FL_OK && number >= least &&
        number <= most) {
        *out = (uint32_t)number;
        return true;
    }
    fl_reader_error(reader, value.ptr,
                    "it must be a whole number from %u to %u", least, most);
    return false;
}

bool fl_pick_word(fl_reader *reader, fl_span value, const char *const *words,
                  size_t *out)
{
    char list[LISTED];

    if (value.len == 0)
        return false;
    for (size_t i = 0; words[i] != NULL; i++)
        if (fl_json_string_is(value, fl_span_of(words[i]))) {
            *out = i;
            return true;
        }
    join(words, list);
    fl_reader_error(reader, value.ptr, "it must be one of %s", list);
    return false;
}

/* The text of a scalar into reader->raw. */
static bool copy_raw(fl_reader *reader, fl_span value, bool any_scalar)
{
    fl_json_type type = fl_json_type_of(value);
    bool is_plain =
        any_scalar && (type == FL_JSON_NUMBER || type == FL_JSON_TRUE ||
                       type == FL_JSON_FALSE);

    fl_buf_clear(&reader->raw);
    if (is_plain)
        return fl_reader_try(reader, fl_buf_append(&reader->raw, value));
    if (type != FL_JSON_STRING) {
        fl_reader_error(reader, value.ptr, "it must be a string");
        return false;
    }
    fl_status rc = fl_json_string_copy(value, &reader->raw);
    fl_span raw = fl_buf_view(&reader->raw);
    if (rc == FL_E_TOO_BIG) {
        fl_reader_error(reader, value.ptr, "it is longer than %d bytes",
                        FL_CONFIG_VALUE);
        return false;
    }
    if (fl_span_find(raw, '\0') < raw.len) {
        fl_reader_error(reader, value.ptr, "it has a NUL in it");
        return false;
    }
    return fl_reader_try(reader, rc);
}

static void warn_bare(fl_reader *reader, const char *at, fl_span text)
{
    size_t len = 1;

    while (len < text.len && ((text.ptr[len] >= 'A' && text.ptr[len] <= 'Z') ||
                              text.ptr[len] == '_'))
        len++;
    if (!reader->bare_dollar && text.len > 1 && text.len < 64 &&
        text.ptr[0] == '$' && len == text.len)
        fl_reader_warn(reader, at,
                       "%.*s is taken as it stands; for the variable, write "
                       "${%.*s}",
                       (int)text.len, text.ptr, (int)text.len - 1,
                       text.ptr + 1);
}

static bool read_value(fl_reader *reader, fl_span value, fl_span front,
                       bool any_scalar)
{
    fl_buf_clear(&reader->real);
    fl_buf_clear(&reader->shown);
    if (!copy_raw(reader, value, any_scalar) ||
        !fl_reader_try(reader, fl_buf_append(&reader->real, front)) ||
        !fl_reader_try(reader, fl_buf_append(&reader->shown, front)))
        return false;
    warn_bare(reader, value.ptr, fl_buf_view(&reader->raw));
    return fl_expand(reader, value.ptr, fl_buf_view(&reader->raw));
}

/* One string for both, where there is nothing to hide. */
static bool keep_value(fl_reader *reader, fl_config_text *out)
{
    fl_span real = fl_buf_view(&reader->real);
    fl_span shown = fl_buf_view(&reader->shown);
    fl_keep *keep = &reader->config->keep;
    fl_config_text text;

    if (!fl_reader_try(reader, fl_keep_text(keep, real, &text.text)))
        return false;
    text.shown = text.text;
    if (!fl_span_equal(real, shown) &&
        !fl_reader_try(reader, fl_keep_text(keep, shown, &text.shown)))
        return false;
    *out = text;
    return true;
}

bool fl_pick_text(fl_reader *reader, fl_span value, fl_config_text *out)
{
    return value.len > 0 && read_value(reader, value, (fl_span){0}, false) &&
           keep_value(reader, out);
}

/* Room for one more and the NULL behind it. What was there before stays in the
 * keep until all goes. */
static bool make_room(fl_reader *reader, fl_config_list *list)
{
    size_t room = list->room > 0 ? 2 * list->room : 4;
    void *items, *shown;

    if (list->count + 1 < list->room)
        return true;
    if (!fl_reader_try(reader, fl_keep_take(&reader->config->keep,
                                            room * sizeof(char *), &items)) ||
        !fl_reader_try(reader, fl_keep_take(&reader->config->keep,
                                            room * sizeof(char *), &shown)))
        return false;
    if (list->count > 0) {
        memcpy(items, list->items, list->count * sizeof(char *));
        memcpy(shown, list->shown, list->count * sizeof(char *));
    }
    list->items = items;
    list->shown = shown;
    list->room = room;
    return true;
}

bool fl_pick_push(fl_reader *reader, const char *at, fl_config_list *list)
{
    fl_config_text text;

    if (list->count == FL_CONFIG_LIST) {
        fl_reader_error(reader, at, "there are more than %d", FL_CONFIG_LIST);
        return false;
    }
    if (!make_room(reader, list) || !keep_value(reader, &text))
        return false;
    list->items[list->count] = text.text;
    list->shown[list->count++] = text.shown;
    return true;
}

void fl_pick_texts(fl_reader *reader, fl_span value, fl_config_list *list)
{
    fl_json_walk walk;
    fl_json_member member = {.value = value};
    fl_json_type type = fl_json_type_of(value);

    if (type == FL_JSON_STRING) {
        fl_pick_add(reader, (fl_span){0}, value, list, false);
        return;
    }
    if (type != FL_JSON_ARRAY && type != FL_JSON_NONE)
        fl_reader_error(reader, value.ptr,
                        "it must be a string or an array of strings");
    if (type != FL_JSON_ARRAY)
        return;
    fl_json_walk_init(&walk, value);
    while (list->count <= FL_CONFIG_LIST && reader->status == FL_OK &&
           fl_json_walk_next(&walk, &member))
        if (!fl_pick_add(reader, (fl_span){0}, member.value, list, false) &&
            list->count == FL_CONFIG_LIST)
            return; /* said once */
}

/* The item that begins with `front`, or the count. */
static size_t find_item(const fl_config_list *list, fl_span front)
{
    size_t i = 0;

    while (i < list->count &&
           strncmp(list->items[i], front.ptr, front.len) != 0)
        i++;
    return i;
}

bool fl_pick_add(fl_reader *reader, fl_span front, fl_span value,
                 fl_config_list *list, bool once)
{
    size_t i = once ? find_item(list, front) : list->count;
    fl_config_text text;

    if (!read_value(reader, value, front, true))
        return false;
    if (i == list->count)
        return fl_pick_push(reader, value.ptr, list);
    if (!keep_value(reader, &text))
        return false;
    list->items[i] = text.text;
    list->shown[i] = text.shown;
    return true;
}
