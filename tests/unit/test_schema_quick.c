/*
 * test_schema_quick.c - the short way says yes only where the long way does.
 *
 * Schemas and instances are made up at random, close enough to each other that
 * about half of the instances are valid. Each is judged as ever and once more
 * with the short way closed, and verdict and words must be the same.
 */
#include "schema/quick.h"

#include "base/span.h"
#include "json/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 20000, TEXT_MAX = 1 << 16 };

typedef struct maker {
    uint64_t dice;
    fl_buf text;
} maker;

static unsigned roll(maker *m, unsigned sides)
{
    m->dice ^= m->dice << 13;
    m->dice ^= m->dice >> 7;
    m->dice ^= m->dice << 17;
    return (unsigned)(m->dice >> 33) % sides;
}

static void put(maker *m, const char *text)
{
    assert_int_equal(fl_buf_append(&m->text, fl_span_of(text)), FL_OK);
}

/* One of them. */
#define PICK(maker, ...)                                                       \
    ((const char *[]){__VA_ARGS__}[roll(                                       \
        maker, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))])

static const char *pick_key(maker *m)
{
    return PICK(m, "\"a\"", "\"b\"", "\"c\"", "\"abc\"", "\"\"", "\"\\u0061\"",
                "\"\\\\u0061\"");
}

static void put_schema(maker *m, unsigned depth);

static void put_properties(maker *m, unsigned depth)
{
    put(m, ",\"properties\":{");
    for (unsigned i = roll(m, 4); i > 0; i--) {
        put(m,
            roll(m, 16) > 0 ? PICK(m, "\"a\"", "\"b\"", "\"c\"") : pick_key(m));
        put(m, ":");
        put_schema(m, depth - 1);
        put(m, i > 1 ? "," : "");
    }
    put(m, "}");
}

/* What the short way knows, and now and then something it does not. */
static void put_schema(maker *m, unsigned depth)
{
    if (depth == 0 || roll(m, 12) == 0) {
        put(m, PICK(m, "true", "true", "{}", "false"));
        return;
    }
    put(m, "{\"title\":\"x\"");
    if (roll(m, 4) > 0)
        put(m, PICK(m, ",\"type\":\"object\"", ",\"type\":\"object\"",
                    ",\"type\":\"integer\"", ",\"type\":\"number\"",
                    ",\"type\":[\"string\",\"null\"]", ",\"type\":\"boolean\"",
                    ",\"type\":\"array\""));
    if (roll(m, 2) > 0)
        put_properties(m, depth);
    if (roll(m, 3) == 0)
        put(m, PICK(m, ",\"required\":[\"a\"]", ",\"required\":[\"a\",\"c\"]",
                    ",\"required\":[\"abc\"]", ",\"required\":[\"\\\\\"]"));
    if (roll(m, 3) == 0) {
        put(m, ",\"additionalProperties\":");
        put_schema(m, depth - 1);
    }
    if (roll(m, 3) == 0) {
        put(m, ",\"items\":");
        put_schema(m, depth - 1);
    }
    if (roll(m, 24) == 0)
        put(m, PICK(m, ",\"minProperties\":1", ",\"maxProperties\":1",
                    ",\"minItems\":1", ",\"maxItems\":1", ",\"minimum\":0",
                    ",\"minLength\":1", ",\"enum\":[1,{}]", ",\"const\":{}",
                    ",\"not\":{\"type\":\"null\"}", ",\"uniqueItems\":true",
                    ",\"contains\":{\"type\":\"integer\"}", ",\"$ref\":\"#\"",
                    ",\"propertyNames\":{\"maxLength\":1}",
                    ",\"patternProperties\":{\"^a\":{\"type\":\"string\"}}",
                    ",\"dependentRequired\":{\"a\":[\"b\"]}",
                    ",\"unevaluatedProperties\":false",
                    ",\"prefixItems\":[{\"type\":\"null\"}]"));
    put(m, "}");
}

static void put_value(maker *m, unsigned depth)
{
    unsigned kind = depth > 0 ? roll(m, 10) : 5 + roll(m, 5);

    if (kind >= 5) {
        put(m, PICK(m, "1", "-20", "0", "1.0", "1e2", "1.5", "\"\"", "\"x\"",
                    "true", "false", "null", " 7 "));
        return;
    }
    put(m, kind < 4 ? "{" : "[");
    for (unsigned i = roll(m, 4); i > 0; i--) {
        if (kind < 4)
            put(m, roll(m, 8) > 0 ? PICK(m, "\"a\"", "\"b\"", "\"c\"")
                                  : pick_key(m));
        put(m, kind < 4 ? ": " : "");
        put_value(m, depth - 1);
        put(m, i > 1 ? "," : "");
    }
    put(m, kind < 4 ? "}" : "]");
}

static void judge_both_ways(fl_schema *schema, fl_span schema_text,
                            fl_span instance)
{
    fl_schema_fault fault, slow;
    size_t quick = schema->quick;
    fl_status rc = fl_schema_check(schema, instance, &fault);

    schema->quick = 0;
    fl_status should = fl_schema_check(schema, instance, &slow);
    schema->quick = quick;
    if (rc != should || strcmp(fault.text, slow.text) != 0 ||
        strcmp(fault.path, slow.path) != 0)
        fail_msg("%.*s on %.*s: %s \"%s\", not %s \"%s\"", (int)schema_text.len,
                 schema_text.ptr, (int)instance.len, instance.ptr,
                 fl_status_name(rc), fault.text, fl_status_name(should),
                 slow.text);
}

/* What the scan has noted makes no difference. */
static void require_same_along(const fl_schema *schema, const fl_json_top *top)
{
    fl_json_cuts cuts;

    fl_json_cuts_keep(&cuts, top, 0, top->value);
    assert_int_equal(fl_schema_check_along(schema, top->value, &cuts, NULL),
                     fl_schema_check(schema, top->value, NULL));
}

static void test_quick_agrees_with_the_long_way(void **state)
{
    maker m = {.dice = 88172645463325252u};
    unsigned said_yes = 0, said_nothing = 0, unfit = 0;
    fl_json_top top;

    (void)state;
    fl_buf_init(&m.text, TEXT_MAX);
    for (int round = 0; round < ROUNDS; round++) {
        fl_schema *schema;
        fl_error error;
        fl_buf_clear(&m.text);
        put_schema(&m, 3);
        size_t len = fl_buf_len(&m.text);
        put_value(&m, 3);
        fl_span both = fl_buf_view(&m.text);
        fl_span text = {both.ptr, len}, instance = fl_span_from(both, len);
        assert_int_equal(fl_json_scan(instance, 0, &top, NULL), FL_OK);
        if (fl_schema_compile(text, NULL, &schema, &error) != FL_OK)
            fail_msg("%.*s: %s", (int)len, text.ptr, error.text);
        judge_both_ways(schema, text, instance);
        require_same_along(schema, &top);
        if (schema->quick == 0)
            unfit++;
        else if (fl_quick_check(schema, top.value, NULL))
            said_yes++;
        else
            said_nothing++;
        fl_schema_free(schema);
    }
    fl_buf_reset(&m.text);
    /* or else nothing was compared */
    assert_true(said_yes > ROUNDS / 10);
    assert_true(said_nothing > ROUNDS / 10);
    assert_true(unfit > ROUNDS / 20);
}

static fl_schema *compile(const char *text, const fl_schema_options *options)
{
    fl_schema *schema;
    fl_error error;

    if (fl_schema_compile(fl_span_of(text), options, &schema, &error) != FL_OK)
        fail_msg("%.200s: %s", text, error.text);
    return schema;
}

static bool is_quick(const char *text, const fl_schema_options *options)
{
    fl_schema *schema = compile(text, options);
    bool quick = schema->quick > 0;

    fl_schema_free(schema);
    return quick;
}

static void test_quick_knows_what_tools_have(void **state)
{
    (void)state;
    assert_true(is_quick("{\"type\":\"object\"}", NULL));
    assert_true(
        is_quick("{\"$schema\":\"https://json-schema.org/draft/2020-12/"
                 "schema\",\"type\":\"object\",\"properties\":{\"a\":{"
                 "\"type\":\"string\",\"description\":\"x\",\"default\":"
                 "\"y\"},\"b\":{\"type\":\"array\",\"items\":{\"type\":"
                 "\"integer\"}}},\"required\":[\"a\"],"
                 "\"additionalProperties\":false}",
                 NULL));
    assert_false(is_quick("{\"properties\":{\"a\":{\"minimum\":1}}}", NULL));
    assert_false(is_quick("{\"properties\":{\"a\":{\"enum\":[1]}}}", NULL));
    assert_false(is_quick("{\"$ref\":\"#\"}", NULL));
}

static fl_status check(const char *schema_text, const char *instance,
                       bool *quick)
{
    fl_schema *schema = compile(schema_text, NULL);
    fl_span text = fl_span_of(instance);
    fl_status rc = fl_schema_check(schema, text, NULL);

    *quick = fl_quick_check(schema, text, NULL);
    fl_schema_free(schema);
    return rc;
}

static void test_quick_leaves_doubts_to_the_long_way(void **state)
{
    const char *schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":"
                         "\"integer\"}},\"additionalProperties\":false}";
    bool quick;

    (void)state;
    assert_int_equal(check(schema, "{\"n\":-12}", &quick), FL_OK);
    assert_true(quick);
    assert_int_equal(check(schema, "{\"n\":1.0}", &quick), FL_OK);
    assert_false(quick);
    assert_int_equal(check(schema, "{\"\\u006e\":1}", &quick), FL_OK);
    assert_false(quick);
    assert_int_equal(check(schema, "{\"\\u006e\":\"\"}", &quick), FL_E_INVALID);
    assert_int_equal(check(schema, "{\"m\":1}", &quick), FL_E_INVALID);
    assert_int_equal(check(schema, "{\"n\":1,\"n\":\"\"}", &quick),
                     FL_E_INVALID);
}

/* A schema of an object with `count` properties, the last one required. */
static void write_wide(char *out, size_t size, int count)
{
    size_t len = (size_t)snprintf(out, size, "{\"properties\":{");

    for (int i = 0; i < count; i++)
        len += (size_t)snprintf(out + len, size - len, "%s\"p%d\":true",
                                i > 0 ? "," : "", i);
    snprintf(out + len, size - len, "},\"required\":[\"p%d\"]}", count - 1);
}

static void test_quick_knows_sixty_four_properties_and_no_more(void **state)
{
    char text[2048];
    bool quick;

    (void)state;
    write_wide(text, sizeof text, 64);
    assert_true(is_quick(text, NULL));
    assert_int_equal(check(text, "{\"p63\":1}", &quick), FL_OK);
    assert_true(quick);
    assert_int_equal(check(text, "{\"p31\":1}", &quick), FL_E_INVALID);
    assert_false(quick);
    write_wide(text, sizeof text, 65);
    assert_false(is_quick(text, NULL));
}

static void write_deep(char *out, int depth)
{
    size_t len = 0;

    for (int i = 1; i < depth; i++, len += 9)
        memcpy(out + len, "{\"items\":", 9);
    memcpy(out + len, "{}", 2);
    memset(out + len + 2, '}', (size_t)depth - 1);
    out[len + 1 + (size_t)depth] = '\0';
}

static void test_quick_nests_no_deeper_than_it_may(void **state)
{
    fl_schema_options three = {.max_depth = 3};
    char text[512];

    (void)state;
    write_deep(text, 32);
    assert_true(is_quick(text, NULL));
    write_deep(text, 33);
    assert_false(is_quick(text, NULL));
    write_deep(text, 3);
    assert_true(is_quick(text, &three));
    write_deep(text, 4);
    assert_false(is_quick(text, &three));
}

/* As much as the longest instance may take. */
static void test_quick_has_steps_enough_for_the_long_way(void **state)
{
    const char *schema_text =
        "{\"items\":{\"properties\":{\"a\":{\"items\":{\"type\":\"number\"}}},"
        "\"required\":[\"a\"]}}";
    fl_span instance =
        FL_SPAN("[{\"a\":[]},{\"a\":[1,2,3,4,5,6,7,8,9]},{\"a\":0}]");
    fl_schema_options enough = {.max_steps = 16 + 8 * instance.len};
    fl_schema_options less = {.max_steps = enough.max_steps - 1};
    fl_schema *schema = compile(schema_text, &enough);

    (void)state;
    assert_int_equal(schema->quick, instance.len);
    schema->quick = 0;
    assert_int_equal(fl_schema_check(schema, instance, NULL), FL_OK);
    fl_schema_free(schema);
    schema = compile(schema_text, &less);
    assert_int_equal(schema->quick, instance.len - 1);
    fl_schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quick_agrees_with_the_long_way),
        cmocka_unit_test(test_quick_knows_what_tools_have),
        cmocka_unit_test(test_quick_leaves_doubts_to_the_long_way),
        cmocka_unit_test(test_quick_knows_sixty_four_properties_and_no_more),
        cmocka_unit_test(test_quick_nests_no_deeper_than_it_may),
        cmocka_unit_test(test_quick_has_steps_enough_for_the_long_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
