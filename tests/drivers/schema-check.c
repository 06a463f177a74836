/*
 * schema-check.c - judges instances by schemas, for suites of both.
 *
 * One JSON object on each line of stdin:
 *     {"draft":..., "schema":..., "instances":[...], "formats":bool,
 *      "remotes":{uri:schema}}
 * and one answer on each line of stdout: {"valid":[true,false,null...]}, null
 * where nothing could be decided; the reason is told on stderr. Remotes are
 * those of the first line that has any, and hold from there on. "draft" is
 * the dialect of schemas without $schema: anything with a 7 in it is draft-07,
 * unless it names 2020-12.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "schema/schema.h"
#include "json/nav.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 64 << 20, REMOTES_MAX = 4096 };

typedef struct remotes {
    char *line; /* that they lie in */
    fl_schema_document documents[REMOTES_MAX];
    size_t count;
} remotes;

static fl_schema_dialect dialect_of(fl_span draft)
{
    bool has_seven = fl_span_find(draft, '7') < draft.len;
    bool is_2020 = false;

    for (size_t i = 0; i + 4 <= draft.len; i++)
        is_2020 |= memcmp(draft.ptr + i, "2020", 4) == 0;
    return has_seven && !is_2020 ? FL_SCHEMA_DRAFT_07 : FL_SCHEMA_2020_12;
}

/* Keeps the line for as long as the remotes in it are wanted. */
static bool keep_remotes(remotes *known, fl_span line)
{
    fl_json_walk walk;
    fl_json_member member;

    known->line = fl_mem_string(line);
    if (known->line == NULL)
        return false;
    fl_span copy = {known->line, line.len};
    fl_json_walk_init(&walk, fl_json_get(copy, FL_SPAN("remotes")));
    while (known->count < REMOTES_MAX && fl_json_walk_next(&walk, &member))
        known->documents[known->count++] =
            (fl_schema_document){member.key, member.value};
    return true;
}

static void judge_one(fl_json_writer *writer, const fl_schema *schema,
                      fl_span instance)
{
    fl_schema_fault fault = {.keyword = ""};
    fl_status rc =
        schema != NULL ? fl_schema_check(schema, instance, &fault) : FL_E_STATE;

    if (rc == FL_OK || rc == FL_E_INVALID) {
        fl_json_bool(writer, rc == FL_OK);
        return;
    }
    if (schema != NULL)
        fprintf(stderr, "%s: %s\n", fl_status_text(rc), fault.text);
    fl_json_null(writer);
}

static fl_status judge(const remotes *known, fl_span line, fl_buf *out)
{
    fl_schema_options options = {
        .dialect = dialect_of(fl_json_get(line, FL_SPAN("draft"))),
        .formats = fl_json_type_of(fl_json_get(line, FL_SPAN("formats"))) ==
                   FL_JSON_TRUE,
        .documents = known->documents,
        .document_count = known->count,
    };
    fl_json_writer writer;
    fl_json_walk walk;
    fl_json_member member;
    fl_schema *schema;
    fl_error error;
    fl_status rc = fl_schema_compile(fl_json_get(line, FL_SPAN("schema")),
                                     &options, &schema, &error);

    if (rc != FL_OK)
        fprintf(stderr, "%s: %s\n", fl_status_text(rc), error.text);
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "valid");
    fl_json_array(&writer);
    fl_json_walk_init(&walk, fl_json_get(line, FL_SPAN("instances")));
    while (fl_json_walk_next(&walk, &member))
        judge_one(&writer, schema, member.value);
    fl_json_array_end(&writer);
    fl_json_object_end(&writer);
    fl_schema_free(schema);
    return fl_json_writer_end(&writer);
}

static bool answer(remotes *known, fl_span line)
{
    fl_json_top top;
    fl_buf out;

    if (fl_json_scan(line, 0, &top, NULL) != FL_OK) {
        puts("{\"valid\":[]}");
        return true;
    }
    if (known->line == NULL && fl_json_get(top.value, FL_SPAN("remotes")).len &&
        !keep_remotes(known, top.value))
        return false;
    fl_buf_init(&out, LINE_MAX_BYTES);
    bool good = judge(known, top.value, &out) == FL_OK;
    if (good)
        printf("%.*s\n", (int)fl_buf_len(&out), fl_buf_view(&out).ptr);
    fl_buf_reset(&out);
    return good && fflush(stdout) == 0;
}

int main(void)
{
    static remotes known;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    bool good = true;

    while (good && (len = getline(&line, &cap, stdin)) > 0)
        if (len > 1 || line[0] != '\n')
            good = answer(&known, (fl_span){line, (size_t)len});
    free(line);
    fl_mem_free(known.line);
    return good ? 0 : 1;
}
