/*
 * method_skills.c - skills/list, skills/get and resources/directory/read.
 *
 * SEP-2640. The extension is of the modern era, where each list says how long
 * it may be kept; an older client that asks is answered all the same, in the
 * words of its revision.
 */
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/cache.h"
#include "server/methods.h"
#include "server/mime.h"
#include "server/resources.h"
#include "server/server.h"
#include "server/skill.h"
#include "server/skills.h"

#include "json/nav.h"

#include <string.h>

enum { URI_MAX = 4 * FL_BELOW_PATH_MAX };

static void say_no_memory(const fl_return *to, const fl_msg *msg)
{
    fl_return_error(to, msg->id, FL_RPC_INTERNAL_ERROR,
                    FL_SPAN("out of memory"), (fl_span){0});
}

static void refuse_uri(const fl_return *to, const fl_msg *msg, const char *why)
{
    fl_return_refuse(to, msg->id, FL_RPC_INVALID_PARAMS, why, "uri",
                     msg->inner.uri);
}

static void refuse_cursor(const fl_return *to, const fl_msg *msg,
                          fl_span cursor)
{
    fl_return_refuse(to, msg->id, FL_RPC_INVALID_PARAMS,
                     "unknown cursor: begin again without one", "cursor",
                     cursor);
}

static fl_span cursor_of(const fl_msg *msg)
{
    return fl_json_get(msg->params, FL_SPAN("cursor"));
}

void fl_method_skills_list(const fl_return *to, const fl_msg *msg)
{
    fl_server *server = to->session->server;
    fl_catalog_page page = {
        .revision = to->revision,
        .cursor = cursor_of(msg),
        .size = server->page_size,
    };
    fl_span result;
    fl_status rc = fl_catalog_list(&server->skills->catalog, &page,
                                   fl_loop_scratch(to->session->loop), &result);

    if (rc == FL_OK)
        fl_return_result(to, msg->id, result);
    else if (rc == FL_E_INVALID)
        refuse_cursor(to, msg, page.cursor);
    else
        say_no_memory(to, msg);
}

static void answer_skill(const fl_return *to, const fl_msg *msg,
                         const fl_skills_entry *skill)
{
    fl_buf *out = fl_loop_scratch(to->session->loop);
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "skill");
    fl_json_raw(&writer, fl_buf_view(&skill->json));
    if (fl_revision_has(to->revision, FL_HAS_DISCOVER))
        fl_cache_write_hints(&writer);
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) == FL_OK)
        fl_return_result(to, msg->id, fl_buf_view(out));
    else
        say_no_memory(to, msg);
}

void fl_method_skills_get(const fl_return *to, const fl_msg *msg)
{
    if (fl_json_type_of(msg->inner.uri) != FL_JSON_STRING) {
        fl_methods_refuse(to, msg, "params.uri must be a string");
        return;
    }
    const fl_skills_entry *skill =
        (const fl_skills_entry *)fl_catalog_find_token(
            &to->session->server->skills->catalog, msg->inner.uri);
    if (skill == NULL)
        refuse_uri(to, msg, "no skill is served there");
    else
        answer_skill(to, msg, skill);
}

/* What a listed resource says of itself, or what can be said of a file. */
static void write_child(fl_json_writer *writer, const fl_return *to,
                        const fl_manifest_item *item, const char *uri)
{
    fl_catalog *listed = &to->session->server->catalogs[FL_LIST_RESOURCES];
    fl_entry *entry = fl_catalog_find(listed, fl_span_of(uri));
    const fl_mime *mime = fl_mime_of(fl_span_of(item->path));
    const char *type = mime != NULL ? mime->type : NULL;

    if (entry != NULL) {
        fl_resources_kind.write(writer, entry, to->revision);
        return;
    }
    fl_json_object(writer);
    fl_catalog_write_text(writer, "uri", uri);
    fl_catalog_write_text(writer, "name", strrchr(item->path, '/') + 1);
    fl_catalog_write_text(writer, "mimeType",
                          item->is_directory ? "inode/directory" : type);
    if (!item->is_directory) {
        fl_json_key(writer, "size");
        fl_json_integer(writer, (int64_t)item->size);
    }
    fl_json_object_end(writer);
}

static bool is_child(const fl_manifest_item *item, fl_span parent)
{
    fl_span path = fl_span_of(item->path);

    return fl_span_starts(path, parent) && path.len > parent.len &&
           path.ptr[parent.len] == '/' &&
           strchr(path.ptr + parent.len + 1, '/') == NULL;
}

static fl_status write_children(fl_json_writer *writer, const fl_return *to,
                                const fl_skills_place *place)
{
    const fl_manifest *files = &place->root->files;
    fl_span parent = fl_span_of(place->item->path);
    fl_status rc = FL_OK;
    fl_buf uri;

    fl_buf_init(&uri, URI_MAX);
    for (size_t i = 0; i < files->count && rc == FL_OK; i++) {
        if (!is_child(&files->items[i], parent))
            continue;
        fl_buf_clear(&uri);
        rc = fl_skill_uri(fl_span_of(files->items[i].path), &uri);
        if (rc == FL_OK)
            write_child(writer, to, &files->items[i], fl_buf_view(&uri).ptr);
    }
    fl_buf_reset(&uri);
    return rc;
}

static void answer_directory(const fl_return *to, const fl_msg *msg,
                             const fl_skills_place *place)
{
    fl_buf *out = fl_loop_scratch(to->session->loop);
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "resources");
    fl_json_array(&writer);
    fl_status rc = write_children(&writer, to, place);
    fl_json_array_end(&writer);
    fl_json_object_end(&writer);
    fl_status written = fl_json_writer_end(&writer);
    if (rc == FL_OK && written == FL_OK)
        fl_return_result(to, msg->id, fl_buf_view(out));
    else
        say_no_memory(to, msg);
}

/* Always one page, for no skill has more than so many files. */
void fl_method_directory_read(const fl_return *to, const fl_msg *msg)
{
    fl_span cursor = cursor_of(msg), uri;
    fl_skills_place place;
    fl_buf text;

    if (cursor.len > 0) {
        refuse_cursor(to, msg, cursor);
        return;
    }
    fl_buf_init(&text, FL_RESOURCES_URI_MAX);
    if (fl_methods_uri(to, msg, &text, &uri)) {
        fl_status rc = fl_skills_locate(to->session->server, uri, &place);
        if (rc == FL_E_NOMEM)
            say_no_memory(to, msg);
        else if (rc != FL_OK)
            refuse_uri(to, msg, "there is no such directory");
        else if (!place.item->is_directory)
            refuse_uri(to, msg, "it is not a directory");
        else
            answer_directory(to, msg, &place);
    }
    fl_buf_reset(&text);
}
