/*
 * content_media.c - parts of an answer that are more than text: images,
 * sounds, and resources whole or by name.
 *
 * What a revision has no word for is said in one it has: a sound is a resource
 * to a client of 2024-11-05, and a link is text to those before 2025-06-18.
 */
#include "base/span.h"
#include "server/content.h"
#include "server/resources.h"
#include "json/nav.h"

static void write_member(fl_json_writer *writer, const char *key,
                         const char *text)
{
    fl_catalog_write_text(writer, key, text);
}

static void add_media(fl_call *call, const char *type, fl_span bytes,
                      const char *mime_type)
{
    fl_content *content = fl_content_of(call);
    fl_json_writer writer;

    if (content == NULL)
        return;
    fl_content_begin(call, content, &writer);
    fl_json_object(&writer);
    write_member(&writer, "type", type);
    fl_json_key(&writer, "data");
    fl_json_base64(&writer, bytes);
    write_member(&writer, "mimeType", mime_type);
    fl_json_object_end(&writer);
    fl_content_end(call, content, &writer);
}

void fl_call_add_image(fl_call *call, fl_span bytes, const char *mime_type)
{
    if (call->kind == FL_CALL_READ)
        fl_call_add_blob(call, NULL, mime_type, bytes);
    else
        add_media(call, "image", bytes, mime_type);
}

void fl_call_add_audio(fl_call *call, fl_span bytes, const char *mime_type)
{
    if (call->kind == FL_CALL_READ)
        fl_call_add_blob(call, NULL, mime_type, bytes);
    else if (fl_revision_has(call->to.revision, FL_HAS_AUDIO))
        add_media(call, "audio", bytes, mime_type);
    else
        fl_call_add_blob(call, "audio:", mime_type, bytes);
}

/* One that is being read says what it is itself. */
static void write_identity(fl_call *call, fl_json_writer *writer,
                           const char *uri, const char *mime_type)
{
    bool reading = call->kind == FL_CALL_READ;

    fl_json_key(writer, "uri");
    if (uri == NULL && reading)
        fl_json_raw(writer, call->msg->inner.uri);
    else
        fl_json_string(writer, uri != NULL ? uri : "");
    if (mime_type == NULL && reading)
        mime_type =
            ((const fl_resources_entry *)call->entry)->resource.mime_type;
    write_member(writer, "mimeType", mime_type);
}

/* Text is written, bytes are coded; only the last member differs. */
static void add_resource(fl_call *call, const char *uri, const char *mime_type,
                         fl_span contents, bool is_text)
{
    fl_content *content = fl_content_of(call);
    bool embedded = call->kind != FL_CALL_READ;
    fl_json_writer writer;

    if (content == NULL)
        return;
    fl_content_begin(call, content, &writer);
    fl_json_object(&writer);
    if (embedded) {
        write_member(&writer, "type", "resource");
        fl_json_key(&writer, "resource");
        fl_json_object(&writer);
    }
    write_identity(call, &writer, uri, mime_type);
    fl_json_key(&writer, is_text ? "text" : "blob");
    if (is_text)
        fl_json_text(&writer, contents);
    else
        fl_json_base64(&writer, contents);
    if (embedded)
        fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    fl_content_end(call, content, &writer);
}

void fl_call_add_document(fl_call *call, const char *uri, const char *mime_type,
                          fl_span text)
{
    add_resource(call, uri, mime_type, text, true);
}

void fl_call_add_blob(fl_call *call, const char *uri, const char *mime_type,
                      fl_span bytes)
{
    add_resource(call, uri, mime_type, bytes, false);
}

static void write_link(fl_json_writer *writer, const fl_resource *resource,
                       const fl_revision *revision)
{
    fl_json_object(writer);
    write_member(writer, "type", "resource_link");
    write_member(writer, "uri", resource->uri);
    write_member(writer, "name",
                 resource->name != NULL ? resource->name : resource->uri);
    write_member(writer, "title", resource->title);
    write_member(writer, "description", resource->description);
    write_member(writer, "mimeType", resource->mime_type);
    if (resource->size > 0) {
        fl_json_key(writer, "size");
        fl_json_integer(writer, (int64_t)resource->size);
    }
    fl_catalog_write_json(writer, "annotations", resource->annotations);
    if (fl_revision_has(revision, FL_HAS_ICONS))
        fl_catalog_write_json(writer, "icons", resource->icons);
    fl_catalog_write_json(writer, "_meta", resource->meta);
    fl_json_object_end(writer);
}

void fl_call_add_link(fl_call *call, const fl_resource *resource)
{
    fl_content *content = fl_content_of(call);
    fl_json_writer writer;

    if (content == NULL)
        return;
    if (call->kind == FL_CALL_READ ||
        !fl_revision_has(call->to.revision, FL_HAS_STRUCTURED_CONTENT)) {
        fl_call_addf(call, "%s: %s",
                     resource->name != NULL ? resource->name : "resource",
                     resource->uri);
        return;
    }
    fl_content_begin(call, content, &writer);
    write_link(&writer, resource, call->to.revision);
    fl_content_end(call, content, &writer);
}
