/*
 * files.c - the directories whose files a server has as resources.
 *
 * Each is a mount: a root that is kept open, and a prefix that its URIs begin
 * with. One template stands for all files of a mount, listed or not, and the
 * path is read off the URI itself rather than off the template's variable,
 * for only there an encoded slash can still be told from a slash.
 *
 * Listing is a courtesy: what was there when we looked. Reading goes by what
 * is there when it is read.
 */
#include "server/files.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "server/mount.h"
#include "server/paths.h"
#include "server/resources.h"
#include "server/serve_file.h"

#include <string.h>

enum {
    MAX_BYTES = 8 * 1024 * 1024,
    MOST_BYTES = 1024 * 1024 * 1024, /* whatever a program asks for */
    MAX_LISTED = 1000,
    URI_MAX = 2 * FL_BELOW_PATH_MAX,
};

static void free_mount(fl_mount *m)
{
    fl_below_close(&m->root);
    fl_manifest_deinit(&m->files);
    fl_mem_free(m->directory);
    fl_mem_free(m->prefix);
    fl_mem_free(m->annotations);
    fl_mem_free(m);
}

void fl_files_free(fl_server *server)
{
    fl_list *node;

    while ((node = fl_list_take(&server->mounts)) != NULL)
        free_mount(FL_LIST_ENTRY(node, fl_mount, node));
}

/* The path a URI of this mount means, with a NUL at its end. */
static fl_status read_path(const fl_mount *m, fl_span uri, fl_buf *path)
{
    fl_span prefix = fl_span_of(m->prefix);

    if (!fl_span_starts(uri, prefix))
        return FL_E_INVALID;
    fl_status rc = fl_paths_decode(fl_span_from(uri, prefix.len), path);
    if (rc == FL_OK && !fl_below_is_path(fl_buf_view(path), m->how))
        rc = FL_E_INVALID;
    return rc == FL_OK ? fl_buf_append(path, (fl_span){"", 1}) : rc;
}

void fl_mount_read(fl_call *call, void *user)
{
    const fl_mount *m = user;
    fl_buf path;

    fl_buf_init(&path, FL_BELOW_PATH_MAX);
    fl_status rc = read_path(m, fl_call_uri(call), &path);
    if (rc == FL_OK)
        fl_serve_file(call, &(fl_file_place){.root = m->root,
                                             .path = fl_buf_view(&path).ptr,
                                             .max = m->max_bytes,
                                             .how = m->how});
    else if (rc == FL_E_NOMEM)
        fl_call_fail(call, "out of memory");
    else
        fl_call_not_found(call);
    fl_buf_reset(&path);
}

/* Paths that are listed and begin so. */
static void complete_path(fl_call *call, void *user)
{
    const fl_mount *m = user;
    fl_span begun = fl_call_prefix(call);

    for (size_t i = fl_manifest_seek(&m->files, begun); i < m->files.count;
         i++) {
        fl_span path = fl_span_of(m->files.items[i].path);
        if (!fl_span_starts(path, begun))
            break;
        fl_call_suggest(call, path);
    }
    fl_call_finish(call);
}

/* The beginning of a URI: a scheme, a colon, and nothing that would have to be
 * encoded, or that a template would take for its own. */
static bool is_prefix(fl_span text)
{
    size_t colon = fl_span_find(text, ':');

    if (colon == 0 || colon == text.len || text.len > FL_BELOW_PATH_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~' ||
            strchr("{}\"<>\\^`|%?#", text.ptr[i]) != NULL)
            return false;
    return true;
}

static bool copy_texts(fl_mount *m, const fl_files *files)
{
    m->directory = fl_mem_string(fl_span_of(files->root));
    m->prefix = fl_mem_string(
        fl_span_of(files->uri_prefix != NULL ? files->uri_prefix : "file:///"));
    if (files->annotations != NULL)
        m->annotations = fl_mem_string(fl_span_of(files->annotations));
    return m->directory != NULL && m->prefix != NULL &&
           (files->annotations == NULL || m->annotations != NULL);
}

static unsigned how_of(const fl_files *files)
{
    return (files->hidden ? (unsigned)FL_BELOW_HIDDEN : 0) |
           (files->follow_links ? (unsigned)FL_BELOW_FOLLOW : 0);
}

static fl_status make_mount(fl_server *server, const fl_files *files,
                            fl_mount **made)
{
    fl_mount *m = fl_mem_zalloc(sizeof *m);

    *made = m;
    if (m == NULL)
        return FL_E_NOMEM;
    fl_list_init(&m->node);
    m->server = server;
    m->root = -1;
    m->how = how_of(files);
    m->max_bytes = files->max_bytes > 0 ? files->max_bytes : MAX_BYTES;
    if (m->max_bytes > MOST_BYTES)
        m->max_bytes = MOST_BYTES;
    m->max_listed = files->max_listed > 0 ? files->max_listed : MAX_LISTED;
    m->template_only = files->template_only;
    if (!copy_texts(m, files))
        return FL_E_NOMEM;
    return fl_below_root(m->directory, &m->root);
}

static fl_status add_template(fl_mount *m, const fl_files *files)
{
    fl_buf uri;

    fl_buf_init(&uri, URI_MAX);
    fl_status rc = fl_buf_printf(&uri, "%s{+path}", m->prefix);
    if (rc == FL_OK)
        rc = fl_buf_append(&uri, (fl_span){"", 1});
    if (rc == FL_OK)
        rc = fl_templates_add(
            &m->server->catalogs[FL_LIST_TEMPLATES],
            &(fl_resource){.uri = fl_buf_view(&uri).ptr,
                           .name = files->name != NULL ? files->name : "files",
                           .title = files->title,
                           .description = files->description,
                           .annotations = files->annotations,
                           .read = fl_mount_read,
                           .complete = complete_path,
                           .user = m},
            NULL);
    fl_buf_reset(&uri);
    return rc;
}

static fl_status complain(fl_server *server, const fl_files *files,
                          fl_status rc)
{
    return fl_error_set(&server->error, rc, "files below '%.160s': %s",
                        files->root != NULL ? files->root : "",
                        rc == FL_E_INVALID
                            ? "the prefix is not the beginning of a URI, or "
                              "the annotations are no JSON object"
                            : fl_status_text(rc));
}

fl_status fl_server_add_files(fl_server *server, const fl_files *files)
{
    fl_mount *m = NULL;
    bool changed = false;
    bool sound = files->root != NULL &&
                 (files->uri_prefix == NULL ||
                  is_prefix(fl_span_of(files->uri_prefix))) &&
                 fl_catalog_is_json(files->annotations, '{');
    fl_status rc =
        sound ? make_mount(server, files, &m) : (fl_status)FL_E_INVALID;

    if (rc == FL_OK)
        rc = add_template(m, files);
    if (rc != FL_OK) {
        if (m != NULL)
            free_mount(m);
        return complain(server, files, rc);
    }
    fl_list_append(&server->mounts, &m->node); /* the template refers to it */
    rc = fl_mount_rescan(m, &changed);
    fl_server_list_changed(server, FL_LIST_RESOURCES);
    return rc == FL_OK ? rc : complain(server, files, rc);
}

/* A root that cannot be opened any more is used as it was. */
static void reopen(fl_mount *m)
{
    int root;

    if (fl_below_root(m->directory, &root) != FL_OK)
        return;
    fl_below_close(&m->root);
    m->root = root;
}

fl_status fl_server_files_rescan(fl_server *server)
{
    bool changed = false;
    fl_status rc = FL_OK;

    for (fl_list *node = server->mounts.next; node != &server->mounts;
         node = node->next) {
        fl_mount *m = FL_LIST_ENTRY(node, fl_mount, node);
        reopen(m);
        fl_status step = fl_mount_rescan(m, &changed);
        if (rc == FL_OK)
            rc = step;
    }
    if (changed)
        fl_server_list_changed(server, FL_LIST_RESOURCES);
    return rc;
}

static size_t count_listed(const fl_manifest *files)
{
    size_t listed = 0;

    for (size_t i = 0; i < files->count; i++)
        listed += files->items[i].uri != NULL;
    return listed;
}

fl_status fl_server_files_count(const fl_server *server, const char *uri_prefix,
                                fl_files_count *count)
{
    *count = (fl_files_count){0};
    for (fl_list *node = server->mounts.next; node != &server->mounts;
         node = node->next) {
        const fl_mount *m = FL_LIST_ENTRY(node, fl_mount, node);
        if (!fl_span_equal(fl_span_of(m->prefix), fl_span_of(uri_prefix)))
            continue;
        *count = (fl_files_count){
            .listed = count_listed(&m->files),
            .unnamed = m->files.skips.unnamed,
            .others = m->files.skips.unlisted,
            .more = m->files.more,
        };
        return FL_OK;
    }
    return FL_E_NOT_FOUND;
}
