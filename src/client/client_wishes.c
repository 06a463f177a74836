/*
 * client_wishes.c - which resources a client wants to be told of.
 *
 * A wish is granted when the server has agreed to it. It outlives connections:
 * a legacy server that was opened anew is asked again, and told what level of
 * its log is wanted; a modern one has all of them in each subscription
 * (client_listen.c).
 */
#include "client/client.h"

#include "base/mem.h"
#include "base/span.h"
#include "json/nav.h"

#include <string.h>

enum { WISHES = 1024, URI_MAX = 64 * 1024 };

typedef struct wish {
    fl_list node;
    bool granted;
    size_t len;
    char uri[];
} wish;

static wish *find(const fl_client *client, fl_span uri)
{
    const fl_list *list = &client->wishes.list;

    for (fl_list *node = list->next; node != list; node = node->next) {
        wish *at = FL_LIST_ENTRY(node, wish, node);
        if (fl_span_equal((fl_span){at->uri, at->len}, uri))
            return at;
    }
    return NULL;
}

fl_status fl_wish_add(fl_client *client, fl_span uri)
{
    if (find(client, uri) != NULL)
        return FL_OK;
    if (client->wishes.count >= WISHES)
        return FL_E_LIMIT;
    wish *made = fl_mem_zalloc(sizeof *made + uri.len);
    if (made == NULL)
        return FL_E_NOMEM;
    made->len = uri.len;
    if (uri.len > 0)
        memcpy(made->uri, uri.ptr, uri.len);
    fl_list_append(&client->wishes.list, &made->node);
    client->wishes.count++;
    return FL_OK;
}

static void drop(fl_client *client, wish *at)
{
    fl_list_remove(&at->node);
    client->wishes.count--;
    fl_mem_free(at);
}

void fl_wish_drop(fl_client *client, fl_span uri)
{
    wish *at = find(client, uri);

    if (at != NULL)
        drop(client, at);
}

void fl_wishes_drop_all(fl_client *client)
{
    fl_list *list = &client->wishes.list;

    while (!fl_list_empty(list))
        drop(client, FL_LIST_ENTRY(list->next, wish, node));
}

bool fl_wish_is_granted(const fl_client *client, fl_span uri)
{
    const wish *at = find(client, uri);

    return at != NULL && at->granted;
}

void fl_wish_grant(fl_client *client, fl_span uri)
{
    wish *at = find(client, uri);

    if (at != NULL)
        at->granted = true;
}

void fl_wishes_write(const fl_client *client, fl_json_writer *writer)
{
    const fl_list *list = &client->wishes.list;

    for (fl_list *node = list->next; node != list; node = node->next) {
        const wish *at = FL_LIST_ENTRY(node, wish, node);
        fl_json_text(writer, (fl_span){at->uri, at->len});
    }
}

/* A legacy server has agreed. If there is no room to remember it, it holds as
 * long as the connection. */
void fl_wishes_note(fl_client *client, const fl_request *request)
{
    fl_buf uri;

    fl_buf_init(&uri, URI_MAX);
    if (fl_json_string_copy(
            fl_json_get(fl_request_params(request), FL_SPAN("uri")), &uri) !=
        FL_OK) {
        fl_buf_reset(&uri);
        return;
    }
    if (request->kind == FL_REQUEST_UNSUBSCRIBE)
        fl_wish_drop(client, fl_buf_view(&uri));
    else if (fl_wish_add(client, fl_buf_view(&uri)) == FL_OK)
        fl_wish_grant(client, fl_buf_view(&uri));
    fl_buf_reset(&uri);
}

static void ignore(fl_client *client, const fl_answer *answer, void *user)
{
    (void)client, (void)answer, (void)user;
}

/* The level of the log first: what is wrong with the rest may be in there. A
 * server that has no log may have resources. */
void fl_client_restore(fl_client *client)
{
    const fl_list *list = &client->wishes.list;

    if (client->agreement.made < 2)
        return;
    if (client->log_level != NULL)
        (void)!fl_client_set_log_level(client, client->log_level, NULL, ignore,
                                       NULL, NULL);
    for (fl_list *node = list->next; node != list; node = node->next) {
        const wish *at = FL_LIST_ENTRY(node, wish, node);
        if (fl_client_subscribe(client, (fl_span){at->uri, at->len}, NULL,
                                ignore, NULL, NULL) != FL_OK)
            return;
    }
}
