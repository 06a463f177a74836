/*
 * yaml.c - one YAML document, told as JSON.
 *
 * libyaml does the reading, event by event; each event is written as JSON at
 * once, so there is no tree. A key given twice is found with one map for the
 * whole document, whose keys have the number of their mapping in front.
 */
#include "json/yaml.h"

#include "base/map.h"
#include "base/span.h"
#include "base/status.h"
#include "base/utf8.h"
#include "json/write.h"
#include "json/yaml_scalar.h"

#include <string.h>
#include <yaml.h>

typedef struct level {
    bool is_mapping;
    bool at_value; /* the key has been; only in a mapping */
    uint32_t number;
} level;

typedef struct teller {
    fl_json_writer writer;
    fl_map keys; /* of all mappings */
    fl_buf key;
    level levels[FL_YAML_DEPTH];
    unsigned depth;
    uint32_t nodes;
    size_t line;     /* where we are, from 0 */
    const char *why; /* refused, in words */
    bool ended;      /* the document has */
} teller;

static fl_status refuse(teller *t, const char *why)
{
    t->why = why;
    return FL_E_INVALID;
}

static level *innermost(teller *t)
{
    return t->depth > 0 ? &t->levels[t->depth - 1] : NULL;
}

/* The mapping that a key is due in, or NULL. */
static level *at_key(teller *t)
{
    level *in = innermost(t);

    return in != NULL && in->is_mapping && !in->at_value ? in : NULL;
}

/* A value has been begun: a key comes next. */
static void pass(teller *t)
{
    level *in = innermost(t);

    if (in != NULL)
        in->at_value = false;
}

static fl_status count(teller *t)
{
    if (t->nodes == FL_YAML_NODES) {
        t->why = "there are too many values";
        return FL_E_LIMIT;
    }
    t->nodes++;
    return FL_OK;
}

static fl_status open_level(teller *t, bool is_mapping)
{
    if (at_key(t) != NULL)
        return refuse(t, "a key must be a scalar");
    if (t->depth == FL_YAML_DEPTH) {
        t->why = "it is nested too deep";
        return FL_E_TOO_DEEP;
    }
    pass(t);
    t->levels[t->depth++] =
        (level){.is_mapping = is_mapping, .number = t->nodes};
    if (is_mapping)
        fl_json_object(&t->writer);
    else
        fl_json_array(&t->writer);
    return FL_OK;
}

static void close_level(teller *t)
{
    t->depth--;
    if (t->levels[t->depth].is_mapping)
        fl_json_object_end(&t->writer);
    else
        fl_json_array_end(&t->writer);
}

static fl_status remember_key(teller *t, uint32_t number, fl_span key)
{
    fl_status rc = FL_OK;

    fl_buf_clear(&t->key);
    rc = fl_buf_append(&t->key, (fl_span){(char *)&number, sizeof number});
    if (rc == FL_OK)
        rc = fl_buf_append(&t->key, key);
    if (rc == FL_OK)
        rc = fl_map_add(&t->keys, fl_buf_view(&t->key), t);
    return rc == FL_E_IN_USE ? refuse(t, "a key is given twice") : rc;
}

static fl_status tell_key(teller *t, level *in, fl_span key)
{
    if (fl_span_find(key, '\0') < key.len)
        return refuse(t, "a key has a NUL in it");
    fl_status rc = remember_key(t, in->number, key);
    if (rc != FL_OK)
        return rc;
    fl_json_key(&t->writer, key.ptr); /* libyaml ends it with a NUL */
    in->at_value = true;
    return FL_OK;
}

static const char *tag_of(const yaml_char_t *tag)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    const char *text = (const char *)tag;

    if (text == NULL)
        return "";
    return strncmp(text, prefix, sizeof prefix - 1) == 0
               ? text + sizeof prefix - 1
               : text;
}

static fl_status tell_scalar(teller *t, const yaml_event_t *event)
{
    const char *tag = tag_of(event->data.scalar.tag);
    bool plain = event->data.scalar.plain_implicit != 0;
    fl_span text = {(const char *)event->data.scalar.value,
                    event->data.scalar.length};
    level *mapping = at_key(t);

    if (mapping != NULL)
        return tell_key(t, mapping, text);
    pass(t);
    if (strcmp(tag, "!") == 0)
        tag = "str"; /* whatever it looks like */
    return fl_yaml_scalar_write(&t->writer, text, tag, plain && tag[0] == '\0')
               ? FL_OK
               : refuse(t, "it has a tag that does not fit or is not known");
}

static bool is_tag(const yaml_char_t *tag, const char *name)
{
    const char *text = tag_of(tag);

    return text[0] == '\0' || strcmp(text, name) == 0;
}

static fl_status open_tagged(teller *t, const yaml_char_t *tag, bool is_mapping)
{
    if (!is_tag(tag, is_mapping ? "map" : "seq"))
        return refuse(t, "it has a tag that does not fit or is not known");
    fl_status rc = count(t);
    return rc == FL_OK ? open_level(t, is_mapping) : rc;
}

static fl_status tell(teller *t, const yaml_event_t *event)
{
    fl_status rc = FL_OK;

    switch (event->type) {
    case YAML_SCALAR_EVENT:
        rc = count(t);
        return rc == FL_OK ? tell_scalar(t, event) : rc;
    case YAML_MAPPING_START_EVENT:
        return open_tagged(t, event->data.mapping_start.tag, true);
    case YAML_SEQUENCE_START_EVENT:
        return open_tagged(t, event->data.sequence_start.tag, false);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        close_level(t);
        return FL_OK;
    case YAML_ALIAS_EVENT:
        return refuse(t, "aliases are not taken");
    case YAML_DOCUMENT_START_EVENT:
        return t->ended ? refuse(t, "there is a second document") : FL_OK;
    case YAML_DOCUMENT_END_EVENT:
        t->ended = true;
        return FL_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
        break;
    }
    return FL_OK;
}

/* One event; FL_END after the last. */
static fl_status step(teller *t, yaml_parser_t *parser)
{
    yaml_event_t event;

    if (!yaml_parser_parse(parser, &event)) {
        t->why = parser->problem;
        t->line = parser->problem_mark.line;
        return parser->error == YAML_MEMORY_ERROR ? FL_E_NOMEM : FL_E_INVALID;
    }
    bool last = event.type == YAML_STREAM_END_EVENT;
    t->line = event.start_mark.line;
    fl_status rc = tell(t, &event);
    yaml_event_delete(&event);
    return rc == FL_OK && last ? FL_END : rc;
}

static fl_status explain(const teller *t, fl_status rc, fl_error *error)
{
    if (rc == FL_E_NOMEM || t->why == NULL)
        return fl_error_set(error, rc, "%s", fl_status_text(rc));
    return fl_error_set(error, rc, "line %zu: %s", t->line + 1, t->why);
}

static fl_status tell_all(teller *t, fl_span text, fl_error *error)
{
    yaml_parser_t parser;
    fl_status rc = FL_OK;

    if (!yaml_parser_initialize(&parser))
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        &parser, (const unsigned char *)(text.len > 0 ? text.ptr : ""),
        text.len);
    while (rc == FL_OK)
        rc = step(t, &parser);
    if (rc == FL_END && !t->ended)
        fl_json_null(&t->writer); /* nothing at all is null, too */
    if (rc == FL_END)
        rc = fl_json_writer_end(&t->writer);
    if (rc != FL_OK)
        rc = explain(t, rc, error);
    yaml_parser_delete(&parser);
    return rc;
}

fl_status fl_yaml_to_json(fl_span text, fl_buf *out, fl_error *error)
{
    size_t before = fl_buf_len(out);
    teller t = {.why = NULL};

    if (text.len > FL_YAML_BYTES)
        return fl_error_set(error, FL_E_TOO_BIG, "it is longer than %d bytes",
                            FL_YAML_BYTES);
    if (!fl_utf8_valid(text))
        return fl_error_set(error, FL_E_BAD_TEXT, "it is not UTF-8");
    fl_json_writer_init(&t.writer, out);
    fl_map_init(&t.keys, FL_YAML_NODES);
    fl_buf_init(&t.key, FL_YAML_BYTES + sizeof(uint32_t));
    fl_status rc = tell_all(&t, text, error);
    fl_map_deinit(&t.keys);
    fl_buf_reset(&t.key);
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}
