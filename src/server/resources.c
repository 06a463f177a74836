/*
 * resources.c - the resources and resource templates of a server, and how each
 * revision lists them.
 *
 * A template is a resource whose URI has holes: it is added, listed and read
 * in the same way, but found by what fits it, in the order they were added.
 */
#include "server/resources.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"

static void write_entry(fl_json_writer *writer, const fl_entry *entry,
                        const fl_revision *revision)
{
    const fl_resources_entry *made = (const fl_resources_entry *)entry;
    const fl_resource *resource = &made->resource;
    bool titled = fl_revision_has(revision, FL_HAS_TITLE);

    fl_json_object(writer);
    fl_catalog_write_text(
        writer, made->template != NULL ? "uriTemplate" : "uri", resource->uri);
    fl_catalog_write_text(writer, "name", resource->name);
    if (titled)
        fl_catalog_write_text(writer, "title", resource->title);
    fl_catalog_write_text(writer, "description", resource->description);
    fl_catalog_write_text(writer, "mimeType", resource->mime_type);
    if (made->template == NULL && resource->size > 0) {
        fl_json_key(writer, "size");
        fl_json_integer(writer, (int64_t)resource->size);
    }
    fl_catalog_write_json(writer, "annotations", resource->annotations);
    if (fl_revision_has(revision, FL_HAS_ICONS))
        fl_catalog_write_json(writer, "icons", resource->icons);
    if (titled) /* _meta came with titles */
        fl_catalog_write_json(writer, "_meta", resource->meta);
    fl_json_object_end(writer);
}

const fl_catalog_kind fl_resources_kind = {.member = "resources",
                                           .write = write_entry};
const fl_catalog_kind fl_templates_kind = {.member = "resourceTemplates",
                                           .write = write_entry};

static void free_entry(fl_entry *entry)
{
    fl_template_free(((fl_resources_entry *)entry)->template);
    fl_mem_free(entry);
}

/* The resource and all its texts in one block. */
static fl_resources_entry *copy(const fl_resource *resource)
{
    const char *texts[] = {resource->uri,       resource->name,
                           resource->title,     resource->description,
                           resource->mime_type, resource->annotations,
                           resource->icons,     resource->meta};
    fl_resources_entry *made =
        fl_catalog_copy(sizeof *made, texts, sizeof texts / sizeof *texts);

    if (made == NULL)
        return NULL;
    made->resource = (fl_resource){
        .uri = texts[0],
        .name = texts[1],
        .title = texts[2],
        .description = texts[3],
        .mime_type = texts[4],
        .size = resource->size,
        .annotations = texts[5],
        .icons = texts[6],
        .meta = texts[7],
        .read = resource->read,
        .complete = resource->complete,
        .user = resource->user,
    };
    made->entry = (fl_entry){
        .key = made->resource.uri,
        .run = resource->read,
        .complete = resource->complete,
        .user = resource->user,
        .refs = 1,
        .free = free_entry,
    };
    return made;
}

static bool is_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* What is wrong with it, or NULL. */
static const char *find_fault(const fl_resource *resource)
{
    if (!is_text(resource->uri))
        return "it has no URI";
    if (!is_text(resource->name))
        return "it has no name";
    if (resource->read == NULL)
        return "it has no handler";
    if (resource->size > INT64_MAX)
        return "its size is no size";
    if (!fl_catalog_is_json(resource->annotations, '{'))
        return "annotations is not a JSON object";
    if (!fl_catalog_is_json(resource->icons, '['))
        return "icons is not a JSON array";
    if (!fl_catalog_is_json(resource->meta, '{'))
        return "meta is not a JSON object";
    return NULL;
}

/* Takes the template over. */
static fl_status add(fl_catalog *catalog, const fl_resource *resource,
                     fl_template *template)
{
    fl_resources_entry *made = copy(resource);

    if (made == NULL) {
        fl_template_free(template);
        return FL_E_NOMEM;
    }
    made->template = template;
    fl_status rc = fl_catalog_add(catalog, &made->entry);
    if (rc != FL_OK)
        fl_entry_unref(&made->entry);
    return rc;
}

fl_status fl_resources_add(fl_catalog *resources, const fl_resource *resource,
                           fl_error *error)
{
    const char *fault = find_fault(resource);

    return fault == NULL ? add(resources, resource, NULL)
                         : fl_error_set(error, FL_E_INVALID, "%s", fault);
}

fl_status fl_templates_add(fl_catalog *templates, const fl_resource *resource,
                           fl_error *error)
{
    const char *fault = find_fault(resource);
    fl_template *template;

    if (fault != NULL)
        return fl_error_set(error, FL_E_INVALID, "%s", fault);
    fl_status rc = fl_template_new(fl_span_of(resource->uri), &template, error);
    if (rc != FL_OK)
        return rc == FL_E_NOMEM ? rc : FL_E_INVALID;
    return add(templates, resource, template);
}

fl_status fl_templates_match(const fl_catalog *templates, fl_span uri,
                             fl_buf *arguments, fl_resources_entry **found)
{
    *found = NULL;
    for (size_t i = 0; i < templates->count; i++) {
        fl_resources_entry *entry =
            (fl_resources_entry *)fl_catalog_at(templates, i);
        fl_status rc = fl_template_match(entry->template, uri, arguments);
        if (rc == FL_OK)
            *found = entry;
        if (rc != FL_E_NOT_FOUND)
            return rc;
    }
    return FL_E_NOT_FOUND;
}

fl_status fl_resources_find(fl_catalog *catalogs, fl_span uri,
                            fl_buf *arguments, fl_resources_entry **found)
{
    fl_entry *exact = fl_catalog_find(&catalogs[FL_LIST_RESOURCES], uri);

    *found = (fl_resources_entry *)exact;
    return exact != NULL ? FL_OK
                         : fl_templates_match(&catalogs[FL_LIST_TEMPLATES], uri,
                                              arguments, found);
}
