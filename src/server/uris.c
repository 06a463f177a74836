/*
 * uris.c - a set of URIs that somebody wants to hear about.
 */
#include "server/uris.h"

#include "base/mem.h"
#include "base/span.h"

typedef struct uri {
    fl_list node; /* among all, in the order they came */
    bool owed;
    size_t len; /* the text lies behind */
} uri;

static uri *entry(fl_list *node)
{
    return FL_LIST_ENTRY(node, uri, node);
}

static fl_span text_of(const uri *item)
{
    return (fl_span){(const char *)(item + 1), item->len};
}

void fl_uris_init(fl_uris *uris, size_t max)
{
    fl_map_init(&uris->by_text, max);
    fl_list_init(&uris->all);
    uris->owed = 0;
}

static void drop(fl_uris *uris, uri *item)
{
    uris->owed -= item->owed;
    fl_list_remove(&item->node);
    fl_mem_free(item);
}

void fl_uris_deinit(fl_uris *uris)
{
    while (!fl_list_empty(&uris->all))
        drop(uris, entry(uris->all.next));
    fl_map_deinit(&uris->by_text);
}

fl_status fl_uris_add(fl_uris *uris, fl_span text)
{
    if (fl_map_get(&uris->by_text, text) != NULL)
        return FL_OK;
    uri *item = fl_mem_zalloc(sizeof *item + text.len);
    if (item == NULL)
        return FL_E_NOMEM;
    fl_status rc = fl_map_add(&uris->by_text, text, item);
    if (rc != FL_OK) {
        fl_mem_free(item);
        return rc;
    }
    item->len = text.len;
    if (text.len > 0)
        memcpy(item + 1, text.ptr, text.len);
    fl_list_append(&uris->all, &item->node);
    return FL_OK;
}

void fl_uris_remove(fl_uris *uris, fl_span text)
{
    uri *item = fl_map_remove(&uris->by_text, text);

    if (item != NULL)
        drop(uris, item);
}

void fl_uris_owe(fl_uris *uris, fl_span text)
{
    uri *item = fl_map_get(&uris->by_text, text);

    if (item == NULL || item->owed)
        return;
    item->owed = true;
    uris->owed++;
}

/* False: not now. */
static bool settle(uri *item, fl_buf *scratch, fl_uris_say *say, void *user)
{
    fl_json_writer writer;

    fl_buf_clear(scratch);
    fl_json_writer_init(&writer, scratch);
    fl_json_text(&writer, text_of(item));
    return fl_json_writer_end(&writer) == FL_OK &&
           say(user, fl_buf_view(scratch));
}

void fl_uris_pay(fl_uris *uris, fl_buf *scratch, fl_uris_say *say, void *user)
{
    for (fl_list *node = uris->all.next; uris->owed > 0 && node != &uris->all;
         node = node->next) {
        if (!entry(node)->owed)
            continue;
        if (!settle(entry(node), scratch, say, user))
            return;
        entry(node)->owed = false;
        uris->owed--;
    }
}

void fl_uris_write(const fl_uris *uris, fl_json_writer *writer)
{
    fl_json_array(writer);
    for (fl_list *node = uris->all.next; node != &uris->all; node = node->next)
        fl_json_text(writer, text_of(entry(node)));
    fl_json_array_end(writer);
}
