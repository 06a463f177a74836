/*
 * adapt_content.c - parts of an answer that the client has no word for.
 *
 * A sound is a resource to clients of 2024-11-05, and a link is text to those
 * before 2025-06-18: the same words that our own server uses for them.
 */
#include "adapt/adapt_impl.h"

bool fl_adapt_has_parts(const fl_adapt *adapt)
{
    return fl_adapt_lacks(adapt, FL_HAS_AUDIO) ||
           fl_adapt_lacks(adapt, FL_HAS_STRUCTURED_CONTENT);
}

static bool is_string(fl_span value)
{
    return fl_json_type_of(value) == FL_JSON_STRING;
}

static void write_pair(fl_json_writer *writer, const char *key, fl_span json)
{
    if (json.len > 0) {
        fl_json_key(writer, key);
        fl_json_raw(writer, json);
    }
}

/* What any part may have, whatever its type. */
static void write_common(fl_json_writer *writer, fl_span part)
{
    write_pair(writer, "annotations",
               fl_json_get(part, FL_SPAN("annotations")));
    write_pair(writer, "_meta", fl_json_get(part, FL_SPAN("_meta")));
}

static void write_sound(fl_json_writer *writer, fl_span part, fl_span data)
{
    fl_span type = fl_json_get(part, FL_SPAN("mimeType"));

    fl_json_object(writer);
    write_pair(writer, "type", FL_SPAN("\"resource\""));
    fl_json_key(writer, "resource");
    fl_json_object(writer);
    write_pair(writer, "uri", FL_SPAN("\"audio:\""));
    if (is_string(type))
        write_pair(writer, "mimeType", type);
    write_pair(writer, "blob", data);
    fl_json_object_end(writer);
    write_common(writer, part);
    fl_json_object_end(writer);
}

static void replace_sound(fl_edit *edit, fl_span part)
{
    fl_span data = fl_json_get(part, FL_SPAN("data"));
    fl_json_writer writer;

    if (!is_string(data))
        return;
    fl_edit_cut(edit, part);
    fl_json_writer_init(&writer, edit->out);
    write_sound(&writer, part, data);
    fl_edit_note(edit, fl_json_writer_end(&writer));
}

static fl_span inside(fl_span string)
{
    return (fl_span){string.ptr + 1, string.len - 2};
}

/* Two strings make one, escapes and all: a ": " is between them, so that no
 * half of a pair of surrogates finds another. */
static void replace_link(fl_edit *edit, fl_span part)
{
    fl_span name = fl_json_get(part, FL_SPAN("name"));
    fl_span uri = fl_json_get(part, FL_SPAN("uri"));
    fl_span rest[] = {fl_json_get(part, FL_SPAN("annotations")),
                      fl_json_get(part, FL_SPAN("_meta"))};

    if (!is_string(uri))
        return;
    fl_edit_replace(edit, part, FL_SPAN("{\"type\":\"text\",\"text\":\""));
    fl_edit_put(edit, is_string(name) ? inside(name) : FL_SPAN("resource"));
    fl_edit_put(edit, FL_SPAN(": "));
    fl_edit_put(edit, inside(uri));
    fl_edit_put(edit, FL_SPAN("\""));
    if (rest[0].len > 0) {
        fl_edit_put(edit, FL_SPAN(",\"annotations\":"));
        fl_edit_put(edit, rest[0]);
    }
    if (rest[1].len > 0) {
        fl_edit_put(edit, FL_SPAN(",\"_meta\":"));
        fl_edit_put(edit, rest[1]);
    }
    fl_edit_put(edit, FL_SPAN("}"));
}

void fl_adapt_part(const fl_adapt *adapt, fl_edit *edit, fl_span part)
{
    fl_span type = fl_json_get(part, FL_SPAN("type"));

    if (!fl_revision_has(adapt->to, FL_HAS_AUDIO) &&
        fl_json_string_is(type, FL_SPAN("audio")))
        replace_sound(edit, part);
    else if (!fl_revision_has(adapt->to, FL_HAS_STRUCTURED_CONTENT) &&
             fl_json_string_is(type, FL_SPAN("resource_link")))
        replace_link(edit, part);
}

void fl_adapt_put_text_part(fl_edit *edit, fl_span json)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, edit->out);
    fl_json_object(&writer);
    fl_json_key(&writer, "type");
    fl_json_string(&writer, "text");
    fl_json_key(&writer, "text");
    fl_json_text(&writer, json);
    fl_json_object_end(&writer);
    fl_edit_note(edit, fl_json_writer_end(&writer));
}
