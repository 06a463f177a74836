/*
 * test_schema_suite.c - the JSON Schema Test Suite, both dialects.
 *
 * Every required case must be judged as the suite has it. So must every
 * optional one, but for the files in the table below, each with its reason; a
 * file there that has no difference fails as well, so that the table stays
 * true. The suite's remotes are the documents we are given.
 */
#include "base/span.h"
#include "schema/schema.h"
#include "support/data.h"
#include "support/ration.h"
#include "json/nav.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define IDNA "the tables of IDNA are not looked into"
#define CONTENT "contentEncoding and contentMediaType only annotate"

static const struct {
    const char *file, *why;
} differing[] = {
    {"hostname.json", IDNA},
    {"idn-hostname.json", IDNA},
    {"content.json", CONTENT},
};

enum { DOCUMENTS = 256 };

typedef struct suite {
    fl_schema_document documents[DOCUMENTS];
    size_t count;
    fl_schema_options options;
    const char *folder; /* that is being read */
    bool optional;
    size_t cases, differences;
} suite;

static char *copy(const char *bytes, size_t len)
{
    char *block = ration_raw_realloc(NULL, len + 1);

    assert_non_null(block);
    memcpy(block, bytes, len);
    block[len] = '\0';
    return block;
}

static void take_remote(void *user, const char *name, fl_span file)
{
    suite *s = user;
    char uri[256];
    const char *below = s->folder + strlen("jsonschema/remotes");

    assert_in_range(s->count, 0, DOCUMENTS - 1);
    below += *below == '/';
    int len = snprintf(uri, sizeof uri, "http://localhost:1234/%s%s%s", below,
                       *below != '\0' ? "/" : "", name);
    s->documents[s->count++] =
        (fl_schema_document){{copy(uri, (size_t)len), (size_t)len},
                             {copy(file.ptr, file.len), file.len}};
}

static void load_remotes(suite *s)
{
    static const char *const folders[] = {
        "", "/baseUriChange", "/baseUriChangeFolder",
        "/baseUriChangeFolderInSubschema", "/nested"};
    static const char *const drafts[] = {"", "/draft7", "/draft2019-09",
                                         "/draft2020-12"};

    for (size_t d = 0; d < sizeof drafts / sizeof *drafts; d++)
        for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
            char path[128];
            snprintf(path, sizeof path, "jsonschema/remotes%s%s", drafts[d],
                     folders[f]);
            if (strcmp(drafts[d], "/draft7") == 0 && f > 0)
                continue; /* it has no folders */
            s->folder = path;
            data_each(path, take_remote, s);
        }
}

static void free_remotes(suite *s)
{
    for (size_t i = 0; i < s->count; i++) {
        data_free(s->documents[i].uri);
        data_free(s->documents[i].text);
    }
}

static bool is_excused(const char *name)
{
    for (size_t i = 0; i < sizeof differing / sizeof *differing; i++)
        if (strcmp(name, differing[i].file) == 0)
            return true;
    return false;
}

static size_t judge_group(suite *s, const char *name, fl_span group)
{
    fl_span told = fl_json_get(group, FL_SPAN("description"));
    fl_schema *schema;
    fl_error error;
    fl_json_walk walk;
    fl_json_member test;
    size_t differences = 0;

    if (fl_schema_compile(fl_json_get(group, FL_SPAN("schema")), &s->options,
                          &schema, &error) != FL_OK)
        fail_msg("%s: %.*s: %s", name, (int)told.len, told.ptr, error.text);
    fl_json_walk_init(&walk, fl_json_get(group, FL_SPAN("tests")));
    while (fl_json_walk_next(&walk, &test)) {
        fl_span want = fl_json_get(test.value, FL_SPAN("valid"));
        fl_span data = fl_json_get(test.value, FL_SPAN("data"));
        fl_span what = fl_json_get(test.value, FL_SPAN("description"));
        fl_schema_fault fault;
        fl_status rc = fl_schema_check(schema, data, &fault);
        bool valid = fl_json_type_of(want) == FL_JSON_TRUE;
        s->cases++;
        if (rc == (valid ? FL_OK : FL_E_INVALID))
            continue;
        differences++;
        if (!s->optional || !is_excused(name))
            fail_msg("%s: %.*s: %.*s: %s %s", name, (int)told.len, told.ptr,
                     (int)what.len, what.ptr, fl_status_name(rc), fault.text);
    }
    fl_schema_free(schema);
    return differences;
}

static void judge_file(void *user, const char *name, fl_span file)
{
    suite *s = user;
    fl_json_top top;
    fl_json_walk walk;
    fl_json_member group;
    size_t differences = 0;

    assert_int_equal(fl_json_scan(file, 0, &top, NULL), FL_OK);
    fl_json_walk_init(&walk, top.value);
    while (fl_json_walk_next(&walk, &group))
        differences += judge_group(s, name, group.value);
    if (s->optional && is_excused(name) && differences == 0)
        fail_msg("%s has no difference any more", name);
    s->differences += differences;
}

static void run(const char *folder, fl_schema_dialect dialect, bool optional,
                bool formats)
{
    suite s = {.optional = optional};
    char path[128];

    load_remotes(&s);
    s.options = (fl_schema_options){.dialect = dialect,
                                    .formats = formats,
                                    .documents = s.documents,
                                    .document_count = s.count};
    snprintf(path, sizeof path, "jsonschema/tests/%s", folder);
    size_t files = data_each(path, judge_file, &s);
    free_remotes(&s);
    assert_true(files > 0);
    print_message("# %s: %zu cases, %zu differences\n", folder, s.cases,
                  s.differences);
    if (!optional)
        assert_int_equal(s.differences, 0);
}

static void test_schema_agrees_with_all_of_2020_12(void **state)
{
    (void)state;
    run("draft2020-12", FL_SCHEMA_2020_12, false, false);
}

static void test_schema_agrees_with_all_of_draft_07(void **state)
{
    (void)state;
    run("draft7", FL_SCHEMA_DRAFT_07, false, false);
}

static void test_schema_agrees_with_optional_cases(void **state)
{
    (void)state;
    run("draft2020-12/optional", FL_SCHEMA_2020_12, true, false);
    run("draft7/optional", FL_SCHEMA_DRAFT_07, true, false);
}

static void test_schema_agrees_with_formats(void **state)
{
    (void)state;
    run("draft2020-12/optional/format", FL_SCHEMA_2020_12, true, true);
    run("draft7/optional/format", FL_SCHEMA_DRAFT_07, true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_agrees_with_all_of_2020_12),
        cmocka_unit_test(test_schema_agrees_with_all_of_draft_07),
        cmocka_unit_test(test_schema_agrees_with_optional_cases),
        cmocka_unit_test(test_schema_agrees_with_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
