/*
 * test_schema.c - what compiling refuses, what faults say, what costs are
 * bounded.
 *
 * That verdicts are right is the suite's to show (test_schema_suite.c). Here
 * are the things no suite has: texts for people, limits at the limit and one
 * past it, memory that runs out, and schemas and instances made to hurt.
 */
#include "schema/schema.h"

#include "base/buf.h"
#include "base/span.h"
#include "support/process.h"
#include "support/ration.h"
#include "json/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static fl_schema *compile(const char *text, const fl_schema_options *options)
{
    fl_schema *schema;
    fl_error error;

    if (fl_schema_compile(fl_span_of(text), options, &schema, &error) != FL_OK)
        fail_msg("%.200s: %s", text, error.text);
    return schema;
}

static void require_refused(const char *text, fl_status status,
                            const char *words)
{
    fl_schema *schema;
    fl_error error;
    fl_status rc = fl_schema_compile(fl_span_of(text), NULL, &schema, &error);

    assert_null(schema);
    if (rc != status || error.status != status ||
        strcmp(error.text, words) != 0)
        fail_msg("%.100s: %s, \"%s\", not \"%s\"", text, fl_status_name(rc),
                 error.text, words);
}

static fl_status check(const char *schema_text, const char *instance,
                       fl_schema_fault *fault)
{
    fl_schema *schema = compile(schema_text, NULL);
    fl_json_top top;

    assert_int_equal(fl_json_scan(fl_span_of(instance), 0, &top, NULL), FL_OK);
    fl_status rc = fl_schema_check(schema, fl_span_of(instance), fault);
    fl_schema_free(schema);
    return rc;
}

static void require_fault(const char *schema, const char *instance,
                          const char *path, const char *keyword,
                          const char *text)
{
    fl_schema_fault fault;

    assert_int_equal(check(schema, instance, &fault), FL_E_INVALID);
    assert_string_equal(fault.path, path);
    assert_string_equal(fault.keyword, keyword);
    assert_string_equal(fault.text, text);
}

static void require_valid(const char *schema, const char *instance)
{
    fl_schema_fault fault;

    if (check(schema, instance, &fault) != FL_OK)
        fail_msg("%s is not %s: %s", instance, schema, fault.text);
}

static void test_schema_refusals_name_place_and_keyword(void **state)
{
    (void)state;
    require_refused("{\"properties\":{\"a\":{\"minimum\":\"5\"}}}",
                    FL_E_INVALID, "#/properties/a: minimum: must be a number");
    require_refused("{\"items\":{\"anyOf\":[{},{\"$ref\":\"http://x/y\"}]}}",
                    FL_E_NOT_FOUND,
                    "#/items/anyOf/1: $ref: \"http://x/y\" is not known, and "
                    "nothing is fetched");
    require_refused("{\"$ref\":\"#/$defs/a~b\"}", FL_E_NOT_FOUND,
                    "#: $ref: \"#/$defs/a~b\" is not known, and nothing is "
                    "fetched");
    require_refused("{\"a/b\":1,\"properties\":{\"a/b\":{\"type\":\"text\"}}}",
                    FL_E_INVALID,
                    "#/properties/a~1b: type: must be a type, or a list of "
                    "types");
    require_refused("{\"pattern\":\"a(\"}", FL_E_INVALID,
                    "#: pattern: \"a(\": missing closing parenthesis");
    require_refused("{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}",
                    FL_E_NOT_FOUND,
                    "#: $schema: the dialect "
                    "\"http://json-schema.org/draft-04/schema\" is not known");
}

static void test_schema_refuses_values_keywords_cannot_have(void **state)
{
    static const char *const bad[] = {
        "{\"type\":[]}",
        "{\"type\":7}",
        "{\"enum\":1}",
        "{\"multipleOf\":0}",
        "{\"multipleOf\":-1}",
        "{\"minLength\":-1}",
        "{\"maxItems\":1.5}",
        "{\"minProperties\":\"1\"}",
        "{\"required\":\"a\"}",
        "{\"required\":[1]}",
        "{\"properties\":[]}",
        "{\"patternProperties\":{\"(\":true}}",
        "{\"patternProperties\":{\"a\":1}}",
        "{\"dependentRequired\":{\"a\":{}}}",
        "{\"dependentSchemas\":{\"a\":[]}}",
        "{\"allOf\":[]}",
        "{\"anyOf\":{}}",
        "{\"oneOf\":[1]}",
        "{\"not\":null}",
        "{\"if\":\"\"}",
        "{\"$ref\":1}",
        "{\"$ref\":\"#%zz\"}",
        "{\"$id\":1}",
        "{\"$id\":\"http://a/b#c\"}",
        "{\"$anchor\":[]}",
        "{\"$defs\":{\"a\":3}}",
        "{\"uniqueItems\":1}",
        "{\"items\":[]}",
        "{\"prefixItems\":{}}",
        "{\"format\":1}",
        "[]",
        "3",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fl_schema *schema;
        fl_error error;
        fl_status rc =
            fl_schema_compile(fl_span_of(bad[i]), NULL, &schema, &error);
        if (rc != FL_E_INVALID)
            fail_msg("%s: %s", bad[i], fl_status_name(rc));
        assert_null(schema);
        assert_true(strlen(error.text) > 5);
    }
}

static void test_schema_refuses_what_is_no_json(void **state)
{
    (void)state;
    require_refused("{\"type\":", FL_E_BAD_JSON,
                    "#: not valid JSON, at byte 8");
    require_refused("\"\xff\"", FL_E_BAD_TEXT, "#: not valid UTF-8, at byte 1");
}

static void test_schema_refuses_what_it_does_not_support(void **state)
{
    fl_schema_document document = {
        FL_SPAN("http://x/meta"),
        FL_SPAN("{\"$vocabulary\":{\"http://x/vocabulary\":true}}")};
    fl_schema_options options = {.documents = &document, .document_count = 1};
    fl_schema *schema;
    fl_error error;

    (void)state;
    require_refused("{\"multipleOf\":1.00000000000000000000001}",
                    FL_E_UNSUPPORTED,
                    "#: multipleOf: has more digits than fit in 64 bits");
    assert_int_equal(
        fl_schema_compile(FL_SPAN("{\"$schema\":\"http://x/meta\"}"), &options,
                          &schema, &error),
        FL_E_UNSUPPORTED);
    assert_string_equal(error.text, "#: $schema: the vocabulary "
                                    "\"http://x/vocabulary\" is not known");
}

static void test_schema_error_is_optional(void **state)
{
    fl_schema *schema;

    (void)state;
    assert_int_equal(
        fl_schema_compile(FL_SPAN("{\"type\":1}"), NULL, &schema, NULL),
        FL_E_INVALID);
    assert_int_equal(
        fl_schema_compile(FL_SPAN("{\"$ref\":\"x\"}"), NULL, &schema, NULL),
        FL_E_NOT_FOUND);
    fl_schema_free(NULL);
}

static void test_schema_faults_say_where_and_what(void **state)
{
    (void)state;
    require_fault("{\"properties\":{\"a\":{\"properties\":{\"b\":"
                  "{\"minimum\":5}}}}}",
                  "{\"a\":{\"b\":4}}", "/a/b", "minimum",
                  "/a/b: minimum: must be at least 5");
    require_fault("{\"type\":\"object\"}", "[]", "", "type",
                  "type: must be object, not array");
    require_fault("{\"type\":\"integer\"}", "1.5", "", "type",
                  "type: must be integer, not a fraction");
    require_fault("{\"type\":[\"string\",\"null\"]}", "1", "", "type",
                  "type: must be null or string, not number");
    require_fault("{\"required\":[\"name\"]}", "{}", "", "required",
                  "required: must have the property \"name\"");
    require_fault("{\"properties\":{\"a\":{}},\"additionalProperties\":false}",
                  "{\"b/c\":1}", "/b~1c", "additionalProperties",
                  "/b~1c: additionalProperties: nothing is allowed here");
    require_fault("{\"enum\":[\"a\",2]}", "3", "", "enum",
                  "enum: must be one of [\"a\",2]");
    require_fault("{\"const\":{\"a\":1}}", "3", "", "const",
                  "const: must be {\"a\":1}");
    require_fault("{\"items\":{\"multipleOf\":0.01}}", "[1,0.5,0.001]", "/2",
                  "multipleOf", "/2: multipleOf: must be a multiple of 0.01");
    require_fault("{\"pattern\":\"^a\"}", "\"b\"", "", "pattern",
                  "pattern: must match \"^a\"");
    require_fault("{\"maxLength\":1}", "\"\\ud83d\\udc32b\"", "", "maxLength",
                  "maxLength: must have at most 1 characters");
    require_fault("{\"uniqueItems\":true}", "[1,2,1.0]", "", "uniqueItems",
                  "uniqueItems: elements 0 and 2 must not be the same");
    require_fault("{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":3}]}", "1", "",
                  "anyOf", "anyOf: must match one of 2 schemas, matches none");
    require_fault("{\"oneOf\":[{},{\"minimum\":3},true]}", "1", "", "oneOf",
                  "oneOf: must match one schema, matches 0 and 2");
    require_fault("{\"not\":{}}", "1", "", "not",
                  "not: must not match the schema");
    require_fault("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "",
                  "dependentRequired",
                  "dependentRequired: must have the property \"b\" beside "
                  "\"a\"");
    require_fault("{\"contains\":{\"type\":\"null\"}}", "[1]", "", "contains",
                  "contains: must have at least 1 elements of a kind, has 0");
    require_fault("{\"unevaluatedProperties\":false}", "{\"x\":1}", "/x",
                  "unevaluatedProperties",
                  "/x: unevaluatedProperties: nothing is allowed here");
    require_fault("{\"if\":true,\"then\":{\"maxItems\":0}}", "[1]", "",
                  "maxItems", "maxItems: must have at most 0 elements");
    require_fault("{\"additionalProperties\":{\"type\":\"null\"}}",
                  "{\"\\u0061\\n/\":1}", "/a?~1", "type",
                  "/a?~1: type: must be null, not number");
    require_fault("false", "1", "", "false", "false: nothing is allowed here");
}

static void test_schema_fault_of_a_long_path_is_cut_short(void **state)
{
    char schema[] = "{\"additionalProperties\":{\"$ref\":\"#\"},\"type\":"
                    "\"object\"}";
    char instance[2048] = "";
    fl_schema_fault fault;
    size_t len = 0;

    (void)state;
    for (int i = 0; i < 60; i++)
        len += (size_t)snprintf(instance + len, sizeof instance - len,
                                "{\"member-%d\":", i);
    len += (size_t)snprintf(instance + len, sizeof instance - len, "1");
    memset(instance + len, '}', 60);
    assert_int_equal(check(schema, instance, &fault), FL_E_INVALID);
    assert_memory_equal(fault.path, "/member-0/member-1/member-2", 27);
    assert_true(strlen(fault.path) < sizeof fault.path);
    assert_string_equal(fault.path + strlen(fault.path) - 3, "...");
    assert_string_equal(fault.keyword, "type");
    assert_non_null(strstr(fault.text, "...: type: must be object"));
}

static void test_schema_fault_has_no_control_characters(void **state)
{
    fl_schema_fault fault;

    (void)state;
    assert_int_equal(check("{\"const\":\"\x7f\"}", "{\"a\":1}", &fault),
                     FL_E_INVALID);
    assert_string_equal(fault.text, "const: must be \"?\"");
}

static void test_schema_numbers_are_exact(void **state)
{
    (void)state;
    require_valid("{\"const\":1}", "1.0");
    require_valid("{\"const\":100}", "1e2");
    require_valid("{\"const\":0}", "-0.0e5");
    require_valid("{\"multipleOf\":0.0001}", "0.0075");
    require_valid("{\"multipleOf\":0.01}", "4.02");
    require_valid("{\"multipleOf\":0.5}", "1e308");
    require_valid("{\"multipleOf\":3}", "3e1000000000000000000");
    require_valid("{\"type\":\"integer\"}", "1e400");
    require_valid("{\"maximum\":9007199254740993}", "9007199254740993");
    require_fault("{\"maximum\":9007199254740992}", "9007199254740993", "",
                  "maximum", "maximum: must be at most 9007199254740992");
    require_fault("{\"multipleOf\":7}", "1e308", "", "multipleOf",
                  "multipleOf: must be a multiple of 7");
    require_fault("{\"exclusiveMinimum\":0.1}", "0.10", "", "exclusiveMinimum",
                  "exclusiveMinimum: must be more than 0.1");
    require_fault("{\"minimum\":-1e-400}", "-2e-400", "", "minimum",
                  "minimum: must be at least -1e-400");
    require_fault("{\"const\":12345678901234567890123}",
                  "12345678901234567890124", "", "const",
                  "const: must be 12345678901234567890123");
}

static void test_schema_strings_are_what_they_mean(void **state)
{
    (void)state;
    require_valid("{\"const\":\"a\\u0062\"}", "\"\\u0061b\"");
    require_valid("{\"enum\":[\"\\n\"]}", "\"\\u000a\"");
    require_valid("{\"properties\":{\"a\\/b\":{\"type\":\"null\"}},"
                  "\"additionalProperties\":false}",
                  "{\"a\\u002fb\":null}");
    require_valid("{\"patternProperties\":{\"^\\\\u0061$\":{\"const\":1}},"
                  "\"required\":[\"\\u0061\"],\"additionalProperties\":false}",
                  "{\"\\u0061\":1}");
    require_valid("{\"pattern\":\"^\\\\s\\\\S$\"}", "\"\\ufeffa\"");
    require_valid("{\"minLength\":3,\"maxLength\":3}",
                  "\"\\ud800\\u0041\\ud83d\\udc32\"");
}

static void test_schema_objects_are_the_same_in_any_order(void **state)
{
    (void)state;
    require_valid("{\"const\":{\"a\":[1,{\"b\":2}],\"c\":null}}",
                  "{\"c\":null,\"\\u0061\":[1.0,{\"b\":2}]}");
    require_fault("{\"uniqueItems\":true}",
                  "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]", "", "uniqueItems",
                  "uniqueItems: elements 0 and 1 must not be the same");
    require_valid("{\"uniqueItems\":true}", "[{\"a\":1},{\"a\":1,\"b\":1}]");
    require_valid("{\"not\":{\"const\":{\"a\":1,\"b\":1}}}",
                  "{\"a\":1,\"a\":1}");
}

static void test_schema_checks_each_of_two_members_alike(void **state)
{
    (void)state;
    require_fault("{\"properties\":{\"a\":{\"type\":\"null\"}}}",
                  "{\"a\":1,\"a\":null}", "/a", "type",
                  "/a: type: must be null, not number");
    require_fault("{\"properties\":{\"a\":{\"type\":\"null\"}}}",
                  "{\"a\":null,\"a\":1}", "/a", "type",
                  "/a: type: must be null, not number");
}

static void test_schema_takes_the_last_of_two_definitions(void **state)
{
    (void)state;
    require_valid("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":false,"
                  "\"a\":true}}",
                  "1");
    require_valid("{\"$ref\":\"#/$defs/b/not\",\"$defs\":{\"b\":{\"not\":"
                  "false,\"not\":true}}}",
                  "1");
}

static void test_schema_hears_nothing_beside_a_ref_of_draft_07(void **state)
{
    (void)state;
    require_fault("{\"$schema\":\"http://json-schema.org/draft-07/schema\","
                  "\"properties\":{\"a\":{\"\\u0024ref\":\"#/definitions/b\","
                  "\"minimum\":5}},\"definitions\":{\"b\":{\"maximum\":2}}}",
                  "{\"a\":3}", "/a", "maximum",
                  "/a: maximum: must be at most 2");
    require_valid("{\"$schema\":\"http://json-schema.org/draft-07/schema\","
                  "\"properties\":{\"a\":{\"$ref\":\"#/definitions/b\","
                  "\"minimum\":5}},\"definitions\":{\"b\":{\"maximum\":2}}}",
                  "{\"a\":1}");
}

static void test_schema_speaks_2019_09_where_it_is_named(void **state)
{
    const char *tree =
        "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\","
        "\"$id\":\"http://a/strict\",\"$recursiveAnchor\":true,\"$ref\":"
        "\"tree\",\"unevaluatedProperties\":false,\"$defs\":{\"t\":{\"$id\":"
        "\"tree\",\"$recursiveAnchor\":true,\"properties\":{\"data\":true,"
        "\"children\":{\"items\":{\"$recursiveRef\":\"#\"}}}}}}";

    (void)state;
    require_valid(tree, "{\"children\":[{\"data\":1}]}");
    require_fault(tree, "{\"children\":[{\"daat\":1}]}", "/children/0/daat",
                  "unevaluatedProperties",
                  "/children/0/daat: unevaluatedProperties: nothing is "
                  "allowed here");
    require_valid("{\"$schema\":\"https://json-schema.org/draft/2019-09/"
                  "schema\",\"items\":[true],\"prefixItems\":[false],"
                  "\"additionalItems\":{\"type\":\"null\"}}",
                  "[1,null]");
}

static void test_schema_ignores_white_space_around_an_instance(void **state)
{
    (void)state;
    require_valid("{\"const\":1}", " \n1\t ");
    require_valid("  {\"type\" : \"object\"}\n", "{ }");
}

/* A document of exactly `len` bytes. */
static fl_status compile_padded(size_t len, const fl_schema_options *options)
{
    char *text = malloc(len);
    fl_schema *schema;

    assert_non_null(text);
    memset(text, ' ', len);
    memcpy(text, "{}", 2);
    fl_status rc =
        fl_schema_compile((fl_span){text, len}, options, &schema, NULL);
    fl_schema_free(schema);
    free(text);
    return rc;
}

static void test_schema_limits_bytes(void **state)
{
    fl_schema_options options = {.max_bytes = 100};

    (void)state;
    assert_int_equal(compile_padded(100, &options), FL_OK);
    assert_int_equal(compile_padded(101, &options), FL_E_TOO_BIG);
    assert_int_equal(compile_padded(1 << 20, NULL), FL_OK);
    assert_int_equal(compile_padded((1 << 20) + 1, NULL), FL_E_TOO_BIG);
}

static void test_schema_limits_nodes(void **state)
{
    fl_schema_options options = {.max_nodes = 3};
    fl_schema *schema;
    fl_error error;

    (void)state;
    fl_schema_free(compile("{\"allOf\":[{},{}]}", &options));
    assert_int_equal(fl_schema_compile(FL_SPAN("{\"allOf\":[{},{},{}]}"),
                                       &options, &schema, &error),
                     FL_E_LIMIT);
    assert_string_equal(error.text, "more than 3 schemas");
}

static void test_schema_limits_depth(void **state)
{
    const char *nested = "{\"not\":{\"not\":{\"not\":{}}}}";
    fl_schema_options enough = {.max_depth = 4}, less = {.max_depth = 3};
    fl_schema *schema = compile(nested, &enough);
    fl_schema_fault fault;

    (void)state;
    assert_int_equal(fl_schema_check(schema, FL_SPAN("1"), &fault),
                     FL_E_INVALID);
    fl_schema_free(schema);
    schema = compile(nested, &less);
    assert_int_equal(fl_schema_check(schema, FL_SPAN("1"), &fault), FL_E_LIMIT);
    assert_string_equal(fault.text,
                        "limit: schemas are nested too deeply here");
    fl_schema_free(schema);
}

static void test_schema_limits_steps(void **state)
{
    /* one for the schema, one for the walk, one for each element, one for
     * the schema of each: eight with three elements */
    const char *text = "{\"items\":{\"type\":\"number\"}}";
    fl_schema_options enough = {.max_steps = 8}, less = {.max_steps = 7};
    fl_schema *schema = compile(text, &enough);
    fl_schema_fault fault;

    (void)state;
    assert_int_equal(fl_schema_check(schema, FL_SPAN("[1,2,3]"), &fault),
                     FL_OK);
    fl_schema_free(schema);
    schema = compile(text, &less);
    assert_int_equal(fl_schema_check(schema, FL_SPAN("[1,2,3]"), &fault),
                     FL_E_LIMIT);
    assert_string_equal(fault.text,
                        "/2: limit: checking takes more work than is allowed");
    fl_schema_free(schema);
}

/* A schema that takes 65,501 steps and one for each of `more`. */
static fl_schema *compile_costly(int more, const fl_schema_options *options)
{
    fl_buf text;

    /* a reference, what it leads to and 98 schemas inside: a hundred */
    fl_buf_init(&text, 1 << 20);
    fl_status rc = fl_buf_append(&text, FL_SPAN("{\"$defs\":{\"x\":{\"allOf\":"
                                                "[{}"));
    for (int i = 1; i < 98 && rc == FL_OK; i++)
        rc = fl_buf_append(&text, FL_SPAN(",{}"));
    if (rc == FL_OK)
        rc = fl_buf_append(&text, FL_SPAN("]}},\"allOf\":[{}"));
    for (int i = 1; i < more && rc == FL_OK; i++)
        rc = fl_buf_append(&text, FL_SPAN(",{}"));
    for (int i = 0; i < 655 && rc == FL_OK; i++)
        rc = fl_buf_append(&text, FL_SPAN(",{\"$ref\":\"#/$defs/x\"}"));
    if (rc == FL_OK)
        rc = fl_buf_append(&text, FL_SPAN("]}\0"));
    assert_int_equal(rc, FL_OK);
    fl_schema *schema = compile(fl_buf_view(&text).ptr, options);
    fl_buf_reset(&text);
    return schema;
}

static fl_status check_costly(int more, fl_span instance, uint64_t max_steps)
{
    fl_schema_options options = {.max_steps = max_steps};
    fl_schema *schema = compile_costly(more, &options);
    fl_status rc = fl_schema_check(schema, instance, NULL);

    fl_schema_free(schema);
    return rc;
}

static void test_schema_steps_go_by_the_size_of_the_instance(void **state)
{
    (void)state;
    /* 65,536 and 64 for each byte */
    assert_int_equal(check_costly(99, FL_SPAN("1"), 0), FL_OK);
    assert_int_equal(check_costly(100, FL_SPAN("1"), 0), FL_E_LIMIT);
    assert_int_equal(check_costly(163, FL_SPAN("10"), 0), FL_OK);
    assert_int_equal(check_costly(164, FL_SPAN("10"), 0), FL_E_LIMIT);
    /* not those around it; and never more than max_steps */
    assert_int_equal(check_costly(100, FL_SPAN(" 1 "), 0), FL_E_LIMIT);
    assert_int_equal(check_costly(79, FL_SPAN("1"), 65580), FL_OK);
    assert_int_equal(check_costly(80, FL_SPAN("1"), 65580), FL_E_LIMIT);
}

static void test_schema_limits_backtracks(void **state)
{
    const char *text = "{\"pattern\":\"^(a+)+$\"}";
    fl_schema_options many = {.max_backtracks = 10000},
                      few = {.max_backtracks = 100};
    fl_span bomb = FL_SPAN("\"aaaaaaaaab\"");
    fl_schema *schema = compile(text, &many);
    fl_schema_fault fault;

    (void)state;
    assert_int_equal(fl_schema_check(schema, bomb, &fault), FL_E_INVALID);
    fl_schema_free(schema);
    schema = compile(text, &few);
    assert_int_equal(fl_schema_check(schema, bomb, &fault), FL_E_LIMIT);
    assert_string_equal(fault.keyword, "limit");
    fl_schema_free(schema);
}

static void test_schema_limits_nesting_of_schemas(void **state)
{
    enum { MOST = 200 };
    char text[8 * (MOST + 2)] = "";
    fl_schema *schema;

    (void)state;
    for (int depth = MOST; depth <= MOST + 1; depth++) {
        size_t len = 0;
        for (int i = 1; i < depth; i++) {
            memcpy(text + len, "{\"not\":", 7);
            len += 7;
        }
        memcpy(text + len, "{}", 2);
        memset(text + len + 2, '}', (size_t)depth - 1);
        len += 2 + (size_t)depth - 1;
        fl_status rc =
            fl_schema_compile((fl_span){text, len}, NULL, &schema, NULL);
        assert_int_equal(rc, depth == MOST ? FL_OK : FL_E_TOO_DEEP);
        fl_schema_free(schema);
    }
}

static void test_schema_limits_patterns(void **state)
{
    enum { MOST = 4096 };
    char text[MOST + 64];
    fl_schema *schema;

    (void)state;
    for (size_t len = MOST; len <= MOST + 1; len++) {
        int front = snprintf(text, sizeof text, "{\"pattern\":\"");
        memset(text + front, 'a', len);
        memcpy(text + front + len, "\"}", 2);
        fl_status rc = fl_schema_compile(
            (fl_span){text, (size_t)front + len + 2}, NULL, &schema, NULL);
        assert_int_equal(rc, len == MOST ? FL_OK : FL_E_LIMIT);
        fl_schema_free(schema);
    }
}

static const char ORDER[] =
    "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\","
    "\"pattern\":\"^[A-Z]{2}-[0-9]+$\"},\"customer\":{\"type\":\"object\","
    "\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1},\"mail\":"
    "{\"type\":\"string\",\"format\":\"email\"}},\"required\":[\"name\"]},"
    "\"lines\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/line\"},"
    "\"uniqueItems\":true},\"kind\":{\"enum\":[\"a\",\"b\",\"c\",\"d\",\"e\","
    "\"f\",\"g\",\"h\",\"i\",\"j\"]}},\"required\":[\"id\",\"lines\"],"
    "\"unevaluatedProperties\":false,\"$defs\":{\"line\":{\"properties\":{"
    "\"sku\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\","
    "\"minimum\":1}},\"anyOf\":[{\"required\":[\"sku\"]},{\"required\":["
    "\"count\"]}],\"patternProperties\":{\"^x-\":true},"
    "\"additionalProperties\":false}}}";

static const char ARGUMENTS[] =
    "{\"id\":\"\\u0041B-123\",\"\\u0063ustomer\":{\"name\":\"J\\u00f6rg\","
    "\"mail\":"
    "\"j@example.com\"},\"lines\":[{\"sku\":\"a\",\"count\":2,\"x-y\":null},"
    "{\"sku\":\"b\"}],\"kind\":\"h\"}";

static void test_schema_check_allocates_nothing(void **state)
{
    fl_schema_options options = {.formats = true};
    fl_schema *schema = compile(ORDER, &options);
    fl_schema_fault fault;
    fl_span instance = {ARGUMENTS, sizeof ARGUMENTS - 1};

    (void)state;
    ration_reset();
    ration_allow(0);
    for (int i = 0; i < 3; i++)
        if (fl_schema_check(schema, instance, &fault) != FL_OK)
            fail_msg("%s", fault.text);
    assert_int_equal(fl_schema_check(schema, FL_SPAN("{\"id\":1}"), &fault),
                     FL_E_INVALID);
    assert_false(ration_refused());
    ration_reset();
    fl_schema_free(schema);
}

static void compile_and_check(void *user)
{
    fl_schema_document document = {FL_SPAN("http://x/y"),
                                   FL_SPAN("{\"type\":\"string\"}")};
    fl_schema_options options = {
        .formats = true, .documents = &document, .document_count = 1};
    fl_schema *schema;
    fl_error error;
    fl_schema_fault fault;
    fl_status rc =
        fl_schema_compile(fl_span_of(user), &options, &schema, &error);

    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    assert_int_equal(error.status, rc);
    if (rc != FL_OK) {
        assert_null(schema);
        return;
    }
    rc = fl_schema_check(schema, (fl_span){ARGUMENTS, sizeof ARGUMENTS - 1},
                         &fault);
    assert_true(rc == FL_OK || rc == FL_E_INVALID || rc == FL_E_NOMEM);
    fl_schema_free(schema);
}

static void test_schema_survives_every_refused_allocation(void **state)
{
    static char other[] =
        "{\"$id\":\"http://a/b\",\"$ref\":\"c#/$defs/d\",\"$defs\":{\"e\":{"
        "\"$id\":\"c\",\"$defs\":{\"d\":{\"$ref\":\"http://x/y\",\"allOf\":[{"
        "\"$dynamicRef\":\"#f\"},{\"$ref\":\"#/unknown\"}],\"$dynamicAnchor\":"
        "\"f\"}},\"unknown\":{\"if\":true,\"then\":{\"pattern\":\"\\\\p{L}\","
        "\"format\":\"regex\"},\"dependentSchemas\":{\"id\":true},"
        "\"prefixItems\":[true]}}}}";
    static char meta[] =
        "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}";
    static char full[sizeof ORDER];

    (void)state;
    memcpy(full, ORDER, sizeof ORDER);
    assert_true(ration_each(compile_and_check, full) > 10);
    assert_true(ration_each(compile_and_check, other) > 10);
    assert_true(ration_each(compile_and_check, meta) > 10);
}

static void check_large(void *user)
{
    fl_schema_fault fault;
    const fl_span *pair = user;
    fl_schema *schema;
    fl_status rc = fl_schema_compile(pair[0], NULL, &schema, NULL);

    if (rc == FL_OK) {
        rc = fl_schema_check(schema, pair[1], &fault);
        fl_schema_free(schema);
    }
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
}

/* More members than marks hold on the stack, and more elements. */
static void test_schema_spills_to_the_heap_when_values_are_large(void **state)
{
    enum { MEMBERS = 300 };
    static char object[16 * MEMBERS], array[16 * MEMBERS];
    fl_span pair[2];
    size_t len = 0, count = 0;

    (void)state;
    for (int i = 0; i < MEMBERS; i++) {
        len += (size_t)snprintf(object + len, sizeof object - len,
                                "%c\"k%d\":%d", i == 0 ? '{' : ',', i, i);
        count += (size_t)snprintf(array + count, sizeof array - count, "%c%d",
                                  i == 0 ? '[' : ',', i);
    }
    object[len++] = '}';
    array[count++] = ']';
    pair[0] = FL_SPAN("{\"anyOf\":[{\"patternProperties\":{\"^k\":{\"type\":"
                      "\"integer\"}}}],\"unevaluatedProperties\":false}");
    pair[1] = (fl_span){object, len};
    assert_true(ration_each(check_large, pair) > 3);
    pair[0] = FL_SPAN("{\"uniqueItems\":true}");
    pair[1] = (fl_span){array, count};
    assert_true(ration_each(check_large, pair) > 3);
}

/* Milliseconds of processor time. */
static long spent(void)
{
    return (long)(clock() * 1000 / CLOCKS_PER_SEC);
}

/* The verdict on a hostile pair must come, whatever it is, and soon. */
static fl_status judge_in_time(fl_span schema_text, fl_span instance)
{
    fl_schema_fault fault;
    fl_schema *schema;
    long from = spent();
    fl_status rc = fl_schema_compile(schema_text, NULL, &schema, NULL);

    if (rc == FL_OK)
        rc = fl_schema_check(schema, instance, &fault);
    fl_schema_free(schema);
    long took = spent() - from;
    if (took > stretched(25000)) /* without bounds it would be minutes */
        fail_msg("took %ld ms", took);
    return rc;
}

static void test_schema_references_without_end_are_stopped(void **state)
{
    static const char *const loops[] = {
        "{\"$ref\":\"#\"}",
        "{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}",
        "{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}",
        "{\"not\":{\"$ref\":\"#\"}}",
        "{\"$dynamicAnchor\":\"a\",\"$dynamicRef\":\"#a\"}",
        "{\"if\":{\"$ref\":\"#\"},\"then\":true}",
        ("{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":"
         "\"#/$defs/a\"}},\"$ref\":\"#/$defs/a\"}"),
        "{\"x\":{\"$ref\":\"#/x\"},\"$ref\":\"#/x\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        assert_int_equal(judge_in_time(fl_span_of(loops[i]), FL_SPAN("{}")),
                         FL_E_LIMIT);
}

/* Each definition tries the next one twice, in one way or another. */
static void doubling(char *out, size_t size, const char *front,
                     const char *middle, const char *back)
{
    enum { LEVELS = 60 };
    size_t len =
        (size_t)snprintf(out, size, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");

    for (int i = 0; i < LEVELS; i++)
        len += (size_t)snprintf(
            out + len, size - len,
            "\"d%d\":{%s{\"$ref\":\"#/$defs/d%d\"}%s{\"$ref\":\"#/$defs/d%d\"}"
            "%s},",
            i, front, i + 1, middle, i + 1, back);
    snprintf(out + len, size - len, "\"d%d\":{\"type\":\"null\"}}}", LEVELS);
}

static void test_schema_exponential_schemas_are_stopped(void **state)
{
    static char text[16384];

    (void)state;
    doubling(text, sizeof text, "\"anyOf\":[", ",", "]");
    assert_int_equal(judge_in_time(fl_span_of(text), FL_SPAN("1")), FL_E_LIMIT);
    doubling(text, sizeof text, "\"allOf\":[", ",", "]");
    assert_int_equal(judge_in_time(fl_span_of(text), FL_SPAN("null")),
                     FL_E_LIMIT);
    doubling(text, sizeof text, "\"unevaluatedProperties\":true,\"anyOf\":[",
             ",", "]");
    assert_int_equal(judge_in_time(fl_span_of(text), FL_SPAN("{\"a\":1}")),
                     FL_E_LIMIT);
    doubling(text, sizeof text, "\"properties\":{\"a\":", "},\"items\":", "");
    assert_int_equal(judge_in_time(fl_span_of(text), FL_SPAN("{}")), FL_OK);
}

static void test_schema_deep_instances_are_stopped(void **state)
{
    static char text[2 * FL_JSON_MAX_DEPTH];

    (void)state;
    memset(text, '[', FL_JSON_MAX_DEPTH);
    memset(text + FL_JSON_MAX_DEPTH, ']', FL_JSON_MAX_DEPTH);
    fl_span deep = {text, sizeof text};
    assert_int_equal(
        judge_in_time(FL_SPAN("{\"items\":{\"$ref\":\"#\"}}"), deep),
        FL_E_LIMIT);
    assert_int_equal(judge_in_time(FL_SPAN("{\"uniqueItems\":true}"), deep),
                     FL_OK);
    assert_int_equal(judge_in_time(FL_SPAN("{\"const\":[[[]]]}"), deep),
                     FL_E_INVALID);
}

/* A string of `len` times `what`, in quotes. */
static fl_span long_string(size_t len, char what, const char *tail)
{
    char *text = malloc(len + strlen(tail) + 2);

    assert_non_null(text);
    text[0] = '"';
    memset(text + 1, what, len);
    memcpy(text + 1 + len, tail, strlen(tail));
    text[1 + len + strlen(tail)] = '"';
    return (fl_span){text, len + strlen(tail) + 2};
}

static void free_string(fl_span text)
{
    free((void *)(uintptr_t)text.ptr);
}

static void test_schema_regular_expressions_cannot_explode(void **state)
{
    static const struct {
        const char *schema;
        fl_status want;
    } bombs[] = {
        {"{\"pattern\":\"^(a+)+$\"}", FL_E_LIMIT},
        {"{\"pattern\":\"(a|aa)+$\"}", FL_E_LIMIT},
        {"{\"pattern\":\"(a*)*b$\"}", FL_E_LIMIT},
        {"{\"pattern\":\"^(([a-z])+.)+[A-Z]([a-z])+$\"}", FL_E_LIMIT},
        {"{\"pattern\":\"(?=a*)b\"}", FL_E_LIMIT},
        {"{\"pattern\":\"a*b\"}", FL_E_LIMIT},
        {"{\"pattern\":\"^[a-z]*!$\"}", FL_OK},
    };
    static const size_t lengths[] = {5000, 100000, 200000};

    (void)state;
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        const char *schema = bombs[i].schema;
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            fl_span subject = long_string(lengths[l], 'a', "!");
            fl_status rc = judge_in_time(fl_span_of(schema), subject);
            /* some are decided after all, for they must have a "b" */
            if (rc != bombs[i].want &&
                (rc != FL_E_INVALID || bombs[i].want == FL_OK))
                fail_msg("%s: %s", schema, fl_status_name(rc));
            free_string(subject);
        }
    }
}

/* Many strings, each of which nearly uses up what one may. */
static void test_schema_many_slow_matches_are_stopped(void **state)
{
    fl_buf text;
    fl_status rc = FL_OK;

    (void)state;
    fl_buf_init(&text, 1 << 20);
    for (int i = 0; i < 10000 && rc == FL_OK; i++)
        rc = fl_buf_printf(&text, "%c\"aaaaaaaaaaaaaab\"", i == 0 ? '[' : ',');
    assert_int_equal(rc, FL_OK);
    assert_int_equal(fl_buf_append(&text, FL_SPAN("]")), FL_OK);
    assert_int_equal(judge_in_time(FL_SPAN("{\"items\":{\"not\":{\"pattern\":"
                                           "\"^(a+)+$\"}}}"),
                                   fl_buf_view(&text)),
                     FL_E_LIMIT);
    fl_buf_reset(&text);
}

static void test_schema_patterns_cannot_take_all_memory(void **state)
{
    fl_buf text;
    fl_status rc = FL_OK;

    (void)state;
    fl_buf_init(&text, 1 << 20);
    rc = fl_buf_append(&text, FL_SPAN("{\"allOf\":["));
    for (int i = 0; i < 20000 && rc == FL_OK; i++)
        rc = fl_buf_printf(&text, "%s{\"pattern\":\"((a{50}){50}){6}\"}",
                           i == 0 ? "" : ",");
    assert_int_equal(rc, FL_OK);
    assert_int_equal(fl_buf_append(&text, FL_SPAN("]}")), FL_OK);
    assert_int_equal(judge_in_time(fl_buf_view(&text), FL_SPAN("1")),
                     FL_E_LIMIT);
    fl_buf_reset(&text);
}

/* [0,1,2...] as text. */
static void count_up(fl_buf *out, int count, const char *format)
{
    fl_status rc = FL_OK;

    for (int i = 0; i < count && rc == FL_OK; i++) {
        rc = fl_buf_append(out, i == 0 ? FL_SPAN("[") : FL_SPAN(","));
        if (rc == FL_OK)
            rc = fl_buf_printf(out, "%d%s", i, format);
    }
    assert_int_equal(rc, FL_OK);
    assert_int_equal(fl_buf_append(out, FL_SPAN("]")), FL_OK);
}

static void test_schema_giant_arrays_and_enums_are_not_quadratic(void **state)
{
    fl_buf array, schema;

    (void)state;
    fl_buf_init(&array, 4 << 20);
    fl_buf_init(&schema, 4 << 20);
    count_up(&array, 100000, ".0");
    assert_int_equal(
        judge_in_time(FL_SPAN("{\"uniqueItems\":true}"), fl_buf_view(&array)),
        FL_OK);
    assert_int_equal(fl_buf_append(&schema, FL_SPAN("{\"items\":{\"enum\":")),
                     FL_OK);
    count_up(&schema, 100000, "");
    assert_int_equal(fl_buf_append(&schema, FL_SPAN("}}")), FL_OK);
    assert_int_equal(judge_in_time(fl_buf_view(&schema), fl_buf_view(&array)),
                     FL_OK);
    fl_buf_reset(&array);
    fl_buf_reset(&schema);
}

/* One long member, looked through again by each of many schemas. */
static void test_schema_long_values_are_paid_for_each_time(void **state)
{
    fl_buf schema;
    fl_span text = long_string(4 << 20, 'x', "");
    char *object = malloc(text.len + 8);

    (void)state;
    assert_non_null(object);
    memcpy(object, "{\"a\":", 5);
    memcpy(object + 5, text.ptr, text.len);
    object[5 + text.len] = '}';
    fl_buf_init(&schema, 1 << 20);
    fl_status rc = fl_buf_append(&schema, FL_SPAN("{\"allOf\":[true"));
    for (int i = 0; i < 20000 && rc == FL_OK; i++)
        rc = fl_buf_append(&schema, FL_SPAN(",{\"required\":[\"a\"]}"));
    assert_int_equal(rc, FL_OK);
    assert_int_equal(fl_buf_append(&schema, FL_SPAN("]}")), FL_OK);
    assert_int_equal(
        judge_in_time(fl_buf_view(&schema), (fl_span){object, text.len + 6}),
        FL_E_LIMIT);
    fl_buf_reset(&schema);
    free(object);
    free_string(text);
}

/* As schemas made of an API's description are. */
static void test_schema_compiles_thousands_of_definitions(void **state)
{
    enum { COUNT = 10000 };
    fl_buf schema;

    (void)state;
    fl_buf_init(&schema, 1 << 20);
    fl_status rc =
        fl_buf_append(&schema, FL_SPAN("{\"$ref\":\"#/$defs/d0\",\"$defs\":{"));
    for (int i = 0; i < COUNT && rc == FL_OK; i++)
        rc = fl_buf_printf(&schema,
                           "\"d%d\":{\"properties\":{\"a\":{\"$ref\":"
                           "\"#/$defs/d%d\"}}},",
                           i, i + 1);
    if (rc == FL_OK)
        rc = fl_buf_printf(&schema, "\"d%d\":{\"type\":\"null\"}}}", COUNT);
    assert_int_equal(rc, FL_OK);
    assert_int_equal(judge_in_time(fl_buf_view(&schema),
                                   FL_SPAN("{\"a\":{\"a\":{\"a\":{}}}}")),
                     FL_OK);
    fl_buf_reset(&schema);
}

/* References that make the compiler walk a large document again and again. */
static void test_schema_compiling_is_bounded_too(void **state)
{
    fl_buf schema;

    (void)state;
    fl_buf_init(&schema, 1 << 20);
    fl_status rc = fl_buf_append(&schema, FL_SPAN("{\"allOf\":[true"));
    for (int i = 0; i < 30000 && rc == FL_OK; i++)
        rc = fl_buf_printf(&schema, ",{\"$ref\":\"#/allOf/%d\"}", i);
    assert_int_equal(rc, FL_OK);
    assert_int_equal(fl_buf_append(&schema, FL_SPAN("]}")), FL_OK);
    assert_int_equal(judge_in_time(fl_buf_view(&schema), FL_SPAN("1")),
                     FL_E_LIMIT);
    fl_buf_reset(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_refusals_name_place_and_keyword),
        cmocka_unit_test(test_schema_refuses_values_keywords_cannot_have),
        cmocka_unit_test(test_schema_refuses_what_is_no_json),
        cmocka_unit_test(test_schema_refuses_what_it_does_not_support),
        cmocka_unit_test(test_schema_error_is_optional),
        cmocka_unit_test(test_schema_faults_say_where_and_what),
        cmocka_unit_test(test_schema_fault_of_a_long_path_is_cut_short),
        cmocka_unit_test(test_schema_fault_has_no_control_characters),
        cmocka_unit_test(test_schema_numbers_are_exact),
        cmocka_unit_test(test_schema_strings_are_what_they_mean),
        cmocka_unit_test(test_schema_objects_are_the_same_in_any_order),
        cmocka_unit_test(test_schema_checks_each_of_two_members_alike),
        cmocka_unit_test(test_schema_takes_the_last_of_two_definitions),
        cmocka_unit_test(test_schema_hears_nothing_beside_a_ref_of_draft_07),
        cmocka_unit_test(test_schema_speaks_2019_09_where_it_is_named),
        cmocka_unit_test(test_schema_ignores_white_space_around_an_instance),
        cmocka_unit_test(test_schema_limits_bytes),
        cmocka_unit_test(test_schema_limits_nodes),
        cmocka_unit_test(test_schema_limits_depth),
        cmocka_unit_test(test_schema_limits_steps),
        cmocka_unit_test(test_schema_steps_go_by_the_size_of_the_instance),
        cmocka_unit_test(test_schema_limits_backtracks),
        cmocka_unit_test(test_schema_limits_nesting_of_schemas),
        cmocka_unit_test(test_schema_limits_patterns),
        cmocka_unit_test(test_schema_check_allocates_nothing),
        cmocka_unit_test(test_schema_survives_every_refused_allocation),
        cmocka_unit_test(test_schema_spills_to_the_heap_when_values_are_large),
        cmocka_unit_test(test_schema_references_without_end_are_stopped),
        cmocka_unit_test(test_schema_exponential_schemas_are_stopped),
        cmocka_unit_test(test_schema_deep_instances_are_stopped),
        cmocka_unit_test(test_schema_regular_expressions_cannot_explode),
        cmocka_unit_test(test_schema_many_slow_matches_are_stopped),
        cmocka_unit_test(test_schema_patterns_cannot_take_all_memory),
        cmocka_unit_test(test_schema_giant_arrays_and_enums_are_not_quadratic),
        cmocka_unit_test(test_schema_long_values_are_paid_for_each_time),
        cmocka_unit_test(test_schema_compiles_thousands_of_definitions),
        cmocka_unit_test(test_schema_compiling_is_bounded_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
