/*
 * dialect.c - what a $schema means.
 *
 * Dialects are known by name. Another name is that of a document we were
 * given, a metaschema: the vocabularies it lists say which keywords count.
 */
#include "base/span.h"
#include "base/status.h"
#include "schema/compile.h"
#include "schema/uri.h"
#include "json/nav.h"

enum { MOST_HOPS = 8 }; /* from metaschema to metaschema */

static bool known_dialect(fl_span name, fl_resource *resource)
{
    static const struct {
        const char *name;
        unsigned draft;
    } known[] = {
        {"https://json-schema.org/draft/2020-12/schema", FL_DRAFT_2020},
        {"https://json-schema.org/draft/2019-09/schema", FL_DRAFT_2019},
        {"http://json-schema.org/draft-07/schema", FL_DRAFT_07},
        {"https://json-schema.org/draft-07/schema", FL_DRAFT_07},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (fl_span_equal(name, fl_span_of(known[i].name))) {
            resource->draft = known[i].draft;
            resource->vocabulary = FL_VOCABULARY_ALL;
            return true;
        }
    return false;
}

/* The bits of a vocabulary, which are none for those that only annotate; -1
 * if it is not known. */
static int vocabulary_bits(fl_span uri, unsigned *draft)
{
    static const struct {
        const char *name;
        int bits;
    } known[] = {
        {"core", FL_VOCABULARY_CORE},
        {"applicator", FL_VOCABULARY_APPLICATOR},
        {"unevaluated", FL_VOCABULARY_UNEVALUATED},
        {"validation", FL_VOCABULARY_VALIDATION},
        {"format-annotation", FL_VOCABULARY_FORMAT},
        {"format-assertion", FL_VOCABULARY_FORMAT | FL_VOCABULARY_ASSERT},
        {"format", FL_VOCABULARY_FORMAT},
        {"meta-data", 0},
        {"content", 0},
    };
    const fl_span new = FL_SPAN("https://json-schema.org/draft/2020-12/vocab/");
    const fl_span old = FL_SPAN("https://json-schema.org/draft/2019-09/vocab/");

    if (!fl_span_starts(uri, new) && !fl_span_starts(uri, old))
        return -1;
    *draft = fl_span_starts(uri, new) ? FL_DRAFT_2020 : FL_DRAFT_2019;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (fl_span_equal(fl_span_from(uri, new.len),
                          fl_span_of(known[i].name)))
            return known[i].bits;
    return -1;
}

static fl_status read_vocabulary(const fl_site *site, fl_span list,
                                 fl_resource *resource)
{
    fl_json_walk walk;
    fl_json_member member;
    unsigned bits = 0;

    fl_json_walk_init(&walk, list);
    while (fl_json_walk_next(&walk, &member)) {
        int known = vocabulary_bits(member.key, &resource->draft);
        int shown = member.key.len < 100 ? (int)member.key.len : 100;
        if (known >= 0)
            bits |= (unsigned)known;
        else if (fl_json_type_of(member.value) == FL_JSON_TRUE)
            return fl_site_fail(site, FL_E_UNSUPPORTED,
                                "the vocabulary \"%.*s\" is not known", shown,
                                member.key.ptr);
    }
    /* in 2019-09 what is not evaluated was the applicators' affair */
    if (resource->draft == FL_DRAFT_2019 &&
        (bits & FL_VOCABULARY_APPLICATOR) != 0)
        bits |= FL_VOCABULARY_UNEVALUATED;
    resource->vocabulary = bits | FL_VOCABULARY_CORE;
    return FL_OK;
}

static fl_span find_document(const fl_compiler *c, fl_span uri)
{
    const fl_schema_options *options = &c->options;

    for (size_t i = 0; i < options->document_count; i++)
        if (fl_span_equal(fl_uri_without_fragment(options->documents[i].uri),
                          uri))
            return options->documents[i].text;
    return (fl_span){0};
}

/* The metaschema's list of vocabularies, or else the name of its own. */
static fl_status read_metaschema(const fl_site *site, fl_span uri,
                                 fl_resource *resource, fl_span *next)
{
    fl_span text = find_document(site->compiler, uri);
    int shown = uri.len < 120 ? (int)uri.len : 120;
    fl_json_top top;

    if (text.len == 0)
        return fl_site_fail(site, FL_E_NOT_FOUND,
                            "the dialect \"%.*s\" is not known", shown,
                            uri.ptr);
    if (text.len > site->compiler->options.max_bytes ||
        fl_json_scan(text, 0, &top, NULL) != FL_OK)
        return fl_site_fail(site, FL_E_INVALID, "\"%.*s\" is no metaschema",
                            shown, uri.ptr);
    fl_span list = fl_json_get(top.value, FL_SPAN("$vocabulary"));
    *next = (fl_span){0};
    if (fl_json_type_of(list) == FL_JSON_OBJECT)
        return read_vocabulary(site, list, resource);
    list = fl_json_get(top.value, FL_SPAN("$schema"));
    if (fl_json_type_of(list) != FL_JSON_STRING)
        return FL_OK;
    fl_status rc = fl_site_string(site, list, next);
    *next = fl_uri_without_fragment(*next);
    return rc;
}

fl_status fl_dialect_read(const fl_site *where, fl_span name,
                          fl_resource *resource)
{
    fl_site site = *where;
    fl_span uri;

    site.keyword = "$schema";
    fl_status rc = fl_site_string(&site, name, &uri);
    if (rc != FL_OK)
        return rc;
    uri = fl_uri_without_fragment(uri);
    for (int hop = 0; hop < MOST_HOPS; hop++) {
        if (uri.len == 0 || known_dialect(uri, resource))
            return FL_OK;
        rc = read_metaschema(&site, uri, resource, &uri);
        if (rc != FL_OK)
            return rc;
    }
    return fl_site_fail(&site, FL_E_INVALID, "leads from one to the next");
}
