/*
 * canonical.c - JSON in the one spelling by which two texts can be compared.
 *
 * The depth is bounded by whoever validated the text; members are sorted, not
 * searched, so that an object of many is no burden.
 */
#include "gateway/canonical.h"

#include "base/mem.h"
#include "base/span.h"
#include "json/nav.h"
#include "json/unescape.h"

#include <stdlib.h>

static fl_status write_value(fl_span value, fl_buf *out);

static int compare(const void *a, const void *b)
{
    const fl_json_member *left = a, *right = b;
    size_t shorter =
        left->key.len < right->key.len ? left->key.len : right->key.len;
    int order =
        shorter > 0 ? memcmp(left->key.ptr, right->key.ptr, shorter) : 0;

    if (order != 0)
        return order;
    if (left->key.len != right->key.len)
        return left->key.len < right->key.len ? -1 : 1;
    return left->value.ptr < right->value.ptr ? -1 : 1; /* given twice */
}

static bool is_among(fl_span key, const char *const *names)
{
    for (; names != NULL && *names != NULL; names++)
        if (fl_json_unescape_is(key, fl_span_of(*names)))
            return true;
    return false;
}

static size_t count(fl_span container)
{
    fl_json_walk walk;
    fl_json_member member;
    size_t n = 0;

    fl_json_walk_init(&walk, container);
    while (fl_json_walk_next(&walk, &member))
        n++;
    return n;
}

static fl_status write_member(const fl_json_member *member, fl_buf *out)
{
    fl_status rc = fl_buf_append(out, FL_SPAN("\""));

    if (rc == FL_OK)
        rc = fl_buf_append(out, member->key);
    if (rc == FL_OK)
        rc = fl_buf_append(out, FL_SPAN("\":"));
    return rc == FL_OK ? write_value(member->value, out) : rc;
}

static fl_status write_sorted(fl_json_member *members, size_t n, fl_buf *out)
{
    fl_status rc = fl_buf_append(out, FL_SPAN("{"));

    if (n > 1)
        qsort(members, n, sizeof *members, compare);
    for (size_t i = 0; i < n && rc == FL_OK; i++) {
        rc = i > 0 ? fl_buf_append(out, FL_SPAN(",")) : FL_OK;
        if (rc == FL_OK)
            rc = write_member(&members[i], out);
    }
    return rc == FL_OK ? fl_buf_append(out, FL_SPAN("}")) : rc;
}

static fl_status write_object(fl_span object, const char *const *without,
                              fl_buf *out)
{
    size_t room = count(object), n = 0;
    fl_json_member *members = fl_mem_alloc((room + 1) * sizeof *members);
    fl_json_walk walk;

    if (members == NULL)
        return FL_E_NOMEM;
    fl_json_walk_init(&walk, object);
    while (n < room && fl_json_walk_next(&walk, &members[n]))
        if (!is_among(members[n].key, without))
            n++;
    fl_status rc = write_sorted(members, n, out);
    fl_mem_free(members);
    return rc;
}

static fl_status write_array(fl_span array, fl_buf *out)
{
    fl_json_walk walk;
    fl_json_member element;
    bool first = true;
    fl_status rc = fl_buf_append(out, FL_SPAN("["));

    fl_json_walk_init(&walk, array);
    for (; rc == FL_OK && fl_json_walk_next(&walk, &element); first = false) {
        rc = first ? FL_OK : fl_buf_append(out, FL_SPAN(","));
        if (rc == FL_OK)
            rc = write_value(element.value, out);
    }
    return rc == FL_OK ? fl_buf_append(out, FL_SPAN("]")) : rc;
}

static fl_status write_value(fl_span value, fl_buf *out)
{
    fl_json_type type = fl_json_type_of(value);

    if (type == FL_JSON_OBJECT)
        return write_object(value, NULL, out);
    return type == FL_JSON_ARRAY ? write_array(value, out)
                                 : fl_buf_append(out, value);
}

fl_status fl_canonical_write(fl_span json, const char *const *without,
                             fl_buf *out)
{
    size_t len = fl_buf_len(out);
    fl_status rc = fl_json_type_of(json) == FL_JSON_OBJECT
                       ? write_object(json, without, out)
                       : write_value(json, out);

    if (rc != FL_OK)
        fl_buf_truncate(out, len);
    return rc;
}
