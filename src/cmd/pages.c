/*
 * pages.c - a list that comes in pages, put together (MCP, pagination).
 *
 * A cursor means nothing to us and is handed back as it came. A server whose
 * pages never end, or whose cursor leads back to the page it came with, is
 * stopped by a count.
 */
#include "cmd/pages.h"

#include "base/span.h"
#include "json/nav.h"
#include "json/write.h"

enum { PARAMS_MAX = 1024 * 1024 };

void fl_pages_init(fl_pages *pages, const char *key)
{
    *pages = (fl_pages){.key = key};
    fl_buf_init(&pages->list, FL_PAGES_BYTES_MAX);
    fl_buf_init(&pages->params, PARAMS_MAX);
}

void fl_pages_deinit(fl_pages *pages)
{
    fl_buf_reset(&pages->list);
    fl_buf_reset(&pages->params);
}

static fl_status append_items(fl_pages *pages, fl_span items)
{
    fl_json_walk walk;
    fl_json_member item;
    fl_status rc = FL_OK;

    fl_json_walk_init(&walk, items);
    while (rc == FL_OK && fl_json_walk_next(&walk, &item)) {
        bool first = fl_buf_len(&pages->list) == 0;
        rc = fl_buf_append(&pages->list, first ? FL_SPAN("[") : FL_SPAN(","));
        if (rc == FL_OK)
            rc = fl_buf_append(&pages->list, item.value);
    }
    return rc;
}

static fl_status finish(fl_pages *pages)
{
    if (fl_buf_len(&pages->list) == 0)
        return fl_buf_append(&pages->list, FL_SPAN("[]"));
    return fl_buf_append(&pages->list, FL_SPAN("]"));
}

static fl_status ask_next(fl_pages *pages, fl_span cursor)
{
    fl_json_writer writer;

    fl_buf_truncate(&pages->params, 0);
    fl_json_writer_init(&writer, &pages->params);
    fl_json_object(&writer);
    fl_json_key(&writer, "cursor");
    fl_json_raw(&writer, cursor);
    fl_json_object_end(&writer);
    fl_status rc = fl_json_writer_end(&writer);
    return rc == FL_OK ? FL_AGAIN : rc;
}

fl_status fl_pages_add(fl_pages *pages, fl_span result)
{
    fl_span items = fl_json_get(result, fl_span_of(pages->key));
    fl_span cursor = fl_json_get(result, FL_SPAN("nextCursor"));

    if (fl_json_type_of(items) != FL_JSON_ARRAY)
        return FL_E_BAD_MESSAGE;
    fl_status rc = append_items(pages, items);
    if (rc != FL_OK)
        return rc;
    if (fl_json_type_of(cursor) != FL_JSON_STRING)
        return finish(pages);
    return ++pages->count < FL_PAGES_MAX ? ask_next(pages, cursor) : FL_E_LIMIT;
}
