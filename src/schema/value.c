/*
 * value.c - what JSON values mean.
 *
 * Numbers are equal as decimals, strings by their code points, objects
 * whatever the order of their members; where a key comes twice the last one
 * counts, as in fl_json_get(). Recursion is bounded by the nesting that the
 * scanner lets through.
 */
#include "schema/value.h"

#include "base/siphash.h"
#include "base/span.h"
#include "json/nav.h"
#include "json/unescape.h"

static fl_span unquoted(fl_span string)
{
    return (fl_span){string.ptr + 1, string.len - 2};
}

static bool has_escapes(fl_span string)
{
    return fl_span_find(string, '\\') < string.len;
}

fl_status fl_value_text(fl_work *work, fl_span string, fl_span *text)
{
    fl_buf *scratch = &work->schema->scratch->text;

    *text = unquoted(string);
    if (!fl_work_spend(work, string.len))
        return FL_E_LIMIT;
    if (!has_escapes(*text))
        return FL_OK;
    fl_buf_clear(scratch);
    fl_status rc = fl_json_unescape(*text, scratch);
    *text = fl_buf_view(scratch);
    return rc;
}

/* An escape is one code point, but for a surrogate that has a partner. */
static size_t escape_length(fl_span rest)
{
    enum { UNIT = 6 };
    const char *at = rest.ptr;

    if (rest.len < UNIT || at[1] != 'u')
        return 2;
    bool high = (at[2] | 0x20) == 'd' && strchr("89abAB", at[3]) != NULL;
    bool pair = rest.len >= 2 * (size_t)UNIT && at[UNIT] == '\\' &&
                at[UNIT + 1] == 'u' && (at[UNIT + 2] | 0x20) == 'd' &&
                strchr("cdefCDEF", at[UNIT + 3]) != NULL;
    return high && pair ? 2 * (size_t)UNIT : UNIT;
}

size_t fl_value_length(fl_span string)
{
    fl_span rest = unquoted(string);
    size_t count = 0;

    for (size_t i = 0; i < rest.len; count++) {
        if (rest.ptr[i] == '\\') {
            i += escape_length(fl_span_from(rest, i));
            continue;
        }
        do
            i++;
        while (i < rest.len && ((unsigned char)rest.ptr[i] & 0xc0) == 0x80);
    }
    return count;
}

static uint64_t mix(const fl_work *work, uint64_t a, uint64_t b)
{
    uint64_t pair[2] = {a, b};

    return fl_siphash(work->schema->seed,
                      (fl_span){(const char *)pair, sizeof pair});
}

static fl_status hash_string(fl_work *work, fl_span string, uint64_t *hash)
{
    fl_span text;
    fl_status rc = fl_value_text(work, string, &text);

    if (rc == FL_OK)
        *hash = fl_siphash(work->schema->seed, text);
    return rc;
}

/* Elements in their order; members in any. */
static fl_status hash_container(fl_work *work, fl_span value, uint64_t *hash)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = FL_OK;
    uint64_t sum = 0;

    fl_json_walk_init(&walk, value);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member)) {
        uint64_t inner = 0, key = 0;
        if (walk.in_object)
            rc = hash_string(
                work, (fl_span){member.key.ptr - 1, member.key.len + 2}, &key);
        if (rc == FL_OK)
            rc = fl_value_hash(work, member.value, &inner);
        sum = walk.in_object ? sum + mix(work, key, inner)
                             : mix(work, sum, inner);
    }
    *hash = mix(work, sum, walk.in_object);
    return rc;
}

fl_status fl_value_hash(fl_work *work, fl_span value, uint64_t *hash)
{
    fl_json_type type = fl_json_type_of(value);

    *hash = (uint64_t)type;
    if (!fl_work_spend(work, value.len))
        return FL_E_LIMIT;
    if (type == FL_JSON_OBJECT || type == FL_JSON_ARRAY)
        return hash_container(work, value, hash);
    if (type == FL_JSON_STRING)
        return hash_string(work, value, hash);
    if (type == FL_JSON_NUMBER) {
        fl_numeral number = fl_numeral_read(value);
        *hash = mix(work, fl_numeral_hash(&number), number.count);
    }
    return FL_OK;
}

static fl_status yes_or_no(bool same)
{
    return same ? FL_OK : FL_END;
}

static fl_status same_strings(fl_work *work, fl_span a, fl_span b)
{
    fl_span text;

    if (!has_escapes(a) && !has_escapes(b))
        return yes_or_no(fl_span_equal(a, b));
    fl_status rc = fl_value_text(work, a, &text);
    return rc == FL_OK ? yes_or_no(fl_json_string_is(b, text)) : rc;
}

static fl_status same_arrays(fl_work *work, fl_span a, fl_span b)
{
    fl_json_walk left, right;
    fl_json_member one, other;
    fl_status rc = FL_OK;

    fl_json_walk_init(&left, a);
    fl_json_walk_init(&right, b);
    while (rc == FL_OK && fl_json_walk_next(&left, &one))
        rc = fl_json_walk_next(&right, &other)
                 ? fl_value_same(work, one.value, other.value)
                 : FL_END;
    return rc == FL_OK ? yes_or_no(!fl_json_walk_next(&right, &other)) : rc;
}

/* Every key of `a` is in `b`, and, if `deeply`, means the same there. */
static fl_status has_all(fl_work *work, fl_span a, fl_span b, bool deeply)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = FL_OK;

    fl_json_walk_init(&walk, a);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member)) {
        fl_span key, quoted = {member.key.ptr - 1, member.key.len + 2};
        rc = fl_value_text(work, quoted, &key);
        if (rc != FL_OK || !fl_work_spend(work, a.len + b.len))
            return rc != FL_OK ? rc : FL_E_LIMIT;
        fl_span mine = fl_json_get(a, key), other = fl_json_get(b, key);
        if (other.len == 0)
            return FL_END;
        if (deeply)
            rc = fl_value_same(work, mine, other);
    }
    return rc;
}

static fl_status same_objects(fl_work *work, fl_span a, fl_span b)
{
    fl_status rc = has_all(work, a, b, true);

    return rc == FL_OK ? has_all(work, b, a, false) : rc;
}

fl_status fl_value_same(fl_work *work, fl_span a, fl_span b)
{
    fl_json_type type = fl_json_type_of(a);

    if (type != fl_json_type_of(b))
        return FL_END;
    if (!fl_work_spend(work, a.len + b.len))
        return FL_E_LIMIT;
    if (type == FL_JSON_OBJECT)
        return same_objects(work, a, b);
    if (type == FL_JSON_ARRAY)
        return same_arrays(work, a, b);
    if (type == FL_JSON_STRING)
        return same_strings(work, a, b);
    if (type != FL_JSON_NUMBER)
        return FL_OK;
    fl_numeral x = fl_numeral_read(a), y = fl_numeral_read(b);
    return yes_or_no(fl_numeral_compare(&x, &y) == 0);
}

static fl_status find_hashed(fl_work *work, const fl_value_set *set,
                             fl_span value)
{
    size_t low = 0, high = set->count;
    uint64_t hash;
    fl_status rc = fl_value_hash(work, value, &hash);

    if (rc != FL_OK)
        return rc;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->hashes[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    rc = FL_END;
    for (; rc == FL_END && low < set->count && set->hashes[low] == hash; low++)
        rc = fl_value_same(work, set->values[low], value);
    return rc;
}

fl_status fl_value_find(fl_work *work, const fl_value_set *set, fl_span value)
{
    fl_status rc = FL_END;

    if (set->hashes != NULL)
        return find_hashed(work, set, value);
    for (size_t i = 0; i < set->count && rc == FL_END; i++)
        rc = fl_value_same(work, set->values[i], value);
    return rc;
}
