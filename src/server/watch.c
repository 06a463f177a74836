/*
 * watch.c - resources/subscribe and resources/unsubscribe, and what follows
 * from them (the legacy era).
 *
 * A client that never subscribes costs a pointer.
 */
#include "server/watch.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/methods.h"
#include "server/resources.h"
#include "server/server.h"
#include "server/uris.h"

#include <stdio.h>

struct fl_watch {
    fl_uris uris;
};

static fl_status watch_uri(fl_session *session, fl_span uri)
{
    if (session->watch == NULL) {
        session->watch = fl_mem_alloc(sizeof *session->watch);
        if (session->watch == NULL)
            return FL_E_NOMEM;
        fl_uris_init(&session->watch->uris, FL_WATCH_MAX);
    }
    return fl_uris_add(&session->watch->uris, uri);
}

static void refuse_more(const fl_return *to, const fl_msg *msg)
{
    char data[48];
    int n = snprintf(data, sizeof data, "{\"limit\":%d}", FL_WATCH_MAX);

    fl_return_error(to, msg->id, FL_RPC_BUSY,
                    FL_SPAN("too many resources subscribed to"),
                    (fl_span){data, (size_t)n});
}

static void answer(const fl_return *to, const fl_msg *msg, fl_status rc)
{
    if (rc == FL_OK)
        fl_return_result(to, msg->id, FL_SPAN("{}"));
    else if (rc == FL_E_LIMIT)
        refuse_more(to, msg);
    else
        fl_methods_no_resource(to, msg, rc);
}

/* Nothing can be told where nothing can be sent, and a link that many share
 * would remember for all of them. */
static bool has_session(const fl_return *to, const fl_msg *msg)
{
    if ((to->session->traits & FL_LINK_STATELESS) == 0)
        return true;
    fl_return_error(to, msg->id, FL_RPC_INVALID_REQUEST,
                    FL_SPAN("there are no sessions here"), (fl_span){0});
    return false;
}

static fl_status subscribe(fl_session *session, fl_span uri)
{
    fl_resources_entry *found;
    fl_buf arguments;

    fl_buf_init(&arguments, FL_RESOURCES_ARGUMENTS_MAX);
    fl_status rc =
        fl_resources_find(session->server->catalogs, uri, &arguments, &found);
    fl_buf_reset(&arguments);
    return rc == FL_OK ? watch_uri(session, uri) : rc;
}

static fl_status unsubscribe(fl_session *session, fl_span uri)
{
    if (session->watch != NULL)
        fl_uris_remove(&session->watch->uris, uri);
    return FL_OK;
}

static void change(const fl_return *to, const fl_msg *msg,
                   fl_status (*how)(fl_session *, fl_span))
{
    fl_buf text;
    fl_span uri;

    if (!has_session(to, msg))
        return;
    fl_buf_init(&text, FL_RESOURCES_URI_MAX);
    if (fl_methods_uri(to, msg, &text, &uri))
        answer(to, msg, how(to->session, uri));
    fl_buf_reset(&text);
}

void fl_method_subscribe(const fl_return *to, const fl_msg *msg)
{
    change(to, msg, subscribe);
}

void fl_method_unsubscribe(const fl_return *to, const fl_msg *msg)
{
    change(to, msg, unsubscribe);
}

static bool say_updated(void *user, fl_span token)
{
    fl_session *session = user;
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"
                "updated\",\"params\":{\"uri\":"),
        token,
        FL_SPAN("}}"),
    };

    return fl_link_send(session->link, parts, 3) != FL_BUSY;
}

void fl_watch_resume(fl_session *session)
{
    if (session->watch != NULL)
        fl_uris_pay(&session->watch->uris, fl_loop_scratch(session->loop),
                    say_updated, session);
}

void fl_watch_updated(fl_session *session, fl_span uri)
{
    if (session->watch == NULL)
        return;
    fl_uris_owe(&session->watch->uris, uri);
    fl_watch_resume(session);
}

void fl_watch_free(fl_session *session)
{
    if (session->watch == NULL)
        return;
    fl_uris_deinit(&session->watch->uris);
    fl_mem_free(session->watch);
    session->watch = NULL;
}
