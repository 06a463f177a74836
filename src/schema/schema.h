/*
 * schema.h - JSON Schema: compile once, check often.
 *
 * Judges what tools are called with and what they answer. Both schemas and
 * instances may come from strangers: nothing is ever fetched, every cost has
 * a limit, and a check of a small value allocates nothing. Dialects are
 * 2020-12 and draft-07, and 2019-09 where a schema says so itself.
 */
#ifndef FL_SCHEMA_SCHEMA_H
#define FL_SCHEMA_SCHEMA_H

#include "json/nav.h"

typedef struct fl_schema fl_schema;

/* Of a schema that has no $schema. */
typedef enum fl_schema_dialect {
    FL_SCHEMA_2020_12,
    FL_SCHEMA_DRAFT_07,
} fl_schema_dialect;

/* A document that a $ref may lead to, or that a $schema may name. */
typedef struct fl_schema_document {
    fl_span uri; /* absolute, no fragment */
    fl_span text;
} fl_schema_document;

/* Zero means the default, which stands behind it. */
typedef struct fl_schema_options {
    fl_schema_dialect dialect;
    bool formats; /* `format` is asserted; else it only annotates */
    const fl_schema_document *documents; /* copied where they are used */
    size_t document_count;

    size_t max_bytes;   /* of one document: 1 MiB; holds memory to 64 times */
    size_t max_nodes;   /* schemas, in all documents together: 65,536 */
    unsigned max_depth; /* schemas applied inside of each other: 512 */
    uint64_t max_steps; /* of one check, at most: 4 million, about 0.1 s;
                           64 for each byte and 65,536 more if that is less */
    uint32_t max_backtracks; /* of one regular expression: 100,000 */
} fl_schema_options;

/*
 * Compiles the schema in `text`, which is copied. `options` may be NULL.
 *
 * FL_E_BAD_JSON, FL_E_BAD_TEXT, FL_E_TOO_DEEP  as fl_json_scan() says
 * FL_E_TOO_BIG      a document is longer than max_bytes
 * FL_E_INVALID      a keyword has a value it cannot have
 * FL_E_NOT_FOUND    a $ref or $schema leads to nothing that is known
 * FL_E_UNSUPPORTED  a dialect, vocabulary or regular expression we lack
 * FL_E_LIMIT, FL_E_NOMEM
 *
 * `error` names the place in the schema and the keyword.
 */
FL_MUST_USE fl_status fl_schema_compile(fl_span text,
                                        const fl_schema_options *options,
                                        fl_schema **out, fl_error *error);
void fl_schema_free(fl_schema *schema);

enum { FL_SCHEMA_PATH = 128 };

/* The first thing found wrong. */
typedef struct fl_schema_fault {
    char path[FL_SCHEMA_PATH]; /* JSON Pointer in the instance; cut short with
                                  "..." if it is long */
    const char *keyword;       /* of the schema; static */
    char text[256]; /* "/a/b: minimum: must be at least 5", for people */
} fl_schema_fault;

/*
 * Checks one value, a slice of text that fl_json_scan() accepted.
 *
 * FL_OK         it is valid
 * FL_E_INVALID  it is not; `fault`, if wanted, says why
 * FL_E_LIMIT    it could not be decided within the limits; `fault` says which
 * FL_E_NOMEM    likewise, for want of memory; only large values need any
 *
 * A schema serves one thread at a time: it keeps working memory for the next
 * check.
 */
FL_MUST_USE fl_status fl_schema_check(const fl_schema *schema, fl_span instance,
                                      fl_schema_fault *fault);

/* The same where the delimiters of the instance are known: json/nav.h. */
FL_MUST_USE fl_status fl_schema_check_along(const fl_schema *schema,
                                            fl_span instance,
                                            const fl_json_cuts *cuts,
                                            fl_schema_fault *fault);

#endif
