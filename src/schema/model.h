/*
 * model.h - what a schema is once it is compiled.
 *
 * A schema object becomes a node. Its keywords are sorted by what they speak
 * of, so that a check looks only at those that can matter: a number never
 * meets the rules for objects. All of it lies in the schema's arena and points
 * into copies of the documents; nothing here is written to after compiling,
 * but for the scratch.
 */
#ifndef FL_SCHEMA_MODEL_H
#define FL_SCHEMA_MODEL_H

#include "base/buf.h"
#include "schema/arena.h"
#include "schema/format.h"
#include "schema/numeral.h"
#include "schema/pattern.h"
#include "schema/schema.h"

typedef struct fl_node fl_node;
typedef struct fl_resource fl_resource;

/* Bits of fl_node.types. */
enum {
    FL_TYPE_NULL = 1,
    FL_TYPE_BOOLEAN = 2,
    FL_TYPE_OBJECT = 4,
    FL_TYPE_ARRAY = 8,
    FL_TYPE_NUMBER = 16,
    FL_TYPE_STRING = 32,
    FL_TYPE_INTEGER = 64, /* whole numbers only */
};

/* enum and const: values as they are written. Many are sorted by hash. */
typedef struct fl_value_set {
    const char *keyword;
    size_t count;
    fl_span *values;
    uint64_t *hashes; /* NULL: there are few, look at each */
    fl_span source;   /* for faults */
} fl_value_set;

typedef struct fl_bound {
    fl_span text; /* empty: there is none */
    fl_numeral value;
} fl_bound;

typedef struct fl_number_rules {
    fl_bound minimum, maximum, above, below; /* the latter two exclusive */
    fl_span multiple;
    fl_divisor divisor;
} fl_number_rules;

typedef struct fl_string_rules {
    size_t min, max; /* code points */
    const fl_pattern *pattern;
    fl_span pattern_text;
    const fl_format *format;
} fl_string_rules;

typedef struct fl_array_rules {
    fl_node **prefix;
    size_t prefix_count;
    fl_node *items; /* those after the prefix */
    fl_node *contains;
    fl_node *unevaluated;
    size_t min, max;
    size_t min_contains, max_contains;
    bool unique;
    bool contains_marks;     /* what it finds counts as evaluated */
    const char *prefix_name; /* what the keywords are called here */
    const char *items_name;
    fl_node *rest; /* additionalItems, while compiling */
} fl_array_rules;

/* What the presence of a property asks for: another one, or a schema. */
typedef struct fl_dependent {
    struct fl_dependent *next;
    const char *keyword;
    size_t required; /* a property's number, if node is NULL */
    fl_node *node;
} fl_dependent;

/* A property that the schema names, for whatever reason. */
typedef struct fl_property {
    fl_span name;
    uint64_t hash;
    fl_node *node; /* NULL: it is not in `properties` */
    fl_dependent *dependents;
    bool required;
} fl_property;

typedef struct fl_pattern_rule {
    struct fl_pattern_rule *next;
    const fl_pattern *pattern;
    fl_node *node;
} fl_pattern_rule;

typedef struct fl_object_rules {
    fl_property *properties;
    size_t property_count, property_cap;
    uint32_t *slots;   /* number + 1 by hash; NULL: few, look at each */
    size_t slot_count; /* a power of two */
    bool has_required, has_dependents;
    uint64_t required; /* a bit each, where quick.c has a use for it */
    fl_pattern_rule *patterns;
    fl_node *additional;
    fl_node *names;
    fl_node *unevaluated;
    size_t min, max;
} fl_object_rules;

typedef enum fl_apply_kind {
    FL_APPLY_REF,
    FL_APPLY_DYNAMIC_REF,
    FL_APPLY_ALL,
    FL_APPLY_ANY,
    FL_APPLY_ONE,
    FL_APPLY_NOT,
    FL_APPLY_IF, /* nodes: if, then, else; the latter two may be NULL */
} fl_apply_kind;

/* Schemas applied to the same value. */
typedef struct fl_apply {
    struct fl_apply *next;
    fl_apply_kind kind;
    const char *keyword;
    size_t count;
    fl_node **nodes;
    fl_span name; /* the anchor of a dynamic reference */
} fl_apply;

typedef enum fl_verdict {
    FL_VERDICT_RULES,
    FL_VERDICT_TRUE,
    FL_VERDICT_FALSE,
} fl_verdict;

struct fl_node {
    fl_span text;
    fl_resource *resource;
    fl_node *next; /* in the order of the document */
    fl_verdict verdict;
    unsigned char types; /* 0: any */
    fl_value_set *allowed, *constant;
    fl_number_rules *number;
    fl_string_rules *string;
    fl_array_rules *array;
    fl_object_rules *object;
    fl_apply *applies;
    fl_apply **last;    /* while compiling */
    fl_node *branch[3]; /* if, then, else: while compiling */
};

typedef struct fl_dynamic_anchor {
    struct fl_dynamic_anchor *next;
    fl_span name;
    fl_node *node;
} fl_dynamic_anchor;

/* A schema with an identifier of its own, and what is inside of it. */
struct fl_resource {
    fl_span uri;
    fl_node *root;
    fl_dynamic_anchor *dynamic;
    uint32_t number;
    unsigned draft;      /* FL_DRAFT_... */
    unsigned vocabulary; /* FL_VOCABULARY_... */
};

/* The only part that a check changes. */
typedef struct fl_scratch {
    fl_buf text; /* a string without its escapes */
    fl_patterns patterns;
} fl_scratch;

struct fl_schema {
    fl_arena arena;
    const fl_node *root;
    fl_scratch *scratch;
    uint64_t seed[2];
    size_t quick; /* how long an instance quick.c may check; 0: none */
    unsigned max_depth;
    uint64_t max_steps;
};

#endif
