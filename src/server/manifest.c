/*
 * manifest.c - a list of what was found below a directory, in order.
 */
#include "server/manifest.h"

#include "base/mem.h"
#include "base/span.h"

#include <stdlib.h>
#include <string.h>

static fl_status grow(fl_manifest *manifest)
{
    if (manifest->count < manifest->cap)
        return FL_OK;
    size_t cap = manifest->cap > 0 ? manifest->cap * 2 : 16;
    fl_manifest_item *grown =
        fl_mem_realloc(manifest->items, cap * sizeof *grown);
    if (grown == NULL)
        return FL_E_NOMEM;
    manifest->items = grown;
    manifest->cap = cap;
    return FL_OK;
}

static fl_status note(void *user, const fl_tree_entry *entry)
{
    fl_manifest *manifest = user;

    if (entry->is_directory && !manifest->with_directories)
        return FL_OK;
    if (manifest->count == manifest->max) {
        manifest->more = true;
        return FL_END; /* of the walk */
    }
    fl_status rc = grow(manifest);
    if (rc != FL_OK)
        return rc;
    char *path = fl_mem_string(fl_span_of(entry->path));
    if (path == NULL)
        return FL_E_NOMEM;
    manifest->items[manifest->count++] = (fl_manifest_item){
        .path = path,
        .size = entry->size,
        .modified = entry->modified,
        .is_directory = entry->is_directory,
    };
    return FL_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const fl_manifest_item *)a)->path,
                  ((const fl_manifest_item *)b)->path);
}

fl_status fl_manifest_read(fl_manifest *manifest, int root,
                           const fl_manifest_want *want)
{
    *manifest = (fl_manifest){
        .max = want->max,
        .with_directories = want->with_directories,
    };
    fl_status rc =
        fl_tree_walk(root, want->how, note, manifest, &manifest->skips);
    if (rc < 0) {
        fl_manifest_deinit(manifest);
        return rc;
    }
    if (manifest->skips.cut)
        manifest->more = true;
    if (manifest->count > 0)
        qsort(manifest->items, manifest->count, sizeof *manifest->items,
              compare);
    return FL_OK;
}

void fl_manifest_deinit(fl_manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++) {
        fl_mem_free(manifest->items[i].path);
        fl_mem_free(manifest->items[i].uri);
    }
    fl_mem_free(manifest->items);
    *manifest = (fl_manifest){0};
}

/* As strcmp(), of a path and bytes that do not end with a NUL. */
static int compare_span(const char *path, fl_span with)
{
    int order = strncmp(path, with.ptr, with.len);

    return order != 0 ? order : (path[with.len] != '\0' ? 1 : 0);
}

size_t fl_manifest_seek(const fl_manifest *manifest, fl_span path)
{
    size_t low = 0, high = manifest->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_span(manifest->items[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

fl_manifest_item *fl_manifest_find(const fl_manifest *manifest, fl_span path)
{
    size_t at = fl_manifest_seek(manifest, path);

    return at < manifest->count &&
                   compare_span(manifest->items[at].path, path) == 0
               ? &manifest->items[at]
               : NULL;
}
