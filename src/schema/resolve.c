/*
 * resolve.c - what schemas are called, and where references lead.
 *
 * A schema with an $id is a resource and is known by its URI. Anchors belong
 * to the resource they are in. A reference is made absolute against the URI of
 * its resource, and then: the resource by that URI, or a document that we were
 * given under it; in there the fragment, a name or a JSON Pointer. Nothing is
 * fetched, ever: a URI that nobody told us is an error.
 */
#include "base/span.h"
#include "base/status.h"
#include "schema/compile.h"
#include "schema/uri.h"

#include "json/nav.h"
#include <stdio.h>

static fl_status say(fl_compiler *c, fl_status rc)
{
    if (rc == FL_E_TOO_BIG)
        return fl_error_set(c->error, FL_E_LIMIT, "a URI is too long");
    return rc == FL_OK ? rc
                       : fl_error_set(c->error, rc, "%s", fl_status_text(rc));
}

/* The first to have a name keeps it. */
static fl_status register_in(const fl_site *site, fl_map *map, fl_span key,
                             void *value)
{
    fl_status rc = fl_map_add(map, key, value);

    return rc == FL_E_IN_USE ? FL_OK : say(site->compiler, rc);
}

static fl_status anchor_key(fl_compiler *c, const fl_resource *resource,
                            fl_span name)
{
    fl_span number = {(const char *)&resource->number, sizeof resource->number};

    fl_buf_clear(&c->uri);
    fl_status rc = fl_buf_append(&c->uri, number);
    return say(c, rc == FL_OK ? fl_buf_append(&c->uri, name) : rc);
}

static fl_status add_anchor(const fl_site *site, fl_span name)
{
    fl_compiler *c = site->compiler;
    fl_status rc = anchor_key(c, site->node->resource, name);

    return rc == FL_OK ? register_in(site, &c->anchors, fl_buf_view(&c->uri),
                                     site->node)
                       : rc;
}

static fl_status add_dynamic(const fl_site *site, fl_span name)
{
    fl_resource *resource = site->node->resource;
    fl_dynamic_anchor *anchor = fl_site_take(site, 1, sizeof *anchor);

    if (anchor == NULL)
        return fl_site_no_room(site);
    *anchor = (fl_dynamic_anchor){resource->dynamic, name, site->node};
    resource->dynamic = anchor;
    return FL_OK;
}

fl_status fl_resolve_note(const fl_site *site, fl_span key, fl_node *node)
{
    fl_compiler *c = site->compiler;
    const fl_node *root = site->node->resource->root;
    char name[128];

    if (site->node != root || fl_span_find(key, '/') < key.len ||
        fl_span_find(key, '~') < key.len || fl_span_find(key, '\\') < key.len)
        return FL_OK;
    int len =
        snprintf(name, sizeof name, "/%s/%.*s", site->keyword,
                 (int)(key.len < sizeof name ? key.len : sizeof name), key.ptr);
    if (len < 0 || (size_t)len >= sizeof name)
        return FL_OK;
    fl_status rc = anchor_key(c, root->resource, (fl_span){name, (size_t)len});
    if (rc != FL_OK)
        return rc;
    fl_map_remove(&c->anchors, fl_buf_view(&c->uri)); /* the last one counts */
    return register_in(site, &c->anchors, fl_buf_view(&c->uri), node);
}

fl_status fl_keyword_anchor(const fl_site *site)
{
    fl_span name;
    fl_status rc = fl_site_string(site, site->value, &name);

    return rc == FL_OK ? add_anchor(site, name) : rc;
}

fl_status fl_keyword_dynamic_anchor(const fl_site *site)
{
    fl_span name;
    fl_status rc = fl_site_string(site, site->value, &name);

    if (rc == FL_OK)
        rc = add_anchor(site, name);
    return rc == FL_OK ? add_dynamic(site, name) : rc;
}

/* 2019-09's, which has no name and stands at the root of its resource. */
fl_status fl_keyword_recursive_anchor(const fl_site *site)
{
    bool wanted = fl_json_type_of(site->value) == FL_JSON_TRUE &&
                  site->node == site->node->resource->root;

    return wanted ? add_dynamic(site, (fl_span){"", 0}) : FL_OK;
}

static fl_status add_resource(const fl_site *site, fl_resource like, fl_span id,
                              fl_span base)
{
    fl_compiler *c = site->compiler;
    fl_resource *resource = fl_site_take(site, 1, sizeof *resource);

    if (resource == NULL)
        return fl_site_no_room(site);
    fl_buf_clear(&c->uri);
    fl_status rc = say(c, fl_uri_resolve(base, id, &c->uri));
    if (rc != FL_OK)
        return rc;
    *resource = like;
    resource->dynamic = NULL;
    resource->root = site->node;
    resource->number = ++c->resources;
    resource->uri = fl_arena_copy(
        &c->schema->arena, fl_uri_without_fragment(fl_buf_view(&c->uri)));
    if (resource->uri.ptr == NULL)
        return fl_site_no_room(site);
    site->node->resource = resource;
    return register_in(site, &c->uris, resource->uri, resource);
}

/* The schema's $id as text, or empty. In draft-07 a $ref hides it. */
static fl_status read_id(const fl_site *site, unsigned draft, fl_span *id)
{
    fl_span text = site->node->text, value = fl_json_get(text, FL_SPAN("$id"));

    *id = (fl_span){"", 0};
    if (value.len == 0 ||
        (draft == FL_DRAFT_07 && fl_json_get(text, FL_SPAN("$ref")).len > 0))
        return FL_OK;
    return fl_site_string(site, value, id);
}

static fl_resource by_default(const fl_compiler *c)
{
    bool old = c->options.dialect == FL_SCHEMA_DRAFT_07;

    return (fl_resource){
        .draft = old ? FL_DRAFT_07 : FL_DRAFT_2020,
        .vocabulary = FL_VOCABULARY_ALL,
    };
}

/* Its dialect, its identifier and, in draft-07, the anchor in that. */
fl_status fl_resolve_identify(const fl_site *site, bool is_root)
{
    fl_node *node = site->node;
    fl_resource like = is_root ? by_default(site->compiler) : *node->resource;
    fl_span base = is_root ? site->document->uri : like.uri, id;
    fl_status rc = fl_compile_spend(site->compiler, 3 * node->text.len);
    fl_span dialect = fl_json_get(node->text, FL_SPAN("$schema"));

    if (rc == FL_OK && dialect.len > 0 &&
        (is_root || fl_json_get(node->text, FL_SPAN("$id")).len > 0))
        rc = fl_dialect_read(site, dialect, &like);
    if (rc == FL_OK)
        rc = read_id(site, like.draft, &id);
    if (rc != FL_OK)
        return rc;
    fl_span uri = fl_uri_without_fragment(id), name = fl_uri_fragment(id);
    if (is_root || uri.len > 0)
        rc = add_resource(site, like, uri, base);
    if (rc == FL_OK && is_root)
        rc = register_in(site, &site->compiler->uris, base, node->resource);
    if (rc == FL_OK && name.len > 0)
        rc = like.draft == FL_DRAFT_07
                 ? add_anchor(site, name)
                 : fl_site_fail(site, FL_E_INVALID, "must have no fragment");
    return rc;
}

static fl_compile_document *document_of(const fl_compiler *c, const char *at)
{
    fl_compile_document *document = c->documents;

    while (at < document->text.ptr ||
           at >= document->text.ptr + document->text.len)
        document = document->next;
    return document;
}

/* The node whose text begins there, if there is one. */
static fl_node *node_at(const fl_compile_document *document, const char *at)
{
    size_t low = 0, high = document->sorted != NULL ? document->count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (document->sorted[middle]->text.ptr < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < document->count && document->sorted != NULL &&
                   document->sorted[low]->text.ptr == at
               ? document->sorted[low]
               : NULL;
}

static fl_span element_at(fl_span array, fl_span token)
{
    fl_json_walk walk;
    fl_json_member member;
    size_t index = 0;

    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] < '0' || token.ptr[i] > '9' || index > array.len)
            return (fl_span){0};
        index = index * 10 + (size_t)(token.ptr[i] - '0');
    }
    fl_json_walk_init(&walk, array);
    while (fl_json_walk_next(&walk, &member))
        if (index-- == 0)
            return member.value;
    return (fl_span){0};
}

/* One token of a JSON Pointer: ~0 and ~1 undone in place. */
static fl_span step_into(fl_span value, char *token, size_t len)
{
    size_t to = 0;

    for (size_t from = 0; from < len; from++) {
        char byte = token[from];
        if (byte == '~' && from + 1 < len)
            byte = token[++from] == '1' ? '/' : '~';
        token[to++] = byte;
    }
    fl_span name = {token, to};
    return fl_json_type_of(value) == FL_JSON_ARRAY ? element_at(value, name)
                                                   : fl_json_get(value, name);
}

/* A schema where no keyword leads to: it is one because it is referred to. */
static fl_status make_late(fl_site *site, fl_span text, fl_node **out)
{
    fl_map *late = &site->compiler->late;
    fl_span key = {(const char *)&text.ptr, sizeof text.ptr};

    *out = fl_map_get(late, key);
    if (*out != NULL)
        return FL_OK;
    fl_status rc = fl_compile_schema(site, text, out);
    return rc == FL_OK ? say(site->compiler, fl_map_add(late, key, *out)) : rc;
}

/* Along a JSON Pointer, which is used up. The base may change on the way. */
static fl_status follow(const fl_site *site, const fl_resource *resource,
                        fl_buf *pointer, fl_node **out)
{
    fl_span rest = fl_buf_view(pointer), value = resource->root->text;
    fl_node place = *resource->root;
    fl_site late = *site;

    *out = resource->root;
    late.document = document_of(site->compiler, value.ptr);
    while (rest.len > 0 && value.len > 0) {
        fl_status rc = fl_compile_spend(site->compiler, value.len);
        if (rc != FL_OK)
            return rc;
        fl_span token = fl_span_from(rest, 1);
        token.len = fl_span_find(token, '/');
        rest = fl_span_from(rest, 1 + token.len);
        /* the buffer is ours: undoing escapes makes a token shorter */
        value = step_into(value, pointer->ptr + (token.ptr - pointer->ptr),
                          token.len);
        *out = value.len > 0 ? node_at(late.document, value.ptr) : NULL;
        if (*out != NULL)
            place = **out;
    }
    if (value.len == 0)
        return FL_E_NOT_FOUND;
    late.node = &place;
    return *out != NULL ? FL_OK : make_late(&late, value, out);
}

/* The resource of that URI, its document taken in if need be. */
static fl_status find_resource(const fl_site *site, fl_span uri,
                               fl_resource **out)
{
    fl_compiler *c = site->compiler;
    fl_compile_document *document;

    *out = fl_map_get(&c->uris, uri);
    if (*out != NULL)
        return FL_OK;
    uri = fl_arena_copy(&c->schema->arena, uri);
    if (uri.ptr == NULL)
        return fl_site_no_room(site);
    fl_status rc = fl_compile_load(c, uri, &document);
    if (rc == FL_OK && document != NULL)
        *out = fl_map_get(&c->uris, uri);
    return rc;
}

static bool is_dynamic(const fl_resource *resource, fl_span name,
                       const fl_node *node)
{
    const fl_dynamic_anchor *anchor = resource->dynamic;

    while (anchor != NULL &&
           (anchor->node != node || !fl_span_equal(anchor->name, name)))
        anchor = anchor->next;
    return anchor != NULL;
}

/* c->fragment within `resource`. */
static fl_status find_fragment(const fl_site *site, fl_compile_ref *ref,
                               const fl_resource *resource)
{
    fl_compiler *c = site->compiler;
    fl_span name = fl_buf_view(&c->fragment);
    fl_node **out = &ref->apply->nodes[0];

    fl_status rc = anchor_key(c, resource, name);
    *out = name.len > 0 ? fl_map_get(&c->anchors, fl_buf_view(&c->uri))
                        : resource->root;
    if (rc == FL_OK && *out == NULL && name.len > 0 && name.ptr[0] == '/')
        rc = follow(site, resource, &c->fragment, out);
    if (rc != FL_OK || *out == NULL)
        return rc != FL_OK ? rc : FL_E_NOT_FOUND;
    if (ref->apply->kind == FL_APPLY_REF || !is_dynamic(resource, name, *out)) {
        ref->apply->kind = FL_APPLY_REF;
        return FL_OK;
    }
    ref->apply->name = fl_arena_copy(&c->schema->arena, name);
    return ref->apply->name.ptr != NULL ? FL_OK : fl_site_no_room(site);
}

static fl_status join(fl_compiler *c, fl_compile_ref *ref)
{
    fl_site site = {.compiler = c,
                    .document = ref->document,
                    .node = ref->node,
                    .keyword = ref->apply->keyword};
    fl_resource *resource;
    int shown = ref->text.len < 120 ? (int)ref->text.len : 120;

    fl_buf_clear(&c->uri);
    fl_buf_clear(&c->fragment);
    fl_status rc =
        say(c, fl_uri_resolve(ref->node->resource->uri, ref->text, &c->uri));
    if (rc != FL_OK)
        return rc;
    fl_span uri = fl_buf_view(&c->uri);
    rc = fl_uri_decode(fl_uri_fragment(uri), &c->fragment);
    if (rc == FL_E_INVALID)
        return fl_site_fail(&site, rc, "\"%.*s\" is no URI", shown,
                            ref->text.ptr);
    rc = say(c, rc);
    if (rc == FL_OK)
        rc = find_resource(&site, fl_uri_without_fragment(uri), &resource);
    if (rc == FL_OK)
        rc = resource != NULL ? find_fragment(&site, ref, resource)
                              : FL_E_NOT_FOUND;
    if (rc == FL_E_NOT_FOUND && (c->error == NULL || c->error->status == FL_OK))
        rc = fl_site_fail(&site, rc,
                          "\"%.*s\" is not known, and nothing is fetched",
                          shown, ref->text.ptr);
    return rc;
}

fl_status fl_resolve_refs(fl_compiler *compiler)
{
    fl_status rc = FL_OK;

    while (rc == FL_OK && compiler->refs != NULL) {
        fl_compile_ref *ref = compiler->refs;
        compiler->refs = ref->next;
        rc = join(compiler, ref);
    }
    return rc;
}
