/*
 * compile.c - from the text of schemas to nodes.
 *
 * One pass over a document makes a node of every schema in it, in the order
 * of the text, and notes identifiers and references on the way. References
 * are joined afterwards, which may bring in more documents. Nodes in the order
 * of the text can be found by their place in it, so that a JSON Pointer that
 * leads to a schema finds the node that is there already.
 *
 * Recursion is bounded by the nesting that is accepted of a document.
 */
#include "schema/compile.h"

#include "base/span.h"
#include "base/status.h"
#include "schema/metaschema.h"
#include "schema/uri.h"
#include "json/nav.h"
#include "json/unescape.h"

#include <stdarg.h>
#include <stdio.h>

enum { NESTING = 200, STEP_BYTES = 64 };

fl_status fl_compile_spend(fl_compiler *compiler, size_t bytes)
{
    uint64_t cost = 1 + bytes / STEP_BYTES;

    if (cost > compiler->steps) {
        compiler->steps = 0;
        return fl_error_set(compiler->error, FL_E_LIMIT,
                            "the schema takes too much work to compile");
    }
    compiler->steps -= cost;
    return FL_OK;
}

fl_status fl_site_fail(const fl_site *site, fl_status status,
                       const char *format, ...)
{
    fl_compile_document *document = site->document;
    char text[160], place[96];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fl_locate(document->text, site->node->text.ptr, place, sizeof place);
    int shown = document->uri.len < 64 ? (int)document->uri.len : 64;
    return fl_error_set(site->compiler->error, status, "%.*s#%s: %s: %s", shown,
                        document->uri.len > 0 ? document->uri.ptr : "", place,
                        site->keyword, text);
}

fl_status fl_site_no_room(const fl_site *site)
{
    fl_status why = fl_arena_why(&site->compiler->schema->arena);

    return fl_error_set(site->compiler->error, why,
                        why == FL_E_LIMIT ? "the schema takes too much memory"
                                          : "out of memory");
}

void *fl_site_take(const fl_site *site, size_t count, size_t size)
{
    return fl_arena_array(&site->compiler->schema->arena, count, size);
}

fl_status fl_site_string(const fl_site *site, fl_span value, fl_span *out)
{
    fl_buf *text = &site->compiler->schema->scratch->text;

    fl_buf_clear(text);
    fl_status rc = fl_json_string_copy(value, text);
    if (rc == FL_E_INVALID)
        return fl_site_fail(site, rc, "must be a string");
    if (rc != FL_OK)
        return fl_error_set(site->compiler->error, rc, "%s",
                            fl_status_text(rc));
    *out = fl_arena_copy(&site->compiler->schema->arena, fl_buf_view(text));
    return out->ptr != NULL ? FL_OK : fl_site_no_room(site);
}

fl_status fl_site_count(const fl_site *site, size_t *out)
{
    int64_t count;

    if (fl_json_type_of(site->value) == FL_JSON_NUMBER) {
        fl_numeral number = fl_numeral_read(site->value);
        if (!number.negative && fl_numeral_is_whole(&number)) {
            bool fits = fl_json_int64(site->value, &count) == FL_OK;
            *out = fits ? (size_t)count : SIZE_MAX;
            return FL_OK;
        }
    }
    return fl_site_fail(site, FL_E_INVALID,
                        "must be a whole number that is not negative");
}

static fl_status add_node(const fl_site *site, fl_span text, fl_node **out)
{
    fl_compiler *c = site->compiler;
    fl_compile_document *document = site->document;

    if (c->nodes == c->options.max_nodes)
        return fl_error_set(c->error, FL_E_LIMIT, "more than %zu schemas",
                            c->options.max_nodes);
    fl_node *node = fl_site_take(site, 1, sizeof *node);
    if (node == NULL)
        return fl_site_no_room(site);
    *node = (fl_node){.text = text};
    node->last = &node->applies;
    c->nodes++;
    if (document->sorted == NULL) { /* a late one is not in order */
        *document->last = node;
        document->last = &node->next;
        document->count++;
    }
    *out = node;
    return FL_OK;
}

static fl_status take_keyword(const fl_site *schema, fl_json_member *member)
{
    fl_site site = *schema;
    fl_buf *text = &site.compiler->schema->scratch->text;
    fl_span name = member->key;

    if (fl_span_find(name, '\\') < name.len) {
        fl_span quoted = {name.ptr - 1, name.len + 2};
        fl_buf_clear(text);
        fl_status rc = fl_json_string_copy(quoted, text);
        if (rc != FL_OK)
            return fl_error_set(site.compiler->error, rc, "%s",
                                fl_status_text(rc));
        name = fl_buf_view(text);
    }
    fl_keyword_handler *handler =
        fl_keyword_find(name, site.node->resource, &site.keyword);
    site.value = member->value;
    return handler != NULL ? handler(&site) : FL_OK;
}

/* In draft-07 nothing beside a $ref counts. Definitions are looked through all
 * the same, for the identifiers in them. */
static bool is_heard(const fl_json_member *member, bool alone)
{
    return !alone || fl_json_unescape_is(member->key, FL_SPAN("$ref")) ||
           fl_json_unescape_is(member->key, FL_SPAN("definitions"));
}

static fl_status take_keywords(const fl_site *site)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = fl_compile_spend(site->compiler, site->node->text.len);
    bool alone = site->node->resource->draft == FL_DRAFT_07 &&
                 fl_json_get(site->node->text, FL_SPAN("$ref")).len > 0;

    fl_json_walk_init(&walk, site->node->text);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member))
        if (is_heard(&member, alone))
            rc = take_keyword(site, &member);
    if (rc == FL_OK && site->node->array != NULL)
        rc = fl_array_finish(site);
    return rc == FL_OK ? fl_branch_finish(site) : rc;
}

static fl_status make_node(const fl_site *parent, fl_span text, bool is_root,
                           fl_node **out)
{
    fl_site site = *parent;
    fl_json_type type = fl_json_type_of(text);
    fl_resource *outer = is_root ? NULL : parent->node->resource;

    if (type != FL_JSON_OBJECT && type != FL_JSON_TRUE && type != FL_JSON_FALSE)
        return fl_site_fail(parent, FL_E_INVALID,
                            "a schema is an object, true or false");
    fl_status rc = add_node(parent, text, &site.node);
    if (rc != FL_OK)
        return rc;
    *out = site.node;
    site.node->resource = outer;
    site.keyword = "$id";
    rc = fl_resolve_identify(&site, is_root);
    if (rc != FL_OK)
        return rc;
    if (type == FL_JSON_OBJECT)
        return take_keywords(&site);
    site.node->verdict =
        type == FL_JSON_TRUE ? FL_VERDICT_TRUE : FL_VERDICT_FALSE;
    return FL_OK;
}

fl_status fl_compile_schema(const fl_site *site, fl_span text, fl_node **out)
{
    return make_node(site, text, false, out);
}

static size_t count_elements(fl_span array)
{
    fl_json_walk walk;
    fl_json_member member;
    size_t count = 0;

    fl_json_walk_init(&walk, array);
    while (fl_json_walk_next(&walk, &member))
        count++;
    return count;
}

fl_status fl_compile_schemas(const fl_site *site, fl_node ***nodes,
                             size_t *count)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = fl_compile_spend(site->compiler, site->value.len);

    if (fl_json_type_of(site->value) != FL_JSON_ARRAY)
        return fl_site_fail(site, FL_E_INVALID, "must be a list of schemas");
    *count = count_elements(site->value);
    *nodes = fl_site_take(site, *count, sizeof(fl_node *));
    if (*nodes == NULL)
        return fl_site_no_room(site);
    fl_json_walk_init(&walk, site->value);
    for (size_t i = 0; rc == FL_OK && fl_json_walk_next(&walk, &member); i++)
        rc = fl_compile_schema(site, member.value, &(*nodes)[i]);
    return rc;
}

/* The nodes of a document, for searching. */
static fl_status sort_nodes(const fl_site *site)
{
    fl_compile_document *document = site->document;
    size_t i = 0;

    document->sorted = fl_site_take(site, document->count, sizeof(fl_node *));
    if (document->sorted == NULL)
        return fl_site_no_room(site);
    for (fl_node *node = document->first; node != NULL; node = node->next)
        document->sorted[i++] = node;
    return FL_OK;
}

static fl_status scan(fl_compiler *c, fl_span uri, fl_span text, fl_span *value)
{
    fl_json_top top;
    size_t at = 0;
    int shown = uri.len < 100 ? (int)uri.len : 100;

    if (text.len > c->options.max_bytes)
        return fl_error_set(c->error, FL_E_TOO_BIG,
                            "%.*s#: a schema of more than %zu bytes", shown,
                            uri.ptr, c->options.max_bytes);
    fl_status rc = fl_json_scan(text, NESTING, &top, &at);
    if (rc != FL_OK)
        return fl_error_set(c->error, rc, "%.*s#: %s, at byte %zu", shown,
                            uri.ptr, fl_status_text(rc), at);
    *value = top.value;
    return FL_OK;
}

fl_status fl_compile_document_text(fl_compiler *c, fl_span uri, fl_span text,
                                   fl_compile_document **out)
{
    fl_arena *arena = &c->schema->arena;
    fl_node nowhere = {.text = {0}}, *root;
    fl_site site = {.compiler = c, .node = &nowhere, .keyword = "schema"};
    fl_status rc = scan(c, uri, text, &text);

    if (rc != FL_OK)
        return rc;
    fl_compile_document *document = fl_arena_take(arena, sizeof *document);
    if (document == NULL)
        return fl_site_no_room(&site);
    document->uri = fl_arena_copy(arena, uri);
    document->text = fl_arena_copy(arena, text);
    if (document->uri.ptr == NULL || document->text.ptr == NULL)
        return fl_site_no_room(&site);
    document->last = &document->first;
    document->next = c->documents;
    c->documents = document;
    site.document = document;
    nowhere.text = document->text;
    rc = make_node(&site, document->text, true, &root);
    *out = document;
    return rc == FL_OK ? sort_nodes(&site) : rc;
}

fl_status fl_compile_load(fl_compiler *c, fl_span uri,
                          fl_compile_document **out)
{
    const fl_schema_options *options = &c->options;
    fl_span text = {0};

    *out = NULL;
    for (size_t i = 0; i < options->document_count && text.len == 0; i++)
        if (fl_span_equal(fl_uri_without_fragment(options->documents[i].uri),
                          uri))
            text = options->documents[i].text;
    if (text.len == 0)
        text = fl_metaschema_find(uri);
    return text.len > 0 ? fl_compile_document_text(c, uri, text, out) : FL_OK;
}
