/*
 * mount_list.c - the files of a mount, listed: what was there when we looked.
 *
 * To look again is to compare two lists in order. What has not changed keeps
 * its place in the catalog, so that pages being turned stay as they are.
 */
#include "server/mount.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "server/mime.h"
#include "server/paths.h"
#include "server/resources.h"

#include <string.h>
#include <time.h>

enum { URI_MAX = 4 * FL_BELOW_PATH_MAX, ANNOTATIONS_MAX = 64 * 1024 };

/* {"lastModified":"2026-07-28T12:00:00Z",...} and what the program has said
 * of all of them. */
static fl_status write_annotations(const fl_mount *m, int64_t modified,
                                   fl_buf *out)
{
    static const char form[] = "{\"lastModified\":\"%Y-%m-%dT%H:%M:%SZ\"";
    fl_span given = fl_span_of(m->annotations);
    time_t seconds = (time_t)(modified / 1000000000);
    struct tm when;
    char text[64];

    size_t open = fl_span_find(given, '{') + 1;
    fl_span rest = open < given.len ? fl_span_from(given, open) : FL_SPAN("}");
    if (gmtime_r(&seconds, &when) == NULL)
        return FL_E_INVALID;
    size_t n = strftime(text, sizeof text, form, &when);
    fl_status rc = fl_buf_append(out, (fl_span){text, n});
    if (rc == FL_OK && rest.ptr[strspn(rest.ptr, " \t\r\n")] != '}')
        rc = fl_buf_append(out, FL_SPAN(","));
    if (rc == FL_OK)
        rc = fl_buf_append(out, rest);
    return rc == FL_OK ? fl_buf_append(out, (fl_span){"", 1}) : rc;
}

static fl_status write_uri(const fl_mount *m, const char *path, fl_buf *out)
{
    fl_status rc = fl_buf_append(out, fl_span_of(m->prefix));

    if (rc == FL_OK)
        rc = fl_paths_encode(fl_span_of(path), out);
    return rc == FL_OK ? fl_buf_append(out, (fl_span){"", 1}) : rc;
}

/* Lists a file, unless there is a resource of this URI already. */
static fl_status add_resource(fl_mount *m, fl_manifest_item *item,
                              const char *uri, const char *annotations)
{
    const fl_mime *mime = fl_mime_of(fl_span_of(item->path));
    fl_resource resource = {
        .uri = uri,
        .name = item->path,
        .mime_type = mime != NULL ? mime->type : NULL,
        .size = item->size,
        .annotations = annotations,
        .read = fl_mount_read,
        .user = m,
    };

    item->uri = fl_mem_string(fl_span_of(uri));
    if (item->uri == NULL)
        return FL_E_NOMEM;
    fl_status rc = fl_resources_add(&m->server->catalogs[FL_LIST_RESOURCES],
                                    &resource, NULL);
    if (rc != FL_OK) {
        fl_mem_free(item->uri);
        item->uri = NULL;
    }
    return rc == FL_E_NOMEM ? rc : FL_OK;
}

static fl_status list_item(fl_mount *m, fl_manifest_item *item)
{
    fl_buf uri, annotations;

    fl_buf_init(&uri, URI_MAX);
    fl_buf_init(&annotations, ANNOTATIONS_MAX);
    fl_status rc = write_uri(m, item->path, &uri);
    if (rc == FL_OK)
        rc = write_annotations(m, item->modified, &annotations);
    if (rc == FL_OK)
        rc = add_resource(m, item, fl_buf_view(&uri).ptr,
                          fl_buf_view(&annotations).ptr);
    fl_buf_reset(&uri);
    fl_buf_reset(&annotations);
    return rc == FL_E_NOMEM ? rc : FL_OK; /* one too long is not listed */
}

static void unlist_item(fl_mount *m, fl_manifest_item *item)
{
    if (item->uri != NULL)
        fl_server_unlist(m->server, fl_span_of(item->uri));
}

static bool is_same(const fl_manifest_item *a, const fl_manifest_item *b)
{
    return a->size == b->size && a->modified == b->modified;
}

/* A file that was there before, and is: its listing goes on, or is made anew
 * with what is new of it. */
static fl_status renew_item(fl_mount *m, fl_manifest_item *old,
                            fl_manifest_item *now, bool *changed)
{
    if (is_same(old, now)) {
        now->uri = old->uri;
        old->uri = NULL;
        return FL_OK;
    }
    unlist_item(m, old);
    *changed = true;
    fl_status rc = list_item(m, now);
    if (rc == FL_OK && now->uri != NULL)
        fl_server_resource_updated(m->server, now->uri);
    return rc;
}

/* Both are in order: what is only in the one is gone, only in the other new.
 * Goes on after a failure, so that what is listed is known. */
static fl_status merge(fl_mount *m, fl_manifest *old, fl_manifest *now,
                       bool *changed)
{
    size_t i = 0, j = 0;
    fl_status rc = FL_OK;

    while (i < old->count || j < now->count) {
        int order = i == old->count ? 1
                    : j == now->count
                        ? -1
                        : strcmp(old->items[i].path, now->items[j].path);
        fl_status step = FL_OK;
        if (order == 0) {
            step = renew_item(m, &old->items[i++], &now->items[j++], changed);
        } else if (order < 0) {
            unlist_item(m, &old->items[i++]);
            *changed = true;
        } else {
            step = list_item(m, &now->items[j++]);
            *changed = true;
        }
        if (rc == FL_OK)
            rc = step;
    }
    return rc;
}

static void log_skips(const fl_mount *m)
{
    const fl_manifest *files = &m->files;
    bool whole = !files->more && files->skips.unnamed == 0;

    if (m->server->loop == NULL || whole)
        return;
    fl_log_say(fl_loop_log(m->server->loop), FL_LOG_WARN,
               "not all files are listed",
               fl_log_text("prefix", fl_span_of(m->prefix)),
               fl_log_int("listed", (int64_t)files->count),
               fl_log_int("not_utf8", (int64_t)files->skips.unnamed),
               fl_log_int("more", files->more));
}

fl_status fl_mount_rescan(fl_mount *m, bool *changed)
{
    fl_manifest now;

    if (m->template_only)
        return FL_OK;
    fl_status rc = fl_manifest_read(
        &now, m->root,
        &(fl_manifest_want){.how = m->how, .max = m->max_listed});
    if (rc != FL_OK)
        return rc;
    fl_manifest old = m->files;
    m->files = now;
    rc = merge(m, &old, &m->files, changed);
    fl_manifest_deinit(&old);
    log_skips(m);
    return rc;
}
