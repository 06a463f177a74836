/*
 * fuzz_schema.c - schemas and instances that nobody meant well.
 *
 * The first byte chooses dialect and formats; then comes the schema, up to the
 * first newline, and the instance. Limits are small, so that running into
 * them is common. What compiles must judge the same twice, with or without a
 * fault to fill and with or without the short way, and leave a fault that can
 * be shown.
 */
#include "base/span.h"
#include "base/utf8.h"
#include "schema/model.h"
#include "json/scan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void require_text(const char *text, size_t size)
{
    require(memchr(text, '\0', size) != NULL);
    require(fl_utf8_valid(fl_span_of(text)));
}

static void judge(fl_schema *schema, fl_span instance)
{
    fl_schema_fault fault;
    fl_status rc = fl_schema_check(schema, instance, &fault);

    require(rc == FL_OK || rc == FL_E_INVALID || rc == FL_E_LIMIT);
    require_text(fault.path, sizeof fault.path);
    require_text(fault.text, sizeof fault.text);
    require((rc == FL_OK) == (fault.text[0] == '\0'));
    schema->quick = 0;
    require(fl_schema_check(schema, instance, NULL) == rc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fl_schema_document documents[] = {
        {{"http://x/y", 10}, {"{\"$anchor\":\"a\",\"type\":\"string\"}", 31}},
        {{"http://x/z", 10}, {"{\"$ref\":\"#\"}", 12}},
    };
    fl_schema_options options = {
        .documents = documents,
        .document_count = 2,
        .max_bytes = 4096,
        .max_nodes = 500,
        .max_depth = 64,
        .max_steps = 20000,
        .max_backtracks = 1000,
    };
    fl_json_top top;
    fl_schema *schema;
    fl_error error;

    if (size == 0)
        return 0;
    options.dialect =
        (data[0] & 1) != 0 ? FL_SCHEMA_DRAFT_07 : FL_SCHEMA_2020_12;
    options.formats = (data[0] & 2) != 0;
    fl_span text = {(const char *)data + 1, size - 1};
    fl_span schema_text = {text.ptr, fl_span_find(text, '\n')};
    fl_span instance = fl_span_from(text, schema_text.len);
    fl_status rc = fl_schema_compile(schema_text, &options, &schema, &error);
    require_text(error.text, sizeof error.text);
    require((rc == FL_OK) == (error.text[0] == '\0'));
    require((rc == FL_OK) == (schema != NULL));
    if (rc == FL_OK && fl_json_scan(instance, 0, &top, NULL) == FL_OK)
        judge(schema, instance);
    fl_schema_free(schema);
    return 0;
}
