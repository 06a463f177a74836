/*
 * check_value.c - rules for numbers and strings.
 */
#include "schema/check.h"

fl_status fl_check_number(fl_check *check, const fl_node *node, fl_span value)
{
    const fl_number_rules *rules = node->number;
    const struct {
        const fl_bound *bound;
        const char *keyword, *text;
        int sign; /* which the comparison must not have */
        bool exclusive;
    } bounds[] = {
        {&rules->minimum, "minimum", "at least", -1, false},
        {&rules->maximum, "maximum", "at most", 1, false},
        {&rules->above, "exclusiveMinimum", "more than", -1, true},
        {&rules->below, "exclusiveMaximum", "less than", 1, true},
    };
    fl_numeral number = fl_numeral_read(value);

    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const fl_bound *bound = bounds[i].bound;
        if (bound->text.len == 0)
            continue;
        if (!fl_work_spend(&check->work, value.len))
            return fl_check_limit(check);
        int order = fl_numeral_compare(&number, &bound->value);
        if (order * bounds[i].sign > 0 || (order == 0 && bounds[i].exclusive))
            return fl_check_fail(check, bounds[i].keyword, "must be %s %.*s",
                                 bounds[i].text, fl_check_shown(bound->text),
                                 bound->text.ptr);
    }
    if (rules->multiple.len > 0) {
        /* a digit costs a division */
        if (!fl_work_spend(&check->work, value.len * 8))
            return fl_check_limit(check);
        if (!fl_divisor_divides(&rules->divisor, &number))
            return fl_check_fail(
                check, "multipleOf", "must be a multiple of %.*s",
                fl_check_shown(rules->multiple), rules->multiple.ptr);
    }
    return FL_OK;
}

static fl_status check_length(fl_check *check, const fl_string_rules *rules,
                              fl_span value)
{
    if (rules->min == 0 && rules->max == SIZE_MAX)
        return FL_OK;
    if (!fl_work_spend(&check->work, value.len))
        return fl_check_limit(check);
    size_t length = fl_value_length(value);
    if (length < rules->min)
        return fl_check_fail(check, "minLength",
                             "must have at least %zu characters", rules->min);
    if (length > rules->max)
        return fl_check_fail(check, "maxLength",
                             "must have at most %zu characters", rules->max);
    return FL_OK;
}

static fl_status check_pattern(fl_check *check, const fl_string_rules *rules,
                               fl_span text)
{
    fl_status rc = fl_pattern_match(&check->work.schema->scratch->patterns,
                                    rules->pattern, text, &check->work.steps);

    if (rc == FL_END)
        return fl_check_fail(check, "pattern", "must match \"%.*s\"",
                             fl_check_shown(rules->pattern_text),
                             rules->pattern_text.ptr);
    return rc == FL_E_LIMIT ? fl_check_limit(check) : rc;
}

static fl_status check_format(fl_check *check, const fl_format *format,
                              fl_span text)
{
    bool good =
        format->test != NULL
            ? format->test(text)
            : fl_pattern_is_valid(&check->work.schema->scratch->patterns, text);

    return good ? FL_OK
                : fl_check_fail(check, "format", "must be of format %s",
                                format->name);
}

fl_status fl_check_string(fl_check *check, const fl_string_rules *rules,
                          fl_span value)
{
    fl_span text;
    fl_status rc = check_length(check, rules, value);

    if (rc != FL_OK || (rules->pattern == NULL && rules->format == NULL))
        return rc;
    rc = fl_value_text(&check->work, value, &text);
    if (rc == FL_E_LIMIT)
        return fl_check_limit(check);
    if (rc == FL_OK && rules->pattern != NULL)
        rc = check_pattern(check, rules, text);
    if (rc == FL_OK && rules->format != NULL)
        rc = check_format(check, rules->format, text);
    return rc;
}
