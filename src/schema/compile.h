/*
 * compile.h - what the parts of the compiler share.
 *
 * compile.c goes through documents and makes a node of every schema it comes
 * by; keywords.c knows which keyword is whose; the keyword_*.c fill nodes;
 * resolve.c joins them, once all identifiers are known.
 */
#ifndef FL_SCHEMA_COMPILE_H
#define FL_SCHEMA_COMPILE_H

#include "base/map.h"
#include "schema/model.h"

/* Drafts, as bits, for keywords that only some of them have. */
enum {
    FL_DRAFT_07 = 1,
    FL_DRAFT_2019 = 2,
    FL_DRAFT_2020 = 4,
    FL_DRAFT_ALL = 7,
};

/* Vocabularies that can be left out. */
enum {
    FL_VOCABULARY_CORE = 1,
    FL_VOCABULARY_APPLICATOR = 2,
    FL_VOCABULARY_UNEVALUATED = 4,
    FL_VOCABULARY_VALIDATION = 8,
    FL_VOCABULARY_FORMAT = 16, /* as an annotation, unless told otherwise */
    FL_VOCABULARY_ASSERT = 32, /* formats are asserted, whatever we are told */
    FL_VOCABULARY_ALL = 31,
};

typedef struct fl_compile_document {
    struct fl_compile_document *next;
    fl_span uri; /* as it was asked for */
    fl_span text;
    fl_node *first, **last; /* nodes in the order of the text */
    fl_node **sorted;       /* the same, when the document is through */
    size_t count;
} fl_compile_document;

/* A reference to be joined when everything around it is known. */
typedef struct fl_compile_ref {
    struct fl_compile_ref *next;
    fl_node *node;
    fl_compile_document *document;
    fl_apply *apply;
    fl_span text; /* what it says */
} fl_compile_ref;

typedef struct fl_compiler {
    fl_schema *schema;
    fl_schema_options options; /* with the defaults filled in */
    fl_error *error;
    fl_compile_document *documents;
    fl_map uris;    /* resources */
    fl_map anchors; /* nodes by resource and name */
    fl_map late;    /* nodes by place, where no keyword leads */
    fl_compile_ref *refs;
    fl_buf uri;      /* for one URI at a time */
    fl_buf fragment; /* of it, decoded */
    size_t nodes;
    uint32_t resources;
    uint64_t steps; /* left */
} fl_compiler;

/* One keyword of one schema. */
typedef struct fl_site {
    fl_compiler *compiler;
    fl_compile_document *document;
    fl_node *node;
    const char *keyword;
    fl_span value;
} fl_site;

typedef fl_status fl_keyword_handler(const fl_site *site);

/* Fills the error, "where: keyword: text", and returns `status`. */
fl_status fl_site_fail(const fl_site *site, fl_status status,
                       const char *format, ...) FL_PRINTF(3, 4);
/* The same for want of room in the arena. */
fl_status fl_site_no_room(const fl_site *site);

/* Memory for `count` things of the schema; NULL: fl_site_no_room(). */
FL_MUST_USE void *fl_site_take(const fl_site *site, size_t count, size_t size);

/* A string's meaning, copied. FL_E_INVALID when it is no string. */
FL_MUST_USE fl_status fl_site_string(const fl_site *site, fl_span value,
                                     fl_span *out);
/* A count: a whole number that is not negative; huge ones are SIZE_MAX. */
FL_MUST_USE fl_status fl_site_count(const fl_site *site, size_t *out);

/* compile.c: makes a node of the schema in `text`, which lies in `site`. */
FL_MUST_USE fl_status fl_compile_schema(const fl_site *site, fl_span text,
                                        fl_node **out);
/* A list of schemas. */
FL_MUST_USE fl_status fl_compile_schemas(const fl_site *site, fl_node ***nodes,
                                         size_t *count);
/* A document as a whole; NULL in *out if its URI is not known. */
FL_MUST_USE fl_status fl_compile_load(fl_compiler *compiler, fl_span uri,
                                      fl_compile_document **out);
FL_MUST_USE fl_status fl_compile_document_text(fl_compiler *compiler,
                                               fl_span uri, fl_span text,
                                               fl_compile_document **out);

/* What the walk over `bytes` costs; FL_E_LIMIT when there was enough. */
FL_MUST_USE fl_status fl_compile_spend(fl_compiler *compiler, size_t bytes);

/* keywords.c */
fl_keyword_handler *fl_keyword_find(fl_span name, const fl_resource *resource,
                                    const char **keyword);

/* keyword_array.c, keyword_apply.c: when all keywords have been seen */
FL_MUST_USE fl_status fl_array_finish(const fl_site *site);
FL_MUST_USE fl_status fl_branch_finish(const fl_site *site);

/* resolve.c */
FL_MUST_USE fl_status fl_resolve_identify(const fl_site *site, bool is_root);
FL_MUST_USE fl_status fl_resolve_refs(fl_compiler *compiler);
/* Makes a schema that lies right below its resource known by its JSON Pointer,
 * "/$defs/key", which nearly all references are: none of them has to look
 * through the document. */
FL_MUST_USE fl_status fl_resolve_note(const fl_site *site, fl_span key,
                                      fl_node *node);
fl_keyword_handler fl_keyword_anchor, fl_keyword_dynamic_anchor,
    fl_keyword_recursive_anchor;

/* dialect.c: what the schema's $schema means, if it has one. */
FL_MUST_USE fl_status fl_dialect_read(const fl_site *site, fl_span name,
                                      fl_resource *resource);

/* locate.c: the JSON Pointer of `at`, a place in `text`. */
void fl_locate(fl_span text, const char *at, char *out, size_t size);

#endif
