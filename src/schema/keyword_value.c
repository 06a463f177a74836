/*
 * keyword_value.c - keywords that speak of one value: its type, which values
 * there may be, numbers, strings.
 */
#include "base/span.h"
#include "base/status.h"
#include "schema/keywords.h"
#include "schema/value.h"
#include "json/nav.h"

#include <stdlib.h>

enum { FEW = 8 }; /* values that are looked at one by one */

static unsigned type_bit(fl_span name)
{
    static const struct {
        const char *name;
        unsigned bit;
    } types[] = {
        {"null", FL_TYPE_NULL},       {"boolean", FL_TYPE_BOOLEAN},
        {"object", FL_TYPE_OBJECT},   {"array", FL_TYPE_ARRAY},
        {"number", FL_TYPE_NUMBER},   {"string", FL_TYPE_STRING},
        {"integer", FL_TYPE_INTEGER},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (fl_json_string_is(name, fl_span_of(types[i].name)))
            return types[i].bit;
    return 0;
}

fl_status fl_keyword_type(const fl_site *site)
{
    fl_json_walk walk;
    fl_json_member member;
    unsigned types = type_bit(site->value);
    bool good = types != 0;

    if (fl_json_type_of(site->value) == FL_JSON_ARRAY) {
        good = true;
        fl_json_walk_init(&walk, site->value);
        while (good && fl_json_walk_next(&walk, &member)) {
            good = type_bit(member.value) != 0;
            types |= type_bit(member.value);
        }
    }
    if (!good || types == 0)
        return fl_site_fail(site, FL_E_INVALID,
                            "must be a type, or a list of types");
    site->node->types = (unsigned char)types;
    return FL_OK;
}

typedef struct hashed {
    uint64_t hash;
    fl_span value;
} hashed;

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ((const hashed *)a)->hash, y = ((const hashed *)b)->hash;

    return x < y ? -1 : x > y;
}

/* Sorts the values by their hashes, so that one can be looked up. */
static fl_status sort_values(const fl_site *site, fl_value_set *set)
{
    fl_compiler *c = site->compiler;
    fl_work work = {c->schema, c->steps};
    hashed *pairs = fl_site_take(site, set->count, sizeof *pairs);
    fl_status rc = FL_OK;

    set->hashes = fl_site_take(site, set->count, sizeof *set->hashes);
    if (pairs == NULL || set->hashes == NULL)
        return fl_site_no_room(site);
    for (size_t i = 0; i < set->count && rc == FL_OK; i++) {
        pairs[i].value = set->values[i];
        rc = fl_value_hash(&work, pairs[i].value, &pairs[i].hash);
    }
    c->steps = work.steps;
    if (rc != FL_OK)
        return fl_error_set(c->error, rc, "%s", fl_status_text(rc));
    qsort(pairs, set->count, sizeof *pairs, by_hash);
    for (size_t i = 0; i < set->count; i++) {
        set->hashes[i] = pairs[i].hash;
        set->values[i] = pairs[i].value;
    }
    return FL_OK;
}

/* NULL: there is no room. */
static fl_value_set *make_set(const fl_site *site, size_t count)
{
    fl_value_set *set = fl_site_take(site, 1, sizeof *set);

    if (set == NULL)
        return NULL;
    set->keyword = site->keyword;
    set->source = site->value;
    set->values = fl_site_take(site, count, sizeof *set->values);
    return set->values != NULL ? set : NULL;
}

fl_status fl_keyword_enum(const fl_site *site)
{
    fl_json_walk walk;
    fl_json_member member;
    size_t count = 0;

    if (fl_json_type_of(site->value) != FL_JSON_ARRAY)
        return fl_site_fail(site, FL_E_INVALID, "must be a list of values");
    fl_json_walk_init(&walk, site->value);
    while (fl_json_walk_next(&walk, &member))
        count++;
    fl_value_set *set = make_set(site, count);
    if (set == NULL)
        return fl_site_no_room(site);
    fl_json_walk_init(&walk, site->value);
    while (fl_json_walk_next(&walk, &member))
        set->values[set->count++] = member.value;
    site->node->allowed = set;
    return count > FEW ? sort_values(site, set) : FL_OK;
}

fl_status fl_keyword_const(const fl_site *site)
{
    fl_value_set *set = make_set(site, 1);

    if (set == NULL)
        return fl_site_no_room(site);
    set->count = 1;
    set->values[0] = site->value;
    site->node->constant = set;
    return FL_OK;
}

static fl_status number_rules(const fl_site *site, fl_number_rules **out)
{
    if (site->node->number == NULL)
        site->node->number = fl_site_take(site, 1, sizeof *site->node->number);
    *out = site->node->number;
    if (*out == NULL)
        return fl_site_no_room(site);
    if (fl_json_type_of(site->value) != FL_JSON_NUMBER)
        return fl_site_fail(site, FL_E_INVALID, "must be a number");
    return FL_OK;
}

static fl_status set_bound(const fl_site *site, size_t offset)
{
    fl_number_rules *rules;
    fl_status rc = number_rules(site, &rules);

    if (rc != FL_OK)
        return rc;
    fl_bound *bound = (fl_bound *)(void *)((char *)rules + offset);
    *bound = (fl_bound){site->value, fl_numeral_read(site->value)};
    return FL_OK;
}

fl_status fl_keyword_minimum(const fl_site *site)
{
    return set_bound(site, offsetof(fl_number_rules, minimum));
}

fl_status fl_keyword_maximum(const fl_site *site)
{
    return set_bound(site, offsetof(fl_number_rules, maximum));
}

fl_status fl_keyword_exclusive_minimum(const fl_site *site)
{
    return set_bound(site, offsetof(fl_number_rules, above));
}

fl_status fl_keyword_exclusive_maximum(const fl_site *site)
{
    return set_bound(site, offsetof(fl_number_rules, below));
}

fl_status fl_keyword_multiple_of(const fl_site *site)
{
    fl_number_rules *rules;
    fl_status rc = number_rules(site, &rules);

    if (rc != FL_OK)
        return rc;
    fl_numeral number = fl_numeral_read(site->value);
    rules->multiple = site->value;
    if (fl_divisor_make(&rules->divisor, &number))
        return FL_OK;
    if (number.negative || number.count == 0)
        return fl_site_fail(site, FL_E_INVALID, "must be more than 0");
    return fl_site_fail(site, FL_E_UNSUPPORTED,
                        "has more digits than fit in 64 bits");
}

/* NULL: there is no room. */
static fl_string_rules *string_rules(const fl_site *site)
{
    fl_node *node = site->node;

    if (node->string != NULL)
        return node->string;
    node->string = fl_site_take(site, 1, sizeof *node->string);
    if (node->string != NULL)
        node->string->max = SIZE_MAX;
    return node->string;
}

fl_status fl_keyword_min_length(const fl_site *site)
{
    fl_string_rules *rules = string_rules(site);

    return rules != NULL ? fl_site_count(site, &rules->min)
                         : fl_site_no_room(site);
}

fl_status fl_keyword_max_length(const fl_site *site)
{
    fl_string_rules *rules = string_rules(site);

    return rules != NULL ? fl_site_count(site, &rules->max)
                         : fl_site_no_room(site);
}

fl_status fl_keyword_compile_pattern(const fl_site *site, fl_span text,
                                     const fl_pattern **out)
{
    fl_patterns *patterns = &site->compiler->schema->scratch->patterns;
    char why[128];
    int shown = text.len < 60 ? (int)text.len : 60;
    fl_status rc = fl_pattern_compile(patterns, text, out, why);

    return rc == FL_OK
               ? rc
               : fl_site_fail(site, rc, "\"%.*s\": %s", shown, text.ptr, why);
}

fl_status fl_keyword_pattern(const fl_site *site)
{
    fl_string_rules *rules = string_rules(site);

    if (rules == NULL)
        return fl_site_no_room(site);
    fl_status rc = fl_site_string(site, site->value, &rules->pattern_text);
    return rc == FL_OK ? fl_keyword_compile_pattern(site, rules->pattern_text,
                                                    &rules->pattern)
                       : rc;
}

fl_status fl_keyword_format(const fl_site *site)
{
    fl_span name;
    bool wanted = site->compiler->options.formats ||
                  (site->node->resource->vocabulary & FL_VOCABULARY_ASSERT);
    fl_status rc = fl_site_string(site, site->value, &name);

    if (rc != FL_OK || !wanted)
        return rc;
    fl_string_rules *rules = string_rules(site);
    if (rules == NULL)
        return fl_site_no_room(site);
    rules->format = fl_format_find(name);
    return FL_OK;
}
