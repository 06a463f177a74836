/*
 * client_pages.c - a list that comes in pages, put together (MCP, pagination).
 *
 * A cursor means nothing to us and is handed back as it came. A server whose
 * cursor leads back to a page it came with before would go round for ever: so
 * all of them are remembered until the list is whole.
 */
#include "client/client_steps.h"

#include "base/mem.h"
#include "base/span.h"
#include "client/client.h"
#include "json/nav.h"

#include <stdio.h>

enum {
    PAGES = 1000,
    BYTES = 64 * 1024 * 1024,
    CURSOR_MAX = 1024 * 1024,
};

struct fl_pages {
    const char *method;
    const char *key; /* where in a result the list is */
    fl_buf list;     /* {"tools":[ and what there is so far */
    fl_map cursors;  /* those that were followed */
    size_t items;
};

static const struct {
    const char *method;
    const char *key;
} kinds[] = {
    [FL_LIST_TOOLS] = {"tools/list", "tools"},
    [FL_LIST_RESOURCES] = {"resources/list", "resources"},
    [FL_LIST_TEMPLATES] = {"resources/templates/list", "resourceTemplates"},
    [FL_LIST_PROMPTS] = {"prompts/list", "prompts"},
};

const char *fl_client_list_method(fl_list_kind kind)
{
    return (size_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind].method
                                                       : NULL;
}

fl_status fl_pages_new(fl_list_kind kind, fl_pages **out)
{
    fl_pages *pages = fl_mem_zalloc(sizeof *pages);

    *out = NULL;
    if (pages == NULL)
        return FL_E_NOMEM;
    pages->method = kinds[kind].method;
    pages->key = kinds[kind].key;
    fl_buf_init(&pages->list, BYTES);
    fl_map_init(&pages->cursors, PAGES - 1);
    fl_status rc = fl_buf_printf(&pages->list, "{\"%s\":[", pages->key);
    if (rc != FL_OK) {
        fl_pages_free(pages);
        return rc;
    }
    *out = pages;
    return FL_OK;
}

void fl_pages_free(fl_pages *pages)
{
    if (pages == NULL)
        return;
    fl_buf_reset(&pages->list);
    fl_map_deinit(&pages->cursors);
    fl_mem_free(pages);
}

static fl_status add_items(fl_pages *pages, fl_span items)
{
    fl_json_walk walk;
    fl_json_member item;
    fl_status rc = FL_OK;

    fl_json_walk_init(&walk, items);
    while (rc == FL_OK && fl_json_walk_next(&walk, &item)) {
        if (pages->items++ > 0)
            rc = fl_buf_append(&pages->list, FL_SPAN(","));
        if (rc == FL_OK)
            rc = fl_buf_append(&pages->list, item.value);
    }
    return rc;
}

static fl_status follow(fl_client *client, fl_request *request, fl_span cursor)
{
    fl_pages *pages = request->pages;
    fl_buf params;

    fl_status rc = fl_map_add(&pages->cursors, cursor, pages);
    if (rc != FL_OK)
        return rc;
    fl_buf_init(&params, CURSOR_MAX);
    rc = fl_buf_printf(&params, "{\"cursor\":%.*s}", (int)cursor.len,
                       cursor.ptr);
    if (rc == FL_OK)
        rc = fl_request_become(request, pages->method, fl_buf_view(&params));
    fl_buf_reset(&params);
    if (rc == FL_OK)
        fl_client_let_go(client, request);
    return rc;
}

static fl_answer explain(const fl_pages *pages, fl_status rc, fl_buf *text)
{
    if (rc == FL_E_IN_USE)
        return fl_client_blunder(
            FL_E_BAD_MESSAGE, text,
            "the server's list does not end: a page of %s leads back to one "
            "before it (its cursor came twice)",
            pages->method);
    if (rc == FL_E_LIMIT || rc == FL_E_TOO_BIG)
        return fl_client_blunder(FL_E_LIMIT, text,
                                 "the server's list does not end: %s has more "
                                 "than %d pages, or too much in them",
                                 pages->method, PAGES);
    return fl_client_blunder(rc, text, "%s", fl_status_text(rc));
}

bool fl_client_step_page(fl_client *client, fl_request *request,
                         fl_answer *answer, fl_buf *text)
{
    fl_pages *pages = request->pages;
    fl_span items = fl_json_get(answer->result, fl_span_of(pages->key));
    fl_span cursor = fl_json_get(answer->result, FL_SPAN("nextCursor"));

    if (fl_json_type_of(items) != FL_JSON_ARRAY) {
        *answer = fl_client_blunder(
            FL_E_BAD_MESSAGE, text,
            "the server's answer to %s has no list in it", pages->method);
        return false;
    }
    fl_status rc = add_items(pages, items);
    if (rc == FL_OK && fl_json_type_of(cursor) == FL_JSON_STRING) {
        rc = follow(client, request, cursor);
        if (rc == FL_OK)
            return true;
    } else if (rc == FL_OK) {
        rc = fl_buf_append(&pages->list, FL_SPAN("]}"));
    }
    if (rc != FL_OK) {
        *answer = explain(pages, rc, text);
        return false;
    }
    fl_buf_clear(text); /* the list outlives the request for a moment */
    fl_buf list = pages->list;
    pages->list = *text;
    *text = list;
    answer->result = fl_buf_view(text);
    return false;
}
