/*
 * annotations.c - arguments that a tool's schema wants repeated in header
 * fields.
 *
 * A schema is walked once, all of it: an annotation that is somewhere it may
 * not be spoils the tool as much as one that is wrong.
 */
#include "rpc/annotations.h"

#include "base/map.h"
#include "base/span.h"
#include "json/nav.h"

#define ANNOTATION "x-mcp-header"

enum { DEPTH_MAX = 64, NAMES_MAX = 1024 };

static fl_span unquote(fl_span string)
{
    return (fl_span){string.ptr + 1, string.len - 2};
}

/* RFC 9110, 5.6.2. */
static bool is_token(fl_span name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        bool digit = c >= '0' && c <= '9';
        if (!letter && !digit && (c == '\0' || strchr(others, c) == NULL))
            return false;
    }
    return name.len > 0 && name.len <= FL_ANNOTATIONS_NAME;
}

static bool is_primitive(fl_span schema)
{
    fl_span type = fl_json_get(schema, FL_SPAN("type"));

    return fl_json_string_is(type, FL_SPAN("string")) ||
           fl_json_string_is(type, FL_SPAN("integer")) ||
           fl_json_string_is(type, FL_SPAN("boolean"));
}

/* One walk over a schema's annotations. */
struct scan {
    fl_map names; /* in lower case; the value does not matter */
    fl_status status;
};

/* How a schema was reached decides whether it may be annotated. */
enum place { ROOT, PROPERTY, ELSEWHERE };

static void lower(char *to, fl_span from)
{
    for (size_t i = 0; i < from.len; i++) {
        bool capital = from.ptr[i] >= 'A' && from.ptr[i] <= 'Z';
        to[i] = (char)(capital ? from.ptr[i] | 0x20 : from.ptr[i]);
    }
    to[from.len] = '\0';
}

static void note(struct scan *scan, fl_span schema, fl_span name,
                 enum place place)
{
    char text[FL_ANNOTATIONS_NAME + 1];

    if (place != PROPERTY || fl_json_type_of(name) != FL_JSON_STRING ||
        !is_primitive(schema) || !is_token(unquote(name))) {
        scan->status = FL_E_INVALID;
        return;
    }
    lower(text, unquote(name));
    scan->status = fl_map_add(&scan->names, fl_span_of(text), scan);
    if (scan->status == FL_E_IN_USE || scan->status == FL_E_LIMIT)
        scan->status = FL_E_INVALID;
}

/* Keywords whose values are data, and those whose members are schemas under
 * names that somebody chose. */
static bool is_one_of(fl_span key, const char *const *names)
{
    for (; *names != NULL; names++)
        if (fl_span_equal(key, fl_span_of(*names)))
            return true;
    return false;
}

static const char *const data_keywords[] = {"const", "enum", "default",
                                            "examples", NULL};
static const char *const name_keywords[] = {
    "properties",  "patternProperties", "$defs",
    "definitions", "dependentSchemas",  NULL,
};

static void scan_schema(struct scan *scan, fl_span schema, enum place place,
                        unsigned depth);

/* The values of a container, each of them a schema, or a list of some. */
static void scan_values(struct scan *scan, fl_span container, enum place place,
                        unsigned depth)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, container);
    while (scan->status == FL_OK && fl_json_walk_next(&walk, &member))
        scan_schema(scan, member.value, place, depth + 1);
}

static void scan_keyword(struct scan *scan, const fl_json_member *keyword,
                         enum place place, unsigned depth)
{
    if (is_one_of(keyword->key, data_keywords))
        return;
    if (place != ELSEWHERE &&
        fl_span_equal(keyword->key, FL_SPAN("properties")))
        scan_values(scan, keyword->value, PROPERTY, depth);
    else if (is_one_of(keyword->key, name_keywords))
        scan_values(scan, keyword->value, ELSEWHERE, depth);
    else
        scan_schema(scan, keyword->value, ELSEWHERE, depth + 1);
}

static void scan_schema(struct scan *scan, fl_span schema, enum place place,
                        unsigned depth)
{
    fl_json_walk walk;
    fl_json_member member;

    if (depth > DEPTH_MAX) {
        scan->status = FL_E_INVALID;
        return;
    }
    if (fl_json_type_of(schema) == FL_JSON_ARRAY) {
        scan_values(scan, schema, ELSEWHERE, depth);
        return;
    }
    if (fl_json_type_of(schema) != FL_JSON_OBJECT)
        return;
    fl_json_walk_init(&walk, schema);
    while (scan->status == FL_OK && fl_json_walk_next(&walk, &member))
        if (fl_span_equal(member.key, FL_SPAN(ANNOTATION)))
            note(scan, schema, member.value, place);
        else
            scan_keyword(scan, &member, place, depth);
}

fl_status fl_annotations_scan(fl_span schema, bool *any)
{
    struct scan scan = {.status = FL_OK};

    *any = schema.len > 0 && memmem(schema.ptr, schema.len, ANNOTATION,
                                    sizeof ANNOTATION - 1) != NULL;
    if (!*any)
        return FL_OK;
    fl_map_init(&scan.names, NAMES_MAX);
    scan_schema(&scan, schema, ROOT, 0);
    *any = fl_map_count(&scan.names) > 0;
    fl_map_deinit(&scan.names);
    return scan.status;
}
