/*
 * field.c - header fields: the ones we know by number, the rest by name.
 *
 * No two names we know share both their length and their first letter. So
 * those two, mixed, are an index into a small table that holds the one name
 * it could be, and one comparison tells whether it is. Names are compared
 * eight bytes at a time, in lower case: setting bit 5 where bit 6 is set turns
 * capitals into small letters and can make no other byte look like a letter
 * or a dash, which is all that our names are made of.
 *
 * If two names ever fall on one slot, the compiler says so (-Woverride-init).
 */
#include "wire/field.h"

#include "base/mem.h"
#include "base/span.h"
#include "wire/bytes.h"

#include <assert.h>

enum { SLOTS = 256, LONGEST = 32 };

#define SLOT(len, first) (((len)*19u + (unsigned char)(first)) % SLOTS)

static const struct {
    fl_span name;
    bool single;
} known[FL_FIELD_COUNT] = {[FL_FIELD_OTHER] = {{"", 0}, false},
#define ROW(id, text, once) [FL_FIELD_##id] = {{text, sizeof(text) - 1}, once},
                           FL_FIELD_MAP(ROW)
#undef ROW
};

#define CHECK(id, text, once)                                                  \
    static_assert(sizeof(text) - 1 <= LONGEST, "compared in two halves");
FL_FIELD_MAP(CHECK)
#undef CHECK

/* Length and first letter of each. */
static const uint8_t slots[SLOTS] = {
    [SLOT(6, 'a')] = FL_FIELD_ACCEPT,
    [SLOT(15, 'a')] = FL_FIELD_ACCEPT_ENCODING,
    [SLOT(30, 'a')] = FL_FIELD_ACCESS_CONTROL_REQUEST_HEADERS,
    [SLOT(29, 'a')] = FL_FIELD_ACCESS_CONTROL_REQUEST_METHOD,
    [SLOT(5, 'a')] = FL_FIELD_ALLOW,
    [SLOT(13, 'a')] = FL_FIELD_AUTHORIZATION,
    [SLOT(13, 'c')] = FL_FIELD_CACHE_CONTROL,
    [SLOT(10, 'c')] = FL_FIELD_CONNECTION,
    [SLOT(16, 'c')] = FL_FIELD_CONTENT_ENCODING,
    [SLOT(14, 'c')] = FL_FIELD_CONTENT_LENGTH,
    [SLOT(23, 'c')] = FL_FIELD_CONTENT_SECURITY_POLICY,
    [SLOT(12, 'c')] = FL_FIELD_CONTENT_TYPE,
    [SLOT(6, 'c')] = FL_FIELD_COOKIE,
    [SLOT(4, 'd')] = FL_FIELD_DATE,
    [SLOT(6, 'e')] = FL_FIELD_EXPECT,
    [SLOT(4, 'h')] = FL_FIELD_HOST,
    [SLOT(10, 'k')] = FL_FIELD_KEEP_ALIVE,
    [SLOT(13, 'l')] = FL_FIELD_LAST_EVENT_ID,
    [SLOT(8, 'l')] = FL_FIELD_LOCATION,
    [SLOT(10, 'm')] = FL_FIELD_MCP_METHOD,
    [SLOT(8, 'm')] = FL_FIELD_MCP_NAME,
    [SLOT(20, 'm')] = FL_FIELD_MCP_PROTOCOL_VERSION,
    [SLOT(14, 'm')] = FL_FIELD_MCP_SESSION_ID,
    [SLOT(6, 'o')] = FL_FIELD_ORIGIN,
    [SLOT(16, 'p')] = FL_FIELD_PROXY_CONNECTION,
    [SLOT(15, 'r')] = FL_FIELD_REFERRER_POLICY,
    [SLOT(11, 'r')] = FL_FIELD_RETRY_AFTER,
    [SLOT(24, 's')] = FL_FIELD_SEC_WEBSOCKET_EXTENSIONS,
    [SLOT(17, 's')] = FL_FIELD_SEC_WEBSOCKET_KEY,
    [SLOT(22, 's')] = FL_FIELD_SEC_WEBSOCKET_PROTOCOL,
    [SLOT(21, 's')] = FL_FIELD_SEC_WEBSOCKET_VERSION,
    [SLOT(25, 's')] = FL_FIELD_STRICT_TRANSPORT_SECURITY,
    [SLOT(2, 't')] = FL_FIELD_TE,
    [SLOT(11, 't')] = FL_FIELD_TRACEPARENT,
    [SLOT(7, 't')] = FL_FIELD_TRAILER,
    [SLOT(17, 't')] = FL_FIELD_TRANSFER_ENCODING,
    [SLOT(7, 'u')] = FL_FIELD_UPGRADE,
    [SLOT(10, 'u')] = FL_FIELD_USER_AGENT,
    [SLOT(16, 'w')] = FL_FIELD_WWW_AUTHENTICATE,
    [SLOT(9, 'x')] = FL_FIELD_X_API_KEY,
    [SLOT(22, 'x')] = FL_FIELD_X_CONTENT_TYPE_OPTIONS,
    [SLOT(15, 'x')] = FL_FIELD_X_FRAME_OPTIONS,
    [SLOT(12, 'x')] = FL_FIELD_X_REQUEST_ID,
};

static uint64_t load8(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

static uint32_t load4(const char *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Bit 5 set where bit 6 is. */
static bool same8(const char *name, const char *text)
{
    uint64_t word = load8(name);

    return (word | ((word & 0x4040404040404040u) >> 1)) == load8(text);
}

static bool same4(const char *name, const char *text)
{
    uint32_t word = load4(name);

    return (word | ((word & 0x40404040u) >> 1)) == load4(text);
}

static bool same16(const char *name, const char *text)
{
    return same8(name, text) && same8(name + 8, text + 8);
}

/* Whether `name` is `text`, which is one of ours: from both ends, which overlap
 * unless it is as long as can be. */
static bool is_known(const char *name, const char *text, size_t len)
{
    if (len >= 16)
        return same16(name, text) && same16(name + len - 16, text + len - 16);
    if (len >= 8)
        return same8(name, text) && same8(name + len - 8, text + len - 8);
    if (len >= 4)
        return same4(name, text) && same4(name + len - 4, text + len - 4);
    for (size_t i = 0; i < len; i++)
        if (fl_bytes_lower(name[i]) != text[i])
            return false;
    return true;
}

fl_field_id fl_field_find(fl_span name)
{
    if (name.len == 0)
        return FL_FIELD_OTHER;

    unsigned slot = slots[SLOT((unsigned)name.len, name.ptr[0] | 0x20)];
    return known[slot].name.len == name.len &&
                   is_known(name.ptr, known[slot].name.ptr, name.len)
               ? (fl_field_id)slot
               : FL_FIELD_OTHER;
}

fl_span fl_field_name(fl_field_id id)
{
    return known[id].name;
}

bool fl_field_is_single(fl_field_id id)
{
    return known[id].single;
}

fl_field fl_field_moved(const fl_field *field, const char *from, const char *to)
{
    return (fl_field){
        fl_span_moved(field->name, from, to),
        fl_span_moved(field->value, from, to),
        field->id,
    };
}

bool fl_field_name_equal(fl_span a, fl_span b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (fl_bytes_lower(a.ptr[i]) != fl_bytes_lower(b.ptr[i]))
            return false;
    return true;
}

bool fl_field_name_ok(fl_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!fl_bytes_is_token(name.ptr[i]))
            return false;
    return name.len > 0;
}

bool fl_field_value_ok(fl_span value)
{
    if (value.len == 0)
        return true;
    return !fl_bytes_is_blank(value.ptr[0]) &&
           !fl_bytes_is_blank(value.ptr[value.len - 1]) &&
           fl_bytes_until_control(value.ptr, value.len) == value.len;
}

static bool has_capitals(fl_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] != fl_bytes_lower(name.ptr[i]))
            return true;
    return false;
}

bool fl_field_is_framing(fl_field_id id)
{
    return id == FL_FIELD_CONTENT_LENGTH || id == FL_FIELD_TRANSFER_ENCODING ||
           id == FL_FIELD_CONNECTION || id == FL_FIELD_KEEP_ALIVE ||
           id == FL_FIELD_PROXY_CONNECTION || id == FL_FIELD_HOST;
}

bool fl_field_may_send(const fl_field *field)
{
    fl_field_id id = field->id;
    bool ours = id != FL_FIELD_OTHER && field->name.ptr == known[id].name.ptr &&
                field->name.len == known[id].name.len;

    if (!ours) {
        if (!fl_field_name_ok(field->name) || has_capitals(field->name))
            return false;
        id = fl_field_find(field->name);
    }
    return !fl_field_is_framing(id) && fl_field_value_ok(field->value);
}

/* Where the element at the front of `list` ends: at a comma, but not at one
 * inside a quoted string. */
static size_t element_end(fl_span list)
{
    bool quoted = false;
    size_t n = 0;

    for (; n < list.len && (quoted || list.ptr[n] != ','); n++) {
        if (list.ptr[n] == '"')
            quoted = !quoted;
        else if (quoted && list.ptr[n] == '\\' && n + 1 < list.len)
            n++;
    }
    return n;
}

bool fl_field_list_next(fl_span *list, fl_span *element)
{
    while (list->len > 0) {
        size_t n = element_end(*list);
        *element = fl_bytes_trim((fl_span){list->ptr, n});
        *list = fl_span_from(*list, n < list->len ? n + 1 : n);
        if (element->len > 0)
            return true;
    }
    *element = (fl_span){0};
    return false;
}

bool fl_field_list_has(fl_span list, fl_span token)
{
    fl_span element;

    while (fl_field_list_next(&list, &element))
        if (fl_field_name_equal(element, token))
            return true;
    return false;
}

/* What comes before the first semicolon; `value` is left with the rest. */
static fl_span take_parameter(fl_span *value)
{
    bool quoted = false;
    size_t n = 0;

    for (; n < value->len && (quoted || value->ptr[n] != ';'); n++) {
        if (value->ptr[n] == '"')
            quoted = !quoted;
        else if (quoted && value->ptr[n] == '\\' && n + 1 < value->len)
            n++;
    }
    fl_span first = fl_bytes_trim((fl_span){value->ptr, n});
    *value = fl_span_from(*value, n < value->len ? n + 1 : n);
    return first;
}

/* `text` is `type`, and at most parameters follow. */
static bool begins_media(fl_span text, fl_span type)
{
    fl_span rest = fl_bytes_trim(fl_span_from(text, type.len));

    return (rest.len == 0 || rest.ptr[0] == ';') &&
           fl_field_name_equal((fl_span){text.ptr, type.len}, type);
}

/* Nearly every value is the bare type, and spelled like it. */
bool fl_field_media_is(fl_span value, fl_span type)
{
    if (fl_span_equal(value, type))
        return true;
    fl_span text = fl_bytes_trim(value);
    return text.len >= type.len && begins_media(text, type);
}

/* RFC 9110 12.4.2: "0", "1", up to three digits after a point, 1 at most. What
 * is none of this is worth nothing. */
static unsigned read_weight(fl_span text)
{
    if (text.len == 0 || text.len > 5 || (text.ptr[0] | 1) != '1' ||
        (text.len > 1 && text.ptr[1] != '.'))
        return 0;

    unsigned sum = (unsigned)(text.ptr[0] - '0') * 1000, unit = 100;
    for (size_t i = 2; i < text.len; i++, unit /= 10) {
        if (!fl_bytes_is_digit(text.ptr[i]))
            return 0;
        sum += (unsigned)(text.ptr[i] - '0') * unit;
    }
    return sum <= 1000 ? sum : 0;
}

static unsigned weight_of(fl_span parameters)
{
    while (parameters.len > 0) {
        fl_span one = take_parameter(&parameters);
        if (one.len >= 2 && (one.ptr[0] | 0x20) == 'q' && one.ptr[1] == '=')
            return read_weight(fl_span_from(one, 2));
    }
    return 1000;
}

/* How closely a range names `wanted`: 0 (not at all) to 3 (by its name). */
static int closeness(fl_span range, fl_span wanted)
{
    size_t slash = fl_span_find(wanted, '/');
    bool media = slash < wanted.len;

    if (fl_field_name_equal(range, wanted))
        return 3;
    if (fl_span_equal(range, media ? FL_SPAN("*/*") : FL_SPAN("*")))
        return 1;
    if (!media || range.len != slash + 2 || range.ptr[slash + 1] != '*')
        return 0;
    range.len = wanted.len = slash + 1;
    return fl_field_name_equal(range, wanted) ? 2 : 0;
}

unsigned fl_field_quality(fl_span list, fl_span wanted)
{
    unsigned quality = 0;
    int best = 0;
    fl_span element;

    while (fl_field_list_next(&list, &element)) {
        int close = closeness(take_parameter(&element), wanted);
        unsigned weight = close > 0 ? weight_of(element) : 0;
        if (close > best || (close == best && weight > quality)) {
            best = close;
            quality = weight;
        }
    }
    return quality;
}

static char *put(char *to, fl_span part)
{
    if (part.len > 0)
        memcpy(to, part.ptr, part.len);
    return to + part.len;
}

/* To where there is room for it. */
static char *render(const fl_field *field, char *to, fl_field *copy)
{
    *copy = (fl_field){.id = fl_field_find(field->name),
                       .name = {to, field->name.len}};
    to = put(to, field->name);
    to = put(to, FL_SPAN(": "));
    copy->value = (fl_span){to, field->value.len};
    to = put(to, field->value);
    return put(to, FL_SPAN("\r\n"));
}

/* What was there has been cleared. */
static fl_status make_room(fl_fields *set, size_t count, size_t size)
{
    if (count > set->room) {
        fl_field *grown =
            fl_mem_realloc(set->fields, count * sizeof *set->fields);
        if (grown == NULL)
            return FL_E_NOMEM;
        set->fields = grown;
        set->room = count;
    }
    if (size > set->text.max) {
        fl_buf_reset(&set->text);
        fl_buf_init(&set->text, size);
    }
    return fl_buf_reserve(&set->text, size) != NULL ? FL_OK : FL_E_NOMEM;
}

fl_status fl_fields_fill(fl_fields *set, const fl_field *fields, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        if (!fl_field_may_send(&fields[i]))
            return FL_E_INVALID;
        size += fields[i].name.len + fields[i].value.len + 4;
    }
    if (count == 0)
        return FL_OK;
    fl_status rc = make_room(set, count, size);
    if (rc != FL_OK)
        return rc;
    char *to = fl_buf_reserve(&set->text, size);
    for (size_t i = 0; i < count; i++)
        to = render(&fields[i], to, &set->fields[i]);
    fl_buf_commit(&set->text, size);
    set->count = count;
    return FL_OK;
}

fl_status fl_fields_init(fl_fields *set, const fl_field *fields, size_t count)
{
    *set = (fl_fields){0};
    fl_status rc = fl_fields_fill(set, fields, count);
    if (rc != FL_OK)
        fl_fields_deinit(set);
    return rc;
}

void fl_fields_replace(fl_fields *set, size_t index, fl_span value)
{
    fl_span old = set->fields[index].value;

    assert(value.len == old.len && fl_field_value_ok(value));
    memcpy(set->text.ptr + (old.ptr - set->text.ptr), value.ptr, value.len);
}

void fl_fields_deinit(fl_fields *set)
{
    fl_mem_free(set->fields);
    fl_buf_reset(&set->text);
    *set = (fl_fields){0};
}
