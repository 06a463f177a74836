/*
 * schema.c - the life of a schema.
 *
 * Everything a schema is made of lies in its arena, except for what PCRE2
 * makes and the working memory of checks. The compiler's own tables die here,
 * when the last reference has been joined.
 */
#include "schema/schema.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/status.h"
#include "schema/compile.h"
#include "schema/quick.h"

enum {
    MAX_BYTES = 1 << 20,
    MAX_NODES = 1 << 16,
    MOST_NODES = 1 << 24, /* what the tables are made for */
    MAX_DEPTH = 512,
    MAX_STEPS = 4000000,
    MAX_BACKTRACKS = 100000,
    MEMORY_FACTOR = 64, /* per byte of a document at its largest */
    COMPILE_FACTOR = 4, /* compiling is done once and may take longer */
    URI_MAX = 4096,
    SCRATCH = 1024,
    TEXT_MAX = 1 << 30, /* of one string; documents and messages are less */
};

static fl_schema_options fill_in(const fl_schema_options *given)
{
    fl_schema_options o =
        given != NULL ? *given : (fl_schema_options){.max_bytes = 0};

    o.max_bytes = o.max_bytes > 0 ? o.max_bytes : MAX_BYTES;
    o.max_nodes = o.max_nodes > 0 ? o.max_nodes : MAX_NODES;
    o.max_nodes = o.max_nodes < MOST_NODES ? o.max_nodes : MOST_NODES;
    o.max_depth = o.max_depth > 0 ? o.max_depth : MAX_DEPTH;
    o.max_steps = o.max_steps > 0 ? o.max_steps : MAX_STEPS;
    o.max_backtracks = o.max_backtracks > 0 ? o.max_backtracks : MAX_BACKTRACKS;
    return o;
}

/* Even a small limit leaves room for what every schema needs. */
static size_t memory_for(const fl_schema_options *options)
{
    const size_t least = 1 << 20;
    size_t size = options->max_bytes < SIZE_MAX / MEMORY_FACTOR
                      ? options->max_bytes * MEMORY_FACTOR
                      : SIZE_MAX / 2;

    return size > least ? size : least;
}

static fl_status make(const fl_schema_options *options, fl_schema **out)
{
    fl_schema *schema = fl_mem_zalloc(sizeof *schema);
    fl_scratch *scratch = fl_mem_zalloc(sizeof *scratch);

    *out = NULL;
    if (schema == NULL || scratch == NULL) {
        fl_mem_free(schema);
        fl_mem_free(scratch);
        return FL_E_NOMEM;
    }
    schema->scratch = scratch;
    schema->max_depth = options->max_depth;
    schema->max_steps = options->max_steps;
    fl_arena_init(&schema->arena, memory_for(options));
    fl_buf_init(&scratch->text, TEXT_MAX);
    /* without a random source collisions can be chosen; steps bound them */
    if (fl_random_bytes(schema->seed, sizeof schema->seed) != FL_OK)
        schema->seed[0] = schema->seed[1] = 1;
    *out = schema;
    return fl_patterns_init(&scratch->patterns, memory_for(options),
                            options->max_backtracks);
}

void fl_schema_free(fl_schema *schema)
{
    if (schema == NULL)
        return;
    fl_patterns_deinit(&schema->scratch->patterns);
    fl_buf_reset(&schema->scratch->text);
    fl_mem_free(schema->scratch);
    fl_arena_deinit(&schema->arena);
    fl_mem_free(schema);
}

static fl_status compile(fl_compiler *c, fl_span text)
{
    fl_compile_document *document;
    fl_status rc =
        fl_compile_document_text(c, (fl_span){"", 0}, text, &document);

    if (rc == FL_OK)
        rc = fl_resolve_refs(c);
    if (rc != FL_OK)
        return rc;
    c->schema->root = document->first;
    c->schema->quick = fl_quick_plan(c->schema, document->first);
    /* so that a check of a few escapes does not have to */
    fl_buf_clear(&c->schema->scratch->text);
    return fl_buf_reserve(&c->schema->scratch->text, SCRATCH) != NULL
               ? FL_OK
               : FL_E_NOMEM;
}

fl_status fl_schema_compile(fl_span text, const fl_schema_options *options,
                            fl_schema **out, fl_error *error)
{
    fl_compiler c = {.options = fill_in(options), .error = error};
    fl_status rc = make(&c.options, &c.schema);

    *out = NULL;
    if (error != NULL)
        *error = (fl_error){.status = FL_OK};
    c.steps = c.options.max_steps < UINT64_MAX / COMPILE_FACTOR
                  ? c.options.max_steps * COMPILE_FACTOR
                  : UINT64_MAX;
    fl_map_init(&c.uris, c.options.max_nodes * 2);
    fl_map_init(&c.anchors, c.options.max_nodes * 2);
    fl_map_init(&c.late, c.options.max_nodes * 2);
    fl_buf_init(&c.uri, URI_MAX);
    fl_buf_init(&c.fragment, URI_MAX);
    if (rc == FL_OK)
        rc = compile(&c, text);
    fl_buf_reset(&c.fragment);
    fl_buf_reset(&c.uri);
    fl_map_deinit(&c.late);
    fl_map_deinit(&c.anchors);
    fl_map_deinit(&c.uris);
    if (rc != FL_OK) {
        if (error != NULL && error->status == FL_OK)
            fl_error_set(error, rc, "%s", fl_status_text(rc));
        fl_schema_free(c.schema);
        return rc;
    }
    *out = c.schema;
    return FL_OK;
}
